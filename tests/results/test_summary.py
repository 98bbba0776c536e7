"""Means and intervals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atkay.results.summary import group_means, group_sums, mean, summarise

floats = st.floats(0, 1e6, allow_subnormal=False) | st.sampled_from([0.1, 1 / 3, 1e-9, 0.0, 1.0])


@given(values=st.lists(floats, min_size=1, max_size=60), seed=st.integers(0, 99))
def test_a_mean_is_the_same_in_any_order_and_correctly_rounded(values: list[float], seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(values)
    exact = float(sum(map(Fraction, values)) / len(values))
    assert mean(np.array(values)) == mean(shuffled) == summarise(np.array(values)).mean == exact


@given(values=st.lists(floats, min_size=1, max_size=60), seed=st.integers(0, 99))
def test_sums_of_groups_are_the_same_in_any_order(values: list[float], seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(values)
    one = np.zeros(len(values), int)
    [total] = group_sums(np.array(values), one, 1)
    assert group_sums(shuffled, one, 1) == total == pytest.approx(math.fsum(values), rel=2**-52)


def test_a_plain_sum_would_depend_on_the_order() -> None:
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    up, down = np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.2, 0.1])
    assert mean(up) == mean(down) == float(sum(map(Fraction, [0.1, 0.2, 0.3])) / 3)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e200])
def test_means_of_any_magnitude(scale: float) -> None:
    values = np.array([0.1, 0.2, 0.3]) * scale
    assert mean(values) == float(sum(map(Fraction, values)) / 3)
    assert group_sums(values, np.zeros(3, int), 1)[0] == pytest.approx(3 * mean(values), rel=1e-15)


def test_group_means_leave_out_the_undefined() -> None:
    means = group_means(np.array([1.0, math.nan, 3.0, math.nan]), np.array([0, 0, 0, 1]), 2)
    assert means[0] == 2
    assert math.isnan(means[1])


def test_student_interval() -> None:
    # Student's sleep data, differences of the two drugs: n = 10, mean 1.58, 95 % interval 0.700114 to 2.459886.
    differences = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    summary = summarise(differences)
    assert summary.mean == pytest.approx(1.58)
    assert [summary.low, summary.high] == pytest.approx([0.700114, 2.459886], abs=1e-6)
    assert summary.deviation == pytest.approx(differences.std(ddof=1))
    assert (summary.users, summary.undefined) == (10, 0)


def test_one_user_has_no_interval() -> None:
    summary = summarise(np.array([0.5]))
    assert summary.mean == 0.5
    assert math.isnan(summary.low)
    assert math.isnan(summary.deviation)


def test_undefined_values_do_not_count() -> None:
    summary = summarise(np.array([0.5, math.nan, 1.0]))
    assert summary.mean == 0.75
    assert (summary.users, summary.undefined) == (2, 1)
    nothing = summarise(np.array([math.nan]))
    assert math.isnan(nothing.mean)
    assert (nothing.users, nothing.undefined) == (0, 1)


def test_a_pooled_ratio_and_its_interval() -> None:
    # Ratio 6/12. Residuals n - r d: 1 - 1, 2 - 1, 3 - 4 = 0, 1, -1, over the mean denominator 4: variance (2/16) / 2.
    summary = summarise((np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 8.0])))
    assert summary.mean == 0.5
    half = 4.302652729911275 * math.sqrt((2 / 16) / 2) / math.sqrt(3)  # t quantile at 0.975, 2 degrees of freedom
    assert [summary.low, summary.high] == pytest.approx([0.5 - half, 0.5 + half])
    assert math.isnan(summarise((np.zeros(2), np.zeros(2))).mean)


def test_pooling_equal_denominators_gives_the_interval_of_the_mean() -> None:
    numerator, denominator = np.array([1.0, 0.0, 1.0, 1.0]), np.ones(4)
    pooled, mean = summarise((numerator, denominator)), summarise(numerator)
    assert (pooled.mean, pooled.low, pooled.high) == pytest.approx((mean.mean, mean.low, mean.high))


def test_whoever_adds_nothing_to_the_denominator_does_not_count() -> None:
    # Ratio and residuals of the test above: a thousand users with nothing to divide by would make 2 degrees of freedom
    # 1002, and the interval less than half as wide.
    without = summarise((np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 8.0])))
    nothing = np.zeros(1000)
    summary = summarise((np.append([1.0, 2.0, 3.0], nothing), np.append([2.0, 2.0, 8.0], nothing)))
    assert (summary.mean, summary.low, summary.high) == (without.mean, without.low, without.high)
    assert (summary.users, summary.undefined) == (3, 1000)
    alone = summarise((np.array([1.0, 0.0]), np.array([2.0, 0.0])))
    assert (alone.mean, alone.users, alone.undefined) == (0.5, 1, 1)
    assert math.isnan(alone.low)  # one user has no interval


def test_sums_of_a_group_do_not_depend_on_other_groups() -> None:
    # 1e200 in another group leaves those of the second untouched, however the users are divided into parts.
    values, groups = np.array([1e200, 1.0, 1e-3]), np.array([0, 1, 1])
    assert group_sums(values, groups, 2).tolist() == [1e200, 1.001]
    rng = np.random.default_rng(5)
    values, groups = rng.random(2_000) * 2.0 ** rng.integers(-30, 5, 2_000), rng.integers(0, 300, 2_000)
    half = groups < 150
    whole = group_sums(values, groups, 300)
    assert (whole[:150] == group_sums(values[half], groups[half], 150)).all()
    assert whole == pytest.approx([math.fsum(values[groups == group]) for group in range(300)], rel=1e-15)


def test_a_pooled_mean_leaves_out_what_is_undefined() -> None:
    pair = np.array([1.0, math.nan]), np.array([1.0, 1.0])
    assert mean(pair) == summarise(pair).mean == 1
