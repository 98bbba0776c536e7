"""Cornac. Its evaluation ranks every item that it knows, so the model gives listed items their scores, and the others
different scores below all of them, in the order of their ids. An item that stands twice keeps its last score. A user
without a list has all items in the order of their ids; a user without truth is not evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from cornac import metrics
from cornac.data import Dataset
from cornac.eval_methods.base_method import ranking_eval, rating_eval
from cornac.models import Recommender
from entries import CUTOFFS, Data, Entry

CUT = ("Precision", "Recall", "FMeasure", "HitRatio", "NDCG", "NCRR")
WHOLE = ("MAP", "MRR", "AUC")
RATINGS = ("RMSE", "MAE", "MSE")
INPUTS = {
    "given": "a model that gives listed items their scores, and others lower ones by id",
    "train": "all users and items, with rating 0, so that nothing counts as seen",
    "test": "the rows of truth.csv, with relevance as rating; what is 1 or more counts as relevant",
    "lists": "{user: item numbers by descending score, equal scores in file order}",
    "wanted": "{user: numbers of the items with a relevance above 0}, of users who have a list",
    "named": "puts users' names for their numbers",
}


class Given(Recommender):  # type: ignore[misc]  # the library has no types
    """Answers with the scores that it was given."""

    def __init__(self, scores: np.ndarray) -> None:
        super().__init__(name="Given")
        self.scores = scores

    def score(self, user_idx: int, item_idx: int | None = None) -> Any:
        return self.scores[user_idx] if item_idx is None else self.scores[user_idx, item_idx]

    def rate(self, user_idx: int, item_idx: int, clipping: bool = True) -> Any:
        return self.scores[user_idx, item_idx]


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    # Numbers are given out in the order of appearance, which is that of the ids.
    train = Dataset.build([(user, item, 0.0) for user in data.users for item in data.items])
    test = Dataset.build(
        [(user, item, float(grade)) for user, item, grade in data.truth],
        global_uid_map=train.uid_map.copy(),
        global_iid_map=train.iid_map.copy(),
    )
    floor = min(score for _, _, score in data.recs)
    scores = np.tile(floor - 1.0 - np.arange(len(data.items)), (len(data.users), 1))
    for user, item, score in data.coded(data.recs):
        scores[user, item] = score
    given = Given(scores).fit(train)
    scope: dict[str, Any] = {name: getattr(metrics, name) for name in (*CUT, *WHOLE, *RATINGS)}
    scope |= {
        "ranking_eval": ranking_eval,
        "rating_eval": rating_eval,
        "given": given,
        "train": train,
        "test": test,
        "named": data.named,
    }
    numbers = data.items
    lists = {user: np.array([numbers[item] for item in items]) for user, items in data.lists.items()}
    wanted = {user: [numbers[item] for item, grade in row.items() if grade > 0] for user, row in data.grades.items()}
    scope |= {"lists": lists, "mean": np.mean}
    scope |= {"wanted": {user: np.array(row) for user, row in wanted.items() if row and user in lists}}
    return scope, entries()


def entries() -> Iterator[Entry]:
    for name, k in [(name, k) for name in CUT for k in (None, *CUTOFFS)] + [(name, None) for name in WHOLE]:
        metric = f"{name}(k={k})" if k else f"{name}()"
        done = f"ranking_eval(given, [{metric}], train, test)"
        yield Entry(name, f"{done}[0][0]", k, {"ranks": "every item"}, f"named({done}[1][0])")
        if name in CUT or name == "MRR":
            one = f"{metric}.compute(gt_pos=row, pd_rank=lists[user])"
            each = f"{{user: {one} for user, row in wanted.items()}}"
            yield Entry(name, f"mean([{one} for user, row in wanted.items()])", k, {"ranks": "listed items"}, each)
    for name in RATINGS:
        yield Entry(name, f"rating_eval(given, [{name}()], test)[0][0]", None, {"ranks": "every item"})
