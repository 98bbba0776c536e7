"""Equal scores: the closed forms against every order there is, the count of lists that ties decide, and the warning."""

from __future__ import annotations

import itertools
import math
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import LISTS, METRICS

import atkay
from atkay.errors import ProtocolError, TiesWarning
from atkay.metrics.metric import Metric
from variants import ANCHOR, every_variant, side

AVERAGED = [metric for metric in every_variant(None, 1, 2, 4) if metric.averages and not metric.reads_scores]
PER_USER = [metric for metric in AVERAGED if getattr(metric, "average", "users") == "users"]

Groups = list[list[int]]


def run(groups: Groups) -> dict[str, float]:
    """A list of tie groups, the best score first: the items' scores by name."""
    return {f"{g}-{n}": -float(g) for g, group in enumerate(groups) for n in range(len(group))}


def truth_of(groups: Groups, missed: list[int]) -> dict[str, float]:
    grades = {f"{g}-{n}": float(grade) for g, group in enumerate(groups) for n, grade in enumerate(group) if grade}
    return grades | {f"missed {n}": float(grade) for n, grade in enumerate(missed)}


def brute_force(groups: Groups, truth: dict[str, float], metrics: list[Metric]) -> list[float]:
    """The mean over all orders of each group, all combined."""
    names = [[f"{g}-{n}" for n in range(len(group))] for g, group in enumerate(groups)]
    orders = [list(itertools.chain(*order)) for order in itertools.product(*map(itertools.permutations, names))]
    result = atkay.evaluate(dict(enumerate(orders)), dict.fromkeys(range(len(orders)), truth), metrics)
    means: list[float] = result.query_values.mean(axis=0).tolist()
    return means


groups = st.lists(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=1, max_size=4), min_size=1, max_size=3)


@given(groups=groups, missed=st.lists(st.integers(1, 2), max_size=2))
def test_closed_forms_against_all_orders(groups: Groups, missed: list[int]) -> None:
    groups = [*groups, [1]]  # lists and truth have an item in common
    truth = truth_of(groups, missed)
    values = atkay.evaluate({1: run(groups)}, {1: truth}, PER_USER, ties="expected").query_values[0]
    for metric, value, mean in zip(names(PER_USER), values, brute_force(groups, truth, PER_USER), strict=True):
        assert value == pytest.approx(mean, abs=1e-12, nan_ok=True), metric


def names(metrics: list[Metric]) -> list[str]:
    return [str(one) for metric in metrics for one in metric.split()]


def test_published_values() -> None:
    # Groups [1,0] [1,1,0,0] [0,1]. P@4: 1 hit in the first two places, 2 of the next four in two places: 1, so 2/4.
    # RR: 1/2 chance of rank 1, else 2. DCG: (1 + 0.6309) / 2 + (0.5 + 0.4307) / 2, half of the ideal's
    # 1 + 0.6309 + 0.5 + 0.4307.
    groups: Groups = [[1, 0], [1, 1, 0, 0], [0, 1]]
    specs = ["precision@4", "map", "mrr", "ndcg@4"]
    result = atkay.evaluate({1: run(groups)}, {1: truth_of(groups, [])}, specs, ties="expected")
    assert result["precision@4"] == pytest.approx(0.5)
    assert result["map"] == pytest.approx(0.606845, abs=5e-7)
    assert result["mrr"] == pytest.approx(0.75)
    assert result["ndcg@4"] == pytest.approx(0.5)
    three = {1: run([[1, 0, 0]])}
    # One relevant of three tied items: (1 + 1/2 + 1/3) / 3.
    assert atkay.evaluate(three, {1: ["0-0"]}, "map", ties="expected")["map"] == pytest.approx(11 / 18)


def test_scikit_learn_averages_ties() -> None:
    # Truth 10 0 0 1 5, scores 1 0 0 0 1, k = 1: the first place holds 10 or 5, the ideal is 10.
    truth, scores = {1: {0: 10.0, 3: 1.0, 4: 5.0}}, {1: {0: 1.0, 1: 0.0, 2: 0.0, 3: 0.0, 4: 1.0}}
    spec = "ndcg(gain=linear)@1"
    assert atkay.evaluate(scores, truth, spec, ties="expected", min_relevance=1)[spec] == 0.75
    assert atkay.evaluate(scores, truth, spec, ties="worst", min_relevance=1)[spec] == 0.5


def test_without_ties_the_digits_are_the_same() -> None:
    rng = random.Random(3)
    recs = {user: {item: rng.random() for item in rng.sample(range(20), 12)} for user in range(30)}
    truth = {user: {item: float(rng.randint(1, 3)) for item in rng.sample(range(20), 5)} for user in range(30)}
    metrics = [metric for metric in AVERAGED if "per" not in vars(metric) or vars(metric)["per"] != "hits"]
    settled = atkay.evaluate(recs, truth, metrics)
    averaged = atkay.evaluate(recs, truth, metrics, ties="expected")
    assert (averaged.query_values == settled.query_values).all()
    assert averaged.population.tie_decided == 0


def test_equal_scores_that_share_a_place() -> None:
    # a stands first; b, c, x and y share the last of their places, the fifth, where three of five items are
    # relevant: (1/1 + 3/5 + 3/5) / 3. Of six pairs the two with a are in the right order.
    recs, truth = {1: {"a": 2.0, "x": 1.0, "b": 1.0, "c": 1.0, "y": 1.0}}, {1: ["a", "b", "c"]}
    specs = ["map", "mrr", "precision@4", "recall@5", "dcg", "auc", "map(per=places)"]
    result = atkay.evaluate(recs, truth, specs, ties="together")
    assert list(result.to_dict().values()) == pytest.approx(
        [2.2 / 3, 1, 1 / 4, 1, 1 + 2 / math.log2(6), 2 / 6, (1 + 1 / 2 + 1 / 3 + 1 / 4 + 3 / 5) / 5]
    )
    assert "1 list with equal scores sharing a rank" in repr(result)
    with pytest.raises(ProtocolError, match=r"bpm does not support ties='together'; 'auc', 'dcg'"):
        atkay.evaluate(recs, truth, "bpm", ties="together")


def test_ties_after_something_was_taken_out() -> None:
    """Of three equal scores one is excluded: the relevant one of the other two stands first in half of the orders."""
    recs, truth = {1: {"a": 1.0, "x": 1.0, "y": 1.0}}, {1: ["a"]}
    kwargs: dict[str, Any] = {"ties": "expected", "exclude": {1: ["x"]}}
    assert atkay.evaluate(recs, truth, "mrr", **kwargs)["mrr"] == pytest.approx((1 + 1 / 2) / 2)
    assert atkay.evaluate(recs, truth, "hit@1", **kwargs)["hit@1"] == 0.5


def test_a_constant_scorer_gains_nothing_by_the_order_of_rows() -> None:
    """30 equal scores, the relevant item first: 1/30 of the orders have it there."""
    recs, truth = {user: dict.fromkeys(range(30), 0.5) for user in range(4)}, {user: [0] for user in range(4)}
    with pytest.warns(TiesWarning, match=r"decides 4 of 4 lists.*Choose ties='expected'"):
        lucky = atkay.evaluate(recs, truth, "hit@1")
    with pytest.warns(TiesWarning, match="Choose another value for ties"):  # bpm has no closed form
        atkay.evaluate(recs, truth, ["hit@1", "bpm@1"])
    assert lucky["hit@1"] == 1
    assert lucky.population.tie_decided == 4
    assert "4 lists decided by the order of ties" in repr(lucky)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fair = atkay.evaluate(recs, truth, "hit@1", ties="expected")
    assert fair["hit@1"] == pytest.approx(1 / 30)
    assert "4 lists averaged over the order of ties" in repr(fair)


def test_lists_that_ties_decide() -> None:
    recs = {
        "decided": {"a": 1.0, "x": 1.0},
        "all relevant": {"a": 1.0, "b": 1.0},
        "grades differ": {"a": 1.0, "c": 1.0},
        "too deep": {"y": 2.0, "a": 1.0, "x": 1.0},
        "no hit": {"x": 1.0, "y": 1.0},
    }
    truth = {user: {"a": 1, "b": 1, "c": 2} for user in recs}
    assert atkay.evaluate(recs, truth, "hit@1").population.tie_decided == 2
    assert atkay.evaluate(recs, truth, "hit@1,2").population.tie_decided == 3


def test_lists_that_a_cutoff_cuts_between_equal_scores() -> None:
    """Which items are shown is decided by ties at the cutoff, relevant or not; ties within the top decide nothing."""
    recs = {
        "within": {"a": 2.0, "x": 2.0, "y": 1.0},
        "at the cutoff": {"x": 3.0, "y": 2.0, "z": 2.0},
        "below": {"x": 3.0, "y": 2.0, "a": 1.0, "z": 1.0},
        "as long as the cutoff": {"x": 1.0, "y": 1.0},
        "through it": dict.fromkeys("xyzvw", 1.0),
    }
    truth = {user: ["a"] for user in recs}
    catalog = list("axyzvw")
    result = atkay.evaluate(recs, truth, "coverage@2", catalog=catalog)
    assert result.population.tie_decided == 2
    assert atkay.evaluate(recs, truth, "coverage", catalog=catalog).population.tie_decided == 0
    # After x is taken out, "within" has a, y; "at the cutoff" y, z; "below" y and then a or z.
    left = atkay.evaluate(recs, truth, "coverage@2", catalog=catalog, exclude=["x"])
    assert left.population.tie_decided == 2
    with pytest.warns(TiesWarning, match="decides 2 of 5 lists"):
        atkay.evaluate(recs, truth, "arp@2", train={"ann": ["a", "x"]})
    assert atkay.evaluate(recs, truth, ["hit@1", "coverage@2"], catalog=catalog).population.tie_decided == 3


def test_few_ties_do_not_warn() -> None:
    recs = {user: {"a": 2.0, "b": 1.0} for user in range(300)} | {300: {"a": 1.0, "x": 1.0}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = atkay.evaluate(recs, {user: ["a"] for user in recs}, "hit@1")
    assert result.population.tie_decided == 1


def test_a_metric_without_a_closed_form_is_refused() -> None:
    with pytest.raises(ProtocolError, match=r"coverage@2 does not support ties='expected'; .*'map'"):
        atkay.evaluate({1: {"a": 1.0}}, {1: ["a"]}, "coverage@2", catalog=["a"], ties="expected")


def test_many_ties_at_once() -> None:
    """Groups of very different sizes, 2,000 users: the average over 400 random orders comes close."""
    rng = np.random.default_rng(5)
    users, length = 2000, 30
    scores = rng.integers(0, 4, (users, length)) / 4
    recs = {user: dict(enumerate(row)) for user, row in enumerate(scores.tolist())}
    truth = {user: rng.choice(length, 5, replace=False).tolist() for user in range(users)}
    specs = ["ndcg@10", "map(per=hits)@10", "mrr@10", "hit@3", "recall@10"]
    expected = atkay.evaluate(recs, truth, specs, ties="expected")
    orders = [atkay.evaluate(recs, truth, specs, ties="random", seed=seed) for seed in range(20)]
    for spec in specs:
        sample = [order[spec] for order in orders]
        assert expected[spec] == pytest.approx(np.mean(sample), abs=4 * np.std(sample) / np.sqrt(len(sample)) + 1e-12)


def test_the_oracle_knows_every_averaged_metric() -> None:
    elsewhere = {"auc", "group_auc"}  # their plain loops are in test_auc.py
    assert {metric.name for metric in AVERAGED} <= set(METRICS) | set(LISTS) | elsewhere


@pytest.mark.parametrize("memory", [None, "1GB"])
def test_the_warning_points_to_the_caller(tmp_path: Path, memory: str | None) -> None:
    path = tmp_path / "recs.csv"
    path.write_text("user,item,score\n1,1,0\n1,2,0\n")
    with pytest.warns(TiesWarning) as caught:
        atkay.evaluate(path, {1: [1]}, "mrr", memory=memory)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.filterwarnings("ignore::atkay.errors.TiesWarning")
def test_lists_whose_values_move_with_the_order_of_ties_are_counted() -> None:
    """Five equal scores in two orders: whatever moves is counted, and what looks at lengths alone is not."""
    truth = {0: {0: 1.0, 1: 1.0, 4: 2.0}, ANCHOR: {0: 1.0}}
    orders = [0, 1, 2, 3, 4], [4, 3, 1, 0, 2]
    runs = [{0: dict.fromkeys(order, 0.5), ANCHOR: {0: 1.0, 7: 0.5}} for order in orders]
    tables, moved = side(), set()
    for metric in every_variant(None, 1, 2):
        needed = {name: tables[name] for name in metric.needs}
        one, other = (atkay.evaluate(recs, truth, metric, **needed) for recs in runs)
        decided = one.population.tie_decided
        assert decided == other.population.tie_decided
        if not np.allclose([*one.values()], [*other.values()], rtol=1e-12, atol=0, equal_nan=True):
            assert decided == 1, metric
            moved.add(metric.name)
        if metric.by_length:
            assert decided == 0, metric
    assert {"ndcg", "coverage", "novelty", "epc", "efd", "alpha_ndcg", "exposure", "serendipity"} <= moved
