"""Coverage: how much of the catalogue the lists show, and how many users get one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from atkay.core.types import WHOLE, Floats, Ints
from atkay.metrics.metric import Definition, Metric, RunMetric
from atkay.words import word

if TYPE_CHECKING:
    from atkay.judged.judged import Judged


def times_listed(judged: Judged, cutoffs: tuple[int, ...]) -> Ints:
    """In how many lists each item stands, up to each cutoff: cutoffs x items."""
    places, n_items = judged.top(max(cutoffs)), judged.lists.n_items
    ordered = np.sort(cutoffs)
    # Each row is counted once, under the first cutoff that has it; wider ones then add up.
    first = np.searchsorted(ordered, places.rank)
    counts = np.bincount(first * n_items + places.item, minlength=len(cutoffs) * n_items)
    return np.cumsum(counts.reshape(len(cutoffs), n_items), axis=0)[np.searchsorted(ordered, cutoffs)]


@dataclass(frozen=True)
class Coverage(RunMetric):
    """The share of the catalogue that stands in at least one list.

    ``|items in any top k| / |catalogue|``. It needs ``catalog``; a listed item that is not in the catalogue does not
    count.

    References
    ----------
    Ge, Delgado-Battenfeld and Jannach, Beyond accuracy: evaluating recommender systems by coverage and serendipity,
    2010.

    Examples
    --------
    Two of four items are listed by anybody:

    >>> recs, truth = {"ann": ["tea", "jam"], "bob": ["jam", "tea"]}, {"ann": ["tea"], "bob": ["tea"]}
    >>> atkay.evaluate(recs, truth, "coverage@2", catalog=["tea", "jam", "rye", "oat"])["coverage@2"]
    0.5
    """

    name = "coverage"
    aliases: ClassVar[tuple[str, ...]] = ("catalog_coverage", "catalogue_coverage", "item_coverage")

    @property
    def needs(self) -> tuple[str, ...]:
        """All items that there are."""
        return ("catalog",)

    def state(self, judged: Judged) -> Ints:
        """In how many lists each item stands."""
        return times_listed(judged, self.cutoffs)

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """The share of items with at least one list."""
        shares: Floats = (state[:, judged.catalog] > 0).mean(axis=1)
        return shares

    def define(self) -> Definition:
        """The share in words."""
        return Definition(
            f"items that stand in {self.top} of at least one user, divided by the items of the catalogue",
            "|union of lists| / |catalogue|",
        )


@dataclass(frozen=True)
class UserCoverage(Metric):
    """The share of users who are shown anything at all.

    1 for a user with at least one listed item, else 0; its mean is the share. What was taken out of a list (excluded
    items, no candidates) is not in it. The protocol says who counts: with ``no_recs="skip"`` users without a list are
    left out, and the share is 1 unless a list was emptied.

    Conventions
    -----------
    count
        ``any`` asks for one item (Elliot's UserCoverage), so the cutoff does not matter; ``full`` for as many as the
        cutoff (its UserCoverageAtN). Without a cutoff there is nothing to fill, and the two agree.

    References
    ----------
    Ge, Delgado-Battenfeld and Jannach, Beyond accuracy: evaluating recommender systems by coverage and serendipity,
    2010. Herlocker et al., Evaluating collaborative filtering recommender systems, 2004.

    Examples
    --------
    Of three users two have a list, and one of these has two items:

    >>> recs, truth = {"ann": ["tea", "jam"], "bob": ["jam"]}, {"ann": ["tea"], "bob": ["tea"], "cat": ["tea"]}
    >>> result = atkay.evaluate(recs, truth, ["user_coverage@2", "user_coverage(count=full)@2"])
    >>> [round(value, 6) for value in result.values()]
    [0.666667, 0.333333]
    """

    name = "user_coverage"
    aliases: ClassVar[tuple[str, ...]] = ("user_space_coverage",)
    needs_truth: ClassVar[bool] = False
    by_length: ClassVar[bool] = True

    count: str = word(any="1 where at least one item is listed", full="1 where all places up to the cutoff are filled")

    def values(self, judged: Judged) -> Floats:
        """Whether there is a list, per query and cutoff."""
        least = [1 if self.count == "any" or k == WHOLE else k for k in self.cutoffs]
        return (judged.n_listed[:, None] >= np.array(least)).astype(float)

    def define(self) -> Definition:
        """The share in words."""
        if self.count == "any" or self.k is None:
            return Definition("1 where at least one item is listed, else 0", "[L > 0]")
        return Definition(f"1 where at least {self.k} items are listed, else 0", f"[L = {self.k}]")
