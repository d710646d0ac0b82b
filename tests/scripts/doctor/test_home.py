"""Doctor's look at the home, on homes that are wrong in one way each."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from datetime import timedelta

import pytest

from scripts.doctor import Look
from scripts.doctor.home import (
    DATABASES,
    access,
    clock,
    copied,
    databases,
    filesystem,
    modes,
    mount_type,
    rebuilt,
)
from scripts.swarm_v2.installation import installation
from tests.support.run_hook import ROOT


@pytest.fixture
def look(home, noon) -> Look:
    return Look({"AGENTIHOOKS_HOME": str(home)}, noon, "/", "/")


@pytest.fixture
def made(home, noon):
    installation(home, noon)
    return home


def test_a_home_that_is_not_there_yet_is_no_fault(look, home):
    for check in (access, modes, filesystem, copied, clock, databases):
        assert {finding.level for finding in check(look)} <= {"ok"}, check
    assert not home.exists()


def test_a_fresh_home_needs_nobody(look, made):
    for check in (access, modes, filesystem, copied, clock, databases):
        assert {finding.level for finding in check(look)} <= {"ok"}, check


def test_a_home_that_is_a_file_is_a_failure(look, home):
    home.write_bytes(b"")
    (found,) = access(look)
    assert (found.level, "is not a folder" in found.what) == ("fail", True)


AS_NOBODY = """
import os, sys
from scripts.doctor import Look
from scripts.doctor.home import access
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
for found in access(Look({"AGENTIHOOKS_HOME": sys.argv[1]}, None, "/", "/")):
    print(*found)
"""


@pytest.mark.parametrize("below", ["", "brain", "brain/project-memory", "brain-outbox", "locks"])
def test_what_can_be_written_but_not_read_is_a_failure(below):
    with tempfile.TemporaryDirectory() as base:
        os.chmod(base, 0o755)
        home = os.path.join(base, "home")
        folder = os.path.join(home, below) if below else home
        os.makedirs(folder)
        for each in (os.path.join(home, "brain"), home):
            if os.path.isdir(each):
                os.chmod(each, 0o777)
        os.chmod(folder, 0o333)  # as its owner sees 0300
        words = [sys.executable, "-c", AS_NOBODY, home]
        env = {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        os.chmod(folder, 0o700)
    said = f"fail {folder} cannot be read by this user chmod u+rwx {folder}"
    assert done.stdout.startswith(said), done
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o755])
def test_a_home_that_others_may_enter_is_a_warning_that_counts(look, made, mode):
    made.chmod(mode)
    (made / "ledger.db").write_bytes(b"")
    (made / "ledger.db").chmod(0o644)
    (found,) = modes(look)
    assert found.level == "warn"
    assert "and 1 more" in found.what
    assert found.next == f"chmod -R go= {made}"


def test_open_files_inside_a_private_home_are_hidden_by_it(look, made):
    (made / "notes").write_bytes(b"")
    (made / "notes").chmod(0o644)
    assert not list(modes(look))


MOUNT_TABLE = r"""
/dev/root / ext4 rw 0 0
nas:/home /home nfs4 rw 0 0
/dev/sdb /home/dev ext4 rw 0 0
//box/share /mnt/my\040share cifs rw 0 0
dev@box:/ /mnt/ssh fuse.sshfs rw 0 0
tmpfs /mnt/ssh/tmp tmpfs rw 0 0
C: /mnt/c 9p rw 0 0
short
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib", "ext4"),
        ("/home/other/x", "nfs4"),
        ("/home/dev/x", "ext4"),
        ("/home/devil", "nfs4"),
        ("/mnt/my share/x", "cifs"),
        ("/mnt/ssh/x", "fuse.sshfs"),
        ("/mnt/ssh/tmp", "tmpfs"),
        ("/mnt/c/Users", "9p"),
        ("/mnt/cd", "ext4"),
    ],
)
def test_the_deepest_mount_point_names_the_filesystem(path, kind):
    assert mount_type(path, MOUNT_TABLE) == kind


NETWORK = ("nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse.sshfs", "fuse.vmhgfs-fuse")


@pytest.mark.parametrize("kind", [*NETWORK, "ext4", "overlay", "tmpfs", "fuse.mergerfs"])
def test_a_home_on_a_network_filesystem_is_a_warning_with_its_kind(look, made, tmp_path, kind):
    """Also where the home is a link to there, and its name has blanks and a backslash."""
    far = tmp_path / "my\\ share"
    far.mkdir()
    made.rename(far / "home")
    made.symlink_to(far / "home")
    point = str(far).replace("\\", "\\134").replace(" ", "\\040")
    table = tmp_path / "mounts"
    lines = ("/dev/root / ext4 rw 0 0", f"there:/share {point} {kind} rw 0 0", "x /mnt nfs rw 0 0")
    table.write_text("\n".join(lines), encoding="utf-8")
    found = list(filesystem(look, str(table)))
    if kind not in NETWORK:
        assert found == []
        return
    assert [row.level for row in found] == ["warn"]
    assert f"{far / 'home'} is on a network filesystem ({kind})" in found[0].what
    assert "AGENTIHOOKS_HOME" in found[0].next


def test_without_a_list_of_mounts_nothing_is_claimed(look, made, tmp_path):
    assert list(filesystem(look, str(tmp_path / "absent"))) == []


def test_a_home_in_a_synced_folder_is_a_warning(noon, tmp_path):
    home = tmp_path / "Dropbox" / "agentihooks"
    (found,) = filesystem(Look({"AGENTIHOOKS_HOME": str(home)}, noon, "/", "/"))
    assert (found.level, "synced folder (Dropbox)" in found.what) == ("warn", True)


def test_a_home_of_another_machine_is_a_warning(look, made):
    machine = made / "installation.machine"
    if not machine.exists():
        pytest.skip("this machine has no id")
    text = machine.read_text(encoding="utf-8")
    digits = text.split('"machine":"')[1][:32]
    machine.write_text(text.replace(digits, "0" * 32), encoding="utf-8")
    (found,) = copied(look)
    assert (found.level, "another machine" in found.what) == ("warn", True)


@pytest.mark.parametrize("what", ["installation", "Stop"])
def test_a_stamp_from_the_future_is_a_warning(home, noon, look, what):
    future = noon + timedelta(hours=1)
    installation(home, future if what == "installation" else noon)
    runs = home / "brain" / "last-run"
    runs.mkdir(parents=True)
    (runs / "Stop").write_bytes(b"")
    at = (future if what == "Stop" else noon).timestamp()
    os.utime(runs / "Stop", (at, at))
    (found,) = clock(look)
    assert (found.level, what in found.what) == ("warn", True)
    assert not list(clock(look._replace(at=future)))


@pytest.mark.parametrize("name", DATABASES)
def test_a_damaged_database_is_a_failure(look, made, name):
    path = made / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)
    (found,) = databases(look)
    assert (found.level, str(path) in found.what) == ("fail", True)


@pytest.fixture
def transcript(tmp_path):
    """Write a transcript of another session: how long before the record, and what it shows."""

    def write(before: timedelta, text: str, made_at):
        path = tmp_path / "profile" / "projects" / "-x" / "s.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        when = (made_at - before).timestamp()
        os.utime(path, (when, when))
        return path

    return write


TOLD = '{"type":"attachment","content":"<brainhooks-memory project=\\"p\\">"}\n'


def profile_look(tmp_path, home, at) -> Look:
    env = {"AGENTIHOOKS_HOME": str(home), "CLAUDE_CONFIG_DIR": str(tmp_path / "profile")}
    return Look(env, at, "/", "/")


def test_a_home_that_is_younger_than_a_session_it_told_something_is_warned_of(
    tmp_path, made, noon, transcript
):
    path = transcript(timedelta(hours=3), TOLD, noon)
    (found,) = rebuilt(profile_look(tmp_path, made, noon + timedelta(minutes=5)))
    assert found.level == "warn"
    assert str(path) in found.what
    assert "AGENTIHOOKS_HOME" in found.next


@pytest.mark.parametrize(
    ("before", "text", "age"),
    [
        (timedelta(hours=3), '{"type":"user"}\n', timedelta(minutes=5)),
        (timedelta(hours=-1), TOLD, timedelta(hours=2)),
        (timedelta(hours=3), TOLD, timedelta(days=2)),
    ],
    ids=["it was told nothing by us", "it is of this installation", "the home stayed a day"],
)
def test_a_home_that_stays_is_not(tmp_path, made, noon, transcript, before, text, age):
    transcript(before, text, noon)
    assert list(rebuilt(profile_look(tmp_path, made, noon + age))) == []


def test_a_home_that_is_not_there_is_not_called_rebuilt(tmp_path, home, noon, transcript):
    transcript(timedelta(hours=3), TOLD, noon)
    assert list(rebuilt(profile_look(tmp_path, home, noon))) == []
