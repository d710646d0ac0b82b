"""``typing.NamedTuple`` at a tenth of its price, for modules that every hook process loads.

Importing ``typing`` costs 1.3 interpreter starts. Type checkers still see the real thing::

    TYPE_CHECKING = False
    if TYPE_CHECKING:
        from typing import NamedTuple
    else:
        from hooks.record import NamedTuple
"""

from __future__ import annotations

from _collections import _tuplegetter  # type: ignore[import-not-found]  # private, as typing uses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class NamedTuple(tuple):  # type: ignore[type-arg]  # tuple[...] as a base costs an __orig_bases__
    """Base of immutable records: fields from annotations, defaults from class attributes.

    Supports what we use of ``typing.NamedTuple``: positional and keyword construction,
    ``_fields``, ``_make``, ``_replace``, ``_asdict``, ``_field_defaults``, tuple equality and
    hashing, copies and pickles, and ``match``. As there, a subclass of a record adds no fields.
    """

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()
    _fields: tuple[str, ...] = ()
    _field_defaults: dict[str, object] = {}  # noqa: RUF012 - ClassVar is in typing

    def __init_subclass__(cls) -> None:
        if NamedTuple not in cls.__bases__:
            return
        own = vars(cls)
        fields = tuple(cls.__annotations__)
        cls._fields = fields
        cls.__match_args__ = fields  # type: ignore[misc]  # final to mypy once it has a value
        cls._field_defaults = {name: own[name] for name in fields if name in own}
        for index, name in enumerate(fields):
            setattr(cls, name, _tuplegetter(index, None))

    def __new__(cls, /, *args: object, **named: object) -> NamedTuple:
        fields = cls._fields
        if named or len(args) != len(fields):
            args = cls._complete(args, named)
        return tuple.__new__(cls, args)

    def __setattr__(self, name: str, value: object) -> None:
        # Our subclasses have no __slots__, so a misspelt field would be kept without a word.
        msg = f"{type(self).__name__} is immutable; {name!r} cannot be set"
        raise AttributeError(msg)

    @classmethod
    def _make(cls, values: Iterable[object]) -> NamedTuple:
        return cls(*values)

    @classmethod
    def _complete(cls, args: tuple[object, ...], named: dict[str, object]) -> tuple[object, ...]:
        # Many thousand times in a run that reads an index: no dict of all fields is built.
        rest, defaults = cls._fields[len(args) :], cls._field_defaults
        try:
            found = [named[name] if name in named else defaults[name] for name in rest]
        except KeyError:
            raise cls._misfit(args, named) from None
        if len(args) > len(cls._fields) or (named and not named.keys() <= set(rest)):
            raise cls._misfit(args, named)
        return (*args, *found)

    @classmethod
    def _misfit(cls, args: tuple[object, ...], named: dict[str, object]) -> TypeError:
        given = dict(zip(cls._fields, args, strict=False))
        known = {**cls._field_defaults, **named, **given}
        wrong = (known.keys() ^ set(cls._fields)) | (given.keys() & named.keys())
        return TypeError(f"{cls.__name__} takes {cls._fields}; wrong or missing: {sorted(wrong)}")

    def _replace(self, /, **changes: object) -> NamedTuple:
        return type(self)(**{**self._asdict(), **changes})

    def _asdict(self) -> dict[str, object]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
        return f"{type(self).__name__}({inside})"

    def __getnewargs__(self) -> tuple[object, ...]:
        return tuple(self)
