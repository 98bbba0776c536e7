"""User models: how far down a list people read, and what fraction of their reading they gain from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from atkay.core.types import WHOLE, Floats, Ints
from atkay.judged import ties as expected
from atkay.judged.judged import Judged
from atkay.metrics.metric import divide, number


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
