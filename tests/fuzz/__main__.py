"""``python -m tests.fuzz [--seed N] [TARGET…]``: exit 1 and a new sample for each finding.

FUZZ_SECONDS is the time for each target.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import traceback

from tests.fuzz.engine import fuzz, keep
from tests.fuzz.targets import TARGETS

SECONDS = "20"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("target", nargs="*", metavar="TARGET", help=" ".join(TARGETS))
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    words = parser.parse_args()
    unknown = [name for name in words.target if name not in TARGETS]
    if unknown:
        parser.error(f"no such target: {' '.join(unknown)}")
    seconds = float(os.environ.get("FUZZ_SECONDS") or SECONDS)  # noqa: TID251 - a door
    sys.stdout.write(f"seed {words.seed}, {seconds:g} s for each target\n")
    failed = 0
    for name in words.target or TARGETS:
        tried, finding = fuzz(TARGETS[name], words.seed, seconds)
        sys.stdout.write(f"{name:<14} {tried:>8} inputs\n")
        sys.stdout.flush()
        if finding is not None:
            failed = 1
            sys.stdout.write(f"  kept as {keep(finding)}\n")
            traceback.print_exception(finding.error, file=sys.stdout)
    return failed


if __name__ == "__main__":
    sys.exit(main())
