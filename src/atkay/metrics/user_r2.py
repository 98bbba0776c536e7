"""R², user by user: the share of the variance of a user's ratings that the predictions explain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.kernels import sums
from atkay.metrics.metric import WHOLE, Definition, Floats, Judged, Metric, divide
from atkay.metrics.predictions import constant_field, predictions


@dataclass(frozen=True)
class UserR2(Metric):
    """How much of the spread of a user's ratings the predictions explain.

    ``1 - Σ (score - grade)² / Σ (grade - mean)²`` over the user's listed items that the truth has, with the mean of the
    user's own grades: 0 is as good as predicting that mean. See :class:`R2` for all ratings together.

    Conventions
    -----------
    constant
        Where all grades are the same there is no spread: ``skip`` gives no value; ``zero`` gives 0, or 1 where all
        predictions are right, and no value for a single row (scikit-learn).

    References
    ----------
    Draper and Smith, Applied regression analysis, 1998.

    Examples
    --------
    Ann's grades 5 and 3 have a spread of 1 + 1 and an error of 1: 1 - 1/2. Bob has one grade only.

    >>> recs, truth = {"ann": {"a": 4, "b": 3}, "bob": {"a": 2}}, {"ann": {"a": 5, "b": 3}, "bob": {"a": 1}}
    >>> atkay.evaluate(recs, truth, "user_r2")["user_r2"]
    0.5
    """

    name = "user_r2"
    aliases = ("r2_per_user",)
    needs_truth = False
    reads_scores = True
    averages = True
    cuts = False
    least = -np.inf

    constant: Literal["skip", "zero"] = constant_field()

    def values(self, judged: Judged) -> Floats:
        rows, n = predictions(judged, self), judged.n_queries

        def total(weights: Floats | None) -> Floats:
            return sums(rows.query, rows.rank, weights, (WHOLE,), n)

        mean = divide(total(rows.grade), total(None), np.nan)
        least, most = np.full(n, np.inf), np.full(n, -np.inf)
        np.minimum.at(least, rows.query, rows.grade)
        np.maximum.at(most, rows.query, rows.grade)
        # A mean of equal grades may be rounded, and the spread then be next to 0.
        spread = np.where((least < most)[:, None], total((rows.grade - mean[rows.query, 0]) ** 2), 0.0)
        errors = total(rows.error**2)
        value = 1 - divide(errors, spread, np.nan)
        flat = (spread == 0) & (total(None) > 1) & (self.constant == "zero")
        return np.where(flat, errors == 0, value)

    def define(self) -> Definition:
        return Definition(
            "1 - squared differences of score and grade over those of the user's grades and their mean",
            "1 - Σ (s - g)² / Σ (g - mean g)²",
        )
