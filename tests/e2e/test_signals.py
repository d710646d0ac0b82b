"""The real client hands on what a session is told of its branch and its pull request, once."""

from __future__ import annotations

from tests.support.git import git

CHANGED = "brainhooks: the branch of this working copy changed from `feat/x` to `other`."
URL = "https://git.example.org/shop/web/pull/12"


def bash(command):
    return {"tool": "Bash", "input": {"command": command, "description": "work"}}


def test_a_branch_changed_between_two_tools_is_told_behind_the_next_and_once(client, api):
    git(client.project, "switch", "-qc", "feat/x")

    def switched(_request):
        git(client.project, "switch", "-qc", "other")  # the person, in another terminal
        return [bash("ls")]

    api.says(bash("ls"))
    api.does(switched)
    api.says(bash("pwd"))
    assert client.run("please look around").rc == 0
    before, behind, last = (request.text for request in api.requests()[-3:])
    assert CHANGED not in before
    assert behind.count(CHANGED) == last.count(CHANGED) == 1


def test_the_sessions_own_switch_is_no_news_and_its_pull_request_is_told_once(
    client, api, tmp_path
):
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(f'#!/bin/sh\n[ "$2" = create ] && echo {URL}\nexit 0\n')
    gh.chmod(0o755)
    client.extra["PATH"] = f"{gh.parent}:{client.env['PATH']}"
    api.says(bash("git switch -c feat/y"))
    api.says(bash("gh pr create --fill"))
    api.says(bash("gh pr merge 12 --squash"))
    assert client.run("please open a pull request").rc == 0
    told = api.requests()[-1].text
    assert "changed from" not in told
    assert told.count(f"brainhooks: the pull request {URL} of `feat/y` is open.") == 1
    assert told.count(f"brainhooks: the pull request {URL} of `feat/y` was merged.") == 1


def test_a_first_edit_on_the_default_branch_is_told(client, api):
    file = str(client.project / "b.txt")
    for text in ("one", "two"):
        command = {"file_path": file if text == "one" else file + "2", "content": text}
        api.says({"tool": "Write", "input": command})
    assert client.run("please write").rc == 0
    assert api.requests()[-1].text.count("`main` is the default branch of this repository.") == 1
