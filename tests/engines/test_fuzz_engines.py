"""Engines x protocol words x side tables x slices against the oracle: drawn evaluations, every number checked.

In CI the same few examples are drawn every time; ``make test-deep`` draws many, and others each time.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle import METRICS, Judged, Number, Query, Refused, judge, number, tie_decided, value

import atkay
from atkay.core import lists
from atkay.errors import AtkayError, AtkayWarning
from atkay.metrics.metric import RunMetric
from same import assert_same
from scenarios import ITEMS, Scenario, examples, scenarios, without_repeats


@contextmanager
def quietly() -> Iterator[None]:
    """Our own warnings may come; any other is an error, as everywhere in the tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AtkayWarning)
        yield


def evaluate(scenario: Scenario, **given: Any) -> atkay.Result:
    tables: dict[str, Any] = {
        "recs": scenario.recs,
        "truth": scenario.truth,
        "slices": scenario.slices,
        "columns": scenario.columns,
        **scenario.side,
        **scenario.outside,
        **scenario.words,
    }
    with quietly():
        return atkay.evaluate(**(tables | given), metrics=scenario.metrics)


def oracle_of(scenario: Scenario) -> Judged | None:
    """What the oracle reads out of the rows, None where it refuses them."""
    if not scenario.averaged:
        return None
    try:
        return judge(scenario.data, scenario.rules)
    except Refused:
        return None


def close(expected: float | Sequence[float]) -> Any:
    return pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


def owner_of(scenario: Scenario) -> Callable[[Any], Any] | None:
    return scenario.data.owner if scenario.stepwise else None


def check_number(found: Any, expected: Number, what: str) -> None:
    """A summary, or the end of a row of a table, which has None for NaN."""
    got = [math.nan if each is None else each for each in found]
    assert got == close(
        [expected.mean, expected.low, expected.high, expected.deviation, expected.users, expected.undefined]
    ), f"{what}: {got}, and the oracle has {expected}"


def check(scenario: Scenario, judged: Judged, result: atkay.Result, *, unknown: bool = True) -> None:
    """Every number, its interval and counts, and the population."""
    assert list(result) == [name for name, *_ in scenario.asked]
    asked = [(one.name, words, k) for _, one, words, k in scenario.asked]
    expected = {**judged.population, **tie_decided(judged.queries, asked, scenario.rules)}
    got = vars(result.population)
    if not unknown:  # what the truth never mentions shows at the end, and a stream has none
        got, expected = ({**each, "unknown": 0} for each in (got, expected))
    assert got == expected
    if scenario.rules.ties == "random":
        return
    for name, one, words, k in scenario.asked:
        how = words, k, scenario.data, scenario.rules, owner_of(scenario), result.limits(name)
        of_all = number(judged.queries, one.name, *how)
        assert result[name] == close(of_all.mean), f"{name}: {result[name]}, and the oracle has {of_all}"
        check_number(result.summaries[name], of_all, name)


def check_users(scenario: Scenario, judged: Judged, result: atkay.Result) -> None:
    """The value of every user."""
    rows = {tuple(row[: len(scenario.key)]): row for row in result.per_query.iter_rows()}
    columns = result.per_query.columns
    queries = {scenario.ids(query.user): query for query in judged.queries if query.counted}
    assert set(rows) == set(queries)
    for name, one, words, k in scenario.asked:
        if isinstance(one, RunMetric):
            continue
        for user, query in queries.items():
            got = rows[user][columns.index(name)]
            got = math.nan if got is None else got
            if scenario.rules.ties == "random":
                if one.name in METRICS:
                    assert any(got == close(each) for each in of_orders(query, one.name, words, k, scenario)), name
            else:
                assert got == close(value(query, one.name, words, k, scenario.data, scenario.rules)), (name, user)


def of_orders(query: Query, metric: str, words: Any, k: int | None, scenario: Scenario) -> list[float]:
    """The values of all orders of equal scores, one by one."""
    alone = [Query(query.user, [(1.0, order)], *tail(query)) for _, order in query.orders]
    return [value(each, metric, words, k, scenario.data, scenario.rules) for each in alone]


def tail(query: Query) -> tuple[Any, ...]:
    return query.relevant, query.nonrelevant, query.has_list, query.counted, query.positive


def check_slices(scenario: Scenario, judged: Judged, result: atkay.Result) -> None:
    """The numbers of a segment are the oracle's over its users."""
    if scenario.segments is None:
        assert result.slices.is_empty()
        return
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for row in result.slices.iter_rows():
        assert row[:3] not in found
        found[row[:3]] = row[3:]
    expected: dict[tuple[Any, ...], Number] = {}
    for at, column in enumerate(("age", "size")):
        members: dict[str | None, list[Query]] = {}
        for query in judged.queries:
            of_user = scenario.segments.get(scenario.data.owner(query.user), (None, None))[at]
            if query.counted:
                members.setdefault(None if of_user is None else str(of_user), []).append(query)
        for segment, queries in members.items():
            for name, one, words, k in scenario.asked:
                how = words, k, scenario.data, scenario.rules, owner_of(scenario), result.limits(name)
                expected[column, segment, name] = number(queries, one.name, *how)
    assert found.keys() == expected.keys()
    if scenario.rules.ties == "random":
        return
    for where, of_segment in expected.items():
        check_number(found[where], of_segment, f"{where}")


@examples(150, 6_000)
@given(scenario=scenarios(), block=st.sampled_from([1, 5, lists.ROWS_PER_BLOCK]))
def test_memory(scenario: Scenario, block: int) -> None:
    judged = oracle_of(scenario)
    with (
        mock.patch("atkay.core.lists.ROWS_PER_BLOCK", block),
        mock.patch("atkay.evaluation.measure.QUERIES_PER_BLOCK", min(block, 1 << 14)),
    ):
        if judged is None:
            with pytest.raises(AtkayError):
                evaluate(scenario)
            return
        result = evaluate(scenario)
    check(scenario, judged, result)
    check_users(scenario, judged, result)
    check_slices(scenario, judged, result)


def write(frame: pl.DataFrame, path: Path, suffix: str) -> Path:
    path = path.with_suffix(suffix)
    ways: dict[str, Callable[[Path], Any]] = {
        ".parquet": frame.write_parquet,
        ".csv": frame.write_csv,
        ".arrow": frame.write_ipc,
        ".jsonl": frame.write_ndjson,
    }
    ways[suffix](path)
    return path


@examples(40, 1_200)
@given(
    scenario=scenarios(),
    memory=st.sampled_from([1_500, 4_000, 100_000]),
    suffixes=st.lists(st.sampled_from([".parquet", ".csv", ".arrow", ".jsonl"]), min_size=4, max_size=4),
)
def test_files(tmp_path_factory: pytest.TempPathFactory, scenario: Scenario, memory: int, suffixes: list[str]) -> None:
    folder = tmp_path_factory.mktemp("files")
    frames = {"recs": scenario.recs, "truth": scenario.truth, **scenario.outside}
    # A file without types has another type of ids: text that looks like dates or whole numbers.
    typed = scenario.user_type == pl.Int64 == scenario.item_type
    paths = {
        name: write(frame, folder / name, suffix if typed else ".parquet")
        for (name, frame), suffix in zip(frames.items(), suffixes, strict=False)
    }
    given = paths | {"memory": memory, "spill": folder}
    judged = oracle_of(scenario)
    if judged is None:
        with pytest.raises(AtkayError):
            evaluate(scenario, **given)
    else:
        result = evaluate(scenario, **given)
        check(scenario, judged, result)
        check_users(scenario, judged, result)
        check_slices(scenario, judged, result)
        assert_same(result, evaluate(scenario, **paths))
    assert set(folder.iterdir()) == set(paths.values())


# Stream: items are codes, users come in batches.


def coded(scenario: Scenario) -> Scenario:
    """The same without what a stream does not do: segments, and steps that are averaged first."""
    assume(not scenario.stepwise)
    first = scenario.rules.duplicates != "error" and scenario.rules.raters == "one"
    return without_repeats(scenario) if first else scenario


def repeated(scenario: Scenario) -> bool:
    pairs = [(user, item) for user, item, _ in scenario.data.truth]
    return len(pairs) > len(set(pairs))


@examples(60, 2_000)
@given(
    scenario=scenarios(kinds=["int"], subtopics=False),
    shards=st.integers(1, 3),
    size=st.integers(1, 7),
    seed=st.integers(0, 99),
    tensors=st.booleans(),
)
def test_stream(scenario: Scenario, shards: int, size: int, seed: int, tensors: bool) -> None:
    scenario = coded(scenario)
    assume(not repeated(scenario))  # a sparse matrix adds up what stands in it twice
    judged = oracle_of(scenario)
    if judged is None:
        with pytest.raises(AtkayError):
            streamed(scenario, shards, size, seed, tensors)
        return
    check(scenario, judged, streamed(scenario, shards, size, seed, tensors), unknown=False)


def streamed(scenario: Scenario, shards: int, size: int, seed: int, tensors: bool) -> atkay.Result:
    """Users in some order, in batches, which are dealt out to streams that are merged, one of them as bytes."""
    data, n_items = scenario.data, len(ITEMS)
    words = {name: word for name, word in scenario.words.items() if name != "average_over"}
    everybody = list(dict.fromkeys([user for user, *_ in data.recs] + [user for user, *_ in data.truth]))
    order = np.random.default_rng(seed).permutation(len(everybody))
    torch: Any = pytest.importorskip("torch") if tensors else None
    with quietly():
        streams = [atkay.Stream(scenario.metrics, n_items=n_items, **scenario.side, **words) for _ in range(shards)]
        for nth, first in enumerate(range(0, len(order), size)):
            batch = [everybody[at] for at in order[first : first + size]]
            given = batch_of(scenario, batch, n_items)
            if tensors:
                given = {name: each if name == "targets" else torch.from_numpy(each) for name, each in given.items()}
            streams[nth % shards].update(**given, users=batch)
        whole = streams.pop()
        for nth, other in enumerate(streams):
            whole.merge(other if nth else other.to_bytes())
        copy = atkay.Stream.from_bytes(whole.to_bytes(), **scenario.side)
        result, again = whole.compute(), copy.compute()
    assert repr(again) == repr(result)
    return result


def batch_of(scenario: Scenario, batch: list[Any], n_items: int) -> dict[str, Any]:
    """Lists as codes and scores, filled up with -1; the truth as a sparse matrix, in which a grade of 0 is stored."""
    data = scenario.data
    rows = [[(item, score) for who, item, score in data.recs if who == user] for user in batch]
    width = 1 + max(len(row) for row in rows)  # a row of codes that repeats one is refused where nothing is padded
    items, scores = np.full((len(batch), width), -1), np.zeros((len(batch), width))
    for at, row in enumerate(rows):
        for place, (item, score) in enumerate(row):
            items[at, place], scores[at, place] = item, score
    graded = [(batch.index(user), item, grade) for user, item, grade in data.truth if user in batch]
    where = ([user for user, _, _ in graded], [item for _, item, _ in graded])
    of_item: Any = [grade for *_, grade in graded], where
    targets: Any = sp.csr_matrix(of_item, shape=(len(batch), n_items))
    given: dict[str, Any] = {"items": items, "scores": scores, "targets": targets}
    for name, pairs in (("exclude", data.exclude or None), ("candidates", data.candidates)):
        if pairs is not None:
            given[name] = np.array([[(user, item) in pairs for item in range(n_items)] for user in batch])
    return given


# Full ranking: every item is listed, by the product of two vectors.

RANKED = [
    *("precision@3", "recall@1,4", "hit@2", "f1@3", "map", "map(per=hits)@4", "mrr", "mrr(target=best)@3", "mnap@3"),
    *("r_precision", "ndcg@4", "ndcg(gain=linear,discount=jk)", "ndcg(ideal=listed)@3", "dcg@5", "auc", "group_auc"),
    *("precision(average=pooled)@2", "recall(average=pooled)@4", "set_map", "r_precision(multiple=1.4)", "utility@3"),
]
OF_LISTS = [
    *("coverage@2", "gini@3", "entropy@2", "inter_list_distance@3", "user_coverage@2", "rbp_residual@3"),
    *("rbp_residual(unjudged=open)@3", "count(of=nonrelevant)@3", "count(of=unjudged)@2", "total(of=hits)@3"),
]
OTHERS = [
    *("err@5", "rbp@4", "bpref", "mpr", "median_rank@3", "median_rank(missed=last)", "infap", "yaap@3", "rndcg"),
    *("interpolated_precision(recall=0.5)", "interpolated_map", "normalized_gain@4", "ndcg_rel"),
]


@examples(40, 1_200)
@given(
    seed=st.integers(0, 2**32 - 1),
    words=st.fixed_dictionaries(
        {
            "ties": st.sampled_from(
                ["given", "item", "item_desc", "best", "worst", "expected", "reversed", "together"]
            ),
            "no_truth": st.sampled_from(["skip", "zero", "one", "judged"]),
            "min_relevance": st.sampled_from([None, 0.0, 1.0, 2.0]),
            "unlisted": st.sampled_from(["missed", "ignored"]),
            "nonpositive": st.sampled_from(["listed", "missed"]),
            "negative": st.sampled_from(["irrelevant", "unjudged"]),
        }
    ),
    by_score=st.booleans(),
    seen=st.booleans(),
)
def test_full_ranking(seed: int, words: dict[str, Any], by_score: bool, seen: bool) -> None:
    """Against the same lists in memory, which the oracle judges above."""
    pytest.importorskip("torch")
    rng = np.random.default_rng(seed)
    n_users, n_items, width = int(rng.integers(1, 7)), int(rng.integers(5, 12)), int(rng.integers(1, 4))
    user, item = (rng.integers(-2, 3, (n, width)).astype(np.float32) for n in (n_users, n_items))
    score = user.astype(float) @ item.astype(float).T
    grade = np.where(
        rng.random((n_users, n_items)) < 0.3, rng.choice([-1.0, 0.0, 0.5, 1, 2, 3], (n_users, n_items)), np.nan
    )
    grade[0, 0] = 2.0
    gone = rng.random((n_users, n_items)) < 0.3 if seen else np.zeros((n_users, n_items), bool)
    gone[0, 0] = False
    averaged = words["ties"] in ("expected", "together")
    metrics = RANKED if averaged else [*RANKED, *OTHERS, *OF_LISTS]
    where = np.nonzero(~np.isnan(grade))
    of_item: Any = grade[where], where
    truth: Any = sp.csr_matrix(of_item, shape=grade.shape)
    exclude: dict[str, Any] = {"exclude": rows_of(gone)} if seen else {}

    def rank() -> atkay.Result:
        import torch

        model: dict[str, Any] = {"user_vectors": user, "item_vectors": item}
        if by_score:
            model = {"score": lambda users: torch.tensor(score)[users]}
        return atkay.full_ranking(**model, truth=truth, metrics=metrics, device="cpu", **exclude, **words)

    recs = pl.DataFrame(
        {
            "user": np.repeat(np.arange(n_users), n_items),
            "item": np.tile(np.arange(n_items), n_users),
            "score": score.ravel(),
        }
    )
    graded = pl.DataFrame({"user": where[0], "item": where[1], "relevance": grade[where]})
    given: dict[str, Any] = {"catalog": list(range(n_items)), **words}
    if seen and gone.any():
        given["exclude"] = pl.DataFrame({"user": np.nonzero(gone)[0], "item": np.nonzero(gone)[1]})
    with quietly():
        try:
            expected = atkay.evaluate(recs, graded, metrics, **given)
        except AtkayError:
            with pytest.raises(AtkayError):
                rank()
            return
        result = rank()
    assert list(result) == list(expected)
    assert result.population.evaluated == expected.population.evaluated
    for name, summary in expected.summaries.items():
        assert result.summaries[name] == pytest.approx(summary, rel=1e-9, abs=1e-9, nan_ok=True), name
    for name in expected.by_query:
        assert result.per_query[name].to_list() == pytest.approx(expected.per_query[name].to_list(), nan_ok=True), name


def rows_of(chosen: Any) -> tuple[Any, Any]:
    """A matrix of truth values as compressed rows."""
    return np.append(0, np.cumsum(chosen.sum(axis=1))), np.nonzero(chosen)[1]


# Spark: rows have no order.


@pytest.mark.filterwarnings("ignore::FutureWarning:pyspark")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@examples(3, 40)
@given(scenario=scenarios(kinds=["int", "below 0", "text", "date"], n_metrics=40), parts=st.sampled_from([1, 4]))
def test_spark(spark: Any, scenario: Scenario, parts: int) -> None:
    assume(scenario.rules.ties not in ("given", "reversed"))  # rows have no order there
    assume(not repeated(scenario))
    judged = oracle_of(scenario)
    frames = {"recs": scenario.recs, "truth": scenario.truth, **scenario.outside}
    given = {name: spark.createDataFrame(frame.to_arrow()).repartition(parts) for name, frame in frames.items()}
    if judged is None:
        with pytest.raises(AtkayError):
            evaluate(scenario, **given)
        return
    result = evaluate(scenario, **given)
    check(scenario, judged, result)
    check_slices(scenario, judged, result)
    with quietly():
        check_users(scenario, judged, result)
