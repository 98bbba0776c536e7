"""Expected values over all orders of equal scores, in closed form. NumPy and nothing else.

A tie has n items, r of them relevant, and comes after t items of which b are relevant. All its orders are equally
likely, so each of its items stands at each of the ranks t + 1 to t + n with probability 1/n (McSherry and Najork,
Computing information retrieval performance measures efficiently in the presence of tied scores, 2008).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from atkay.core.kernels import sums
from atkay.core.types import WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from atkay.core.types import Bools, Floats, Ints
    from atkay.judged.judged import Judged


class Ties(NamedTuple):
    """The tie of each hit, under the names above; ``first`` is the first hit of the same tie."""

    t: Ints
    n: Ints
    r: Ints
    b: Ints
    first: Ints


def ties_of(judged: Judged, counts: Bools | None = None) -> Ties:
    """The ties of the hits; ``counts`` says which hits r is about, all by default."""
    t, n = judged.ties
    start = np.flatnonzero((np.diff(judged.query, prepend=-1) != 0) | (np.diff(t, prepend=-1) != 0))
    size = np.diff(start, append=len(t))
    r = size if counts is None else np.add.reduceat(counts.astype(np.int64), start) if len(start) else size
    first = np.repeat(start, size)
    return Ties(t, n, np.repeat(r, size), judged.nth[first] - 1, first)


def share(judged: Judged, depth: Ints | int) -> Floats:
    """The probability of each hit to stand in the first ``depth`` places."""
    t, n = judged.ties
    inside: Floats = np.clip(depth - t, 0, n) / n
    return inside


def discounted(judged: Judged, worth: Floats, discount: Callable[[Ints], Floats], cutoffs: Sequence[int]) -> Floats:
    """The sum over the hits of what they are worth times the mean of 1/discount over the places they may stand at."""
    # The first are the same digits as without ties, where there are none.
    return _over_places(judged, worth, worth / discount(judged.rank), lambda rank: 1 / discount(rank), cutoffs)


def weighted(judged: Judged, worth: Floats, weight: Callable[[Ints], Floats], cutoffs: Sequence[int]) -> Floats:
    """The same with the mean of a weight of the places."""
    return _over_places(judged, worth, worth * weight(judged.rank), weight, cutoffs)


def _over_places(
    judged: Judged, worth: Floats, alone: Floats, weight: Callable[[Ints], Floats], cutoffs: Sequence[int]
) -> Floats:
    """The worth of hits times the mean weight of the places of their tie; ``alone``: where a hit is one by itself."""
    t, n = judged.ties
    running = _running(weight, t + n)

    def weights(k: int) -> Floats:
        mean = (running.take(np.minimum(t + n, k)) - running.take(np.minimum(t, k))) / n
        return np.where(n == 1, alone * (t < k), worth * mean)

    return _summed(judged, weights, cutoffs)


def any_hit(judged: Judged, cutoffs: Sequence[int]) -> Floats:
    """The chance that the top k holds a hit: 1 - C(n-r, k-t) / C(n, k-t) of the first tie with a hit."""
    query, t, n, r = _leading(judged, np.ones(len(judged.query), bool))

    def chance(k: int) -> Floats:
        inside, none = np.clip(k - t, 0, n), np.ones(len(t))
        for one in range(int(r.max(initial=0))):
            none *= np.where(one < r, np.maximum(n - inside - one, 0) / np.maximum(n - one, 1), 1.0)
        return 1 - none

    out = np.zeros((len(cutoffs), judged.n_queries))
    for column, k in enumerate(cutoffs):
        out[column, query] = chance(k)
    return out.T


def reciprocal(judged: Judged, counts: Bools, cutoffs: Sequence[int]) -> Floats:
    """The expected 1/rank of the first of the hits that count, 0 beyond the cutoff.

    The first of r items stands at place j of n with chance C(n-j, r-1) / C(n, r).
    """
    query, t, n, r = _leading(judged, counts)
    out = np.zeros((len(cutoffs), judged.n_queries))
    chance, place = r / n, 1
    while len(query):
        rank = t + place
        for column, k in enumerate(cutoffs):
            out[column, query] += np.where(rank <= k, chance / rank, 0.0)
        # The next place is the first hit's where this one is not.
        chance = chance * (n - place - r + 1) / np.maximum(n - place, 1)
        place += 1
        left = (place <= n - r + 1) & (t + place <= max(cutoffs))
        query, t, n, r = (each[left] for each in (query, t, n, r))
        chance = chance[left]
    return out.T


def precisions(judged: Judged, cutoffs: Sequence[int]) -> Floats:
    """The expected sum of the precisions at the ranks of the hits in the top k.

    A tie adds (r/n) sum_j [b + 1 + (j-t-1)(r-1)/(n-1)] / j over its places j: the
    (j-t-1) places before hold their share of the other r - 1 hits.
    """
    t, n, r, b, _ = ties_of(judged)
    running = _running(lambda rank: 1 / rank, t + n)
    others = (r - 1) / np.maximum(n - 1, 1)

    def weights(k: int) -> Floats:
        low, top = np.minimum(t, k), np.minimum(t + n, k)
        spread = ((b + 1 - (t + 1) * others) * (running.take(top) - running.take(low)) + others * (top - low)) / n
        return np.where(n == 1, (b + 1) / (t + 1) * (t < k), spread)

    return _summed(judged, weights, cutoffs)


def precisions_per_hit(judged: Judged, cutoffs: Sequence[int]) -> Floats:
    """The expected mean of the precisions at the ranks of the hits in the top k: the number of hits varies, too.

    Only the tie that the cutoff divides leaves it open: x of its r hits are in its first m = k - t places with
    probability C(r, x) C(n-r, m-x) / C(n, m), in any order.
    """
    t, n, r, b, first = ties_of(judged)
    whole = precisions(judged, [WHOLE])[:, 0]
    out = np.empty((len(cutoffs), judged.n_queries))
    for column, k in enumerate(cutoffs):
        full = t + n <= k
        hits = np.bincount(judged.query[full], minlength=judged.n_queries)
        sure = whole if full.all() else precisions(_only(judged, full), [WHOLE])[:, 0]
        with np.errstate(invalid="ignore"):
            out[column] = np.where(hits > 0, sure / hits, 0.0)
        cut = np.flatnonzero((t < k) & (t + n > k) & (first == np.arange(len(t))))
        if len(cut):
            out[column, judged.query[cut]] = _divided(sure[judged.query[cut]], k, t[cut], n[cut], r[cut], b[cut])
    return out.T


def rank(judged: Judged) -> Floats:
    """The mean rank of each hit."""
    t, n = judged.ties
    return t + (n + 1) / 2 if judged.averaged else judged.rank.astype(float)


def of_list(judged: Judged, weights: Floats) -> Floats:
    """The sum of the hits' weights over the whole list, where these do not depend on an order: queries x 1."""
    return sums(judged.query, judged.rank, weights, (WHOLE,), judged.n_queries)


def misses_above(judged: Judged) -> Floats:
    """The number of listed items above each hit that are not hits: of its own tie, half of them."""
    t, n, r, b, _ = ties_of(judged)
    above: Floats = t - b + (n - r) / 2
    return above


def _divided(sure: Floats, k: int, t: Ints, n: Ints, r: Ints, b: Ints) -> Floats:
    """The expected mean precision where the cutoff divides a tie; ``sure`` is the sum over the b hits before it."""
    m = k - t
    running = _running(lambda rank: 1 / rank, np.array([k]))
    log_factorial = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, n.max(initial=0) + 1)))))

    def log_choose(n: Ints, k: Ints) -> Floats:
        logarithm: Floats = log_factorial[n] - log_factorial[k] - log_factorial[n - k]
        return logarithm

    out = np.zeros(len(t))
    for x in range(int(np.minimum(r, m).max(initial=0)) + 1):
        possible = (x <= r) & (x <= m) & (m - x <= n - r)
        hits, misses = np.where(possible, x, 0), np.where(possible, m - x, 0)
        chance = np.exp(log_choose(r, hits) + log_choose(n - r, np.minimum(misses, n - r)) - log_choose(n, m))
        others = (x - 1) / np.maximum(m - 1, 1)
        inside = x / m * ((b + 1 - (t + 1) * others) * (running[k] - running[t]) + others * m)
        if x == 0:
            inside = np.zeros(len(t))
        with np.errstate(invalid="ignore"):
            mean = np.where(b + x > 0, (sure + inside) / (b + x), 0.0)
        out += np.where(possible, chance * mean, 0.0)
    return out


def _only(judged: Judged, hits: Bools) -> Judged:
    """The same lists with part of the hits; a tie keeps all of its hits or none."""
    t, n = judged.ties
    per_hit = {name: getattr(judged, name)[hits] for name in ("query", "rank", "grade", "item")}
    return replace(judged, **per_hit, tied=(t[hits], n[hits]))


def _leading(judged: Judged, counts: Bools) -> tuple[Ints, Ints, Ints, Ints]:
    """Of each query the first tie with a hit that counts: query, t, n, r."""
    t, n, r, _, _ = ties_of(judged, counts)
    hits = np.flatnonzero(counts)
    hits = hits[np.diff(judged.query[hits], prepend=-1) != 0]
    return judged.query[hits], t[hits], n[hits], r[hits]


def _running(of_rank: Callable[[Ints], Floats], end: Ints) -> Floats:
    """Sums of a function of the rank, over the ranks up to any."""
    return np.concatenate(([0.0], np.cumsum(of_rank(np.arange(1, end.max(initial=0) + 1)))))


def _summed(judged: Judged, weights: Callable[[int], Floats], cutoffs: Sequence[int]) -> Floats:
    """The hits' weights, which depend on the cutoff, added up per query."""
    out = np.empty((len(cutoffs), judged.n_queries))
    for column, k in enumerate(cutoffs):
        out[column] = np.bincount(judged.query, weights=weights(k), minlength=judged.n_queries)
    return out.T
