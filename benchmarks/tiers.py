"""How often equal runs share a tier, and rank intervals hold the true ranks; prints the table of docs/compare.md.

A user's value in a run is 0 or, with a probability of the user's own times that of the run, a discount of a rank: most
values are 0 and a few are large. Runs are equal, a little apart, in groups, or far apart; runs that are truly equal
have a set of ranks, and an interval holds it if it has all of them.

    python benchmarks/tiers.py
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

import atkay
from atkay.core.types import Floats

SAMPLES, USERS = 1_000, (25, 50, 200)
BOARDS = {
    "20 equal runs": np.full(20, 0.30),
    "5 equal runs": np.full(5, 0.30),
    "4 groups of 5 equal runs": np.repeat([0.06, 0.24, 0.55, 0.95], 5),
    "20 runs, a little apart": np.linspace(0.27, 0.33, 20),
    "20 runs, from far to far apart": np.linspace(0.05, 0.95, 20),
    "5 runs, far apart": np.linspace(0.05, 0.95, 5),
}
"""The probability of a hit in each run."""


def values(rng: np.random.Generator, hit: Floats, users: int) -> Floats:
    """Users x runs, mostly 0; a user who is easy for one run is easy for all."""
    easy = rng.beta(0.8, 0.8, (users, 1))
    rank = rng.integers(1, 11, (users, len(hit)))
    return np.where(rng.random((users, len(hit))) < hit * easy, 1 / np.log2(1 + rank), 0.0)


def percentile(rng: np.random.Generator, board: Floats) -> tuple[Floats, Floats]:
    """The interval that suggests itself: from 2.5 % to 97.5 % of a run's ranks in the samples."""
    users = len(board)
    means = rng.multinomial(users, np.full(users, 1 / users), SAMPLES) @ board
    ranks = 1 + (means[:, None, :] > means[:, :, None]).sum(axis=2)
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0)
    return low, high


def simulate(hit: Floats, users: int, boards: int) -> tuple[float, float, float, float]:
    """The share of boards with one tier, of intervals that hold, of plain ones that do, and the width of ours."""
    rng, runs = np.random.default_rng(users), len(hit)
    lowest, highest = (1 + (hit > hit[:, None]).sum(axis=1)), runs - (hit < hit[:, None]).sum(axis=1)
    names, shares = [f"run {at}" for at in range(runs)], []
    lists = {user: ["item"] for user in range(users)}
    result = atkay.evaluate(lists, lists, "ndcg@10")
    for board in range(boards):
        drawn = values(rng, hit, users)
        results = {name: replace(result, query_values=drawn[:, [at]]) for at, name in enumerate(names)}
        comparison = atkay.compare(results, test="t", rng=board)
        intervals = comparison.rank_intervals["ndcg@10"]
        low, high = np.array([(intervals[name].low, intervals[name].high) for name in names]).T
        plain_low, plain_high = percentile(rng, drawn)
        holds = [((a <= lowest) & (b >= highest)).mean() for a, b in ((low, high), (plain_low, plain_high))]
        shares.append((len(comparison.tiers["ndcg@10"]) == 1, *holds, (high - low + 1).mean()))
    shared, held, plain, width = np.mean(shares, axis=0)
    return shared, held, plain, width


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=1_000, help="boards per line; a quarter where runs differ")
    chosen = parser.parse_args()
    print("| runs | users | one tier | rank intervals hold | width | percentile intervals hold |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, hit in BOARDS.items():
        for users in USERS:
            shared, held, plain, width = simulate(hit, users, chosen.boards if len({*hit}) == 1 else chosen.boards // 4)
            shares = [f"{share:.1%}".replace("%", " %") for share in (shared, held, plain)]
            print(f"| {name} | {users:,} | {shares[0]} | {shares[1]} | {width:.1f} | {shares[2]} |", flush=True)


if __name__ == "__main__":
    main()
