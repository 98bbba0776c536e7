"""Interpolated average precision: interpolated precision at equidistant levels of recall, averaged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.interpolated_precision import best_from, needed, rounding_field
from atkay.metrics.metric import Definition, Floats, Judged, Metric, number


@dataclass(frozen=True)
class InterpolatedMAP(Metric):
    """The area under the precision-recall curve, from points at equal distances of recall: 11-point average precision.

    The mean of :class:`InterpolatedPrecision` at the recalls 0, 0.1, ..., 1.

    Conventions
    -----------
    points
        How many levels of recall, from 0 to 1: 11 by default (trec_eval's ``11pt_avg``, PASCAL VOC 2007); 101 in COCO.
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

    points: float = number(
        11.0, lambda points: 2 <= points <= 1001 and points == round(points), "an integer from 2 to 1001"
    )
    rounding: Literal["up", "from_tenth", "nearest"] = rounding_field()

    def values(self, judged: Judged) -> Floats:
        best_at, steps = best_from(judged), int(self.points) - 1
        levels = (needed(step / steps, judged.n_relevant, self.rounding) for step in range(steps + 1))
        total = sum((best_at(least) for least in levels), np.zeros(judged.n_queries))
        return (total / self.points)[:, None]

    def define(self) -> Definition:
        points = f"{self.points:g}"
        return Definition(
            f"mean of the interpolated precision at {points} levels of recall from 0 to 1, at equal distances",
            f"(1/{points}) Σ max h@l / l, recall@l >= r",
        )
