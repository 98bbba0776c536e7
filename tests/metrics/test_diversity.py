"""Diversity, alpha-nDCG and calibration: worked cases, published vectors, and plain loops."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.core.lists import Lists
from atkay.core.order import Ranking
from atkay.errors import SideError, SpecError
from atkay.judged.judged import Judged
from atkay.judged.side import Features, Side, Train
from atkay.metrics.metric import Metric
from atkay.metrics.spec import parse

Sets = dict[int, list[str]]
Vectors = dict[int, list[float]]


def value(spec: str, listed: Sequence[Any], **known: Any) -> float:
    """The value of one user's list."""
    truth = known.pop("truth", [listed[0]])
    result = atkay.evaluate({1: list(listed)}, {1: list(truth)}, spec, **known)
    found = result.per_query[spec][0]
    return math.nan if found is None else float(found)


# Worked cases of the intra-list distance.

VECTORS = {"a": [1.0, 0.0], "b": [0.0, 2.0], "c": [3.0, 0.0], "d": [-1.0, 0.0], "e": [3.0, 4.0], "o": [0.0, 0.0]}


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("ab", 1),  # at a right angle
        ("ac", 0),  # the same direction
        ("ad", 2),  # opposite
        ("ae", 1 - 3 / 5),
        ("abe", (1 + (1 - 3 / 5) + (1 - 4 / 5)) / 3),
        ("abo", 1),  # a vector of zeros has no direction: one pair is left
        ("abx", 1),  # x has no vector
        ("ax", math.nan),
        ("a", math.nan),
    ],
)
def test_cosine_distance(listed: str, expected: float) -> None:
    assert value("ild@3", listed, features=VECTORS) == pytest.approx(expected, nan_ok=True, abs=1e-15)


@pytest.mark.parametrize(
    ("listed", "expected"),
    [("ae", math.hypot(2, 4)), ("abo", (math.hypot(1, 2) + 1 + 2) / 3), ("ax", math.nan), ("abx", math.hypot(1, 2))],
)
def test_euclidean_distance(listed: str, expected: float) -> None:
    found = value("ild(by=euclidean)@3", listed, features=VECTORS)
    assert found == pytest.approx(expected, nan_ok=True)


CATEGORIES = {"a": ["p", "q"], "b": ["q", "r"], "c": ["q", "p"], "d": ["s"], "e": ["p", "q", "r"]}


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("ab", 1 - 1 / 3),
        ("ac", 0),
        ("ad", 1),
        ("ae", 1 - 2 / 3),
        ("abd", (2 / 3 + 1 + 1) / 3),
        ("abx", 2 / 3),
        ("ax", math.nan),
    ],
)
def test_distance_of_categories(listed: str, expected: float) -> None:
    found = value("ild(by=categories)@3", listed, features=CATEGORIES)
    assert found == pytest.approx(expected, nan_ok=True, abs=1e-15)


def test_distance_of_cooccurrence() -> None:
    # n_a = 2, n_b = 2, n_c = 1; a and b share one user, b and c another, a and c none.
    train = {1: ["a"], 2: ["a", "b"], 3: ["b", "c"]}
    spec = "ild(by=cooccurrence)@3"
    assert value(spec, "ab", train=train) == pytest.approx(1 - 1 / 2)
    assert value(spec, "bc", train=train) == pytest.approx(1 - 1 / math.sqrt(2))
    assert value(spec, "abc", train=train) == pytest.approx((1 / 2 + 1 + 1 - 1 / math.sqrt(2)) / 3)
    assert math.isnan(value(spec, "ax", train=train))
    assert value("ild(by=cooccurrence,unknown=apart)@3", "ax", train=train) == 1
    assert value(spec, "abc", train={1: ["a"], 2: ["c"]}) == 1  # b is unknown, and a and c have nobody in common


@pytest.mark.parametrize(
    ("by", "known", "near"),
    [("features", VECTORS, 1.0), ("euclidean", VECTORS, math.hypot(1, 2)), ("categories", CATEGORIES, 2 / 3)],
)
def test_unknown_items_may_be_put_apart(by: str, known: Any, near: float) -> None:
    # a and b are known, x and y are not: of the six pairs five are at distance 1.
    name = f"by={by}," if by != "features" else ""
    assert value(f"ild({name}unknown=apart)@4", "axby", features=known) == pytest.approx((near + 5) / 6)
    assert value(f"ild({name}unknown=apart)@2", "axby", features=known) == 1
    assert math.isnan(value(f"ild({name}unknown=apart)@1", "axby", features=known))


def test_vectors_whose_squares_are_no_numbers() -> None:
    # (1, 1) and (1, 0) in very large and very small: 1 - cos 45°.
    known = {"a": [1e200, 1e200], "b": [1e-200, 0.0]}
    assert value("ild@2", "ab", features=known) == pytest.approx(1 - math.sqrt(1 / 2))


# Worked cases of categories.


@pytest.mark.parametrize(
    ("spec", "listed", "expected"),
    [
        ("category_entropy@2", "ad", 1.5),  # p 1/4, q 1/4, s 1/2: 2 x 1/4 x 2 + 1/2
        ("category_entropy(count=each)@2", "ad", math.log2(3)),  # three categories, once each
        ("category_entropy@3", "dxy", 0),
        ("category_entropy@1", "xa", math.nan),
        ("category_entropy@2", "xa", 1),
        ("category_count@2", "ab", 3),
        ("category_count@2", "ac", 2),
        ("category_count@1", "xa", 0),
    ],
)
def test_entropy_and_count(spec: str, listed: str, expected: float) -> None:
    assert value(spec, listed, features=CATEGORIES) == pytest.approx(expected, nan_ok=True)


def test_an_empty_list_has_no_value() -> None:
    recs, truth = {1: ["a", "b"], 2: ["a"]}, {1: ["a"], 2: ["a"]}
    specs = ["ild(by=categories)@2", "category_entropy@2", "category_count@2", "calibration@2"]
    train = {1: ["a"], 2: ["b"]}
    result = atkay.evaluate(recs, truth, specs, exclude={2: ["a"]}, features=CATEGORIES, train=train)
    assert all(result.per_query[spec][1] is None or math.isnan(result.per_query[spec][1]) for spec in specs)


# Alpha-nDCG.


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


# Calibration.


def calibration(spec: str) -> float:
    # Ten training items, seven of one category and three of the other; the list shows the first alone.
    features = {item: "left" if item < 8 else "right" for item in range(1, 11)}
    spec = f"calibration({spec})@2" if spec else "calibration@2"
    return value(spec, [1, 2], train={1: list(range(1, 11))}, features=features)


def test_calibration_of_steck() -> None:
    # q is (0.99 + 0.01 x 0.7, 0.01 x 0.3).
    assert calibration("") == pytest.approx(0.7 * math.log(0.7 / 0.997) + 0.3 * math.log(0.3 / 0.003))
    assert calibration("") == pytest.approx(1.133982, abs=1e-6)
    assert calibration("alpha=0.1") == pytest.approx(0.7 * math.log(0.7 / 0.97) + 0.3 * math.log(10))
    assert calibration("distance=hellinger") == pytest.approx(math.sqrt(1 - math.sqrt(0.7)))
    assert calibration("distance=hellinger") == pytest.approx(0.404153, abs=1e-6)
    # m is (0.85, 0.15).
    js = (0.7 * math.log(0.7 / 0.85) + 0.3 * math.log(0.3 / 0.15) + math.log(1 / 0.85)) / 2
    assert calibration("distance=js") == pytest.approx(js)


@pytest.mark.filterwarnings("ignore:features. 'features' is read as categories:atkay.errors.CategoriesWarning")
def test_calibration_with_far_more_categories_than_a_user_has() -> None:
    # p is (1/2, 1/2), q (0, 1) over the categories of items 0 and 1.
    expected = 0.5 * math.log(0.5 / 0.995) + 0.5 * math.log(100)
    features = {item: f"w{item:04}" for item in range(3000)}
    assert value("calibration@1", [1], train={1: [0, 1]}, features=features) == pytest.approx(expected)


@pytest.mark.parametrize("distance", ["kl", "js", "hellinger"])
def test_the_same_proportions_are_at_no_distance(distance: str) -> None:
    # Thirds and sixths: two categories for one item, three for another.
    features = {1: ["a", "b", "c"], 2: ["a", "b", "c"], 3: ["b", "a"], 4: ["a", "b"]}
    spec = "calibration@2" if distance == "kl" else f"calibration(distance={distance})@2"
    assert value(spec, [1, 3], train={1: [2, 4]}, features=features) == 0


@pytest.mark.parametrize(("weight", "second"), [("log2", 1 / math.log2(3)), ("reciprocal", 1 / 2)])
def test_listed_items_may_be_weighted_by_rank(weight: str, second: float) -> None:
    q = [1 / (1 + second), second / (1 + second)]
    expected = math.sqrt(sum((math.sqrt(1 / 2) - math.sqrt(each)) ** 2 for each in q) / 2)
    spec = f"calibration(distance=hellinger,weight={weight})@2"
    assert value(spec, [1, 2], train={1: [1, 2]}, features={1: "a", 2: "b"}) == pytest.approx(expected)


def test_calibration_needs_categories_on_both_sides() -> None:
    features = {1: "a"}
    assert math.isnan(value("calibration@1", [2], train={1: [1]}, features=features))
    assert math.isnan(value("calibration@1", [1], train={1: [2]}, features=features))
    assert math.isnan(value("calibration@1", [1], train={7: [1]}, features=features))


# What is missing is said.


def test_messages() -> None:
    recs, truth = {1: ["a", "b"]}, {1: ["a"]}
    with pytest.raises(SideError, match=r"ild@2 needs features=: a table with an item and its categories or numbers"):
        atkay.evaluate(recs, truth, "ild@2")
    with pytest.raises(SideError, match=r"ild\(by=cooccurrence\) needs train="):
        atkay.evaluate(recs, truth, "ild(by=cooccurrence)")
    with pytest.raises(SideError, match=r"ild@2 needs numbers of items, .* only categories.*or choose by=categories"):
        atkay.evaluate(recs, truth, "ild@2", features=CATEGORIES)
    for spec in ("ild(by=categories)@2", "category_entropy@2", "category_count@2", "alpha_ndcg@2"):
        with pytest.raises(SideError, match="needs categories of items, but features= has only numbers"):
            atkay.evaluate(recs, truth, spec, features=VECTORS)
    with pytest.raises(SpecError, match="alpha must be a number from 0 to 1, got '2'"):
        atkay.parse("alpha_ndcg(alpha=2)")
    with pytest.raises(SpecError, match="alpha must be a number between 0 and 1, got '0'"):
        atkay.parse("calibration(alpha=0)")
    one = np.ones(1, int)
    hits = Judged(0 * one, one, np.ones(1), 0 * one, one, one, one > 0, np.ones(1))
    with pytest.raises(SpecError, match="all relevant items"):
        hits.relevant  # noqa: B018 - the mistake


# Plain loops, written from the definitions.


def mean_of_pairs(items: list[int], distance: Callable[[int, int], float | None], unknown: str) -> float:
    found = [distance(one, other) for one, other in itertools.combinations(items, 2)]
    known = [1.0 if each is None else each for each in found if each is not None or unknown == "apart"]
    return sum(known) / len(known) if known else math.nan


def cosine(one: list[float], other: list[float]) -> float | None:
    if not any(one) or not any(other):
        return None
    return 1 - sum(a * b for a, b in zip(one, other, strict=True)) / math.hypot(*one) / math.hypot(*other)


class Loops:
    """Every metric of these families for one user."""

    def __init__(self, sets: Sets, vectors: Vectors, train: dict[int, list[int]]) -> None:
        self.sets, self.vectors = sets, vectors
        self.users: dict[int, set[int]] = defaultdict(set)
        for user, items in train.items():
            for item in items:
                self.users[item].add(user)
        self.train = train

    def distance(self, by: str) -> Callable[[int, int], float | None]:
        def of_vectors(one: int, other: int) -> float | None:
            if one not in self.vectors or other not in self.vectors:
                return None
            both = self.vectors[one], self.vectors[other]
            return cosine(*both) if by == "features" else math.dist(*both)

        def of_sets(one: int, other: int) -> float | None:
            a, b = set(self.sets.get(one, [])), set(self.sets.get(other, []))
            return 1 - len(a & b) / len(a | b) if a and b else None

        def of_users(one: int, other: int) -> float | None:
            a, b = self.users[one], self.users[other]
            return 1 - len(a & b) / math.sqrt(len(a) * len(b)) if a and b else None

        return {"categories": of_sets, "cooccurrence": of_users}.get(by, of_vectors)

    def shares(self, items: list[int], weight: Callable[[int], float], *, split: bool = True) -> dict[str, float]:
        mass: dict[str, float] = defaultdict(float)
        for rank, item in enumerate(items, 1):
            for word in self.sets.get(item, []):
                mass[word] += weight(rank) / (len(self.sets[item]) if split else 1)
        return {word: each / sum(mass.values()) for word, each in mass.items()}

    def entropy(self, items: list[int], count: str) -> float:
        p = self.shares(items, lambda _: 1, split=count == "split")
        return sum(-each * math.log2(each) for each in p.values()) if p else math.nan

    def count(self, items: list[int]) -> float:
        return len({word for item in items for word in self.sets.get(item, [])}) if items else math.nan

    def calibration(self, user: int, items: list[int], metric: Any) -> float:
        weight = {"uniform": lambda _: 1, "log2": lambda rank: 1 / math.log2(rank + 1), "reciprocal": lambda r: 1 / r}
        p, q = self.shares(self.train.get(user, []), lambda _: 1), self.shares(items, weight[metric.weight])
        if not p or not q:
            return math.nan
        both = [(p.get(word, 0.0), q.get(word, 0.0)) for word in {*p, *q}]
        if metric.distance == "hellinger":
            return math.sqrt(sum((math.sqrt(a) - math.sqrt(b)) ** 2 for a, b in both) / 2)
        if metric.distance == "kl":
            mixed = [(a, (1 - metric.alpha) * b + metric.alpha * a) for a, b in both]
            return sum(a * math.log(a / b) for a, b in mixed if a)
        middle = [(a, b, (a + b) / 2) for a, b in both]
        return sum((a * math.log(a / m) if a else 0) + (b * math.log(b / m) if b else 0) for a, b, m in middle) / 2

    def alpha_dcg(self, items: list[int], alpha: float) -> float:
        seen: Counter[str] = Counter()
        total = 0.0
        for rank, item in enumerate(items, 1):
            total += self.gain(item, seen, alpha) / math.log2(rank + 1)
            seen.update(self.sets.get(item, []) if item >= 0 else [])
        return total

    def gain(self, item: int, seen: Counter[str], alpha: float) -> float:
        return sum((1 - alpha) ** seen[word] for word in self.sets.get(item, []))

    def alpha_ndcg(self, items: list[int], relevant: set[int], alpha: float, k: int) -> float:
        left, seen = set(relevant), Counter[str]()
        ideal: list[int] = []
        while left and len(ideal) < k:
            best = max(left, key=lambda item: (round(self.gain(item, seen, alpha), 9), str(item)))
            left.remove(best)
            ideal.append(best)
            seen.update(self.sets.get(best, []))
        below = self.alpha_dcg(ideal, alpha)
        hits = [item if item in relevant else -1 for item in items]
        return self.alpha_dcg(hits, alpha) / below if below else math.nan

    def of(self, metric: Any, user: int, listed: list[int], relevant: set[int]) -> float:
        k = metric.k or 100
        items = listed[:k]
        if metric.name == "ild":
            return mean_of_pairs(items, self.distance(metric.by), metric.unknown)
        if metric.name == "category_entropy":
            return self.entropy(items, metric.count)
        if metric.name == "category_count":
            return self.count(items)
        if metric.name == "calibration":
            return self.calibration(user, items, metric)
        return self.alpha_ndcg(items, relevant, metric.alpha, k)


SPECS = [
    *(f"ild(by={by},unknown=skip)" for by in ("features", "euclidean", "categories", "cooccurrence")),
    *(f"ild(by={by},unknown=apart)" for by in ("features", "euclidean", "categories", "cooccurrence")),
    "category_entropy", "category_entropy(count=each)", "category_count",
    *(f"calibration(distance={name},weight=uniform)" for name in ("kl", "js", "hellinger")),
    *(f"calibration(distance={name},weight=log2)" for name in ("kl", "js", "hellinger")),
    "calibration(weight=reciprocal)",
    "calibration(alpha=0.3)",
    "alpha_ndcg", "alpha_ndcg(alpha=0)", "alpha_ndcg(alpha=1)", "alpha_ndcg(alpha=0.3)",
]  # fmt: skip
METRICS: list[Metric] = [parse(spec + cut) for spec in SPECS for cut in ("", "@1", "@3")]
OF_VECTORS = [metric for metric in METRICS if getattr(metric, "by", None) in ("features", "euclidean")]
OF_SETS = [metric for metric in METRICS if metric not in OF_VECTORS]

items = st.integers(0, 9)
lists = st.lists(items, max_size=8, unique=True)
plain = st.lists(st.sampled_from("abcde"), min_size=1, max_size=4, unique=True)
many = st.lists(st.integers(0, 99).map("w{:02}".format), min_size=1, max_size=5, unique=True)
numbers = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=3, max_size=3)


@given(
    recs=st.dictionaries(st.integers(0, 4), lists, max_size=4),
    truth=st.dictionaries(st.integers(0, 4), lists, max_size=4),
    sets=st.one_of(st.dictionaries(items, plain, min_size=1), st.dictionaries(items, many, min_size=5)),
    vectors=st.dictionaries(items, numbers, min_size=1),
    train=st.dictionaries(st.integers(0, 6), lists, max_size=6),
)
def test_plain_loops(
    recs: dict[int, list[int]], truth: dict[int, list[int]], sets: Sets, vectors: Vectors, train: dict[int, list[int]]
) -> None:
    recs, truth, train = {**recs, 9: [0, 1]}, {**truth, 9: [0]}, {**train, 9: [0, 5]}
    rows, wanted = ([(user, item) for user, found in each.items() for item in found] for each in (recs, truth))
    lists, held_out = (pl.DataFrame(each, schema=["user", "item"], orient="row") for each in (rows, wanted))
    loops = Loops(sets, vectors, train)
    for metrics, known in ((OF_VECTORS, vectors), (OF_SETS, sets)):
        result = atkay.evaluate(lists, held_out, metrics, features=known, train=train, no_truth="zero")
        for row in result.per_query.iter_rows(named=True):
            user = row["user"]
            for metric in metrics:
                expected = loops.of(metric, user, recs.get(user, []), set(truth.get(user, [])))
                if metric.needs_truth and not truth.get(user):
                    expected = 0.0
                found = math.nan if row[str(metric)] is None else row[str(metric)]
                assert found == pytest.approx(expected, nan_ok=True, abs=1e-12), (str(metric), user)


def test_plain_loops_with_thousands_of_categories() -> None:
    rng = np.random.default_rng(7)
    sets = {item: [f"w{word:04}" for word in rng.choice(3000, 1 + item % 4, replace=False)] for item in range(3000)}
    sets |= {item: ["w0001", "w2999", f"w{item:04}"] for item in range(6, 3000, 5)}  # something in common
    drawn = [{user: rng.choice(3000, 5 + 3 * user, replace=False).tolist() for user in range(30)} for _ in range(2)]
    recs, train = drawn[0], {user: [*found, *drawn[0][user][::3]] for user, found in drawn[1].items()}
    train = {user: list(dict.fromkeys(found)) for user, found in train.items()}
    truth = {user: [*found[::2], *drawn[1][user][:9]] for user, found in recs.items()}
    truth = {user: list(dict.fromkeys(found)) for user, found in truth.items()}
    loops = Loops(sets, {}, train)
    result = atkay.evaluate(recs, truth, OF_SETS, features=sets, train=train)
    for row in result.per_query.iter_rows(named=True):
        user = row["user"]
        for metric in OF_SETS:
            expected = loops.of(metric, user, recs[user], set(truth[user]))
            found = math.nan if row[str(metric)] is None else row[str(metric)]
            assert found == pytest.approx(expected, nan_ok=True, abs=1e-12), (str(metric), user)


# Digits.


def many_users(n: int, length: int) -> Judged:
    """Lists of random items with 64 numbers and up to five of 200 categories; some items have neither."""
    rng = np.random.default_rng(4)
    n_items = 300
    vectors = rng.normal(size=(n_items, 64))
    vectors[::7] = np.nan
    size = rng.integers(0, 6, n_items)
    kinds = np.concatenate([rng.choice(200, each, replace=False) for each in size])
    listed, relevant = (np.argsort(rng.random((n, n_items)), axis=1)[:, :length] for _ in range(2))
    hit = (listed[:, :, None] == relevant[:, None, :]).any(axis=2)
    query, place = np.nonzero(hit)
    everyone = np.full(n, length)
    train = Train(
        Lists.of(everyone, np.argsort(rng.random((n, n_items)), axis=1)[:, :length].ravel(), n_items), np.arange(n)
    )
    return Judged(
        query, place + 1, np.ones(len(query)), listed[hit], everyone, everyone, everyone > 0, np.ones(n * length),
        ranking=Ranking.of(everyone, listed.ravel(), n_items),
        side=Side(n_items, train, features=Features(vectors, Lists.of(size, kinds, 200))),
        truth=Lists.of(everyone, relevant.ravel(), n_items),
    )  # fmt: skip


@pytest.mark.parametrize("spec", [spec for spec in SPECS if "cooccurrence" not in spec])
def test_digits_depend_neither_on_other_users_nor_on_other_cutoffs(spec: str) -> None:
    judged = many_users(40, 12)
    whole = parse(f"{spec}@3,12,5").values(judged)
    assert not np.isnan(whole).all()
    alone = [parse(f"{spec}@5").values(judged.part(user, user + 1))[0, 0] for user in range(40)]
    assert np.array_equal(whole[:, 2], alone, equal_nan=True)
    chosen = np.arange(40) % 3 == 1
    assert np.array_equal(whole[chosen], parse(f"{spec}@3,12,5").values(judged.where(chosen)), equal_nan=True)
