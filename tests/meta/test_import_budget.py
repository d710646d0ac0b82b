"""What loading a module loads. Time is for the bench; here the cause of it is counted."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.processes import ROOT, command

# Each costs 0.4 to 16 interpreter starts. No module below loads one, nor what it imports.
_HEAVY = (
    "argparse ast asyncio base64 bisect collections concurrent contextlib copy csv ctypes "
    "dataclasses decimal email enum fnmatch fractions functools getpass glob hashlib heapq hmac "
    "http inspect ipaddress json keyword locale logging multiprocessing operator "
    "pathlib pickle platform pprint pydantic queue random re redis reprlib sched secrets "
    "select selectors shlex shutil signal socket sqlite3 ssl string struct subprocess tempfile "
    "textwrap threading traceback typer types typing unittest urllib uuid weakref zlib zipfile "
)
HEAVY = frozenset(_HEAVY.split())

# module -> what of HEAVY it may load all the same. A new hot module is a new row.
BUDGET: dict[str, set[str]] = {
    "hooks.record": set(),
    "hooks.errors": set(),
    "hooks.reply": set(),
    "hooks.payload": set(),
    "hooks.clock": set(),
    "hooks.home": set(),
    "hooks.settings": set(),
    "hooks.atomic": set(),
    "hooks.lock": set(),
    "hooks.log": set(),
    "hooks.spawn": {"select"},  # one small C module; a pipe is waited for with it
    "scripts.swarm_v2.wire_json": set(),
    "scripts.swarm_v2.digest": set(),
    "scripts.swarm_v2.errors": set(),
    "scripts.swarm_v2.scope_key": set(),
    "scripts.swarm_v2.keyspace": set(),
    "scripts.swarm_v2.brain_path": set(),
    "scripts.swarm_v2.sweep": set(),
    "scripts.swarm_v2.installation": set(),
    "hooks.context.hint": set(),
    "hooks.context.shell_words": set(),
    "hooks.context.operation": set(),
    "hooks.context.target": set(),
    "hooks.context.edits": set(),
    "hooks.context.breaker": set(),
    "hooks.context.read_cache": set(),
    "hooks.quick": set(),
    "hooks.dispatch": set(),
    "hooks.server": set(),
    "hooks.context.markers": {"re", "enum", "functools", "collections", "types", "operator"}
    | {"keyword", "reprlib", "copyreg"},  # what re itself loads
}

# What a module does, not only what it loads: the calls that every slow hook makes.
CALLS: dict[str, tuple[str, set[str]]] = {
    "a home is made and read": (
        "from scripts.swarm_v2.keyspace import installation; from hooks.clock import from_epoch;"
        "installation(sys.argv[1], from_epoch(5)); installation(sys.argv[1])",
        set(),
    ),
    "a brain is named": (
        "from scripts.swarm_v2.keyspace import brain_identity as b; b(path='/x');"
        "b(url='https://u:p@brain.example:443/a/')",
        set(),
    ),
    "settings are read": (
        "from hooks.settings import load; load({'AGENTIHOOKS_HOME': sys.argv[1]})",
        set(),
    ),
    "a payload is read and answered": (
        "from hooks.payload import parse_event; from hooks.reply import Say, encode;"
        "parse_event('Stop', b'{\"cwd\":\"/\"}'); encode([Say('x')], 'Stop')",
        set(),
    ),
    "a lock and a file are written": (
        "from hooks import atomic, lock; lock.try_lock(sys.argv[1] + '/l');"
        "atomic.write(sys.argv[1] + '/f', b'x'); atomic.append_line(sys.argv[1] + '/g', b'x')",
        set(),
    ),
    "the time is written and read": (
        "from hooks.clock import compact, from_epoch, iso, parse_iso;"
        "parse_iso(iso(from_epoch(5))); compact(from_epoch(5))",
        set(),
    ),
}
_LIST = "\nprint(*sorted(sys.modules))"


def loaded(code: str, *args: object) -> set[str]:
    """Run ``code`` as a hook is started and return the modules that were loaded by it."""
    done = subprocess.run(
        command(code + _LIST, *args), capture_output=True, text=True, check=False, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def bare() -> set[str]:
    """What an interpreter has loaded before it does anything."""
    return loaded("pass")


@pytest.mark.parametrize("module", BUDGET)
def test_a_module_loads_nothing_heavy(module: str, bare: set[str]) -> None:
    extra = {name.partition(".")[0] for name in loaded(f"import {module}") - bare}
    assert extra & HEAVY <= BUDGET[module]


@pytest.mark.parametrize(("code", "allowed"), CALLS.values(), ids=CALLS.keys())
def test_what_every_hook_does_loads_nothing_heavy(
    code: str, allowed: set[str], bare: set[str], tmp_path: object
) -> None:
    extra = {name.partition(".")[0] for name in loaded(code, tmp_path) - bare}
    assert extra & HEAVY <= allowed


@pytest.mark.parametrize("module", sorted({"json", "re", "typing", "uuid", "pathlib", "enum"}))
def test_the_budget_would_see_a_heavy_module(module: str, bare: set[str]) -> None:
    extra = {name.partition(".")[0] for name in loaded(f"import {module}") - bare}
    assert module in extra & HEAVY


def test_a_real_start_is_measured_not_one_with_our_test_packages(bare: set[str]) -> None:
    assert not {name for name in bare if name.startswith(("pytest", "hypothesis", "site"))}
    assert sys.executable
    assert (ROOT / "hooks").is_dir()
