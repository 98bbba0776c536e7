"""Tests: how likely a difference of this size, or a larger one, is where there is none.

Each takes all metrics and pairs of runs at once and gives a p-value for each of them, both sides counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from atkay.comparison.permutation import label_shifts, sign_flips
from atkay.core.lists import in_threads
from atkay.core.types import Floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atkay.comparison.sheet import Differences, Pair, Paired
    from atkay.comparison.trial import Trial

SMALLEST_P = float(np.finfo(float).tiny)
"""No p-value is 0: what is smaller than any number a float can hold is given as the smallest of them."""

SMALLEST_RANGE_P = 1e-11
"""The studentised range is integrated numerically; what is smaller comes from rounding."""


@dataclass(frozen=True)
class Test:
    """A test, what it says in words, and how its p-values are to be read."""

    __test__ = False  # pytest takes classes of this name for its own

    words: str
    p_values: Callable[[Trial], Floats]
    leaning: Callable[[Differences], float] | None = None
    """What a test that is not of the mean tests instead: above 0 where it speaks for the second run's higher values."""
    joint: bool = False
    """Whether it holds for all pairs of one metric at once."""
    random: bool = False
    """Whether p-values are counted over permutations, and so at least 1 / (permutations + 1)."""

    @property
    def of_mean(self) -> bool:
        """Whether it is the mean difference that it tests."""
        return self.leaning is None


def each_alone(test: Callable[[Paired, Differences], float]) -> Callable[[Trial], Floats]:
    """A test of one difference after the other."""

    def p_values(trial: Trial) -> Floats:
        jobs = [(paired, pair) for paired in trial.paired for pair in trial.pairs]
        p = in_threads(lambda job: test(job[0], job[0].difference(job[1])), jobs)
        return np.array(p, dtype=float).reshape(len(trial.paired), len(trial.pairs))

    return p_values


def student(_: Paired, difference: Differences) -> float:
    """Student's paired t-test: 1 if no user differs, NaN if all differ by the same amount (no variance)."""
    from scipy.special import stdtr

    n = len(difference.values)
    if n < 2:
        return math.nan
    if difference.alike:
        return math.nan if difference.values.any() else 1.0
    error = float(difference.values.std(ddof=1)) / math.sqrt(n)
    if not error:  # values so small that their squares vanish
        return math.nan
    t = difference.mean / error
    return max(2 * float(stdtr(n - 1, -abs(t))), SMALLEST_P)


def wilcoxon(paired: Paired, difference: Differences) -> float:
    """Wilcoxon's signed-rank test: whether the differences lie symmetrically about 0; those of 0 are left out."""
    from scipy import stats

    if paired.is_ratio:
        return math.nan
    places = _places(difference.moving)
    return max(float(stats.wilcoxon(places).pvalue), SMALLEST_P) if len(places) else _nobody(difference)


def sign(paired: Paired, difference: Differences) -> float:
    """The sign test: whether as many users win as lose; those without a difference are left out."""
    from scipy import stats

    if paired.is_ratio:
        return math.nan
    moved = difference.moving.values
    if not len(moved):
        return _nobody(difference)
    return max(float(stats.binomtest(int((moved > 0).sum()), len(moved)).pvalue), SMALLEST_P)


def rank_sum(difference: Differences) -> float:
    """Rank sum of users with a higher second run, minus that of the others."""
    from scipy.stats import rankdata

    places = _places(difference.moving)
    return float((np.sign(places) * rankdata(np.abs(places))).sum())


def sign_sum(difference: Differences) -> float:
    """For how many users more the second run is higher than it is lower."""
    return float(np.sign(difference.values).sum())


def _places(difference: Differences) -> Floats:
    """The differences by their place in the order of size, with their signs; equal ones share a place."""
    size = np.abs(difference.values)
    order = np.argsort(size)
    rounding = difference.rounding[order]
    place = np.zeros(len(size))
    place[order[1:]] = np.cumsum(np.diff(size[order]) > rounding[1:] + rounding[:-1])
    return np.sign(difference.values) * (place + 1)


def _nobody(difference: Differences) -> float:
    return 1.0 if len(difference.values) else math.nan


def tukey(trial: Trial) -> Floats:
    """Tukey's honestly significant difference with users as blocks (two-way): all runs are judged by one spread.

    The spread is what neither the user nor the run explains. Units without a value in some run are left out. (The
    one-way form, which takes the users of each run for other people, is wrong for runs on the same users.)
    """
    p = np.empty((len(trial.paired), len(trial.pairs)))
    for at, each in enumerate(trial.paired):
        p[at] = _tukey(each, trial.pairs)
        trial.steps.advance(1 / len(trial.paired))
    return p


def _tukey(paired: Paired, pairs: Sequence[Pair]) -> list[float]:
    centred, rounding = paired.centred()
    n, runs = centred.shape
    if n < 2:
        return [math.nan] * len(pairs)
    of_run = centred.mean(axis=0)
    rest = centred - of_run
    degrees = (n - 1) * (runs - 1)
    error = math.sqrt(float((rest**2).sum()) / degrees / n)
    apart = np.array([abs(of_run[other] - of_run[one]) for one, other in pairs])
    if (np.abs(rest) <= (rounding + rounding.mean())[:, None]).all():
        return [1.0 if gap <= rounding.mean() else math.nan for gap in apart]
    p: list[float] = np.clip(studentized_range(apart / error, runs, degrees), SMALLEST_RANGE_P, 1.0).tolist()
    return p


def studentized_range(q: Floats, runs: int, degrees: int) -> Floats:
    """The probability that the range of the means is at least this many standard errors."""
    from scipy import stats

    return np.asarray(stats.studentized_range.sf(q, runs, degrees), dtype=float)


TESTS = {
    "t": Test("Student's paired t-test of the mean difference", each_alone(student)),
    "permutation": Test("sign-flip permutation test of the mean difference", sign_flips, random=True),
    "bootstrap": Test("bootstrap-t test of the mean difference", lambda trial: trial.drawn.p_values(), random=True),
    "tukey": Test("Tukey's HSD test of all pairs of means, users as blocks", tukey, joint=True),
    "randomised_tukey": Test("randomised Tukey HSD: runs permuted within users", label_shifts, joint=True, random=True),
    "wilcoxon": Test("Wilcoxon signed-rank test (does not test the mean)", each_alone(wilcoxon), leaning=rank_sum),
    "sign": Test("sign test of wins and losses (does not test the mean)", each_alone(sign), leaning=sign_sum),
}
