"""AUC, group AUC, median rank and mean percentile rank: worked values, Krichene and Rendle's table, and plain loops."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given

import atkay
from atkay.errors import SpecError
from variants import ListsAndGrades, lists_and_grades

N = 10_000
RANKS = {"A": [100] * 5, "B": [40, 40, 8437, 9266, 4482], "C": [212, 2, 743, 5342, 1548]}


@pytest.mark.parametrize(
    ("system", "auc", "ap", "ndcg", "recall"),
    [("A", 0.990, 0.010, 0.150, 0), ("B", 0.555, 0.010, 0.122, 0), ("C", 0.843, 0.101, 0.208, 0.2)],
)
def test_krichene_and_rendle(system: str, auc: float, ap: float, ndcg: float, recall: float) -> None:
    # User u has one relevant item, at the given rank of N. AUC is the mean of (N - rank) / (N - 1).
    ranks = RANKS[system]
    lists = np.tile(np.arange(1, N + 1), (len(ranks), 1))
    result = atkay.evaluate(
        lists, np.array(ranks)[:, None], ["auc", "group_auc", "map", "ndcg", "recall@10", "median_rank", "mpr"]
    )
    assert result["auc"] == pytest.approx(sum((N - rank) / (N - 1) for rank in ranks) / 5, abs=1e-12)
    assert result["auc"] == pytest.approx(auc, abs=5e-4)
    assert result["group_auc"] == pytest.approx(result["auc"], abs=1e-12)
    assert result["map"] == pytest.approx(sum(1 / rank for rank in ranks) / 5, abs=1e-12)
    assert result["map"] == pytest.approx(ap, abs=5e-4)
    assert result["ndcg"] == pytest.approx(sum(1 / math.log2(rank + 1) for rank in ranks) / 5, abs=1e-12)
    assert result["ndcg"] == pytest.approx(ndcg, abs=5e-4)
    assert result["recall@10"] == recall
    assert result["median_rank"] == sorted(ranks)[2]
    assert result["mpr"] == pytest.approx(1 - result["auc"], abs=1e-12)  # (rank - 1) / (N - 1)


def pairs(listed: list[int], relevant: set[int], unlisted: str) -> tuple[int, int]:
    """The pairs in the right order, and all."""
    right = every = 0
    for wanted in relevant if unlisted == "last" else relevant & set(listed):
        for other in listed:
            if other not in relevant:
                every += 1
                right += wanted in listed and listed.index(wanted) < listed.index(other)
    return right, every


def percentiles(listed: list[int], grades: dict[int, float], gain: str, unlisted: str) -> tuple[float, float]:
    above = below = 0.0
    for item, grade in grades.items():
        weight = (1.0 if gain == "binary" else grade) if grade else 0.0
        if item in listed:
            above += weight * (listed.index(item) / (len(listed) - 1) if len(listed) > 1 else 0)
            below += weight
        elif unlisted == "last":
            above, below = above + weight, below + weight
    return above, below


def ratio(above: float, below: float) -> float | None:
    return above / below if below else None


@given(lists_and_grades)
def test_against_plain_loops(found: ListsAndGrades) -> None:
    found = {**found, 99: ([1, 0, 2], {0: 1.0})}
    found = {user: one for user, one in found.items() if any(one[1].values())}  # others do not count
    specs = [
        *(f"auc(unlisted={word},average={over})" for word in ("last", "skip") for over in ("users", "pooled")),
        *(f"group_auc(unlisted={u},weight={w})" for u in ("last", "skip") for w in ("listed", "relevant", "pairs")),
        *(f"mpr(gain={g},unlisted={u},average={over})" for g in ("linear", "binary") for u in ("last", "skip")
          for over in ("users", "pooled")),
        *(f"median_rank(missed={word}){cut}" for word in ("beyond", "last", "skip") for cut in ("", "@1", "@3")),
    ]  # fmt: skip
    metrics = {spec: atkay.parse(spec) for spec in specs}
    recs = {user: listed for user, (listed, _) in found.items()}
    result = atkay.evaluate(recs, {user: grades for user, (_, grades) in found.items()}, list(metrics.values()))
    rows = {row["user"]: row for row in result.per_query.to_dicts()}
    assert set(rows) == set(found)
    for unlisted in ("last", "skip"):
        parts: list[tuple[int, int]] = []
        weights: dict[str, list[int]] = {"listed": [], "relevant": [], "pairs": []}
        for user, (listed, grades) in found.items():
            relevant = {item for item, grade in grades.items() if grade}
            right, every = pairs(listed, relevant, unlisted)
            value = ratio(right, every)
            for spec in (f"auc(unlisted={unlisted})", f"group_auc(unlisted={unlisted})"):
                assert rows[user][str(atkay.parse(spec))] == pytest.approx(value)
            if every:
                parts.append((right, every))
                for name, weight in zip(weights, (len(listed), len(relevant), every), strict=True):
                    weights[name].append(weight)
        values = [right / every for right, every in parts]
        total = [sum(one) for one in zip(*parts, strict=True)] or [0, 0]
        pooled = ratio(*total)
        mean = statistics.fmean(values) if values else None
        assert number(result, f"auc(unlisted={unlisted})") == pytest.approx(mean)
        assert number(result, f"auc(unlisted={unlisted},average=pooled)") == pytest.approx(pooled)
        for name, of_user in weights.items():
            weighted = ratio(sum(w * v for w, v in zip(of_user, values, strict=True)), sum(of_user))
            assert number(result, f"group_auc(unlisted={unlisted},weight={name})") == pytest.approx(weighted)
        for gain in ("linear", "binary"):
            shares = {user: percentiles(*one, gain, unlisted) for user, one in found.items()}
            for user, share in shares.items():
                assert rows[user][str(metrics[f"mpr(gain={gain},unlisted={unlisted},average=users)"])] == pytest.approx(
                    ratio(*share)
                )
            summed = ratio(sum(above for above, _ in shares.values()), sum(below for _, below in shares.values()))
            assert number(result, f"mpr(gain={gain},unlisted={unlisted})") == pytest.approx(summed)
    for missed in ("beyond", "last", "skip"):
        for k in (None, 1, 3):
            ranks: list[float] = []
            for listed, grades in found.values():
                hits = [rank for rank, item in enumerate(listed[:k], 1) if grades.get(item)]
                last = k + 1 if k else len(listed) + 1 if listed else math.inf
                ranks += hits[:1] or {"beyond": [math.inf], "last": [last], "skip": []}[missed]
            median = statistics.median(ranks) if ranks else math.inf
            value = number(result, f"median_rank(missed={missed})" + ("" if k is None else f"@{k}"))
            assert value == (None if math.isinf(median) else median)


def number(result: atkay.Result, spec: str) -> float | None:
    return None if math.isnan(result[spec]) else result[spec]


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
    # Ann has one pair, in the right order; Bob has none. With their listed items as weights: (2 * 1 + 1 * 0) / 3.
    recs, truth = {"ann": ["a", "x"], "bob": ["a"]}, {"ann": ["a"], "bob": ["a"]}
    specs = ["auc", "auc(no_pair=zero)", "auc(no_pair=zero,average=pooled)", "group_auc(no_pair=zero)", "group_auc"]
    result = atkay.evaluate(recs, truth, specs)
    assert list(result.to_dict().values()) == pytest.approx([1, 1 / 2, 1, 2 / 3, 1])
    assert result.definitions["auc(no_pair=zero)"].words.endswith(", 0 where there is none; mean over users")


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


def test_median_rank_by_hand() -> None:
    recs = {1: ["a"], 2: ["x", "a"], 3: ["x", "y", "z"], 4: ["x", "y", "a"]}
    truth = {1: ["a"], 2: ["a"], 3: ["a"], 4: ["a"]}
    specs = ["median_rank", "median_rank(missed=last)", "median_rank(missed=skip)", "median_rank@2"]
    specs += ["median_rank(missed=last)@2", "median_rank(missed=skip)@1", "median_rank(missed=last)@10"]
    result = atkay.evaluate(recs, truth, specs)
    # Ranks 1, 2, 3 and a miss. The middle of 1 2 3 miss is (2 + 3) / 2, of 1 2 3 it is 2; at 2: 1, 2, miss, miss.
    assert [result[spec] for spec in specs] == pytest.approx([2.5, 2.5, 2, math.nan, (2 + 3) / 2, 1, 2.5], nan_ok=True)
    # Without Bob: 1, 3, and the miss at 4 below a list of three, or at 11 below ten places.
    del recs[1], recs[2], truth[1], truth[2]
    result = atkay.evaluate(recs, truth, ["median_rank(missed=last)", "median_rank(missed=last)@10"])
    assert list(result.to_dict().values()) == [(3 + 4) / 2, (3 + 11) / 2]


def test_an_empty_list_does_not_rank_first() -> None:
    truth = {1: ["a"], 2: ["a"], 3: ["a"]}
    assert math.isnan(atkay.evaluate({1: ["a"]}, truth, "median_rank(missed=last)")["median_rank(missed=last)"])


def test_success_is_a_name_of_hit() -> None:
    assert str(atkay.parse("success@10")) == "hit@10"


def test_mpr_by_hand() -> None:
    # Places 1 and 5 of 5 with grades 1 and 3, and grade 4 not listed: (1 * 0 + 3 * 1 + 4 * 1) / 8.
    found = {1: ["a", "x", "y", "z", "b"]}, {1: {"a": 1, "b": 3, "c": 4}}
    specs = ["mpr", "mpr(unlisted=skip)", "mpr(gain=binary)", "mpr(gain=binary,unlisted=skip)"]
    assert list(atkay.evaluate(*found, specs).to_dict().values()) == [7 / 8, 3 / 4, 2 / 3, 1 / 2]


@pytest.mark.parametrize("name", ["auc", "group_auc", "mpr"])
def test_takes_no_cutoff(name: str) -> None:
    with pytest.raises(SpecError, match=f"{name} takes no cutoff: write '{name}' without '@'"):
        atkay.parse(f"{name}@10")
