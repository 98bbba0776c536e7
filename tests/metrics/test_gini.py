"""Gini coefficient: worked cases, and plain loops."""

from __future__ import annotations

import math

from hypothesis import given

from loops_runs import Recs, anchored, at, catalogs, cutoffs, lists, number, same, shown, times


def test_gini_of_published_counts() -> None:
    four = ["a", "b", "c", "d"]
    # (-3 x 1 - 1 x 2 + 1 x 3 + 3 x 4) / (4 x 10) = 10 / 40
    assert shown({"a": 1, "b": 2, "c": 3, "d": 4}, "gini@1", catalog=four) == 0.25
    # 3 x 10 / (4 x 10)
    assert shown({"d": 10}, "gini@1", catalog=four) == 0.75
    assert shown({"a": 2, "b": 2, "c": 2, "d": 2}, "gini@1", catalog=four) == 0
    # Divided by n - 1: 10 / (3 x 10), and 3 x 10 / (3 x 10)
    assert shown({"a": 1, "b": 2, "c": 3, "d": 4}, "gini(divisor=n_less_1)@1", catalog=four) == 10 / 30
    assert shown({"d": 10}, "gini(divisor=n_less_1)@1", catalog=four) == 1


def test_gini_counts_the_catalogue_and_nothing_else() -> None:
    # b is not in the catalogue; a stands in 2 lists, c in none: (-1 x 0 + 1 x 2) / (2 x 2)
    assert shown({"b": 5, "a": 2}, "gini@1", catalog=["a", "c"]) == 0.5
    assert math.isnan(shown({"b": 5}, "gini@1", catalog=["a", "c"]))
    assert shown({"a": 2}, "gini@1", catalog=["a"]) == 0
    assert math.isnan(shown({"a": 2}, "gini(divisor=n_less_1)@1", catalog=["a"]))


@given(recs=lists, catalog=catalogs, k=cutoffs)
def test_gini_by_comparing_every_pair(recs: Recs, catalog: list[int], k: int | None) -> None:
    """Half the mean difference of two items, over the mean."""
    recs = anchored(recs)
    x = [times(recs, k, item) for item in catalog]
    n, total = len(x), sum(x)
    apart = sum(abs(one - other) for one in x for other in x)
    expected = apart / (2 * n * total) if total else math.nan
    assert same(number(recs, at("gini", k), catalog=catalog), expected)
    full = expected * n / (n - 1) if n > 1 else math.nan
    assert same(number(recs, at("gini(divisor=n_less_1)", k), catalog=catalog), full)
