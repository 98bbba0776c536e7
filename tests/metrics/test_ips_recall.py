"""IPS recall: worked cases, the numbers of the paper's own code, and where propensities come from."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import atkay
from atkay.errors import DuplicateError, InputError, SideError, SpecError

# Of four users all had tea, two had jam, one had rye; nobody had oat. As shares: 1, 1/2, 1/4.
TRAIN = {"ann": ["tea", "jam", "rye"], "bob": ["tea", "jam"], "cat": ["tea"], "dan": ["tea"]}
RECS = {"ann": ["jam", "x", "rye"], "bob": ["tea", "oat"]}
TRUTH = {"ann": ["tea", "jam", "rye"], "bob": ["rye", "tea", "oat"]}


def values(spec: str, **tables: Any) -> list[float]:
    result = atkay.evaluate(RECS, TRUTH, spec, **(tables or {"train": TRAIN}))
    found: list[float] = result.query_values[:, 0].tolist()
    return found


def test_worked_cases() -> None:
    # Weights are 1, 2 and 4. Bob's oat has none, and does not count.
    assert values("ips_recall@1") == [2 / 3, 1 / 2]
    assert values("ips_recall@3") == [(2 + 4) / 3, 1 / 2]
    assert values("ips_recall(estimator=snips)@3") == [6 / 7, 1 / 5]
    # Of seven interactions four are tea, two jam, one rye: all weights are 7/4 times those above.
    assert values("ips_recall(propensity=interactions)@3") == pytest.approx([7 / 4 * 2, 7 / 8])
    assert values("ips_recall(estimator=snips,propensity=interactions)@3") == pytest.approx([6 / 7, 1 / 5])


def test_power_and_clip() -> None:
    # To the power of 1/2 the weights are 1, √2 and 2; with p at least 0.4 they are 1, 2 and 2.5.
    assert values("ips_recall(power=0.5)@3") == pytest.approx([(math.sqrt(2) + 2) / 3, 1 / 2])
    assert values("ips_recall(clip=0.4)@3") == pytest.approx([(2 + 2.5) / 3, 1 / 2])
    assert values("ips_recall(power=0,estimator=snips)@3") == pytest.approx([2 / 3, 1 / 2])


def test_users_are_pooled() -> None:
    result = atkay.evaluate(RECS, TRUTH, "ips_recall(estimator=snips,average=pooled)@3", train=TRAIN)
    assert result["ips_recall(estimator=snips,average=pooled)@3"] == pytest.approx((6 + 1) / (7 + 5))


def test_a_user_with_nothing_known() -> None:
    lists = {"ann": ["oat"], "bob": ["tea"]}
    result = atkay.evaluate(lists, lists, "ips_recall@1", train=TRAIN)
    assert result.summaries["ips_recall@1"][-2:] == (1, 1)
    assert result["ips_recall@1"] == 1


def test_yang_et_al() -> None:
    """Against ``eq12_test`` of the paper's repository, in its own words: p = Ni^((gamma + 1) / 2)."""
    rng = np.random.default_rng(0)
    chances = 1 / np.arange(1, 21)
    train, truth, recs = (
        {user: rng.choice(20, size, replace=False, p=chances / chances.sum()).tolist() for user in range(25)}
        for size in (4, 5, 8)
    )
    Ni = np.bincount(np.concatenate(list(train.values())), minlength=20)
    for gamma in (-1, 1.5, 2):
        recall = dcg = users = 0.0
        for user, positive in truth.items():
            denominator = sum(Ni[item] ** (-(gamma + 1) / 2) for item in positive if Ni[item])
            Zui = {item: recs[user].index(item) for item in positive if item in recs[user][:3] and Ni[item]}
            weight = {item: Ni[item] ** (-(gamma + 1) / 2) / denominator for item in Zui}
            recall += sum(weight.values())
            dcg += sum(weight[item] / np.log2(Zui[item] + 2) for item in Zui)
            users += denominator > 0
        words = f"(estimator=snips,power={(gamma + 1) / 2:g})@3"
        result = atkay.evaluate(recs, truth, [f"ips_recall{words}", f"ips_dcg{words}"], train=train)
        assert list(result.means.values()) == pytest.approx([recall / users, dcg / users], rel=1e-12)


GIVEN = {"tea": 0.8, "jam": 0.5, "rye": 0.1}


@pytest.mark.parametrize("form", ["dict", "frame", "file", "more columns"])
def test_given_propensities(form: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"item": [*GIVEN], "propensity": [*GIVEN.values()]})
    frame.write_csv(tmp_path / "p.csv")
    table = {"frame": frame, "file": tmp_path / "p.csv", "more columns": frame.with_columns(n=pl.lit(3))}.get(
        form, GIVEN
    )
    assert values("ips_recall(propensity=given)@3", propensity=table) == pytest.approx([(2 + 10) / 3, 1.25 / 2])
    clipped = values("ips_recall(propensity=given,clip=0.25,power=2)@3", propensity=table)
    assert clipped == pytest.approx([(4 + 4) / 3, 1 / 0.64 / 2])


def test_they_tell_results_apart_and_streams_know_them() -> None:
    spec = "ips_recall(propensity=given)@2"
    one, other = (atkay.evaluate(RECS, TRUTH, spec, propensity=GIVEN | {"x": p}) for p in (0.5, 0.25))
    assert one.fingerprint["propensity"] != other.fingerprint["propensity"]
    stream = atkay.Stream(spec, n_items=4, propensity={0: 0.5, 1: 0.25})
    stream.update(np.array([[0, 3]]), np.array([[0, 1]]))
    again = atkay.Stream.from_bytes(stream.to_bytes(), propensity={0: 0.5, 1: 0.25})
    assert again.compute()[spec] == (1 / 0.5) / 2
    assert repr(again.compute()) == repr(stream.compute())


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (
            {"tea": 0.0},
            InputError,
            "propensity: item 'tea' has the propensity 0. A propensity is a probability above 0",
        ),
        ({"tea": 1.5}, InputError, "item 'tea' has the propensity 1.5"),
        ({"tea": "often"}, InputError, "propensity: must have one number for each item"),
        ({"tea": [0.1, 0.2]}, InputError, "propensity: must have one number for each item"),
        ({"tea": math.nan}, InputError, "propensity.* missing or non-finite"),
        (pl.DataFrame({"item": ["tea"], "a": [0.1], "b": [0.1]}), InputError, "besides the item are 'a', 'b'"),
        (pl.DataFrame({"item": ["tea"]}), InputError, "propensity: no column besides the item"),
        (pl.DataFrame({"item": ["tea"] * 2, "p": [0.1, 0.1]}), DuplicateError, "propensity: item 'tea' has two rows"),
    ],
)
def test_propensities_that_are_none(table: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        values("ips_recall(propensity=given)@3", propensity=table)


def test_what_is_missing() -> None:
    with pytest.raises(SideError, match="ips_recall@3 needs train="):
        atkay.evaluate(RECS, TRUTH, "ips_recall@3")
    with pytest.raises(SideError, match="needs propensity=: a table of items and the chance"):
        atkay.evaluate(RECS, TRUTH, "ips_recall(propensity=given)@3")
    with pytest.raises(SpecError, match="clip must be a number from 0 to 1"):
        atkay.parse("ips_recall(clip=2)")


def test_a_weight_that_is_no_number_says_what_to_do() -> None:
    # 1 / (1e-45)^10 is 1e450: beyond what a float holds. Clipped, it is 2, as is that of tea. Of these two ann has jam,
    # and bob has tea, his only one.
    spec = "ips_recall(propensity=given,power=10)@1"
    with pytest.raises(
        SideError, match=r"a propensity of 1e-45 to the power of 10 is too small to weigh by 1/p\. Clip"
    ):
        values(spec, propensity={"jam": 1e-45, "tea": 0.5})
    assert values(spec.replace("power=10", "power=10,clip=0.5"), propensity={"jam": 1e-45, "tea": 0.5}) == [
        2 / 2,
        2 / 1,
    ]
