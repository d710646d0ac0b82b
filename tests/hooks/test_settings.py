from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hooks.errors import SettingsError
from hooks.settings import MAX_BUDGET, SWITCHES, TABLE, Guards, Http, Redis, Settings, Swarm, load

EVERY: dict[str, tuple[str, str, Any]] = {
    "BRAIN_SOURCE_TYPE": ("none", "brain_source", "none"),
    "BRAIN_SOURCE_PATH": ("/notes", "brain_path", "/notes"),
    "BRAIN_URL": ("https://brain.example", "brain_url", "https://brain.example"),
    "BRAIN_HTTP_TOKEN": ("t0ken", "http", Http(token="t0ken")),
    "BRAIN_HTTP_TOKEN_FILE": ("/run/token", "http", Http(token_file="/run/token")),
    "BRAIN_HTTP_TIMEOUT": ("2.5", "http", Http(timeout_s=2.5)),
    "BRAIN_HTTP_CA": ("/etc/ca.pem", "http", Http(ca="/etc/ca.pem")),
    "BRAIN_CONTEXT_BUDGET": ("500", "budget_units", 500),
    "BRAINHOOKS_PRINCIPAL": ("did:key:zA", "principal", "did:key:zA"),
    "BRAINHOOKS_DISPLAY": ("raw", "display_marks", False),
    "BRAINHOOKS_ARCHIVE": ("1", "archive", True),
    "BRAINHOOKS_READ_CACHE": ("1", "guards", Guards(read_cache=True)),
    "BRAINHOOKS_BREAKER_DENY": ("1", "guards", Guards(breaker_deny=True)),
    "BRAINHOOKS_TRANSCRIPT_LOG": ("1", "guards", Guards(transcript_log=True)),
    "REDIS_URL": ("redis://h/1", "redis", Redis("redis://h/1")),
    "REDIS_KEY_PREFIX": ("ours", "redis", Redis(prefix="ours")),
    "BRAINHOOKS_MEMORY_URL": ("redis://h/2", "memory_url", "redis://h/2"),
    "AGENTIHOOKS_PROJECT_ID": ("local:notes", "project_id", "local:notes"),
    "AGENTIHOOKS_PROJECT_GRANT": ("a, b,,c ", "grants", ("a", "b", "c")),
    "AGENTIHOOKS_SESSION_SCOPE": ("0", "session_scope", False),
    "AGENTIHOOKS_SWARM": ("s", "swarm", Swarm(swarm="s")),
    "AGENTIHOOKS_SWARM_TASK": ("t", "swarm", Swarm(task="t")),
    "AGENTIHOOKS_SWARM_TASK_REVISION": ("3", "swarm", Swarm(task_revision="3")),
    "AGENTIHOOKS_SWARM_LANE": ("l", "swarm", Swarm(lane="l")),
}
AT_THE_DOOR = {"AGENTIHOOKS_HOME", "BRAINHOOKS_CI"}  # decide before any setting is read


def _env(home: Path, **more: str) -> dict[str, str]:
    return {"AGENTIHOOKS_HOME": str(home), **more}


def _write(home: Path, content: Any) -> Path:
    home.mkdir(exist_ok=True)
    path = home / "settings.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def test_without_a_wish_the_defaults_hold_and_nothing_is_created(home: Path) -> None:
    assert load(_env(home)) == Settings(home=str(home))
    assert not home.exists()


def test_every_row_of_the_table_is_tested_here() -> None:
    assert EVERY.keys() | AT_THE_DOOR == TABLE.keys()


@pytest.mark.parametrize("name", EVERY)
def test_a_setting_comes_from_the_environment_or_the_file_and_nothing_else_moves(
    home: Path, name: str
) -> None:
    text, field, value = EVERY[name]
    wanted = Settings(home=str(home))._replace(**{field: value})
    assert load(_env(home, **{name: f" {text} "})) == wanted
    _write(home, {name: text, "some_later_setting": [1]})
    assert load(_env(home)) == wanted


def test_the_environment_wins_over_the_file_unless_it_is_empty(home: Path) -> None:
    _write(home, {"BRAIN_CONTEXT_BUDGET": "500"})
    assert load(_env(home, BRAIN_CONTEXT_BUDGET="700")).budget_units == 700
    assert load(_env(home, BRAIN_CONTEXT_BUDGET="")).budget_units == 500


@pytest.mark.parametrize(
    ("value", "budget", "scope"),
    [(500, 500, True), (None, 3_000, True), ("", 3_000, True)],
)
def test_the_file_may_hold_numbers_truths_and_nothing(
    home: Path, value: object, budget: int, scope: bool
) -> None:
    _write(home, {"BRAIN_CONTEXT_BUDGET": value, "AGENTIHOOKS_SESSION_SCOPE": scope})
    assert load(_env(home)).budget_units == budget
    _write(home, {"AGENTIHOOKS_SESSION_SCOPE": False})
    assert load(_env(home)).session_scope is False


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("0", 0),
        ("9900", 9900),
        ("9901", MAX_BUDGET),
        ("10000", MAX_BUDGET),
        ("0000000000100", 100),
        ("9" * 5_000, MAX_BUDGET),
    ],
    ids=lambda value: str(value)[:12],
)
def test_the_budget_never_exceeds_what_the_agent_shows(home: Path, text: str, units: int) -> None:
    assert load(_env(home, BRAIN_CONTEXT_BUDGET=text)).budget_units == units


BAD = [
    ("BRAIN_CONTEXT_BUDGET", "many"),
    ("BRAIN_CONTEXT_BUDGET", "-1"),
    ("BRAIN_CONTEXT_BUDGET", "1.5"),
    ("BRAIN_CONTEXT_BUDGET", "nan"),
    ("BRAIN_CONTEXT_BUDGET", "³"),
    ("BRAIN_CONTEXT_BUDGET", "٣"),
    ("BRAIN_SOURCE_TYPE", "http"),
    ("BRAIN_SOURCE_TYPE", "local,none"),
    ("BRAINHOOKS_DISPLAY", "pretty"),
    ("BRAINHOOKS_PRINCIPAL", "a\udcff"),
]


@pytest.mark.parametrize(("name", "value"), BAD, ids=ascii)
def test_a_value_outside_its_row_is_told_with_name_value_and_the_next_step(
    home: Path, name: str, value: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        load(_env(home, **{name: value}))
    assert (caught.value.name, caught.value.value) == (name, value)
    assert name in str(caught.value)
    assert name in caught.value.hint


@pytest.mark.parametrize("value", [[], {}, ["500"]], ids=repr)
def test_a_nested_value_in_the_file_is_refused(home: Path, value: object) -> None:
    _write(home, {"BRAIN_CONTEXT_BUDGET": value})
    with pytest.raises(SettingsError, match="BRAIN_CONTEXT_BUDGET"):
        load(_env(home))


@pytest.mark.parametrize("name", sorted(set(SWITCHES) - AT_THE_DOOR))
def test_a_switch_takes_every_word_for_on_and_off_and_no_other_stops_a_hook(
    home: Path, name: str
) -> None:
    def value(word: str) -> Any:
        return load(_env(home, **{name: word}))

    default = load(_env(home))
    on, off = value("1"), value("0")
    assert on != off
    for word in ("true", "Yes", " ON "):
        assert value(word) == on
    for word in ("False", "NO", "off"):
        assert value(word) == off
    for word in ("2", "enabled", "y"):
        assert value(word) == default


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "{} {}"], ids=repr)
def test_a_damaged_file_is_refused_and_left(home: Path, content: str) -> None:
    path = _write(home, content)
    with pytest.raises(SettingsError) as caught:
        load(_env(home))
    assert str(path) in caught.value.hint
    assert path.read_text() == content


def test_a_file_that_is_not_one_is_refused(home: Path) -> None:
    (home / "settings.json").mkdir(parents=True)
    with pytest.raises(SettingsError, match=r"settings\.json"):
        load(_env(home))


def test_a_source_is_named_in_any_case(home: Path) -> None:
    assert load(_env(home, BRAIN_SOURCE_TYPE=" Local ")).brain_source == "local"


def test_a_folder_below_the_persons_home_may_be_written_with_a_tilde(home):
    env = {**_env(home, BRAIN_SOURCE_PATH="~/notes"), "HOME": "/home/ann"}
    assert load(env).brain_path == "/home/ann/notes"
    assert load({**env, "BRAIN_SOURCE_PATH": "/a/~/b"}).brain_path == "/a/~/b"
