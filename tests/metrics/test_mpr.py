"""Mean percentile rank: worked values, and plain loops."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given

import atkay
from atkay.errors import SpecError
from atkay.metrics.spec import parse
from variants import ListsAndGrades, anchored, lists_and_grades


def percentiles(listed: list[int], grades: dict[int, float], gain: str, unlisted: str) -> tuple[float, float]:
    numerator = denominator = 0.0
    for item, grade in grades.items():
        weight = (1.0 if gain == "binary" else grade) if grade else 0.0
        if item in listed:
            numerator += weight * (listed.index(item) / (len(listed) - 1) if len(listed) > 1 else 0)
            denominator += weight
        elif unlisted == "last":
            numerator, denominator = numerator + weight, denominator + weight
    return numerator, denominator


@given(lists_and_grades)
def test_against_plain_loops(users: ListsAndGrades) -> None:
    recs, truth = anchored(users)
    for gain, unlisted in itertools.product(("linear", "binary"), ("last", "skip")):
        specs = [str(parse(f"mpr(gain={gain},unlisted={unlisted},average={over})")) for over in ("users", "pooled")]
        result = atkay.evaluate(recs, truth, specs)
        shares = [percentiles(recs[user], truth[user], gain, unlisted) for user in result.ids["user"].to_list()]
        values = [one / other if other else math.nan for one, other in shares]
        assert result.query_values[:, 0].tolist() == pytest.approx(values, nan_ok=True)
        numerator, denominator = (sum(side) for side in zip(*shares, strict=True))
        assert result[specs[1]] == pytest.approx(numerator / denominator if denominator else math.nan, nan_ok=True)


def test_mpr_by_hand() -> None:
    # Places 1 and 5 of 5 with grades 1 and 3, and grade 4 not listed: (1 * 0 + 3 * 1 + 4 * 1) / 8.
    found = {1: ["a", "x", "y", "z", "b"]}, {1: {"a": 1, "b": 3, "c": 4}}
    specs = ["mpr", "mpr(unlisted=skip)", "mpr(gain=binary)", "mpr(gain=binary,unlisted=skip)"]
    assert list(atkay.evaluate(*found, specs).to_dict().values()) == [7 / 8, 3 / 4, 2 / 3, 1 / 2]


def test_takes_no_cutoff() -> None:
    with pytest.raises(SpecError, match="mpr takes no cutoff: write 'mpr' without '@'"):
        atkay.parse("mpr@10")
