"""What was saved comes back byte for byte, however it grew, whatever happened to the file."""

from __future__ import annotations

import os
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.store.archive import manifest
from scripts.swarm_v2.store.archive.chunks import ChunkError, digest_of, put
from scripts.swarm_v2.store.archive.read import manifests, verify
from scripts.swarm_v2.store.archive.save import ArchiveError, Source, load, save
from tests.support.archive import AT, NAME, Archive, as_bytes, conversation, fork_of

LINES = as_bytes(conversation(7, 300, "0ab96787-666b-4423-b983-6a30353e01f6"))


@pytest.fixture
def archive(tmp_path):
    return Archive(tmp_path)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, len(LINES)), max_size=6), st.data())
def test_appended_in_any_steps_it_gives_the_same_export(tmp_path_factory, cuts, data):
    archive = Archive(tmp_path_factory.mktemp("a"))
    for end in [*sorted(cuts), len(LINES)]:
        archive.write(b"") if not archive.path().exists() else None
        archive.append(LINES[archive.path().stat().st_size : end])
        archive.save(close=data.draw(st.booleans()))
        assert archive.export() == LINES[:end]
    report = verify(archive.place)
    assert (report.damage, report.raw_bytes) == ((), len(LINES))  # tail and segments, each once
    assert load(archive.place, "s").transcripts[0].part == 0


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=5_000), st.binary(max_size=5_000))
def test_any_bytes_then_any_more_come_back(tmp_path_factory, first, more):
    archive = Archive(tmp_path_factory.mktemp("a"))
    archive.write(first)
    archive.save()
    archive.append(more)
    archive.save(close=True)
    assert archive.export() == first + more


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="0 bytes"),
        pytest.param(b'{"uuid":"1"}\n{"uuid":"2","mess', id="torn last line"),
        pytest.param(b'{"uuid":"1"}\n' + b"\0" * 700 + b"\n" + b'{"uuid":"2"}\n', id="NULs"),
        pytest.param(b'{"uuid":"1"}', id="no newline"),
        pytest.param(b"\xff\xfe\n" * 9, id="not UTF-8"),
        pytest.param(b"x" * 3_000_000, id="one long line"),
    ],
)
@pytest.mark.parametrize("close", [False, True])
def test_odd_transcripts_come_back(archive, data, close):
    archive.write(data)
    archive.save(close=close)
    assert archive.export() == data
    assert verify(archive.place).damage == ()


def test_it_is_readable_after_the_agent_deleted_the_transcript(archive):
    archive.write(LINES)
    archive.save()
    archive.path().unlink()
    assert archive.save() == 0
    assert archive.export() == LINES


def test_saving_again_writes_nothing(archive):
    archive.write(LINES)
    assert archive.save() == len(LINES)
    path = archive.place.manifest("s")
    before = os.stat(path).st_ino
    assert archive.save() == 0
    assert os.stat(path).st_ino == before


def test_a_line_that_was_torn_and_then_written_again_goes_on_in_a_new_part(archive):
    archive.write(b'{"uuid":"1"}\n{"uuid":"2","mess')
    archive.save()
    archive.write(b'{"uuid":"1"}\n{"uuid":"3"}\n{"uuid":"4"}\n')
    archive.save()
    assert archive.export() == b'{"uuid":"1"}\n{"uuid":"3"}\n{"uuid":"4"}\n'
    assert archive.export(part=0) == b'{"uuid":"1"}\n{"uuid":"2","mess'


@pytest.mark.parametrize("left", [0, 1, 5_000, len(LINES) - 1])
def test_a_file_that_was_cut_takes_nothing_back(archive, left):
    archive.write(LINES)
    archive.save()
    archive.write(LINES[:left])
    assert archive.save() == 0
    assert archive.export() == LINES
    archive.write(LINES + b"more\n")
    archive.save()
    assert archive.export() == LINES + b"more\n"
    assert len(load(archive.place, "s").transcripts) == 1


def test_a_fork_shares_the_chunks_of_its_origin(archive):
    lines = conversation(9, 1500, str(uuid.uuid4()))
    archive.write(as_bytes(lines), "origin")
    archive.save("origin", close=True)
    alone = sum(archive.chunk_files().values())
    fork = as_bytes(fork_of(lines, str(uuid.uuid4())))
    archive.write(fork, "fork")
    archive.save("fork", close=True)
    both = sum(archive.chunk_files().values())
    assert archive.export("fork") == fork
    assert both - alone < 0.25 * alone


def test_old_tails_go(archive):
    archive.write(b"")
    for number in range(5):
        archive.append(b'{"uuid":"%d"}\n' % number)
        archive.save()
    assert len(os.listdir(archive.place.tails)) == 1
    archive.save(close=True)
    assert os.listdir(archive.place.tails) == []


def test_files_are_private(archive):
    archive.write(LINES)
    archive.save()
    for folder, _, files in os.walk(archive.place.folder):
        assert os.stat(folder).st_mode & 0o077 == 0
        assert not [n for n in files if os.stat(os.path.join(folder, n)).st_mode & 0o077]


def first_chunk(archive):
    return archive.folder / "archive" / "chunks" / sorted(archive.chunk_files())[0]


@pytest.mark.parametrize("how", ["flipped", "cut", "emptied", "gone", "replaced"])
def test_a_damaged_chunk_is_told_and_left_as_it_is(archive, how):
    archive.write(LINES)
    archive.save(close=True)
    path = first_chunk(archive)
    data = bytearray(path.read_bytes())
    if how == "gone":
        path.unlink()
    elif how == "replaced":
        put(archive.place.chunks, b"another content")
        path.write_bytes((path.parent / digest_of(b"another content")).read_bytes())
    else:
        data[len(data) // 2] ^= 1
        path.write_bytes({"flipped": data, "cut": data[:-3], "emptied": b""}[how])
    after = path.read_bytes() if path.exists() else None
    report = verify(archive.place)
    assert [damage.path for damage in report.damage] == [str(path)]
    assert report.damage[0].session == "s"
    with pytest.raises(ChunkError):
        archive.export()
    assert (path.read_bytes() if path.exists() else None) == after


def test_a_damaged_chunk_of_no_session_is_told_too(archive):
    archive.write(b"x\n")
    archive.save()
    put(archive.place.chunks, b"left over")
    assert verify(archive.place).unused == 1
    first_chunk(archive).write_bytes(b"rot")
    assert len(verify(archive.place).damage) == 1


def test_a_damaged_tail_is_told(archive):
    archive.write(b"x\n")
    archive.save()
    (name,) = os.listdir(archive.place.tails)
    with open(os.path.join(archive.place.tails, name), "wb") as file:
        file.write(b"rot")
    assert len(verify(archive.place).damage) == 1


def test_a_damaged_manifest_is_refused_at_every_byte_and_never_replaced(archive):
    archive.write(b'{"uuid":"1"}\n')
    archive.save(close=True)
    path = archive.place.manifest("s")
    with open(path, "rb") as file:
        whole = file.read()
    for at in range(0, len(whole) - 1, 7):
        damaged = whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1 :]
        assert manifest.parse(damaged, archive.place.space) is None, at
        assert manifest.parse(whole[:at], archive.place.space) is None, at
    with open(path, "wb") as file:
        file.write(whole[:-9])
    archive.append(b"more\n")
    with pytest.raises(ArchiveError):
        archive.save()
    assert len(verify(archive.place).damage) == 1
    with open(path, "rb") as file:
        assert file.read() == whole[:-9]


def test_a_damaged_chunk_is_never_built_upon(archive):
    archive.write(LINES, "one")
    archive.save("one", close=True)
    first_chunk(archive).write_bytes(b"rot")
    archive.write(LINES, "two")
    with pytest.raises(ChunkError):
        archive.save("two", close=True)
    assert load(archive.place, "two").transcripts == ()


def test_another_installation_s_manifest_is_not_ours(archive):
    archive.write(LINES)
    archive.save()
    other = archive.place._replace(space=manifest.namespace("inst-" + "6" * 32))
    assert manifests(other)[0] == []
    assert len(manifests(other)[1]) == 1


def test_a_pipe_and_a_folder_are_no_transcripts(archive):
    os.mkfifo(archive.path())
    assert archive.save() == 0
    assert save(archive.place, "t", [Source(NAME, str(archive.folder))], AT) == 0
    assert archive.documents() == []
