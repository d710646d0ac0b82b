"""Writing one commit into Redis: what ``commit.lua`` is told, and what it answers.

Lua's JSON does not keep numbers and empty lists as they are, so nothing is merged there. Where a
whole value is needed in the commit itself, it is made here and guarded by the head it was made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.document import MAX_BYTES, MISSING, decode, encode
from scripts.swarm_v2.memory.errors import MemoryRefused, unreadable
from scripts.swarm_v2.memory.prepared import merge_into, scrubbed, stale
from scripts.swarm_v2.memory.redis_link import RedisLink, Script, damaged
from scripts.swarm_v2.memory.redis_rows import (
    Head,
    Names,
    State,
    basis_field,
    entry,
    field_of,
    header,
    parse_field,
    parse_state,
    raw_entry,
    refuse_again,
)
from scripts.swarm_v2.memory.sqlite_basis import lease_lost
from scripts.swarm_v2.scope_key import SESSION, scope_of
from scripts.swarm_v2.wire_json import dumps

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scripts.swarm_v2.memory.prepared import Prepared, Put
    from scripts.swarm_v2.memory.store import Basis, Commit, Seen

REQUEST_MS = 600_000  # how long an answered commit is known by its request id
_TRIES = 20  # of commits that need a whole value while others write the same instance


class Check(NamedTuple):
    """An instance must stand at ``seq``: ``base``, ``read`` (refused) or ``guard`` (done anew)."""

    mode: str
    key: tuple[str, str, str]
    field: str
    seq: int


class Step(NamedTuple):
    """One write for the script; ``whole`` and ``anew`` are guarded by a check."""

    branch: str
    put: Put
    whole: str = ""
    anew: tuple[tuple[int, str], ...] = ()

    @property
    def field(self) -> str:
        return field_of(self.branch, self.put.scope_key, self.put.id)


class Plan(NamedTuple):
    """All that one commit asks of the script."""

    commit: Commit
    annotations: str | None
    checks: tuple[Check, ...]
    steps: tuple[Step, ...]
    dropped: tuple[str, ...] = ()  # fields of basis rows
    basis: tuple[tuple[str, str], ...] = ()


def plan_of(space: str, branch: str, commit: Commit, ready: Prepared) -> Plan:
    """Return the plan of a checked commit, with its reads of this space only."""
    bases = [(put.scope_key, put.id, put.base) for put in ready.puts if put.base is not None]
    reads = [(seen.scope_key, seen.id, seen.seq) for seen in commit.reads if seen.space == space]
    checks = [
        Check(mode, (space, key, name), field_of(branch, key, name), seq)
        for mode, seen in (("base", bases), ("read", reads))
        for key, name, seq in seen
    ]
    steps = tuple(Step(branch, put) for put in ready.puts)
    dropped = [basis_field(branch, one.action, key) for one in commit.basis for key in one.drop]
    rows = [(basis_field(branch, one.action, one.scope_key), _seen(one)) for one in commit.basis]
    return Plan(commit, ready.annotations, tuple(checks), steps, tuple(dropped), tuple(rows))


def _seen(basis: Basis) -> str:
    return dumps([list(one) for one in basis.seen])


class Committer:
    """Writes plans into one space."""

    def __init__(
        self, link: RedisLink, space: str, names: Names, scripts: dict[str, Script]
    ) -> None:
        self._link, self._space, self._names, self._scripts = link, space, names, scripts

    def write(self, plan: Plan, request: str) -> int:
        """Write it once, whatever is lost on the way; return its number.

        Raises:
            MemoryRefused: as ``DocumentStore.commit``.
        """
        careful = any(step.put.op == "erase" and step.put.text for step in plan.steps)
        for _ in range(_TRIES):
            asked = self._with_wholes(plan) if careful else plan
            answer = self._run(asked, request)
            word = answer[0].decode()
            if word == "done":
                try:
                    self._keep_snapshots([field.decode() for field in answer[2:]])
                except MemoryRefused:
                    pass  # the commit is written; the next patch asks for a snapshot again
                return int(answer[1])
            self._refuse(word, answer, asked)
            careful = True
        raise refuse_again()

    def _run(self, plan: Plan, request: str) -> list[bytes]:
        fixed = ("seq", "head", "snapshots", "annotations", "commits", "basis", "lease")
        keys = [*map(self._names.of, fixed), self._names.request(request)]
        for step in plan.steps:
            keys.append(self._names.revisions(step.field))
            keys.append(self._names.live(step.branch, step.put.scope_key))
            keys.append(self._names.instances(step.put.scope_key))
        args = list(_arguments(plan))
        found: list[bytes] = self._link.run(self._scripts["commit"], keys, args, request=request)
        return found

    def _refuse(self, word: str, answer: Sequence[bytes], plan: Plan) -> None:
        """Raise what the script refused; return where the commit is to be made anew."""
        if word == "lost":
            raise lease_lost()
        if word == "damaged":
            raise damaged(answer[1].decode("utf-8", "replace"))
        if word == "stale":
            check = plan.checks[int(answer[1]) - 1]
            code = f"stale-{check.mode}"
            raise stale(code, check.key, int(answer[2]))

    def read(self, fields: Sequence[str]) -> list[State]:
        """Return instances as they all stood at one moment."""
        return [
            self._state(field, one) for field, one in zip(fields, self._raw(fields), strict=True)
        ]

    def _state(self, field: str, answer: Sequence[bytes | None]) -> State:
        try:
            return parse_state(answer)
        except MemoryRefused as err:
            _, scope_key, document_id = parse_field(field)
            raise unreadable(err, InstanceKey(self._space, scope_key, document_id)) from None

    def _raw(self, fields: Sequence[str]) -> list[list[bytes | None]]:
        if not fields:
            return []
        keys = [self._names.of("head"), self._names.of("snapshots")]
        keys += map(self._names.revisions, fields)
        found: list[list[bytes | None]] = self._link.run(self._scripts["read"], keys, fields)
        return found

    def _keep_snapshots(self, fields: Sequence[str]) -> None:
        """Make the next read of instances with many patches short; what moved on is left."""
        keys = [self._names.of("head"), self._names.of("snapshots")]
        for field, state in zip(fields, self.read(fields), strict=True):
            if state.head is None or not state.head.alive or not state.head.patches:
                continue
            whole = encode(state.value)
            head = Head(state.head.seq, state.head.op, "s", 0, len(whole), 0)
            args = [field, str(state.head), str(head), whole]
            self._link.run(self._scripts["snapshot"], keys, args)

    def _with_wholes(self, plan: Plan) -> Plan:
        """Make the values of patched instances here, guarded by the heads they are made of."""
        fields = list(dict.fromkeys(one.field for one in plan.steps if one.put.text))
        states = dict(zip(fields, self.read(fields), strict=True))
        guards = [
            Check("guard", (self._space, "", ""), field, state.head.seq if state.head else 0)
            for field, state in states.items()
        ]
        values = {field: state.value for field, state in states.items()}
        done: list[Step] = []
        for step in plan.steps:
            done = _scrub_before(done, step)
            done.append(self._whole(step, values))
        return plan._replace(checks=(*plan.checks, *guards), steps=tuple(done))

    def _whole(self, step: Step, values: dict[str, object]) -> Step:
        """Return a step with the value it makes; ``values`` are those before it, and then after."""
        put, old = step.put, values.get(step.field, MISSING)
        if put.op == "set":
            values[step.field] = decode(put.text)
            return step
        if not put.text or (put.op == "erase" and old is MISSING):
            values[step.field] = MISSING
            return step._replace(put=put._replace(text=""))
        whole = encode(merge_into(old, decode(put.text)))
        values[step.field] = decode(whole)
        if put.op == "patch":
            return step._replace(whole=whole)
        anew = self._scrubbed(step.field, decode(put.text))
        return step._replace(put=put._replace(op="patch"), whole=whole, anew=tuple(anew))

    def _scrubbed(self, field: str, mask: object) -> Iterable[tuple[int, str]]:
        """Yield the revisions that hold what is erased, without it, by their places."""
        key = self._names.revisions(field)
        for index, data in enumerate(self._link.call("lrange", key, 0, -1)):
            seq, head, text = raw_entry(data)
            now = scrubbed(text, mask) if text else text
            if now != text:
                yield index, entry(seq, head, now)


def _scrub_before(done: list[Step], step: Step) -> list[Step]:
    """Take what a step erases out of the steps of the same commit before it."""
    if step.put.op != "erase" or not step.put.text:
        return done
    mask = decode(step.put.text)
    return [
        one._replace(put=one.put._replace(text=scrubbed(one.put.text, mask)))
        if one.field == step.field and one.put.text
        else one
        for one in done
    ]


def _arguments(plan: Plan) -> Iterable[object]:
    """Yield what ``commit.lua`` takes, in its order."""
    commit = plan.commit
    yield from (REQUEST_MS, MAX_BYTES, int(commit.kind == "derived" or bool(commit.holder)))
    yield from (commit.holder, commit.kind, commit.session_key, commit.holder, commit.at)
    yield plan.annotations or ""
    yield len(plan.checks)
    for check in plan.checks:
        yield from (check.mode, check.field, check.seq)
    yield len(plan.steps)
    for step in plan.steps:
        put = step.put
        yield from (step.field, put.op, put.text, step.whole)
        yield header(put.op, commit.kind, commit.at, commit.session_key)
        yield from (put.id, int(scope_of(put.scope_key) == SESSION), len(step.anew))
        for index, text in step.anew:
            yield from (index, text)
    yield len(plan.dropped)
    yield from plan.dropped
    yield len(plan.basis)
    for row in plan.basis:
        yield from row


def check_elsewhere(reads: Iterable[Seen], heads: dict[InstanceKey, int]) -> None:
    """Refuse where an instance of another space has moved.

    Raises:
        MemoryRefused: ``stale-read``.
    """
    for seen in reads:
        key = InstanceKey(seen.space, seen.scope_key, seen.id)
        if heads[key] != seen.seq:
            raise stale("stale-read", key, heads[key])
