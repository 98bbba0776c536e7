"""Catalogue coverage: worked cases, and plain loops."""

from __future__ import annotations

import pytest
from hypothesis import given

import atkay
from atkay.errors import SideError
from loops_runs import Recs, anchored, at, catalogs, cutoffs, lists, number, same, times


def test_worked_cases() -> None:
    recs, truth = {1: ["a", "b"], 2: ["b", "x"]}, {1: ["a"], 2: ["b"]}
    result = atkay.evaluate(recs, truth, "coverage@1,2", catalog=["a", "b", "c", "d"])
    # At 1: a and b of four items. At 2: the same, as x is not in the catalogue.
    assert list(result.values()) == [2 / 4, 2 / 4]
    assert atkay.evaluate(recs, truth, "coverage@1", catalog=["a", "c"])["coverage@1"] == 1 / 2
    with pytest.raises(SideError, match="coverage@1 needs catalog="):
        atkay.evaluate(recs, truth, "coverage@1")


@given(recs=lists, catalog=catalogs, k=cutoffs)
def test_by_counting(recs: Recs, catalog: list[int], k: int | None) -> None:
    recs = anchored(recs)
    covered = [item for item in catalog if times(recs, k, item)]
    assert same(number(recs, at("coverage", k), catalog=catalog), len(covered) / len(catalog))
