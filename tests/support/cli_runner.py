"""The console commands in a process that has everything imported already.

``main(FUNCTION, ENV, CWD, ARGS…)``: ENV is JSON, the whole environment.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import typer

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from scripts import cli  # noqa: E402
from tests.support.forked import serve  # noqa: E402


def main(function, env, cwd, *args):
    os.environ.clear()  # noqa: TID251 - this stands for a start with that environment
    os.environ.update(json.loads(env))  # noqa: TID251 - likewise
    time.tzset()
    os.chdir(cwd)
    sys.argv = ["-c", *args]
    getattr(cli, function)()


def warm_up():
    """Import all of ours, and have typer import what it does at a first command."""
    for package in ("hooks", "scripts"):
        for module in walk_packages([str(ROOT / package)], f"{package}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    app = typer.Typer(add_completion=False)
    app.command()(_first)
    app(["1"], standalone_mode=False)


def _first(number: int) -> None:
    pass


if __name__ == "__main__":
    warm_up()
    serve(main)
