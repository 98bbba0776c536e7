"""Attainable: which means no data could give, by arithmetic alone.

Three kinds of reasons. A mean over n users of values that are multiples of 1/d is a multiple of 1/(n d). Metrics of
the same lists bound each other: no precision without a hit. With one relevant item, every value follows from its rank,
so the means of a row must come from one distribution over ranks.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from atkay.evaluation.evaluate import evaluate
from atkay.metrics.metric import Metric, RunMetric, is_pooled
from atkay.protocol import Protocol

if TYPE_CHECKING:
    from atkay.core.types import Floats

Relevant = Literal["one", "many"]

SAMPLE_ROWS = 120_000
"""The most listed rows on which a bound is tried before it is used."""
DEEPEST = 1_000
"""The deepest cutoff of metrics that are compared with others."""
EVERY_LENGTH = 30
"""Up to this cutoff, lists of every length are looked at."""
SLACK = 1e-9
"""What counts as rounding in sums of doubles."""

DIVISORS = ("relevant", "capped", "hits")
"""What libraries divide average precision by, where a header does not say."""
AVERAGED_TIES = ("expected", "together")
"""Words for ties under which values are not those of one order."""


@dataclass(frozen=True)
class MetricColumn:
    """A metric of a table, and the protocol under which it was computed."""

    metric: Metric
    protocol: Protocol = field(default_factory=Protocol)
    stated: bool = True
    """Whether the table, or its dialect, says what average precision is divided by."""

    @property
    def readings(self) -> tuple[MetricColumn, ...]:
        """What the column may mean."""
        if self.stated or self.metric.name != "map":
            return (self,)
        maps = (replace(self.metric, per=word) for word in DIVISORS)  # type: ignore[call-arg]  # it is a field of map
        return tuple(replace(self, metric=each, stated=True) for each in maps)

    @property
    def of_one_order(self) -> bool:
        """Whether a user's value is that of one order of the list, and a mean that of the users' values."""
        ordered = self.protocol.ties not in AVERAGED_TIES and self.protocol.aggregate == "mean"
        return ordered and self.listed_once and not is_pooled(self.metric)

    @property
    def listed_once(self) -> bool:
        """Whether an item counts at one place of a list."""
        return self.protocol.duplicates != "counted"

    @property
    def of_hits(self) -> bool:
        """Whether a user's value follows from the list and the relevant items alone."""
        metric = self.metric
        of_hits = metric.needs_truth and not (metric.needs or metric.reads_scores or isinstance(metric, RunMetric))
        return of_hits and self.listed_once

    @property
    def tried(self) -> bool:
        """Whether its values are computed, to try bounds on them."""
        return self.of_hits and (self.k or 1) <= DEEPEST

    @property
    def k(self) -> int | None:
        """The cutoff."""
        return self.metric.cutoffs[0] if self.metric.k is not None else None


def steps(column: MetricColumn, relevant: Relevant, items: int | None = None) -> Fraction | None:
    """d, where a user's value is always a multiple of 1/d; None where it is not.

    >>> from atkay.audit.attainable import MetricColumn, steps
    >>> [steps(MetricColumn(atkay.parse(spec)), "many") for spec in ("hit@10", "precision@10", "mrr@3", "ndcg@10")]
    [Fraction(1, 1), Fraction(10, 1), Fraction(6, 1), None]
    """
    metric, k = column.metric, column.k
    if metric.name == "coverage" and items:
        return Fraction(items)
    if not column.of_one_order:
        return None
    words = {name: getattr(metric, name, None) for name in ("per", "count", "target", "beta")}
    one = relevant == "one"
    if metric.name == "hit":
        return None if words["count"] == "share" else Fraction(1)
    if metric.name == "precision":
        if words["per"] == "k" and k:
            return Fraction(k)
        return Fraction(1) if words["per"] in ("capped", "possible") and one else None
    if metric.name == "recall":
        return Fraction(1) if one else None
    if metric.name == "f1" and one and k and words["beta"] == 1:
        return Fraction(k + 1, 2)
    if (
        k
        and k <= DEEPEST
        and (metric.name == "mrr" or (metric.name == "map" and one and words["per"] in ("relevant", "capped", "hits")))
    ):
        return Fraction(math.lcm(*range(1, k + 1)))
    return None


@dataclass(frozen=True)
class Law:
    """A law of means: the sum of coefficients times columns is at most ``most``; with the reason in words."""

    terms: tuple[tuple[int, float], ...]
    most: float
    reason: str


FIRST_HIT = {"hit": {"count": "any"}, "mrr": {"target": "any"}}
WITHIN_HIT = ("precision", "recall", "f1", "map", "mnap", "mrr", "ndcg", "r_precision")
GROWING = ("hit", "recall", "map", "mrr", "dcg")


@functools.lru_cache(64)
def laws(columns: tuple[MetricColumn, ...], relevant: Relevant) -> tuple[Law, ...]:
    """The laws that hold between the columns of a table, tried on lists of every kind before they are used."""
    readings = [each.readings for each in columns]
    tried = iter(profiles([each for of_column in readings for each in of_column], relevant).T)
    values = [[next(tried) for _ in of_column] for of_column in readings]
    return tuple(
        law
        for law in _candidates(columns, relevant)
        if all(_holds(law, chosen) for chosen in itertools.product(*(values[at] for at, _ in law.terms)))
    )


def _holds(law: Law, values: Sequence[Floats]) -> bool:
    total = np.sum([coefficient * each for (_, coefficient), each in zip(law.terms, values, strict=True)], axis=0)
    known = len(law.terms) == 1 or not np.isnan(total).any()
    return bool(known and not np.any(total > law.most + SLACK))


def _candidates(columns: Sequence[MetricColumn], relevant: Relevant) -> Iterator[Law]:
    """The laws of the field, for each pair of columns that they are about."""
    for at, one in enumerate(columns):
        if one.metric.bounded and one.listed_once and one.protocol.aggregate != "geometric":
            yield Law(((at, 1.0),), 1.0, f"{one.metric} is at most 1")
        if one.metric.least == 0:
            yield Law(((at, -1.0),), 0.0, f"{one.metric} is never negative")
        for other_at, other in enumerate(columns):
            if at != other_at:
                for factor, most, reason in _pairs(one, other, relevant):
                    yield Law(((at, 1.0), (other_at, -factor)), most, reason)
    yield from _triples(columns)


def _pairs(one: MetricColumn, other: MetricColumn, relevant: Relevant) -> Iterator[tuple[float, float, str]]:
    """Why the first column is at most a factor times the second, plus something."""
    a, b, ka, kb = one.metric, other.metric, one.k or math.inf, other.k or math.inf
    names = a.name, b.name
    if a.name in WITHIN_HIT and b.name == "hit" and ka <= kb:
        yield 1, 0, f"{a} is 0 for users without a hit, and at most 1 for the others: it cannot exceed {b}"
    if a.name == b.name and ka < kb < math.inf:
        if a.name in GROWING:
            yield 1, 0, f"a longer list loses no hit: {a} cannot exceed {b}"
        if a.name == "precision":
            yield kb / ka, 0, f"a longer list loses no hit: {ka} × {a} cannot exceed {kb} × {b}"
    if names == ("precision", "precision") and kb < ka < math.inf:
        yield (
            kb / ka,
            1 - kb / ka,
            f"places {kb + 1} to {ka} hold at most {ka - kb} hits: {ka} × {a} cannot exceed {kb} × {b} + {ka - kb}",
        )
    if ka != kb:
        return
    if ka < math.inf:
        if a.name == "hit" and b.name in ("precision", "mrr"):
            least = (
                "one of the places is relevant"
                if b.name == "precision"
                else f"the first relevant item stands at {ka} or above"
            )
            yield ka, 0, f"for users with a hit, {least}: {a} cannot exceed {ka} × {b}"
        if names == ("recall", "map"):
            yield ka, 0, f"each hit has a precision of at least 1/{ka}: {a} cannot exceed {ka} × {b}"
        if relevant == "one" and names == ("hit", "ndcg"):
            yield math.log2(ka + 1), 0, f"a hit adds at least 1/log2({ka} + 1): {a} cannot exceed log2({ka} + 1) × {b}"
    if names in (
        ("map", "recall"),
        ("map", "precision"),
        ("map", "map"),
        ("recall", "recall"),
        ("precision", "recall"),
        ("precision", "precision"),
    ):
        yield 1, 0, f"each user's {a} is at most {b}"
    if names == ("f1", "precision") or names == ("f1", "recall"):
        yield 2, 0, f"a harmonic mean is at most twice the smaller value: {a} cannot exceed 2 × {b}"
    if relevant == "one":
        yield from _of_one(one, other)


def _of_one(one: MetricColumn, other: MetricColumn) -> Iterator[tuple[float, float, str]]:
    """What the metrics of one relevant item are of each other."""
    a, b, k = one.metric, other.metric, one.k
    same = {("hit", "recall"), ("recall", "hit"), ("mrr", "map"), ("map", "mrr")}
    if (a.name, b.name) in same:
        yield 1, 0, f"with one relevant item, {a} and {b} are the same"
    if k and {a.name, b.name} in ({"hit", "precision"}, {"recall", "precision"}):
        factor = 1 / k if a.name == "precision" else k
        yield factor, 0, f"with one relevant item, precision is the share of users with a hit, divided by {k}"
    if k and {a.name, b.name} in ({"hit", "f1"}, {"recall", "f1"}):
        factor = 2 / (k + 1) if a.name == "f1" else (k + 1) / 2
        yield factor, 0, f"with one relevant item, F1 is the share of users with a hit, times 2/({k} + 1)"
    if (a.name, b.name) == ("mrr", "ndcg"):
        yield 1, 0, f"with one relevant item at rank r, 1/r is at most 1/log2(r + 1): {a} cannot exceed {b}"


def _triples(columns: Sequence[MetricColumn]) -> Iterator[Law]:
    """F1 is at most the mean of precision and recall."""
    places: dict[tuple[str, int | None], list[int]] = {}
    for at, each in enumerate(columns):
        places.setdefault((each.metric.name, each.k), []).append(at)
    for (name, k), of_name in places.items():
        others = (places.get(("precision", k), []), places.get(("recall", k), []))
        for f1, precision, recall in itertools.product(of_name, *others) if name == "f1" else ():
            f, p, r = (columns[at].metric for at in (f1, precision, recall))
            reason = f"a harmonic mean is at most the arithmetic one: {f} cannot exceed the mean of {p} and {r}"
            yield Law(((f1, 1.0), (precision, -0.5), (recall, -0.5)), 0.0, reason)


_PROFILES: dict[tuple[MetricColumn, Relevant, int], Floats] = {}


def profiles(columns: Sequence[MetricColumn], relevant: Relevant) -> Floats:
    """The values of users of every kind, a row each, as the engine computes them: for one relevant item each rank in
    lists of each length, else lists with hits at random, some of them graded. NaN where a metric needs more than that.
    """
    columns = [replace(each, stated=True) for each in columns]
    depth = max((each.k or 1 for each in columns if each.tried), default=1)
    recs, truth = (_one_relevant if relevant == "one" else _random_lists)(depth)
    unknown = [each for each in dict.fromkeys(columns) if (each, relevant, depth) not in _PROFILES]
    for protocol in {each.protocol for each in unknown if each.tried}:
        metrics = [each.metric for each in unknown if each.protocol == protocol and each.tried]
        counted = protocol.no_truth if protocol.no_truth == "one" else "zero"  # nobody is left out
        every = protocol.with_fields(aggregate="mean", no_recs="zero", no_truth=counted)
        result = evaluate(recs, truth, metrics, protocol=every)
        order = np.argsort(np.array(result.ids["user"]).astype(int))
        frame = result.per_query
        for metric in metrics:
            _PROFILES[MetricColumn(metric, protocol), relevant, depth] = frame[str(metric)].to_numpy()[order]
    blank = np.full(len(truth), np.nan)
    return np.stack([_PROFILES.get((each, relevant, depth), blank) for each in columns], axis=1)


@functools.lru_cache(8)
def _one_relevant(depth: int) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The relevant item at each rank, or missing, in lists that end before and below the deepest cutoff."""
    lengths = range(1, depth + 2) if depth <= EVERY_LENGTH else (depth, depth + 1)
    lists = []
    for length in lengths:
        empty = [f"x{at}" for at in range(length)]
        lists += [empty, *([*empty[:rank], "r", *empty[rank + 1 :]] for rank in range(length))]
    return {str(user): items for user, items in enumerate(lists)}, {str(user): ["r"] for user in range(len(lists))}


@functools.lru_cache(8)
def _random_lists(depth: int) -> tuple[dict[str, list[str]], dict[str, dict[str, int]]]:
    """Lists of full and of shorter length with few and many hits, some of graded truth."""
    rng = np.random.default_rng(20)
    recs: dict[str, list[str]] = {}
    truth: dict[str, dict[str, int]] = {}
    for user in range(min(3_000, max(200, SAMPLE_ROWS // (2 * depth)))):
        length = 2 * depth if user % 3 else int(rng.integers(1, depth + 1))
        hits = rng.random(length) < rng.random() ** 2
        recs[str(user)] = [f"{'r' if hit else 'x'}{at}" for at, hit in enumerate(hits)]
        missed = int(rng.integers(0, 2 * depth + 2)) if user % 2 else 0
        graded = user % 5 == 0
        relevant = [f"r{at}" for at, hit in enumerate(hits) if hit] + [f"m{at}" for at in range(missed)] or ["m0"]
        truth[str(user)] = {item: int(rng.integers(1, 5)) if graded else 1 for item in relevant}
    return recs, truth


def _by_first_hit(metric: Metric) -> bool:
    """Whether the rank of the first hit is all that matters, however many relevant items there are."""
    words = FIRST_HIT.get(metric.name)
    return words is not None and all(getattr(metric, name) == word for name, word in words.items())


@functools.lru_cache(64)
def ranks(columns: tuple[MetricColumn, ...], relevant: Relevant) -> tuple[list[int], Floats]:
    """The columns that follow from the rank of the first relevant item, and their values at each rank."""
    at_ranks = [
        at
        for at, each in enumerate(columns)
        if each.k and each.tried and each.of_one_order and (relevant == "one" or _by_first_hit(each.metric))
    ]
    if len(at_ranks) < 2:
        return [], np.empty((0, 0))
    return at_ranks, np.unique(profiles([columns[at] for at in at_ranks], "one"), axis=0)


def range_of(at: int, low: Floats, high: Floats, values: Floats) -> tuple[float, float] | None:
    """The range of a column's mean where the others lie between their ends; None where nothing is possible."""
    from scipy.optimize import linprog

    others = [each for each in range(values.shape[1]) if each != at]
    upper = np.vstack([values[:, others].T, -values[:, others].T])
    ends = np.concatenate([high[others], -low[others]])
    ends_of = [
        linprog(sign * values[:, at], A_ub=upper, b_ub=ends, A_eq=np.ones((1, len(values))), b_eq=[1.0], bounds=(0, 1))
        for sign in (1, -1)
    ]
    if not all(each.success for each in ends_of):
        return None
    return float(ends_of[0].fun or 0.0), -float(ends_of[1].fun or 0.0)
