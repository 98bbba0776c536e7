"""Recommenders (Microsoft), its pandas functions. Every row of the truth is relevant; nDCG may read the relevance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from entries import CUTOFFS, Data, Entry
from recommenders.evaluation import python_evaluation as evaluation

INPUTS = {
    "true": "table of userID, itemID, rating: the rows of truth.csv that the option 'truth' names",
    "rated": "all rows of truth.csv, in the same form",
    "clicked": "the same with a rating of 1 where the relevance is above 0, and else 0",
    "pred": "table of userID, itemID, prediction from recs.csv",
}
CALLS: tuple[tuple[str, dict[str, str]], ...] = (
    *((name, {}) for name in ("precision_at_k", "recall_at_k", "r_precision_at_k", "map", "map_at_k")),
    *(
        ("ndcg_at_k", {"score_type": gain, "discfun_type": discount})
        for gain in ("binary", "raw", "exp")
        for discount in ("loge", "log2")
    ),
)
RATINGS = ("rmse", "mae", "rsquared")


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    names = (*(name for name, _ in CALLS), "auc", *RATINGS)
    pred = pd.DataFrame(data.recs, columns=["userID", "itemID", "prediction"])
    return {name: getattr(evaluation, name) for name in names} | {"pred": pred}, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    columns = ["userID", "itemID", "rating"]
    rated = pd.DataFrame(data.truth, columns=columns)
    clicked = pd.DataFrame([(user, item, int(grade > 0)) for user, item, grade in data.truth], columns=columns)
    for name in RATINGS:
        yield Entry(name, f"{name}(rated, pred)", scope={"rated": rated})
    yield Entry("auc", "auc(clicked, pred)", scope={"clicked": clicked})
    for rows, which in data.interactions():
        scope = {"true": pd.DataFrame(rows, columns=["userID", "itemID", "rating"])}
        for name, options in CALLS:
            given = "".join(f", {key}='{value}'" for key, value in options.items())
            for k in CUTOFFS:
                yield Entry(name, f"{name}(true, pred, k={k}{given})", k, options | which, scope=scope)
        # Its area under the curve is taken over the pairs that are in both tables, of all users together.
        yield Entry("auc", "auc(true, pred)", None, which, scope=scope)
