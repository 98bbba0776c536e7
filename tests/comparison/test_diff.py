"""What changed between two runs: worked cases, plain loops, and the same lists as evaluate reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import atkay
from atkay.errors import (
    DuplicateError,
    IdError,
    InputError,
    PopulationError,
    ProtocolError,
    RowsError,
    SideError,
    SourceError,
    SpecError,
)

OLD = {"ann": ["tea", "milk", "rye", "jam"], "bob": ["jam", "tea"], "cat": ["fig", "oat"], "dan": ["tea"]}
NEW = {"ann": ["tea", "rye", "oat", "milk"], "bob": ["jam", "tea"], "cat": ["oat", "fig"], "eve": ["tea"]}
TRUTH = {"ann": {"rye": 1, "milk": 2}, "bob": {"jam": 1}, "cat": {"nut": 1}}

RECORDED = [
    ("abcdefg", "gfbac", 0.9, 0.6187917857142857),
    ("abcde", "edcba", 0.8, 0.5290666666666668),
    ("abc", "xyzab", 0.9, 0.28066500000000005),
    ("abcdefghij", "abdcexfgkl", 0.95, 0.7724487333491568),
]

lists = st.lists(st.integers(0, 9), unique=True, min_size=1, max_size=8)
runs = st.dictionaries(st.integers(0, 5), st.tuples(lists, lists), min_size=1, max_size=5)


def test_one_user_side_by_side() -> None:
    """In the top 3: rye moves from 3 to 2, oat enters, milk leaves for rank 4."""
    query = atkay.diff(OLD, NEW, TRUTH, k=3).query("ann")
    assert [tuple(row) for row in query.rows] == [
        ("tea", None, 1, 1, "same", None, False),
        ("rye", None, 3, 2, "up", 1, True),
        ("oat", None, None, 3, "entered", None, False),
        ("milk", None, 2, 4, "left", 2, True),
    ]
    assert query.to_polars().rows() == [tuple(row) for row in query.rows]
    # nDCG@3 with gains 2^2 - 1 and 2^1 - 1: before, milk at 2 and rye at 3; after, rye at 2.
    ideal = 3 + 1 / np.log2(3)
    before, after = (3 / np.log2(3) + 1 / 2) / ideal, (1 / np.log2(3)) / ideal
    assert (query.a, query.b, query.difference) == pytest.approx((before, after, after - before))


def test_a_query_is_printed_side_by_side() -> None:
    assert str(atkay.diff(OLD, NEW, TRUTH, k=3, metric="mrr", names=("old", "new")).query("ann")).splitlines() == [
        "rank  old       goes to   new    comes from",
        "───────────────────────────────────────────",
        "   1  tea       =         tea    =",
        "   2  milk ✓ 2  left (4)  rye ✓  ↑ 3",
        "   3  rye ✓     ↑ 2       oat    entered",
        "",
        "ann, top 3: 1 entered, 1 left, 1 up, 0 down; rbo 0.6850",
        "",
        "mrr: 0.5000 → 0.5000 (+0.0000). ✓ relevant, ✗ judged not relevant",
    ]


def test_the_summary_counts_users() -> None:
    """Bob's list is the same, Cat's has its items in another order, Ann's has other items; Dan and Eve are alone."""
    diff = atkay.diff(OLD, NEW, TRUTH, k=3)
    summary = diff.summary
    assert [summary[name] for name in ("users", "identical", "reordered", "other_items")] == [3, 1, 1, 1]
    assert summary["changed_at_1"] == pytest.approx(1 / 3)  # Cat
    assert "changed_at_5" not in summary
    assert summary["distribution"]["share_kept"]["mean"] == pytest.approx((2 / 3 + 1 + 1) / 3)
    assert (summary["gained"], summary["lost"], summary["equal"]) == (0, 1, 2)
    assert (summary["relevant_left"], summary["relevant_up"], summary["relevant_kept"]) == (1, 1, 2)
    assert (diff.only_a.rows(), diff.only_b.rows()) == ([("dan",)], [("eve",)])
    text = str(diff)
    assert "a → b: the top 3 of the lists of 3 users in both runs" in text
    assert "1 user only in a, such as dan (left out)" in text
    assert "milk 2 → 4, rye 3 → 2" in text or "rye 3 → 2, milk 2 → 4" in text


def test_items_are_counted_over_users() -> None:
    rows = atkay.diff(OLD, NEW, k=3).items
    assert rows.columns == ["item", "in_a", "in_b", "entered", "left", "up", "down"]
    assert rows.head(2).rows() == [("milk", 1, 0, 0, 1, 0, 0), ("oat", 1, 2, 1, 0, 1, 0)]
    assert {row[0]: row[5:] for row in rows.rows()}["fig"] == (0, 1)


def test_recorded_values_of_another_library() -> None:
    """``RankingSimilarity(S, T).rbo_ext(p)`` of the package rbo 0.1.3."""
    for one, other, p, value in RECORDED:
        diff = atkay.diff({1: [*one]}, {1: [*other]}, k=None, p=p)
        assert diff.queries["rbo"].item() == pytest.approx(value, abs=1e-12)


def change_of(rank: int | None, other: int | None, k: int) -> str:
    if rank is None or rank > k:
        return "entered"
    if other is None or other > k:
        return "left"
    return "same" if rank == other else "up" if other < rank else "down"


def by_hand(one: list[int], other: list[int], k: int) -> dict[int, str]:
    """What became of each item of either top k."""
    ranks = [{item: rank for rank, item in enumerate(items, start=1)} for items in (one, other)]
    return {item: change_of(ranks[0].get(item), ranks[1].get(item), k) for item in {*one[:k], *other[:k]}}


@given(runs, st.one_of(st.none(), st.integers(1, 6)), st.sets(st.integers(0, 9), min_size=1))
def test_plain_loops_find_the_same(pairs: dict[int, Any], k: int | None, relevant: set[int]) -> None:
    run_a, run_b = ({user: both[at] for user, both in pairs.items()} for at in (0, 1))
    truth = {user: sorted(relevant) for user in pairs}
    diff = atkay.diff(run_a, run_b, truth, k=k, metric="precision@2")
    depth = k or 100
    overlaps = atkay.overlap(run_a, run_b, k=k).per_query
    queries = diff.queries
    assert queries.sort("user").select(overlaps.columns).equals(overlaps)
    assert queries["rbo"].round(9).is_sorted()
    of_items: dict[tuple[int, str], int] = {}
    for row in queries.iter_rows(named=True):
        one, other = pairs[row["user"]]
        changes = by_hand(one, other, depth)
        for item, change in changes.items():
            of_items[item, change] = of_items.get((item, change), 0) + 1
        of_relevant = [change for item, change in changes.items() if item in relevant]
        for change in ("entered", "left", "up", "down"):
            assert row[change] == list(changes.values()).count(change)
            assert row[f"relevant_{change}"] == of_relevant.count(change)
        kept = len({*one[:depth]} & {*other[:depth]})
        assert (row["kept"], row["share_kept"]) == (kept, pytest.approx(kept / len(one[:depth])))
        tops = one[:depth], other[:depth]
        differ = [rank for rank in range(1, 10) if tops[0][rank - 1 : rank] != tops[1][rank - 1 : rank]]
        assert row["first_change"] == (differ[0] if differ else None)
        hits = [len({*top[:2]} & relevant) / 2 for top in (one, other)]
        assert (row["a"], row["b"], row["difference"]) == pytest.approx((*hits, hits[1] - hits[0]))
        shown = diff.query(row["user"])
        assert {each.item: each.change for each in shown.rows} == changes
    for row in diff.items.iter_rows(named=True):
        for change in ("entered", "left", "up", "down"):
            assert row[change] == of_items.get((row["item"], change), 0)
    rows = diff.changes.rows(named=True)
    assert len(rows) == sum(of_items.values())
    for row in rows:
        one, other = pairs[row["user"]]
        assert by_hand(one, other, depth)[row["item"]] == row["change"]
    same = {
        at: sum(one[: min(at, depth)] != other[: min(at, depth)] for one, other in pairs.values()) for at in (1, 5, 10)
    }
    for at, changed in same.items():
        if at <= depth:
            assert diff.summary[f"changed_at_{at}"] == pytest.approx(changed / len(pairs))
    every_top = [(one[:depth], other[:depth]) for one, other in pairs.values()]
    assert diff.summary["identical"] == sum(one == other for one, other in every_top)
    assert diff.summary["reordered"] == sum(one != other and {*one} == {*other} for one, other in every_top)


GRADED = st.dictionaries(st.integers(0, 9), st.integers(0, 2), min_size=1, max_size=6)


@given(
    st.dictionaries(st.integers(0, 3), st.tuples(lists, lists, GRADED), min_size=1, max_size=3),
    st.sampled_from(["ndcg@3", "map@4", "recall@2", "rbp"]),
)
@example({0: ([0, 1, 2, 3, 4], [0, 4], {0: 1})}, "rbp")  # it looks deeper than k
def test_the_turn_of_an_unjudged_item_is_that_of_a_truth_with_it(users: dict[int, Any], metric: str) -> None:
    run_a, run_b, truth = ({user: three[at] for user, three in users.items()} for at in (0, 1, 2))
    diff = atkay.diff(run_a, run_b, truth, k=4, metric=metric)
    highest = max([grade for of_user in truth.values() for grade in of_user.values()]) or 1
    seen = set()
    for row in diff.unjudged.iter_rows(named=True):
        user, item = row["user"], row["item"]
        with_it = {user: truth[user] | {item: highest}}
        values = [atkay.evaluate({user: run[user]}, with_it, metric)[metric] for run in (run_a, run_b)]
        assert row["difference"] + row["turn"] == pytest.approx(values[1] - values[0], abs=1e-9)
        assert (row["rank_a"], row["rank_b"]) == tuple(
            run[user].index(item) + 1 if item in run[user] else None for run in (run_a, run_b)
        )
        seen.add((user, item))
    depth = min(4, atkay.parse(metric).reach)
    assert seen == {
        (user, item)
        for user, (one, other, judged) in users.items()
        if any(judged.values())
        for item in {*one[:depth], *other[:depth]} - {*judged}
    }
    assert diff.unjudged["turn"].abs().is_sorted(descending=True)


def test_a_protocol_holds_for_both_runs() -> None:
    seen, kept = {"ann": ["tea"]}, {"ann": ["tea", "rye", "oat", "milk"]}
    diff = atkay.diff(OLD, NEW, k=3, exclude=seen)
    assert [row[2:4] for row in diff.query("ann").rows] == [(2, 1), (None, 2), (1, 3), (3, None)]
    diff = atkay.diff(OLD, NEW, k=3, candidates=kept | {"bob": ["jam"], "cat": ["fig"]})
    assert [row.item for row in diff.query("ann").rows] == ["tea", "rye", "oat", "milk"]
    assert [row.item for row in diff.query("bob").rows] == ["jam"]
    assert diff.query("cat").rows[0][2:4] == (1, 1)


def test_ties_and_duplicates_are_read_as_by_evaluate() -> None:
    tied, repeated = {"ann": {"b": 1.0, "a": 1.0}}, [("ann", "a"), ("ann", "b"), ("ann", "a")]
    assert atkay.diff(tied, {"ann": ["b", "a"]}).summary["identical"] == 1
    assert atkay.diff(tied, {"ann": ["b", "a"]}, ties="item").summary["identical"] == 0
    frame = pl.DataFrame(repeated, schema=["user", "item"], orient="row")
    with pytest.raises(DuplicateError, match=r"^run 'run_b': recs: item 'a' appears twice"):
        atkay.diff(tied, frame)
    assert atkay.diff({"ann": ["a", "b"]}, frame, duplicates="first").summary["identical"] == 1
    with pytest.raises(ProtocolError, match="ties='best' needs truth"):
        atkay.diff(tied, tied, ties="best")


def test_a_list_that_is_emptied_is_no_list() -> None:
    diff = atkay.diff({"a": [1], "b": [1, 2]}, {"a": [2], "b": [2, 1]}, exclude=[1])
    assert (diff.only_b.rows(), len(diff)) == ([("a",)], 1)


def forms(tmp_path: Path) -> list[Any]:
    """The same lists: user 0 has 2, 0, 1 and user 1 has 1, 2, 0."""
    array = np.array([[2, 0, 1], [1, 2, 0]])
    frame = pl.DataFrame({"user": [0, 0, 0, 1, 1, 1], "item": array.ravel(), "score": [0.9, 0.5, 0.1] * 2})
    frame.sample(fraction=1, shuffle=True, seed=1).write_csv(tmp_path / "run.csv")
    frame.write_parquet(tmp_path / "run.parquet")
    scores = np.array([[0.5, 0.1, 0.9], [0.1, 0.9, 0.5]])
    return [array, frame, frame.to_pandas(), str(tmp_path / "run.csv"), tmp_path / "run.parquet", scores, frame.lazy()]


@pytest.mark.parametrize("truth", [None, {0: [0], 1: [1]}])
def test_every_form_of_lists_is_read(tmp_path: Path, truth: Any) -> None:
    given = [*forms(tmp_path), {0: [2, 0, 1], 1: [1, 2, 0]}]
    given.append(given[1].cast({"user": pl.Int32, "item": pl.Int16}))
    for run in given:
        diff = atkay.diff(given[1], run, truth)
        assert (diff.summary["identical"], len(diff)) == (2, 2), type(run)
        assert atkay.diff(run, given[3], truth).summary["identical"] == 2, type(run)


def test_columns_may_differ_between_runs() -> None:
    one = pl.DataFrame({"who": ["a", "a"], "what": ["x", "y"]})
    other = pl.DataFrame({"u": ["a", "a"], "i": ["y", "x"]})
    columns = {"run_a": atkay.Columns(user="who", item="what"), "run_b": atkay.Columns(user="u", item="i")}
    assert atkay.diff(one, other, columns=columns).query("a").rows[0][:4] == ("y", None, 2, 1)


def test_a_dialect_and_its_tables_are_those_of_evaluate() -> None:
    train = {"ann": ["tea", "rye"], "bob": ["jam"]}
    for metric, more in (("novelty@2", {"train": train}), ("mrr", {"dialect": "ranx"})):
        diff = atkay.diff(OLD, NEW, TRUTH, metric=metric, **more)
        for side, run in (("a", OLD), ("b", NEW)):
            rows = atkay.evaluate(run, TRUTH, metric, **more).per_query.rows(named=True)
            name = next(name for name in rows[0] if name != "user")
            values = {row["user"]: row[name] for row in rows}
            assert all(row[side] == values[row["user"]] for row in diff.queries.rows(named=True))


def test_titles_stand_beside_ids() -> None:
    titles = {"tea": "Green tea", "rye": "Rye bread"}
    diff = atkay.diff(OLD, NEW, k=3, features=titles)
    assert [row.title for row in diff.query("ann").rows] == ["Green tea", "Rye bread", None, None]
    assert diff.items.filter(item="rye")["title"].to_list() == ["Rye bread"]
    assert "Rye bread" in str(diff)
    table = pl.DataFrame({"item": ["tea"], "genre": ["drinks"], "title": ["Green tea"]})
    assert atkay.diff(OLD, NEW, k=1, features=table).query("ann").rows[0].title == "Green tea"
    kinds = {"tea": "drinks", "rye": "bread", "oat": "bread", "milk": "drinks"}  # they do not tell items apart
    assert atkay.diff(OLD, NEW, k=3, features=kinds).query("ann").rows[0].title is None
    genres = table.drop("title").with_columns(price=pl.lit(1))
    assert atkay.diff(OLD, NEW, k=1, features=genres).query("ann").rows[0].title is None


def test_what_is_saved_is_json_and_has_the_rows() -> None:
    diff = atkay.diff(OLD, NEW, TRUTH | {"bob": {"jam": 1, "tea": 0}}, k=3)
    content = json.loads(diff.to_json())
    assert content["summary"]["users"] == 3
    assert [each["query"]["user"] for each in content["most_changed"]] == ["ann", "cat"]
    assert content["most_changed"][0]["rows"][1] == {
        "item": "rye", "title": None, "rank_a": 3, "rank_b": 2, "change": "up", "grade": 1.0, "relevant": True,
    }  # fmt: skip
    assert [each["query"]["user"] for each in content["lost"]] == ["ann"]
    assert content["unjudged"][0]["user"] in ("ann", "cat")
    assert len(json.loads(diff.to_json(1))["most_changed"]) == 1
    assert "unjudged items that would decide" in str(diff)
    assert r"\begin{tabular}" in diff.to_latex()
    assert "| user |" in diff.to_markdown()


@pytest.mark.parametrize(("arguments", "error", "message"), [
    ({"k": 0}, SpecError, "k must be a positive integer"),
    ({"p": 1}, SpecError, "p must be a number between 0 and 1, got 1"),
    ({"top": -1}, SpecError, "top must be 0 or a positive integer, got -1"),
    ({"names": ("a", "a")}, InputError, "names must be two different names"),
    ({"metric": "ndcg@5"}, ProtocolError, "metric='ndcg@5' needs truth"),
    ({"truth": TRUTH, "metric": "ndcg@1,5"}, SpecError, "metric must be one number for each user"),
    ({"truth": TRUTH, "metric": "coverage@5"}, SpecError, "metric must be one number for each user"),
    ({"truth": TRUTH, "metric": "novelty@5"}, SideError, "novelty@5 needs train="),
    ({"unjudged": "drop"}, ProtocolError, "unjudged='drop' needs truth"),
    ({"aggregate": "median"}, ProtocolError, "users are shown one by one, so aggregate='median' has no effect"),
    ({"slices": {}}, ProtocolError, "slices= is an argument of evaluate"),
    ({"tie": "item"}, ProtocolError, "no argument 'tie'"),
])  # fmt: skip
def test_what_is_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        atkay.diff(OLD, NEW, **arguments)


def test_unknown_users_are_named() -> None:
    diff = atkay.diff(OLD, NEW)
    with pytest.raises(IdError, match=r"no user 'anna'\. Did you mean 'ann'\?"):
        diff.query("anna")
    with pytest.raises(IdError, match="'dan' has a list in 'a' only"):
        diff.query("dan")
    with pytest.raises(RowsError, match="gains and losses need truth"):
        diff.lost()
    with pytest.raises(IdError, match="run_a and run_b have no user in common"):
        atkay.diff({"a": ["x"]}, {"b": ["x"]})
    with pytest.raises(PopulationError, match="no user has a list in both runs after filtering"):
        atkay.diff({"a": ["x"]}, {"a": ["y"]}, exclude=["x"])
    with pytest.raises(SourceError, match=r"^run 'run_b': recs: a dict has no rows"):
        atkay.diff({"a": ["x"]}, {})
    with pytest.raises(ProtocolError, match="what becomes relevant changes the ranks under ties='best'"):
        _ = atkay.diff(OLD, NEW, TRUTH, ties="best").unjudged
