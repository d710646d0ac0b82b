"""projects.json: refused whole when it is damaged, edited without losing what is in it."""

from __future__ import annotations

import json

import pytest

from hooks.context import registry
from hooks.context.project import register_folder
from hooks.context.registry import ProjectRefused
from hooks.errors import StateError
from tests.conftest import NOON

DAMAGED = {
    "cut off": b'{"schema_version":"2.0","local":{"local:a',
    "empty": b"",
    "a list": b"[]",
    "not UTF-8": b'{"schema_version":"2.0","x":"\xff"}',
    "no version": b"{}",
    "another version": b'{"schema_version":"3.0"}',
    "aliases that are a list": b'{"schema_version":"2.0","aliases":[]}',
    "an alias cycle": b'{"schema_version":"2.0","aliases":{"h/a":"h/b","h/b":"h/a"}}',
    "a local id that is none": b'{"schema_version":"2.0","local":{"h/a":{}}}',
    "an entry that is a text": b'{"schema_version":"2.0","local":{"local:a":"x"}}',
    "an inode that is a text": b'{"schema_version":"2.0","local":{"local:a":{"inode":"1"}}}',
    "a path that is a number": b'{"schema_version":"2.0","local":{"local:a":{"folder":1}}}',
    "an observation that is no id": b'{"schema_version":"2.0","observed":{"/x":"A b"}}',
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_registry_outside_its_grammar_is_refused_and_kept(home, tmp_path, data):
    home.mkdir()
    path = home / "projects.json"
    path.write_bytes(data)
    for attempt in (
        lambda: registry.load(str(home)),
        lambda: registry.add_alias(str(home), "h/a", "h/b"),
        lambda: register_folder(str(home), str(tmp_path), "local:notes", at=NOON),
    ):
        with pytest.raises(StateError, match="registry is unusable") as refused:
            attempt()
        assert str(path) in refused.value.hint
    assert path.read_bytes() == data


def test_a_registry_that_is_a_folder_is_refused(home):
    (home / "projects.json").mkdir(parents=True)
    with pytest.raises(StateError, match="no regular file"):
        registry.load(str(home))


def test_unknown_keys_and_a_link_survive_an_edit(home, tmp_path):
    home.mkdir()
    kept = tmp_path / "dotfiles.json"
    kept.write_text(
        '{"schema_version":"2.0","note":"mine","local":{"local:a":{"colour":"red"}}}',
        encoding="utf-8",
    )
    (home / "projects.json").symlink_to(kept)
    registry.add_alias(str(home), "https://h.example/a/r", "h.example/b/r")
    assert (home / "projects.json").is_symlink()
    found = json.loads(kept.read_text(encoding="utf-8"))
    assert found["note"] == "mine"
    assert found["local"]["local:a"]["colour"] == "red"
    assert found["aliases"] == {"h.example/a/r": "h.example/b/r"}


def test_a_chain_of_aliases_leads_to_its_end_and_never_back(home):
    add = registry.add_alias
    assert add(str(home), "h.example/a", "h.example/b") == "h.example/b"
    assert add(str(home), "h.example/0", "h.example/a") == "h.example/b"
    before = (home / "projects.json").read_bytes()
    for old, new in (("h.example/b", "h.example/0"), ("h.example/x", "h.example/x")):
        with pytest.raises(ProjectRefused, match="leads back"):
            add(str(home), old, new)
    with pytest.raises(ProjectRefused, match="no project id") as refused:
        add(str(home), "https://bob:s3cret@h.example/a?x", "h.example/b")
    assert "s3cret" not in str(refused.value) + refused.value.hint
    assert (home / "projects.json").read_bytes() == before


def test_only_observations_of_vanished_repositories_are_dropped(home, tmp_path):
    registry.observe(str(home), str(tmp_path), "h.example/here")
    rows = {f"/nonexistent/{n}": "h.example/x" for n in range(registry.MAX_OBSERVED)}
    registry.change(str(home), lambda now: now.observed.update(rows))
    registry.observe(str(home), "/nonexistent/new", "h.example/y")
    assert registry.load(str(home)).observed == {str(tmp_path): "h.example/here"}
