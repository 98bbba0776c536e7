"""Side: train, catalog, features, propensity and reference, as codes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.core.cooccurrence import Pairs
from atkay.core.lists import Lists, mask
from atkay.core.match import repeated
from atkay.core.order import Scores, together
from atkay.errors import CategoriesWarning, DuplicateError, InputError, listing, warn, who
from atkay.inputs.coding.lookup import Keyed, in_order
from atkay.inputs.coding.ranking import Origin, rank_order, repeats
from atkay.inputs.coding.vocabulary import Vocabulary
from atkay.judged.side import Features, Side, Train

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from atkay.core.types import Floats, Ints
    from atkay.inputs.table import Table

SEPARATOR = "|"
"""Between several categories in one text, as MovieLens writes them: Action|Comedy."""
OTHER_SEPARATORS = (",", ";", "/", ">")
"""What others write there; text has them for other reasons, too, so it is not split."""
NAMES_WARNING_ITEMS = 20
"""From this many items on, categories that no two of them share are names."""


@dataclass(frozen=True, eq=False)
class SideTables:
    """The side tables: what they say of items, and of each of their users."""

    by_user: Side
    """Its queries are the users of each table, or one for all users."""
    keyed: Mapping[str, Keyed]
    """The tables that name users."""

    @classmethod
    def of(
        cls,
        tables: Mapping[str, Table],
        codes: Mapping[str, Ints],
        items: Vocabulary,
        *,
        pairs: bool,
        categories_read: bool = True,
    ) -> SideTables:
        """The tables by user and item; ``codes`` are those of their items."""
        keyed = {name: Keyed.of(table, codes[name], items.size) for name, table in tables.items() if table.key}
        readers: dict[str, Callable[[Table, Ints], Any]] = {
            "train": lambda *_: _train(keyed["train"].once(), pairs=pairs),
            "catalog": lambda _, item: mask(item, items.size),
            "features": lambda table, item: _features(table, item, items, categories_read=categories_read),
            "propensity": lambda table, item: _propensity(table, item, items),
            "reference": lambda table, item: _reference(table, item, items, keyed.get("reference")),
        }
        side = Side(items.size, **{name: readers[name](table, codes[name]) for name, table in tables.items()})
        nobody = Lists.of(np.empty(0, np.int64), np.empty(0, np.int64), items.size)  # the lists are in side
        return cls(side, {name: replace(each, lists=nobody, order=None) for name, each in keyed.items()})

    @property
    def of_items(self) -> Side:
        """What is said of items; of no query yet."""
        return self.by_user.part(0, 0)

    def codes(self, queries: pl.DataFrame, groups: tuple[str, ...]) -> dict[str, Ints]:
        """The list of each query's user in the tables that name users."""
        return {name: keyed.codes(queries, groups) for name, keyed in self.keyed.items()}

    def side(self, codes: Mapping[str, Ints], n_queries: int) -> Side:
        """What is known of items, and of these queries."""
        everybody = np.zeros(n_queries, np.int64)
        return self.by_user.cut(lambda name, table: table.pick(codes.get(name, everybody)))


def _train(lists: Lists, *, pairs: bool) -> Train:
    return Train(lists, np.arange(lists.n_queries), Pairs.of(lists) if pairs else None)


def _features(table: Table, item: Ints, items: Vocabulary, *, categories_read: bool) -> Features:
    """The numbers of each item, and its categories; ``categories_read``: a metric asks for these."""
    assert table.extra is not None
    numbers, owners, words = [], [], []
    read: dict[str, list[str]] = {"vectors": [], "categories": []}
    words_too = " (a vector) or text (categories)" if table.name == "features" else ""
    for column in table.extra.get_columns():
        dtype = column.dtype
        inner = dtype.inner if isinstance(dtype, pl.List | pl.Array) else dtype
        if inner.is_numeric() or inner == pl.Boolean:
            numbers.append(_numbers(column, table.name))
            read["vectors"].append(f"'{column.name}'")
        elif inner in (pl.String, pl.Categorical, pl.Enum):
            several = column.cast(pl.List(pl.String) if inner is not dtype else pl.String)
            split = inner is dtype and bool(several.str.contains(SEPARATOR, literal=True).any())
            read["categories"].append(f"'{column.name}'" + (f" (split at '{SEPARATOR}')" if split else ""))
            if split:
                several = several.str.split(SEPARATOR).list.eval(pl.element().str.strip_chars())
                several = several.list.eval(pl.element().filter(pl.element() != ""))
            elif inner is dtype and categories_read:
                _warn_apart(several)
            frame = pl.DataFrame({"item": item, "word": several})
            frame = (frame.explode("word") if several.dtype == pl.List else frame).drop_nulls()
            owners.append(frame.get_column("item").to_numpy())
            words.append(frame.get_column("word"))
        else:
            raise InputError(
                f"is of type {dtype}; {table.name} must be numbers{words_too}.",
                table=table.name,
                column=column.name,
            )
    vectors = categories = None
    if numbers:
        seen = np.bincount(item, minlength=items.size)
        if (seen > 1).any():
            twice = items.ids(np.flatnonzero(seen > 1)[:1]).item()
            raise DuplicateError(
                f"item {twice!r} has two rows of numbers", advice="Give each item one row.", table=table.name
            )
        vectors = np.full((items.size, sum(part.shape[1] for part in numbers)), np.nan)
        vectors[item] = np.concatenate(numbers, axis=1)
    if words:
        kinds, (code,) = Vocabulary.of([(pl.concat(words),)], dense=True)
        order, start, _ = together(np.concatenate(owners), items.size)
        categories = Lists(start, code[order], kinds.size)
        categories = categories.only(~mask(repeated(categories), len(categories)))
    return Features(vectors, categories, items.text_order, _readings(read, table))


def _readings(read: Mapping[str, list[str]], table: Table) -> tuple[str, ...]:
    """Which columns were read as what, where there are several or text was split."""
    return tuple(
        f"{what} from {table.name}' column{'s' if len(columns) > 1 else ''} {', '.join(columns)}"
        for what, columns in read.items()
        if len(columns) > 1 or any("split" in column for column in columns)
    )


def _warn_apart(column: pl.Series) -> None:
    """Warn of categories that no two items share, and of several that look like one."""
    there = column.drop_nulls()
    for separator in OTHER_SEPARATORS:
        several = there.filter(there.str.contains(separator, literal=True))
        parts = several.str.split(separator).explode().str.strip_chars()
        if len(several) and parts.n_unique() <= several.n_unique() / 2:
            warn(
                f"features: '{column.name}' holds text such as {several[0]!r}, which is read as one category. "
                f"If these are several, write '{SEPARATOR}' in place of '{separator}', or make them lists.",
                CategoriesWarning,
            )
            return
    if len(there) >= NAMES_WARNING_ITEMS and there.n_unique() == len(there):
        warn(
            f"features: '{column.name}' is read as categories, but no two of {len(there):,} items share one, "
            f"such as {there[0]!r}. Drop the column if it is a name.",
            CategoriesWarning,
        )


def _propensity(table: Table, item: Ints, items: Vocabulary) -> Features:
    """The propensity of each item, NaN for one without."""
    assert table.extra is not None
    names = table.extra.columns
    chosen = table.extra.select("propensity" if len(names) > 1 and "propensity" in names else names)
    # In a file without types numbers are text.
    numbers = chosen.with_columns(pl.col(pl.String).cast(pl.Float64, strict=False))
    table = replace(table, extra=chosen if numbers.null_count().sum_horizontal().item() else numbers)
    read = _features(table, item, items, categories_read=False)
    if read.vectors is None or read.vectors.shape[1] != 1 or read.categories is not None:
        raise InputError(
            f"must have one number for each item; columns besides the item are {listing(names)}",
            advice="Call the one that counts 'propensity', or leave the others out.",
            table="propensity",
        )
    wrong = np.flatnonzero((read.vectors[:, 0] <= 0) | (read.vectors[:, 0] > 1))
    if len(wrong):
        raise InputError(
            f"item {items.ids(wrong[:1]).item()!r} has the propensity {read.vectors[wrong[0], 0]:g}",
            advice="A propensity is a probability above 0, at most 1. Leave out items that cannot be observed.",
            table="propensity",
        )
    return replace(read, readings=())


def _numbers(column: pl.Series, table: str) -> Floats:
    """A column of numbers, or of equally long lists of them, as a matrix."""
    if isinstance(column.dtype, pl.List):
        length = column.list.len()
        if column.null_count() or length.n_unique() > 1 or not length.max():
            lengths = sorted(length.drop_nulls().unique().to_list())
            raise InputError(
                f"the vectors in '{column.name}' are of different lengths ({listing(map(str, lengths[:5]))})",
                advice="Give every item the same number of values.",
                table=table,
            )
        values = column.explode()
    elif isinstance(column.dtype, pl.Array):
        values = column.explode() if not column.null_count() else pl.Series([None])
    else:
        values = column
    matrix = values.cast(pl.Float64).to_numpy().reshape(len(column), -1)
    if values.null_count() or not np.isfinite(matrix).all():
        raise InputError(
            "has missing or non-finite values",
            advice="Fill them in, or drop the rows.",
            table=table,
            column=column.name,
        )
    return matrix


def _reference(table: Table, item: Ints, items: Vocabulary, keyed: Keyed | None) -> Lists:
    """The reference's lists, the best item first."""
    lists, moved = Lists.of(np.array([len(item)]), item, items.size), None
    if keyed is not None:
        lists, moved = keyed.lists, keyed.order

    def whose(query: int) -> str:
        return "all users" if keyed is None else who(dict(zip(table.key, keyed.users.all_ids(), strict=True)), query)

    score = None if table.score is None else Scores(table.score.to_numpy(), moved)
    order, _ = rank_order(lists, in_order(table.rank, moved), score, Origin("reference", table.used, whose))
    lists = lists.reordered(order)
    if len(repeated(lists)):
        raise repeats(lists, items, lambda query: f"the list of {whose(query)}", "reference", "Drop one of them.")
    return lists
