"""Pull and merge requests, as the result of a tool shows that one was opened or merged. Pure.

It falls quiet: what is not proven by a successful result is not told. A tool's output is
anybody's text: of it only an address of known form and a number are taken.
"""

from __future__ import annotations

from hooks.context.shell_words import commands, operands, succeeded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import NamedTuple

    from hooks.context.shell_words import Command
    from hooks.payload import Event
else:
    from hooks.record import NamedTuple

_LONGEST = 200  # characters of an address
_HOST = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:")
_NAME = (_HOST | frozenset("_")) - frozenset(":")
_KINDS = ("pull", "pulls", "merge_requests")
_VERBS = {"create": "opened", "new": "opened", "merge": "merged", "accept": "merged"}
# Nothing is opened or merged by these, or not yet, or not here.
_LATER = frozenset(("--auto", "--disable-auto", "--auto-merge", "--when-pipeline-succeeds"))
_ELSEWHERE = frozenset(("--dry-run", "--web", "-w", "--help", "-h"))
# What may stand around `… create` and prints nothing that others wrote.
_QUIET = frozenset(("cd", "tail", "head", "tee", "true", "sleep"))
_QUIET_GIT = frozenset(("add", "commit", "push", "fetch", "switch", "checkout"))
_KIND = {"gh": "pull request", "glab": "merge request"}
_BRANCH_OPTIONS = {"gh": ("--head", "-H"), "glab": ("--source-branch", "-s")}
_MCP = {
    **dict.fromkeys(("create_pull_request", "create_merge_request"), "opened"),
    **dict.fromkeys(
        ("merge_pull_request", "merge_merge_request", "accept_merge_request"), "merged"
    ),
}


class Request(NamedTuple):
    kind: str  # pull request or merge request
    done: str  # opened or merged
    number: str  # digits; "" where neither the command nor the result names it
    url: str  # "" where none is known
    branch: str | None  # None: the one that is checked out; "": nobody can say


def seen(event: Event, host: Callable[[], str] = str) -> Request | None:
    """Return what a successful tool call opened or merged, the last where it was several.

    ``host`` gives the server of the repository's origin: it is asked for the result of a server's
    tool that is a sentence and no object.
    """
    if event.tool_name == "Bash":
        return _of_shell(event)
    verb = _MCP.get(event.tool_name.rpartition("__")[2]) if _is_mcp(event.tool_name) else None
    return _of_mcp(event, verb, host) if verb else None


def _is_mcp(tool: str) -> bool:
    return tool.startswith("mcp__")


def _of_shell(event: Event) -> Request | None:
    text, response = event.tool_input.get("command"), event.tool_response
    if not isinstance(text, str) or not isinstance(response, dict) or response.get("interrupted"):
        return None
    ran = commands(text)
    output = "\n".join(str(response.get(name) or "") for name in ("stdout", "stderr"))
    for one in reversed(ran):
        done = _done(one)
        if done == "opened":
            proven = one in succeeded(text)
            return _opened(one, ran, output, proven, "||" in text)
        if done == "merged" and one in succeeded(text) and _is_merged(one, output):
            return _merged(one, _away(ran))
    return None


def _done(one: Command) -> str:
    words = operands(one)
    if (one.program, words[:1]) not in (("gh", ("pr",)), ("glab", ("mr",))) or not one.certain:
        return ""
    done = _VERBS.get(words[1], "") if len(words) > 1 else ""
    refused = _ELSEWHERE | (_LATER if done == "merged" else frozenset())
    return "" if any(word.partition("=")[0] in refused for word in words[2:]) else done


def _away(ran: Sequence[Command]) -> bool:
    return any(one.program in ("cd", "pushd") for one in ran)


def _opened(
    one: Command, ran: Sequence[Command], output: str, proven: bool, hidden: bool
) -> Request | None:
    """The address stands on a line of its own; several, or "already exists", prove nothing."""
    urls = {url for line in output.splitlines() if (url := address(line.strip()))}
    quiet = not hidden and all(other == one or _is_quiet(other) for other in ran)
    if len(urls) != 1 or "already exists" in output or not (proven or quiet):
        return None
    url = urls.pop()
    named = _value(one, _BRANCH_OPTIONS[one.program])
    branch = named.rpartition(":")[2] if named else "" if _away(ran) else None
    return Request(_KIND[one.program], "opened", url.rpartition("/")[2], url, branch)


def _is_quiet(one: Command) -> bool:
    """Say whether it prints nothing that others wrote."""
    if one.program == "git":
        return not _QUIET_GIT.isdisjoint(operands(one)[:1])
    return one.program in _QUIET or (one.program == "cat" and not one.args)


def _value(one: Command, options: Sequence[str]) -> str:
    for at, arg in enumerate(one.args):
        name, equals, value = arg.partition("=")
        if name in options:
            return value if equals else "".join(one.args[at + 1 : at + 2])
    return ""


_MERGE_VALUES = {  # the options of a merge that take the next word
    "gh": "-b --body -F --body-file -t --subject --match-head-commit -A --author-email -R --repo",
    "glab": "-m --message --squash-message --sha -R --repo",
}
_METHODS = frozenset(("--merge", "--rebase", "--squash"))


def _is_merged(one: Command, output: str) -> bool:
    """Say whether a merge that succeeded has merged, and not only will.

    Without a terminal gh says nothing of it. It refuses to merge without a method then, but
    where the branch has a queue: to that it only adds. glab says what it did.
    """
    if one.program == "glab":
        return "erged!" in output
    by_method = any(arg in _METHODS or _is_short_method(arg) for arg in one.args)
    return "erged pull request" in output or (by_method and "merge queue" not in output)


def _is_short_method(arg: str) -> bool:
    """``-s``, ``-r``, ``-m``, also among others: ``-sd``."""
    letters = arg[1:]
    return (
        arg[:1] == "-" and letters.isalpha() and letters[0] in "mrsd" and bool(set(letters) - {"d"})
    )


def _merged(one: Command, away: bool) -> Request:
    kind = _KIND[one.program]
    words, at = operands(one)[2:], 0
    takes = _MERGE_VALUES[one.program].split()
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in takes else 1
    target = words[at] if at < len(words) else ""
    url = address(target)
    number = url.rpartition("/")[2] or target.lstrip("#!")
    if _is_number(number):
        return Request(kind, "merged", number, url, "")
    unknown = "" if away or "$" in target else None
    return Request(kind, "merged", "", "", target if target and unknown is None else unknown)


def _of_mcp(event: Event, done: str, host: Callable[[], str]) -> Request | None:
    """A server's own tool: the arguments name the request, or the result its address."""
    text = "\n".join(_texts(event.tool_response))
    kind = "merge request" if event.tool_name.endswith("_merge_request") else "pull request"
    if done == "merged":
        number = next(
            (str(event.tool_input[name]) for name in _NUMBERS if name in event.tool_input), ""
        )
        merged = '"merged":true' in text.replace(" ", "") and _is_number(number)
        return Request(kind, done, number, "", "") if merged else None
    branch = next((str(event.tool_input[name]) for name in _HEADS if name in event.tool_input), "")
    url = _of_object(event.tool_response) or _of_text(text, host)
    if not url:
        return None
    return Request(kind, done, url.rpartition("/")[2], url, branch.rpartition(":")[2])


_NUMBERS = ("pullNumber", "pull_number", "merge_request_iid", "mergeRequestIid")
_HEADS = ("head", "source_branch", "sourceBranch")


_PAGES = ("html_url", "web_url")  # GitHub's and GitLab's name for the page of a request


def _of_object(response: object) -> str:
    """Return the address that an object names as its page."""
    from scripts.swarm_v2.wire_json import load_object

    for found in (response, *(load_object(text) for text in _texts(response))):
        if isinstance(found, dict):
            for name in _PAGES:
                value = found.get(name)
                if isinstance(value, str) and address(value):
                    return value
    return ""


def _of_text(text: str, host: Callable[[], str]) -> str:
    """Return the one address in a text: alone in quotes, or in a sentence one of our server."""
    quoted = {url for piece in text.split('"') if (url := address(piece.strip()))}
    if quoted:
        return quoted.pop() if len(quoted) == 1 else ""
    words = "".join(" " if char in _AROUND else char for char in text[:_READ]).split()
    urls = {url for word in words if (url := address(word.rstrip(".,;:!?")))}
    url = urls.pop() if len(urls) == 1 else ""
    return url if url and url.split("/")[2].partition(":")[0] == host() else ""


_AROUND = frozenset("()[]{}<>'\"`|*")
_READ = 16_384  # characters of a text that are read


def _texts(response: object) -> Iterator[str]:
    blocks = response if isinstance(response, list) else [response]
    for block in blocks:
        text = block.get("text") if isinstance(block, dict) else block
        if isinstance(text, str):
            yield text


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 10


def address(text: str) -> str:
    """Return ``text`` where all of it is the address of one request, else ""."""
    parts = text.split("/")
    if len(text) > _LONGEST or len(parts) < 7 or parts[:2] != ["https:", ""]:
        return ""
    host, kind, number = parts[2], parts[-2], parts[-1]
    path = parts[3:-2]
    if kind == "merge_requests" and path[-1:] == ["-"]:
        path = path[:-1]
    fits = kind in _KINDS and _is_number(number)
    named = len(path) >= 2 and all(part and _NAME.issuperset(part) for part in path)
    return text if fits and named and _HOST.issuperset(host) and "." in host else ""
