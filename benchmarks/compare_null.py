"""How often the tests of a mean difference find one where there is none, at 5 %; prints the table of docs/compare.md.

Users' differences are drawn from distributions with mean 0. The paired runs of real recommenders come nearest to the
last three: most users gain or lose little, and a few much.

    python benchmarks/compare_null.py
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

import atkay
from atkay.comparison.sheet import Paired
from atkay.comparison.tests import TESTS
from atkay.comparison.trial import Trial
from atkay.comparison.verdict import LEVEL
from atkay.core.types import Floats
from atkay.text.progress import Steps

Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]
PERMUTATIONS, CASES_AT_ONCE = 999, 500
USERS = (10, 20, 50, 200, 1000)
SHOWN = ("t", "permutation", "bootstrap")


def lognormal(sigma: float) -> Draw:
    """exp(normal) less its mean; the skewness is (exp(sigma²) + 2) · sqrt(exp(sigma²) - 1)."""
    return lambda rng, shape: rng.lognormal(0, sigma, shape) - np.exp(sigma**2 / 2)


def few(share: float) -> Draw:
    """A share of users gain 1 - share, all others lose that share; skewness (1 - 2p) / sqrt(p(1 - p))."""
    return lambda rng, shape: np.where(rng.random(shape) < share, 1 - share, -share)


def few_move(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """One user in ten has a difference, as often up as down."""
    return rng.normal(0, 1, shape) * (rng.random(shape) < 0.1)


DISTRIBUTIONS: dict[str, tuple[float, Draw]] = {
    "normal": (0.0, lambda rng, shape: rng.normal(0, 1, shape)),
    "one user in ten differs, normal": (0.0, few_move),
    "lognormal": (2.7, lognormal(0.671)),
    "one user in ten gains 0.9, the others lose 0.1": (2.7, few(0.1)),
    "lognormal, heavier": (6.2, lognormal(1.0)),
    "one user in fifty gains 0.98, the others lose 0.02": (6.9, few(0.02)),
}


def p_values(test: str, differences: Floats, permutations: int = PERMUTATIONS) -> Floats:
    """The p-value of each case; cases x users."""
    paired = [
        Paired(atkay.parse("mrr"), np.stack([np.zeros(len(case)), case], axis=1), np.ones((len(case), 2), bool))
        for case in differences
    ]
    steps = Steps("comparing", 1)
    return TESTS[test].p_values(Trial(paired, [(0, 1)], permutations, 7, (0,), steps))[:, 0]


def rejected(test: str, differences: Floats) -> int:
    """In how many cases a test finds a difference; cases x users."""
    return int((p_values(test, differences) < LEVEL).sum())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=4_000, help="cases per line, in steps of 500")
    chosen = parser.parse_args()
    blocks = max(chosen.cases // CASES_AT_ONCE, 1)
    print(f"| differences | skewness | users | {' | '.join(f'`{test}`' for test in SHOWN)} |")
    print(f"| --- | ---: | ---: |{' ---: |' * len(SHOWN)}")
    for name, (skewness, distribution) in DISTRIBUTIONS.items():
        for users in USERS:
            rng = np.random.default_rng(users)
            found = np.zeros(len(SHOWN))
            for _ in range(blocks):
                differences = distribution(rng, (CASES_AT_ONCE, users))
                found += [rejected(test, differences) for test in SHOWN]
            shares = " | ".join(f"{share:.1%}".replace("%", " %") for share in found / (blocks * CASES_AT_ONCE))
            print(f"| {name} | {skewness:.1f} | {users:,} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
