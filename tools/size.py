"""Small pieces stay readable: no file over 350 lines, no function over 50.

In tests only files are measured. Exit 1 names each offender.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

MAX_FILE_LINES = 350
MAX_FUNCTION_LINES = 50


def complaints(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    found = []
    lines = text.count("\n")
    if lines > MAX_FILE_LINES:
        found.append(f"{path}: {lines} lines, at most {MAX_FILE_LINES}")
    if "tests" in path.parts:
        return found
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                found.append(f"{path}:{node.lineno} {node.name}: {length} lines")
    return found


def main() -> int:
    listed = ["git", "ls-files", "-co", "--exclude-standard", "*.py"]
    names = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.splitlines()
    found = [line for name in names if Path(name).is_file() for line in complaints(Path(name))]
    sys.stdout.write("".join(f"{line}\n" for line in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
