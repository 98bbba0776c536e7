"""Bounds: between which values each number lies, whatever the unjudged items are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from atkay.core.types import is_number
from atkay.errors import ProtocolError, number_of, shown
from atkay.evaluation.extremes import UnjudgedPlaces, extremes, has_exchange, most_unjudged, without_value
from atkay.metrics.metric import RunMetric
from atkay.results.further_values import FurtherValues
from atkay.results.measured import in_rows
from atkay.results.numbers import Numbers
from atkay.text.phrases import argument

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from atkay.core.types import Floats
    from atkay.evaluation.extremes import Extremes
    from atkay.metrics.metric import Metric
    from atkay.results.measured import Measured
    from atkay.results.result import Result


class Bound(NamedTuple):
    """A number, and the lowest and the highest that it could be."""

    value: float
    lowest: float
    highest: float


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(FurtherValues[Bound]):
    """The lowest and the highest value of each number that the unjudged items of the lists allow.

    ``bounds["ndcg@10"]`` is a :class:`Bound`; ``table`` has a row per number, ``per_query`` one per number and user,
    and ``refused`` the numbers without bounds, and why. Of the ``listed`` items of the evaluated users, ``unjudged``
    are not judged by the truth: each of them may be relevant, with any grade of the truth up to ``grade``, or not. Who
    counts stays as it is, and relevant items that nobody listed are the ones of the truth.
    """

    _internal = f"{FurtherValues._internal} result"
    header = Bound._fields

    result: Result
    grade: float
    unjudged: int
    listed: int

    def up_to(self, grade: float) -> Bounds:
        """The same where an unjudged item may have a higher grade than any that the truth has."""
        return find_bounds(self.result, grade)

    def _notes(self) -> list[str]:
        allowed = f"; each may be relevant, with a grade up to {self.grade:g}, or not" if self.unjudged else ""
        of_listed = f"{self.unjudged:,} of {number_of(self.listed, 'listed item')} unjudged{allowed}"
        return [of_listed, *super()._notes()]


def find_bounds(result: Result, grade: float | None = None) -> Bounds:
    """The bounds of a result's numbers; ``grade`` is the highest that there can be, by default that of the truth."""
    measured = result.measured("bounds")
    most = _highest_grade(measured, grade)
    refused = {
        name: reason
        for each in measured
        for metric in each.metrics
        if (reason := _why_not(metric, each, most))
        for name in metric.numbers
    }
    kept = [
        each._replace(metrics=[metric for metric in each.metrics if not refused.keys() & set(metric.numbers)])
        for each in measured
    ]
    rows = np.flatnonzero(np.logical_or.reduce([each.counted for each in measured]))
    weights = [
        None if result.weights is None else result.weights[np.searchsorted(rows, np.flatnonzero(each.counted))]
        for each in measured
    ]
    reached = [extremes(each, most, of_users) for each, of_users in zip(kept, weights, strict=True)]
    for each in reached:
        for name, sometimes in each.sometimes.items():
            if sometimes.any() and (result.groups is not None or name in result.aggregates):
                refused[name] = "some users have a value under some judgements only, and it is no mean over users"
    users = {
        side: in_rows(kept, [each.values[at] for each in reached]) for at, side in enumerate(("lowest", "highest"))
    }
    users = {side: {name: of[name] for name in of if name not in refused} for side, of in users.items()}
    lowest, highest = (_means(result, kept, reached, weights, at, refused) for at in (0, 1))
    judged, counted = measured[0].judged, measured[0].counted
    listed = int(judged.n_listed[counted].sum())
    return Bounds(
        rows=Numbers((name, Bound(result[name], low, highest[name])) for name, low in lowest.items()),
        refused=refused,
        users=users,
        ids=result.ids,
        names=result.names,
        result=result,
        grade=most,
        unjudged=listed - int(counted[judged.judgements.listed.query].sum()),
        listed=listed,
    )


def _means(
    result: Result,
    measured: Sequence[Measured],
    reached: Sequence[Extremes],
    weights: Sequence[Floats | None],
    end: int,
    refused: Container[str],
) -> Numbers[float]:
    """The lowest number of all users, or where the ``end`` is 1 the highest."""
    sign = 2 * end - 1
    values = [
        {name: without_value(of, each.sometimes[name], weighed, sign) for name, of in each.values[end].items()}
        for each, weighed in zip(reached, weights, strict=True)
    ]
    above, below = (
        in_rows(measured, [{name: sides[at] for name, sides in each.sides[end].items()} for each in reached], 0.0)
        for at in (0, 1)
    )
    users = {name: of for name, of in in_rows(measured, values).items() if name not in refused}
    return result.means_of(users, {name: (above[name], below[name]) for name in above})


def _highest_grade(measured: Sequence[Measured], grade: float | None) -> float:
    """The highest grade that an unjudged item may have."""
    judged = [each.judged for each in measured]
    seen = max(float(each.judgements.grade.max(initial=each.threshold)) for each in judged) or 1.0
    if grade is None:
        return seen
    if not is_number(grade, np.nextafter(seen, -1), math.inf):
        raise ProtocolError(
            f"bounds: the highest grade must be at least {seen:g}, the highest that the truth has; got {shown(grade)}."
        )
    return float(grade)


def _why_not(metric: Metric, measured: Measured, grade: float) -> str:
    """Why a metric has no bounds; empty where it has."""
    protocol, judged = measured.protocol, measured.judged
    if isinstance(metric, RunMetric):
        return "it is a number of the whole run, not a mean over users"
    if not metric.needs_truth:
        return "it has a value where nothing is relevant, too"
    if protocol.ties == "together" or protocol.trait("ties", "by") == "grade":
        return f"what becomes relevant changes the ranks under {argument('ties', protocol.ties)}"
    if protocol.duplicates == "counted":
        return f"{argument('duplicates', 'counted')} lets an unjudged item become relevant at several places at once"
    if protocol.unjudged == "drop":
        return f"{argument('unjudged', 'drop')} leaves no unjudged item in the lists"
    if judged.positive is not None:
        return f"{argument('nonpositive', protocol.nonpositive)} makes it depend on scores"
    if metric.by_subtopic and judged.subtopics is not None:
        return "nobody knows the subtopics of an unjudged item"
    if not has_exchange(metric, judged, grade):
        tried = most_unjudged(judged, grade)
        if UnjudgedPlaces.of(judged, measured.counted).most > tried:
            return (
                "no proof of its extremes is known, and all judgements of this many lists can only be tried out where "
                f"none has more than {number_of(tried, 'unjudged item')}"
            )
    return ""
