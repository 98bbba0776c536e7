"""R²: the share of the variance of all ratings that the predictions explain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.moments import quotient
from atkay.core.reference import EXACT_POWER
from atkay.metrics.metric import Definition, Floats, Ints, Judged
from atkay.metrics.predictions import OfRows, constant_field, exact, read_exact


@dataclass(frozen=True)
class R2(OfRows):
    """How much of the spread of the ratings the predictions explain.

    ``1 - Σ (score - grade)² / Σ (grade - mean)²`` over the listed items that the truth has, of all users together, with
    the mean of their grades (scikit-learn, Recommenders). 1 is perfect, 0 as good as predicting the mean for everybody,
    below 0 worse. :class:`UserR2` compares with each user's own mean.

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
    Grades 4, 4 and 1 have the mean 3 and a spread of 1 + 1 + 4; the errors are 1, 0 and 1: 1 - 2/6.

    >>> recs, truth = {"ann": {"a": 5, "b": 4}, "bob": {"a": 2}}, {"ann": {"a": 4, "b": 4}, "bob": {"a": 1}}
    >>> round(atkay.evaluate(recs, truth, "r2")["r2"], 4)
    0.6667
    """

    name = "r2"
    aliases = ("r_squared", "rsquared", "r2_score", "coefficient_of_determination")
    better = "higher"
    bounded = True
    least = -np.inf

    constant: Literal["skip", "zero"] = constant_field()

    def state(self, judged: Judged) -> Ints:
        """Exact sums: squared errors, squared grades, grades above 0 and below; and how many rows there are."""
        rows = self.predictions(judged)
        error, grade, one = rows.error, rows.grade, np.ones(len(rows.grade))
        above, below = np.maximum(grade, 0), np.maximum(-grade, 0)
        return np.insert(exact((error, error), (grade, grade), (above, one), (below, one)), 0, len(one), axis=1)

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """What the squared errors leave of the spread."""
        errors, squares, above, below = read_exact(state[:, 1:])
        n = int(state[0, 0]) << EXACT_POWER
        spread = squares * n - (above - below) ** 2
        if not spread and self.constant == "zero" and state[0, 0] > 1:
            return np.array([float(not errors)])
        return np.array([quotient(spread - errors * n, spread)])

    def define(self) -> Definition:
        return Definition(
            "1 - squared differences of score and grade over those of the grades and their mean",
            "1 - Σ (s - g)² / Σ (g - mean g)²",
        )
