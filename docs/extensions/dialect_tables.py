"""The second half of dialects.md: every dialect, from its table and what was recorded of the library.

``python docs/extensions/dialect_tables.py`` writes it; ``tests/house/test_docs.py`` checks that it is fresh.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import atkay
from atkay.dialects.dialect import Dialect

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "dialects.md"
START, END = "<!-- dialects -->\n", "<!-- end -->"


def page() -> str:
    """The page as it should be."""
    before, start, rest = PAGE.read_text().partition(START)
    _, end, after = rest.partition(END)
    return before + start + "\n".join(parts()) + end + after


def parts() -> Iterator[str]:
    """A heading and a list for each library; its other versions stand with it."""
    recordings = recorded()
    for name, each in atkay.list_dialects().items():
        if not each.versions:
            yield f"\n### {name}\n"
            yield f"{each.title}, {checked(each, recordings)}. {quoted(each.note)}".rstrip() + "\n"
            yield from (f"- **{head}**: {text}" for head, text in lines(each) if text)
            for other in each.others.values():
                yield f"- **{other.name}** ({other.title}, {checked(other, recordings)}): {changes(each, other)}"
    yield ""


def recorded() -> dict[tuple[str, str], dict[str, Any]]:
    """What was recorded, by library and version."""
    every = (json.loads(path.read_text()) for path in sorted((ROOT / "conformance" / "recorded").glob("*.json")))
    return {(each["library"], each["version"]): each for each in every if each["installed"]}


def checked(dialect: Dialect, recordings: dict[tuple[str, str], dict[str, Any]]) -> str:
    """Whether the library was run, and how many of its numbers there are."""
    if dialect.checked != "run":
        return {"source": "from its source", "documentation": "from its documentation"}[dialect.checked]
    found = recordings[dialect.library, dialect.version]
    entries = [entry for part in found["data"].values() for entry in part if not entry.get("error")]
    users = sum(len(entry.get("per_user", ())) for entry in entries)
    of_users = f" and {users:,} of single users" if users else ""
    return f"recorded on {found['date']}: {len(entries):,} values{of_users}"


def lines(dialect: Dialect) -> Iterator[tuple[str, str]]:
    yield "Protocol", fields(dialect.protocol) or "the default"
    yield "Metrics", ", ".join(f"`{spec.partition(';')[0]}`" for spec in dialect.metrics)
    yield "Counted otherwise", apart(dialect)
    yield "Whole lists only", ", ".join(f"`{name}`" for name in dialect.uncut)
    yield "Cutoff where none is given", f"{dialect.cutoff}" if dialect.cutoff else ""
    yield "Order of equal scores", unstable(dialect)
    yield "Same idea, not compared", ", ".join(f"`{own}` ({ours})" for own, ours in dialect.alike.items())
    yield "Not here", "; ".join(f"`{own}`: {why}" for own, why in dialect.without.items())


def unstable(dialect: Dialect) -> str:
    """From which length on the library's order of equal scores is its own."""
    if dialect.unstable is None:
        return ""
    stable = f", but not in {', '.join(f'`{name}`' for name in dialect.stable)}" if dialect.stable else ""
    length = f" in lists of {dialect.unstable} items and more" if dialect.unstable > 2 else ""
    return f"its own{length}{stable}; `evaluate` warns where it decides"


def apart(dialect: Dialect) -> str:
    """The metrics whose protocol differs, those with the same fields together."""
    names: dict[str, list[str]] = {}
    for name, own in dialect.apart.items():
        names.setdefault(fields(own), []).append(f"`{name}`")
    return "; ".join(f"{', '.join(every)}: {own}" for own, every in names.items())


def changes(dialect: Dialect, other: Dialect) -> str:
    """What differs in the other versions: metrics, protocol, the order of equal scores, what is not here, remarks."""
    now, then = (
        {re.split("[(;]", spec)[0]: spec.partition(";")[0] for spec in each.metrics} for each in (dialect, other)
    )
    both = [name for name in then if name in now and then[name] != now[name]]
    gone = ", ".join(f"`{name}`" for name in now if name not in then and name not in other.without)
    new = ", ".join(f"`{then[name]}`" for name in then if name not in now)
    parts = [
        *(f"`{then[name]}` in place of `{now[name]}`" for name in both),
        f"no {gone}" if gone else "",
        f"also {new}" if new else "",
        *(f"`{name}={value}`" for name, value in other.protocol.items() if dialect.protocol.get(name) != value),
        *(f"no `{name}={value}`" for name, value in dialect.protocol.items() if name not in other.protocol),
        *(f"no `{own}`: {why}" for own, why in other.without.items() if dialect.without.get(own) != why),
    ]
    said = "; ".join(part for part in parts if part)
    return f"{said}. {quoted(other.note)}" if other.note != dialect.note else said


def fields(values: Any) -> str:
    return ", ".join(f"`{name}={value}`" for name, value in values.items())


def quoted(text: str) -> str:
    """Prose in which names with an underscore or a sign of a spec stand as code."""
    return " ".join(f"`{word}`" if "=" in word and word[-1] not in ".,;)" else word for word in text.split(" "))


if __name__ == "__main__":
    PAGE.write_text(page())
