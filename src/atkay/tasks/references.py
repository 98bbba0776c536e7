"""Reference recommenders: the most frequent items, of all users or of each.

References
----------
Li et al., A next basket recommendation reality check, 2023 (arXiv 2109.14233): G-TopFreq, P-TopFreq, GP-TopFreq.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from atkay.errors import InputError
from atkay.tasks.log import count_of

if TYPE_CHECKING:
    from atkay.tasks.task import Task

_OFTEN, _OWN = "how often in training", "how often for the query"


def global_top(task: Task, k: int) -> pl.DataFrame:
    """The k items with the most training events, for every query; ties by id.

    If the task excludes seen items, the k most frequent unseen ones.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame({"user": [1, 1, 2, 2, 3, 3], "item": list("abaaba"), "time": [1, 4, 2, 5, 3, 6]})
    >>> task = atkay.tasks.leave_last_out(log, seen="keep")
    >>> atkay.tasks.references.global_top(task, 1).rows()
    [(1, 'a', 1), (2, 'a', 1), (3, 'a', 1)]
    """
    queries = task.queries.select(task.key)
    return _top(task, _global(task, k, queries, task.history if task.seen == "exclude" else None), k)


def personal_top(task: Task, k: int) -> pl.DataFrame:
    """The k items that each query has seen most often; ties by training events, then id.

    Lists may be shorter than k.
    """
    _must_keep(task)
    return _top(task, _personal(task), k)


def combined_top(task: Task, k: int) -> pl.DataFrame:
    """The items that a query has seen most often, filled up to k with the globally most frequent."""
    _must_keep(task)
    own = _top(task, _personal(task), k)
    short = task.queries.join(own.group_by(task.key).len(_OWN), on=task.key, how="left", maintain_order="left")
    short = short.filter(pl.col(_OWN).fill_null(0) < k).select(task.key)
    rest = _global(task, k, short, own)
    return _top(task, pl.concat([own.select(*task.key, task.item), rest]), k)


def _must_keep(task: Task) -> None:
    if task.seen == "exclude":
        raise InputError(
            "references: personal items are seen items, which the task removes (seen='exclude'). Use "
            "global_top, or create the task with seen='keep'."
        )


def _popularity(task: Task) -> pl.DataFrame:
    """The items, the most frequent first."""
    if not len(task.train):
        raise InputError("references: the task has no training data. Create it with train= or test_from=.")
    return task.train.group_by(task.item).len(_OFTEN).sort([_OFTEN, task.item], descending=[True, False])


def _global(task: Task, k: int, queries: pl.DataFrame, without: pl.DataFrame | None) -> pl.DataFrame:
    """For each query its most frequent items, k of them that are not in ``without``, the best first."""
    often = _popularity(task)[task.item]
    width = pl.lit(count_of(k, "references: k"))
    if without is not None:
        on = [name for name in without.columns if name in (*task.key, task.item)]
        without = without.select(on).unique()
        queries = queries.join(without.group_by(on[:-1]).len(_OWN), on=on[:-1], how="left", maintain_order="left")
        width += pl.col(_OWN).fill_null(0)  # so many may be taken out: a query's own number, as one may have very many
    listed = queries.with_columns(pl.int_ranges(pl.min_horizontal(width, len(often))).alias(task.item))
    listed = listed.select(*task.key, task.item).explode(task.item)
    listed = listed.with_columns(often.gather(listed[task.item]))
    return listed if without is None else listed.join(without, on=on, how="anti", maintain_order="left")


def _personal(task: Task) -> pl.DataFrame:
    """For each query what it has seen, the most frequent first."""
    queries = task.queries.select(task.key)
    own = task.history.join(queries, on=task.key, how="semi").group_by(*task.key, task.item).len(_OWN)
    own = own.join(_popularity(task), on=task.item, how="left").with_columns(pl.col(_OFTEN).fill_null(0))
    return own.sort([_OWN, _OFTEN, task.item], descending=[True, True, False]).select(*task.key, task.item)


def _top(task: Task, listed: pl.DataFrame, k: int) -> pl.DataFrame:
    """The first k rows of each query, numbered; query by query."""
    rank = (pl.int_range(pl.len()) + 1).over(task.key).alias("rank")
    return listed.with_columns(rank).filter(pl.col("rank") <= k).sort(*task.key, "rank")
