"""Evidently: its metrics of rankings, on frames of the listed items, with the rank as prediction. Relevant items that
are not listed are unknown to it, a user without a list has none, and one without truth has targets of zero.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import pandas as pd
from entries import CUTOFFS, Data, Entry, grouped
from evidently.legacy import metrics
from evidently.legacy.pipeline.column_mapping import ColumnMapping
from evidently.legacy.report import Report

INPUTS = {
    "'frame'": "frame of user_id, item_id, target, prediction: recs.csv, users in order of appearance, by descending "
    "score, equal scores in file order; target is the relevance, 0 where truth has none; prediction is the rank",
    "'scored'": "the same with the score as prediction",
    "reported": "lambda frame, kind, k, **options: {name: what the result of the metric has for k}, from a Report of "
    "all metrics with this k, these options and ColumnMapping(recommendations_type=kind)",
}
KINDS = (
    *("PrecisionTopKMetric", "RecallTopKMetric", "FBetaTopKMetric", "MAPKMetric", "MARKMetric", "NDCGKMetric"),
    *("MRRKMetric", "HitRateKMetric"),
)


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    given = {"frame": frame(data), "scored": frame(data, scored=True)}
    once = functools.cache(lambda name, kind, k, **options: reported(given[name], kind, k, options))
    return {"reported": once}, entries(data)


def frame(data: Data, *, scored: bool = False) -> pd.DataFrame:
    rows = [
        (user, item, data.grades.get(user, {}).get(item, 0), score if scored else rank)
        for user, row in grouped(data.ranked).items()
        for rank, (item, score) in enumerate(row, 1)
    ]
    return pd.DataFrame(rows, columns=["user_id", "item_id", "target", "prediction"])


def reported(given: pd.DataFrame, kind: str, k: int, options: dict[str, Any]) -> dict[str, float]:
    asked = [getattr(metrics, name)(k, **options) for name in KINDS]
    report = Report(asked)
    report.run(reference_data=None, current_data=given, column_mapping=ColumnMapping(recommendations_type=kind))
    return {type(each).__name__: of_cutoff(each) for each in asked}


def of_cutoff(metric: Any) -> float:
    """The number that its page shows; some count from 0 and some from 1."""
    series = metric.get_result().current
    place = metric.k - 1 if min(series.index) == 0 else metric.k
    return float(series.get(place, math.nan))


def entries(data: Data) -> Iterator[Entry]:
    graded = any(grade > 1 for _, _, grade in data.truth)
    tied = any(len(row) > len({score for _, score in row}) for row in grouped(data.recs).values())
    choices: list[tuple[str, str, dict[str, Any]]] = [
        ("frame", "rank", {}),
        ("frame", "rank", {"no_feedback_users": True}),
        *([("frame", "rank", {"min_rel_score": 2})] if graded else []),
        *([("scored", "score", {})] if tied else []),
    ]
    for given, kind, options in choices:
        chosen = "".join(f", {key}={value!r}" for key, value in options.items())
        for name in KINDS:
            for k in CUTOFFS:
                call = f"reported('{given}', '{kind}', {k}{chosen})['{name}']"
                yield Entry(name, call, k, options | ({"recommendations_type": kind} if kind == "score" else {}))
