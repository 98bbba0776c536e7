"""Bias disparity: whether lists strengthen the users' preference for groups of items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.types import Floats, Ints
from atkay.metrics.coverage import times_listed
from atkay.metrics.item_groups import Grouped, compared, per_group
from atkay.metrics.metric import Definition, Judged, word


@dataclass(frozen=True)
class BiasDisparity(Grouped):
    """How much the lists strengthen or weaken the users' preference for groups of items: bias disparity.

    The bias for a group of items is ``B = PR / P``: PR is the share of the group in what the users had in training
    (B_S), or in the top k of their lists (B_R), and P its share of all items. 1 is no preference. The disparity of the
    group is ``(B_R - B_S) / B_S``: 0 if the lists keep to what the users had, 1 if they show the group twice as often.
    It needs ``train``, for the evaluated users. With ``slices=`` each group of users has a number of its own, as in the
    paper.

    Conventions
    -----------
    bias
        ``disparity`` is (B_R - B_S) / B_S, ``lists`` is B_R, and ``train`` is B_S.
    of
        ``mean`` is the mean over the groups of how far they are from no bias: of |disparity|, or of |B - 1|.
        ``highest`` and ``lowest`` are the values of the groups with the highest and the lowest one. Elliot prints the
        value of each group; with two groups, highest and lowest are all there is.
    groups
        ``categories`` are those of ``features``. ``popularity`` makes two groups of the items in ``train``: the head,
        the most popular items that together hold the first share ``head`` of the interactions (0.8; items as popular
        as the last of them are in it, too), and the tail.

    Items that are in no group do not count; an item of several groups counts in each. A group that would be divided by
    0 does not count. It is undefined if none counts: if no list, or nobody's training, has an item of a group.

    References
    ----------
    Tsintzou, Pitoura and Tsaparas, Bias disparity in recommendation systems, 2019.

    Examples
    --------
    Ann and bob had drinks in two of four cases, and their lists show them in three: (3/4 - 2/4) / (2/4) = 1/2. Breads
    come down from 2/4 to 1/4: -1/2.

    >>> features = {"tea": "drink", "rum": "drink", "rye": "bread", "bun": "bread"}
    >>> train = {"ann": ["tea", "rye"], "bob": ["rum", "bun"]}
    >>> recs, truth = {"ann": ["rum", "bun"], "bob": ["tea", "rum"]}, {"ann": ["rum"], "bob": ["tea"]}
    >>> known = {"features": features, "train": train}
    >>> specs = ["bias_disparity@2", "bias_disparity(of=highest)@2", "bias_disparity(of=lowest)@2"]
    >>> list(atkay.evaluate(recs, truth, specs, **known).values())
    [0.5, 0.5, -0.5]
    """

    name = "bias_disparity"
    aliases = ("preference_bias",)
    least = -1.0

    bias: Literal["disparity", "lists", "train"] = word(
        disparity="the bias of the lists relative to that of training",
        lists="the share in the lists over the share of items",
        train="the share in training over the share of items",
    )
    of: Literal["mean", "highest", "lowest"] = word(
        mean="the mean distance from no bias", highest="the highest value of a group", lowest="the lowest value"
    )
    groups: Literal["categories", "popularity"] = word(
        categories="the items of each category in features",
        popularity="the most popular items of train, and the rest",
    )

    @property
    def looks_back(self) -> bool:  # type: ignore[override]  # a word decides
        """The bias of the lists is that of the lists alone."""
        return self.bias != "lists"

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # a word decides
        return tuple(dict.fromkeys((*super().needs, "train")))

    @property
    def better(self) -> str:  # type: ignore[override]  # a word decides
        """A group may be shown too much or too little."""
        return "lower" if self.of == "mean" else "neither"

    def state(self, judged: Judged) -> Ints:
        """Per group, and last for all items of a group: the places that show it, and its training items."""
        groups, listed = self.groups_of(judged), times_listed(judged, self.cutoffs)
        had = np.bincount(judged.train.history.item, minlength=listed.shape[1])
        counts = np.stack((listed, np.broadcast_to(had, listed.shape)), axis=1)
        total = counts[..., groups.length > 0].sum(axis=-1, keepdims=True)
        return np.concatenate((per_group(groups, counts), total), axis=-1)

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """How the groups' biases compare."""
        groups = self.groups_of(judged)
        size = np.bincount(groups.item, minlength=groups.n_items) / max(int(np.count_nonzero(groups.length)), 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = state[..., :-1] / state[..., -1:]
            listed, had = shares[:, 0], shares[:, 1]
            values = {"disparity": (listed - had) / had, "lists": listed / size, "train": had / size}[self.bias]
        return np.array([self._compare(part[np.isfinite(part)]) for part in values])

    def _compare(self, values: Floats) -> float:
        if not len(values):
            return np.nan
        if self.of == "mean":
            return float(compared(np.abs(values - (self.bias != "disparity"))).mean())
        return float(values.max() if self.of == "highest" else values.min())

    def define(self) -> Definition:
        words, formula, none = {
            "disparity": (
                f"share of a group in {self.top} less its share in the users' training items, divided by the latter",
                "(PR_R - PR_S) / PR_S",
                "0",
            ),
            "lists": (f"share of a group in {self.top}, divided by its share of all items", "PR_R / P", "1"),
            "train": ("share of a group in the users' training items, divided by that of all items", "PR_S / P", "1"),
        }[self.bias]
        how, of = {
            "mean": (f"mean distance from {none} of the", "mean |B|" if none == "0" else "mean |B - 1|"),
            "highest": ("highest", "max B"),
            "lowest": ("lowest", "min B"),
        }[self.of]
        return Definition(f"{how} {words}; the groups are {self.kinds}", f"{of}, B = {formula}")
