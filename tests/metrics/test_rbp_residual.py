"""Residual of rank-biased precision: worked values, and plain loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given

import atkay
from atkay.errors import SpecError
from variants import ListsAndGrades, anchored, lists_and_grades


def residual(listed: list[int], grades: dict[int, float], p: float, k: int | None) -> float:
    return float(p ** len(listed[:k]))


@given(lists_and_grades)
def test_against_plain_loops(users: ListsAndGrades) -> None:
    recs, truth = anchored(users)
    specs: dict[str, Callable[[list[int], dict[int, float]], float]] = {}
    for k, cut in ((1, "@1"), (3, "@3"), (None, "")):
        specs[f"rbp_residual{cut}"] = partial(residual, p=0.8, k=k)
        specs[f"rbp_residual(p=0.95){cut}"] = partial(residual, p=0.95, k=k)
    result = atkay.evaluate(recs, truth, list(specs))
    for row in result.per_query.to_dicts():
        for spec, by_the_book in specs.items():
            value = by_the_book(recs[row["user"]], truth[row["user"]])
            assert row[spec] == pytest.approx(value, abs=1e-12), (row["user"], spec)


def test_a_published_vector() -> None:
    # Three items leave 0.8³ open, two 0.8².
    result = atkay.evaluate({1: ["a", "x", "b"]}, {1: ["a", "b"]}, ["rbp_residual", "rbp_residual@2"])
    assert list(result.values()) == pytest.approx([0.512, 0.64])


def test_a_user_without_a_list_leaves_everything_open() -> None:
    assert atkay.evaluate({1: ["a"]}, {1: ["a"], 2: ["b"]}, "rbp_residual").per_query["rbp_residual"][1] == 1


def test_refuses_and_defines() -> None:
    with pytest.raises(SpecError, match="a number between 0 and 1"):
        atkay.parse("rbp_residual(p=0)")
    words = "0.8 to the power of the number of items listed in the top 5"
    assert atkay.parse("rbp_residual@5").define() == (words, "0.8^L")


def test_items_that_nobody_judged() -> None:
    # Ranks 2 and 4 were not judged: 0.8⁴ + 0.2 (0.8 + 0.8³); of the top 1 every item was: 0.8, or 0 in trec_eval.
    recs, truth = {1: ["a", "x", "n", "y"]}, {1: {"a": 1, "n": 0}}
    specs = [f"rbp_residual(unjudged={word}){cut}" for word in ("open", "open_if_any") for cut in ("", "@1")]
    found = atkay.evaluate(recs, truth, specs)
    assert list(found.values()) == pytest.approx([0.8**4 + 0.2 * (0.8 + 0.8**3), 0.8, 0.8**4 + 0.2 * (0.8 + 0.8**3), 0])
    # Nothing is listed: everything is open.
    empty = atkay.evaluate(recs, truth | {2: {"a": 1}}, specs).per_query.rows()[1]
    assert empty[1:] == (1, 1, 0, 0)
    words = atkay.parse("rbp_residual(unjudged=open_if_any)").define().words
    assert words.endswith("for each item there that nobody judged, 0 where there is none")
