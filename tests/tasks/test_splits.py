"""Splits: who goes where, whatever the order of the rows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import atkay
from atkay.errors import AtkayError, InputError, OrderError, RepeatsWarning
from atkay.tasks import Task, k_folds, leave_last_k_out, leave_last_out, random_holdout, split_by_time

LOG = pl.DataFrame(
    {
        "user": [1, 1, 1, 2, 2, 3, 4],
        "item": ["a", "b", "c", "a", "c", "b", "a"],
        "time": [10, 20, 30, 15, 25, 28, 40],
    }
)


def pairs(frame: pl.DataFrame) -> list[tuple[int, str]]:
    return sorted(frame.select("user", "item").rows())


def test_by_time() -> None:
    task = split_by_time(LOG, 28)
    assert pairs(task.truth) == [(1, "c"), (3, "b"), (4, "a")]
    assert pairs(task.train) == [(1, "a"), (1, "b"), (2, "a"), (2, "c")]
    assert task.check()


@pytest.mark.parametrize(
    ("share", "truth"),
    [
        (1 / 7, [(4, "a")]),
        (0.3, [(1, "c"), (4, "a")]),  # 2.1 events: 2
        (0.01, [(4, "a")]),  # at least one
        (3 / 7, [(1, "c"), (3, "b"), (4, "a")]),
    ],
)
def test_by_share(share: float, truth: list[tuple[int, str]]) -> None:
    assert pairs(split_by_time(LOG, share=share).truth) == truth


def test_events_of_one_time_go_the_same_way() -> None:
    log = LOG.with_columns(time=pl.Series([1, 1, 1, 2, 2, 2, 2]))
    assert len(split_by_time(log, share=0.2).truth) == 4


@pytest.mark.parametrize(
    ("times", "at"),
    [
        (pl.date_range(date(2024, 1, 1), date(2024, 1, 7), eager=True), "2024-01-06"),
        (pl.date_range(date(2024, 1, 1), date(2024, 1, 7), eager=True), date(2024, 1, 6)),
        (pl.date_range(date(2024, 1, 1), date(2024, 1, 7), eager=True).cast(pl.Datetime), "2024-01-05 12:00:00"),
        (pl.date_range(date(2024, 1, 1), date(2024, 1, 7), eager=True).cast(pl.Datetime("ns")), datetime(2024, 1, 6)),
        (pl.Series([1.0, 2, 3, 4, 5, 6, 7]), 5.5),
        (pl.Series([1, 2, 3, 4, 5, 6, 7]).cast(pl.UInt64), 6),
        (pl.Series([f"2024-01-0{n}" for n in range(1, 8)]), "2024-01-06"),
    ],
)
def test_moments(times: pl.Series, at: Any) -> None:
    assert pairs(split_by_time(LOG.with_columns(time=times), at).truth) == [(3, "b"), (4, "a")]


DAYS = pl.datetime_range(datetime(2024, 1, 1), datetime(2024, 1, 7), "1d", eager=True)
PARIS = DAYS.dt.replace_time_zone("Europe/Paris")


@pytest.mark.parametrize(
    ("times", "at"),
    [
        (DAYS, date(2024, 1, 6)),
        (DAYS, np.datetime64("2024-01-06")),
        (DAYS, np.datetime64("2024-01-06T00:00:00")),
        (DAYS, np.datetime64("2024-01-06", "ns")),
        (DAYS, pd.Timestamp("2024-01-06")),
        (DAYS.cast(pl.Date), np.datetime64("2024-01-06")),
        # Midnight in Paris is 23:00 of the day before in UTC. What has no zone is of Paris.
        (PARIS, "2024-01-06"),
        (PARIS, "2024-01-06T00:00:00"),
        (PARIS, "2024-01-05T23:00:00+00:00"),
        (PARIS, "2024-01-05T23:00:00Z"),
        (PARIS, date(2024, 1, 6)),
        (PARIS, datetime(2024, 1, 6)),
        (PARIS, datetime(2024, 1, 5, 23, tzinfo=UTC)),
        (PARIS, pd.Timestamp("2024-01-05T23:00", tz="UTC")),
        (PARIS, pd.Timestamp("2024-01-06", tz="Europe/Paris")),
        (PARIS, np.datetime64("2024-01-06")),
    ],
)
def test_moments_of_other_kinds(times: pl.Series, at: Any) -> None:
    log = LOG.with_columns(time=times)
    for table in (log, log.to_pandas()):
        task = split_by_time(table, at)
        assert pairs(task.truth) == [(3, "b"), (4, "a")]
        assert task.check()


def test_a_zone_does_not_compare_with_none() -> None:
    for at in ("2024-01-06T00:00:00+00:00", datetime(2024, 1, 6, tzinfo=UTC)):
        with pytest.raises(InputError, match="cannot be compared with the times of the log"):
            split_by_time(LOG.with_columns(time=DAYS), at)


@pytest.mark.parametrize(
    ("k", "truth"),
    [
        (1, [(1, "c"), (2, "c")]),
        (2, [(1, "b"), (1, "c")]),  # two events are too few to leave two out
    ],
)
def test_leave_last_out(k: int, truth: list[tuple[int, str]]) -> None:
    task = leave_last_k_out(LOG, k)
    assert pairs(task.truth) == truth
    assert pairs(task.train) == sorted(set(pairs(LOG)) - set(truth))
    assert f"{4 - len({user for user, _ in truth})} users with too few" in repr(task)
    if k == 1:
        assert pairs(leave_last_out(LOG).truth) == truth


def test_equal_times_stay_as_given() -> None:
    log = pl.DataFrame({"user": [1, 1, 1], "item": ["c", "a", "b"], "time": [1, 1, 1]})
    assert leave_last_out(log).truth["item"].to_list() == ["b"]
    assert leave_last_out(log.reverse()).truth["item"].to_list() == ["c"]


@pytest.mark.parametrize("dtype", [pl.Int32, pl.UInt64, pl.Float32, pl.Decimal(20, 2), pl.Int128, pl.Datetime("ms")])
def test_any_type_of_time(dtype: Any) -> None:
    assert pairs(leave_last_out(LOG.with_columns(pl.col("time").cast(dtype))).truth) == [(1, "c"), (2, "c")]


def test_times_below_zero() -> None:
    log = LOG.with_columns(time=pl.col("time") - 22)
    assert pairs(leave_last_out(log).truth) == [(1, "c"), (2, "c")]
    assert pairs(leave_last_out(log.with_columns(pl.col("time").cast(pl.Float64))).truth) == [(1, "c"), (2, "c")]


MANY = pl.DataFrame({"user": np.repeat(np.arange(200), 50), "item": np.tile(np.arange(50), 200)})


SPLITS: list[Callable[[pl.DataFrame], Task]] = [
    lambda log: random_holdout(log, 0.25),
    lambda log: random_holdout(log, 0.25, within="user"),
    lambda log: k_folds(log, 4)[1],
    lambda log: k_folds(log, 4, over="users")[2],
]


@pytest.mark.parametrize("make", SPLITS)
def test_chance_depends_on_the_ids_alone(make: Callable[[pl.DataFrame], Task]) -> None:
    task, shuffled = make(MANY), make(MANY.sample(fraction=1, shuffle=True, seed=3))
    assert set(task.truth.rows()) == set(shuffled.truth.rows())
    assert set(task.train.rows()) == set(shuffled.train.rows())
    assert set(task.train.rows()) | set(task.truth.rows()) == set(MANY.rows())
    assert not set(task.train.rows()) & set(task.truth.rows())
    # Of 10,000 pairs a quarter, give or take five deviations (√(10,000 · 1/4 · 3/4) = 43 pairs, or √(200 · 3/16) =
    # 6 users of 50 pairs each).
    assert abs(len(task.truth) - 2500) <= 5 * 6.2 * 50


def test_a_pair_keeps_its_part_when_others_come() -> None:
    few = random_holdout(MANY.head(500), 0.25)
    assert set(few.truth.rows()) <= set(random_holdout(MANY, 0.25).truth.rows())


def test_text_and_numbers_are_dealt_out_alike_each_by_itself() -> None:
    text = MANY.cast(pl.String)
    held = random_holdout(text, 0.25)
    assert 2000 < len(held.truth) < 3000
    assert set(held.truth.rows()) == set(random_holdout(text.reverse(), 0.25).truth.rows())


def test_another_seed_another_part() -> None:
    assert set(random_holdout(MANY, seed=1).truth.rows()) != set(random_holdout(MANY, seed=2).truth.rows())


def test_a_seed_does_more_than_swap_users() -> None:
    # Seeds 0 and 1 once swapped the draws of users 2n and 2n + 1, as whole numbers they differ in the last bit.
    log = {user: list(range(10)) for user in range(8)}
    zero, one = (random_holdout(log, 0.3, within="user", seed=seed).truth for seed in (0, 1))
    swapped = zero.with_columns(user=pl.col("user") + 1 - 2 * (pl.col("user") % 2))
    # Three of ten items each: by chance all eight users agree once in 120⁸, 10!/(3! 7!) = 120.
    for other in (zero, swapped):
        assert set(other.select("user", "item").rows()) != set(one.rows())
    folds = [{frozenset(task.truth["user"]) for task in k_folds(log, 4, over="users", seed=seed)} for seed in range(8)]
    # Pairs of users, out of 8!/(2⁴ · 4!) = 105 ways.
    assert len(set(map(frozenset, folds))) > 1


def test_the_share_of_each_user() -> None:
    counts = random_holdout(MANY, 0.3, within="user").truth.group_by("user").len()["len"]
    assert counts.unique().to_list() == [15]  # 0.3 · 50
    ten = MANY.filter(pl.col("item") < 10)
    assert random_holdout(ten, 0.29, within="user").truth.group_by("user").len()["len"].unique().to_list() == [2]


def test_all_events_of_a_pair_go_the_same_way() -> None:
    twice = pl.concat([MANY, MANY])
    for within in ("log", "user"):
        task = random_holdout(twice, 0.3, within=within)
        assert task.check()["(user, item) in both parts"].count == 0
        assert set(task.truth.rows()) == set(random_holdout(MANY, 0.3, within=within).truth.rows())


def test_the_share_of_each_user_is_of_pairs_not_of_events() -> None:
    # Five pairs, one of them with six events: 0.4 of five are two.
    log = pl.concat([MANY.filter(pl.col("item") < 5), *5 * [MANY.filter(pl.col("item") == 0)]])
    task = random_holdout(log, 0.4, within="user")
    assert task.truth.group_by("user").len()["len"].unique().to_list() == [2]
    assert task.train.unique().group_by("user").len()["len"].unique().to_list() == [3]


def test_queries_show_the_training_items_by_time() -> None:
    assert leave_last_k_out(LOG[[6, 2, 1, 0, 4, 3, 5]], 1).queries.sort("user").rows() == [(1, ["a", "b"]), (2, ["a"])]


def test_folds_are_a_partition() -> None:
    for over in ("pairs", "users"):
        folds = k_folds(MANY, 3, over=over)
        rows = [row for task in folds for row in task.truth.rows()]
        assert sorted(rows) == sorted(MANY.rows())
    users = [set(task.truth["user"]) for task in folds]
    assert sum(map(len, users)) == len(set.union(*users))
    assert folds[0].check()["truth users not in training"].count == len(users[0])
    assert folds[0].queries["items"].to_list() == [[]] * len(users[0])  # nothing is known of them


@pytest.mark.parametrize("seed", range(10))
def test_folds_are_equally_large(seed: int) -> None:
    few = MANY.filter((pl.col("user") < 10) & (pl.col("item") < 2))
    assert [task.truth["user"].n_unique() for task in k_folds(few, 5, over="users", seed=seed)] == [2] * 5
    assert [len(task.truth) for task in k_folds(pl.concat([few, few]), 5, seed=seed)] == [20 // 5] * 5
    # 10 users in 4 parts, 20 pairs in 3: 10 = 3 + 3 + 2 + 2, 20 = 7 + 7 + 6.
    assert [task.truth["user"].n_unique() for task in k_folds(few, 4, over="users", seed=seed)] == [3, 3, 2, 2]
    assert [len(task.truth) for task in k_folds(few, 3, seed=seed)] == [7, 7, 6]


def test_seen_items_are_taken_out_unless_they_are_kept() -> None:
    recs = {1: ["a", "b", "c"], 2: ["a", "c"]}
    # User 1 trains with a and b, user 2 with a: c then stands first.
    assert leave_last_out(LOG).evaluate(recs, "mrr")["mrr"] == 1
    assert leave_last_out(LOG, seen="keep").evaluate(recs, "mrr")["mrr"] == pytest.approx((1 / 3 + 1 / 2) / 2)


def test_what_is_wanted_twice_counts_once_with_its_last_grade() -> None:
    log = pl.DataFrame(
        {"user": [1, 1, 1, 2], "item": ["a", "b", "b", "b"], "time": [1, 5, 4, 1], "rating": [1, 2, 3, 4]}
    )
    task = split_by_time(log, 4)
    assert task.truth.rows() == [(1, "b", 4, 2.0)]  # wanted from 4 on
    # Grade 2 at rank 2: (2² - 1) / log2(3), over the same at rank 1.
    result = task.evaluate({1: ["x", "b"]}, ["dcg", "ndcg"])
    assert result["dcg"] == pytest.approx(3 / np.log2(3))
    assert result["ndcg"] == pytest.approx(1 / np.log2(3))


def test_most_of_the_truth_seen_warns() -> None:
    log = pl.concat([LOG, LOG.with_columns(pl.col("time") + 100)])
    with pytest.warns(RepeatsWarning, match="split by time: 7 of 7 relevant items were seen before"):
        split_by_time(log, 100)


def test_train_reaches_the_metrics_that_need_it() -> None:
    # Training users of a: 1, 2, 4; of b: 1, 3. Users 1 and 2 list one of each.
    task = leave_last_out(LOG, seen="keep")
    assert task.evaluate({1: ["a", "c"], 2: ["b", "c"]}, "arp@1")["arp@1"] == (3 + 2) / 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: split_by_time(LOG), "pass either at=, the start of the test, or share=, its size."),
        (lambda: split_by_time(LOG, 3, share=0.1), "pass either at=, the start"),
        (lambda: split_by_time(LOG, 0), "split by time: no event left for training, of 7 events"),
        (lambda: split_by_time(LOG, 41), "no event left for the test"),
        (lambda: split_by_time(LOG, datetime(2024, 1, 1)), "cannot be compared with the times of the log"),
        (lambda: split_by_time(LOG.with_columns(pl.col("time").cast(pl.Datetime)), 5), "5 cannot be compared with"),
        (lambda: split_by_time(LOG, share=1.0), "share must be a number between 0 and 1, got 1.0"),
        (lambda: random_holdout(LOG, 20), "share must be a number between 0 and 1, got 20"),
        (lambda: random_holdout(LOG, within="users"), "Did you mean 'user'?"),  # type: ignore[arg-type]
        (lambda: random_holdout(LOG, seed=-1), "seed must be a non-negative integer, got -1"),
        (lambda: leave_last_k_out(LOG, 0), "leave_last_k_out: k must be a positive integer, got 0"),
        (lambda: leave_last_k_out(LOG, 9), "no event left for the test"),
        (lambda: k_folds(LOG, 1), "k_folds: k must be an integer of at least 2, got 1"),
        (lambda: k_folds(LOG, over="users"), "5 folds need 5 users, but the log has 4. Choose a smaller k."),
        (lambda: k_folds(LOG, 8), "8 folds need 8 pairs, but the log has 7."),
        (lambda: k_folds(LOG, over="items"), "unknown value 'items' for over"),  # type: ignore[arg-type]
        (lambda: leave_last_out(LOG.drop("time")), "log: no column for the time"),
        (
            lambda: leave_last_out(LOG, columns=atkay.Columns(user=("user", "item"))),
            "must identify users by one column",
        ),
        (
            lambda: leave_last_out(LOG.with_columns(user=None)),
            "log: 'user' is missing in row 0 (counting from 0), one of 7 such rows",
        ),
    ],
)
def test_bad_calls(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(AtkayError) as caught:
        call()
    assert message in str(caught.value)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(-3, 3)), min_size=1, max_size=25),
    st.integers(1, 3),
)
def test_leave_last_against_plain_loops(rows: list[tuple[int, int, int]], k: int) -> None:
    log = pl.DataFrame(rows, schema=["user", "item", "time"], orient="row")
    of_user: dict[int, list[tuple[int, int, int]]] = {}
    for row in rows:
        of_user.setdefault(row[0], []).append(row)
    held = [row for own in of_user.values() if len(own) > k for row in sorted(own, key=lambda row: row[2])[-k:]]
    if not held:
        with pytest.raises(InputError):
            leave_last_k_out(log, k, seen="keep")
        return
    task = leave_last_k_out(log, k, seen="keep")
    assert {row[:2] for row in task.truth.rows()} == {row[:2] for row in held}
    rest = list(rows)
    for row in held:
        rest.remove(row)
    assert sorted(task.train.rows()) == sorted(rest)


def test_dates_that_can_be_read_in_two_ways() -> None:
    # 1 February, 10 January and 3 March, or 2 January, 1 October and 3 March: the last event depends on it.
    log = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "time": ["01/02/2020", "10/01/2020", "03/03/2020"]})
    with pytest.raises(OrderError, match=r"'time' holds dates such as '01/02/2020', in which the day or the month"):
        leave_last_out(log)
    by_month = log.with_columns(pl.col("time").str.to_date("%m/%d/%Y"))
    assert leave_last_out(by_month).truth["item"].to_list() == ["b"]
    # A 13 can be no month.
    by_day = log.with_columns(time=pl.Series(["13/02/2020", "10/01/2020", "03/03/2020"]))
    assert leave_last_out(by_day).truth["item"].to_list() == ["c"]
    month_first = log.with_columns(time=pl.Series(["01/13/2020", "10/01/2020", "03/03/2020"]))
    with pytest.raises(OrderError, match="holds '01/13/2020'"):
        leave_last_out(month_first)
