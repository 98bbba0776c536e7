"""AUC: worked values, and plain loops."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

import atkay
from atkay.errors import SpecError
from variants import ListsAndGrades, anchored, lists_and_grades, mean, relevant


def pairs(listed: list[int], relevant: set[int], unlisted: str) -> tuple[int, int]:
    """The pairs in the right order, and all."""
    right = every = 0
    for one in relevant if unlisted == "last" else relevant & set(listed):
        for other in listed:
            if other not in relevant:
                every += 1
                right += one in listed and listed.index(one) < listed.index(other)
    return right, every


@given(lists_and_grades)
def test_against_plain_loops(users: ListsAndGrades) -> None:
    recs, truth = anchored(users)
    for unlisted in ("last", "skip"):
        specs = [f"auc(unlisted={unlisted})", f"auc(unlisted={unlisted},average=pooled)"]
        result = atkay.evaluate(recs, truth, specs)
        counts = [pairs(recs[user], relevant(truth[user]), unlisted) for user in result.ids["user"].to_list()]
        values = [right / every if every else math.nan for right, every in counts]
        assert result.query_values[:, 0].tolist() == pytest.approx(values, nan_ok=True)
        assert result[specs[0]] == pytest.approx(mean(values), nan_ok=True)
        right, every = (sum(side) for side in zip(*counts, strict=True))
        assert result[specs[1]] == pytest.approx(right / every if every else math.nan, nan_ok=True)


def test_auc_by_hand() -> None:
    # Ann: a and b at ranks 2 and 4 of 5, c not listed. Irrelevant: ranks 1, 3, 5. Right: (a, 3), (a, 5), (b, 5).
    # Bob has nothing irrelevant, Cat no list.
    recs = {"ann": ["x", "a", "y", "b", "z"], "bob": ["a"]}
    truth = {"ann": ["a", "b", "c"], "bob": ["a"], "cat": ["a"]}
    result = atkay.evaluate(recs, truth, ["auc", "auc(unlisted=skip)"])
    assert result["auc"] == pytest.approx(3 / 9)
    assert result["auc(unlisted=skip)"] == 3 / 6
    assert result.summaries["auc"].users == 1
    assert result.summaries["auc"].undefined == 2


def test_users_without_a_pair() -> None:
    # Ann has one pair, in the right order; Bob has none.
    recs, truth = {"ann": ["a", "x"], "bob": ["a"]}, {"ann": ["a"], "bob": ["a"]}
    result = atkay.evaluate(recs, truth, ["auc", "auc(no_pair=zero)", "auc(no_pair=zero,average=pooled)"])
    assert list(result.to_dict().values()) == pytest.approx([1, (1 + 0) / 2, 1])
    assert result.definitions["auc(no_pair=zero)"].words.endswith(", 0 where there is none; mean over users")


def test_takes_no_cutoff() -> None:
    with pytest.raises(SpecError, match="auc takes no cutoff: write 'auc' without '@'"):
        atkay.parse("auc@10")
