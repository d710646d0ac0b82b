"""``digest``: what a space has in common, the same for whoever asks. It reads nothing scoped."""

from __future__ import annotations

from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.derivations import Derivation, Output
from scripts.swarm_v2.memory.memories import INDEX
from scripts.swarm_v2.scope_key import SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scripts.swarm_v2.memory.derivations import Roots
    from scripts.swarm_v2.memory.transactions import Transaction

NEWEST = 20


def run(tx: Transaction, roots: Roots) -> object:
    """Return ``{"memories", "types", "severities", "newest"}`` of the space's own index.

    ``newest`` are at most twenty ``{"slug", "title", "type", "at"}``, the newest first. Links to
    what is somebody's own are not followed, and count for nobody.
    """
    own = own_links(tx.read(Address(roots.space, INDEX, SPACE)))
    newest = sorted(own, key=lambda slug: (_text(own[slug], "at"), slug), reverse=True)[:NEWEST]
    return {
        "memories": len(own),
        "types": counted(own, "type"),
        "severities": counted(own, "severity"),
        "newest": [
            {
                "slug": slug,
                "title": _text(own[slug], "title") or _text(own[slug], "summary"),
                "type": _text(own[slug], "type"),
                "at": _text(own[slug], "at"),
            }
            for slug in newest
        ],
    }


def own_links(index: object) -> dict[str, dict[str, object]]:
    """Return what an index says of the memories that are the space's; {} of anything else."""
    links = index.get("links") if isinstance(index, dict) else None
    if not isinstance(links, dict):
        return {}
    return {
        slug: said
        for slug, said in links.items()
        if isinstance(said, dict) and _scope(said) == SPACE
    }


def counted(links: dict[str, dict[str, object]], name: str) -> dict[str, int]:
    """Return how often each word stands as ``name``, the words in order; "" is left out."""
    counts: dict[str, int] = {}
    for said in links.values():
        word = _text(said, name)
        if word:
            counts[word] = counts.get(word, 0) + 1
    return dict(sorted(counts.items()))


def _scope(said: dict[str, object]) -> object:
    memory = said.get("memory")
    link = memory.get("$link") if isinstance(memory, dict) else None
    return link.get("scope") or SPACE if isinstance(link, dict) else None


def _text(said: dict[str, object], name: str) -> str:
    value = said.get(name)
    return value if isinstance(value, str) else ""


DIGEST = Derivation("digest", Output("digest"), run)
