"""Gini coefficient: whether the lists show all items alike or always the same few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.coverage import times_listed
from atkay.metrics.metric import Definition, Floats, Ints, Judged, RunMetric, divide, word


@dataclass(frozen=True)
class Gini(RunMetric):
    """How unevenly the lists cover the catalogue: 0 if every item is shown equally often.

    ``sum (2j - n - 1) x_j / (n sum x)``, with x_j the number of lists that show item j, ordered from the rarest to the
    most frequent, over all n items of the catalogue: an item that is never listed counts with 0. It needs ``catalog``;
    a listed item that is not in the catalogue does not count.

    Conventions
    -----------
    divisor
        ``n`` is the formula above, whose highest value, all places for one item, is (n - 1) / n; ``n_less_1`` divides
        by n - 1 instead, so that this scores 1 (Shani and Gunawardana 2011; RankSys and Elliot, which print 1 less this
        value).

    Undefined if nothing of the catalogue is listed. Of a catalogue of one item, ``n_less_1`` has none.

    References
    ----------
    Fleder and Hosanagar, Blockbuster culture's next rise or fall, 2009. Shani and Gunawardana, Evaluating
    recommendation systems, 2011.

    Examples
    --------
    Two lists show tea, one shows jam, rye is never shown: x = 0, 1, 2, so (-2 x 0 + 0 x 1 + 2 x 2) / (3 x 3).

    >>> recs, truth = {"ann": ["tea", "jam"], "bob": ["tea"]}, {"ann": ["tea"], "bob": ["tea"]}
    >>> round(atkay.evaluate(recs, truth, "gini@2", catalog=["tea", "jam", "rye"])["gini@2"], 6)
    0.444444
    """

    name = "gini"
    aliases = ("gini_index", "gini_coefficient")
    needs = ("catalog",)

    divisor: Literal["n", "n_less_1"] = word(
        n="the number of items of the catalogue",
        n_less_1="one less, so that all places for one item score 1",
    )

    def state(self, judged: Judged) -> Ints:
        """In how many lists each item stands."""
        return times_listed(judged, self.cutoffs)

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """The Gini coefficient of the counts; integer sums, so nothing is rounded before the division."""
        counts = np.sort(state[:, judged.catalog], axis=1)
        n = counts.shape[1]
        spread = counts @ (2 * np.arange(1, n + 1) - n - 1)
        denominator = counts.sum(axis=1) * (n if self.divisor == "n" else n - 1)
        return divide(spread, denominator, np.nan)

    def define(self) -> Definition:
        n = {"n": "n", "n_less_1": "(n - 1)"}[self.divisor]
        return Definition(
            f"Gini coefficient of how many users are shown each of the n items of the catalogue in {self.top}; "
            f"0 if all are shown to the same number of users",
            f"Σ (2j - n - 1) x_j / ({n} Σ x)",
        )
