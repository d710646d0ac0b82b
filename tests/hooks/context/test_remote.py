"""Ids: every spelling of one repository is one id, and no two repositories share one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.remote import (
    apply_alias,
    as_id,
    canonical_remote,
    is_local,
    label,
    valid_id,
    validate_aliases,
)

ONE_ID = {
    "scp": ("git@git.example.org:shop/web", "git.example.org/shop/web"),
    "scp with .git": ("git@git.example.org:shop/web.git", "git.example.org/shop/web"),
    "scp without a user": ("git.example.org:shop/web.git", "git.example.org/shop/web"),
    "scp from the root": ("git@git.example.org:/shop/web.git", "git.example.org/shop/web"),
    "scp with an @ in front of a group": ("git@h.example:@org/r", "h.example/@org/r"),
    "ssh": ("ssh://git@git.example.org/shop/web.git", "git.example.org/shop/web"),
    "ssh and its port": ("ssh://git@git.example.org:22/shop/web.git", "git.example.org/shop/web"),
    "git+ssh": ("git+ssh://git@git.example.org/shop/web", "git.example.org/shop/web"),
    "https": ("https://git.example.org/shop/web", "git.example.org/shop/web"),
    "https, .git and slash": ("https://git.example.org/shop/web.git/", "git.example.org/shop/web"),
    "https and slashes": ("https://git.example.org//shop///web//", "git.example.org/shop/web"),
    "https and its own port": ("https://git.example.org:443/shop/web", "git.example.org/shop/web"),
    "an empty port": ("https://git.example.org:/shop/web", "git.example.org/shop/web"),
    "zeros before a port": ("https://git.example.org:0443/shop/web", "git.example.org/shop/web"),
    "http": ("http://git.example.org:80/shop/web", "git.example.org/shop/web"),
    "git": ("git://git.example.org:9418/shop/web", "git.example.org/shop/web"),
    "an upper-case scheme": ("HTTPS://git.example.org/shop/web", "git.example.org/shop/web"),
    "an upper-case host": ("https://Git.Example.ORG/Shop/Web", "git.example.org/Shop/Web"),
    "a dot behind the host": ("https://git.example.org./shop/web", "git.example.org/shop/web"),
    "a user": ("https://bob@git.example.org/shop/web", "git.example.org/shop/web"),
    "a user and a secret": ("https://bob:s3@c:ret@git.example.org/s/w", "git.example.org/s/w"),
    "nested groups": ("https://gitlab.com/a/b/c/d.git", "gitlab.com/a/b/c/d"),
    "one segment": ("ssh://git@git.example.org/web.git", "git.example.org/web"),
    "the .git of a folder": ("ssh://h.example/srv/web/.git", "h.example/srv/web"),
    ".git twice": ("https://h.example/a/r.git.git", "h.example/a/r"),
    "dots in a name": ("https://h.example/a/r.io", "h.example/a/r.io"),
    "single dots": ("https://h.example/./a/./r", "h.example/a/r"),
    "another port": ("ssh://git@h.example:2222/a/r", "h.example:2222/a/r"),
    "the port of another scheme": ("http://h.example:443/a/r", "h.example:443/a/r"),
    "IPv6": ("ssh://git@[2001:DB8::1]:22/a/r.git", "[2001:db8::1]/a/r"),
    "IPv6 and a port": ("https://[2001:db8::1]:8443/a/r.git", "[2001:db8::1]:8443/a/r"),
    "IPv6 as scp": ("git@[2001:db8::1]:a/r.git", "[2001:db8::1]/a/r"),
    "scp with a port in brackets": ("[git@h.example:2222]:a/r", "h.example:2222/a/r"),
    "IPv4": ("git@192.0.2.7:a/r", "192.0.2.7/a/r"),
    "a home folder": ("https://h.example/~bob/r", "h.example/~bob/r"),
    "an escaped plain character": ("https://h.example/%7Ebob/r%2Dx", "h.example/~bob/r-x"),
    "an escaped blank": ("https://h.example/a%20b/r%2f%41", "h.example/a%20b/r%2FA"),
    "an escaped name": ("https://h.example/%E5%90%8D/r", "h.example/名/r"),
    "a plain name": ("git@h.example:名/r", "h.example/名/r"),
    "GitHub folds": ("git@GitHub.com:Acme/Widgets.git", "github.com/acme/widgets"),
    "GitHub folds before .git": ("https://github.com/Acme/Widgets.GIT", "github.com/acme/widgets"),
    "GitHub over port 443": ("ssh://git@ssh.github.com:443/Acme/W.git", "github.com/acme/w"),
    "GitHub with www": ("https://www.github.com/acme/w", "github.com/acme/w"),
    "GitLab over port 443": ("ssh://git@altssh.gitlab.com:443/A/w.git", "gitlab.com/A/w"),
    "a gist does not fold": ("https://gist.github.com/AbC", "gist.github.com/AbC"),
    "only GitHub folds": ("https://gitlab.com/Acme/Widgets", "gitlab.com/Acme/Widgets"),
    "a host that ends alike": ("https://notgithub.com/A/b", "notgithub.com/A/b"),
}  # fmt: skip


@pytest.mark.parametrize(("url", "project_id"), ONE_ID.values(), ids=ONE_ID)
def test_a_remote_has_one_id(url, project_id):
    assert canonical_remote(url) == project_id
    assert valid_id(project_id)


UNUSABLE = {
    "nothing": "",
    "a path": "/srv/git/web.git",
    "a relative path": "../web.git",
    "a relative path with a colon": "./host:web.git",
    "a name": "origin",
    "a Windows path": r"C:\src\web",
    "a Windows path with slashes": "C:/src/web",
    "a share": r"\\server\share\web",
    "file": "file:///srv/git/web.git",
    "file with a host": "file://server/srv/git/web.git",
    "a helper": "ext::ssh host web",
    "a helper around a URL": "foo::https://h.example/a/r",
    "an unknown scheme": "s3://bucket/a/r",
    "no host": "https:///a/r",
    "only a user": "https://bob@/a/r",
    "no path": "https://h.example/",
    "only .git": "https://h.example/.git",
    "no path in scp": "git@h.example:",
    "going up": "https://h.example/a/../r",
    "going up in disguise": "https://h.example/a/%2e%2E/r",
    "a blank": "https://h.example/a b/r",
    "a blank at the end": "https://h.example/a/r ",
    "a newline": "https://h.example/a/r\nx",
    "a NUL": "https://h.example/a\0/r",
    "an escaped NUL": "https://h.example/a%00/r",
    "an escaped newline": "https://h.example/a%0Ar",
    "an escaped delete": "https://h.example/a%7Fr",
    "an invisible character": "https://h.example/a\u200b/r",
    "an escaped invisible character": "https://h.example/a%E2%80%8B/r",
    "an undecodable byte": "https://h.example/a\udcff/r",
    "an escaped undecodable byte": "https://h.example/a%ff/r",
    "half an escape": "https://h.example/a%2",
    "no escape": "https://h.example/a%zz/r",
    "a blank in an escape": "https://h.example/a%+1/r",
    "a query": "https://h.example/a/r?token=x",
    "a fragment": "https://h.example/a/r#x",
    "port zero": "https://h.example:0/a/r",
    "a port out of range": "https://h.example:65536/a/r",
    "a port that is a word": "https://h.example:x/a/r",
    "a port of another script": "https://h.example:٣/a/r",
    "an option for a host": "ssh://-oProxyCommand=x/a/r",
    "an empty label": "https://h..example/a/r",
    "an open bracket": "ssh://[2001:db8::1/a/r",
    "IPv6 with a zone": "ssh://[fe80::1%25eth0]/a/r",
    "a password with a slash": "https://bob:12/34@h.example/a/r",
    "scp with a password": "bob:s3cret@h.example:a/r",
    "what would read as a local id": "ssh://local:2222/a",
    "too long": "https://h.example/" + "a" * 1024,
}


@pytest.mark.parametrize("url", UNUSABLE.values(), ids=UNUSABLE)
def test_what_names_no_server_is_no_remote(url):
    assert canonical_remote(url) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://h.example/A/r", "https://h.example/a/r"),
        ("https://h.example/a/r", "https://h.example:8443/a/r"),
        ("https://h.example/a/r", "https://g.example/a/r"),
        ("https://h.example/a%2Fb/r", "https://h.example/a/b/r"),
        ("https://h.example/a%252Fb/r", "https://h.example/a%2Fb/r"),
        ("https://h.example/a/r-x", "https://h.example/a/r/x"),
    ],
)
def test_two_repositories_never_share_an_id(one, other):
    assert canonical_remote(one) != canonical_remote(other)


PIECES = ["https://", "ssh://", "git@", "Git.Example", "github.com", "local", ":", "/", "Acme"]
PIECES += ["%7e", "%2f", ".git", "@", "[", "]", "::", "..", "443", "22", "-", "%", "名"]
URLS = st.one_of(
    st.text(max_size=60),
    st.builds("".join, st.lists(st.sampled_from(PIECES), max_size=9)),
)


@given(URLS)
@settings(deadline=None, max_examples=100)
def test_an_id_is_its_own_id_and_holds_no_user(url):
    project_id = canonical_remote(url)
    if project_id is not None:
        assert valid_id(project_id)
        assert not is_local(project_id)
        assert "@" not in project_id.partition("/")[0]
        assert as_id(project_id) == project_id


@pytest.mark.parametrize("good", ["local:a", "local:A.b_c-9", "local:" + "x" * 128])
def test_a_local_id_has_its_grammar(good):
    assert is_local(good)
    assert valid_id(good)


NOT_LOCAL = ["local:", "local", "a", "local:a/b", "local:-a", "local:.a", "local:a b", "local:é"]
NOT_LOCAL += ["unknown", "LOCAL:a", "local:a\n", "local:~a", "", "local:" + "x" * 129]


@pytest.mark.parametrize("bad", NOT_LOCAL)
def test_anything_else_is_no_local_id(bad):
    assert not is_local(bad)
    assert not valid_id(bad)


@pytest.mark.parametrize("bad", ["Git.example/a/r", "h.example", "h.example/a/r.git", "bob@h/a/r"])
def test_an_id_that_is_not_canonical_is_not_valid(bad):
    assert not valid_id(bad)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (" github.com/Acme/Widgets ", "github.com/acme/widgets"),
        ("https://bob:secret@h.example/a/r.git", "h.example/a/r"),
        ("git@h.example:a/r", "h.example/a/r"),
        ("h.example:2222/a/r", "h.example:2222/a/r"),
        ("local:notes", "local:notes"),
        ("local:no/tes", None),
        ("unknown", None),
        ("", None),
    ],
)
def test_a_person_may_type_an_id_as_a_url(typed, read):
    assert as_id(typed) == read


def test_labels_are_short():
    assert label("h.example/a/b/web") == "web"
    assert label("local:notes-0a1b2c3d") == "notes-0a1b2c3d"
    assert label("unknown") == ""


def test_a_chain_of_aliases_is_followed_to_its_end():
    aliases = {"h/a": "h/b", "h/b": "h/c"}
    validate_aliases(aliases)
    assert [apply_alias(one, aliases) for one in ("h/a", "h/b", "h/c", "h/d")] == [
        "h/c",
        "h/c",
        "h/c",
        "h/d",
    ]


@pytest.mark.parametrize(
    "aliases",
    [
        {"h/a": "h/a"},
        {"h/a": "h/b", "h/b": "h/a"},
        {"h/x": "h/a", "h/a": "h/b", "h/b": "h/c", "h/c": "h/a"},
        {"unknown": "h/a"},
        {"h/a": "unknown"},
        {"h/a": ""},
        {"h/a": 1},
        {"h/good": "h/fine", "H/a": "h/b"},
    ],
)
def test_one_bad_alias_refuses_the_whole_map(aliases):
    with pytest.raises(ValueError, match="alias"):
        validate_aliases(aliases)


def test_a_cycle_that_slipped_in_still_ends():
    assert apply_alias("h/a", {"h/a": "h/b", "h/b": "h/a"}) in {"h/a", "h/b"}
