"""Summary: what was found, in a few sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from atkay.errors import number_of
from atkay.evaluate import DECIDED
from atkay.report.view import View, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from atkay.compare.comparison import Comparison
    from atkay.means import Summary
    from atkay.metrics.base import Metric
    from atkay.result import Result

MOVERS = 3
"""So many segments that move against the mean are named."""

DIFFERENCES = 4
"""So many differences in the headline number are told."""

FEW = 100
"""Below so many users, intervals are wide."""


def sentences(view: View) -> list[str]:
    """The summary."""
    return _of_result(view) if view.comparison is None else _of_comparison(view, view.comparison)


def _of_result(view: View) -> list[str]:
    result = next(iter(view.results.values()))
    found = result.summaries[str(view.headline)]
    said = [f"{view.headline} is {_with_interval(found)}, for {number_of(found.users, 'user')}."]
    if not math.isnan(found.low) and found.mean and found.high > found.low:
        half = (found.high - found.low) / 2 / abs(found.mean)
        said.append(f"The interval is {half:.0%} of the number to either side.")
    population = result.population
    if population.relevant:
        share = population.hits / population.relevant
        said.append(
            f"The lists hold {population.hits:,} of the {population.relevant:,} relevant items ({share:.1%}), among "
            f"{population.listed:,} listed."
        )
    return said


def _of_comparison(view: View, comparison: Comparison) -> list[str]:
    metric = view.headline
    means = {run: view.means[run][str(metric)] for run in view.runs}
    order = _ranked(means, metric)
    most = max(found.users for found in means.values())
    said = []
    if order:
        word = "lowest" if metric.better == "lower" else "highest"
        said.append(f"{shown(order[0])} has the {word} {metric}: {_with_interval(means[order[0]])}.")
    base = f", held against {shown(comparison.baseline)}" if comparison.baseline else ", every pair compared"
    said.append(f"{number_of(len(view.runs), 'run')} for {number_of(most, 'user')} and the same truth{base}.")
    if comparison.baseline and len(order) > 2 and comparison.baseline not in order[:2]:
        said.append(
            f"{shown(order[1])} follows with {means[order[1]].mean:.4f}; whether these two differ is not tested here: "
            "without a baseline every pair is."
        )
    against = comparison.baseline or (order[0] if order else "")
    said += _against(comparison, str(metric), against)
    tested = [found for found in comparison.differences if found.finding != "not tested"]
    real = sum(found.real for found in tested)
    if tested:
        said.append(f"Of {number_of(len(tested), 'tested difference')} in all metrics, {real:,} are real.")
    said += _leaders(view, order[0]) if order else []
    movers = [found for found in comparison.movers if found.real]
    if movers:
        named = "; ".join(
            f"{shown(found.slice)}: {shown(found.segment or '(none)')}, {found.metric} of {shown(found.run)} against "
            f"{shown(found.against)}: {found.verdict}"
            for found in movers[:MOVERS]
        )
        more = f"; and {len(movers) - MOVERS:,} more" if len(movers) > MOVERS else ""
        said.append(f"Against the mean move {named}{more}.")
    return said


def _against(comparison: Comparison, metric: str, against: str) -> list[str]:
    """The differences of one run from the others, those first that are real, then by how large they are."""
    found = [each for each in comparison[metric] if against in (each.run, each.against)]
    found.sort(key=lambda each: (not each.real, -abs(each.difference)))
    said = [f"{shown(each.run)} against {shown(each.against)}: {each.verdict}." for each in found[:DIFFERENCES]]
    return said + (
        [f"{len(found) - DIFFERENCES:,} more are below, in Differences."] if len(found) > DIFFERENCES else []
    )


def _leaders(view: View, best: str) -> list[str]:
    """The segments in which another run is first than over all users, where each has enough of them."""
    name = str(view.headline)
    found: dict[tuple[str, str | None], dict[str, Summary]] = {}
    for run, result in view.results.items():
        for slicing, segment, metric, summary in result.slice_summaries:
            if metric == name and summary.users >= FEW:
                found.setdefault((slicing, segment), {})[run] = summary
    first = {where: _ranked(means, view.headline)[0] for where, means in found.items() if len(means) == len(view.runs)}
    others = [
        f"{shown(run)} in {shown(slicing)}: {shown(segment or '(none)')} ({found[slicing, segment][run].mean:.4f}, "
        f"against {found[slicing, segment][best].mean:.4f} of {shown(best)})"
        for (slicing, segment), run in first.items()
        if run != best
    ]
    if not others:
        return []
    more = f"; and in {len(others) - MOVERS:,} more segments another run" if len(others) > MOVERS else ""
    return [f"Not everywhere is {shown(best)} first by {name}: {'; '.join(others[:MOVERS])}{more}."]


def _ranked(means: dict[str, Summary], metric: Metric) -> list[str]:
    """The runs, the best first; none where no direction is better."""
    if metric.better == "neither":
        return []
    known = [run for run, found in means.items() if not math.isnan(found.mean)]
    return sorted(known, key=lambda run: means[run].mean * (1 if metric.better == "lower" else -1))


def _with_interval(found: Summary) -> str:
    if math.isnan(found.mean):
        return "undefined"
    ends = "" if math.isnan(found.low) else f" (95 % interval {found.low:.4f} to {found.high:.4f})"
    return f"{found.mean:.4f}{ends}"


def warnings(view: View) -> list[str]:
    """Where a number may mislead; what holds for all runs is said once."""
    runs_of: dict[str, list[str]] = {}
    for run, result in view.results.items():
        for caution in _cautions(result):
            runs_of.setdefault(caution, []).append(shown(run))
    return [
        caution if len(runs) == len(view.runs) else f"{', '.join(runs)}: {caution}" for caution, runs in runs_of.items()
    ]


def _cautions(result: Result) -> Iterator[str]:
    population = result.population
    if population.without_list:
        yield f"{number_of(population.without_list, 'user')} with truth and no list."
    by_order = result.protocol.ties not in ("expected", "together")
    if by_order and population.tie_decided > DECIDED * population.evaluated:
        yield (
            f"The order of equal scores decides {population.tie_decided:,} of {population.evaluated:,} lists "
            f"(ties={result.protocol.ties})."
        )
    if population.evaluated < FEW:
        yield f"{number_of(population.evaluated, 'user')} only: intervals are rough below {FEW}."
    if result.sampled is not None:
        yield f"{result.sampled.words}; such numbers do not compare with those of the whole catalogue."
    undefined = [name for name, found in result.summaries.items() if found.undefined]
    if undefined:
        yield f"Some users have no value in {', '.join(undefined)}; the means leave them out."
