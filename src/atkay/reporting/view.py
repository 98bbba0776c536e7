"""View: a result or a comparison, as the report looks at it."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from atkay.comparison.comparison import Comparison
from atkay.errors import InputError, a_type
from atkay.metrics.metric import Metric
from atkay.metrics.spec import parse
from atkay.reporting.charts import family_of
from atkay.results.result import Result
from atkay.text.printable import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atkay.comparison.difference import Difference
    from atkay.comparison.ranks import RankInterval
    from atkay.results.summary import Summary

CHARACTERS_SHOWN = 120
"""Characters shown of an id or a name."""

USUAL_CUTOFF = 10

TURNS = {"R", "AL", "RLE", "RLO", "LRE", "LRO", "RLI", "LRI", "FSI"}
ISOLATE, END = "\u2068", "\u2069"
"""Unicode's marks around a text whose direction is its own."""

ALONE = "this run"
"""The name of the one run of a result."""


@dataclass(frozen=True, eq=False)
class View:
    """Runs, their numbers, and whatever else is known of them.

    ``results`` is empty where a comparison was loaded from a file: then nothing is known of single users.
    """

    runs: tuple[str, ...]
    metrics: tuple[Metric, ...]
    means: Mapping[str, Mapping[str, Summary]]
    results: Mapping[str, Result]
    comparison: Comparison | None
    changes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """How the lists of two runs differ, in a sentence."""

    @classmethod
    def of(cls, content: Result | Comparison) -> View:
        """The view of what was found."""
        if isinstance(content, Comparison):
            metrics = tuple(parse(name) for name in content.metrics)
            return cls(content.runs, metrics, content.means, content.results, content)
        if isinstance(content, Result):
            metrics = tuple(one for metric in content.metrics for one in metric.split())
            return cls((ALONE,), metrics, {ALONE: content.summaries}, {ALONE: content}, None)
        raise InputError(
            f"report: pass a Result or a Comparison, got {a_type(content)}. Create one with "
            "atkay.evaluate(...) or atkay.compare(...)."
        )

    @cached_property
    def names(self) -> list[str]:
        """The numbers."""
        return [str(metric) for metric in self.metrics]

    @cached_property
    def cutoffs(self) -> list[int]:
        """Every evaluated cutoff."""
        return sorted({metric.cutoffs[0] for metric in self.metrics if metric.k is not None})

    @cached_property
    def headline(self) -> Metric:
        """The number that the summary speaks of: the first that tells better from worse, at 10 or else the deepest."""
        first = next((metric for metric in self.metrics if metric.better != "neither"), self.metrics[0])
        alike = [metric for metric in self.metrics if family_of(metric) == family_of(first)]
        return max(alike, key=lambda metric: (metric.cutoffs[0] == USUAL_CUTOFF, metric.cutoffs[0]))

    @cached_property
    def ordered(self) -> tuple[str, ...]:
        """The runs by the headline number, the best first; as they came where it has no direction."""
        name, sign = str(self.headline), {"higher": -1, "lower": 1, "neither": 0}[self.headline.better]
        means = {run: self.means[run][name].mean for run in self.runs}
        return tuple(sorted(self.runs, key=lambda run: (math.isnan(means[run]), sign and sign * means[run])))

    @cached_property
    def baseline(self) -> str:
        """The run that the others are compared with when the page opens."""
        return (self.comparison and self.comparison.baseline) or self.runs[0]

    @cached_property
    def candidate(self) -> str:
        """The run that the page opens with: the best of the others."""
        return next((run for run in self.ordered if run != self.baseline), self.baseline)

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """All differences and, where every pair is compared, each of them the other way round as well."""
        return self._both_ways(self.comparison.differences) if self.comparison else ()

    @cached_property
    def pairs(self) -> dict[tuple[str, str], list[Difference]]:
        """The same by run and the other run."""
        by_pair: dict[tuple[str, str], list[Difference]] = {}
        for each in self.differences:
            by_pair.setdefault((each.run, each.against), []).append(each)
        return by_pair

    @cached_property
    def segments(self) -> dict[tuple[str, str, str], list[Difference]]:
        """The same for segments, by metric, run and the other run."""
        by_pair: dict[tuple[str, str, str], list[Difference]] = {}
        for each in self._both_ways(self.comparison.segments) if self.comparison else ():
            by_pair.setdefault((each.metric, each.run, each.against), []).append(each)
        return by_pair

    def _both_ways(self, differences: tuple[Difference, ...]) -> tuple[Difference, ...]:
        if self.comparison is None or self.comparison.baseline is not None:
            return differences
        return (*differences, *(each.turned for each in differences))

    @cached_property
    def tiers(self) -> dict[str, dict[str, tuple[str, str]]]:
        """For each metric that has tiers, those of the runs, and their ranks with intervals; of two runs none."""
        if self.comparison is None or len(self.runs) < 3:
            return {}
        ranks = self.comparison.rank_intervals
        return {
            metric: {
                run: (str(tier), _ranks(ranks[metric][run])) for tier, runs in enumerate(tiers, start=1) for run in runs
            }
            for metric, tiers in self.comparison.tiers.items()
        }

    def difference(self, metric: Metric) -> Difference:
        """What the page opens with: the difference between the best of the others and the baseline."""
        return next(each for each in self.pairs[self.candidate, self.baseline] if each.metric == str(metric))


def _ranks(interval: RankInterval) -> str:
    """The ranks that a run may have."""
    if interval.low == interval.high:
        return f"rank {interval.low}"
    return f"rank {interval.low} to {interval.high}"


def shown(text: object) -> str:
    """Any id or name as text, no longer than a reader reads; what runs from right to left turns nothing around it."""
    line = one_line(str(text))
    line = line if len(line) <= CHARACTERS_SHOWN else f"{line[:CHARACTERS_SHOWN]}… ({len(line):,} characters)"
    turned = not line.isascii() and any(unicodedata.bidirectional(char) in TURNS for char in line)
    return f"{ISOLATE}{line}{END}" if turned else line
