"""Run table: the means of runs and their differences, before correction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from atkay.aggregates import MEAN
from atkay.comparison.comparison import Means
from atkay.comparison.difference import Difference
from atkay.comparison.relative import expm1, fieller, share
from atkay.comparison.sheet import ROUNDING_SHARE
from atkay.comparison.tests import TESTS
from atkay.comparison.trial import Key, Trial
from atkay.comparison.verdict import LEVEL
from atkay.core.lists import in_threads
from atkay.core.types import Ints
from atkay.metrics.metric import Metric
from atkay.results.intervals import UNLIMITED, within
from atkay.results.ordered import ordered_value
from atkay.results.summary import Summary, summarise, unscaled
from atkay.text.progress import Steps

if TYPE_CHECKING:
    from atkay.comparison.procedure import Procedure
    from atkay.comparison.sheet import Differences, Pair, Paired, Sheet
    from atkay.results.result import Result


@dataclass(frozen=True, eq=False)
class RunTable:
    """The means of the runs and their differences, of all users or of a segment, before correction."""

    results: Mapping[str, Result]
    metrics: tuple[Metric, ...]
    sheet: Sheet
    pairs: Sequence[Pair]
    procedure: Procedure

    @cached_property
    def names(self) -> list[str]:
        """The names of the runs."""
        return list(self.results)

    @cached_property
    def steps(self) -> Steps:
        """The progress of the tests."""
        tables = 1 + sum(len(np.unique(slicing.code)) for slicing in self.sheet.slicings)
        return Steps("comparing", tables * (len(self.procedure.tests) + (self.procedure.interval != "student")))

    @cached_property
    def means(self) -> Means:
        """The means of all users."""
        return {
            run: {str(metric): result.summaries[str(metric)] for metric in self.metrics}
            for run, result in self.results.items()
        }

    @cached_property
    def segment_means(self) -> dict[tuple[str, str | None], dict[str, dict[str, Summary]]]:
        """The means of each segment, for the runs that have users in it."""
        names = list(map(str, self.metrics))
        means: dict[tuple[str, str | None], dict[str, dict[str, Summary]]] = {}
        for run, result in self.results.items():
            summaries = {(slicing, segment, name): each for slicing, segment, name, each in result.slice_summaries}
            for where in dict.fromkeys(key[:2] for key in summaries):
                means.setdefault(where, {})[run] = {name: summaries[*where, name] for name in names}
        return means

    def of_slices(self) -> Iterator[list[list[Difference]]]:
        """The differences of each segment, slice by slice."""
        for at, slicing in enumerate(self.sheet.slicings, start=1):
            yield [
                [
                    replace(each, slice=slicing.name, segment=segment)
                    for each in self.differences((at, code), rows, self.segment_means[slicing.name, segment])
                ]
                for code, segment in enumerate(slicing.segments)
                if len(rows := np.flatnonzero(slicing.code == code))
            ]

    def differences(self, key: Key, rows: Ints | None = None, means: Means | None = None) -> list[Difference]:
        """The differences of all queries, or of some."""
        order = list(map(str, self.metrics))
        paired = self.sheet.paired(rows)
        whole = [
            self._of_run(metric, pair, self.means if means is None else means)
            for metric in self.metrics
            if metric not in self.sheet.metrics
            for pair in self.pairs
        ]
        alike = [[each for each in paired if each.aggregate.ordered == ordered] for ordered in (False, True)]
        tested = [each for some in alike if some for each in self._tested(some, key)]
        return sorted(whole + tested, key=lambda each: order.index(each.metric))

    def _tested(self, paired: Sequence[Paired], key: Key) -> list[Difference]:
        """The differences of some units, metric by metric and pair by pair."""
        procedure, ends, p = self.procedure, None, {}
        spread = "bootstrap" in procedure.tests
        studentised = procedure.interval == "studentised"
        trial = Trial(paired, self.pairs, procedure.permutations, procedure.rng, key, self.steps, spread, studentised)
        if procedure.interval != "student" and not paired[0].aggregate.extreme:
            ends = trial.drawn.intervals(procedure.interval)
            self.steps.next()
        for name in procedure.tests:
            extreme = paired[0].aggregate.extreme
            p[name] = np.full((len(paired), len(self.pairs)), math.nan) if extreme else TESTS[name].p_values(trial)
            self.steps.next()

        def of_place(place: tuple[int, int]) -> Difference:
            each, pair = paired[place[0]], self.pairs[place[1]]
            difference = self._described(each, pair)
            if ends is not None and (each.aggregate.ordered or not math.isnan(difference.low)):
                low, high = float(ends[0][place]), float(ends[1][place])
                difference = _with_shares(self._limited(replace(difference, low=low, high=high), each))
            of_tests = {name: float(values[place]) for name, values in p.items()}
            lowest = (name for name, value in of_tests.items() if TESTS[name].random and value <= procedure.lowest)
            opposite = (
                name for name, value in of_tests.items() if value < LEVEL and _contradicts(name, each, pair, difference)
            )
            return replace(difference, p=of_tests, lowest=tuple(lowest), opposite=tuple(opposite))

        return in_threads(of_place, list(np.ndindex(len(paired), len(self.pairs))))

    def _limited(self, difference: Difference, paired: Paired) -> Difference:
        """The difference with an interval that lies where differences of two such means can be."""
        low, high = next(iter(self.results.values())).limits(str(paired.metric))
        limits = UNLIMITED if paired.aggregate.logarithmic else (low - high, high - low)
        ends = within((difference.low, difference.high), difference.difference, limits)
        return replace(difference, low=ends[0], high=ends[1])

    def _described(self, paired: Paired, pair: Pair) -> Difference:
        units, difference = paired, paired.difference(pair)
        apart = _summary(difference)
        summary = apart
        if paired.cluster is not None:  # the interval is that of clusters, all else of users
            paired = paired.by_user
            difference = paired.difference(pair)
            summary = _summary(difference)._replace(low=apart.low, high=apart.high)
        effect = summary.mean / summary.deviation if summary.deviation > 0 else math.nan
        base, relative = self._relative(apart, units, pair)
        if paired.aggregate.ordered:
            summary = summary._replace(mean=paired.apart(pair), low=math.nan, high=math.nan)
            effect = math.nan  # d_z is of the mean
        wins = ties = losses = None
        if paired.below is None:
            moved = np.sign(paired.relabel().difference(pair).values) * (-1 if paired.metric.better == "lower" else 1)
            wins, ties, losses = (int((moved == way).sum()) for way in (1, 0, -1))
        there = paired.there[:, pair]
        both, either = (paired.units(np.asarray(queries)) for queries in (there.all(axis=1), there.any(axis=1)))
        described = replace(
            self._undecided(paired.metric, pair),
            difference=summary.mean,
            low=summary.low,
            high=summary.high,
            deviation=summary.deviation,
            effect=effect,
            base=base,
            relative_low=relative[0],
            relative_high=relative[1],
            wins=wins,
            ties=ties,
            losses=losses,
            users=summary.users,
            left_out=int((either & ~both).sum()),
            undefined=int(both.sum()) - summary.users,
        )
        return self._limited(described, paired)

    def _relative(self, apart: Summary, paired: Paired, pair: Pair) -> tuple[float, tuple[float, float]]:
        """The mean of the other run, of the units with a value in both, and the interval of the difference's share."""
        if paired.aggregate.ordered:
            return ordered_value(paired.scores(pair)[:, 0], paired.aggregate), (math.nan, math.nan)
        against, run = paired.summaries(pair)
        if paired.aggregate.logarithmic:
            return unscaled(against.mean, paired.aggregate), (expm1(apart.low), expm1(apart.high))
        return against.mean, fieller(apart, against, run)

    def _undecided(self, metric: Metric, pair: Pair) -> Difference:
        against, run = (self.names[at] for at in pair)
        aggregate = str(self.sheet.aggregates.get(str(metric), MEAN))
        return Difference(metric=str(metric), run=run, against=against, better=metric.better, aggregate=aggregate)

    def _of_run(self, metric: Metric, pair: Pair, means: Means) -> Difference:
        """The difference of a metric of the whole run, which has no per-user values and no test."""
        runs = [self.names[at] for at in pair]
        first, second = (means[run][str(metric)].mean if run in means else math.nan for run in runs)
        difference = 0.0 if abs(second - first) <= ROUNDING_SHARE * max(abs(first), abs(second)) else second - first
        untested = dict.fromkeys(self.procedure.tests, math.nan)
        return replace(self._undecided(metric, pair), difference=difference, base=first, p=untested)


def _summary(difference: Differences) -> Summary:
    """The mean difference with Student's interval; there is none without spread."""
    summary = summarise(difference.values)
    summary = summary._replace(mean=difference.beyond_rounding(summary.mean))
    if summary.users > 1 and difference.alike:  # no spread to judge by
        return summary._replace(low=math.nan, high=math.nan, deviation=0.0)
    return summary


def _with_shares(difference: Difference) -> Difference:
    """The same with the ends of its interval as shares of the other run's mean, as if that had no error."""
    low, high = (share(difference, end) for end in (difference.low, difference.high))
    return replace(difference, relative_low=low, relative_high=high)


def _contradicts(test: str, paired: Paired, pair: Pair, difference: Difference) -> bool:
    """Whether a test of something other than the mean favours the other run."""
    leaning = TESTS[test].leaning
    return leaning is not None and leaning(paired.difference(pair)) * difference.difference <= 0
