"""Interpolated average precision: interpolated precision at equidistant levels of recall, averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from atkay.errors import SpecError, shown
from atkay.metrics.interpolated_precision import best_from, needed, rounding_field
from atkay.metrics.metric import Definition, Floats, Judged, Metric, number
from atkay.metrics.worked import printed
from atkay.words import is_table


def points_field() -> Any:
    """The field that says how many levels of recall there are, or which."""
    made = number(11.0, lambda points: 2 <= points <= 1001 and points == round(points), "an integer from 2 to 1001")
    return field(default=made.default, metadata={**made.metadata, "table": True})


def levels_text(levels: Any) -> str:
    """Levels of recall as they stand in a spec, in rising order."""
    given = levels.strip("{}").split(",") if isinstance(levels, str) else levels
    try:
        numbers = sorted({float(level) for level in given})
    except (TypeError, ValueError):
        numbers = []
    if not numbers or not 0 <= numbers[0] <= numbers[-1] <= 1:
        raise SpecError(
            "interpolated_map: points must be an integer from 2 to 1001, or levels of recall from 0 to 1, such as "
            f"points={{0.2,0.5,0.8}}; got {shown(levels)}."
        )
    return "{" + ",".join(map(printed, numbers)) + "}"


@dataclass(frozen=True)
class InterpolatedMAP(Metric):
    """The area under the precision-recall curve, from points at equal distances of recall: 11-point average precision.

    The mean of :class:`InterpolatedPrecision` at the recalls 0, 0.1, ..., 1.

    Conventions
    -----------
    points
        How many levels of recall, from 0 to 1: 11 by default (trec_eval's ``11pt_avg``, PASCAL VOC 2007); 101 in COCO.
        Or the levels themselves: ``interpolated_map(points={0.2,0.5,0.8})``,
        ``InterpolatedMAP(points=[0.2, 0.5, 0.8])``.
    rounding
        As in :class:`InterpolatedPrecision`.

    No hit scores 0.

    References
    ----------
    Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, chapter 8.

    Examples
    --------
    Two relevant items, at ranks 1 and 4: up to a recall of 0.5 the best precision is 1, then 2/4:
    (6 · 1 + 5 · 1/2) / 11.

    >>> result = atkay.evaluate({"ann": ["a", "x", "y", "b"]}, {"ann": ["a", "b"]}, "interpolated_map")
    >>> round(result["interpolated_map"], 4)
    0.7727
    """

    name = "interpolated_map"
    aliases = ("eleven_point_map", "11pt_avg")
    cuts = False
    monotone = True

    points: float | str | Sequence[float] = points_field()
    rounding: Literal["up", "from_tenth", "nearest"] = rounding_field()

    def __post_init__(self) -> None:
        if is_table(self.points) or (isinstance(self.points, Sequence) and not isinstance(self.points, str)):
            object.__setattr__(self, "points", levels_text(self.points))
        super().__post_init__()

    @property
    def levels(self) -> list[float]:
        """The levels of recall."""
        if isinstance(self.points, float):
            steps = int(self.points) - 1
            return [step / steps for step in range(steps + 1)]
        return [*map(float, str(self.points).strip("{}").split(","))]

    def values(self, judged: Judged) -> Floats:
        best_at = best_from(judged)
        needs = (needed(level, judged.n_relevant, self.rounding) for level in self.levels)
        total = sum((best_at(least) for least in needs), np.zeros(judged.n_queries))
        return (total / len(self.levels))[:, None]

    def define(self) -> Definition:
        points = f"{len(self.levels)}"
        if not isinstance(self.points, float):
            return Definition(
                f"mean of the interpolated precision at the levels {self.points} of recall",
                f"(1/{points}) Σ max h@l / l, recall@l >= r",
            )
        return Definition(
            f"mean of the interpolated precision at {points} levels of recall from 0 to 1, at equal distances",
            f"(1/{points}) Σ max h@l / l, recall@l >= r",
        )
