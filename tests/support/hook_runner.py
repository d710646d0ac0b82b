"""The entry of hooks in a process that has all of ours imported already.

``main(EVENT, ENV, CWD, PAYLOAD)``: ENV is JSON, the whole environment; PAYLOAD is standard input.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryFile

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.support.forked import serve  # noqa: E402


def main(event, env, cwd, payload):
    with TemporaryFile() as file:
        file.write(payload.encode())
        file.seek(0)
        os.dup2(file.fileno(), 0)
    os.environ.clear()  # noqa: TID251 - this stands for a start with that environment
    os.environ.update(json.loads(env))  # noqa: TID251 - likewise
    os.chdir(cwd)
    sys.argv = [str(ROOT / "hooks" / "__main__.py"), event]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    for module in walk_packages([str(ROOT / "hooks")], "hooks."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    serve(main)
