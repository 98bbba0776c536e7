"""Arrays: every form of items by user, as rows of items: padded, a matrix, sparse, ragged lists, a tensor.

One rule holds for evaluate, Stream and full_ranking. Integers are item ids, padded with -1; booleans are a matrix with
a column per item; floats with fractions or infinities are such a matrix, too: of scores (lists) or of grades (truth).
Whole floats with NaN at the ends of rows are ids, as pandas writes them; of truth that is mostly 0, grades. What could
be either is refused with both readings, rather than guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from atkay.core.lists import Lists, in_threads
from atkay.core.types import is_tensor, tensor_array
from atkay.errors import InputError, OrderError, SourceError, a_type
from atkay.inputs.columns import Columns
from atkay.tables import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atkay.core.types import Array, Bools, Floats, Ints
    from atkay.inputs.table import Source

PADDING = -1
"""Fills up a short list."""
ENTRIES_PER_BLOCK = 1 << 20
"""Entries of a matrix that are looked at together."""
ROWS_SAMPLED = 64
"""Rows that tell whether all of them are worth a look."""
NARROW = 2
"""Columns of an array in which a row of 0 and 1 may still be two ids."""

Use = Literal["lists", "grades", "members"]
"""What the values of a matrix are: scores, grades, or whether the item is meant at all."""


class ItemRows(NamedTuple):
    """Items by user: how many each one has, the items, and a value of each where there are any.

    ``n_items``: where items are columns of a matrix, how many it has.
    """

    length: Ints
    item: Array
    value: Array | None = None
    n_items: int | None = None

    def lists(self, n_items: int) -> Lists:
        """The items, which are codes, as lists."""
        return Lists.of(self.length, self.item.astype(np.int64, copy=False), n_items)

    @property
    def owner(self) -> Ints:
        """The user of each item."""
        return np.repeat(np.arange(len(self.length)), self.length)

    @property
    def width(self) -> int:
        """How many items there are at least, where these are codes."""
        return max(self.n_items or 0, int(self.item.max()) + 1 if len(self.item) else 0)

    def source(self, table: str, label: str) -> Source:
        """The rows of a table; its users are numbers."""
        from atkay.inputs.checks import series
        from atkay.inputs.table import roles_of, source_of

        columns = {"user": self.owner, "item": series("item", self.item, table)}
        if (value := KINDS[table].value) and self.value is not None:
            columns[value] = self.value
        return source_of(columns, roles_of(table, columns), label, len(self.length), self.n_items)

    def where(self, keep: Bools) -> ItemRows:
        """Some of the rows."""
        length = np.bincount(self.owner[keep], minlength=len(self.length))
        value = None if self.value is None else self.value[keep]
        return self._replace(length=length, item=self.item[keep], value=value)


def use_of(table: str) -> Use:
    """What a matrix says of the items of a table."""
    uses: dict[str, Use] = {"score": "lists", "relevance": "grades"}
    return uses.get(KINDS[table].value, "members")


def as_array(given: Any, name: str) -> Any:
    """A tensor or an array of another library as an array, which shares its memory where it can; else as it is."""
    if isinstance(given, np.matrix):
        return np.asarray(given)  # a row of a matrix is a matrix again
    if is_tensor(given):
        return tensor_array(given, name)
    if isinstance(given, np.ndarray) or not (hasattr(given, "__dlpack__") and hasattr(given, "shape")):
        return given
    try:
        return np.from_dlpack(given)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        cause = str(error).strip().split("\n")[0].rstrip(".")
        raise SourceError(
            f"cannot read {a_type(given)} by DLPack: {cause}",
            advice="Copy it to the CPU, as numbers that NumPy has: numpy.asarray(array), cupy.asnumpy(array).",
            table=name,
        ) from error


def is_sparse(given: Any) -> bool:
    """Whether it is a sparse matrix of SciPy or of torch."""
    return hasattr(given, "tocsr") or (is_tensor(given) and str(given.layout).startswith("torch.sparse"))


def item_rows(given: Any, use: Use, name: str, n_items: int | None = None) -> ItemRows:
    """The items of each row of an array with two dimensions; ``n_items`` is how many there are, where it is known."""
    if is_sparse(given):
        rows = compressed(given, name)
        return members(rows, name) if use == "members" else rows
    if is_matrix(given, use, name, n_items):
        filled = np.ma.filled(given, 0)
        rows = matrix(filled, filled != 0)
        return members(rows, name) if use == "members" else rows
    return _whole(padded(given.astype(float) if given.dtype == np.longdouble else given), name)


def members(rows: ItemRows, name: str) -> ItemRows:
    """The items whose value is not 0; NaN says neither."""
    if rows.value is None:
        return rows
    if (unclear := np.isnan(rows.value)).any():
        at = int(np.argmax(unclear))
        raise InputError(
            f"{name} of row {rows.owner[at]} has NaN for item {rows.item[at]}, which is neither true nor false. Pass a "
            f"boolean matrix, or numbers with 0 for false."
        )
    return rows.where(rows.value != 0)


def is_matrix(given: Array, use: Use, name: str, n_items: int | None = None) -> bool:
    """Whether the columns of an array are items; otherwise its values are."""
    kind, width = given.dtype.kind, given.shape[1]
    if kind == "b" and use == "lists":
        raise OrderError("a matrix of booleans has no order", advice=f"Pass {_FORMS[use]}.", table=name)
    if kind in "iu" and width > NARROW and (problem := _not_ids(np.ma.getdata(given), use)):
        advice = f"If they are ids, pad short rows with -1. {_otherwise(use, given)}"
        raise InputError(f"an array of integers holds item ids, but {problem}", advice=advice, table=name)
    if kind != "f":
        return kind == "b"
    if any(_has_fractions(block) for block in _blocks(given)):
        if n_items is None and _are_triples(given):
            raise InputError(
                f"an array of three columns, of which the first two hold integers, could be rows of user, item and "
                f"{_VALUE[use]}, or a matrix with a column for each of three items",
                advice=f"If they are rows, pass polars.DataFrame(array, schema=['user', 'item', "
                f"'{_VALUE[use]}']). {_otherwise(use, given)}",
                table=name,
            )
        return True
    if n_items == width and use != "lists":
        return True
    values, gap = np.ma.getdata(given), np.ma.getmaskarray(given) | np.isnan(given)
    if gap.any():
        if _is_padded(values, gap):
            return False
        problem = "with NaN within rows, or values that repeat"
        advice = f"Pad ids with -1, at the end of each row. {_otherwise(use, given)}"
    else:
        if use != "lists" and np.count_nonzero(values) < values.size / 2:
            return True
        problem, advice = "without fractions", f"If they are ids, pass array.astype(int). {_otherwise(use, given)}"
    raise InputError(
        f"floats {problem} could be item ids, or a matrix of {_VALUES[use]} with a column per item",
        advice=advice,
        table=name,
    )


_VALUE: dict[Use, str] = {"lists": "score", "grades": "relevance", "members": "score"}
_VALUES: dict[Use, str] = {"lists": "scores", "grades": "grades", "members": "0 and 1"}
_FORMS: dict[Use, str] = {"lists": "users x k item ids, best first, or scores of all items as floats"}


def _otherwise(use: Use, given: Array) -> str:
    """What to do if columns are items; what is missing is filled in first, since NaN and masked entries count."""
    if use == "lists":
        return "If they are scores of all items, pass (None, array)."
    array = "array.filled(0)" if np.ma.isMaskedArray(given) else "array"
    if given.dtype.kind == "f" and np.isnan(np.ma.getdata(given)).any():
        array = f"numpy.nan_to_num({array})"
    graded = f", or of grades, scipy.sparse.csr_array({array})" if use == "grades" else ""
    return f"If they are a matrix with a column per item, pass {array}.astype(bool){graded}."


def _blocks(given: Array) -> list[Array]:
    rows = max(1, ENTRIES_PER_BLOCK // max(1, given.shape[1]))
    return [given[begin : begin + rows] for begin in range(0, len(given), rows)]


def _not_ids(values: Array, use: Use) -> str:
    """Why integers are hardly ids: an id is in a row once, in lists perhaps by mistake, and -1 pads."""
    few = values[:ROWS_SAMPLED]
    if not few.size or few.min() < 0 or values.min() < 0:
        return ""
    if few.max() <= 1 and values.max() <= 1:
        return "this one has only values 0 and 1"
    zeros = np.count_nonzero(values == 0, axis=1) > 1
    if zeros.any():
        return f"row {zeros.argmax()} of this one repeats 0"
    ordered = np.sort(few, axis=1)
    twice = np.argwhere(ordered[:, 1:] == ordered[:, :-1])
    return f"row {twice[0][0]} of this one repeats {ordered[*twice[0]]}" if use != "lists" and len(twice) else ""


def _has_fractions(values: Array) -> bool:
    with np.errstate(invalid="ignore"):
        odd = (values != np.floor(values)) & ~np.isnan(values) | np.isinf(values)
    return bool(np.ma.filled(odd, False).any())


def _are_triples(values: Array) -> bool:
    """Whether columns look like users, items and a value of each pair."""
    return values.shape[1] == 3 and not _has_fractions(values[:, :2]) and bool((values[:, :2] >= 0).all())


def _is_padded(values: Array, gap: Bools) -> bool:
    """Whether gaps fill up rows, whose other values differ, as ids do."""
    if (gap[:, :-1] & ~gap[:, 1:] & (values[:, 1:] != PADDING)).any():
        return False
    ordered = np.sort(np.where(gap | (values == PADDING), np.nan, values), axis=1)
    return not (ordered[:, 1:] == ordered[:, :-1]).any()


def _whole(rows: ItemRows, name: str) -> ItemRows:
    """Ids that are whole floats as the integers that they were."""
    if rows.item.dtype.kind != "f":
        return rows
    far = rows.item[np.abs(rows.item) >= 2.0 ** (np.finfo(rows.item.dtype).nmant + 1)]
    if len(far):
        raise SourceError(
            f"an array of users x k must hold item ids, got {far[0]}, which a float cannot represent exactly",
            advice="Pass integers.",
            table=name,
        )
    return rows._replace(item=rows.item.astype(np.int64))


def check_scores(score: Array, name: str) -> Array:
    """Scores of users x items, of which none is NaN or infinite; -inf is an item that is not listed."""
    score = np.ma.filled(score, -np.inf) if np.ma.is_masked(score) else np.ma.getdata(score)
    if score.ndim != 2 or score.dtype.kind not in "iuf":
        raise OrderError(
            f"scores must be a users x items array of numbers, got {score.dtype} of shape {score.shape}.", table=name
        )
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


def padded(given: Array) -> ItemRows:
    """A row of items per user, which -1, NaN, None and the mask fill up."""
    values = np.ma.getdata(given)
    there = _there(values) & ~np.ma.getmaskarray(given)
    return ItemRows(np.count_nonzero(there, axis=1), values[there])


def _there(values: Array) -> Bools:
    """Which entries are items, and do not fill up a row."""
    kind = values.dtype.kind
    there: Bools = values != PADDING if kind in "iufO" else np.ones(values.shape, bool)
    if kind == "O":
        there &= values != np.array(None)
    if kind == "f":
        there &= ~np.isnan(values)
    return there


def matrix(given: Array, keep: Bools) -> ItemRows:
    """A row per user and a column per item, of which some entries are kept; truth values have no other value."""
    value = None if given.dtype.kind == "b" else given[keep]
    return ItemRows(np.count_nonzero(keep, axis=1), np.nonzero(keep)[1], value, given.shape[1])


def ragged(rows: Sequence[Array]) -> ItemRows:
    """A list of items per user, which -1 may fill up."""
    filled = [row for row in rows if row.size]  # an empty array is of floats, and would make all so
    item: Array = np.concatenate(filled) if filled else np.empty(0, np.int64)
    return ItemRows(np.array([len(row) for row in rows], np.int64), item).where(_there(item))


def compressed(given: Any, table: str, *, add_up: bool = True) -> ItemRows:
    """A SciPy or torch sparse matrix of users x items, or (indptr, indices[, values]).

    ``add_up``: entries of the same place are added up, as SciPy means them; otherwise an item may appear twice.
    """
    values = n_items = None
    if hasattr(given, "tocsr"):
        rows = given.tocsr()
        if add_up and not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        start, item, values, n_items = rows.indptr, rows.indices, rows.data, rows.shape[1]
    elif is_tensor(given) and str(given.layout) == "torch.sparse_coo":
        given = given.detach().coalesce()
        row, item = given.indices()
        start = np.append(0, np.cumsum(np.bincount(_numbers(row, table), minlength=given.shape[0])))
        values, n_items = given.values(), given.shape[1]
    elif is_tensor(given) and str(given.layout) == "torch.sparse_csr":
        start, item, values, n_items = given.crow_indices(), given.col_indices(), given.values(), given.shape[1]
    elif isinstance(given, tuple | list) and len(given) in (2, 3):
        start, item, values = (*given, None)[:3]
    else:
        raise SourceError(
            f"cannot read {a_type(given)} as CSR",
            advice="Pass a SciPy sparse matrix, a torch sparse tensor (tensor.to_sparse_csr()), or (indptr, "
            "indices): the items of user u are indices[indptr[u]:indptr[u + 1]].",
            table=table,
        )
    start, item = _numbers(start, table), _numbers(item, table)
    values = None if values is None else _numbers(values, table)
    fits = start.ndim == item.ndim == 1 and start.dtype.kind in "iu" and item.dtype.kind in "iu" and len(start) > 0
    if not fits or start[0] != 0 or start[-1] != len(item) or (np.diff(start.astype(np.int64)) < 0).any():
        raise SourceError(
            f"(indptr, indices) do not fit together: both must be integers, and indptr must rise from 0 to the "
            f"number of indices, {len(item):,}.",
            table=table,
        )
    if len(item) and (item.min() < 0 or (n_items and item.max() >= n_items)):
        raise InputError(f"item codes must be at least 0, got {item.min()} to {item.max()}.", table=table)
    if values is not None and len(values) != len(item):
        raise SourceError(f"got {len(values):,} values for {len(item):,} indices.", table=table)
    return ItemRows(np.diff(start).astype(np.int64), item, values, n_items)


def _numbers(given: Any, table: str) -> Array:
    try:
        values = np.asarray(as_array(given, table))
    except ValueError as error:
        raise SourceError(f"cannot read {a_type(given)} as an array of numbers: {error}", table=table) from error
    if values.dtype.kind not in "biuf":
        raise SourceError(f"indices and values must be real numbers, got {values.dtype}.", table=table)
    return values


def read_array(given: np.ndarray[Any, Any], table: str) -> Source:
    """A row per user: of item ids, or with a column per item."""
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
    if use == "lists" and given.dtype.kind == "f" and given.shape[1] == 1 and any(map(_has_fractions, _blocks(given))):
        raise InputError(
            f"an array of shape {given.shape} could be a prediction for each row of truth, or the scores of one item",
            advice="If they are predictions, pass predictions.ravel(); if there is one item, (None, array).",
            table=table,
        )
    if use == "lists" and is_matrix(given, use, table):
        return read_scores(given, table)
    return item_rows(given, use, table).source(table, "an array")


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
    there = _there(np.ma.getdata(item)) & ~np.ma.getmaskarray(item)
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
    rows = _whole(ItemRows(np.count_nonzero(there, axis=1), item[there], score[there]), table)
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
