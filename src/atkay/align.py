"""Align: user and item ids of all tables -> integer codes that mean the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.errors import IdError, SourceError
from atkay.hashing import Hashes, id_numbers, scrambled
from atkay.keyed import MANY, Keyed, grouped, keyed_by
from atkay.lists import Lists, count, in_threads, mask, ranges, taken
from atkay.match import Match, match
from atkay.ranking import Scores
from atkay.tables import BESIDE, integers
from atkay.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atkay.arrays import Bools, Floats, Ints
    from atkay.protocol import Protocol
    from atkay.side import Side
    from atkay.siding import Beside
    from atkay.tables import Table

SAMPLE = 10_000
"""The first so many rows tell whether those of a user come together."""


@dataclass(frozen=True, eq=False)
class Aligned:
    """The rows of all tables as codes, grouped by query.

    ``queries`` has a row per query, in ascending order of the ids; a query's code is its row's number. ``score``,
    ``rank`` and ``grade`` stand in the order of the rows of ``recs`` and ``truth``. ``exclude`` and ``candidates`` are
    lists, or a flag per item where they hold for every query.
    """

    queries: pl.DataFrame
    items: Vocabulary
    recs: Lists
    truth: Lists
    n_unknown: int = 0
    """How many listed rows name an item that the truth never mentions."""
    score: Scores | None = None
    rank: Ints | None = None
    grade: Floats | None = None
    exclude: Lists | Bools | None = None
    candidates: Lists | Bools | None = None
    extra: pl.DataFrame | None = None
    """Further columns of the truth, in the order of its rows."""
    side: Side | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """The names of the lists' columns, for messages."""

    @property
    def n_common(self) -> int:
        """How many queries have both a list and truth."""
        return int(np.count_nonzero((self.recs.length > 0) & (self.truth.length > 0)))

    @property
    def has_baseline(self) -> bool:
        """Whether any query has a list of the baseline."""
        return self.side is not None and self.side.baseline is not None and len(self.side.baseline) > 0

    @property
    def ids(self) -> dict[str, pl.Series]:
        """The ids of the queries, by column."""
        return {column.name: column for column in self.queries.get_columns()}

    @cached_property
    def matched(self) -> Match:
        """The listed rows that the truth grades; the same for every protocol."""
        return match(self.recs, self.truth)

    @cached_property
    def query_numbers(self) -> Hashes:
        """A number per query."""
        return scrambled(0, *(id_numbers(column) for column in self.queries.get_columns()))

    def item_numbers(self, item: Ints) -> Hashes:
        """The numbers of items."""
        return self.items.numbers(item)


@dataclass(frozen=True, eq=False)
class Ground:
    """What all queries share: the codes of items, which of these the truth mentions, and the tables beside it."""

    items: Vocabulary
    wanted: Bools
    beside: Beside | None

    @classmethod
    def of(
        cls, recs: Table, truth: Table, around: Mapping[str, Table], *, pairs: bool = False, room: int | None = None
    ) -> tuple[Ground, list[Ints]]:
        """The codes of all items of some tables, and those of the rows of lists and truth.

        ``pairs``: also count which items share users in the training data. ``room``: see Vocabulary.
        """
        tables = [recs, truth, *around.values()]
        items, codes = Vocabulary.of([table.ids[-1:] for table in tables], room=room)
        wanted = mask(codes[1], items.size)
        if not around:
            return cls(items, wanted, None), codes
        from atkay.siding import Beside

        either = wanted.copy()
        either[codes[0]] = True
        for table, code in zip(around.values(), codes[2:], strict=True):
            if not either[code].any() and min(int(np.count_nonzero(either)), len(np.unique(code))) >= MANY:
                raise nothing_common(recs, table, "item")
        beside = Beside.of(around, dict(zip(around, codes[2:], strict=True)), items, pairs=pairs)
        return cls(items, wanted, beside), codes[:2]

    def known(self, table: Table) -> Ints:
        """The codes of a table's items, each of which was there when the ground was laid."""
        codes = self.items.codes(table.ids[-1:])
        there = self.items.known(codes)
        if not there.all():
            raise IdError(
                f"{table.name}: item {table.ids[-1][int(np.argmin(there))]!r} was not there when the items were "
                "gathered: the table changed while it was read. Write it down first, and read that."
            )
        return codes


def align_tables(
    tables: Mapping[str, Table], protocol: Protocol, ground: Ground | None = None, *, pairs: bool = False
) -> Aligned:
    """The codes of all tables that were read, their scores and groups as the protocol says.

    What only ``exclude`` and ``candidates`` know is left out. ``ground``: what some of the queries share with all
    others; these are then not the whole, and need not have anything in common. ``pairs``: see Ground.
    """
    recs, truth = tables["recs"], tables["truth"]
    if protocol.scores == "float32" and recs.score is not None:
        recs = replace(recs, score=recs.score.cast(pl.Float32))
    check_keys(recs, truth)
    recs, truth = same_types(recs, truth)
    runs = [Runs.of(table.ids[:-1]) for table in (recs, truth)]
    users, user_codes = Vocabulary.of([run.ids for run in runs], dense=True)
    queries = users.ids(np.arange(users.size)).rename(dict(zip(users.names, truth.key, strict=True)))
    whole = ground is None
    if ground is None:
        ground, codes = Ground.of(recs, truth, fitting_tables(tables, truth, queries, protocol.groups), pairs=pairs)
    else:
        codes = [ground.known(table) for table in (recs, truth)]
    items = ground.items
    score = None if recs.score is None else Scores(recs.score.to_numpy())
    sort_by = score if recs.rank is None else None
    listed, order, equal = grouped(user_codes[0], runs[0].length, codes[0], users.size, items.size, sort_by)
    known, truth_order, _ = grouped(user_codes[1], runs[1].length, codes[1], users.size, items.size)
    score = None if score is None else replace(score, order=order, equal=equal)
    n_unknown = 0 if ground.wanted[items.first :].all() else len(listed) - count(ground.wanted, listed.item)
    aligned = Aligned(
        queries=queries,
        items=items,
        recs=listed,
        truth=known,
        n_unknown=n_unknown,
        score=score,
        rank=_in_order(recs.rank, order),
        grade=_in_order(truth.grade, truth_order),
        exclude=_outside(tables.get("exclude"), truth, queries, protocol.groups, items),
        candidates=_outside(tables.get("candidates"), truth, queries, protocol.groups, items),
        extra=truth.extra if truth.extra is None or truth_order is None else truth.extra[truth_order],
        names=recs.used,
        side=None if ground.beside is None else ground.beside.side(queries, protocol.groups),
    )
    if whole:
        check_common(recs, truth, aligned.n_common, len(listed) - n_unknown)
        if ground.beside is not None:
            ground.beside.check(aligned.has_baseline, queries)
    return aligned


def check_keys(recs: Table, truth: Table) -> None:
    """Lists and truth name their queries alike."""
    if len(recs.key) != len(truth.key):
        raise IdError(
            f"recs names a query by {recs.key}, truth by {truth.key}. Name as many columns with Columns(user=(...))."
        )


def check_common(recs: Table, truth: Table, users: int, items: int) -> None:
    """Lists and truth have so many users in common, and so many listed rows name an item of the truth."""
    if not users:
        raise nothing_common(recs, truth, "user")
    if not items:
        raise nothing_common(recs, truth, "item")


@dataclass(frozen=True, eq=False)
class Runs:
    """Rows that follow each other with the same key: the key of each run, and how many rows it has.

    Tables mostly come with the rows of a user together, so that there are far fewer keys to look at than rows.
    """

    ids: tuple[pl.Series, ...]
    length: Ints | None
    """None where every row stands for itself."""

    @classmethod
    def of(cls, ids: tuple[pl.Series, ...]) -> Runs:
        """The runs of some columns."""
        rows = len(ids[0])
        if not rows or len(changes(ids[0][:SAMPLE])) > min(rows, SAMPLE) // 4:
            return cls(ids, None)
        start = np.concatenate(([0], changes(ids[0])))
        for column in ids[1:]:
            start = np.union1d(start, changes(column))
        if len(start) > rows // 4:
            return cls(ids, None)
        return cls(tuple(column.gather(start) for column in ids), np.diff(start, append=rows))


def changes(column: pl.Series) -> Ints:
    """The rows whose value is not that of the row before."""
    if not column.dtype.is_integer() or column.dtype in (pl.Int128, pl.UInt128):
        return (column != column.shift(1)).fill_null(False).arg_true().cast(pl.Int64).to_numpy()
    values = column.to_numpy()

    def of_block(block: tuple[int, int]) -> Ints:
        first, last = block[0], min(block[1] + 1, len(values))
        return np.flatnonzero(values[first + 1 : last] != values[first : last - 1]) + first + 1

    return np.concatenate(in_threads(of_block, ranges(len(values))))


def _in_order(column: pl.Series | None, order: Ints | None) -> Any:
    if column is None:
        return None
    return column.to_numpy() if order is None else taken(column.to_numpy(), order)


def same_types(one: Table, other: Table, *, outside: bool = False) -> tuple[Table, Table]:
    """Both tables with ids of the same types; text from a file without types follows the other side.

    Of a table ``outside`` of lists and truth, rows whose ids the other side cannot have are left out.
    """
    pairs = [_same(one, other, at, outside) for at in range(min(len(one.ids), len(other.ids)))]
    ids = tuple(here for here, _ in pairs)
    if outside and any(column.null_count() for column in ids):
        there = (
            ~pl.DataFrame([column.alias(str(at)) for at, column in enumerate(ids)])
            .select(pl.any_horizontal(pl.all().is_null()))
            .to_series()
        )
        ids = tuple(column.filter(there) for column in ids)
        one = replace(one, extra=None if one.extra is None else one.extra.filter(there))
    return replace(one, ids=ids), replace(other, ids=tuple(there for _, there in pairs))


def _same(one: Table, other: Table, at: int, outside: bool) -> tuple[pl.Series, pl.Series]:
    ids = [one.ids[at], other.ids[at]]
    text = [table.text and column.dtype == pl.String for table, column in zip((one, other), ids, strict=True)]
    if all(text):
        both = [integers(column) for column in ids]
        return (ids[0], ids[1]) if any(column.null_count() for column in both) else (both[0], both[1])
    for here, there in ((0, 1), (1, 0)):
        if text[here] and ids[there].dtype.is_integer():
            whole = integers(ids[here])
            if outside or not whole.null_count():
                ids[here] = whole
    kinds = [kind(column) for column in ids]
    if kinds[0] != kinds[1]:
        raise IdError(
            f"{one.name} and {other.name} have ids of different types: '{ids[0].name}' is {ids[0].dtype}, such as "
            f"{ids[0][0]!r}, and '{ids[1].name}' is {ids[1].dtype}, such as {ids[1][0]!r}. Nothing would match. "
            "Convert one of them, for instance with frame.with_columns(pl.col(name).cast(pl.String))."
        )
    return ids[0], ids[1]


def kind(ids: pl.Series) -> str:
    """What ids are: those of different kinds are never the same, whatever their width."""
    return "integer" if ids.dtype.is_integer() else str(ids.dtype)


def nothing_common(recs: Table, truth: Table, what: str) -> IdError:
    """An example of either side, where they have no user or no item in common."""
    part = slice(0, -1) if what == "user" else slice(-1, None)
    here, there = (tuple(column[0] for column in table.ids[part]) for table in (recs, truth))
    first, second = (one[0] if len(one) == 1 else one for one in (here, there))
    return IdError(
        f"{recs.name} and {truth.name} have no {what} in common: {recs.name} has {first!r}, {truth.name} has "
        f"{second!r}, for example. "
        f"Are these the ids of the same {what}s?"
    )


def _outside(
    table: Table | None, truth: Table, queries: pl.DataFrame, groups: tuple[str, ...], items: Vocabulary
) -> Lists | Bools | None:
    """The rows of another table that name known queries and items; a flag per item where it has no users."""
    if table is None:
        return None
    if len(table) == 0:
        return np.zeros(items.size, bool)
    if not table.key:
        side = replace(truth, ids=truth.ids[-1:], text=False)
        item = items.codes(_fitting(table, side).ids)
        return mask(item[items.known(item)], items.size)
    check_numbered(table, truth)
    table = fitting(table, truth, queries, groups)
    item = items.codes(table.ids[-1:])
    keyed = Keyed.of(table, item, items.size, items.known(item))
    return keyed.once().pick(keyed.codes(queries, groups))


def check_numbered(table: Table, truth: Table) -> None:
    """Where a table's users are row numbers, those of the truth are, too."""
    if table.label == "lists" and truth.n_rows is None:
        raise SourceError(
            f"{table.name}: lists without users are numbered, and truth names its users. Write {{user: [items]}}, or a "
            "table of pairs."
        )


def fitting_tables(
    tables: Mapping[str, Table], truth: Table, queries: pl.DataFrame, groups: tuple[str, ...]
) -> dict[str, Table]:
    """The tables beside lists and truth, with the types of ids that these have."""
    return {name: fitting(tables[name], truth, queries, groups) for name in BESIDE if name in tables}


def fitting(table: Table, truth: Table, queries: pl.DataFrame, groups: tuple[str, ...]) -> Table:
    """A table with the types of ids that lists and truth have."""
    ids = truth.ids[-1:] if not table.key else (*keyed_by(table, queries, groups).get_columns(), truth.ids[-1])
    return _fitting(table, replace(truth, ids=ids, text=False))


def _fitting(table: Table, side: Table) -> Table:
    """The rows of a table whose ids the other side could have."""
    fits = same_types(table, side, outside=True)[0]
    if len(fits):
        return fits
    here, there = (tuple(column[0] for column in ids) for ids in (table.ids, side.ids))
    raise IdError(
        f"{table.name}: none of its ids can be an id of the lists: it has {', '.join(map(repr, here))}, they have "
        f"{', '.join(map(repr, there))}, for example."
    )
