from __future__ import annotations

from pathlib import Path

import pytest

from hooks import lock
from hooks.log import MAX_LINE, MAX_LOG_BYTES, log
from tests.support.processes import at_once

AT = "2026-11-30T12:00:00.000000+00:00"


def _lines(home: Path, name: str = "hooks.log") -> list[str]:
    return (home / "logs" / name).read_text("utf-8").split("\n")[:-1]


def test_an_event_that_has_something_to_say_gets_one_line(home: Path) -> None:
    log(str(home), AT, "Stop", "s" * 40, "kept 2 markers")
    log(str(home), AT, "Stop", "", "then this")
    wanted = [f"{AT} Stop {'s' * 36} kept 2 markers", f"{AT} Stop - then this"]
    assert _lines(home) == wanted
    assert (home / "logs" / "hooks.log").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\x1b[31mb", "a\u2028b", "a\0b", "a\udc88b"])
def test_nothing_can_forge_a_second_line_or_move_the_cursor(home: Path, text: str) -> None:
    log(str(home), AT, "Stop", "s", text)
    (line,) = _lines(home)
    assert line.isprintable()
    assert line.startswith(f"{AT} Stop s a ")
    assert line.endswith("b")


def test_a_line_is_cut_where_it_tells_too_much(home: Path) -> None:
    log(str(home), AT, "Stop", "s", "é" * 5_000)
    assert [len(line) for line in _lines(home)] == [MAX_LINE]


def test_a_full_log_makes_room_once_and_the_one_before_goes(home: Path) -> None:
    (home / "logs").mkdir(parents=True)
    (home / "logs" / "hooks.log").write_bytes(b"x" * MAX_LOG_BYTES + b"\n")
    (home / "logs" / "hooks.log.1").write_text("oldest")
    at_once(
        8,
        "from hooks.log import log",
        "log(sys.argv[1], 'at', 'Stop', sys.argv[-1], 'said')",
        home,
    )
    assert (home / "logs" / "hooks.log.1").stat().st_size >= MAX_LOG_BYTES
    both = _lines(home, "hooks.log.1")[1:] + _lines(home)
    assert sorted(line for line in both if line) == [f"at Stop {n} said" for n in range(8)]


def test_a_log_that_another_process_just_rotated_is_not_rotated_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race of two that both found it full, at its narrowest: the first is done by now."""
    path = home / "logs" / "hooks.log"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * MAX_LOG_BYTES + b"\n")

    def others_first(lock_path: str) -> lock.Lock | None:
        path.rename(f"{path}.1")
        path.write_text("short\n")
        return real(lock_path)

    real = lock.try_lock
    monkeypatch.setattr(lock, "try_lock", others_first)
    log(str(home), AT, "Stop", "s", "said")
    assert _lines(home) == ["short", f"{AT} Stop s said"]
    assert (home / "logs" / "hooks.log.1").stat().st_size > MAX_LOG_BYTES


def test_a_log_that_cannot_be_written_is_given_up_quietly(home: Path) -> None:
    home.write_text("a file where the home should be")
    log(str(home), AT, "Stop", "s", "lost")
    assert home.read_text() == "a file where the home should be"
