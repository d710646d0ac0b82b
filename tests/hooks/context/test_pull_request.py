"""What proves that a pull request was opened or merged, and what does not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.pull_request import Request, address, seen
from hooks.payload import Event
from tests.support.run_hook import recorded

URL = "https://github.com/shop/web/pull/12"
MR = "https://gitlab.example.org/shop/team/web/-/merge_requests/7"
PULL, MERGE = "pull request", "merge request"


def shell(command, stdout="", stderr="", **more):
    response = {**recorded("PostToolUse")["tool_response"], "stdout": stdout, "stderr": stderr}
    given = {"command": command}
    return Event(
        "PostToolUse", tool_name="Bash", tool_input=given, tool_response={**response, **more}
    )


OPENED = {
    "gh": ("gh pr create --fill", URL),
    "behind a push": ("git push -u origin HEAD && gh pr create --fill", f"pushed\n{URL}\n"),
    "with a text in a here-document": (
        "gh pr create --title 'x' --body \"$(cat <<'EOF'\n## What\nSee it\nEOF\n)\"",
        URL,
    ),
    "into a pipe": ("gh pr create --fill 2>&1 | tail -3", f"Creating pull request\n\n{URL}"),
    "its other name": ("gh -R shop/web pr new -f", URL),
    "not the last": ("git push; gh pr create --fill; sleep 1", URL),
    "its hint is none": (
        "git push && gh pr create --fill",
        "remote: Create a pull request for 'x' by visiting:\n"
        f"remote:      https://github.com/shop/web/pull/new/x\n{URL}",
    ),
}


@pytest.mark.parametrize(("command", "output"), OPENED.values(), ids=OPENED.keys())
def test_a_pull_request_is_opened_where_its_address_comes_back(command, output):
    assert seen(shell(command, output)) == Request(PULL, "opened", "12", URL, None)


def test_a_merge_request_is_opened_where_its_address_comes_back():
    output = f"Creating merge request for x into main in shop/web\n\n!7 Fix it (x)\n {MR}\n"
    assert seen(shell("glab mr create -f -y", output)) == Request(MERGE, "opened", "7", MR, None)


NOTHING = {
    "a push and its hint": (
        "git push -u origin x",
        "remote: Create a pull request for 'x' on GitHub by visiting:\n"
        "remote:      https://github.com/shop/web/pull/new/x",
    ),
    "a push and the request it has": ("git push", f"remote: View merge request for x:\n  {MR}"),
    "a page in the browser": ("gh pr create --web", "Opening github.com/shop/web/compare/x"),
    "a dry run": ("gh pr create --dry-run --fill", URL),
    "help": ("gh pr create --help", URL),
    "another subcommand": ("gh pr view 12", URL),
    "an issue": ("gh issue create", "https://github.com/shop/web/issues/12"),
    "echo": (f"echo gh pr create; echo {URL}", URL),
    "a commit message": (f"git commit -m 'gh pr create {URL}'", URL),
    "a here-document": (f"cat <<'EOF'\ngh pr create\n{URL}\nEOF", URL),
    "it exists already": (
        "gh pr create --fill 2>&1 | tail",
        f'a pull request for branch "x" into branch "main" already exists:\n{URL}',
    ),
    "no address": ("gh pr create --fill | tail", "GraphQL: must be authenticated"),
    "an address in a sentence": ("gh pr create | tail", f"see {URL} for more"),
    "two addresses": ("gh pr create --fill", f"{URL}\nhttps://github.com/a/b/pull/1"),
    "what another program printed": ("gh pr create | tail; cat notes.txt", URL),
    "a log": ("gh pr create || git log -1", URL),
    "a failure that is hidden": ("gh pr create --fill || true", URL),
    "a variable decides": ("gh pr $verb --fill", URL),
    "a function nobody calls": ("f() { gh pr create; }; cat x", URL),
    "another address": ("gh pr create", "https://github.com/shop/web/pull/12?x=<b>"),
}


@pytest.mark.parametrize(("command", "output"), NOTHING.values(), ids=NOTHING.keys())
def test_what_opens_nothing_is_not_taken_for_it(command, output):
    assert seen(shell(command, output)) is None


@pytest.mark.parametrize(
    ("command", "branch"),
    [
        ("gh pr create --head feat/x", "feat/x"),
        ("gh pr create --head=me:feat/x", "feat/x"),
        ("gh pr create -H feat/x", "feat/x"),
        ("cd ../api && gh pr create", ""),
    ],
)
def test_the_branch_is_the_one_that_the_command_names(command, branch):
    assert seen(shell(command, URL)).branch == branch


DONE = "✓ Merged!"
MERGED = {
    ("gh pr merge 12 --squash -d", ""): Request(PULL, "merged", "12", "", ""),
    ("gh pr merge --squash '#12'", ""): Request(PULL, "merged", "12", "", ""),
    ("gh pr merge -dm 12", ""): Request(PULL, "merged", "12", "", ""),
    (f"gh pr merge {URL} -m", ""): Request(PULL, "merged", "12", URL, ""),
    ("gh pr merge -s --body 'a b' 12", ""): Request(PULL, "merged", "12", "", ""),
    ("gh pr merge 12", "✓ Squashed and merged pull request #12 (x)"): (
        Request(PULL, "merged", "12", "", "")
    ),
    ("gh pr merge -sd", ""): Request(PULL, "merged", "", "", None),
    ("gh pr merge feat/x -r", ""): Request(PULL, "merged", "", "", "feat/x"),
    ("cd web && gh pr merge 12 -s && git pull", ""): Request(PULL, "merged", "12", "", ""),
    ("cd web && gh pr merge -s", ""): Request(PULL, "merged", "", "", ""),
    ("gh pr merge -s $(gh pr view --json number)", ""): Request(PULL, "merged", "", "", ""),
    ("glab mr merge 7 -y", DONE): Request(MERGE, "merged", "7", "", ""),
    ("glab mr accept", f"! No pipeline running on x\n{DONE}"): (
        Request(MERGE, "merged", "", "", None)
    ),
    ("glab mr merge -m 'text' '!7'", DONE): Request(MERGE, "merged", "7", "", ""),
}


@pytest.mark.parametrize(("said", "request_"), MERGED.items())
def test_a_merge_whose_success_the_exit_code_proves_is_seen(said, request_):
    assert seen(shell(*said)) == request_


@pytest.mark.parametrize(
    ("command", "output", "error"),
    [
        ("gh pr merge 12", "", ""),
        ("gh pr merge 12 -d", "", ""),
        ("gh pr merge 12 --squash", "", "! The merge strategy for main is set by the merge queue"),
        ("glab mr merge 7", "! Will merge when the pipeline succeeds", ""),
    ],
)
def test_a_merge_that_waits_for_a_queue_or_a_pipeline_is_not_told(command, output, error):
    assert seen(shell(command, output, error)) is None


@pytest.mark.parametrize(
    "command",
    [
        *("gh pr merge 12 --auto", "gh pr merge --disable-auto", "gh pr merge 12 || true"),
        *("gh pr merge 12; git pull", "gh pr merge 12 | cat", "! gh pr merge 12"),
        *("if gh pr merge 12; then ls; fi", "gh pr merge 12 &", "echo 'gh pr merge 12'"),
        *(
            "glab mr merge 7 --auto-merge",
            "gh pr merge --help",
            "git merge 12",
            "gh pr merge 12\n:",
        ),
        *("gh pr checks && echo gh pr merge 12", "glab mr merge 7 --when-pipeline-succeeds"),
    ],
)
def test_a_merge_that_may_not_have_been_is_not_told(command):
    assert seen(shell(command, "✓ Merged pull request #12")) is None


def test_a_command_that_was_interrupted_proves_nothing():
    assert seen(shell("gh pr create", URL, interrupted=True)) is None


@pytest.mark.parametrize("response", [None, [], "x", {}, {"stdout": 1, "stderr": None}])
def test_a_response_of_another_form_proves_nothing(response):
    event = shell("gh pr create")._replace(tool_response=response)
    assert seen(event) is None


def server(tool, given, *texts):
    blocks = [{"type": "text", "text": text} for text in texts]
    name = f"mcp__github__{tool}"
    return Event("PostToolUse", tool_name=name, tool_input=given, tool_response=blocks)


def test_a_servers_own_tool_opens_and_merges():
    opened = server("create_pull_request", {"head": "feat/x"}, f'{{"id":"1","url":"{URL}"}}')
    assert seen(opened) == Request(PULL, "opened", "12", URL, "feat/x")
    merged = server("merge_pull_request", {"pullNumber": 12}, '{"sha":"a","merged": true}')
    assert seen(merged) == Request(PULL, "merged", "12", "", "")


API = "https://api.github.com/repos/shop/web/pulls/12"
RESULTS = {
    "GitHub's object": f'{{"url": "{API}", "html_url": "{URL}", "diff_url": "{URL}.diff"}}',
    "GitLab's object": f'{{"iid": 7, "web_url": "{URL}"}}',
    "a sentence": f"Created pull request: {URL}.",
    "a link": f"Opened [#12]({URL}) for feat/x, see <{URL}>",
}


@pytest.mark.parametrize("text", RESULTS.values(), ids=RESULTS)
def test_the_page_that_a_result_names_is_the_requests(text):
    opened = seen(server("create_pull_request", {}, text), lambda: "github.com")
    assert opened == Request(PULL, "opened", "12", URL, "")


def test_a_result_may_be_the_object_itself():
    event = server("create_pull_request", {})._replace(tool_response={"html_url": URL})
    assert seen(event) == Request(PULL, "opened", "12", URL, "")


@pytest.mark.parametrize(
    ("text", "host"),
    [
        (f"Created {URL}", "git.example.org"),
        (f"Created {URL}", ""),
        (f"Created {URL}, not https://github.com/a/b/pull/1", "github.com"),
        (f"Created {URL}x", "github.com"),
        ('{"html_url": "https://github.com/shop/web"}', "github.com"),
        ('{"html_url": 12}', "github.com"),
    ],
)
def test_a_text_of_another_server_or_with_several_addresses_proves_nothing(text, host):
    assert seen(server("create_pull_request", {}, text), lambda: host) is None


@pytest.mark.parametrize(
    "event",
    [
        server("create_pull_request", {"head": "x"}, '{"error":"exists"}'),
        server("create_pull_request", {}, f'"{URL}" "https://github.com/a/b/pull/2"'),
        server("merge_pull_request", {"pullNumber": 12}, '{"merged":false}'),
        server("merge_pull_request", {"pullNumber": "x; rm"}, '{"merged":true}'),
        server("merge_pull_request", {}, '{"merged":true}'),
        server("merge_pull_request", {"pullNumber": "7²"}, '{"merged":true}'),
        server("merge_pull_request", {"pullNumber": 10**30}, '{"merged":true}'),
        server("list_pull_requests", {}, f'"{URL}"'),
        server("create_pull_request", {})._replace(tool_name="create_pull_request"),
    ],
)
def test_a_servers_tool_that_proves_nothing_is_not_told(event):
    assert seen(event) is None


@pytest.mark.parametrize(
    "text",
    [
        URL,
        MR,
        "https://git.example.org:8443/a/b/pulls/1",
        "https://gitlab.com/a/b/c/d/-/merge_requests/1",
    ],
)
def test_an_address_of_a_known_form_is_one(text):
    assert address(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("http://github.com/a/b/pull/1", "https://github.com/a/pull/1", "https://x/a/b/pull/1"),
        *("https://u:p@github.com/a/b/pull/1", "https://github.com/a/b/pull/1/files"),
        *(
            "https://github.com/a/b/pull/x",
            "https://github.com/a/b/pull/²",
            "https://github.com//b/pull/1",
        ),
        *(
            "https://github.com/a/b c/pull/1",
            "https://github.com/a/b\n/pull/1",
            "x https://github.com/a/b/pull/1",
        ),
        *("https://github.com/a/b/pull/1 ", "https://github.com/a/b/pull/12345678901", "", "/" * 9),
        *("https://github.com/" + "a" * 200 + "/b/pull/1", "https://github.com/a/`b`/pull/1"),
    ],
)
def test_any_other_text_is_no_address(text):
    assert address(text) == ""


@settings(deadline=None, max_examples=100)
@given(
    st.text() | st.lists(st.sampled_from(["https:", "", "a", "b", "pull", "1", "é"])).map("/".join)
)
def test_an_address_never_holds_what_could_be_read_as_more(text):
    found = address(text)
    assert found in ("", text)
    assert not set(found) & set(" \n\t<>\"'`()[]{}$&;?#@\\")
