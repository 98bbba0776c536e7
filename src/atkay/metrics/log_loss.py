"""Log loss: how far predicted probabilities are from what came of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.metric import Definition, Floats, Judged, word
from atkay.metrics.predictions import Predictions, RowMean, predictions, probabilities, rows_field

SMALLEST = float(np.finfo(float).eps)
"""Probabilities are taken as that far from 0 and 1, as scikit-learn does: one that is wrong would cost infinitely."""


@dataclass(frozen=True)
class LogLoss(RowMean):
    """How surprising the outcomes are for a model that predicts the probability of a click.

    The mean of ``-ln p`` over relevant rows and ``-ln(1 - p)`` over the others, with p the score. 0 is certain and
    right; 0.693 is what p = 1/2 costs.

    Conventions
    -----------
    of
        ``probabilities`` takes scores as they are, at least 2.2e-16 away from 0 and 1 (scikit-learn), and refuses
        those below 0 or above 1; ``logits`` takes scores as log-odds, p = 1 / (1 + e^-score).
    rows
        ``judged`` counts the listed items that the truth has, with grades of 0 for those that were shown in vain;
        ``listed`` counts all listed items, those that the truth does not have as not relevant: the lists are what was
        shown, the truth is the clicks.
    average
        ``pooled`` counts each row equally (scikit-learn, RecBole); ``users`` is the mean of the users' values.

    A user without a row has no value. One with nothing relevant counts under ``no_truth=zero``, and is left out by
    default.

    References
    ----------
    Good, Rational decisions, 1952.

    Examples
    --------
    A click that had p = 1/2, and none where p was 3/4: (ln 2 + ln 4) / 2.

    >>> recs, truth = {"ann": {"a": 0.5, "b": 0.75}}, {"ann": {"a": 1, "b": 0}}
    >>> round(atkay.evaluate(recs, truth, "log_loss")["log_loss"], 4)
    1.0397
    """

    name = "log_loss"
    aliases = ("logloss", "logistic_loss", "cross_entropy", "bce")

    of: Literal["probabilities", "logits"] = word(
        probabilities="the score is the probability", logits="the score is the log-odds"
    )
    rows: Literal["judged", "listed"] = rows_field()

    def losses(self, judged: Judged) -> tuple[Predictions, Floats]:
        rows = predictions(judged, self, self.rows)
        if self.of == "logits":
            return rows, np.logaddexp(0, np.where(rows.relevant, -rows.score, rows.score))
        p = np.clip(probabilities(rows.score, self), SMALLEST, 1 - SMALLEST)
        return rows, np.where(rows.relevant, -np.log(p), -np.log1p(-p))

    def define(self) -> Definition:
        p = {"probabilities": "the score", "logits": "1 / (1 + e^-score)"}[self.of]
        return Definition(
            f"-ln p of relevant items and -ln(1 - p) of others, p being {p}, averaged over predictions",
            "mean -ln p(outcome)",
        )
