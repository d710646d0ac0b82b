"""``brainhooks install``: into the person's settings or one project's, and nothing else."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scripts.install_plan import MARK, command, is_ours, parse_record, shell_word, stanza
from scripts.installer import install, profile_folder, project_target, user_target
from tests.support.run_cli import run_cli
from tests.support.run_hook import ROOT, agent_env

REAL = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


@pytest.fixture
def profile(home) -> Path:
    return home.parent / ".claude"


def entries_of(path: Path) -> dict[str, dict[str, object]]:
    hooks = json.loads(path.read_text(encoding="utf-8"))["hooks"]
    return {event: groups[-1]["hooks"][0] for event, groups in hooks.items()}


def test_a_first_install_makes_private_settings_with_the_one_start_command(home, profile):
    done = run_cli("install", home=home)
    assert (done.returncode, done.stderr) == (0, "")
    settings = profile / "settings.json"
    assert str(settings) in done.stdout
    assert settings.stat().st_mode & 0o777 == 0o600
    wanted = json.loads((ROOT / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    found = entries_of(settings)
    assert list(found) == list(wanted)
    for event, entry in found.items():
        words = shlex.split(str(entry["command"]), comments=True)
        start = [REAL, "-I", "-S", f"{ROOT}/hooks/__main__.py", event]
        assert words == [*start, "||", "exit", "1"]
        assert entry["timeout"] == wanted[event][0]["hooks"][0]["timeout"]
    assert not list(profile.glob("*backup*"))


def test_other_hooks_and_the_formatting_stay_and_a_copy_is_kept(home, profile):
    profile.mkdir()
    settings = profile / "settings.json"
    before = (
        '{\r\n\t"model": "opus",\r\n\t"hooks": {\r\n\t\t"Stop": [{"hooks": '
        '[{"type": "command", "command": "theirs"}]}]\r\n\t}\r\n}'
    )
    settings.write_bytes(before.encode())
    settings.chmod(0o640)
    done = run_cli("install", home=home)
    assert done.returncode == 0, done.stderr
    after = settings.read_bytes().decode()
    assert after.startswith(before[: before.index("theirs") + len('theirs"}]}')])
    assert "\n" not in after.replace("\r\n", "")
    assert settings.stat().st_mode & 0o777 == 0o640
    assert (profile / "settings.json.brainhooks-backup").read_bytes() == before.encode()
    first, ours = json.loads(after)["hooks"]["Stop"]
    assert first["hooks"][0]["command"] == "theirs"
    assert is_ours(ours["hooks"][0]["command"])


@pytest.mark.parametrize("line", [None, {"type": "command", "command": "theirs"}])
def test_a_status_line_is_neither_added_nor_replaced(home, profile, line):
    profile.mkdir()
    settings = profile / "settings.json"
    settings.write_text(json.dumps({} if line is None else {"statusLine": line}))
    assert run_cli("install", home=home).returncode == 0
    assert json.loads(settings.read_text()).get("statusLine") == line
    assert run_cli("uninstall", home=home).returncode == 0
    assert json.loads(settings.read_text()).get("statusLine") == line


def test_a_second_install_changes_nothing_and_one_from_elsewhere_takes_its_place(home, profile):
    target = user_target({"HOME": str(home.parent), "AGENTIHOOKS_HOME": str(home)})
    profile.mkdir()
    settings = profile / "settings.json"
    settings.write_bytes(b'{"model":"opus"}')
    assert run_cli("install", home=home).returncode == 0
    once = settings.stat()
    again = run_cli("install", home=home)
    assert "already" in again.stdout
    assert settings.stat().st_ino == once.st_ino
    groups = stanza("/opt/python/bin/python3.13", str(ROOT))
    install(target, groups, {})
    assert [group for group in entries_of(settings).values() if REAL in str(group)] == []
    assert json.loads(settings.read_bytes()) == {
        "model": "opus",
        "hooks": {event: [group] for event, group in groups.items()},
    }
    assert [each.name for each in profile.glob("*backup*")] == ["settings.json.brainhooks-backup"]
    assert (profile / "settings.json.brainhooks-backup").read_bytes() == b'{"model":"opus"}'


def test_an_enabled_plugin_is_pointed_out(home, profile):
    profile.mkdir()
    (profile / "settings.json").write_bytes(b'{"enabledPlugins": {"brainhooks@market": true}}')
    assert "brainhooks@market is enabled too" in run_cli("install", home=home).stdout


def test_a_dry_run_shows_the_change_and_writes_nothing(home, profile):
    profile.mkdir()
    (profile / "settings.json").write_bytes(b'{\n  "model": "opus"\n}\n')
    done = run_cli("install", "--dry-run", home=home)
    assert done.returncode == 0, done.stderr
    assert '+  "hooks": {' in done.stdout
    assert '   "model": "opus"' in done.stdout or '+  "model": "opus",' in done.stdout
    assert [each.name for each in profile.iterdir()] == ["settings.json"]
    assert (profile / "settings.json").read_bytes() == b'{\n  "model": "opus"\n}\n'
    assert not home.exists()


def test_a_file_that_cannot_be_parsed_is_refused_with_a_sentence(home, profile):
    profile.mkdir()
    settings = profile / "settings.json"
    settings.write_bytes(b'{"model": "opus",}')
    for words in (["install"], ["install", "--dry-run"], ["uninstall"]):
        done = run_cli(*words, home=home)
        assert done.returncode == 1
        assert "was left as it is: it is not JSON" in done.stderr
        assert "hint: " in done.stderr
        assert "Traceback" not in done.stderr
    assert settings.read_bytes() == b'{"model": "opus",}'


def test_a_link_into_a_folder_of_dotfiles_stays_a_link(home, profile, tmp_path):
    dotfile = tmp_path / "dotfiles" / "claude.json"
    dotfile.parent.mkdir()
    dotfile.write_bytes(b"{}")
    profile.mkdir()
    (profile / "settings.json").symlink_to(dotfile)
    assert run_cli("install", home=home).returncode == 0
    assert (profile / "settings.json").is_symlink()
    assert b"brainhooks" in dotfile.read_bytes()
    assert [each.name for each in dotfile.parent.iterdir()] == ["claude.json"]


def test_a_profile_of_its_own_is_the_one_that_is_changed(home, profile, tmp_path):
    other = tmp_path / "Gómez 名前 😀"
    done = run_cli("install", home=home, env={"CLAUDE_CONFIG_DIR": str(other), "LC_ALL": "C"})
    assert done.returncode == 0, done.stderr
    assert entries_of(other / "settings.json")
    assert not profile.exists()
    assert profile_folder({"HOME": "/h"}) == "/h/.claude"


def test_installs_at_once_agree(home, profile):
    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(lambda _: run_cli("install", home=home).returncode, range(4)))
    assert codes == [0] * 4
    assert all(len(groups) == 1 for groups in _hooks(profile / "settings.json").values())


def _hooks(path: Path) -> dict[str, list[object]]:
    return dict(json.loads(path.read_text(encoding="utf-8"))["hooks"])


# -- a project

LOCAL = Path(".claude") / "settings.local.json"


def status(project: Path) -> str:
    command = ["git", "-C", str(project), "status", "--porcelain", "--untracked-files=all"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_project_install_is_invisible_to_git(home, project):
    done = run_cli("install", "--project", home=home, cwd=project)
    assert done.returncode == 0, done.stderr
    assert entries_of(project / LOCAL)
    assert status(project) == ""
    assert "info/exclude" in done.stdout
    assert not (home.parent / ".claude").exists()


def test_a_name_with_pattern_characters_is_ignored_as_itself(home, project):
    odd = project / "#odd [x] *! ó"
    (odd / ".claude").mkdir(parents=True)
    (odd / LOCAL).write_bytes(b"{}")
    done = run_cli("install", "--project", home=home, cwd=odd)
    assert done.returncode == 0, done.stderr
    assert status(project) == ""


def test_what_is_ignored_or_tracked_already_needs_no_line(home, project):
    exclude = project / ".git" / "info" / "exclude"
    before = exclude.read_bytes()
    (project / ".gitignore").write_text(".claude/\n", encoding="utf-8")
    run_cli("install", "--project", home=home, cwd=project)
    assert exclude.read_bytes() == before


def test_a_subfolder_belongs_to_its_project(home, project):
    (project / "src").mkdir()
    env = {"HOME": str(home.parent), "AGENTIHOOKS_HOME": str(home)}
    for cwd, extra in ((project / "src", {}), (home, {"CLAUDE_PROJECT_DIR": str(project)})):
        assert project_target({**env, **extra}, str(cwd)).path == str(project / LOCAL)
    bare = home.parent / "no project"
    bare.mkdir()
    (home.parent / ".claude").mkdir()  # the person's profile, not a project's
    assert project_target(env, str(bare)).path == str(bare / LOCAL)


# -- the command text


@pytest.mark.parametrize(
    ("path", "word"),
    [
        (r"C:\Users\t\x", "C:/Users/t/x"),
        (r"C:\Program Files\py.exe", "'C:/Program Files/py.exe'"),
        (r"\\server\share\py", "//server/share/py"),
        ("/opt/a b/py", "'/opt/a b/py'"),
        (r"/opt/a\b", r"'/opt/a\b'"),
        ("/opt/it's", "'/opt/it'\"'\"'s'"),
    ],
)
def test_paths_reach_the_interpreter_as_they_are(path, word):
    assert shell_word(path) == word


def test_the_command_starts_from_a_root_with_any_name(tmp_path):
    root = tmp_path / "ó 名 😀 'q\" $HOME `x` #"
    (root / "hooks").mkdir(parents=True)
    (root / "hooks" / "__main__.py").write_text(
        "import sys; print(sys.argv[1], sys.pycache_prefix)", encoding="utf-8"
    )
    text = command(REAL, str(root), "Stop", str(tmp_path / "p y c"))
    done = subprocess.run(["/bin/sh", "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == f"Stop {tmp_path}/p y c\n"


@pytest.mark.parametrize("gone", ["root", "python"])
def test_a_removed_clone_or_python_never_reads_as_a_refusal(tmp_path, gone):
    python = "/nowhere/python3" if gone == "python" else REAL
    text = command(python, str(tmp_path / "gone"), "UserPromptSubmit")
    done = subprocess.run(["/bin/sh", "-c", text], capture_output=True, check=False)
    assert done.returncode == 1  # 2 would block the prompt
    assert done.stdout == b""


@pytest.mark.parametrize("data", [None, b"", b"[]", b"{}", b'{"path": 1}', b"\xff"])
def test_a_damaged_record_is_no_record(data):
    assert parse_record(data) is None


def test_only_commands_with_our_mark_are_ours():
    assert is_ours(command("/p", "/r", "Stop"))
    assert not is_ours("python3 -m hooks Stop")
    assert MARK.startswith("#")


PROBE = """
import sys
sys.path.insert(0, sys.argv[1])
from scripts.installer import Target, groups_for
print(groups_for(Target("/s", "/h"), sys.argv[1])["Stop"]["hooks"][0]["command"])
"""


def everybody_may_start(path: str) -> bool:
    return all(folder.stat().st_mode & 0o001 for folder in Path(path).parents)


@pytest.mark.skipif(os.getuid() == 0 and not shutil.which("setpriv"), reason="root writes anywhere")
def test_a_read_only_clone_keeps_its_bytecode_in_the_home():
    python = REAL if everybody_may_start(REAL) else "/usr/bin/python3"
    with tempfile.TemporaryDirectory(prefix="brainhooks-") as base:
        os.chmod(base, 0o755)
        clone = Path(base) / "clone"
        for name in ("hooks", "scripts"):
            bare = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, clone / name, ignore=bare)
        for folder in (clone / "hooks", clone):
            folder.chmod(0o555)
        words = [python, "-I", "-c", PROBE, str(clone)]
        if os.getuid() == 0:
            nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"]
            words = [str(shutil.which("setpriv")), *nobody, *words]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        for folder in (clone, clone / "hooks"):
            folder.chmod(0o755)
    assert "-X pycache_prefix=/h/pyc" in done.stdout, done.stderr


def test_an_install_that_names_other_tools_or_lacks_events_is_brought_up_to_date(home, profile):
    run_cli("install", home=home)
    settings = profile / "settings.json"
    wanted = settings.read_bytes()
    document = json.loads(wanted)
    document["hooks"]["PreToolUse"][0]["matcher"] = "Bash"
    del document["hooks"]["PostToolUse"]
    settings.write_text(json.dumps(document), encoding="utf-8")

    done = run_cli("install", home=home)
    assert done.returncode == 0, done.stderr
    assert json.loads(settings.read_bytes()) == json.loads(wanted)


def test_an_older_install_of_ours_is_upgraded_and_uninstall_still_gives_the_first_bytes_back(
    home, profile
):
    profile.mkdir()
    settings = profile / "settings.json"
    before = b'{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": []}]},\n "model": "opus"}\n'
    settings.write_bytes(before)
    target = user_target(agent_env(home))
    older = {
        event: group for event, group in stanza(REAL, str(ROOT)).items() if "Tool" not in event
    }
    install(target, older, agent_env(home))
    assert list(json.loads(settings.read_bytes())["hooks"]) == ["PreToolUse", *older]

    done = run_cli("install", home=home)
    assert done.returncode == 0, done.stderr
    upgraded = json.loads(settings.read_bytes())["hooks"]
    assert set(upgraded) == {"PreToolUse", "PostToolUse", "PostToolUseFailure", *older}
    assert upgraded["PreToolUse"][0] == {"matcher": "Bash", "hooks": []}
    run_cli("uninstall", home=home)
    assert settings.read_bytes() == before
