"""Matthews' correlation of what is shown with what is relevant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.metrics.fall_out import of_catalog
from atkay.metrics.metric import Definition, Floats, Judged, Metric, divide


@dataclass(frozen=True)
class MCC(Metric):
    """How what is shown goes with what is relevant over the whole catalogue, from -1 to 1; by chance it is 0.

    ``(h C - L R) / sqrt(L R (C - L) (C - R))``, with C the items of the catalogue, L those shown in the top k and R the
    relevant ones: the correlation of two yes-or-no columns with a row for each item. It needs ``catalog``;
    items that are not in it do not count.

    Where everything or nothing is shown, or relevant, it is 0, as in scikit-learn.

    References
    ----------
    Matthews, Comparison of the predicted and observed secondary structure of T4 phage lysozyme, 1975.

    Examples
    --------
    One hit, two items shown, two relevant, six in all: (6 - 4) / sqrt(2 * 2 * 4 * 4).

    >>> result = atkay.evaluate({"ann": ["a", "x"]}, {"ann": ["a", "b"]}, "mcc@2", catalog=list("abxyzw"))
    >>> result["mcc@2"]
    0.25
    """

    name = "mcc"
    aliases = ("matthews_correlation", "matthews_corrcoef")
    needs = ("catalog",)
    reads_lists = True
    least = -1.0
    monotone = True
    across = True

    def shuffles(self, judged: Judged) -> bool:
        """If nothing but the catalogue is listed, only the number of hits depends on the order."""
        return bool(judged.catalog.all())

    def values(self, judged: Judged) -> Floats:
        every, (hits, shown, relevant) = float(judged.catalog.sum()), of_catalog(judged, self.cutoffs)
        below = shown * relevant * (every - shown) * (every - relevant)
        return np.clip(divide(hits * every - shown * relevant, np.sqrt(below)), -1, 1)

    def define(self) -> Definition:
        return Definition(
            f"correlation over the items of the catalogue of being in {self.top} with being relevant",
            "(h C - L R) / sqrt(L R (C - L) (C - R))",
        )
