"""Positions: what the columns of a file without a header are, where their places and values leave no doubt."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from atkay.errors import ColumnError
from atkay.inputs.checks import ROWS_SAMPLED, comma_number, number
from atkay.tables import KINDS, LOGS
from atkay.text.phrases import columns_argument

if TYPE_CHECKING:
    from atkay.inputs.columns import Columns
    from atkay.inputs.table import Source

HIGHEST_GRADE = 10
"""Numbers from 0 to this are grades; higher ones beside a user and an item may be times or counts."""
EARLIEST_TIME = 100_000_000
"""Integers from this on (1973, in seconds) are times."""


def by_position(source: Source, table: str, named: Columns) -> Source:
    """The source with the roles of its columns: user, item, and what is certainly a score, or a grade and a time.

    What could be read in two ways is refused with both. Where the user or the item is ``named``, nothing is guessed.
    """
    roles = KINDS[table].roles
    if named.user or named.item or table in LOGS:
        return source
    first, *others = source.names
    if "item" not in roles:
        return replace(source, columns=replace(named, user=first))
    if "user" not in roles or (KINDS[table].for_everybody and not others):
        return replace(source, columns=replace(named, item=first))
    if not others:
        raise _unclear(source, table, f"'{first}' is all that it has, without a user or an item")
    item, *others = others
    pair = replace(named, user=first, item=item)
    free = [name for name in others if name not in named.named]
    sample = _sample(source)
    odd = sample[item].filter(sample[item] != sample[item].floor())
    if len(odd) and not sample[item].null_count():
        raise _unclear(source, table, f"'{item}' holds {odd[0]}, which cannot be an item")
    if not free:
        return replace(source, columns=pair)
    advice = columns_argument(table, user=first, item=item)
    if _counts_rows(sample[first], sample[item] if len(others) > 1 else None):
        raise _unclear(source, table, f"'{first}' counts the rows, so it may be an index and no user", advice)
    if named.score or named.rank or named.relevance:
        return replace(source, columns=pair)
    values = sample[free[0]]
    if "score" in roles:
        if len(free) == 1 and (values != values.floor()).any():
            return replace(source, columns=replace(pair, score=free[0]))
        choices = " or ".join(columns_argument(table, **{role: free[0]}) for role in ("score", "rank"))
        raise _unclear(source, table, f"'{free[0]}' could be the score (highest first) or the rank (1 first)", choices)
    graded = values.null_count() == 0 and bool(values.is_between(0, HIGHEST_GRADE).all())
    timed = [bool((sample[name] >= EARLIEST_TIME).all()) for name in free]
    if graded and timed[1:] in ([], [True]):
        return replace(source, columns=replace(pair, relevance=free[0]) if "relevance" in roles else pair)
    if timed == [True]:
        return replace(source, columns=pair)
    if "relevance" in roles:
        advice = f"{columns_argument(table, relevance=free[0])} if these are grades, else {advice}"
    raise _unclear(source, table, f"'{free[0]}' could be a grade, a count or another id", advice)


def _counts_rows(values: pl.Series, users: pl.Series | None) -> bool:
    """Whether a column rises by 1 from row to row: from 0, or from anything beside ids that repeat, as users' do."""
    if values.null_count() or not (values.diff().drop_nulls() == 1).all():
        return False
    return bool(values[0] == 0 or (users is not None and users.drop_nulls().is_duplicated().any()))


def _sample(source: Source) -> pl.DataFrame:
    """The first rows as numbers, null where they are none."""
    assert source.pieces is not None
    with source.pieces.reading():
        text = source.pieces.scan(source.names).head(ROWS_SAMPLED).collect()
    return text.select(pl.coalesce(number(name, pl.Float64), comma_number(name)) for name in text.columns)


def _unclear(source: Source, table: str, problem: str, advice: str = "") -> ColumnError:
    return ColumnError(
        f"{source.label} has no header line, and {problem}",
        advice=f"Pass {advice or columns_argument(table, user=..., item=...)}, or put a header line above the data.",
        table=table,
    )
