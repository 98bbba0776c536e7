"""Numbers from elsewhere: the conventions behind them are found, and luck is called luck."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import atkay
from atkay.errors import SpecError

FOLDER = Path(__file__).parent.parent / "conformance"
RECS = {"A": ["i1", "i9", "i2", "i8", "i3"], "B": ["i1", "i7"], "D": ["i1", "i2", "i3"]}
TRUTH = {"A": [f"i{n}" for n in range(1, 7)], "B": ["i1", "i2"], "C": ["i1"]}

LIBRARIES = {
    "pytrec_eval": ("trec_eval", {"map@5": "map_cut", "ndcg@5": "ndcg_cut", "precision@5": "P"}),
    "ranx": ("ranx", {"map@5": "map", "ndcg@5": "ndcg", "f1@5": "f1"}),
    "rectools": ("rectools", {"map@5": "MAP", "ndcg@5": "NDCG", "mrr@5": "MRR"}),
    "replay": ("replay", {"map@5": "MAP", "ndcg@5": "NDCG", "recall@5": "Recall"}),
    "recommenders": ("recommenders", {"precision@5": "precision_at_k", "ndcg@5": "ndcg_at_k"}),
    "lenskit": ("lenskit", {"precision@5": "Precision", "recall@5": "Recall", "ndcg@5": "NDCG"}),
    "torchmetrics": ("torchmetrics", {"map@5": "RetrievalMAP", "recall@5": "RetrievalRecall"}),
    "spark": ("spark", {"map@5": "meanAveragePrecisionAt", "ndcg@5": "ndcgAt", "recall@5": "recallAt"}),
    "recbole": ("recbole", {"map@5": "MAP", "ndcg@5": "NDCG", "mrr@5": "MRR"}),
    "lightgbm": ("lightgbm", {"map@5": "map", "ndcg@5": "ndcg"}),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_conventions_of_a_library_are_found_from_its_numbers(library: str) -> None:
    """The numbers are those that the library printed for the data set `missing`, to six digits."""
    dialect, names = LIBRARIES[library]
    recorded = json.loads((FOLDER / "recorded" / f"{library}.json").read_text())["data"]["missing"]

    def value(metric: str) -> float:
        plain = [
            entry["value"]
            for entry in recorded
            if (entry["metric"], entry["k"]) == (metric, 5)
            and "error" not in entry
            and not {"r_precision", "divide_by_k", "dtype", "adaptive_k", "weight", "log_base"} & set(entry["options"])
            and entry["options"].get("truth", "relevance > 0") == "relevance > 0"
            and entry["options"].get("empty_target_action", "neg") == "neg"
            and entry["options"].get("users", "with a list and truth") == "with a list and truth"
            and (library != "ranx" or entry["options"].get("make_comparable"))
        ]
        return float(plain[0])

    reported = {name: f"{value(metric):.6f}" for name, metric in names.items()}
    recs, truth = (pl.read_csv(FOLDER / "data" / "missing" / f"{table}.csv") for table in ("recs", "truth"))
    found = atkay.reconcile(recs, truth, reported)
    assert found, found.verdict
    assert dialect in {name for each in found for name in each.libraries}
    assert dialect in found.explanations[0].libraries


def test_an_explanation_is_checked_by_hand() -> None:
    # RePlay and RecBole: AP is divided by min(k, R) and everybody with truth counts.
    # A: (1 + 2/3 + 3/5) / 5 = 0.4533, B: 1/2, C: 0. Their mean is 0.3178.
    found = atkay.reconcile(RECS, TRUTH, {"map@5": "0.3178", "ndcg@5": "0.4177"})
    best = found.explanations[0]
    assert best.protocol == {}
    assert best.numbers["map@5"][0] == "map(per=capped)@5"
    assert best.numbers["map@5"][1] == pytest.approx(((1 + 2 / 3 + 3 / 5) / 5 + 1 / 2) / 3)
    assert {"replay", "recbole"} <= set(best.libraries)
    assert "map(per=capped)@5" in repr(found)
    assert "map(per=capped)@5" in found.to_markdown()


def test_the_slip_of_the_course_notes() -> None:
    # The notes print r@5 = 2/5 for a list with relevance 0 1 0 1 0 1 0 and three relevant items: that is precision.
    found = atkay.reconcile({1: list("xaybzcw")}, {1: list("abc")}, {"recall@5": "0.4"})
    assert "precision@5" in {spec for each in found for spec, _ in each.numbers.values()}


def test_percent_and_a_cutoff_off_by_one() -> None:
    # Two of the first four items are relevant, three of the first five.
    recs, truth = {1: ["a", "x", "b", "y", "c", "z"]}, {1: ["a", "b", "c", "d"]}
    percent = atkay.reconcile(recs, truth, {"precision@4": "50.0"})
    assert percent.explanations[0].numbers["precision@4"][0] == "precision@4 in percent"
    shifted = atkay.reconcile(recs, truth, {"precision@4": "0.60"})
    assert shifted.explanations[0].numbers["precision@4"][0] == "precision@5"


def test_luck_is_called_luck() -> None:
    one = atkay.reconcile(RECS, TRUTH, {"map@5": "0.3"})
    assert one.chance > 0.05
    assert "too many to prove anything" in one.verdict
    several = atkay.reconcile(RECS, TRUTH, {"map@5": "0.317778", "ndcg@5": "0.417698", "precision@5": "0.266667"})
    assert several.chance < 0.05
    assert "mean something" in several.verdict


def test_nothing_matches() -> None:
    found = atkay.reconcile(RECS, TRUTH, {"map@5": "0.123456", "ndcg@5": "0.4177"})
    assert not found
    assert "Nothing matches" in repr(found)
    assert set(found.nearest) == {"map@5", "ndcg@5"}
    assert found.nearest["ndcg@5"][1] == pytest.approx(0.4177, abs=5e-5)


def test_a_given_protocol_stays_as_it_is() -> None:
    found = atkay.reconcile(RECS, TRUTH, {"map@5": "0.3178"}, no_recs="skip")
    assert all("no_recs" not in each.protocol for each in found)
    assert not any(each.numbers["map@5"][0] == "map(per=capped)@5" and not each.protocol for each in found)


@pytest.mark.parametrize(
    ("reported", "message"),
    [
        ({}, "no number was given"),
        ({"map@5": "high"}, "which is no number"),
        ({"map@5": float("nan")}, "no finite number"),
        ({"map@5,10": "0.3"}, "one number at a time"),
        ({"coverage@5": "0.3"}, "needs more than lists and truth"),
        ({"mapp@5": "0.3"}, "no metric 'mapp'"),
    ],
)
def test_what_is_refused(reported: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        atkay.reconcile(RECS, TRUTH, reported)
