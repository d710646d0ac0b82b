"""What each answer of a brain service means, from a real server that gives it."""

from __future__ import annotations

import select
import time
import uuid

import pytest

from hooks.context.brains import open_brain
from hooks.errors import BrainMisspoke, BrainRefused, BrainUnreachable
from hooks.settings import Http, Settings
from scripts.swarm_v2.installation import installation
from tests.conftest import NOON
from tests.support.brain_server import TOKEN, BrainServer
from tests.support.brain_service import WAYS

WEB = "git.example.org/shop/web"
PATIENCE_S = 0.6  # a loopback answer takes a millisecond
MARKER = "POST /marker"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with BrainServer(tmp_path_factory.mktemp("service")) as found:
        yield found


@pytest.fixture
def brain(server, home):
    server.heal()
    yield (found := connect(server, home))
    found.close()


def connect(server, home, **http):
    installation(str(home), NOON)
    http = {"token": server.token, "timeout_s": PATIENCE_S, **http}
    return open_brain(Settings(str(home), brain_url=server.url, http=Http(**http)), {})


def body(text="Run the tests first", **attrs):
    return {"type": "lesson", "content": text, "attrs": {"project_id": WEB, **attrs}}


def key():
    return uuid.uuid4().hex


REFUSED = {"status:400", "status:409", "status:413", "status:422"}
TEMPORARY = [
    *(f"status:{code}" for code in (401, 402, 403, 405, 407, 408, 410, 418, 425, 429, 451)),
    *(f"status:{code}" for code in (203, 204, 206, 300, 304, 500, 501, 502, 503, 504, 507, 599)),
    *("ok-false", "queued", "accepted", "ok-text", "other-key", "html", "empty", "list", "deep"),
    *("not-utf-8", "gzip", "torn", "bad-chunks", "minus-chunk", "claims-a-lot", "no-http"),
    *("minus-length", "word-length", "two-lengths"),
    *("chunk-claims-a-lot", "hundreds", "endless-head", "closed", "huge", "drip", "drip-head"),
    *("silent", "half", "reset", "store-silent"),
    *(f"redirect:{code}:http://127.0.0.1:9/marker" for code in (301, 302, 303, 307, 308)),
]


def test_every_way_of_the_server_to_go_wrong_is_in_the_table():
    named = {way.partition(":")[0] for way in TEMPORARY}
    assert named | {"", "close-after", "store-die"} == WAYS.keys()


@pytest.mark.parametrize("way", sorted(REFUSED))
def test_a_permanent_refusal_is_told_as_such_and_the_next_one_goes(brain, server, way):
    server.script(MARKER, way)
    with pytest.raises(BrainRefused, match=way[-3:]):
        brain.post_marker(body(), key())
    assert brain.post_marker(body(), key()).kind == "committed"


@pytest.mark.parametrize("way", TEMPORARY)
def test_whatever_is_no_plain_ok_keeps_the_marker_and_the_next_one_goes(brain, server, way):
    server.script(MARKER, way)
    one = key()
    began = time.monotonic()
    with pytest.raises(BrainUnreachable) as raised:
        brain.post_marker(body(), one)
    assert time.monotonic() - began < 3 * PATIENCE_S
    assert server.url not in str(raised.value)
    assert TOKEN not in str(raised.value)
    assert brain.post_marker(body(), one).key == one


@pytest.mark.parametrize(
    ("health", "error"),
    [
        pytest.param("", BrainRefused, id="well: it has no place for markers"),
        pytest.param("status:404", BrainUnreachable, id="no health: a wrong address"),
        pytest.param("status:503", BrainUnreachable, id="unwell"),
        pytest.param("html", BrainUnreachable, id="a web site"),
        pytest.param("silent", BrainUnreachable, id="silent"),
    ],
)
def test_not_found_is_a_refusal_only_where_health_answers(brain, server, health, error):
    server.script(MARKER, "status:404")
    server.script("GET /health", health)
    with pytest.raises(error) as raised:
        brain.post_marker(body(), key())
    assert type(raised.value) is error


def test_a_fresh_marker_is_committed_and_its_replay_replayed(brain):
    one = key()
    assert brain.post_marker(body(), one) == ("committed", one, False)
    assert brain.post_marker(body(), one) == ("replayed", one, False)


def test_only_the_right_header_carries_the_key_and_only_health_goes_without_the_token(
    brain, server
):
    one = key()
    brain.post_marker(body(), one)
    brain.health()
    brain.feed()
    sent = server.requests()
    (posted,) = [row for row in sent if row["headers"].get("x-idempotency-key") == one]
    assert "idempotency-key" not in posted["headers"]
    assert posted["headers"]["authorization"] == f"Bearer {TOKEN}"
    for row in sent:
        assert ("authorization" in row["headers"]) == (row["route"] != "GET /health")


def test_fifty_posts_and_a_feed_take_one_connection(brain, server):
    for _ in range(50):
        brain.post_marker(body(), key())
    brain.feed()
    assert len({row["connection"] for row in server.requests()[-51:]}) == 1


def test_a_connection_that_the_service_closed_meanwhile_is_made_again(brain, server):
    server.script(MARKER, "close-after", "close-after")
    for _ in range(2):
        assert brain.post_marker(body(), key()).kind == "committed"
        gone, _, _ = select.select([brain._link._socket.sock], [], [], 20)
        assert gone, "the service did not close"
    assert brain.post_marker(body(), key()).kind == "committed"


def test_a_redirect_at_the_same_origin_is_followed_with_method_key_and_token(brain, server):
    one = key()
    server.script(MARKER, f"redirect:307:{server.url}/marker", "redirect:308:/marker", "")
    assert brain.post_marker(body(), one).kind == "committed"
    last = server.requests(MARKER)[-1]
    assert (last["headers"]["x-idempotency-key"], "authorization" in last["headers"]) == (one, True)


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_would_turn_a_post_into_a_question_is_not_followed(brain, server, status):
    server.script(MARKER, f"redirect:{status}:/marker")
    with pytest.raises(BrainUnreachable):
        brain.post_marker(body(), key())


def test_redirects_in_circles_end(brain, server):
    server.always("GET /feed", "redirect:302:/feed")
    with pytest.raises(BrainUnreachable, match="circles"):
        brain.feed()


def test_the_token_never_follows_a_redirect_to_another_host(server, home, tmp_path):
    with BrainServer(tmp_path / "elsewhere") as elsewhere:
        brain = connect(server, home)
        where = elsewhere.url.replace("127.0.0.1", "localhost")
        server.script("GET /feed", f"redirect:307:{elsewhere.url}/feed")
        server.script(MARKER, f"redirect:307:{where}/marker", "")
        with pytest.raises(BrainUnreachable, match="another address"):
            brain.feed()
        with pytest.raises(BrainUnreachable, match="another address"):
            brain.post_marker(body(), key())
        brain.close()
        assert elsewhere.requests() == []


@pytest.mark.parametrize(
    ("way", "error"),
    [
        ("status:500", BrainUnreachable),
        ("status:401", BrainUnreachable),
        ("status:404", BrainUnreachable),
        ("html", BrainMisspoke),
        ("empty", BrainMisspoke),
        ("list", BrainUnreachable),
        ("ok-false", BrainMisspoke),
        ("huge", BrainUnreachable),
        ("drip", BrainUnreachable),
    ],
)
def test_a_feed_that_is_none_is_an_error_never_an_empty_one(brain, server, way, error):
    server.script("GET /feed", way)
    with pytest.raises(error):
        brain.feed()


def test_a_port_where_nobody_listens_is_told_at_once(home, tmp_path):
    with BrainServer(tmp_path / "gone") as gone:
        pass
    brain = connect(gone, home)
    with pytest.raises(BrainUnreachable, match="refused"):
        brain.feed()
    brain.close()


def test_a_name_that_does_not_resolve_is_told(home):
    installation(str(home), NOON)
    settings = Settings(str(home), brain_url="http://brain.invalid", http=Http(timeout_s=5))
    with pytest.raises(BrainUnreachable):
        open_brain(settings, {}).feed()


def test_the_wrong_token_keeps_everything(server, home):
    brain = connect(server, home, token="another")
    with pytest.raises(BrainUnreachable, match="token"):
        brain.post_marker(body(), key())
    assert brain.health()["ok"] is True
    brain.close()
