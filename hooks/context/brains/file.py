"""A brain that is a folder of Markdown: made to be read, edited, synced and versioned by hand.

What holds, for ever: one key is one page, and so is one (message id, digest over type, scope and
content). Homes on one machine exclude each other, so the second one finds the first one's page.
Two machines that sync the folder may each make one before they see the other's: both then serve
the same single one. What was forgotten stays away by key, by message, and by (session, digest),
also when an old copy of its page comes back.
"""

from __future__ import annotations

import os
from operator import is_

from hooks.context.brain_adapter import principal
from hooks.context.brains import Ack, file_names, file_page, front_matter
from hooks.context.brains.file_folder import MAX_BYTES, NAME, Folder, Reaching
from hooks.context.brains.file_index import Index
from hooks.context.brains.file_page import Grave, Memory
from hooks.context.brains.file_words import matching
from hooks.context.brains.replacing import may_replace
from hooks.context.brains.sight import FLEET, UNKNOWN, Sight, aliases, crosses, sight
from hooks.context.remote import apply_alias
from hooks.errors import BrainConflict, BrainRefused, BrainUnreachable, StateError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import NamedTuple

    from hooks.context.brains import Item
    from hooks.context.brains.file_folder import Aside, Leaf
    from hooks.lock import Lock
    from hooks.settings import Settings
else:
    from hooks.record import NamedTuple

MAX_TOLD = 20  # of what is set aside, in one health report
_TRIES = 3  # at a page that an editor writes at the same time


def connect(settings: Settings, env: Mapping[str, str]) -> FileBrain:  # noqa: ARG001 - one shape for all
    """Open the folder; it is never made, since an absent one may only not be mounted.

    Raises:
        BrainUnreachable: there is no such folder, or it cannot be read.
    """
    path = settings.brain_path
    try:
        who = principal(settings)
    except ValueError as err:
        raise BrainUnreachable(NAME, str(err)) from None
    with Reaching(path):
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    return FileBrain(path, who, aliases(settings.home))


class _Look(NamedTuple):
    """What was seen of a folder, and what it comes to."""

    leaves: list[Leaf]
    aside: list[Aside]
    comes_to: Index


class FileBrain:
    """See ``brains.Brain``. Every call looks at the folder anew; an edited page is served."""

    def __init__(self, path: str, who: str, joined: Mapping[str, str] | None = None) -> None:
        self._folder = Folder(path)
        self._who = who
        self._aliases = dict(joined or {})
        self._last: _Look | None = None

    def close(self) -> None:
        return None

    # Reading.

    def feed(self) -> list[Item]:
        def everybodys(memory: Memory) -> bool:
            item = memory.item
            return item.accepted and item.scope_key == "space" and crosses(item, memory.space)

        return self._live(everybodys)

    def project_memory(self, project: str, principal: str) -> list[Item]:
        seen = sight(project, principal, self._aliases)
        return self._live(lambda memory: seen.shows(memory.item, memory.space))

    def search(self, query: str, project: str, limit: int = 20) -> list[Item]:
        """Return the live memories that this project shows and that match, the best first."""
        return matching(query, self.project_memory(project, self._who))[:limit]

    def find(self, prefix: str) -> list[Item]:
        """Return the memories, superseded ones too, whose id begins so and that we may see."""
        index, mine = self._look(), self._mine()
        wanted = prefix.lower()
        found = (memory for key, memory in index.memories.items() if key.startswith(wanted))
        return [_item(index, memory) for memory in found if mine.owns(memory.item)]

    def waiting(self) -> list[Item]:
        """Return what a person has yet to accept before another project may see it."""
        return self._waiting(self._look())

    def unattributed(self) -> list[Item]:
        """Return what was kept for no project, and that this principal may see."""
        mine = self._mine()
        return self._live(lambda memory: memory.space == UNKNOWN and mine.owns(memory.item))

    def history(self, key: str) -> list[Item]:
        """Return what a memory replaced, the latest first."""
        index = self._look()
        return [_item(index, index.memories[older]) for older in index.history(key)]

    def attrs_of(self, key: str) -> dict[str, str]:
        """Return the attributes a memory was posted with; {} when there is no such memory."""
        memory = self._look().memories.get(key)
        return file_page.attrs_of(memory) if memory else {}

    def counts(self, project: str) -> dict[str, int]:
        """Return the number of live memories; a session's own notes are not its project's."""
        index, seen = self._look(), sight(project, self._who, self._aliases)
        here = _live(index, lambda memory: seen.shows(memory.item, memory.space))
        return {
            "project": sum(not item.scope_key.startswith(seen.run) for item in here),
            "no_project": len(self.unattributed()),
            "all": len(_live(index, lambda _: True)),
            "waiting": len(self._waiting(index)),
            "forgotten": len(index.graves),
        }

    def forgotten(self) -> frozenset[str]:
        """Return the ids of what was forgotten, by whichever home."""
        return frozenset(self._look().graves)

    def health(self) -> dict[str, object]:
        """Also name what lies in the folder and is not served, each with the reason."""
        index = self._look()
        told = [{"file": where, "why": why} for where, why in sorted(index.aside)[:MAX_TOLD]]
        return {
            "kind": NAME,
            "ok": True,
            "path": self._folder.path,
            "memories": len(_live(index, lambda _: True)),
            "set_aside": len(index.aside),
            "aside": told,
            "without_front_matter": index.without,
        }

    def _look(self) -> Index:
        """Look at every file's signature; where none changed, the last answer still holds."""
        with Reaching(self._folder.path):
            leaves, aside = self._folder.scan()
        last = self._last
        # The folder gives an unchanged page as the very same object.
        if last is None or last.aside != aside or not _are_same(last.leaves, leaves):
            last = self._last = _Look(leaves, aside, Index(leaves, aside, self._space))
        return last.comes_to

    def _space(self, space: str) -> str:
        return apply_alias(space, self._aliases)

    def _mine(self) -> Sight:
        return sight("", self._who, self._aliases)

    def _live(self, wanted: Callable[[Memory], bool]) -> list[Item]:
        return _live(self._look(), wanted)

    def _waiting(self, index: Index) -> list[Item]:
        mine = self._mine()

        def asks(memory: Memory) -> bool:
            item = memory.item
            visible = item.scope_key in ("space", mine.mine)
            return visible and not item.accepted and crosses(item, memory.space)

        return _live(index, asks)

    # Writing.

    def post_marker(self, body: Mapping[str, object], key: str) -> Ack:
        new = file_page.from_body(body, key, self._who)
        if isinstance(new, str):
            raise BrainRefused(NAME, new)
        if not file_names.is_key(key):
            raise BrainRefused(NAME, "its key is not 32 hex digits")
        with Reaching(self._folder.path), self._writing():
            index = self._look()
            record = index.record_of(new)
            if record:
                return Ack("replayed", record, record in index.graves)
            return self._create(_resolved(index, new), index.newest_ns)

    def edit(self, old_key: str, body: Mapping[str, object], new_key: str) -> Ack:
        """Replace the memory ``old_key`` by ``body``, only if nothing else replaced it yet.

        Raises:
            BrainConflict: something did; it says what.
            BrainRefused: there is no such memory.
        """
        attrs = body["attrs"]
        assert isinstance(attrs, dict)
        said = {**attrs, "supersedes": old_key, "class": "person"}
        self._set(old_key, {})
        return self.post_marker({**body, "attrs": said}, new_key)

    def accept(self, key: str) -> bool:
        """Let a memory cross projects; say whether there is such a memory."""
        return self._set(key, {"accepted": "true"})

    def move(self, key: str, project: str) -> bool:
        """Give a live memory, with its history, to a project; False where there is none.

        One that was shared with everybody has no project to leave.
        """
        with Reaching(self._folder.path), self._writing():
            index = self._look()
            if not index.is_live(key) or index.memories[key].space == FLEET:
                return False
            for one in [key, *index.history(key)]:
                self._change(one, file_page.moved_fields(index.memories[one], project))
        return True

    def forget(self, key: str) -> bool:
        """Erase a memory with all that it replaced, and keep it away for ever.

        Every file that holds it goes, set aside ones too. All tombstones stand before that, the
        oldest text's first: killed on the way, no older text takes the place of a newer one.
        """
        with Reaching(self._folder.path), self._writing():
            index = self._look()
            doomed = [key, *index.history(key)]
            there = any(one in index.memories for one in doomed)
            for one in reversed(doomed):
                self._bury(index, one)
            for one in {*doomed, *index.graves}:  # what an earlier one that was killed left, too
                for where in index.files.get(one, ()):
                    self._folder.remove(where)
            self._folder.settle()
        return there

    def _create(self, new: Memory, after_ns: int) -> Ack:
        key = new.item.id
        data = file_page.page_of(new)
        if len(data) > MAX_BYTES:
            raise BrainRefused(NAME, f"its page would be larger than {MAX_BYTES} bytes")
        name = file_names.memory_name(key)
        if self._folder.create(name, data, after_ns):
            return Ack("committed", key)
        if key in self._look().files:  # a machine that our lock does not hold out was faster
            return Ack("replayed", key)
        raise BrainRefused(NAME, f"something that is no page is in the way at {name}")

    def _bury(self, index: Index, key: str) -> None:
        memory = index.memories.get(key)
        grave = Grave(key)
        if memory is not None:
            grave = Grave(key, memory.item.session, memory.item.message_id, memory.digest)
        if key not in index.graves:
            self._folder.create(file_names.grave_name(key), file_page.grave_page(grave))

    def _set(self, key: str, changes: Mapping[str, str | None]) -> bool:
        with Reaching(self._folder.path), self._writing():
            return self._change(key, changes)

    def _change(self, key: str, changes: Mapping[str, str | None]) -> bool:
        """Change fields of a page in place, and pin its id, which a move would change."""
        for _ in range(_TRIES):
            index = self._look()
            memory = index.memories.get(key)
            if memory is None:
                return False
            wanted = {**({} if memory.pinned else {"id": key}), **changes}
            where = index.where[key]
            before = self._folder.read(where)
            after = front_matter.set_fields(before, wanted)
            if after == before or self._folder.replace(where, before, after):
                return True
        raise BrainUnreachable(NAME, "its page is being written by somebody else")

    def _writing(self) -> Lock:
        try:
            return self._folder.writing()
        except StateError as err:
            raise BrainUnreachable(NAME, str(err)) from None


def _are_same(ones: list[Leaf], others: list[Leaf]) -> bool:
    return len(ones) == len(others) and all(map(is_, ones, others))


def _item(index: Index, memory: Memory) -> Item:
    replaced = memory.item.id in index.superseded
    return memory.item._replace(state="superseded") if replaced else memory.item


def _live(index: Index, wanted: Callable[[Memory], bool]) -> list[Item]:
    memories: Iterable[Memory] = index.memories.values()
    return [m.item for m in memories if m.item.id not in index.superseded and wanted(m)]


def _resolved(index: Index, new: Memory) -> Memory:
    """Return the memory with the whole id of what it replaces, so that no later id doubles it.

    Raises:
        BrainRefused: a person's edit names no memory here, or several.
        BrainConflict: a person's edit of what was replaced before.
    """
    if not new.item.supersedes:
        return new
    targets = index.targets(new)
    person = new.item.cls == "person"
    if person and len(targets) != 1:
        wanted = new.item.supersedes
        raise BrainRefused(NAME, f"{len(targets)} memories here have the id {wanted}")
    if len(targets) != 1 or not may_replace(new.item, targets[0].item, new.space):
        return new
    old = targets[0].item
    by = index.superseded.get(old.id)
    if person and by:
        raise BrainConflict(old.id, by, index.memories[by].item.text)
    item = new.item._replace(supersedes=old.id)
    fields = {**new.fields, "supersedes": old.id}
    if person:  # correcting a memory does not let it cross projects
        item = item._replace(accepted=old.accepted)
        fields["accepted"] = "true" if old.accepted else "false"
    return new._replace(item=item, fields=fields)
