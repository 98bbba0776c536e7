"""Alpha-nDCG: published values, ndeval's own values, and plain loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import atkay
from atkay.errors import SpecError
from atkay.judged.judged import Judged
from loops_categories import (
    check,
    check_digits,
    check_needs_categories,
    check_thousands_of_categories,
    tables,
    value,
    variants,
)


def test_alpha_ndcg_of_clarke() -> None:
    # Topics {1,2} {1} {3}, all relevant. The list: 2 / log2(2) + 0.5 / log2(3) + 1 / log2(4) = 2.815465. The ideal
    # takes {1,2}, {3}, {1}: 2 / log2(2) + 1 / log2(3) + 0.5 / log2(4) = 2.880930.
    topics = {"a": ["1", "2"], "b": ["1"], "c": ["3"]}
    found = value("alpha_ndcg@3", "abc", truth="abc", features=topics)
    assert found == pytest.approx((2 + 0.5 / math.log2(3) + 0.5) / (2 + 1 / math.log2(3) + 0.25))
    assert found == pytest.approx(0.977276, abs=1e-6)
    assert value("alpha_ndcg@3", "acb", truth="abc", features=topics) == 1


@pytest.mark.parametrize(
    ("spec", "listed", "expected"),
    [
        # d = {3}, e = {1} and f without topic are relevant and not listed; x is listed and not relevant.
        # Ideal at 2: {1,2} and {3}.
        ("alpha_ndcg@2", "xa", (2 / math.log2(3)) / (2 + 1 / math.log2(3))),
        # Nothing but new topics counts: {1} after {1,2} is worth 0, and a third place of the ideal as well.
        ("alpha_ndcg(alpha=1)@3", "ab", 2 / (2 + 1 / math.log2(3))),
        # Nothing is lost: the ideal is {1,2} and two items of one topic.
        ("alpha_ndcg(alpha=0)@3", "ab", (2 + 1 / math.log2(3)) / (2 + 1 / math.log2(3) + 1 / 2)),
        ("alpha_ndcg@2", "fx", 0),
    ],
)
def test_alpha_ndcg_with_missed_items(spec: str, listed: str, expected: float) -> None:
    topics = {"a": ["1", "2"], "b": ["1"], "d": ["3"], "e": ["1"], "x": ["3"]}
    assert value(spec, listed, truth="abdef", features=topics) == pytest.approx(expected)


def test_alpha_ndcg_without_topics_of_relevant_items_is_undefined() -> None:
    assert math.isnan(value("alpha_ndcg@2", "fa", truth="f", features={"a": ["1"]}))


def test_a_list_can_beat_the_greedy_ideal() -> None:
    # Greedy takes the four topics of a, then one new topic of b: 4 + 1 / log2(3) = 4.63. The list of b and c has three
    # new topics twice: 3 + 3 / log2(3) = 4.89.
    topics = {"a": list("1234"), "b": list("125"), "c": list("346")}
    found = value("alpha_ndcg(alpha=1)@2", "bc", truth="abc", features=topics)
    assert found == pytest.approx((3 + 3 / math.log2(3)) / (4 + 1 / math.log2(3)))
    assert found > 1


def test_of_equal_gains_the_ideal_takes_the_last_id() -> None:
    # All three have two topics, so the ideal begins with c, {1,2}; a and b then have a topic for the second time.
    topics = {"c": ["1", "2"], "b": ["1", "3"], "a": ["2", "4"]}
    ideal = 2 + 1.5 / math.log2(3)
    assert value("alpha_ndcg@2", "cb", truth="abc", features=topics) == 1
    assert value("alpha_ndcg@2", "ba", truth="abc", features=topics) == pytest.approx((2 + 2 / math.log2(3)) / ideal)
    # With b as {1,2} the ideal begins with c, {1,3}, and a has two new topics.
    topics = {"b": ["1", "2"], "c": ["1", "3"], "a": ["2", "4"]}
    assert value("alpha_ndcg@2", "ca", truth="abc", features=topics) == 1
    assert value("alpha_ndcg@2", "bc", truth="abc", features=topics) == pytest.approx(ideal / (2 + 2 / math.log2(3)))


NDEVAL: list[tuple[dict[int, str], list[int], list[int], int, float, float]] = [
    (
        {90: "bd", 94: "ade", 21: "ace", 57: "bf", 27: "bd", 59: "acd", 121: "ad", 51: "bef"},
        [21, 27, 121, 94, 90, 57, 51, 59],
        [90, 94, 21, 57, 27, 59, 121],
        5,
        0.5,
        0.8922843023061332,
    ),
    (
        {24: "def", 17: "ad", 122: "abc", 65: "e", 20: "c", 68: "cf", 61: "abe", 53: "ad", 60: "af"},
        [17, 53, 24, 122, 65, 61, 68, 60, 20],
        [24, 17, 122, 65, 20, 68, 61, 60],
        5,
        0.25,
        0.6793143514605386,
    ),
    (
        {93: "c", 102: "b", 51: "bc", 2: "ae", 75: "be", 18: "d", 53: "af", 127: "abd"},
        [102, 93, 127, 51, 18, 53, 2, 75],
        [93, 51, 2, 75, 18],
        4,
        0.25,
        0.3139853488662686,
    ),
    (
        {128: "acf", 43: "ad", 29: "af", 21: "bc", 126: "de", 27: "bdf"},
        [126, 29, 43, 21, 27, 128],
        [43, 29, 21, 126, 27],
        5,
        0.25,
        0.9099468245759452,
    ),
    (
        {86: "ac", 4: "cf", 39: "be", 80: "c", 110: "e", 64: "c", 97: "cdf", 100: "ade", 60: "bf"},
        [60, 64, 97, 86, 4, 80, 39, 110, 100],
        [86, 4, 39, 80, 64, 97, 100, 60],
        5,
        0.5,
        0.7021070687666334,
    ),
    (
        {74: "b", 48: "bef", 93: "adf", 112: "bf", 11: "e", 105: "bcf", 56: "a", 71: "f", 47: "ade"},
        [11, 112, 48, 47, 93, 74, 71, 56, 105],
        [74, 48, 93, 112, 105, 56, 71, 47],
        4,
        0.5,
        0.5474524753901342,
    ),
    (
        {72: "a", 29: "adf", 32: "ac", 104: "bd", 36: "df", 59: "acd", 38: "be", 119: "bcd", 102: "acf"},
        [119, 72, 38, 102, 59, 32, 104, 29, 36],
        [72, 29, 32, 104, 36, 59, 38, 119],
        6,
        0.25,
        0.7869252644407209,
    ),
    (
        {120: "d", 100: "abe", 91: "cd", 81: "e", 2: "ce", 86: "bef", 124: "aef", 59: "d", 6: "ace"},
        [81, 86, 124, 2, 6, 91, 120, 100, 59],
        [120, 100, 91, 81, 2, 86, 59, 6],
        5,
        0.5,
        0.6179643949326297,
    ),
    (
        {6: "ace", 43: "b", 69: "abf", 61: "a", 56: "abc", 13: "c", 103: "acf", 115: "b", 52: "ac"},
        [115, 103, 69, 61, 6, 56, 43, 52, 13],
        [6, 43, 69, 61, 56, 13, 103, 115, 52],
        5,
        0.5,
        0.7715269774236967,
    ),
    (
        {103: "def", 101: "bce", 128: "af", 87: "ae", 90: "e", 48: "bde", 37: "be"},
        [101, 90, 103, 128, 48, 37, 87],
        [103, 101, 128, 90, 48],
        3,
        0.5,
        0.8438965104936473,
    ),
    (
        {75: "bc", 107: "a", 123: "abc", 67: "cdf", 86: "b", 15: "abe", 22: "cdf"},
        [15, 67, 22, 107, 123, 75, 86],
        [75, 107, 123, 86, 15, 22],
        6,
        0.5,
        0.8962625897590258,
    ),
    (
        {84: "c", 77: "cef", 71: "bd", 22: "bce", 25: "cd", 127: "bef", 88: "acf", 59: "bce", 95: "bde"},
        [22, 88, 95, 127, 59, 77, 25, 71, 84],
        [84, 77, 71, 22, 25, 127, 88, 59, 95],
        6,
        0.5,
        0.9718053757377985,
    ),
]
"""Topics of items, the list, the relevant items, the cutoff, alpha, and alpha-nDCG as ndeval computes it (pyndeval
0.0.8, ids as text)."""


@pytest.mark.parametrize(("topics", "listed", "relevant", "k", "alpha", "expected"), NDEVAL)
def test_alpha_ndcg_of_ndeval(
    topics: dict[int, str], listed: list[int], relevant: list[int], k: int, alpha: float, expected: float
) -> None:
    spec, features = f"alpha_ndcg(alpha={alpha})@{k}", {item: list(words) for item, words in topics.items()}
    for name in (int, str):  # whole numbers are compared as text, too
        known = {name(item): words for item, words in features.items()}
        result = atkay.evaluate({1: list(map(name, listed))}, {1: list(map(name, relevant))}, spec, features=known)
        assert result[spec] == pytest.approx(expected, abs=1e-9)


def test_sums_that_rounding_tells_apart() -> None:
    # Of 1, 0.1, 0.01, ... the sums of several subtopics are equal up to rounding. Values of pyndeval 0.0.8.
    words = {88: "eg", 20: "acg", 59: "bdf", 28: "abdg", 35: "bfg", 36: "abcdg", 12: "ceg", 80: "ce"}
    topics, listed = {item: list(each) for item, each in words.items()}, [88, 36, 20, 35, 80, 28, 59, 12]
    ndeval = {"alpha_ndcg": 0.8151292556438873, "nerr_ia": 0.7343243854349873, "nnrbp": 0.7190079188439654}
    for name, expected in ndeval.items():
        specs = [f"{name}(alpha=0.9,equal={word})@10" for word in ("exact", "rounded")]
        exact, rounded = atkay.evaluate({1: listed}, {1: list(topics)}, specs, features=topics).values()
        assert exact == pytest.approx(expected, abs=1e-9)
        assert abs(rounded - expected) > 1e-5


def test_what_is_refused() -> None:
    check_needs_categories("alpha_ndcg@2")
    with pytest.raises(SpecError, match="alpha must be a number from 0 to 1, got '2'"):
        atkay.parse("alpha_ndcg(alpha=2)")
    one = np.ones(1, int)
    hits = Judged(
        query=0 * one, rank=one, grade=np.ones(1), item=0 * one, n_relevant=one, n_listed=one, answered=one > 0,
        grades=np.ones(1),
    )  # fmt: skip
    with pytest.raises(SpecError, match="all relevant items"):
        hits.relevant  # noqa: B018 - the mistake


SPECS = ["alpha_ndcg", "alpha_ndcg(alpha=0)", "alpha_ndcg(alpha=1)", "alpha_ndcg(alpha=0.3)"]
VARIANTS = variants(*SPECS)


@tables
def test_plain_loops(**given: Any) -> None:
    check(VARIANTS, **given)


def test_plain_loops_with_thousands_of_categories() -> None:
    check_thousands_of_categories(VARIANTS)


@pytest.mark.parametrize("spec", SPECS)
def test_digits_depend_neither_on_other_users_nor_on_other_cutoffs(spec: str) -> None:
    check_digits(spec)
