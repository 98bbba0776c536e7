"""Who counts, and how lists are read: every field, every word."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import atkay
from atkay import Protocol
from atkay.errors import OverlapWarning, PopulationError, ProtocolError

# A: a hit at rank 1 of 2. B: truth, no list. C: a list, no truth. D: a list, truth without a relevant item.
RECS = {"A": ["a", "x"], "C": ["a"], "D": ["a"]}
TRUTH = {"A": {"a": 1}, "B": {"a": 1}, "D": {"a": 0}}


@pytest.mark.parametrize(
    ("words", "users", "mean"),
    [
        ({}, 2, (1 + 0) / 2),
        ({"no_recs": "skip"}, 1, 1),
        ({"no_truth": "zero"}, 4, (1 + 0 + 0 + 0) / 4),
        ({"no_truth": "one"}, 4, (1 + 0 + 1 + 1) / 4),
        ({"no_recs": "skip", "no_truth": "zero"}, 3, (1 + 0 + 0) / 3),
    ],
)
def test_who_counts(words: dict[str, Any], users: int, mean: float) -> None:
    result = atkay.evaluate(RECS, TRUTH, "mrr", **words)
    assert result["mrr"] == pytest.approx(mean)
    assert result.summaries["mrr"].users == users == result.population.evaluated
    assert result.population.without_list == 1
    assert result.population.without_truth == 2
    assert result.protocol == Protocol(**words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {"no_recs": "error"},
            "1 user with truth but no list, user 'B' for example; the protocol says no_recs='error'",
        ),
        ({"no_truth": "error"}, "2 users with a list but no relevant item, user 'C' for example"),
    ],
)
def test_who_counts_error(words: dict[str, Any], message: str) -> None:
    with pytest.raises(PopulationError) as caught:
        atkay.evaluate(RECS, TRUTH, "mrr", **words)
    assert message in str(caught.value)


def test_nobody_left() -> None:
    with pytest.raises(PopulationError, match="no user to evaluate"):
        atkay.evaluate({1: ["a"]}, {1: {"a": 1}}, "mrr", min_relevance=2)
    with pytest.raises(PopulationError, match="no user to evaluate"):
        atkay.evaluate({1: ["a"]}, {1: {"a": 0}}, "mrr")


TIED = {1: {"c": 1.0, "a": 1.0, "b": 1.0, "z": 9.0}}
GRADES = {1: {"a": 1, "b": 2}}


@pytest.mark.parametrize(
    ("ties", "order"),
    [
        ("given", "zcab"),
        ("reversed", "zbac"),
        ("item", "zabc"),
        ("item_desc", "zcba"),
        ("best", "zbac"),
        ("worst", "zcab"),
    ],
)
def test_ties(ties: Any, order: str) -> None:
    """The ranks of a and b tell the order."""
    result = atkay.evaluate(TIED, GRADES, ["mrr", "mrr(target=best)"], ties=ties)
    first = min(order.index("a"), order.index("b")) + 1
    assert result["mrr"] == 1 / first
    assert result["mrr(target=best)"] == 1 / (order.index("b") + 1)
    assert result.population.tied == 3


def test_worst_puts_the_lower_grade_first() -> None:
    result = atkay.evaluate({1: {"b": 1, "a": 1}}, GRADES, "mrr(target=best)", ties="worst")
    assert result["mrr(target=best)"] == 1 / 2


def test_ties_of_integers_as_items() -> None:
    recs = {1: {10: 1.0, 9: 1.0}}
    assert atkay.evaluate(recs, {1: [9]}, "mrr", ties="item")["mrr"] == 1
    assert atkay.evaluate(recs, {1: [9]}, "mrr", ties="item_desc")["mrr"] == 0.5


def constant_scorer(users: int, items: int) -> pl.DataFrame:
    frame = pl.DataFrame({"user": np.repeat(np.arange(users), items), "item": np.tile(np.arange(items), users)})
    return frame.with_columns(score=pl.lit(0.5))


def test_random_ties_are_uniform_and_depend_on_user_item_and_seed_alone() -> None:
    recs, truth = constant_scorer(2000, 5), pl.DataFrame({"user": np.arange(2000), "item": np.zeros(2000, int)})
    result = atkay.evaluate(recs, truth, ["mrr", "hit@1"], ties="random")
    # Uniform over five places: E[1/rank] = (1 + 1/2 + 1/3 + 1/4 + 1/5) / 5, and each place with probability 1/5.
    assert result["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5, abs=0.02)
    assert result["hit@1"] == pytest.approx(1 / 5, abs=0.03)
    shuffled = recs.sample(fraction=1, shuffle=True, seed=4)
    assert atkay.evaluate(shuffled, truth, ["mrr", "hit@1"], ties="random").table.equals(result.table)
    half = recs.filter(pl.col("user") < 1000)
    part = atkay.evaluate(half, truth, "mrr", ties="random", no_recs="skip").per_query
    assert part["mrr"].equals(result.per_query["mrr"][:1000])
    other = atkay.evaluate(recs, truth, "mrr", ties="random", seed=1)
    assert not other.per_query["mrr"].equals(result.per_query["mrr"])


def test_random_ties_of_text_ids_stay_the_same_in_every_version() -> None:
    """The order follows from splitmix64 of the ids' bytes, not from a hash that another version may change."""
    recs = {"ann": dict.fromkeys("abcdefgh", 1.0)}
    ranks = [atkay.evaluate(recs, {"ann": [item]}, "mrr", ties="random")["mrr"] for item in "abcdefgh"]
    assert sorted(ranks) == [1 / place for place in range(8, 0, -1)]
    assert max("abcdefgh", key=lambda item: ranks["abcdefgh".index(item)]) == min("abcdefgh", key=by_hand)


def by_hand(item: str) -> int:
    """The tie's key, from the definition in plain integers."""
    wrap = (1 << 64) - 1

    def mix(bits: int) -> int:
        bits = (bits + 0x9E3779B97F4A7C15) & wrap
        bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & wrap
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & wrap
        return bits ^ (bits >> 31)

    def of_text(text: str) -> int:
        data = text.encode()
        total = sum((byte + 1) * pow(0x100000001B3, at, 1 << 64) for at, byte in enumerate(data, start=1))
        return mix((total & wrap) ^ len(data))

    user = mix(0 ^ of_text("ann"))
    return mix(mix(0 ^ user) ^ of_text(item))


def test_duplicates_first_keeps_the_better_rank_and_the_first_truth() -> None:
    recs = pl.DataFrame({"user": [1, 1, 1, 1], "item": ["x", "a", "b", "a"], "score": [0.9, 0.1, 0.5, 0.7]})
    truth = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "a"], "relevance": [2.0, 1.0, 3.0]})
    # The list is x a b: the second "a" of the input has the better score. The truth is a: 2, b: 1.
    result = atkay.evaluate(recs, truth, ["dcg(gain=linear)", "recall"], duplicates="first")
    assert result["dcg(gain=linear)"] == pytest.approx(2 / np.log2(3) + 1 / np.log2(4))
    assert result["recall"] == 1
    assert result.population.duplicated == 1


@pytest.mark.parametrize(("least", "recall"), [(None, 2 / 3), (1, 2 / 3), (2, 1 / 2), (3, 1)])
def test_min_relevance(least: float | None, recall: float) -> None:
    # Grades 3, 2, 1; listed are the items of grade 3 and 1.
    recs, truth = {1: ["a", "c", "x"]}, {1: {"a": 3, "b": 2, "c": 1, "x": 0}}
    assert atkay.evaluate(recs, truth, "recall", min_relevance=least)["recall"] == pytest.approx(recall)


def test_min_relevance_takes_the_gain_as_well() -> None:
    result = atkay.evaluate({1: ["c", "a"]}, {1: {"a": 3, "c": 1}}, "dcg", min_relevance=2)
    assert result["dcg"] == pytest.approx(7 / np.log2(3))


def test_unjudged_items_are_dropped_before_ranking() -> None:
    recs, truth = {1: ["u", "n", "v", "r"]}, {1: {"n": 0, "r": 1}}
    assert atkay.evaluate(recs, truth, "mrr")["mrr"] == 1 / 4
    result = atkay.evaluate(recs, truth, "mrr", unjudged="drop")
    assert result["mrr"] == 1 / 2
    assert result.population.unjudged == 2


def test_exclusions_come_before_the_cut() -> None:
    recs = {1: ["s1", "s2", "a", "b"]}
    result = atkay.evaluate(recs, {1: ["a", "b"]}, ["precision@2"], exclude={1: ["s1", "s2", "never listed"], 7: ["a"]})
    assert result["precision@2"] == 1
    assert result.population.excluded == 2


def test_exclusions_hold_for_their_user_alone() -> None:
    result = atkay.evaluate({1: ["a"], 2: ["a"]}, {1: ["a"], 2: ["a"]}, "mrr", exclude={1: ["a"]})
    assert result.per_query["mrr"].to_list() == [0, 1]
    assert result.population.emptied == 1


def test_a_list_of_which_nothing_is_left_is_still_a_list() -> None:
    given: dict[str, Any] = {"exclude": {1: ["a"]}, "no_recs": "skip"}
    result = atkay.evaluate({1: ["a"], 2: ["a"]}, {1: ["a"], 2: ["a"]}, "mrr", **given)
    assert result["mrr"] == 0.5


def test_candidates() -> None:
    recs = {1: ["x", "a"], 2: ["x", "a"]}
    truth = {1: ["a"], 2: ["a"]}
    result = atkay.evaluate(recs, truth, "mrr", candidates={1: ["a"], 2: ["x", "a"]})
    assert result.per_query["mrr"].to_list() == [1, 0.5]
    assert result.population.outside == 1
    assert atkay.evaluate(recs, truth, "mrr", candidates=["a", "b"])["mrr"] == 1
    with pytest.warns(
        OverlapWarning, match=r"every list is empty: all 4 listed items were removed \(4 by candidates\)"
    ):
        assert atkay.evaluate(recs, truth, "mrr", candidates=[])["mrr"] == 0


def test_ranks_are_counted_again_after_exclusions() -> None:
    recs = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "s", "b"], "rank": [3, 1, 2]})
    assert atkay.evaluate(recs, {1: ["b"]}, "mrr", exclude={1: ["s"]})["mrr"] == 1


def test_average_over_a_column_of_the_truth() -> None:
    # Sessions s1 and s2 are Ann's, s3 is Bob's. Hits: 1, 0, 1.
    recs = {"s1": ["a"], "s2": ["x"], "s3": ["a"]}
    truth = pl.DataFrame(
        {"session_id": ["s1", "s2", "s2", "s3"], "item": ["a", "b", "c", "a"], "who": ["ann"] * 3 + ["bob"]}
    )
    result = atkay.evaluate(recs, truth, ["hit@1", "hit(average=pooled)@1"], average_over="who")
    assert result["hit@1"] == pytest.approx(((1 + 0) / 2 + 1) / 2)
    assert result["hit(average=pooled)@1"] == pytest.approx(2 / 3)
    assert result.summaries["hit@1"].users == 2
    assert len(result.per_query) == 3
    assert "queries are averaged per who first" in repr(result)
    assert "mean over the queries of each who, then over all" in result.definitions["hit@1"].words


def test_average_over_needs_one_group_per_query() -> None:
    truth = pl.DataFrame({"session_id": ["s1", "s1"], "item": ["a", "b"], "who": ["ann", "bob"]})
    with pytest.raises(atkay.errors.InputError, match="average_over: 'who' differs between rows of user 's1'"):
        atkay.evaluate({"s1": ["a"]}, truth, "mrr", average_over="who")
    with pytest.raises(atkay.errors.InputError, match="average_over: truth has no column 'whom'"):
        atkay.evaluate({"s1": ["a"]}, truth, "mrr", average_over="whom")
    truth = truth.with_columns(who=pl.lit("ann"))
    with pytest.raises(atkay.errors.InputError, match="user 's2' has no 'who'"):
        atkay.evaluate({"s1": ["a"], "s2": ["a"]}, truth, "mrr", average_over="who", no_truth="zero")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"ties": "optimistic"}, "protocol: unknown value 'optimistic' for ties; choose given, item,"),
        ({"no_recs": None}, "protocol: unknown value None for no_recs"),
        ({"tie": "item"}, "evaluate: no argument 'tie'. Did you mean 'ties'?"),
        (
            {"min_relevance": -1},
            "min_relevance is the lowest grade that counts as relevant, a finite number of at least 0; got -1",
        ),
        ({"min_relevance": "high"}, "got 'high'"),
        ({"seed": 1.5}, "seed must be an integer"),
        ({"seed": np.array(5)}, "seed must be an integer"),
        ({"depth": np.array([5])}, "depth must be a positive integer"),
        ({"k": 10}, "the cutoff is part of the metric: write 'ndcg@10'"),
        ({"metric": "mrr"}, "evaluate: no argument 'metric'. Did you mean 'metrics'?"),
        ({"protocol": {"ties": "item"}}, "protocol must be a Protocol(...), got {'ties': 'item'}"),
        ({"min_relevance": float("inf")}, "got inf"),
        ({"average_over": 5}, "average_over must be one or more column names"),
        ({"average_over": ("g", "g")}, "average_over must be one or more column names"),
    ],
)
def test_refuses(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        atkay.evaluate(RECS, TRUTH, "mrr", **fields)
    assert message in str(caught.value)


def test_a_protocol_as_a_whole() -> None:
    strict = Protocol(no_recs="skip", ties="item")
    result = atkay.evaluate(RECS, TRUTH, "mrr", protocol=strict, ties="worst")
    assert result.protocol == Protocol(no_recs="skip", ties="worst")
    assert result["mrr"] == 1


def test_the_protocol_in_words() -> None:
    words = Protocol(min_relevance=2, ties="random", average_over=("shop", "user"), seed=7).words()
    assert words["no_recs"] == "a user with truth but no list scores as an empty list: 0 in most metrics"
    assert words["min_relevance"] == "an item is relevant if its grade is at least 2"
    assert words["seed"] == "seed of random ties: 7"
    assert "queries are averaged per shop and user first" in words["average_over"]
    assert Protocol().words()["min_relevance"] == "an item is relevant if its grade is above 0"


def test_exclude_is_described_in_the_result() -> None:
    result = atkay.evaluate(RECS, TRUTH, "mrr", exclude={"A": ["x", "q"]})
    assert result.protocol.exclude == "2 rows of a dict"
    assert repr(result).endswith("\nexclude: 2 rows of a dict; 1 listed item removed")


def test_integers_of_numpy() -> None:
    assert Protocol(depth=np.int64(5), seed=np.uint8(7)) == Protocol(depth=5, seed=7)  # type: ignore[arg-type]  # integers, too
