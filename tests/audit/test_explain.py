"""From our number to theirs, one convention at a time."""

from __future__ import annotations

import dataclasses
import math
import re
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from recorded import frames

import atkay
from atkay.audit.discrepancy import Discrepancy
from atkay.audit.explain import SHOWN
from atkay.errors import DuplicateError, ProtocolError, SpecError
from atkay.metrics.metric import Metric
from atkay.protocol import CONCERNS, fields_about
from atkay.tables import FILTERS

# CONVENTIONS, part 3: C has no list, D no truth.
RECS = {"A": ["i1", "i9", "i2", "i8", "i3"], "B": ["i1", "i7"], "D": ["i1", "i2", "i3"]}
TRUTH = {"A": {f"i{n}": 1 for n in range(1, 7)}, "B": {"i1": 1, "i2": 1}, "C": {"i1": 1}}
A, B = (1 / 1 + 2 / 3 + 3 / 5) / 6, (1 / 1) / 2
"""Average precision of A, with hits at 1, 3 and 5 of six relevant items, and of B, with one of two at rank 1."""
DIALECTS = list(atkay.list_dialects())


def named(found: Discrepancy) -> list[str]:
    return [step.names for step in found]


def test_replay_divides_by_what_could_be_found() -> None:
    found = atkay.explain(RECS, TRUTH, "map@5", theirs="replay")
    # A: 2.2667 / min(5, 6) instead of / 6; B: / min(5, 2) either way; C: 0. The mean is over A, B and C.
    assert found.ours == pytest.approx((A + B + 0) / 3)
    assert found.theirs == pytest.approx((A * 6 / 5 + B + 0) / 3)
    ties, per = found
    assert ties.names == "ties: given → item_desc"
    assert ties.example is None
    assert per.names == "per: relevant → capped"
    assert (per.changed, per.entered, per.left) == (1, 0, 0)
    assert per.change == pytest.approx((A * 6 / 5 - A) / 3)
    assert per.example is not None
    assert per.example.user == "user 'A'"
    assert per.example.share == pytest.approx(per.change)
    assert per.example.before.list == "1 i1 ✓, 2 i9, 3 i2 ✓, 4 i8, 5 i3 ✓"
    assert [item for item, _ in per.example.truth] == ["i1", "i2", "i3", "i4", "i5", "i6"]
    assert per.example.before.arithmetic == "hits at ranks 1, 3, 5: (1/1 + 2/3 + 3/5) / 6 = 0.3778"
    assert per.example.after.arithmetic == "hits at ranks 1, 3, 5: (1/1 + 2/3 + 3/5) / min(5, 6) = 0.4533"
    assert found.summary == (
        "map@5 is 0.2926 here and 0.3178 in replay-rec 0.22.0: per=capped (the relevant items, or k where that is "
        "smaller) adds 0.0252."
    )


def test_rectools_takes_a_full_ideal() -> None:
    found = atkay.explain(RECS, TRUTH, "ndcg@5", theirs="rectools")
    full = sum(1 / math.log2(rank + 1) for rank in range(1, 6))
    gain, ideal = found
    assert gain.example is None  # without grades all gains are 1
    assert ideal.names == "ideal: relevant → full"
    # A has five relevant items and more, so nothing changes; B had 1 / (1 + 1/log2(3)).
    assert ideal.change == pytest.approx((1 / full - 1 / (1 + 1 / math.log2(3))) / 3)
    assert ideal.example is not None
    assert ideal.example.user == "user 'B'"
    assert ideal.example.before.arithmetic.endswith("(1 / log2(2)) / (1 / log2(2) + 1 / log2(3)) = 0.6131")
    assert ideal.example.after.arithmetic.endswith("+ 1 / log2(6)) = 0.3392")


def test_ranx_has_the_same_number_by_other_words() -> None:
    found = atkay.explain(RECS, TRUTH, "ndcg@5", theirs="ranx")
    assert named(found) == ["no_truth: skip → judged", "min_relevance: none → 1", "gain: exp2 → linear"]
    assert found.moving == ()
    assert found.ours == found.theirs
    assert found.summary.endswith("no convention has an effect on this data.")
    assert len(re.findall(r" no effect$", repr(found), re.MULTILINE)) == 3


def test_trec_eval_leaves_out_who_has_no_list() -> None:
    found = atkay.explain(RECS, TRUTH, "map@5", theirs="trec_eval")
    assert found.theirs == pytest.approx((A + B) / 2)
    (skip,) = found.moving
    assert skip.names == "no_recs: zero → skip"
    assert (skip.changed, skip.entered, skip.left) == (0, 0, 1)
    assert skip.example is not None
    assert skip.example.user == "user 'C'"
    assert skip.example.lines() == [
        ("truth", "i1"),
        ("list", "none"),
        ("before", "no hit: 0 / 1 = 0.0000"),
        ("after", "no list: not counted"),
    ]


def test_lenskit_changes_who_counts_twice() -> None:
    found = atkay.explain(RECS, TRUTH, "map@5", theirs="lenskit")
    values = [found.ours, *(step.after for step in found)]
    # Without C; then with D, who scores 0; then A per min(R, L) = 5, B per min(2, 2).
    assert values == pytest.approx([(A + B) / 3, (A + B) / 2, (A + B + 0) / 3, (A * 6 / 5 + B + 0) / 3])
    entering = found.steps[1]
    assert (entering.entered, entering.left) == (1, 0)
    assert entering.example is not None
    assert entering.example.user == "user 'D'"
    assert entering.example.before.arithmetic == "no relevant item: not counted"
    assert entering.example.after.arithmetic == "no relevant item: scores 0 by the protocol"


def test_recommenders_counts_users_without_a_list_in_dcg_alone() -> None:
    found = atkay.explain(RECS, TRUTH, "recall@5", theirs="recommenders")
    (step,) = found
    assert found.theirs == pytest.approx((3 / 6 + 1 / 2) / 2)
    assert (step.changed, step.entered, step.left) == (0, 0, 1)


@pytest.mark.parametrize("name", DIALECTS)
def test_the_way_ends_at_the_dialects_number(name: str) -> None:
    spoken, moving = atkay.list_dialects()[name], 0
    for data in ("missing", "graded", "ties", "empty_truth"):
        recs, truth = frames(data, "", "")
        for metric in sorted({"map", "ndcg", "precision", "mrr"} & set(spoken.words)):
            spec = metric if metric in spoken.uncut else f"{metric}@5"
            found = atkay.explain(recs, truth, spec, theirs=name)
            assert found.ours == atkay.evaluate(recs, truth, spec)[spec]
            assert found.theirs == atkay.evaluate(recs, truth, spec, dialect=name)[spec]
            values = [found.ours, *(value for step in found for value in (step.before, step.after)), found.theirs]
            assert all(one == other for one, other in list(pairwise(values))[::2])  # nothing is left over
            for step in found:
                assert (step.example is None) == (not (step.changed or step.entered or step.left))
            moving += len(found.moving)
    assert moving or name in ("recpack", "rectools")


def test_two_ways_to_compute_one_mrr() -> None:
    places = {"S001": 0.92, "S002": 0.75, "S003": 0.60, "S005": 0.85, "S006": 0.70, "S007": 0.55}
    recs = {"theme 1": places, "theme 2": places}
    truth = {"theme 1": {"S001": 120, "S002": 300, "S003": 80}, "theme 2": {"S005": 60, "S006": 40, "S007": 210}}
    found = atkay.explain(recs, truth, "mrr", theirs="mrr(target=best)", their_protocol={"unjudged": "drop"})
    drop, best = found
    # Ranks of the first place: 1 and 2 among all, 1 and 1 among the theme's own. Of the most visited one: 2 and 3.
    assert [found.ours, drop.after, best.after] == pytest.approx([(1 + 1 / 2) / 2, 1, (1 / 2 + 1 / 3) / 2])
    assert drop.example is not None
    assert drop.example.user == "user 'theme 2'"
    assert drop.example.lines()[0] == ("truth", "S007 (210), S005 (60), S006 (40)")
    assert drop.example.after.list == (
        "1 S005 ✓ (score 0.85, grade 60), 2 S006 ✓ (score 0.7, grade 40), 3 S007 ✓ (score 0.55, grade 210)"
    )
    assert drop.example.before.list.startswith("1 S001 (score 0.92), 2 S005 ✓ (score 0.85, grade 60)")
    assert best.example is not None
    assert best.example.after.arithmetic == "hits at ranks 1, 2, 3: 1 / 3 = 0.3333"
    assert "0.7500 here and 0.4167 as mrr(target=best) with unjudged=drop: unjudged=drop (" in found.summary


def test_pooling_changes_weights_and_nobodys_value() -> None:
    # User 1 has 1 of 3, user 2 has 1 of 1: (1/3 + 1) / 2, or 2 of 4.
    recs, truth = {1: ["a"], 2: ["b", "x"]}, {1: ["a", "c", "d"], 2: ["b"]}
    found = atkay.explain(recs, truth, "recall@2", theirs="recall(average=pooled)@2")
    (step,) = found
    assert step.change == pytest.approx(2 / 4 - (1 / 3 + 1) / 2)
    assert step.users() == "only weights change"
    assert step.example is not None
    # User 1 counts 1 over 3 instead of 1/3 over 1: ((1 - 1/3) - 2/3 (3 - 1)) / 4, which is all of it.
    assert step.example.user == "user 1"
    assert step.example.share == pytest.approx(-1 / 6)
    assert step.example.after.arithmetic == "hit at rank 1: 1 / 3 = 0.3333; numerator 1, denominator 3"


def test_the_user_who_moves_most_counts_by_the_group() -> None:
    # Ann has two orders, so each of hers counts half: Bob's change of 1/2 moves the mean more than her 3/4.
    truth = pl.DataFrame(
        {
            "user": ["ann", "ann", "bob"],
            "order": [1, 2, 3],
            "item": ["a", "a", "a"],
        }
    )
    recs = pl.DataFrame({"order": [1, 1, 1, 1, 2, 3, 3], "item": ["x", "y", "z", "a", "a", "x", "a"]})
    found = atkay.explain(
        recs, truth, "mrr", theirs="hit", columns=atkay.Columns(user="order", item="item"), average_over="user"
    )
    (step,) = found
    # Ann: (1/4 + 1) / 2 and 1/2 for Bob; afterwards 1 and 1.
    assert (step.before, step.after) == pytest.approx((((1 / 4 + 1) / 2 + 1 / 2) / 2, 1))
    assert step.example is not None
    assert step.example.user == "user 3"
    assert step.example.share == pytest.approx((1 / 2) / 2)


def test_of_equal_users_the_first_is_shown() -> None:
    recs, truth = {user: ["x", "a"] for user in (3, 1, 2)}, {user: ["a"] for user in (3, 1, 2)}
    (step,) = atkay.explain(recs, truth, "mrr@2", theirs="hit@2")
    assert step.example is not None
    assert step.example.user == "user 1"
    assert step.names == "metric: mrr@2 → hit@2"


def test_words_that_only_go_together_are_one_step() -> None:
    # bpref has no average over ties, so ties=expected waits until the metric is mrr: (1 + 1/2) / 2.
    recs, truth = {1: {"a": 1.0, "x": 1.0}}, {1: ["a"]}
    found = atkay.explain(recs, truth, "bpref", theirs="mrr", their_protocol={"ties": "expected", "no_recs": "skip"})
    assert named(found) == ["no_recs: zero → skip", "ties: given → expected, metric: bpref → mrr"]
    assert found.theirs == pytest.approx(0.75)
    assert found.summary == (
        "bpref is 1.0000 here and 0.7500 as mrr with no_recs=skip, ties=expected: ties=expected (values are averaged "
        "over all orders of equal scores) with metric=mrr (1 / rank) subtracts 0.2500."
    )
    with pytest.raises(ProtocolError, match="does not support ties="):  # their side itself does not exist
        atkay.explain(recs, truth, "bpref", theirs="bpref", their_protocol={"ties": "expected"})


def test_what_is_given_is_ours_and_the_task_is_of_both() -> None:
    recs, truth = RECS | {"E": ["i1"]}, TRUTH | {"E": {"i1": 1}}
    found = atkay.explain(recs, truth, "map(per=hits)@5", theirs="replay", no_recs="skip", exclude={"E": ["i1"]})
    assert named(found) == ["no_recs: skip → zero", "ties: given → item_desc", "per: hits → capped"]
    assert found.theirs == atkay.evaluate(recs, truth, "map@5", dialect="replay", exclude={"E": ["i1"]})["map@5"]
    ours = atkay.evaluate(recs, truth, "map(per=hits)@5", no_recs="skip", exclude={"E": ["i1"]})
    assert found.ours == ours["map(per=hits)@5"]
    whole = atkay.explain(recs, truth, "map@5", theirs="map@5", their_protocol=atkay.Protocol(no_recs="skip"))
    assert named(whole) == ["no_recs: zero → skip"]
    twice = {"A": ["i1", "i1", "i2"]}
    with pytest.raises(DuplicateError):
        atkay.explain(twice, TRUTH, "map@5", theirs="replay")
    assert len(atkay.explain(twice, TRUTH, "map@5", theirs="replay", duplicates="first")) == 2


def test_thresholds_exclusions_and_groups_of_their_own() -> None:
    truth = {"A": {"i1": 1, "i2": 3}}
    found = atkay.explain(
        RECS, truth, "recall@5", theirs="recall@5", their_protocol={"min_relevance": 2, "exclude": ["i2"]}
    )
    assert named(found) == ["min_relevance: none → 2", "exclude: none → given"]
    # Both of two found, then one of one, then it is taken out.
    assert [step.after for step in found] == [1, 0]
    assert found.steps[0].changes[0].meaning_after == "an item is relevant if its grade is at least 2"
    assert found.steps[1].changes[0].meaning_before == "no items are removed from the lists"


def test_a_library_may_be_ours_and_own_names_work() -> None:
    found = atkay.explain(RECS, TRUTH, "ndcg@5", theirs="replay", dialect="rectools")
    assert named(found) == ["ties: given → item_desc", "ideal: full → relevant"]
    assert "in rectools 0.19.0 and 0.4177 in replay-rec 0.22.0" in found.summary
    own = atkay.explain(RECS, TRUTH, "ndcg_cut_5", theirs="trec_eval")
    assert own.spec == "ndcg@5"
    assert own.theirs == atkay.evaluate(RECS, TRUTH, "ndcg_cut_5", dialect="trec_eval")["ndcg_cut_5"]
    cut = atkay.explain(RECS, TRUTH, "ndcg", theirs="xgboost")
    assert "k: none → 32" in named(cut)


def test_a_metric_that_needs_more_than_lists_and_truth() -> None:
    # Of two training users both have i1; i9 is unseen: as if one had it, 1 bit, or left out.
    train = {"x": ["i1"], "y": ["i1"]}
    recs, truth = {"A": ["i1", "i9"]}, {"A": ["i1"]}
    (step,) = atkay.explain(recs, truth, "novelty@2", theirs="novelty(unseen=skip)@2", train=train)
    assert (step.before, step.after) == (0.5, 0)
    assert step.example is not None
    assert step.example.after.arithmetic == "hit at rank 1; R = 1, L = 2, k = 2: 0.0000"


def test_long_lists_are_cut_and_hits_further_down_stay() -> None:
    recs, truth = {1: list(range(100))}, {1: [3, 49, *range(200, 240)]}
    (step,) = atkay.explain(recs, truth, "recall@50", theirs="precision@50")
    assert step.example is not None
    assert step.example.before.list.endswith("9 8, 10 9, 50 49 ✓, 89 more")
    assert step.example.lines()[0][1].endswith(f"217, {42 - SHOWN} more")


def test_a_hit_that_does_not_count_is_not_marked() -> None:
    recs, truth = {1: {"a": -1.0, "b": -2.0}}, {1: ["a"]}
    (step,) = atkay.explain(recs, truth, "mrr", theirs="mrr", their_protocol={"nonpositive": "missed"})
    assert step.example is not None
    assert step.example.lines()[1:3] == [
        ("list before", "1 a ✓ (score -1), 2 b (score -2)"),
        ("list after", "1 a (score -1), 2 b (score -2)"),
    ]


def test_hits_that_share_a_place_are_the_ones_marked() -> None:
    # a, b and c share the third place: (2/3 + 2/3) / 2, where they stand in order it is (1/1 + 2/2) / 2.
    recs = pl.DataFrame({"user": [1] * 4, "item": list("abcd"), "score": [0.4, 0.4, 0.4, 0.1]})
    (step,) = atkay.explain(recs, {1: ["a", "b"]}, "map", theirs="sklearn").moving
    assert step.example is not None
    assert (step.before, step.after) == pytest.approx((1, 2 / 3))
    assert step.example.after.list == "1 a ✓ (score 0.4), 2 b ✓ (score 0.4), 3 c (score 0.4), 4 d (score 0.1)"


def test_a_dialect_may_be_given_itself() -> None:
    spoken = atkay.list_dialects()["replay"]
    assert atkay.explain(RECS, TRUTH, "map@5", theirs=spoken) == atkay.explain(RECS, TRUTH, "map@5", theirs="replay")


def test_what_is_no_metric() -> None:
    for metric, theirs in ((["map@5"], "ranx"), ("map@5", ["ranx"]), (5, "ranx"), ("map@5", None)):
        with pytest.raises(SpecError, match="as a metric; write a spec"):
            atkay.explain(RECS, TRUTH, metric, theirs=theirs)  # type: ignore[arg-type]


def test_small_differences_show_their_digits() -> None:
    users = range(20_000)
    recs, truth = {user: ["a"] for user in users}, {user: ["a"] for user in users} | {0: ["b"]}
    (step,) = found = atkay.explain(recs | {-1: ["a"]}, truth, "mrr", theirs="mrr", their_protocol={"no_truth": "zero"})
    # 19,999 of 20,000 users, then of 20,001.
    assert found.summary.startswith("mrr is 0.999950 here and 0.999900 as mrr with no_truth=zero: ")
    assert step.sentence().endswith("subtracts 5.0e-05")


def test_what_is_printed() -> None:
    recs = {"<b>A</b>": ["i|1", "<script>", "x\ny", "i2"], "B": ["i2"]}
    truth = {"<b>A</b>": ["i|1", "i2", "i3", "x\ny"], "B": ["i2"]}
    found = atkay.explain(recs, truth, "map@3", theirs="replay")
    text, markdown, page = repr(found), found.to_markdown(), found._repr_html_()
    assert "1 i|1 ✓, 2 <script>, 3 x\\x0ay ✓" in text
    assert "| ties: given → item_desc | " in markdown
    assert "```text\nfrom" in markdown
    assert "<script>" not in page
    assert "<b>A" not in page
    assert "&lt;script&gt;" in page
    assert len(found) == 2
    table = found.to_polars()
    assert table["most_moved"].to_list() == [None, "user '<b>A</b>'"]
    assert table["after"].to_list() == [step.after for step in found]


def test_every_field_of_the_protocol_has_its_place() -> None:
    assert sorted(fields_about(*CONCERNS)) == sorted(each.name for each in dataclasses.fields(atkay.Protocol))
    assert tuple(fields_about("filters")) == FILTERS
    of_libraries = {name for each in atkay.list_dialects().values() for name in each.protocol}
    assert of_libraries & {*fields_about("task")} <= {"min_relevance"}


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"theirs": "rektools"}, SpecError, r"unknown dialect 'rektools'\. Did you mean 'rectools'"),
        ({"theirs": "mapp@5"}, SpecError, "unknown metric 'mapp'"),
        ({"theirs": "recpack"}, SpecError, "recpack has no map; this dialect has 'dcg', 'hit'"),
        ({"theirs": 7}, SpecError, "cannot read 7 as a metric"),
        ({"metric": "map@5,10"}, SpecError, r"explain: name one cutoff at a time, got 'map@5,10'\. Write 'map@5'"),
        ({"metric": "map@5", "theirs": "map@5,10"}, SpecError, "name one cutoff at a time"),
        ({"metric": "median_rank", "theirs": "median_rank(missed=last)"}, SpecError, "a metric of the whole run"),
        ({"metric": "mrr@5", "theirs": "trec_eval"}, SpecError, "no mrr with a cutoff"),
        ({"slices": {"A": "new"}}, ProtocolError, "explain: slices= is not supported"),
        ({"their_protocol": "skip"}, ProtocolError, "their_protocol must be a Protocol"),
        ({"protocol": "skip"}, ProtocolError, r"protocol must be a Protocol\(...\)"),
        ({"no_rec": "skip"}, ProtocolError, "no argument 'no_rec'"),
        ({"memory": "2GB"}, ProtocolError, "memory= is an argument of evaluate"),
    ],
)
def test_errors(given: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments: dict[str, Any] = {"metric": "map@5", "theirs": "replay", **given}
    with pytest.raises(error, match=message):
        atkay.explain(RECS, TRUTH, **arguments)


def test_metrics_are_taken_as_well_as_specs() -> None:
    ours: Metric = atkay.MAP(k=5)
    found = atkay.explain(RECS, TRUTH, ours, theirs=atkay.MAP(k=5, per="capped"))
    assert named(found) == ["per: relevant → capped"]
    assert named(atkay.explain(RECS, TRUTH, ours, theirs="replay"))[-1] == "per: relevant → capped"
    assert atkay.explain(RECS, TRUTH, ours, theirs="map@5").summary.endswith("their conventions are the same.")
