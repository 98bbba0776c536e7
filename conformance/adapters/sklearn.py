"""scikit-learn: one row of truth and scores at a time. The columns of a row are the items of the user's list; relevant
items that are not listed are unknown to it. A user without a list has no row; one without truth has a row of zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from entries import CUTOFFS, Data, Entry, grouped
from sklearn.metrics import (
    average_precision_score,
    dcg_score,
    label_ranking_average_precision_score,
    mean_absolute_error,
    mean_squared_error,
    ndcg_score,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)

INPUTS = {
    "rows": "{user: (relevance, score)}: of the items in recs.csv, one row each; 0 where truth has none",
    "binary": "the same with 1 where the relevance is above 0",
    "y_true, y_score": "all rows as one matrix, where all lists have the same length",
    "every": "all items of recs.csv: 1 where the relevance is above 0 and else 0, and their scores",
    "rated": "the pairs that are in both files: their relevance, and their scores",
}

RATINGS = (mean_squared_error, root_mean_squared_error, mean_absolute_error, r2_score)


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    rows = {
        user: (np.array([[data.grades.get(user, {}).get(item, 0) for item, _ in row]]), np.array([[s for _, s in row]]))
        for user, row in grouped(data.recs).items()
    }
    called = (average_precision_score, dcg_score, label_ranking_average_precision_score, ndcg_score, roc_auc_score)
    scope = {kind.__name__: kind for kind in (*called, *RATINGS)} | {"mean": np.mean, "rows": rows}
    graded = [(data.grades.get(user, {}).get(item), score) for user, item, score in data.recs]
    scope["every"] = [int((grade or 0) > 0) for grade, _ in graded], [score for _, score in graded]
    scope["rated"] = tuple(zip(*((grade, score) for grade, score in graded if grade is not None), strict=True))
    scope["binary"] = {user: ((given > 0).astype(int), scores) for user, (given, scores) in rows.items()}
    same = len({scores.shape for _, scores in rows.values()}) == 1
    if same:
        scope["y_true"] = np.concatenate([given for given, _ in rows.values()])
        scope["y_score"] = np.concatenate([scores for _, scores in rows.values()])
    return scope, entries(same)


def entries(same: bool) -> Iterator[Entry]:
    for name in ("dcg_score", "ndcg_score"):
        for options in ({}, {"ignore_ties": True}, *([{"log_base": 10}] if name == "dcg_score" else [])):
            for k in (None, *CUTOFFS):
                given = f"k={k}" + "".join(f", {key}={value}" for key, value in options.items())
                yield from both(name, given, k, options, "rows", same)
    yield from both("label_ranking_average_precision_score", "", None, {}, "binary", same)
    for name in ("average_precision_score", "roc_auc_score"):
        one = f"{name}(t[0], s[0])"
        each = f"{{u: {one} for u, (t, s) in binary.items()}}"
        yield Entry(name, f"mean([{one} for t, s in binary.values()])", None, {"rows": "one by one"}, each)
    yield Entry("roc_auc_score", "roc_auc_score(*every)", None, {"rows": "all together"})
    for kind in RATINGS:
        yield Entry(kind.__name__, f"{kind.__name__}(*rated)")


def both(name: str, given: str, k: int | None, options: dict[str, Any], rows: str, same: bool) -> Iterator[Entry]:
    """One call a user; and one for the whole matrix, where there is one."""
    one = f"{name}(t, s, {given})".replace(", )", ")")
    each = f"{{u: {one} for u, (t, s) in {rows}.items()}}"
    call = f"mean([{one} for t, s in {rows}.values()])"
    yield Entry(name, call, k, options | {"rows": "one by one"}, each)
    if same:
        binary = "y_true > 0" if rows == "binary" else "y_true"
        call = f"{name}({binary}, y_score, {given})".replace(", )", ")")
        yield Entry(name, call, k, options | {"rows": "matrix"})
