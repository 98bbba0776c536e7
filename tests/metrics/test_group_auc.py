"""Group AUC: worked values, and the weighted mean of the users' AUC."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

import atkay
from atkay.errors import SpecError
from variants import ListsAndGrades, anchored, lists_and_grades, relevant


@given(lists_and_grades)
def test_the_weighted_mean_of_auc(users: ListsAndGrades) -> None:
    recs, truth = anchored(users)
    for unlisted in ("last", "skip"):
        specs = {
            weight: f"group_auc(unlisted={unlisted},weight={weight})" for weight in ("listed", "relevant", "pairs")
        }
        auc = str(atkay.parse(f"auc(unlisted={unlisted})"))
        result = atkay.evaluate(recs, truth, [*specs.values(), auc])
        values = result.per_query[auc].to_list()
        for weight, spec in specs.items():
            total = weights = 0.0
            for user, value in zip(result.ids["user"].to_list(), values, strict=True):
                listed, hits = recs[user], relevant(truth[user])
                irrelevant = len(set(listed) - hits)
                counted = len(hits if unlisted == "last" else hits & set(listed))
                w = {"listed": len(listed), "relevant": len(hits), "pairs": counted * irrelevant}[weight]
                if value is not None and not math.isnan(value):
                    total, weights = total + w * value, weights + w
            assert result[spec] == pytest.approx(total / weights if weights else math.nan, nan_ok=True)


def test_group_auc_weighs_by_impressions() -> None:
    # AUC 1 with 2 impressions, 1 click and 1 pair; AUC 1/2 with 4 impressions, 2 clicks and 4 pairs.
    recs, truth = {1: ["a", "x"], 2: ["x", "a", "b", "y"]}, {1: ["a"], 2: ["a", "b"]}
    specs = ["group_auc", "group_auc(weight=relevant)", "group_auc(weight=pairs)", "group_auc(average=users)"]
    result = atkay.evaluate(recs, truth, [*specs, "auc(average=pooled)"])
    assert [result[spec] for spec in specs] == pytest.approx(
        [(2 * 1 + 4 / 2) / 6, (1 * 1 + 2 / 2) / 3, (1 * 1 + 4 / 2) / 5, 3 / 4]
    )
    assert result["auc(average=pooled)"] == result["group_auc(weight=pairs)"]
    assert "users weighing by their number of listed items" in result.definitions["group_auc"].words


def test_users_without_a_pair() -> None:
    # Ann has one pair, in the right order; Bob has none. With their listed items as weights: (2 * 1 + 1 * 0) / 3.
    recs, truth = {"ann": ["a", "x"], "bob": ["a"]}, {"ann": ["a"], "bob": ["a"]}
    result = atkay.evaluate(recs, truth, ["group_auc(no_pair=zero)", "group_auc"])
    assert list(result.to_dict().values()) == pytest.approx([2 / 3, 1])


def test_takes_no_cutoff() -> None:
    with pytest.raises(SpecError, match="group_auc takes no cutoff: write 'group_auc' without '@'"):
        atkay.parse("group_auc@10")
