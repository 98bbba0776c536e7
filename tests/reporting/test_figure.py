"""Charts in the width of a paper, as PDF and SVG."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atkay
from atkay.errors import SpecError
from made import result

METRICS = "ndcg@5,10 mean_rank"


def three() -> atkay.Comparison:
    base = np.random.default_rng(0).random((30, 3))
    names = ("popularity", "neighbours", "a model with a longer name")
    runs = {name: result(base * (1 + at / 4), METRICS) for at, name in enumerate(names)}
    return atkay.compare(runs, baseline="neighbours", test="t")


@pytest.mark.parametrize(("size", "points"), [("column", 3.3 * 72), ("text", 7 * 72)])
@pytest.mark.parametrize(("of", "kind"), [("comparison", "differences"), ("comparison", "means"), ("result", "curves")])
def test_a_figure_is_as_wide_as_a_paper_has_it(of: str, kind: Any, size: Any, points: float, tmp_path: Path) -> None:
    """Its names included; a pixel is a 72th of an inch in a PDF."""
    comparison = three()
    found = comparison if of == "comparison" else comparison.results["popularity"]
    chart = found.plot(kind, size=size)
    chart.save(str(tmp_path / "figure.pdf"))
    chart.save(str(tmp_path / "figure.svg"))
    svg = (tmp_path / "figure.svg").read_text()
    width = re.search(r'width="([0-9.]+)"', svg)
    assert width is not None
    assert float(width[1]) == pytest.approx(points, abs=1.5)
    assert {float(each) for each in re.findall(r'font-size="([0-9.]+)px"', svg)} == {7.0 if size == "column" else 8.0}
    pdf = (tmp_path / "figure.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    box = re.search(rb"/MediaBox\s*\[\s*0 0 ([0-9.]+)", pdf)
    assert box is not None
    assert float(box[1]) == pytest.approx(points, abs=1.5)


def test_headers_have_arrows_and_rows_the_order_of_the_tables() -> None:
    comparison = three()
    chart = comparison.plot("means").to_dict()
    assert chart["facet"]["row"]["sort"] == ["ndcg@5 ↑", "ndcg@10 ↑", "mean_rank ↓"]
    (rows,) = chart["datasets"].values()
    runs = [row["run"] for row in rows if row["metric"] == "ndcg@5 ↑"]
    assert runs == list(comparison.order) == ["a model with a longer name", "neighbours", "popularity"]
    (rows,) = comparison.plot().to_dict()["datasets"].values()
    assert [row["pair"] for row in rows][:2] == ["a model with a longer name", "popularity"]


def test_unknown_sizes_are_refused() -> None:
    with pytest.raises(SpecError, match="unknown value 'page' for size; choose screen, column or text"):
        three().plot(size="page")  # type: ignore[arg-type]  # no size
