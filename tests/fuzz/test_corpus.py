"""The corpus and every finding of the past, replayed; the fuzzer is proven on a bad parser."""

from __future__ import annotations

import random

import pytest

from tests.fuzz import engine
from tests.fuzz.targets import TARGETS

SAMPLES = [(name, sample) for name in TARGETS for sample, _ in engine.corpus(name)]


@pytest.mark.parametrize(("name", "sample"), SAMPLES)
def test_every_sample_of_the_corpus_holds(name, sample):
    engine.try_one(TARGETS[name], (engine.CORPUS / name / sample).read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_fifty_mutations_of_the_corpus_hold(name):
    chance, pool = random.Random(3), [data for _, data in engine.corpus(name)]
    for _ in range(50):
        engine.try_one(TARGETS[name], engine.mutate(chance, TARGETS[name], pool))


def test_every_corpus_belongs_to_a_target():
    assert {path.name for path in engine.CORPUS.iterdir()} == set(TARGETS)


def _picky(data):
    if b"\xff" in data:
        raise KeyError(data)
    return len(data) % 7


def test_a_parser_that_fails_is_found_cut_down_and_found_again_by_its_seed(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "CORPUS", tmp_path)
    (tmp_path / "picky").mkdir()
    (tmp_path / "picky" / "seed").write_bytes(b'{"a": 1}')
    target = engine.Target("picky", _picky, (b"x",))
    (tried, finding), again = (engine.fuzz(target, 5, 30) for _ in range(2))
    assert finding.data == b"\xff"
    assert tried == again[0]
    assert engine.keep(finding).read_bytes() == b"\xff"


def test_a_parser_that_never_ends_is_stopped(monkeypatch):
    monkeypatch.setattr(engine, "CPU_S", 0.05)

    def endless(_data):
        while True:
            try:
                sum(range(100))
            except Exception:  # noqa: BLE001 - a parser that catches everything is the case
                pass

    with pytest.raises(engine.TooSlow):
        engine.try_one(engine.Target("endless", endless, ()), b"")
