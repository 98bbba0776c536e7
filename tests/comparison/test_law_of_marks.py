"""A law over the registry: whatever a table, a verdict or the page's data say of a metric agrees with its direction."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from test_directions import LATEX, MARKS, UP

import atkay
from atkay.comparison.verdict import OPPOSITE
from atkay.errors import SpecError
from atkay.metrics.metric import Metric, RunMetric
from atkay.reporting.charts import colour_of
from atkay.reporting.data import page_data
from atkay.reporting.view import View
from made import result

RUNS = ("p", "q", "r")
USERS = 20
LEVELS = ((0, 1, 2), (2, 1, 0), (1, 1, 0), (0, 1, 1), (2, 0, 1), (1, 1, 1))
"""How high the runs' values are; two runs on one level have the same values."""
ARROWS = {"higher": "↑", "lower": "↓", "neither": ""}


def metric_of(name: str) -> Metric:
    try:
        return atkay.parse(f"{name}@10")
    except SpecError:
        return atkay.parse(name)


METRICS = [metric_of(name) for name in atkay.list_metrics()]
LEVEL = {str(metric): LEVELS[at % len(LEVELS)] for at, metric in enumerate(METRICS)}
TESTED = {str(metric) for metric in METRICS if not isinstance(metric, RunMetric)}


@cache
def compared(baseline: str | None) -> atkay.Comparison:
    """All metrics of the registry at once, each with values on its levels."""
    specs = " ".join(name for name in LEVEL if name in TESTED)
    noise = np.random.default_rng(0).random((USERS, len(TESTED))) / 10
    runs = {}
    for at, run in enumerate(RUNS):
        shift = np.array([LEVEL[name][at] for name in specs.split()])
        whole = {name: float(LEVEL[name][at]) for name in LEVEL if name not in TESTED}
        made = result(noise + shift * (1 + noise), specs)
        whole_metrics = tuple(metric for metric in METRICS if str(metric) not in TESTED)
        runs[run] = atkay.Result(**{**vars(made), "metrics": (*made.metrics, *whole_metrics), "whole": whole})
    return atkay.compare(runs, baseline=baseline, test="t")


def word(metric: Metric, run: str, other: str) -> str:
    """How a run stands to another, by their levels; empty where these are equal or nothing is tested."""
    level = dict(zip(RUNS, LEVEL[str(metric)], strict=True))
    if level[run] == level[other] or str(metric) not in TESTED:
        return ""
    higher = level[run] > level[other]
    return {
        "higher": ("worse", "better"), "lower": ("better", "worse"), "neither": ("lower", "higher")
    }[metric.better][higher]  # fmt: skip


@pytest.fixture(params=[None, "q"])
def comparison(request: pytest.FixtureRequest) -> atkay.Comparison:
    return compared(request.param)


def test_every_direction_is_there() -> None:
    assert {metric.better for metric in METRICS} == {*ARROWS}
    assert len(METRICS) == len(atkay.list_metrics())
    assert {word(metric, *pair) for metric in METRICS for pair in (("p", "q"), ("q", "p"))} == {"", *OPPOSITE}


FORMS: dict[str, tuple[Any, str, str]] = {
    "text": (repr, r"\s{2,}", r"()\S+(?: (\S+))?"),
    "markdown": (atkay.Comparison.to_markdown, r" +\| +", r"(\*\*)?[\d.]+(?:\*\*)?(?:<sup>(.*)</sup>)?"),
    "latex": (atkay.Comparison.to_latex, " & ", r"(\\textbf{)?[\d.]+}?(?:\\textsuperscript{(.*)})?"),
    "html": (atkay.Comparison._repr_html_, "</t[hd]><t[hd][^>]*>", r"(<b>)?[\d.]+(?:</b>)?(?:<sup>(.*)</sup>)?"),
}
"""How each form is made, what stands between its cells, and where bold and marks are in a cell."""


@pytest.mark.parametrize("form", FORMS)
def test_tables(comparison: atkay.Comparison, form: str) -> None:
    make, between, cell = FORMS[form]
    names = "|".join(RUNS)
    lines = [
        re.split(between, line.removesuffix(r" \\").removesuffix("</td></tr>").strip("| "))
        for line in make(comparison).splitlines()
    ]
    head, *rows = [line for line in lines if len(line) == len(METRICS) + 1 and "---" not in line[0]][: len(RUNS) + 1]
    for at, metric in enumerate(map(atkay.parse, comparison.metrics), start=1):
        arrow = head[at].partition(" ")[2].removesuffix("</th></tr>")
        assert arrow.replace(r"$\uparrow$", "↑").replace(r"$\downarrow$", "↓") == ARROWS[metric.better]
    of_rows = [re.findall(rf"\b({names})\b(?!>)", row[0])[0] for row in rows]
    assert of_rows == list(comparison.order)
    for metric in map(atkay.parse, comparison.metrics):
        for run, row in zip(of_rows, rows, strict=True):
            shown = re.fullmatch(cell, row[comparison.metrics.index(str(metric)) + 1])
            assert shown is not None
            bold, marks = expected(comparison, metric, run)
            marks = "".join(LATEX.get(mark, mark) for mark in marks) if form == "latex" else marks
            assert (bool(shown[1]), shown[2] or "") == (bold and form != "text", marks), (str(metric), run)


def expected(comparison: atkay.Comparison, metric: Metric, run: str) -> tuple[bool, str]:
    """Whether a cell is bold, and its marks."""
    words = {other: word(metric, run, other) for other in comparison.order if other != run}
    if comparison.baseline is None:
        letters = dict(zip(comparison.order, "abc", strict=True))
        return set(words.values()) == {"better"}, "".join(letters[other] for other in words if words[other] in UP)
    if run == comparison.baseline:
        return set(words.values()) == {"better"}, ""
    # The third one is not tested against it, but may be worse than the baseline.
    (third,) = {*RUNS} - {run, comparison.baseline}
    bold = (words[comparison.baseline], word(metric, third, comparison.baseline)) == ("better", "worse")
    return bold, MARKS.get(words[comparison.baseline], "")


def test_the_order_of_runs() -> None:
    """By the first metric that has a direction."""
    first = next(metric for metric in METRICS if metric.better != "neither" and str(metric) in TESTED)
    assert compared(None).metrics[0] == str(first)
    sign = -1 if first.better == "higher" else 1
    assert compared(None).order == tuple(sorted(RUNS, key=lambda run: sign * LEVEL[str(first)][RUNS.index(run)]))


def test_verdicts_and_the_page(comparison: atkay.Comparison) -> None:
    view = View.of(comparison)  # with each difference the other way round, where every pair is compared
    for found, shown in zip(view.differences, page_data(view)["pairs"], strict=True):
        metric, (up, down) = (
            atkay.parse(found.metric),
            (LEVEL[found.metric][RUNS.index(run)] for run in (found.run, found.against)),
        )
        stands = word(metric, found.run, found.against)
        assert found.better == metric.better
        assert (found.standing(found.run), found.standing(found.against)) == (stands, OPPOSITE[stands])
        assert np.sign(found.difference) == np.sign(up - down)
        start = {1: "+", 0: "no difference", -1: "-"}[np.sign(up - down)] if found.metric in TESTED else "+"
        assert found.verdict.startswith(("+", "-") if found.metric not in TESTED else start), found.verdict
        assert ("lower is better" in found.verdict) == (metric.better == "lower" and up != down)
        assert not re.search("better|worse", found.verdict.replace("(lower is better)", ""))
        for share in (found.relative, found.relative_low, found.relative_high):
            assert math.isnan(share) or np.sign(share) == np.sign(found.difference)
        words = {"": "not significant" if found.metric in TESTED else "not tested"}
        assert colour_of(found) == shown["found"] == words.get(stands, stands)
