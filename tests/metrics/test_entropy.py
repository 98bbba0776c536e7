"""Entropy: worked cases, and plain loops."""

from __future__ import annotations

import math

from hypothesis import given

from loops_runs import Recs, anchored, at, catalogs, cutoffs, lists, number, same, shown, times


def test_entropy_in_bits_and_as_a_share() -> None:
    assert shown({"a": 1, "b": 1, "c": 1, "d": 1}, "entropy@1") == 2
    assert shown({"a": 3}, "entropy@1") == 0
    # 1/2 x 1 + 1/4 x 2 + 1/4 x 2 = 1.5 bits, of log2 8 = 3
    assert shown({"a": 2, "b": 1, "c": 1}, "entropy(unit=share)@1", catalog=list("abcdefgh")) == 0.5
    # Items outside of the catalogue count for the bits (4 items alike: 2) and not for the share (2 of 2 alike: 1)
    four = {"a": 1, "b": 1, "c": 1, "d": 1}
    assert (shown(four, "entropy"), shown(four, "entropy(unit=share)", catalog=["a", "b"])) == (2, 1)
    assert math.isnan(shown({"a": 3}, "entropy(unit=share)", catalog=["a"]))
    assert math.isnan(shown({"a": 3}, "entropy(unit=share)", catalog=["b", "c"]))


@given(recs=lists, catalog=catalogs, k=cutoffs)
def test_entropy_by_its_definition(recs: Recs, catalog: list[int], k: int | None) -> None:
    recs = anchored(recs)

    def bits(items: list[int]) -> float:
        x = [times(recs, k, item) for item in items]
        return -sum(n / sum(x) * math.log2(n / sum(x)) for n in x if n) if sum(x) else math.nan

    assert same(number(recs, at("entropy", k)), bits(list(range(8))))
    share = bits(catalog) / math.log2(len(catalog)) if len(catalog) > 1 else math.nan
    assert same(number(recs, at("entropy(unit=share)", k), catalog=catalog), share)
