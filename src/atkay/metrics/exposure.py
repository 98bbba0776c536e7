"""Exposure: how much attention the lists give to groups of items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.kernels import sums
from atkay.core.lists import ranges
from atkay.metrics.coverage import times_listed
from atkay.metrics.item_groups import Grouped, compared, per_group
from atkay.metrics.metric import Definition, Floats, Ints, Judged, word

BITS_PER_INTEGER = 30
"""Bits of the two integers that hold an exposure, so that sums are exact."""


@dataclass(frozen=True)
class Exposure(Grouped):
    """How unevenly exposure is distributed over groups of items: the highest exposure over the lowest.

    The exposure of a place is ``1 / log2(1 + rank)``; that of a group is the sum over all places in the top k that show
    one of its items, divided as ``per`` says. An item of several groups counts in each.

    Conventions
    -----------
    groups
        ``categories`` are those of ``features``. ``popularity`` makes two groups of the items in ``train``: the head,
        the most popular items that together hold the first share ``head`` of the interactions (0.8; items as popular
        as the last of them are in it, too), and the tail. Items that are in no group do not count.
    per
        ``items`` is the exposure that an item of the group gets on average from a user, shown or not: divided by users
        x items of the group (demographic parity of Singh and Joachims). ``relevant`` divides by the number of times
        that an item of the group is relevant to a user (their disparate treatment: exposure in proportion to merit).
        ``listed`` divides by the places that show the group: are its items shown high or low, however often.
    of
        ``ratio`` is highest / lowest, 1 if all groups are equal, undefined if a group gets nothing; ``inverse`` is
        lowest / highest, then 0; ``gap`` highest - lowest; ``highest`` and ``lowest`` are these exposures themselves,
        which for two groups are all there is.

    A group that would be divided by 0 does not count. Undefined with fewer than two groups, or if nothing is listed.

    References
    ----------
    Singh and Joachims, Fairness of exposure in rankings, 2018.

    Examples
    --------
    Green things stand at ranks 1 and 2, red ones at 3 and 4: (1 + 0.6309) / 2 over (0.5 + 0.4307) / 2.

    >>> colours = {"pea": "green", "kiwi": "green", "plum": "red", "beet": "red"}
    >>> recs = {"ann": ["pea", "kiwi", "plum", "beet"]}
    >>> result = atkay.evaluate(recs, {"ann": ["plum"]}, "exposure@4", features=colours)
    >>> round(result["exposure@4"], 6)
    1.752413
    """

    name = "exposure"
    aliases = ("exposure_ratio", "group_exposure")
    by_item = True

    groups: Literal["categories", "popularity"] = word(
        categories="the items of each category in features",
        popularity="the most popular items of train, and the rest",
    )
    per: Literal["items", "relevant", "listed"] = word(
        items="the users times the items of the group",
        relevant="the times that an item of the group is relevant to a user",
        listed="the places that show the group",
    )
    of: Literal["ratio", "inverse", "gap", "highest", "lowest"] = word(
        ratio="the highest exposure over the lowest",
        inverse="the lowest exposure over the highest",
        gap="the highest exposure less the lowest",
        highest="the highest exposure",
        lowest="the lowest exposure",
    )

    def state(self, judged: Judged) -> Ints:
        """Per group: its exposure in two integers, and what that is divided by."""
        groups = self.groups_of(judged)
        n_items = groups.n_queries
        if self.per == "items":
            denominator = np.full((len(self.cutoffs), n_items), judged.n_queries)
        elif self.per == "relevant":
            denominator = np.tile(np.bincount(judged.relevant.item, minlength=n_items), (len(self.cutoffs), 1))
        else:
            denominator = times_listed(judged, self.cutoffs)
        return per_group(groups, np.stack((*_exposures(judged, self.cutoffs), denominator), axis=1))

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """How the groups' exposures compare."""
        return np.array([self._compare(*part) for part in state.astype(float)])

    def _compare(self, coarse: Floats, fine: Floats, denominator: Floats) -> float:
        with np.errstate(invalid="ignore", divide="ignore"):
            exposures = compared(
                np.where(
                    denominator > 0,
                    (coarse + fine * 2.0**-BITS_PER_INTEGER) * 2.0**-BITS_PER_INTEGER / denominator,
                    np.nan,
                )
            )
        if len(exposures) < 2 or exposures[-1] == 0:
            return np.nan
        lowest, highest = float(exposures[0]), float(exposures[-1])
        if self.of == "ratio":
            return highest / lowest if lowest else np.nan
        return {"inverse": lowest / highest, "gap": highest - lowest, "highest": highest, "lowest": lowest}[self.of]

    def define(self) -> Definition:
        per = {
            "items": "per user and item of the group",
            "relevant": "per relevant item of the group",
            "listed": "per place that shows the group",
        }[self.per]
        most, least = f"highest exposure of a group in {self.top} ({per})", "the lowest"
        words, formula = {
            "ratio": (f"{most}, divided by {least}", "max E / min E"),
            "inverse": (f"lowest exposure of a group in {self.top} ({per}), divided by the highest", "min E / max E"),
            "gap": (f"{most}, less {least}", "max E - min E"),
            "highest": (most, "max E"),
            "lowest": (f"lowest exposure of a group in {self.top} ({per})", "min E"),
        }[self.of]
        return Definition(
            f"{words}; the groups are {self.kinds}, and a place has the exposure 1 / log2(1 + rank)",
            f"{formula}, E = Σ 1 / log2(1 + rank) / n",
        )


def _exposures(judged: Judged, cutoffs: tuple[int, ...]) -> tuple[Ints, Ints]:
    """The exposure of each item up to each cutoff in two integers: cutoffs x items."""
    places, n_items = judged.top(max(cutoffs)), judged.lists.n_items
    weights = _integers(1 / np.log2(1 + np.arange(1, int(places.rank.max(initial=0)) + 1)))
    coarse, fine = (np.zeros((len(cutoffs), n_items), np.int64) for _ in weights)
    for first, last in ranges(
        len(places.rank), 1 << (53 - BITS_PER_INTEGER)
    ):  # so many weights add up without rounding
        rank, item = places.rank[first:last], places.item[first:last]
        for out, weight in zip((coarse, fine), weights, strict=True):
            out += sums(item, rank, weight.astype(float).take(rank - 1), cutoffs, n_items).T.astype(np.int64)
    return coarse, fine


def _integers(weights: Floats) -> tuple[Ints, Ints]:
    """Weights between 2^-8 and 1 in two integers, of 30 bits each, that hold all their digits.

    Their sums are then exact, in whatever parts the users are counted.
    """
    scaled = weights * 2.0**BITS_PER_INTEGER
    coarse = np.floor(scaled)
    return coarse.astype(np.int64), ((scaled - coarse) * 2.0**BITS_PER_INTEGER).astype(np.int64)
