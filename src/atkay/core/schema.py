"""Schema: what a value of a JSON file has to be, declared once for reading and writing.

A form is called with a value out of a file, checks all of it, and gives it back as the program holds it; whatever does
not fit is a ValueError that says where. Its ``write`` is the way back. NumPy and nothing else.
"""

from __future__ import annotations

import dataclasses
import json
import math
import reprlib
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from atkay.core.types import Floats, Ints

Reader = Callable[[Any], Any]

LARGEST_COUNT = (1 << 63) - 1


@dataclass(frozen=True)
class Form:
    """How a value is read out of JSON, and how it is written there."""

    read: Reader
    write: Callable[[Any], Any] = lambda value: value

    def __call__(self, value: Any) -> Any:
        """Read a value."""
        return self.read(value)

    @classmethod
    def of(cls, read: Reader) -> Form:
        """A form; a function that only reads is written as it is."""
        return read if isinstance(read, cls) else cls(read)


def parse_json(content: bytes) -> Any:
    """JSON as the standard has it: no NaN, no name twice in one object, and no nesting without end."""
    try:
        return json.loads(content, object_pairs_hook=_distinct, parse_constant=lambda word: _refuse("a number", word))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = next(name for at, (name, _) in enumerate(pairs) if name in dict(pairs[:at]))
        raise ValueError(f"'{twice}' appears twice")
    return fields


def _refuse(what: str, value: Any) -> Any:
    raise ValueError(f"must be {what}, got {reprlib.repr(value)}")


def _of_type(kind: type, what: str, value: Any) -> Any:
    """A value of this very type: ``True`` is no integer."""
    return value if type(value) is kind else _refuse(what, value)


@Form
def text(value: Any) -> str:
    """Text."""
    return str(_of_type(str, "text", value))


@Form
def count(value: Any) -> int:
    """An integer from 0."""
    return value if type(value) is int and 0 <= value <= LARGEST_COUNT else _refuse("a non-negative integer", value)


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    if type(value) not in (float, int) or abs(value) > sys.float_info.max:
        _refuse("a finite number or null", value)
    return float(value)


def _or_null(value: float) -> float | None:
    return None if math.isnan(value) else value


number = Form(_number, _or_null)
"""A finite number; null is NaN."""

probability = Form(
    lambda value: p if not abs((p := _number(value)) - 0.5) > 0.5 else _refuse("from 0 to 1", value), _or_null
)
"""A number from 0 to 1; null is NaN."""


def one_of(words: Collection[str]) -> Form:
    """One of a few words."""
    return Form(lambda value: value if type(value) is str and value in words else _refuse(f"one of {[*words]}", value))


def maybe(read: Reader) -> Form:
    """The same, or null."""
    write = Form.of(read).write
    return Form(
        lambda value: None if value is None else read(value), lambda each: None if each is None else write(each)
    )


def listed(read: Reader) -> Form:
    """A list, which is a tuple here."""
    write = Form.of(read).write
    return Form(
        lambda value: tuple(_read_at(at, read, each) for at, each in enumerate(_of_type(list, "a list", value))),
        lambda values: [write(each) for each in values],
    )


def mapped(read: Reader) -> Form:
    """An object whose names are free."""
    write = Form.of(read).write
    return Form(
        lambda value: {name: _read_at(name, read, one) for name, one in _of_type(dict, "an object", value).items()},
        lambda values: {name: write(each) for name, each in values.items()},
    )


def record(fields: Mapping[str, Reader]) -> Form:
    """An object with these fields, all of them and no others; written out of a dict that may have more."""

    def read(value: Any) -> dict[str, Any]:
        if differ := sorted(fields.keys() ^ _of_type(dict, "an object", value).keys()):
            raise ValueError(f"'{differ[0]}' is {'missing' if differ[0] in fields else 'not a known field'}")
        return {name: _read_at(name, form, value[name]) for name, form in fields.items()}

    return Form(read, lambda values: {name: Form.of(form).write(values[name]) for name, form in fields.items()})


def _read_at(place: object, read: Reader, value: Any) -> Any:
    try:
        return read(value)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


def built(cls: type[Any], fields: Mapping[str, Reader]) -> Form:
    """An object of a class, out of these of its fields."""
    form = record(fields)
    return Form(
        lambda value: cls(**form(value)), lambda made: form.write({name: getattr(made, name) for name in fields})
    )


def made(cls: type[Any], **forms: Reader) -> Form:
    """A dataclass that checks its fields by itself, and takes none of them for something else."""
    form = built(cls, {each.name: forms.get(each.name, lambda value: value) for each in dataclasses.fields(cls)})

    def read(value: Any) -> Any:
        try:
            here = form(value)
        except (TypeError, ArithmeticError) as error:
            raise ValueError(str(error)) from error
        for name, field in dataclasses.asdict(here).items():
            if json.dumps(field) != json.dumps(value[name]):
                raise ValueError(f"{name}: must be {field!r}, got {reprlib.repr(value[name])}")
        return here

    return Form(read, form.write)


def _floats(value: Any) -> Floats:
    if type(value) is not list or not set(map(type, value)) <= {float, int, type(None)}:
        _refuse("a list of numbers", value)
    try:
        numbers = np.array(value, dtype=float)
    except OverflowError as error:
        raise ValueError("has a number that is too large") from error
    return _refuse("a list of finite numbers", value) if np.isinf(numbers).any() else numbers


def _codes(value: Any) -> Ints:
    if type(value) is not list or not set(map(type, value)) <= {int}:
        _refuse("a list of integers", value)
    if value and not 0 <= min(value) <= max(value) <= LARGEST_COUNT:
        _refuse("a list of non-negative integers", value)
    return np.array(value, dtype=np.int64)


floats = Form(_floats, lambda column: [_or_null(value) for value in column.tolist()])
"""A list of finite numbers, null being NaN; fast for long ones."""

codes = Form(_codes, lambda column: column.tolist())
"""A list of integers from 0; fast for long ones."""
