"""Root mean squared error of all predictions together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from atkay.core.moments import quotient
from atkay.core.reference import EXACT_POWER
from atkay.metrics.metric import Definition, Floats, Ints, Judged
from atkay.metrics.predictions import OfRows, exact, read_exact


@dataclass(frozen=True)
class RMSE(OfRows):
    """How far predicted ratings are from those given, in their units, large errors counting most.

    The root of the mean of ``(score - grade)²`` over the listed items that the truth has, of all users together: what
    scikit-learn, Surprise, Cornac and RecBole print. :class:`UserRMSE` takes the root user by user. Items without a
    prediction, or without a grade, do not count. Undefined without a row.

    References
    ----------
    Herlocker et al., Evaluating collaborative filtering recommender systems, 2004.

    Examples
    --------
    Errors of 1 and -2 for ann, and of 2 for bob: the root of (1 + 4 + 4) / 3.

    >>> recs, truth = {"ann": {"a": 5, "b": 2}, "bob": {"a": 5}}, {"ann": {"a": 4, "b": 4}, "bob": {"a": 3}}
    >>> round(atkay.evaluate(recs, truth, "rmse")["rmse"], 4)
    1.7321
    """

    name = "rmse"
    aliases = ("root_mean_squared_error",)

    def state(self, judged: Judged) -> Ints:
        """The exact sum of the squared errors, and how many there are."""
        error = self.predictions(judged).error
        return np.insert(exact((error, error)), 0, len(error), axis=1)

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """The root of the mean."""
        [total] = read_exact(state[:, 1:])
        return np.array([math.sqrt(quotient(total, int(state[0, 0]) << EXACT_POWER))])

    def define(self) -> Definition:
        return Definition("root of the mean squared difference of score and grade", "√ mean (s - g)²")
