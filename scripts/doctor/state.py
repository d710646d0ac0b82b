"""Checks of where the sessions' state is kept: its Redis is asked here, and only here awaited."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING, Any

from hooks.context.redis_faults import LOGIN_REFUSED, PackageMissing
from hooks.context.redis_url import parse
from hooks.context.resp import Link
from hooks.context.state_redis import Names
from hooks.errors import StateDown
from hooks.settings import Secret, load
from hooks.status_piece import Look as Around
from hooks.status_state import ELSEWHERE, ELSEWHERE_NEXT, served
from hooks.verbs.wording import count
from scripts.doctor import Finding
from scripts.doctor.runtime import has_package, install_command, starters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hooks.context.redis_url import Place
    from hooks.settings import Settings
    from scripts.doctor import Look

WAIT_S = 1.0  # for each question; a person waits for all of them
MOST_KEYS = 20_000  # that are looked at for older ones; a shared Redis may hold millions
_NOBODY = "inst-" + "0" * 32


def kept(look: Look) -> Iterator[Finding]:
    """It is reachable, from where it is needed, by those who have its password and no others."""
    settings = load(look.env)
    if not settings.redis.url:
        yield Finding("ok", "the sessions' state is kept in state.db")
        return
    place = parse(settings.redis.url)
    names = Names(settings.redis.prefix, _NOBODY)  # a prefix that cannot be used is said, too
    if not place.plain:
        yield from _by_redis_py(look, settings)
    asked = Asked(place)
    try:
        asked.ping()
    except PackageMissing:
        yield Finding("note", _NOT_ASKED, f"{install_command(sys.executable)}, then ask again")
    except StateDown as err:
        yield Finding("warn", f"the Redis of REDIS_URL is out of reach: {err.what}", _CHECK)
        if err.what in LOGIN_REFUSED:
            yield from _open_to_all(place)
    else:
        yield Finding("ok", "the Redis of REDIS_URL answers")
        yield from _open_to_all(place)
        yield from _two_formats(asked, settings.redis.prefix, names)
    finally:
        asked.close()


def _by_redis_py(look: Look, settings: Settings) -> Iterator[Finding]:
    """It takes a door that lives on, and the package redis in the interpreter of the hooks."""
    if served(Around(settings, look.env, look.at, look.cwd, "")):
        yield Finding("note", _OTHER_DOOR, "nothing to do: the server door has it at the tools")
    else:
        yield Finding("warn", ELSEWHERE, ELSEWHERE_NEXT)
    for python in starters(look):
        if not has_package(python, "redis"):
            what = f"{python} runs the hooks and has no package redis, which this REDIS_URL takes"
            yield Finding("warn", what, install_command(python))


_OTHER_DOOR = (
    "a hook that is a process of its own does not load what this REDIS_URL takes, and goes on "
    "without the sessions' state; the server door and the worker have it"
)
_NOT_ASKED = "whether that Redis answers is not known: this interpreter has no package redis"
_CHECK = "check its address, its user and password, and that it runs; hooks go on without it"
_CLOSE = "give its default user a password (requirepass), or switch that user off, and restart it"


class Asked:
    """A Redis of whatever form, asked for no more than its health."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._link: Link | None = None
        self._client: Any = None

    def _reach(self) -> None:
        if self._place.plain:
            self._link = self._link or Link(self._place, WAIT_S)
        elif self._client is None:
            from hooks.context.state_redis_py import client_of

            self._client = client_of(self._place, WAIT_S)

    def ping(self) -> None:
        """Raises StateDown: it does not answer, or not us."""
        from hooks.context.state_redis_py import translated

        self._reach()
        if self._link is not None:
            self._link.ask(("PING",))
        else:
            translated(self._client.ping)

    def keys(self, pattern: str) -> Iterator[bytes]:
        """Yield keys until all, or the wait, are over.

        Raises:
            StateDown: it does not list them, or not to us.
        """
        if self._link is None:
            from hooks.context.state_redis_py import translated

            found = self._client.scan_iter(match=pattern, count=1_000)
            yield from translated(lambda: list(islice(found, MOST_KEYS)))
            return
        self._link.wait_up_to(WAIT_S)
        cursor: Any = b"0"
        while True:
            [found] = self._link.ask(("SCAN", cursor, "MATCH", pattern, "COUNT", "1000"))
            if not isinstance(found, list) or len(found) != 2:
                return
            cursor, some = found
            yield from some
            if cursor == b"0":
                return

    def close(self) -> None:
        for one in (self._link, self._client):
            if one is not None:
                one.close()


def _open_to_all(place: Place) -> Iterator[Finding]:
    """A password that the server does not ask for protects nothing."""
    if not place.password:
        return
    anybody = Asked(place._replace(user="", password=Secret(""), db=0))
    try:
        anybody.ping()
    except StateDown:
        return
    else:
        what = "the Redis of REDIS_URL is OPEN: it answers without the password that REDIS_URL has"
        yield Finding("fail", what, _CLOSE)
    finally:
        anybody.close()


def _two_formats(asked: Asked, prefix: str, names: Names) -> Iterator[Finding]:
    """Keys of the older format lie beside ours; nothing of ours reads or deletes them."""
    start, ours = f"{prefix}:".encode(), f"{prefix}:inst-".encode()
    older = 0
    try:
        for key in islice(asked.keys(names.under_prefix()), MOST_KEYS):
            older += key.startswith(start) and not key.startswith(ours)
    except StateDown:  # its user may not list keys, which hooks never do
        return
    if older:
        what = f"in that Redis lie, under {prefix!r}, in another format: {count(older, 'key')}"
        todo = "nothing to do: they are never read, and end with their own time to live"
        yield Finding("note", what, todo)
