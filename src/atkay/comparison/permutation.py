"""Permutation: what chance alone does to the differences, by relabelling the runs within each user.

If two runs do the same, a user's difference may as well have the other sign. The random numbers depend on the seed and
on the number of a unit and a permutation alone: neither threads nor blocks change a digit of a p-value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from atkay.core.lists import in_threads, ranges
from atkay.core.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atkay.comparison.sheet import Pair, Paired
    from atkay.text.progress import Steps

PERMUTATIONS = 250
"""Permutations that are worked on in one go, for so many units: both factors of a product then stay in the cache."""
UNITS = 4096

PATTERNS = 1 << 13
"""Sign patterns that are gone through in one go, where all of them are."""

ROUNDING = 1e-12
"""Adding up blocks of units rounds by less than this share of what is added up."""

Key = tuple[int, ...]


def generator(rng: int, key: Key) -> np.random.Generator:
    """Random numbers of their own for each piece of work."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(rng, spawn_key=key)))


def sign_flips(
    paired: Sequence[Paired], pairs: Sequence[Pair], permutations: int, rng: int, key: Key, steps: Steps
) -> Floats:
    """P-values of the mean difference, metrics x pairs, both sides counted.

    All sign patterns are gone through where they are no more than the permutations asked for. Else b of B random
    patterns give a sum at least as far from 0 as the one at hand, and p is (b + 1) / (B + 1): never 0.

    Phipson and Smyth, Permutation p-values should never be zero, 2010.
    """
    jobs = [(each, pair) for each in paired for pair in pairs]
    found = np.array(in_threads(lambda job: _exact(*job, permutations), jobs))
    p, slack = np.moveaxis(found.reshape(len(paired), len(pairs), 2), 2, 0)
    sampled = np.isnan(p).any(axis=1)
    if sampled.any():
        some = [each for each, chosen in zip(paired, sampled, strict=True) if chosen]
        drawn = _sampled(some, pairs, slack[sampled], permutations, rng, key, steps)
        p[sampled] = np.where(np.isnan(p[sampled]), drawn, p[sampled])
    nobody = np.array([[not each.defined(pair).any() for pair in pairs] for each in paired])
    return np.where(nobody, np.nan, p)


def _exact(paired: Paired, pair: Pair, permutations: int) -> tuple[float, float]:
    """The share of all sign patterns that reach the sum, NaN where there are too many of them; and the slack of sums.

    Two patterns can have the same sum, as 0.1 + 0.2 and 0.3 do, and floats that differ. The slack is what the
    differences that are added up may be off by, all together; sums that are equal lie within it.
    """
    difference = paired.difference(pair)
    values, slack = difference.moving.values, difference.slack
    if len(values) > np.log2(permutations):
        return np.nan, slack
    least, reached = abs(values.sum()) - slack, 0
    for first, last in ranges(1 << len(values), PATTERNS):
        signs = 1.0 - 2.0 * ((np.arange(first, last)[:, None] >> np.arange(len(values))) & 1)
        reached += int((np.abs(signs @ values) >= least).sum())
    return reached / (1 << len(values)), slack


def _sampled(
    paired: Sequence[Paired],
    pairs: Sequence[Pair],
    slack: Floats,
    permutations: int,
    rng: int,
    key: Key,
    steps: Steps,
) -> Floats:
    columns, combine = zip(*(each.columns(pairs) for each in paired), strict=True)
    width = np.cumsum([0, *(part.shape[1] for part in columns)])
    both = np.hstack(columns)
    # Bits instead of signs: a sum with signs is twice the sum over the ones, less the sum over all.
    whole = both.sum(axis=0)
    sums = combined(whole[None], width, combine)[0]
    slack = slack + ROUNDING * combined(np.abs(both).sum(axis=0)[None], width, [np.abs(one) for one in combine])[0]
    reached = np.zeros(sums.shape, np.int64)
    words = -(-len(both) // 64)
    for number, (first, last) in enumerate(ranges(permutations, PERMUTATIONS)):
        raw = generator(rng, (*key, number)).bit_generator.random_raw((last - first) * words)
        packed = raw.astype("<u8").reshape(-1, words).view(np.uint8)
        found = np.zeros((last - first, both.shape[1]))
        for begin, end in ranges(len(both), UNITS):
            bits = np.unpackbits(packed[:, begin // 8 : -(-end // 8)], axis=1, count=end - begin)
            found += bits.astype(np.float64) @ both[begin:end]
        flipped = combined(2 * found - whole, width, combine)
        reached += (np.abs(flipped) >= np.abs(sums) - slack).sum(axis=0)
        steps.advance((last - first) / permutations)
    p: Floats = (reached + 1) / (permutations + 1)
    return p


def combined(sums: Floats, width: Ints, combine: Sequence[Floats]) -> Floats:
    """Sums of columns -> sums of pairs: rows x metrics x pairs."""
    return np.stack(
        [sums[:, first:last] @ one for first, last, one in zip(width[:-1], width[1:], combine, strict=True)], axis=1
    )


def label_shifts(
    paired: Sequence[Paired], pairs: Sequence[Pair], permutations: int, rng: int, key: Key, steps: Steps
) -> Floats:
    """P-values of randomised Tukey's test: a difference against the largest one between any two relabelled runs.

    Each unit's runs stand in a random order, drawn once, and a permutation shifts them along it by a random number of
    places. These relabellings are a group, so the test is exact as with all orders, and a permutation costs as many
    sums as there are runs instead of a sort of every unit. Units without a value in some run are left out.

    Carterette, Multiple testing in statistical analysis of systems-based information retrieval experiments, 2012.
    """
    runs = paired[0].values.shape[1]
    defined = [each.defined(each.all_runs) for each in paired]
    n = len(defined[0])
    centred, slack = np.zeros((n, len(paired), runs)), np.zeros((len(paired), 1))
    for at, (each, units) in enumerate(zip(paired, defined, strict=True)):
        centred[units, at], rounding = each.centred()
        slack[at] = rounding.sum()
    sums = centred.sum(axis=0)
    apart = np.abs(np.stack([sums[:, other] - sums[:, one] for one, other in pairs], axis=1))
    slack += ROUNDING * np.abs(centred).sum(axis=(0, 2))[:, None]
    found = np.zeros((permutations, len(paired) * runs))
    for number, (begin, end) in enumerate(ranges(n, UNITS)):
        draw = generator(rng, (*key, number))
        order = np.argsort(draw.random((end - begin, runs)), axis=1)
        place = np.argsort(order, axis=1)
        shifted = [
            np.take_along_axis(
                centred[begin:end], np.take_along_axis(order, (place + by) % runs, axis=1)[:, None, :], axis=2
            ).reshape(end - begin, -1)
            for by in range(runs)
        ]
        for first, last in ranges(permutations, PERMUTATIONS):
            shift = draw.integers(0, runs, (last - first, end - begin), dtype=np.int16)
            for by, moved in enumerate(shifted):
                found[first:last] += (shift == by).astype(np.float64) @ moved
        steps.advance((end - begin) / n)
    furthest = np.ptp(found.reshape(permutations, len(paired), runs), axis=2)
    reached = (furthest[:, :, None] >= apart - slack).sum(axis=0)
    p: Floats = (reached + 1) / (permutations + 1)
    p[[not units.any() for units in defined]] = np.nan
    return p
