"""Tiers: the runs that cannot be told apart from the best of them."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import combinations
from typing import TYPE_CHECKING

from atkay.comparison.compare import judge
from atkay.comparison.procedure import Procedure
from atkay.comparison.run_table import RunTable
from atkay.comparison.sheet import ROUNDING_SHARE
from atkay.metrics.spec import parse
from atkay.results.numbers import Numbers
from atkay.text.grid import Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from atkay.comparison.comparison import Comparison
    from atkay.comparison.difference import Difference

Runs = tuple[str, ...]


class Tiers(Numbers[tuple[Runs, ...]]):
    """The tiers of each metric that has any, best first."""

    holder = "table of tiers"
    lack = "has no direction, or was not tested"


def tiers_of(comparison: Comparison) -> Tiers:
    """The tiers of each metric that has a direction and was tested.

    Runs are sorted by their means. A tier begins at its best run, and the first run that is significantly worse than
    that one begins the next.
    """
    of_metric: dict[str, list[Difference]] = {}
    for each in comparison.every_pair:
        of_metric.setdefault(each.metric, []).append(each)
    return Tiers((name, _tiers(comparison, name, of_metric[name])) for name in ranked_metrics(comparison))


def ranked_metrics(comparison: Comparison) -> list[str]:
    """The metrics with a direction, and a test."""
    tested = {each.metric for each in comparison.differences if each.decided_by}
    return [name for name in comparison.metrics if name in tested and parse(name).better != "neither"]


def in_order(comparison: Comparison, metric: str) -> list[str]:
    """The runs that have a mean, the best first."""
    sign = -1 if parse(metric).better == "higher" else 1
    means = {run: sign * comparison.means[run][metric].mean for run in comparison.runs}
    return sorted((run for run, mean in means.items() if mean == mean), key=means.__getitem__)  # NaN is not itself


def places(comparison: Comparison, metric: str) -> dict[str, int]:
    """The rank of each run's mean, the best first; equal means share the better rank."""
    means = [(run, comparison.means[run][metric].mean) for run in in_order(comparison, metric)]
    ranks: dict[str, int] = {}
    for at, (run, mean) in enumerate(means):
        before, above = means[at - 1]
        equal = at > 0 and abs(mean - above) <= ROUNDING_SHARE * max(abs(mean), abs(above))
        ranks[run] = ranks[before] if equal else at + 1
    return ranks


def all_pairs(comparison: Comparison) -> Sequence[Difference]:
    """The differences of all pairs of runs, corrected as one family, by the tests of the comparison.

    Against a baseline only its own pairs were tested. The others are tested now, with as many of the tests as it takes
    to decide each pair.
    """
    if comparison.baseline is None or len(comparison.runs) == 2:
        return comparison.differences
    sheet, runs = comparison.sheet, range(len(comparison.runs))
    if sheet is None:
        return ()
    metrics = tuple(map(parse, comparison.metrics))
    whole = Procedure(**{each.name: getattr(comparison, each.name) for each in fields(Procedure)})
    differences: list[Difference] = []
    for n_tests in range(1, len(whole.tests) + 1):
        procedure = replace(whole, tests=whole.tests[:n_tests], interval="student")
        table = RunTable(comparison.results, metrics, sheet, list(combinations(runs, 2)), procedure)
        with table.steps:
            differences = judge([table.differences((0,))], procedure, comparison.min_effect)
        if all(each.decided_by for each in differences if each.users):
            break
    return differences


def tier_parts(comparison: Comparison, name: Callable[[str], str] = str) -> list[Grid | Sequence[str]]:
    """The tiers as a table, and what they are; nothing where no metric has any. ``name`` is how names are printed."""
    most = max(map(len, comparison.tiers.values()), default=0)
    if not most:
        return []
    rows = [
        (name(metric), *(", ".join(map(name, tier)) for tier in tiers), *[""] * (most - len(tiers)))
        for metric, tiers in comparison.tiers.items()
    ]
    legend = "tier: its first run and all that are not significantly worse; every pair of runs tested"
    return [Grid(("metric", *(f"tier {at}" for at in range(1, most + 1))), rows), [f"{legend}, {comparison.threshold}"]]


def rank_frame(comparison: Comparison) -> pl.DataFrame:
    """A row per metric and run, best first: mean, tier, rank, and the interval of the rank."""
    from atkay.core.forks import polars as pl

    rows = [
        (metric, run, comparison.means[run][metric].mean, tier, *comparison.rank_intervals[metric][run])
        for metric, tiers in comparison.tiers.items()
        for tier, runs in enumerate(tiers, start=1)
        for run in runs
    ]
    schema = {**dict.fromkeys(("metric", "run"), pl.String), "mean": pl.Float64}
    schema |= dict.fromkeys(("tier", "rank", "rank_low", "rank_high"), pl.Int64)
    return pl.DataFrame(rows, schema=schema, orient="row")


def _tiers(comparison: Comparison, metric: str, differences: Sequence[Difference]) -> tuple[Runs, ...]:
    behind = {
        (run, other)
        for each in differences
        for run, other in ((each.run, each.against), (each.against, each.run))
        if each.standing(run) == "worse"
    }
    tiers: list[list[str]] = []
    for run in in_order(comparison, metric):
        if tiers and (run, tiers[-1][0]) not in behind:
            tiers[-1].append(run)
        else:
            tiers.append([run])
    return tuple(map(tuple, tiers))
