"""Hit rate: worked cases."""

from __future__ import annotations

import pytest

import atkay


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        # Ann has two hits in a list of three, Bob none in a list of one.
        ("hit@3", (1 + 0) / 2),
        ("hit@1", (0 + 0) / 2),
        ("hit(count=share)@3", (2 / 3 + 0 / 1) / 2),
        ("hit(count=share,average=pooled)@3", 2 / (3 + 1)),
        ("hit(count=number)@3", (2 + 0) / 2),
    ],
)
def test_worked_cases(spec: str, value: float) -> None:
    recs, truth = {"ann": ["x", "a", "b"], "bob": ["y"]}, {"ann": ["a", "b"], "bob": ["z"]}
    assert atkay.evaluate(recs, truth, spec)[spec] == pytest.approx(value)


def test_success_is_a_name_of_hit() -> None:
    assert str(atkay.parse("success@10")) == "hit@10"
