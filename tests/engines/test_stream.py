"""A running evaluation: the same numbers as all at once, whatever the batches, their order and their merging."""

from __future__ import annotations

import copy
import functools
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.core.lock import Lock
from atkay.core.types import Bools, Floats, Ints
from atkay.errors import (
    DuplicateError,
    IdError,
    InputError,
    OrderError,
    PopulationError,
    ProtocolError,
    RelevanceError,
    RowsError,
    SideError,
    SourceError,
    SpecError,
    TiesWarning,
)
from atkay.metrics.metric import Metric
from variants import every_variant

VARIANTS = list(every_variant(None, 1, 3, 10))
AVERAGING = [metric for metric in VARIANTS if metric.averages]
USERS, ITEMS, LONGEST = 60, 20, 12


@dataclass(frozen=True)
class Data:
    """Lists of up to 12 items of 20 with many equal scores, graded truth, and users who lack one of the two."""

    items: Ints
    scores: Floats
    grades: Floats
    graded: Bools

    @classmethod
    def of(cls, seed: int) -> Data:
        rng = np.random.default_rng(seed)
        items = np.array([rng.permutation(ITEMS)[:LONGEST] for _ in range(USERS)])
        length = rng.integers(0, LONGEST + 1, USERS)
        items[np.arange(LONGEST) >= length[:, None]] = -1
        graded = rng.random((USERS, ITEMS)) < 0.15
        grades = np.where(graded, rng.choice([0.0, 0.5, 1.0, 1.0, 2.0, 3.0], graded.shape), 0.0)
        return cls(items, rng.integers(-2, 8, items.shape) / 4, grades, graded)

    @property
    def tables(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Lists and truth for evaluate."""
        user, place = np.nonzero(self.items >= 0)
        recs = pl.DataFrame({"user": user, "item": self.items[user, place], "score": self.scores[user, place]})
        user, item = np.nonzero(self.graded)
        return recs, pl.DataFrame({"user": user, "item": item, "relevance": self.grades[user, item]})

    def targets(self, rows: Any) -> sp.csr_array:
        """Grades of 0 are there, too."""
        user, item = np.nonzero(self.graded[rows])
        grade = self.grades[rows][user, item]
        return sp.csr_array((grade, (user, item)), shape=(len(self.graded[rows]), ITEMS))

    def feed(self, stream: atkay.Stream, rows: Any) -> None:
        users = np.arange(USERS)[rows]
        stream.update(self.items[rows], self.targets(rows), scores=self.scores[rows], users=users)


def beside(seed: int = 0) -> dict[str, Any]:
    """Something for every metric that needs more than recs and truth; some users and items are not known."""
    rng = np.random.default_rng(seed)
    return {
        "train": {user: rng.permutation(ITEMS - 1)[: rng.integers(1, 6)].tolist() for user in range(0, USERS, 2)},
        "catalog": list(range(ITEMS - 2)),
        "features": pl.DataFrame(
            {
                "item": np.arange(1, ITEMS),
                "genres": [list("abcde"[: 1 + item % 4]) for item in range(1, ITEMS)],
                "x": rng.random(ITEMS - 1),
                "y": rng.random(ITEMS - 1),
            }
        ),
        "reference": {user: [0, 3, 1, 7] for user in range(0, USERS, 3)},
        "propensity": {item: (item + 1) / (ITEMS + 1) for item in range(ITEMS)},
    }


def batches(seed: int) -> list[Ints]:
    """Users in random parts and order."""
    rng = np.random.default_rng(seed)
    return np.split(rng.permutation(USERS), np.sort(rng.integers(0, USERS, 7)))


def agree(result: atkay.Result, whole: atkay.Result) -> None:
    """The same numbers, intervals and counts."""
    assert list(result) == list(whole)
    assert result.definitions == whole.definitions
    for name, summary in result.summaries.items():
        assert summary == pytest.approx(whole.summaries[name], rel=0, abs=0, nan_ok=True), name
    same = {"unknown": 0}
    assert {**vars(result.population), **same} == {**vars(whole.population), **same}


PROTOCOLS: list[tuple[list[Metric], dict[str, Any]]] = [
    (VARIANTS, {"ties": "item"}),
    (VARIANTS, {"ties": "item_desc", "no_truth": "zero", "no_recs": "skip"}),
    (VARIANTS, {"ties": "random", "seed": 3, "no_truth": "one", "min_relevance": 1}),
    (VARIANTS, {"ties": "item", "no_truth": "zero", "min_relevance": 2, "gains": "positive"}),
    (VARIANTS, {"ties": "text", "unjudged": "drop", "no_recs": "skip"}),
    (VARIANTS, {"ties": "best", "unlisted": "ignored", "nonpositive": "missed", "scores": "float32"}),
    (AVERAGING, {"ties": "expected", "no_truth": "judged"}),
    (AVERAGING, {"ties": "together"}),
]


@pytest.mark.filterwarnings("ignore::atkay.errors.SkippedWarning")
@pytest.mark.parametrize(
    ("metrics", "words"), PROTOCOLS, ids=lambda value: value.get("ties") if isinstance(value, dict) else ""
)
def test_every_metric_in_batches_and_shards(metrics: list[Metric], words: dict[str, Any]) -> None:
    data, given = Data.of(1), beside()
    recs, truth = data.tables
    whole = atkay.evaluate(recs, truth, metrics, **given, **words)
    shards = [atkay.Stream(metrics, n_items=ITEMS, **given, **words) for _ in range(3)]
    for number, rows in enumerate(batches(2)):
        data.feed(shards[number % 3], rows)
    written = set()
    for order in ((0, 1, 2), (2, 0, 1)):
        total = atkay.Stream(metrics, n_items=ITEMS, **given, **words)
        for shard in order:
            total.merge(shards[shard])
        written.add(total.to_bytes())
    agree(total.compute(), whole)
    at_once = atkay.Stream(metrics, n_items=ITEMS, **given, **words)
    data.feed(at_once, slice(None))
    assert written == {at_once.to_bytes()}


@given(seed=st.integers(0, 9), order=st.integers(0, 99))
def test_any_order_and_grouping_give_the_same_bytes(seed: int, order: int) -> None:
    data, metrics = Data.of(seed), ["ndcg@3", "map", "precision(average=pooled)@5", "gini@3", "median_rank"]
    one, other = (atkay.Stream(metrics, n_items=ITEMS, ties="item") for _ in range(2))
    for rows in batches(order):
        data.feed(one, rows)
    parts = [atkay.Stream(metrics, n_items=ITEMS, ties="item") for _ in range(4)]
    for number, rows in enumerate(batches(order + 1)):
        data.feed(parts[number % 4], rows)
    random.Random(order).shuffle(parts)
    for part in parts:
        other.merge(part.to_bytes())
    assert one.to_bytes() == other.to_bytes()
    again = atkay.Stream.from_bytes(one.to_bytes())
    assert again.to_bytes() == pickle.loads(pickle.dumps(one)).to_bytes() == one.to_bytes()
    assert repr(again.compute()) == repr(one.compute())


def scored(seed: int) -> tuple[Floats, Floats]:
    """Scores of all items, some of which are not to be listed, and grades."""
    rng = np.random.default_rng(seed)
    scores = np.where(rng.random((USERS, ITEMS)) < 0.1, -np.inf, rng.integers(0, 12, (USERS, ITEMS)) / 4)
    return scores, np.where(rng.random((USERS, ITEMS)) < 0.15, rng.choice([0.5, 1.0, 2.0], (USERS, ITEMS)), 0.0)


def as_tables(scores: Floats, grades: Floats) -> tuple[pl.DataFrame, pl.DataFrame]:
    user, item = np.nonzero(scores > -np.inf)
    wanted, of = np.nonzero(grades)
    return (
        pl.DataFrame({"user": user, "item": item, "score": scores[user, item]}),
        pl.DataFrame({"user": wanted, "item": of, "relevance": grades[wanted, of]}),
    )


CUT = [metric for metric in VARIANTS if metric.reach <= 10]


@pytest.mark.filterwarnings("ignore::atkay.errors.SkippedWarning")
@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        (VARIANTS, {"ties": "item"}),
        (CUT, {"ties": "item"}),
        (CUT, {"ties": "item_desc"}),
        ([metric for metric in CUT if metric.averages], {"ties": "expected"}),
        (CUT, {"ties": "item", "unlisted": "ignored"}),
        (CUT, {"ties": "item", "unjudged": "drop"}),
    ],
    ids=["whole", "cut", "desc", "expected", "ignored", "drop"],
)
def test_scores_of_all_items(metrics: list[Metric], words: dict[str, Any]) -> None:
    scores, grades = scored(4)
    recs, truth = as_tables(scores, grades)
    whole = atkay.evaluate(recs, truth, metrics, **beside(), **words)
    stream = atkay.Stream(metrics, n_items=ITEMS, **beside(), **words)
    for rows in batches(3):
        stream.update(scores=scores[rows], targets=grades[rows], users=rows)
    result = stream.compute()
    for name, summary in result.summaries.items():
        assert summary == pytest.approx(whole.summaries[name], rel=1e-12, abs=1e-12, nan_ok=True), name


def test_scores_are_rounded_before_the_best_are_chosen() -> None:
    # In single precision both items have the same score, so that the relevant one is first in every second order.
    stream = atkay.Stream("hit@1", ties="expected", scores="float32")
    stream.update(scores=np.array([[1.0, 1.0 + 1e-12, 0.5]]), targets=[[0]])
    assert stream.compute()["hit@1"] == 0.5


def test_what_is_excluded_makes_room_for_others() -> None:
    scores, grades = scored(5)
    seen = np.random.default_rng(1).random((USERS, ITEMS)) < 0.4
    pairs = dict(zip(("user", "item"), np.nonzero(seen), strict=True))
    words: dict[str, Any] = {"metrics": ["ndcg@3", "coverage@3"], "catalog": list(range(ITEMS)), "ties": "item"}
    recs, truth = as_tables(scores, grades)
    whole = atkay.evaluate(recs, truth, exclude=pl.DataFrame(pairs), **words)
    stream = atkay.Stream(n_items=ITEMS, **words)
    for rows in batches(3):
        stream.update(scores=scores[rows], targets=grades[rows], exclude=seen[rows])
    assert dict(stream.compute()) == pytest.approx(dict(whole), rel=1e-12)
    assert stream.compute().protocol.exclude == "items given with each batch"
    unseen = atkay.Stream(n_items=ITEMS, **words)
    unseen.update(scores=np.where(seen, -np.inf, scores), targets=grades)
    assert dict(unseen.compute()) == pytest.approx(dict(whole), rel=1e-12)
    alone = atkay.Stream(n_items=ITEMS, **words)
    alone.update(scores=scores, targets=grades, candidates=~seen)
    assert dict(alone.compute()) == pytest.approx(dict(whole), rel=1e-12)


ONE_HOT = np.array([[False, False, True, False], [True, True, False, False]])


@pytest.mark.parametrize(
    "targets",
    [
        [[2], [0, 1]],
        [np.array([2]), np.array([1, 0, -1])],
        np.array([[2, -1], [0, 1]]),
        ONE_HOT,
        ONE_HOT.astype(np.float32),
        sp.csr_matrix(ONE_HOT.astype(int)),
        sp.coo_array(ONE_HOT),
    ],
    ids=["lists", "arrays", "codes", "bools", "floats", "csr", "coo"],
)
@pytest.mark.parametrize("n_items", [None, 4])
def test_forms_of_targets(targets: Any, n_items: int | None) -> None:
    stream = atkay.Stream(["mrr", "recall@2"], n_items=n_items)
    stream.update(np.array([[3, 2], [1, -1]]), targets)
    assert dict(stream.compute()) == {"mrr": 0.75, "recall@2": 0.75}  # ranks 2 and 1; 1/1 and 1/2


def test_pandas_frames_are_refused_and_columns_are_read() -> None:
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    with pytest.raises(InputError, match="items is a DataFrame"):
        atkay.Stream("mrr").update(pandas.DataFrame([[3, 2], [1, 0]]), [[2], [1]])
    for column in (pandas.Series([[2], [1]]), pl.Series([[2], [1]]), pandas.Series([2, 1]), pl.Series([2, 1])):
        stream = atkay.Stream("mrr")
        stream.update(pl.Series([[3, 2], [1, 0]]), column, users=pandas.Series(["a", "b"]))
        assert stream.compute()["mrr"] == 0.75  # ranks 2 and 1


def test_a_stored_zero_says_no() -> None:
    # Item 3, the first, stays: of it 0 is stored. Item 1 goes, or alone stays.
    marks = sp.csr_array((np.array([0.0, 1.0]), (np.array([0, 0]), np.array([3, 1]))), shape=(1, 4))
    assert marks.nnz == 2
    for excluded in (marks, marks.toarray(), marks.astype(int), marks.astype(bool)):
        stream = atkay.Stream("mrr", n_items=4)
        stream.update([[3, 1, 2]], [[3]], exclude=excluded)
        assert stream.compute()["mrr"] == 1
        assert stream.compute().population.excluded == 1
    alone = atkay.Stream("mrr", n_items=4)
    alone.update([[3, 1, 2]], [[1]], candidates=marks)
    assert alone.compute()["mrr"] == 1
    assert alone.compute().population.outside == 2


def test_one_target_for_each_user() -> None:
    for targets in (np.array([2, 1]), [2, 1]):
        stream = atkay.Stream("mrr")
        stream.update(np.array([[3, 2], [1, 0]]), targets)
        assert stream.compute()["mrr"] == 0.75


def test_an_item_without_a_chance_is_not_listed() -> None:
    # What torch.topk gives where fewer than k items are left: the last ones have no score.
    stream = atkay.Stream(["precision(per=listed)@3", "mrr"])
    stream.update(np.array([[4, 1, 2]]), [[1, 2]], scores=np.array([[0.5, 0.25, -np.inf]]))
    assert dict(stream.compute()) == {"precision(per=listed)@3": 0.5, "mrr": 0.5}
    assert stream.compute().population.listed == 2


def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    scores, targets = torch.tensor([[0.1, 0.9, 0.5]], dtype=torch.bfloat16, requires_grad=True), torch.tensor([[2, -1]])
    stream = atkay.Stream("mrr")
    stream.update(scores=scores, targets=targets, users=torch.tensor([7]))
    assert stream.compute()["mrr"] == 0.5


def test_tensors_that_are_no_arrays() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    with pytest.raises(InputError, match=r"scores: cannot read a sparse_coo tensor.*to_dense"):
        atkay.Stream("mrr").update(scores=torch.eye(3)[:1].to_sparse(), targets=[[1]])
    with pytest.raises(
        InputError, match=r"scores: NumPy has no type for a tensor of torch.float8_e4m3fn.*tensor.float\(\)"
    ):
        atkay.Stream("mrr").update(scores=torch.ones(1, 3).to(torch.float8_e4m3fn), targets=[[1]])


def test_nothing_heavy_is_loaded_before_it_is_needed() -> None:
    code = "import atkay, sys; atkay.Stream('mrr').update([[1]], [[1]]); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_bytes_travel_to_another_process() -> None:
    stream = atkay.Stream(["ndcg@2", "coverage@2"], n_items=9, no_truth="zero", min_relevance=2)
    stream.update(np.array([[3, 1], [0, 2]]), np.eye(9)[:2] * 3)
    code = (
        "import sys, atkay; s = atkay.Stream.from_bytes(sys.stdin.buffer.read()); s.compute(); "
        "sys.stdout.buffer.write(s.to_bytes())"
    )
    out = subprocess.run([sys.executable, "-c", code], input=stream.to_bytes(), capture_output=True, check=True)
    assert out.stdout == stream.to_bytes()


def test_a_dialect_travels_along() -> None:
    stream = atkay.Stream(["ndcg@10"], dialect="recbole")
    stream.update(np.array([[3, 1]]), np.array([[1]]))
    result, again = stream.compute(), atkay.Stream.from_bytes(stream.to_bytes()).compute()
    assert (again.dialect, again.names) == (result.dialect, result.names)
    assert repr(again) == repr(result)


def test_tables_are_given_again() -> None:
    stream = atkay.Stream("novelty@2", n_items=5, train={0: [1, 2], 1: [2]})
    stream.update([[1, 2]], [[1]], users=[0])
    packed = stream.to_bytes()
    with pytest.raises(SideError, match=r"from_bytes\(..., train=...\) again"):
        atkay.Stream.from_bytes(packed)
    with pytest.raises(InputError, match="differ in the side tables"):
        atkay.Stream.from_bytes(packed, train={0: [1, 2], 1: [3]})
    again = atkay.Stream.from_bytes(packed, train={1: [2], 0: [2, 1]})
    assert again.to_bytes() == packed


def test_reset_and_empty_streams() -> None:
    stream = atkay.Stream("mrr")
    with pytest.raises(PopulationError, match="no data yet"):
        stream.compute()
    empty = stream.to_bytes()
    stream.update([[1]], [[1]])
    full = stream.to_bytes()
    stream.merge(empty)
    assert stream.to_bytes() == full
    stream.reset()
    assert stream.to_bytes() == empty
    stream.merge(full)
    assert stream.compute()["mrr"] == 1


def test_an_update_that_fails_changes_nothing() -> None:
    stream = atkay.Stream("mrr")
    stream.update([[1]], [[1]])
    before = stream.to_bytes()
    with pytest.raises(DuplicateError):
        stream.update([[1, 1]], [[1]])
    assert stream.to_bytes() == before


@pytest.mark.parametrize("metrics", [["mrr", "coverage@2"], ["coverage@2"]])
def test_a_result_of_sums_is_saved_and_reported(metrics: list[str], tmp_path: Path) -> None:
    stream = atkay.Stream(metrics, n_items=4)
    stream.update([[1, 2], [3, 0]], [[1], [2]], exclude=[[2], [-1]])
    result = stream.compute()
    assert result["coverage@2"] == 0.75  # items 0, 1 and 3
    result.save(tmp_path / "result.json")
    assert repr(atkay.Result.load(tmp_path / "result.json")) == repr(result)
    atkay.report(result, tmp_path / "report.html")
    with pytest.raises(RowsError):
        result.per_query  # noqa: B018 - the mistake


def test_ties_that_decide_are_said() -> None:
    stream = atkay.Stream("mrr")
    stream.update(scores=np.zeros((3, 4)), targets=[[1], [2], [3]])
    with pytest.warns(TiesWarning, match="decides 3 of 3 lists"):
        stream.compute()


def bytes_of(metrics: Any = "mrr", **given: Any) -> bytes:
    stream = atkay.Stream(metrics, **given)
    stream.update([[1]], [[1]])
    return stream.to_bytes()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (bytes_of("map"), r"differ in metrics: \['mrr'\] here and \['map'\] there"),
        (bytes_of("mrr", n_items=9), "differ in n_items: None here and 9 there"),
        (bytes_of("mrr", ties="item"), "differ in protocol: ties is 'given' here and 'item' there"),
    ],
)
def test_streams_that_differ_do_not_merge(other: bytes, message: str) -> None:
    stream = atkay.Stream("mrr")
    with pytest.raises(InputError, match=message):
        stream.merge(other)
    with pytest.raises(InputError, match=message):
        stream.merge(atkay.Stream.from_bytes(other))


GOOD = bytes_of(["mrr", "coverage@1"], n_items=3)


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04", b"{}", pickle.dumps({"a": 1}), "text", None, GOOD + b"x", GOOD * 2]
)
def test_foreign_bytes_are_refused(content: Any) -> None:
    with pytest.raises(SourceError, match="stream"):
        atkay.Stream.from_bytes(content)


def test_truncated_and_damaged_bytes_are_refused() -> None:
    for end in range(len(GOOD)):
        with pytest.raises(SourceError, match=r"not bytes of a stream|truncated"):
            atkay.Stream.from_bytes(GOOD[:end])
    for at in range(24, len(GOOD), 7):
        with pytest.raises(SourceError, match="damaged"):
            atkay.Stream.from_bytes(GOOD[:at] + bytes([GOOD[at] ^ 1]) + GOOD[at + 1 :])


def test_bytes_whose_parts_do_not_fit() -> None:
    from atkay.results.packing import pack, unpack

    header, states = unpack(GOOD)
    sums = header["sums"]
    pair = {"queries": 1, "numbers": {"mrr": [1, 0, ["1/0", "1/0"], ["1/0"] * 3]}}
    for content in (
        pack([header], states),  # type: ignore[arg-type]  # the mistake
        pack(header, []),
        pack(header, [states[0][:, :1]]),  # would be added to all items
        pack(header, [states[0][:, :2]]),
        pack(header, [states[0][0]]),
        pack({**header, "sums": pair}, states),
        pack({**header, "sums": {**sums, "queries": float("inf")}}, states),
        pack({**header, "population": {**header["population"], "evaluated": "1"}}, states),
        pack({**header, "side": None}, states),
        pack({**header, "names": ["mrr"]}, states),
        pack({**header, "protocol": [1]}, states),
        pack({**header, "sums": {"queries": 1, "numbers": {}}}, states),
        pack({**header, "population": {"evaluated": 1}}, states),
        pack({"metrics": ["mrr"]}, []),
    ):
        with pytest.raises(SourceError, match="cannot read these bytes as a stream"):
            atkay.Stream.from_bytes(content)


def test_bytes_of_another_version() -> None:
    from atkay.results.packing import pack, unpack

    header, states = unpack(GOOD)
    rules = {name: word for name, word in header["protocol"].items() if name != "ties"}
    for changed in (
        {"protocol": {**header["protocol"], "moon": "full"}},
        {"protocol": rules},
        {"protocol": {**rules, "ties": "by_moon"}},
        {"metrics": ["mrr", "moon@1"]},
    ):
        content = pack({**header, "atkay": "99.0", **changed}, states)
        with pytest.raises(SourceError, match=r"written by atkay 99\.0.*this is atkay"):
            atkay.Stream.from_bytes(content)
    with pytest.raises(SourceError, match=r"'moon' is not a known field.*written by atkay 99\.0"):
        atkay.Stream(["mrr", "coverage@1"], n_items=3).merge(
            pack({**header, "atkay": "99.0", "protocol": {**header["protocol"], "moon": "full"}}, states)
        )
    same = pack({**header, "atkay": "99.0"}, states)  # nothing differs but the version
    assert atkay.Stream.from_bytes(same).to_bytes() == GOOD


def test_what_the_bytes_say_is_not_said_again() -> None:
    for told in ({"n_items": 5}, {"ties": "item"}, {"metrics": "mrr"}):
        with pytest.raises(ProtocolError, match=f"from_bytes: no argument '{next(iter(told))}'.*'train', 'catalog'"):
            atkay.Stream.from_bytes(GOOD, **told)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"metrics": "coverage@1"}, SideError, r"coverage@1 is computed from all lists together.*n_items="),
        ({"metrics": "median_rank"}, SideError, r"median_rank is computed from all lists together.*n_items="),
        ({"metrics": "novelty", "n_items": 4}, SideError, "novelty needs train="),
        ({"metrics": "novelty", "train": {1: [2]}}, SideError, "train= is given"),
        ({"n_items": 0}, InputError, "n_items must be a positive integer below 2.31, got 0"),
        ({"n_items": 3, "train": {1: [3]}}, IdError, "train has item 3; item codes run from 0 to 2"),
        ({"n_items": 3, "train": {1: ["a"]}}, IdError, "train has item 'a'"),
        ({"average_over": "user"}, ProtocolError, "average_over"),
        ({"exclude": [1]}, ProtocolError, "exclude comes with each batch"),
        ({"slices": {1: "a"}}, ProtocolError, "'slices' is not supported"),
        ({"memory": "2GB"}, ProtocolError, "'memory' is not supported"),
        ({"memory": 1, "spill": "."}, ProtocolError, "'memory', 'spill' is not supported"),
        ({"metrics": "bpref", "ties": "together"}, ProtocolError, "does not support ties="),
        ({"metrics": "ndgc"}, SpecError, "ndcg"),
        ({"tie": "item"}, ProtocolError, "no argument 'tie'"),
    ],
)
def test_what_a_stream_refuses(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        atkay.Stream(**given)


@pytest.mark.parametrize(
    ("batch", "error", "message"),
    [
        ({}, InputError, r"pass update\(items, targets\)"),
        ({"items": [[1]]}, InputError, "pass update"),
        ({"items": [[1]], "targets": [[1], [2]]}, InputError, "targets has 2 rows for 1 users"),
        ({"items": [[1], [-2]], "targets": [[1], [2]]}, IdError, "items of row 1 has -2; item codes run from 0"),
        ({"items": [[1]], "targets": [[4]]}, IdError, r"targets of row 0 has 4; .* to 3 \(n_items is 4\)"),
        ({"items": np.array([[0.5]]), "targets": [[1]]}, InputError, "items must be a users x k array of item codes"),
        ({"items": [["a"]], "targets": [[1]]}, InputError, "a row of items is not a list of item codes"),
        ({"items": 5, "targets": [[1]]}, InputError, "items is an int"),
        ({"items": [[1]], "targets": 5}, InputError, "targets is an int"),
        ({"items": [[1]], "targets": np.ones((1, 3))}, InputError, "3 columns for 4 items"),
        ({"items": [[1]], "targets": np.array([[0, 1, 0, 0]])}, InputError, "only values 0 and 1"),
        ({"items": [[1]], "targets": np.inf * np.ones((1, 4))}, RelevanceError, "not finite"),
        ({"items": [[1]], "targets": [[1]], "scores": np.ones((1, 1))}, InputError, "items is a list and scores"),
        ({"scores": np.ones((1, 3)), "targets": [[1]]}, InputError, "3 columns, but n_items is 4"),
        ({"scores": np.full((1, 4), np.nan), "targets": [[1]]}, OrderError, r"scores\[0, 0\] is nan"),
        ({"scores": np.array([[1, np.inf, 0, 0]]), "targets": [[1]]}, OrderError, r"scores\[0, 1\] is inf"),
        ({"scores": np.ones(4), "targets": [[1]]}, OrderError, "of shape"),
        ({"items": [[1]], "targets": [[1]], "users": [1, 2]}, InputError, "users has 2 ids, but the batch has 1"),
        ({"items": {0: [1]}, "targets": [[1]]}, InputError, "items is a dict, but a batch has users in row order"),
        ({"items": [[1]], "targets": {0: [1]}}, InputError, "targets is a dict"),
        ({"items": [[1]], "targets": {1}}, InputError, "targets is a set"),
        ({"items": [[1]], "targets": b"\x01"}, InputError, "targets is a bytes"),
        ({"items": [[1]], "targets": [{1: 2.0}]}, InputError, "a row of targets is a dict"),
        ({"items": [[1]], "targets": [[1]], "exclude": {0: [1]}}, InputError, "exclude is a dict"),
        ({"items": [[1]], "targets": [[1]], "candidates": {0: [1]}}, InputError, "candidates is a dict"),
        ({"items": pl.DataFrame({"0": [1, 2]}), "targets": [[1], [1]]}, InputError, "items is a DataFrame"),
        ({"items": [[1]], "targets": pl.DataFrame({"0": [1]})}, InputError, r"targets is a DataFrame.*to_numpy\(\)"),
        ({"items": [[1]], "targets": pl.LazyFrame({"0": [1]})}, InputError, "targets is a LazyFrame"),
        ({"scores": pl.DataFrame(np.ones((1, 4))), "targets": [[1]]}, InputError, "scores is a DataFrame"),
        ({"items": [[1]], "targets": [[1]], "users": {7: 1}}, InputError, "users is a dict"),
        (
            {"items": [[1]], "targets": [[1]], "users": [True]},
            IdError,
            "'users' is of type Boolean, which cannot be an id",
        ),
        ({"items": [[1]], "targets": [[1]], "users": [0.5]}, IdError, "'users' holds 0.5, which cannot be an id"),
        ({"items": [[1]], "targets": [[1]], "users": [None]}, IdError, "'users' is missing in row 0"),
        ({"items": [[1], [1]], "targets": [[1], [1]], "users": [1, "a"]}, IdError, "it mixes types"),
        ({"items": [[1]], "targets": [[1]], "users": 5}, IdError, "users is an int that cannot be read as ids"),
        (
            {"items": [[1]], "targets": [[1]], "exclude": np.array([[0, 0, np.nan, 1]])},
            InputError,
            "exclude of row 0 has NaN for item 2, which is neither true nor false",
        ),
        (
            {"items": [[1]], "targets": [[1]], "candidates": sp.csr_array(np.array([[0, 0, np.nan, 1]]))},
            InputError,
            "candidates of row 0 has NaN for item 2",
        ),
    ],
)
def test_what_a_batch_refuses(batch: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        atkay.Stream("mrr", n_items=4).update(**batch)


def test_who_the_users_are_is_asked_where_it_matters() -> None:
    with pytest.raises(InputError, match="Pass users="):
        atkay.Stream("novelty", n_items=4, train={1: [2]}).update([[1]], [[1]])
    with pytest.raises(IdError, match="Nothing would match"):
        atkay.Stream("novelty", n_items=4, train={1: [2]}).update([[1]], [[1]], users=["a"])
    with pytest.raises(InputError, match="ties='random' depends on the users' ids"):
        atkay.Stream("mrr", ties="random").update(scores=np.ones((1, 4)), targets=[[1]])
    with pytest.raises(RelevanceError, match="min_relevance=2 needs grades"):
        atkay.Stream("mrr", min_relevance=2).update([[1]], [[1]])


def test_users_of_another_kind_are_refused() -> None:
    for train, users in (
        ({"1": [2]}, [1.0]),
        ({"1": [2]}, [1]),
        ({1: [2]}, ["1"]),
        ({"1": [2]}, np.array(["2020-01-01"], "M8[D]")),
    ):
        with pytest.raises(IdError, match="Nothing would match"):
            atkay.Stream("new_to_user@1", n_items=4, train=train).update([[2]], [[1]], users=users)
    with pytest.raises(IdError, match="Boolean, which cannot be an id"):
        atkay.Stream("new_to_user@1", n_items=4, train={"true": [2]}).update([[2]], [[1]], users=[True])


def test_whole_floats_are_the_integers_that_they_were() -> None:
    stream = atkay.Stream("new_to_user@1", n_items=4, train={1: [2], 2: [3]})
    stream.update([[2], [2]], [[1], [1]], users=np.array([1.0, 2.0]))
    assert stream.compute()["new_to_user@1"] == 0.5  # user 1 had item 2, user 2 had not


@pytest.mark.parametrize("train", [{"ann": [2]}, {1: [2]}])
def test_a_batch_of_nobody_has_ids_of_no_kind(train: dict[Any, Any]) -> None:
    stream = atkay.Stream("new_to_user@1", n_items=4, train=train)
    stream.update(np.empty((0, 1), int), np.empty((0, 1), int), users=[])
    stream.update([[2]], [[1]], users=list(train))
    assert stream.compute()["new_to_user@1"] == 0


def test_users_by_name() -> None:
    # Of the two items ann had one, and of cat nothing is known.
    stream = atkay.Stream("new_to_user@2", n_items=4, train={"ann": [2], "bob": [3]})
    stream.update([[1, 2], [1, 2]], [[1], [1]], users=np.array(["ann", "cat"]))
    assert stream.compute()["new_to_user@2"] == (0.5 + 1) / 2


def test_a_reference_for_everybody_needs_no_users() -> None:
    stream = atkay.Stream("unexpectedness@2", n_items=4, reference=[1])
    stream.update([[1, 2]], [[1]])
    assert stream.compute()["unexpectedness@2"] == 0.5


def test_masked_entries_are_left_out_as_evaluate_does() -> None:
    # Without the masked 1 and 2 the lists are 3, 0 and 1, 0; 0 is relevant to the first user, 1 to the second.
    def masked(values: Any, mask: Any) -> Any:
        return np.ma.masked_array(values, np.array(mask, bool))

    items = masked([[3, 1, 0], [2, 1, 0]], [[0, 1, 0], [1, 0, 0]])
    scores = masked([[1.5, 9.0, 0.5, 2.0], [1.0, 2.5, 9.0, -np.inf]], [[0, 1, 1, 0], [0, 0, 1, 0]])
    codes = masked([[0, 3], [1, 2]], [[0, 1], [0, 1]])
    grades = masked([[2.5, 0, 0, 9], [0, 0.5, 9, 0]], [[0, 0, 0, 1], [0, 0, 1, 0]])
    expected = (1 / 2 + 1) / 2
    for targets in (codes, grades, [*codes], [[0], [1]]):
        given: Any
        for given in ({"items": items}, {"items": [*items]}, {"scores": scores}):
            stream = atkay.Stream("mrr", n_items=4)
            stream.update(targets=targets, **given)
            assert stream.compute()["mrr"] == expected
        recs: Any
        for recs in (items, (None, scores)):
            assert atkay.evaluate(recs, targets, "mrr")["mrr"] == expected
    whole = masked([[3, 9, 1, 2]], [[0, 1, 0, 0]])  # 0, 3, 2
    stream = atkay.Stream("mrr", n_items=4)
    stream.update(scores=whole, targets=[[3]])
    assert stream.compute()["mrr"] == atkay.evaluate((None, whole), [[3]], "mrr")["mrr"] == 1 / 2
    stream = atkay.Stream("mrr")  # the scores of the listed items: 3 has 1, 0 has 2
    stream.update(items, codes, scores=np.array([[1.0, 9.0, 2.0], [9.0, 2.0, 1.0]]))
    assert stream.compute()["mrr"] == (1 + 1) / 2
    with pytest.raises(InputError, match="users is a masked array, and each of its values is needed"):
        stream.update(items, codes, users=np.ma.masked_equal([1, 2], 2))


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns as often as the interpreter lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(*work: Callable[[], object]) -> None:
    """Do all of it at once; whoever is not done after a minute waits for somebody."""
    failed: list[BaseException] = []

    def noting(one: Callable[[], object]) -> None:
        try:
            one()
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=noting, args=(one,), daemon=True) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert not failed


EACH, SHARING = 150, 6


def some_users(stream: atkay.Stream) -> None:
    """As many users as updates, each with two listed items of which the second is wanted."""
    for _ in range(EACH):
        stream.update([[0, 1]], [[1]])


@pytest.mark.usefixtures("hasty")
def test_threads_that_share_a_stream_lose_nobody() -> None:
    stream = atkay.Stream(["mrr", "recall(average=pooled)@1", "coverage@1"], n_items=2)
    stream.update([[0, 1]], [[1]])
    done = threading.Event()

    def reading() -> None:
        while not done.is_set():
            other = atkay.Stream.from_bytes(stream.to_bytes())
            for result in (stream.compute(), other.compute()):
                assert result.population.listed == 2 * result.population.evaluated  # of one moment
                assert result.summaries["mrr"].users == result.population.evaluated

    def counting() -> None:
        try:
            in_threads(*[lambda: some_users(stream)] * SHARING)
        finally:
            done.set()

    in_threads(reading, counting)
    result = stream.compute()
    assert result.population.evaluated == 1 + EACH * SHARING
    assert {name: summary.users for name, summary in result.summaries.items()} == dict.fromkeys(
        result, 1 + EACH * SHARING
    )
    assert dict(result) == {"mrr": 0.5, "recall(average=pooled)@1": 0.0, "coverage@1": 0.5}


@pytest.mark.usefixtures("hasty")
def test_streams_that_are_merged_crosswise_do_not_wait_for_each_other() -> None:
    one, other, total = (atkay.Stream("mrr") for _ in range(3))
    for stream in (one, other):
        stream.update([[0]], [[0]])
    # Each merge at least adds what the other had at first; doubling grows fast, so there are few.
    in_threads(*[lambda: one.merge(other), lambda: other.merge(one)] * 4)
    assert min(stream.compute().population.evaluated for stream in (one, other)) >= 1 + 4
    parts = [atkay.Stream("mrr") for _ in range(100)]
    for stream in parts:
        stream.update([[0]], [[0]])
    in_threads(*(functools.partial(total.merge, stream) for stream in parts))
    assert total.compute().population.evaluated == 100


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda stream: pickle.loads(pickle.dumps(stream))])
def test_a_copy_of_a_stream_counts_by_itself(copied: Callable[[atkay.Stream], atkay.Stream]) -> None:
    stream = atkay.Stream("mrr")
    stream.update([[0]], [[0]])
    other = copied(stream)
    other.update([[0, 1]], [[1]])
    in_threads(lambda: other.update([[0, 1]], [[1]]))
    assert (stream.compute()["mrr"], other.compute()["mrr"]) == (1.0, 2 / 3)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_does_not_wait_for_a_thread_of_its_parent() -> None:
    lock, held, done = Lock(), threading.Event(), threading.Event()

    def holding() -> None:
        with lock:
            held.set()
            done.wait(60)

    thread = threading.Thread(target=holding)
    thread.start()
    held.wait(60)
    child = os.fork()
    if not child:
        signal.alarm(20)  # ends the child, should it wait
        with lock:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    done.set()
    thread.join()


@pytest.mark.parametrize("spec", ["recall", "precision", "hit", "f1", "auc", "group_auc"])
@pytest.mark.parametrize("scores", [[[1.0, 1.0, 0.0]], [[3.0, 2.0, 1.0]]])
def test_a_batch_without_a_hit(spec: str, scores: list[list[float]]) -> None:
    stream = atkay.Stream(f"{spec}(average=pooled)", ties="expected", n_items=5)
    stream.update(np.array([[0, 1, 2]]), [[3]], scores=np.array(scores))
    assert stream.compute()[f"{spec}(average=pooled)"] == 0
    empty = atkay.Stream.from_bytes(stream.to_bytes())
    assert empty.compute()[f"{spec}(average=pooled)"] == 0
