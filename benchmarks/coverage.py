"""How often intervals of 95 % hold the true value; writes the tables of docs/intervals.md.

Values of few users are drawn again and again from distributions like those of real metrics: most users score 0, a few
score well. All bootstrap intervals of one size share their samples, as those of one comparison do.

    python benchmarks/coverage.py            # writes the tables, a few minutes
    python benchmarks/coverage.py --cases 200 --print
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from atkay.aggregates import MEAN, Aggregate
from atkay.core.types import Floats, Ints
from atkay.results.intervals import (
    RESAMPLED,
    TAILS,
    UNKNOWN,
    UNLIMITED,
    Ends,
    IntervalMethod,
    Limits,
    acceleration,
    bootstrap_interval,
    t_values,
    within,
)
from atkay.results.ordered import TAIL_USERS, ordered_value, resampled_values
from atkay.results.summary import clustered, mean, moments_of, scores_of, summarise, unscaled

Rng = np.random.Generator
Draw = Callable[[Rng, int], Floats]

PAGE = Path(__file__).parents[1] / "docs" / "intervals.md"
USERS = (25, 50, 200)
SAMPLES = 999
TRUE_VALUES = 4_000_000
"""Values that the true number is computed from."""
SHARE: Limits = (0.0, 1.0)


def hit(share: float) -> Draw:
    """A share of the users has a hit."""
    return lambda rng, n: (rng.random(n) < share).astype(float)


def inflated(zeros: float) -> Draw:
    """A share of the users scores 0, the others as a beta distribution has it: like nDCG."""
    return lambda rng, n: np.where(rng.random(n) < zeros, 0.0, rng.beta(1.0, 2.0, n))


def reciprocal(rng: Rng, n: int) -> Floats:
    """1 / rank down to rank 10."""
    rank = rng.geometric(0.15, n)
    return np.where(rank <= 10, 1 / rank, 0.0)


def gain(rng: Rng, n: int) -> Floats:
    """An unbounded gain, such as DCG or revenue: most users none, some much."""
    return np.where(rng.random(n) < 0.6, 0.0, rng.lognormal(0, 0.8, n))


def difference(moved: float) -> Draw:
    """The differences of two runs: a share of the users moves, one in three of them far up and the others down."""

    def draw(rng: Rng, n: int) -> Floats:
        move = np.where(rng.random(n) < 1 / 3, rng.beta(2.0, 2.0, n), -rng.beta(1.0, 5.0, n))
        return np.where(rng.random(n) < moved, move, 0.0)

    return draw


def some_zeros(rng: Rng, n: int) -> Floats:
    """For medians, quantiles, geometric means and the worst users: one user in ten scores 0."""
    return np.where(rng.random(n) < 0.1, 0.0, rng.beta(1.0, 2.0, n))


def of_users(rng: Rng, n: int, hits: bool) -> tuple[Floats, Ints]:
    """The queries of n users, five on average: a user is served well or badly in all of them."""
    cluster = np.repeat(np.arange(n), rng.geometric(0.2, n))
    chance = rng.beta(0.5, 1.5, n)[cluster]
    found = rng.random(len(cluster)) < chance
    return np.where(found, 1.0 if hits else rng.beta(2.0, 2.0, len(cluster)), 0.0), cluster


MEANS: Mapping[str, tuple[Draw, Limits]] = {
    "hit, one user in ten": (hit(0.1), SHARE),
    "hit, one user in two": (hit(0.5), SHARE),
    "like nDCG, 60 % zeros": (inflated(0.6), SHARE),
    "like nDCG, 85 % zeros": (inflated(0.85), SHARE),
    "like MRR": (reciprocal, SHARE),
    "like DCG, 60 % zeros": (gain, UNLIMITED),
    "difference, half of the users move": (difference(0.5), (-1.0, 1.0)),
    "difference, one user in ten moves": (difference(0.1), (-1.0, 1.0)),
}
FORMULAS = ("student", "logit", "wilson", "clopper-pearson")
AGGREGATES = ("geometric(0.01)", "median", "quantile(0.25)", "worst(0.2)")


def holds(ends: Sequence[Ends], truth: float) -> str:
    """The share of the intervals that hold the truth; of those that exist, where most do."""
    there = np.array([end for end in ends if not np.isnan(end[0])]).reshape(-1, 2)
    if len(there) < len(ends) / 2:
        return "–"
    share = np.mean((there[:, 0] <= truth) & (truth <= there[:, 1]))
    return f"{100 * share:.1f}" + ("*" if len(there) < len(ends) else "")


def counts_of(n: int) -> Floats:
    """How often each unit is in each sample."""
    rng = np.random.default_rng(n)
    return np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(SAMPLES)]).astype(float)


def resampled(scores: Floats, counts: Floats, limits: Limits) -> dict[str, list[Ends]]:
    """The bootstrap intervals of the mean of each row."""
    n = scores.shape[1]
    middle = scores.mean(axis=1)
    away = scores - middle[:, None]
    of_samples, squares = (counts @ each.T / n for each in (away, away**2))
    t = t_values(of_samples, squares, np.full(1, float(n)))
    error = scores.std(axis=1, ddof=1) / np.sqrt(n)
    ends: dict[str, list[Ends]] = {name: [] for name in RESAMPLED}
    for case, value in enumerate(middle.tolist()):
        alike = not away[case].any()
        skew = 0.0 if alike else acceleration(away[case])
        for name, found in ends.items():
            drawn = of_samples[:, case], skew, t[:, case], float(error[case])
            found.append(
                formula(name, scores[case], limits)
                if alike
                else within(bootstrap_interval(name, value, *drawn), value, limits)
            )
    return ends


def formula(name: str, values: Floats, limits: Limits) -> Ends:
    """The interval of a mean; of differences that are all alike there is none."""
    if limits[0] < 0 and limits != UNLIMITED and np.ptp(values) == 0:
        return UNKNOWN
    _, low, high, *_ = summarise(values, MEAN, IntervalMethod(name), limits)
    return low, high


def of_means(cases: int) -> Iterator[list[str]]:
    """A row per distribution and number of users."""
    for name, (draw, limits) in MEANS.items():
        truth = float(draw(np.random.default_rng(0), TRUE_VALUES).mean())
        for n in USERS:
            values = draw(np.random.default_rng(n), cases * n).reshape(cases, n)
            formulas = [word for word in FORMULAS if limits == SHARE or word == "student"]
            ends: dict[str, list[Ends]] = {
                word: [formula(word, case, limits) for case in values] for word in formulas
            } | resampled(values, counts_of(n), limits)
            yield [
                name,
                f"{n}",
                *(holds(ends[word], truth) if word in ends else "" for word in (*FORMULAS, *RESAMPLED)),
            ]


def of_aggregates(cases: int) -> Iterator[list[str]]:
    """A row per aggregate and number of users: the usual interval, and the percentile bootstrap's."""
    many = some_zeros(np.random.default_rng(0), TRUE_VALUES)
    for spec in AGGREGATES:
        aggregate = Aggregate.of(spec)
        logarithms = np.log(np.maximum(many, aggregate.number or 1.0)) if aggregate.logarithmic else many
        truth = unscaled(mean(logarithms), aggregate) if aggregate.logarithmic else ordered_value(many, aggregate)
        for n in USERS:
            values = some_zeros(np.random.default_rng(n), cases * n).reshape(cases, n)
            counts = counts_of(n)
            if aggregate.logarithmic:
                values = np.log(np.maximum(values, aggregate.number or 1.0))
                again = [tuple(np.exp(end)) for end in resampled(values, counts, UNLIMITED)["percentile"]]
            elif n * aggregate.tail < TAIL_USERS:
                again = [(np.nan, np.nan)] * cases
            else:
                again = [_percentile(case, counts.astype(np.int32), aggregate) for case in values]
            usual = [summarise(case, aggregate)[1:3] for case in values]
            yield [spec, f"{n}", holds(usual, truth), holds(again, truth)]


def _percentile(values: Floats, counts: Ints, aggregate: Aggregate) -> Ends:
    order = np.argsort(values)
    low, high = np.quantile(resampled_values(values[order], counts[:, order], aggregate), TAILS).tolist()
    return low, high


def of_clusters(cases: int) -> Iterator[list[str]]:
    """A row per distribution and number of clusters, with intervals that ignore them first."""
    for name, hits in (("hit", True), ("like nDCG", False)):
        # Each query counts: clusters of any size have the same mean.
        truth = float(of_users(np.random.default_rng(0), TRUE_VALUES // 5, hits)[0].mean())
        for n in USERS:
            rng = np.random.default_rng(n)
            drawn = [of_users(rng, n, hits) for _ in range(cases)]
            methods = [(IntervalMethod("auto"), False), *((IntervalMethod(word), True) for word in FORMULAS[:3])]
            found = [
                [summarise(values, MEAN, method, SHARE, code if by else None)[1:3] for values, code in drawn]
                for method, by in methods
            ]
            sides = [clustered(*each) for each in drawn]
            scores = np.array([scores_of(side, moments_of(side).mean) for side in sides])
            found += resampled(scores, counts_of(n), SHARE).values()
            yield [name, f"{n}", *(holds(ends, truth) for ends in found)]


TABLES: Mapping[str, tuple[Callable[[int], Iterator[list[str]]], Sequence[str]]] = {
    "means": (of_means, ("values", "users", *(f"`{word}`" for word in (*FORMULAS, *RESAMPLED)))),
    "aggregates": (of_aggregates, ("`aggregate=`", "users", "usual", "`percentile`")),
    "clusters": (
        of_clusters,
        ("values", "clusters", "without `cluster=`", *(f"`{word}`" for word in (*FORMULAS[:3], *RESAMPLED))),
    ),
}
"""The tables of the page, by the name between their markers."""


def table(header: Sequence[str], rows: Iterator[list[str]]) -> str:
    """A table in Markdown, the first column to the left."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> None:
    """Write the tables between their markers, or print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2_000, help="cases per line")
    parser.add_argument("--print", action="store_true", dest="printed", help="print the tables, and leave the page")
    chosen = parser.parse_args()
    tables = {name: table(header, rows(chosen.cases)) for name, (rows, header) in TABLES.items()}
    if chosen.printed:
        print("\n\n".join(tables.values()))
        return
    page = PAGE.read_text()
    for name, made in tables.items():
        before, _, after = page.partition(f"<!-- {name} -->\n")
        page = f"{before}<!-- {name} -->\n{made}\n{after[after.index(f'<!-- end of {name} -->') :]}"
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
