"""Catalogue coverage: how much of the catalogue the lists show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.metrics.metric import Definition, Floats, Ints, Judged, RunMetric


def times_listed(judged: Judged, cutoffs: tuple[int, ...]) -> Ints:
    """In how many lists each item appears, up to each cutoff: cutoffs x items."""
    places, n_items = judged.top(max(cutoffs)), judged.lists.n_items
    ordered = np.sort(cutoffs)
    # Each row is counted once, under the first cutoff that has it; wider ones then add up.
    first = np.searchsorted(ordered, places.rank)
    counts = np.bincount(first * n_items + places.item, minlength=len(cutoffs) * n_items)
    return np.cumsum(counts.reshape(len(cutoffs), n_items), axis=0)[np.searchsorted(ordered, cutoffs)]


@dataclass(frozen=True)
class Coverage(RunMetric):
    """The share of the catalogue that appears in at least one list.

    ``|items in any top k| / |catalogue|``. It needs ``catalog``; a listed item that is not in the catalogue does not
    count.

    References
    ----------
    Ge, Delgado-Battenfeld and Jannach, Beyond accuracy: evaluating recommender systems by coverage and serendipity,
    2010.

    Examples
    --------
    Two of four items are listed:

    >>> recs, truth = {"ann": ["tea", "jam"], "bob": ["jam", "tea"]}, {"ann": ["tea"], "bob": ["tea"]}
    >>> atkay.evaluate(recs, truth, "coverage@2", catalog=["tea", "jam", "rye", "oat"])["coverage@2"]
    0.5
    """

    name = "coverage"
    aliases = ("catalog_coverage", "catalogue_coverage", "item_coverage")
    needs = ("catalog",)

    def state(self, judged: Judged) -> Ints:
        """In how many lists each item stands."""
        return times_listed(judged, self.cutoffs)

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """The share of items with at least one list."""
        shares: Floats = (state[:, judged.catalog] > 0).mean(axis=1)
        return shares

    def define(self) -> Definition:
        return Definition(
            f"items that stand in {self.top} of at least one user, divided by the items of the catalogue",
            "|union of lists| / |catalogue|",
        )
