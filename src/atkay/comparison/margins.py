"""Margins: whether the unjudged items could turn the order of two runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from atkay.errors import RowsError
from atkay.text.grid import Grid, Tabular

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from atkay.comparison.comparison import Comparison


ROUNDING = 1e-12
"""A smaller difference may be rounding."""


class Margin(NamedTuple):
    """The difference of two runs' means, ``run`` - ``against``, and the lowest and the highest that it could be."""

    metric: str
    run: str
    against: str
    difference: float
    lowest: float
    highest: float

    @property
    def verdict(self) -> str:
        """Whether the unjudged items could turn the order."""
        if not self.difference or math.isnan(self.difference):
            return "no order"
        return "cannot be turned by the unjudged items" if self.is_fixed else "may be turned by the unjudged items"

    @property
    def is_fixed(self) -> bool:
        """Whether the same run is ahead, whatever the unjudged items are."""
        return self.lowest > ROUNDING or self.highest < -ROUNDING


@dataclass(frozen=True, repr=False)
class Margins(Tabular):
    """For each difference of a comparison, whether the unjudged items could turn the order of the two runs.

    Where the bounds of the two runs do not overlap, it cannot be turned. An item that both runs list is relevant for
    both or for neither, which is not made use of: an order that "may be turned" can be safe all the same.
    ``refused`` says which numbers have no bounds, and why.
    """

    rows: tuple[Margin, ...]
    refused: Mapping[str, str]

    @classmethod
    def of(cls, comparison: Comparison) -> Margins:
        """The margins of a comparison's differences."""
        if not comparison.results:
            raise RowsError("bounds needs the lists, which a saved comparison does not have. Compare the lists again.")
        bounds = {run: result.bounds for run, result in comparison.results.items()}
        refused = {name: why for of_run in bounds.values() for name, why in of_run.refused.items()}
        rows = []
        for each in comparison.differences:
            if each.metric not in refused:
                run, against = bounds[each.run][each.metric], bounds[each.against][each.metric]
                ends = run.value - against.value, run.lowest - against.highest, run.highest - against.lowest
                rows.append(Margin(each.metric, each.run, each.against, *ends))
        return cls(tuple(rows), {name: why for name, why in refused.items() if name in comparison.metrics})

    def __iter__(self) -> Iterator[Margin]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def _grid(self) -> Grid:
        numbers = ("difference", "lowest", "highest")
        rows = [
            (each.metric, each.run, each.against, *(f"{end:+.4f}" for end in each[3:]), each.verdict)
            for each in self.rows
        ]
        return Grid(("metric", "run", "against", *numbers, "this order"), rows, right=numbers)

    def _notes(self) -> list[str]:
        return [f"{name}: {reason}" for name, reason in self.refused.items()]
