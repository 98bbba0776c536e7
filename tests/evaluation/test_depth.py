"""The depth to which lists are read: after ties, exclude and candidates, before unjudged items are dropped."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any

import numpy as np
import pytest

import atkay
from atkay.errors import ProtocolError, TiesWarning

RECS = {"ann": {"tea": 4.0, "milk": 3.0, "rye": 3.0, "oat": 1.0}}
TRUTH = {"ann": {"tea": 1, "rye": 1, "oat": 0}}


def value(metric: str = "map", recs: Any = RECS, **fields: Any) -> float:
    return float(atkay.evaluate(recs, TRUTH, metric, **fields)[metric])


def test_depth_by_hand() -> None:
    assert value() == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert value(depth=2) == pytest.approx(1 / 2)
    assert value(depth=3) == value(depth=9) == value()
    # Equal scores are put in order first: rye before milk.
    assert value(depth=2, ties="text_desc") == pytest.approx((1 / 1 + 2 / 2) / 2)
    # What may not stand in the list does not count: milk, rye, oat, and of these two.
    assert value(depth=2, exclude={"ann": ["tea"]}) == pytest.approx((1 / 2) / 2)
    assert value(depth=2, candidates={"ann": ["rye", "tea"]}) == pytest.approx((1 / 1 + 2 / 2) / 2)
    # Unjudged items do: of tea and milk, tea stays. trec_eval's -M comes before its -J, too.
    assert value("precision(per=listed)", depth=2, unjudged="drop") == 1
    assert value(depth=2, unjudged="drop") == pytest.approx(1 / 2)
    # The length of the list is that of the part that is read.
    assert value("precision(per=listed)", depth=3) == pytest.approx(2 / 3)


def test_counts_and_words() -> None:
    result = atkay.evaluate(RECS, TRUTH, "map", depth=3, exclude={"ann": ["tea"]})
    assert (result.population.excluded, result.population.beyond) == (1, 0)
    result = atkay.evaluate(RECS, TRUTH, "map", depth=1, exclude={"ann": ["tea"]})
    assert (result.population.excluded, result.population.beyond) == (1, 2)
    assert "2 beyond the depth" in str(result)
    assert "lists are read to a depth of 1" in str(result)


@pytest.mark.parametrize("depth", [0, -1, 1.5, True, "3"])
def test_wrong_depths(depth: Any) -> None:
    with pytest.raises(ProtocolError, match="depth must be a positive integer"):
        value(depth=depth)


@pytest.mark.parametrize("ties", ["expected", "together"])
def test_no_order_to_cut(ties: Any) -> None:
    with pytest.raises(ProtocolError, match=f"depth cuts lists, .* ties='{ties}'"):
        value(depth=2, ties=ties)


def test_every_engine() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    scores = rng.permuted(np.tile(np.arange(9.0), (6, 1)), axis=1)
    grade = (rng.random((6, 9)) < 0.4).astype(float)
    grade[:, 0] = 1
    order = np.argsort(-scores, axis=1)
    metrics = ["map", "ndcg@5", "precision(per=listed)@5", "recall", "coverage@5"]
    lists = {user: dict(enumerate(row)) for user, row in enumerate(scores)}
    truth = {user: np.flatnonzero(row).tolist() for user, row in enumerate(grade)}
    seen = {user: [(user * 2) % 9] for user in range(6)}
    expected = atkay.evaluate(lists, truth, metrics, depth=3, exclude=seen, catalog=range(9))
    ranked = atkay.FullRanking(rows(truth), metrics, depth=3, exclude=rows(seen))
    matrix = torch.tensor(scores)
    found = ranked.evaluate_scores(lambda users: matrix[users])
    stream = atkay.Stream(metrics, n_items=9, depth=3, catalog=range(9))
    stream.update(order, grade, users=np.arange(6), exclude=[*seen.values()])
    for result in (
        found,
        stream.compute(),
        atkay.evaluate(lists, truth, metrics, depth=3, exclude=seen, catalog=range(9), memory="100KB"),
    ):
        assert list(result.values()) == pytest.approx(list(expected.values()), rel=1e-12)
        assert result.population.beyond == expected.population.beyond == 6 * (9 - 1 - 3)


def rows(items: dict[int, list[int]]) -> tuple[list[int], list[int]]:
    """The same in CSR form."""
    return [0, *itertools.accumulate(map(len, items.values()))], [*itertools.chain(*items.values())]


def test_reconcile_and_explain_take_a_depth() -> None:
    recs = {user: {item: float(item % 3) for item in range(6)} for user in range(4)}
    truth = {user: {user: 1, 5: 1} for user in range(4)}
    number = atkay.evaluate(recs, truth, "map", depth=2)["map"]
    assert atkay.reconcile(recs, truth, {"map": number}, depth=2).matches
    found = atkay.explain(recs, truth, "map", theirs="trec_eval", depth=2)
    assert found.ours == pytest.approx(number)
    assert all(change.name != "depth" for step in found.steps for change in step.changes)
    apart = atkay.explain(recs, truth, "map", theirs="map", their_protocol={"depth": 2})
    assert apart.theirs == pytest.approx(number)
    assert atkay.variants(recs, truth, "map", depth=2)


def test_a_depth_that_cuts_through_equal_scores() -> None:
    # milk and rye have the same score at ranks 2 and 3, and rye alone is relevant.
    for metric, decided in (("map", 1), ("hit@2", 1), ("hit@1", 0)):
        with contextlib.nullcontext() if not decided else pytest.warns(TiesWarning, match="decides 1 of 1 lists"):
            assert atkay.evaluate(RECS, TRUTH, metric, depth=2).population.tie_decided == decided
    assert atkay.evaluate(RECS, TRUTH, "map", depth=3, ties="item").population.tie_decided == 1  # as without a depth
    assert atkay.evaluate(RECS, TRUTH, "map", depth=1).population.tie_decided == 0
    both = {"ann": {"tea": 1, "rye": 1, "milk": 1}}  # whichever of two relevant items is cut off
    assert atkay.evaluate(RECS, both, "map", depth=2).population.tie_decided == 0
    # What was removed takes no place: now milk and rye are first and second.
    assert (
        atkay.evaluate(RECS, TRUTH, "map", depth=1, exclude={"ann": ["tea"]}, ties="item").population.tie_decided == 1
    )
    catalog = ["tea", "milk", "rye", "oat"]
    with pytest.warns(TiesWarning):  # one of two items is listed, relevant or not
        assert atkay.evaluate(RECS, both, "coverage", depth=2, catalog=catalog).population.tie_decided == 1
