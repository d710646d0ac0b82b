"""The program's own source, read as syntax trees: who imports whom, and where."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("hooks", "scripts")


class Import(NamedTuple):
    """One import at run time; those under ``if TYPE_CHECKING`` cost and couple nothing."""

    importer: str
    imported: str
    line: int
    lazy: bool  # inside a function


def modules(root: Path = ROOT) -> dict[str, Path]:
    """Return every module of the program by its dotted name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, source: str, known: set[str]) -> list[Import]:
    """Return the imports of module ``name``; ``from a import b`` is ``a.b`` where that is known."""
    return list(_walk(name, ast.parse(source), known, lazy=False))


def _walk(name: str, node: ast.AST, known: set[str], *, lazy: bool) -> Iterator[Import]:
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for alternative in node.orelse:
            yield from _walk(name, alternative, known, lazy=lazy)
        return
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(name, alias.name, node.lineno, lazy)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"{name}:{node.lineno}: relative imports are not used here"
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield Import(name, whole if whole in known else str(node.module), node.lineno, lazy)
    inside = lazy or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    for child in ast.iter_child_nodes(node):
        yield from _walk(name, child, known, lazy=inside)
