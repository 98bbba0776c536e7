"""Where there is no difference, a test at 5 % finds one in 5 of 100 cases: simulated, for each test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import atkay
from atkay.aggregates import Aggregate
from atkay.comparison import tests
from atkay.comparison.corrections import corrected
from atkay.comparison.sheet import Paired
from atkay.comparison.tests import TESTS
from atkay.comparison.trial import Trial
from atkay.core.types import Floats
from atkay.text.progress import Steps

CASES, USERS = 1_500, 30
SLACK = 3 * math.sqrt(0.05 * 0.95 / CASES)
METRIC = atkay.parse("mrr")


def p_values(test: str, values: Floats) -> Floats:
    """Of many cases at once, each as a metric of its own: cases x pairs; values are cases x users x runs."""
    paired = [Paired(METRIC, case, np.ones(case.shape, bool)) for case in values]
    runs = values.shape[2]
    pairs = [(one, other) for one in range(runs) for other in range(one + 1, runs)]
    steps = Steps("comparing", 1)
    return TESTS[test].p_values(Trial(paired, pairs, 999, 7, (0,), steps))


def null(runs: int, users: int = USERS) -> Floats:
    """Users differ, and runs do not: skewed noise, the same for each run."""
    rng = np.random.default_rng(11)
    return rng.exponential(1, (CASES, users, 1)) + rng.exponential(1, (CASES, users, runs))


class Range:
    """The studentized range from a table: SciPy takes ten milliseconds for each of thousands of p-values."""

    def __init__(self) -> None:
        self.tables: dict[tuple[int, int], Floats] = {}
        self.grid = np.concatenate([np.linspace(0, 8, 161), [1e9]])

    def sf(self, q: Floats, runs: int, degrees: int) -> Floats:
        if (runs, degrees) not in self.tables:
            exact = stats.studentized_range.sf(self.grid[:-1], runs, degrees)
            self.tables[runs, degrees] = np.append(exact, 0.0)
        return np.interp(q, self.grid, self.tables[runs, degrees])


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Range()
    monkeypatch.setattr(tests, "studentized_range", table.sf)


@pytest.mark.parametrize("test", ["t", "permutation", "bootstrap", "wilcoxon", "tukey", "randomised_tukey"])
def test_five_in_a_hundred(test: str) -> None:
    found = (p_values(test, null(2)) < 0.05).mean()
    assert found == pytest.approx(0.05, abs=SLACK)


@pytest.mark.parametrize(("aggregate", "users"), [("median", 30), ("worst", 60)])
def test_the_bootstrap_of_ordered_aggregates_keeps_the_level(aggregate: str, users: int) -> None:
    """Of few values it finds too little rather than too much, as the interval of a quantile holds too often."""
    cases = 300
    ordered = [
        Paired(METRIC, case, np.ones(case.shape, bool), aggregate=Aggregate.of(aggregate))
        for case in null(2, users)[:cases]
    ]
    p = TESTS["bootstrap"].p_values(Trial(ordered, [(0, 1)], 199, 7, (0,), Steps("comparing", 1)))
    assert 0 < (p <= 0.05).mean() < 0.05 + 3 * math.sqrt(0.05 * 0.95 / cases)


def test_exact_permutations_of_few_users() -> None:
    """Seven users have 64 pairs of patterns: the largest p-value of 5 % or less is 3/64."""
    found = (p_values("permutation", null(2, users=7)) <= 0.05).mean()
    assert found == pytest.approx(3 / 64, abs=SLACK)


def test_the_sign_test_keeps_the_level_that_its_steps_allow() -> None:
    most = max(k for k in range(USERS) if 2 * stats.binom.cdf(k, USERS, 0.5) < 0.05)
    found = (p_values("sign", null(2)) < 0.05).mean()
    assert found == pytest.approx(2 * stats.binom.cdf(most, USERS, 0.5), abs=SLACK)


@pytest.mark.parametrize("test", ["tukey", "randomised_tukey"])
def test_one_false_pair_among_six_in_five_of_a_hundred(test: str) -> None:
    p = p_values(test, null(4))
    assert (p.min(axis=1) < 0.05).mean() == pytest.approx(0.05, abs=SLACK)


@pytest.mark.parametrize("test", ["t", "permutation"])
def test_holm_keeps_the_error_of_a_family(test: str) -> None:
    """Families of five metrics that have nothing to do with each other: 1 - (1 - .05/5)^5 = 4.9 % of them err."""
    p = p_values(test, null(2)).reshape(-1, 5, 1)
    families = len(p)
    slack = 3 * math.sqrt(0.05 * 0.95 / families)
    held = np.array([corrected(family, "holm", "all", joint=False).min() for family in p])
    assert (held < 0.05).mean() == pytest.approx(0.049, abs=slack)
    assert (p.min(axis=1) < 0.05).mean() == pytest.approx(1 - 0.95**5, abs=3 * slack)  # 23 % without it


def test_holm_keeps_the_error_of_all_pairs() -> None:
    """The differences of three runs are not independent; Holm's bound holds all the same."""
    p = p_values("t", null(3))
    held = np.array([corrected(case[None], "holm", "all", joint=False).min() for case in p])
    assert (held < 0.05).mean() < 0.05 + SLACK
    assert (p.min(axis=1) < 0.05).mean() > 0.05 + SLACK


def test_benjamini_and_hochberg_keep_the_share_of_false_findings() -> None:
    """Half of ten metrics differ: of what is found, less than 5 % is false on average."""
    values = null(2)
    real = np.arange(CASES) % 2 == 0
    values[real, :, 1] += 1.0
    found = np.array(
        [
            corrected(family, "bh", "all", joint=False)[:, 0] < 0.05
            for family in p_values("t", values).reshape(-1, 10, 1)
        ]
    )
    false = (found & ~real.reshape(-1, 10)).sum(axis=1) / np.maximum(found.sum(axis=1), 1)
    assert false.mean() < 0.05
    assert found[:, ::2].mean() > 0.5


def test_t_rejects_too_often_where_few_gain_much() -> None:
    """One user in ten gains 0.9 and the others lose 0.1, a skewness of 2.7: the mean is 0, and t finds a difference.

    With 50 users, t depends on the number of those who gain alone, which is binomial.
    """
    users, share = 50, 0.1
    gaining = np.arange(1, users)  # without spread, where nobody or everybody gains, there is no p-value
    t = (gaining / users - share) / np.sqrt(gaining / users * (1 - gaining / users) / (users - 1))
    significant = 2 * stats.t.sf(np.abs(t), users - 1) < 0.05
    exact = float(stats.binom.pmf(gaining[significant], users, share).sum())
    assert exact == pytest.approx(0.12, abs=0.005)
    rng = np.random.default_rng(3)
    difference = np.where(rng.random((CASES, users)) < share, 1 - share, -share)
    found = (p_values("t", np.stack([np.zeros_like(difference), difference], axis=2)) < 0.05).mean()
    assert found == pytest.approx(exact, abs=3 * math.sqrt(exact * (1 - exact) / CASES))
