"""The sessions' state in a Redis that a plain socket reaches: ``redis://`` and ``unix://``."""

from __future__ import annotations

from hooks.context.redis_faults import NONSENSE, down
from hooks.context.resp import Link
from hooks.context.session_state import TTL_S, check_size
from hooks.errors import SettingsError
from scripts.swarm_v2.keyspace import redis_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hooks.context.redis_url import Place
    from hooks.context.session_state import Key
    from hooks.settings import Settings

# KEYS[1] the document. ARGV: 1 where it must be there, its old value, 1 where it shall be there,
# its new value, its time to live in ms (0: none). Returns 1, or 0 where the value is another.
SWAP = """
local old = ARGV[1] == '1' and ARGV[2]
if redis.call('GET', KEYS[1]) ~= old then return 0 end
if ARGV[3] ~= '1' then redis.call('DEL', KEYS[1])
elseif ARGV[5] == '0' then redis.call('SET', KEYS[1], ARGV[4])
else redis.call('SET', KEYS[1], ARGV[4], 'PX', ARGV[5]) end
return 1
"""
LIST_WAIT_S = 10.0  # of ``ids``, which only a person's readers ask for
_SCANNED = "1000"


class Names:
    """The keys of one installation, and no others."""

    def __init__(self, prefix: str, installation_id: str) -> None:
        """Raises SettingsError: no key of ours can begin with ``prefix``."""
        self._prefix, self._installation = prefix, installation_id
        try:
            self.of_kind("check")
            prefix.encode("utf-8")
        except ValueError:
            wants = "a text in UTF-8 without an installation id between its colons"
            raise SettingsError("REDIS_KEY_PREFIX", prefix, wants=wants) from None

    def of(self, key: Key) -> str:
        return redis_key(self._prefix, self._installation, key.kind, key.id)

    def of_kind(self, kind: str) -> str:
        """Return what every key of ``kind`` begins with; the id is what follows."""
        return redis_key(self._prefix, self._installation, kind, "-")[:-1]

    def pattern(self, kind: str) -> str:
        """Return the same as SCAN matches it: what it takes for a wildcard is a plain letter."""
        return _literally(self.of_kind(kind)) + "*"

    def under_prefix(self) -> str:
        """Return what SCAN matches every key under the prefix by, other installations' too."""
        return _literally(self._prefix) + ":*"


def _literally(text: str) -> str:
    return "".join("\\" + c if c in "*?[]^\\" else c for c in text)


def names_of(settings: Settings, at: datetime) -> Names:
    """Return the names of the settings' installation, which is made where there is none."""
    from scripts.swarm_v2.installation import installation

    try:
        found = installation(settings.home, at)
    except ValueError as err:
        what = f"no key can be named: {err}"
        raise down(what) from None
    return Names(settings.redis.prefix, found.installation_id)


def swap_words(key: Key, old: bytes | None, new: bytes | None) -> tuple[bytes, ...]:
    """Return the arguments of ``SWAP``."""
    check_size(key.kind, new)
    sides = [word for side in (old, new) for word in _side(side)]
    return (*sides, b"%d" % ((TTL_S[key.kind] or 0) * 1_000))


def _side(value: bytes | None) -> tuple[bytes, bytes]:
    return (b"0", b"") if value is None else (b"1", value)


class RedisState:
    """See ``SessionState``."""

    def __init__(self, link: Link, names: Names) -> None:
        self._link, self._names = link, names

    @classmethod
    def connect(cls, settings: Settings, place: Place, at: datetime, wait_s: float) -> RedisState:
        names = names_of(settings, at)
        return cls(Link(place, wait_s), names)

    def close(self) -> None:
        self._link.close()

    def read(self, keys: Sequence[Key]) -> list[bytes | None]:
        if not keys:
            return []
        [found] = self._link.ask(("MGET", *map(self._names.of, keys)))
        if not isinstance(found, list) or len(found) != len(keys):
            raise self._nonsense()
        return [self._value(one) for one in found]

    def write(self, key: Key, value: bytes) -> None:
        ttl_ms = swap_words(key, None, value)[-1]
        until = () if ttl_ms == b"0" else ("PX", ttl_ms)
        if self._link.ask(("SET", self._names.of(key), value, *until)) != [b"OK"]:
            raise self._nonsense()

    def swap(self, key: Key, old: bytes | None, new: bytes | None) -> bool:
        words = swap_words(key, old, new)
        [done] = self._link.ask(("EVAL", SWAP, "1", self._names.of(key), *words))
        if done not in (0, 1):
            raise self._nonsense()
        return done == 1

    def delete(self, keys: Sequence[Key]) -> None:
        if keys and not isinstance(self._link.ask(("DEL", *map(self._names.of, keys)))[0], int):
            raise self._nonsense()

    def ids(self, kind: str) -> list[str]:
        self._link.wait_up_to(LIST_WAIT_S)
        start, cursor, found = self._names.of_kind(kind).encode("utf-8"), b"0", set()
        while True:
            command = ("SCAN", cursor, "MATCH", self._names.pattern(kind), "COUNT", _SCANNED)
            match self._link.ask(command):
                case [[bytes(cursor), list(keys)]]:
                    found |= {key for key in keys if isinstance(key, bytes)}
                case _:
                    raise self._nonsense()
            if cursor == b"0":
                ids = (key[len(start) :] for key in found if key.startswith(start))
                return sorted(one.decode("utf-8", "replace") for one in ids)

    def _value(self, found: object) -> bytes | None:
        if found is None or isinstance(found, bytes):
            return found
        raise self._nonsense()

    def _nonsense(self) -> Exception:
        self.close()
        return down(NONSENSE)
