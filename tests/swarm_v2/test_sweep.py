from __future__ import annotations

import os
from pathlib import Path

import pytest

from scripts.swarm_v2.keyspace import drop_namespaced, sweep_legacy
from scripts.swarm_v2.sweep import is_dropped, is_legacy
from tests.support.processes import at_once

A24, A32 = "0123456789abcdef01234567", "0123456789abcdef" * 2
LEGACY = ["feed.json", f"{A24}.json", f"pending-{A24}.json"]
DROPPED = [f"k2-feed-{A32}.json", f"k2-project-memory-{A32}.json"]
KEPT = [
    f"k2-pending-{A32}.json",
    f"k2-publish-hash-{A32}.json",
    f"k2-feed-{A24}.json",
    f"k2-feed-{A32}.json.tmp",
    f"k2-feed-{A32.upper()}.json",
    f"k2-feed-x-{A32}.json",
    f"k2-project-{A32}.json",
    f"k2-{A32}.json",
    f"feed-{A32}.json",
    f"{A32}.json",
    f"{A24[:-1]}.json",
    f"{A24[:-1]}g.json",
    f"{A24.upper()}.json",
    f"pending-pending-{A24}.json",
    f"pending-{A32}.json",
    "pending-.json",
    ".json",
    "feed",
    "feed.json.bak",
    "Feed.json",
    "project-sessions.jsonl",
    "installation.json",
    "cache-scope-mismatches.json",
    f"20261130T101500-lesson-{A32[:8]}.json",
]


def _fill(folder: Path, names: list[str]) -> None:
    for name in names:
        (folder / name).write_text("{}")


def test_the_sweep_takes_the_older_formats_caches_and_nothing_else(tmp_path: Path) -> None:
    _fill(tmp_path, LEGACY + DROPPED + KEPT)
    assert sweep_legacy(tmp_path) == 3
    assert sorted(os.listdir(tmp_path)) == sorted(DROPPED + KEPT)


def test_the_drop_takes_feed_and_project_caches_and_nothing_else(tmp_path: Path) -> None:
    _fill(tmp_path, LEGACY + DROPPED + KEPT)
    assert drop_namespaced(str(tmp_path)) == 2
    assert sorted(os.listdir(tmp_path)) == sorted(LEGACY + KEPT)


def test_no_name_is_of_both_kinds() -> None:
    assert [name for name in LEGACY + DROPPED + KEPT if is_legacy(name) and is_dropped(name)] == []


def test_the_sweep_takes_at_most_32_at_a_time(tmp_path: Path) -> None:
    _fill(tmp_path, [f"{number:024x}.json" for number in range(70)])
    assert [sweep_legacy(tmp_path) for _ in range(4)] == [32, 32, 6, 0]


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_the_sweep_keeps_to_the_limit_it_is_given(tmp_path: Path, limit: int) -> None:
    _fill(tmp_path, LEGACY)
    assert sweep_legacy(tmp_path, limit) == min(limit, 3)
    assert len(os.listdir(tmp_path)) == 3 - min(limit, 3)


def test_a_folder_that_is_not_there_has_nothing_to_remove(tmp_path: Path) -> None:
    assert sweep_legacy(tmp_path / "no") == drop_namespaced(tmp_path / "no") == 0
    assert not (tmp_path / "no").exists()


def test_folders_with_such_names_are_left(tmp_path: Path) -> None:
    (tmp_path / "feed.json").mkdir()
    (tmp_path / DROPPED[0]).mkdir()
    assert sweep_legacy(tmp_path) == drop_namespaced(tmp_path) == 0


def test_of_a_link_only_the_link_is_removed(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("kept")
    (tmp_path / "feed.json").symlink_to(target)
    assert sweep_legacy(tmp_path) == 1
    assert target.read_text() == "kept"


def test_processes_that_sweep_and_drop_at_once_remove_each_file_once(tmp_path: Path) -> None:
    _fill(tmp_path, [f"{number:024x}.json" for number in range(40)])
    _fill(tmp_path, [f"k2-feed-{number:032x}.json" for number in range(40)])
    counts = at_once(
        8,
        "from scripts.swarm_v2.keyspace import sweep_legacy, drop_namespaced",
        "print(sweep_legacy(sys.argv[1], 99) + drop_namespaced(sys.argv[1]))",
        tmp_path,
    )
    assert sum(map(int, counts)) == 80
    assert os.listdir(tmp_path) == []
