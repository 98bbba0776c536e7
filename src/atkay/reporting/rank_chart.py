"""A critical-difference diagram: average ranks over data sets, and the runs that do not differ significantly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from atkay.errors import need
from atkay.reporting.charts import PLAIN, STEP, WIDTH

if TYPE_CHECKING:
    import altair as alt

    from atkay.comparison.average_ranks import AverageRanks

DISTANCE = "critical difference"


def plot_ranks(metric: str, average_ranks: AverageRanks) -> alt.LayerChart:
    """A dot per run at its average rank, a bar per group of runs that are level, and the critical difference."""
    need("plot", "report", "altair")
    import altair as alt

    bars = [(DISTANCE, 1.0, 1 + average_ranks.critical_difference)]
    for at, clique in enumerate(average_ranks.cliques):
        ranks = [average_ranks.ranks[run] for run in clique]
        if len(clique) > 1:
            bars.append((f"group {chr(ord('a') + at)}", min(ranks), max(ranks)))
    order = [DISTANCE, *average_ranks.ranks, *(name for name, *_ in bars[1:])]
    scale = alt.Scale(domain=[1, max(len(average_ranks.ranks), bars[0][2])])
    rank = alt.X("rank:Q", title=f"average rank in {metric}", scale=scale, axis=alt.Axis(tickMinStep=1))
    row = alt.Y("row:N", title=None, sort=order, axis=alt.Axis(labelLimit=240))
    dots = alt.InlineData(values=[{"row": run, "rank": rank} for run, rank in average_ranks.ranks.items()])
    lines = alt.InlineData(values=[{"row": name, "rank": low, "to": high} for name, low, high in bars])
    layers = [
        alt.Chart(lines).mark_rule(size=4, color="#8a8a8a").encode(x=rank, x2="to:Q", y=row),
        alt.Chart(dots)
        .mark_circle(size=80, color=PLAIN, opacity=1)
        .encode(x=rank, y=row, tooltip=["row:N", alt.Tooltip("rank:Q", title="average rank", format=".2f")]),
    ]
    chart: Any = alt.layer(*layers)
    diagram: alt.LayerChart = chart.properties(width=WIDTH, height=alt.Step(STEP))
    return diagram
