"""Item groups: the items of a category, or the popular and the rare ones. For metrics that compare groups of items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.lists import Lists
from atkay.metrics.categories import categories_of
from atkay.metrics.metric import Bools, Floats, Ints, Judged, RunMetric, number, word


@dataclass(frozen=True)
class Grouped(RunMetric):
    """A number that compares groups of items. A subclass declares the words of ``groups``."""

    bounded = False

    groups: str
    head: float = number(0.8, lambda value: 0 < value < 1, "a number between 0 and 1")

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # a word decides
        """Where the groups come from."""
        return ("train",) if self.groups == "popularity" else ("features",)

    def groups_of(self, judged: Judged) -> Lists:
        """The groups of each item; none for an item that is not known."""
        if self.groups == "popularity":
            popularity = judged.train.popularity
            known = popularity > 0
            return Lists.of(known.astype(np.int64), (~in_head(popularity, self.head)[known]).astype(np.int64), 2)
        return categories_of(judged, self, "; or choose groups=popularity")

    @property
    def kinds(self) -> str:
        """What the groups are, in words."""
        if self.groups == "categories":
            return "categories of items"
        return f"the head (the items with the first {100 * self.head:g} % of training interactions) and the tail"


@dataclass(frozen=True)
class Parity(Grouped):
    """The spread of the groups' chances to be listed. The state holds how often each was, and could have been."""

    better = "lower"

    groups: Literal["popularity", "categories"] = word(
        popularity="the most popular items of train, and the rest",
        categories="the items of each category in features",
    )

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """Standard deviation over mean of the groups' chances."""
        return np.array([_spread(*part) for part in state])


def in_head(popularity: Ints, share: float, of: str = "interactions") -> Bools:
    """Which items are the head: the most popular ones, as many as it takes to hold the share of all interactions.

    With ``of="items"`` it is that share of the items in training.

    Items that are as popular as the last of them are in it, too: no order among equals would be the right one.
    """
    falling = np.sort(popularity)[::-1]
    held = np.cumsum(falling if of == "interactions" else falling > 0)
    if not held[-1:].any():
        return np.zeros(len(popularity), bool)
    # A share of 0.8 is a little more or less than 4/5: that must not take in one item more.
    last = int(np.searchsorted(held, share * held[-1] * (1 - 1e-12)))
    return np.asarray(popularity >= falling[last])


def per_group(groups: Lists, counts: Ints) -> Ints:
    """The sum of the items' counts in each group, items being the last axis; an item counts in each of its groups."""
    member = groups.owner()[np.argsort(groups.item, kind="stable")]
    edges = np.concatenate(([0], np.cumsum(np.bincount(groups.item, minlength=groups.n_items))))
    running = np.zeros((*counts.shape[:-1], len(member) + 1), np.int64)
    np.cumsum(counts[..., member], axis=-1, out=running[..., 1:])
    sums: Ints = np.diff(running[..., edges], axis=-1)
    return sums


def compared(values: Floats) -> Floats:
    """The groups' values that are defined, in rising order: what the groups are called then moves no digit."""
    return np.sort(values[~np.isnan(values)])


def _spread(listed: Ints, could: Ints) -> float:
    """Standard deviation over mean of the chances, NaN where there is nothing to compare."""
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = compared(np.where(could > 0, listed / could, np.nan))
    if len(chance) < 2 or chance[-1] == 0:
        return np.nan
    return float(chance.std() / chance.mean())
