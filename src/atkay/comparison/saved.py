"""Saved: the file of a comparison, written and read field by field."""

from __future__ import annotations

import math
from typing import Any

from atkay.aggregates import Aggregate
from atkay.comparison.comparison import Comparison
from atkay.comparison.difference import COUNTS, NUMBERS, Difference
from atkay.comparison.leaderboard import Leaderboard
from atkay.comparison.procedure import Procedure
from atkay.comparison.ranks import RankInterval
from atkay.comparison.tests import TESTS
from atkay.comparison.tiers import in_order, places, ranked_metrics
from atkay.core.schema import Form, built, count, listed, mapped, maybe, number, one_of, probability, record, text
from atkay.results.save import check_fit, metric_spec, summary


def _difference(read: dict[str, Any]) -> Difference:
    counted = {read[name] is None for name in ("wins", "ties", "losses")}
    if len(counted) > 1 or math.isnan(read["low"]) != math.isnan(read["high"]):
        raise ValueError("wins, ties and losses, and both ends of the interval, must be given together")
    Aggregate.of(read["aggregate"])
    return Difference(
        **{name: value for name, value in read.items() if name != "verdict"}
    )  # it follows from the others


_OF_DIFFERENCE = record(
    {
        **dict.fromkeys(("metric", "run", "against"), text),
        "better": one_of(("higher", "lower", "neither")),
        **dict.fromkeys(NUMBERS, number),
        **dict.fromkeys(COUNTS, count),
        **dict.fromkeys(("wins", "ties", "losses"), maybe(count)),
        **dict.fromkeys(("p", "corrected"), mapped(probability)),
        "finding": text,
        **dict.fromkeys(("slice", "segment"), maybe(text)),
        **dict.fromkeys(("lowest", "opposite"), listed(one_of(TESTS))),
        "aggregate": text,
        "verdict": text,
    }
)
_DIFFERENCE = Form(
    lambda value: _difference(_OF_DIFFERENCE(value)),
    lambda each: _OF_DIFFERENCE.write({**vars(each), "verdict": each.verdict}),
)
_MEANS = mapped(mapped(summary))
FILE = record(
    {
        "atkay": text,
        **dict.fromkeys(("baseline", "cluster"), maybe(text)),
        **dict.fromkeys(("correction", "family", "interval"), text),
        **dict.fromkeys(("permutations", "rng"), count),
        **dict.fromkeys(("runs", "metrics", "tests", "notes"), listed(text)),
        "min_effect": mapped(number),
        "protocol": mapped(text),
        "names": mapped(lambda value: str(metric_spec(value))),
        "means": _MEANS,
        "segment_means": listed(record({"slice": text, "segment": maybe(text), "means": _MEANS})),
        "differences": listed(_DIFFERENCE),
        "segments": listed(_DIFFERENCE),
        "tiers": mapped(listed(listed(text))),
        "rank_intervals": mapped(mapped(built(RankInterval, dict.fromkeys(RankInterval._fields, count)))),
    }
)
"""The file of a comparison, field by field; verdicts are included for readers without atkay."""

_BOARD = record({"atkay": text, "comparisons": mapped(lambda value: value), "ranks": lambda value: value})


def comparison_of(content: dict[str, Any]) -> Comparison:
    """A comparison from its file, checked for consistency."""
    read = FILE(content)
    Procedure.of(
        *(read[name] for name in ("baseline", "tests", "correction", "family", "interval", "permutations", "rng"))
    )
    version, of_segments = read.pop("atkay"), read.pop("segment_means")
    segment_means = {(each["slice"], each["segment"]): each["means"] for each in of_segments}
    standings = {name: read.pop(name) for name in ("tiers", "rank_intervals")}
    comparison = Comparison(**read, segment_means=segment_means, standings=standings, version=version)
    metrics = {name: metric_spec(name) for name in comparison.metrics}
    runs, tests, differences = comparison.runs, list(comparison.tests), comparison.differences
    pairs = {(each.metric, each.run, each.against) for each in differences}

    def fits(each: Difference) -> bool:
        directed = each.metric in metrics and each.better == metrics[each.metric].better
        tested = list(each.p) == list(each.corrected) == tests and {*each.lowest, *each.opposite} <= {*tests}
        return directed and tested and {each.run, each.against} <= {*runs} and each.run != each.against

    check_fit(
        {
            "runs": 0 < len(runs) == len({*runs}) and comparison.baseline in (None, *runs),
            "tests": 0 < len(tests) == len({*tests}),
            "metrics": 0 < len(metrics) == len(comparison.metrics)
            and all(len(metric.cutoffs) == 1 for metric in metrics.values()),
            "min_effect": {*comparison.min_effect} <= {*metrics},
            "means": tuple(comparison.means) == runs,
            "segment_means": len(segment_means) == len(of_segments)
            and all({*means} <= {*runs} for means in segment_means.values()),
            "metrics of means": all(
                list(of_run) == list(metrics)
                for means in (comparison.means, *segment_means.values())
                for of_run in means.values()
            ),
            "differences": len(pairs) == len(differences)
            and all(fits(each) and each.slice is each.segment is None for each in differences),
            "tiers": list(comparison.tiers) == ranked_metrics(comparison)
            and all(
                [run for tier in of_metric for run in tier] == in_order(comparison, name)
                for name, of_metric in comparison.tiers.items()
            ),
            "rank_intervals": {
                name: {run: each.rank for run, each in of_metric.items()}
                for name, of_metric in comparison.rank_intervals.items()
            }
            == {name: places(comparison, name) for name in comparison.tiers}
            and all(
                1 <= each.low <= each.rank <= each.high <= len(of_metric)
                for of_metric in comparison.rank_intervals.values()
                for each in of_metric.values()
            ),
            "segments": all(
                fits(each) and each.slice is not None and (each.metric, each.run, each.against) in pairs
                for each in comparison.segments
            ),
        }
    )
    return comparison


def leaderboard_of(content: dict[str, Any]) -> Leaderboard:
    """A leaderboard from its file; the ranks follow from the comparisons."""
    read = _BOARD(content)
    comparisons = {name: comparison_of(dict(each)) for name, each in read["comparisons"].items()}
    every = comparisons.values()
    check_fit(
        {
            "data sets": len(every) > 1,
            "runs": len({each.runs for each in every}) == 1,
            "metrics": len({each.metrics for each in every}) == 1,
        }
    )
    return Leaderboard(comparisons, read["atkay"])
