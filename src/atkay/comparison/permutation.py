"""Permutation: what chance alone does to the differences, by relabelling the runs within each user.

If two runs do the same, a user's difference may as well have the other sign. The random numbers depend on the seed and
on the number of a unit and a permutation alone: threads do not change a digit of a p-value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from atkay.core.kernels import choice_sums, random_codes
from atkay.core.lists import in_threads, ranges
from atkay.core.reference import CODES_PER_WORD, units_per_code
from atkay.core.types import Floats, Ints
from atkay.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from atkay.comparison.sheet import Pair, Paired
    from atkay.comparison.trial import Trial

PERMUTATIONS_PER_SEED = 250
"""Permutations whose random bits come from one generator."""

BYTES_PER_BLOCK = 1 << 26
"""Bytes for the random choices of permutations or samples in a block."""

UNITS_PER_BLOCK = 1 << 12
"""Units per block of relabelled values; longer sums are sums of block sums."""

PATTERNS_PER_BLOCK = 1 << 13
"""Sign patterns per block when all are enumerated."""

MOST_SHIFTED_RUNS = 256
"""A shift is drawn as one byte."""

SUM_ROUNDING_SHARE = 1e-12
"""Adding up blocks of units rounds by less than this share of what is added up."""


def sign_flips(trial: Trial) -> Floats:
    """P-values of the mean difference, metrics x pairs, both sides counted.

    All sign patterns are enumerated if there are no more than ``permutations``. Else b of B random patterns give a sum
    at least as far from 0 as the one at hand, and p is (b + 1) / (B + 1): never 0.

    Phipson and Smyth, Permutation p-values should never be zero, 2010.
    """
    trial = replace(trial, paired=[each.relabel() for each in trial.paired])
    paired, pairs = trial.paired, trial.pairs
    jobs = [(each, pair) for each in paired for pair in pairs]
    exact = np.array(in_threads(lambda job: _exact(*job, trial.permutations), jobs))
    p, slack = np.moveaxis(exact.reshape(len(paired), len(pairs), 2), 2, 0)
    sampled = np.isnan(p).any(axis=1)
    if sampled.any():
        chosen = [each for each, is_sampled in zip(paired, sampled, strict=True) if is_sampled]
        drawn = _sampled(replace(trial, paired=chosen), slack[sampled])
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
    for first, last in ranges(1 << len(values), PATTERNS_PER_BLOCK):
        signs = 1.0 - 2.0 * ((np.arange(first, last)[:, None] >> np.arange(len(values))) & 1)
        reached += int((np.abs(signs @ values) >= least).sum())
    return reached / (1 << len(values)), slack


def _sampled(trial: Trial, slack: Floats) -> Floats:
    columns, combine = zip(*(each.columns(trial.pairs) for each in trial.paired), strict=True)
    width = np.cumsum([0, *(part.shape[1] for part in columns)])
    both = np.hstack(columns)
    # Bits instead of signs: a sum with signs is twice the sum over the ones, less the sum over all.
    whole = both.sum(axis=0)
    sums = combined(whole[None], width, combine)[0]
    slack = (
        slack
        + SUM_ROUNDING_SHARE * combined(np.abs(both).sum(axis=0)[None], width, [np.abs(one) for one in combine])[0]
    )
    reached = np.zeros(sums.shape, np.int64)
    words = -(-len(both) // 64)
    for seeds in _seeds(trial.permutations, words * 8):
        codes = np.empty((words, seeds[-1][2] - seeds[0][1]), np.uint64)
        for number, first, last in seeds:
            raw = trial.random(1, number).bit_generator.random_raw((last - first) * words)
            codes[:, first - seeds[0][1] : last - seeds[0][1]] = raw.reshape(-1, words).T
        ones = np.zeros((codes.shape[1], both.shape[1]))
        for begin, end in ranges(len(both), 64 * UNITS_PER_BLOCK):
            part = np.zeros_like(ones)
            choice_sums(both[begin:end], 2, codes[begin // 64 : -(-end // 64)], part)
            ones += part
        flipped = combined(2 * ones - whole, width, combine)
        reached += (np.abs(flipped) >= np.abs(sums) - slack).sum(axis=0)
        trial.steps.advance(codes.shape[1] / trial.permutations)
    p: Floats = (reached + 1) / (trial.permutations + 1)
    return p


def _seeds(permutations: int, bytes_of_one: int) -> Iterator[list[tuple[int, int, int]]]:
    """Number, first and last permutation of each generator, as many at a time as there is room for their bits."""
    seeds = [(number, *edges) for number, edges in enumerate(ranges(permutations, PERMUTATIONS_PER_SEED))]
    at_once = max(1, BYTES_PER_BLOCK // (bytes_of_one * PERMUTATIONS_PER_SEED))
    return (seeds[first:last] for first, last in ranges(len(seeds), at_once))


def combined(sums: Floats, width: Ints, combine: Sequence[Floats]) -> Floats:
    """Sums of columns -> sums of pairs: rows x metrics x pairs."""
    return np.stack(
        [sums[:, first:last] @ one for first, last, one in zip(width[:-1], width[1:], combine, strict=True)], axis=1
    )


def label_shifts(trial: Trial) -> Floats:
    """P-values of randomised Tukey's test: a difference against the largest one between any two relabelled runs.

    Each unit's runs stand in a random order, drawn once, and a permutation shifts them along it by a random number of
    places. These relabellings are a group, so the test is exact as with all orders, and a permutation costs as many
    sums as there are runs instead of a sort of every unit. Units without a value in some run are left out.

    Carterette, Multiple testing in statistical analysis of systems-based information retrieval experiments, 2012.
    """
    paired, permutations = [each.relabel() for each in trial.paired], trial.permutations
    runs = paired[0].values.shape[1]
    if runs > MOST_SHIFTED_RUNS:
        raise InputError(
            f"randomised_tukey takes at most {MOST_SHIFTED_RUNS} runs, got {runs:,}. Choose test='tukey', or "
            "compare fewer runs."
        )
    defined = [each.defined(each.all_runs) for each in paired]
    n = len(defined[0])
    centred, slack = np.zeros((n, len(paired), runs)), np.zeros((len(paired), 1))
    for at, (each, units) in enumerate(zip(paired, defined, strict=True)):
        centred[units, at], rounding = each.centred()
        slack[at] = rounding.sum()
    sums = centred.sum(axis=0)
    apart = np.abs(np.stack([sums[:, other] - sums[:, one] for one, other in trial.pairs], axis=1))
    slack += SUM_ROUNDING_SHARE * np.abs(centred).sum(axis=(0, 2))[:, None]
    shifted_sums = np.zeros((permutations, len(paired) * runs))
    group = units_per_code(runs)
    for number, (begin, end) in enumerate(ranges(n, UNITS_PER_BLOCK)):
        seed = trial.seed(3, number)
        order = np.argsort(trial.random(2, number).random((end - begin, runs)), axis=1)
        place = np.argsort(order, axis=1)
        label = np.take_along_axis(order[:, None], (place[:, None] + np.arange(runs)[:, None]) % runs, axis=2)
        shifted = np.take_along_axis(centred[begin:end, None], label[:, :, None], axis=3)
        shifted = shifted.reshape(end - begin, runs, -1)
        words = -(-(end - begin) // (group * CODES_PER_WORD))
        for first, last in ranges(permutations, max(1, BYTES_PER_BLOCK // (words * CODES_PER_WORD))):
            part = np.zeros((last - first, shifted.shape[2]))
            choice_sums(shifted, runs, random_codes(seed, first, (words, last - first), runs**group), part)
            shifted_sums[first:last] += part
        trial.steps.advance((end - begin) / n)
    furthest = np.ptp(shifted_sums.reshape(permutations, len(paired), runs), axis=2)
    reached = (furthest[:, :, None] >= apart - slack).sum(axis=0)
    p: Floats = (reached + 1) / (permutations + 1)
    p[[not units.any() for units in defined]] = np.nan
    return p
