"""Who reads what: by instance, for waking; by the name of the scope, for the order of work."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.address import declared_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scripts.swarm_v2.memory.address import Address, DeclaredKey, InstanceKey

    Path = tuple[str, ...]
    Reads = Mapping[InstanceKey, tuple[Path, ...]]


class Reader(NamedTuple):
    """One instance of one derivation."""

    node: str
    scope_key: str


def compact(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the paths that no other one of them begins, in order."""
    kept: list[Path] = []
    for path in sorted(set(paths), key=len):
        if not any(path[: len(one)] == one for one in kept):
            kept.append(path)
    return tuple(sorted(kept))


def meets(path: Path, other: Path) -> bool:
    """Say whether a change at one path can be seen from the other."""
    shared = min(len(path), len(other))
    return path[:shared] == other[:shared]


class DependencyIndex:
    """Which readers a change of one instance wakes, and nobody else."""

    def __init__(self) -> None:
        # site 1: the readers of each instance, with the parts of it that they read.
        self._readers: dict[InstanceKey, dict[Reader, tuple[Path, ...]]] = {}
        # boundary: the way back of site 1, what each reader depends on.
        self._reads: dict[Reader, set[InstanceKey]] = {}

    def replace(self, reader: Reader, reads: Reads) -> None:
        """Make ``reads`` all that ``reader`` depends on; never a moment without the common ones."""
        for key in self._reads.get(reader, set()) - reads.keys():
            self._forget(key, reader)
        for key, paths in reads.items():
            self._readers.setdefault(key, {})[reader] = compact(paths)
        self._reads[reader] = set(reads)

    def add(self, reader: Reader, reads: Reads) -> None:
        """Let ``reader`` depend on ``reads`` too: of a run that failed, or of one more asker."""
        for key, paths in reads.items():
            inner = self._readers.setdefault(key, {})
            inner[reader] = compact((*inner.get(reader, ()), *paths))
        self._reads.setdefault(reader, set()).update(reads)

    def drop(self, reader: Reader) -> None:
        for key in self._reads.pop(reader, set()):
            self._forget(key, reader)

    def readers(self, key: InstanceKey, path: Path = ()) -> list[Reader]:
        """Return who reads ``path`` of the instance, something in it or something around it."""
        inner = self._readers.get(key, {})
        return [one for one, paths in inner.items() if any(meets(path, own) for own in paths)]

    def reads(self, reader: Reader) -> dict[InstanceKey, tuple[Path, ...]]:
        """Return what ``reader`` depends on."""
        return {key: self._readers[key][reader] for key in self._reads.get(reader, ())}

    def _forget(self, key: InstanceKey, reader: Reader) -> None:
        inner = self._readers[key]
        inner.pop(reader, None)
        if not inner:
            del self._readers[key]

    def __len__(self) -> int:
        return len(self._readers)


class WriterIndex:
    """Which derivation writes what, by the *name* of the scope.

    For the order of work alone: who declares a user's output feeds each reader of it, whoever
    either runs as. A change is never matched by it.
    """

    def __init__(self) -> None:
        # boundary: the twin of site 1, name-keyed on purpose.
        self._writers: dict[DeclaredKey, set[str]] = {}

    def add(self, node: str, output: Address) -> None:
        self._writers.setdefault(declared_key(output), set()).add(node)

    def writers(self, read: Address) -> set[str]:
        """Return the derivations that may write what ``read`` names."""
        return set(self._writers.get(declared_key(read), ()))


def ordered(nodes: Iterable[str], feeds: Mapping[str, set[str]]) -> list[str]:
    """Return ``nodes`` with every writer before its readers, else as they came.

    ``feeds`` names the writers of each reader; a circle is cut where it is met.
    """
    done: dict[str, bool] = {}

    def visit(node: str) -> None:
        if node in done:
            return
        done[node] = False
        for writer in sorted(feeds.get(node, ())):
            visit(writer)
        done.pop(node)
        done[node] = True

    wanted = list(nodes)
    for node in wanted:
        visit(node)
    return [node for node in done if node in wanted]
