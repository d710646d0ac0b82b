from __future__ import annotations

import inspect

import pytest

from hooks import errors

MADE = [
    errors.PayloadError("Stop", "not JSON"),
    errors.SettingsError("BRAIN_URL", "(hidden)", wants="an address"),
    errors.StateError("/home/x/ledger.db", "damaged"),
    errors.StateDown("REDIS_URL", "no answer in time"),
    errors.OutboxError("/home/x/brain-outbox/a.json", "torn"),
    errors.BrainUnreachable("http", "no answer in 2 s"),
    errors.BrainRefused("http", "413"),
    errors.BrainMisspoke("http", "the body is not JSON"),
    errors.BrainConflict("a" * 32, "b" * 32, "the newer text"),
    errors.NotOneMemory("abc", 0),
    errors.NotOneMemory("abc", 2),
]


def test_every_error_that_has_fields_is_made_here() -> None:
    classes = {cls for _, cls in inspect.getmembers(errors, inspect.isclass)}
    assert classes - {type(made) for made in MADE} == {errors.HookError, errors.BrainError}


@pytest.mark.parametrize("made", MADE, ids=lambda made: type(made).__name__)
def test_an_error_states_its_facts_and_keeps_them_as_attributes(made: errors.HookError) -> None:
    fields = {name: value for name, value in vars(made).items() if name != "hint"}
    assert fields
    for value in fields.values():
        assert str(value)[:8] in str(made) or value in (0,)
    assert isinstance(made, errors.HookError)


@pytest.mark.parametrize(
    "made", [made for made in MADE if not isinstance(made, errors.PayloadError)], ids=repr
)
def test_an_error_that_a_person_can_mend_says_the_next_step(made: errors.HookError) -> None:
    assert made.hint
    assert "\n" not in made.hint
