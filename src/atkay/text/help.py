"""What users see of a function or a class: all of its keywords, and no internals."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from atkay.tables import SIDE, TABLES
from atkay.words import words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

F = TypeVar("F", bound="Callable[..., Any]")


class Visible:
    """``dir()`` lists public names, without the ``_internal`` ones that other modules of the package use."""

    _internal: ClassVar[str] = ""

    def __dir__(self) -> list[str]:
        hidden = set(self._internal.split())
        return sorted(name for name in super().__dir__() if not name.startswith("_") and name not in hidden)


def spell_out(*sources: Any, but: Iterable[str] = ()) -> Callable[[F], F]:
    """Show keywords in place of ``**`` in the signature: those of a function, the fields of a dataclass, or names.

    The function itself keeps its ``**``: it can then say what was meant by a name that does not exist.
    """

    def spelled_out(function: F) -> F:
        signature = inspect.signature(function)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        known = {each.name for each in own} | set(but)
        more = [each for source in sources for each in _keywords(source) if each.name not in known]
        function.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]  # inspect reads it
        return function

    return spelled_out


def describe(cls: type, *, but: Iterable[str] = ()) -> Callable[[F], F]:
    """Add the fields of a dataclass, with help and words, to the parameters in a docstring."""
    entries = "\n".join(_described(each) for each in dataclasses.fields(cls) if each.name not in but)

    def described(documented: F) -> F:
        if documented.__doc__:  # python -OO has none
            head, marker, tail = inspect.cleandoc(documented.__doc__).partition("**fields\n")
            entry, blank, rest = tail.partition("\n\n") if marker else ("\n\nParameters\n----------", "", "")
            documented.__doc__ = f"{head}{marker}{entry}\n{entries}{blank}{rest}"
        return documented

    return described


def name_side_tables(documented: F) -> F:
    """Put the names of the side tables into a docstring, for ``**tables``, and what each of them is."""
    if documented.__doc__:
        listed = "\n".join(f"    - ``{name}``: {TABLES[name].meaning}" for name in SIDE)
        text = inspect.cleandoc(documented.__doc__)
        documented.__doc__ = text.replace("**tables\n", f"{', '.join(SIDE)}\n").replace("    (each table)", listed)
    return documented


def _keywords(source: Any) -> Iterator[inspect.Parameter]:
    if isinstance(source, tuple):
        yield from (
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any) for name in source
        )
        return
    if not dataclasses.is_dataclass(source):
        yield from (each for each in inspect.signature(source).parameters.values() if each.kind is each.KEYWORD_ONLY)
        return
    for each in dataclasses.fields(source):
        annotation: Any = Literal[tuple(words_of(each))] if words_of(each) else each.type
        yield inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=annotation)


def _described(each: dataclasses.Field[Any]) -> str:
    lines = [each.name, f"    {each.metadata['help']}"]
    if words := words_of(each):
        lines.append("")
    for word, meaning in words.items():
        default = " (default)" if word == each.default else ""
        lines.append(
            textwrap.fill(f'"{word}"{default}: {meaning}', 112, initial_indent="    - ", subsequent_indent="      ")
        )
    return "\n".join(lines)
