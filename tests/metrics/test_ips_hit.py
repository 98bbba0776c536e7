"""IPS hits: worked cases, and what RecPack says."""

from __future__ import annotations

from itertools import product

import pytest

import atkay

TRAIN = {"ann": ["tea", "jam"], "bob": ["tea"]}


def test_worked_cases() -> None:
    # Of three interactions two are tea, one is jam: weights 3/2 and 3. Ann's mean is 9/4, bob's 3/2.
    recs, truth = {"ann": ["jam", "tea"], "bob": ["x", "tea"]}, {"ann": ["tea", "jam"], "bob": ["tea"]}
    specs = [f"ips_hit(propensity=interactions{estimator})@2" for estimator in ("", ",estimator=snips")]
    found = atkay.evaluate(recs, truth, specs, train=TRAIN).per_query
    assert found[specs[0]].to_list() == [3 / 2 + 3, 3 / 2]
    assert found[specs[1]].to_list() == [2, 1]


def test_one_relevant_item_each() -> None:
    # Pooled, the hit rate weighted by 1/p: jam with 2 is shown, tea with 1 is not.
    recs, truth = {"ann": ["jam"], "bob": ["x"]}, {"ann": ["jam"], "bob": ["tea"]}
    spec = "ips_hit(estimator=snips,average=pooled)@1"
    assert atkay.evaluate(recs, truth, spec, train=TRAIN)[spec] == pytest.approx(2 / (2 + 1))


def test_recpack() -> None:
    """Recorded from recpack 0.3.6: IPSHitRateK(K) fitted on y_true, and on train, where no item is left out."""
    train = {0: [0, 1, 2], 1: [0, 1], 2: [0, 3], 3: [0], 4: [4, 5]}
    truth = {0: [3, 4], 1: [2, 5, 0], 2: [1], 3: [0, 1], 4: [0]}
    recs = {0: [4, 5, 3], 1: [0, 3, 2], 2: [0, 2, 1], 3: [1, 0, 5], 4: [1, 2, 3]}
    printed = {
        "truth": {1: 3.3, 2: 3.9, 3: 8.4},
        "train": {1: 3.5, 2: 4.0, 3: 9.0},
    }
    for (fitted, values), k in product(printed.items(), (1, 2, 3)):
        spec = f"ips_hit(propensity=interactions,clip=0.0001)@{k}"
        found = atkay.evaluate(recs, truth, spec, train=truth if fitted == "truth" else train)
        assert found[spec] == pytest.approx(values[k], rel=1e-12)
        name = f"IPSHitRateK@{k}"
        spoken = atkay.evaluate(recs, truth, name, train=truth if fitted == "truth" else train, dialect="recpack")
        assert spoken[name] == found[spec]
