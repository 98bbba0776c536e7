"""Fields that take one word out of a few, each with its meaning: how conventions are declared and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, field
from typing import Any, Self

from atkay.errors import AtkayError, unknown_value

Scale = Mapping[Any, float | str] | Callable[[Any], float]
"""Numbers by grade or rank, as a table or a function."""


class Word(str):
    """The meaning of a word, and traits by which others tell how it acts.

    >>> Word("equal scores stay in the input's order", needs_row_order=True).traits
    {'needs_row_order': True}
    """

    traits: dict[str, Any]

    def __new__(cls, meaning: str, **traits: Any) -> Self:
        """A meaning with traits."""
        made = super().__new__(cls, meaning)
        made.traits = traits
        return made


def word(help: str = "", /, *, concerns: str = "", **meanings: str) -> Any:
    """A dataclass field that takes one of the words; the first is the default."""
    return field(default=next(iter(meanings)), metadata={"words": meanings, "help": help, "concerns": concerns})


def word_or_table(**meanings: str) -> Any:
    """A field that takes one of the words, or a table of numbers or a function of its owner's kind instead."""
    return field(default=next(iter(meanings)), metadata={"words": meanings, "table": True})


def is_table(given: object) -> bool:
    """Whether a table or a function was given, and not a word; in a spec, a table stands in braces."""
    return isinstance(given, Mapping) or callable(given) or (isinstance(given, str) and given.startswith("{"))


def takes(kind: str, help: str, concerns: str) -> dict[str, str]:
    """What is known of a field that takes something else: a "number", "integer" or "table", or "names" of columns."""
    return {"takes": kind, "help": help, "concerns": concerns}


def words_of(each: Field[Any]) -> Mapping[str, str]:
    """The words of a field and their meanings; none where it takes something else."""
    words: Mapping[str, str] = each.metadata.get("words", {})
    return words


def checked(owner: str, each: Field[Any], given: object, error: type[AtkayError]) -> str:
    """The word that was given, in lower case; an error where the field does not know it."""
    words = words_of(each)
    if isinstance(given, str) and given.lower() in words:
        return given.lower()
    raise error(f"{owner}: {unknown_value(given, each.name, words)}")
