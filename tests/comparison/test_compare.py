"""Comparisons: vectors, SciPy as the reference, who is paired with whom, what is refused, and what is shown."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import atkay
from atkay.comparison import permutation
from atkay.comparison.corrections import benjamini_hochberg, bonferroni, corrected, holm
from atkay.comparison.difference import Difference
from atkay.comparison.power import chance, detectable, needed
from atkay.comparison.verdict import finding
from atkay.core.types import Slicing
from atkay.errors import (
    DuplicateError,
    IdError,
    InputError,
    NotMeanWarning,
    NumberError,
    PermutationsWarning,
    ProtocolError,
    SourceError,
    SpecError,
)
from atkay.text import progress
from atkay.text.grid import as_markdown
from made import result

EVERY: Any = ("t", "permutation", "bootstrap", "tukey", "randomised_tukey", "wilcoxon", "sign")

# Student's sleep data: extra hours of sleep of ten patients under two drugs.
FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def one(first: Any, second: Any, **given: Any) -> Difference:
    """The difference of two columns of values without bounds."""
    (found,) = atkay.compare({"a": result(first, "dcg"), "b": result(second, "dcg")}, **given)
    return found


def noise(users: int, runs: int, seed: int = 1) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.random((users, 1)) + rng.exponential(0.2, (users, runs)) + 0.02 * np.arange(runs)


@pytest.fixture
def sleep() -> Difference:
    return one(FIRST, SECOND, test=("t", "permutation", "tukey"))


def test_sleep(sleep: Difference) -> None:
    assert sleep.difference == pytest.approx(1.58)
    assert sleep.p["t"] == pytest.approx(0.002833, abs=5e-7)
    assert [sleep.low, sleep.high] == pytest.approx([0.700114, 2.459886], abs=5e-7)
    assert sleep.effect == pytest.approx(1.284558, abs=5e-7)
    assert sleep.effect * math.sqrt(10) == pytest.approx(4.062128, abs=5e-7)
    assert sleep.p["permutation"] == 0.00390625  # 2 of the 2^9 sign patterns: one patient's difference is 0
    assert sleep.p["tukey"] == pytest.approx(0.002833, abs=5e-7)
    assert (sleep.wins, sleep.ties, sleep.losses, sleep.users) == (9, 1, 0, 10)
    assert sleep.verdict == "+1.580 (+211 %), 95 % CI [+0.700, +2.460], p = 0.003 (Holm): significant"  # 1.58 / 0.75


def test_corrections() -> None:
    p = np.array([0.01, 0.04, 0.03, 0.005])
    assert holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert benjamini_hochberg(p) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert bonferroni(p) == pytest.approx([0.04, 0.16, 0.12, 0.02])
    assert holm(np.array([0.6, 0.7])).tolist() == [1, 1]  # 0.6 · 2 is no probability


def test_families() -> None:
    p = np.array([[0.01, 0.04], [0.03, math.nan]])
    # All three: .01 · 3, .03 · 2, and .04 no less than that.
    assert corrected(p, "holm", "all", joint=False)[0].tolist() == pytest.approx([0.03, 0.06])
    assert corrected(p, "holm", "all", joint=False)[1, 0] == pytest.approx(0.06)
    assert corrected(p, "holm", "metric", joint=False)[0].tolist() == pytest.approx([0.02, 0.04])
    assert corrected(p, "holm", "metric", joint=False)[1, 0] == pytest.approx(0.03)
    # Tukey's are corrected over pairs as they are: times two metrics.
    assert corrected(p, "holm", "all", joint=True)[0].tolist() == pytest.approx([0.02, 0.08])
    assert corrected(p, "bh", "metric", joint=True)[0].tolist() == [0.01, 0.04]
    assert corrected(p, "none", "all", joint=False)[0].tolist() == [0.01, 0.04]
    assert np.isnan(corrected(p, "holm", "all", joint=False)[1, 1])


def test_power() -> None:
    assert needed(0.5) == pytest.approx(33.37, abs=0.005)
    assert chance(0.5, needed(0.5)) == pytest.approx(0.8)
    assert detectable(needed(0.5)) == pytest.approx(0.5)
    # By drawing: the share of samples of 20 with d = 0.6 in which SciPy's test finds it.
    drawn = np.random.default_rng(5).normal(0.6, 1, (20_000, 20))
    share = np.mean(stats.ttest_1samp(drawn, 0, axis=1).pvalue < 0.05)
    assert chance(0.6, 20) == pytest.approx(share, abs=4 * math.sqrt(0.25 / 20_000))
    # From a million users on by the normal distribution, without a step.
    assert chance(0.003, 1_000_001) == pytest.approx(chance(0.003, 1_000_002), abs=1e-5)
    assert needed(1e-5) == pytest.approx((1.959964 + 0.841621) ** 2 / 1e-10, rel=1e-5)


def test_power_of_a_comparison() -> None:
    runs = {name: result(noise(50, 3)[:, at]) for at, name in enumerate("abc")}
    found = atkay.compare(runs, min_effect=0.1)
    table = atkay.power(found).to_polars()
    first = table.row(0, named=True)
    assert atkay.power(found).level == pytest.approx(0.05 / 3)  # three pairs, Holm's
    assert first["detectable"] == pytest.approx(detectable(50, level=0.05 / 3) * found.differences[0].deviation)
    assert first["chance"] == pytest.approx(chance(0.1 / first["deviation"], 50, 0.05 / 3))
    assert first["needed"] == pytest.approx(needed(0.1 / first["deviation"], level=0.05 / 3))
    assert atkay.power(atkay.compare(runs, correction="bh")).level == 0.05
    assert "–" in repr(atkay.power(atkay.compare(runs)))  # nothing is said to matter
    for wanted in (80, None):
        with pytest.raises(SpecError, match="wanted must be a number between 0 and 1"):
            atkay.power(found, wanted=wanted)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match=r"wanted must be above the level 0\.0166\d+, got 0\.01"):
        atkay.power(found, wanted=0.01)
    with pytest.raises(InputError, match=r"pass a Comparison from compare\(\.\.\.\), got a str"):
        atkay.power("x")  # type: ignore[arg-type]


# What SciPy has.


@pytest.mark.parametrize("users", [8, 40])
def test_scipy(users: int) -> None:
    first, second = noise(users, 2).T
    second = np.where(np.arange(users) % 5 == 0, first, second)  # some users do not move
    with pytest.warns(NotMeanWarning, match="does not test the mean"):
        found = one(first, second, test=("t", "wilcoxon", "sign"))
    moved = (second - first)[second != first]
    assert found.p["t"] == pytest.approx(stats.ttest_rel(second, first).pvalue)
    assert found.p["wilcoxon"] == pytest.approx(stats.wilcoxon(moved).pvalue)
    assert found.p["sign"] == pytest.approx(stats.binomtest(int((moved > 0).sum()), len(moved)).pvalue)
    ends = stats.ttest_rel(second, first).confidence_interval(0.95)
    assert [found.low, found.high] == pytest.approx([ends.low, ends.high])


def test_exact_permutations_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = noise(10, 2).T
    whole = one(first, second, test="permutation").p["permutation"]
    monkeypatch.setattr(permutation, "PATTERNS_PER_BLOCK", 100)
    assert one(first, second, test="permutation").p["permutation"] == whole


def test_exact_permutations() -> None:
    first, second = noise(12, 2).T
    ours = one(first, second, test="permutation").p["permutation"]
    options: Any = {"permutation_type": "samples", "n_resamples": np.inf}
    theirs = stats.permutation_test((second, first), lambda x, y: np.mean(x - y), **options).pvalue
    assert ours == pytest.approx(theirs)


def test_sampled_permutations_come_near_all_of_them() -> None:
    """13 users: all 8,192 patterns are gone through for 10,000 permutations, and not for 5,000."""
    first, second = noise(13, 2, seed=4).T
    exact = one(first, second, test="permutation").p["permutation"]
    drawn = one(first, second, test="permutation", permutations=5_000).p["permutation"]
    assert drawn != exact
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 5_000))
    assert (drawn * 5_001) == pytest.approx(round(drawn * 5_001))  # (b + 1) / (B + 1)


def test_no_p_value_is_zero() -> None:
    rng = np.random.default_rng(3)
    first = rng.random(3_000)
    with pytest.warns(NotMeanWarning):
        found = one(first, first + 10 + rng.random(3_000), test=EVERY, permutations=99)
    assert all(0 < p < 0.02 for p in found.p.values())
    assert found.p["permutation"] == found.p["bootstrap"] == found.p["randomised_tukey"] == 1 / 100


def test_ties_between_permutations_are_counted_despite_rounding() -> None:
    """20 users gain 0.1 and 10 lose 0.1: every pattern's sum is a multiple of 0.2, and many equal the one at hand."""
    first = np.random.default_rng(0).random(30)
    found = one(first, first + np.repeat([0.1, -0.1], [20, 10]), test="permutation", permutations=20_000)
    exact = 2 * stats.binom.sf(19, 30, 0.5)
    assert found.p["permutation"] == pytest.approx(exact, abs=4 * math.sqrt(exact / 20_000))
    assert (found.wins, found.ties, found.losses) == (20, 0, 10)


def test_two_way_tukey_by_hand() -> None:
    values = noise(9, 4)
    runs = {name: result(column) for name, column in zip("abcd", values.T, strict=True)}
    found = atkay.compare(runs, test="tukey", correction="none")
    fitted = values.mean(axis=1, keepdims=True) + values.mean(axis=0) - values.mean()
    error = ((values - fitted) ** 2).sum() / (8 * 3)
    for each, (a, b) in zip(found, itertools.combinations(range(4), 2), strict=True):
        q = abs(values[:, b].mean() - values[:, a].mean()) / math.sqrt(error / 9)
        assert each.p["tukey"] == pytest.approx(stats.studentized_range.sf(q, 4, 24), rel=1e-6)


def test_tukeys_test_of_two_runs_is_the_t_test_down_to_what_can_be_integrated() -> None:
    """Here t is 1e-3 to 1e-300; the studentised range is integrated to eleven digits."""
    rng = np.random.default_rng(2)
    first = rng.random(400)
    for shift in (0.2, 0.3, 1.0, 5.0):
        found = one(first, first + rng.normal(shift, 1.0, 400), test=("t", "tukey")).p
        assert found["tukey"] == pytest.approx(max(found["t"], 1e-11), rel=1e-4, abs=2e-12)


def test_randomised_tukey_comes_near_all_orders() -> None:
    """Three runs, five users: all 6^5 ways to relabel, gone through one by one."""
    values = noise(5, 3, seed=8)
    runs = {name: result(column) for name, column in zip("abc", values.T, strict=True)}
    found = atkay.compare(runs, test="randomised_tukey", correction="none", permutations=4_000)
    orders = [values[:, list(order)] for order in itertools.permutations(range(3))]
    furthest = np.array(
        [
            np.ptp(np.mean([orders[choice][user] for user, choice in enumerate(choices)], axis=0))
            for choices in itertools.product(range(6), repeat=5)
        ]
    )
    for each in found:
        exact = (furthest >= abs(each.difference) - 1e-12).mean()
        # The shifts of this one draw of orders reach 3^5 of the ways.
        assert each.p["randomised_tukey"] == pytest.approx(exact, abs=0.08)


def test_randomised_tukey_of_too_many_runs() -> None:
    runs = {f"run {n}": {"ann": ["a", "b"], "bob": ["b", "a"]} for n in range(257)}
    results = {name: atkay.evaluate(lists, {"ann": ["a"], "bob": ["b"]}, "mrr") for name, lists in runs.items()}
    with pytest.raises(atkay.errors.InputError, match="at most 256 runs, got 257"):
        atkay.compare(results, test="randomised_tukey")


def test_randomised_tukey_of_two_runs_is_the_sign_flip_test() -> None:
    first, second = noise(40, 2).T
    found = one(first, second, test=("permutation", "randomised_tukey"), permutations=20_000).p
    p = found["permutation"]
    assert found["randomised_tukey"] == pytest.approx(p, abs=5 * math.sqrt(p / 20_000))


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_bootstrap_intervals(interval: str) -> None:
    rng = np.random.default_rng(2)
    first = rng.random(60)
    second = first + rng.exponential(1, 60) ** 2 - 1  # skewed, so that the two kinds differ
    found = one(first, second, interval=interval)
    options: Any = {"method": interval, "n_resamples": 9_999, "rng": rng}
    theirs = stats.bootstrap((second - first,), np.mean, **options)
    ends, width = theirs.confidence_interval, theirs.standard_error
    assert found.low == pytest.approx(ends.low, abs=0.1 * width)
    assert found.high == pytest.approx(ends.high, abs=0.15 * width)
    student = one(first, second)
    assert (found.low, found.high) != (student.low, student.high)


def test_the_bootstrap_test_in_plain_steps() -> None:
    """Each sample's t-value about the mean at hand, next to the t-value at hand about 0."""
    rng = np.random.default_rng(6)
    difference = rng.normal(0.8, 1.0, 12)
    samples = rng.choice(difference, (20_000, 12))
    t = (samples.mean(axis=1) - difference.mean()) / (samples.std(axis=1, ddof=1) / math.sqrt(12))
    observed = difference.mean() / (difference.std(ddof=1) / math.sqrt(12))
    p = float(np.mean(np.abs(t) >= abs(observed)))
    assert 0.005 < p < 0.2
    ours = one(np.zeros(12), difference, test="bootstrap", permutations=20_000).p["bootstrap"]
    assert ours == pytest.approx(p, abs=6 * math.sqrt(p / 20_000))


def test_bootstrap_intervals_where_values_are_missing() -> None:
    """A pair that lacks some users has the interval of those it has."""
    rng = np.random.default_rng(2)
    first, second = noise(300, 2).T
    gaps = np.where(rng.random(300) < 0.5, np.nan, second)
    found, there = one(first, gaps, interval="bca", test="bootstrap"), ~np.isnan(gaps)
    alone = one(first[there], second[there], interval="bca", test="bootstrap")
    assert found.users == alone.users == there.sum()
    assert found.undefined == 300 - there.sum()
    assert [found.low, found.high] == pytest.approx([alone.low, alone.high])
    assert found.p == alone.p
    # With many users, samples are of all of them, and the pair's number in each is near what it has.
    first, second = noise(1_500, 2).T
    gaps = np.where(rng.random(1_500) < 0.5, np.nan, second)
    found, there = one(first, gaps, interval="bca", test="bootstrap"), ~np.isnan(gaps)
    alone = one(first[there], second[there], interval="bca", test="bootstrap")
    width = alone.high - alone.low
    assert found.low == pytest.approx(alone.low, abs=0.05 * width)
    assert found.high == pytest.approx(alone.high, abs=0.05 * width)


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_bootstrap_intervals_of_few_users_among_many(interval: str) -> None:
    """Five users of 60: most samples of 60 have another number of them, and some have none."""
    values = noise(60, 3)
    runs = {"few": result(values[:5, 0]), "b": result(values[:, 1]), "c": result(values[:, 2])}
    options: dict[str, Any] = {"interval": interval, "test": "bootstrap", "permutations": 2_000}
    (found, *_) = atkay.compare(runs, baseline="few", **options)
    alone = one(values[:5, 0], values[:5, 1], **options)
    assert [found.low, found.high] == pytest.approx([alone.low, alone.high])
    assert found.p == alone.p


# Who is paired with whom.

TRUTH = {user: ["x", "y"] for user in "abcdefgh"}
OLD = {user: ["q", "x", "y"] for user in "abcdefgh"}
NEW = {user: ["x", "y"] if user in "abcd" else ["q", "r", "x"] for user in "abcdefg"}


def test_users_are_paired_by_id_and_not_by_row() -> None:
    first, second = noise(30, 2).T
    order = np.random.default_rng(0).permutation(30)
    plain = atkay.compare({"a": result(first), "b": result(second)})
    turned = atkay.compare({"a": result(first), "b": result(second[order], ids=order)})
    assert turned.differences == plain.differences


def test_a_user_without_a_list_scores_zero_or_is_left_out() -> None:
    zero = atkay.compare({"old": OLD, "new": NEW}, TRUTH, "mrr")
    # Old: 1/2 for all eight. New: 1 for four, 1/3 for three, and h has no list.
    assert zero["mrr"][0].difference == pytest.approx((4 + 3 / 3 + 0) / 8 - 1 / 2)
    assert (zero["mrr"][0].users, zero["mrr"][0].left_out) == (8, 0)
    assert "new: 8 users evaluated; 1 without a list (scored 0)" in zero.notes
    skip = atkay.compare({"old": OLD, "new": NEW}, TRUTH, "mrr", no_recs="skip")
    assert skip["mrr"][0].difference == pytest.approx((4 + 3 / 3) / 7 - 1 / 2)
    assert (skip["mrr"][0].users, skip["mrr"][0].left_out) == (7, 1)
    assert skip.means["old"]["mrr"].users == 8
    assert any(note.startswith("users missing in some runs: 1; ") for note in skip.notes)


def test_undefined_values_are_left_out_and_counted() -> None:
    found = one([0.1, 0.2, np.nan, 0.4, 0.5], [0.2, np.nan, 0.3, 0.3, 0.9])
    assert (found.users, found.undefined, found.left_out) == (3, 2, 0)
    assert found.difference == pytest.approx((0.1 - 0.1 + 0.4) / 3)
    assert found.p["permutation"] == 0.75  # ±.1 ±.1 ±.4: .6, .4, .4 and .2, either sign; .4 is reached by 6 of 8


def test_permutations_with_undefined_values_are_those_without_these_users() -> None:
    values = noise(60, 3)
    values[::3, 1] = np.nan
    found = atkay.compare({n: result(c) for n, c in zip("abc", values.T, strict=True)}, test="permutation")
    there = ~np.isnan(values[:, 1])
    alone = one(values[there, 0], values[there, 1], test="permutation")
    p = alone.p["permutation"]
    assert found.differences[0].p["permutation"] == pytest.approx(p, abs=5 * math.sqrt(p / 10_000))
    assert found.differences[0].difference == alone.difference
    assert found.differences[1].users == 60


def test_nobody_in_common() -> None:
    with pytest.raises(IdError, match="'a' and 'b' have no user in common: 0 and 7, for example"):
        atkay.compare({"a": result([0.1, 0.2]), "b": result([0.1, 0.2], ids=[7, 8])})
    undefined = one([np.nan, 0.2], [0.1, np.nan])
    assert (undefined.users, undefined.verdict, undefined.finding) == (0, "undefined", "not tested")


def test_groups_are_the_units() -> None:
    """Two queries of one user are one unit: means of 1/2 and 1, and of 1 and 0."""
    keys = {"user": ["u", "u", "v"], "visit": [1, 2, 1]}
    truth = pl.DataFrame({**keys, "item": [1, 2, 3]})
    runs = {
        "a": pl.DataFrame({**keys, "item": [1, 9, 3]}),
        "b": pl.DataFrame({**keys, "item": [1, 2, 9]}),
    }
    columns = {name: atkay.Columns(user=("user", "visit")) for name in ("recs", "truth")}
    found = atkay.compare(runs, truth, "hit@1", columns=columns, average_over="user")
    assert (found["hit@1"][0].users, found["hit@1"][0].difference) == (2, (1 - 0.5 + 0 - 1) / 2)
    # The groups' numbers differ between results; that they share queries makes them the same.
    alone = {
        name: atkay.evaluate(run, truth, "hit@1", columns=columns, average_over="user") for name, run in runs.items()
    }
    other = dataclasses.replace(alone["b"], groups=np.array([5, 5, 2]))
    assert atkay.compare({"a": alone["a"], "b": other}).differences == found.differences


def test_a_unit_counts_the_queries_that_both_runs_have() -> None:
    """The same lists, and one query missing in one run: what both have does not differ."""
    rng = np.random.default_rng(4)
    values, groups, ids = rng.random(30), np.repeat(np.arange(10), 3), np.arange(30)
    kept = ids % 3 != 1
    fields: dict[str, Any] = {"protocol": atkay.Protocol(no_recs="skip", average_over="person")}
    full = result(values, ids=ids, groups=groups, **fields)
    half = result(values[kept], ids=ids[kept], groups=groups[kept], **fields)
    found = atkay.compare({"a": full, "b": half})
    assert (found["mrr"][0].difference, found["mrr"][0].ties, found["mrr"][0].left_out) == (0, 10, 0)
    assert any(note.startswith("queries without a value in some runs: 10; ") for note in found.notes)
    # Other values: the person's mean is of the two queries that both runs have, defined or not.
    other = rng.random(30)
    gaps = result(np.where(kept, other, np.nan), ids=ids, groups=groups, **fields)
    part = result(other[kept], ids=ids[kept], groups=groups[kept], **fields)
    persons = (other - values).reshape(10, 3)[:, [0, 2]].mean(axis=1)
    for second in (gaps, part):
        (pair, third) = atkay.compare({"a": full, "b": second, "c": full}, test=EVERY[:3])["mrr"][:2]
        assert pair.difference == pytest.approx(persons.mean())
        assert pair.p["t"] == pytest.approx(stats.ttest_1samp(persons, 0).pvalue)
        assert third.difference == 0
    alone = one(np.zeros(10), persons, test="permutation").p["permutation"]
    assert pair.p["permutation"] == alone
    # A person whose queries are all in one run alone is left out.
    none = result(other[3:], ids=ids[3:], groups=groups[3:], **fields)
    (pair,) = atkay.compare({"a": full, "b": none})
    assert (pair.users, pair.left_out, pair.undefined) == (9, 1, 0)


def test_a_run_with_nothing_to_divide_by_is_undefined_and_leaves_the_others_alone() -> None:
    rng = np.random.default_rng(1)
    above, below = rng.integers(0, 5, (40, 2)).astype(float), rng.integers(5, 9, (40, 2)).astype(float)
    name, zero = "precision(per=listed,average=pooled)@5", np.zeros(40)
    ratios = {"a": (above[:, 0], below[:, 0]), "b": (above[:, 1], below[:, 1]), "none": (zero, zero)}
    runs = {run: result(zero, name, ratios={name: both}) for run, both in ratios.items()}
    tests: Any = ("permutation", "t", "bootstrap", "randomised_tukey")
    found = atkay.compare(runs, test=tests, permutations=999)
    alone = atkay.compare({run: runs[run] for run in "ab"}, test=tests, permutations=999)
    for test in ("permutation", "t", "bootstrap"):
        assert found.differences[0].p[test] == pytest.approx(alone.differences[0].p[test])
        assert found.differences[0].corrected[test] == found.differences[0].p[test]  # what is undefined is no family
    assert math.isnan(found.differences[0].p["randomised_tukey"])  # no user has a value in every run
    for pair in found.differences[1:]:
        assert (pair.users, pair.undefined, pair.verdict) == (0, 40, "undefined")
        assert all(map(math.isnan, pair.p.values()))
    # One user less in one run: pairs are gone through one by one.
    lack = result(zero[1:], name, ids=range(1, 40), ratios={name: (above[1:, 0], below[1:, 0])})
    fewer = atkay.compare(runs | {"a": lack})
    ratio = [above[1:, at].sum() / below[1:, at].sum() for at in (0, 1)]
    assert fewer.differences[0].difference == pytest.approx(ratio[1] - ratio[0])


def test_pooled_numbers_are_tested_by_their_linear_approximation() -> None:
    rng = np.random.default_rng(1)
    above, below = rng.integers(0, 5, (40, 2)).astype(float), rng.integers(5, 9, (40, 2)).astype(float)
    name = "recall(average=pooled)@10"
    runs = {
        run: result(above[:, at] / below[:, at], name, ratios={name: (above[:, at], below[:, at])})
        for at, run in enumerate("ab")
    }
    (found,) = atkay.compare(runs)
    ratio = above.sum(axis=0) / below.sum(axis=0)
    assert found.difference == pytest.approx(ratio[1] - ratio[0])
    # The jackknife, which knows nothing of derivatives, comes to nearly the same spread.
    left = (above.sum(axis=0) - above) / (below.sum(axis=0) - below)
    apart = left[:, 1] - left[:, 0]
    error = math.sqrt(39 / 40 * ((apart - apart.mean()) ** 2).sum())
    assert found.deviation / math.sqrt(40) == pytest.approx(error, rel=0.02)
    assert found.p["t"] == pytest.approx(2 * stats.t.sf(abs(found.difference) / error, 39), rel=0.1)
    assert found.wins is None


def test_numbers_of_the_whole_run_are_shown_without_a_test() -> None:
    found = atkay.compare({"old": OLD, "new": NEW}, TRUTH, ["mrr", "coverage"], catalog=["q", "r", "x", "y"])
    (coverage,) = found["coverage"]
    assert coverage.difference == 1 - 0.75
    assert coverage.verdict == "+0.250 (+33 %): not tested"
    assert all(math.isnan(p) for p in coverage.p.values())
    assert found["mrr"][0].corrected == found["mrr"][0].p  # one test in the family


def test_lower_is_better() -> None:
    first, second = (noise(200, 2) + np.array([0.0, 0.2])).T
    runs = {"a": result(first, "mpr"), "b": result(second, "mpr")}
    (found,) = atkay.compare(runs, baseline="a")
    higher = one(first, second)
    assert found.difference == higher.difference > 0
    assert found.standing("b") == "worse" == higher.standing("a")
    assert found.verdict.startswith("+0.")
    assert found.verdict.endswith(": significant (lower is better)")
    assert (found.wins, found.losses) == (higher.losses, higher.wins)
    assert r"\textbf{" in atkay.compare(runs).to_latex().splitlines()[5]  # run a is the best


def test_everybody_by_the_same_amount() -> None:
    first = np.random.default_rng(0).random(20)
    same = one(first, first)
    assert (same.difference, same.p["t"], same.p["permutation"], same.ties) == (0, 1, 1, 20)
    assert same.verdict == "no difference"
    shifted = one(first, first + 0.1)
    assert math.isnan(shifted.p["t"])  # there is no spread to judge by
    assert shifted.p["permutation"] < 0.01
    assert shifted.verdict.endswith(" %), p < 0.0001 (Holm): significant")  # 1 / 10,001 by permutation
    assert shifted.verdict.startswith("+0.100 (+")
    untested = one(first, first + 0.1, test=("t", "bootstrap", "tukey"))
    assert untested.verdict == f"+0.100 (+{10 / first.mean():.0f} %): not tested"


@pytest.mark.parametrize("interval", ["student", "percentile", "bca"])
@pytest.mark.parametrize(
    "columns",
    [
        [[0.1], [0.2], [0.3]],
        [[0.1, 0.2], [0.2, 0.4], [0.1, 0.2]],
        [[np.nan] * 3] * 3,
        [[0.0] * 3] * 3,
        [[0.1, 0.2, 0.3], [np.nan] * 3, [0.3, 0.2, 0.1]],
        [[0.1, np.nan, 0.3], [np.nan, 0.2, np.nan], [0.3, 0.2, 0.1]],
    ],
)
def test_few_users_and_few_values(columns: list[list[float]], interval: Any) -> None:
    runs = {name: result(column) for name, column in zip("abc", columns, strict=True)}
    with pytest.warns(NotMeanWarning):
        found = atkay.compare(runs, test=EVERY, interval=interval, permutations=50, min_effect=0.1)
    for each in found:
        assert not each.significant
        assert all(math.isnan(p) or 0 < p <= 1 for p in each.p.values())
        assert math.isnan(each.low) or each.low <= each.difference <= each.high
    json.loads(found.to_json())
    assert repr(found)
    assert repr(atkay.power(found))
    assert found.plot().to_dict()


# Runs of all kinds, and what is refused.


def test_tables_files_and_saved_results(tmp_path: Path) -> None:
    frame = pl.DataFrame({"user": list("abcdefgh"), "item": ["x"] * 8, "score": [1.0] * 8})
    frame.write_csv(tmp_path / "run.csv")
    atkay.evaluate(OLD, TRUTH, ["mrr", "p@2"]).save(tmp_path / "old.json.gz")
    runs = {"saved": tmp_path / "old.json.gz", "file": str(tmp_path / "run.csv"), "dict": NEW}
    found = atkay.compare(runs, TRUTH)
    assert found.metrics == ("mrr", "precision@2")  # what the result has
    fresh = atkay.compare({"saved": OLD, "file": frame, "dict": NEW}, TRUTH, ["mrr", "p@2"])
    assert found.to_dict() == fresh.to_dict()
    assert atkay.compare({"a": runs["saved"], "b": atkay.evaluate(NEW, TRUTH, ["ndcg", "mrr"])}).metrics == ("mrr",)


def test_ids_that_one_run_has_as_text_and_another_as_numbers(tmp_path: Path) -> None:
    truth = {1: [10], 2: [20], 3: [30]}
    pl.DataFrame({"user": [1, 2, 3], "item": [10, 2, 30], "score": [1, 1, 1]}).write_csv(tmp_path / "run.csv")
    found = atkay.compare({"table": {1: [10], 2: [20], 3: [3]}, "file": tmp_path / "run.csv"}, truth, "hit@1")
    assert (found["hit@1"][0].wins, found["hit@1"][0].ties, found["hit@1"][0].losses) == (1, 1, 1)


def test_ids_of_different_types() -> None:
    first, second = noise(30, 2).T
    narrow = result(second, ids=pl.Series(range(30), dtype=pl.Int16))
    plain = atkay.compare({"a": result(first), "b": result(second)})
    assert atkay.compare({"a": result(first), "b": narrow}).differences == plain.differences
    text = result(second, ids=[str(user) for user in range(30)])
    with pytest.raises(IdError, match="'user' is Int64 in 'a', such as 0, and String in 'b', such as '0'"):
        atkay.compare({"a": result(first), "b": text})
    named = dataclasses.replace(narrow, ids={"uid": narrow.ids["user"]})
    with pytest.raises(IdError, match="'a' names a user by 'user', 'b' by 'uid'"):
        atkay.compare({"a": result(first), "b": named})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"no_recs": "skip"}, "no_recs is 'zero' in 'a' and 'skip' in 'b'"),
        (
            {"ties": "worst", "no_truth": "one"},
            "no_truth is 'skip' in 'a' and 'one' in 'b'; ties is 'given' in 'a' and",
        ),
        ({"exclude": ["q"]}, "exclude is None in 'a' and '1 row of items' in 'b'"),
    ],
)
def test_different_protocols_are_refused(fields: dict[str, Any], message: str) -> None:
    one, other = atkay.evaluate(OLD, TRUTH, "mrr"), atkay.evaluate(OLD, TRUTH, "mrr", **fields)
    with pytest.raises(ProtocolError, match=f"'a' and 'b' were evaluated under different protocols: {message}"):
        atkay.compare({"a": one, "b": other})


def test_different_data_are_refused() -> None:
    one, other = (atkay.evaluate(OLD, TRUTH | {"a": [item]}, "mrr") for item in "xy")
    with pytest.raises(InputError, match="'a' and 'b' were evaluated with a different truth"):
        atkay.compare({"a": one, "b": other})
    sampled = atkay.Sampled(catalog_size=9, negatives=2)
    with pytest.warns(atkay.errors.SampledWarning):
        some = atkay.evaluate(OLD, TRUTH, "mrr", sampled=sampled)
    with pytest.raises(ProtocolError, match="sampled is None in 'a' and Sampled"):
        atkay.compare({"a": atkay.evaluate(OLD, TRUTH, "mrr"), "b": some})
    both = atkay.compare({"a": some, "b": some})
    assert any("sample" in note for note in both.notes)


def test_different_metrics_are_refused() -> None:
    runs = {"a": atkay.evaluate(OLD, TRUTH, "map@5"), "b": atkay.evaluate(OLD, TRUTH, "map(per=hits)@5")}
    with pytest.raises(
        NumberError, match=r"the results have no metric in common: 'a' has 'map@5'; 'b' has 'map\(per=h"
    ):
        atkay.compare(runs)
    with pytest.raises(NumberError, match="'map@5' is not in the result of 'b'"):
        atkay.compare(runs, metrics="map@5")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"runs": {"a": OLD}}, InputError, "pass at least two runs, got 'a'"),
        ({"runs": [OLD, NEW]}, InputError, "runs must be {name: lists}, got a list"),
        ({"truth": None}, InputError, "'old' is not a saved result and must be evaluated"),
        ({"baseline": "odl"}, InputError, "unknown baseline 'odl'. Did you mean 'old'"),
        ({"baseline": OLD}, InputError, "passed as reference="),
        ({"test": "welch"}, SpecError, "unknown value 'welch' for test; choose t, permutation"),
        ({"test": ()}, SpecError, "test is empty"),
        (
            {"correction": "hol"},
            SpecError,
            "unknown value 'hol' for correction; choose holm, bonferroni, bh or none. Did you mean 'holm'",
        ),
        ({"family": "run"}, SpecError, "unknown value 'run' for family"),
        ({"interval": "wald"}, SpecError, "unknown value 'wald' for interval"),
        ({"permutations": 0}, SpecError, "permutations must be a positive integer, got 0"),
        ({"rng": None}, SpecError, "rng must be a non-negative integer, got None"),
        ({"min_effect": 0}, SpecError, "min_effect must be a positive number, got 0"),
        ({"min_effect": {"ndcg@5": 0.1}}, NumberError, "unknown metric 'ndcg@5' in min_effect"),
        ({"runs": {1: OLD, 2: NEW}}, InputError, "names of runs must be strings, got 1"),
        ({"runs": {"old": OLD, "new": {"a": ["x", "x"]}}}, DuplicateError, "run 'new': recs: "),
        ({"test": None}, SpecError, "unknown value None for test"),
        ({"test": [["t"]]}, SpecError, "['t'] for test"),
        ({"correction": ["holm"]}, SpecError, "['holm'] for correction"),
        ({"tests": "t"}, ProtocolError, "compare: no argument 'tests'. Did you mean 'test'"),
        ({"k": 10}, ProtocolError, "write 'ndcg@10'"),
        ({"tie": "best"}, ProtocolError, "no argument 'tie'. Did you mean 'ties'"),
    ],
)
def test_bad_arguments(given: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments: dict[str, Any] = {"runs": {"old": OLD, "new": NEW}, "truth": TRUTH, "metrics": "mrr"} | given
    with pytest.raises(error) as caught:
        atkay.compare(**arguments)
    assert message in str(caught.value)


def test_protocol_arguments_for_results_alone_are_refused() -> None:
    runs = {"a": result([0.1, 0.2]), "b": result([0.1, 0.3])}
    with pytest.raises(InputError, match="'ties' has no effect: all runs are already evaluated"):
        atkay.compare(runs, ties="best")
    with pytest.raises(InputError, match="'reference' has no effect: all runs are already evaluated"):
        atkay.compare(runs, reference=OLD)
    with pytest.raises(InputError, match="'truth' has no effect: all runs are already evaluated"):
        atkay.compare(runs, TRUTH)


def test_metrics_are_read_once() -> None:
    found = atkay.compare({"old": OLD, "new": NEW}, TRUTH, (spec for spec in ["mrr", "p@2"]))
    assert found.metrics == ("mrr", "precision@2")


def test_the_reference_recommender_is_not_the_baseline_run() -> None:
    found = atkay.compare(
        {"old": OLD, "new": NEW},
        TRUTH,
        "serendipity(kind=ge)@3",
        baseline="old",
        reference=["q"],
        catalog=["q", "r", "x", "y"],
    )
    assert found.baseline == "old"
    assert found.differences[0].users == 8


def test_dialects_and_their_names() -> None:
    found = atkay.compare({"old": OLD, "new": NEW}, TRUTH, ["AP@5"], dialect="ir_measures", test="t")
    assert found.metrics == ("map@5",)
    saved = atkay.evaluate(OLD, TRUTH, ["AP@5"], dialect="ir_measures")
    mixed = atkay.compare({"old": saved, "new": NEW}, TRUTH, ["AP@5"], dialect="ir_measures", test="t")
    assert mixed.to_dict() == found.to_dict()


def test_names_of_a_dialect_work_wherever_a_metric_is_named(tmp_path: Path) -> None:
    options: Any = {"metrics": ["ndcg_cut_10", "recip_rank"], "dialect": "trec_eval"}
    fresh = atkay.compare({"old": OLD, "new": NEW}, TRUTH, min_effect={"ndcg_cut_10": 0.1}, **options)
    assert list(fresh.min_effect.values()) == [0.1]
    assert fresh["ndcg_cut_10"] == fresh[fresh.metrics[0]] == fresh.differences[:1]
    fresh.save(tmp_path / "c.json")
    assert atkay.Comparison.load(tmp_path / "c.json")["ndcg_cut_10"] == fresh["ndcg_cut_10"]
    results = {name: atkay.evaluate(run, TRUTH, **options) for name, run in {"old": OLD, "new": NEW}.items()}
    saved = atkay.compare(results, metrics="ndcg_cut_10", min_effect={"ndcg_cut_10": 0.1})
    assert saved.metrics == fresh.metrics[:1]
    assert saved.min_effect == fresh.min_effect


# Verdicts.


@pytest.mark.parametrize(
    ("p", "low", "high", "least", "word"),
    [
        (0.01, 0.1, 0.3, None, "significant"),
        (0.2, -0.1, 0.3, None, "not significant"),
        (0.01, 0.1, 0.3, 0.05, "significant, at least min_effect"),
        (0.01, -0.3, -0.1, 0.05, "significant, at least min_effect"),
        (0.01, 0.1, 0.3, 0.4, "significant, but below min_effect"),
        (0.01, 0.1, 0.3, 0.2, "significant, possibly below min_effect"),
        (0.2, -0.1, 0.3, 0.4, "equivalent within min_effect"),
        (0.2, -0.1, 0.3, 0.2, "not significant"),
        (math.nan, -0.1, 0.3, 0.2, "not tested"),
    ],
)
def test_findings(p: float, low: float, high: float, least: float | None, word: str) -> None:
    assert finding(p, low, high, least) == word


def test_with_many_users_small_differences_are_real_and_need_not_matter() -> None:
    rng = np.random.default_rng(0)
    first = rng.random(100_000)
    found = one(first, first + rng.normal(0.002, 0.1, 100_000), test="t", min_effect=0.01)
    assert found.finding == "significant, but below min_effect"
    assert found.verdict.endswith(": significant, but below min_effect")


def test_a_verdict_says_when_the_tests_disagree_or_the_correction_decides(sleep: Difference) -> None:
    against = dataclasses.replace(sleep, corrected={"t": 0.01, "permutation": 0.2, "tukey": 0.01})
    assert against.verdict.endswith("p = 0.010 (Holm): significant; not significant by permutation")
    weak = dataclasses.replace(sleep, corrected=dict.fromkeys(sleep.p, 0.2), finding="not significant")
    assert weak.verdict == ("no significant difference after correction (95 % CI [+0.700, +2.460], p = 0.200, Holm)")
    down = dataclasses.replace(sleep, difference=-1.58, low=-2.459886, high=-0.700114)
    assert down.verdict.startswith("-1.580 (-211 %), 95 % CI [-2.460, -0.700], ")


def test_everybody_alike_and_what_matters() -> None:
    """Without spread the difference itself is the interval."""
    first = np.random.default_rng(0).random(20)
    words = {
        0.5: "significant, at least min_effect",
        0.05: "significant, but below min_effect",
        0.0: "equivalent within min_effect",
    }
    for shift, word in words.items():
        assert one(first, first + shift, min_effect=0.1).finding == word
    assert one([0.5], [0.5], min_effect=0.1).finding == "not significant"  # one user has no spread to know


def test_a_p_value_that_cannot_be_smaller_is_no_dissent() -> None:
    """Six differences, 99 permutations: 6 / 100 is above 0.05, however large they are."""
    rng = np.random.default_rng(1)
    base = rng.random((40, 1))
    values = base + np.arange(4) + 0.1 * rng.random((40, 4))
    runs = {name: result(column) for name, column in zip("abcd", values.T, strict=True)}
    with pytest.warns(
        PermutationsWarning, match=r"permutation test is 1/100; corrected for 6 .* permutations=120 or more"
    ):
        found = atkay.compare(runs, permutations=99)
    assert {d.corrected["permutation"] for d in found} == {6 / 100}
    assert {d.verdict.partition(": ")[2] for d in found} == {"significant"}
    assert all(d.significant for d in atkay.compare(runs, test="permutation", permutations=120))  # 6 / 121
    with pytest.warns(PermutationsWarning):
        alone = atkay.compare(runs, test="permutation", permutations=99)
    assert alone.differences[0].finding == "not significant"
    # Tukey's holds for all pairs: one metric is a family of one.
    assert all(d.significant for d in atkay.compare(runs, test="randomised_tukey", permutations=99))


def test_whom_tukeys_tests_count() -> None:
    values = noise(60, 3)
    runs = {"a": result(values[:, 0]), "b": result(values[:, 1]), "c": result(values[:20, 2])}
    found = atkay.compare(runs, test=("tukey", "t"))
    assert found.differences[0].users == 60
    assert "Tukey's tests of mrr: 20 of 60 users have a value in every run" in found.notes
    inside = atkay.compare(
        {name: result(column) for name, column in zip("abc", values[:20].T, strict=True)}, test="tukey"
    )
    assert [d.p["tukey"] for d in found] == pytest.approx([d.p["tukey"] for d in inside])
    assert not any("with a value in every run" in note for note in inside.notes)


# Tables, slices, files, charts.


@pytest.fixture(scope="module")
def three() -> atkay.Comparison:
    values = noise(120, 3)
    values[:, 2] += np.where(np.arange(120) < 30, -0.5, 0.5)
    slicing = (Slicing("kind", ["new", "old"], np.repeat([0, 1], [30, 90])),)
    columns = np.column_stack([values, values[::-1]])
    runs = {
        name: result(columns[:, [at, at + 3]], "mrr hit@1", slicings=slicing)
        for at, name in enumerate(("base", "mid", "top"))
    }
    return atkay.compare(runs, baseline="base", test=("t", "permutation"), permutations=500)


def test_slices_and_who_moves_against_the_mean(three: atkay.Comparison) -> None:
    (mid, top) = three["mrr"]
    assert top.difference > 0.2
    new = next(d for d in three.segments if (d.segment, d.metric, d.run) == ("new", "mrr", "top"))
    assert (new.users, new.slice) == (30, "kind")
    assert new.difference < -0.2
    assert three.movers[0] == new
    assert three.movers[0].significant
    marked = three.slices.filter(pl.col("against_mean")).select("segment", "metric", "run").rows()
    assert ("new", "mrr", "top") in marked
    assert three.slices.height == 2 * 2 * 2
    assert "kind new: mrr, top vs base" in repr(three)
    # The segments of a slice are one family: Holm over 2 segments x 2 metrics x 2 pairs.
    p = np.array([d.p["t"] for d in three.segments])
    assert [d.corrected["t"] for d in three.segments] == pytest.approx(holm(p).tolist())
    assert mid.users == 120


def test_tukey_in_slices_is_corrected_over_segments_and_metrics() -> None:
    slicing = (Slicing("kind", ["new", "old"], np.repeat([0, 1], [30, 90])),)
    columns = np.column_stack([noise(120, 3), noise(120, 3, seed=2)])
    runs = {name: result(columns[:, [at, at + 3]], "mrr hit@1", slicings=slicing) for at, name in enumerate("abc")}
    for found in atkay.compare(runs, test="tukey").segments:
        assert found.corrected["tukey"] == pytest.approx(min(1, found.p["tukey"] * 2 * 2))
    for found in atkay.compare(runs, test="tukey"):
        assert found.corrected["tukey"] == pytest.approx(min(1, found.p["tukey"] * 2))


def test_a_segment_is_a_comparison_of_its_users(three: atkay.Comparison) -> None:
    values = noise(120, 3)
    alone = one(values[30:, 0], values[30:, 1], test="t")
    old = next(d for d in three.segments if (d.segment, d.metric, d.run) == ("old", "mrr", "mid"))
    assert (old.difference, old.low, old.p["t"]) == (alone.difference, alone.low, alone.p["t"])


def test_segments_that_do_not_agree_are_refused() -> None:
    runs = [
        atkay.evaluate(OLD, TRUTH, "mrr", slices=dict.fromkeys("abcdefgh", "s") | {"c": segment}) for segment in "st"
    ]
    with pytest.raises(InputError, match="user 'c' is in different segments of 'segment' in different runs"):
        atkay.compare({"a": runs[0], "b": runs[1]})
    with pytest.raises(InputError, match="'a' has the slices 'segment', 'b' none"):
        atkay.compare({"a": runs[0], "b": atkay.evaluate(OLD, TRUTH, "mrr")})


def test_slices_of_lists_and_of_saved_results(tmp_path: Path) -> None:
    ages = {user: 20 + 10 * (user in "abc") for user in "abcdefg"}  # h has none
    runs: dict[str, Any] = {"old": OLD, "new": NEW}
    fresh = atkay.compare(runs, TRUTH, "mrr", slices=ages)
    for name, run in runs.items():
        atkay.evaluate(run, TRUTH, "mrr", slices=ages).save(tmp_path / f"{name}.json")
    saved = atkay.compare({name: tmp_path / f"{name}.json" for name in runs})
    assert saved.to_dict() == fresh.to_dict()
    assert [(d.segment, d.users) for d in fresh.segments] == [("20", 4), ("30", 3), (None, 1)]


def test_tables(three: atkay.Comparison) -> None:
    assert three.table.columns == [
        "metric", "run", "against", "better", "difference", "low", "high", "relative", "relative_low",
        "relative_high", "deviation", "effect", "wins", "ties", "losses", "users", "left_out", "undefined",
        "p_t", "p_permutation", "p_t_corrected", "p_permutation_corrected",
        "finding", "verdict",
    ]  # fmt: skip
    assert three.table.height == len(three) == 4
    assert three.to_polars().equals(three.table)
    assert three.to_pandas()["difference"].tolist() == three.table["difference"].to_list()
    assert three.mean_table.select("run", "metric").rows()[:2] == [("base", "mrr"), ("base", "hit@1")]
    assert list(three["RR"]) == list(three["mrr"])
    with pytest.raises(NumberError, match="'ndcg' was not evaluated"):
        three["ndcg"]


def test_shown(three: atkay.Comparison) -> None:
    top = f"{three.means['top']['mrr'].mean:.4f}"
    assert f"{top} *" in repr(three)
    latex = three.to_latex()
    assert rf"top & {top}\textsuperscript{{*}} & " in latex
    assert r"\toprule" in latex
    assert f"{top}<sup>*</sup>" in three.to_markdown()
    html = three._repr_html_()
    assert f"{top}<sup>*</sup>" in html
    assert "segments with the opposite effect:" in html
    worse = atkay.compare({"top": result(np.arange(20.0)), "bad": result(np.arange(20.0) ** 0.5)}, baseline="top")
    assert r"\textsuperscript{\textdagger{}}" in worse.to_latex()


def test_details() -> None:
    """Differences of 0.1 and 0.3 by turns: mean 0.2, SD 0.1 · sqrt(20 / 19), d_z 1.95, which is large."""
    first = np.arange(20.0)
    found = atkay.compare({"a": result(first), "b": result(first + np.tile([0.1, 0.3], 10))}, test="t")
    assert "d_z" not in repr(found)
    assert "large" not in repr(found)
    assert found.details.to_polars().rows() == [
        ("mrr ↑", "b", "a", "1.95 (large)", f"{0.1 * math.sqrt(20 / 19):.4f}", "20", "0", "0", "<0.0001", "<0.0001")
    ]


def test_letters_without_a_baseline() -> None:
    values = noise(200, 3) + np.array([0, 0, 1])
    found = atkay.compare({name: result(c) for name, c in zip(("x", "y", "z"), values.T, strict=True)}, test="t")
    assert r"z\textsuperscript{a} & \textbf{" in found.to_latex()
    assert r"}\textsuperscript{bc} \\" in found.to_latex()
    assert [(d.against, d.run) for d in found] == [("x", "y"), ("x", "z"), ("y", "z")]


def test_the_legend_names_what_decided() -> None:
    first = np.random.default_rng(0).random(20)
    runs = {"a": result(first), "b": result(first + 0.1)}  # without spread t has no p-value
    assert "corrected p < 0.05 (permutation, Holm)" in atkay.compare(runs).legend
    assert " p (t, Holm)  p (permutation, Holm)\n" in repr(atkay.compare(runs))
    runs["c"] = result(noise(20, 1)[:, 0])
    assert (
        "corrected p < 0.05 (t, Benjamini-Hochberg or permutation, Benjamini-Hochberg)"
        in atkay.compare(runs, correction="bh").legend
    )
    assert "corrected p < 0.05 (tukey)" in atkay.compare(runs, test="tukey", correction="bh").legend
    alone = atkay.compare(runs, test="t", correction="none")
    assert "than the run with that letter, p < 0.05 (t)" in alone.legend
    assert re.search(r" users +p \(t\)\n", repr(alone))


def test_names_are_shown_as_text() -> None:
    evil = "<script>alert(1)</script>"
    found = atkay.compare({evil: result([0.1, 0.2, 0.4]), "b|c": result([0.1, 0.3, 0.4])}, baseline=evil)
    assert "<script>" not in found._repr_html_()
    assert "b\\|c" in found.to_markdown()


def test_names_that_would_break_a_table() -> None:
    bad, worse = "a|b\n\nx", "<b>\\|n&amp;_x_*y*"
    slicing = (Slicing("kind", ["", None], np.array([0, 0, 0, 1, 1, 1])),)
    first, second = noise(6, 2).T
    runs = {bad: result(first, slicings=slicing), worse: result(second, slicings=slicing)}
    found = atkay.compare(runs, baseline=bad)
    markdown = found.to_markdown().splitlines()
    rows = [line for line in markdown if line.startswith("|")]
    # Cells are separated by pipes that no backslash escapes; an escaped backslash escapes nothing.
    plain = [line.replace("\\\\", "").replace("\\|", "") for line in rows]
    tables = [list(group) for ours, group in itertools.groupby(markdown, lambda line: line.startswith("|")) if ours]
    assert [len(table) for table in tables] == [4, 3, 6, 4]
    assert [line.count("|") for line in plain] == [3] * 4 + [9] * 3 + [5] * 6 + [11] * 4
    assert sorted(line[:30].rstrip("| .0123456789") for line in markdown[2:4]) == [
        r"| \<b>\\\|n\&amp;\_x_\*y*",
        r"| a\|b\\x0a\\x0ax (baseline)",
    ]
    assert "* significantly better than a\\textbar{}b\\textbackslash{}x0a\\textbackslash{}x0ax, " in found.to_latex()
    assert {d.segment for d in found.segments} == {"", None}
    assert sum("(none)" in line for line in rows) == 3  # two runs' means and a difference


@pytest.mark.parametrize(
    "text", ["map(per=hits)@5", "ndcg_cut_10", "<0.0001", "a * b", "50 %_x", "R&D", "[1]", "2*3", "_private"]
)
def test_ordinary_names_stay_readable_in_markdown(text: str) -> None:
    assert as_markdown(text) == text


def test_means_and_whole_run_numbers_of_segments(tmp_path: Path) -> None:
    kinds = {user: "left" if user in "abcd" else "right" for user in "abcdefgh"}
    options: Any = {"catalog": ["q", "r", "x", "y"], "slices": kinds}
    found = atkay.compare({"old": OLD, "new": NEW}, TRUTH, ["mrr", "coverage"], **options)
    # Left: new has x, y of four items, old q, x, y. Right: both have three of four.
    of_segment = {d.segment: d for d in found.segments if d.metric == "coverage"}
    assert {name: d.difference for name, d in of_segment.items()} == {"left": 0.5 - 0.75, "right": 0.0}
    assert of_segment["left"].verdict == "-0.250 (-33 %): not tested"
    assert [d.metric for d in found.segments] == ["mrr", "coverage"] * 2
    # Users e, f and g find it at rank 3, h has no list.
    assert found.segment_means["segment", "right"]["new"]["mrr"].mean == pytest.approx((3 / 3) / 4)
    evaluated = atkay.evaluate(NEW, TRUTH, ["mrr", "coverage"], **options)
    alone = evaluated.slices.with_columns(run=pl.lit("new")).select(found.slice_mean_table.columns)
    assert found.slice_mean_table.filter(pl.col("run") == "new").equals(alone)
    for shown in (repr(found), found.to_markdown(), found._repr_html_()):
        for part in (
            "right",
            "0.2500",
            "segments with the opposite effect:",
            "paired by user",
            "-0.250 (-33 %): not tested",
        ):
            assert part in shown
    assert re.search(r"\+0\.250 \(\+33 %\): not tested +– +– +– ", repr(found))  # a number of the run counts no users
    found.save(tmp_path / "c.json")
    assert atkay.Comparison.load(tmp_path / "c.json").to_markdown() == found.to_markdown()


def test_saved_and_loaded(three: atkay.Comparison, tmp_path: Path) -> None:
    three.save(tmp_path / "c.json")
    again = atkay.Comparison.load(tmp_path / "c.json")
    assert again.to_dict() == three.to_dict()
    assert again.differences == three.differences
    assert repr(again) == repr(three)
    record = json.loads((tmp_path / "c.json").read_text())
    assert record["differences"][1]["verdict"] == three.differences[1].verdict
    untested = atkay.compare({"old": OLD, "new": NEW}, TRUTH, "coverage", catalog=["q", "r", "x", "y"])
    untested.save(tmp_path / "u.json")
    assert repr(atkay.Comparison.load(tmp_path / "u.json")) == repr(untested)
    (tmp_path / "c.json").write_text("{}")
    with pytest.raises(SourceError, match="is not a saved atkay comparison"):
        atkay.Comparison.load(tmp_path / "c.json")


@pytest.mark.parametrize("kind", ["differences", "means"])
def test_charts(three: atkay.Comparison, kind: Any) -> None:
    chart = three.plot(kind).to_dict()
    (rows,) = chart["datasets"].values()
    if kind == "differences":
        assert sorted(row["difference"] for row in rows) == sorted(d.difference for d in three)
        assert {row["found"] for row in rows if row["pair"] == "top"} == {"better"}
    else:
        assert sorted(row["mean"] for row in rows) == sorted(three.mean_table["mean"])
    assert chart["facet"]["row"]["field"] == "metric"


def test_charts_with_a_threshold_and_of_an_unknown_kind(three: atkay.Comparison) -> None:
    layers = dataclasses.replace(three, min_effect={"mrr": 0.1}).plot().to_dict()["spec"]["layer"]
    assert layers[0]["mark"]["type"] == "rect"
    with pytest.raises(SpecError, match="unknown value 'bars' for kind"):
        three.plot("bars")  # type: ignore[arg-type]  # no kind


# The same seed, the same digits; progress.


def test_the_same_seed_gives_the_same_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    values = noise(5_000, 3)
    runs = {name: result(column) for name, column in zip("abc", values.T, strict=True)}
    options: Any = {"test": ("permutation", "bootstrap", "randomised_tukey"), "interval": "bca", "permutations": 600}
    before = atkay.compare(runs, **options)
    assert atkay.compare(runs, **options).differences == before.differences
    assert atkay.compare(runs, **options, rng=8).differences != before.differences
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert atkay.compare(runs, **options).differences == before.differences
    fewer = atkay.compare({name: runs[name] for name in "ab"}, test="permutation", permutations=600)
    assert fewer.differences[0].p["permutation"] == before.differences[0].p["permutation"]  # signs are shared


class Terminal:
    def __init__(self) -> None:
        self.said = ""

    def write(self, text: str) -> int:
        self.said += text
        return len(text)

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("patience", "shown"), [(-1.0, True), (1e9, False)])
def test_progress_on_a_terminal(patience: float, shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "SECONDS_BEFORE_BAR", patience)
    slicing = (Slicing("kind", ["new", "old"], np.repeat([0, 1], [30, 90])),)
    runs = {name: result(column, slicings=slicing) for name, column in zip("ab", noise(120, 2).T, strict=True)}
    atkay.compare(runs, test=("t", "permutation", "tukey", "randomised_tukey"), permutations=300, interval="bca")
    assert ("comparing" in terminal.said) == shown
    assert ("100%" in terminal.said) == shown


def test_progress_counts_all_tables_of_a_call() -> None:
    steps = progress.Steps("comparing", 3)
    for _ in range(3):
        steps.advance(0.7)
        steps.advance(0.7)  # more than was foreseen
        assert steps._ahead == 1
        steps.next()
    assert (steps._done, steps._ahead) == (3, 0)


def test_no_progress_elsewhere(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "SECONDS_BEFORE_BAR", -1.0)
    one(*noise(50, 2).T)
    assert capfd.readouterr() == ("", "")


def holm_by_hand(p: Sequence[float]) -> list[float]:
    """Step by step: the k-th smallest is the largest of (m - j + 1) p_j over j up to k."""
    ordered = sorted(p)
    return [min(1, max((len(p) - j) * ordered[j] for j in range(ordered.index(each) + 1))) for each in p]


def test_a_comparison_is_corrected_over_all_its_differences() -> None:
    values = noise(60, 3)
    columns = np.column_stack([values, values**2])
    runs = {name: result(columns[:, [at, at + 3]], "mrr hit@1") for at, name in enumerate("abc")}
    found = atkay.compare(runs, test="t")
    p = [d.p["t"] for d in found]
    assert [d.corrected["t"] for d in found] == pytest.approx(holm_by_hand(p))
    by_metric = atkay.compare(runs, test="t", family="metric")
    assert [d.corrected["t"] for d in by_metric["mrr"]] == pytest.approx(holm_by_hand(p[:3]))


def test_a_metric_that_was_not_compared() -> None:
    found = atkay.compare({"a": {1: [1], 2: [2]}, "b": {1: [2], 2: [1]}}, {1: [1], 2: [1]}, "mrr")
    with pytest.raises(atkay.errors.NumberError, match="'map@2' was not evaluated; this comparison has 'mrr'"):
        found["map@2"]
