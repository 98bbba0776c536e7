"""Novelty: how little known the listed items are, to everybody or to the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from atkay.core.match import place_in
from atkay.core.types import Bools, Floats, Ints
from atkay.judged.judged import sums
from atkay.metrics.metric import Definition, ListMetric, Metric, divide
from atkay.metrics.popularity import mean_of_listed
from atkay.words import word

if TYPE_CHECKING:
    from collections.abc import Callable

    from atkay.judged.judged import Judged

WEIGHTS: dict[str, Callable[[Ints], Floats]] = {
    "log2": lambda rank: 1 / np.log2(rank + 1),
    "flat": lambda rank: np.ones(len(rank)),
}


def unseen() -> Any:
    """The field that says what an item counts that nobody had in training."""
    return word(one="as if one user had it", skip="it is left out, of the divisor, too", zero="0")


def information(judged: Judged, of: str) -> tuple[Floats, Bools]:
    """The self-information of each item in bits, an unseen one as if one user had it; and which items are seen."""
    train = judged.train
    total = train.users if of == "users" else len(train.items)
    return np.log2(total / np.maximum(train.popularity, 1)), train.popularity > 0


@dataclass(frozen=True)
class Novelty(ListMetric):
    """How surprising the listed items are by themselves: few people know them.

    The mean of ``-log2(n_i / |U|)`` over the items in the top k, with n_i the number of training users of item i and
    |U| that of all training users. In bits: an item that every other user knows counts 1. It needs ``train``.

    Conventions
    -----------
    of
        ``users`` takes the share of users that know the item (RecTools' MIUF, Zhou et al. 2010); ``interactions``
        divides n_i by the number of training pairs (Castells et al. 2011, the Recommenders library).
    unseen
        An item that nobody had would count infinitely much. ``one`` counts it as if one user had it (RecTools);
        ``skip`` leaves it out of the mean; ``zero`` counts it 0 and in the divisor (Recommenders).

    An empty list, or one that ``skip`` leaves empty, has no value.

    References
    ----------
    Zhou et al., Solving the apparent diversity-accuracy dilemma of recommender systems, 2010.
    Castells, Vargas and Wang, Novelty and diversity metrics for recommender systems: choice, discovery and relevance,
    2011.

    Examples
    --------
    Of four users all know tea, one knows jam: (-log2(4/4) - log2(1/4)) / 2 = (0 + 2) / 2.

    >>> train = {"ann": ["tea"], "bob": ["tea", "jam"], "cat": ["tea"], "dan": ["tea"]}
    >>> atkay.evaluate({"ann": ["tea", "jam"]}, {"ann": ["jam"]}, "novelty@2", train=train)["novelty@2"]
    1.0
    """

    name = "novelty"
    aliases: ClassVar[tuple[str, ...]] = ("self_information", "mean_self_information", "miuf", "mean_inv_user_freq")

    of: str = word(users="the share of users", interactions="the share of interactions")
    unseen: str = unseen()

    @property
    def needs(self) -> tuple[str, ...]:
        """Popularity comes from training."""
        return ("train",)

    @property
    def bounded(self) -> bool:
        """Information has no bound."""
        return False

    def values(self, judged: Judged) -> Floats:
        """The mean self-information per query and cutoff."""
        bits, seen = information(judged, self.of)
        item = judged.top(max(self.cutoffs)).item
        if self.unseen == "one":
            return mean_of_listed(judged, bits.take(item), self.cutoffs)
        told = judged.over_list(np.where(seen, bits, 0.0).take(item), self.cutoffs)
        skips = self.unseen == "skip"
        per = judged.over_list(seen.astype(float).take(item), self.cutoffs) if skips else judged.listed(self.cutoffs)
        with np.errstate(invalid="ignore"):
            return told / per

    def define(self) -> Definition:
        """The mean in words."""
        whole = "|U|" if self.of == "users" else "Σ n"
        return Definition(
            f"-log2 of the share of training {self.of} that an item has, averaged over the items of {self.top}; "
            + UNSEEN[self.unseen],
            f"mean -log2(n_i / {whole})",
        )


UNSEEN = {
    "one": "an item without any counts as if it had one",
    "skip": "an item without any is left out",
    "zero": "an item without any counts 0",
}


@dataclass(frozen=True)
class EPC(Metric):
    """How many of those who could have known a listed item did not: expected popularity complement.

    ``Σ w(j) · rel_j · (1 - n_i / |U|) / Σ w(j)`` over the items in the top k, with j the rank of item i, n_i the number
    of its training users and |U| that of all training users. It needs ``train``.

    Conventions
    -----------
    discount
        ``log2`` has w(j) = 1 / log2(j + 1); ``flat`` has 1, every place alike.
    relevance
        ``hits`` counts relevant items alone (rel is 1 or 0); ``listed`` counts all items, relevant or not: the novelty
        of the list by itself.

    An item that nobody had counts in full. An empty list scores 0, and has no value under ``relevance=listed``.

    References
    ----------
    Vargas and Castells, Rank and relevance in novelty and diversity metrics for recommender systems, 2011.

    Examples
    --------
    One of four users had a, two had b; both are relevant: (3/4 / log2(2) + 2/4 / log2(3)) / (1 / log2(2) + 1 / log2(3))
    = 1.065465 / 1.630930.

    >>> train = {"ann": ["x"], "bob": ["a", "b"], "cat": ["b"], "dan": ["x"]}
    >>> result = atkay.evaluate({"ann": ["a", "b"]}, {"ann": ["a", "b"]}, "epc@2", train=train)
    >>> round(result["epc@2"], 6)
    0.653287
    """

    name = "epc"
    aliases: ClassVar[tuple[str, ...]] = ("expected_popularity_complement",)

    discount: str = word(log2="1 / log2(rank + 1)", flat="every place alike")
    relevance: str = word(hits="relevant items alone", listed="all items, relevant or not")

    @property
    def needs(self) -> tuple[str, ...]:
        """Popularity comes from training."""
        return ("train",)

    @property
    def needs_truth(self) -> bool:  # type: ignore[override]  # a class attribute elsewhere; here it depends on a word
        """Where all items count, none has to be relevant."""
        return self.relevance == "hits"

    @property
    def better(self) -> str:  # type: ignore[override]  # a class attribute elsewhere; here it depends on a word
        """How new a list should be depends on what is wanted, as for novelty."""
        return "higher" if self.relevance == "hits" else "neither"

    @property
    def by_item(self) -> bool:  # type: ignore[override]  # a class attribute elsewhere; here it depends on a word
        """Items differ in popularity; where all places count alike, the whole top k counts as one."""
        return self.relevance == "hits" or self.discount == "log2"

    def values(self, judged: Judged) -> Floats:
        """EPC per query and cutoff."""
        share = 1 - judged.train.popularity / judged.train.users
        return self._expected(judged, share, None)

    def _expected(self, judged: Judged, worth: Floats, counted: Floats | None) -> Floats:
        """The mean of what items are worth by the weights of their ranks; ``counted`` is 0 for items left out."""
        weight, cutoffs = WEIGHTS[self.discount], self.cutoffs
        if counted is None:
            # Summed in rank order as the numerator is, so that no value exceeds the worth of the best item.
            listed = judged.listed(cutoffs)
            per = np.concatenate(([0.0], np.cumsum(weight(np.arange(1, listed.max(initial=0) + 1)))))[listed]
        if counted is not None or self.relevance == "listed":
            places = judged.top(max(cutoffs))
            weights = weight(places.rank)
            if counted is not None:
                per = judged.over_list(weights * counted.take(places.item), cutoffs)
        if self.relevance == "listed":
            total = judged.over_list(weights * worth.take(places.item), cutoffs)
            return np.where(per > 0, divide(total, per), np.nan)
        inside = np.flatnonzero(judged.rank <= max(cutoffs))
        query, rank, item = judged.query[inside], judged.rank[inside], judged.item[inside]
        return divide(sums(query, rank, weight(rank) * worth.take(item), cutoffs, judged.n_queries), per)

    def define(self) -> Definition:
        """The weighted mean in words."""
        return self._in_words("share of the training users that did not have an item", "(1 - n_i / |U|)")

    def _in_words(self, words: str, term: str) -> Definition:
        weight = {"log2": "1 / log2(rank + 1)", "flat": "1"}[self.discount]
        about = ", 0 for an item that is not relevant" if self.relevance == "hits" else ""
        how = f"weighted by {weight}" if self.discount == "log2" else "each place alike"
        rel = "rel · " if self.relevance == "hits" else ""
        return Definition(
            f"{words}{about}, averaged over the items of {self.top}, {how}", f"Σ w · {rel}{term} / Σ w, w = {weight}"
        )


@dataclass(frozen=True)
class EFD(EPC):
    """How much news the relevant items of the list are: expected free discovery.

    ``Σ w(j) · rel_j · -log2(n_i / Σ n) / Σ w(j)`` over the items in the top k, with j the rank of item i, n_i the
    number of its training users and Σ n that of all training pairs. In bits. It needs ``train``.

    Conventions
    -----------
    discount, relevance
        As in :class:`EPC`.
    unseen
        An item that nobody had would count infinitely much. ``one`` counts it as if one user had it; ``skip`` leaves it
        out, of the divisor, too; ``zero`` counts it 0.

    An empty list scores 0, and has no value under ``relevance=listed``; so does one that ``skip`` leaves empty.

    References
    ----------
    Vargas and Castells, Rank and relevance in novelty and diversity metrics for recommender systems, 2011.

    Examples
    --------
    Of eight training pairs one has a, two have b; a is listed first and b second, and only a is relevant:
    -log2(1/8) / log2(2) = 3, over 1 / log2(2) + 1 / log2(3) = 1.630930. At every place alike: 3 / 2.

    >>> train = {"ann": ["x", "y", "z"], "bob": ["a", "b", "x"], "cat": ["b", "x"]}
    >>> result = atkay.evaluate({"ann": ["a", "b"]}, {"ann": ["a"]}, ["efd@2", "efd(discount=flat)@2"], train=train)
    >>> round(result["efd@2"], 6), result["efd(discount=flat)@2"]
    (1.839442, 1.5)
    """

    name = "efd"
    aliases: ClassVar[tuple[str, ...]] = ("expected_free_discovery",)

    unseen: str = unseen()

    @property
    def bounded(self) -> bool:
        """Information has no bound."""
        return False

    def values(self, judged: Judged) -> Floats:
        """EFD per query and cutoff."""
        bits, seen = information(judged, "interactions")
        worth = bits if self.unseen == "one" else np.where(seen, bits, 0.0)
        return self._expected(judged, worth, seen.astype(float) if self.unseen == "skip" else None)

    def define(self) -> Definition:
        """The weighted mean in words."""
        words, formula = self._in_words(
            "-log2 of the share of training interactions that an item has", "-log2(n_i / Σ n)"
        )
        return Definition(f"{words}; {UNSEEN[self.unseen]}", formula)


@dataclass(frozen=True)
class NewToUser(ListMetric):
    r"""The share of the list that the user had not yet met in training.

    ``|top k \ H| / L``, with H the items that the user had in training and L the items listed. It needs ``train``.
    RePlay calls it Novelty.

    A user without history has met nothing: 1. An empty list has no value (RePlay: 1).

    Examples
    --------
    Ann had tea, one of the two listed items:

    >>> train = {"ann": ["tea", "rye"], "bob": ["jam"]}
    >>> atkay.evaluate({"ann": ["tea", "jam"]}, {"ann": ["jam"]}, "new_to_user@2", train=train)["new_to_user@2"]
    0.5
    """

    name = "new_to_user"

    @property
    def needs(self) -> tuple[str, ...]:
        """What the user had."""
        return ("train",)

    @property
    def looks_back(self) -> bool:
        """At the user's own history."""
        return True

    def values(self, judged: Judged) -> Floats:
        """The share per query and cutoff."""
        places = judged.top(max(self.cutoffs))
        new = place_in(judged.train.history, places.query, places.item) == 0
        return mean_of_listed(judged, new.astype(float), self.cutoffs)

    def define(self) -> Definition:
        """The share in words."""
        return Definition(f"share of the items in {self.top} that the user did not have in training", "|top \\ H| / L")


@dataclass(frozen=True)
class Surprisal(ListMetric):
    """How surprising the listed items are by themselves, as a share of the most surprising there could be.

    The mean of ``-log2(n_i / |U|) / log2 |U|`` over the items in the top k, with n_i the number of training users of
    item i, at least 1, and |U| that of all training users. It is 1 for items that one user had or none, 0 for items
    that all users had. It needs ``train``.

    Conventions
    -----------
    per
        ``listed`` divides by the items listed; ``k`` by k, however short the list is (RePlay), which without a cutoff
        is the list's length.

    An empty list has no value (RePlay: 0), and nothing has where there is one training user alone.

    References
    ----------
    The RePlay library; self-information as in Zhou et al., Solving the apparent diversity-accuracy dilemma of
    recommender systems, 2010.

    Examples
    --------
    Of four users two had tea, none had jam: -log2(2/4) / log2(4) = 1/2, and 1 for jam; their mean.

    >>> train = {"ann": ["tea"], "bob": ["tea"], "cat": ["rye"], "dan": ["rye"]}
    >>> atkay.evaluate({"ann": ["tea", "jam"]}, {"ann": ["jam"]}, "surprisal@2", train=train)["surprisal@2"]
    0.75
    """

    name = "surprisal"

    per: str = word(listed="the items listed", k="k, however short the list is")

    @property
    def needs(self) -> tuple[str, ...]:
        """Popularity comes from training."""
        return ("train",)

    def values(self, judged: Judged) -> Floats:
        """The mean share per query and cutoff."""
        bits, _ = information(judged, "users")
        with np.errstate(invalid="ignore"):
            share = bits / np.log2(judged.train.users)
            total = judged.over_list(share.take(judged.top(max(self.cutoffs)).item), self.cutoffs)
            per = judged.listed(self.cutoffs) if self.per == "listed" else judged.depth(self.cutoffs)
            return np.where(judged.n_listed[:, None] > 0, total / per, np.nan)

    def define(self) -> Definition:
        """The mean in words."""
        per = "the items" if self.per == "listed" or self.k is None else f"the {self.k} places"
        return Definition(
            f"-log2 of the share of training users that have an item, over its maximum log2 |U|, averaged over {per} "
            f"of {self.top}",
            "mean -log2(n_i / |U|) / log2 |U|",
        )
