"""Sections: the parts of the report, each with something to show or a sentence on how to get it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from atkay.core.types import QUICKSORT_LENGTH
from atkay.reporting.boards import grid_table, leaderboard, rows_by_cutoff, segment_board
from atkay.reporting.card import card
from atkay.reporting.data import about
from atkay.reporting.elements import bullets, details, element, paragraphs, table
from atkay.reporting.summary import sentences, warnings
from atkay.reporting.view import View, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from xml.etree.ElementTree import Element

    from atkay.audit.conventions import Conventions
    from atkay.reporting.reproduce import Provenance
    from atkay.text.grid import Tabular
    from atkay.text.progress import Steps

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


def sections(
    view: View, elsewhere: Mapping[str, Conventions], provenance: Provenance, steps: Steps | None = None
) -> dict[str, tuple[str, list[Element]]]:
    """All of them in their order: a key, what stands above, and the content."""
    several = view.comparison is not None
    parts = {
        "summary": ("Verdict" if several else "Result", _summary),
        "leaderboard": ("Leaderboard" if several else "Metrics", leaderboard),
        "charts": ("Charts", _charts),
        "explorer": ("Users", _explorer),
        "details": ("Details", lambda view: _details(view, elsewhere)),
        "again": ("This page", lambda view: _again(view, provenance)),
    }
    made = {}
    for key, (name, content) in parts.items():
        made[key] = (name, content(view))
        if steps is not None:
            steps.next()
    return made


def controls(view: View) -> Element:
    """What the whole page shows: the metric and, of several runs, which one is compared with which."""
    pair = []
    if view.comparison is not None:
        pair = [
            element("label", "Run ", element("select", id="run")),
            element("label", "compared with ", element("select", id="against")),
        ]
    return element(
        "form",
        element("label", "Metric ", element("select", id="metric")),
        element("label", "Cutoff ", element("select", id="cutoff")),
        *pair,
        element("label", element("input", id="every", type="checkbox"), " all cutoffs in tables"),
        id="controls",
        aria_label="What the page shows",
    )


def _chart(name: str, what: str, *controls: Element) -> Element:
    """The place of a chart, with what it shows in words and its numbers as a table."""
    return element(
        "figure",
        *controls,
        element("figcaption", what, id=f"{name}-caption"),
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
    cautions = warnings(view)
    mind = [element("div", element("h3", "Caution"), bullets(cautions), class_="mind")] if cautions else []
    if view.comparison is None:
        first, *others = sentences(view)
        return [element("p", first, class_="lead"), bullets(others), *segment_board(view), *mind]
    one = card(view, view.difference(view.headline))
    verdict = element(
        "div",
        element("p", one.title, id="verdict-title"),
        element(
            "p",
            element("strong", one.word, id="verdict-word"),
            " ",
            element("span", one.change, id="verdict-change"),
            class_="word",
        ),
        element("p", one.segments, id="verdict-segments", class_="lead"),
        element("p", one.why, id="verdict-why"),
        id="verdict",
        class_=one.tone,
        aria_live="polite",
    )
    changed = [
        element("h3", "What changed"),
        element("ul", *(element("li", line) for line in one.changed), id="changed"),
    ]
    return [verdict, *segment_board(view), *changed, *mind]


def _charts(view: View) -> list[Element]:
    charts = [_chart("means", "Means with 95 % confidence intervals.")]
    if view.comparison is not None:
        charts.append(_chart("differences", "Differences of means with 95 % confidence intervals."))
    if view.results and view.comparison is not None:
        charts.append(_chart("moved", "Distribution of per-user differences."))
    if any(result.slicings for result in view.results.values()):
        charts.append(_chart("slices", "Means by segment."))
    if len(view.cutoffs) > 1:
        charts.append(_chart("curves", "Mean by cutoff."))
    if view.results:
        charts.append(_chart("users", "Distribution of per-user values."))
    else:
        text = "A loaded comparison has no per-user values. Create the report from what compare(...) returns."
        charts += paragraphs(text)
    beyond = [metric for metric in view.metrics if about(metric) == "lists"]
    if len(view.runs) > 1 and 0 < len(beyond) < len(view.metrics):
        charts.append(
            _chart(
                "trade", "Trade-off between two metrics.", element("label", "Versus ", element("select", id="across"))
            )
        )
    return charts


def _details(view: View, elsewhere: Mapping[str, Conventions]) -> list[Element]:
    """What the numbers rest on: each closed until asked for."""
    return [
        details(name, element("div", *content, id=key), class_="part")
        for key, name, content in (
            ("population", "Evaluated users", _population(view)),
            ("definitions", "Definitions and protocol", _definitions(view)),
            ("unjudged", "Unjudged items and chance", _unjudged(view)),
            ("conventions", "In other libraries", _conventions(view, elsewhere)),
            ("fingerprints", "Fingerprints of the inputs", _fingerprints(view)),
        )
        if content
    ]


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
    return [*([grid_table(caption, grid)] if grid.rows else []), *([bullets(notes)] if notes else [])]


def _explorer(view: View) -> list[Element]:
    if not any(result.example_users is not None and len(result.example_users) for result in view.results.values()):
        return paragraphs(
            "Lists of single users are not saved. Create the report from what evaluate(...) or compare(...) returns."
        )
    return [
        element("p", id="sampled", class_="note"),
        element("div", id="moved-users"),
        element(
            "div",
            element("label", "Search ", element("input", id="find", type="search", placeholder="user id")),
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
            row_data=rows_by_cutoff(view.metrics),
            wrap=("definition", "formula"),
        ),
        table(
            "Protocol",
            ("field", "meaning"),
            list(protocol.items()),
            wrap=("meaning",),
        ),
    ]
    if any_result is not None and any_result.readings:
        parts.insert(2, bullets(any_result.readings))
    if any_result is not None and any_result.dialect:
        parts.insert(0, element("p", f"Conventions of {any_result.dialect}."))
    return parts


def _fingerprints(view: View) -> list[Element]:
    rows = [(shown(run), *each) for run, result in view.results.items() for each in result.fingerprint.items()]
    return [table("The same data have the same fingerprint", ("run", "table", "fingerprint"), rows)] if rows else []


def _again(view: View, provenance: Provenance) -> list[Element]:
    """When and from what the page was made, and what makes it again."""
    rows = [("created", [element("time", provenance.created)]), *provenance.versions.items(), *provenance.files.items()]
    return [
        table("Created with", ("what", "which"), rows, wrap=("which",)),
        *paragraphs(*provenance.notes),
        element("pre", element("code", provenance.code), tabindex="0", id="reproduce"),
    ]
