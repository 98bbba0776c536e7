"""Extremes: the lowest and the highest values that the unjudged items of lists allow.

Each listed item that the truth does not judge may be relevant, with any grade of the truth, or not. Which choices are
extreme follows from exchanging two of them (``Metric.monotone``):

- Among those with as many relevant items in the top k, the highest value has them at the top-most unjudged places, the
  lowest at the bottom-most. Below the cutoff all others are relevant for the lowest value, none for the highest. Where
  this says nothing of those below the cutoff (``Metric.across``), all of the list is taken for the top.
- The highest grade is extreme, too. The one exception is the highest nDCG of graded truth, where a grade also raises
  the ideal (:func:`_highest_ndcg`).

So a list with u unjudged items in the top k takes 2 (u + 1) values in place of those of 2^u choices. What other metrics
can reach is found by trying all choices, where these are few.

A pooled number is a quotient of sums over users. Its extremes are those of numerator - x denominator, user by user, for
the right x, which Dinkelbach's iteration finds; each user's choices that are extreme for some x are among the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from atkay.core.kernels import divide, within
from atkay.core.lists import Lists, is_constant, mask
from atkay.core.moments import divides
from atkay.core.types import WHOLE, Floats
from atkay.evaluation.hits import group_of
from atkay.evaluation.measure import values_of
from atkay.judged.judgements import Judgements, Later
from atkay.metrics.dcg import DCG
from atkay.metrics.gains import discount_of, gains
from atkay.metrics.ndcg import NDCG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from atkay.core.types import Bools, Ints
    from atkay.judged.judged import Judged
    from atkay.metrics.metric import Metric
    from atkay.results.measured import Measured

MOST_JUDGEMENTS = 1 << 12
"""As many judgements of the unjudged items of a list are tried out, fewer of many lists: to try all takes seconds."""

MOST_ROWS = 1 << 25
"""The listed items times the judgements that are tried out."""

Sides = tuple[Floats, Floats]
"""Numerators and denominators."""


@dataclass(frozen=True)
class Extremes:
    """The lowest and the highest values of the counted queries, by number; for each of both ends a dict.

    ``sides`` has the numerators and denominators of those that are pooled, ``sometimes`` the queries that have a value
    under some judgements only.
    """

    values: tuple[dict[str, Floats], dict[str, Floats]] = field(default_factory=lambda: ({}, {}))
    sides: tuple[dict[str, Sides], dict[str, Sides]] = field(default_factory=lambda: ({}, {}))
    sometimes: dict[str, Bools] = field(default_factory=dict)


def extremes(measured: Measured, grade: float, weights: Floats | None) -> Extremes:
    """The extremes of all metrics; ``grade`` is the highest that there is, ``weights`` are those of counted queries."""
    judged, out = measured.judged, Extremes()
    places = UnjudgedPlaces.of(judged, measured.counted)
    cut: list[Metric] = []
    uncut: list[Metric] = []
    others: list[Metric] = []
    for metric in measured.metrics:
        whole = metric.across or metric.reach == WHOLE
        (others if not has_exchange(metric, judged, grade) else uncut if whole else cut).append(metric)
    deepest = max((metric.reach for metric in cut), default=0)
    for several, tries in (
        (cut, lambda: places.ends(deepest, grade)),
        (uncut, lambda: places.ends(WHOLE, grade)),
        (others, lambda: places.every(scale_of(judged, grade))),
    ):
        if several:
            _search(measured._replace(metrics=several), places, tries, weights, out)
    highest = out.values[1]
    for one in (one for metric in measured.metrics for one in metric.split()):
        if isinstance(one, NDCG) and one.ideal != "full":
            name = str(one)
            highest[name] = _highest_ndcg(one, one.view(judged), places, grade, measured.counted, highest[name])
    return out


def has_exchange(metric: Metric, judged: Judged, grade: float) -> bool:
    """Whether the extremes follow from exchanging items."""
    per_hits = judged.averaged and bool(metric.k) and getattr(metric, "per", "") == "hits"
    alike = not metric.of_one_gain or bool((metric.view(judged).grades == grade).all())
    return metric.monotone and alike and not per_hits


def scale_of(judged: Judged, grade: float) -> Floats:
    """The grades that an item may have: those of the truth, and the highest one."""
    scale: Floats = np.unique(np.append((judged.graded or judged).grades, grade))
    return scale


def most_unjudged(judged: Judged, grade: float) -> int:
    """How many unjudged items a list may have for all judgements to be tried out."""
    judgements = max(1, min(MOST_JUDGEMENTS, MOST_ROWS // max(int(judged.n_listed.sum()), 1)))
    return int(math.log(judgements) / math.log(len(scale_of(judged, grade)) + 1) + 1e-9)


def _search(
    measured: Measured,
    places: UnjudgedPlaces,
    tries: Callable[[], Iterator[Floats]],
    weights: Floats | None,
    out: Extremes,
) -> None:
    """Try judgements out; ``out`` takes the extreme values and sides."""
    metrics, protocol, judged, counted = measured
    shape = int(counted.sum()), len(measured.numbers)
    lowest, highest, undefined = np.full(shape, np.inf), np.full(shape, -np.inf), np.zeros(shape, bool)
    most: dict[str, Sides] = {}
    for grades in tries():
        values, ratios = values_of(places.relevant(judged, grades, metrics), metrics, protocol, counted)
        undefined |= np.isnan(values)
        np.fmin(lowest, values, out=lowest)
        np.fmax(highest, values, out=highest)
        for name, sides in ratios.items():
            most[name] = _better(sides, most.get(name), 0.0, 1.0)
    never = lowest > highest
    for at, name in enumerate(measured.numbers):
        out.sometimes[name] = undefined[:, at] & ~never[:, at] & (name not in most)
        for end, reached in zip(out.values, (lowest, highest), strict=True):
            end[name] = np.where(never[:, at], np.nan, reached[:, at])
    pooled = [metric for metric in metrics if most.keys() & set(metric.numbers)]
    for sides_of, sign in zip(out.sides, (-1, 1), strict=True):
        sides_of.update(_of_sums(measured._replace(metrics=pooled), places, tries, weights, most, sign))


def _of_sums(
    measured: Measured,
    places: UnjudgedPlaces,
    tries: Callable[[], Iterator[Floats]],
    weights: Floats | None,
    best: dict[str, Sides],
    sign: int,
) -> dict[str, Sides]:
    """The sides with the highest quotient of sums, or the lowest where the sign is -1; ``best`` is where to begin."""
    metrics, protocol, judged, counted = measured

    def quotients(of: dict[str, Sides]) -> dict[str, float]:
        totals = {
            name: [float(np.sum(side if weights is None else side * weights)) for side in of[name]] for name in of
        }
        return {name: above / below if below else math.nan for name, (above, below) in totals.items()}

    reached = quotients(best)
    while metrics:
        better: dict[str, Sides] = {}
        for grades in tries():
            _, ratios = values_of(places.relevant(judged, grades, metrics), metrics, protocol, counted)
            for name, sides in ratios.items():
                better[name] = _better(sides, better.get(name), sign, -sign * reached[name])
        now = quotients(better)
        if not any(sign * (now[name] - x) > 1e-14 * abs(x) for name, x in reached.items()):
            break
        rising = {name for name, x in reached.items() if sign * (now[name] - x) > 0}
        best = {name: better[name] if name in rising else best[name] for name in best}
        reached = {name: now[name] if name in rising else x for name, x in reached.items()}
    return best


def _better(sides: Sides, than: Sides | None, above_counts: float, below_counts: float) -> Sides:
    """Of two sides of each query those that count more; what divides nothing counts nothing."""
    there = divides(sides[1]) & ~np.isnan(sides[0])
    above, below = np.where(there, sides[0], 0.0), np.where(there, sides[1], 0.0)
    if than is None:
        return above, below
    here = above_counts * above + below_counts * below > above_counts * than[0] + below_counts * than[1]
    return np.where(here, above, than[0]), np.where(here, below, than[1])


def without_value(extreme: Floats, sometimes: Bools, weights: Floats | None, sign: int) -> Floats:
    """The values whose mean is the highest, or the lowest where the sign is -1: some users may have none.

    Those stay away whose value is on the wrong side of the mean of the others.
    """
    out = extreme
    while True:
        there = ~np.isnan(out)
        weight = there if weights is None else there * weights
        if not weight.any():
            return out
        mean = float(np.sum(weight * np.where(there, out, 0.0)) / np.sum(weight))
        fewer = np.where(sometimes & (sign * (out - mean) < 0), np.nan, out)
        if (np.isnan(fewer) == ~there).all():
            return out
        out = fewer


@dataclass(frozen=True, eq=False)
class UnjudgedPlaces:
    """The places of listed items that the truth does not judge, by query and rank; of the counted queries alone.

    ``nth`` counts them within their list, from 0; ``tied`` has the group of equal scores of each, as in Judged.
    """

    query: Ints
    rank: Ints
    item: Ints
    nth: Ints
    tied: tuple[Ints, Ints]

    @classmethod
    def of(cls, judged: Judged, counted: Bools) -> Self:
        lists, listed = judged.lists, judged.judgements.listed
        start = lists.start[:-1]
        known = mask(start[listed.query] + listed.rank - 1, len(lists))
        row = np.flatnonzero(~known & np.repeat(counted, lists.length))
        query = lists.owner()[row]
        level = judged.level
        equal = row[:0] if level is None or not judged.averaged else start[level.owner()] + level.item
        return cls(
            query, row - start[query] + 1, lists.item[row], within(query) - 1, group_of(equal, row, start[query])
        )

    @property
    def most(self) -> int:
        """The unjudged items of the list that has most of them."""
        return int(self.nth.max(initial=-1)) + 1

    def ends(self, reach: int, grade: float) -> Iterator[Floats]:
        """Grades of which some are extreme, by the exchange of two: for the top-most items, and for all but these."""
        near = self.nth[self.tied[0] < reach]
        for top in range(int(near.max(initial=-1)) + 2):
            yield np.where(self.nth < top, grade, 0.0)
            yield np.where(self.nth >= top, grade, 0.0)

    def every(self, scale: Floats) -> Iterator[Floats]:
        """All grades that they can have together."""
        scale = np.append(0.0, scale)
        digits = len(scale) ** self.nth
        for number in range(len(scale) ** self.most):
            yield scale[number // digits % len(scale)]

    def relevant(self, judged: Judged, grades: Floats, metrics: Sequence[Metric]) -> Judged:
        """The same lists where the unjudged places hold judged items of these grades, 0 being not relevant.

        Which items are relevant is known where one of the metrics reads what there is to know of items.
        """
        chosen = (grades > 0) & (grades >= judged.threshold)
        given, query, n = grades[chosen], self.query[chosen], judged.n_queries
        added, every = np.bincount(query, minlength=n), np.bincount(self.query, minlength=n)
        order = np.lexsort((np.concatenate((judged.rank, self.rank[chosen])), np.concatenate((judged.query, query))))

        def joined(of_hits: Ints, of_places: Ints) -> Ints:
            together: Ints = np.concatenate((of_hits, of_places[chosen]))[order]
            return together

        all_grades = np.insert(judged.grades, np.repeat(judged.edges[:-1], added), given)
        if not is_constant(given) or given.min(initial=np.inf) < judged.grades.max(initial=0.0):
            all_grades = all_grades[np.lexsort((-all_grades, np.repeat(np.arange(n), judged.n_relevant + added)))]
        fields: dict[str, Any] = {
            "query": joined(judged.query, self.query),
            "rank": joined(judged.rank, self.rank),
            "item": joined(judged.item, self.item),
            "grade": np.concatenate((judged.grade, given))[order],
            "grades": all_grades,
            "n_relevant": judged.n_relevant + added,
            "tied": None if judged.tied is None else tuple(map(joined, judged.tied, self.tied)),
            "graded": None if judged.graded is None else self.relevant(judged.graded, grades, metrics),
            "n_nonrelevant": judged.nonrelevant[0] + every - added,
            "truth": None,
            "judging": Later(lambda: self._judgements(judged, grades, chosen)),
        }
        if len(all_grades) and is_constant(all_grades):
            # One gain stands for all, so that a perfect list scores 1 to the last bit.
            fields |= {name: np.broadcast_to(all_grades[0], fields[name].shape) for name in ("grade", "grades")}
        if any(metric.needs for metric in metrics):
            fields["truth"] = _with_rows(judged.relevant, query, self.item[chosen])[0]
        none: dict[str, Any] = dict.fromkeys(("positive", "n_unjudged_above", "of_hits", "of_truth"))
        both = replace(judged, **fields, **none)
        return replace(both, nonrelevant_above=both.rank - both.nth)

    def _judgements(self, judged: Judged, grades: Floats, chosen: Bools) -> Judgements:
        """What is judged, and these places, too."""
        known = judged.judgements
        items, order = _with_rows(known.items, self.query, self.item)
        return Judgements(
            items,
            np.concatenate((known.grade, grades))[order],
            np.concatenate((known.relevant, chosen))[order],
            np.concatenate((known.rank, self.rank))[order],
        )


def _with_rows(lists: Lists, query: Ints, item: Ints) -> tuple[Lists, Ints]:
    """The lists with further rows, and the order of the rows of both."""
    order = np.argsort(np.concatenate((lists.owner(), query)), kind="stable")
    length = lists.length + np.bincount(query, minlength=lists.n_queries)
    return Lists.of(length, np.concatenate((lists.item, item))[order], lists.n_items), order


def _highest_ndcg(
    metric: NDCG, judged: Judged, places: UnjudgedPlaces, grade: float, counted: Bools, highest: Floats
) -> Floats:
    """The highest nDCG of the counted queries; ``highest`` is the one with the one grade at all relevant places.

    A sum of gains is a sum over levels: what a level adds to the one below, times the discounts of the items that reach
    it. DCG - x IDCG is then greatest level by level, with the top-most unjudged places up to one of them, and the
    higher a level the fewer places reach it, as the ideal of fewer items rises more steeply: so what is best for each
    level is possible for all. Dinkelbach's iteration of x ends at the highest quotient.
    """
    listed, cut = metric.ideal == "listed", WHOLE if metric.ideal == "uncut" else metric.cutoffs[0]
    length = judged.n_listed[counted, None] if metric.ideal == "possible" else WHOLE
    of_query = judged.query if listed else np.repeat(np.arange(judged.n_queries), judged.n_relevant)
    gain = gains(metric.gain, np.append(judged.grade if listed else judged.grades, grade), judged.threshold)
    levels = np.unique(gain[gain > 0])
    if len(levels) < 2:
        return highest
    shape = judged.n_queries, len(levels)
    at = np.searchsorted(levels, gain[:-1], side="right") - 1  # -1: below the lowest, worth nothing
    reached = np.bincount(of_query[at >= 0] * shape[1] + at[at >= 0], minlength=shape[0] * shape[1]).reshape(shape)
    reached = reached[:, ::-1].cumsum(axis=1)[:, ::-1][counted]
    adds = np.diff(levels, prepend=0.0)
    here, nth = (np.cumsum(counted) - 1)[places.query], places.nth
    n_places = np.bincount(places.query, minlength=len(counted))[counted]
    weight = _weights(metric, places)
    near = (weight > 0) & counted[places.query]
    top = np.zeros((len(reached), int(nth[near].max(initial=-1)) + 2))
    top[here[near], nth[near] + 1] = weight[near]
    top = top.cumsum(axis=1)
    longest = int(reached.max(initial=0)) + top.shape[1]
    discounts = 1 / discount_of(metric.discount)(np.arange(1, longest + 1))
    ideal = np.cumsum(np.where(np.arange(longest) < np.minimum(cut, length), discounts, 0.0), axis=-1)
    ideal = np.insert(np.broadcast_to(ideal, (len(reached), longest)), 0, 0.0, axis=1)
    own, rows = DCG.values(metric, judged)[counted, 0], np.arange(len(reached))[:, None]
    while True:
        best, count = np.full(reached.shape, -np.inf), np.zeros(reached.shape, np.int64)
        for more in range(top.shape[1]):
            rest = top[:, more, None] - highest[:, None] * ideal[rows, reached + more]
            better = (rest > best) & (more <= n_places)[:, None]
            best, count = np.where(better, rest, best), np.where(better, more, count)
        quotient = divide(own + top[rows, count] @ adds, ideal[rows, reached + count] @ adds)
        if not (quotient > highest * (1 + 1e-14)).any():
            return highest
        highest = np.maximum(highest, quotient)


def _weights(metric: NDCG, places: UnjudgedPlaces) -> Floats:
    """1 / discount at each unjudged place of the top k; among equal scores the mean of the group's places."""
    before, size = places.tied
    ranks = np.arange(1, int((before + size).max(initial=0)) + 1)
    running = np.concatenate(([0.0], np.cumsum(1 / discount_of(metric.discount)(ranks))))
    k = metric.cutoffs[0]
    weights: Floats = (running[np.minimum(before + size, k)] - running[np.minimum(before, k)]) / size
    return weights
