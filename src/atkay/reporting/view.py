"""View: a result or a comparison, as the report looks at it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
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


def shown(text: object) -> str:
    """Any id or name as text, no longer than a reader reads; what runs from right to left turns nothing around it."""
    line = one_line(str(text))
    line = line if len(line) <= CHARACTERS_SHOWN else f"{line[:CHARACTERS_SHOWN]}… ({len(line):,} characters)"
    turned = not line.isascii() and any(unicodedata.bidirectional(char) in TURNS for char in line)
    return f"{ISOLATE}{line}{END}" if turned else line
