"""Serendipity: published values, worked cases, and an oracle in plain loops."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

import atkay
from atkay.errors import SideError, SpecError
from atkay.metrics.metric import conventions
from atkay.words import words_of
from loops_history import CATALOG, NAN, User, check, mean, tables, values
from variants import every_variant


def test_serendipity_of_ge_with_both_divisors() -> None:
    # List abcd, reference model ab, useful bc: of c and d outside the reference list, c is useful.
    given = {1: list("abcd")}, {1: list("bc")}
    assert values(*given, "serendipity(kind=ge)", reference={1: list("ab")}) == [1 / 4]
    assert values(*given, "serendipity(kind=ge,per=unexpected)", reference={1: list("ab")}) == [1 / 2]


RECTOOLS: dict[str, Any] = {
    "recs": {"u1": ["i1", "i2"], "u2": ["i2", "i3"], "u3": ["i3"], "u4": ["i2", "i3"]},
    "truth": {"u1": ["i1", "i2"], "u2": ["i2", "i3"], "u3": ["i2"], "u4": ["i2"]},
    "train": {"u1": ["i1", "i2"], "u2": ["i1", "i2"], "u3": ["i1"]},
    "catalog": ["i1", "i2", "i3", "i4"],
}


@pytest.mark.parametrize(("k", "expected"), [(1, [0, 0.25, 0, 0.25]), (2, [0, 0.5, 0, 0.125])])
def test_serendipity_in_the_documentation_of_rectools(k: int, expected: list[float]) -> None:
    # RecTools 0.19.0, Serendipity(k).calc_per_user. i2 is second by popularity, i3 is new; n = 4. For u2:
    # max(4/4 - 3/4, 0) = 1/4 for i2 at rank 1 and max(3/4 - 0, 0) = 3/4 for i3 at rank 2.
    assert values(spec=f"serendipity(kind=rectools)@{k}", **RECTOOLS) == expected


@pytest.mark.parametrize(("k", "expected"), [(1, [0, 1, 0]), (3, [0, 0.5, 0]), (4, [0.125, 0.5, 0])])
def test_serendipity_of_rectools_with_ties_a_new_item_and_a_short_list(k: int, expected: list[float]) -> None:
    # Recorded from RecTools 0.19.0. a has 4 users and rank 1, b, c and d have 2 and rank 2, e is new; n = 6.
    # User 1: d at rank 2 has 5/6 - 5/6 = 0, e at rank 4 has 3/6 - 0; 3/6 / 4 = 0.125. User 2 lists two: (1 + 0) / 2.
    assert (
        values(
            {1: list("adce"), 2: list("eb"), 3: list("cabd")},
            {1: list("de"), 2: list("eba"), 3: list("bd")},
            f"serendipity(kind=rectools)@{k}",
            train={1: list("ab"), 2: list("ac"), 3: list("adb"), 4: list("dca")},
            catalog=list("abcdef"),
        )
        == expected
    )


def test_serendipity_of_murakami_and_its_ranked_form() -> None:
    # n = 4; the reference list is b a. P is 1, 3/4, 1/2 for a, b, c; P0 is 3/4, 1, 0. All are relevant but b.
    # a gains 1/4, c gains 1/2; ranked: 1/4 * 1/1 + 1/2 * 2/3.
    given: dict[str, Any] = {"reference": {1: ["b", "a"]}, "catalog": list("abcd")}
    assert values({1: list("abc")}, {1: list("ac")}, "serendipity", **given) == pytest.approx([0.75 / 3])
    assert values({1: list("abc")}, {1: list("ac")}, "serendipity(per=k)@6", **given) == pytest.approx([0.75 / 6])
    found = values({1: list("abc")}, {1: list("ac")}, "serendipity(form=ranked)", **given)
    assert found == pytest.approx([(1 / 4 + 1 / 3) / 3])


def test_serendipity_by_cosine() -> None:
    # n_a = 2, n_b = 2, n_c = 1; a and b share one user, b and c share one. User 1 had a and is shown b and c, both
    # relevant: cosines 1 / sqrt(2 * 2) and 0, so (1/2 + 1) / 2. User 3 had b and c; of b and c only c is relevant:
    # cosines to b 1 / sqrt(2) and to itself 1. User 4 has no history.
    train = {1: ["a"], 2: ["a", "b"], 3: ["b", "c"]}
    recs = {1: ["b", "c"], 3: ["b", "c"], 4: ["b"]}
    found = values(recs, {1: ["b", "c"], 3: ["c"], 4: ["b"]}, "serendipity(kind=cosine)", train=train)
    assert found == pytest.approx([0.75, (1 - (1 / math.sqrt(2) + 1) / 2) / 2, NAN], nan_ok=True)


def test_serendipity_by_cosine_of_vectors() -> None:
    # The history is (1, 0) and (0, 2), d has no vector. b = (3, 4): cosines 3/5 and 4/5; c = (-1, 0): -1 and 0.
    features = pl.DataFrame({"item": list("xybc"), "v": [[1.0, 0], [0, 2], [3, 4], [-1, 0]]})
    found = values(
        {1: list("bcd")},
        {1: list("bcd")},
        "serendipity(kind=cosine,similarity=features)",
        train={1: ["x", "y"]},
        features=features,
    )
    assert found == pytest.approx([((1 - 0.7) + (1 + 0.5) + 1) / 3])


def test_what_is_expected_needs_no_truth_and_a_list() -> None:
    given: dict[str, Any] = {"reference": {1: ["a"], 2: ["b"]}, "exclude": {3: ["a"]}}
    recs = {1: ["a", "c"], 2: ["a", "b"], 3: ["a"], 4: ["a", "b", "c"]}
    # User 2 has no truth, the list of user 3 is emptied, for user 4 nothing is expected.
    found = values(recs, {1: ["a"], 3: ["a"], 4: ["a"]}, "serendipity(kind=unexpectedness)", **given)
    assert found == pytest.approx([0.5, 0.5, NAN, 1], nan_ok=True)
    found = values(recs, {1: ["c"], 3: ["a"], 4: ["a"]}, "serendipity(kind=adamopoulos)", **given)
    assert found == pytest.approx([0.5, 0, 0, 1 / 3])


def test_features_without_numbers_are_refused() -> None:
    spec = "serendipity(kind=cosine,similarity=features)"
    with pytest.raises(SideError, match="needs item vectors, but features= has only categories"):
        values({1: ["a"]}, {1: ["a"]}, spec, train={1: ["b"]}, features={"a": "red", "b": "blue"})


@pytest.mark.parametrize(
    ("spec", "missing"),
    [
        ("serendipity", "reference"),
        ("serendipity(kind=rectools)", "train"),
        ("serendipity(kind=cosine)", "train"),
        ("serendipity(kind=cosine,similarity=features)", "train"),
    ],
)
def test_what_is_missing_is_named(spec: str, missing: str) -> None:
    with pytest.raises(SideError, match=f"needs {missing}="):
        values({1: ["a"]}, {1: ["a"]}, spec)


@pytest.mark.parametrize("spec", ["kind=murakami,per=unexpected", "kind=ge,form=ranked", "kind=ge,similarity=features"])
def test_words_of_another_kind_are_refused(spec: str) -> None:
    with pytest.raises(SpecError, match="applies to kind="):
        atkay.parse(f"serendipity({spec})")


def test_every_word_goes_together_with_some_other() -> None:
    cls = atkay.list_metrics()["serendipity"]
    found = [metric for metric in every_variant(3) if metric.name == "serendipity"]
    for each in conventions(cls):
        assert {getattr(metric, each.name) for metric in found} == set(words_of(each))


def test_what_needs_no_relevant_item_has_no_direction() -> None:
    assert atkay.parse("serendipity(kind=unexpectedness)").better == "neither"
    assert atkay.parse("serendipity@2").better == "higher"


def serendipity(m: Any, u: User, top: list[int], k: int) -> float:
    if m.kind == "cosine" and not u.had:
        return NAN
    unexpected = [item for item in top if item not in u.base]
    if not u.listed:
        return NAN if m.kind == "unexpectedness" else 0.0
    per = {"listed": len(top), "k": k, "unexpected": len(unexpected)}[m.per]
    if m.kind == "unexpectedness":
        return len(unexpected) / per
    n, total, hits = len(CATALOG), 0.0, 0
    levels = sorted({count for count in u.n.values() if count}, reverse=True)
    for rank, item in enumerate(top, 1):
        if item not in u.relevant:
            continue
        hits += 1
        if m.kind in ("murakami", "rectools"):
            reference = 0.0
            if m.kind == "murakami" and item in u.base:
                reference = (n + 1 - (u.base.index(item) + 1)) / n
            if m.kind == "rectools" and u.n[item]:
                reference = (n + 1 - (levels.index(u.n[item]) + 1)) / n
            worth = max((n + 1 - rank) / n - max(reference, 0), 0)
            total += worth * hits / rank if m.form == "ranked" else worth
        elif m.kind == "cosine":
            total += 1 - mean([u.cosine(item, other, m.similarity) for other in u.had])
        else:
            total += item not in u.base
    return total / per if per else 0.0


@tables
def test_every_value_is_that_of_the_oracle(**given: Any) -> None:
    check("serendipity", serendipity, **given)
