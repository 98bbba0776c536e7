"""Sections: the parts of the report, each with something to show or a sentence on how to get it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from atkay.core.types import QUICKSORT_LENGTH
from atkay.reporting.elements import bullets, details, element, paragraphs, table
from atkay.reporting.reproduce import call
from atkay.reporting.summary import sentences, warnings
from atkay.reporting.view import View, shown
from atkay.results.summary import cells
from atkay.text.grid import Cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from xml.etree.ElementTree import Element

    from atkay.audit.conventions import Conventions
    from atkay.metrics.metric import Metric
    from atkay.text.grid import Grid, Tabular

FORMS = ("svg", "png")
"""File formats of saved charts."""

MOST_WORK = 5_000_000
"""Bounds are in every report while the listed items times those of one list are no more than this (seconds)."""

COUNTS = {
    "evaluated": "users evaluated",
    "without_list": "users with truth but no list",
    "without_truth": "users with a list but no relevant item",
    "emptied": "users with an empty list after filtering",
    "relevant": "relevant items",
    "hits": "of these, in the lists (hits)",
    "listed": "listed items",
    "unknown": "of these, not in the truth of any user",
    "tied": "of these, tied with another item",
    "excluded": "removed: excluded",
    "outside": "removed: not a candidate",
    "beyond": "removed: beyond the depth",
    "unjudged": "removed: not judged",
    "duplicated": "removed: duplicates",
    "tie_decided": "lists whose values depend on the order of ties",
    "tie_decided_long": f"of these, with {QUICKSORT_LENGTH} items or more",
}
"""The counts of a population in words."""


def sections(view: View, elsewhere: Mapping[str, Conventions]) -> dict[str, tuple[str, list[Element]]]:
    """All of them in their order: a key, what stands above, and the content."""
    return {
        "summary": ("Summary", _summary(view)),
        "leaderboard": ("Leaderboard", _leaderboard(view)),
        "cutoffs": ("By cutoff", _cutoffs(view)),
        "users": ("Per-user values", _users(view)),
        "differences": ("Differences", _differences(view)),
        "slices": ("Slices", _slices(view)),
        "popularity": ("Popularity and coverage", _beyond(view)),
        "conventions": ("In other libraries", _conventions(view, elsewhere)),
        "unjudged": ("Unjudged items and chance", _unjudged(view)),
        "explorer": ("User explorer", _explorer(view)),
        "population": ("Evaluated users", _population(view)),
        "definitions": ("Definitions and protocol", _definitions(view)),
    }


def controls() -> Element:
    """What holds for all charts."""
    return element(
        "form",
        element("label", "Metric ", element("select", id="metric")),
        element("label", "Cutoff ", element("select", id="cutoff")),
        element("label", element("input", id="every", type="checkbox"), " all cutoffs in tables"),
        id="controls",
        aria_label="Chart settings",
    )


def _chart(name: str, what: str, *controls: Element) -> Element:
    """The place of a chart, with what it shows in words and its numbers as a table."""
    live = {"aria_live": "polite"} if name == "means" else {}  # one of them tells a screen reader what was chosen
    return element(
        "figure",
        *controls,
        element("figcaption", what, id=f"{name}-caption", **live),
        element("div", id=f"{name}-chart", class_="chart", role="img", aria_labelledby=f"{name}-caption"),
        element(
            "div",
            details("Data of this chart", element("div", id=f"{name}-table")),
            *(
                element("button", f"Save as {form.upper()}", type="button", data_save=f"{name}.{form}")
                for form in FORMS
            ),
            class_="tools",
        ),
        id=f"{name}-figure",
    )


def _summary(view: View) -> list[Element]:
    first, *others = sentences(view)
    parts = [element("p", first, class_="lead"), bullets(others)]
    cautions = warnings(view)
    if cautions:
        parts.append(element("div", element("h3", "Caution"), bullets(cautions), class_="mind"))
    return parts


def _marks(metrics: Iterable[Metric]) -> list[str]:
    """The cutoff of each number, empty where it has none."""
    return ["" if metric.k is None else str(metric.cutoffs[0]) for metric in metrics]


def _leaderboard(view: View) -> list[Element]:
    chart = _chart("means", "Means with 95 % confidence intervals.")
    if view.comparison is None:
        numbers = [(name, *cells(summary)) for name, summary in view.means[view.runs[0]].items()]
        header = next(iter(view.results.values())).header
        return [
            table("All metrics", ("metric", *header), numbers, row_marks=_marks(view.metrics), right=header),
            chart,
        ]
    grid = view.comparison.mean_grid()
    rows = [
        [
            _cell(row[0]),
            *(_with_interval(cell, view.means[run][name]) for name, cell in zip(view.names, row[1:], strict=True)),
        ]
        for run, row in zip(view.comparison.order, grid.rows, strict=True)
    ]
    legend = element("p", f"{view.comparison.bold_legend}; 95 % CI below each mean.", class_="note")
    return [table("Means of the runs", grid.header, rows, marks=["", *_marks(view.metrics)]), legend, chart]


def _cell(cell: str | Cell) -> list[str | Element]:
    """A cell of a grid; ``text`` may be an id of any length."""
    if isinstance(cell, str):
        return [shown(cell)]
    text = shown(cell.text)
    return [element("b", text) if cell.bold else text, *([element("sup", cell.marks)] if cell.marks else [])]


def _with_interval(cell: str | Cell, summary: Any) -> list[str | Element]:
    ends = "" if math.isnan(summary.low) else f"[{summary.low:.4f}, {summary.high:.4f}]"
    return [*_cell(cell), element("small", ends)]


def _grid(caption: str, grid: Grid) -> Element:
    """A table that exists elsewhere, too."""
    rows = [[_cell(cell) for cell in row] for row in grid.rows]
    return table(caption, grid.header, rows, right=grid.right, wrap=("verdict", "this order"))


def _cutoffs(view: View) -> list[Element]:
    if len(view.cutoffs) < 2:
        return paragraphs("Only one cutoff was evaluated. Evaluate several, such as ndcg@1,5,10,20, to see a curve.")
    return [_chart("curves", "Mean by cutoff.")]


def _users(view: View) -> list[Element]:
    if not view.results:
        return paragraphs(
            "A loaded comparison has no per-user values. Create the report from what compare(...) returns."
        )
    return [_chart("users", "Distribution of per-user values.")]


def _differences(view: View) -> list[Element]:
    comparison = view.comparison
    if comparison is None:
        return paragraphs("Only one run. To compare runs: atkay.compare({name: lists, ...}, truth).")
    charts = [_chart("differences", "Differences of means with 95 % confidence intervals.")]
    if view.results:
        pair = element("label", "Pair ", element("select", id="pair"))
        charts.append(_chart("moved", "Distribution of per-user differences.", pair))
    return [
        *charts,
        details(
            "All differences, with p-values", _grid("Differences", comparison.difference_grid(comparison.differences))
        ),
    ]


def _slices(view: View) -> list[Element]:
    comparison, sliced = view.comparison, any(result.slicings for result in view.results.values())
    parts: list[Element] = []
    if sliced:
        parts.append(_chart("slices", "Means by segment."))
    if comparison is not None and comparison.segments:
        for summary, caption, differences in (
            ("Segments with the opposite effect", "Opposite effect", comparison.movers),
            ("All differences by segment", "Differences by segment", comparison.segments),
        ):
            grid = comparison.difference_grid(differences, ("slice", "segment"))
            table_of = details(f"{summary} ({len(differences):,})", _grid(caption, grid))
            parts.append(table_of if differences else element("p", "No segment has the opposite effect."))
    if parts:
        return parts
    return paragraphs("No segments. Pass slices={user: segment}, or a table, to evaluate or compare.")


def _beyond(view: View) -> list[Element]:
    metrics = [metric for metric in view.metrics if not (metric.needs_truth or metric.reads_scores)]
    if not metrics:
        return paragraphs(
            "No such metric was evaluated. Try coverage@10 or gini@10 with catalog=, or arp@10, novelty@10 or "
            "long_tail@10 with train=."
        )
    rows = [[shown(run), *(cells(view.means[run][str(metric)])[0] for metric in metrics)] for run in view.runs]
    names, caption = list(map(str, metrics)), "Metrics of the listed items, relevant or not"
    parts = [table(caption, ["run", *names], rows, marks=["", *_marks(metrics)], right=names)]
    if len(view.runs) > 1 and len(metrics) < len(view.metrics):
        across = element("label", "Versus ", element("select", id="across"))
        parts.append(_chart("trade", "Trade-off between two metrics.", across))
    return parts


def _conventions(view: View, elsewhere: Mapping[str, Conventions]) -> list[Element]:
    intro = "The same lists evaluated with the conventions of other libraries."
    if elsewhere and not any(conventions.values for conventions in elsewhere.values()):
        return paragraphs(intro, "None of these metrics can be computed from recs and truth alone.")
    if not elsewhere:
        how = "To add this section, pass the data again: atkay.report(result, path, recs=recs, truth=truth)."
        return paragraphs(intro, how)
    tables = []
    for run, conventions in elsewhere.items():
        ours = next(iter(conventions.values.values()))
        rows = [
            [name, *(_other(of.get(spec), ours.get(spec)) for spec in conventions.specs)]
            for name, of in conventions.values.items()
        ]
        marks = ["", *(spec.partition("@")[2] for spec in conventions.specs)]
        name = f"Lists of {shown(run)}" if view.comparison else "These lists"
        tables.append(
            table(
                f"{name} in other libraries",
                ["library", *conventions.specs],
                rows,
                marks=marks,
                right=conventions.specs,
            )
        )
    legend = element(
        "p",
        "Bold: differs from the first row; –: the library has no such metric, or rejects the lists.",
        class_="note",
    )
    first, *others = tables
    more = [details(f"Other runs ({len(others)})", *others)] if others else []
    return [element("p", intro), first, legend, *more]


def _other(value: float | None, ours: float | None) -> list[str | Element]:
    if value is None or math.isnan(value):
        return ["–"]
    same = ours is not None and abs(value - ours) < 5e-13
    return [f"{value:.4f}" if same else element("b", f"{value:.4f}")]


def _unjudged(view: View) -> list[Element]:
    """The bounds of each run, its numbers next to chance, and which orders of runs the unjudged items could turn."""
    results = view.results.values()
    if not results or any(result.again is None for result in results):
        return paragraphs(
            "Bounds and chance need the lists, which are kept with results of lists in memory up to a million rows, "
            "but neither saved nor kept with estimates from a sample."
        )
    if max(result.population.listed**2 / result.population.evaluated for result in results) > MOST_WORK:
        return paragraphs(
            "These lists are too long to do this for every report: print result.bounds and result.chance."
        )
    parts: list[Element] = []
    if view.comparison is not None:
        parts += _tabular("Could the unjudged items turn the order of two runs?", view.comparison.bounds)
    for run, result in view.results.items():
        name = f": {shown(run)}" if view.comparison else ""
        parts += _tabular(f"Lowest and highest values that the unjudged items allow{name}", result.bounds)
        parts.append(details(f"Chance and the best order{name}", *_tabular(f"Chance{name}", result.chance)))
    return parts


def _tabular(caption: str, shown_as: Tabular) -> list[Element]:
    """A table that exists elsewhere, too, and its notes."""
    grid, notes = shown_as.parts()
    return [*([_grid(caption, grid)] if grid.rows else []), *([bullets(notes)] if notes else [])]


def _explorer(view: View) -> list[Element]:
    if not any(result.example_users is not None and len(result.example_users) for result in view.results.values()):
        return paragraphs(
            "Lists of single users are not saved. Create the report from what evaluate(...) or compare(...) returns."
        )
    return [
        element("p", id="sampled", class_="note"),
        element(
            "div",
            element("label", "User ", element("select", id="user")),
            element("button", "Previous", id="before", type="button"),
            element("button", "Next", id="after", type="button"),
            class_="row",
        ),
        element("div", id="one-user"),
    ]


def _population(view: View) -> list[Element]:
    notes = [] if view.comparison is None else [bullets(view.comparison.notes)]
    populations = {run: result.population for run, result in view.results.items()}
    if not populations:
        return [element("p", "Notes of the saved comparison:"), *notes]
    rows = [
        (words, *(f"{getattr(each, name):,}" for each in populations.values()))
        for name, words in COUNTS.items()
        if name in ("evaluated", "relevant", "hits", "listed")
        or any(getattr(each, name) for each in populations.values())
    ]
    header = ("count", *(shown(run) for run in populations))
    compared = [details("How the runs were compared", *notes)] if notes else []
    return [table("Users and rows", header, rows, right=header[1:]), *compared]


def _definitions(view: View) -> list[Element]:
    any_result = next(iter(view.results.values()), None)
    defined = (
        any_result.definitions if any_result is not None else {str(metric): metric.define() for metric in view.metrics}
    )
    rows = [(name, defined[name].words, element("code", defined[name].formula)) for name in view.names]
    if view.comparison is not None:
        protocol = view.comparison.protocol
    else:
        result = view.results[view.runs[0]]
        protocol = {**result.protocol.words(), **result.apart_words()}
    parts = [
        table(
            "Metrics",
            ("metric", "definition", "formula"),
            rows,
            row_marks=_marks(view.metrics),
            wrap=("definition", "formula"),
        ),
        table(
            "Protocol",
            ("field", "meaning"),
            list(protocol.items()),
            wrap=("meaning",),
        ),
        element("h3", "Reproduce"),
        element("pre", element("code", call(view)), tabindex="0"),
    ]
    if any_result is not None and any_result.readings:
        parts.insert(2, bullets(any_result.readings))
    if any_result is not None and any_result.dialect:
        parts.insert(0, element("p", f"Conventions of {any_result.dialect}."))
    return parts + _fingerprints(view)


def _fingerprints(view: View) -> list[Element]:
    rows = [(shown(run), *each) for run, result in view.results.items() for each in result.fingerprint.items()]
    same = table("The same data have the same fingerprint", ("run", "table", "fingerprint"), rows)
    return [details("Fingerprints of the inputs", same)] if rows else []
