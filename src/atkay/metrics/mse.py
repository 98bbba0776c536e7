"""Mean squared error: how far predicted ratings are from those given."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.metrics.metric import Definition, Floats, Judged
from atkay.metrics.predictions import Predictions, RowMean, predictions


@dataclass(frozen=True)
class MSE(RowMean):
    """How far predicted ratings are from those given, large errors counting most.

    The mean of ``(score - grade)²`` over the listed items that the truth has. Of probabilities and grades of 0 and 1
    it is the Brier score. Items without a prediction, or without a grade, do not count.

    Conventions
    -----------
    average
        ``pooled`` counts each rating equally (scikit-learn, Surprise, Cornac); ``users`` is the mean of the users'
        values (Cornac with ``user_based=True``).

    A user without a row has no value.

    References
    ----------
    Brier, Verification of forecasts expressed in terms of probability, 1950.

    Examples
    --------
    Errors of 1 and -2 for ann, 0 for bob: (1 + 4 + 0) / 3, and the mean of 5/2 and 0.

    >>> recs, truth = {"ann": {"a": 5, "b": 2}, "bob": {"a": 3}}, {"ann": {"a": 4, "b": 4}, "bob": {"a": 3}}
    >>> result = atkay.evaluate(recs, truth, ["mse", "mse(average=users)"])
    >>> round(result["mse"], 4), result["mse(average=users)"]
    (1.6667, 1.25)
    """

    name = "mse"
    aliases = ("mean_squared_error", "brier", "brier_score")

    def losses(self, judged: Judged) -> tuple[Predictions, Floats]:
        rows = predictions(judged, self)
        return rows, rows.error**2

    def define(self) -> Definition:
        return Definition("squared difference of score and grade, averaged over predictions", "mean (s - g)²")
