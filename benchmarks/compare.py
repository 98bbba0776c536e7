"""Seconds and peak memory of a comparison: 10 runs x 6 metrics x 138,493 users, 10,000 permutations.

    python benchmarks/compare.py                     # all pairs, t and permutation
    python benchmarks/compare.py bootstrap           # any other tests
    python benchmarks/compare.py permutation 0.1     # with a tenth of the users

The runs are lists of ten items, evaluated first; the seconds of both are given apart.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

import numpy as np
import polars as pl
from workload import USERS

import atkay

RUNS, ITEMS, LENGTH = 10, 2_000, 10


def results(users: int) -> dict[str, atkay.Result]:
    """Runs of which each finds what is wanted a little more often than the one before."""
    rng = np.random.default_rng(3)
    truth = pl.DataFrame({"user": np.repeat(np.arange(users), 3), "item": np.tile(np.arange(3), users)})
    found: dict[str, atkay.Result] = {}
    for run in range(RUNS):
        listed = rng.integers(3, ITEMS // LENGTH, (users, LENGTH)) + np.arange(LENGTH) * (ITEMS // LENGTH)
        for item in range(3):
            lucky = np.flatnonzero(rng.random(users) < 0.2 + 0.0005 * run)
            listed[lucky, rng.integers(0, 3, len(lucky)) + 3 * item] = item
        found[f"run {run}"] = atkay.evaluate(listed, truth)
    return found


def main(tests: str = "t,permutation", share: str = "1") -> None:
    began = time.perf_counter()
    runs = results(int(USERS * float(share)))
    between = time.perf_counter()
    before = _peak()
    chosen: Any = tests.split(",")
    comparison = atkay.compare(runs, test=chosen)
    took = time.perf_counter() - between
    n = len(comparison.differences)
    print(f"evaluated in {between - began:.1f} s, peak {before:,} MB")
    print(f"{tests}: {n} differences, {comparison.permutations:,} permutations: {took:.1f} s, peak {_peak():,} MB")


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
