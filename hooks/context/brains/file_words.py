"""Search over pages: each word begins one of the text, or else stands anywhere in it. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hooks.context.brains import Item

MAX_WORDS = 16  # of one query; more words only cost time


def matching(query: str, items: Iterable[Item]) -> list[Item]:
    """Return the items that match, those that say more of the words first, then the newest."""
    words = _folded(query).split()[:MAX_WORDS]
    if not words:
        return []
    newest = list(items)[::-1]
    texts = [_folded(f"{item.title} {item.text}") for item in newest]
    scores = [_score(words, _split(text)) for text in texts]
    if not any(scores):
        scores = [int(all(word in text for word in words)) for text in texts]
    found = [(score, item) for score, item in zip(scores, newest, strict=True) if score]
    return [item for _, item in sorted(found, key=lambda pair: -pair[0])]


def _score(words: list[str], said: list[str]) -> int:
    """Return how often the words stand there, 0 unless each does."""
    times = [sum(one.startswith(word) for one in said) for word in words]
    return sum(times) if all(times) else 0


def _split(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text).split()


def _folded(text: str) -> str:
    """Take case and accents away."""
    if text.isascii():
        return text.lower()
    from unicodedata import combining, normalize

    apart = normalize("NFKD", text.casefold())
    return "".join(letter for letter in apart if not combining(letter))
