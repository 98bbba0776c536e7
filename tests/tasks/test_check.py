"""Leaks of each kind, planted and found."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from atkay.errors import IdError
from atkay.tasks import Task, leave_last_k_out, leave_last_out, next_item, split_by_time

LOG = pl.DataFrame(
    {
        "user": ["ann", "ann", "bob", "bob", "ann", "bob"],
        "item": ["a", "b", "a", "c", "c", "b"],
        "time": [1, 2, 3, 4, 5, 6],
    }
)
TASK = split_by_time(LOG, 5)


def planted(*rows: tuple[str, str, int]) -> Task:
    """The task with more rows in the training data."""
    return replace(TASK, train=pl.concat([TASK.train, pl.DataFrame(rows, schema=TASK.train.schema, orient="row")]))


def test_a_clean_task_is_true() -> None:
    found = TASK.check()
    assert found
    assert not found.leaks
    assert [each.count for each in found.findings] == [0, 0, 0, 0]
    assert [each.of for each in found.findings] == [4, 2, 2, 2]
    assert "no leak found" in repr(found)


def test_training_after_the_start() -> None:
    task = planted(("bob", "a", 5), ("ann", "a", 9))
    found = task.check()
    assert not found
    (leak,) = found.leaks
    assert (leak.what, leak.count, leak.of) == ("training events after the test starts", 2, 6)
    assert leak.examples == (("bob", "a", 5), ("ann", "a", 9))
    assert "leaks found: training events after the test starts" in repr(found)


def test_the_start_is_the_first_truth_where_there_is_no_other() -> None:
    # An event at the same time as the first truth is not after it.
    task = replace(planted(("bob", "a", 5), ("ann", "a", 6)), start=None)
    assert task.check()["training events after the test starts"].examples == (("ann", "a", 6),)


def test_pairs_in_both_parts() -> None:
    found = planted(("ann", "c", 4)).check()
    assert [each.what for each in found.leaks] == ["(user, item) in both parts"]
    assert found["(user, item) in both parts"].examples == (("ann", "c"),)
    assert "ann, c" in repr(found)


def test_unknown_items_and_users() -> None:
    truth = pl.DataFrame([("zoe", "new", 7), ("ann", "c", 5)], schema=TASK.truth.schema, orient="row")
    found = replace(TASK, truth=truth).check()
    assert found  # nobody can know them: no leak, but worth knowing
    assert found["truth items not in training"].examples == (("new",),)
    assert found["truth users not in training"].examples == (("zoe",),)


def test_sessions_in_both_parts() -> None:
    events = LOG.rename({"user": "session"})
    found = next_item(events.tail(5), train=events.head(2)).check()
    assert found["session in both parts"].examples == (("ann",),)
    assert not found


def test_listed_items_that_did_not_exist_yet() -> None:
    log = pl.concat([LOG, pl.DataFrame([("ann", "late", 8)], schema=LOG.schema, orient="row")])
    task = split_by_time(log, 5)
    recs = {"ann": ["c", "late"], "bob": ["never", "b"]}
    found = task.check(recs)
    assert found["listed items from the future"].examples == (("ann", "late"),)
    assert found["listed items not in the log"].examples == (("bob", "never"),)
    assert [each.what for each in found.leaks] == ["listed items from the future"]
    assert task.check({"ann": ["c"], "bob": ["b"]})


def test_lists_of_other_users_cannot_be_checked() -> None:
    # zoe is nobody's query, so nothing can be said about when her items may have been known.
    found = replace(TASK, start=None).check({"ann": ["c"], "zoe": ["b", "a"]})
    assert found["listed items of queries without truth"].examples == (("zoe", "b"), ("zoe", "a"))
    assert found["listed items from the future"].of == 1
    with pytest.raises(IdError, match="no user in common: recs has 'zoe', truth has 'ann'"):
        TASK.check({"zoe": ["b"]})


def test_each_query_has_its_own_time() -> None:
    # Session 1 asks at 2, session 2 at 4; x is first seen at 3, in session 2.
    events = pl.DataFrame({"session": [1, 1, 2, 2], "item": ["a", "b", "x", "a"], "time": [1, 2, 3, 4]})
    recs = pl.DataFrame({"session": [1, 2], "step": [1, 1], "item": ["x", "x"]})
    found = next_item(events).check(recs)
    assert found["listed items from the future"].examples == ((1, 1, "x"),)
    assert "no training data" in repr(found)


def test_an_item_of_the_session_itself_exists() -> None:
    events = pl.DataFrame({"session": [1, 1, 2, 2, 2], "item": ["a", "b", "x", "a", "b"], "time": [1, 2, 3, 4, 5]})
    task = next_item(events, test_from=3)
    assert task.check({(2, 1): ["x", "a"], (2, 2): ["b", "x"]})


def test_a_session_that_began_before_the_test() -> None:
    # Session 2 is a test, as it ends at 5; its step at 2 is earlier than the training event at 3.
    events = pl.DataFrame({"session": [1, 1, 2, 2, 2], "item": list("ababa"), "time": [1, 3, 1, 2, 5]})
    found = next_item(events, test_from=4).check()
    assert found["training events after the test starts"].examples == ((1, "b", 3),)


def test_an_item_exists_from_its_first_event_on() -> None:
    # b is first seen where it is wanted: at that time it exists. Where the test starts for all at once, it did not yet.
    log = pl.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "time": [1, 2, 1]})
    what, recs = "listed items from the future", {1: ["b"]}
    assert leave_last_out(log).check(recs)[what].count == 0
    assert split_by_time(log, 2).check(recs)[what].examples == ((1, "b"),)


def test_what_is_wanted_twice_is_wanted_from_the_first_time_on() -> None:
    what = "training events after the test starts"
    # User 1's test is x at 2 and at 9, user 2's c and d at 7 and 8: of the training, b at 6 comes after 2.
    log = pl.DataFrame({"user": [1, 1, 1, 2, 2, 2, 2], "item": list("axxabcd"), "time": [1, 2, 9, 1, 6, 7, 8]})
    assert leave_last_k_out(log, 2).check()[what].examples == ((2, "b", 6),)
    # x exists from 2 on, and user 2 is asked at 3; b exists from 3 on, and user 1 is asked at 2.
    log = pl.DataFrame({"user": [1, 1, 1, 2, 2, 2], "item": list("axxabc"), "time": [1, 2, 5, 1, 3, 4]})
    found = leave_last_k_out(log, 2).check({1: ["b"], 2: ["x"]})
    assert found["listed items from the future"].examples == ((1, "b"),)


def test_many_are_counted_and_a_few_shown() -> None:
    found = planted(*[("ann", "a", 10 + n) for n in range(1500)]).check()
    leak = found["training events after the test starts"]
    assert (leak.count, len(leak.examples)) == (1500, 3)
    assert "1,500" in repr(found)


def test_without_times_something_can_still_be_said() -> None:
    task = replace(TASK, time=None, train=TASK.train.drop("time"), truth=TASK.truth.drop("time"))
    found = task.check({"ann": ["c", "never"]})
    assert "the log has no times" in repr(found)
    assert repr(found).endswith("no leak found in what could be checked")
    assert found
    assert next(each.what for each in found.findings) == "(user, item) in both parts"
    assert found["listed items not in the log"].count == 1


def test_a_check_of_nothing_is_not_true() -> None:
    events = LOG.rename({"user": "session"})
    found = next_item(events).check()
    assert not found
    assert not found.leaks
    assert repr(found) == "no training data\nno leak could be checked"
    # b is first seen at 2, in the session itself, and c at 4: of lists something can be said.
    assert next_item(events).check({("ann", 1): ["b"]})
    assert not next_item(events).check({("ann", 1): ["c"]})
    # Nothing that could leak was looked for: whether an item is unknown says nothing of that.
    timeless = replace(TASK, time=None, train=TASK.train.clear().drop("time"), truth=TASK.truth.drop("time"))
    assert not timeless.check({"ann": ["c"]})
    assert repr(timeless.check({"ann": ["c"]})).endswith("no leak could be checked")


def test_an_unknown_finding() -> None:
    with pytest.raises(KeyError, match="check: 'what nobody looks for' was not checked; checked were 'training events"):
        TASK.check()["what nobody looks for"]
