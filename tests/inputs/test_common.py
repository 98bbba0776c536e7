"""Tables that share no ids, or next to none; lists and truth in each other's place; columns that decide a number."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

import atkay
from atkay import Columns
from atkay.cli.app import app
from atkay.errors import (
    CategoriesWarning,
    ColumnError,
    IdError,
    OverlapWarning,
    SideError,
    SourceError,
    SwappedWarning,
)

N = 150
READ = "recs: user, item, score (1,200 rows); truth: user, item (150 rows)"
"""What is said of RECS, eight rows for each of the 150 users, and of TRUTH, which has one for each."""
RECS = pl.DataFrame(
    [(f"u{user}", f"i{(user + rank * rank) % 120}", -rank) for user in range(N) for rank in range(8)],
    schema=["user", "item", "score"],
    orient="row",
)
TRUTH = pl.DataFrame([(f"u{user}", f"i{(user + 4) % 120}") for user in range(N)], schema=["user", "item"], orient="row")
ENGINES: list[dict[str, Any]] = [{}, {"memory": 20_000}]

exclude = pl.DataFrame({"user": [f"u{n}" for n in range(N)], "item": [f"i{n % 120}" for n in range(N)]})
other_users = exclude.with_columns(pl.col("user").str.to_uppercase())
other_items = pl.DataFrame({"user": exclude["user"], "item": [f" i{n}" for n in range(N)]})


def quietly(*given: Any, **more: Any) -> atkay.Result:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return atkay.evaluate(*given, **more)


@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "files"])
@pytest.mark.parametrize(
    ("metric", "given", "message"),
    [
        (
            "mrr",
            {"exclude": other_users},
            "exclude has no user in common with recs and truth: 'U\\d+' in exclude, 'u\\d+' in",
        ),
        ("mrr", {"candidates": other_users[:3]}, "candidates has no user in common with recs and truth: 'U\\d+'"),
        ("mrr", {"candidates": other_items[:3]}, "candidates has no item in common with recs and truth: ' i\\d+'"),
        ("mrr", {"candidates": [" i0", " i1"]}, "candidates has no item in common with recs and truth: ' i\\d+'"),
        ("new_to_user@5", {"train": other_users}, "train has no user in common with recs and truth: 'U\\d+'"),
        ("arp@5", {"train": other_items}, "train has no item in common with recs and truth: ' i\\d+'"),
        ("coverage@5", {"catalog": ["I0", "I1"]}, "catalog has no item in common with recs and truth: 'I0'"),
        (
            "category_count@5",
            {"features": {"I0": "a", "I1": "b"}},
            "features has no item in common with recs and truth",
        ),
        (
            "unexpectedness@5",
            {"reference": other_users},
            "reference has no user in common with recs and truth: 'U\\d+'",
        ),
        ("mrr", {"slices": {"U0": "a"}}, "slices has no user in common with recs and truth: 'U0' in slices"),
    ],
)
def test_a_table_of_other_ids_is_refused(
    metric: str, given: dict[str, Any], message: str, engine: dict[str, Any]
) -> None:
    with pytest.raises(IdError, match=message):
        atkay.evaluate(RECS, TRUTH, metric, **given, **engine)


@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "files"])
@pytest.mark.parametrize("name", ["exclude", "candidates", "train", "reference", "slices"])
def test_next_to_nothing_in_common(name: str, engine: dict[str, Any]) -> None:
    """2 of the table's 200 users (1 %) and of the 150 evaluated ones (1.3 %) are in both."""
    table: Any = pl.DataFrame({"user": ["u3", "u4", *(f"U{n}" for n in range(198))], "item": ["i4"] * 200})
    # Of a table that every part gets whole, nobody knows in the end which users no part used.
    theirs = rf"'U\d+' in {name}, " if not engine or name in ("exclude", "candidates") else ""
    message = (
        rf"{name} shares almost no users with recs and truth: 2 of its 200 users \(1 %\), and 2 of their 150 "
        rf"\(1\.3 %\)\. Not in common: {theirs}'u\d+' in recs or truth, for example"
    )
    with pytest.warns(OverlapWarning, match=message) as caught:
        atkay.evaluate(RECS, TRUTH, "new_to_user@5" if name == "train" else "mrr", **engine | {name: table})
    assert len([one for one in caught if str(one.message).startswith(name)]) == 1


@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "files"])
@pytest.mark.parametrize("name", ["exclude", "train", "catalog", "features"])
def test_next_to_no_items_in_common(name: str, engine: dict[str, Any]) -> None:
    """2 of the table's 200 items (1 %) and of the 120 that are listed (1.7 %) are in both."""
    items = ["i3", "i4", *(f"I{n}" for n in range(198))]
    table: Any = pl.DataFrame({"user": [f"u{n % N}" for n in range(200)], "item": items, "kind": ["a", "b"] * 100})
    table = {"catalog": items, "features": table.drop("user")}.get(name, table)
    message = rf"{name} shares almost no items .*: 2 of its 200 items \(1 %\), and 2 of their 120 \(1\.7 %\)"
    with pytest.warns(OverlapWarning, match=message) as caught:
        atkay.evaluate(RECS, TRUTH, "mrr", **engine | {name: table})
    assert len([one for one in caught if one.category is OverlapWarning]) == 1


@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "files"])
def test_a_few_ids_that_match_are_enough(engine: dict[str, Any]) -> None:
    """A small table all of which matches, and a large one of which a few users and items are evaluated."""
    quietly(RECS, TRUTH, "mrr", exclude={"u1": ["i1"]}, **engine)
    quietly(RECS, TRUTH, "mrr", exclude={"u1": ["i1", *(f"I{n}" for n in range(15))]}, **engine)
    large = {f"u{n}": [f"i{n}", f"i{n + 1}"] for n in range(5000)}
    few = RECS.filter(pl.col("user").is_in(["u7", "u8"])), TRUTH.filter(pl.col("user").is_in(["u7", "u8"]))
    quietly(*few, ["mrr", "new_to_user@5"], exclude=large, train=large, reference=large, **engine)
    quietly(*few, "coverage@5", catalog=[f"i{n}" for n in range(5000)], **engine)


def test_small_tables_may_have_nothing_in_common_by_chance() -> None:
    """Below a hundred ids on a side nothing is refused, and nothing is silent."""
    for name, what in ((other_users[:99], "user"), (other_items, "item")):
        with pytest.warns(OverlapWarning, match=f"exclude has no {what} in common"):
            result = atkay.evaluate(RECS, TRUTH, "mrr", exclude=name)
        assert result.population.excluded == 0


def test_popularity_needs_no_common_user() -> None:
    """Users who are new to the model are evaluated with what others had: item i5 has one training user."""
    assert quietly({"u1": ["i5"]}, {"u1": ["i5"]}, "arp", train=other_users[:120])["arp"] == 1
    with pytest.raises(IdError, match="train has no user in common"):
        atkay.evaluate(RECS, TRUTH, ["arp@5", "new_to_user@5"], train=other_users)


@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "files"])
def test_text_that_is_no_integer(engine: dict[str, Any], tmp_path: Path) -> None:
    """Of 100 rows 97 have ids such as 007, where lists and truth have 7."""
    recs = pl.DataFrame({"user": np.repeat(np.arange(200), 2), "item": np.arange(400) % 300}).with_row_index("score")
    truth = pl.DataFrame({"user": np.arange(200), "item": np.arange(200)})
    lines = [f"{n:03},{n}" if n >= 3 else f"{n},{n}" for n in range(100)]
    (tmp_path / "seen.csv").write_text("user,item\n" + "\n".join(lines) + "\n")
    with pytest.warns(OverlapWarning, match=r"exclude: ignored 97 of 100 rows.* '007' and ' 7' are not 7"):
        atkay.evaluate(recs, truth, "mrr", exclude=tmp_path / "seen.csv", **engine)


def test_lists_and_truth_of_other_users() -> None:
    """3 of 150 users have both a list and truth."""
    truth = {**{f"u{n}": ["i1"] for n in range(3)}, **{f"U{n}": ["i1"] for n in range(147)}}
    for engine in ENGINES:
        with pytest.warns(OverlapWarning, match=r"recs shares almost no users with truth: 3 of its 150 users"):
            atkay.evaluate(RECS, truth, "mrr", **engine)


@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "files"])
def test_candidates_that_are_never_listed(engine: dict[str, Any]) -> None:
    """The truth has them, so these are the right ids: every list is empty, and scores 0."""
    recs, truth = {n: [n + 1, n + 2] for n in range(120)}, {n: [n + 500, n + 1] for n in range(120)}
    with pytest.warns(OverlapWarning, match=r"every list is empty: all 240 listed items were removed \(240 by cand"):
        result = atkay.evaluate(recs, truth, "mrr", candidates=list(range(500, 620)), **engine)
    assert result["mrr"] == 0


# A run without a hit


@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "files"])
def test_a_run_without_a_common_item_scores_0(engine: dict[str, Any]) -> None:
    recs, truth = {n: [1, 2] for n in range(30)}, {n: [7] for n in range(30)}
    specs = ["ndcg@10", "map@10", "mrr@10", "recall@10", "precision(average=pooled)@10", "hit@10", "gini@2"]
    message = "recs and truth have no item in common: recs has 1, truth has 7, for example. .* No list has a hit"
    with pytest.warns(OverlapWarning, match=message):
        result = atkay.evaluate(recs, truth, specs, catalog=[1, 2, 7], **engine)
    assert [result[spec] for spec in specs[:-1]] == [0.0] * 6
    assert result.population.hits == 0
    with pytest.raises(IdError, match="recs and truth have no user in common"):
        atkay.evaluate(recs, {99: [1]}, "mrr", **engine)


def test_a_run_without_a_common_item_is_compared() -> None:
    truth = {n: [7] for n in range(30)}
    runs = {"bad": {n: [1, 2] for n in range(30)}, "good": {n: [7, 2] for n in range(30)}}
    with pytest.warns(OverlapWarning, match="no item in common"):
        comparison = atkay.compare(runs, truth, "mrr", baseline="bad", test="t")
    assert comparison["mrr"][0].difference == 1


# Lists and truth in each other's place


@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "files"])
@pytest.mark.parametrize("suffix", ["", ".txt", "own"])
def test_trec_files_in_the_wrong_place(suffix: str, engine: dict[str, Any], tmp_path: Path) -> None:
    run, qrels = (tmp_path / (name + (f".{name}" if suffix == "own" else suffix)) for name in ("run", "qrels"))
    run.write_text("".join(f"q{n} Q0 d{n} 1 0.5 t\n" for n in range(9)))
    qrels.write_text("".join(f"q{n} 0 d{n} 1\n" for n in range(9)))
    assert quietly(run, qrels, "mrr", **engine)["mrr"] == 1
    for recs, truth in ((qrels, run), (qrels, qrels)):
        with pytest.raises(
            SourceError, match=r"recs: '.*' is a TREC qrels file, .* Pass the run as recs and the qrels"
        ):
            atkay.evaluate(recs, truth, "mrr", **engine)
    with pytest.raises(SourceError, match=r"truth: '.*' is a TREC run, which holds ranked lists, .* swapped\?"):
        atkay.evaluate(run, run, "mrr", **engine)
    shell = CliRunner().invoke(app, ["evaluate", str(qrels), str(run)], prog_name="atkay")
    assert shell.exit_code == 2
    assert "Are recs and truth swapped?" in shell.stderr


@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "files"])
def test_columns_in_the_wrong_place(engine: dict[str, Any]) -> None:
    truth = TRUTH.with_columns(rating=pl.lit(4))
    for scored in (RECS, RECS.rename({"score": "prediction"}), RECS.drop("score").with_columns(position=pl.lit(1))):
        with pytest.raises(
            ColumnError, match=r"are recs and truth swapped\? recs has 'rating' and neither a score nor"
        ):
            atkay.evaluate(truth, scored, "mrr", **engine)
    meant = {"recs": Columns(score="rating"), "truth": Columns(relevance="score")}
    graded = RECS.with_columns(pl.col("score") + 8)
    assert quietly(truth, graded, "mrr", columns=meant, **engine).population.evaluated == N
    assert quietly(truth, graded, "mrr", columns={"recs": meant["recs"]}, **engine).population.evaluated == N


@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "files"])
def test_a_score_in_the_truth(engine: dict[str, Any]) -> None:
    truth = TRUTH.with_columns(score=pl.lit(2.0))
    quietly(RECS.with_columns(pl.col("score") + 0.5), truth, "mrr", **engine)  # no grades look like that
    with pytest.warns(SwappedWarning, match=r"truth: 'score' is read as the grades, and recs has 'score', too\."):
        atkay.evaluate(RECS, truth, "mrr", **engine)
    quietly(RECS, truth, "mrr", columns={"truth": Columns(relevance="score")}, **engine)
    with pytest.warns(SwappedWarning, match="and recs has neither a score nor a rank"):
        atkay.evaluate(RECS.drop("score"), truth, "mrr", **engine)
    quietly(RECS, truth.with_columns(rating=pl.lit(1)), "mrr", **engine)


def lists_of(lengths: Any) -> dict[int, list[int]]:
    return {user: [(user + n) % 500 for n in range(size)] for user, size in enumerate(lengths)}


@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "files"])
def test_lengths_tell_lists_from_truth(engine: dict[str, Any]) -> None:
    varying = np.random.default_rng(3).geometric(0.3, 200)
    truth, recs = lists_of(varying), lists_of([10] * 200)
    message = r"are recs and truth swapped\? 200 of 200 users have 10 relevant items"
    with pytest.warns(SwappedWarning, match=message) as caught:
        atkay.evaluate(truth, recs, "mrr", **engine)
    assert len(caught) == 1
    with pytest.warns(SwappedWarning, match="191 of 200 users have 10 relevant items"):
        atkay.evaluate(truth, lists_of([10] * 191 + [3] * 9), "mrr", **engine)
    with pytest.warns(SwappedWarning, match="while the lists have one item each"):
        atkay.evaluate(lists_of([1] * 200), recs, "mrr", **engine)
    quietly(recs, truth, "mrr", **engine)


@pytest.mark.parametrize(
    ("lists", "truth"),
    [
        ([10] * 200, [1] * 200),  # leave one out
        ([10] * 200, [5] * 200),  # the next five
        ([10] * 170 + [7] * 30, [5] * 200),  # of some users the model knows too little
        (range(1, 201), [1] * 200),
        (range(1, 201), [4] * 200),
        (range(1, 19), [10] * 18),  # too few users to tell
        (range(1, 201), [10] * 180 + [3] * 20),
    ],
)
def test_ordinary_lengths(lists: list[int], truth: list[int]) -> None:
    quietly(lists_of(lists), lists_of(truth), "mrr")
    scored = {user: {item: -at for at, item in enumerate(items)} for user, items in lists_of(lists).items()}
    quietly(scored, lists_of([10] * len(truth)), "mrr")


def test_arrays_and_logs_like_movielens_are_quiet() -> None:
    rng = np.random.default_rng(7)
    top = np.array([rng.choice(400, 20, replace=False) for _ in range(300)])
    quietly(top, top[:, ::3], "ndcg@10")
    log = pl.DataFrame({"user": rng.zipf(1.3, 6000) % 300, "item": rng.zipf(1.2, 6000) % 400}).unique()
    log = log.with_columns(rating=pl.Series(rng.integers(1, 6, len(log))), timestamp=pl.Series(np.arange(len(log))))
    train, truth = log[: len(log) // 2], log[len(log) // 2 :]
    popular = train["item"].value_counts(sort=True)[:50].select("item", score=-pl.int_range(pl.len()))
    recs = truth.select("user").unique().join(popular, how="cross")
    quietly(
        recs,
        truth,
        ["ndcg@10", "novelty@10"],
        train=train,
        exclude=train,
        catalog=log.select("item").unique(),
        min_relevance=4,
    )


# Columns that decide a number


def test_one_number_per_item_has_no_cosine() -> None:
    features = {f"i{n}": float(n) for n in range(120)}
    spec = "serendipity(kind=cosine,similarity=features)@5"
    for engine in ENGINES:
        with pytest.raises(SideError, match=r"ild@5 uses the cosine .* one number per item.* choose by=euclidean"):
            atkay.evaluate(RECS, TRUTH, "ild@5", features=features, **engine)
        with pytest.raises(SideError, match=r"one number per item.* choose similarity=shared"):
            atkay.evaluate(RECS, TRUTH, spec, train=exclude, features=features, **engine)
    # i1, i3 and i6 are 2, 3 and 5 apart: 10 / 3.
    lists, truth = {"ann": ["i1", "i3", "i6"]}, {"ann": ["i1"]}
    result = atkay.evaluate(lists, truth, "ild(by=euclidean)@3", features=features)
    assert result["ild(by=euclidean)@3"] == pytest.approx(10 / 3)


@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "files"])
def test_categories_in_one_text(engine: dict[str, Any], tmp_path: Path) -> None:
    """Tea and rum share one of three categories, d = 2/3; rye shares none with either, d = 1. (2/3 + 1 + 1) / 3."""
    lists, truth = {"ann": ["tea", "rum", "rye"]}, {"ann": ["tea"]}
    (tmp_path / "items.csv").write_text("item,genres\ntea,drink|hot\nrum, drink | strong|\nrye,bread\n")
    specs = ["ild(by=categories)@3", "category_count@3", "category_entropy(count=each)@3"]
    result = atkay.evaluate(lists, truth, specs, features=tmp_path / "items.csv", **engine)
    assert result["ild(by=categories)@3"] == pytest.approx(8 / 9)
    assert result["category_count@3"] == 4  # drink, hot, strong, bread
    # Drink has 2 of 5 and the three others 1 of 5 each.
    bits = -0.4 * np.log2(0.4) - 3 * 0.2 * np.log2(0.2)
    assert result["category_entropy(count=each)@3"] == pytest.approx(bits)
    assert result.readings == ("categories from features' column 'genres' (split at '|')",)
    assert "split at '|'" in repr(result)
    listed = {"tea": ["drink|hot"], "rum": ["drink", "strong"], "rye": ["bread"]}  # a list is as it is
    assert atkay.evaluate(lists, truth, "category_count@3", features=listed)["category_count@3"] == 4


def test_names_are_no_categories() -> None:
    films = pl.DataFrame({"item": [f"i{n}" for n in range(30)], "title": [f"Film {n}" for n in range(30)]})
    films = films.with_columns(genres=pl.Series(["Drama", "Drama|War", "Comedy"] * 10))
    with pytest.warns(CategoriesWarning, match=r"'title' is read as categories, but no two of 30 items share one"):
        result = atkay.evaluate(RECS, TRUTH, "ild(by=categories)@5", features=films)
    assert result.readings == (READ, "categories from features' columns 'title', 'genres' (split at '|')")
    quietly(RECS, TRUTH, "ild(by=categories)@5", features=films.drop("title"))


@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "files"])
def test_grades_are_named(engine: dict[str, Any], tmp_path: Path) -> None:
    truth = TRUTH.with_columns(rating=pl.Series(np.arange(N) % 10 / 2 + 0.5))
    words = "grades 0.5 to 5 from 'rating'; relevant from 0.5; gain 2^grade - 1"
    result = quietly(RECS, truth, "ndcg@5", min_relevance=0.5, **engine)
    assert result.readings == (READ.replace("item (150", "item, grade 'rating' (150"), words)
    assert words in repr(result)
    assert words.replace("'", "&#x27;") in result._repr_html_()
    result.save(tmp_path / "r.json")
    assert words in repr(atkay.Result.load(tmp_path / "r.json"))
    assert words in atkay.compare({"a": RECS, "b": RECS}, truth, "ndcg@5", min_relevance=0.5, **engine).notes
    atkay.report(result, tmp_path / "r.html")
    assert words in (tmp_path / "r.html").read_text()
    for values in (1, 0.0, np.arange(N) % 2):
        plain = TRUTH.with_columns(rating=pl.Series(np.maximum(np.full(N, values), np.arange(N) == 3)))
        assert len(quietly(RECS, plain, "ndcg@5", **engine).readings) == 1  # grades of 0 and 1 are none
    half = TRUTH.with_columns(label=pl.Series([0.0, 0.5, 1.0] * (N // 3)))
    words = "grades 0 to 1 from 'label'; relevant above 0; gain 2^grade - 1"
    assert quietly(RECS, half, "ndcg@5", **engine).readings[1:] == (words,)
    words = "grades 0 to 1 from 'label'; relevant from 0.5"
    assert quietly(RECS, half, "mrr", min_relevance=0.5, **engine).readings[1:] == (words,)
    metrics = ["ndcg@5", "dcg(gain=linear)@5"]  # of which each has a gain of its own
    words = "grades 0 to 1 from 'label'; relevant above 0"
    assert quietly(RECS, half, metrics, **engine).readings[1:] == (words,)


def test_grades_without_a_column() -> None:
    counts = sp.csr_matrix(np.array([[3, 0, 1], [0, 7, 0]]))
    assert atkay.evaluate([[0, 1], [1, 2]], counts, "ndcg@2").readings == (
        "grades 1 to 7 from the values of truth; relevant from 1; gain 2^grade - 1",
    )
    assert atkay.evaluate({1: ["a"]}, {1: {"a": 3}}, "ndcg@2").readings == (
        "grades 3 to 3 from the values of truth; relevant from 3; gain 2^grade - 1",
    )


def test_the_order_is_named() -> None:
    assert quietly(RECS, TRUTH, "mrr").readings == (READ,)
    assert quietly(RECS.rename({"user": "uid"}), TRUTH, "mrr").readings == (READ.replace("user", "user 'uid'", 1),)
    for name in ("rating", "prediction", "sim"):
        renamed = RECS.rename({"score": name})
        assert quietly(renamed, TRUTH, "mrr").readings == (READ.replace("score", f"score '{name}'"),)
    both = RECS.with_columns(rank=1 - pl.col("score"))
    result = quietly(both, TRUTH, "mrr")
    assert result.readings[1:] == ("recs ordered by column 'rank'",)
    other = atkay.compare({"a": both, "b": RECS}, TRUTH, "mrr")
    assert "a: recs ordered by column 'rank'" in other.notes


def said(call: Callable[[], object]) -> list[str]:
    """The warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught]


def test_a_task_never_refuses_its_own_tables() -> None:
    """Sessions have new ids every day, so that the past of none of them is known."""
    steps = [(session, step) for session in range(300) for step in range(5)]
    rows = [(session, (session * 7 + step * 3) % 40, 10 * session + step) for session, step in steps]
    log = pl.DataFrame(rows, schema=["user", "item", "time"], orient="row")
    task = atkay.tasks.split_by_time(log, 2000)
    recs = {user: [(user * 7 + step * 3) % 40 for step in range(3)] for user in range(200, 300)}
    assert task.evaluate(recs, "hit@3")["hit@3"] == 1
    # Five held-out items each, and lists of 2 to 10: this truth cannot have been meant as lists.
    last = atkay.tasks.leave_last_k_out(log.with_columns(user=pl.col("user") // 10, item=pl.col("time")), 5)
    lists = {user: [100 * user + 90 + place for place in range(2 + user % 9)] for user in range(30)}
    assert not [each for each in said(lambda: last.evaluate(lists, "hit@10")) if "swapped" in each]


def test_what_was_filtered_already_is_not_refused() -> None:
    """A model that leaves out what a user has seen has nothing in common with it."""
    many = {0: list(range(1000, 1200))}
    lists, truth = {0: list(range(100))}, {0: [3]}
    (warning,) = said(lambda: atkay.evaluate(lists, truth, "mrr", exclude=many))
    assert "exclude has no item in common with recs and truth" in warning
    assert not said(lambda: atkay.evaluate(lists, truth, "mrr", exclude={0: [1000]}))


def test_users_of_training_data_matter_where_a_metric_asks_for_them() -> None:
    lists = {user: [user % 7, 8] for user in range(150)}
    train = {user: [user % 9] for user in range(1000, 1200)}
    assert not said(lambda: atkay.evaluate(lists, lists, "arp@2", train=train))
    with pytest.raises(IdError, match="train has no user in common"):
        atkay.evaluate(lists, lists, "new_to_user@2", train=train)
    (warning,) = said(lambda: atkay.evaluate(lists, lists, "new_to_user@2", train={0: list(range(9))}))
    assert "train shares almost no users with recs and truth: 1 of its 1 users (100 %), and 1 of their" in warning


def test_a_catalogue_of_next_to_nothing_that_is_listed() -> None:
    lists = {user: list(range(10 * user, 10 * user + 10)) for user in range(30)}
    (warning,) = said(lambda: atkay.evaluate(lists, lists, "coverage@10", catalog=list(range(10))))
    assert "catalog shares almost no items with recs and truth: 10 of its 10 items (100 %)" in warning


def test_no_hit_is_said() -> None:
    (warning,) = said(lambda: atkay.evaluate({1: ["a", "b"], 2: ["c"]}, {1: ["c"], 2: ["a"]}, "mrr"))
    assert warning == "no list has a hit: none of 3 listed items is relevant to its user."
    assert not said(lambda: atkay.evaluate({1: ["a"]}, {1: ["a"]}, "mrr"))


def test_truth_without_grades_beside_lists_without_order() -> None:
    bare = pl.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"]})
    with pytest.raises(ColumnError, match=r"are recs and truth swapped\? recs has neither a score nor a rank, and"):
        atkay.evaluate(bare, bare.with_columns(rank=pl.Series([1, 2, 1])), "mrr")
    graded = bare.with_columns(score=pl.Series([1, 2, 1]))
    (warning,) = said(lambda: atkay.evaluate(bare, graded, "mrr"))
    assert warning.startswith("truth: 'score' is read as the grades, and recs has neither a score nor a rank. Are recs")
    assert not said(lambda: atkay.evaluate(bare, graded, "mrr", columns=Columns(relevance="score")))
    predicted = bare.with_columns(score=pl.Series([0.9, 0.5, 0.7]))  # no grades: these have fractions
    with pytest.raises(ColumnError, match=r"swapped\? .* truth has 'score' .* name the grades, .*relevance='score'"):
        atkay.evaluate(bare, predicted, "mrr")
    assert not said(lambda: atkay.evaluate(bare, predicted, "mrr", columns=Columns(relevance="score")))


def test_a_stream_counts_whom_the_training_data_know() -> None:
    train = {user: [0, 1] for user in range(1000, 1100)}
    stream = atkay.Stream("new_to_user@1", n_items=3, train=train)
    for first in range(0, 128, 32):
        stream.update(items=[[2]] * 32, targets=[[2]] * 32, users=np.arange(first, first + 32))
    (warning,) = said(stream.compute)
    assert "train has no user in common with recs and truth: 1000 in train, 0 in recs or truth" in warning
    merged = atkay.Stream("new_to_user@1", n_items=3, train=train)
    merged.merge(stream)
    assert said(merged.compute) == [warning]
    stream.reset()
    stream.update(items=[[2]] * 128, targets=[[2]] * 128, users=np.arange(1000, 1128))
    assert not said(stream.compute)


def test_other_separators_of_categories() -> None:
    kinds = ["Action", "Comedy", "Drama", "Fantasy", "Horror", "Western"]
    texts = [f"{one}, {other}" for one in kinds for other in kinds if one < other]
    films = pl.DataFrame({"item": range(15), "genres": texts, "x": range(15), "y": [1.0, 5.0, 2.0] * 5})
    lists = {1: [0, 1, 2]}
    (warning,) = said(lambda: atkay.evaluate(lists, lists, "category_count@3", features=films))
    assert "'genres' holds text such as 'Action, Comedy', which is read as one category. If these" in warning
    # Nobody asks for categories.
    assert not said(lambda: atkay.evaluate(lists, lists, "ild@3", features=films))
    assert not said(lambda: atkay.evaluate(lists, lists, "mrr", features=films))


@pytest.mark.parametrize("y", [0.0, 2.0])
def test_the_cosine_of_numbers_in_proportion(y: float) -> None:
    x = np.arange(1.0, 31.0)
    features = pl.DataFrame({"item": ["a", "b", *map(str, range(28))], "x": x, "y": y * x})
    with pytest.raises(SideError, match="which is 1 or -1 for all pairs"):
        atkay.evaluate({1: ["a", "b"]}, {1: ["a"]}, "ild@2", features=features)
