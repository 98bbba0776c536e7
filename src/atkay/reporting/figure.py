"""Figure: a chart in the width and with the fonts of a paper."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from atkay.errors import SpecError, need, unknown_value

if TYPE_CHECKING:
    import altair as alt

    Chart = TypeVar("Chart", alt.LayerChart, alt.FacetChart, alt.LayerChart | alt.FacetChart)

Size = Literal["screen", "column", "text"]
INCHES = {"column": 3.3, "text": 7.0}
"""The widths of a column and of a page's text."""
FONT_POINTS = {"column": 7, "text": 8}
POINTS_PER_INCH = 72
"""A pixel of a chart is a point in a PDF."""
STEP_POINTS, POINT_AREA = 13, 22
ASPECT = 0.6
"""Height by width, where rows do not decide."""
LEAST_POINTS = 60
"""The least width of what is drawn; names of any length leave it."""


def check_size(size: str) -> None:
    """Raise an error where there is no such size, or nothing to measure a chart with."""
    if size not in get_args(Size):
        raise SpecError(f"plot: {unknown_value(size, 'size', get_args(Size))}")
    if size != "screen":
        need("a chart of a paper's size", "report", "vl_convert")


def fitted(chart: Chart, size: str) -> Chart:
    """The chart as wide as a column or as the text, its names included; on a screen as it is."""
    if size == "screen":
        return chart
    import altair as alt

    points = FONT_POINTS[size]
    font: dict[str, Any] = {"labelFontSize": points, "titleFontSize": points, "labelLimit": 0}
    chart = (
        chart.configure_axis(**font, titleFontWeight="normal")
        .configure_header(**font, labelPadding=2)
        .configure_legend(
            **font,
            orient="bottom",
            direction="horizontal",
            columns=2 if size == "column" else 7,
            symbolOpacity=1,
            symbolSize=2 * POINT_AREA,
        )
        .configure_point(size=POINT_AREA)
        .configure_facet(spacing=4)
        .configure_view(stroke="#ccc")
        .properties(padding=1)
    )
    inner = chart.spec if isinstance(chart, alt.FacetChart) else chart
    if isinstance(inner.height, alt.Step):
        inner.height = alt.Step(STEP_POINTS)
    for layer in inner.layer:
        if layer.mark.type == "point":
            layer.mark.size = POINT_AREA
        elif layer.mark.type == "rule" and "strokeWidth" in layer.mark.to_dict():
            layer.mark.strokeWidth = 1.2
    wanted = INCHES[size] * POINTS_PER_INCH
    inner.width = wanted / 2
    # What stands beside the drawing, names and titles, is as wide as it is.
    inner.width = max(wanted - (_width(chart) - wanted / 2), LEAST_POINTS)
    if inner.height is alt.Undefined:
        inner.height = ASPECT * inner.width
    return chart


def _width(chart: Any) -> float:
    """The width of a chart as it is drawn."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    match = re.search(r'<svg[^>]* width="([0-9.]+)"', svg)
    assert match is not None
    return float(match[1])
