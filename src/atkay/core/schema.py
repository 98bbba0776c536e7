"""Schema: what a value out of a JSON file has to be.

A reader takes a value, checks all of it, and gives it back as the program holds it; whatever does not fit is a
ValueError that says where. NumPy and nothing else.
"""

from __future__ import annotations

import dataclasses
import json
import math
import reprlib
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from atkay.core.types import Floats, Ints

Reader = Callable[[Any], Any]

LARGEST_COUNT = (1 << 63) - 1


def parse_json(content: bytes) -> Any:
    """JSON as the standard has it: no NaN, no name twice in one object, and no nesting without end."""
    try:
        return json.loads(content, object_pairs_hook=_distinct, parse_constant=lambda word: _refuse("a number", word))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for at, (name, _) in enumerate(pairs) if name in dict(pairs[:at]))
        raise ValueError(f"'{twice}' stands there twice")
    return found


def _refuse(what: str, value: Any) -> Any:
    raise ValueError(f"must be {what}, got {reprlib.repr(value)}")


def text(value: Any) -> str:
    """Text."""
    return value if type(value) is str else _refuse("text", value)


def integer(value: Any) -> int:
    """Any integer."""
    return value if type(value) is int else _refuse("an integer", value)


def count(value: Any) -> int:
    """An integer from 0."""
    return value if type(value) is int and 0 <= value <= LARGEST_COUNT else _refuse("an integer from 0", value)


def number(value: Any) -> float:
    """A finite number; null is NaN."""
    if value is None:
        return math.nan
    if type(value) not in (float, int) or abs(value) > sys.float_info.max:
        _refuse("a finite number or null", value)
    return float(value)


def probability(value: Any) -> float:
    """A number from 0 to 1; null is NaN."""
    return found if not abs((found := number(value)) - 0.5) > 0.5 else _refuse("from 0 to 1", value)


def one_of(words: Collection[str]) -> Reader:
    """One of some words."""
    return lambda value: value if type(value) is str and value in words else _refuse(f"one of {list(words)}", value)


def maybe(read: Reader) -> Reader:
    """The same, or null."""
    return lambda value: None if value is None else read(value)


def listed(read: Reader) -> Reader:
    """A list."""

    def read_all(value: Any) -> tuple[Any, ...]:
        found = value if type(value) is list else _refuse("a list", value)
        return tuple(_read_at(at, read, each) for at, each in enumerate(found))

    return read_all


def mapped(read: Reader) -> Reader:
    """An object whose names are free."""

    def read_all(value: Any) -> dict[str, Any]:
        found = value if type(value) is dict else _refuse("an object", value)
        return {name: _read_at(name, read, each) for name, each in found.items()}

    return read_all


def record(fields: Mapping[str, Reader]) -> Reader:
    """An object with these fields, all of them and no others."""

    def read_all(value: Any) -> dict[str, Any]:
        found = value if type(value) is dict else _refuse("an object", value)
        if differ := sorted(fields.keys() ^ found.keys()):
            raise ValueError(f"'{differ[0]}' is {'missing' if differ[0] in fields else 'no field of it'}")
        return {name: _read_at(name, read, found[name]) for name, read in fields.items()}

    return read_all


def _read_at(place: object, read: Reader, value: Any) -> Any:
    try:
        return read(value)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


def made(cls: type[Any], **readers: Reader) -> Reader:
    """A dataclass that checks its fields by itself, and takes none of them for something else."""
    read_all = record({each.name: readers.get(each.name, lambda value: value) for each in dataclasses.fields(cls)})

    def read(value: Any) -> Any:
        try:
            found = cls(**read_all(value))
        except (TypeError, ArithmeticError) as error:
            raise ValueError(str(error)) from error
        for name, here in dataclasses.asdict(found).items():
            if json.dumps(here) != json.dumps(value[name]):
                raise ValueError(f"{name}: must be {here!r}, got {reprlib.repr(value[name])}")
        return found

    return read


def floats(value: Any) -> Floats:
    """A list of finite numbers, null being NaN; fast for long ones."""
    if type(value) is not list or not set(map(type, value)) <= {float, int, type(None)}:
        _refuse("a list of numbers", value)
    try:
        found = np.array(value, dtype=float)
    except OverflowError as error:
        raise ValueError("has a number that is too large") from error
    return _refuse("a list of finite numbers", value) if np.isinf(found).any() else found


def codes(value: Any) -> Ints:
    """A list of integers from 0; fast for long ones."""
    if type(value) is not list or not set(map(type, value)) <= {int}:
        _refuse("a list of integers", value)
    if value and not 0 <= min(value) <= max(value) <= LARGEST_COUNT:
        _refuse("a list of integers from 0", value)
    return np.array(value, dtype=np.int64)
