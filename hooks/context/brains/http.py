"""A brain service over HTTP: the whole contract, one request at a time on one connection.

A marker counts as kept only on the service's explicit word. What a service cannot do (forget,
know a project) is done here: forgotten memories are filtered out of every feed by this home's
tombstones, and a project's memory is what in the feed names the project. Our own hub, which says
so in ``/health``, can do both.
"""

from __future__ import annotations

from urllib.parse import quote

from hooks.context.brain_adapter import brain_id, principal
from hooks.context.brains import (
    Ack,
    Item,
    catalog,
    http_items,
    http_wire,
    service_notes,
    signer,
)
from hooks.context.brains.http_address import Address, parse, proxy_for, redirected
from hooks.context.brains.http_connection import NAME, Answer, Connection
from hooks.context.brains.http_token import token_of
from hooks.context.ledger_notes import Graves, Tombstone, bury
from hooks.errors import BrainMisspoke, BrainRefused, BrainUnreachable, HookError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hooks.settings import Settings

MAX_REDIRECTS = 3
KEY_HEADER = "X-Idempotency-Key"
_KEEPS_METHOD = (307, 308)  # others turn a post into a question: followed only by questions


def connect(settings: Settings, env: Mapping[str, str], who: str = "") -> HttpBrain:
    """Prepare to speak with the service as ``who`` (default: the principal); nothing is sent yet.

    Raises:
        BrainUnreachable: the address or the token cannot be used. It says why, never with what.
    """
    try:
        address = parse(settings.brain_url)
        token = token_of(settings, env)
        who = who or principal(settings)
    except (HookError, ValueError) as err:
        raise BrainUnreachable(NAME, str(err)) from None
    link = Connection(
        address,
        timeout_s=settings.http.timeout_s,
        ca=settings.http.ca,
        proxy=proxy_for(address, env),
    )
    return HttpBrain(settings, link, token, who)


class HttpBrain:
    """See ``brains.Brain``. Reads are asked once: one opened brain sees one state of its feed."""

    def __init__(self, settings: Settings, link: Connection, token: str, who: str) -> None:
        self._settings, self._link, self._who = settings, link, who
        self._home, self._id = settings.home, brain_id(settings)
        self._auth = {"Authorization": f"Bearer {token}"} if token else {}
        self._graves = Graves(self._home)
        self._notes = service_notes.read(self._home, self._id)
        self._asked = False  # /health, by this opened brain
        self._feed: list[dict[str, object]] | None = None
        self._held: set[tuple[str, str]] | None = None  # key and part of what the feed showed
        self._projects: dict[str, list[Item]] = {}  # what a hub told of each project

    def close(self) -> None:
        self._link.close()

    # Reading.

    def feed(self) -> list[Item]:
        return http_items.everywhere(self._items(self._rows()))

    def project_memory(self, project: str, principal: str) -> list[Item]:
        if project in ("", http_items.UNKNOWN, http_items.FLEET):
            return []
        if project not in self._projects:
            ids = catalog.ids_of(self._home, project)
            rows = self._rows()
            if self.is_hub():
                rows = [row for one in ids for row in self._ask_feed(f"?project={_quoted(one)}")]
            self._projects[project] = http_items.of_project(self._items(rows), ids, principal)
        return self._projects[project]

    def catalog(self, before: Iterable[Item]) -> list[Item]:
        """Return all that this person's verbs can speak of.

        A plain service tells everything at once. A hub tells a project at a time: what
        ``before`` held of projects that were not asked for now stays.
        """
        if not self.is_hub():
            return self._items(self._rows())
        kept = [item for item in before if item.project and item.project not in self._projects]
        told = [*self._items(self._rows()), *(i for some in self._projects.values() for i in some)]
        return list({item.id: item for item in [*kept, *told]}.values())

    def holds(self, key: str, part: str = "") -> bool:
        """Say whether the feed showed the marker ``key``, or that part of it.

        Asked once per opened brain: what an earlier run left is in the first feed, or in none.

        Raises:
            BrainUnreachable: the feed cannot be read. A marker that may have been stored waits.
        """
        if self._held is None:
            metas = [row.get("metadata") for row in self._rows()]
            self._held = {
                (str(meta.get(http_wire.KEY)), str(meta.get(http_wire.PART, "")))
                for meta in metas
                if isinstance(meta, dict)
            }
        return (key, part) in self._held

    def health(self) -> dict[str, object]:
        """Return what the service says of itself; nothing is noted.

        Raises:
            BrainUnreachable: it does not say that it is well.
        """
        answer = self._health()
        service = http_wire.parse_health(answer.body) if answer.status == 200 else None
        if service is None:
            raise BrainMisspoke(NAME, "its /health does not say that it is well")
        return {"kind": NAME, "ok": True, "service": service, "hub": service == service_notes.HUB}

    def is_hub(self) -> bool:
        """Say whether the service is our own hub, by the name in its ``/health``.

        Asked once per opened brain and noted in the home. A service without ``/health`` is none;
        one that answers it badly now is what it was.

        Raises:
            BrainUnreachable: no answer at all.
        """
        if not self._asked:
            answer = self._health()
            self._asked = True
            service = "" if answer.status == 404 else http_wire.parse_health(answer.body)
            if service is not None and service != self._notes.service:
                service_notes.note_service(self._home, self._id, service)
                self._notes = self._notes._replace(service=service)
        return self._notes.is_hub

    def _health(self) -> Answer:
        return self._ask("GET", "/health", {})  # the token is not shown there

    def _rows(self) -> list[dict[str, object]]:
        if self._feed is None:
            self._feed = self._ask_feed("")
        return self._feed

    def _ask_feed(self, query: str) -> list[dict[str, object]]:
        answer = self._ask("GET", "/feed" + query, self._auth)
        if answer.status != 200:
            raise BrainUnreachable(NAME, f"/feed: {http_wire.why(answer.status)}")
        rows = http_wire.parse_feed(answer.body)
        if rows is None:
            raise BrainMisspoke(NAME, "its /feed has none of the three lists")
        return rows

    def _items(self, rows: Iterable[Mapping[str, object]]) -> list[Item]:
        reader = http_items.Reader(
            self._who, self._graves, self._notes.accepted, self._notes.is_hub
        )
        return http_items.read_rows(rows, reader)

    # Writing.

    def post_marker(self, body: Mapping[str, object], key: str) -> Ack:
        """Post one text of at most 4,096 characters; ``parts`` makes such of longer ones."""
        if key in self._graves.keys:
            return Ack("replayed", key, forgotten=True)
        attrs = body["attrs"]
        assert isinstance(attrs, dict)
        whole = attrs.get(http_wire.KEY) if attrs.get(http_wire.PART) else key
        owner = http_items.owner_of(signer(body, self._who))
        own = {http_wire.KEY: str(whole), http_wire.OWNER: owner}
        own |= {name: attrs.get(name, "") for name in (http_wire.PART, http_wire.GAP)}
        answer = self._post("/marker", http_wire.encode_marker(body, own), {KEY_HEADER: key})
        self._feed = None
        self._projects.clear()
        match http_wire.meaning(answer.status):
            case "answered":
                return _acknowledged(answer, key)
            case "refused":
                raise BrainRefused(NAME, http_wire.why(answer.status))
            case "missing" if self._is_well():
                raise BrainRefused(NAME, http_wire.why(answer.status))
            case "missing":
                raise BrainUnreachable(NAME, "/marker is not found; is BRAIN_URL right? (404)")
        raise BrainUnreachable(NAME, http_wire.why(answer.status))

    def forget(self, key: str) -> bool:
        """Have the hub forget it; for any other service leave a tombstone that filters it out.

        Says whether it was there, as far as the service tells.
        """
        there = any(item.id == key for item in self._items(self._rows()))
        if key not in self._graves.keys:
            bury(self._home, Tombstone(key))
            self._graves = Graves(self._home)
        self._projects.clear()
        return self.tell_forgotten(key) or there

    def tell_forgotten(self, key: str) -> bool:
        """Tell a hub of a forgotten key; False where it knew none, or is no hub.

        Raises:
            BrainUnreachable: the hub did not acknowledge; tell it again later.
        """
        if not self.is_hub():
            return False
        answer = self._post("/forget", http_wire.encode_forget(key), {})
        if answer.status == 404:  # it has no such memory
            return False
        if http_wire.meaning(answer.status) != "answered":
            raise BrainUnreachable(NAME, f"/forget: {http_wire.why(answer.status)}")
        if http_wire.parse_ack(answer.body) is None:
            raise BrainMisspoke(NAME, "/forget was not acknowledged")
        self._feed = None
        return True

    def _is_well(self) -> bool:
        answer = self._health()
        return answer.status == 200 and http_wire.parse_health(answer.body) is not None

    def _post(self, path: str, body: bytes, more: Mapping[str, str]) -> Answer:
        headers = {**self._auth, "Content-Type": "application/json", **more}
        return self._ask("POST", path, headers, body)

    def _ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Answer:
        """Ask below the configured path, and follow redirects that stay at this very origin."""
        address: Address = self._link.address
        target = quote(address.path, safe=_SAFE) + path
        for _ in range(MAX_REDIRECTS + 1):
            answer = self._link.ask(method, target, {"Accept": _JSON, **headers}, body)
            if http_wire.meaning(answer.status) != "moved":
                return answer
            there = redirected(address, answer.location)
            if there is None:
                raise BrainUnreachable(NAME, "it sends us to another address; set BRAIN_URL to it")
            if method != "GET" and answer.status not in _KEEPS_METHOD:
                raise BrainUnreachable(NAME, f"it sends our post elsewhere ({answer.status})")
            target = there
        raise BrainUnreachable(NAME, "it sends us round in circles")


_JSON = "application/json"
_SAFE = "/%:@!$&'()*+,;=~-._"


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _acknowledged(answer: Answer, key: str) -> Ack:
    """Read an answer that may be an acknowledgement.

    A fresh record under another key than ours is somebody else's answer. A replay may name the
    record that ours was folded into.

    Raises:
        BrainMisspoke: it is none. The marker stays, and is sent again under the same key.
    """
    said = http_wire.parse_ack(answer.body)
    if said is None:
        raise BrainMisspoke(NAME, f"it answered {answer.status} without a plain ok")
    record = said.key or key
    if record != key and not said.replay:
        raise BrainMisspoke(NAME, "it acknowledged another key")
    return Ack("replayed" if said.replay else "committed", record, said.forgotten)
