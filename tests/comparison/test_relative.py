"""Relative differences and their intervals, by the definition, and what a verdict prints of them."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from scipy import stats

import atkay
from atkay.comparison.difference import Difference
from atkay.comparison.relative import percent
from made import result


def pair(first: Any, second: Any, metric: str = "mrr", **options: Any) -> Difference:
    runs = {"old": result(first, metric), "new": result(second, metric)}
    (difference,) = atkay.compare(runs, baseline="old", **{"test": "t", **options})
    return difference


@pytest.mark.parametrize("seed", range(6))
def test_fiellers_interval(seed: int) -> None:
    """At either end, run - (1 + share) * against has p = 0.05; 0 lies in both intervals or in neither."""
    rng = np.random.default_rng(seed)
    first = rng.gamma(0.5, 0.3, 40)
    second = first * rng.uniform(0.4, 1.8, 40) + rng.normal(0.02, 0.02, 40)
    found = pair(first, second)
    assert found.relative == pytest.approx(second.mean() / first.mean() - 1)
    for end in (found.relative_low, found.relative_high):
        assert stats.ttest_1samp(second - (1 + end) * first, 0).pvalue == pytest.approx(0.05)
    assert found.relative_low < found.relative < found.relative_high
    assert (found.low > 0, found.high < 0) == (found.relative_low > 0, found.relative_high < 0)


def test_no_interval_where_the_baseline_could_be_0() -> None:
    """One user of 20 scores 1: the interval of the baseline's mean is 0.05 ± 0.105, and any ratio is possible."""
    first, second = np.eye(20)[0], np.tile([0.0, 1.0], 10)
    found = pair(first, second)
    assert found.relative == pytest.approx((10 / 20) / (1 / 20) - 1)
    assert math.isnan(found.relative_low)
    assert math.isnan(found.relative_high)


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_the_ends_of_a_bootstrap_interval_are_divided_by_the_baseline(interval: str) -> None:
    rng = np.random.default_rng(1)
    first = rng.random(50)
    found = pair(first, first + rng.normal(0.1, 0.2, 50), interval=interval, permutations=500)
    assert (found.relative_low, found.relative_high) == pytest.approx(
        (found.low / first.mean(), found.high / first.mean())
    )


def test_a_median_and_a_geometric_mean() -> None:
    truth = {user: ["a"] for user in range(60)}
    ranks = np.random.default_rng(2).integers(0, 4, (2, 60))
    runs = {
        name: {user: [*"bcd"[:rank], "a"] for user, rank in enumerate(of_run)}
        for name, of_run in zip(("old", "new"), ranks, strict=True)
    }
    values = 1 / (ranks + 1)
    options: Any = {"test": "bootstrap", "interval": "percentile", "permutations": 200}
    (median,) = atkay.compare(runs, truth, "mrr", aggregate="median", baseline="old", **options)
    assert median.base == np.median(values[0])
    assert median.relative == pytest.approx(np.median(values[1]) / np.median(values[0]) - 1)
    (geometric,) = atkay.compare(runs, truth, "mrr", aggregate="geometric", baseline="old", test="t")
    means = [float(stats.gmean(of_run)) for of_run in values]
    assert geometric.base == pytest.approx(means[0])
    assert geometric.relative == pytest.approx(means[1] / means[0] - 1)
    ratio = stats.ttest_1samp(np.log(values[1] / values[0]), 0).confidence_interval()
    assert geometric.relative_low == pytest.approx(math.exp(ratio.low) - 1)
    assert geometric.relative_high == pytest.approx(math.exp(ratio.high) - 1)


def test_the_baseline_is_that_of_the_same_users() -> None:
    """Users 0 to 19 are in both runs; the baseline's others, who score 1, are not in the share."""
    rng = np.random.default_rng(3)
    common = rng.random(20) / 2
    old, new = result(np.concatenate([common, np.ones(20)])), result(common * 1.5 + rng.normal(0, 0.01, 20))
    (found,) = atkay.compare({"old": old, "new": new}, baseline="old", test="t")
    assert found.base == pytest.approx(common.mean())
    assert found.relative == pytest.approx(0.5, abs=0.05)


def test_weights() -> None:
    """A weighted mean is a ratio: the share is that of the weighted means."""
    rng = np.random.default_rng(4)
    first, weights = rng.random(40), rng.integers(1, 5, 40).astype(float)
    second = first + rng.normal(0.2, 0.1, 40)
    runs = {name: result(values, weights=weights) for name, values in (("old", first), ("new", second))}
    (found,) = atkay.compare(runs, baseline="old", test="t")
    ratio = np.average(second, weights=weights) / np.average(first, weights=weights)
    assert found.relative == pytest.approx(ratio - 1)
    # By the jackknife, which knows nothing of Fieller, the standard error of the ratio is nearly the same.
    left = [
        np.average(np.delete(second, at), weights=np.delete(weights, at))
        / np.average(np.delete(first, at), weights=np.delete(weights, at))
        for at in range(40)
    ]
    error = math.sqrt(39 / 40 * ((np.array(left) - np.mean(left)) ** 2).sum())
    assert found.relative_high - found.relative_low == pytest.approx(2 * stats.t.ppf(0.975, 39) * error, rel=0.1)


@pytest.mark.parametrize(
    ("base", "shift", "words"),
    [
        (0.4, 0.1, "+25 %"),
        (0.4, -0.1, "-25 %"),
        (0.4, 0.01, "+2.5 %"),
        (0.4, 0.0002, "+0.05 %"),
        (0.4, -0.0002, "-0.05 %"),
        (400.0, 100.0, "+25 %"),
        (0.002, 0.1, "×51"),
        (0.0, 0.1, None),
        (-0.4, 0.1, None),
    ],
)
@pytest.mark.parametrize("metric", ["mrr", "mpr", "arp"])
def test_verdicts_of_baselines_of_every_size(metric: str, base: float, shift: float, words: str | None) -> None:
    """A baseline that is the same for all users, and differences of 99 % and 101 % of the shift by turns."""
    metric = "arp" if abs(base) > 1 else metric  # the others are bounded
    found = pair(np.full(20, base), base + shift * (1 + np.tile([-0.01, 0.01], 10)), metric)
    shown = re.match(
        r"([+-][0-9.]+)(?: \((.*?)\))?, 95 % CI \[([+-][0-9.]+), ([+-][0-9.]+)\], p < 0.0001", found.verdict
    )
    assert shown is not None
    assert float(shown[1]) == pytest.approx(shift)
    assert shown[2] == words
    assert float(shown[3]) < shift < float(shown[4])
    assert found.significant
    assert ("(lower is better)" in found.verdict) == (metric == "mpr")
    assert np.sign(found.low) == np.sign(found.high) == np.sign(shift)
    assert math.isnan(found.relative) == (base <= 0)


def test_shares_as_text() -> None:
    expected = {
        0.14: "+14 %", -0.29: "-29 %", 0.014: "+1.4 %", -0.0004: "-0.04 %", 0.0: "+0.0 %", 2.71: "+271 %", 30.0: "×31",
        -3.0: "-300 %", 12345.0: "×12,346", -0.0998: "-10 %", 0.0994: "+9.9 %", -0.000998: "-0.1 %", 0.0006: "+0.06 %",
        -0.3: "-30 %", 0.00101: "+0.1 %",
    }  # fmt: skip
    assert {value: percent(value) for value in expected} == expected


def test_no_end_reads_as_0_and_no_p_value_as_the_level() -> None:
    """Where 0 is outside of the interval, its ends do not round to 0."""
    values: Any = {
        "difference": 0.0101,
        "low": 0.0002,
        "high": 0.02,
        "deviation": 0.1,
        "p": {"t": 0.0496},
        "users": 100,
    }
    shared: Any = {"metric": "mrr", "run": "b", "against": "a", "better": "higher", "finding": "significant"}
    found = Difference(**shared, **values, corrected={"t": 0.04998})
    assert found.verdict == "+0.0101, 95 % CI [+0.0002, +0.0200], p = 0.04998 (uncorrected): significant"


def test_columns_of_the_table() -> None:
    first = np.random.default_rng(5).random(30)
    runs = {"old": result(first), "new": result(first * 1.5)}
    comparison = atkay.compare(runs, baseline="old", test="t")
    (row,) = comparison.table.select("relative", "relative_low", "relative_high").rows()
    (found,) = comparison
    assert row == (found.relative, found.relative_low, found.relative_high)
    assert row == pytest.approx((0.5, 0.5, 0.5))  # the same share for each user: no error at all
