"""Mean reciprocal rank: worked cases, and one MRR computed in two ways."""

from __future__ import annotations

import polars as pl
import pytest

import atkay


@pytest.mark.parametrize(
    ("listed", "spec", "value"),
    [
        ("axb", "mrr", 1 / 1),
        ("xyb", "mrr", 1 / 3),
        ("xyb", "mrr@2", 0),
        ("bxa", "mrr(target=best)", 1 / 3),
        ("bx", "mrr(target=best)", 0),
    ],
)
def test_worked_cases(listed: str, spec: str, value: float) -> None:
    assert atkay.evaluate({1: list(listed)}, {1: {"a": 3, "b": 1}}, spec)[spec] == pytest.approx(value)


PLACES = pl.DataFrame(
    {
        "place": ["S001", "S002", "S003", "S004", "S005", "S006", "S007", "S008"],
        "theme": [1, 1, 1, 1, 2, 2, 2, 2],
        "visits": [120, 300, 80, 45, 60, 40, 210, 90],
        "weighted": [0.92, 0.75, 0.60, 0.40, 0.85, 0.70, 0.55, 0.30],
        "normalised": [0.80, 0.20, 0.95, 0.50, 0.65, 0.10, 0.45, 0.90],
    }
)


@pytest.mark.parametrize(
    ("score", "first", "corrected"),
    [
        # Theme 1 alone: S001 S002 ...: its most visited place S002 is second. Theme 2: S005 S006 S007: third.
        # All together: S001 (theme 1), S005 (theme 2), ...: the themes' first places stand at ranks 1 and 2.
        ("weighted", [1 / 2, 1 / 3], [1 / 1, 1 / 2]),
        # Theme 1 alone: S003 S001 S004 S002: fourth. Theme 2: S008 S005 S007: third. Together: S003, S008, ...
        ("normalised", [1 / 4, 1 / 3], [1 / 1, 1 / 2]),
    ],
)
def test_two_ways_to_compute_one_mrr(score: str, first: list[float], corrected: list[float]) -> None:
    themes = PLACES.select(pl.col("theme").unique())
    recs = themes.join(PLACES.select("place", score=score), how="cross")  # every theme ranks all eight places
    truth = PLACES.select("theme", "place", relevance="visits")
    columns = atkay.Columns(user="theme", item="place")
    spec = "mrr(target=best)"
    by_theme = atkay.evaluate(recs, truth, spec, columns=columns, unjudged="drop")
    together = atkay.evaluate(recs, truth, "mrr", columns=columns)
    assert by_theme.per_query[spec].to_list() == pytest.approx(first)
    assert together.per_query["mrr"].to_list() == pytest.approx(corrected)
    assert by_theme[spec] == pytest.approx({"weighted": 0.4167, "normalised": 0.2917}[score], abs=5e-5)
    assert together["mrr"] == pytest.approx(0.75)
