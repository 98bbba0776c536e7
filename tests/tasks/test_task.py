"""What all tasks share: lists in any form, comparisons, words that go before."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import polars as pl
import pytest

import atkay
from atkay.errors import AtkayError, NumberError
from atkay.metrics.metric import Metric
from atkay.tasks import leave_last_out, next_item
from atkay.tasks.task import LOOKING_BACK_ALONE
from variants import every_variant, side

# Four users had tea or jam; three then want rye, and one oat.
LOG = pl.DataFrame(
    {
        "uid": [1, 1, 2, 2, 3, 3, 4, 4],
        "product_id": ["tea", "rye", "tea", "rye", "jam", "rye", "jam", "oat"],
        "timestamp": [1, 2, 3, 4, 5, 6, 7, 8],
    }
)
TASK = leave_last_out(LOG)
OLD = {user: ["oat", "rye"] for user in (1, 2, 3, 4)}
NEW = {user: ["rye", "oat"] for user in (1, 2, 3, 4)}


def test_a_task_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        TASK.seen = "keep"  # type: ignore[misc]


def test_a_column_of_users_is_not_named_items() -> None:
    log = LOG.rename({"uid": "items"})
    with pytest.raises(AtkayError, match="leave last out: the column name 'items' is reserved"):
        leave_last_out(log, columns=atkay.Columns(user="items"))
    with pytest.raises(AtkayError, match="the column name 'items' is reserved"):
        next_item(log.with_columns(session=1, items=1), columns=atkay.Columns(user="items"))
    named = leave_last_out(LOG.rename({"product_id": "items"}), columns=atkay.Columns(item="items"))
    assert named.queries["items"].to_list() == [["tea"], ["tea"], ["jam"], ["jam"]]


def test_lists_in_any_form(tmp_path: pytest.TempPathFactory) -> None:
    own = pl.DataFrame(
        [(user, item) for user, items in OLD.items() for item in items], ["uid", "product_id"], orient="row"
    )
    other = own.rename({"uid": "user", "product_id": "item"})
    odd = own.rename({"uid": "who", "product_id": "what"})
    # Rye stands second for three of four, oat first for one.
    for recs in (OLD, own, other, own.lazy(), own.to_pandas(), other.to_arrow()):
        assert TASK.evaluate(recs, "mrr")["mrr"] == (3 * 1 / 2 + 1) / 4
    named = atkay.Columns(user="who", item="what")
    assert TASK.evaluate(odd, "mrr", columns=named)["mrr"] == (3 * 1 / 2 + 1) / 4
    assert TASK.evaluate(odd, "mrr", columns={"recs": named})["mrr"] == (3 * 1 / 2 + 1) / 4
    assert TASK.check(odd, columns=named)["listed items not in the log"].count == 0


def test_compare_takes_the_tasks_protocol_along() -> None:
    # Rye moves to rank 1 for three, oat to rank 2 for one: 1/2, 1/2, 1/2, -1/2.
    found = TASK.compare({"old": OLD, "new": NEW}, "mrr", baseline="old", test="permutation")
    (one,) = found["mrr"]
    assert one.difference == pytest.approx((3 * 1 / 2 - 1 / 2) / 4)
    assert (one.wins, one.losses) == (3, 1)
    assert "exclude: " in repr(found)
    seen = {user: ["tea", "jam", *items] for user, items in NEW.items()}
    own = TASK.compare({"new": NEW, "seen": seen}, "mrr")
    assert own["mrr"][0].difference < 0  # of tea and jam a user has seen one, and the other stays
    by_list = TASK.compare({"new": NEW, "seen": seen}, "mrr", exclude=["tea", "jam"])
    assert by_list["mrr"][0].difference == 0


def test_runs_that_list_different_items_compare_under_the_same_exclusions() -> None:
    # Of what user 1 had and lists, old has tea and new has nothing. Rye then stands first in both.
    columns = atkay.Columns(user="uid", item="product_id")
    runs = {"old": {user: ["tea", "rye"] for user in (1, 2)}, "new": {user: ["rye", "x"] for user in (1, 2)}}
    given: dict[str, Any] = {
        "exclude": TASK.history,
        "columns": {"truth": columns, "exclude": columns},
        "no_recs": "skip",
    }
    assert atkay.compare(runs, TASK.truth, "mrr", **given)["mrr"][0].difference == 0
    assert TASK.compare(runs, "mrr", no_recs="skip")["mrr"][0].difference == 0


def test_metrics_and_runs_in_other_forms() -> None:
    assert list(TASK.evaluate(OLD, (name for name in ("mrr", "hit@1")))) == ["mrr", "hit@1"]
    ready = {"old": TASK.evaluate(OLD, ["mrr", "hit@1"]), "new": NEW}
    found = TASK.compare(ready, (name for name in ("mrr", "hit@1")))
    assert found.means["new"]["hit@1"].mean == 3 / 4
    with pytest.raises(AtkayError, match=r"runs must be \{name: lists\}"):
        TASK.compare([OLD, NEW], "mrr")  # type: ignore[arg-type]


def test_compare_of_a_metric_that_needs_training_data_and_a_primitive_run() -> None:
    found = TASK.compare({"old": OLD, "new": NEW}, ["new_to_user@2"], baseline="old")
    assert found.means["new"]["new_to_user@2"].mean == 1
    reference = TASK.compare({"old": OLD, "new": NEW}, "serendipity(kind=ge)@1", reference=["oat"])
    # New lists rye, which the reference list does not: useful for three of four.
    assert reference.means["new"][reference.metrics[0]].mean == pytest.approx(3 / 4)


LEARNING = [metric for metric in every_variant(3) if "train" in metric.needs]


@pytest.mark.parametrize("metric", LEARNING, ids=str)
def test_which_metrics_look_back(metric: Metric) -> None:
    """Users who swap their training data change nothing else; a training user without lists changes all but theirs."""
    recs = {0: [0, 5, 7], 1: [6, 1, 2], 3: [4, 2, 0]}
    truth = {0: [5, 7], 1: [1, 2], 3: [4]}
    given = side()
    learned = given.pop("train")
    swapped = learned | {0: learned[4], 4: learned[0], 1: learned[3], 3: learned[1]}  # 4 has no list

    def value(train: dict[int, list[int]]) -> float:
        return atkay.evaluate(recs, truth, metric, train=train, **given)[str(metric)]

    assert (value(swapped) == pytest.approx(value(learned), abs=1e-12)) is not metric.looks_back
    if metric.name in LOOKING_BACK_ALONE:
        assert value(learned | {77: [0, 7]}) == value(learned)


def test_a_protocol_can_be_given_whole() -> None:
    events = LOG.rename({"uid": "session"})
    task = next_item(events)
    recs = {(user, 1): ["rye"] for user in (1, 2, 3)}
    assert task.evaluate(recs, "hit", protocol=atkay.Protocol(no_recs="skip"))["hit"] == 1
    by_session = task.evaluate(recs, "hit", protocol=atkay.Protocol(average_over="session"))
    assert by_session["hit"] == 3 / 4
    assert by_session.protocol.groups == ("session",)


def test_exclusions_can_be_others() -> None:
    exclude = pl.DataFrame({"user": [1, 4], "item": ["oat", "oat"]})
    # Rye comes first for user 1; the oat of user 4 is gone.
    assert TASK.evaluate(OLD, "mrr", exclude=exclude)["mrr"] == (1 + 1 / 2 + 1 / 2 + 0) / 4


def test_slices_and_candidates_are_passed_on() -> None:
    result = TASK.evaluate(OLD, "mrr", slices={1: "x", 2: "x", 3: "y", 4: "y"}, candidates=["rye"])
    assert result["mrr"] == 3 / 4
    assert result.slices["mean"].to_list() == [1, 1 / 2]


def test_mistakes_are_those_of_evaluate() -> None:
    with pytest.raises(AtkayError, match="no argument 'k'"):
        TASK.evaluate(OLD, "mrr", k=3)  # type: ignore[call-arg]
    with pytest.raises(AtkayError, match="Did you mean 'query'"):
        TASK.evaluate(OLD, "mrr", average="queries")  # type: ignore[arg-type]
    with pytest.raises(AtkayError, match="recs and truth have ids of different types"):
        TASK.evaluate({"1": ["rye"]}, "mrr")
    with pytest.raises(AtkayError, match="average='session' needs a session in the log"):
        TASK.evaluate(OLD, "mrr", average="session")
    with pytest.raises(NumberError, match="was not evaluated"):
        TASK.evaluate(OLD, "mrr")["map"]
