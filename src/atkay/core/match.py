"""Match: where the items of some lists stand in others, or again. NumPy and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from atkay.core import reference
from atkay.core.kernels import match
from atkay.core.lists import Lists

if TYPE_CHECKING:
    from atkay.core.lists import Match
    from atkay.core.types import Ints


def repeated(lists: Lists) -> Ints:
    """The rows whose item stood in the list already."""
    pair = lists.owner() * np.int64(lists.n_items) + lists.item
    order = np.argsort(pair, kind="stable")
    again = np.flatnonzero(pair[order[1:]] == pair[order[:-1]]) + 1
    return np.sort(order[again])


def match_each(lists: Lists, others: Lists) -> Match:
    """The rows of lists that others have, of an item that a list has twice every row; no other has an item twice."""
    matched = match(lists, others)
    return reference.match(lists, others) if matched.repeated[0] else matched


def place_in(others: Lists, query: Ints, item: Ints) -> Ints:
    """The place of each item in its query's list of the others, from 1; 0 where it is not there. Queries rise.

    No list has an item twice.
    """
    lists = Lists.of(np.bincount(query, minlength=others.n_queries), item, others.n_items)
    matched = match(lists, others)
    place = np.zeros(len(query), np.int64)
    place[matched.row] = matched.at - others.start[matched.query] + 1
    return place
