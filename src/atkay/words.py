"""Fields that take one word out of a few, each with its meaning: how conventions are declared and checked."""

from __future__ import annotations

from dataclasses import Field, field
from typing import TYPE_CHECKING, Any

from atkay.errors import AtkayError, listing, shown

if TYPE_CHECKING:
    from collections.abc import Mapping


def word(help: str = "", /, **meanings: str) -> Any:
    """A dataclass field that takes one of the words; the first is the default."""
    return field(default=next(iter(meanings)), metadata={"words": meanings, "help": help})


def takes(kind: str, help: str) -> dict[str, str]:
    """What is known of a field that takes something else: a "number", "integer" or "table", or "names" of columns."""
    return {"takes": kind, "help": help}


def words_of(each: Field[Any]) -> Mapping[str, str]:
    """The words of a field and their meanings; none where it takes something else."""
    words: Mapping[str, str] = each.metadata.get("words", {})
    return words


def checked(owner: str, each: Field[Any], given: object, error: type[AtkayError]) -> str:
    """The word that was given, in lower case; an error where the field has no such word."""
    words = words_of(each)
    if isinstance(given, str) and given.lower() in words:
        return given.lower()
    quoted = f"'{given}'" if isinstance(given, str) and len(given) < 80 else shown(given)
    raise error(
        f"{owner}: {quoted} is no word for '{each.name}'; words are {listing(words)}. The default is '{each.default}'."
    )
