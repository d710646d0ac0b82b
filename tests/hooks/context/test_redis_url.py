"""Every form of a REDIS_URL, and that what is none shows nothing of itself."""

from __future__ import annotations

import pytest

from hooks.context.redis_url import SCHEMES, parse
from hooks.errors import SettingsError
from hooks.settings import Redis, Secret, Settings
from tests.support.run_hook import ROOT

HOST = (("redis.example", 6379),)
FORMS = {
    "redis://redis.example": {"form": "tcp", "hosts": HOST},
    "REDIS://redis.example/": {"form": "tcp", "hosts": HOST},
    "redis://redis.example:7000/3": {"hosts": (("redis.example", 7000),), "db": 3},
    "redis://redis.example?db=4": {"hosts": HOST, "db": 4},
    "redis://redis.example/2?db=4": {"db": 2},
    "redis://redis.example/2?protocol=3#x": {"db": 2, "options": {"protocol": "3"}},
    "redis://:pw@redis.example": {"user": "", "password": "pw", "hosts": HOST},
    "redis://me:p%40%2f%C3%A9@redis.example": {"user": "me", "password": "p@/é"},
    "redis://me:p@w@redis.example": {"user": "me", "password": "p@w", "hosts": HOST},
    "redis://me:100%@redis.example": {"password": "100%"},
    "redis://[::1]:7000": {"hosts": (("::1", 7000),)},
    "redis://[fe80::1]/1": {"hosts": (("fe80::1", 6379),), "db": 1},
    "unix:///run/redis/s": {"form": "unix", "path": "/run/redis/s", "db": 0},
    "unix://me:pw@/run/a%20b?db=7": {"path": "/run/a b", "user": "me", "password": "pw", "db": 7},
    "rediss://redis.example:6380/1": {"form": "tcp", "tls": True, "db": 1},
    "redis+sentinel://a,b:7,c/sessions/2": {
        "form": "sentinel",
        "hosts": (("a", 26379), ("b", 7), ("c", 26379)),
        "service": "sessions",
        "db": 2,
    },
    "rediss+sentinel://:pw@a/s": {"form": "sentinel", "tls": True, "password": "pw"},
    "redis+cluster://a,b:7": {"form": "cluster", "hosts": (("a", 6379), ("b", 7))},
    "rediss+cluster://me:pw@a": {"form": "cluster", "tls": True, "user": "me"},
}
NONE = [
    *("hunter2", "hunter2://", "http://hunter2", "redis:hunter2", "redis://", "redis://:hunter2@"),
    *("redis://:hunter2@host:port", "redis://:hunter2@host:0", "redis://:hunter2@host:65536"),
    *("redis://:hunter2@host/one", "redis://:hunter2@host/1/2", "redis://:hunter2@host/-1"),
    *("redis://:hunter2@[::1", "redis://:hunter2@[::1]7", "redis://:hunter2@host:٣"),
    *("redis://:hunter2@hôte", "redis://:hunter2@ho st", "redis://:hunter2/@host"),
    *("redis://:hunter2@a,b", "redis://:hunter2@host\n", "unix://hunter2/run/s", "unix://hunter2"),
    *("redis+sentinel://:hunter2@a", "redis+sentinel://:hunter2@a,/s"),
    *("redis+cluster://:hunter2@a/1", "unix:///"),
]


@pytest.mark.parametrize("url", FORMS)
def test_a_form_is_read_as_docs_state_says(url):
    found = parse(url)
    assert {name: getattr(found, name) for name in FORMS[url]} == FORMS[url]
    assert found.plain == url.lower().startswith(("redis://", "unix://"))


@pytest.mark.parametrize("url", NONE)
def test_what_is_no_address_is_refused_and_shows_nothing_of_itself(url):
    with pytest.raises(SettingsError) as caught:
        parse(url)
    assert caught.value.name == "REDIS_URL"
    assert "hunter2" not in str(caught.value) + caught.value.hint + repr(caught.value)


def test_every_form_is_in_the_documentation():
    page = (ROOT / "docs" / "state.md").read_text(encoding="utf-8")
    assert all(f"`{scheme}://" in page for scheme in SCHEMES)


def test_neither_place_nor_settings_show_a_password():
    url = "redis://me:hunter2@redis.example"
    assert "hunter2" not in repr(parse(url))
    assert "hunter2" not in repr(Settings("/home", redis=Redis(Secret(url))))
