"""Row AUC: how often a relevant row of any user scores above an irrelevant one of any user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.metric import Definition, Floats, Ints, Judged
from atkay.metrics.predictions import OfRows, Predictions, predictions, rows_field

HALF = np.uint64(32)
"""A double is kept as two numbers of 32 bits."""
SIGN = np.uint64(1 << 63)


@dataclass(frozen=True)
class RowAUC(OfRows):
    """How often a relevant row has a higher score than an irrelevant one, rows of different users compared, too.

    The area under the ROC curve of all rows: pairs of a relevant and an irrelevant row in the right order of scores,
    equal ones counting half, divided by all such pairs. It is what click prediction calls AUC (scikit-learn, RecBole,
    Recommenders), and rewards knowing which users click much; :class:`AUC` and :class:`GroupAUC` compare rows of one
    user only.

    Conventions
    -----------
    rows
        ``judged`` counts the listed items that the truth has, with grades of 0 for those that were shown in vain;
        ``listed`` counts all listed items, those that the truth does not have as not relevant: the lists are what was
        shown, the truth is the clicks.

    Undefined without a relevant row, or without an irrelevant one. A user with nothing relevant counts under
    ``no_truth=zero``, and is left out by default. The scores of all rows are kept until the end, 32 bytes for each
    different one.

    References
    ----------
    Fawcett, An introduction to ROC analysis, 2006.

    Examples
    --------
    Of four pairs, ann's click at 0.4 is below bob's 0.6, which he did not click: 3/4. Within each user all is right.

    >>> recs = {"ann": {"a": 0.4, "b": 0.1}, "bob": {"a": 0.9, "b": 0.6}}
    >>> truth = {"ann": {"a": 1, "b": 0}, "bob": {"a": 1, "b": 0}}
    >>> result = atkay.evaluate(recs, truth, ["row_auc", "auc"])
    >>> result["row_auc"], result["auc"]
    (0.75, 1.0)
    """

    name = "row_auc"
    aliases = ("global_auc", "pooled_auc", "auc_of_rows")
    better = "higher"
    bounded = True
    grows = True

    rows: Literal["judged", "listed"] = rows_field()

    def predictions(self, judged: Judged) -> Predictions:
        return predictions(judged, self, self.rows)

    def state(self, judged: Judged) -> Ints:
        """A row for each different score, the lowest first: both halves of its bits, and its rows by relevance."""
        rows = self.predictions(judged)
        bits = (rows.score + 0.0).view(np.uint64)  # -0.0 is 0.0
        relevant = rows.relevant.astype(np.int64)
        return _state(np.where(bits >= SIGN, ~bits, bits | SIGN), relevant, 1 - relevant)

    def join(self, one: Ints, other: Ints) -> Ints:
        """The rows of both; those of one score are one."""
        high, low, relevant, irrelevant = np.concatenate((one, other)).T
        return _state(high.astype(np.uint64) << HALF | low.astype(np.uint64), relevant, irrelevant)

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """The pairs in the right order; those of one score count half."""
        relevant, irrelevant = state[:, 2], state[:, 3]
        twice_right = int((relevant * (2 * np.cumsum(irrelevant) - irrelevant)).sum())
        pairs = int(relevant.sum()) * int(irrelevant.sum())
        return np.array([twice_right / (2 * pairs) if pairs else np.nan])

    def define(self) -> Definition:
        return Definition(
            "pairs of a relevant and an irrelevant row of any users with scores in the right order, equal ones "
            "counting half, divided by all such pairs",
            "(Σ [s+ > s-] + [s+ = s-] / 2) / (N+ N-)",
        )


def _state(score: np.ndarray[tuple[int], np.dtype[np.uint64]], *counts: Ints) -> Ints:
    every, place = np.unique(score, return_inverse=True)
    columns = [np.bincount(place, weights, len(every)).astype(np.int64) for weights in counts]
    halves = every >> HALF, every & np.uint64(0xFFFFFFFF)
    return np.stack([*(half.astype(np.int64) for half in halves), *columns], axis=1)
