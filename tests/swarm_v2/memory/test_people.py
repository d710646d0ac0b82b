"""Whom a server lets in: a name is one person's, and what is wrong only the owner learns."""

from __future__ import annotations

import json
import os

import pytest

from scripts.swarm_v2.installation import installation
from scripts.swarm_v2.memory.credentials import (
    FOLDER,
    HEX_DIGITS,
    digest,
    of_installation,
    own_token,
    public_line,
)
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.people import PEOPLE, People

WRONG = ("credential-refused", "the server knows no such token")


def path(home, name):
    return home / FOLDER / name


def refused(people, token):
    with pytest.raises(MemoryRefused) as err:
        people.who(token)
    assert str(people._home) not in f"{err.value} {err.value.hint}"
    return err.value.code, str(err.value)


@pytest.fixture
def told():
    """What the owner was told."""
    return []


@pytest.fixture
def server(home, told):
    """A server's home, and whom it lets in besides itself."""
    return People(str(home), of_installation(str(home)), warn=told.append)


def of_machines(principal, *tokens):
    return json.dumps({"principal": principal, "sha256": [digest(token) for token in tokens]})


def admit(home, *lines, mode=0o644):
    path(home, PEOPLE).write_text("\n".join(lines) + "\n")
    path(home, PEOPLE).chmod(mode)


A, B, C = (letter * HEX_DIGITS for letter in "abc")


def test_a_server_knows_its_own_installation_and_whom_its_owner_added(home, server):
    assert server.who(own_token(str(home))).principal == installation(str(home)).installation_id
    admit(home, "# Alice", public_line("did:key:zA", A), "", public_line("b b", B))
    assert server.who(A).principal == "did:key:zA"
    assert server.who(B).principal == "b b"


def test_who_is_taken_out_is_out_at_once(home, server):
    admit(home, public_line("did:key:zA", A))
    assert server.who(A).principal == "did:key:zA"
    admit(home, public_line("b", B))
    assert refused(server, A)[0] == "credential-refused"


def test_every_token_that_is_not_known_is_refused_in_the_same_words(home, server):
    admit(home, public_line("did:key:zA", A))
    said = {refused(server, token) for token in ("", "x", B, digest(A), "\ud800")}
    assert len(said) == 1
    assert said.pop()[0] == "credential-refused"


def test_a_token_with_two_names_is_nobody(home, server, told):
    admit(home, public_line("did:key:zA", A), public_line("did:key:zB", A))
    assert refused(server, A) == WRONG
    assert "lines 1, 2 hold one token" in told[0]


def test_two_lines_with_one_name_let_nobody_in_and_the_owner_learns_which(home, server, told):
    admit(home, public_line("b", B), "# two of one name", public_line("a", A), public_line("a", C))
    assert refused(server, A) == refused(server, C) == WRONG
    assert server.who(B).principal == "b"
    (said,) = told
    assert "lines 3, 4 name one person" in said
    admit(home, public_line("a", A), public_line("a", A))
    assert refused(server, A) == WRONG


def test_one_line_lets_in_the_several_machines_of_one_person(home, server, told):
    admit(home, of_machines("a", A, C), public_line("b", B))
    assert [server.who(one).principal for one in (A, B, C)] == ["a", "b", "a"]
    assert told == []


@pytest.mark.parametrize("named", ["", "ann"])
def test_nobody_else_is_the_person_of_the_home(home, named, told):
    own = of_installation(str(home), named)
    server = People(str(home), own, warn=told.append)
    inst = installation(str(home)).installation_id
    admit(home, public_line(own.principal, A), public_line(inst, B) if named else "#")
    assert refused(server, A) == WRONG
    assert refused(server, B) == WRONG
    assert "line 1 names the person of this home" in told[0]
    assert server.who(own_token(str(home))) == own


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"principal":"","sha256":"%s"}',
        '{"principal":1,"sha256":"%s"}',
        '{"sha256":"%s"}',
        '{"principal":"\\ud800","sha256":"%s"}',
        '{"principal":"a","sha256":"ab"}',
    ],
)
def test_a_line_that_is_none_lets_nobody_in_and_nobody_out(home, server, line):
    admit(home, line.replace("%s", digest(A)), public_line("b", B))
    assert refused(server, A)[0] == "credential-refused"
    assert server.who(B).principal == "b"


def test_a_line_that_is_none_is_told_by_its_number(home, server, told):
    admit(home, "", "{", public_line("b", B), of_machines("c"))
    assert server.who(B).principal == "b"
    assert [one.rpartition(": ")[2][:6] for one in told] == ["line 2", "line 4"]


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_a_list_that_others_may_write_lets_nobody_in(home, server, mode, told):
    admit(home, public_line("did:key:zA", A), mode=mode)
    assert refused(server, A) == refused(server, B) == WRONG
    (said,) = told
    assert "others may write" in said
    assert "chmod go-w" in said
    assert server.who(own_token(str(home)))


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_link_in_place_of_the_list_lets_nobody_in(home, server, tmp_path, link, told):
    admit(home, public_line("did:key:zA", A))
    os.rename(path(home, PEOPLE), tmp_path / "elsewhere")
    getattr(path(home, PEOPLE), link)(tmp_path / "elsewhere")
    assert refused(server, A) == WRONG
    assert "no plain file" in told[0]
