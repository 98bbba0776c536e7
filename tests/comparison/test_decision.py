"""What a difference means for whoever decides is what the gate says of it."""

from __future__ import annotations

import numpy as np
import pytest

import atkay
from atkay.comparison.decision import decide
from made import result

USERS = 60
SHIFTS = {"much worse": -0.3, "worse": -0.02, "same": 0.0, "better": 0.02, "much better": 0.3}


@pytest.mark.parametrize("metric", ["mrr", "mpr"])
@pytest.mark.parametrize("least", [None, 0.005, 0.05, 0.5])
@pytest.mark.parametrize("shift", SHIFTS.values(), ids=SHIFTS)
@pytest.mark.parametrize("noise", [0.01, 0.1])
def test_the_page_and_the_gate_agree(metric: str, least: float | None, shift: float, noise: float) -> None:
    """One number alone, so that both correct for nothing; the gate asks for a loss at 5 %, one-sided."""
    rng = np.random.default_rng(3)
    base = rng.random(USERS) / 4 + 0.5
    runs = {"old": result(base, metric), "new": result(base + shift + rng.normal(0, noise, USERS), metric)}
    (difference,) = atkay.compare(runs, baseline="old", min_effect=least, test="t")
    (checked,) = atkay.gate(runs["new"], runs["old"], min_effect=least, test="t").checked
    word, reason = decide(difference, least, 1)
    if word == "better":
        assert checked.outcome == "not worse"
        assert difference.standing("new") == "better"
    elif checked.outcome != word:  # a loss with a p-value between 2.5 and 5 %, one-sided
        assert (checked.outcome, word) == ("worse", "cannot tell")
        assert 0.05 <= difference.corrected["t"] < 0.1
    else:
        assert checked.reason.removeprefix("; ") == reason


def test_without_a_direction() -> None:
    base = np.arange(40) / 40
    for shift, least, word in ((0.1, None, "higher"), (-0.1, None, "lower"), (0.001, 0.05, "equivalent")):
        runs = {"old": result(base, "arp@10"), "new": result(base + shift + np.tile([1e-3, -1e-3], 20), "arp@10")}
        (difference,) = atkay.compare(runs, baseline="old", test="t")
        assert decide(difference, least, 1) == (word, "")
    (equal,) = atkay.compare({"old": runs["old"], "new": runs["old"]}, baseline="old", test="t")
    assert decide(equal, None, 1).word == "equivalent"
