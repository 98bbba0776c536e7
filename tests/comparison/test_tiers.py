"""Tiers and intervals of ranks: by hand, from the definition, and what is shown and saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atkay
from atkay.comparison.ranks import rarity, significant
from atkay.errors import NumberError, SourceError
from atkay.results.save import seal
from made import result

UNITS = 8
NOISE = np.array([0.01, -0.02, 0.03, -0.04, 0.05, -0.06, 0.07, -0.08])  # sums to -0.04


def board(**columns: Any) -> dict[str, atkay.Result]:
    return {name: result(values) for name, values in columns.items()}


@pytest.fixture
def three() -> dict[str, atkay.Result]:
    """``c`` is below the others for all 8 users: p = 2 / 2^8, times 3 pairs 0.023; ``a`` and ``b`` cross."""
    low = np.linspace(0.1, 0.2, UNITS)
    return board(c=low, b=low + 0.5 + NOISE, a=low + 0.5)


def test_tiers_by_hand(three: dict[str, atkay.Result]) -> None:
    found = atkay.compare(three, test="permutation")
    assert [d.p["permutation"] for d in found if "c" in (d.run, d.against)] == [2 / 2**8] * 2
    assert found.tiers["mrr"] == (("a", "b"), ("c",))
    assert found.rank_intervals["mrr"] == {"a": (1, 1, 2), "b": (2, 1, 2), "c": (3, 3, 3)}


def test_a_tier_is_that_of_its_best_run() -> None:
    # c is below b for everybody, but a, the best, differs from c by more than it varies for too few users.
    low = np.linspace(0.1, 0.2, UNITS)
    found = atkay.compare(board(a=low + 0.1 + 10 * NOISE + 0.05, b=low + 0.05 + NOISE / 10, c=low), test="permutation")
    (worse,) = [d for d in found if d.significant]
    assert (worse.against, worse.run) == ("b", "c")
    assert found.tiers["mrr"] == (("a", "b", "c"),)
    # From b on, which begins no tier here, c would be one by itself.
    two = atkay.compare({name: found.results[name] for name in "bc"}, test="permutation")
    assert two.tiers["mrr"] == (("b",), ("c",))


@pytest.mark.parametrize("test", ["t", "permutation", "tukey", "bootstrap", ("wilcoxon", "t")])
@pytest.mark.filterwarnings("ignore::atkay.errors.NotMeanWarning")
def test_a_baseline_changes_no_tier(test: Any) -> None:
    rng = np.random.default_rng(3)
    runs = board(**{name: rng.random(60) + at for name, at in zip("abcd", (0, 0.05, 0.4, 0.42), strict=True)})
    every, against = (atkay.compare(runs, baseline=base, test=test, permutations=999) for base in (None, "b"))
    assert every.tiers["mrr"] == against.tiers["mrr"]
    assert [{*tier} for tier in every.tiers["mrr"]] == [{"c", "d"}, {"a", "b"}]
    assert every.rank_intervals == against.rank_intervals
    assert len(against) == 3  # the differences are those with the baseline


def test_lower_is_better_and_ties_share_a_rank() -> None:
    recs = {user: ["x", "a", "b"] for user in range(6)}
    found = atkay.compare(
        {"late": {user: ["x", "y", "z", "a"] for user in range(6)}, "one": recs, "two": recs},
        {user: ["a"] for user in range(6)},
        ["mean_rank", "mrr"],
    )
    for metric in ("mean_rank", "mrr"):
        # Everybody moves by the same amount: t has no spread to judge by, 2 / 2^6 times 6 is not below 0.05.
        assert found.tiers[metric] == (("one", "two", "late"),)
        assert [each.rank for each in found.rank_intervals[metric].values()] == [1, 1, 3]


def test_what_has_no_direction_or_no_test_has_none() -> None:
    truth, catalog = {1: ["a"], 2: ["b"], 3: ["c"]}, list("abcd")
    runs = {name: {1: ["a"], 2: [other], 3: ["c"]} for name, other in (("x", "a"), ("y", "b"), ("z", "c"))}
    found = atkay.compare(runs, truth, ["coverage@1", "median_rank@1", "mrr"], catalog=catalog)
    assert list(found.tiers) == list(found.rank_intervals) == ["mrr"]
    for numbers in (found.tiers, found.rank_intervals):
        with pytest.raises(NumberError, match=r"'coverage@1' has no direction, or was not tested; this .* has"):
            _ = numbers["coverage@1"]
    assert "tier" not in repr(atkay.compare(runs, truth, "coverage@1", catalog=catalog))


def test_two_runs_have_the_ranks_of_their_test() -> None:
    rng = np.random.default_rng(2)
    for shift in np.linspace(0, 0.3, 30):
        found = atkay.compare(board(a=rng.random(40), b=rng.random(40) + shift), test="t")
        (pair,), intervals = found, found.rank_intervals["mrr"]
        assert {each.high - each.low for each in intervals.values()} == {0 if pair.significant else 1}


def test_step_down() -> None:
    # Of 99 samples, one in 33 of the first pair is far away, and all of the second lie at their difference.
    away = np.zeros((99, 2))
    away[:3, 0] = [1, -2, 3]
    tails = rarity(away)
    assert tails[:4, 0].tolist() == pytest.approx([3 / 99, 2 / 99, 1 / 99, 1])
    assert (tails[:, 1] == 1).all()
    # 0.001 is reached by no sample: (0 + 1) / 100 < 0.05. By 3 / 99 three samples are: 4 / 100.
    assert significant(np.array([0.001, 1.0]), tails).tolist() == [True, False]
    assert significant(np.array([3 / 99 + 1e-9, 1.0]), tails).tolist() == [True, False]
    # Two pairs are one family: 0.03 is reached by 6 of 99 samples, 7 / 100. Once the second is decided, it leaves.
    both = np.column_stack([away[:, 0], away[::-1, 0]])
    assert significant(np.array([3 / 99 + 1e-9, 1.0]), rarity(both)).tolist() == [False, False]
    assert significant(np.array([3 / 99 + 1e-9, 0.001]), rarity(both)).tolist() == [True, True]


def test_users_of_some_runs() -> None:
    rng = np.random.default_rng(5)
    base = rng.random(50)
    runs = board(a=base, b=np.where(np.arange(50) < 5, np.nan, base + 1 + rng.random(50) / 10), c=np.full(50, np.nan))
    found = atkay.compare(runs, baseline="a")
    assert found.tiers["mrr"] == (("b",), ("a",))
    assert found.rank_intervals["mrr"] == {"b": (1, 1, 1), "a": (2, 2, 2)}


def test_medians_have_tiers() -> None:
    rng = np.random.default_rng(8)
    truth, lists = {user: ["a"] for user in range(40)}, {}
    for name, most in (("low", 8), ("mid", 8), ("high", 2)):
        place = rng.integers(0, most, 40)
        lists[name] = {user: [f"x{at}" for at in range(place[user])] + ["a"] for user in range(40)}
    found = atkay.compare(
        lists, truth, "mrr", aggregate="median", test="bootstrap", interval="percentile", permutations=999
    )
    assert found.tiers["mrr"][0] == ("high",)
    assert found.rank_intervals["mrr"]["high"] == (1, 1, 1)


def test_equal_runs_share_a_tier() -> None:
    rng = np.random.default_rng(6)
    one_tier, held = [], []
    for _ in range(40):
        found = atkay.compare(
            board(**{f"r{at}": rng.exponential(1, 30) for at in range(6)}), test="t", permutations=499
        )
        one_tier.append(len(found.tiers["mrr"]) == 1)
        held += [(each.low, each.high) == (1, 6) for each in found.rank_intervals["mrr"].values()]
    assert np.mean(one_tier) > 0.9
    assert 0.9 < np.mean(held) < 1


def test_shown(three: dict[str, atkay.Result]) -> None:
    found = atkay.compare(three, test="permutation", baseline="c")
    assert "metric  tier 1  tier 2\n──────────────────────\nmrr     a, b    c" in repr(found)
    assert "every pair of runs tested, corrected p < 0.05" in repr(found)
    assert "| mrr    | a, b   | c      |" in found.to_markdown()
    assert "tier" not in repr(atkay.compare({name: three[name] for name in "ac"}))
    assert found.rank_table.columns == ["metric", "run", "mean", "tier", "rank", "rank_low", "rank_high"]
    assert [row[3:] for row in found.rank_table.rows()] == [(1, 1, 1, 2), (1, 2, 1, 2), (2, 3, 3, 3)]


def test_saved(three: dict[str, atkay.Result], tmp_path: Path) -> None:
    found = atkay.compare(three, test="permutation", baseline="c")
    found.save(tmp_path / "c.json")
    again = atkay.Comparison.load(tmp_path / "c.json")
    assert again.tiers == found.tiers
    assert again.rank_intervals == found.rank_intervals
    assert repr(again) == repr(found)
    content = found.to_dict()
    assert content["tiers"] == {"mrr": [["a", "b"], ["c"]]}
    assert content["rank_intervals"]["mrr"]["c"] == {"rank": 3, "low": 3, "high": 3}
    wrong: tuple[dict[str, Any], ...] = (
        {"tiers": {"mrr": [["b", "a"], ["c"]]}},
        {"tiers": {}},
        {"rank_intervals": {"mrr": {}}},
        {"rank_intervals": json.loads(json.dumps(content["rank_intervals"]).replace('"high": 3', '"high": 4'))},
    )
    for broken in wrong:
        (tmp_path / "b.json").write_bytes(seal("comparison", content | broken))
        with pytest.raises(SourceError, match=f"inconsistent: .*{next(iter(broken))}"):
            atkay.Comparison.load(tmp_path / "b.json")
