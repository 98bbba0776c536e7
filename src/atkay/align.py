"""Align: user and item ids of all tables -> integer codes that mean the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.errors import IdError, SourceError, listing
from atkay.hashing import Hashes, id_numbers, scrambled
from atkay.lists import Lists, count, in_threads, mask, ranges, rows_of, taken
from atkay.match import Match, match, repeated
from atkay.ranking import Scores, together
from atkay.tables import BESIDE, integers
from atkay.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atkay.arrays import Bools, Floats, Ints
    from atkay.protocol import Protocol
    from atkay.side import Side
    from atkay.tables import Table

SAMPLE = 10_000
"""The first so many rows tell whether those of a user come together."""

MANY = 100
"""So many users or items, and none of them in common, are no accident."""


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


def align_tables(tables: Mapping[str, Table], protocol: Protocol, *, pairs: bool = False) -> Aligned:
    """The codes of all tables that were read, their scores and groups as the protocol says."""
    recs = tables["recs"]
    if protocol.scores == "float32" and recs.score is not None:
        recs = replace(recs, score=recs.score.cast(pl.Float32))
    beside = {name: tables[name] for name in BESIDE if name in tables}
    outside = tables.get("exclude"), tables.get("candidates")
    return align(recs, tables["truth"], *outside, protocol.groups, beside, pairs=pairs)


def align(
    recs: Table,
    truth: Table,
    exclude: Table | None = None,
    candidates: Table | None = None,
    groups: tuple[str, ...] = (),
    beside: Mapping[str, Table] | None = None,
    *,
    pairs: bool = False,
) -> Aligned:
    """Codes for the queries and items of the lists, the truth and the tables beside them.

    What only ``exclude`` and ``candidates`` know is left out. ``pairs``: also count which items share users in the
    training data.
    """
    if len(recs.key) != len(truth.key):
        raise IdError(
            f"recs names a query by {recs.key}, truth by {truth.key}. Name as many columns with Columns(user=(...))."
        )
    if recs.n_rows is not None and truth.n_rows is not None and recs.n_rows != truth.n_rows:
        raise SourceError(
            f"recs has {recs.n_rows:,} rows and truth {truth.n_rows:,}; a user is a row number, so both need as many."
        )
    recs, truth = same_types(recs, truth)
    runs = [Runs.of(table.ids[:-1]) for table in (recs, truth)]
    users, user_codes = Vocabulary.of([run.ids for run in runs], dense=True)
    queries = users.ids(np.arange(users.size)).rename(dict(zip(users.names, truth.key, strict=True)))
    around = {name: beside_lists(table, truth, queries, groups) for name, table in (beside or {}).items()}
    items, item_codes = Vocabulary.of([recs.ids[-1:], truth.ids[-1:], *(table.ids[-1:] for table in around.values())])
    score = None if recs.score is None else Scores(recs.score.to_numpy())
    sort_by = score if recs.rank is None else None
    listed, order, equal = _lists(user_codes[0], runs[0].length, item_codes[0], users.size, items.size, sort_by)
    known, truth_order, _ = _lists(user_codes[1], runs[1].length, item_codes[1], users.size, items.size)
    score = None if score is None else replace(score, order=order, equal=equal)
    if not ((listed.length > 0) & (known.length > 0)).any():
        raise _nothing_common(recs, truth, "user", slice(0, -1))
    wanted = mask(known.item, known.n_items)
    n_unknown = 0 if wanted[items.first :].all() else len(listed) - count(wanted, listed.item)
    if n_unknown == len(listed):
        raise _nothing_common(recs, truth, "item", slice(-1, None))
    if around:
        wanted[listed.item] = True
    for table, code in zip(around.values(), item_codes[2:], strict=True):
        if not wanted[code].any() and min(int(np.count_nonzero(wanted)), len(np.unique(code))) >= MANY:
            raise _nothing_common(recs, table, "item", slice(-1, None))
    side = None
    if around:
        from atkay.siding import gather_side

        side = gather_side(around, dict(zip(around, item_codes[2:], strict=True)), items, queries, groups, pairs=pairs)
    return Aligned(
        queries=queries,
        items=items,
        recs=listed,
        truth=known,
        n_unknown=n_unknown,
        score=score,
        rank=_in_order(recs.rank, order),
        grade=_in_order(truth.grade, truth_order),
        exclude=_outside(exclude, truth, queries, groups, items),
        candidates=_outside(candidates, truth, queries, groups, items),
        extra=truth.extra if truth.extra is None or truth_order is None else truth.extra[truth_order],
        names=recs.used,
        side=side,
    )


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
        if len(changes(ids[0][:SAMPLE])) > min(rows, SAMPLE) // 4:
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


def _lists(
    code: Ints, run: Ints | None, item: Ints, n_queries: int, n_items: int, score: Scores | None = None
) -> tuple[Lists, Ints | None, Ints | None]:
    """The items by query, and the order of the rows that this took; None where they stand so.

    Rows that have to move anyway go where their score puts them: the rows with equal scores are then known, too.
    """
    stands = bool((code[1:] >= code[:-1]).all())
    if run is None and not stands:
        order, start, equal = together(code, n_queries, None if score is None else score.given)
        return Lists(start, taken(item, order), n_items), order, None if score is None else equal
    length = np.bincount(code, weights=run, minlength=n_queries).astype(np.int64)
    if run is None or stands:
        return Lists.of(length, item, n_items), None, None
    order = rows_of(np.concatenate(([0], np.cumsum(run))), np.argsort(code, kind="stable"))
    return Lists.of(length, taken(item, order), n_items), order, None


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
    kinds = ["integer" if column.dtype.is_integer() else str(column.dtype) for column in ids]
    if kinds[0] != kinds[1]:
        raise IdError(
            f"{one.name} and {other.name} have ids of different types: '{ids[0].name}' is {ids[0].dtype}, such as "
            f"{ids[0][0]!r}, and '{ids[1].name}' is {ids[1].dtype}, such as {ids[1][0]!r}. Nothing would match. "
            "Convert one of them, for instance with frame.with_columns(pl.col(name).cast(pl.String))."
        )
    return ids[0], ids[1]


def _nothing_common(recs: Table, truth: Table, what: str, part: slice) -> IdError:
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
    if table.label == "lists" and truth.n_rows is None:
        raise SourceError(
            f"{table.name}: lists without users are numbered, and truth names its users. Write {{user: [items]}}, or a "
            "table of pairs."
        )
    if table.n_rows is not None and truth.n_rows is not None and table.n_rows != truth.n_rows:
        raise SourceError(f"{table.name} has {table.n_rows:,} rows and truth {truth.n_rows:,}; both need as many.")
    keyed = keyed_by(table, queries, groups)
    table = _fitting(table, replace(truth, ids=(*keyed.get_columns(), truth.ids[-1]), text=False))
    item = items.codes(table.ids[-1:])
    of_user, of_query = by_user(table, keyed, item, items.size, items.known(item))
    return of_user.pick(of_query)


def by_user(
    table: Table, keyed: pl.DataFrame, item: Ints, n_items: int, known: Bools | None = None
) -> tuple[Lists, Ints]:
    """The items of each user of a table, each once, and which of these users each query belongs to."""
    users, (of_query, user) = Vocabulary.of([tuple(keyed.get_columns()), table.ids[:-1]], dense=True)
    if known is not None:
        user, item = user[known], item[known]
    of_user = _lists(user, None, item, users.size, n_items)[0]
    return of_user.only(~mask(repeated(of_user), len(of_user))), of_query


def beside_lists(table: Table, truth: Table, queries: pl.DataFrame, groups: tuple[str, ...]) -> Table:
    """A table with the types of ids that the lists have."""
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


def keyed_by(table: Table, queries: pl.DataFrame, groups: tuple[str, ...]) -> pl.DataFrame:
    """The columns of the queries by which a table names them: all of the key, or a part such as the user alone."""
    if set(table.key) <= set(queries.columns):
        return queries.select(table.key)
    if len(table.key) == len(queries.columns):
        return queries
    if len(table.key) == len(groups) and set(groups) <= set(queries.columns):
        return queries.select(groups)
    raise IdError(
        f"{table.name} names a user by {listing(table.key)}, the lists by {listing(queries.columns)}. "
        "Use the same columns."
    )
