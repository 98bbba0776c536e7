"""Siding: the tables beside lists and truth, as codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from atkay.align import MANY, by_user, keyed_by
from atkay.errors import DuplicateError, IdError, InputError, OrderError, listing
from atkay.lists import Lists, mask
from atkay.match import repeated
from atkay.pairs import Pairs
from atkay.ranking import by_rank, together
from atkay.side import Features, Side, Train
from atkay.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atkay.arrays import Floats, Ints
    from atkay.tables import Table


def gather_side(
    tables: Mapping[str, Table],
    codes: Mapping[str, Ints],
    items: Vocabulary,
    queries: pl.DataFrame,
    groups: tuple[str, ...],
    *,
    pairs: bool,
) -> Side:
    """What the tables say of items and queries; ``codes`` are those of their items."""
    train = catalog = features = baseline = None
    if "train" in tables:
        lists, user = by_user(tables["train"], keyed_by(tables["train"], queries, groups), codes["train"], items.size)
        train = Train(lists, user, Pairs.of(lists) if pairs else None)
    if "catalog" in tables:
        catalog = mask(codes["catalog"], items.size)
    if "features" in tables:
        features = _features(tables["features"], codes["features"], items)
    if "baseline" in tables:
        baseline = _baseline(tables["baseline"], codes["baseline"], items, queries, groups)
    return Side(items.size, train, catalog, features, baseline)


def _features(table: Table, item: Ints, items: Vocabulary) -> Features:
    """The numbers of each item, and its categories."""
    assert table.extra is not None
    numbers, owners, words = [], [], []
    for column in table.extra.get_columns():
        dtype = column.dtype
        inner = dtype.inner if isinstance(dtype, pl.List | pl.Array) else dtype
        if inner.is_numeric() or inner == pl.Boolean:
            numbers.append(_numbers(column))
        elif inner in (pl.String, pl.Categorical, pl.Enum):
            several = column.cast(pl.List(pl.String)) if inner is not dtype else column.cast(pl.String)
            frame = pl.DataFrame({"item": item, "word": several})
            frame = (frame.explode("word") if inner is not dtype else frame).drop_nulls()
            owners.append(frame.get_column("item").to_numpy())
            words.append(frame.get_column("word"))
        else:
            raise InputError(
                f"features: '{column.name}' is of type {dtype}; features are numbers (a vector) or text (categories)."
            )
    vectors = categories = None
    if numbers:
        seen = np.bincount(item, minlength=items.size)
        if (seen > 1).any():
            twice = items.ids(np.flatnonzero(seen > 1)[:1]).item()
            raise DuplicateError(f"features: item {twice!r} has two rows of numbers. Give each item one.")
        vectors = np.full((items.size, sum(part.shape[1] for part in numbers)), np.nan)
        vectors[item] = np.concatenate(numbers, axis=1)
    if words:
        kinds, (code,) = Vocabulary.of([(pl.concat(words),)], dense=True)
        order, start, _ = together(np.concatenate(owners), items.size)
        categories = Lists(start, code[order], kinds.size)
        categories = categories.only(~mask(repeated(categories), len(categories)))
    return Features(vectors, categories)


def _numbers(column: pl.Series) -> Floats:
    """A column of numbers, or of equally long lists of them, as a matrix."""
    if isinstance(column.dtype, pl.List):
        length = column.list.len()
        if column.null_count() or length.n_unique() > 1 or not length.max():
            found = sorted(length.drop_nulls().unique().to_list())
            raise InputError(
                f"features: the vectors in '{column.name}' are of different lengths "
                f"({listing(map(str, found[:5]))}). Give every item as many numbers."
            )
        values = column.explode()
    elif isinstance(column.dtype, pl.Array):
        values = column.explode() if not column.null_count() else pl.Series([None])
    else:
        values = column
    matrix = values.cast(pl.Float64).to_numpy().reshape(len(column), -1)
    if values.null_count() or not np.isfinite(matrix).all():
        raise InputError(
            f"features: '{column.name}' has gaps or values that are no finite numbers. Fill them in, or drop the rows."
        )
    return matrix


def _baseline(table: Table, item: Ints, items: Vocabulary, queries: pl.DataFrame, groups: tuple[str, ...]) -> Lists:
    """The baseline's list of each query, the best item first."""
    if not table.key:
        lists = Lists.of(np.array([len(item)]), item, items.size)
        of_query = np.zeros(len(queries), np.int64)
    else:
        keyed = keyed_by(table, queries, groups)
        users, (of_query, user) = Vocabulary.of([tuple(keyed.get_columns()), table.ids[:-1]], dense=True)
        score = None if table.score is None or table.rank is not None else table.score.to_numpy()
        order, start, _ = together(user, users.size, score)
        lists = Lists(start, item[order], items.size)
        if table.rank is not None:
            place, wrong = by_rank(lists, table.rank.to_numpy()[order])
            if wrong >= 0:
                raise OrderError(
                    f"baseline: the ranks of user {users.ids(np.array([wrong])).row(0)[0]!r} are not 1 to "
                    f"{lists.length[wrong]}, each once. Number each list again, or order by score."
                )
            lists = lists if place is None else Lists(start, lists.item[place], items.size)
        if len(queries) >= MANY and not lists.length[of_query].any():
            there = ", ".join(map(repr, queries.row(0)))
            raise IdError(
                f"baseline: it names none of the users of recs and truth: it has {table.ids[0][0]!r}, they have "
                f"{there}, for example. Are these the ids of the same users?"
            )
    again = repeated(lists)
    if len(again):
        raise DuplicateError(
            f"baseline: item {items.ids(lists.item[again[:1]]).item()!r} stands twice in one list. Drop one of the two."
        )
    return lists.pick(of_query)
