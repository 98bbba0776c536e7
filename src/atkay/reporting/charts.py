"""Charts, with Altair; the report fills in the rows when a metric is chosen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from atkay.comparison.verdict import CONTRADICTORY
from atkay.errors import SpecError, need, unknown_value
from atkay.metrics.spec import parse
from atkay.reporting.figure import check_size, fitted
from atkay.text.grid import headed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import altair as alt

    from atkay.audit.variants import Variants
    from atkay.comparison.comparison import Comparison
    from atkay.comparison.difference import Difference
    from atkay.metrics.metric import Metric
    from atkay.results.result import Result

WIDTH, STEP = 420, 22
PLAIN = "#4a86c5"
"""The colour of what is neither better nor worse."""
COLOURS = {
    "better": "#2a9d76",
    "worse": "#d1573d",
    "higher": PLAIN,
    "lower": "#c99a1e",
    "not significant": "#8a8a8a",
    "contradictory": "#8f6bc9",
    "not tested": "#a9a9a9",
}
"""Colours that stay apart for those who do not tell red from green (they differ in lightness, too), and that are seen
on white and on black.
"""
RUNS = (
    "#3b82c4", "#e08a1e", "#2a9d76", "#c75b9b", "#8f6bc9", "#b3702f", "#4fb3bf", "#d1573d", "#8a9a2b", "#7d8590",
    "#b8a11e", "#5566b8",
)  # fmt: skip
"""A colour per run, seen on white and on black."""

KINDS = {"result": ("curves", "means"), "comparison": ("differences", "means")}


def check_plot(kind: str, of: str) -> None:
    """Raise an error where there is no such chart, or no Altair to draw it."""
    if kind not in KINDS[of]:
        raise SpecError(f"plot: {unknown_value(kind, 'kind', KINDS[of])}")
    need("plot", "report", "altair")


def plot_result(result: Result, kind: str, size: str) -> alt.LayerChart | alt.FacetChart:
    """The numbers of one result."""
    check_plot(kind, "result")
    check_size(size)
    import altair as alt

    rows: list[dict[str, Any]] = [
        {
            "metric": headed(str(one), one.better),
            "family": family_of(one),
            "k": None if one.k is None else one.cutoffs[0],
            **_numbers(result.summaries[str(one)], "mean"),
        }
        for metric in result.metrics
        for one in metric.split()
    ]
    data = alt.InlineData(values=rows)
    if kind == "means":
        layers = dots(data, "metric", "mean", alt.value(PLAIN))
        return fitted(alt.layer(*layers, data=data).properties(width=WIDTH, height=alt.Step(STEP)), size)
    chart = curves(data, "family", sorted({row["k"] for row in rows if row["k"]})).properties(width=WIDTH)
    return fitted(chart, size)


def plot_comparison(comparison: Comparison, kind: str, size: str) -> alt.FacetChart:
    """The means of the runs, or their differences; a row per metric, each on a scale of its own."""
    check_plot(kind, "comparison")
    check_size(size)
    import altair as alt

    data, layers = _differences(comparison) if kind == "differences" else _means(comparison)
    layered = alt.layer(*layers, data=data).properties(width=WIDTH, height=alt.Step(STEP))
    # Beside the rows on a screen, above them in the width of a paper.
    place: dict[str, Any] = (
        {"labelAnchor": "middle"} if size == "screen" else {"labelAnchor": "start", "labelOrient": "top"}
    )
    header = alt.Header(labelAngle=0, labelAlign="left", labelFontWeight="bold", title=None, **place)
    names = [headed(name, parse(name).better) for name in comparison.metrics]
    row = alt.Row("metric:N", sort=names, header=header)
    chart: alt.FacetChart = layered.facet(row=row).resolve_scale(x="independent", y="independent")
    return fitted(chart, size)


def _differences(comparison: Comparison) -> tuple[Any, list[Any]]:
    """The differences about 0, coloured by what is found; what does not matter is shaded."""
    import altair as alt

    rows: list[dict[str, Any]] = [
        {
            "metric": headed(each.metric, each.better),
            "pair": f"{each.run} vs {each.against}" if comparison.baseline is None else each.run,
            **_numbers(each, "difference"),
            "found": colour_of(each),
            "verdict": each.verdict,
            "least": -comparison.min_effect.get(each.metric, 0.0),
            "most": comparison.min_effect.get(each.metric, 0.0),
        }
        for each in comparison.ordered
        if not math.isnan(each.difference)
    ]
    data = alt.InlineData(values=rows)
    zero = alt.Chart(data).mark_rule(color="#444").encode(x=alt.datum(0))
    colour = alt.Color("found:N", title=comparison.threshold, scale=_scale(occurring(row["found"] for row in rows)))
    layers: list[Any] = [zero, *dots(data, "pair", "difference", colour, ["verdict"], comparison.baseline)]
    if comparison.min_effect:
        shade = alt.Chart(data).mark_rect(color="#000", opacity=0.06 / max(1, len(rows) // len(comparison.metrics)))
        layers.insert(0, shade.encode(x=alt.X("least:Q"), x2="most:Q"))
    return data, layers


def _means(comparison: Comparison) -> tuple[Any, list[Any]]:
    import altair as alt

    rows = [
        {"metric": headed(name, parse(name).better), "run": run, **_numbers(summary, "mean")}
        for run in comparison.order
        for name, summary in comparison.means[run].items()
        if not math.isnan(summary.mean)
    ]
    data = alt.InlineData(values=rows)
    return data, dots(data, "run", "mean", alt.value(PLAIN))


def colour_of(difference: Difference) -> str:
    """The word under which a difference has its colour."""
    if difference.finding in ("not tested", CONTRADICTORY):
        return difference.finding
    return difference.standing(difference.run) or "not significant"


def occurring(words: Iterable[str]) -> list[str]:
    """The words of COLOURS that occur, in their order."""
    occur = set(words)
    return [word for word in COLOURS if word in occur]


def _numbers(summary: Any, middle: str) -> dict[str, float | None]:
    """A number and its interval, as charts take them."""
    return {name: known(getattr(summary, name)) for name in (middle, "low", "high")}


def plot_variants(variants: Variants) -> alt.Chart:
    """A bar per variant, with the libraries that mean it."""
    need("plot", "report", "altair")
    import altair as alt

    rows = [
        {"spec": row.spec, "value": known(row.value), "libraries": ", ".join(row.libraries)} for row in variants.rows
    ]
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(color=PLAIN)
        .encode(
            x=alt.X("value:Q"),
            y=alt.Y("spec:N", title=None, sort=None),
            tooltip=[alt.Tooltip("spec:N"), alt.Tooltip("value:Q", format=".4f"), alt.Tooltip("libraries:N")],
        )
        .properties(width=WIDTH, height=alt.Step(STEP))
    )
    return chart


def dots(
    data: Any, row: str, middle: str, colour: Any, more: Sequence[str] = (), baseline: str | None = None
) -> list[Any]:
    """A point and its interval in each row; ``more`` are further tooltips."""
    import altair as alt

    y = alt.Y(f"{row}:N", title=None, sort=None)
    tooltip = [alt.Tooltip(f"{row}:N"), *_ends(middle), *(alt.Tooltip(f"{name}:N") for name in more)]
    chart = alt.Chart(data)
    x = _axis(middle, "" if baseline is None else f" from {baseline}")
    return [
        chart.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q", y=y, color=colour, tooltip=tooltip),
        chart.mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, color=colour, tooltip=tooltip),
    ]


def _ends(middle: str) -> list[alt.Tooltip]:
    """A number and its interval, as they are told."""
    import altair as alt

    return [alt.Tooltip(f"{name}:Q", format=".4f") for name in (middle, "low", "high")]


def _axis(middle: str, what: str = "") -> alt.X:
    import altair as alt

    scale = alt.Scale(zero=False, padding=12)
    return alt.X(f"{middle}:Q", title=f"{middle}{what}, 95 % CI", scale=scale, axis=alt.Axis(format=".4~f"))


def curves(data: Any, line: str, cutoffs: Sequence[int], colour: Any = None) -> alt.LayerChart | alt.FacetChart:
    """A line over the cutoffs for each run or metric, with the intervals."""
    import altair as alt

    near = alt.selection_point("near", fields=["k"], on="pointerover", nearest=True, empty=False, clear="pointerout")
    x = alt.X(
        "k:Q",
        title="cutoff",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=list(cutoffs), format="d", labelOverlap=False, tickCount=len(cutoffs) + 1),
    )
    y = alt.Y("mean:Q", title="mean, 95 % CI", scale=alt.Scale(zero=True))
    colour = alt.Color(f"{line}:N", title=None, sort=None) if colour is None else colour
    tooltip = [alt.Tooltip(f"{line}:N"), alt.Tooltip("k:Q", title="cutoff"), *_ends("mean")]
    base = alt.Chart(data).transform_filter("isValid(datum.k)").encode(x=x, color=colour)
    return alt.layer(
        base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line(strokeWidth=2).encode(y=y),
        base.mark_point(filled=True, opacity=1)
        .encode(y=y, tooltip=tooltip, size=alt.condition(near, alt.value(120), alt.value(45)))
        .properties(name="points")  # Altair 5 would number charts and selections through, and pages would differ
        .add_params(near),
        data=data,
    )


def family_of(metric: Metric) -> str:
    """What the same number at other cutoffs shares with it: its spec without the cutoff."""
    return str(metric).partition("@")[0]


def known(value: float) -> float | None:
    """A number as charts take it."""
    return None if math.isnan(value) else value


def page_charts(
    runs: Sequence[str], cutoffs: Sequence[int], findings: Sequence[str], threshold: str
) -> dict[str, dict[str, Any]]:
    """The charts of the report, as Vega-Lite without their rows.

    ``findings`` are the words of COLOURS that occur, ``threshold`` says what is significant.
    """
    import altair as alt

    data = alt.NamedData(name="rows")
    domain = alt.Scale(domain=list(runs), range=[RUNS[at % len(RUNS)] for at in range(len(runs))])
    of_run = alt.Color("run:N", title=None, scale=domain, legend=None if len(runs) == 1 else _legend())
    plain = alt.Color("run:N", title=None, scale=domain, legend=None)
    above = alt.Header(labelOrient="top", labelAnchor="start", labelFontWeight="bold", labelPadding=2, labelLimit=600)
    of_finding = alt.Color("found:N", title=threshold, scale=_scale(findings), legend=_legend())
    ways = _scale(["better", "worse", "higher", "lower"])
    of_way = alt.Color("found:N", title=None, scale=ways, legend=None)
    charts = {
        "means": alt.layer(*dots(data, "run", "mean", plain), data=data).properties(height=alt.Step(28)),
        "curves": curves(data, "run", cutoffs, of_run).properties(height=300),
        "users": _bars(data, plain, "share", None, ".0%")
        .properties(height=64)
        .facet(row=alt.Row("run:N", title=None, sort=list(runs), header=above), spacing=10),
        "differences": alt.layer(
            alt.Chart(data).mark_rule(opacity=0.5).encode(x=alt.datum(0)),
            *dots(data, "pair", "difference", of_finding, ["verdict"]),
            data=data,
        ).properties(height=alt.Step(28)),
        "moved": alt.layer(
            _bars(data, of_way),
            alt.Chart(data).mark_rule(opacity=0.6).encode(x=alt.datum(0)),
            data=data,
        ).properties(height=220),
        "slices": _segments(data, of_run),
        "trade": _trade(data, plain),
    }
    return {name: chart.to_dict(validate=False) for name, chart in charts.items()}


def _bars(data: Any, colour: Any, height: str = "users", title: str | None = "users", form: str = "~s") -> Any:
    """Bins of users; ``at`` and ``to`` are the ends of a bin."""
    import altair as alt

    tooltip = [
        alt.Tooltip("at:Q", title="from", format=".4~f"),
        alt.Tooltip("to:Q", format=".4~f"),
        alt.Tooltip("users:Q", format=","),
        *(
            [alt.Tooltip("share:Q", title="of all users", format=".1%"), alt.Tooltip("run:N")]
            if height == "share"
            else []
        ),
    ]
    return (
        alt.Chart(data)
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("at:Q", title="value per user" if height == "share" else "difference per user", bin="binned"),
            x2="to:Q",
            y=alt.Y(f"{height}:Q", title=title, axis=alt.Axis(format=form, tickCount=3)),
            color=colour,
            tooltip=tooltip,
        )
    )


def _scale(words: Sequence[str]) -> Any:
    import altair as alt

    return alt.Scale(domain=list(words), range=[COLOURS[word] for word in words])


def _legend() -> Any:
    import altair as alt

    return alt.Legend(orient="top", symbolOpacity=1, symbolType="circle")


def _segments(data: Any, colour: Any) -> Any:
    """The segments, the runs next to each other."""
    import altair as alt

    y = alt.Y("segment:N", title=None, sort=None)
    tooltip = [
        *(alt.Tooltip(f"{name}:N") for name in ("segment", "run")),
        *_ends("mean"),
        alt.Tooltip("users:Q", format=","),
    ]
    base = alt.Chart(data).encode(y=y, yOffset=alt.YOffset("run:N", sort=None), color=colour, tooltip=tooltip)
    return alt.layer(
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q"),
        base.mark_point(filled=True, size=45, opacity=1).encode(x=_axis("mean")),
        data=data,
    ).properties(height=alt.Step(16, **{"for": "offset"}))


def _trade(data: Any, colour: Any) -> Any:
    """Two numbers against each other, a point per run."""
    import altair as alt

    scale = alt.Scale(zero=False, nice=False, padding=36)
    tooltip = [alt.Tooltip("run:N"), alt.Tooltip("across:Q", format=".4f"), alt.Tooltip("up:Q", format=".4f")]
    base = alt.Chart(data).encode(
        x=alt.X("across:Q", title=None, scale=scale), y=alt.Y("up:Q", title=None, scale=scale), tooltip=tooltip
    )
    return alt.layer(
        base.mark_point(filled=True, size=110, opacity=1).encode(color=colour),
        base.mark_text(dy=-14, limit=160).encode(text="label:N"),
        data=data,
    ).properties(height=260)
