"""Mean percentile rank: where the relevant items stand, in shares of the list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.judged import ties as expected
from atkay.metrics.auc import unlisted_field
from atkay.metrics.gains import check_weights
from atkay.metrics.metric import Definition, Floats, Judged, Ratio, divide, word


@dataclass(frozen=True)
class MPR(Ratio):
    """How far down the list the relevant items stand on average, as a share of the list.

    ``Σ g (rank - 1) / (L - 1) / Σ g`` over the relevant items: 0 where they stand at the top, 1 at the bottom, 1/2
    expected from a random order. The list must hold all candidates, without a cutoff.

    Conventions
    -----------
    gain
        What a relevant item weighs, g: ``linear`` its grade, such as how long a programme was watched (Hu, Koren and
        Volinsky); ``binary`` 1.
    unlisted
        ``last`` puts relevant items that are not listed at the bottom, 1; ``skip`` leaves them out.
    average
        ``pooled`` sums over all users' items before dividing, as the paper does; ``users`` is the mean of the users'
        own values.

    A list of one item has it at the top, 0. Under ``unlisted=skip`` a user without a hit has no value. Lower is better.

    References
    ----------
    Hu, Koren and Volinsky, Collaborative filtering for implicit feedback datasets, 2008.

    Examples
    --------
    Of five places the hits have the first and the fourth, with weights 1 and 2: (1 * 0 + 2 * 3/4) / 3.

    >>> result = atkay.evaluate({"ann": ["a", "x", "y", "b", "z"]}, {"ann": {"a": 1, "b": 2}}, "mpr")
    >>> result["mpr"]
    0.5
    """

    name = "mpr"
    aliases = ("mean_percentile_rank", "mean_percentile_ranking")
    cuts = False
    better = "lower"
    partial = True
    monotone = True
    averages = True

    gain: Literal["linear", "binary"] = word(linear="the grade", binary="1")
    unlisted: Literal["last", "skip"] = unlisted_field()
    average: Literal["pooled", "users"] = word(
        pooled="the sum of the users' numerators over the sum of their denominators",
        users="the mean of the users' values",
    )

    def values(self, judged: Judged) -> Floats:
        return divide(*self.ratio(judged), np.nan)

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The weighted percentiles, and the weights."""
        binary = self.gain == "binary"
        weight = np.ones(len(judged.rank)) if binary else judged.grade
        if not binary:
            check_weights(judged.grades)
        share = (expected.rank(judged) - 1) / np.maximum(judged.n_listed - 1, 1)[judged.query]
        numerator, denominator = (expected.of_list(judged, each) for each in (weight * share, weight))
        if self.unlisted == "skip":
            return numerator, denominator
        query = np.repeat(np.arange(judged.n_queries), judged.n_relevant)
        of_all = np.bincount(query, None if binary else judged.grades, minlength=judged.n_queries)[:, None]
        # The weights of all items and of the hits are rounded sums, so their difference may be a digit off.
        return np.clip(numerator + (of_all - denominator), 0, of_all), of_all.astype(float)

    def define(self) -> Definition:
        gain, weighed = ("", "") if self.gain == "binary" else ("grade · ", ", weighed by grade")
        left_out = {"last": "1 for items that are not listed", "skip": "over listed items only"}[self.unlisted]
        return Definition(
            f"mean of (rank - 1) / (L - 1) over the relevant items, L being the list's length{weighed}, {left_out}",
            f"Σ {gain}(rank - 1) / (L - 1) / {'Σ grade' if gain else 'R' if self.unlisted == 'last' else 'h'}",
        )
