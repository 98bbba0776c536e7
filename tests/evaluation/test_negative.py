"""Grades below 0: what trec_eval and ir-measures make of them, and the words of the protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import atkay
from atkay.errors import RelevanceError

TRUTH = {
    "1": {"a": -1, "b": 2, "c": 0, "d": 1, "e": -2, "f": -3},
    "2": {"a": -1, "b": -2},
    "3": {"a": 0, "b": -1},
    "4": {"a": 1, "b": -1},
}
RECS = {query: {item: 10.0 - at for at, item in enumerate("ebacxdf")} for query in TRUTH}

FILES = Path(__file__).parents[1] / "inputs" / "formats" / "trec"

# pytrec_eval-terrier 0.5.11: RelevanceEvaluator(TRUTH, {measure}, relevance_level=1).evaluate(RECS)
TREC_EVAL = {
    "map": [0.41666666666666663, 0.0, 0.0, 0.3333333333333333],
    "Rprec": [0.5, 0.0, 0.0, 0.0],
    "bpref": [0.5, 0.0, 0.0, 1.0],
    "recip_rank": [0.5, 0.0, 0.0, 0.3333333333333333],
    "P_5": [0.2, 0.0, 0.0, 0.2],
    "ndcg": [0.6150170646154386, 0.0, 0.0, 0.5],
    "ndcg_cut_3": [0.4796249331362629, 0.0, 0.0, 0.5],
}
# The same with relevance_level=2, and with judged_docs_only_flag=True, which is trec_eval's -J.
FROM_2 = {"map": [0.5, 0.0, 0.0, 0.0], "bpref": [1.0, 0.0, 0.0, 0.0], "recall_5": [1.0, 0.0, 0.0, 0.0]}
JUDGED_ONLY = {"map": [0.8333333333333333, 0.0, 0.0, 1.0], "P_2": [0.5, 0.0, 0.0, 0.5]}
# ir-measures 0.4.3: iter_calc([measure], TRUTH, RECS); gdeval.pl, which has the first two, prints five decimals.
IR_MEASURES = {
    "nDCG(dcg='exp-log2')@3": [0.5213, 0.0, 0.0, 0.5],
    "ERR@5": [0.09375, 0.0, 0.0, 0.02083],
    "Bpref": [0.5, 0.0, 0.0, 1.0],
    "AP(judged_only=True)": [0.8333333333333333, 0.0, 0.0, 1.0],
}


@pytest.mark.parametrize(
    ("dialect", "expected", "fields"),
    [
        ("trec_eval", TREC_EVAL, {}),
        ("trec_eval", FROM_2, {"min_relevance": 2}),
        ("trec_eval", JUDGED_ONLY, {"unjudged": "drop"}),
        ("ir_measures", IR_MEASURES, {}),
    ],
)
def test_other_libraries(dialect: Any, expected: dict[str, list[float]], fields: Any) -> None:
    for name, values in expected.items():
        result = atkay.evaluate(RECS, TRUTH, name, dialect=dialect, **fields)
        assert [*result.per_query.to_series(1)] == pytest.approx(values, abs=5e-6 if "@" in name else 1e-12), name


def test_words() -> None:
    # Bpref of query 1: b has nothing above that was judged and is not relevant if e counts as not judged, else e. d has
    # c above it, or e, a and c. R = 2 of b and d; N = 1 (c), or 4 (a, c, e, f). min(N, R) = 1, or 2.
    words: list[Any] = ["unjudged", "irrelevant"]
    unjudged, irrelevant = (
        atkay.evaluate({"1": RECS["1"]}, {"1": TRUTH["1"]}, "bpref", negative=word)["bpref"] for word in words
    )
    assert unjudged == pytest.approx(((1 - 0) + (1 - 1)) / 2)
    assert irrelevant == pytest.approx(((1 - 1 / 2) + (1 - 2 / 2)) / 2)


def test_unjudged_items_are_dropped() -> None:
    # e b a c x d f: without the unjudged ones b c d (e, a and f are not judged, and x is not named): 1 and 2 / 3.
    # If grades below 0 are judgments, x alone goes: e b a c d f, 1 / 2 and 2 / 5.
    one = {"1": RECS["1"]}, {"1": TRUTH["1"]}, "map"
    assert atkay.evaluate(*one, unjudged="drop", negative="unjudged")["map"] == pytest.approx((1 + 2 / 3) / 2)
    assert atkay.evaluate(*one, unjudged="drop")["map"] == pytest.approx((1 / 2 + 2 / 5) / 2)


@pytest.mark.parametrize("engine", [{}, {"memory": "100KB"}])
def test_errors(engine: dict[str, Any]) -> None:
    with pytest.raises(RelevanceError, match="item 'a' of user '1' has the grade -1; 7 of 12 grades are below 0"):
        atkay.evaluate(RECS, TRUTH, "map", negative="error")
    rows = [(query, item, grade) for query, grades in TRUTH.items() for item, grade in grades.items()]
    frame = pl.DataFrame(rows, ["user", "item", "relevance"], orient="row")
    with pytest.raises(RelevanceError, match="below 0"):
        atkay.evaluate(RECS, frame, "map", negative="error", **engine)


def test_the_result_says_so() -> None:
    default, unjudged = (
        str(atkay.evaluate(RECS, TRUTH, "map", **words))  # type: ignore[arg-type]  # words of the protocol
        for words in ({}, {"negative": "unjudged"})
    )
    assert "grades -3 to 2 from the values of truth; below 0: not relevant; relevant above 0" in default
    assert "grades -3 to 2 from the values of truth; below 0: not judged; relevant above 0" in unjudged


def test_the_same_truth_has_one_fingerprint() -> None:
    words: list[Any] = ["irrelevant", "unjudged"]
    one, other = (atkay.evaluate(RECS, TRUTH, "map", negative=word).fingerprint for word in words)
    assert one == other


def test_qrels_of_trec_covid() -> None:
    # Query 1: relevant documents at ranks 2 and 3, of three. Query 2: the only one at rank 2, below -1.
    expected = [((1 / 2 + 2 / 3) / 3 + 1 / 2) / 2]
    assert list(atkay.evaluate(FILES / "covid.run", FILES / "covid_rounds.txt", "map").values()) == pytest.approx(
        expected
    )


def test_qrels_of_the_web_track() -> None:
    run = {"201": ["clueweb12-0000tw-33-20520", "clueweb12-0001wb-45-04313"], "202": ["clueweb12-0000tw-01-01362"]}
    # 201: spam, then the best of two relevant documents. 202 has spam alone: trec_eval counts it as 0, and we do not.
    assert atkay.evaluate(run, FILES / "web_spam.txt", "map")["map"] == pytest.approx((1 / 2) / 2)
    assert atkay.evaluate(run, FILES / "web_spam.txt", "map", dialect="trec_eval")["map"] == pytest.approx(
        (1 / 2) / 2 / 2
    )


def test_stream_and_full_ranking_agree() -> None:
    torch = pytest.importorskip("torch")
    grade = np.array([[-1.0, 2.0, 0.0, 1.0, -2.0], [-1.0, -1.0, 0.0, 0.0, 0.0]])
    scores = np.array([[1.0, 4.0, 2.0, 3.0, 5.0], [5.0, 4.0, 3.0, 2.0, 1.0]])
    lists = {user: dict(enumerate(row)) for user, row in enumerate(scores)}
    matrix = torch.tensor(scores)

    def score(users: Any) -> Any:
        return matrix[users]

    truth = {user: {item: one for item, one in enumerate(row) if one} for user, row in enumerate(grade)}
    words: list[Any] = ["irrelevant", "unjudged"]
    for word in words:
        expected = atkay.evaluate(lists, truth, ["map", "bpref"], negative=word, no_truth="judged")
        ranked = atkay.FullRanking(sparse.csr_array(grade), ["map", "bpref"], negative=word, no_truth="judged")
        assert list(ranked.evaluate_scores(score).values()) == list(expected.values())
        stream = atkay.Stream(["map", "bpref"], n_items=5, negative=word, no_truth="judged")
        order = np.argsort(-scores, axis=1)
        stream.update(order, grade, scores=np.take_along_axis(scores, order, 1), users=np.arange(2))
        assert list(stream.compute().values()) == list(expected.values())
    with pytest.raises(RelevanceError, match="4 of 6 grades are below 0"):
        atkay.FullRanking(sparse.csr_array(grade), "map", negative="error")
