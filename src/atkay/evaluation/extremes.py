"""Extremes: the lowest and the highest values that the unjudged items of lists allow.

Each listed item that the truth does not judge may be relevant, with any grade up to the highest, or not. Which choices
are extreme follows from exchanging two of them (``Metric.monotone``):

- Among those with as many relevant items in the top k, the highest value has them at the top-most unjudged places, the
  lowest at the bottom-most. Below the cutoff all others are relevant for the lowest value, none for the highest.
- The highest grade is extreme, too. The one exception is the highest nDCG of graded truth, where a grade also raises
  the ideal (:func:`_highest_ndcg`).

So a list with u unjudged items in the top k takes 2 (u + 1) values in place of those of 2^u choices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from atkay.core.kernels import divide, within
from atkay.core.lists import is_constant, mask
from atkay.core.types import WHOLE
from atkay.evaluation.judge import group_of
from atkay.evaluation.measure import values_of
from atkay.metrics.dcg import DCG
from atkay.metrics.gains import discount_of, gains
from atkay.metrics.ndcg import NDCG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from atkay.core.types import Bools, Floats, Ints
    from atkay.judged.judged import Judged
    from atkay.results.measured import Measured


def extremes(measured: Measured, grade: float) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """The lowest and the highest values of the counted queries, by number; ``grade`` is the highest that there is."""
    metrics, protocol, judged, counted = measured
    places = UnjudgedPlaces.of(judged)
    lowest = np.full((int(counted.sum()), len(measured.numbers)), np.inf)
    highest = -lowest
    for chosen in places.choices(max(metric.reach for metric in metrics)):
        values, _ = values_of(places.relevant(judged, chosen, grade), metrics, protocol, counted)
        np.minimum(lowest, values, out=lowest)
        np.maximum(highest, values, out=highest)
    single = [one for metric in metrics for one in metric.split()]
    for one, column in zip(single, highest.T, strict=True):
        if isinstance(one, NDCG) and one.ideal != "full":
            column[:] = _highest_ndcg(one, one.view(judged), places, grade, counted, column)
    low, high = (dict(zip(measured.numbers, ends.T, strict=True)) for ends in (lowest, highest))
    return low, high


@dataclass(frozen=True, eq=False)
class UnjudgedPlaces:
    """The places of listed items that the truth does not judge, by query and rank.

    ``nth`` counts them within their list, from 0; ``tied`` has the group of equal scores of each, as in Judged.
    """

    query: Ints
    rank: Ints
    item: Ints
    nth: Ints
    tied: tuple[Ints, Ints]

    @classmethod
    def of(cls, judged: Judged) -> Self:
        lists, listed = judged.lists, judged.judgements.listed
        start = lists.start[:-1]
        row = np.flatnonzero(~mask(start[listed.query] + listed.rank - 1, len(lists)))
        query = lists.owner()[row]
        level = judged.level
        equal = row[:0] if level is None or not judged.averaged else start[level.owner()] + level.item
        return cls(
            query, row - start[query] + 1, lists.item[row], within(query) - 1, group_of(equal, row, start[query])
        )

    def choices(self, reach: int) -> Iterator[Bools]:
        """Those of which some are extreme, by the exchange of two: the top-most ones, and all but the top-most ones."""
        near = self.nth[self.tied[0] < reach]
        for top in range(int(near.max(initial=-1)) + 2):
            yield self.nth < top
            yield self.nth >= top

    def relevant(self, judged: Judged, chosen: Bools, grade: float) -> Judged:
        """The same lists where the chosen places hold relevant items of a grade, and the others judged ones."""
        query, added = self.query[chosen], np.bincount(self.query[chosen], minlength=judged.n_queries)
        order = np.lexsort((np.concatenate((judged.rank, self.rank[chosen])), np.concatenate((judged.query, query))))

        def joined(of_hits: Ints, of_places: Ints) -> Ints:
            together: Ints = np.concatenate((of_hits, of_places[chosen]))[order]
            return together

        left = np.bincount(self.query, minlength=judged.n_queries) - added
        fields: dict[str, Any] = {
            "query": joined(judged.query, self.query),
            "rank": joined(judged.rank, self.rank),
            "item": joined(judged.item, self.item),
            "grade": np.concatenate((judged.grade, np.full(len(query), grade)))[order],
            "grades": np.insert(judged.grades, np.repeat(judged.edges[:-1], added), grade),
            "n_relevant": judged.n_relevant + added,
            "tied": None if judged.tied is None else tuple(map(joined, judged.tied, self.tied)),
            "graded": None if judged.graded is None else self.relevant(judged.graded, chosen, grade),
            "n_nonrelevant": judged.nonrelevant[0] + left,
        }
        if is_constant(judged.grades) and {*judged.grades[:1].tolist()} <= {grade}:
            # One gain stands for all, so that a perfect list scores 1 to the last bit.
            fields |= {name: np.broadcast_to(grade, fields[name].shape) for name in ("grade", "grades")}
        none: dict[str, Any] = dict.fromkeys(
            ("truth", "judging", "positive", "n_unjudged_above", "of_hits", "of_truth")
        )
        both = replace(judged, **fields, **none)
        return replace(both, nonrelevant_above=both.rank - both.nth)


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
    ideal = np.concatenate(([0.0], np.cumsum(np.where(np.arange(longest) < cut, discounts, 0.0))))
    own, rows = DCG.values(metric, judged)[counted, 0], np.arange(len(reached))[:, None]
    while True:
        best, count = np.full(reached.shape, -np.inf), np.zeros(reached.shape, np.int64)
        for more in range(top.shape[1]):
            rest = top[:, more, None] - highest[:, None] * ideal[reached + more]
            better = (rest > best) & (more <= n_places)[:, None]
            best, count = np.where(better, rest, best), np.where(better, more, count)
        quotient = divide(own + top[rows, count] @ adds, ideal[reached + count] @ adds)
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
