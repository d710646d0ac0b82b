"""``brainhooks uninstall``: what was there comes back, and nothing of ours is left."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from scripts.install_plan import encode_record, parse_record, stanza
from scripts.installer import Target, install, uninstall
from tests.scripts.test_settings_edit import documents
from tests.support.run_cli import run_cli
from tests.support.run_hook import ROOT

GROUPS = stanza("/usr/bin/python3.11", str(ROOT))


@pytest.fixture
def target(tmp_path) -> Target:
    folder = tmp_path / "profile"
    folder.mkdir()
    return Target(str(folder / "settings.json"), str(tmp_path / "home"))


def everything(*folders: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name != "locks"
    }


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(documents())
def test_install_and_uninstall_leave_the_very_bytes(target, text):
    path = Path(target.path)
    path.write_bytes(text.encode())
    install(target, GROUPS, {})
    assert path.read_bytes() != text.encode()
    uninstall(target)
    assert everything(path.parent, Path(target.home)) == {target.path: text.encode()}


def test_a_person_who_had_no_settings_has_none_again(home):
    profile = home.parent / ".claude"
    run_cli("install", home=home)
    done = run_cli("uninstall", home=home)
    assert done.returncode == 0, done.stderr
    assert not profile.exists()
    assert "gone again" in done.stdout
    assert str(home) in done.stdout  # where the memories stay


def test_what_the_person_wrote_meanwhile_is_all_that_stays(target):
    path = Path(target.path)
    path.write_bytes(b'{\n  "model": "opus"\n}\n')
    install(target, GROUPS, {})
    edited = path.read_bytes().replace(b'"opus"', b'"sonnet",\n  "theme": "dark"')
    path.write_bytes(edited)
    uninstall(target)
    assert path.read_bytes() == b'{\n  "model": "sonnet",\n  "theme": "dark"\n}\n'
    assert [each.name for each in path.parent.iterdir()] == ["settings.json"]


def test_settings_that_we_made_and_the_person_filled_stay(target):
    install(target, GROUPS, {})
    path = Path(target.path)
    path.write_bytes(path.read_bytes().replace(b"{\n", b'{\n  "model": "opus",\n', 1))
    uninstall(target)
    assert path.read_bytes() == b'{\n  "model": "opus"\n}\n'


def test_a_reinstall_after_an_edit_gives_the_edited_bytes_back(target):
    path = Path(target.path)
    path.write_bytes(b'{"a":1}')
    install(target, GROUPS, {})
    path.write_bytes(path.read_bytes().replace(b'"a":1', b'"a":2'))
    install(target, stanza("/opt/python3", str(ROOT)), {})
    uninstall(target)
    assert path.read_bytes() == b'{"a":2}'
    assert [each.name for each in path.parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize("lost", ["record", "backup", "damaged record", "damaged backup"])
def test_without_what_we_remembered_our_entries_still_go(target, lost):
    path, backup = Path(target.path), Path(target.path + ".brainhooks-backup")
    path.write_bytes(b'{\n    "a": 1\n}')
    install(target, GROUPS, {})
    record = Path(target.record_path)
    if lost == "record":
        record.unlink()
    elif lost == "backup":
        backup.unlink()
    else:
        (record if lost == "damaged record" else backup).write_bytes(b"{")
    uninstall(target)
    assert path.read_bytes() == b'{\n    "a": 1\n}'


def test_a_copy_that_somebody_else_made_is_never_replaced(target):
    path, other = Path(target.path), Path(target.path + ".brainhooks-backup")
    path.write_bytes(b'{"a":1}')
    other.write_bytes(b"precious")
    install(target, GROUPS, {})
    assert Path(target.path + ".brainhooks-backup-2").read_bytes() == b'{"a":1}'
    uninstall(target)
    assert everything(path.parent) == {str(path): b'{"a":1}', str(other): b"precious"}


def test_a_second_uninstall_and_one_without_install_change_nothing(target, home):
    path = Path(target.path)
    path.write_bytes(b'{"hooks": {"Stop": []}}')
    assert uninstall(target).new == b'{"hooks": {"Stop": []}}'
    done = run_cli("uninstall", home=home)
    assert done.returncode == 0, done.stderr
    assert "nothing was changed" in done.stdout


def test_an_install_that_was_killed_before_its_last_step_is_taken_back(target):
    """The record is written before the file: then there is a record and no entry of ours."""
    path = Path(target.path)
    path.write_bytes(b'{"a":1}')
    install(target, GROUPS, {})
    path.write_bytes(b'{"a":1}')
    uninstall(target)
    assert everything(path.parent, Path(target.home)) == {str(path): b'{"a":1}'}


def test_a_refused_uninstall_keeps_the_copy_and_the_record(home):
    profile = home.parent / ".claude"
    profile.mkdir()
    (profile / "settings.json").write_bytes(b'{"a":1}')
    run_cli("install", home=home)
    (profile / "settings.json").write_bytes(b"broken")
    assert run_cli("uninstall", home=home).returncode == 1
    assert (profile / "settings.json.brainhooks-backup").read_bytes() == b'{"a":1}'
    (profile / "settings.json").write_bytes(b'{"a":2}')
    assert run_cli("uninstall", home=home).returncode == 0
    assert everything(profile) == {str(profile / "settings.json"): b'{"a":2}'}


def test_the_links_and_modes_stay(target, tmp_path):
    real = tmp_path / "dotfile"
    real.write_bytes(b"{}")
    real.chmod(0o640)
    Path(target.path).symlink_to(real)
    install(target, GROUPS, {})
    uninstall(target)
    assert os.path.islink(target.path)
    assert (real.read_bytes(), real.stat().st_mode & 0o777) == (b"{}", 0o640)


@pytest.mark.parametrize("edited", [False, True])
def test_a_project_is_left_as_it_was(home, project, edited):
    exclude = project / ".git" / "info" / "exclude"
    exclude.write_bytes(b"# mine\n*.swp")
    before = everything(project)
    assert run_cli("install", "--project", home=home, cwd=project).returncode == 0
    if edited:
        exclude.write_bytes(exclude.read_bytes() + b"*.log\n")
    done = run_cli("uninstall", "--project", home=home, cwd=project)
    assert done.returncode == 0, done.stderr
    assert not (project / ".claude").exists()
    wanted = b"# mine\n*.swp\n*.log\n" if edited else b"# mine\n*.swp"
    assert everything(project) == {**before, str(exclude): wanted}


def test_a_dry_run_shows_what_would_go(home):
    run_cli("install", home=home)
    settings_file = home.parent / ".claude" / "settings.json"
    before = settings_file.read_bytes()
    done = run_cli("uninstall", "--dry-run", home=home)
    assert done.returncode == 0, done.stderr
    assert "+++ no file" in done.stdout
    assert settings_file.read_bytes() == before
    shutil.rmtree(home)
    done = run_cli("uninstall", "--dry-run", home=home)
    assert '-  "hooks": {' in done.stdout


def test_a_record_comes_back_as_it_was_written(target):
    install(target, GROUPS, {})
    data = Path(target.record_path).read_bytes()
    record = parse_record(data)
    assert record is not None
    assert encode_record(record) == data
    assert json.loads(data)["schema_version"] == "1"


def test_without_hooks_there_it_names_the_other_settings_that_have_some(home, project):
    run_cli("install", "--project", home=home, cwd=project)
    said = run_cli("uninstall", home=home, cwd=project).stdout
    path = project / ".claude" / "settings.local.json"
    assert f"{path} has some: brainhooks uninstall --project" in said
    run_cli("uninstall", "--project", home=home, cwd=project)
    assert "has some" not in run_cli("uninstall", home=home, cwd=project).stdout
