"""One Redis as the document store speaks with it: scripts by their digest, errors as refusals."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

from hooks.context.redis_faults import SAID, is_refusal
from hooks.context.redis_url import parse
from hooks.context.state_redis_py import client_of, translated
from hooks.errors import HookError, StateDown
from scripts.swarm_v2.memory.errors import MemoryRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STEP_S = 0.05  # between two tries of a server that is down or starting
_FOLDER = os.path.join(os.path.dirname(__file__), "lua")
_DAMAGE = "WRONGTYPE"  # what a server says of a key of ours that something else wrote


class Script:
    """One file of ``lua/``."""

    def __init__(self, name: str) -> None:
        with open(os.path.join(_FOLDER, f"{name}.lua"), encoding="utf-8") as file:
            self.text = file.read()
        self.digest = hashlib.sha1(self.text.encode("utf-8"), usedforsecurity=False).hexdigest()


class RedisLink:
    """A client that is asked again until a time is over, and only what may be asked twice."""

    def __init__(
        self,
        url: str,
        timeout_s: float,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        """Make the client; a plain server is not spoken to yet.

        Raises:
            MemoryRefused: ``store-busy``: the address is none, or redis-py is missing.
        """
        self.timeout_s, self._clock, self._sleep = timeout_s, clock, sleep
        try:
            place = parse(url)
            self.cluster = place.form == "cluster"
            self.client: Any = client_of(place, timeout_s)
        except HookError as err:
            raise _busy(str(err), err.hint) from None

    def ask(self, question: Callable[[Any], Any], **facts: object) -> Any:
        """Ask, and again after a lost answer: ``question`` changes nothing the second time.

        Raises:
            MemoryRefused: ``store-damaged``, or ``store-busy`` with ``facts``.
        """
        until = self._clock() + self.timeout_s
        while True:
            try:
                return translated(lambda: question(self.client))
            except StateDown as err:
                what = err.what
            passes = what == SAID["LOADING"] or not is_refusal(what)
            if not passes or self._clock() >= until:
                raise _refusal(what, facts if passes else {})
            self._sleep(STEP_S)

    def call(self, method: str, *args: object, **named: object) -> Any:
        """Call one method of redis-py that changes nothing the second time."""
        return self.ask(lambda client: getattr(client, method)(*args, **named))

    def run(
        self, script: Script, keys: Sequence[str], args: Sequence[object], **facts: object
    ) -> Any:
        """Run a script that gives the same answer when it is run twice."""
        return self.ask(lambda client: _run(client, script, keys, args), **facts)

    def close(self) -> None:
        self.client.close()


def _run(client: Any, script: Script, keys: Sequence[str], args: Sequence[object]) -> Any:
    from redis.exceptions import NoScriptError

    try:
        return client.evalsha(script.digest, len(keys), *keys, *args)
    except NoScriptError:  # a new server, or one that was restarted
        return client.eval(script.text, len(keys), *keys, *args)


def _refusal(what: str, facts: dict[str, object]) -> MemoryRefused:
    if what.endswith(_DAMAGE):
        return damaged("the server says so of a key")
    if facts:
        what += "; whether the commit was written is not known: ask again with its request id"
    return _busy(what, "try again", **facts)


def _busy(what: str, hint: str, **facts: object) -> MemoryRefused:
    return MemoryRefused("store-busy", f"the store in Redis: {what}", hint, **facts)


def damaged(what: str) -> MemoryRefused:
    hint = "restore it from a backup, or delete the keys of this space: it begins anew"
    return MemoryRefused("store-damaged", f"the store in Redis is damaged: {what}", hint)
