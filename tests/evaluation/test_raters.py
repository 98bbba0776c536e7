"""Several grades of one user and item: mean, median, majority, or an error, in every engine."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import atkay
from atkay.core.lists import Lists
from atkay.errors import DuplicateError
from atkay.evaluation.raters import one_grade_each

ROWS = [("q1", "a", 0), ("q1", "a", 0), ("q1", "a", 3), ("q1", "b", 2), ("q1", "b", 1), ("q1", "c", 1)]
TRUTH = pl.DataFrame(ROWS, ["user", "item", "relevance"], orient="row")
RECS = {"q1": ["a", "b", "c"]}
# The grades of a, b and c, and what dcg with linear gains makes of them: a / 1 + b / log2(3) + c / 2.
SETTLED = {"mean": (1.0, 1.5, 1.0), "median": (0.0, 1.5, 1.0), "majority": (0.0, 1.0, 1.0)}


def dcg(a: float, b: float, c: float) -> float:
    return a / 1 + b / math.log2(3) + c / 2


@pytest.mark.parametrize("raters", SETTLED)
@pytest.mark.parametrize("engine", [{}, {"memory": "100KB"}])
def test_each_word(raters: Any, engine: dict[str, Any]) -> None:
    for truth in (TRUTH, TRUTH.reverse()):
        result = atkay.evaluate(RECS, truth, "dcg(gain=linear)", raters=raters, **engine)
        assert result["dcg(gain=linear)"] == pytest.approx(dcg(*SETTLED[raters]), abs=1e-12)


def test_first_and_errors() -> None:
    first = atkay.evaluate(RECS, TRUTH, "dcg(gain=linear)", duplicates="first")
    assert first["dcg(gain=linear)"] == pytest.approx(dcg(0, 2, 1))
    for words in ({}, {"raters": "error"}, {"raters": "error", "duplicates": "first"}):
        with pytest.raises(DuplicateError, match=r"appears twice in the truth .* graded them, pass raters='mean'"):
            atkay.evaluate(RECS, TRUTH, "dcg", **words)  # type: ignore[arg-type]  # words of the protocol
    with pytest.raises(DuplicateError, match="appears twice in the list"):
        atkay.evaluate({"q1": ["a", "a"]}, TRUTH, "dcg", raters="mean")


def test_raters_who_did_not_judge() -> None:
    # a: -1 and 3. The one who did not judge is left out where -1 says that, and pulls the mean down to 1 where not.
    truth = pl.DataFrame([("q1", "a", -1), ("q1", "a", 3)], ["user", "item", "relevance"], orient="row")
    metric = "dcg(gain=linear)"
    assert atkay.evaluate(RECS, truth, metric, raters="mean", negative="unjudged")[metric] == 3
    assert atkay.evaluate(RECS, truth, metric, raters="mean")[metric] == 1


def test_full_ranking() -> None:
    torch = pytest.importorskip("torch")
    user, item, grade = [0, 0, 0, 0, 0], [0, 0, 0, 1, 1], [0.0, 0.0, 3.0, 2.0, 1.0]
    frame = pl.DataFrame({"user": user, "item": item, "relevance": grade})
    metric = "dcg(gain=linear)"
    expected = atkay.evaluate({0: [0, 1, 2]}, frame, metric, raters="mean")[metric]
    assert expected == pytest.approx(dcg(1, 1.5, 0))
    rows = sparse.csr_array((np.array(grade), np.array(item), np.array([0, 5])), shape=(1, 3))
    scores = torch.tensor([[3.0, 2.0, 1.0]])
    found = atkay.FullRanking(rows, metric, raters="mean").evaluate_scores(lambda _: scores)
    assert found[metric] == pytest.approx(expected)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.sampled_from([-1.0, 0.0, 0.1, 1.0, 2.0])), max_size=30),
    st.sampled_from(["one", "mean", "median", "majority"]),
)
def test_against_the_standard_library(rows: list[tuple[int, int, float]], raters: str) -> None:
    rows = sorted(rows, key=lambda row: row[0])
    length = np.bincount(np.array([user for user, _, _ in rows], np.int64), minlength=3)
    truth = Lists.of(length, np.array([item for _, item, _ in rows], np.int64), 4)
    kept, grade = one_grade_each(truth, np.array([grade for _, _, grade in rows]), raters)
    grades: dict[tuple[int, int], list[float]] = {}
    for user, item, one in rows:
        grades.setdefault((user, item), []).append(one)
    settle = {"one": lambda each: each[0], "mean": statistics.fmean, "median": statistics.median}
    expected = {
        pair: settle.get(raters, lambda each: min(statistics.multimode(each)))(each) for pair, each in grades.items()
    }
    assert grade is not None
    assert list(zip(kept.owner().tolist(), kept.item.tolist(), strict=True)) == [*grades]
    assert grade.tolist() == pytest.approx([expected[pair] for pair in grades])


def test_raters_of_a_qrels_file(tmp_path: Path) -> None:
    """Raters of a qrels file, told apart by its second field."""
    (tmp_path / "raters.qrels").write_text("q1 anna d1 2\nq1 bert d1 1\nq1 anna d2 0\nq1 bert d2 1\n")
    result = atkay.evaluate({"q1": ["d2", "d1"]}, tmp_path / "raters.qrels", "dcg(gain=linear)", raters="mean")
    assert result["dcg(gain=linear)"] == pytest.approx(0.5 / 1 + 1.5 / np.log2(3))
