"""Elliot: its metric classes on plain Python lists. It is not on PyPI, so the variable ELLIOT names the folder of a
checkout; of that only the files of the metrics are read, since its packages import all of its models.

A list has the items of a user in file order; its threshold of relevance is asked for at 0, the default, and above.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from entries import CUTOFFS, Data, Entry, grouped

INPUTS = {
    "recommendations": "{user: [(item, score)]} for the users that have rows in truth.csv, best first",
    "every_item": "the same with all items for each user: those not listed come below all others, by id",
    "objects": "lambda cutoff, threshold: its evaluation objects: truth.csv as {user: {item: relevance}}, no training "
    "data, and as many items as both files have",
    "config": "a configuration without log",
    "user": "lambda metric: {user: value}",
}
FILES = {
    "Precision": "precision.precision",
    "Recall": "recall.recall",
    "HR": "hit_rate.hit_rate",
    "MAP": "map.map",
    "MAR": "mar.mar",
    "MRR": "mrr.mrr",
    "nDCG": "ndcg.ndcg",
    "nDCGRendle2020": "ndcg.ndcg_rendle2020",
    "F1": "f1.f1",
    "LAUC": "AUC.lauc",
    "GAUC": "AUC.gauc",
    "AUC": "AUC.auc",
    "ExtendedF1": "f1.extended_f1",
    "DSC": "DSC.dsc",
}
COMPLEX = {
    "ExtendedF1": ({"metric_0": "Precision", "metric_1": "Recall"}, {"metric_0": "MAP", "metric_1": "MAR"}),
    "DSC": ({}, {"beta": 2}),
}
"""Metrics of two others, and their options."""
FULL = ("AUC", "GAUC")
"""What takes all items."""


def classes() -> dict[str, Any]:
    """Its metrics, loaded without what its packages import besides."""
    folder = Path(os.environ["ELLIOT"])
    for name in ("elliot", "elliot.utils", "elliot.evaluation", "elliot.evaluation.metrics"):
        package = ModuleType(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")))]
        sys.modules[name] = package
    log = ModuleType("elliot.utils.logging")
    # a module made here has what it is given
    log.get_logger = lambda name, *level: logging.getLogger(name)  # type: ignore[attr-defined]
    sys.modules[log.__name__] = sys.modules["elliot.utils"].logging = log  # type: ignore[attr-defined]
    files = {name: import_module(f"elliot.evaluation.metrics.accuracy.{file}") for name, file in FILES.items()}
    found = {name: getattr(file, name) for name, file in files.items()}
    vars(sys.modules["elliot.evaluation.metrics"]).update(found, parse_metric=found.__getitem__)
    return found


METRICS = classes()


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    from elliot.evaluation.relevance.relevance import Relevance

    rows = {user: row for user, row in grouped(data.ranked).items() if data.grades.get(user)}
    lowest = min(score for _, _, score in data.recs)
    every = {
        user: row + [(item, lowest - 1) for item in data.items if item not in dict(row)] for user, row in rows.items()
    }

    def objects(cutoff: int, threshold: int) -> SimpleNamespace:
        nothing = SimpleNamespace(train_dict=dict.fromkeys(rows, ()))
        relevance = Relevance(data.grades, threshold)
        return SimpleNamespace(cutoff=cutoff, relevance=relevance, num_items=len(data.items), data=nothing)

    scope = {"recommendations": rows, "every_item": every, "objects": objects, **METRICS}
    scope |= {"config": SimpleNamespace(config_test=True)}
    scope |= {"user": lambda metric: metric.eval_user_metric()}
    return scope, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    grades = {grade for _, _, grade in data.truth}
    thresholds = (0, *(level for level in (1, 2) if min(grades) < level <= max(grades)))
    for name in FILES:
        for threshold in thresholds:
            for chosen in COMPLEX.get(name, ({},)):
                for k in (None,) if name in FULL else CUTOFFS:
                    lists = "every_item" if name in FULL else "recommendations"
                    given = f"{lists}, config, None, objects({k or len(data.items)}, {threshold})"
                    made = f"{name}({given}, {chosen})" if name in COMPLEX else f"{name}({given})"
                    made += ".get()[0]" if name in COMPLEX else ""
                    options = {**({"threshold": threshold} if threshold else {}), **chosen}
                    yield Entry(name, f"{made}.eval()", k, options, "" if name == "AUC" else f"user({made})")
