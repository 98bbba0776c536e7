"""User models: how far down a list people read, and what fraction of their reading they gain from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from atkay.core.types import WHOLE, Floats, Ints
from atkay.judged import ties as expected
from atkay.judged.judged import Judged
from atkay.metrics.metric import divide, number

CELLS_PER_BLOCK = 1 << 20


class Patience(NamedTuple):
    """The chance that a user whom nothing satisfies reads a rank, and the sum of the chances from 1 to a rank."""

    chance: Callable[[Ints], Floats]
    reads: Callable[[Floats], Floats]
    endless: bool = False
    """Whether the sum is finite even for a list that never ends: then an uncut list is read as one."""

    def last(self, judged: Judged, cutoffs: Sequence[int]) -> Floats:
        """The last rank that is read: queries x cutoffs."""
        if not self.endless:
            return judged.depth(cutoffs).astype(float)
        ends = np.array([np.inf if k == WHOLE else k for k in cutoffs])
        return np.broadcast_to(ends, (judged.n_queries, len(cutoffs)))

    def precision(self, judged: Judged, gain: Floats, cutoffs: Sequence[int]) -> Floats:
        """The gain per item read: queries x cutoffs."""
        if judged.averaged:
            seen = expected.weighted(judged, gain, self.chance, cutoffs)
        else:
            seen = judged.total(gain * self.chance(judged.rank), cutoffs)
        return np.minimum(divide(seen, self.reads(self.last(judged, cutoffs))), 1.0)  # rounding may go past 1


def steady() -> Patience:
    """Everybody reads to the end."""
    return Patience(lambda rank: np.ones(len(rank)), lambda last: last)


def falling(chance: Callable[[Ints], Floats]) -> Patience:
    """The chances by a formula that adds up to no finite sum."""

    def reads(last: Floats) -> Floats:
        ranks = np.arange(1, int(last.max(initial=0)) + 1)
        return np.concatenate(([0.0], np.cumsum(chance(ranks)))).take(last.astype(np.int64))

    return Patience(chance, reads)


def geometric(p: float) -> Patience:
    """After each item, the user goes on with chance p."""
    return Patience(lambda rank: np.power(p, rank - 1.0), lambda last: (1 - np.power(p, last)) / (1 - p), endless=True)


def inverse_squares(goal: float) -> Patience:
    """A user who hopes for ``goal`` items reads on, the more readily the further down already."""
    start = 2 * goal
    return Patience(
        lambda rank: np.square(start / (rank - 1 + start)), lambda last: start**2 * squares(start, last), endless=True
    )


def squares(first: Floats | float, count: Floats) -> Floats:
    """``Σ 1 / x²`` over ``count`` numbers x from ``first`` on, each 1 above the one before; there may be no end."""
    return trigamma(np.asarray(first, float)) - trigamma(first + count)


def trigamma(x: Floats) -> Floats:
    """``Σ 1 / (x + i)²`` over all i from 0: twenty terms, and the rest by Euler and Maclaurin."""
    y, out = x + 20, np.zeros_like(x)
    for step in range(20):
        out += (x + step) ** -2.0
    z = y**-2.0
    return out + 1 / y + z / 2 + z / y * (1 / 6 - z * (1 / 30 - z * (1 / 42 - z * (1 / 30 - z * 5 / 66))))


def share_of_highest(grade: Floats, highest: float) -> Floats:
    """The gain of a grade, from 0 to 1."""
    return np.minimum(grade / highest, 1)


def goal() -> Any:
    """The field that says how much a user hopes to find."""
    return number(1.0, lambda value: 0 < value <= 1e6, "a number above 0, at most 1,000,000")


def running(ufunc: np.ufunc, values: Floats, nth: Ints) -> Floats:
    """The product, sum or maximum of each value and those before it in its list; ``nth`` is its place there, from 1.

    Each round takes in twice as many values, so the rounds are as many as the longest list's bits. The order of
    the operations follows from ``nth`` alone.
    """
    out, step = values.copy(), 1
    while step < nth.max(initial=0):
        far = np.flatnonzero(nth > step)
        out[far] = ufunc(out[far], out[far - step])
        step *= 2
    return out


def before(ufunc: np.ufunc, values: Floats, nth: Ints) -> Floats:
    """The product, or sum, of those before each value alone."""
    out = np.full(len(values), float(ufunc.identity))
    later = np.flatnonzero(nth > 1)
    out[later] = running(ufunc, values, nth)[later - 1]
    return out


def expected_stop(
    judged: Judged, satisfied: Floats, discount: Callable[[Ints], Floats], cutoffs: Sequence[int]
) -> Floats:
    """The expected 1 / discount of the rank at which a user stops, whom each hit satisfies with a chance.

    A user who reads a tie has not been satisfied by its first j items with chance A_j, the mean over all choices of j
    of them of the product of their 1 - chance. With one more item, A_j is (1 - j/n) of what it was and j/n of A_(j-1)
    times the 1 - chance of that item, n being their number with it.
    """
    t, n, r, _, first = expected.ties_of(judged)
    there = np.flatnonzero(first == np.arange(len(t)))
    reached = before(np.multiply, 1 - satisfied, judged.nth)[there]
    out = np.zeros((judged.n_queries, len(cutoffs)))
    width = np.clip(max(cutoffs) - t[there], 0, n[there])
    order = np.argsort(width, kind="stable")
    for block in np.split(order, _edges(width[order])):
        tie, places = there[block], np.arange(width[block].max(initial=0) + 1)
        stays = (places <= (n - r)[tie, None]).astype(float)
        for nth in range(int(r[tie].max(initial=0))):
            size = (n - r)[tie, None] + nth + 1
            hit = np.minimum(tie + nth, len(t) - 1)
            one = places[1:] * (1 - satisfied[hit, None]) * stays[:, :-1]
            more = np.where(places[1:] <= size, (np.maximum(size - places[1:], 0) * stays[:, 1:] + one) / size, 0.0)
            stays[:, 1:] = np.where(nth < r[tie, None], more, stays[:, 1:])
        stops = -np.diff(stays, axis=1)
        # Alone, the same digits as without ties.
        stops[:, :1] = np.where(n[tie, None] == 1, satisfied[tie, None], stops[:, :1])
        worths = stops * reached[block, None] / discount(t[tie, None] + places[1:])
        upto = np.concatenate((np.zeros((len(block), 1)), worths.cumsum(axis=1)), axis=1)
        for column, k in enumerate(cutoffs):
            last = np.clip(k - t[tie], 0, n[tie])
            out[:, column] += np.bincount(judged.query[tie], upto[np.arange(len(block)), last], judged.n_queries)
    return out


def _edges(width: Ints) -> Ints:
    """Where to divide rows of rising width so that tables of them stay small."""
    size = np.cumsum(width + 1)
    return np.searchsorted(size, np.arange(CELLS_PER_BLOCK, size[-1] if len(size) else 0, CELLS_PER_BLOCK))
