"""Boards: segments and runs by metrics, with what was found in colour."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from atkay.errors import number_of
from atkay.reporting.card import mark, segment_name
from atkay.reporting.data import drawn_segments, largest_segments
from atkay.reporting.elements import bullets, details, element, paragraphs, table
from atkay.reporting.summary import sentences
from atkay.reporting.view import View, shown
from atkay.results.summary import cells
from atkay.text.grid import Cell, Grid, headed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from xml.etree.ElementTree import Element

    from atkay.comparison.comparison import Comparison
    from atkay.comparison.difference import Difference
    from atkay.metrics.metric import Metric
    from atkay.results.summary import Summary

ROWS_LISTED = 500
"""Differences that are listed with their verdicts; the others are in the tables of the comparison."""


def cutoffs_of(metrics: Iterable[Metric]) -> list[str]:
    """The cutoff of each number, empty where it has none."""
    return ["" if metric.k is None else str(metric.cutoffs[0]) for metric in metrics]


def rows_by_cutoff(metrics: Iterable[Metric]) -> list[dict[str, str]]:
    """Attributes by which the page hides the rows of other cutoffs."""
    return [{"data_k": cutoff} if cutoff else {} for cutoff in cutoffs_of(metrics)]


def headers(metrics: Iterable[Metric]) -> list[str]:
    """The names of the numbers, each with an arrow towards its better values."""
    return [headed(str(metric), metric.better) for metric in metrics]


def segment_board(view: View) -> list[Element]:
    """Segments x metrics: of several runs the differences, in the colour of what was found, of one run the means."""
    rows = _segment_differences(view) if view.comparison else _segment_means(view)
    if not rows:
        return [element("p", "No segments: pass slices={user: segment} to see who is served well.", class_="note")]
    columns = ["segment", *headers(view.metrics)]
    cutoffs = ["", *cutoffs_of(view.metrics)]
    if view.comparison is None:
        return [table("Means by segment", columns, rows, marks=cutoffs, right=columns[1:])]
    left_out = len({(d.slice, d.segment) for d in view.comparison.segments}) + 1 - len(rows)
    legend = (
        "Differences in percent of the baseline; where that is 0 or negative, absolute ones with four decimals. Green "
        "is significantly better, red significantly worse; blue and yellow are significantly higher and lower, of "
        "metrics without direction; grey is not significant or not tested. Arrows point to better values."
        + (f" {left_out:,} smaller segments are not shown." if left_out else "")
    )
    return [table("Differences by segment", columns, rows, marks=cutoffs), element("p", legend, class_="note")]


def _segment_differences(view: View) -> list[list[Any]]:
    pair = view.candidate, view.baseline
    drawn, every = drawn_segments(view), {each.metric: each for each in view.pairs[pair]}
    rows: list[list[Any]] = []
    for at, (where, users) in enumerate(drawn.items()):
        of_metric = {
            name: each
            for name in view.names
            for each in view.segments.get((name, *pair), ())
            if (each.slice, each.segment) == where
        }
        rows.append([_segment(where, users), *_line(view, of_metric, row=str(at))])
    return [["All users", *_line(view, every, row="all")], *rows] if rows else []


def _segment_means(view: View) -> list[list[Any]]:
    run = view.runs[0]
    means: dict[tuple[str | None, str | None], dict[str, Summary]] = {}
    for slicing, segment, metric, summary in view.results[run].slice_summaries:
        means.setdefault((slicing, segment), {})[metric] = summary
    users = {where: max(each.users + each.undefined for each in of.values()) for where, of in means.items()}
    rows = [
        [_segment(where, users[where]), *(cells(means[where][name])[0] for name in view.names)]
        for where in largest_segments(users)
    ]
    return [["All users", *(cells(view.means[run][name])[0] for name in view.names)], *rows] if rows else []


def _segment(where: tuple[str | None, str | None], users: int) -> list[Element]:
    name = f"{shown(where[0])}: {segment_name(where[1])}"
    return [element("span", name, element("small", number_of(users, "user")))]


def _line(view: View, of_metric: Mapping[str, Difference], **where: str) -> list[list[Element]]:
    """The differences in each metric, in places that follow the runs that are compared."""
    line = []
    for at, name in enumerate(view.names):
        text, tone = mark(of_metric[name]) if name in of_metric else ("", "")
        places = {f"data_{what}": value for what, value in where.items()}
        line.append([element("span", text, class_=f"mark {tone}".strip(), data_number=str(at), **places)])
    return line


def leaderboard(view: View) -> list[Element]:
    """The runs, the best first, with their differences from the baseline; of one run all metrics."""
    if view.comparison is not None:
        return _runs(view, view.comparison)
    header = next(iter(view.results.values())).header
    summaries = view.means[view.runs[0]].values()
    rows = [(name, *cells(summary)) for name, summary in zip(headers(view.metrics), summaries, strict=True)]
    return [table("All metrics", ("metric", *header), rows, row_data=rows_by_cutoff(view.metrics), right=header)]


def _runs(view: View, comparison: Comparison) -> list[Element]:
    grid = comparison.mean_grid()
    cells_of = dict(zip(comparison.order, grid.rows, strict=True))
    rows: list[list[Any]] = []
    for run in view.ordered:
        name, *means = cells_of[run]
        differences = {each.metric: each for each in view.pairs.get((run, view.baseline), ())}
        line = _line(view, differences, run=str(view.runs.index(run)))
        of_metric = zip(view.names, means, line, strict=True)
        numbers = ([*_with_interval(mean, view.means[run][each]), *marks] for each, mean, marks in of_metric)
        rows.append([_cell(name), *_tier(view, run), *numbers])
    lead, *others = sentences(view)
    ahead, level = list[str](), ""
    if view.tiers:
        ahead = ["tier"]
        level = "tier: its first run and all not significantly worse; below it, the 95 % CI of the rank; "
    notes = f"{level}{comparison.bold_legend}; 95 % CI below each mean, and below it the difference from "
    board = table(
        "Means of the runs",
        ["run", *ahead, *headers(view.metrics)],
        rows,
        marks=["", *([""] * len(ahead)), *cutoffs_of(view.metrics)],
        row_data=[{"data_run": str(view.runs.index(run))} for run in view.ordered],
    )
    return [
        element("p", lead),
        board,
        element("p", notes, element("span", shown(view.baseline), class_="baseline"), ".", class_="note"),
        bullets(others),
        *_all_differences(comparison),
    ]


def _tier(view: View, run: str) -> list[list[Element]]:
    """The place of a run's tier and ranks, which follow the metric."""
    if not view.tiers:
        return []
    first, ranks = view.tiers.get(str(view.headline), {}).get(run, ("–", ""))
    texts = element("span", first), element("small", ranks)
    return [[element("span", *texts, class_="tier", data_run=str(view.runs.index(run)))]]


def _all_differences(comparison: Comparison) -> list[Element]:
    """Every difference with its verdict, closed."""
    ahead = ("slice", "segment")
    listed: list[tuple[str, tuple[Difference, ...], tuple[str, ...]]] = [
        ("All differences, with p-values", comparison.differences, ()),
        ("Segments with the opposite effect", comparison.movers, ahead),
        ("All differences by segment", comparison.segments, ahead),
    ]
    parts = []
    for name, differences, more in listed:
        rest = len(differences) - ROWS_LISTED
        left = paragraphs(f"{rest:,} more are in the tables of the comparison.") if rest > 0 else []
        board = grid_table(name, comparison.difference_grid(differences[:ROWS_LISTED], more))
        parts += [details(f"{name} ({len(differences):,})", board, *left)] if differences else []
    return parts


def _cell(cell: str | Cell) -> list[str | Element]:
    """A cell of a grid; ``text`` may be an id of any length."""
    if isinstance(cell, str):
        return [shown(cell)]
    text = shown(cell.text)
    return [element("b", text) if cell.bold else text, *([element("sup", cell.marks)] if cell.marks else [])]


def _with_interval(cell: str | Cell, summary: Any) -> list[str | Element]:
    ends = "" if math.isnan(summary.low) else f"[{summary.low:.4f}, {summary.high:.4f}]"
    return [*_cell(cell), element("small", ends)]


def grid_table(caption: str, grid: Grid) -> Element:
    """A table that exists elsewhere, too."""
    rows = [[_cell(cell) for cell in row] for row in grid.rows]
    return table(caption, grid.header, rows, right=grid.right, wrap=("verdict", "this order"))
