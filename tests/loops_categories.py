"""Categories and vectors of items: the metrics about them in plain loops, and data to try them on."""

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
from atkay.errors import SideError
from atkay.judged.judged import Judged
from atkay.judged.side import Features, Side, Train
from atkay.metrics.metric import Metric
from atkay.metrics.spec import parse

Sets = dict[int, list[str]]
Vectors = dict[int, list[float]]
VECTORS = {"a": [1.0, 0.0], "b": [0.0, 2.0], "c": [3.0, 0.0], "d": [-1.0, 0.0], "e": [3.0, 4.0], "o": [0.0, 0.0]}
CATEGORIES = {"a": ["p", "q"], "b": ["q", "r"], "c": ["q", "p"], "d": ["s"], "e": ["p", "q", "r"]}


def value(spec: str, listed: Sequence[Any], **known: Any) -> float:
    """The value of one user's list."""
    truth = known.pop("truth", [listed[0]])
    result = atkay.evaluate({1: list(listed)}, {1: list(truth)}, spec, **known)
    found = result.per_query[spec][0]
    return math.nan if found is None else float(found)


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
            if by == "hamming":
                return float(sum(a != b for a, b in zip(*both, strict=True)))
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


items = st.integers(0, 9)
lists = st.lists(items, max_size=8, unique=True)
plain = st.lists(st.sampled_from("abcde"), min_size=1, max_size=4, unique=True)
many = st.lists(st.integers(0, 99).map("w{:02}".format), min_size=1, max_size=5, unique=True)
numbers = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=3, max_size=3)

tables = given(
    recs=st.dictionaries(st.integers(0, 4), lists, max_size=4),
    truth=st.dictionaries(st.integers(0, 4), lists, max_size=4),
    sets=st.one_of(st.dictionaries(items, plain, min_size=1), st.dictionaries(items, many, min_size=5)),
    vectors=st.dictionaries(items, numbers, min_size=1),
    train=st.dictionaries(st.integers(0, 6), lists, max_size=6),
)
"""Lists, truth, categories, vectors and training for :func:`check`."""


def variants(*specs: str) -> list[Metric]:
    return [parse(spec + cut) for spec in specs for cut in ("", "@1", "@3")]


def check(
    metrics: list[Metric],
    recs: dict[int, list[int]],
    truth: dict[int, list[int]],
    sets: Sets,
    vectors: Vectors,
    train: dict[int, list[int]],
) -> None:
    """Every metric comes to what the plain loops say."""
    recs, truth, train = {**recs, 9: [0, 1]}, {**truth, 9: [0]}, {**train, 9: [0, 5]}
    rows = [[(user, item) for user, items in each.items() for item in items] for each in (recs, truth)]
    lists, held_out = (pl.DataFrame(each, schema=["user", "item"], orient="row") for each in rows)
    of_vectors = [metric for metric in metrics if getattr(metric, "by", None) in ("features", "euclidean", "hamming")]
    of_sets = [metric for metric in metrics if metric not in of_vectors]
    for some, features in ((of_vectors, vectors), (of_sets, sets)):
        if some:
            result = atkay.evaluate(lists, held_out, some, features=features, train=train, no_truth="zero")
            compare(result, some, Loops(sets, vectors, train), recs, truth)


def compare(
    result: atkay.Result, metrics: list[Metric], loops: Loops, recs: dict[int, list[int]], truth: dict[int, list[int]]
) -> None:
    for row in result.per_query.iter_rows(named=True):
        user = row["user"]
        for metric in metrics:
            expected = loops.of(metric, user, recs.get(user, []), set(truth.get(user, [])))
            if metric.needs_truth and not truth.get(user):
                expected = 0.0
            value = math.nan if row[str(metric)] is None else row[str(metric)]
            assert value == pytest.approx(expected, nan_ok=True, abs=1e-12), (str(metric), user)


def check_thousands_of_categories(metrics: list[Metric]) -> None:
    """The same with far more categories than a user has items."""
    rng = np.random.default_rng(7)
    sets = {item: [f"w{word:04}" for word in rng.choice(3000, 1 + item % 4, replace=False)] for item in range(3000)}
    sets |= {item: ["w0001", "w2999", f"w{item:04}"] for item in range(6, 3000, 5)}  # something in common
    drawn = [{user: rng.choice(3000, 5 + 3 * user, replace=False).tolist() for user in range(30)} for _ in range(2)]
    recs, train = drawn[0], {user: [*items, *drawn[0][user][::3]] for user, items in drawn[1].items()}
    train = {user: list(dict.fromkeys(items)) for user, items in train.items()}
    truth = {user: [*items[::2], *drawn[1][user][:9]] for user, items in recs.items()}
    truth = {user: list(dict.fromkeys(items)) for user, items in truth.items()}
    result = atkay.evaluate(recs, truth, metrics, features=sets, train=train)
    compare(result, metrics, Loops(sets, {}, train), recs, truth)


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
        query=query, rank=place + 1, grade=np.ones(len(query)), item=listed[hit], n_relevant=everyone,
        n_listed=everyone, answered=everyone > 0, grades=np.ones(n * length),
        ranking=Lists.of(everyone, listed.ravel(), n_items),
        side=Side(n_items, train, features=Features(vectors, Lists.of(size, kinds, 200))),
        truth=Lists.of(everyone, relevant.ravel(), n_items),
    )  # fmt: skip


def check_digits(spec: str) -> None:
    """Digits depend neither on other users nor on other cutoffs."""
    judged = many_users(40, 12)
    whole = parse(f"{spec}@3,12,5").values(judged)
    assert not np.isnan(whole).all()
    alone = [parse(f"{spec}@5").values(judged.part(user, user + 1))[0, 0] for user in range(40)]
    assert np.array_equal(whole[:, 2], alone, equal_nan=True)
    chosen = np.arange(40) % 3 == 1
    assert np.array_equal(whole[chosen], parse(f"{spec}@3,12,5").values(judged.where(chosen)), equal_nan=True)


def check_needs_categories(spec: str) -> None:
    """Vectors are refused."""
    with pytest.raises(SideError, match="needs item categories, but features= has only numbers"):
        atkay.evaluate({1: ["a", "b"]}, {1: ["a"]}, spec, features=VECTORS)


def check_no_list(spec: str) -> None:
    """A list that is emptied has no value."""
    recs, truth, train = {1: ["a", "b"], 2: ["a"]}, {1: ["a"], 2: ["a"]}, {1: ["a"], 2: ["b"]}
    result = atkay.evaluate(recs, truth, spec, exclude={2: ["a"]}, features=CATEGORIES, train=train)
    assert np.isnan(result.query_values[1]).all()
