"""Tell once that a pull or merge request was opened or merged.

Whoever ran the command is told, a subagent too. It is kept for the session, so that a merge by
number is known to be the branch's own.
"""

from __future__ import annotations

from hooks.quick import may_be_request
from hooks.reply import Say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.context.pull_request import Request
    from hooks.context.session_state import Document
    from hooks.ctx import Ctx
    from hooks.reply import Reply

_NEXT = "What comes next needs a new branch from the updated default branch."


def run(ctx: Ctx) -> Sequence[Reply]:
    if not may_be_request(ctx.event):
        return ()
    from hooks.context.pull_request import seen

    request = seen(ctx.event, lambda: _host(ctx))
    return () if request is None else _tell(ctx, request)


def _host(ctx: Ctx) -> str:
    """Return the server of the repository's origin; "" where none is known."""
    import os

    from hooks.context.git_files import find, origin
    from hooks.context.remote import canonical_remote

    repo = find(os.path.realpath(ctx.event.cwd)) if os.path.isdir(ctx.event.cwd) else None
    remote = canonical_remote(origin(repo, ctx.env).url) if repo is not None else None
    return (remote or "").partition("/")[0].partition(":")[0]


def _tell(ctx: Ctx, request: Request) -> Sequence[Reply]:
    from hooks.context.branch import look
    from hooks.context.signals import latest, texts, update

    head = look(ctx.event.cwd)
    said: list[str] = []

    def edit(known: Document, tells: bool) -> Document:
        said.clear()
        pulls = texts(known.get("pulls"))
        # What was checked out before: a merge may have put the default branch under us.
        here = texts(known.get("heads")).get(head.key, head.name) if head is not None else ""
        url, branch = _resolved(request, pulls, here)
        name = f"{request.done} {url or request.number or branch}"
        if name in pulls or not (url or request.number or branch):
            return known
        if tells:
            said.append(_text(request, url, branch, here))
        return {**known, "pulls": latest(pulls, name, branch)}

    update(ctx, edit)
    return tuple(Say(text) for text in said)


def _resolved(request: Request, pulls: dict[str, str], here: str) -> tuple[str, str]:
    """Return the request's address and branch, of what this session saw opened where it did."""
    branch = here if request.branch is None else request.branch
    if request.url and branch:
        return request.url, branch
    for name, of in pulls.items():
        done, _, url = name.partition(" ")
        known = request.number and url.endswith(f"/{request.number}")
        if done == "opened" and (known or (not request.number and of == branch != "")):
            return url, of
    return request.url, branch


def _text(request: Request, url: str, branch: str, here: str) -> str:
    from hooks.context.branch import shown

    what = f"brainhooks: the {request.kind}"
    if url or request.number:
        what = f"{what} {url or '#' + request.number}"
    of = f" of {shown(branch)}" if branch else ""
    if request.done == "opened":
        return f"{what}{of} is open."
    return f"{what}{of} was merged." + (f" {_NEXT}" if branch and branch == here else "")
