"""Items that stand twice in a list, where each of their places counts."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import polars as pl
import pytest

import atkay
from atkay.core import kernels, reference
from atkay.core.lists import Lists
from atkay.core.match import match_each
from atkay.errors import DuplicateError, ProtocolError

# a stands at 1, 2 and 4; b is missed.
RECS, TRUTH = {"ann": ["a", "a", "x", "a"]}, {"ann": ["a", "b"]}


def log2(rank: int) -> float:
    return 1 / math.log2(rank + 1)


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("precision@2", 2 / 2),
        ("precision@4", 3 / 4),
        ("recall", 3 / 2),
        ("recall(per=capped)@1", 1 / 1),
        ("f1@4", 2 * 3 / (2 + 4)),
        ("hit@2", 1),
        ("hit(count=number)@2", 2),
        ("mrr", 1),
        ("map", (1 / 1 + 2 / 2 + 3 / 4) / 2),
        ("map(per=hits)", (1 / 1 + 2 / 2 + 3 / 4) / 3),
        ("mar@4", (1 + 2 + 2 + 3) / (4 * 2)),
        ("dcg", log2(1) + log2(2) + log2(4)),
        ("ndcg", (log2(1) + log2(2) + log2(4)) / (log2(1) + log2(2))),
        ("rbp(p=0.5)", 0.5 * (1 + 1 / 2 + 1 / 8)),
    ],
)
def test_a_relevant_item_is_a_hit_at_each_of_its_places(spec: str, value: float) -> None:
    assert atkay.evaluate(RECS, TRUTH, spec, duplicates="counted")[spec] == pytest.approx(value)


def test_mean_average_recall_passes_1_where_recall_does() -> None:
    # Recall is 1 at the first place and 2 at the second.
    assert atkay.evaluate({1: ["a", "a"]}, {1: ["a"]}, "mar@2", duplicates="counted")["mar@2"] == 1.5


def test_numbers_of_recommenders() -> None:
    # In its own run, of [a, a, a] and the truth a, b: precision 1, recall 1.5, MAP 1.5.
    result = atkay.evaluate(
        {1: ["a", "a", "a"]}, {1: ["a", "b"]}, ["precision@3", "recall@3", "map@3"],
        dialect="recommenders", duplicates="counted",
    )  # fmt: skip
    assert result.to_dict() == {"precision@3": 1, "recall@3": 1.5, "map@3": 1.5}


def test_what_is_counted_and_what_is_left_out() -> None:
    result = atkay.evaluate(RECS, TRUTH, "recall", duplicates="counted")
    population = result.population
    assert (population.listed, population.hits, population.relevant, population.duplicated) == (4, 3, 2, 0)
    # Both a's are excluded; of candidates a both stay; the depth counts places.
    excluded = atkay.evaluate(RECS, {"ann": ["a", "x"]}, "mrr", duplicates="counted", exclude={"ann": ["a"]})
    assert (excluded["mrr"], excluded.population.excluded) == (1, 3)
    kept = atkay.evaluate(RECS, TRUTH, "precision@3", duplicates="counted", candidates={"ann": ["a"]})
    assert (kept["precision@3"], kept.population.outside) == (1, 1)
    assert atkay.evaluate(RECS, TRUTH, "recall", duplicates="counted", depth=2)["recall"] == 2 / 2
    dropped = atkay.evaluate(RECS, TRUTH, "precision@3", duplicates="counted", unjudged="drop")
    assert dropped["precision@3"] == 1


def test_in_the_truth_an_item_counts_once() -> None:
    truth = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "a"], "relevance": [2.0, 1.0, 3.0]})
    result = atkay.evaluate({1: ["a", "a"]}, truth, ["recall", "dcg(gain=linear)@1"], duplicates="counted")
    assert result.to_dict() == {"recall": 2 / 2, "dcg(gain=linear)@1": 2}


def test_scores_put_the_places_in_order() -> None:
    recs = pl.DataFrame({"user": [1, 1, 1, 1], "item": ["a", "x", "y", "a"], "score": [0.1, 0.5, 0.4, 0.9]})
    # a at 1 and 4.
    assert atkay.evaluate(recs, {1: ["a"]}, "map", duplicates="counted")["map"] == 1 / 1 + 2 / 4
    tied = recs.with_columns(score=pl.lit(1.0))
    # Two of four: at the one cutoff of 1, a is there with the chance 1/2.
    assert atkay.evaluate(tied, {1: ["a"]}, "recall@1", duplicates="counted", ties="expected")["recall@1"] == 1 / 2
    assert atkay.evaluate(tied, {1: ["a"]}, "recall@2", duplicates="counted", ties="best")["recall@2"] == 2


def test_no_interval_ends_at_1() -> None:
    recs = {user: ["a", "a"] if user % 2 else ["a", "x"] for user in range(6)}
    summary = atkay.evaluate(recs, {user: ["a"] for user in range(6)}, "recall", duplicates="counted").summaries[
        "recall"
    ]
    assert summary.mean == 1.5
    assert summary.high > summary.mean


def test_metrics_that_do_more_than_add_up_hits_are_refused() -> None:
    for spec in ("auc", "bpref", "coverage", "mcc@2"):
        with pytest.raises(ProtocolError, match=rf"{spec.split('@')[0]}.* does not support duplicates='counted'"):
            atkay.evaluate(RECS, TRUTH, spec, duplicates="counted", catalog=["a", "b"])
    assert {name for name, cls in atkay.list_metrics().items() if cls.repeats} == {
        *("precision", "recall", "f1", "hit", "map", "mar", "mrr", "dcg", "ndcg", "rbp"),
    }


def test_bounds_and_chance_are_refused() -> None:
    result = atkay.evaluate(RECS, TRUTH, "recall", duplicates="counted")
    assert "duplicates='counted' lets an unjudged item become relevant" in result.bounds.refused["recall"]
    assert "duplicates='counted' counts an item at each of its places" in result.chance.refused["recall"]


def test_the_error_names_both_words() -> None:
    with pytest.raises(
        DuplicateError, match="pass duplicates='first' to keep the first of each, or duplicates='counted'"
    ):
        atkay.evaluate(RECS, TRUTH, "recall")
    assert atkay.Protocol(duplicates="counted").words()["duplicates"].startswith("an item twice in one list keeps both")


def test_a_pooled_result_survives_pickling() -> None:
    spec = "recall(average=pooled)"
    result = atkay.evaluate(RECS | {"bob": ["b"]}, TRUTH | {"bob": ["b"]}, spec, duplicates="counted")
    assert result[spec] == pickle.loads(pickle.dumps(result))[spec] == (3 + 1) / (2 + 1)


def test_files_streams_and_partitions_agree(tmp_path: Any) -> None:
    rng = np.random.default_rng(3)
    items, scores = rng.integers(0, 6, 320), rng.random(320)
    recs = pl.DataFrame({"user": np.repeat(np.arange(40), 8), "item": items, "score": scores})
    truth = pl.DataFrame({"user": np.repeat(np.arange(40), 2), "item": np.tile([0, 3], 40)})
    specs = ["precision@3", "recall", "map", "ndcg@5", "mrr"]
    wanted = atkay.evaluate(recs, truth, specs, duplicates="counted")
    loops = []
    for user in range(40):
        rows = recs.filter(pl.col("user") == user).sort("score", descending=True)
        loops.append(sum(item in (0, 3) for item in rows["item"]) / 2)
    assert wanted["recall"] == pytest.approx(sum(loops) / 40)
    assert wanted["recall"] > 1
    recs.write_parquet(tmp_path / "recs.parquet")
    truth.write_parquet(tmp_path / "truth.parquet")
    paths = tmp_path / "recs.parquet", tmp_path / "truth.parquet"
    assert atkay.evaluate(*paths, specs, duplicates="counted", memory="64MB").to_dict() == wanted.to_dict()
    stream = atkay.Stream(specs, duplicates="counted")
    lists = recs.sort("user", "score", descending=[False, True])["item"].to_numpy().reshape(-1, 8).tolist()
    for batch in (lists[:25], lists[25:]):
        stream.update(items=batch, targets=[[0, 3]] * len(batch))
    assert stream.compute().to_dict() == pytest.approx(wanted.to_dict())


def test_every_row_of_a_repeated_item_is_matched() -> None:
    lists = Lists.of(np.array([4, 2]), np.array([3, 1, 3, 2, 3, 0]), 4)
    truth = Lists.of(np.array([2, 1]), np.array([2, 3, 3]), 4)
    matched = match_each(lists, truth)
    assert (matched.row.tolist(), matched.at.tolist()) == ([0, 2, 3, 4], [1, 1, 0, 2])
    assert matched.rank.tolist() == [1, 3, 4, 1]
    assert kernels.match(lists, truth).repeated == reference.match(lists, truth).repeated == (True, False)


def test_reconcile_tries_it_where_items_stand_twice() -> None:
    recs, truth = {1: ["a", "a", "b"], 2: ["c", "c", "x"]}, {1: ["a"], 2: ["c", "d"]}
    [best, *_] = atkay.reconcile(recs, truth, {"recall@3": "1.5000", "precision@3": "0.6667"}).explanations
    assert best.protocol == {"duplicates": "counted"}
    once = atkay.reconcile({1: ["a", "b"]}, {1: ["a"]}, {"recall@3": "1.0000"}).explanations
    assert all("duplicates" not in each.protocol for each in once)
