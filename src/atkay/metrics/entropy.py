"""Entropy: over how many items the places in the lists are spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.coverage import times_listed
from atkay.metrics.metric import Definition, Floats, Ints, Judged, RunMetric, word


@dataclass(frozen=True)
class Entropy(RunMetric):
    """How evenly items share the lists, in bits: each doubling of equally shown items adds one bit.

    ``- sum p_i log2 p_i``, with p_i the share of all listed rows, each list cut at k, that name item i.

    Conventions
    -----------
    unit
        ``bits`` is the formula above; ``share`` divides it by log2 of the number of items in the catalogue (Pielou's
        evenness): 1 where all items are shown equally often. It needs ``catalog``, and then an item outside of the
        catalogue does not count.

    Undefined if nothing is listed. A catalogue of one item has no ``share``.

    References
    ----------
    Shannon, A mathematical theory of communication, 1948. Pielou, The measurement of diversity in different types of
    biological collections, 1966.

    Examples
    --------
    Half of the places show tea, a quarter each jam and rye: 1/2 x 1 + 1/4 x 2 + 1/4 x 2.

    >>> recs, truth = {"ann": ["tea", "jam"], "bob": ["tea", "rye"]}, {"ann": ["tea"], "bob": ["tea"]}
    >>> atkay.evaluate(recs, truth, "entropy@2")["entropy@2"]
    1.5
    """

    name = "entropy"
    aliases = ("shannon_entropy", "item_entropy")

    unit: Literal["bits", "share"] = word(
        bits="in bits", share="as a share of the highest entropy that the catalogue allows"
    )

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # a word decides
        """The catalogue, where its size sets the highest entropy."""
        return ("catalog",) if self.unit == "share" else ()

    @property
    def bounded(self) -> bool:  # type: ignore[override]  # a word decides
        """Bits have no bound."""
        return self.unit == "share"

    def state(self, judged: Judged) -> Ints:
        """In how many lists each item stands."""
        return times_listed(judged, self.cutoffs)

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """The entropy of the shares."""
        counts = state if self.unit == "bits" else state[:, judged.catalog]
        bits = np.array([_bits(here) for here in counts])
        if self.unit == "bits":
            return bits
        with np.errstate(invalid="ignore"):
            share: Floats = np.minimum(bits / np.log2(counts.shape[1]), 1.0)  # rounding must not lift it above 1
        return share

    def define(self) -> Definition:
        of = f"entropy of the shares that items have of all places in {self.top} of the users"
        if self.unit == "bits":
            return Definition(f"{of}, in bits", "- Σ p log2 p")
        return Definition(
            f"{of}, divided by that of n equally shown items, all of the catalogue", "- Σ p log2 p / log2 n"
        )


def _bits(counts: Ints) -> float:
    """The entropy of the counts' shares; ordered, so that what items are called moves no digit."""
    there = np.sort(counts[counts > 0])
    total = there.sum()
    return float((there * np.log2(total / there)).sum() / total) if total else np.nan
