"""The reference workload and its variants, made from a seed.

Shaped like MovieLens-20M: 138,493 users, 100 listed items each out of 26,744, popular ones more often, and 3.3 million
rows of truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

USERS, ITEMS, LENGTH, TRUTH = 138_493, 26_744, 100, 3_300_000
CUTOFFS = (1, 3, 5, 10, 20, 50)
METRICS = [f"{name}@{','.join(map(str, CUTOFFS))}" for name in ("ndcg", "map", "mrr", "recall", "precision", "hit")]


@dataclass(frozen=True)
class Workload:
    """Lists and truth, sorted by user; the best score comes first."""

    name: str
    recs: pl.DataFrame
    truth: pl.DataFrame

    @property
    def rows(self) -> int:
        return len(self.recs)

    @property
    def nbytes(self) -> int:
        return int(self.recs.estimated_size() + self.truth.estimated_size())


def _distinct(
    rng: np.random.Generator, users: int, width: int, cumulated: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """For each user so many different items, popular ones more often: users x width."""
    out = np.empty((users, width), np.int64)
    step = max(1, 4_000_000 // width)
    for first in range(0, users, step):
        n = min(step, users - first)
        drawn = np.searchsorted(cumulated, rng.random((n, 2 * width + 16)))
        order = np.argsort(drawn, axis=1, kind="stable")
        ordered = np.take_along_axis(drawn, order, axis=1)
        fresh = np.ones(drawn.shape, bool)
        np.put_along_axis(fresh, order[:, 1:], ordered[:, 1:] != ordered[:, :-1], axis=1)
        places = np.argsort(~fresh, axis=1, kind="stable")[:, :width]
        chosen = np.take_along_axis(drawn, places, axis=1)
        short = fresh.sum(axis=1) < width
        if short.any():  # the tail of a list that popularity could not fill
            for user in np.flatnonzero(short):
                chosen[user] = rng.choice(len(cumulated), width, replace=False)
        out[first : first + n] = chosen
    return out


def reference(
    *, users: int = USERS, items: int = ITEMS, length: int = LENGTH, graded: bool = False, seed: int = 20
) -> Workload:
    """The reference workload, or one of another size."""
    rng = np.random.default_rng(seed)
    weights = 1 / (np.arange(items) + 50.0) ** 0.9
    cumulated = np.cumsum(weights / weights.sum())
    cumulated[-1] = 1.0
    names = rng.permutation(items)  # an item's number says nothing about its popularity
    listed = names[_distinct(rng, users, length, cumulated)]
    score = -np.sort(-rng.random((users, length)), axis=1)
    mean = TRUTH / USERS
    wanted = np.clip(rng.lognormal(np.log(mean) - 0.5, 1.0, users), 1, 400).astype(int)
    wanted = np.maximum(1, (wanted * (mean * users / wanted.sum())).round().astype(int))
    pool = names[_distinct(rng, users, 120, cumulated)]
    wanted = np.minimum(wanted, 120)
    inside = np.arange(120) < wanted[:, None]
    truth = {"user_id": np.repeat(np.arange(1, users + 1), wanted), "item_id": pool[inside] + 1}
    if graded:
        truth["relevance"] = rng.integers(1, 6, len(truth["item_id"])).astype(np.float64)
    recs = {
        "user_id": np.repeat(np.arange(1, users + 1), length),
        "item_id": listed.ravel() + 1,
        "score": score.ravel(),
    }
    return Workload("reference", pl.DataFrame(recs), pl.DataFrame(truth))
