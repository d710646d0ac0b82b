from __future__ import annotations

import os
import pwd
import sys
from pathlib import Path

import platformdirs
import pytest

from hooks.errors import SettingsError
from hooks.home import older_home, resolve_home, user_home

ENVIRONMENTS = {
    "plain": {"HOME": "/home/dev"},
    "slash at the end": {"HOME": "/home/dev/"},
    "root": {"HOME": "/"},
    "blanks and accents": {"HOME": "/home/Gómez 名前 😀"},
    "undecodable": {"HOME": "/home/\udcff"},
    "xdg": {"HOME": "/home/dev", "XDG_DATA_HOME": "/data"},
    "xdg with a slash": {"HOME": "/home/dev", "XDG_DATA_HOME": "/data/"},
    "xdg empty": {"HOME": "/home/dev", "XDG_DATA_HOME": ""},
    "xdg blank": {"HOME": "/home/dev", "XDG_DATA_HOME": "  "},
    "xdg relative": {"HOME": "/home/dev", "XDG_DATA_HOME": "data"},
    "xdg with a blank before": {"HOME": "/home/dev", "XDG_DATA_HOME": " /data"},
    "no home": {},
    "empty home": {"HOME": ""},
    "relative home": {"HOME": "home"},
    "no home but xdg": {"XDG_DATA_HOME": "/data"},
}


@pytest.mark.parametrize("env", ENVIRONMENTS.values(), ids=ENVIRONMENTS.keys())
def test_without_a_wish_the_home_is_the_one_platformdirs_names(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    wanted = platformdirs.user_data_dir("agentihooks", appauthor=None)
    assert resolve_home(env) == wanted


def test_the_older_folder_is_kept_where_it_exists(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "XDG_DATA_HOME": "/data"}
    assert resolve_home(env) == "/data/agentihooks"
    (tmp_path / ".agentihooks").write_text("a file is no home")
    assert resolve_home(env) == "/data/agentihooks"
    (tmp_path / ".agentihooks").unlink()
    (tmp_path / ".agentihooks").mkdir()
    assert resolve_home(env) == str(tmp_path / ".agentihooks")


def test_a_profile_of_the_agent_is_an_installation_of_its_own(tmp_path: Path) -> None:
    (tmp_path / ".agentihooks").mkdir()
    env = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": "/profiles/team/"}
    assert resolve_home(env) == "/profiles/team/agentihooks"
    env["CLAUDE_CONFIG_DIR"] = ""
    assert resolve_home(env) == str(tmp_path / ".agentihooks")


def test_the_explicit_home_wins(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": "/p", "AGENTIHOOKS_HOME": "/x/../y/"}
    assert resolve_home(env) == "/y"


@pytest.mark.parametrize(
    ("wish", "wanted"),
    [
        ("~", "/home/dev"),
        ("~/", "/home/dev"),
        ("~/a b", "/home/dev/a b"),
    ],
)
def test_the_tilde_of_a_wish_is_this_users(wish: str, wanted: str) -> None:
    env = {"HOME": "/home/dev", "AGENTIHOOKS_HOME": wish}
    assert resolve_home(env) == wanted


@pytest.mark.parametrize("wish", ["rel", "./rel", "../rel", "~other", " /blank"])
def test_a_wish_that_is_not_absolute_is_refused(wish: str) -> None:
    with pytest.raises(
        SettingsError, match=r"AGENTIHOOKS_HOME is .*; it must be the absolute path"
    ):
        resolve_home({"HOME": "/home/dev", "AGENTIHOOKS_HOME": wish})


@pytest.mark.parametrize(("wish", "wanted"), [("~/p", "/home/dev/p"), ("rel", "CWD/rel")])
def test_a_profile_is_where_the_client_has_it(wish: str, wanted: str) -> None:
    env = {"HOME": "/home/dev", "CLAUDE_CONFIG_DIR": wish}
    assert resolve_home(env) == os.path.join(wanted.replace("CWD", os.getcwd()), "agentihooks")


def test_a_tilde_below_the_root_has_one_slash() -> None:
    assert resolve_home({"HOME": "/", "AGENTIHOOKS_HOME": "~/x"}) == "/x"


def test_nothing_is_created(tmp_path: Path) -> None:
    resolve_home({"HOME": str(tmp_path)})
    resolve_home({"AGENTIHOOKS_HOME": str(tmp_path / "a")})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there is no password database")
@pytest.mark.parametrize("env", [{}, {"HOME": ""}, {"HOME": "."}], ids=str)
def test_without_a_usable_home_variable_the_password_database_answers(env: dict[str, str]) -> None:
    assert user_home(env) == pwd.getpwuid(os.getuid()).pw_dir


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user without an entry")
def test_a_user_without_any_home_is_told_and_gets_none_in_the_working_folder() -> None:
    child = os.fork()
    if child == 0:  # in the child: become a user that no database knows
        code = 1
        try:
            os.setuid(54_321)
            resolve_home({})
        except SettingsError as err:
            code = 0 if err.name == "HOME" else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    # An explicit home needs no user.
    assert resolve_home({"AGENTIHOOKS_HOME": "/srv/home"}) == "/srv/home"


def test_the_home_of_before_is_named_beside_a_profiles_own(tmp_path: Path) -> None:
    (tmp_path / ".agentihooks").mkdir()
    env = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "work")}
    assert older_home(env, resolve_home(env)) == str(tmp_path / ".agentihooks")
    assert older_home({"HOME": str(tmp_path)}, str(tmp_path / ".agentihooks")) == ""
    assert older_home({**env, "AGENTIHOOKS_HOME": "/x"}, "/x") == ""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "agentihooks").symlink_to(tmp_path / ".agentihooks")
    assert older_home(env, resolve_home(env)) == ""


def test_without_a_home_of_before_there_is_none_to_name(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "work")}
    assert older_home(env, resolve_home(env)) == ""
