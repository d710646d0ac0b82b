"""The sessions' state through redis-py: ``rediss://``, Sentinel and Cluster.

Importing it costs a hook a dozen interpreter starts, so only a process that lives on, or that no
agent waits for, may come here (``session_state.allow_redis_py``). Clients are kept: the next event
of the process finds its connections open. Nothing is tried twice, by none of the three.
"""

from __future__ import annotations

import sys
from functools import partial

from hooks.context.redis_faults import (
    NO_MASTER,
    NO_PACKAGE,
    NONSENSE,
    SILENT,
    UNTRUSTED,
    PackageMissing,
    broken,
    down,
    err_of,
    refusal,
)
from hooks.context.state_redis import SWAP, Names, names_of, swap_words
from hooks.errors import StateDown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from typing import Any

    from hooks.context.redis_url import Place
    from hooks.context.session_state import Key
    from hooks.settings import Settings

_TLS_OPTIONS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs")
_clients: dict[tuple[str, float], Any] = {}  # by address and wait, for as long as they answer


class RedisPyState:
    """See ``SessionState``."""

    def __init__(self, client: Any, names: Names) -> None:
        self._client, self._names = client, names

    @classmethod
    def connect(cls, settings: Settings, place: Place, at: datetime, wait_s: float) -> RedisPyState:
        names, which = names_of(settings, at), (settings.redis.url, wait_s)
        if which not in _clients:
            _clients[which] = client_of(place, wait_s)
        return cls(_clients[which], names)

    def close(self) -> None:
        """Leave the client to the next event of this process."""

    def read(self, keys: Sequence[Key]) -> list[bytes | None]:
        # One by one: in a cluster they lie on several servers.
        return [self._ask(partial(self._client.get, self._names.of(key))) for key in keys]

    def write(self, key: Key, value: bytes) -> None:
        ttl_ms = int(swap_words(key, None, value)[-1])
        self._ask(lambda: self._client.set(self._names.of(key), value, px=ttl_ms or None))

    def swap(self, key: Key, old: bytes | None, new: bytes | None) -> bool:
        words = swap_words(key, old, new)
        return bool(self._ask(lambda: self._client.eval(SWAP, 1, self._names.of(key), *words)))

    def delete(self, keys: Sequence[Key]) -> None:
        for key in keys:
            self._ask(partial(self._client.delete, self._names.of(key)))

    def ids(self, kind: str) -> list[str]:
        start, pattern = self._names.of_kind(kind).encode("utf-8"), self._names.pattern(kind)
        found = self._ask(lambda: set(self._client.scan_iter(match=pattern, count=1_000)))
        ids = (key[len(start) :] for key in found if key.startswith(start))
        return sorted(one.decode("utf-8", "replace") for one in ids)

    def _ask(self, question: Callable[[], Any]) -> Any:
        try:
            return translated(question)
        except StateDown:
            forget_clients()  # the next event begins with a new one
            raise


def forget_clients() -> None:
    """Close every connection that is kept."""
    while _clients:
        _clients.popitem()[1].close()


def translated(question: Callable[[], Any]) -> Any:
    """Ask, and turn what redis-py raises into StateDown."""
    from redis import exceptions

    try:
        return question()
    except exceptions.TimeoutError:
        what = SILENT
    except (exceptions.AuthenticationError, exceptions.ResponseError) as err:
        what = _refused(err)
    except exceptions.RedisClusterException as err:  # which is not one of the next
        what = _unreached(err.__cause__ or err)
    except exceptions.RedisError as err:
        what = _unreached(err)
    except OSError as err:
        raise broken(err) from None
    except (ValueError, TypeError, LookupError, AttributeError):  # its parser, over garbage
        what = NONSENSE
    raise down(what)


def _refused(err: BaseException) -> str:
    """Say it by the error's own word; redis-py has cut that off what it knows."""
    word = getattr(err, "status_code", None) or _WORDS.get(type(err).__name__, "")
    meant = err_of(str(err))
    return meant or refusal(str(word or err))


_WORDS = {"AuthenticationError": "WRONGPASS", "OutOfMemoryError": "OOM"} | {
    "ReadOnlyError": "READONLY",
    "NoPermissionError": "NOPERM",
    "BusyLoadingError": "LOADING",
    "ClusterDownError": "CLUSTERDOWN",
}


def _unreached(err: BaseException) -> str:
    """Say why without its words, which name the host."""
    said = str(err)
    if getattr(err, "status_code", None) or type(err).__name__ in _WORDS:
        return _refused(err)
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return UNTRUSTED
    if type(err).__name__ == "MasterNotFoundError":
        return NO_MASTER
    if "imed out" in said or "imeout" in said:
        return SILENT
    return "it cannot be reached" if "onnect" in said else NONSENSE


def client_of(place: Place, wait_s: float) -> Any:
    """Return a client of redis-py; nothing but a cluster's layout is asked for yet.

    Raises:
        StateDown: redis-py is missing, or the cluster cannot be reached.
    """
    redis = _redis_py()
    servers = len(place.hosts) + 1  # that may be silent one after the other: they share the time
    share = wait_s / servers if place.form in ("sentinel", "cluster") else wait_s
    how = {
        "socket_timeout": share,
        "socket_connect_timeout": share,
        "retry": redis.retry.Retry(redis.backoff.NoBackoff(), 0),
        "protocol": 2,
        **(_tls(place) if place.tls else {}),
    }
    who = {"username": place.user or None, "password": place.password or None}
    if place.form == "cluster":
        return translated(lambda: _cluster(redis, place, {**how, **who}))
    if place.form == "sentinel":
        guards = {**how, **_sentinels_login(place)}
        found = redis.sentinel.Sentinel(
            place.hosts, sentinel_kwargs=guards, db=place.db, **how, **who
        )
        return found.master_for(place.service)
    if place.form == "unix":
        return redis.Redis(unix_socket_path=place.path, db=place.db, **how, **who)
    host, port = place.hosts[0]
    return redis.Redis(host, port, place.db, **how, **who)


def _cluster(redis: Any, place: Place, how: dict[str, Any]) -> Any:
    nodes = [redis.cluster.ClusterNode(host, port) for host, port in place.hosts]
    return redis.cluster.RedisCluster(startup_nodes=nodes, **how)


def _tls(place: Place) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: place.options[name] for name in _TLS_OPTIONS if name in place.options
    }
    if place.options.get("ssl_check_hostname", "").lower() in ("0", "false", "no"):
        found["ssl_check_hostname"] = False
    return {"ssl": True, **found}


def _sentinels_login(place: Place) -> dict[str, str]:
    names = (("username", "sentinel_username"), ("password", "sentinel_password"))
    return {ours: place.options[said] for ours, said in names if said in place.options}


def _redis_py() -> Any:
    """Import it. Our processes start without the interpreter's own packages, so they may be added.

    Raises:
        StateDown: this interpreter has none.
    """
    try:
        import redis
    except ImportError:
        import site

        site.main()
        try:
            import redis
        except ImportError:
            what = f"{NO_PACKAGE}, which {sys.executable} does not have"
            raise PackageMissing("REDIS_URL", what) from None
    return redis
