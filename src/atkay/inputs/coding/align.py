"""Align: user and item ids of all tables -> integer codes that mean the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from atkay.core.fingerprint import id_numbers, scrambled
from atkay.core.kernels import count, mark, match, rising
from atkay.core.lists import Lists, Match
from atkay.core.order import Scores
from atkay.errors import IdError, who
from atkay.inputs.coding.grades import Grades
from atkay.inputs.coding.lookup import Keyed, KeyRuns, grouped, grouped_by_score, in_order, keyed_by
from atkay.inputs.coding.shared import (
    NamedItems,
    SharedCount,
    SharedIds,
    check_items,
    in_words,
    lengths_of,
)
from atkay.inputs.coding.types import check_keys, check_numbered, fitting, fitting_tables, same_types
from atkay.inputs.coding.vocabulary import Vocabulary
from atkay.inputs.in_place import in_place
from atkay.tables import FILTERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from atkay.core.types import Bools, Floats, Hashes, Ints
    from atkay.inputs.coding.side import SideTables
    from atkay.inputs.table import Table
    from atkay.judged.side import Side
    from atkay.metrics.metric import Metric
    from atkay.protocol import Protocol


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
    first_rank: int | None = None
    """From where the ranks of all lists are numbered, where these are some of them."""
    grade: Floats | None = None
    subtopic: Ints | None = None
    """The code of the subtopic of each row of ``truth``, in the order of the ids."""
    subtopic_numbers: Hashes | None = None
    """The number of each subtopic."""
    exclude: Lists | Bools | None = None
    candidates: Lists | Bools | None = None
    extra: pl.DataFrame | None = None
    """Further columns of the truth, in the order of its rows."""
    side: Side | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """The names of the lists' columns, for messages."""
    truth_names: Mapping[str, str] = field(default_factory=dict)
    """The names of the truth's columns."""
    common: SharedIds | None = None
    """What the tables share with each other."""
    codes: Codes | None = None
    """The codes that these queries share with others."""

    @property
    def ids(self) -> dict[str, pl.Series]:
        """The ids of the queries, by column."""
        return {column.name: column for column in self.queries.get_columns()}

    def whose(self, query: int) -> str:
        """A query in words."""
        return who(self.ids, query)

    @cached_property
    def matched(self) -> Match:
        """The listed rows that the truth grades; the same for every protocol."""
        return match(self.recs, self.truth, self.items.numbering)

    @property
    def with_subtopics(self) -> Lists:
        """The truth, with a code for each pair of an item and a subtopic."""
        assert self.subtopic is not None
        assert self.subtopic_numbers is not None
        truth, size = self.truth, len(self.subtopic_numbers)
        return Lists(truth.start, truth.item * np.int64(size) + self.subtopic, truth.n_items * size)

    @cached_property
    def query_numbers(self) -> Hashes:
        """A number per query."""
        return scrambled(0, *(id_numbers(column) for column in self.queries.get_columns()))

    def item_numbers(self, item: Ints) -> Hashes:
        """The numbers of items."""
        return self.items.numbers(item)


@dataclass(frozen=True, eq=False)
class Codes:
    """The codes of items that all queries share: which of them truth and lists name, and the side tables."""

    items: Vocabulary
    in_truth: Bools
    listed: Ints
    """The codes of listed items, each at least once."""
    side: SideTables | None = None

    @cached_property
    def in_lists(self) -> Bools:
        """Which items are listed."""
        return mark(self.listed, 0, self.items.size)

    @classmethod
    def of(
        cls,
        recs: Table,
        truth: Table,
        side_tables: Mapping[str, Table],
        metrics: Sequence[Metric] = (),
        *,
        room: int | None = None,
    ) -> tuple[Codes, list[Ints]]:
        """The codes of all items of some tables, and those of the rows of lists and truth.

        Where ``metrics`` need it, it is counted which items share users in the training data. ``room``: see Vocabulary.
        """
        tables = [recs, truth, *side_tables.values()]
        items, of_table = Vocabulary.of([table.ids[-1:] for table in tables], room=room)
        codes = cls(items, mark(of_table[1], 0, items.size), of_table[0])
        if not side_tables:
            return codes, of_table
        from atkay.inputs.coding.side import SideTables
        from atkay.metrics.categories import reads_categories

        of_side = dict(zip(side_tables, of_table[2:], strict=True))
        for name, code in of_side.items():
            check_items(name, NamedItems(mark(code, 0, items.size)), codes)
        pairs = any(metric.needs_pairs for metric in metrics)
        categories_read = any(map(reads_categories, metrics))
        side = SideTables.of(side_tables, of_side, items, pairs=pairs, categories_read=categories_read)
        return replace(codes, side=side), of_table[:2]

    def of_rows(self, table: Table) -> Ints:
        """The codes of a table's items, all of which were there when the codes were made."""
        codes = self.items.codes(table.ids[-1:])
        there = self.items.known(codes)
        if not there.all():
            raise IdError(
                f"item {table.ids[-1][int(np.argmin(there))]!r} is new since the items were collected: the "
                f"table changed while it was read",
                advice="Save it to a file and read that.",
                table=table.name,
            )
        return codes


def align_tables(
    tables: Mapping[str, Table],
    protocol: Protocol,
    codes: Codes | None = None,
    *,
    metrics: Sequence[Metric] = (),
    checked: bool = False,
) -> Aligned:
    """The codes of all tables that were read, their scores and groups as the protocol says.

    What only ``exclude`` and ``candidates`` know is left out. ``codes``: those of all queries, where these
    are some of them, which need not have anything in common. ``metrics`` decide what of the training data is needed.
    ``checked``: the same tables were aligned before.
    """
    recs, truth = tables["recs"], tables["truth"]
    if protocol.scores == "float32" and recs.score is not None:
        recs = replace(recs, score=recs.score.cast(pl.Float32))
    check_keys(recs, truth)
    recs, truth = same_types(recs, truth)
    runs = [KeyRuns.of(table.ids[:-1]) for table in (recs, truth)]
    users, user_codes = Vocabulary.of([run.ids for run in runs], dense=True)
    queries = pl.DataFrame(
        [column.alias(name) for name, column in zip(truth.key, users.all_ids().get_columns(), strict=True)]
    )
    quiet = checked or codes is not None
    fresh = codes is None
    if codes is None:
        codes, of_rows = Codes.of(recs, truth, fitting_tables(tables, truth, queries, protocol.groups), metrics)
    else:
        of_rows = [codes.of_rows(table) for table in (recs, truth)]
    items = codes.items
    column, order = None if recs.score is None else in_place(recs.score), None
    score: Scores | None = None
    stands = rising(user_codes[0])
    if column is not None and recs.rank is None and runs[0].length is None and not stands:
        lists, score = grouped_by_score(user_codes[0], of_rows[0], users.size, items.size, column)
    else:
        lists, order = grouped(user_codes[0], runs[0].length, of_rows[0], users.size, items.size, stands=stands)
        if column is not None:
            score = Scores(column, moved=order)
    lengths = [run.length for run in runs]
    copied = _may_be_copied(recs, truth) and all(np.array_equal(*pair) for pair in (user_codes, of_rows, lengths))
    items_only = truth.grade is None and truth.extra is None and truth.subtopic is None
    relevant, truth_order = grouped(
        user_codes[1], runs[1].length, of_rows[1], users.size, items.size, items_only=items_only
    )
    if fresh:  # the lists hold the same codes: what stands in the order of the input makes room
        codes = replace(codes, listed=lists.item)
    del of_rows
    n_unknown = 0 if codes.in_truth[items.first :].all() else len(lists) - count(codes.in_truth, lists.item)
    grade, extra = in_order(truth.grade, truth_order), truth.extra
    subtopic, subtopic_numbers = (None, None) if truth.subtopic is None else subtopic_codes(truth.subtopic)
    if extra is not None and truth_order is not None:
        extra = extra[truth_order.before(np.arange(len(extra)))]
    outside = {
        name: _outside(tables[name], truth, queries, protocol.groups, codes, quiet=quiet)
        for name in FILTERS
        if name in tables
    }
    shared = {name: each.users for name, each in outside.items() if each.users is not None}
    side = None
    if codes.side is not None:
        codes_of = codes.side.codes(queries, protocol.groups)
        side = codes.side.side(codes_of, len(queries))
        shared |= {
            name: SharedCount.users(keyed, codes_of[name], keyed_by(keyed.table, queries, protocol.groups))
            for name, keyed in codes.side.keyed.items()
        }
    common = _common(
        queries,
        {"recs": lists, "truth": relevant},
        users=shared,
        items={name: each.items for name, each in outside.items() if each.items is not None},
        grades=Grades.of(grade),
        ordered=recs.rank is not None or score is not None,
        copied=int(np.count_nonzero(relevant.length > 1)) if copied else None,
    )
    return Aligned(
        queries=queries,
        items=items,
        recs=lists,
        truth=relevant,
        n_unknown=n_unknown,
        score=score,
        rank=in_order(recs.rank, order),
        first_rank=recs.first_rank,
        grade=grade,
        subtopic=in_order(subtopic, truth_order),
        subtopic_numbers=subtopic_numbers,
        **{name: each.rows for name, each in outside.items()},
        extra=extra,
        names=recs.used,
        truth_names=truth.used,
        side=side,
        common=common,
        codes=codes,
    )


def subtopic_codes(subtopic: pl.Series) -> tuple[pl.Series, Hashes]:
    """The codes of subtopics, and the number of each code. Text of integers stands for these."""
    ids = subtopic.unique().sort()
    integers = ids.cast(pl.Int64, strict=False)
    same = (integers.cast(pl.String) == ids.cast(pl.String)).fill_null(False)
    numbers = np.where(same.to_numpy(), id_numbers(integers.fill_null(0)), id_numbers(ids))
    order = integers.arg_sort() if same.all() else pl.arange(len(ids), eager=True)
    codes = subtopic.replace_strict(ids.gather(order), range(len(ids))).cast(pl.Int64)  # of no rows they stay text
    return codes, numbers[order.to_numpy()]


def _may_be_copied(recs: Table, truth: Table) -> bool:
    """Whether nothing but the rows themselves tells lists from truth."""
    ordered, grade = recs.rank is not None or recs.score is not None, truth.grade
    return len(recs) == len(truth) and not ordered and (grade is None or grade.min() == grade.max())


def _common(queries: pl.DataFrame, rows: Mapping[str, Lists], *, ordered: bool, **shared: Any) -> SharedIds:
    """What lists and truth share, and what the other tables share with them."""
    there = {name: of.length > 0 for name, of in rows.items()}
    both = there["recs"] & there["truth"]
    return SharedIds(
        len(queries),
        int(np.count_nonzero(there["recs"])),
        int(np.count_nonzero(both)),
        {
            name: in_words(queries.row(int(np.argmax(queries_there & ~both))))
            for name, queries_there in there.items()
            if np.count_nonzero(queries_there) > np.count_nonzero(both)
        },
        rows={name: len(of) for name, of in rows.items()},
        lengths={} if ordered else {name: lengths_of(of.length) for name, of in rows.items()},
        **shared,
    )


class Outside(NamedTuple):
    """A table of items per query, or of items for all of them: those rows that name known queries and items."""

    rows: Lists | Bools
    users: SharedCount | None = None
    items: NamedItems | None = None


def _outside(
    table: Table, truth: Table, queries: pl.DataFrame, groups: tuple[str, ...], codes: Codes, *, quiet: bool
) -> Outside:
    """The rows of another table that name known queries and items; a flag per item where it has no users."""
    items = codes.items
    if len(table) == 0:
        nothing = np.zeros(items.size, bool)
        nobody = SharedCount(0, len(queries), 0, 0, in_words(queries.row(0)) if len(queries) else "")
        return Outside(nothing, nobody if table.key else None, NamedItems(nothing))
    if table.key:
        check_numbered(table, truth)
    table = fitting(table, truth, queries, groups, quiet=quiet)
    if not table.key:
        named = NamedItems.of(table.ids[0], items.codes(table.ids), items, codes.in_truth)
        return Outside(named.codes & (codes.in_truth | codes.in_lists), items=named)
    item = items.codes(table.ids[-1:])
    there = items.known(item)
    there[there] = (codes.in_truth | codes.in_lists)[item[there]]  # a range of codes has some that nothing names
    keyed = Keyed.of(table, item, items.size, there)
    code = keyed.codes(queries, groups)
    return Outside(
        keyed.once().pick(code),
        SharedCount.users(keyed, code, keyed_by(table, queries, groups)),
        NamedItems.of(table.ids[-1], item, items, codes.in_truth),
    )
