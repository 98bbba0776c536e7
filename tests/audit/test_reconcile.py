"""Numbers from elsewhere: the conventions behind them are found, and luck is called luck."""

from __future__ import annotations

import dataclasses
import json
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.audit.candidates import protocols_of
from atkay.audit.evidence import Evidence
from atkay.errors import PopulationError, ProtocolError, SpecError
from atkay.evaluation.request import Request
from atkay.metrics.spec import parse_all
from atkay.protocol import Protocol
from atkay.words import words_of
from scenarios import examples

FOLDER = Path(__file__).parents[2] / "conformance"
RECS = {"A": ["i1", "i9", "i2", "i8", "i3"], "B": ["i1", "i7"], "D": ["i1", "i2", "i3"]}
TRUTH = {"A": [f"i{n}" for n in range(1, 7)], "B": ["i1", "i2"], "C": ["i1"]}

LIBRARIES = {
    "pytrec_eval": ("trec_eval", {"map@5": "map_cut", "ndcg@5": "ndcg_cut", "precision@5": "P"}),
    "ranx": ("ranx", {"map@5": "map", "ndcg@5": "ndcg", "f1@5": "f1"}),
    "rectools": ("rectools", {"map@5": "MAP", "ndcg@5": "NDCG", "mrr@5": "MRR"}),
    "replay": ("replay", {"map@5": "MAP", "ndcg@5": "NDCG", "recall@5": "Recall"}),
    "recommenders": ("recommenders", {"map@5": "map_at_k", "precision@5": "precision_at_k", "ndcg@5": "ndcg_at_k"}),
    "lenskit": ("lenskit", {"precision@5": "Precision", "recall@5": "Recall", "ndcg@5": "NDCG"}),
    "torchmetrics": ("torchmetrics", {"map@5": "RetrievalMAP", "recall@5": "RetrievalRecall"}),
    "spark": ("spark", {"map@5": "meanAveragePrecisionAt", "ndcg@5": "ndcgAt", "recall@5": "recallAt"}),
    "recbole": ("recbole", {"map@5": "MAP", "ndcg@5": "NDCG", "mrr@5": "MRR"}),
    "lightgbm": ("lightgbm", {"map@5": "map", "ndcg@5": "ndcg"}),
}
PLAIN = {
    "truth": "relevance > 0",
    "users": "with a list and truth",
    "empty_target_action": "neg",
    "make_comparable": True,
    "inputs": "objects",
    "ranks": "listed items",
    "rows": "one by one",
    "score_type": "binary",
    "discfun_type": "loge",
}
"""The options of a plain call."""


def frames(data: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    recs, truth = (pl.read_csv(FOLDER / "data" / data / f"{table}.csv") for table in ("recs", "truth"))
    return recs, truth


def printed(library: str, data: str, names: dict[str, str]) -> dict[str, str]:
    """What a library printed for a data set at 5, to six digits."""
    recorded = json.loads((FOLDER / "recorded" / f"{library}.json").read_text())["data"][data]
    found = {
        entry["metric"]: f"{float(entry['value']):.6f}"
        for entry in reversed(recorded)
        if entry["k"] == 5
        and entry["value"] is not None
        and all(PLAIN.get(option) == value for option, value in entry["options"].items())
        and (library != "ranx" or entry["options"].get("make_comparable"))
    }
    return {name: found[metric] for name, metric in names.items()}


@pytest.mark.parametrize("data", ["missing", "graded", "negative"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_the_conventions_of_a_library_are_found_from_its_numbers(library: str, data: str) -> None:
    """Users that lack a list or truth, grades with zeros, scores below zero; the library is not told."""
    dialect, names = LIBRARIES[library]
    found = atkay.reconcile(*frames(data), printed(library, data, names))
    assert found, found.verdict
    assert dialect in found.explanations[0].libraries, str(found)
    assert found.chance < 0.1  # few users: averages of simple fractions have few values


@pytest.mark.parametrize(
    ("library", "data", "words"),
    [
        ("replay", "ties", {"ties": "item_desc"}),
        ("pytrec_eval", "ties", {"ties": "item_desc"}),  # the ids are text
        ("pytrec_eval", "near_ties", {"scores": "float32"}),
        ("torchmetrics", "negative", {"nonpositive": "missed"}),
    ],
)
def test_how_a_library_reads_lists_is_found(library: str, data: str, words: dict[str, str]) -> None:
    dialect, names = LIBRARIES[library]
    best = atkay.reconcile(*frames(data), printed(library, data, names)).explanations[0]
    assert dialect in best.libraries
    assert words.items() <= best.protocol.items()


def test_what_no_convention_can_say_is_not_explained() -> None:
    # RecPack puts equal scores in any order.
    names = {"precision@5": "PrecisionK", "recall@5": "RecallK", "mrr@5": "ReciprocalRankK"}
    found = atkay.reconcile(*frames("ties"), printed("recpack", "ties", names))
    assert not found


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


def test_a_sign_of_percent_is_taken_at_its_word() -> None:
    # map(per=capped) is 0.3178, as above.
    found = atkay.reconcile(RECS, TRUTH, {"map@5": "31.78%", "ndcg@5": "41.77 %"})
    assert found.explanations[0].numbers["map@5"][0] == "map(per=capped)@5 in percent"
    assert found.explanations[0].cost == 1  # per=capped alone
    assert "replay" in found.explanations[0].libraries
    assert all(spec.endswith("in percent") for each in found for spec, _ in each.numbers.values())


def test_numbers_under_a_librarys_own_names() -> None:
    # trec_eval leaves out C: (2.2667 / 6 + 1/2) / 2 = 0.4389, and recall (3/6 + 1/2) / 2.
    found = atkay.reconcile(RECS, TRUTH, {"map_cut_5": "0.4389", "recall_5": "0.5000"})
    best = found.explanations[0]
    assert {name: spec for name, (spec, _) in best.numbers.items()} == {"map_cut_5": "map@5", "recall_5": "recall@5"}
    assert best.protocol == {"no_recs": "skip"}
    assert "trec_eval" in best.libraries
    assert best.words[0].startswith("map_cut_5: sum of the precision")


def test_the_words_of_an_explanation() -> None:
    # map(per=k) without D: (2.2667 / 5 + 1/5 + 0) / 3 = 0.2178. Precision: (3/5 + 1/5 + 0) / 3 = 26.67 %.
    found = atkay.reconcile(RECS, TRUTH, {"map@5": "0.2178", "recall@5": "26.67"})
    assert found.explanations[0].words == [
        "map@5: sum of the precision at the rank of each relevant item in the top 5, divided by 5",
        "recall@5 (actually precision, printed as a percentage): relevant items in the top 5, divided by 5",
    ]
    assert "First match: map@5: sum of the precision" in repr(found)
    # Without C as well: map is (2.2667 / 6 + 1/2) / 2 = 0.4389, and precision at 6 places (3/6 + 1/6) / 2.
    fewer = atkay.reconcile(RECS, TRUTH, {"map@5": "0.4389", "precision@5": "0.3333"}).explanations[0]
    assert fewer.words[1:] == [
        "precision@5 (cut off at 6): relevant items in the top 6, divided by 6",
        "a user with truth but no list is skipped",
    ]


def test_a_library_is_named_where_its_own_words_match() -> None:
    # 0.3178 is also map(per=k) of whole lists if what is not listed does not exist; RePlay does not count so.
    for each in atkay.reconcile(RECS, TRUTH, {"map@5": "0.318"}):
        assert ("replay" in each.libraries) == (each.protocol == {})


@pytest.mark.parametrize(
    ("library", "dialect", "names"),
    [
        ("recommenders", "recommenders", {"map@5": "map", "ndcg@5": "ndcg_at_k"}),
        ("ranx", "ranx", {"ndcg@5": "ndcg_burges", "map@5": "map"}),
        ("recpack", "recpack", {"recall@5": "CalibratedRecallK", "ndcg@5": "NDCGK"}),
    ],
)
def test_a_library_is_named_by_any_of_its_names_for_a_metric(library: str, dialect: str, names: dict[str, str]) -> None:
    found = atkay.reconcile(*frames("graded"), printed(library, "graded", names))
    assert dialect in found.explanations[0].libraries, str(found)


def test_a_library_with_more_than_one_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    # As if RePlay left out users without a list in precision, (3/5 + 1/5) / 2, and in nothing else.
    plain = Request.of

    def apart(metric: str, *given: Any, dialect: str | None = None) -> Any:
        request = plain(metric, *given, dialect=dialect)
        skips = (dialect, metric) == ("replay", "precision@5")
        return dataclasses.replace(request, protocol=request.protocol.with_fields(no_recs="skip")) if skips else request

    monkeypatch.setattr(Request, "of", apart)
    found = atkay.reconcile(RECS, TRUTH, {"map@5": "0.31778", "precision@5": "0.40000"})
    [each] = [each for each in found if "replay" in each.libraries]
    assert each.protocol == {"dialect": "replay"}
    assert each.words[-1] == "each metric under replay's protocol for it"
    assert 0 < found.chance < 0.01


def test_protocols_that_agree_are_one() -> None:
    # XGBoost takes users without truth in two ways, and here all have truth: hits at 1 and 3 of 3, both all there is.
    recs, truth = {1: ["a", "x", "b"], 2: ["y", "c"]}, {1: ["a", "b"], 2: ["c"]}
    # Precision: (2/3 + 1/2) / 2. AP: ((1 + 2/3) / 2 + 1/2) / 2.
    found = atkay.reconcile(recs, truth, {"precision@5": "0.583333", "map@5": "0.666667"})
    [each] = [each for each in found if "xgboost" in each.libraries]
    assert each.protocol == {}


def test_a_threshold_is_found() -> None:
    # Grades from 3 on: user 1 finds 2 of 4 (places 1 and 4), user 2 finds 1 of 4.
    recs = {1: ["a", "b", "c", "d"], 2: ["a", "b", "c", "d"]}
    truth = {1: {"a": 5, "b": 1, "c": 2, "d": 3}, 2: {"a": 1, "b": 4, "c": 2, "e": 3}}
    found = atkay.reconcile(recs, truth, {"precision@4": "0.375", "recall@4": "0.75", "hit@1": "0.5"})
    assert found.explanations[0].protocol == {"min_relevance": 3.0}
    assert "an item is relevant if its grade is at least 3" in found.explanations[0].words
    assert [found.searched["min_relevance"]] == [("None", "2.0", "3.0", "4.0", "5.0")]


def test_many_grades_are_tried_up_to_a_limit_that_is_said() -> None:
    recs = {1: [f"i{n:02}" for n in range(40)], 2: ["i01"]}
    truth = {1: {f"i{n:02}": n + 1 for n in range(40)}, 2: {"i01": 40}}
    found = atkay.reconcile(recs, truth, {"recall@3": "0.123456"})
    assert found.searched["min_relevance"][-2:] == ("10.0", "except the 30 highest grades")


def test_exclusions_are_tried_both_ways() -> None:
    # What user 1 had before is the first item of the list: without it b moves to the first place.
    recs, truth, seen = {1: ["a", "b", "c"], 2: ["c", "b", "a"]}, {1: ["b"], 2: ["a"]}, {1: ["a"]}
    left_out = {"mrr@3": "0.667", "hit@1": "0.5"}  # (1 + 1/3) / 2 and (1 + 0) / 2
    left_in = {"mrr@3": "0.417", "hit@1": "0.0"}  # (1/2 + 1/3) / 2 and 0

    def said(reported: dict[str, str], **given: object) -> dict[str, object]:
        return dict(atkay.reconcile(recs, truth, reported, **given).explanations[0].protocol)  # type: ignore[arg-type]

    assert said(left_out, train=seen) == {"exclude": "1 row of a dict"}
    assert said(left_in, train=seen) == {}
    assert said(left_out, exclude=seen) == {}
    assert said(left_in, exclude=seen) == {"exclude": None}
    # Only b and c can be listed: as if a were excluded for everybody, so that user 2 has no hit.
    assert said({"mrr@3": "0.5", "recall@3": "0.5"}, candidates=["b", "c"]) == {}
    assert said(left_in, candidates=["b", "c"]) == {"candidates": None}


def test_averages_over_a_coarser_key_are_found() -> None:
    # Orders 1 and 2 are of ann (precisions 1 and 0), order 3 is of bob (1): over users (1/2 + 1) / 2, over orders 2/3.
    recs = pl.DataFrame({"order": [1, 2, 3], "item": ["a", "b", "c"]})
    truth = pl.DataFrame({"order": [1, 2, 3], "item": ["a", "x", "c"], "person": ["ann", "ann", "bob"]})
    columns = atkay.Columns(user="order")
    found = atkay.reconcile(recs, truth, {"precision@1": "0.750", "hit@1": "0.750"}, columns=columns)
    assert found.explanations[0].protocol == {"average_over": "person"}
    keyed = recs.with_columns(person=pl.Series(["ann", "ann", "bob"]))
    columns = atkay.Columns(user=("person", "order"))
    found = atkay.reconcile(keyed, truth, {"precision@1": "0.750", "hit@1": "0.750"}, columns=columns)
    assert found.explanations[0].protocol == {"average_over": "person"}


def test_every_word_for_ties_is_tried() -> None:
    recs = pl.DataFrame({"user": [1] * 4, "item": list("bdac"), "score": [0.4] * 4})
    # In reverse, c a d b, the one relevant item is at 3: 1/3. All at 4: (2/4 + 2/4) / 2.
    for word, relevant, number in (("reversed", ["d"], "0.333333"), ("together", ["d", "a"], "0.500000")):
        found = atkay.reconcile(recs, {1: relevant}, {"map": number})
        assert {"ties": word} in [each.protocol for each in found]


def test_every_field_is_tried_or_about_the_task() -> None:
    """Scores of either sign, tied; grades of either sign and 0; two users of each group: every field matters."""
    scored = {1: {"a": 1.0, "b": 1.0, "c": 0.0}, 2: {"a": 1.0}, 3: {"b": 1.0}}
    recs = pl.DataFrame([(*row, score) for *row, score in _rows(scored)], ["user", "item", "score"], orient="row")
    graded = {1: {"a": 1, "b": 3, "c": -1}, 2: {"a": 0, "b": 2}, 3: {"a": 1}}
    known = [(user, item, grade, user == 3) for user, item, grade in _rows(graded)]
    truth = pl.DataFrame(known, ["user", "item", "relevance", "new"], orient="row")
    evidence = Evidence.read(recs, truth, Protocol(min_relevance=1), None, {"exclude": ["a"], "candidates": ["a", "b"]})
    protocols = protocols_of(evidence, evidence.protocol, {"min_relevance"})
    fields = dataclasses.fields(Protocol)
    tried = {each.name: {getattr(protocol, each.name) for protocol in protocols} for each in fields}
    about = {each.name: each.metadata["concerns"] for each in fields}
    for each in fields:
        if words_of(each) and about[each.name] != "task":
            assert tried[each.name] == {*words_of(each)} - {"error"}
    alone = {name for name, values in tried.items() if len(values) == 1}
    assert alone == {"duplicates", "raters", "depth", "min_relevance", "aggregate"}
    assert {about[name] for name in alone} == {"task"}


@pytest.mark.parametrize("protocol", [Protocol(), Protocol(depth=2)])
def test_words_that_do_not_go_with_a_depth_are_not_tried(protocol: Protocol) -> None:
    recs = pl.DataFrame({"user": [1, 1, 1], "item": list("abc"), "score": [1, 1, 1]})
    evidence = Evidence.read(recs, {1: ["a"]}, protocol)
    ties = {each.ties for each in protocols_of(evidence, evidence.protocol, {"depth"})}
    assert ("expected" in ties, "together" in ties, "best" in ties) == (not protocol.depth, not protocol.depth, True)


def _rows(table: dict[int, dict[str, Any]]) -> list[tuple[int, str, Any]]:
    return [(user, item, value) for user, items in table.items() for item, value in items.items()]


def test_numbers_at_full_precision() -> None:
    # ((1 + 2/3 + 3/5) / 5 + 1/2) / 3 = 143/450, whose last digit depends on the order of the sum.
    found = atkay.reconcile(RECS, TRUTH, {"map@5": 0.3177777777777778})
    assert found.explanations[0].numbers["map@5"][0] == "map(per=capped)@5"
    assert not atkay.reconcile({1: ["a"]}, {1: ["a"]}, {"map@5": "1e-400"})


def test_scored_lists_with_an_item_twice() -> None:
    recs = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "a", "b"], "score": [3, 2, 1]})
    best = atkay.reconcile(recs, {1: ["b"]}, {"mrr@3": "0.500"}).explanations[0]
    assert best.protocol == {"duplicates": "first"}


def test_lists_with_an_item_twice() -> None:
    recs, truth = {1: ["a", "a", "b"]}, {1: ["b", "c"]}  # without the second a, b is at rank 2
    best = atkay.reconcile(recs, truth, {"mrr@3": "0.500"}).explanations[0]
    assert best.protocol == {"duplicates": "first"}


@examples(6, 400)
@given(random=st.randoms(use_true_random=False))
def test_numbers_are_those_of_evaluate(random: Random) -> None:
    """Ties, grades of every sign, users that lack one side, scores below zero, orders of users, single precision."""
    users, items = range(12), list("abcdefgh")
    rows = [
        (user // 2, user, item, random.choice([-1, 0, 1, 1 + 1e-9, 2]))
        for user in users
        if random.random() < 0.8
        for item in random.sample(items, random.randint(1, 6))
    ]
    known = [
        (user // 2, user, item, random.choice([-1, 0, 1, 2, 3]))
        for user in users
        if random.random() < 0.8
        for item in random.sample(items, random.randint(1, 4))
    ]
    raters: Any = random.choice(["one", "mean"])
    if raters == "mean":
        again = random.sample(known, len(known) // 3)
        known += [(person, user, item, random.choice([0, 3])) for person, user, item, _ in again]
    key = ["person", "user"]
    recs = pl.DataFrame([*rows, (9, 99, "a", 1.0)], schema=[*key, "item", "score"], orient="row")
    truth = pl.DataFrame([*known, (9, 99, "a", 3)], schema=[*key, "item", "relevance"], orient="row")
    columns, seen = atkay.Columns(user=("person", "user")), {"item": items[:3]}
    evidence = Evidence.read(recs, truth, Protocol(raters=raters), columns, {"exclude": seen["item"]})
    asked = parse_all(
        "map@3,5,ndcg@3,precision(average=pooled)@3,recall(average=pooled)@3,auc,mrr,ndcg(ideal=listed)@2,bpref,"
        "ndcg(gain=linear)@3,dcg(gain=binary)@2,ndcg(gain=exp2_above,ideal=full)@3"
    )
    ties: list[Any] = ["given", "item_desc", "expected", "worst", "random"]
    protocols = [
        Protocol(
            no_recs=random.choice(["zero", "skip"]),
            no_truth=random.choice(["zero", "skip", "one", "judged"]),
            ties=word,
            scores=random.choice(["exact", "float32"]),
            nonpositive=random.choice(["listed", "missed"]),
            unlisted=random.choice(["missed", "ignored"]),
            unjudged=random.choice(["irrelevant", "drop"]),
            negative=random.choice(["irrelevant", "unjudged"]),
            depth=None if word == "expected" else random.choice([None, None, 2]),
            raters=raters,
            min_relevance=random.choice([None, 2]),
            average_over=random.choice([None, "person"]),
            exclude=random.choice([None, evidence.protocol.exclude]),
        )
        for word in random.choices(ties, k=5)
    ]
    for protocol, values in evidence.numbers(asked, protocols):
        fits = [metric for metric in asked if metric.averages or protocol.ties != "expected"]
        with warnings.catch_warnings(action="ignore"):
            exclude = protocol.exclude and seen["item"]
            try:
                result = atkay.evaluate(recs, truth, fits, columns=columns, protocol=protocol, exclude=exclude)
            except PopulationError:  # nobody is left
                assert np.isnan(values).all()
                continue
        found = dict(zip((str(one) for metric in asked for one in metric.split()), values, strict=True))
        assert {name: found[name] for name in result} == pytest.approx(dict(result), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("dialect", ["ranx", "ir_measures"])
def test_a_user_whose_truth_is_all_zero_and_who_has_no_list(dialect: str) -> None:
    # They count C, whose one grade is 0 and who has no list: (1/2 + 1 + 0) / 3, (1/5 + 1/5 + 0) / 3, (1 + 1 + 0) / 3.
    recs, truth = {"A": ["x", "a"], "B": ["b"]}, {"A": {"a": 1}, "B": {"b": 1}, "C": {"z": 0}}
    found = atkay.reconcile(recs, truth, {"map@5": "0.500000", "precision@5": "0.133333", "recall@5": "0.666667"})
    assert found.explanations[0].protocol == {"no_truth": "judged"}
    assert dialect in found.explanations[0].libraries


def test_luck_is_called_luck() -> None:
    one = atkay.reconcile(RECS, TRUTH, {"map@5": "0.3"})
    assert "no evidence" in one.verdict
    three = atkay.reconcile(RECS, TRUTH, {"map@5": "0.318"})
    assert "weak evidence" in three.verdict
    several = atkay.reconcile(RECS, TRUTH, {"map@5": "0.317778", "ndcg@5": "0.417698", "precision@5": "0.266667"})
    assert several.chance < 0.01
    assert "strong evidence" in several.verdict


def test_as_many_matches_by_chance_as_it_says() -> None:
    """Every number of three digits within a fifth of the one that was asked for, instead of some at random."""
    asked = atkay.reconcile(RECS, TRUTH, {"map@5": "0.318"})
    around = [f"{thousandth / 1000:.3f}" for thousandth in range(255, 382)]  # 0.318 - 20 % to 0.318 + 20 %
    found = [atkay.reconcile(RECS, TRUTH, {"map@5": number}).matches for number in around]
    assert asked.chance == pytest.approx(sum(found) / len(found), rel=0.1)


def test_digits_that_say_nothing_do_not_count() -> None:
    """Hits of ten users are tenths: zeros after them make no match less likely."""
    recs, truth = frames("missing")
    found = [atkay.reconcile(recs, truth, {"hit@5": f"{tenths / 10:.6f}"}) for tenths in range(1, 10)]
    by_chance = sum(each.matches for each in found) / len(found)
    assert by_chance > 1
    assert all(by_chance < each.chance < 5 * by_chance for each in found)
    assert all("strong evidence" not in each.verdict for each in found)
    best = atkay.reconcile(RECS, TRUTH, {"hit@5": "1.000000"})  # as in many ways for three or four users
    assert "no evidence" in best.verdict
    assert "equally simple: the numbers cannot tell these apart" in best.verdict


def test_steps_of_numbers() -> None:
    # Four users are there in all: hits move by 1/4, precision at 5 by 1/20. A has 3 of 6 and B 1 of 2, both 1/2, and
    # the rest 0: recall moves by 1/8. nDCG has logarithms.
    evidence = Evidence.read(RECS, TRUTH, Protocol())
    assert evidence.steps(parse_all("hit@5,precision@5,recall@5,ndcg@5")).tolist() == [1 / 4, 1 / 20, 1 / 8, 0]


def test_nothing_matches() -> None:
    found = atkay.reconcile(RECS, TRUTH, {"map@5": "0.123456", "ndcg@5": "0.4177"})
    assert not found
    assert "No match" in repr(found)
    assert set(found.nearest) == {"map@5", "ndcg@5"}
    assert found.nearest["ndcg@5"][1] == pytest.approx(0.4177, abs=5e-5)
    assert found.closest is not None
    assert found.closest.numbers["map@5"][1] == pytest.approx(found.nearest["map@5"][1])
    assert "no_recs: zero, skip" in found.ruled_out
    assert "24 of map" in repr(found)


def test_a_given_protocol_stays_as_it_is() -> None:
    found = atkay.reconcile(RECS, TRUTH, {"map@5": "0.3178"}, no_recs="skip")
    assert all("no_recs" not in each.protocol for each in found)
    assert not any(each.numbers["map@5"][0] == "map(per=capped)@5" and not each.protocol for each in found)


def test_what_is_known_comes_as_fields_or_as_a_protocol() -> None:
    by_field = atkay.reconcile(RECS, TRUTH, {"map@5": "0.4389"}, no_recs="skip").explanations
    assert by_field == atkay.reconcile(RECS, TRUTH, {"map@5": "0.4389"}, protocol=Protocol(no_recs="skip")).explanations
    with pytest.raises(ProtocolError, match=r"protocol must be a Protocol\(...\), got 'skip'"):
        atkay.reconcile(RECS, TRUTH, {"map@5": "0.4389"}, protocol="skip")  # type: ignore[arg-type]
    with pytest.raises(ProtocolError, match="no argument 'norecs'"):
        atkay.reconcile(RECS, TRUTH, {"map@5": "0.4389"}, norecs="skip")  # type: ignore[call-arg]  # a typo


def test_the_words_of_a_name_are_taken_at_their_word() -> None:
    # Per hits: (2.2667 / 3 + 1 + 0) / 3 = 0.5852.
    found = atkay.reconcile(RECS, TRUTH, {"map(per=hits)@5": "0.5852"})
    assert found.explanations[0].cost == 0
    assert found.explanations[0].numbers["map(per=hits)@5"][0] == "map(per=hits)@5"
    # torchmetrics divides by the hits, and for the others what is not listed does not exist, so that hits are all
    # that is relevant; they leave out C and count D as 0 (XGBoost as "map@5-"), which is the same.
    assert {library for each in found for library in each.libraries} == {
        "torchmetrics",
        "tfranking",
        "keras_rs",
        "xgboost",
    }


@pytest.mark.parametrize(
    ("reported", "message"),
    [
        ({}, "pass the reported values by name"),
        (0.3, r"pass the reported values by name, such as \{'map@10': '0\.2447'\}, got 0\.3"),
        (["0.3"], "pass the reported values by name"),
        ({"map@5": "high"}, "cannot read .* as the value of map@5. Pass it as it was printed"),
        ({"map@5": "0,3178"}, "cannot read .* as the value of map@5. Use a decimal point"),
        ({"MAP@5": "0.3", "map@5": "0.4"}, "MAP@5 and map@5 are the same metric. Give it once"),
        ({"map_cut_5": "0.3", "MAP_cut_5": "0.4"}, "map_cut_5 and MAP_cut_5 are the same metric"),
        ({"map@5": float("nan")}, "cannot read .* as the value of"),
        ({"map@5,10": "0.3"}, "name one cutoff at a time"),
        ({"coverage@5": "0.3"}, "needs more than recs and truth"),
        ({"mapp@5": "0.3"}, "unknown metric 'mapp'"),
        ({5: "0.3"}, "cannot read 5 as a metric; write a spec"),
    ],
)
def test_what_is_refused(reported: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        atkay.reconcile(RECS, TRUTH, reported)


@pytest.mark.parametrize("name", ["dialect", "catalog", "slices"])
def test_arguments_of_evaluate_that_it_does_not_take(name: str) -> None:
    with pytest.raises(ProtocolError, match=f"reconcile: {name}= is not supported"):
        atkay.reconcile(RECS, TRUTH, {"map@5": "0.3178"}, **{name: "ranx"})  # type: ignore[arg-type]
