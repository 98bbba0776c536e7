"""Batch: lists and truth of a few users as arrays of item codes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.core.kernels import within
from atkay.core.order import Scores
from atkay.errors import IdError, InputError, OrderError, RelevanceError, a_type, shown
from atkay.inputs.array_sources import best, check_scores, rounded
from atkay.inputs.arrays import item_rows
from atkay.inputs.item_rows import ItemRows, as_array, filled, is_sparse, ragged

if TYPE_CHECKING:
    import polars as pl

    from atkay.core.types import Array, Floats
    from atkay.inputs.coding.align import Aligned

FORMS = (
    "users x r item codes (-1 pads short rows), a list of such rows, a users x items matrix (boolean, or grades "
    "as floats), or a SciPy sparse matrix"
)


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
        return Aligned(
            queries=pl.DataFrame({"user": np.arange(self.n_users) if users is None else users}),
            items=Vocabulary(self.n_items, ("item",)),
            recs=self.recs.lists(self.n_items),
            truth=self.truth.lists(self.n_items),
            score=None if score is None else Scores(score),
            grade=None if grade is None else grade.astype(float),
            exclude=None if self.exclude is None else self.exclude.lists(self.n_items),
            candidates=None if self.candidates is None else self.candidates.lists(self.n_items),
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

    ``precision``: the protocol's word for scores, which are rounded before anything else. ``depth``: with scores of all
    items, only the top ``depth`` of each user are used, and ties with the last of them.
    """
    if targets is None or (items is None and scores is None):
        raise InputError("update: pass update(items, targets) or update(scores=..., targets=...).")
    score = None if scores is None else _scores(array(scores, "scores"), precision)
    recs = None
    if items is not None:
        recs = _ranked(array(items, "items"), score, n_items)
    elif score is not None and n_items not in (None, score.shape[1]):
        raise InputError(
            f"update: scores has {score.shape[1]:,} columns, but n_items is {n_items:,}. To pass scores of the "
            f"listed items only, pass items= as well."
        )
    n_items = n_items if score is None or recs is not None else score.shape[1]
    n_users = len(recs.length if recs is not None else score)  # type: ignore[arg-type]  # one of the two is there
    seen = None if exclude is None else item_codes(exclude, "exclude", n_items, n_users)
    only = None if candidates is None else item_codes(candidates, "candidates", n_items, n_users)
    truth = _graded(item_codes(targets, "targets", n_items, n_users))
    if recs is None:
        assert score is not None
        recs = best(score, None if depth is None or only is not None else depth + (0 if seen is None else seen.length))
    if n_items is None:
        n_items = max(1, *(rows.width for rows in (recs, truth, seen, only) if rows is not None))
    return Batch(recs, truth, seen, only, n_items)


def by_index(scores: Any, grades: Any, indexes: Any, precision: str) -> Batch:
    """A batch out of flat arrays with an entry for each item of each query; ``indexes`` says whose it is.

    Who has the same index is one query, all of whose items are here, and all of them are judged.
    """
    given = {"scores": scores, "grades": grades, "indexes": indexes}
    score, grade, index = (np.asarray(_unmasked(each, name)) for name, each in given.items())
    if score.ndim != 1 or score.shape != grade.shape or score.shape != index.shape or index.dtype.kind not in "iu":
        raise InputError(
            "update: with indexes, scores and grades must be one-dimensional, with an integer index for each; "
            "got shapes "
            f"{score.shape}, {grade.shape} and {index.shape}, and indexes of type {index.dtype}."
        )
    order = np.argsort(index, kind="stable")
    length = np.unique(index, return_counts=True)[1].astype(np.int64)
    code = within(np.repeat(np.arange(len(length)), length)) - 1
    of_item = _scores(score[order][None], precision)[0]
    recs = ItemRows(length, code, of_item).where(of_item > -np.inf)
    return Batch(recs, _graded(ItemRows(length, code, grade[order])), None, None, int(length.max(initial=1)))


def read_users(given: Any, call: str = "update", name: str = "users") -> pl.Series:
    """The users' ids, integers, text or dates, as in tables; ``call`` takes them as ``name``."""
    import polars as pl

    from atkay.inputs.checks import as_ids, is_nested

    ids = _unmasked(given, name, call)
    if isinstance(ids, np.ndarray) and (ids.ndim != 1 or ids.dtype == object):
        ids = ids.tolist()
    try:
        if isinstance(ids, list) and any(map(is_nested, ids)):  # which Polars would look into, however deep they are
            raise TypeError
        column = pl.Series(name, ids)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise IdError(
            f"{call}: {name} is {a_type(given)} that cannot be read as ids: it mixes types, or holds what no "
            "column can. Pass an id for each row, all integers or all text."
        ) from None
    return as_ids(column, call).alias("user")


def read_row_weights(given: Any, call: str) -> Floats:
    """How much each row counts, in row order."""
    try:
        weights = np.asarray(array(given, "weights", call), dtype=float)
    except (TypeError, ValueError):
        weights = np.array(math.nan)
    if weights.ndim != 1 or not (np.isfinite(weights) & (weights >= 0)).all():
        raise InputError(f"{call}: weights must be a finite number from 0 for each row, got {shown(given)}.")
    return weights


def array(given: Any, name: str, call: str = "update") -> Any:
    """What has a row for each user; a tensor as an array."""
    if isinstance(given, Mapping | Set | str | bytes) or hasattr(type(given), "columns"):
        raise InputError(
            f"{call}: {name} is {a_type(given)}, but a batch has users in row order. Pass an "
            "array, a tensor or a list: list(d.values()) of a dict, frame.to_numpy() of a frame with a row for each "
            "user."
        )
    return as_array(given, f"{call}: {name}")


def _unmasked(given: Any, name: str, call: str = "update") -> Any:
    """The same, of which each value counts."""
    if np.ma.is_masked(given):
        raise InputError(f"{call}: {name} is a masked array, and each of its values is needed. Pass one without gaps.")
    return array(given, name, call)


def item_codes(given: Any, name: str, n_items: int | None, n_users: int | None = None) -> ItemRows:
    """Item codes by user, in any form; ``n_users`` is how many there must be."""
    if not is_sparse(given):
        given = array(given, name)
    has_type = is_sparse(given) or (isinstance(given, np.ndarray) and given.dtype != object)
    rows = _read_rows(given, name, n_items) if has_type else _read_lists(given, name)
    if n_users not in (None, len(rows.length)):
        raise InputError(f"update: {name} has {len(rows.length):,} rows for {n_users:,} users.")
    rows = rows._replace(item=rows.item.astype(np.int64))
    wrong = (rows.item < 0) | (rows.item >= (np.inf if n_items is None else n_items))
    if wrong.any():
        at = int(np.argmax(wrong))
        most = "" if n_items is None else f" to {n_items - 1:,} (n_items is {n_items:,})"
        raise IdError(
            f"update: {name} of row {rows.owner[at]} has {rows.item[at]}; item codes run from 0{most}, and -1 "
            f"pads short rows."
        )
    return rows


def _read_rows(given: Any, name: str, n_items: int | None) -> ItemRows:
    """The rows of an array, whose values or whose columns are items."""
    sparse = is_sparse(given)
    if not sparse and given.ndim == 1 and given.dtype.kind in "iu":
        given = given[:, None]  # one item for each user
    if given.ndim != 2 or (not sparse and given.dtype.kind not in "biuf"):
        raise InputError(f"update: {name} has type {given.dtype} and shape {tuple(given.shape)}; pass {FORMS}.")
    if n_items not in (None, given.shape[1]) and (sparse or given.dtype.kind in "bf"):
        raise InputError(
            f"update: {name} is a matrix with {given.shape[1]:,} columns for {n_items:,} items. Pass {FORMS}."
        )
    return item_rows(given, "grades" if name == "targets" else "members", f"update: {name}", n_items)


def _row(given: Any) -> Array:
    return given.compressed() if isinstance(given, np.ma.MaskedArray) else np.asarray(given)


def _read_lists(given: Any, name: str) -> ItemRows:
    try:
        rows = [_row(array(row, f"a row of {name}")) for row in given]
    except InputError:
        raise
    except (TypeError, ValueError):
        raise InputError(f"update: {name} is {a_type(given)}; pass {FORMS}.") from None
    if rows and all(row.ndim == 0 for row in rows):
        rows = [row[None] for row in rows]  # one item for each user
    if not all(row.ndim == 1 for row in rows) or (codes := ragged(rows)).item.dtype.kind not in "iu":
        raise InputError(f"update: a row of {name} is not a list of item codes; pass {FORMS}.")
    return codes


def _scores(given: Any, precision: str) -> Array:
    try:
        score = np.asanyarray(given)
    except ValueError:
        raise OrderError("update: the rows of scores have different lengths; pass an array.") from None
    score = check_scores(score, "update")
    return rounded(score, precision)


def _graded(truth: ItemRows) -> ItemRows:
    if truth.value is not None and not np.isfinite(truth.value).all():
        raise RelevanceError("update: targets holds a grade that is not finite.")
    return truth


def _ranked(given: Any, score: Array | None, n_items: int | None) -> ItemRows:
    """Lists as given, and their scores."""
    shape, kind = getattr(given, "shape", None), getattr(getattr(given, "dtype", None), "kind", "i")
    if score is not None and shape != score.shape:
        raise InputError(
            f"update: items is {'a list' if shape is None else f'of shape {shape}'} and scores of shape {score.shape}; "
            "both must be arrays of the same shape."
        )
    if kind in "bf" or is_sparse(given):
        raise InputError(
            f"update: items must be a users x k array of item codes, got type {given.dtype}. Pass scores of all "
            f"items as scores=."
        )
    recs = item_codes(given, "items", n_items)
    if score is None:
        return recs
    of_item = score[filled(np.ma.getdata(given)) & ~np.ma.getmaskarray(given)]
    return recs._replace(value=of_item).where(of_item > -np.inf)
