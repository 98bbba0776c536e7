"""Next basket: orders on paper, repeat and explore apart, and the three references."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import atkay
from atkay.errors import AtkayError, ColumnError, InputError, RepeatsWarning
from atkay.tasks import next_basket, references

BASKETS = [
    ("ann", 1, 1, ["tea", "jam"]),
    ("ann", 2, 4, ["tea", "rye"]),
    ("ann", 3, 7, ["tea", "oat"]),  # tea again, oat for the first time
    ("bob", 4, 2, ["jam"]),
    ("bob", 5, 5, ["rye", "milk"]),  # nothing again
    ("cat", 6, 6, ["tea"]),  # one order: for training alone
    ("dan", 7, 3, ["milk"]),
    ("dan", 8, 8, ["milk"]),  # nothing new
]
ORDERS = pl.DataFrame(
    [(user, order, item, time) for user, order, time, items in BASKETS for item in items],
    schema=["user", "order", "item", "time"],
    orient="row",
)


def lists(recs: pl.DataFrame) -> dict[Any, list[str]]:
    return {user: part["item"].to_list() for (user,), part in recs.sort("rank").group_by("user")}


def test_the_last_order_is_the_truth() -> None:
    task = next_basket(ORDERS)
    assert task.key == ("user",)
    assert sorted(task.truth.select("user", "item").rows()) == [
        ("ann", "oat"), ("ann", "tea"), ("bob", "milk"), ("bob", "rye"), ("dan", "milk"),
    ]  # fmt: skip
    assert sorted(task.train["order"].unique()) == [1, 2, 4, 6, 7]
    assert dict(task.queries.rows())["ann"] == ["tea", "jam", "tea", "rye"]
    assert "the last order of 3 users with at least 2 orders; 8 orders of 4 users in total" in repr(task)


def test_repetition_ratio() -> None:
    # Half of Ann's basket, nothing of Bob's, all of Dan's.
    assert next_basket(ORDERS).repetition_ratio() == (1 / 2 + 0 + 1) / 3


# Training orders with tea 3, jam 2, milk and rye 1 each: milk stands before rye in the alphabet. Ann had tea twice, and
# jam is more frequent than rye.
LISTS = {
    "global_top": {"ann": ["tea", "jam", "milk"], "bob": ["tea", "jam", "milk"], "dan": ["tea", "jam", "milk"]},
    "personal_top": {"ann": ["tea", "jam", "rye"], "bob": ["jam"], "dan": ["milk"]},
    "combined_top": {"ann": ["tea", "jam", "rye"], "bob": ["jam", "tea", "milk"], "dan": ["milk", "tea", "jam"]},
}


@pytest.mark.parametrize("name", LISTS)
def test_reference_recommenders(name: str) -> None:
    assert lists(getattr(references, name)(next_basket(ORDERS), 3)) == LISTS[name]


def test_shorter_lists_are_the_heads_of_longer_ones() -> None:
    task = next_basket(ORDERS)
    for name, expected in LISTS.items():
        assert lists(getattr(references, name)(task, 1)) == {user: items[:1] for user, items in expected.items()}


@pytest.mark.parametrize(
    ("name", "whole", "repeat", "explore", "ratio"),
    [
        # Ann wants tea and oat, Bob rye and milk, Dan milk. Again: Ann's tea, Dan's milk. New: Ann's oat, Bob's two.
        ("global_top", (1 / 2 + 1 / 2 + 1) / 3, (1 + 1) / 2, (0 + 1 / 2) / 2, (2 / 3 + 1 / 3 + 1 / 3) / 3),
        ("personal_top", (1 / 2 + 0 + 1) / 3, (1 + 1) / 2, (0 + 0) / 2, 1),
        ("combined_top", (1 / 2 + 1 / 2 + 1) / 3, (1 + 1) / 2, (0 + 1 / 2) / 2, (1 + 1 / 3 + 1 / 3) / 3),
    ],
)
def test_repeat_and_explore(name: str, whole: float, repeat: float, explore: float, ratio: float) -> None:
    task = next_basket(ORDERS)
    recs = getattr(references, name)(task, 3)
    found = [part.evaluate(recs, "recall@3")["recall@3"] for part in (task, task.repeat, task.explore)]
    assert found == pytest.approx([whole, repeat, explore])
    assert task.repetition_ratio(recs, 3) == pytest.approx(ratio)


def test_the_ranks_are_those_of_the_whole_list() -> None:
    # Bob's milk is new and stands third, behind what is not: 1/3, and Ann's oat is missed. The list is not condensed.
    task = next_basket(ORDERS)
    result = task.explore.evaluate(LISTS["combined_top"], "mrr")
    assert result["mrr"] == pytest.approx((0 + 1 / 3) / 2)
    assert result.summaries["mrr"].users == 2
    assert "only items to explore: 3 of 5 items" in repr(task.explore)


@pytest.mark.parametrize("dialect", ["ranx", "trec_eval", "ir_measures", "lenskit", "rectools"])
def test_who_has_no_such_part_is_left_out_in_every_dialect(dialect: str) -> None:
    # Dan has nothing new, Bob nothing again. Of the new: Ann's oat is missed, of Bob's two the first is milk.
    task = next_basket(ORDERS)
    recs = {"ann": ["tea", "jam"], "bob": ["milk", "jam"], "dan": ["milk", "jam"]}
    assert task.explore.evaluate(recs, "recall@2", dialect=dialect)["recall@2"] == (0 + 1 / 2) / 2
    assert task.repeat.evaluate(recs, "recall@2", dialect=dialect)["recall@2"] == (1 + 1) / 2
    # What the caller says goes before: Dan then scores 0.
    zero = task.explore.evaluate(recs, "recall@2", dialect=dialect, no_truth="zero")
    assert zero["recall@2"] == pytest.approx((0 + 1 / 2 + 0) / 3)


def test_what_a_query_had_is_more_than_the_training_data() -> None:
    # Before order 2 there was a, before order 3 a and b: both lists are of what the query had.
    orders = pl.DataFrame({"user": [1, 1, 1], "order": [1, 2, 3], "time": [1, 2, 3], "item": ["a", "b", "b"]})
    task = next_basket(orders, last=2)
    recs = {(1, 2): ["a"], (1, 3): ["b"]}
    assert task.evaluate(recs, "new_to_user@1")["new_to_user@1"] == 0
    assert 1 - task.repetition_ratio(recs, 1) == 0
    # Before order 3 both kinds had the same share, as they have in the list.
    given: dict[str, Any] = {"features": {"a": "x", "b": "y"}, "no_recs": "skip"}
    assert task.evaluate({(1, 3): ["a", "b"]}, "calibration@2", **given)["calibration@2"] == pytest.approx(0)
    # The training data have a alone: one user.
    assert task.evaluate(recs, "arp@1")["arp@1"] == (1 + 0) / 2
    with pytest.raises(InputError, match="'arp@1', 'new_to_user@1' need both the training data of all users and"):
        task.evaluate(recs, ["arp@1", "new_to_user@1"])
    with pytest.raises(InputError, match=r"'popularity_lift@1' need both .* for metrics that need both, pass train="):
        task.evaluate(recs, ["popularity_lift@1"])
    # Given as such, user 1 had a alone: 1 for both.
    assert task.evaluate(recs, "popularity_lift@1", train={1: ["a"]})["popularity_lift@1"] == (0 - 1) / 2
    found = task.compare({"one": recs, "other": {(1, 2): ["b"], (1, 3): ["y"]}}, "new_to_user@1")
    assert found["new_to_user@1"][0].difference == 1


def test_several_orders_of_a_user() -> None:
    task = next_basket(ORDERS, last=2)
    assert task.key == ("user", "order")
    seen = {(user, order): items for user, order, items in task.queries.rows()}
    assert seen == {
        ("ann", 2): ["tea", "jam"],
        ("ann", 3): ["tea", "jam", "tea", "rye"],
        ("bob", 5): ["jam"],
        ("dan", 8): ["milk"],
    }
    # Ann's second order has tea again and rye for the first time.
    assert task.repetition_ratio() == (1 / 2 + 1 / 2 + 0 + 1) / 4
    recs = {("ann", 2): ["tea"], ("ann", 3): ["jam"], ("bob", 5): ["rye"], ("dan", 8): ["milk"]}
    values = {("ann", 2): 1 / 2, ("ann", 3): 0, ("bob", 5): 1 / 2, ("dan", 8): 1}
    assert task.evaluate(recs, "recall")["recall"] == sum(values.values()) / 4
    by_user = task.evaluate(recs, "recall", average="user")
    assert by_user["recall"] == pytest.approx(((1 / 2 + 0) / 2 + 1 / 2 + 1) / 3)
    assert "queries are averaged per user first" in repr(by_user)
    # Ann's jam was seen; the lists of the others are new, seen, and ("ann", 2) seen.
    assert task.repetition_ratio(recs) == (1 + 1 + 0 + 1) / 4
    assert references.personal_top(task, 1).filter(pl.col("user") == "ann")["item"].to_list() == ["jam", "tea"]


def test_orders_with_the_same_time_stay_as_given() -> None:
    orders = ORDERS.filter(pl.col("user") == "ann").with_columns(time=pl.lit(1))
    assert next_basket(orders).truth["order"].unique().to_list() == [3]
    assert next_basket(orders.reverse()).truth["order"].unique().to_list() == [1]
    # Rows of the three orders in turn: a query still sees whole orders alone.
    mixed = next_basket(orders[[0, 2, 4, 1, 3, 5]], last=2)
    assert mixed.queries["items"].to_list() == [["tea", "jam"], ["tea", "jam", "tea", "rye"]]


def test_an_item_twice_in_an_order_counts_once() -> None:
    twice = pl.concat([ORDERS, ORDERS.filter(pl.col("item") == "milk")])
    task = next_basket(twice)
    assert len(task.truth) == 5
    assert lists(references.global_top(task, 4))["ann"] == ["tea", "jam", "milk", "rye"]


def test_users_with_few_orders() -> None:
    task = next_basket(ORDERS, min_orders=3)
    assert task.truth["user"].unique().to_list() == ["ann"]
    assert task.train.filter(pl.col("user") == "bob")["order"].to_list() == [4, 5, 5]
    with pytest.raises(InputError, match="no user has 4 orders, so there is nothing to predict"):
        next_basket(ORDERS, min_orders=4)


def test_seen_items_are_taken_out_on_request() -> None:
    task = next_basket(ORDERS, seen="exclude")
    assert lists(references.global_top(task, 2)) == {"ann": ["milk"], "bob": ["tea", "milk"], "dan": ["tea", "jam"]}
    # What is left of the same list is rye for Dan, milk and rye for Bob; Ann has nothing left.
    recs = {user: ["jam", "milk", "rye"] for user in ("ann", "bob", "dan")}
    result = task.evaluate(recs, "recall@2")
    assert result.per_query["recall@2"].to_list() == [0, 1, 0]
    assert result.population.excluded == 2 + 1 + 1
    with pytest.raises(InputError, match="personal items are seen items"):
        references.personal_top(task, 2)


def test_global_lists_reach_below_what_was_seen() -> None:
    # Without their last items: a b, a b c, a b c d, and f alone. By frequency: a, b (3 each), c (2), d, f (1 each).
    users = [1] * 3 + [2] * 4 + [3] * 5 + [4]
    log = pl.DataFrame({"user": users, "item": list("abcabcdabcdef"), "time": range(13)})
    listed = lists(references.global_top(atkay.tasks.leave_last_out(log), 2))
    assert listed == {1: ["c", "d"], 2: ["d", "f"], 3: ["f"]}


def test_one_long_history_makes_no_other_list_longer() -> None:
    # User 0 had items 0 to 99, the others 0 and 1 or 2: each is offered 3 items and as many more as it had.
    rows = [(0, item) for item in range(101)] + [(user, item) for user in (1, 2, 3) for item in (0, user % 2 + 1, 100)]
    log = pl.DataFrame(rows, schema=["user", "item"], orient="row").with_row_index("time")
    task = atkay.tasks.leave_last_out(log)
    offered = references._global(task, 3, task.queries.select("user"), task.history)
    # By frequency, then id: 0 (4), 2 (3), 1 (2), 3, 4 ... (1 each). User 0 had all there is.
    assert sorted(offered.rows()) == [(1, 1), (1, 3), (1, 4), (2, 2), (2, 3), (2, 4), (3, 1), (3, 3), (3, 4)]


def test_taking_out_what_is_wanted_warns() -> None:
    # Without Bob, two of three wanted items are ordered again.
    with pytest.warns(RepeatsWarning, match="next basket: 2 of 3 relevant items were seen before"):
        next_basket(ORDERS.filter(pl.col("user") != "bob"), seen="exclude")


def test_a_part_that_nobody_has() -> None:
    dan = ORDERS.filter(pl.col("user") == "dan")
    with pytest.raises(InputError, match="no basket has items to explore"):
        _ = next_basket(dan).explore


def test_check() -> None:
    found = next_basket(ORDERS).check()
    # The first truth is Bob's order at 5; Cat's order at 6 is training.
    assert found["training events after the test starts"].examples == (("cat", 6, "tea", 6),)
    assert found["(user, order, item) in both parts"].count == 0  # what is ordered again is no leak
    assert found["truth items not in training"].examples == (("oat",),)


@pytest.mark.parametrize(
    ("orders", "error", "message"),
    [
        (ORDERS.drop("order"), ColumnError, "orders: no column for the order; columns are 'user', 'item', 'time'"),
        (ORDERS.drop("time"), ColumnError, "orders: no column for the time"),
        ({"ann": ["tea"]}, ColumnError, "orders: no column for the order"),
        (ORDERS.clear(), AtkayError, "has no rows"),
    ],
)
def test_bad_orders(orders: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        next_basket(orders)
    assert message in str(caught.value)


def test_baskets_have_no_sessions() -> None:
    with pytest.raises(InputError, match="Only next_item has sessions"):
        next_basket(ORDERS, average="session")


def test_what_evaluate_takes_goes_before_what_the_task_says() -> None:
    task = next_basket(ORDERS)
    recs = LISTS["global_top"]
    assert task.evaluate(recs, "recall@3", exclude={"dan": ["milk"]})["recall@3"] == pytest.approx((1 / 2 + 1 / 2) / 3)
    # Coverage and novelty get the training data: of the listed tea, jam and milk, Ann had two, Bob and Dan one.
    assert task.evaluate(recs, "new_to_user@3")["new_to_user@3"] == pytest.approx((1 / 3 + 2 / 3 + 2 / 3) / 3)
    other = task.evaluate(recs, "new_to_user@3", train={"ann": ["tea"], "bob": ["x"], "dan": ["y"]})
    assert other["new_to_user@3"] == pytest.approx((2 / 3 + 1 + 1) / 3)
    assert task.evaluate(recs, "map@3", dialect="rectools").dialect is not None
    assert isinstance(task, atkay.tasks.Task)
