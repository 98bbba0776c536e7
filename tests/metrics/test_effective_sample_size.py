"""Effective sample size: worked cases, and the sentence of results that have weights."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

import atkay

TRAIN = {"ann": ["tea", "jam"], "bob": ["tea"], "cat": ["tea"], "dan": ["tea"]}
RECS, TRUTH = {"ann": ["jam"], "bob": ["tea"]}, {"ann": ["tea", "jam"], "bob": ["tea", "oat"]}


def test_worked_case() -> None:
    # Weights 1, 4 and 1; oat has none. In all segments of one user alike.
    result = atkay.evaluate(RECS, TRUTH, "ess", train=TRAIN, slices={"ann": "a", "bob": "b"})
    assert result["effective_sample_size"] == pytest.approx((1 + 4 + 1) ** 2 / (1 + 16 + 1))
    assert result.slices["mean"].to_list() == pytest.approx([(1 + 4) ** 2 / (1 + 16), 1])
    clipped = "ess(clip=0.5)"
    assert atkay.evaluate(RECS, TRUTH, clipped, train=TRAIN).means.popitem()[1] == pytest.approx(16 / 6)
    nothing = atkay.evaluate({"ann": ["oat"]}, {"ann": ["oat"]}, "ess", train=TRAIN)
    assert math.isnan(nothing["effective_sample_size"])


@pytest.mark.parametrize("memory", [None, "1MB"])
def test_results_with_weights_print_it(memory: str | None, tmp_path: Path) -> None:
    recs, truth = ({"user": [*lists], "items": [*lists.values()]} for lists in (RECS, TRUTH))
    pl.DataFrame(recs).write_parquet(tmp_path / "recs.parquet")
    pl.DataFrame(truth).write_parquet(tmp_path / "truth.parquet")
    specs = ["ips_recall@1", "ips_ndcg(estimator=snips)@1", "ips_hit(power=0)@1"]
    given = tmp_path / "recs.parquet", tmp_path / "truth.parquet"
    result = atkay.evaluate(*given, specs, train=TRAIN, memory=memory)
    share = "1/p with p the share of training users that have the item"
    said = [line for line in result.readings if line.startswith("effective")]
    assert said == [
        f"effective sample size 2.0 of 4 relevant items ((Σ w)² / Σ w² over the relevant items, w = {share})",
        "effective sample size 3.0 of 4 relevant items ((Σ w)² / Σ w² over the relevant items, w = "
        f"{share} to the power of 0)",
    ]
    assert "effective_sample_size" not in result
    assert said[0] in repr(result)
