"""Doctor's look at settings that are spelled in another way than ours."""

from __future__ import annotations

import json

import pytest

from hooks.settings import SWITCHES, TABLE
from scripts.doctor import Look
from scripts.doctor.spelling import of_settings


def found(home, noon, file=None, **env):
    if file is not None:
        home.mkdir(exist_ok=True)
        (home / "settings.json").write_text(json.dumps(file), encoding="utf-8")
    return list(of_settings(Look({"AGENTIHOOKS_HOME": str(home), **env}, noon, "/", "/")))


@pytest.mark.parametrize("name", SWITCHES)
def test_a_word_that_is_neither_on_nor_off_is_named_with_what_it_counts_as(home, noon, name):
    default = "on" if TABLE[name][0] == "1" else "off"
    (one,) = found(home, noon, **{name: "2"})
    assert one.level == "warn"
    assert f"{name} is '2' in the environment" in one.what
    assert one.what.endswith(f"counts as {default}")
    (two,) = found(home, noon, {name: "enabled"})
    assert "settings.json" in two.what


@pytest.mark.parametrize("word", ["1", "true", "YES", " On ", "0", "False", "no", "off", ""])
def test_a_word_for_on_or_off_needs_nobody(home, noon, word):
    assert found(home, noon, {"BRAINHOOKS_CI": word}, BRAINHOOKS_READ_CACHE=word) == []


@pytest.mark.parametrize("value", [True, False, 0, 1, None])
def test_the_file_may_hold_truths_and_numbers(home, noon, value):
    assert found(home, noon, {"BRAINHOOKS_ARCHIVE": value}) == []


def test_a_setting_that_does_not_exist_is_named(home, noon):
    (one,) = found(home, noon, BRAINHOOKS_BREAKER_DENIES="1", BRAIN_DAMAGE="x", REDIS_HOST="y")
    assert "'BRAINHOOKS_BREAKER_DENIES'" in one.what
    file = {"BRAIN_SORCE_TYPE": "none", "REDIS_PREFIX": "a", "theme": "dark"}
    said = found(home, noon, file)
    assert [("BRAIN_SORCE_TYPE" in one.what, "REDIS_PREFIX" in one.what) for one in said] == [
        (True, False),
        (False, True),
    ]


def test_a_setting_in_small_letters_is_named_with_its_name(home, noon):
    (one,) = found(home, noon, {"brainhooks_archive": "1"})
    assert one.next == "write it BRAINHOOKS_ARCHIVE"


@pytest.mark.parametrize("content", [None, [], "x"])
def test_a_file_that_is_absent_or_damaged_is_told_by_another_check(home, noon, content):
    assert found(home, noon, content) == []
