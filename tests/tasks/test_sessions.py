"""Next item: sessions on paper, their steps, and the three ways to average them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import polars as pl
import pytest

import atkay
from atkay.errors import ColumnError, IdError, InputError, OrderError, RepeatsWarning, SpecError
from atkay.tasks import next_item

# Ann: a b c, then b a. Bob: a c. Four steps: a -> b, ab -> c, b -> a, a -> c.
EVENTS = pl.DataFrame(
    {
        "user": ["ann", "ann", "ann", "ann", "ann", "bob", "bob"],
        "session": [1, 1, 1, 2, 2, 3, 3],
        "item": ["a", "b", "c", "b", "a", "a", "c"],
        "time": [1, 2, 3, 4, 5, 6, 7],
    }
)
# Found at rank 1, at rank 2, not, and at rank 3.
RECS = {(1, 1): ["b", "a", "c"], (1, 2): ["a", "c"], (2, 1): ["c", "b"], (3, 1): ["b", "a", "c"]}


def test_a_query_is_a_step() -> None:
    task = next_item(EVENTS)
    assert task.truth.select("session", "step", "item").rows() == [(1, 1, "b"), (1, 2, "c"), (2, 1, "a"), (3, 1, "c")]
    assert task.key == ("session", "step")
    assert task.queries.rows() == [
        (1, 1, "ann", ["a"]), (1, 2, "ann", ["a", "b"]), (2, 1, "ann", ["b"]), (3, 1, "bob", ["a"]),
    ]  # fmt: skip
    assert task.history.rows() == [(1, 1, "a"), (1, 2, "a"), (1, 2, "b"), (2, 1, "b"), (3, 1, "a")]


def test_steps_of_one_user_are_a_cluster() -> None:
    """Of sessions where there are no users; of nothing where users, or sessions, are averaged first."""
    task = next_item(EVENTS)
    found = task.evaluate(RECS, "mrr@3")
    assert "clustered by user (2 clusters)" in str(found)
    assert "clusters: user" in str(task)
    # Reciprocal ranks 1, 1/2 and 0 of Ann, 1/3 of Bob, whose mean is 11/24; t at one degree of freedom is 12.7.
    error = (2 * 2 * (1 / 3 - 11 / 24) ** 2) ** 0.5 / 4
    assert found.with_intervals("student").summaries["mrr@3"].low == max(0, 11 / 24 - 12.706 * error)
    assert found.with_intervals("percentile").summaries["mrr@3"].low == pytest.approx(11 / 24 - 2 * 0.125 / 4)
    by_session = next_item(EVENTS.drop("user"))
    assert "clustered by session (3 clusters)" in str(by_session.evaluate(RECS, "mrr@3"))
    assert by_session.evaluate(RECS, "mrr@3", average="session").clusters is None
    assert task.evaluate(RECS, "mrr@3", average="session").clusters is not None
    for off in ({"average": "user"}, {"cluster": None}, {"aggregate": "median"}):
        assert task.evaluate(RECS, "mrr@3", **off).clusters is None
    both = task.compare({"a": RECS, "b": RECS}, "mrr@3")
    assert "clustered by user (2 clusters): permutations" in str(both)


@pytest.mark.parametrize(
    ("average", "mrr", "hit", "said"),
    [
        ("query", (1 + 1 / 2 + 0 + 1 / 3) / 4, 3 / 4, "mean over queries (session, step)"),
        ("session", ((1 + 1 / 2) / 2 + 0 + 1 / 3) / 3, (1 + 0 + 1) / 3, "queries are averaged per session"),
        ("user", ((1 + 1 / 2 + 0) / 3 + 1 / 3) / 2, (2 / 3 + 1) / 2, "queries are averaged per user first"),
    ],
)
def test_averages(average: Any, mrr: float, hit: float, said: str) -> None:
    for result in (
        next_item(EVENTS, average=average).evaluate(RECS, ["mrr@3", "hit@3"]),
        next_item(EVENTS).evaluate(RECS, ["mrr@3", "hit@3"], average=average),
    ):
        assert result["mrr@3"] == pytest.approx(mrr)
        assert result["hit@3"] == pytest.approx(hit)
        assert said in repr(result)
        assert "4 queries evaluated" in repr(result)


def test_cutoffs_are_of_the_list() -> None:
    # At 2 the hit at rank 3 is none.
    assert next_item(EVENTS).evaluate(RECS, "mrr@2")["mrr@2"] == (1 + 1 / 2 + 0 + 0) / 4


def test_pooled() -> None:
    # Three of four wanted items are found; 10 items are listed in all.
    task = next_item(EVENTS, average="pooled")
    result = task.evaluate(RECS, ["recall", "precision(per=listed)"])
    assert result["recall(average=pooled)"] == 3 / 4
    assert result["precision(per=listed,average=pooled)"] == 3 / 10
    assert "summed" in result.definitions["recall(average=pooled)"].words
    with pytest.raises(SpecError, match="'mrr@3' does not have; precision, recall, hit and f1 do"):
        task.evaluate(RECS, "mrr@3")


@pytest.mark.parametrize(
    ("ties", "field", "mrr"),
    [("best", "optimistic", 1), ("worst", "pessimistic", 1 / 2), ("expected", "middle", (1 + 1 / 2) / 2)],
)
def test_the_tie_modes_of_the_field(ties: Any, field: str, mrr: float) -> None:
    tied = pl.DataFrame({"session": [2, 2], "step": [1, 1], "item": ["b", "a"], "score": [0.5, 0.5]})
    assert next_item(EVENTS).evaluate(tied, "mrr@2", ties=ties, no_recs="skip")["mrr@2"] == mrr, field


def test_the_last_step_alone() -> None:
    task = next_item(EVENTS, steps="last")
    assert task.queries.drop("user").rows() == [(1, 2, ["a", "b"]), (2, 1, ["b"]), (3, 1, ["a"])]


def test_minimum_length() -> None:
    assert next_item(EVENTS, min_length=3).truth["session"].to_list() == [1, 1]
    with pytest.raises(InputError, match="no test session has 4 events"):
        next_item(EVENTS, min_length=4)
    with pytest.raises(InputError, match="min_length must be an integer of at least 2, got 1"):
        next_item(EVENTS, min_length=1)


def test_rows_may_come_in_any_order() -> None:
    task = next_item(EVENTS[[6, 1, 5, 0, 4, 2, 3]])
    assert task.truth.rows() == next_item(EVENTS).truth.rows()
    assert task.queries.rows() == next_item(EVENTS).queries.rows()


def test_events_of_the_same_time_stay_as_given() -> None:
    events = pl.DataFrame({"session": [1] * 3, "item": ["z", "a", "m"], "time": [5, 5, 5]})
    assert next_item(events).queries["items"].to_list() == [["z"], ["z", "a"]]


@pytest.mark.parametrize(
    ("start", "train", "test"),
    [(4, [1], [2, 3]), (5, [1], [2, 3]), (6, [1, 2], [3])],
)
def test_a_session_is_in_one_part(start: int, train: list[int], test: list[int]) -> None:
    # Session 2 is at 4 and 5: a test that starts at 5 has all of it.
    task = next_item(EVENTS, test_from=start)
    assert task.train["session"].unique().sort().to_list() == train
    assert task.truth["session"].unique().sort().to_list() == test
    assert task.check()


def test_items_unseen_in_training_are_dropped_before_steps_are_counted() -> None:
    test = pl.DataFrame({"session": [8, 8, 8, 9, 9], "item": ["a", "new", "b", "new", "c"], "time": range(8, 13)})
    kept = next_item(test, train=EVENTS.drop("user"))
    assert kept.truth.select("session", "step", "item").rows() == [(8, 1, "new"), (8, 2, "b"), (9, 1, "c")]
    assert kept.check()["truth items not in training"].examples == (("new",),)
    dropped = next_item(test, train=EVENTS.drop("user"), unseen="drop")
    assert dropped.truth.select("session", "step", "item").rows() == [(8, 1, "b")]
    assert "2 events of items unseen in training dropped" in repr(dropped)
    with pytest.raises(InputError, match="unseen='drop' needs training data"):
        next_item(EVENTS, unseen="drop")


def test_training_events_of_other_types() -> None:
    train = pl.DataFrame({"session": [9, 9], "item": [1, 2], "time": [0, 0]})
    test = pl.DataFrame({"session": [1, 1], "item": [1, 2], "time": [1, 2]})
    task = next_item(test, train=train.cast(pl.Int32), unseen="drop")
    assert task.check({(1, 1): [2]})
    with pytest.raises(IdError, match="train and events have different types: 'item' is String, such as '1'"):
        next_item(test, train=train.cast({"item": pl.String}))


@pytest.mark.parametrize(
    ("test", "train"),
    [
        # The test's first truth is at the second time. Training's second event is a little after it.
        ([5, 6], [4.0, 6.9]),
        ([date(2024, 1, 5), date(2024, 1, 6)], [datetime(2024, 1, 5, 18), datetime(2024, 1, 6, 20)]),
        (pl.Series([5, 6]).cast(pl.Datetime("ms")), pl.Series([4_000_000, 6_000_001]).cast(pl.Datetime("ns"))),
        (
            pl.Series([5, 6]).cast(pl.Datetime("ms", "UTC")),
            pl.Series([4_000, 6_001]).cast(pl.Datetime("us", "Europe/Paris")),
        ),
    ],
)
def test_times_of_other_types_are_not_cut(test: Any, train: Any) -> None:
    events = pl.DataFrame({"session": [2, 2], "item": ["a", "b"], "time": test})
    learned = pl.DataFrame({"session": [1, 1], "item": ["a", "b"], "time": train})
    found = next_item(events, train=learned).check()["training events after the test starts"]
    assert [row[:2] for row in found.examples] == [(1, "b")]


def test_times_with_and_without_a_zone() -> None:
    days = pl.Series([datetime(2024, 1, 5), datetime(2024, 1, 6)])
    events = pl.DataFrame({"session": [2, 2], "item": ["a", "b"], "time": days})
    zoned = events.with_columns(session=1, time=days.dt.replace_time_zone("UTC"))
    with pytest.raises(IdError, match="train and events have different types: 'time' is Datetime"):
        next_item(events, train=zoned)


def test_seen_items_are_taken_out_on_request() -> None:
    # Step 1 of session 1 has seen a: what is left of x a b is x b.
    recs = {(1, 1): ["x", "a", "b"], (1, 2): ["a", "b", "c"]}
    task = next_item(EVENTS.filter(pl.col("session") == 1), seen="exclude")
    assert task.evaluate(recs, "mrr").per_query["mrr"].to_list() == [1 / 2, 1]


def test_new_to_user_looks_at_the_session_so_far() -> None:
    # Session 1 is training; of a and b session 2 has seen a.
    events = pl.DataFrame({"session": [1, 1, 2, 2], "item": list("abab"), "time": [1, 2, 3, 4]})
    for task in (next_item(events, test_from=3), next_item(events.tail(2))):
        result = task.evaluate({(2, 1): ["a", "b"]}, ["new_to_user@1", "new_to_user@2"])
        assert (result["new_to_user@1"], result["new_to_user@2"]) == (0, 1 / 2)


def test_a_repeated_session_that_excludes_warns() -> None:
    events = pl.DataFrame({"session": [1] * 4, "item": ["a", "a", "a", "b"], "time": [1, 2, 3, 4]})
    with pytest.warns(RepeatsWarning, match="2 of 3 relevant items were seen before"):
        next_item(events, seen="exclude")


def test_tables_are_read_as_evaluate_reads_them(tmp_path: Any) -> None:
    EVENTS.rename({"session": "sessionId", "time": "timestamp"}).write_csv(tmp_path / "events.csv")
    from_file = next_item(tmp_path / "events.csv")
    assert from_file.truth.rows() == next_item(EVENTS).truth.rows()
    from_pandas = next_item(EVENTS.to_pandas())
    assert from_pandas.queries.rows() == next_item(EVENTS).queries.rows()
    recs = pl.DataFrame(
        [(*key, item, rank) for key, items in RECS.items() for rank, item in enumerate(items, 1)],
        schema=["sessionId", "step", "article_id", "rank"],
        orient="row",
    )
    assert from_file.evaluate(recs, "mrr@3")["mrr@3"] == pytest.approx(11 / 24)
    recs.write_csv(tmp_path / "recs.csv")
    assert from_file.evaluate(tmp_path / "recs.csv", "mrr@3")["mrr@3"] == pytest.approx(11 / 24)


def test_times_as_text() -> None:
    days = ["2024-01-03", "2024-01-01", "2024-01-02"]
    events = pl.DataFrame({"session": [1] * 3, "item": ["c", "a", "b"], "time": days})
    assert next_item(events).queries["items"].to_list() == [["a"], ["a", "b"]]
    stamps = [f"{day}T10:00:00" for day in days]
    assert next_item(events.with_columns(time=pl.Series(stamps))).truth["item"].to_list() == ["b", "c"]
    # As numbers, not as text: 9 comes before 10.
    assert next_item(events.with_columns(time=pl.Series(["11", "9", "10"]))).truth["item"].to_list() == ["b", "c"]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            pl.col("time").replace(3, None),
            OrderError,
            "'time' is missing in row 2 (counting from 0). Times must be finite",
        ),
        (
            pl.lit("soon").alias("time"),
            OrderError,
            "'time' holds 'soon' in row 0 (counting from 0), one of 7 such rows",
        ),
        (pl.lit([1]).alias("time"), OrderError, "'time' is of type List(Int64)"),
        (pl.col("session").alias("visit_id"), ColumnError, "'session', 'visit_id' could each be the session"),
        (pl.col("time").alias("rank"), None, ""),
        (pl.lit(1).alias("session"), InputError, "1 session, 1 for example, belong to several users"),
    ],
)
def test_bad_events(change: pl.Expr, error: type[Exception] | None, message: str) -> None:
    events = EVENTS.with_columns(change)
    if error is None:
        assert len(next_item(events).truth) == 4
        return
    with pytest.raises(error) as caught:
        next_item(events)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"steps": "all"}, "unknown value 'all' for steps; choose every or last."),
        ({"seen": "drop"}, "unknown value 'drop' for seen; choose keep or exclude."),
        ({"average": "session_id"}, "Did you mean 'session'?"),
        ({"train": EVENTS, "test_from": 3}, "pass either train= or test_from=, not both."),
        ({"test_from": "yesterday"}, "test_from: 'yesterday' cannot be compared with the times of the log"),
        ({"test_from": "2024-01-01"}, "which are of type Int64, such as 1"),
        ({"test_from": 100}, "no test session has 2 events"),
    ],
)
def test_bad_words(given: dict[str, Any], message: str) -> None:
    with pytest.raises(atkay.errors.AtkayError) as caught:
        next_item(EVENTS, **given)
    assert message in str(caught.value)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ColumnError, match="events: no column for the session; columns are 'user', 'item', 'time'"):
        next_item(EVENTS.drop("session"))
    with pytest.raises(ColumnError, match="events: no column for the time"):
        next_item(EVENTS.drop("time"))
    with pytest.raises(InputError, match="average='user' needs a user in the log"):
        next_item(EVENTS.drop("user"), average="user")
    with pytest.raises(ColumnError, match="the column name 'step' is reserved"):
        next_item(EVENTS.rename({"time": "step"}), columns=atkay.Columns(time="step"))


def test_a_users_whole_log_is_a_session_where_it_is_named_so() -> None:
    log = EVENTS.drop("session")
    task = next_item(log, columns=atkay.Columns(session="user"), steps="last")
    assert task.truth.select("user", "step", "item").rows() == [("ann", 4, "a"), ("bob", 1, "c")]
