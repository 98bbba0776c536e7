"""Expected free discovery: how much news the relevant items are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from atkay.metrics.epc import EPC
from atkay.metrics.metric import Definition, Floats, Judged
from atkay.metrics.popularity import UNSEEN, information, unseen_field


@dataclass(frozen=True)
class EFD(EPC):
    """How novel the relevant items of the list are: expected free discovery.

    ``Σ w(j) · rel_j · -log2(n_i / Σ n) / Σ w(j)`` over the items in the top k, with j the rank of item i, n_i the
    number of its training users and Σ n that of all training pairs. In bits. It needs ``train``.

    Conventions
    -----------
    discount, relevance
        As in :class:`EPC`.
    unseen
        The value of an item without training users would be infinite. ``one`` counts it as if one user had it; ``skip``
        leaves it out, also from the divisor; ``zero`` counts it 0.

    An empty list scores 0, and has no value under ``relevance=listed``; so does one that ``skip`` leaves empty.

    References
    ----------
    Vargas and Castells, Rank and relevance in novelty and diversity metrics for recommender systems, 2011.

    Examples
    --------
    Of eight training pairs one has a, two have b; a is listed first and b second, and only a is relevant:
    -log2(1/8) / log2(2) = 3, over 1 / log2(2) + 1 / log2(3) = 1.630930. With ``discount=flat``: 3 / 2.

    >>> train = {"ann": ["x", "y", "z"], "bob": ["a", "b", "x"], "cat": ["b", "x"]}
    >>> result = atkay.evaluate({"ann": ["a", "b"]}, {"ann": ["a"]}, ["efd@2", "efd(discount=flat)@2"], train=train)
    >>> round(result["efd@2"], 6), result["efd(discount=flat)@2"]
    (1.839442, 1.5)
    """

    name = "efd"
    aliases = ("expected_free_discovery",)
    bounded = False

    unseen: Literal["one", "skip", "zero"] = unseen_field()

    def values(self, judged: Judged) -> Floats:
        return self._expected(judged, *information(judged, "interactions", self.unseen))

    def define(self) -> Definition:
        words, formula = self._in_words(
            "-log2 of the share of training interactions that an item has", "-log2(n_i / Σ n)"
        )
        return Definition(f"{words}; {UNSEEN[self.unseen]}", formula)
