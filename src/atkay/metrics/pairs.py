"""Pairs of items of one list: how many stand in the order of their values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from atkay.core.types import Floats, Ints


class PairCounts(NamedTuple):
    """Per query, the pairs of different values of which the higher stands first, and those of which the lower does."""

    right: Floats
    wrong: Floats


def pairs_of(query: Ints, value: Floats, n_queries: int) -> PairCounts:
    """The pairs of rows that lie by query and rank.

    Values are compared from their highest binary digit down: two of them differ first at one digit, where the rows that
    have agreed so far and have a 1 are counted before each 0, and the other way round.
    """
    right, wrong = np.zeros(n_queries), np.zeros(n_queries)
    code = np.unique(value, return_inverse=True)[1]
    for digit in reversed(range(int(code.max(initial=0)).bit_length())):
        group = query * (len(code) + 1) + (code >> (digit + 1))
        order = np.argsort(group, kind="stable")
        first = np.searchsorted(group[order], group[order])  # where the row's group begins
        one = (code[order] >> digit) & 1
        ones = np.cumsum(one) - one
        ones -= ones[first]
        zeros = np.arange(len(order)) - first - ones
        right += np.bincount(query[order], np.where(one, 0, ones), n_queries)
        wrong += np.bincount(query[order], np.where(one, zeros, 0), n_queries)
    return PairCounts(right, wrong)
