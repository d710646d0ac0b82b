"""What the person sees in place of raw markers; the model and the transcript keep theirs.

``render(text, final=False)`` is a prefix of ``render(text + more, …)`` for any more, so what was
painted never has to be taken back: text from the first point that more could still change is
held. That point is an open marker, or in an unfinished last line its first opener.
"""

from __future__ import annotations

from hooks.context.markers import OPENING, Marker, survey


def render(text: str, final: bool) -> str:
    """Return ``text`` with each taken marker as ``◆ lesson: text`` and all else as written.

    ``final`` says that nothing follows: an opener that was never closed is shown as it is.
    """
    if final:
        return _replace(text, len(text))
    whole = text.rfind("\n") + 1
    open_at = survey(text[:whole]).open_at
    return _replace(text[:whole], whole if open_at < 0 else open_at) + (
        _settled(text[whole:]) if open_at < 0 else ""
    )


def shown(marker: Marker) -> str:
    return f"◆ {marker.type}: {marker.content}"


def _replace(text: str, limit: int) -> str:
    parts: list[str] = []
    at = 0
    for found in survey(text).candidates:
        if found.marker is not None and found.end <= limit:
            parts += (text[at : found.start], shown(found.marker))
            at = found.end
    parts.append(text[at:limit])
    return "".join(parts)


def _settled(line: str) -> str:
    """Return the part of an unfinished line that stays as it is whatever follows."""
    opener = line.find(OPENING)
    if opener >= 0:
        return line[:opener]
    for size in range(len(OPENING) - 1, 0, -1):
        if line.endswith(OPENING[:size]):
            return line[:-size]
    return line
