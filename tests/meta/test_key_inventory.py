"""Tripwires: every collection keyed by whose instance it is stands in docs/key-inventory.md.

A new one, or one keyed by a name where others are keyed by instance, is how one person's value
reaches another. It fails here until somebody wrote down which site it is and why it is right.
"""

from __future__ import annotations

import ast
import re

import pytest

from tests.support.source import ROOT, modules

PACKAGE = "scripts.swarm_v2.memory"
PATHS = {name: path for name, path in modules().items() if name.startswith(PACKAGE)}
SOURCES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in PATHS.items()}
# A key that mentions one of these says whose instance, or which session's, a value is.
WHOSE = re.compile(
    r"\b(InstanceKey|DirtyKey|DeclaredKey|Identity|Session|Scope|ScopeKey|principal|scope_key"
    r"|Address|CacheKey|MemoKey|Shape|OwnKey|Label|Reader|WakeGroup)\b"
)
COLLECTION = re.compile(
    r"^(dict|set|frozenset|OrderedDict|WeakKeyDictionary|defaultdict|Overlay)\["
)
MARKED = re.compile(r"\b(site \d|boundary|fan-out)\b")
ROW = re.compile(r"^\| `(\w+\.\w+\.\w+)` \| `(.+?)` \|", re.MULTILINE)
PAGE = (ROOT / "docs" / "key-inventory.md").read_text(encoding="utf-8")


def keys_of(annotation: ast.expr) -> list[str]:
    """Return the keys of an annotated dict or set, those of dicts inside it too; [] for others."""
    if isinstance(annotation, ast.BinOp):  # dict[...] | None
        return [*keys_of(annotation.left), *keys_of(annotation.right)]
    if not isinstance(annotation, ast.Subscript) or not COLLECTION.match(ast.unparse(annotation)):
        return []
    if not isinstance(annotation.slice, ast.Tuple) or "set[" in ast.unparse(annotation.value) + "[":
        return [ast.unparse(annotation.slice)]
    key, value = annotation.slice.elts
    return [ast.unparse(key), *keys_of(value)]


def collections(name: str) -> dict[str, str]:
    """Return every annotated collection of a class that is keyed by whose instance it is.

    By the type of its key, or, where a scope key is a plain text, by the comment above it.
    """
    found = {}
    lines = PATHS[name].read_text(encoding="utf-8").splitlines()
    for owner in [node for node in ast.walk(SOURCES[name]) if isinstance(node, ast.ClassDef)]:
        for node in ast.walk(owner):
            if not isinstance(node, ast.AnnAssign):
                continue
            if isinstance(node.target, ast.Attribute):
                attribute = node.target.attr
            elif isinstance(node.target, ast.Name) and node in owner.body:
                attribute = node.target.id
            else:
                continue
            keys = keys_of(node.annotation)
            said = keys and MARKED.search(comment(lines, node))
            if said or any(map(WHOSE.search, keys)):
                whole = f"{name.removeprefix(PACKAGE + '.')}.{owner.name}.{attribute}"
                found[whole] = ast.unparse(node.annotation)
    return found


def comment(lines: list[str], node: ast.AnnAssign) -> str:
    """Return the comments above and beside an assignment."""
    start = node.lineno - 1
    while start and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    return "\n".join(
        [*lines[start : node.lineno - 1], lines[node.end_lineno - 1].partition("#")[2]]
    )


def test_the_page_lists_exactly_the_collections_of_the_source() -> None:
    scanned = {}
    for name in SOURCES:
        scanned.update(collections(name))
    assert dict(ROW.findall(PAGE)) == scanned


def test_every_site_and_every_entry_of_the_boundary_is_on_the_page() -> None:
    for number in range(1, 10):
        assert re.search(rf"^\| .*\bsite {number}\b", PAGE, re.MULTILINE), f"site {number}"


def test_an_attribute_that_holds_a_collection_says_its_key() -> None:
    """An empty dict or set without an annotation would pass the scan unseen."""
    bare = [
        f"{name}:{node.lineno}"
        for name, tree in SOURCES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Attribute) for target in node.targets)
        and (
            (isinstance(node.value, ast.Dict) and not node.value.keys)
            or (
                isinstance(node.value, ast.Call)
                and isinstance(node.value.func, ast.Name)
                and node.value.func.id in ("dict", "set", "defaultdict")
                and not node.value.args
            )
        )
        and not _is_reset(tree, node)
    ]
    assert bare == []


def _is_reset(tree: ast.Module, found: ast.Assign) -> bool:
    """Say whether the attribute is annotated elsewhere in its module: this only empties it."""
    names = {target.attr for target in found.targets if isinstance(target, ast.Attribute)}
    annotated = {
        node.target.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute)
    }
    return names <= annotated


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_no_identity_is_a_default_or_lives_in_a_module(name: str) -> None:
    tree = SOURCES[name]
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            defaults = [*node.args.defaults, *(one for one in node.args.kw_defaults if one)]
            assert "Identity" not in " ".join(map(ast.unparse, defaults)), node.name
            cached = " ".join(map(ast.unparse, node.decorator_list))
            assert "cache" not in cached, f"{node.name} keeps answers beyond one reader"
        if isinstance(node, (ast.Name, ast.Attribute)):
            assert "ContextVar" not in ast.unparse(node)
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            assert "Identity(" not in ast.unparse(node), f"{name}:{node.lineno}"


@pytest.mark.parametrize(
    ("annotation", "keys"),
    [
        ("dict[InstanceKey, int]", ["InstanceKey"]),
        ("set[tuple[str, Identity]]", ["tuple[str, Identity]"]),
        ("dict[str, dict[InstanceKey, set[str]]]", ["str", "InstanceKey", "str"]),
        ("set[InstanceKey] | None", ["InstanceKey"]),
        ("list[InstanceKey]", []),
    ],
)
def test_the_scan_finds_the_keys_of_a_collection(annotation: str, keys: list[str]) -> None:
    assert keys_of(ast.parse(annotation, mode="eval").body) == keys
