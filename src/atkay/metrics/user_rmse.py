"""Root mean squared error, user by user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.metrics.metric import Definition, Floats, Judged, Metric
from atkay.metrics.mse import MSE


@dataclass(frozen=True)
class UserRMSE(Metric):
    """How far predicted ratings are from those given for a user, in their units, large errors counting most.

    The root of the mean of ``(score - grade)²`` over the user's listed items that the truth has. Its mean over users
    (LensKit's for lists, Cornac with ``user_based=True``) counts each user equally, and :class:`RMSE`, the root of the
    mean over all ratings, counts each rating. A user without a row has no value.

    References
    ----------
    Herlocker et al., Evaluating collaborative filtering recommender systems, 2004.

    Examples
    --------
    Errors of 1 and -1 for ann, and of 2 for bob: the mean of 1 and 2.

    >>> recs, truth = {"ann": {"a": 5, "b": 2}, "bob": {"a": 5}}, {"ann": {"a": 4, "b": 3}, "bob": {"a": 3}}
    >>> atkay.evaluate(recs, truth, "user_rmse")["user_rmse"]
    1.5
    """

    name = "user_rmse"
    aliases = ("rmse_per_user",)
    needs_truth = False
    reads_scores = True
    averages = True
    cuts = False
    bounded = False
    better = "lower"

    def values(self, judged: Judged) -> Floats:
        return np.sqrt(MSE().values(judged))

    def define(self) -> Definition:
        return Definition("root of the mean squared difference of score and grade of a user", "√ mean (s - g)²")
