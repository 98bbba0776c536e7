"""Summary: what was found, in a few sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from atkay.comparison.comparison import best
from atkay.comparison.difference import p_value
from atkay.errors import number_of
from atkay.evaluation.finish import TIE_WARNING_SHARE
from atkay.metrics.metric import RunMetric
from atkay.reporting.view import View, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from atkay.comparison.comparison import Comparison
    from atkay.comparison.difference import Difference
    from atkay.metrics.metric import Metric
    from atkay.results.result import Result
    from atkay.results.summary import Summary

SEGMENTS_NAMED = 3
"""Segments named in a sentence."""

RUNS_NAMED = 5
"""Runs named in a sentence."""

DIFFERENCES_NAMED = 4
"""Differences in the headline metric that are listed."""

ROUGH_BELOW_USERS = 100
"""Intervals are wide with fewer users."""


def sentences(view: View) -> list[str]:
    """The summary."""
    return _of_result(view) if view.comparison is None else _of_comparison(view, view.comparison)


def _of_result(view: View) -> list[str]:
    result = next(iter(view.results.values()))
    summary = result.summaries[str(view.headline)]
    lines = [f"{view.headline} is {_with_interval(summary)}, for {number_of(summary.users, 'user')}."]
    if not math.isnan(summary.low) and summary.mean and summary.high > summary.low:
        half = (summary.high - summary.low) / 2 / abs(summary.mean)
        lines.append(f"The interval is ±{100 * half:.0f} % of the mean.")
    population = result.population
    if population.relevant:
        share = population.hits / population.relevant
        lines.append(
            f"{population.hits:,} of {population.relevant:,} relevant items ({100 * share:.1f} %) are in the lists, "
            f"among {population.listed:,} listed items."
        )
    return lines


def _of_comparison(view: View, comparison: Comparison) -> list[str]:
    metric = view.headline
    means = {run: view.means[run][str(metric)] for run in view.runs}
    first = comparison.leaders(str(metric))
    counts = sorted({each.users for each in means.values()})
    lines = [_headline(comparison, metric, first, means[first[0]])] if first else []
    base = f", compared with {shown(comparison.baseline)}" if comparison.baseline else ", every pair compared"
    users = number_of(counts[0], "user") if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,} users"
    lines.append(f"{number_of(len(view.runs), 'run')}, {users}{base}.")
    tested = [each for each in comparison.differences if each.finding != "not tested"]
    significant = sum(each.significant for each in tested)
    if tested:
        verb = "is" if significant == 1 else "are"
        lines.append(
            f"{significant:,} of {number_of(len(tested), 'tested difference')} over all metrics {verb} significant."
        )
    return [*lines, *(_leaders(view, first) if first else [])]


def _headline(comparison: Comparison, metric: Metric, first: list[str], mean: Summary) -> str:
    """Who has the best mean, and whether the test says so, too: a winner is named where it is one by the test alone."""
    word, value = "lowest" if metric.better == "lower" else "highest", _with_interval(mean)
    word += "" if isinstance(metric, RunMetric) else f" {comparison.title}"
    differences = comparison[metric]
    if len(first) > 1:
        same = [each for each in differences if each.contradicted and {each.run, each.against} <= {*first}]
        return f"{_several(first)} have the same {word} {metric}: {value}{_contradiction(same, first[0])}."
    best_run = shown(first[0])
    tested = {  # how the first run stands to each other run that it was tested against
        each.against if each.run == first[0] else each.run: each.standing(first[0])
        for each in differences
        if first[0] in (each.run, each.against) and each.decided_by
    }
    beaten = [run for run, standing in tested.items() if standing == "better"]
    if len(beaten) == len(comparison.runs) - 1:
        others = shown(beaten[0]) if len(beaten) == 1 else "every other run"
        return f"{best_run} is significantly better than {others} in {metric}: {value}."
    leads = f"{best_run} has the {word} {metric}, {value}"
    if not any(each.decided_by for each in differences):
        return f"{leads}; its differences are not tested."
    against = [each for each in differences if each.contradicted and first[0] in (each.run, each.against)]
    favoured = [each.against if each.run == first[0] else each.run for each in against]
    if not any(each.significant or each.contradicted for each in differences):
        return f"No significant difference in {metric}. {leads}."
    standings = [f"significantly better than {_several(beaten)}"] if beaten else []
    if even := [run for run, standing in tested.items() if not standing and run not in favoured]:
        standings.append(f"not significantly better than {_several(even)}")
    if lost := [run for run, standing in tested.items() if standing == "worse"]:
        standings.append(f"significantly worse than {_several(lost)} on the users evaluated in both")
    if untested := [run for run in comparison.runs if run not in (*tested, first[0])]:
        standings.append(f"not tested against {_several(untested)}")
    return f"{leads}{': ' if standings else ''}{', '.join(standings)}{_contradiction(against, first[0])}."


def _contradiction(differences: list[Difference], first: str) -> str:
    """Where the test that decides does not test the mean and finds the opposite, or a difference of equal means."""
    if not differences:
        return ""
    runs = []
    for each in differences[:DIFFERENCES_NAMED]:
        corrected = p_value(each.corrected[each.decided_by or ""])
        p = f"p {corrected}" if corrected.startswith("<") else f"p = {corrected}"
        if each.difference:
            other, counts = (each.against, (each.losses, each.wins))
            if each.against == first:
                other, counts = (each.run, (each.wins, each.losses))
            runs.append(f"{shown(other)} ({counts[0]} wins, {counts[1]} losses, {p})")
        else:
            runs.append(f"{shown(each.run)} and {shown(each.against)} ({p})")
    verb = "favours" if differences[0].difference else "finds a difference between"
    more = f" and {rest:,} more" if (rest := len(differences) - DIFFERENCES_NAMED) > 0 else ""
    return f", but the {differences[0].decided_by} test, which decides, {verb} {', '.join(runs)}{more}"


def _several(runs: list[str]) -> str:
    """The names of some runs; of many, how many there are."""
    if len(runs) > RUNS_NAMED:
        return f"{len(runs):,} runs"
    return " and ".join(filter(None, (", ".join(map(shown, runs[:-1])), shown(runs[-1]))))


def _leaders(view: View, overall: list[str]) -> list[str]:
    """The segments in which another run has the best mean than over all users, where each has enough of them."""
    name = str(view.headline)
    means_of: dict[tuple[str, str | None], dict[str, Summary]] = {}
    for run, result in view.results.items():
        for slicing, segment, metric, summary in result.slice_summaries:
            if metric == name and summary.users >= ROUGH_BELOW_USERS:
                means_of.setdefault((slicing, segment), {})[run] = summary
    first = {
        where: best(means, view.headline.better) for where, means in means_of.items() if len(means) == len(view.runs)
    }
    others = [
        f"{shown(runs[0])} in {shown(slicing)}: {shown(segment or '(none)')} "
        f"({means_of[slicing, segment][runs[0]].mean:.4f}, {shown(overall[0])} has "
        f"{means_of[slicing, segment][overall[0]].mean:.4f})"
        for (slicing, segment), runs in first.items()
        if runs and not set(runs) & set(overall)
    ]
    if not others:
        return []
    word = "lowest" if view.headline.better == "lower" else "highest"
    title = "mean" if view.comparison is None else view.comparison.title
    more = f"; and another run in {rest:,} more" if (rest := len(others) - SEGMENTS_NAMED) > 0 else ""
    return [f"Segments in which another run has the {word} {title} {name}: {'; '.join(others[:SEGMENTS_NAMED])}{more}."]


def _with_interval(summary: Summary) -> str:
    if math.isnan(summary.mean):
        return "undefined"
    ends = "" if math.isnan(summary.low) else f" (95 % CI [{summary.low:.4f}, {summary.high:.4f}])"
    return f"{summary.mean:.4f}{ends}"


def warnings(view: View) -> list[str]:
    """Cautions: where a number may mislead; those of all runs are listed once."""
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
        skipped = result.protocol.no_recs == "skip"
        users = population.evaluated + (population.without_list if skipped else 0)
        how = "" if result.apart else ": skipped" if skipped else ": counted with an empty list"
        yield f"No list for {population.without_list:,} of {number_of(users, 'user')}{how}."
    by_order = not result.protocol.trait("ties", "takes")
    if by_order and population.tie_decided > TIE_WARNING_SHARE * population.evaluated:
        yield (
            f"The order of equal scores decides {population.tie_decided:,} of {population.evaluated:,} lists "
            f"(ties={result.protocol.ties})."
        )
    if population.evaluated < ROUGH_BELOW_USERS:
        yield f"Only {number_of(population.evaluated, 'user')}: intervals are approximate below {ROUGH_BELOW_USERS}."
    if result.sampled is not None:
        yield f"{result.sampled.words}; not comparable with full-catalogue metrics."
    undefined = [name for name, summary in result.summaries.items() if summary.undefined]
    if undefined:
        yield f"Some users have no value for {', '.join(undefined)} and are not in its mean."
