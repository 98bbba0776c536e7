"""Batch: lists and truth of a few users as arrays of item codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.core.order import Scores
from atkay.errors import IdError, InputError, OrderError, RelevanceError
from atkay.inputs.arrays import PADDING, ItemRows, array, item_codes
from atkay.judged.judged import within

if TYPE_CHECKING:
    import polars as pl

    from atkay.core.types import Array
    from atkay.inputs.coding.align import Aligned


@dataclass(frozen=True, eq=False)
class Batch:
    """Lists, truth and what must not stand in the lists, of the same users; all items are below ``n_items``."""

    recs: ItemRows
    truth: ItemRows
    exclude: ItemRows | None
    candidates: ItemRows | None
    n_items: int

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return len(self.recs.length)

    def align(self, users: pl.Series | None) -> Aligned:
        """The rows as they are judged."""
        import polars as pl

        from atkay.inputs.coding.align import Aligned
        from atkay.inputs.coding.vocabulary import Vocabulary

        score, grade = self.recs.value, self.truth.value
        outside = (None if rows is None else rows.lists(self.n_items) for rows in (self.exclude, self.candidates))
        exclude, candidates = outside
        return Aligned(
            queries=pl.DataFrame({"user": np.arange(self.n_users) if users is None else users}),
            items=Vocabulary(self.n_items, ("item",)),
            recs=self.recs.lists(self.n_items),
            truth=self.truth.lists(self.n_items),
            score=None if score is None else Scores(score),
            grade=None if grade is None else grade.astype(float),
            exclude=exclude,
            candidates=candidates,
        )


def read_batch(
    items: Any,
    targets: Any,
    scores: Any = None,
    *,
    exclude: Any = None,
    candidates: Any = None,
    n_items: int | None = None,
    depth: int | None = None,
    precision: str = "exact",
) -> Batch:
    """A batch in any of the forms that :meth:`atkay.Stream.update` takes.

    ``precision``: the protocol's word for scores, which are rounded before anything else. ``depth``: where all items
    have scores, no more than so many of each user are looked at, and what has the score of the last of them.
    """
    if targets is None or (items is None and scores is None):
        raise InputError("update: a batch is update(items, targets), or update(scores=..., targets=...).")
    score = None if scores is None else _scores(array(scores, "scores"), precision)
    recs = None
    if items is not None:
        recs = _ranked(array(items, "items"), score, n_items)
    elif score is not None and n_items not in (None, score.shape[1]):
        raise InputError(
            f"update: scores has {score.shape[1]:,} columns, one for each item, and n_items is {n_items:,}. To pass "
            "the scores of listed items only, pass items= as well."
        )
    n_items = n_items if score is None or recs is not None else score.shape[1]
    n_users = len(recs.length if recs is not None else score)  # type: ignore[arg-type]  # one of the two is there
    seen = None if exclude is None else item_codes(exclude, "exclude", n_items, n_users)
    only = None if candidates is None else item_codes(candidates, "candidates", n_items, n_users)
    truth = _graded(item_codes(targets, "targets", n_items, n_users))
    if recs is None:
        assert score is not None
        gone = 0 if seen is None else int(seen.length.max(initial=0))
        recs = _best(score, None if depth is None or only is not None else depth + gone)
    if n_items is None:
        every = [rows.item for rows in (recs, truth, seen, only) if rows is not None]
        n_items = 1 + max((int(codes.max()) for codes in every if len(codes)), default=0)
    return Batch(recs, truth, seen, only, n_items)


def by_index(scores: Any, grades: Any, indexes: Any, precision: str) -> Batch:
    """A batch out of flat arrays with an entry for each item of each query; ``indexes`` says whose it is.

    Who has the same index is one query, all of whose items are here, and all of them are judged.
    """
    given = {"scores": scores, "grades": grades, "indexes": indexes}
    score, grade, index = (np.asarray(array(each, name)) for name, each in given.items())
    if score.ndim != 1 or score.shape != grade.shape or score.shape != index.shape or index.dtype.kind not in "iu":
        raise InputError(
            "update: with indexes, scores and grades are flat and there is a whole number for each; the shapes are "
            f"{score.shape}, {grade.shape} and {index.shape}, the indexes are {index.dtype}."
        )
    order = np.argsort(index, kind="stable")
    length = np.unique(index, return_counts=True)[1].astype(np.int64)
    code = within(np.repeat(np.arange(len(length)), length), len(length)) - 1
    of_item = _scores(score[order][None], precision)[0]
    recs = ItemRows(length, code, of_item).where(of_item > -np.inf)
    return Batch(recs, _graded(ItemRows(length, code, grade[order])), None, None, int(length.max(initial=1)))


def read_users(given: Any, call: str = "update", name: str = "users") -> pl.Series:
    """The users' ids, integers, text or dates, as in tables; ``call`` takes them as ``name``."""
    import polars as pl

    from atkay.inputs.checks import as_ids

    ids = array(given, name, call)
    if isinstance(ids, np.ndarray) and (ids.ndim != 1 or ids.dtype == object):
        ids = ids.tolist()
    try:
        column = pl.Series(name, ids)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise IdError(
            f"{call}: {name} is a {type(given).__name__} that is no column of ids: it mixes types, or holds what no "
            "column can. Pass an id for each row, all of them whole numbers or all of them text."
        ) from None
    return as_ids(column, call).alias("user")


def _scores(given: Any, precision: str) -> Array:
    try:
        score = np.asarray(given)
    except ValueError:
        raise OrderError("update: the rows of scores have different lengths; scores are an array.") from None
    if score.ndim != 2 or score.dtype.kind not in "iuf":
        raise OrderError(
            f"update: scores are numbers in an array of users x items, given was {score.dtype} of shape {score.shape}."
        )
    if score.dtype.kind == "f" and not score.max(initial=0) < np.inf:  # neither infinite nor NaN
        user, place = np.argwhere(~(score < np.inf))[0]
        raise OrderError(
            f"update: scores[{user}, {place}] is {score[user, place]}, which puts nothing in order. -inf says that an "
            "item is not to be listed."
        )
    return score.astype(np.float32) if precision == "float32" else score


def _graded(truth: ItemRows) -> ItemRows:
    if truth.value is not None and ((truth.value < 0).any() or not np.isfinite(truth.value).all()):
        raise RelevanceError("update: targets holds a grade below 0, or none that is finite; a grade is 0 or more.")
    return truth


def _best(score: Array, depth: int | None) -> ItemRows:
    """All items that have a score, or so many of each user, the best, and those with the score of the last."""
    keep, width = score > -np.inf, score.shape[1]
    if depth is not None and depth < width:
        last = np.partition(score, width - depth, axis=1)[:, width - depth]
        keep &= score >= last[:, None]
    return ItemRows(np.count_nonzero(keep, axis=1), np.nonzero(keep)[1], score[keep])


def _ranked(given: Any, score: Array | None, n_items: int | None) -> ItemRows:
    """Lists as given, and their scores."""
    shape, kind = getattr(given, "shape", None), getattr(getattr(given, "dtype", None), "kind", "i")
    if score is not None and shape != score.shape:
        raise InputError(
            f"update: items is {'a list' if shape is None else f'of shape {shape}'} and scores of shape {score.shape}; "
            "both are arrays of the same shape."
        )
    if kind in "bf" or hasattr(given, "tocsr"):
        raise InputError(
            f"update: items are lists of item codes, users x k, and these are of type {given.dtype}. Scores of all "
            "items are passed as scores=."
        )
    recs = item_codes(given, "items", n_items)
    if score is None:
        return recs
    of_item = score[given != PADDING]
    return recs._replace(value=of_item).where(of_item > -np.inf)
