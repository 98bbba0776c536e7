"""Fall-out: how much of the irrelevant is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from atkay.metrics.metric import WHOLE, Definition, Floats, Judged, Ratio, divide, word


class Confusion(NamedTuple):
    """Items of the catalogue per query: the relevant ones shown, all that are shown, and all that are relevant."""

    hits: Floats
    shown: Floats
    relevant: Floats


def of_catalog(judged: Judged, cutoffs: tuple[int, ...]) -> Confusion:
    """The counts up to each cutoff: queries x cutoffs."""
    known = judged.catalog
    if known.all():
        hits, listed = judged.total(1, cutoffs), judged.listed(cutoffs).astype(float)
        return Confusion(hits, listed, judged.n_relevant[:, None].astype(float))
    relevant = judged.relevant
    shown = judged.over_list(known[judged.top(max(cutoffs)).item].astype(float), cutoffs)
    of_truth = np.bincount(relevant.owner(), known[relevant.item], judged.n_queries)[:, None].astype(float)
    return Confusion(judged.total(known[judged.item].astype(float), cutoffs), shown, of_truth)


@dataclass(frozen=True)
class FallOut(Ratio):
    """The share of the irrelevant items that is shown, the rate of false alarms.

    The items of the top k that are not relevant, divided by all irrelevant candidates.

    Conventions
    -----------
    among
        Which items are candidates: ``catalog`` those of the catalogue, which it needs, and no others; ``listed`` those
        of the whole list, which then must hold all candidates (torchmetrics).
    average
        ``users`` is the mean of the users' shares; ``pooled`` counts every irrelevant item equally.

    A user without an irrelevant candidate has no value. Lower is better.

    References
    ----------
    Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, chapter 8.

    Examples
    --------
    One of the two items shown is irrelevant, as are four of the six in the catalogue.

    >>> result = atkay.evaluate({"ann": ["a", "x"]}, {"ann": ["a", "b"]}, "fall_out@2", catalog=list("abxyzw"))
    >>> result["fall_out@2"]
    0.25
    """

    name = "fall_out"
    aliases = ("false_positive_rate", "fpr")
    better = "lower"
    reads_lists = True
    partial = True
    monotone = True

    among: Literal["catalog", "listed"] = word(catalog="the catalogue", listed="the whole list")

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # a word decides
        """The catalogue, where it has the candidates."""
        return ("catalog",) if self.among == "catalog" else ()

    def shuffles(self, judged: Judged) -> bool:
        """If nothing but candidates is listed, only the number of hits depends on the order."""
        return self.among == "listed" or bool(judged.catalog.all())

    @property
    def reach(self) -> int:
        """All that is listed, where the list has the candidates."""
        return super().reach if self.among == "catalog" else WHOLE

    def values(self, judged: Judged) -> Floats:
        return divide(*self.ratio(judged), np.nan)

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The irrelevant items shown, and all of them."""
        if self.among == "catalog":
            hits, shown, relevant = of_catalog(judged, self.cutoffs)
            return shown - hits, judged.catalog.sum() - relevant + 0 * shown
        hits, every = judged.total(1, (*self.cutoffs, WHOLE)), judged.listed((*self.cutoffs, WHOLE))
        irrelevant = every - hits
        return irrelevant[:, :-1], irrelevant[:, -1:] + 0 * irrelevant[:, :-1]

    def define(self) -> Definition:
        among = {"catalog": "of the catalogue", "listed": "of the whole list"}[self.among]
        return Definition(
            f"items in {self.top} that are not relevant, divided by the items {among} that are not", "(L - h) / N"
        )
