"""A verb from a shell: ``hooks/__main__.py verb NAME …``, where pip was never run."""

from __future__ import annotations

import os

from hooks.clock import from_epoch
from hooks.errors import HookError
from hooks.verbs import VERBS, UnknownVerbError, VerbCtx, VerbUsageError, complaint, run_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EXIT_USAGE = 2
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main(argv: Sequence[str], *, env: Mapping[str, str], stdout: int, now: float) -> int:
    """Run the verb ``argv[0]`` on the rest; its answer goes to ``stdout``, a complaint to stderr.

    Returns 0; 1 when it could not be done or (``brain_status``) something needs the person;
    2 for wrong words.
    """
    try:
        text, code = _run(argv, env, now)
    except (UnknownVerbError, VerbUsageError) as err:
        return _complain(err, EXIT_USAGE)
    except HookError as err:
        return _complain(err, 1)
    _print(stdout, text)
    return code


def _run(argv: Sequence[str], env: Mapping[str, str], now: float) -> tuple[str, int]:
    from hooks.settings import load

    verb, args = (argv[0], " ".join(argv[1:])) if argv else ("", "")
    if verb not in VERBS:
        raise UnknownVerbError(verb)
    if verb == "doctor":  # also where the settings cannot be read
        from hooks.verbs import doctor

        return doctor.report(args, env, from_epoch(now), _cwd(), _ROOT)
    ctx = VerbCtx(
        settings=load(env),
        env=env,
        at=from_epoch(now),
        session_id=env.get("CLAUDE_CODE_SESSION_ID", ""),
        cwd=_cwd(),
        root=_ROOT,
    )
    if verb == "brain_status":
        from hooks.verbs.brain_status import report

        return report(args, ctx)
    return run_named(verb, args, ctx), 0


def _cwd() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # the folder was removed under the shell
        return "/"


def _complain(err: HookError, code: int) -> int:
    _print(2, complaint(err))
    return code


def _print(fd: int, text: str) -> None:
    data = memoryview((text + "\n").encode("utf-8", "replace"))
    while data:
        data = data[os.write(fd, data) :]
