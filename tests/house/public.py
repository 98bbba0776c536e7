"""Writes what type checkers read: the public names, the keywords of public functions, the words of each field."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import atkay
from atkay.comparison.gate import FIXED
from atkay.tables import FILTERS, SIDE
from atkay.words import words_of

SRC = Path(__file__).parents[2] / "src" / "atkay"
STUB = SRC / "__init__.pyi"
ARGUMENTS = SRC / "text" / "arguments.py"
WITH_WORDS = (SRC / "protocol.py", *sorted((SRC / "metrics").glob("*.py")))


def stub() -> str:
    """Every public name, imported from its home."""
    homes = {name: f"atkay.{home}" for name, home in atkay.HOMES.items()}
    homes |= {each.__name__: each.__module__ for each in atkay.list_metrics().values()}
    homes |= dict.fromkeys(atkay.MODULES, "atkay")
    lines = [f"from {home} import {name} as {name}" for name, home in homes.items()]
    return "\n".join(
        [
            "# Written by tests/house/public.py.",
            *lines,
            "",
            "HOMES: dict[str, str]",
            "MODULES: tuple[str, ...]",
            "__version__: str",
            "",
        ]
    )


HEAD = '''"""The keywords of public functions, for type checkers alone. Written by tests/house/public.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from atkay.comparison.procedure import Correction, Family, Interval, TestName
    from atkay.engines.full_ranking.full_ranking import Precision, Similarity
    from atkay.inputs.columns import Columns
    from atkay.metrics.sampled import Sampled
    from atkay.protocol import Protocol
'''


def arguments() -> str:
    """What ``**fields`` and the like stand for, as classes for ``Unpack``."""
    every = {each.name: literal(words_of(each)) or str(each.type) for each in dataclasses.fields(atkay.Protocol)}
    fields = without(every, FILTERS)
    fields["average_over"] = "str | Sequence[str] | None"  # a list becomes a tuple
    evaluated = keywords(atkay.evaluate)
    general = {name: evaluated[name] for name in (*FILTERS, "columns", "dialect", "protocol")}
    library = f"Library = {literal(atkay.list_dialects())}\n"
    classes = [
        typed("ProtocolFields", "TypedDict", fields),
        typed("ProtocolArguments", "ProtocolFields", {name: every[name] for name in FILTERS}),
        typed("SideArguments", "TypedDict", dict.fromkeys(SIDE, "Any")),
        typed("TablesAndFields", "ProtocolFields, SideArguments", {}),
        typed("GeneralArguments", "ProtocolFields", general),
        typed("WholeListArguments", "TablesAndFields, GeneralArguments", {}),
        typed("EvaluateArguments", "WholeListArguments", without(evaluated, general)),
        typed("CompareArguments", "EvaluateArguments", keywords(atkay.compare)),
        typed("GateArguments", "EvaluateArguments", without(keywords(atkay.compare), FIXED)),
        typed("FullRankingArguments", "ProtocolFields", keywords(atkay.FullRanking)),
        typed("StreamArguments", "TablesAndFields", keywords(atkay.Stream)),
    ]
    return "\n\n".join([HEAD, library, *classes])


def keywords(function: Callable[..., Any]) -> dict[str, str]:
    """The keywords that a function spells out itself, and their annotations."""
    code: Any = vars(function).get("__init__", function)
    return {name: code.__annotations__[name] for name in code.__kwdefaults__}


def without(entries: Mapping[str, str], *names: Iterable[str]) -> dict[str, str]:
    others = {name for several in names for name in several}
    return {name: of for name, of in entries.items() if name not in others}


def literal(words: Iterable[str]) -> str:
    """The type of a field that takes one of the words; nothing where there are none."""
    return f"Literal[{', '.join(map(repr, words))}]" if words else ""


def typed(name: str, parents: str, entries: Mapping[str, str]) -> str:
    total = "" if not entries else ", total=False"
    body = [f"    {field}: {of}" for field, of in entries.items()] or ["    pass"]
    return "\n".join([f"class {name}({parents}{total}):", *body, ""])


def annotated(source: str) -> str:
    """The source, in which each field that is declared with ``word(...)`` has its words as its type."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    content = source.encode()
    fields = [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.AnnAssign)]
    for field in sorted(fields, key=lambda each: each.lineno, reverse=True):
        call, old = field.value, field.annotation
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id.startswith("word"):
            words = [each.arg for each in call.keywords if each.arg and each.arg != "concerns"]
            kind = literal(words) + (" | Scale" if call.func.id == "word_or_table" else "")
            first = starts[old.lineno - 1] + old.col_offset
            last = first + len((ast.get_source_segment(source, old) or "").encode())
            content = content[:first] + kind.encode() + content[last:]
    return content.decode()


if __name__ == "__main__":
    STUB.write_text(stub())
    for path in WITH_WORDS:
        path.write_text(annotated(path.read_text()))
    ARGUMENTS.write_text(arguments())
