"""The reference workload and its variants, made from a seed.

Shaped like MovieLens-20M: 138,493 users, 100 listed items each out of 26,744, popular ones more often, and 3.3 million
rows of truth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

USERS, ITEMS, LENGTH, TRUTH = 138_493, 26_744, 100, 3_300_000
WIDEST = 150
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
    wanted = rng.lognormal(0.0, 0.7, users)
    wanted = np.clip(np.round(wanted * (TRUTH / USERS) * users / wanted.sum()), 1, WIDEST).astype(int)
    pool = names[_distinct(rng, users, WIDEST, cumulated)]
    inside = np.arange(WIDEST) < wanted[:, None]
    # Most of what users want is as popular as anything; a part of it is what the lists show them, so there are hits.
    shown = rng.integers(0, length, (users, WIDEST))
    lucky = rng.random((users, WIDEST)) < 0.08
    pool = np.where(lucky, np.take_along_axis(listed, shown, axis=1), pool)
    ordered = np.sort(np.where(inside, pool, items + np.arange(WIDEST)), axis=1)
    inside = (ordered < items) & (np.diff(ordered, axis=1, prepend=-1) > 0)
    truth = {"user_id": np.repeat(np.arange(1, users + 1), inside.sum(axis=1)), "item_id": ordered[inside] + 1}
    if graded:
        truth["relevance"] = rng.integers(1, 6, len(truth["item_id"])).astype(np.float64)
    recs = {
        "user_id": np.repeat(np.arange(1, users + 1), length),
        "item_id": listed.ravel() + 1,
        "score": score.ravel(),
    }
    return Workload("reference", pl.DataFrame(recs), pl.DataFrame(truth))


def variant(name: str, *, users: int = USERS) -> Workload:
    """The reference workload in another form."""
    if name == "large catalogue":
        return replace(reference(users=users, items=5_000_000), name=name)
    if name == "long lists":
        return replace(reference(users=users // 10, length=1000), name=name)
    if name == "graded":
        return replace(reference(users=users, graded=True), name=name)
    base = reference(users=users)
    recs, truth = base.recs, base.truth
    if name == "shuffled":
        recs, truth = (frame.sample(fraction=1, shuffle=True, seed=1) for frame in (recs, truth))
    if name == "text ids":
        recs, truth = (
            frame.with_columns(
                pl.format("user-{}", "user_id").alias("user_id"), pl.format("item-{}", "item_id").alias("item_id")
            )
            for frame in (recs, truth)
        )
    if name == "64-bit ids":
        rng = np.random.default_rng(5)
        ids = rng.permutation(np.unique(rng.integers(-(2**63), 2**63 - 1, 2 * max(users, ITEMS) + 10)))
        recs, truth = (
            frame.with_columns(
                user_id=pl.Series(ids[frame["user_id"].to_numpy()]),
                item_id=pl.Series(ids[-1 - frame["item_id"].to_numpy()]),
            )
            for frame in (recs, truth)
        )
    return Workload(name, recs.rechunk(), truth.rechunk())


VARIANTS = ("sorted", "shuffled", "text ids", "64-bit ids", "large catalogue", "long lists", "graded")
