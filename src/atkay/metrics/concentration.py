"""Concentration: whether the lists show many items or always the same few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from atkay.core.types import WHOLE, Floats, Ints
from atkay.metrics.coverage import times_listed
from atkay.metrics.metric import Definition, RunMetric
from atkay.words import word

if TYPE_CHECKING:
    from atkay.judged.judged import Judged


@dataclass(frozen=True)
class Gini(RunMetric):
    """How unevenly the places in the lists are spread over the catalogue: 0 where every item gets as many.

    ``sum (2j - n - 1) x_j / (n sum x)``, with x_j the number of lists that show item j, ordered from the rarest to the
    most frequent, over all n items of the catalogue: an item that is never listed counts with 0. It needs ``catalog``;
    a listed item that is not in the catalogue does not count.

    Conventions
    -----------
    divisor
        ``n`` is the formula above, whose highest value, all places for one item, is (n - 1) / n; ``n_less_1`` divides
        by n - 1 instead, so that this scores 1 (Shani and Gunawardana 2011; RankSys and Elliot, which print 1 less this
        value).

    Where nothing of the catalogue is listed there is no value. Of a catalogue of one item, ``n_less_1`` has none.

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
    aliases: ClassVar[tuple[str, ...]] = ("gini_index", "gini_coefficient")

    divisor: str = word(
        n="the number of items of the catalogue",
        n_less_1="one less, so that all places for one item score 1",
    )

    @property
    def needs(self) -> tuple[str, ...]:
        """All items that there are, listed or not."""
        return ("catalog",)

    def state(self, judged: Judged) -> Ints:
        """In how many lists each item stands."""
        return times_listed(judged, self.cutoffs)

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """The unevenness of the counts; the sums are of whole numbers, so nothing is rounded before the division."""
        counts = np.sort(state[:, judged.catalog], axis=1)
        n = counts.shape[1]
        spread = counts @ (2 * np.arange(1, n + 1) - n - 1)
        below = counts.sum(axis=1) * (n if self.divisor == "n" else n - 1)
        return _divided(spread, below)

    def define(self) -> Definition:
        """The unevenness in words."""
        n = {"n": "n", "n_less_1": "(n - 1)"}[self.divisor]
        return Definition(
            f"Gini coefficient of how many users are shown each of the n items of the catalogue in {self.top}; 0 where "
            "all items are shown to as many",
            f"Σ (2j - n - 1) x_j / ({n} Σ x)",
        )


@dataclass(frozen=True)
class Entropy(RunMetric):
    """How many items share the places in the lists, as information: each doubling of equally shown items adds one bit.

    ``- sum p_i log2 p_i``, with p_i the share of all listed rows, each list cut at k, that name item i.

    Conventions
    -----------
    unit
        ``bits`` is the formula above; ``share`` divides it by log2 of the number of items in the catalogue (Pielou's
        evenness): 1 where all items are shown equally often. It needs ``catalog``, and then an item outside of the
        catalogue does not count.

    Where nothing is listed there is no value. A catalogue of one item has no ``share``.

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
    aliases: ClassVar[tuple[str, ...]] = ("shannon_entropy", "item_entropy")

    unit: str = word(bits="in bits", share="as a share of the highest entropy that the catalogue allows")

    @property
    def needs(self) -> tuple[str, ...]:
        """The catalogue, where its size sets the highest entropy."""
        return ("catalog",) if self.unit == "share" else ()

    @property
    def bounded(self) -> bool:
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
        """The entropy in words."""
        of = f"entropy of the shares that items have of all places in {self.top} of the users"
        if self.unit == "bits":
            return Definition(f"{of}, in bits", "- Σ p log2 p")
        return Definition(
            f"{of}, divided by that of n equally shown items, all of the catalogue", "- Σ p log2 p / log2 n"
        )


@dataclass(frozen=True)
class InterListDistance(RunMetric):
    """How different the lists of two users are on average: 0 where everybody is shown the same.

    The mean over all pairs of users of ``1 - overlap / k``, the overlap being the number of items that both lists show
    in the top k. With c_i the number of lists that show item i, this is ``1 - sum c_i (c_i - 1) / (U (U - 1) k)``: no
    pairs are made. U counts the users who have a list; others form no pair.

    Conventions
    -----------
    per
        ``k`` divides each overlap by the cutoff, or by the length of the longest list where nothing is cut: a place
        that a short list leaves empty counts as different (Zhou et al. 2010). ``listed`` divides by the mean length of
        the lists after the cut, ``1 - sum c_i (c_i - 1) / ((U - 1) sum c_i)``: the chance that an item that one user
        is shown is not shown to another. Where all lists are full the two agree.

    Below two lists there is no value.

    References
    ----------
    Zhou et al., Solving the apparent diversity-accuracy dilemma of recommender systems, 2010.

    Examples
    --------
    Ann and cat share two of two items, bob one with each of them: the distances are 1/2, 1/2 and 0.

    >>> recs = {"ann": ["tea", "jam"], "bob": ["tea", "rye"], "cat": ["tea", "jam"]}
    >>> result = atkay.evaluate(recs, {"ann": ["tea"], "bob": ["tea"], "cat": ["tea"]}, "inter_list_distance@2")
    >>> round(result["inter_list_distance@2"], 6)
    0.333333
    """

    name = "inter_list_distance"
    aliases: ClassVar[tuple[str, ...]] = ("inter_list_diversity", "inter_user_diversity", "personalization")

    per: str = word(
        k="the cutoff, or the longest list where nothing is cut",
        listed="the mean length of the lists after the cut",
    )

    def state(self, judged: Judged) -> Ints:
        """In how many lists each item stands; then how many lists have each length, from 0 on."""
        n_items = judged.lists.n_items
        lengths = [np.bincount(length, minlength=n_items + 1) for length in judged.listed(self.cutoffs).T]
        return np.concatenate((times_listed(judged, self.cutoffs), lengths), axis=1)

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """One less the mean overlap of two lists."""
        n_items = judged.lists.n_items
        counts, lengths = state[:, :n_items], state[:, n_items:]
        shared, users = (counts * (counts - 1)).sum(axis=1), lengths[:, 1:].sum(axis=1)
        if self.per == "listed":
            return 1 - _divided(shared, (users - 1) * counts.sum(axis=1))
        longest = [int(np.flatnonzero(of).max(initial=0)) for of in lengths]
        places = [most if k == WHOLE else k for k, most in zip(self.cutoffs, longest, strict=True)]
        return 1 - _divided(shared, users * (users - 1) * np.array(places, dtype=float))

    def define(self) -> Definition:
        """The distance in words."""
        by, formula = "the mean length of the lists", "1 - Σ c (c - 1) / ((U - 1) Σ c)"
        if self.per == "k":
            by = "the length of the longest list" if self.k is None else str(self.k)
            formula = f"1 - Σ c (c - 1) / (U (U - 1) {'k' if self.k is None else self.k})"
        return Definition(
            f"1 less the number of items that {self.top} of two users have in common, divided by {by}; averaged over "
            "all pairs of users",
            formula,
        )


def _bits(counts: Ints) -> float:
    """The entropy of the counts' shares; ordered, so that what items are called moves no digit."""
    there = np.sort(counts[counts > 0])
    total = there.sum()
    return float((there * np.log2(total / there)).sum() / total) if total else np.nan


def _divided(above: Ints, below: Ints | Floats) -> Floats:
    """The quotient, NaN where there is nothing to divide by."""
    out: Floats = np.full(len(below), np.nan)
    np.divide(above, below, out=out, where=below > 0)
    return out
