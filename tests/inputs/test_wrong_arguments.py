"""Wrong types and values in every argument: an error of our own, or a number, and no foreign traceback."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse

import atkay
from atkay import tasks
from atkay.errors import AtkayError, InputError, ProtocolError, RelevanceError, SourceError, SpecError, SpillError

RECS = {"a": ["x", "z"], "b": ["z", "y"]}
TRUTH = {"a": ["x"], "b": ["y"]}
LOG = pl.DataFrame(
    {"user": ["a", "a", "b", "b"], "item": ["x", "y", "x", "z"], "time": [1, 2, 3, 4], "session": [1, 1, 2, 2]}
).with_columns(order="time")
RESULT = atkay.evaluate(RECS, TRUTH, "mrr")
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "evaluate": (atkay.evaluate, {"recs": RECS, "truth": TRUTH, "metrics": "mrr"}),
    "variants": (atkay.variants, {"recs": RECS, "truth": TRUTH, "metric": "map@5"}),
    "reconcile": (atkay.reconcile, {"recs": RECS, "truth": TRUTH, "reported": {"mrr": "0.75"}}),
    "explain": (atkay.explain, {"recs": RECS, "truth": TRUTH, "metric": "map@5", "theirs": "ranx"}),
    "compare": (atkay.compare, {"runs": {"a": RECS, "b": RECS}, "truth": TRUTH, "metrics": "mrr"}),
    "overlap": (atkay.overlap, {"run_a": RECS, "run_b": RECS}),
    "power": (atkay.power, {"comparison": atkay.compare({"a": RESULT, "b": RESULT})}),
    "Stream": (atkay.Stream, {"metrics": "mrr", "n_items": 5}),
    "Sampled": (atkay.Sampled, {"catalog_size": 100, "negatives": 10}),
    "Columns": (atkay.Columns, {}),
    "Protocol": (atkay.Protocol, {}),
    "parse": (atkay.parse, {}),
    "NDCG": (atkay.NDCG, {}),
    "F1": (atkay.F1, {}),
    "load": (atkay.Result.load, {}),
    "next_item": (tasks.next_item, {"events": LOG}),
    "next_basket": (tasks.next_basket, {"orders": LOG}),
    "split_by_time": (tasks.split_by_time, {"log": LOG, "at": 3}),
    "random_holdout": (tasks.random_holdout, {"log": LOG}),
    "k_folds": (tasks.k_folds, {"log": LOG}),
    "leave_last_k_out": (tasks.leave_last_k_out, {"log": LOG, "k": 1}),
}


def nested() -> list[Any]:
    deep: list[Any] = []
    for _ in range(2000):
        deep = [deep]
    return deep


def wrong() -> list[Any]:
    return [
        None, 5, -1, 0, True, 1.5, float("nan"), float("inf"), "", "x", "\0", "1e400", "x" * 300, b"x", object(), [],
        {}, (), set(), [None], {None: None}, {"a": None}, 10**30, 10**5000, np.float64(3), np.array([]), np.array(3),
        type, [[[1]]], Path("nowhere"), range(3), complex(1, 2), pl.DataFrame(), pl.Series([1]), [object()], {1: 2},
        nested(),
    ]  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_of_every_function(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call, good = CALLS[name]
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    arguments = [each.name for each in inspect.signature(call).parameters.values() if each.kind in kinds]
    foreign = []
    for argument in arguments:
        for value in wrong():
            more = {"memory": "1GB"} if argument == "spill" else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    call(**{**good, **more, argument: value})
                except AtkayError as error:
                    if len(str(error)) > 2000:
                        foreign.append((argument, type(value).__name__, "a message without end"))
                except Exception as error:
                    foreign.append((argument, type(value).__name__, repr(error)[:200]))
    assert not foreign


# Numbers that no float holds.


@pytest.mark.parametrize("grade", [1e308, 1e200, 5e-324, 1e-310])
@pytest.mark.parametrize("metric", ["dcg", "ndcg", "dcg(gain=linear)", "ndcg(gain=linear)", "rbp(gain=grade)", "mpr"])
def test_grades_whose_sums_no_float_holds(metric: str, grade: float) -> None:
    with pytest.raises(RelevanceError, match=r"is too (large|small)"):
        atkay.evaluate(RECS, {"a": {"x": grade, "z": grade}, "b": {"y": grade}}, metric)


def test_extreme_grades_that_are_not_added_up() -> None:
    """A grade above ERR's highest counts as the highest, 4: 15/16 at rank 1, and half of that at rank 2."""
    result = atkay.evaluate(
        RECS, {"a": {"x": 1e308}, "b": {"y": 1e308}}, ["err", "mrr(target=best)", "ndcg(gain=binary)"]
    )
    assert result["err"] == (15 / 16 + 15 / 32) / 2
    assert result["mrr(target=best)"] == 0.75
    assert result["ndcg(gain=binary)"] == pytest.approx((1 + 1 / np.log2(3)) / 2)
    large = {"a": {"x": 1.7e308, "z": 1.6e308}, "b": {"z": 1.7e308, "y": 1.6e308}}  # scores are only put in order
    assert atkay.evaluate(large, TRUTH, "mrr")["mrr"] == 0.75


# Matrices.


def side(name: str, table: Any) -> dict[str, Any]:
    return {name: table}


def test_matrices_of_different_shapes() -> None:
    wide, narrow = scipy.sparse.csr_array(np.eye(3, 100)), scipy.sparse.csr_array(np.eye(3, 90))
    few = scipy.sparse.csr_array(np.eye(2, 100))
    for table, metric in (("exclude", "mrr"), ("candidates", "mrr"), ("train", "arp"), ("reference", "unexpectedness")):
        with pytest.raises(SourceError, match=f"{table} has 90 items and truth 100; items are column numbers"):
            atkay.evaluate(wide, wide, metric, **side(table, narrow))
        with pytest.raises(SourceError, match=f"{table} has 2 rows and truth 3; users are row numbers"):
            atkay.evaluate(wide, wide, metric, **side(table, few))
    for memory in (None, "1GB"):
        with pytest.raises(SourceError, match="recs has 100 items and truth 90"):
            atkay.evaluate(wide, narrow, "mrr", memory=memory)
    with pytest.raises(SourceError, match="features has 90 items and truth 100"):
        atkay.evaluate(wide, wide, "ild", features=np.ones((90, 2)))
    with pytest.raises(SourceError, match="run_a has 100 items and run_b 90"):
        atkay.overlap(wide, narrow)
    with pytest.raises(SourceError, match="cannot read a sparse matrix of users x items as features"):
        atkay.evaluate(wide, wide, "ild", features=wide)
    stream = atkay.Stream("mrr", n_items=100)
    with pytest.raises(InputError, match="targets is a matrix with 90 columns for 100 items"):
        stream.update([[0], [1], [2]], narrow)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_arrays_of_other_kinds() -> None:
    lists = [[0, 1], [1, 0]]
    assert atkay.evaluate(np.matrix(lists), [[1], [1]], "mrr")["mrr"] == 0.75
    wide = np.array([[0, 1], [1, np.nan]], np.longdouble)
    assert atkay.evaluate(wide, [[1], [1]], "mrr")["mrr"] == 0.75
    stream = atkay.Stream("mrr")
    stream.update(np.matrix(lists), np.matrix([[1], [1]]))
    assert stream.compute()["mrr"] == 0.75
    records = np.array([(1, 2)], dtype=[("user", int), ("item", int)])
    with pytest.raises(SourceError, match=r"cannot read an array with named fields \(user, item\) as a table"):
        atkay.evaluate(records, [[1]], "mrr")
    for features in (np.array([["a"], ["b"]]), np.ones((2, 0)), np.array([[object()]])):
        with pytest.raises(InputError, match="features: an array must hold a row of numbers per item"):
            atkay.evaluate(lists, [[1], [1]], "ild", features=features)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta:UserWarning")
def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    lists = torch.tensor([[0, 1], [1, 0]])
    truth = [[1], [1]]
    assert atkay.evaluate(lists, truth, "mrr")["mrr"] == 0.75
    scores = torch.tensor([[0.5, 0.25], [0.25, 0.5]], requires_grad=True)
    assert atkay.evaluate(scores, truth, "mrr")["mrr"] == 0.75
    assert atkay.evaluate(scores, torch.eye(2).roll(1, 0)[:1].repeat(2, 1).to_sparse(), "mrr")["mrr"] == 0.75
    assert atkay.evaluate(scores.to_sparse_csr(), truth, "mrr")["mrr"] == 0.75
    assert atkay.evaluate({0: lists[0], 1: lists[1]}, {0: [1], 1: [1]}, "mrr")["mrr"] == 0.75
    with pytest.raises(InputError, match=r"floats without fractions could be item ids, or a matrix of scores"):
        atkay.evaluate(lists.double(), truth, "mrr")
    for tensor, message in {
        lists.to("meta"): "recs: a tensor on the meta device holds no values",
        torch.tensor(1): "got shape",
    }.items():
        with pytest.raises(SourceError, match=message):
            atkay.evaluate(tensor, truth, "mrr")
    with pytest.raises(SourceError, match="update: items: a tensor on the meta device holds no values"):
        atkay.Stream("mrr").update(lists.to("meta"), truth)
    vectors = np.eye(2)
    sparse = torch.eye(2).to_sparse()
    assert atkay.full_ranking(vectors, vectors, sparse, "mrr")["mrr"] == 1
    assert atkay.full_ranking(vectors, vectors, torch.tensor([[0], [1]]), "mrr")["mrr"] == 1
    with pytest.raises(SourceError, match="truth: cannot read a Tensor as CSR"):
        atkay.full_ranking(vectors, vectors, torch.tensor(1), "mrr")
    with pytest.raises(SourceError, match="truth: a tensor on the meta device"):
        atkay.full_ranking(vectors, vectors, lists.to("meta"), "mrr")
    with pytest.raises(SourceError, match="user_vectors: cannot read a sparse_coo tensor"):
        atkay.full_ranking(sparse, vectors, ([0, 1, 2], [0, 1]), "mrr")
    for device in ("tpu", "", 10**30, object()):
        with pytest.raises(InputError, match="full_ranking: unknown device"):
            atkay.full_ranking(vectors, vectors, ([0, 1, 2], [0, 1]), "mrr", device=device)
    with pytest.raises(InputError, match="full_ranking: no device 'cuda:99'; PyTorch sees"):
        atkay.full_ranking(vectors, vectors, ([0, 1, 2], [0, 1]), "mrr", device="cuda:99")


# Words and numbers of a call.


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ({"ndcg": 5}, r"A cutoff belongs to the spec: write \['ndcg@5', 'map@5,10'\]"),
        ({"ndcg@5", "mrr"}, "metrics must be a list of specs"),
        (b"ndcg@5", "metrics must be a list of specs"),
        ("ndcg(gain)@5", "ndcg: 'gain' needs a value: write gain=exp2, gain=linear, gain=binary or gain=exp2_above"),
        ("ndcg(gain=)@5", "ndcg: 'gain' needs a value"),
        ("f1(beta)@5", r"f1: 'beta' needs a value: write beta=1 \(a number above 0"),
        ("ndcg(gain=exp2", "as a metric; a bracket is missing"),
        ("ndcg@" + "9" * 5000, "k must be a positive integer up to 10,000,000, got a number of 5,000 digits"),
        ("ndcg@٥", "write positive integers after '@'"),
        ("f1(beta=١)@5", "beta must be a number above 0, at most a million, got '١'"),
    ],
)
def test_metrics_that_are_no_specs(metrics: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        atkay.evaluate(RECS, TRUTH, metrics)


def test_numbers_of_the_protocol() -> None:
    refused: list[Any] = [10**400, 10**5000, True, "1e400", "x", float("nan")]
    for value in refused:
        with pytest.raises(ProtocolError, match="min_relevance is the lowest grade"):
            atkay.Protocol(min_relevance=value)
    taken: list[Any] = [Decimal("0.5"), Fraction(1, 2), np.float32(0.5), "0.5"]
    for value in taken:
        assert atkay.Protocol(min_relevance=value).min_relevance == 0.5
    folders: list[Any] = [5, "", b"/tmp", [], "x" * 5000]
    for spill in folders:
        with pytest.raises(SpillError, match="spill"):
            atkay.evaluate(RECS, TRUTH, "mrr", memory="1GB", spill=spill)
    for memory in ("-1GB", "1,5GB", "٣GB", 10**5000):
        with pytest.raises(ProtocolError, match="memory must be a size"):
            atkay.evaluate(RECS, TRUTH, "mrr", memory=memory)


@pytest.mark.parametrize("value", ["1e400", "nan", "inf", "", "0.1.2", "١٢", "1_0", 10**400, None, True])
def test_reported_numbers_that_are_none(value: object) -> None:
    with pytest.raises(SpecError, match=r"reconcile: (cannot read .* as the value of|.* is too large for) mrr"):
        atkay.reconcile(RECS, TRUTH, {"mrr": value})
