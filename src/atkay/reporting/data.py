"""Data: what the page's charts and its explorer draw from, small enough to travel with it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.comparison.sheet import lay_out
from atkay.reporting.card import card, mark, tone
from atkay.reporting.charts import colour_of, family_of, occurring, page_charts
from atkay.reporting.users import chosen_users
from atkay.reporting.view import View, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from atkay.comparison.difference import Difference
    from atkay.core.types import Floats
    from atkay.metrics.metric import Metric
    from atkay.reporting.items import Items
    from atkay.results.result import Result
    from atkay.results.sample_users import Examples

BINS_PER_SIDE = 20
"""Bars of a distribution; of differences as many on each side of 0."""

SEGMENTS_DRAWN = 30
"""Segments of a slice that are drawn, those with the most users."""

RUNS_DRAWN = 5
"""Runs that are drawn where more would hide each other."""

ARITHMETIC_LINES = 6000
"""Approximate lines of arithmetic over all users of the explorer."""


def page_data(view: View, items: Items | None = None) -> dict[str, Any]:
    """All that the page's script reads."""
    strings = Strings()
    explorer = _explorer(view, strings)
    known = {} if items is None else items.of(strings.texts)
    return {
        "runs": [shown(run) for run in view.runs],
        "numbers": [_number(metric) for metric in view.metrics],
        "headline": view.names.index(str(view.headline)),
        "tiers": [[view.tiers.get(name, {}).get(run) for run in view.runs] for name in view.names],
        "means": [[_ends(view.means[run][name]) for name in view.names] for run in view.runs],
        "users": [_distribution(view, metric) for metric in view.metrics],
        "most": RUNS_DRAWN,
        "run": view.runs.index(view.candidate),
        "against": view.runs.index(view.baseline),
        "pairs": _pairs(view, strings),
        "segments": _segments(view, strings),
        "slices": _slices(view),
        "explorer": explorer,
        "items": {strings.place(text): each for text, each in known.items()},
        "strings": strings.texts,
        "charts": page_charts(
            [shown(run) for run in view.runs],
            view.cutoffs,
            occurring(map(colour_of, view.comparison.differences if view.comparison else ())),
            view.comparison.threshold if view.comparison else "",
        ),
    }


class Strings:
    """Texts, each kept once and named by a number."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._places: dict[str, int] = {}

    def place(self, text: object) -> int:
        """The number of a text."""
        return self.keep(shown(text))

    def keep(self, line: str) -> int:
        """The number of a text that is shown as it is."""
        if line not in self._places:
            self._places[line] = len(self.texts)
            self.texts.append(line)
        return self._places[line]


def _number(metric: Metric) -> dict[str, Any]:
    return {
        "name": str(metric),
        "family": family_of(metric),
        "k": None if metric.k is None else metric.cutoffs[0],
        "better": metric.better,
        "about": about(metric),
    }


def about(metric: Metric) -> str:
    """Whether a number tells how relevant items are found, or is of the lists alone."""
    return "truth" if metric.needs_truth or metric.reads_scores else "lists"


def _ends(summary: Any, middle: str = "mean") -> list[float | None]:
    """A number and its interval."""
    return [_short(getattr(summary, name)) for name in (middle, "low", "high")]


def _short(value: float) -> float | None:
    """A number with as many digits as a chart can show."""
    return None if math.isnan(value) else float(f"{value:.6g}")


def _column(result: Result, name: str) -> Floats | None:
    """Each user's value; None where the number has none, or the result keeps none."""
    if result.sums is not None or name not in result.by_query:
        return None
    return result.query_values[:, result.by_query.index(name)]


def _distribution(view: View, metric: Metric) -> dict[str, Any] | None:
    """How many users have which value, of all users: nothing is sampled here."""
    columns = [_column(view.results[run], str(metric)) if run in view.results else None for run in view.runs]
    there = [column[~np.isnan(column)] for column in columns if column is not None]
    if len(there) < len(view.runs) or not sum(map(len, there)):
        return None
    low, high = min(float(c.min(initial=0)) for c in there), max(float(c.max(initial=0)) for c in there)
    low, high = (0.0, 1.0) if metric.bounded and low >= 0 and high <= 1 else (low, high)
    edges = np.linspace(low, high if high > low else low + 1, BINS_PER_SIDE + 1)
    return {
        "edges": [_short(edge) for edge in edges.tolist()],
        "counts": [np.histogram(column, edges)[0].tolist() for column in there],
    }


def _pairs(view: View, strings: Strings) -> list[dict[str, Any]]:
    """Every difference, with the distribution of the users' own and the verdict in words."""
    if view.comparison is None:
        return []
    paired = {}
    if view.results:
        paired = {str(each.metric): each for each in lay_out(view.results, view.metrics).paired() if each.below is None}

    def moved(one: Difference) -> dict[str, Any] | None:
        each = paired.get(one.metric)
        if each is None or not one.users:
            return None
        pair = view.runs.index(one.against), view.runs.index(one.run)
        difference = each.difference(pair).moving.values
        widest = float(np.abs(difference).max(initial=0)) or 1.0
        edges = np.linspace(-widest, widest, 2 * BINS_PER_SIDE + 1)
        counts = np.histogram(difference, edges)[0]
        return {"edge": _short(widest), "counts": counts.tolist()}

    return [
        {
            "number": view.names.index(one.metric),
            "run": view.runs.index(one.run),
            "against": view.runs.index(one.against),
            "ends": _ends(one, "difference"),
            "found": colour_of(one),
            "verdict": one.verdict,
            "counts": [one.wins, one.ties, one.losses],
            "moved": moved(one),
            "card": _card(view, one, strings),
        }
        for one in view.differences
    ]


def _card(view: View, one: Difference, strings: Strings) -> dict[str, Any]:
    *texts, changed = card(view, one)
    names = ("title", "word", "tone", "change", "why", "segments")
    kept = {name: strings.keep(text) for name, text in zip(names, texts, strict=True)}
    return {**kept, "found": strings.keep(tone(one)), "changed": [strings.keep(line) for line in changed]}


def drawn_segments(view: View) -> dict[tuple[str | None, str | None], int]:
    """The segments that a page shows, those with the most users, slice by slice; and their users."""
    users: dict[tuple[str | None, str | None], int] = {}
    for of_pair in view.segments.values():
        for each in of_pair:
            where = (each.slice, each.segment)
            users[where] = max(users.get(where, 0), each.users + each.undefined)
    for result in view.results.values():  # numbers of a whole run have no pairs of users
        for slicing, segment, _, summary in result.slice_summaries:
            if (slicing, segment) in users:
                users[slicing, segment] = max(users[slicing, segment], summary.users + summary.undefined)
    return {where: users[where] for where in largest_segments(users)}


def largest_segments(users: Mapping[tuple[str | None, str | None], int]) -> list[tuple[str | None, str | None]]:
    """Those with the most users in each slice, in their order."""
    by_size = sorted(users, key=lambda where: -users[where])
    slices = dict.fromkeys(slicing for slicing, _ in users)
    drawn = {where for name in slices for where in [each for each in by_size if each[0] == name][:SEGMENTS_DRAWN]}
    return [where for where in users if where in drawn]


def _segments(view: View, strings: Strings) -> dict[str, list[list[Any]]]:
    """The difference of each pair in each segment and number: text and colour."""
    drawn, runs, numbers = list(drawn_segments(view)), view.runs, view.names
    rows = {where: row for row, where in enumerate(drawn)}
    tables: dict[str, list[list[Any]]] = {}
    for (name, run, against), of_pair in view.segments.items():
        key = f"{runs.index(run)}/{runs.index(against)}"
        table = tables.setdefault(key, [[None] * len(numbers) for _ in drawn])
        for each in of_pair:
            if (each.slice, each.segment) in rows:
                table[rows[each.slice, each.segment]][numbers.index(name)] = [*map(strings.keep, mark(each))]
    return tables


def _slices(view: View) -> list[dict[str, Any]]:
    """The numbers of each run in each segment."""
    of_run = [_by_segment(view.results[run]) for run in view.runs if run in view.results]
    slices = []
    for name in dict.fromkeys(name for one in of_run for name in one):
        users: dict[str | None, int] = {}
        for one in of_run:
            for segment, numbers in one.get(name, {}).items():
                most = max(summary.users + summary.undefined for summary in numbers.values())
                users[segment] = max(users.get(segment, 0), most)
        largest = sorted(users, key=lambda segment: -users[segment])[:SEGMENTS_DRAWN]
        slices.append(
            {
                "name": shown(name),
                "segments": ["(none)" if segment is None else shown(segment) for segment in largest],
                "users": [users[segment] for segment in largest],
                "left_out": len(users) - len(largest),
                "means": [[_row(one.get(name, {}).get(segment), view.names) for one in of_run] for segment in largest],
            }
        )
    return slices


def _row(numbers: Mapping[str, Any] | None, names: Sequence[str]) -> list[list[float | None] | None]:
    return [None if numbers is None or name not in numbers else _ends(numbers[name]) for name in names]


def _by_segment(result: Result) -> dict[str, dict[str | None, dict[str, Any]]]:
    segments: dict[str, dict[str | None, dict[str, Any]]] = {}
    for slicing, segment, metric, summary in result.slice_summaries:
        segments.setdefault(slicing, {}).setdefault(segment, {})[metric] = summary
    return segments


def _explorer(view: View, strings: Strings) -> dict[str, Any] | None:
    """A few users: their truth, each run's list, and the arithmetic of each number."""
    most = max(10, ARITHMETIC_LINES // (len(view.runs) * len(view.metrics)))
    chosen = chosen_users(view, most)
    if chosen is None:
        return None
    first = view.results[view.runs[0]]
    return {
        "of": first.population.evaluated,
        "extreme": chosen.extreme,
        "users": [
            {
                "id": _called(first, user),
                "truth": _truth(*next(each for each in of_runs if each is not None), strings),
                "runs": [
                    None if each is None else _listed(view.results[run], view.metrics, *each, strings)
                    for run, each in zip(view.runs, of_runs, strict=True)
                ],
            }
            for user, of_runs in chosen.users.items()
        ],
    }


def _called(result: Result, user: tuple[Any, ...]) -> str:
    """A user's id as text."""
    if len(user) == 1:
        return shown(user[0])
    return shown(", ".join(f"{name} {value}" for name, value in zip(result.ids, user, strict=True)))


def _truth(examples: Examples, nth: int, strings: Strings) -> dict[str, Any]:
    items = examples.truth(nth)
    return {
        "size": int(examples.judged.n_relevant[nth]),
        "items": [[strings.place(item), _short(grade)] for item, grade in items],
    }


def _listed(
    result: Result, metrics: Sequence[Metric], examples: Examples, nth: int, strings: Strings
) -> dict[str, Any]:
    row = int(examples.rows[nth])
    return {
        "size": int(examples.judged.n_listed[nth]),
        "places": [
            [strings.place(place.item), None if place.score is None else _short(place.score), place.grade]
            for place in examples.listed(nth)
        ],
        "sums": [_sum(result, metric, examples, nth, row) for metric in metrics],
    }


def _sum(result: Result, metric: Metric, examples: Examples, nth: int, row: int) -> list[Any] | None:
    """A user's value of one number, and its arithmetic."""
    column = _column(result, str(metric))
    if column is None:
        return None  # a number of all lists together
    value = float(column[row])
    if math.isnan(value):
        return [None, "no value: not counted"]
    estimated = result.sampled is not None and result.sampled.estimator != "none"
    if estimated:
        return [_short(value), "estimated for the whole catalogue"]
    arithmetic = examples.arithmetic(metric, nth)
    return [_short(value), arithmetic or f"computed from the list and {' and '.join(metric.needs)}"]
