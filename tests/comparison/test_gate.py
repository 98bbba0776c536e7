"""The gate: which outcome, at which level, and what it says."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from scipy import stats

import atkay
from atkay.comparison.checked import Checked
from atkay.comparison.difference import Difference
from atkay.comparison.looks import RHO, half_width, p_of_loss
from atkay.errors import AtkayError

HIT, MISS = ["tea", "rye"], ["rye", "tea"]
"""Lists with a reciprocal rank of 1 and of 1/2."""

Lists = dict[int, list[str]]


def users(n: int, first: int = 0) -> Lists:
    """The truth of n users."""
    return {user: ["tea"] for user in range(first, first + n)}


def lists(truth: Lists, misses: int) -> Lists:
    """A run in which the first few users find the item at rank 2."""
    return {user: MISS if at < misses else HIT for at, user in enumerate(truth)}


@pytest.mark.parametrize(("misses", "min_effect", "outcome"), [
    (7, None, "worse"),  # all of 2^7 sign patterns but this one lose less: p = 1/128
    (7, 0.1, "worse"),
    (7, 0.5, "not worse"),  # 95 % CI [-0.290, -0.060]
    (2, 0.05, "cannot tell"),
    (2, None, "cannot tell"),
    (2, 0.2, "not worse"),
    (0, None, "not worse"),  # no user's value has changed
    (0, 0.001, "not worse"),
])  # fmt: skip
def test_outcomes(misses: int, min_effect: float | None, outcome: str) -> None:
    truth = users(20)
    found = atkay.gate(lists(truth, misses), lists(truth, 0), truth, "mrr", min_effect=min_effect)
    assert found.outcome == found["mrr"].outcome == outcome
    assert found["mrr"].verdict.partition(": ")[2].startswith(outcome)
    if misses == 7:
        assert found["mrr"].p == 1 / 128


def test_an_improvement_that_the_interval_confirms_is_not_worse() -> None:
    truth = users(20)
    assert atkay.gate(lists(truth, 0), lists(truth, 7), truth, "mrr").outcome == "not worse"
    assert atkay.gate(lists(truth, 0), lists(truth, 1), truth, "mrr").outcome == "cannot tell"


def test_harmless_changes_are_worse_in_at_most_5_percent() -> None:
    """Six users change, each for better or for worse with the same chance: of 64 such changes at most 3 may alarm."""
    truth = users(12)
    outcomes = []
    for signs in itertools.product((True, False), repeat=6):
        before = {user: HIT if user >= 6 or signs[user] else MISS for user in range(12)}
        after = {user: HIT if user >= 6 or not signs[user] else MISS for user in range(12)}
        outcomes.append(atkay.gate(after, before, truth, "mrr").outcome)
    assert 1 <= outcomes.count("worse") <= 3


def test_all_numbers_are_corrected_together() -> None:
    """Reciprocal rank and hit at 1 fall for the same seven users, so 2/128 each; recall does not change."""
    truth = users(20)
    segments = {user: "new" if user < 7 else "old" for user in truth}
    found = atkay.gate(lists(truth, 7), lists(truth, 0), truth, "mrr,hit@1,recall@2", slices=segments)
    p = {each.name: each.p for each in found}
    # Five numbers: three metrics and two segments of the main one; the three that lose have 1/128 each.
    assert p == {
        "mrr": 5 / 128, "hit@1": 5 / 128, "mrr [segment=new]": 5 / 128, "recall@2": 1.0, "mrr [segment=old]": 1.0,
    }  # fmt: skip
    assert {each.name for each in found if each.outcome == "worse"} == {"mrr", "hit@1", "mrr [segment=new]"}
    assert "corrected for 5 numbers" in str(found)


def test_a_guardrail_without_min_effect_can_only_be_worse() -> None:
    truth = users(20)
    runs = lists(truth, 0), lists(truth, 2)
    alone = atkay.gate(*runs[::-1], truth, "recall@2,mrr", min_effect={"recall@2": 0.1})
    assert [each.outcome for each in alone] == ["not worse", "cannot tell"]
    assert alone.outcome == "not worse"
    both = atkay.gate(*runs[::-1], truth, "recall@2,mrr", min_effect={"recall@2": 0.1, "mrr": 0.01})
    assert both.outcome == "cannot tell"


def test_a_share_is_one_of_the_baseline() -> None:
    truth = users(20)
    half = lists(truth, 20)  # a mean of 1/2
    found = atkay.gate(lists(truth, 20), half, truth, "mrr,hit@2", min_effect={"mrr": "10%", "hit@2": "1 %"})
    assert [each.min_effect for each in found] == [0.05, 0.01]


def test_no_loss_is_a_share_of_0() -> None:
    truth = users(10)
    nothing = {user: ["rye"] for user in truth}
    with pytest.warns(atkay.errors.OverlapWarning):
        checked = atkay.gate(lists(truth, 0), nothing, truth, "mrr", min_effect="2%")["mrr"]
    assert math.isnan(checked.min_effect)
    assert checked.verdict.endswith(": not worse")


def test_a_small_loss_is_not_printed_as_a_gain() -> None:
    # Of 2,000 users 201 fall from 1 to 1/2 and 200 rise: -0.5 / 2000 = -0.00025, where the interval has three decimals.
    truth = users(2_000)
    new, old = lists(truth, 201), lists(truth, 0) | dict.fromkeys(range(500, 700), MISS)
    checked = atkay.gate(new, old, truth, "mrr")["mrr"]
    assert checked.gain == pytest.approx(-0.00025)
    assert checked.estimate.startswith("-0.0003 (-0.03 %), 95 % CI [-0.010, +0.010]")


def test_lower_is_better_for_some() -> None:
    """The mean rank of 20 users rises from 1 to 1.35."""
    truth = users(20)
    found = atkay.gate(lists(truth, 7), lists(truth, 0), truth, "mean_rank", min_effect=0.1)
    assert found.outcome == "worse"
    assert found["mean_rank"].gain == pytest.approx(-0.35)
    assert atkay.gate(lists(truth, 0), lists(truth, 7), truth, "mean_rank", min_effect=0.1).outcome == "not worse"


def test_power_and_the_users_that_would_tell() -> None:
    """A t-test at 10 %, two-sided, finds losses as often as one at 5 % does that looks for losses alone."""
    deviation, n, least = 0.2, 50, 0.05
    one = Checked(Difference("mrr", "run", "baseline", "higher", -0.01, -0.07, 0.05, deviation, users=n), least, 0.4, 1)
    limit, centre = stats.t.ppf(0.95, n - 1), least / deviation * math.sqrt(n)
    assert one.power == pytest.approx(1 - stats.nct.cdf(limit, n - 1, centre), abs=1e-3)  # the other side is rare
    # To exclude a loss takes the interval, which is a test at 5 %: Lehr's 16 · (SD / loss)² / 2 users, nearly.
    total = n + one.more_users
    assert total == pytest.approx(8 * (deviation / least) ** 2, rel=0.05)
    found = stats.nct.sf(stats.t.ppf(0.975, total - 1), total - 1, least / deviation * math.sqrt(total))
    assert found == pytest.approx(0.8, abs=0.005)
    assert one.outcome == "cannot tell"


def test_a_median_has_the_power_of_its_interval() -> None:
    """The interval of a median, not the SD of the users, says how large a loss these users show."""
    truth = users(60)
    before, after = lists(truth, 29), {user: HIT if user % 3 else MISS for user in truth}
    how: Any = {"aggregate": "median", "test": "bootstrap", "interval": "percentile"}
    each = atkay.compare({"a": before, "b": after}, truth, "mrr", baseline="a", **how)["mrr"][0]
    found = atkay.gate(after, before, truth, "mrr", min_effect=0.2, **how)["mrr"]
    error = (each.high - each.low) / 2 / stats.t.ppf(0.975, 59)
    assert found.power == pytest.approx(stats.nct.sf(stats.t.ppf(0.95, 59), 59, 0.2 / error), abs=1e-2)


def test_forms() -> None:
    truth = users(20)
    found = atkay.gate(lists(truth, 7), lists(truth, 0), truth, "mrr,recall@2", min_effect="5%")
    line = "-0.175 (-18 %), 95 % CI [-0.290, -0.060], p = 0.016 (one-sided, Holm)"
    assert found["mrr"].verdict == f"{line}: worse"
    assert str(found).startswith(f"gate: worse: mrr {line}\n")
    assert f"| worse     | {line} " in found.to_markdown()
    suite = ElementTree.fromstring(found.to_junit())
    assert suite.attrib == {"name": "atkay gate", "tests": "2", "failures": "1", "errors": "0", "skipped": "0"}
    failure = suite.find("testcase[@name='mrr']/failure")
    assert failure is not None
    assert failure.attrib["message"] == f"{line}: worse"
    content = json.loads(found.to_json())
    assert (content["outcome"], content["checked"][0]["p"]) == ("worse", 2 / 128)
    assert found.to_polars()["outcome"].to_list() == ["worse", "not worse"]
    assert "worse" in found.to_latex()


def test_a_baseline_is_made_and_kept(tmp_path: Path) -> None:
    truth, path = users(20), tmp_path / "baseline.json.gz"
    with pytest.raises(AtkayError, match=r"no baseline '.*'. Make it with update_baseline=True, and commit it"):
        atkay.gate(lists(truth, 0), path, truth, "mrr")
    assert atkay.gate(lists(truth, 0), path, truth, "mrr,hit@1", update_baseline=True).outcome == "not worse"
    first = path.read_bytes()
    found = atkay.gate(lists(truth, 7), path, truth)
    assert ([each.name for each in found], found.outcome) == (["mrr", "hit@1"], "worse")
    assert path.read_bytes() == first
    atkay.gate(lists(truth, 7), path, truth, update_baseline=True)
    assert list(atkay.Result.load(path)) == ["mrr", "hit@1"]
    assert atkay.Result.load(path)["hit@1"] == 13 / 20
    with pytest.raises(AtkayError, match=r"name a file that ends in .json or .json.gz"):
        atkay.gate(lists(truth, 7), tmp_path / "recs.csv", truth, update_baseline=True)


TWENTY = users(20)
CATALOG = ["tea", "rye"]


@pytest.mark.parametrize(("given", "says"), [
    ({"truth": users(19, 1)}, "different truth.*0 new users, 1 no longer there. If that is intended, pass update_bas"),
    ({"truth": {**TWENTY, 3: ["rye"]}}, "different truth.*The evaluated users are the same."),
    ({"ties": "best"}, "different protocols: ties is 'given' in 'baseline' and 'best' in 'run'"),
    ({"metrics": "mrr,hit@1"}, "the baseline has no hit@1; it has mrr. Evaluate it again with these metrics."),
    ({"metrics": "coverage@2", "catalog": CATALOG, "baseline": lists(TWENTY, 0)}, "coverage@2 is a metric of the"),
    ({"test": "sign"}, "the sign test does not test the mean. Leave it out."),
    ({"correction": "none"}, "no argument 'correction': all numbers of a gate are corrected together"),
    ({"min_effect": "-2%"}, "min_effect must be a positive number such as 0.01, or a share such as '2%', got '-2%'"),
    ({"min_effect": {"mrr@2": 0.1}}, "unknown metric 'mrr@2' in min_effect"),
    ({"better": {"mrr": "lower"}}, "better=: for mrr, higher is better; leave 'mrr' out"),
])  # fmt: skip
def test_what_cannot_be_compared_says_why(given: dict[str, Any], says: str) -> None:
    baseline = atkay.evaluate(lists(TWENTY, 0), TWENTY, "mrr")
    call = {"run": lists(TWENTY, 1), "baseline": baseline, "truth": TWENTY, **given}
    with pytest.raises(AtkayError, match=f"^gate: .*{says}"):
        atkay.gate(**call)


def test_looks_add_up(tmp_path: Path) -> None:
    """Users of three days are checked as if they were those of one; the interval is wider."""
    path, truth = tmp_path / "looks.json", users(60)
    for day in range(3):
        own = users(20, 20 * day)
        for _ in range(2):  # the same day again does not count twice
            found = atkay.gate(lists(own, 4 + day), lists(own, 1), own, "mrr", looks=path, look=str(day))
    misses = {user for day in range(3) for user in range(20 * day + 1, 20 * day + 4 + day)}
    before: Lists = {user: MISS if user % 20 == 0 else HIT for user in truth}
    after: Lists = {user: MISS if user in misses else each for user, each in before.items()}
    together = atkay.gate(after, before, truth, "mrr")["mrr"].difference
    pooled = found["mrr"].difference
    assert pooled.users == 60
    assert pooled.difference == pytest.approx(together.difference)
    assert pooled.deviation == pytest.approx(together.deviation)
    assert pooled.low == pytest.approx(together.difference - together.deviation * half_width(60))
    assert pooled.low < together.low
    with pytest.raises(AtkayError, match="look 'again' has the same truth as look '2'; looks need users of their own"):
        atkay.gate(lists(own, 4), lists(own, 1), own, "mrr", looks=path, look="again")
    with pytest.raises(AtkayError, match="are of another protocol: ties"):
        atkay.gate(lists(own, 4), lists(own, 1), own, "mrr", looks=path, look="2", ties="best")
    with pytest.raises(AtkayError, match="look= names one of several; pass looks= as well"):
        atkay.gate(lists(own, 4), lists(own, 1), own, "mrr", look="2")


def test_the_p_value_of_a_look_is_that_of_its_one_sided_sequence() -> None:
    """Solved for the level at which the one-sided sequence of the paper, proposition B.1, ends at 0."""
    n, mean, deviation = 400, -0.03, 0.2
    p = p_of_loss(Difference("mrr", "run", "baseline", "higher", mean, deviation=deviation, users=n))
    grown = n * RHO + 1
    width = deviation * math.sqrt(2 * grown / (n**2 * RHO) * math.log(1 + math.sqrt(grown) / (2 * p)))
    assert mean + width == pytest.approx(0.0, abs=1e-12)
    assert p_of_loss(Difference("mrr", "run", "baseline", "lower", mean, deviation=deviation, users=n)) == 1.0
