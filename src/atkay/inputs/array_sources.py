"""Array sources: arrays and sparse matrices as tables, scores of all items among them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.core.lists import in_threads
from atkay.errors import InputError, OrderError, SourceError
from atkay.inputs.arrays import (
    ENTRIES_PER_BLOCK,
    has_fractions,
    is_matrix,
    item_rows,
    refuse_padding,
    use_of,
    whole_ids,
)
from atkay.inputs.columns import Columns
from atkay.inputs.item_rows import ItemRows, as_array, compressed, filled, is_sparse, matrix, members
from atkay.tables import KINDS

if TYPE_CHECKING:
    from atkay.core.types import Array, Floats, Ints
    from atkay.inputs.table import Source


def check_scores(score: Array, name: str) -> Array:
    """Scores of users x items, of which none is NaN or infinite; -inf is an item that is not listed."""
    if score.ndim != 2 or score.dtype.kind not in "iuf":
        raise OrderError(
            f"scores must be a users x items array of numbers, got {score.dtype} of shape {score.shape}.", table=name
        )
    if np.ma.is_masked(score):
        score = np.ma.filled(score if score.dtype.kind == "f" else score.astype(float), -np.inf)
    score = np.ma.getdata(score)
    if score.dtype.kind == "f" and not score.max(initial=0) < np.inf:  # neither infinite nor NaN
        user, place = np.argwhere(~(score < np.inf))[0]
        raise OrderError(
            f"scores[{user}, {place}] is {score[user, place]}, which cannot be ranked",
            advice="Use -inf for items that must not be listed.",
            table=name,
        )
    return score


def best(score: Array, depth: int | Ints | None, precision: str = "exact") -> ItemRows:
    """All items with a score, or the top of each user and ties with the last of them.

    ``depth`` is one for all users or one for each. ``precision``: the coarsest in which scores will be compared, where
    more of them may tie with the last. Users are taken in blocks, so that copies of scores stay small.
    """
    n_users, width = score.shape
    if depth is None or not n_users or np.min(depth) >= width:
        return matrix(score, score > -np.inf)
    depths = np.broadcast_to(np.clip(depth, 1, width), n_users)
    order = np.argsort(depths, kind="stable")  # users that need about as much
    rows = max(1, ENTRIES_PER_BLOCK // width)

    def top(begin: int) -> tuple[Ints, Array, Array]:
        users = order[begin : begin + rows]
        block, deep = score[users], depths[users]
        most = int(deep[-1])
        near = rounded(block, precision)
        last = np.partition(near, width - most, axis=1)[:, width - most :]
        if deep[0] < most:
            last = np.sort(last, axis=1)
        keep = near >= last[np.arange(len(block)), most - deep, None]
        keep &= block > -np.inf
        return np.count_nonzero(keep, axis=1), np.nonzero(keep)[1], block[keep]

    lengths, items, values = zip(*in_threads(top, range(0, n_users, rows)), strict=True)
    length: Ints = np.empty(n_users, np.int64)
    length[order] = np.concatenate(lengths)
    back = np.argsort(np.repeat(order, length[order]), kind="stable")
    return ItemRows(length, np.concatenate(items)[back], np.concatenate(values)[back], width)


def rounded(score: Array, precision: str) -> Array:
    """Scores as the protocol's word for their precision says."""
    with np.errstate(over="ignore"):  # beyond float32 they tie
        return score.astype(np.float32, copy=False) if precision == "float32" else score


def read_array(given: np.ndarray[Any, Any], table: str) -> Source:
    """A row per user: of item ids, or with a column per item."""
    from atkay.inputs.pairs import perhaps_pairs

    if given.dtype.names:
        raise SourceError(
            f"cannot read an array with named fields ({', '.join(given.dtype.names)}) as a table",
            advice="Pass polars.DataFrame({name: array[name] for name in array.dtype.names}).",
            table=table,
        )
    if given.ndim != 2:
        raise SourceError(
            f"an array must have a row per user and a column per rank, got shape {given.shape}.", table=table
        )
    use = use_of(table)
    if use == "lists" and given.dtype.kind == "f" and given.shape[1] == 1 and has_fractions(given):
        raise InputError(
            f"an array of shape {given.shape} could be a prediction for each row of truth, or the scores of one item",
            advice="If they are predictions, pass predictions.ravel(); if there is one item, (None, array).",
            table=table,
        )
    if use == "lists" and is_matrix(given, use, table):
        return read_scores(given, table)
    refuse_padding(given, table)
    return replace(item_rows(given, use, table).source(table, "an array"), pairs=perhaps_pairs(given, table, "array"))


def read_scores(given: Any, table: str) -> Source:
    """Scores of all items, of which a call reads the top."""
    from atkay.inputs.table import Source

    score = check_scores(np.asanyarray(as_array(given, table)), table)

    def top(depth: int | Ints | None, precision: str) -> Source:
        return best(score, depth, precision).source(table, "an array")

    return Source(
        ("user", "item", "score"),
        lambda names: top(None, "exact").select(names),
        "an array",
        columns=Columns(user="user", item="item", score="score"),
        n_rows=len(score),
        n_items=score.shape[1],
        top=top,
    )


def is_pair(given: Any) -> bool:
    """Whether it is (ids, scores): two arrays with a row per user, of which the first may be None, for all items."""
    if not isinstance(given, tuple) or len(given) != 2:
        return False
    return all(getattr(each, "ndim", 0) == 2 and not is_sparse(each) for each in given if each is not None) and (
        given[1] is not None
    )


def read_pair(given: tuple[Any, Any], table: str) -> Source:
    """Items and their scores, as libraries return them together; without items the scores of all items."""
    if given[0] is None:
        return read_scores(given[1], table)
    item, score = (np.asanyarray(as_array(each, table)) for each in given)
    if item.dtype.kind == "f" and score.dtype.kind in "iu":
        raise SourceError(
            "a tuple of two arrays is (ids, scores), but the first holds floats and the second integers",
            advice="Swap them; where the floats are distances, pass the ids alone, best first.",
            table=table,
        )
    if item.shape != score.shape or score.dtype.kind != "f":
        raise SourceError(
            f"a tuple of two arrays is (ids, scores), two arrays of one shape, the scores as floats; got {item.dtype} "
            f"of shape {item.shape} and {score.dtype} of shape {score.shape}.",
            table=table,
        )
    there = filled(np.ma.getdata(item)) & ~np.ma.getmaskarray(item)
    # What libraries write where they have too few items.
    there &= (score > np.finfo(score.dtype).min) | np.isnan(score)
    with np.errstate(invalid="ignore"):
        steps = np.diff(score, axis=1)[there[:, 1:] & there[:, :-1]]
    if (steps > 0).any() and (steps >= 0).all():
        raise OrderError(
            "(ids, scores) has scores that rise along every row: are they distances, of which the lowest is best?",
            advice="If so, pass the ids alone, best first; if the best item stands last, pass (ids[:, ::-1], "
            "scores[:, ::-1]).",
            table=table,
        )
    rows = whole_ids(ItemRows(np.count_nonzero(there, axis=1), item[there], score[there]), table)
    return rows.source(table, "an array")


def read_sparse(given: Any, table: str) -> Source:
    """A sparse matrix of users x items, of SciPy or torch."""
    if given.ndim != 2:
        raise SourceError(
            f"a sparse matrix must have a row per user and a column per item, got shape {given.shape}.",
            table=table,
        )
    if not {"user", "item"} <= KINDS[table].roles.keys():
        what = {"features": "matrix.toarray(), a row per item", "catalog": "a list of items"}.get(table, "a table")
        raise SourceError(
            f"cannot read a sparse matrix of users x items as {table}", advice=f"Pass {what}.", table=table
        )
    rows = compressed(given, table)
    rows = rows if KINDS[table].value else members(rows, table)
    return rows.source(table, "a sparse matrix")


def read_feature_array(given: np.ndarray[Any, Any], table: str) -> Source:
    """A row of numbers per item."""
    from atkay.inputs.table import source_of

    if given.dtype.kind not in "biuf" or not given.shape[1]:
        raise InputError(
            f"an array must hold a row of numbers per item, got {given.dtype} of shape {given.shape}",
            advice="Pass categories as {item: [words]}.",
            table=table,
        )
    numbers: Floats = np.ma.filled(np.ma.asarray(given, dtype=float), np.nan)
    columns = {"item": np.arange(len(given)), table: numbers}
    return source_of(columns, Columns(item="item"), "an array", n_items=len(given))
