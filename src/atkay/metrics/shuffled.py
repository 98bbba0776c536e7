"""Shuffled: what stands above a hit of a list in random order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from atkay.core.kernels import within
from atkay.metrics.metric import Floats, Ints


def over_misses_above(
    misses: Ints, listed: Ints, worth: Callable[[Ints, Ints], Floats], cutoffs: Sequence[int]
) -> Floats:
    """What a hit of each list is worth on average, by its ``misses`` above it, 0 below the cutoff: queries x cutoffs.

    In a random order a hit has each number of the list's misses above it with the same chance; at rank r, it is
    hypergeometric. ``worth`` takes queries, and misses above the hit.
    """
    query = np.repeat(np.arange(len(misses)), misses + 1)
    whole = np.bincount(query, worth(query, within(query) - 1), len(misses)) / (misses + 1)
    out = np.repeat(np.where(listed > 0, whole, 0.0)[:, None], len(cutoffs), axis=1)
    cut = [column for column, k in enumerate(cutoffs) if (k < listed).any()]
    deepest = max((cutoffs[column] for column in cut), default=0)
    x = np.arange(min(deepest, int(misses.max(initial=0)) + 1))
    each = worth(np.arange(len(misses))[:, None], x[None])
    chance, total = np.where(x == 0, 1.0, np.zeros(each.shape)), np.zeros(len(misses))
    for rank in range(1, deepest + 1):
        total = total + (chance * each).sum(axis=1) / np.maximum(listed, 1)
        for column in cut:
            if cutoffs[column] == rank:
                out[:, column] = np.where(rank < listed, total, out[:, column])
        one_more = np.clip((misses[:, None] - x) / np.maximum(listed - rank, 1)[:, None], 0, 1) * chance
        chance = chance - one_more
        chance[:, 1:] += one_more[:, :-1]
    return out
