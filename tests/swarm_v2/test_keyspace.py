from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.keyspace import (
    Namespace,
    admits,
    brain_identity,
    is_installation_id,
    is_kind,
    key,
    legacy_marker_key,
    marker_key,
    redis_key,
    stamp,
)
from scripts.swarm_v2.wire_json import canonical, loads

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "tests" / "vectors"
GIVEN = json.loads((VECTORS / "keyspace.json").read_bytes())
MORE = json.loads((VECTORS / "keyspace_more.json").read_bytes())
NAMESPACE = Namespace("inst-" + "ab" * 16, "none", "github.com/acme/widgets")
quick = settings(deadline=None, max_examples=100)

texts = st.text(max_size=6)
tricky = st.sampled_from(["", "a", "b", "a-b", "a:b", "a/b", "a\0b", '"', '","', "[", "\\"])
parts = texts | tricky
namespaces = st.builds(Namespace, parts, parts, parts, parts, parts)
kinds = st.from_regex(r"[a-z][a-z0-9-]{0,31}", fullmatch=True)
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("namespace"), inner),
    max_leaves=8,
)


@pytest.mark.parametrize("row", GIVEN["key"], ids=lambda row: row["key"])
def test_a_key_is_the_golden_one(row: dict[str, Any]) -> None:
    assert key(Namespace(**row["namespace"]), row["kind"], *row["parts"]) == row["key"]


@pytest.mark.parametrize("row", GIVEN["marker_key"] + MORE["marker_key"], ids=lambda r: r["key"])
def test_a_marker_key_is_the_golden_one(row: dict[str, Any]) -> None:
    found = marker_key(
        Namespace(**row["namespace"]), row["session_id"], row["type"], row["task"], row["content"]
    )
    assert found == row["key"]


@pytest.mark.parametrize(
    "row", GIVEN["legacy_marker_key"] + MORE["legacy_marker_key"], ids=lambda r: r["key"]
)
def test_a_legacy_marker_key_is_the_golden_one(row: dict[str, Any]) -> None:
    assert legacy_marker_key(row["session_id"], row["type"], row["content"]) == row["key"]


@pytest.mark.parametrize("row", MORE["stamp"], ids=lambda row: row["kind"])
def test_a_stamped_document_is_the_golden_one(row: dict[str, Any]) -> None:
    payload = dict(row["payload"])
    found = stamp(Namespace(**row["namespace"]), row["kind"], payload)
    assert canonical(found).decode() == row["canonical"]
    assert payload == row["payload"], "the payload itself is left as it is"


@pytest.mark.parametrize("row", MORE["redis_key"], ids=lambda row: row["type"])
def test_a_redis_key_is_the_golden_one(row: dict[str, str]) -> None:
    assert redis_key(row["prefix"], row["installation"], row["type"], row["id"]) == row["key"]


@pytest.mark.parametrize("row", MORE["redis_key_refused"], ids=lambda row: row["why"])
def test_a_redis_key_that_could_be_read_two_ways_is_refused(row: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"."):
        redis_key(row["prefix"], row["installation"], row["type"], row["id"])


_I = ["inst-" + "ab" * 16, "inst-" + "00" * 16]
_segments = st.sampled_from(["p", "t", *_I])
_paths = st.lists(_segments, min_size=1, max_size=5).map(":".join)


@quick
@given(*[st.tuples(_paths, st.sampled_from(_I), _paths, _paths)] * 2)
def test_two_argument_lists_never_give_one_redis_key(
    one: tuple[str, str, str, str], other: tuple[str, str, str, str]
) -> None:
    try:
        same = redis_key(*one) == redis_key(*other)
    except ValueError:
        return
    assert same == (one == other)


def test_a_redis_key_can_be_read_in_one_way_only() -> None:
    """Every way to cut a text into four parts: at most one of them is accepted."""
    words = ["p", "inst-" + "ab" * 16, "t", "inst-" + "00" * 16, "u", "inst-" + "ab" * 16, "x"]
    accepted = []
    for i in range(1, 5):
        for j in range(i + 1, 6):
            for k in range(j + 1, 7):
                cut = [":".join(w) for w in (words[:i], words[i:j], words[j:k], words[k:])]
                try:
                    redis_key(*cut)
                except ValueError:
                    continue
                accepted.append(cut)
    assert accepted == [["p", words[1], "t", ":".join(words[3:])]]


@pytest.mark.parametrize("row", GIVEN["brain_identity"] + MORE["brain_identity"], ids=str)
def test_one_brain_has_one_name_however_its_url_is_written(row: dict[str, str]) -> None:
    assert brain_identity(url=row["url"]) == row["identity"]
    assert brain_identity(row["url"], path="/ignored") == row["identity"]


@pytest.mark.parametrize("url", MORE["brain_identity_refused"], ids=ascii)
def test_a_url_that_cannot_be_normalised_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        brain_identity(url=url)
    assert "secret" not in str(caught.value)
    assert "brain.example" not in str(caught.value)


@pytest.mark.parametrize("row", MORE["file_identity"], ids=lambda row: row["path"])
def test_a_file_brain_is_named_by_its_path(row: dict[str, str]) -> None:
    assert brain_identity(path=row["path"]) == row["identity"]
    assert brain_identity(path=Path(row["path"])) == row["identity"]


def test_a_file_brain_is_named_by_what_its_path_resolves_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path.resolve() / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    wanted = "file-" + hashlib.sha256(os.fsencode(real / "local.db")).hexdigest()[:32]
    monkeypatch.chdir(real)
    spellings: list[str | Path] = [
        real / "local.db",
        tmp_path / "link" / "local.db",
        "local.db",
        "../real/local.db",
    ]
    assert {brain_identity(path=path) for path in spellings} == {wanted}


def test_no_url_and_no_path_is_no_brain() -> None:
    assert brain_identity() == "none"


@pytest.mark.parametrize("kind", MORE["kinds"])
def test_a_kind_inside_the_grammar_is_taken(kind: str) -> None:
    assert is_kind(kind)
    assert key(NAMESPACE, kind).startswith(f"k2-{kind}-")


@pytest.mark.parametrize("kind", GIVEN["invalid_kinds"] + MORE["invalid_kinds"], ids=ascii)
def test_a_kind_outside_the_grammar_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="not a kind"):
        key(NAMESPACE, kind)
    with pytest.raises(ValueError, match="not a kind"):
        stamp(NAMESPACE, kind, {})
    assert not admits({"namespace": NAMESPACE.document(), "kind": kind}, NAMESPACE, kind)


@pytest.mark.parametrize("part", [1, None, b"a", ["a"], Path("a")], ids=repr)
def test_a_part_that_is_not_text_is_refused(part: Any) -> None:
    with pytest.raises(TypeError, match="texts"):
        key(NAMESPACE, "feed", part)


@quick
@given(namespaces, kinds, st.lists(parts))
def test_a_key_equals_the_formula_computed_with_the_standard_library(
    namespace: Namespace, kind: str, some: list[str]
) -> None:
    document = {**namespace._asdict(), "format": "2"}
    text = json.dumps([document, kind, some], sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    assert key(namespace, kind, *some) == f"k2-{kind}-{digest}"


_choice = st.tuples(
    st.builds(Namespace, *[st.sampled_from(["a", "b", "a-b"])] * 5),
    st.sampled_from(["a", "b", "a-b"]),
    st.lists(st.sampled_from(["a", "b", "ab", "a,b", '","', ""]), max_size=3),
)


@quick
@given(_choice, _choice)
def test_keys_are_equal_exactly_where_namespace_kind_and_parts_are(one: Any, other: Any) -> None:
    keys = {key(namespace, kind, *some) for namespace, kind, some in (one, other)}
    assert (len(keys) == 1) == (one == other)


@quick
@given(_choice, _choice)
def test_marker_keys_partition_by_everything_but_the_generation(one: Any, other: Any) -> None:
    def made(choice: Any) -> tuple[str, tuple[Any, ...]]:
        namespace, kind, some = choice
        fields = (*some, "", "", "")[:3]
        meant = (namespace._replace(generation=""), kind, fields)
        return marker_key(namespace, fields[0], kind, fields[1], fields[2]), meant

    (first, first_meant), (second, second_meant) = made(one), made(other)
    assert (first == second) == (first_meant == second_meant)
    assert uuid.UUID(first).version == 5


@quick
@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_has_a_marker_key_and_lone_surrogates_count_as_the_replacement(text: str) -> None:
    raw = text.encode("utf-16-le", "surrogatepass")
    stored = raw.decode("utf-16-le", "replace")
    made = marker_key(NAMESPACE, "s", "lesson", "", text)
    assert made == marker_key(NAMESPACE, "s", "lesson", "", stored)
    assert legacy_marker_key("s", "lesson", text) == legacy_marker_key("s", "lesson", stored)


@quick
@given(namespaces, kinds, st.dictionaries(st.text(), junk, max_size=3))
def test_a_stamped_document_is_admitted_also_after_a_trip_through_json(
    namespace: Namespace, kind: str, payload: dict[str, Any]
) -> None:
    document = stamp(namespace, kind, payload)
    assert admits(document, namespace, kind)
    assert admits(json.loads(json.dumps(document)), namespace, kind)
    again = stamp(namespace, "other", document)
    assert admits(again, namespace, "other")


@quick
@given(_choice, _choice)
def test_a_document_is_admitted_by_its_own_namespace_and_kind_only(one: Any, other: Any) -> None:
    document = stamp(one[0], one[1], {})
    assert admits(document, other[0], other[1]) == (one[:2] == other[:2])


@quick
@given(junk)
def test_junk_is_never_admitted_and_never_an_error(document: Any) -> None:
    assert not admits(document, NAMESPACE, "feed")
    assert not admits({"namespace": document, "kind": "feed"}, NAMESPACE, "feed")
    assert not admits({"namespace": NAMESPACE.document(), "kind": document}, NAMESPACE, "feed")


@pytest.mark.parametrize("name", sorted(NAMESPACE.document()))
@pytest.mark.parametrize("value", [None, 1, True, "", "x", ["a"], {"a": "b"}], ids=repr)
def test_a_namespace_with_one_wrong_field_is_foreign(name: str, value: Any) -> None:
    namespace = NAMESPACE._replace(project="p", generation="g")
    document = stamp(namespace, "feed", {})
    document["namespace"] = {**namespace.document(), name: value}
    assert not admits(document, namespace, "feed")


@pytest.mark.parametrize("name", sorted(NAMESPACE.document()))
def test_a_namespace_with_a_field_too_few_or_too_many_is_foreign(name: str) -> None:
    few = {field: value for field, value in NAMESPACE.document().items() if field != name}
    many = {**NAMESPACE.document(), name + "x": ""}
    for said in (few, many):
        assert not admits({"namespace": said, "kind": "feed"}, NAMESPACE, "feed")


@pytest.mark.parametrize(
    "text", ["", "inst-", "inst-" + "a" * 31, "inst-" + "A" * 32, "inst-" + "a" * 32 + "\n", 5]
)
def test_an_installation_id_outside_its_grammar_is_told(text: object) -> None:
    assert not is_installation_id(text)


def _drop(*args: object, cwd: Path, env: dict[str, str] | None = None) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, *map(str, args)], cwd=cwd, env=env, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


MODULE = ("-m", "scripts.swarm_v2.keyspace")


def test_the_module_drops_a_folder_and_prints_the_count(tmp_path: Path) -> None:
    gone = tmp_path / f"k2-feed-{'0' * 32}.json"
    kept = tmp_path / f"k2-pending-{'0' * 32}.json"
    gone.write_text("{}")
    kept.write_text("{}")
    assert _drop(*MODULE, "drop", tmp_path, cwd=ROOT) == (0, "1\n", "")
    assert not gone.exists()
    assert kept.exists()
    assert _drop(*MODULE, "drop", tmp_path, cwd=ROOT) == (0, "0\n", "")


def test_the_module_runs_from_a_folder_with_a_scripts_package_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "__init__.py").write_text("raise SystemExit('the wrong package')")
    env = {"PYTHONPATH": str(ROOT)}
    assert _drop("-P", *MODULE, "drop", tmp_path, cwd=tmp_path, env=env) == (0, "0\n", "")


@pytest.mark.parametrize(
    "args", [(), ("drop",), ("drop", ""), ("drop", "a", "b"), ("purge", "a"), ("--help",)], ids=str
)
def test_wrong_usage_of_the_module_exits_2_and_says_how(args: tuple[str, ...]) -> None:
    code, out, err = _drop(*MODULE, *args, cwd=ROOT)
    assert (code, out) == (2, "")
    assert "drop DIR" in err


def test_a_folder_that_cannot_be_listed_exits_1(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, out, err = _drop(*MODULE, "drop", tmp_path / "file", cwd=ROOT)
    assert (code, out) == (1, "")
    assert "Not a directory" in err


def test_the_golden_stamps_can_be_read_back() -> None:
    for row in MORE["stamp"]:
        assert admits(loads(row["canonical"]), Namespace(**row["namespace"]), row["kind"])


def test_the_module_refuses_a_folder_above_the_caches_and_names_theirs(tmp_path: Path) -> None:
    caches = tmp_path / "brain" / "project-memory"
    caches.mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "brain"):
        why = f"{folder}: the caches are below it; name {caches}\n"
        assert _drop(*MODULE, "drop", folder, cwd=ROOT) == (2, "", why)


def test_a_home_that_has_no_caches_yet_has_none_to_drop(tmp_path: Path) -> None:
    folder = tmp_path / "brain" / "project-memory"
    assert _drop(*MODULE, "drop", folder, cwd=ROOT) == (0, "0\n", "")
