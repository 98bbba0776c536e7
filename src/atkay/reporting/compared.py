"""Plot: means and differences with their intervals, as charts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from atkay.comparison.verdict import CONTRADICTORY
from atkay.errors import SpecError, offer
from atkay.reporting.charts import COLOURS, PLAIN, STEP, WIDTH, dots, known, need_altair

if TYPE_CHECKING:
    import altair as alt

    from atkay.comparison.comparison import Comparison, Difference

KINDS = ("differences", "means")


def plot(comparison: Comparison, kind: str) -> alt.FacetChart:
    """The chart of one kind."""
    if kind not in KINDS:
        raise SpecError(f"plot: '{kind}' is no kind of chart. {offer(kind, KINDS)}")
    need_altair()
    return _differences(comparison) if kind == "differences" else _means(comparison)


def _differences(comparison: Comparison) -> alt.FacetChart:
    """The differences about 0, coloured by what is found; what does not matter is shaded."""
    import altair as alt

    rows = [
        {
            "metric": found.metric,
            "pair": f"{found.run} against {found.against}",
            "difference": found.difference,
            "low": known(found.low),
            "high": known(found.high),
            "found": colour_of(found),
            "verdict": found.verdict,
            "least": -comparison.min_effect.get(found.metric, 0.0),
            "most": comparison.min_effect.get(found.metric, 0.0),
        }
        for found in comparison.differences
        if not math.isnan(found.difference)
    ]
    data = alt.InlineData(values=rows)
    zero = alt.Chart(data).mark_rule(color="#444").encode(x=alt.datum(0))
    layers: list[Any] = [zero, *dots(data, "pair", "difference", _scale(rows, comparison.threshold), ["verdict"])]
    if comparison.min_effect:
        shade = alt.Chart(data).mark_rect(color="#000", opacity=0.06 / max(1, len(rows) // len(comparison.metrics)))
        layers.insert(0, shade.encode(x=alt.X("least:Q"), x2="most:Q"))
    return _faceted(comparison, layers, data)


def _means(comparison: Comparison) -> alt.FacetChart:
    """The means of the runs."""
    import altair as alt

    rows = [
        {"metric": name, "run": run, "mean": found.mean, "low": known(found.low), "high": known(found.high)}
        for run, of_run in comparison.means.items()
        for name, found in of_run.items()
        if not math.isnan(found.mean)
    ]
    data = alt.InlineData(values=rows)
    return _faceted(comparison, dots(data, "run", "mean", alt.value(PLAIN)), data)


def _faceted(comparison: Comparison, layers: list[Any], data: Any) -> alt.FacetChart:
    """A row per metric, each on a scale of its own."""
    import altair as alt

    layered = alt.layer(*layers, data=data).properties(width=WIDTH, height=alt.Step(STEP))
    header = alt.Header(labelAngle=0, labelAlign="left", labelAnchor="middle", labelFontWeight="bold", title=None)
    row = alt.Row("metric:N", sort=list(comparison.metrics), header=header)
    chart: alt.FacetChart = layered.facet(row=row).resolve_scale(x="independent", y="independent")
    return chart


def _scale(rows: list[dict[str, Any]], title: str) -> Any:
    import altair as alt

    shown = [name for name in COLOURS if any(row["found"] == name for row in rows)]
    scale = alt.Scale(domain=shown, range=[COLOURS[name] for name in shown])
    return alt.Color("found:N", title=title, scale=scale)


def colour_of(found: Difference) -> str:
    """The word under which a difference has its colour."""
    if found.finding in ("not tested", CONTRADICTORY):
        return found.finding
    return found.standing(found.run) or "not shown"
