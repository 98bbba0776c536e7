"""Novelty: how few people know the listed items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from atkay.metrics.metric import Definition, Floats, Judged, ListMetric, word
from atkay.metrics.popularity import UNSEEN, information, mean_of_listed, unseen_field


@dataclass(frozen=True)
class Novelty(ListMetric):
    """How novel the listed items are: how few users know them.

    The mean of ``-log2(n_i / |U|)`` over the items in the top k, with n_i the number of training users of item i and
    |U| that of all training users. In bits: an item that every other user knows counts 1. It needs ``train``.

    Conventions
    -----------
    of
        ``users`` takes the share of users that know the item (RecTools' MIUF, Zhou et al. 2010); ``interactions``
        divides n_i by the number of training pairs (Castells et al. 2011, the Recommenders library).
    unseen
        The value of an item without training users would be infinite. ``one`` counts it as if one user had it
        (RecTools); ``skip`` leaves it out of the mean; ``zero`` counts it 0 and in the divisor (Recommenders).

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
    aliases = ("self_information", "mean_self_information", "miuf", "mean_inv_user_freq")
    needs = ("train",)
    bounded = False

    of: Literal["users", "interactions"] = word(users="the share of users", interactions="the share of interactions")
    unseen: Literal["one", "skip", "zero"] = unseen_field()

    def values(self, judged: Judged) -> Floats:
        bits, counted = information(judged, self.of, self.unseen)
        return mean_of_listed(judged, bits, self.cutoffs, counted)

    def define(self) -> Definition:
        whole = "|U|" if self.of == "users" else "Σ n"
        return Definition(
            f"-log2 of the share of training {self.of} that an item has, averaged over the items of {self.top}; "
            + UNSEEN[self.unseen],
            f"mean -log2(n_i / {whole})",
        )
