from __future__ import annotations

import pytest

from hooks.context import outbox
from hooks.context.ledger import Ledger
from hooks.context.memory_view import Where, view
from hooks.errors import HookError, NotOneMemory
from hooks.verbs import VerbUsageError
from hooks.verbs.edit import run as edit
from hooks.verbs.lessons import run as lessons
from hooks.verbs.move import run
from hooks.verbs.remember import run as keep
from tests.support.memories import WEB, remember


def shown(ctx, project: str = WEB) -> list[str]:
    seen = view(ctx.settings, ctx.env, Where(project, "another-session", ctx.at))
    return [item.text for item in seen.items]


def test_what_was_kept_for_no_project_can_be_given_to_this_one(home, ctx, tmp_path):
    nowhere = ctx._replace(cwd=str(tmp_path), session_id="session-0")
    key = keep("use the mirror", nowhere).split()[1].rstrip(":")
    assert shown(ctx) == []

    said = run(key, ctx)

    assert said == f"Moved {key} from no project to {WEB}: use the mirror"
    assert shown(ctx) == ["use the mirror"]
    assert lessons("--no-project", ctx) == "Every memory belongs to a project."
    ledger = Ledger.read_only(str(home))
    assert ledger is not None
    try:
        [receipt] = ledger.receipts()
    finally:
        ledger.close()
    assert receipt.project == WEB
    assert receipt.document["attrs"]["project_id"] == WEB  # type: ignore[index]
    assert run(key, ctx) == f"{key} is of {WEB} already."


def test_a_memory_of_the_wrong_project_leaves_it_with_its_history(home, ctx):
    remember(home, "a1", "the port is 80", project_id="git.example.org/shop/api", branch="main")
    new = edit("a1a1a1a1 the port is 443", ctx).split()[2]
    assert shown(ctx) == []

    run(new, ctx)

    assert shown(ctx) == ["the port is 443"]
    assert shown(ctx, "git.example.org/shop/api") == []
    assert f"project  {WEB}" in lessons("a1a1a1a1", ctx)
    again = edit(f"{new} the port is 8443", ctx)
    assert again.startswith(new)
    assert shown(ctx) == ["the port is 8443"]


def test_a_marker_that_is_read_again_stays_where_it_was_moved(home, ctx):
    key = remember(home, "a1", "use the mirror", project_id="")
    run("a1a1a1a1", ctx)
    assert remember(home, "a1", "use the mirror", project_id="") == key
    assert shown(ctx) == ["use the mirror"]


def test_what_is_for_everybody_and_what_was_replaced_stay(home, ctx):
    remember(home, "a1", "for all", share="fleet", project_id="")
    remember(home, "b2", "the port is 80", project_id="git.example.org/shop/api")
    edit("b2b2b2b2 the port is 443", ctx)
    for wanted in ("a1a1a1a1", "b2b2b2b2"):
        with pytest.raises(HookError, match="cannot be moved") as caught:
            run(wanted, ctx)
        assert caught.value.hint


def test_without_a_project_here_or_an_id_nothing_moves(home, ctx, tmp_path):
    remember(home, "a1", "stays", project_id="")
    with pytest.raises(HookError, match="belongs to no project"):
        run("a1a1a1a1", ctx._replace(cwd=str(tmp_path)))
    with pytest.raises(NotOneMemory):
        run("dead", ctx)
    for words in ("", "a1a1 b2b2"):
        with pytest.raises(VerbUsageError):
            run(words, ctx)
    assert outbox.is_empty(str(home))
