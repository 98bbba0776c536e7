"""Effective sample size: how many relevant items the inverse propensities are worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.core.moments import total
from atkay.core.reference import EXACT_POWER
from atkay.metrics.metric import Definition, Floats, Ints, Judged, RunMetric
from atkay.metrics.propensities import WithPropensity


@dataclass(frozen=True)
class EffectiveSampleSize(WithPropensity, RunMetric):
    """How many equally weighted relevant items would estimate as precisely as those here with their weights.

    ``(Σ w)² / Σ w²`` over the relevant items of all users, with w = 1/p (Kish). Far fewer than there are relevant items
    means that a few rare ones decide metrics such as :class:`IPSRecall`, whose results print it: choose a higher
    ``clip`` or a lower ``power``.

    Conventions
    -----------
    propensity, power, clip
        As in :class:`IPSRecall`. Items without a propensity do not count.

    Undefined without a relevant item that has a propensity.

    References
    ----------
    Kish, Survey sampling, 1965.

    Examples
    --------
    Of four users all had tea, one had jam: p is 1 and 1/4, w is 1 and 4. (1 + 4)² / (1 + 16).

    >>> train = {"ann": ["tea"], "bob": ["tea", "jam"], "cat": ["tea"], "dan": ["tea"]}
    >>> recs, truth = {"ann": ["tea", "jam"]}, {"ann": ["tea", "jam"]}
    >>> round(atkay.evaluate(recs, truth, "ess", train=train)["ess"], 4)
    1.4706
    """

    name = "effective_sample_size"
    aliases = ("ess", "kish")
    cuts = False
    bounded = False

    def state(self, judged: Judged) -> Ints:
        """How many users find each item relevant."""
        relevant = judged.relevant
        return np.bincount(relevant.item, minlength=relevant.n_items)[None]

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """Kish's size."""
        weights = self.weights(judged)
        above, below = (total(state[0] * each) / (1 << EXACT_POWER) for each in (weights, weights**2))
        return np.array([above**2 / below if below else np.nan])

    def define(self) -> Definition:
        return Definition(f"(Σ w)² / Σ w² over the relevant items, w = {self.weight}", "(Σ w)² / Σ w²")
