"""Align: user and item ids of all tables -> integer codes that mean the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from atkay.core.fingerprint import Hashes, id_numbers, scrambled
from atkay.core.lists import Lists, count, in_threads, mask, ranges, taken
from atkay.core.match import Match, match
from atkay.core.order import Scores
from atkay.errors import IdError, OverlapWarning, SourceError, warn
from atkay.inputs.coding.common import (
    OVERLAP_WARNING_SHARE,
    Common,
    Items,
    Shared,
    check_items,
    grade_ends,
    in_words,
    lengths_of,
)
from atkay.inputs.coding.lookup import Keyed, grouped, keyed_by
from atkay.inputs.coding.vocabulary import Vocabulary
from atkay.inputs.read import BESIDE, integers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from atkay.core.types import Bools, Floats, Ints
    from atkay.inputs.coding.side import Beside
    from atkay.inputs.read import Table
    from atkay.judged.side import Side
    from atkay.metrics.metric import Metric
    from atkay.protocol import Protocol

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
    common: Common | None = None
    """What the tables share with each other."""
    codes: Ground | None = None
    """What these queries share with others."""

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
    listing: Ints
    """The codes of listed items, each at least once."""

    @cached_property
    def listed(self) -> Bools:
        """Which items are listed."""
        return mask(self.listing, self.items.size)

    @classmethod
    def of(
        cls,
        recs: Table,
        truth: Table,
        around: Mapping[str, Table],
        metrics: Sequence[Metric] = (),
        *,
        room: int | None = None,
    ) -> tuple[Ground, list[Ints]]:
        """The codes of all items of some tables, and those of the rows of lists and truth.

        Where ``metrics`` need it, it is counted which items share users in the training data. ``room``: see Vocabulary.
        """
        tables = [recs, truth, *around.values()]
        items, codes = Vocabulary.of([table.ids[-1:] for table in tables], room=room)
        wanted = mask(codes[1], items.size)
        ground = cls(items, wanted, None, codes[0])
        if not around:
            return ground, codes
        from atkay.inputs.coding.side import Beside
        from atkay.metrics.categories import reads_categories

        for table, code in zip(around.values(), codes[2:], strict=True):
            check_items(table.name, Items(mask(code, items.size)), ground)
        pairs = any(metric.needs_pairs for metric in metrics)
        beside = Beside.of(
            around,
            dict(zip(around, codes[2:], strict=True)),
            items,
            pairs=pairs,
            categories_read=any(map(reads_categories, metrics)),
        )
        return replace(ground, beside=beside), codes[:2]

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
    tables: Mapping[str, Table],
    protocol: Protocol,
    ground: Ground | None = None,
    *,
    metrics: Sequence[Metric] = (),
    checked: bool = False,
) -> Aligned:
    """The codes of all tables that were read, their scores and groups as the protocol says.

    What only ``exclude`` and ``candidates`` know is left out. ``ground``: what some of the queries share with all
    others; these are then not the whole, and need not have anything in common. ``metrics``: what is asked for,
    which decides what of the training data is needed. ``checked``: the same tables were aligned before.
    """
    recs, truth = tables["recs"], tables["truth"]
    if protocol.scores == "float32" and recs.score is not None:
        recs = replace(recs, score=recs.score.cast(pl.Float32))
    check_keys(recs, truth)
    recs, truth = same_types(recs, truth)
    runs = [Runs.of(table.ids[:-1]) for table in (recs, truth)]
    users, user_codes = Vocabulary.of([run.ids for run in runs], dense=True)
    queries = users.ids(np.arange(users.size)).rename(dict(zip(users.names, truth.key, strict=True)))
    quiet = checked or ground is not None
    if ground is None:
        ground, codes = Ground.of(recs, truth, fitting_tables(tables, truth, queries, protocol.groups), metrics)
    else:
        codes = [ground.known(table) for table in (recs, truth)]
    items = ground.items
    score = None if recs.score is None else Scores(recs.score.to_numpy())
    sort_by = score if recs.rank is None else None
    listed, order, equal = grouped(user_codes[0], runs[0].length, codes[0], users.size, items.size, sort_by)
    known, truth_order, _ = grouped(user_codes[1], runs[1].length, codes[1], users.size, items.size)
    score = None if score is None else replace(score, order=order, equal=equal)
    n_unknown = 0 if ground.wanted[items.first :].all() else len(listed) - count(ground.wanted, listed.item)
    grade = _in_order(truth.grade, truth_order)
    outside = {
        name: _outside(tables[name], truth, queries, protocol.groups, ground, quiet=quiet)
        for name in ("exclude", "candidates")
        if name in tables
    }
    shared = {name: each.users for name, each in outside.items() if each.users is not None}
    side = None
    if ground.beside is not None:
        codes_of = ground.beside.codes(queries, protocol.groups)
        side = ground.beside.side(codes_of, len(queries))
        shared |= {
            name: Shared.users(keyed, codes_of[name], keyed_by(keyed.table, queries, protocol.groups))
            for name, keyed in ground.beside.keyed.items()
        }
    common = _common(
        queries,
        {"recs": listed, "truth": known},
        users=shared,
        items={name: each.items for name, each in outside.items() if each.items is not None},
        grades=grade_ends(grade),
        ordered=recs.rank is not None or score is not None,
    )
    return Aligned(
        queries=queries,
        items=items,
        recs=listed,
        truth=known,
        n_unknown=n_unknown,
        score=score,
        rank=_in_order(recs.rank, order),
        grade=grade,
        **{name: each.rows for name, each in outside.items()},
        extra=truth.extra if truth.extra is None or truth_order is None else truth.extra[truth_order],
        names=recs.used,
        side=side,
        common=common,
        codes=ground,
    )


def _common(queries: pl.DataFrame, rows: Mapping[str, Lists], *, ordered: bool, **shared: Any) -> Common:
    """What lists and truth share, and what the other tables share with them."""
    there = {name: of.length > 0 for name, of in rows.items()}
    both = there["recs"] & there["truth"]
    return Common(
        len(queries),
        int(np.count_nonzero(there["recs"])),
        int(np.count_nonzero(both)),
        {
            name: in_words(queries.row(int(np.argmax(some & ~both))))
            for name, some in there.items()
            if np.count_nonzero(some) > np.count_nonzero(both)
        },
        lengths={} if ordered else {name: lengths_of(of.length) for name, of in rows.items()},
        **shared,
    )


def check_keys(recs: Table, truth: Table) -> None:
    """Lists and truth name their queries alike."""
    if len(recs.key) != len(truth.key):
        raise IdError(
            f"recs names a query by {recs.key}, truth by {truth.key}. Name as many columns with Columns(user=(...))."
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


class Outside(NamedTuple):
    """A table of items per query, or of items for all of them: those rows that name known queries and items."""

    rows: Lists | Bools
    users: Shared | None = None
    items: Items | None = None


def _outside(
    table: Table, truth: Table, queries: pl.DataFrame, groups: tuple[str, ...], ground: Ground, *, quiet: bool
) -> Outside:
    """The rows of another table that name known queries and items; a flag per item where it has no users."""
    items = ground.items
    if len(table) == 0:
        nothing = np.zeros(items.size, bool)
        nobody = Shared(0, len(queries), 0, 0, in_words(queries.row(0)) if len(queries) else "")
        return Outside(nothing, nobody if table.key else None, Items(nothing))
    if table.key:
        check_numbered(table, truth)
    table = fitting(table, truth, queries, groups, quiet=quiet)
    if not table.key:
        named = Items.of(table.ids[0], items.codes(table.ids), items, ground.wanted)
        return Outside(named.codes & (ground.wanted | ground.listed), items=named)
    item = items.codes(table.ids[-1:])
    there = items.known(item)
    there[there] = (ground.wanted | ground.listed)[item[there]]  # a range of codes has some that nothing names
    keyed = Keyed.of(table, item, items.size, there)
    code = keyed.codes(queries, groups)
    return Outside(
        keyed.once().pick(code),
        Shared.users(keyed, code, keyed_by(table, queries, groups)),
        Items.of(table.ids[-1], item, items, ground.wanted),
    )


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


def fitting(
    table: Table, truth: Table, queries: pl.DataFrame, groups: tuple[str, ...], *, quiet: bool = False
) -> Table:
    """The rows of a table whose ids lists and truth could have, with their types; ``quiet``: warn of nothing."""
    ids = truth.ids[-1:] if not table.key else (*keyed_by(table, queries, groups).get_columns(), truth.ids[-1])
    side = replace(truth, ids=ids, text=False)
    fits = same_types(table, side, outside=True)[0]
    if len(fits):
        if not quiet:
            warn_misfits(table.name, len(table) - len(fits), len(table), in_words([column[0] for column in side.ids]))
        return fits
    here, there = (tuple(column[0] for column in ids) for ids in (table.ids, side.ids))
    raise IdError(
        f"{table.name}: none of its ids can be an id of the lists: it has {', '.join(map(repr, here))}, they have "
        f"{', '.join(map(repr, there))}, for example."
    )


def warn_misfits(name: str, misfits: int, rows: int, example: str) -> None:
    """Warn of a table almost all of whose ids are text that is no integer, where lists and truth have integers."""
    if rows - misfits < OVERLAP_WARNING_SHARE * rows:
        warn(
            f"{name}: {misfits:,} of {rows:,} rows are left out: their ids are text, and those of recs and truth are "
            f"integers, such as {example}. '007' and ' 7' are not 7: convert the ids of one side.",
            OverlapWarning,
        )
