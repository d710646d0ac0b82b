"""Imports point down only: doors, uses, edges, words. Exit 1 names each import that does not.

Imports for the type checker alone do not count: they are not there at run time. Imports inside
functions do.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
WORDS, EDGES, USES, DOORS = range(4)
NAMES = ("words", "edges", "uses", "doors")
# The longest prefix of a module's name decides; what stands nowhere is an edge.
LAYERS = {
    "hooks.__main__": DOORS,
    "hooks.dispatch": DOORS,
    "scripts.cli": DOORS,
    "scripts.commands": DOORS,
    "hooks.events": USES,
    "hooks.steps": USES,
    "hooks.verbs": USES,
    "hooks.worker": USES,
    "hooks.status": USES,
    "hooks.status_text": USES,
    "hooks.record": WORDS,
    "hooks.errors": WORDS,
    "hooks.payload": WORDS,
    "hooks.reply": WORDS,
    "hooks.clock": WORDS,
    "hooks.context.markers": WORDS,
    "hooks.context.redact": WORDS,
    "hooks.context.display": WORDS,
    "hooks.context.compose": WORDS,
    "hooks.context.prose": WORDS,
    "hooks.context.hint": WORDS,
    "scripts.swarm_v2.keyspace": WORDS,
    "scripts.swarm_v2.scope_key": WORDS,
    "scripts.swarm_v2.digest": WORDS,
    "scripts.swarm_v2.wire_json": WORDS,
    "scripts.swarm_v2.errors": WORDS,
}
# Words read no file, open no socket, start no process and know no clock.
NOT_FOR_WORDS = {"os", "sys", "socket", "sqlite3", "subprocess", "time", "select", "io", "shutil"}
ALLOWED = {
    # keyspace hands the functions with I/O on under their documented names, only when called
    ("scripts.swarm_v2.keyspace", "scripts.swarm_v2.installation"),
    ("scripts.swarm_v2.keyspace", "scripts.swarm_v2.sweep"),
    ("scripts.swarm_v2.keyspace", "scripts.swarm_v2.brain_path"),
    ("scripts.swarm_v2.keyspace", "sys"),
}


def layer(module: str) -> int:
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        found = LAYERS.get(".".join(parts[:length]))
        if found is not None:
            return found
    return EDGES


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield every module that the code imports at run time, wherever it stands."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for other in node.orelse:
                yield from imports(ast.Module([other], []))
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        else:
            yield from imports(node)


def complaints(module: str, source: str) -> list[str]:
    own, known, found = layer(module), modules(), set()
    for name in imports(ast.parse(source)):
        target = name if name in known else name.rpartition(".")[0]
        if {(module, name), (module, target)} & ALLOWED or target == module:
            continue
        if target in known and layer(target) > own:
            found.add(f"{module} ({NAMES[own]}) imports {target} ({NAMES[layer(target)]})")
        elif own == WORDS and name in NOT_FOR_WORDS:
            found.add(f"{module} (words) imports {name}")
    return sorted(found)


def modules() -> dict[str, Path]:
    """Every module by its dotted name; an ``__init__`` that imports nothing is only a folder."""
    files = [path for package in ("hooks", "scripts") for path in (ROOT / package).rglob("*.py")]
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in files
        if path.name != "__init__.py" or list(imports(ast.parse(path.read_text(encoding="utf-8"))))
    }


def main() -> int:
    found = [
        line
        for module, path in sorted(modules().items())
        for line in complaints(module, path.read_text(encoding="utf-8"))
    ]
    sys.stdout.write("".join(f"{line}\n" for line in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
