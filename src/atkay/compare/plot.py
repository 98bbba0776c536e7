"""Plot: means and differences with their intervals, as charts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from atkay.errors import SpecError, offer

if TYPE_CHECKING:
    import altair as alt

    from atkay.compare.comparison import Comparison, Difference

KINDS = ("differences", "means")
WIDTH, STEP = 420, 22
COLOURS = {"better": "#1b7f5c", "worse": "#b3402a", "real": "#2f5d8a", "not shown": "#8a8a8a", "not tested": "#c4c4c4"}
"""Colours that stay apart for those who do not tell red from green: they differ in lightness, too."""


def plot(comparison: Comparison, kind: str) -> alt.FacetChart:
    """The chart of one kind."""
    if kind not in KINDS:
        raise SpecError(f"plot: '{kind}' is no kind of chart. {offer(kind, KINDS)}")
    try:
        import altair  # noqa: F401 - the kinds below need it
    except ImportError as error:
        raise ImportError("charts need Altair: pip install 'atkay[report]'") from error
    return _differences(comparison) if kind == "differences" else _means(comparison)


def _differences(comparison: Comparison) -> alt.FacetChart:
    """The differences about 0, coloured by what is found; what does not matter is shaded."""
    import altair as alt

    rows = [
        {
            "metric": found.metric,
            "pair": f"{found.run} against {found.against}",
            "difference": found.difference,
            "low": _known(found.low),
            "high": _known(found.high),
            "found": _colour(found),
            "verdict": found.verdict,
            "least": -comparison.min_effect.get(found.metric, 0.0),
            "most": comparison.min_effect.get(found.metric, 0.0),
        }
        for found in comparison.differences
        if not math.isnan(found.difference)
    ]
    data = alt.InlineData(values=rows)
    zero = alt.Chart(data).mark_rule(color="#444").encode(x=alt.datum(0))
    layers: list[Any] = [zero, *_marks(data, "pair", "difference", _scale(rows))]
    if comparison.min_effect:
        shade = alt.Chart(data).mark_rect(color="#000", opacity=0.06 / max(1, len(rows) // len(comparison.metrics)))
        layers.insert(0, shade.encode(x=alt.X("least:Q"), x2="most:Q"))
    return _faceted(comparison, layers, data)


def _means(comparison: Comparison) -> alt.FacetChart:
    """The means of the runs."""
    import altair as alt

    rows = [
        {"metric": name, "run": run, "mean": found.mean, "low": _known(found.low), "high": _known(found.high)}
        for run, of_run in comparison.means.items()
        for name, found in of_run.items()
        if not math.isnan(found.mean)
    ]
    data = alt.InlineData(values=rows)
    return _faceted(comparison, _marks(data, "run", "mean", alt.value(COLOURS["real"])), data)


def _marks(data: Any, row: str, middle: str, colour: Any) -> list[Any]:
    """A point and its interval in each row."""
    import altair as alt

    y = alt.Y(f"{row}:N", title=None, sort=None)
    tips = [row, middle, "low", "high", *(["verdict"] if middle == "difference" else [])]
    tooltip = [alt.Tooltip(f"{name}:{'N' if name in (row, 'verdict') else 'Q'}") for name in tips]
    chart = alt.Chart(data)
    axis = alt.X(f"{middle}:Q", title=f"{middle}, 95 % interval", scale=alt.Scale(zero=False, padding=12))
    return [
        chart.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q", y=y, color=colour, tooltip=tooltip),
        chart.mark_point(filled=True, size=55, opacity=1).encode(x=axis, y=y, color=colour, tooltip=tooltip),
    ]


def _faceted(comparison: Comparison, layers: list[Any], data: Any) -> alt.FacetChart:
    """A row per metric, each on a scale of its own."""
    import altair as alt

    layered = alt.layer(*layers, data=data).properties(width=WIDTH, height=alt.Step(STEP))
    header = alt.Header(labelAngle=0, labelAlign="left", labelAnchor="middle", labelFontWeight="bold", title=None)
    row = alt.Row("metric:N", sort=list(comparison.metrics), header=header)
    chart: alt.FacetChart = layered.facet(row=row).resolve_scale(x="independent", y="independent")
    return chart


def _scale(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    shown = [name for name in COLOURS if any(row["found"] == name for row in rows)]
    scale = alt.Scale(domain=shown, range=[COLOURS[name] for name in shown])
    return alt.Color("found:N", title="corrected p < 0.05", scale=scale)


def _colour(found: Difference) -> str:
    if not found.real:
        return "not tested" if found.finding == "not tested" else "not shown"
    return "real" if math.isnan(found.gain) else "better" if found.gain > 0 else "worse"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
