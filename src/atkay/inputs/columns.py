"""Which column is the user, the item, the score, the rank, the relevance; in logs the session, the order, the time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal

from atkay.errors import ColumnError, listing, nearest, offer, shown, unknown_value
from atkay.tables import BESIDE, ITEM, KINDS, ORDER, SESSION, TIME, USER
from atkay.text.help import Visible
from atkay.text.phrases import columns_argument, either, in_library

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atkay.inputs.table import Source


def _number(point: str) -> str:
    return rf"[-+]?(?:[0-9]+[{point}]?[0-9]*|[{point}][0-9]+)(?:[eE][-+]?[0-9]+)?"


NUMBER = _number(".")
"""A number of a text file."""
DATA = re.compile(rf"{_number('.,')}|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}.*")
"""What data looks like and names of columns do not: numbers, also with a decimal comma, and dates."""

HEADERS = ("first", "none")
"""Which line of a text file has the names of its columns."""

NEAR = 0.7
"""How near a column's name is to a usual one that it is suggested."""


@dataclass(frozen=True)
class Columns(Visible):
    """The names of the columns, where they differ from the usual ones.

    ``user`` may be several columns, such as ``("session_id", "step")``, which together identify a query. If one of
    ``score`` and ``rank`` is named, the other is ignored. One ``Columns`` applies to all tables; for different names
    pass a dict, ``columns={"recs": Columns(user="uid"), "truth": Columns(user="customer")}``. ``subtopic`` is what a
    row of the truth is about, for metrics such as ``alpha_ndcg``: a user and an item have a row for each. ``session``,
    ``order`` and ``time`` are columns of the logs of ``atkay.tasks``. ``header`` says whether text
    files name their columns in the "first" line, or in "none": then they are ``column_1``, ``column_2``, ...
    """

    _internal = "key named"

    user: str | tuple[str, ...] | None = None
    item: str | None = None
    score: str | None = None
    rank: str | None = None
    relevance: str | None = None
    subtopic: str | None = None
    session: str | None = None
    order: str | None = None
    time: str | None = None
    header: Literal["first", "none"] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.user, list | tuple):
            object.__setattr__(self, "user", tuple(self.user))
        named = self.named
        if self.header is not None and not (isinstance(self.header, str) and self.header in HEADERS):
            raise ColumnError(f"columns: {unknown_value(self.header, 'header', HEADERS)}")
        if not all(isinstance(name, str) for name in named):
            raise ColumnError(f"columns: column names must be strings, got {', '.join(map(shown, named))}.")
        if len(set(named)) < len(named):
            raise ColumnError(f"columns: each column has one role, got {listing(named)}. Name different columns.")

    @property
    def named(self) -> tuple[str, ...]:
        """All columns that are named, whatever for."""
        others = (self.item, self.score, self.rank, self.relevance, self.subtopic, self.session, self.order, self.time)
        return (*self.key, *(name for name in others if name is not None))

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that name a query; none where they are to be found."""
        if self.user is None:
            return ()
        return self.user if isinstance(self.user, tuple) else (self.user,)


def check_headless(sources: Mapping[str, Source], columns: Columns | Mapping[str, Columns] | None) -> None:
    """Only text may have no header; one ``Columns`` may be meant for one of several tables."""
    named = [name for name, source in sources.items() if not (source.headless or source.text)]
    if isinstance(columns, Mapping):
        named = [name for name in named if name in columns and columns[name].header == "none"]
    elif columns is None or columns.header != "none" or len(named) < len(sources):
        return
    if named:
        raise ColumnError(
            f"header='none' is for text files, and {sources[named[0]].label} names its columns: "
            f"{listing(sources[named[0]].names)}",
            advice=f"Name the columns instead, such as {columns_argument(user=..., item=...)}.",
            table=named[0],
        )


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


@cache
def _tiers(table: str, role: str) -> dict[str, int]:
    """The usual names of a role's column, and how far down the list of names they stand."""
    aliases = KINDS[table].roles[role]
    return {_plain(alias): tier for tier, names in reversed(list(enumerate(aliases))) for alias in names}


def named_like(names: Sequence[str], aliases: Sequence[str]) -> list[str]:
    """The names that are one of the aliases, however they are spelt."""
    return [*_named_like(tuple(names), tuple(aliases))]


@lru_cache(maxsize=256)
def _named_like(names: tuple[str, ...], aliases: tuple[str, ...]) -> tuple[str, ...]:
    plain = set(map(_plain, aliases))
    return tuple(name for name in names if _plain(name) in plain)


def names_an_id_or_time(name: str) -> bool:
    """Whether a column of that name holds ids or times, and so neither scores nor grades."""
    return bool(named_like([name], (*USER[0], *ITEM[0], *SESSION[0], *ORDER[0], *TIME[0], "step")))


def names_a_column(name: str) -> bool:
    """Whether a column of that name would be found by itself as a user or an item."""
    return bool(named_like([name], (*USER[0], *ITEM[0])))


@cache
def _usual() -> set[str]:
    return {_plain(name) for kind in KINDS.values() for tiers in kind.roles.values() for tier in tiers for name in tier}


def names_a_role(name: str) -> bool:
    """Whether it is the usual name of a column of any role."""
    return _plain(name) in _usual()


def find(
    table: str,
    role: str,
    given: str | None,
    names: Sequence[str],
    *,
    needed: bool,
    taken: Sequence[str] = (),
    text: bool = False,
    other_columns: Sequence[str] | None = None,
    label: str = "",
) -> str | None:
    """The column that plays a role: the given one, or the only one whose name says so and that is not taken.

    ``text``: the names are the first line of a file, which may be data. ``other_columns``: those of the tables for
    which one ``Columns`` would hold as well; None where there are none. ``label``: what the table is called.
    """
    if given is not None:
        if given in names:
            return given
        near = offer(given, names, available=False)
        raise ColumnError(f"no column '{given}'; {_columns(names)}", advice=near, table=table)
    tiers = _tiers(table, role)
    candidates = [name for name in names if _plain(name) in tiers and name not in taken]
    if len(candidates) > 1:
        plain = set(map(_plain, candidates))
        candidates = [name for name in candidates if plain.isdisjoint(BESIDE.get(_plain(name), ()))]
    if len(candidates) > 1:  # those of the first names that there are
        first = min(tiers[_plain(name)] for name in candidates)
        candidates = [name for name in candidates if tiers[_plain(name)] == first]
    if len(candidates) > 1:
        raise ColumnError(
            f"{listing(candidates)} could each be the {role}",
            advice=f"Pass {_argument(table, role, candidates[0], other_columns)}.",
            table=table,
        )
    if candidates:
        return candidates[0]
    if not needed:
        return None
    free = [name for name in names if name not in taken]
    raise ColumnError(
        f"no column for the {role}; {_columns(names)}",
        advice=_advice(table, role, free, text, other_columns, label),
        table=table,
    )


def _columns(names: Sequence[str]) -> str:
    return f"columns are {listing(names)}" if names else "there are no columns"


def _argument(table: str, role: str, name: Any, other_columns: Sequence[str] | None) -> str:
    """The argument that names a column: of all tables, or of this one alone where another has no such column."""
    usual = _tiers(table, role)
    here = other_columns is not None and (
        any(_plain(other) in usual for other in other_columns) if name is ... else name not in other_columns
    )
    return columns_argument(table if here else "", **{role: name})


def _nearest_columns(table: str, role: str, names: Sequence[str]) -> list[str]:
    """Columns that are named nearly as is usual for the role."""
    return [name for name in names if role in _plain(name) or nearest(_plain(name), _tiers(table, role), NEAR)]


def _advice(
    table: str, role: str, names: Sequence[str], text: bool, other_columns: Sequence[str] | None, label: str
) -> str:
    numbered = [str(at) for at in range(len(names))]  # how pandas writes columns that have no names
    data = any(DATA.fullmatch(name) for name in names) and [name for name in names if name] != numbered[: len(names)]
    if data and not text:
        how = in_library(label, pandas="with header=None", Polars="with has_header=False") or "without a header"
        return (
            f"The first row of data seems to have been read as column names: read the file again {how}, and name the "
            "columns."
        )
    kind = KINDS[table]
    roles = [role for role in kind.roles if role not in ("rank", "subtopic")] if len(names) > 1 else [role]
    if text and all(re.fullmatch(r"column_[0-9]+", name) for name in names) and len(names) > 1:
        named = columns_argument(header="none", **dict(zip(roles, names, strict=False)))
        return f"The file is read without a header: name its columns, such as {named}."
    headless = columns_argument("" if other_columns is None else table, header="none")
    header = f"put a header line above it, such as {kind.header or ','.join(roles[: len(names)])}"
    header = f"pass {either(headless, '--no-header')}, or {header}"
    if data:
        return f"The first line of the file seems to be data: {header}."
    usual = [name for name in names if any(_plain(name) in _tiers(table, role) for role in kind.roles)]
    near = _nearest_columns(table, role, [name for name in names if name not in usual])
    advice = f"{_argument(table, role, near[0] if near else ..., other_columns)}."
    if text and not near and not usual:
        return f"If the first line of the file is data, {header}; if it holds names, pass {advice}"
    return f"{'Pass' if near else 'Name it with'} {advice}"
