"""What a scheduler does, as a picture: a row for each derivation's instances. Diagnostic only."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.dependencies import Reader

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.instances import Instance
    from scripts.swarm_v2.memory.nodes import Node
    from scripts.swarm_v2.memory.scheduler import Scheduler

    Label = str  # space/id/key/path


class InstanceRow(NamedTuple):
    """One instance. ``state`` is ``clean``, ``dirty``, ``failed`` or ``unchecked``.

    ``label`` is space/id/key/path, for people. ``runs`` count those of this process.
    """

    label: str
    node: str
    scope_key: str
    state: str
    runs: int = 0
    error: str = ""
    sentence: str = ""


class Edge(NamedTuple):
    """What an instance read, as it was read: the label of that very instance, not of a name."""

    reader: str
    read: str
    seq: int
    is_watched_for_another: bool = False  # what an asker other than the one it ran as must lack


class GraphSnapshot:
    """The rows of one moment, and the edges between them and what they read."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.space = scheduler.space
        # site 9: the rows, by their label.
        self.rows: dict[Label, InstanceRow] = {}
        self.edges: list[Edge] = []
        self.counts: dict[str, dict[str, int]] = {}
        for node in scheduler.nodes.values():
            self.counts[node.name] = {"built": node.built, "kept": node.kept}
            for scope_key, instance in node.instances.items():
                self._add(scheduler, node, scope_key, instance)

    def _add(self, scheduler: Scheduler, node: Node, scope_key: str, instance: Instance) -> None:
        own = InstanceKey(self.space, scope_key, node.derivation.output.id)
        code, sentence = instance.fault or ("", "")
        state = _state(instance)
        row = InstanceRow(own.label(), node.name, scope_key, state, instance.runs, code, sentence)
        self.rows[row.label] = row
        for part in node.parts.get(scope_key, ()):
            label = own.label(("sections", part))
            self.rows[label] = InstanceRow(label, f"{node.name}/{part}", scope_key, state)
            self.edges.append(Edge(label, row.label, 0))
        for key, paths in scheduler.index.reads(Reader(node.name, scope_key)).items():
            seq = instance.seen.get(key, 0)
            foreign = key not in instance.seen
            self.edges += [Edge(row.label, key.label(path), seq, foreign) for path in paths]

    def of(self, node: str) -> list[InstanceRow]:
        """Return the rows of one derivation, the broadest instance first."""
        return [row for row in self.rows.values() if row.node == node]

    def to_value(self) -> dict[str, object]:
        """Return it as JSON."""
        return {
            "space": self.space,
            "rows": [row._asdict() for row in self.rows.values()],
            "edges": [edge._asdict() for edge in self.edges],
            "parts": self.counts,
        }


def _state(instance: Instance) -> str:
    if instance.fault is not None:
        return "failed"
    if not instance.is_checked:
        return "unchecked"
    return "clean" if instance.is_clean else "dirty"
