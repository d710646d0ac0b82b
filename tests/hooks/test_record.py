from __future__ import annotations

import copy
import pickle
import typing
from typing import Any

import pytest

from hooks.record import NamedTuple as Ours

both = pytest.mark.parametrize("point", ["typing", "ours"], indirect=True)


class OurPoint(Ours):
    """A record as modules of the hot path write it."""

    x: int
    y: int = 2
    tags: tuple[str, ...] = ()

    def total(self) -> int:
        return self.x + self.y


class TypingPoint(typing.NamedTuple):
    x: int
    y: int = 2
    tags: tuple[str, ...] = ()

    def total(self) -> int:
        return self.x + self.y


@pytest.fixture
def point(request: pytest.FixtureRequest) -> Any:
    return TypingPoint if request.param == "typing" else OurPoint


@both
def test_a_record_is_built_by_position_name_and_default(point: Any) -> None:
    assert point(1) == point(x=1) == point(1, 2, ()) == point(1, tags=(), y=2) == (1, 2, ())
    assert (point(1, 5).y, point(1, 5).total()) == (5, 6)
    assert point._make([1, 2, ("a",)]).tags == ("a",)


@both
@pytest.mark.parametrize(
    ("args", "named"),
    [((), {}), ((), {"y": 1}), ((1, 2, (), 4), {}), ((1,), {"x": 1}), ((1,), {"z": 1})],
    ids=["nothing", "one missing", "too many", "one twice", "one unknown"],
)
def test_a_record_that_does_not_fit_is_a_typeerror(
    point: Any, args: tuple[Any, ...], named: dict[str, Any]
) -> None:
    with pytest.raises(TypeError):
        point(*args, **named)


@both
def test_a_record_cannot_be_changed_nor_given_a_misspelt_field(point: Any) -> None:
    made = point(1)
    for name in ("x", "z"):
        with pytest.raises(AttributeError):
            setattr(made, name, 5)
    assert made == (1, 2, ())
    assert not hasattr(made, "z")


@both
def test_a_changed_copy_leaves_the_first(point: Any) -> None:
    made = point(1)
    assert made._replace(y=7) == (1, 7, ())
    assert made == (1, 2, ())
    with pytest.raises((TypeError, ValueError)):  # ValueError up to Python 3.12
        made._replace(z=7)


@both
def test_a_record_tells_its_fields(point: Any) -> None:
    assert point._fields == point.__match_args__ == ("x", "y", "tags")
    assert point._field_defaults == {"y": 2, "tags": ()}
    assert point(1)._asdict() == {"x": 1, "y": 2, "tags": ()}
    assert repr(point(1)) == f"{point.__name__}(x=1, y=2, tags=())"


@both
def test_a_record_is_a_tuple_with_a_hash(point: Any) -> None:
    made = point(1)
    x, y, tags = made
    assert (x, y, tags) == (made[0], made[1], made[2]) == (1, 2, ())
    assert {made: "a"}[(1, 2, ())] == "a"
    assert isinstance(made, tuple)
    assert point(1) < point(2)


@both
def test_a_record_can_be_matched_by_position_and_name(point: Any) -> None:
    match point(3, 4, ("t",)):
        case point(x, y, tags=(first,)):
            assert (x, y, first) == (3, 4, "t")
        case _:
            pytest.fail("no match")


@both
def test_copies_and_pickles_are_equal_and_of_the_same_class(point: Any) -> None:
    made = point(1, tags=("a",))
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert (again, type(again), again.tags) == (made, point, ("a",))


@both
def test_a_subclass_of_a_record_keeps_its_fields(point: Any) -> None:
    child: Any = type("Child", (point,), {"more": lambda self: self.x + 1})
    assert child(1).more() == 2
    assert child._fields == ("x", "y", "tags")


def test_a_record_without_fields_is_a_value_too() -> None:
    class Silent(Ours):
        pass

    assert Silent() == Silent() == ()
    with pytest.raises(TypeError):
        Silent(1)
