"""Prove, without parsing a line, that it does not say that the session moved.

A line can only say so if its bytes hold the key ``"cwd"`` with another value than the known
one, or, beside it, ``"gitBranch"`` with another value. A second proof is cheaper still: the
client writes both at the end of a line, so a line that ends byte for byte like one that we
parsed says the same: in valid JSON the bytes from its key ``"cwd"`` to its last brace are at
the top level in both.
"""

from __future__ import annotations

from scripts.swarm_v2.wire_json import load_object

_CWD, _BRANCH = b'"cwd"', b'"gitBranch"'
_NEVER = b"\n"  # stands in no line
_TAILS = 4  # forms a session alternates between: with a slug, as a fork's copy …
_TAIL_MAX = 1024
_LESSONS = 64  # where every tail is another one, learning them is not worth it


class KnownPlace:
    """The bytes under which the last known folder and branch are written."""

    def __init__(self) -> None:
        self.tails: tuple[bytes, ...] = ()  # ends of lines that say nothing new
        self.usual = _NEVER  # the newest of them
        self._cwd = self._branch = _NEVER
        self._place = ("", "")
        self._lessons = 0

    def may_move(self, buffer: bytes | bytearray, start: int, stop: int) -> bool:
        """Say whether the line ``buffer[start:stop]`` must be parsed; may learn from it."""
        last = -1
        at = buffer.find(_CWD, start, stop)
        while at >= 0:
            if not buffer.startswith(self._cwd, at):
                return True
            last, at = at, buffer.find(_CWD, at + 1, stop)
        if last < 0:
            return False
        at = buffer.find(_BRANCH, start, stop)
        while at >= 0:
            if not buffer.startswith(self._branch, at):
                return True
            at = buffer.find(_BRANCH, at + 1, stop)
        if stop - last <= _TAIL_MAX:
            self._note_tail(bytes(buffer[last:stop]))
        return False

    def learn(self, raw: bytes, cwd: str, branch: str) -> None:
        """Take the bytes from a parsed line that says ``cwd`` and ``branch``."""
        if (cwd, branch) != self._place or self._cwd == _NEVER:
            self._place = (cwd, branch)
            self.tails, self.usual = (), _NEVER
            self._cwd = _written(raw, _CWD, cwd)
            self._branch = _written(raw, _BRANCH, branch)
        if len(raw) - raw.rfind(_CWD) <= _TAIL_MAX:
            self._note_tail(raw[raw.rfind(_CWD) :])

    def _note_tail(self, tail: bytes) -> None:
        if self._lessons >= _LESSONS or tail in self.tails:
            return
        self._lessons += 1
        end = load_object(b"{" + tail) if _is_utf8(tail) else None
        # a tail without the branch proves nothing: it may stand before the folder
        if end and (end.get("cwd"), end.get("gitBranch")) == self._place:
            self.tails, self.usual = (tail, *self.tails)[:_TAILS], tail


def _written(raw: bytes, key: bytes, value: str) -> bytes:
    """Return the bytes from ``key`` to the end of ``value``, as this line spells them."""
    at = raw.rfind(key)
    while at >= 0:
        opening = raw.find(b'"', at + len(key))
        piece = raw[at : raw.find(b'"', opening + 1) + 1]
        # a value with an escaped quote is not found: such lines are parsed, each time
        if _is_utf8(piece) and load_object(b"{" + piece + b"}") == {key[1:-1].decode(): value}:
            return piece
        at = raw.rfind(key, 0, at)
    return _NEVER


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
