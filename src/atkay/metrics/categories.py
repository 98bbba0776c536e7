"""What the metrics about categories share: an item's categories, counted per query."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from atkay.core.lists import ROWS_PER_BLOCK, Lists, rows_of
from atkay.core.types import Floats, Ints
from atkay.errors import SideError
from atkay.judged.judged import Judged
from atkay.metrics.metric import Metric
from atkay.text.phrases import argument

BITS_PER_MASK = 64
"""Categories that one integer of a mask holds."""


def reads_categories(metric: Metric) -> bool:
    """Whether it asks for categories of items, and not for their vectors."""
    of_vectors = metric.name == "serendipity" or getattr(metric, "by", "categories") != "categories"
    return "features" in metric.needs and not of_vectors


def categories_of(judged: Judged, metric: object, instead: str = "") -> Lists:
    """The categories of each item; ``instead``: what else to choose where there are none."""
    categories = judged.features.categories
    if categories is None:
        raise SideError(
            f"{metric} needs item categories, but {argument('features')} has only numbers. Pass a column of "
            f"text, or of lists of text, such as features={{'tea': ['drink', 'hot'], ...}}{instead}."
        )
    return categories


def spread(categories: Lists, item: Ints) -> tuple[Ints, Ints]:
    """A row for each category of each item: which of the items it belongs to, and the category."""
    row = np.repeat(np.arange(len(item)), categories.length.take(item))
    return row, categories.item.take(rows_of(categories.start, item)).astype(np.int64)


def shares(categories: Lists, item: Ints) -> Floats:
    """What each category of an item gets when the item counts once, in a unit that is the same for all items.

    The unit makes the shares whole numbers (of an item's 1, 2 or 3 categories 6, 3 or 2) where they stay small enough:
    their sums are then exact, in whatever order the items come.
    """
    sizes = np.flatnonzero(np.bincount(categories.length))
    sizes = sizes[sizes > 0]
    unit = math.lcm(*sizes.tolist())
    share = np.zeros(int(sizes.max(initial=0)) + 1)
    share[sizes] = (unit if unit <= 1 << 32 else 1) / sizes
    return share.take(categories.length.take(item))


def cells(query: Ints, category: Ints, n_queries: int, n_categories: int) -> tuple[Ints, Ints]:
    """Pairs of a query and a category: the cell of each row, and the query of each cell, in ascending order.

    Cells without a row may be among them.
    """
    key = query * n_categories + category
    if n_queries * n_categories <= 8 * len(key) + 1024:
        return key, np.repeat(np.arange(n_queries), n_categories)
    there, cell = np.unique(key, return_inverse=True)
    return cell, there // n_categories


def added(place: Ints, weights: Floats, size: int) -> Floats:
    """The sum of the weights at each place below ``size``, in the order of the rows."""
    return np.bincount(place, weights=weights, minlength=size).astype(np.float64, copy=False)


def masks(query: Ints, row: Ints, category: Ints, n_rows: int, n_categories: int) -> NDArray[np.uint64]:
    """The set of categories of each row, as bits of one or more numbers; the first category is the highest bit.

    Where there are many categories, those of a query are numbered anew: bits then mean the same within a query.
    ``query``, ``row`` and ``category`` come from :func:`spread`.
    """
    bit = category
    if n_categories > BITS_PER_MASK:
        there, cell = np.unique(query * n_categories + category, return_inverse=True)
        owner = there // n_categories
        bit = cell - np.searchsorted(owner, owner)[cell]
    words = int(bit.max(initial=0)) // BITS_PER_MASK + 1
    out = np.zeros(n_rows * words, np.uint64)
    # A row has each bit once, so adding is setting.
    np.add.at(
        out,
        row * words + bit // BITS_PER_MASK,
        np.uint64(1) << (BITS_PER_MASK - 1 - bit % BITS_PER_MASK).astype(np.uint64),
    )
    return out.reshape(n_rows, words)


def in_blocks(rows: Ints, of: Callable[[int, int], Floats], n_columns: int) -> Floats:
    """The values of ranges of queries with about a block of rows each, joined: intermediate arrays stay small."""
    cuts = np.searchsorted(np.cumsum(rows), np.arange(ROWS_PER_BLOCK, int(rows.sum()), ROWS_PER_BLOCK))
    edges = np.unique(np.concatenate(([0], cuts, [len(rows)]))).tolist()
    return np.concatenate([np.empty((0, n_columns)), *(of(first, last) for first, last in itertools.pairwise(edges))])
