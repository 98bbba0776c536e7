"""Intervals of means: Wilson, Clopper-Pearson and Student within bounds, and the bootstrap's, one formula at a time."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import atkay
from atkay.errors import RowsError, SpecError
from atkay.results.intervals import INTERVAL_NAMES
from made import result

HITS = [1] * 3 + [0] * 22
SKEWED = np.random.default_rng(5).beta(0.4, 2.0, 60) * (np.random.default_rng(6).random(60) < 0.6)


def ends(values: Any, interval: Any, metric: str = "hit", **given: Any) -> tuple[float, float]:
    """The interval of a result with these values."""
    summary = result(values, metric).with_intervals(interval, **given).summaries[metric]
    return summary.low, summary.high


PROPORTIONS = [("auto", "wilson"), ("wilson", "wilson"), ("clopper-pearson", "exact")]


@pytest.mark.parametrize(("interval", "method"), PROPORTIONS)
@pytest.mark.parametrize("hits", [0, 1, 3, 25])
def test_proportions_as_scipy_has_them(interval: str, method: Any, hits: int) -> None:
    theirs = stats.binomtest(hits, 25).proportion_ci(0.95, method)
    assert ends([1] * hits + [0] * (25 - hits), interval) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_any_metric_whose_values_are_all_0_or_1_has_an_interval_of_proportions() -> None:
    """A metric that no user scores above 0 in is not known to be 0."""
    assert ends([0] * 25, "auto", "ndcg@10") == pytest.approx((0, 0.1331926), abs=1e-6)  # z² / (n + z²)
    assert ends([0] * 25, "auto", "dcg@10") == (0, 0)  # has no upper bound
    half = stats.t.ppf(0.975, 24) * np.std(HITS, ddof=1) / 5
    assert ends(HITS, "student") == pytest.approx((0, 3 / 25 + half))


def test_means_that_others_judge_have_the_same_interval() -> None:
    """Sums that are exact tell zeros and ones from other values: a stream has no value per user."""
    recs, truth = [[1], [2], [3], [4]], [[1], [2], [3], [9]]
    stream = atkay.Stream("hit", n_items=10)
    stream.update(np.array(recs), truth)
    with_rows = atkay.evaluate(recs, truth, "hit")
    kinds: tuple[Any, ...] = ("auto", "student", "wilson", "clopper-pearson")
    for interval in kinds:
        one, other = (each.with_intervals(interval).summaries["hit"] for each in (stream.compute(), with_rows))
        assert one == other
    with pytest.raises(RowsError, match="with_intervals: 'bca' needs values per user"):
        stream.compute().with_intervals("bca")


def test_values_between_0_and_1_count_as_many_zeros_and_ones() -> None:
    """n is m (1 - m) / variance of the mean; Student's t makes it smaller."""
    n, mean = len(SKEWED), SKEWED.mean()
    z, t = stats.norm.ppf(0.975), stats.t.ppf(0.975, n - 1)
    effective = mean * (1 - mean) / (SKEWED.var() / n) * (z / t) ** 2
    middle = (mean + z**2 / (2 * effective)) / (1 + z**2 / effective)
    half = z / (1 + z**2 / effective) * math.sqrt(mean * (1 - mean) / effective + z**2 / (4 * effective**2))
    assert ends(SKEWED, "wilson", "ndcg@10") == pytest.approx((middle - half, middle + half))
    hits = mean * effective
    exact = stats.beta.ppf(0.025, hits, effective - hits + 1), stats.beta.ppf(0.975, hits + 1, effective - hits)
    assert ends(SKEWED, "clopper-pearson", "ndcg@10") == pytest.approx(exact)


def test_student_on_the_scale_of_log_odds() -> None:
    n, mean = len(SKEWED), SKEWED.mean()
    error = SKEWED.std(ddof=1) / math.sqrt(n) / (mean * (1 - mean))
    odds = np.log(mean / (1 - mean)) + stats.t.ppf([0.025, 0.975], n - 1) * error
    assert ends(SKEWED, "logit", "ndcg@10") == pytest.approx(tuple(1 / (1 + np.exp(-odds))))
    assert ends([0] * 25, "logit") == ends([0] * 25, "wilson")  # no odds
    assert ends([1] * 25, "studentised") == ends([1] * 25, "wilson")  # no sample differs


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_bootstrap_intervals_as_scipy_has_them(interval: Any) -> None:
    options: Any = {"method": interval, "n_resamples": 40_000, "batch": 4_000, "rng": np.random.default_rng(1)}
    theirs = stats.bootstrap((SKEWED,), np.mean, **options)
    low, high = ends(SKEWED, interval, "ndcg@10", samples=40_000)
    width = float(theirs.standard_error)
    assert low == pytest.approx(theirs.confidence_interval.low, abs=0.06 * width)
    assert high == pytest.approx(theirs.confidence_interval.high, abs=0.06 * width)
    assert ends(SKEWED, interval, "ndcg@10", rng=8) != ends(SKEWED, interval, "ndcg@10")


def test_the_studentised_interval_in_plain_steps() -> None:
    """The t-values of all 4⁴ samples of four values stand in the place of Student's."""
    values = np.array([0.1, 0.2, 0.4, 0.9])
    error = values.std(ddof=1) / 2
    samples = np.array(list(itertools.product(values, repeat=4)))
    away, spread = samples.mean(axis=1) - values.mean(), samples.std(axis=1, ddof=1)
    t = np.sort(np.where(spread > 1e-12, away / np.maximum(spread / 2, 1e-12), np.copysign(np.inf, away)))
    low, high = values.mean() - error * t[math.ceil(0.975 * 256) - 1], values.mean() - error * t[6]
    assert low > 0  # two of 256 samples have no spread and a mean above: less than 2.5 %
    found = ends(values, "studentised", "dcg", samples=40_000)
    assert found[0] == pytest.approx(low, abs=0.02)
    assert found[1] == pytest.approx(high, abs=0.06)
    assert ends(values, "studentised", "ndcg", samples=40_000) == (found[0], min(1.0, found[1]))


def test_no_interval_where_too_many_samples_have_no_spread() -> None:
    few = [0.0] * 24 + [0.7]
    low, high = ends(few, "studentised", "dcg")
    assert math.isnan(low)
    assert math.isnan(high)
    assert ends(few, "studentised", "ndcg")[1] == 1.0  # as far as values can be


@pytest.mark.parametrize("interval", ["student", "percentile", "bca", "studentised", "logit", "wilson"])
def test_no_interval_leaves_the_bounds(interval: str) -> None:
    for values in (SKEWED[:6], 1 - SKEWED[:6], np.append(np.zeros(20), 0.3), HITS):
        low, high = ends(values, interval, "ndcg@10", samples=500)
        assert 0 <= low <= np.mean(values) <= high <= 1
    low, _ = ends([-1, -0.5, 0.2, -0.9], "student", "kendall")
    assert low == -1  # Kendall's tau goes from -1


def test_differences_stay_within_their_bounds() -> None:
    runs = {"a": result([0.0, 0.0, 0.1]), "b": result([1.0, 0.9, 0.2])}
    for interval in ("student", "studentised"):
        (found,) = atkay.compare(runs, interval=interval, test="t")
        assert -1 <= found.low < found.high <= 1


def test_studentised_differences_are_those_of_the_differences() -> None:
    rng = np.random.default_rng(3)
    first = rng.random(40)
    second = first + rng.exponential(1, 40) ** 2 - 1
    runs = {"a": result(first, "dcg"), "b": result(second, "dcg")}
    (found,) = atkay.compare(runs, interval="studentised", permutations=20_000)
    apart = second - first
    low, high = ends(apart, "studentised", "dcg", samples=20_000)
    width = high - low
    assert found.low == pytest.approx(low, abs=0.03 * width)
    assert found.high == pytest.approx(high, abs=0.05 * width)
    (student,) = atkay.compare(runs)
    assert found.high > student.high  # skewed to the right: further out there
    gaps = np.where(rng.random(40) < 0.3, np.nan, second)
    there = ~np.isnan(gaps)
    (part,) = atkay.compare({"a": runs["a"], "b": result(gaps, "dcg")}, interval="studentised")
    alone = {"a": result(first[there], "dcg"), "b": result(second[there], "dcg")}
    assert part.low == pytest.approx(atkay.compare(alone, interval="studentised")["dcg"][0].low)


def test_weights_of_zeros_and_ones() -> None:
    """A weighted mean of zeros and ones: as many users as weigh the same, less what t takes off."""
    weights = np.array([1.0, 1, 2, 4])
    values = np.array([1.0, 0, 1, 1])
    mean = 7 / 8
    variance = 4 / 3 * float(sum((weights * (values - mean)) ** 2)) / 64
    z, t = stats.norm.ppf(0.975), stats.t.ppf(0.975, 3)
    n = min(mean * (1 - mean) / (variance * 3 / 4), 4) * (z / t) ** 2
    share = z**2 / n
    half = math.sqrt(share * (mean * (1 - mean) + share / 4)) / (1 + share)
    found = result(values, "hit", weights=weights).summaries["hit"]
    middle = (mean + share / 2) / (1 + share)
    assert (found.low, found.high) == pytest.approx((middle - half, middle + half))


def test_medians_and_the_worst_users_have_resampled_intervals_too() -> None:
    values = np.random.default_rng(1).random(100)
    median = result(values, protocol=atkay.Protocol(aggregate="median"))
    theirs = stats.bootstrap((values,), np.median, method="percentile", rng=np.random.default_rng(1))
    found = median.with_intervals("percentile").summaries["mrr"]
    expected = theirs.confidence_interval.low, theirs.confidence_interval.high
    assert (found.low, found.high) == pytest.approx(expected, abs=0.02)
    with pytest.raises(SpecError, match="'bca' is of means, and mrr is aggregated by median"):
        median.with_intervals("bca")


def test_an_interval_is_printed_and_saved(tmp_path: Path) -> None:
    given = result(SKEWED, "ndcg@10")
    assert "95 % CI" not in str(given).splitlines()[-1]
    found = given.with_intervals("studentised", samples=500, rng=3)
    assert "95 % CI: studentised bootstrap (500 samples, seed 3)" in str(found)
    found.save(tmp_path / "r.json")
    again = atkay.Result.load(tmp_path / "r.json")
    assert again.summaries == found.summaries
    assert again.interval == found.interval


def test_the_coverage_of_each_interval_is_on_its_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "intervals.md").read_text()
    table = page.partition("<!-- means -->\n")[2].partition("<!-- end of means -->")[0]
    columns = [cell.strip(" `") for cell in table.splitlines()[0].strip("|").split("|")]
    assert {*columns[2:]} == {*INTERVAL_NAMES} - {"auto"}
    assert {line.split("|")[2].strip() for line in table.splitlines()[2:]} == {"25", "50", "200"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("bootstrap-t",), "unknown value 'bootstrap-t' for interval"),
        (("wilson",), "'wilson' is for means of values from 0 to 1, and dcg is something else"),
        (("bca", 0), "samples must be a positive integer, got 0"),
        (("bca", 10, -1), "rng must be"),
    ],
)
def test_refused(given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        result([0.5, 1.5], "dcg").with_intervals(given[0], **dict(zip(("samples", "rng"), given[1:], strict=False)))
