"""Mean absolute error: how far predicted ratings are from those given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.metrics.metric import Definition, Floats, Judged
from atkay.metrics.predictions import Predictions, RowMean, predictions


@dataclass(frozen=True)
class MAE(RowMean):
    """How far predicted ratings are from those given, in the units of the ratings.

    The mean of ``|score - grade|`` over the listed items that the truth has. Items without a prediction, or without a
    grade, do not count.

    Conventions
    -----------
    average
        ``pooled`` counts each rating equally (scikit-learn, Surprise, Cornac, RecBole); ``users`` is the mean of the
        users' values (LensKit's for lists, Cornac with ``user_based=True``).

    A user without a row has no value.

    References
    ----------
    Herlocker et al., Evaluating collaborative filtering recommender systems, 2004.

    Examples
    --------
    Errors of 1 and -2 for ann, 0 for bob: (1 + 2 + 0) / 3, and the mean of 3/2 and 0.

    >>> recs, truth = {"ann": {"a": 5, "b": 2}, "bob": {"a": 3}}, {"ann": {"a": 4, "b": 4}, "bob": {"a": 3}}
    >>> result = atkay.evaluate(recs, truth, ["mae", "mae(average=users)"])
    >>> result["mae"], result["mae(average=users)"]
    (1.0, 0.75)
    """

    name = "mae"
    aliases = ("mean_absolute_error",)

    def losses(self, judged: Judged) -> tuple[Predictions, Floats]:
        rows = predictions(judged, self)
        return rows, np.abs(rows.error)

    def define(self) -> Definition:
        return Definition("absolute difference of score and grade, averaged over predictions", "mean |s - g|")
