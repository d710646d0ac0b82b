"""Imports point down: doors > uses > edges > words. What no row names is an edge."""

from __future__ import annotations

import ast
from fnmatch import fnmatchcase

import pytest

from tests.support.source import Import, imports, modules

ORDER = ["words", "edges", "uses", "doors"]

# First match wins. Words are pure: no file, no socket, no process, no clock of their own.
LAYERS = [
    ("words", "scripts.swarm_v2.keyspace"),
    ("words", "scripts.swarm_v2.scope_key"),
    ("words", "scripts.swarm_v2.digest"),
    ("words", "scripts.swarm_v2.wire_json"),
    ("words", "scripts.swarm_v2.errors"),
    ("words", "hooks.record"),
    ("words", "hooks.reply"),
    ("words", "hooks.payload"),
    ("words", "hooks.errors"),
    ("words", "hooks.clock"),
    ("words", "hooks.context.markers"),
    ("words", "hooks.context.redact"),
    ("words", "hooks.context.secret_shapes"),
    ("words", "hooks.context.display"),
    ("words", "hooks.context.prose"),
    ("words", "hooks.context.hint"),
    ("words", "hooks.context.remote"),
    ("words", "hooks.context.shell_*"),
    ("words", "hooks.context.operation"),
    ("words", "hooks.context.target"),
    ("words", "hooks.context.edits"),
    ("words", "hooks.context.breaker"),
    ("words", "hooks.server_input"),
    ("doors", "hooks.__main__"),
    ("doors", "hooks.dispatch"),
    ("doors", "hooks.server"),
    ("doors", "scripts.cli"),
    ("doors", "scripts.app"),
    ("doors", "scripts.commands"),
    ("doors", "scripts.commands.*"),
    ("uses", "hooks.events.*"),
    ("uses", "hooks.steps.*"),
    ("uses", "hooks.verbs"),
    ("uses", "hooks.verbs.*"),
    ("uses", "hooks.status"),
    ("uses", "hooks.status_*"),
    ("uses", "scripts.doctor"),
    ("uses", "scripts.doctor.*"),
    ("uses", "hooks.worker"),
    ("edges", "*"),
]

# Documented names that stay where they always were: the word hands them on when it is called.
HANDED_ON = {
    ("scripts.swarm_v2.keyspace", "scripts.swarm_v2.installation"),
    ("scripts.swarm_v2.keyspace", "scripts.swarm_v2.sweep"),
    ("scripts.swarm_v2.keyspace", "scripts.swarm_v2.brain_path"),
}

# What a word may take from the standard library; nothing here touches anything outside.
PURE = {"__future__", "_collections", "_datetime", "_json", "_sha1", "_sha2", "_sha256", "re"}
# Also pure, but heavy or of one word only: where a private module is missing, or at main().
PURE_INSTEAD = {
    ("scripts.swarm_v2.wire_json", "json"),
    ("scripts.swarm_v2.digest", "hashlib"),
    ("scripts.swarm_v2.keyspace", "sys"),
    ("hooks.clock", "datetime"),
    ("hooks.context.redact", "binascii"),
}

MODULES = modules()
KNOWN = set(MODULES)


def layer(name: str) -> str:
    return next(layer for layer, pattern in LAYERS if fnmatchcase(name, pattern))


def ours(name: str) -> bool:
    return name.partition(".")[0] in ("hooks", "scripts")


def found(name: str) -> list[Import]:
    return imports(name, MODULES[name].read_text(encoding="utf-8"), KNOWN)


def up(some: list[Import]) -> list[str]:
    """Say which of these imports point up."""
    return [
        f"{one.importer}:{one.line} ({layer(one.importer)}) imports {one.imported}"
        f" ({layer(one.imported)})"
        for one in some
        if ours(one.imported)
        and ORDER.index(layer(one.imported)) > ORDER.index(layer(one.importer))
        and not (one.lazy and (one.importer, one.imported) in HANDED_ON)
    ]


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_down(name: str) -> None:
    assert up(found(name)) == []


@pytest.mark.parametrize("name", [name for name in MODULES if layer(name) == "words"])
def test_a_word_takes_only_what_is_pure(name: str) -> None:
    taken = {one.imported.partition(".")[0] for one in found(name) if not ours(one.imported)}
    allowed = PURE | {module for importer, module in PURE_INSTEAD if importer == name}
    assert taken <= allowed
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    called = {node.func.id for node in ast.walk(tree) if _is_plain_call(node)}  # type: ignore[attr-defined]
    assert not called & {"open", "print", "input", "exec", "eval", "__import__"}


def _is_plain_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


# What the store package borrows, and which of its parts do: it will be used without hooks one day.
VALUES_AND_FILES = {"hooks.record", "hooks.atomic", "hooks.clock", "hooks.errors", "hooks.lock"}
TELLING = {"choosing", "derive_context", "preferences", "told"}  # what hooks tell, word for word
BORROWERS = {
    "hooks.context.database": {"store_sqlite"},
    "hooks.context.secret_file": {"credentials"},
    "hooks.context.redis_url": {"redis_link"},
    "hooks.context.redis_faults": {"redis_link"},
    "hooks.context.state_redis_py": {"redis_link"},
    "hooks.context.brains": TELLING,
    "hooks.context.brains.replacing": TELLING,
    "hooks.context.compose": TELLING,
    "hooks.context.lifetime": TELLING,
    "hooks.context.shelf": TELLING,
    "hooks.context.brains.local_file": {"library"},  # where a home's store is
    "hooks.context.erased": {"library"},  # what else of a home holds words of it
}


def test_the_store_package_takes_from_hooks_only_what_is_counted() -> None:
    borrowed = {
        (one.imported, name.rpartition(".")[2])
        for name in MODULES
        if name.startswith("scripts.swarm_v2")
        for one in found(name)
        if one.imported.startswith("hooks") and one.imported not in VALUES_AND_FILES
    }
    counted = {(module, one) for module, parts in BORROWERS.items() for one in parts}
    assert borrowed - counted == set()
    assert {module for module, _ in borrowed} == BORROWERS.keys(), "a row that guards nothing"


@pytest.mark.parametrize("name", [name for name in MODULES if layer(name) != "doors"])
def test_nothing_below_the_doors_builds_on_the_command_line(name: str) -> None:
    taken = {one.imported.partition(".")[0] for one in found(name)}
    assert not taken & {"typer", "click", "rich"}


STORES = ("scripts.swarm_v2.", "hooks.context.brains")  # whatever keeps rows


def test_only_one_module_knows_how_a_scope_key_is_written() -> None:
    """A literal that starts with ``user:`` or ``session:`` is that module's business alone."""
    elsewhere = [
        f"{name}:{node.lineno}: {node.value!r}"
        for name, path in MODULES.items()
        if name.startswith(STORES) and name != "scripts.swarm_v2.scope_key"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.startswith(("user:", "session:"))
    ]
    assert elsewhere == []


def test_no_other_module_takes_a_scope_key_apart() -> None:
    """Or puts one together: neither by a colon nor from the name of its scope."""
    elsewhere = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, path in MODULES.items()
        if name.startswith(STORES) and name != "scripts.swarm_v2.scope_key"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if _cuts_a_key(node) or _joins_a_key(node)
    ]
    assert elsewhere == []


def _cuts_a_key(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("partition", "rpartition", "split", "rsplit", "removeprefix")
        and any(isinstance(one, ast.Constant) and ":" in str(one.value) for one in node.args)
        and "key" in ast.unparse(node.func.value)
    )


def _joins_a_key(node: ast.AST) -> bool:
    ends = [node.left, node.right] if isinstance(node, ast.BinOp) else []
    return any(isinstance(one, ast.Constant) and one.value in ("user", "session") for one in ends)


def test_every_row_of_the_table_but_the_last_names_something() -> None:
    """A row whose module is gone would guard nothing."""
    unused = {
        pattern for _, pattern in LAYERS if not any(fnmatchcase(name, pattern) for name in MODULES)
    }
    assert unused == set()


SAMPLES = {
    "a word that imports an edge": ("hooks.reply", "import hooks.atomic"),
    "a word that imports an edge in a function": (
        "hooks.reply",
        "def f():\n    from hooks import atomic",
    ),
    "an edge that imports a step": ("hooks.lock", "from hooks.steps import record_scope"),
    "a step that imports the door": ("hooks.steps.record_scope", "import hooks.dispatch"),
    "a word that hands an edge on at once": (
        "scripts.swarm_v2.keyspace",
        "from scripts.swarm_v2 import sweep",
    ),
    "an import behind the type checker's else": (
        "hooks.reply",
        "if TYPE_CHECKING:\n    pass\nelse:\n    import hooks.atomic",
    ),
}


@pytest.mark.parametrize(("name", "source"), SAMPLES.values(), ids=SAMPLES.keys())
def test_the_guard_guards(name: str, source: str) -> None:
    assert len(up(imports(name, source, KNOWN))) == 1


ALLOWED = {
    "for the type checker only": ("hooks.reply", "if TYPE_CHECKING:\n    import hooks.atomic"),
    "down": ("hooks.steps.record_scope", "from hooks.atomic import write"),
    "beside": ("hooks.lock", "import hooks.atomic"),
    "handed on when called": (
        "scripts.swarm_v2.keyspace",
        "def f():\n    from scripts.swarm_v2 import sweep",
    ),
}


@pytest.mark.parametrize(("name", "source"), ALLOWED.values(), ids=ALLOWED.keys())
def test_the_guard_lets_pass_what_points_down(name: str, source: str) -> None:
    assert up(imports(name, source, KNOWN)) == []
