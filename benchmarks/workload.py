"""The reference workload and its variants, made from a seed.

Shaped like MovieLens-20M: 138,493 users, 100 listed items each out of 26,744, popular ones more often, and 3.3 million
rows of truth. A variant is a form of one of three bases; making a base is slow, giving it another form is not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

USERS, ITEMS, LENGTH, TRUTH = 138_493, 26_744, 100, 3_300_000
WIDEST = 150


@dataclass(frozen=True)
class Workload:
    """Lists and truth. A base is sorted by user, the users are 1, 2, 3, ..., and the best score comes first."""

    recs: pl.DataFrame
    truth: pl.DataFrame

    def each(self, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Workload:
        """The same change to both tables."""
        return Workload(change(self.recs), change(self.truth))


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


@cache
def reference(*, users: int = USERS, items: int = ITEMS, length: int = LENGTH, seed: int = 20) -> Workload:
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
    user = np.arange(1, users + 1)
    return Workload(
        recs=pl.DataFrame(
            {"user_id": np.repeat(user, length), "item_id": listed.ravel() + 1, "score": score.ravel()},
        ),
        truth=pl.DataFrame({"user_id": np.repeat(user, inside.sum(axis=1)), "item_id": ordered[inside] + 1}),
    )


def resized(base: Workload, users: int) -> Workload:
    """The first so many users of a base; where it has fewer, its lists come again under new users."""
    have = base.recs["user_id"][-1]

    def repeat(frame: pl.DataFrame) -> pl.DataFrame:
        copies = [
            frame.with_columns(pl.col("user_id") + first).filter(pl.col("user_id") <= users)
            for first in range(0, users, have)
        ]
        return pl.concat(copies, rechunk=True)

    return base.each(repeat)


def _sorted(base: Workload) -> Workload:
    return base


def _shuffled(base: Workload) -> Workload:
    return base.each(lambda frame: frame.sample(fraction=1, shuffle=True, seed=1))


def _text(base: Workload) -> Workload:
    return base.each(
        lambda frame: frame.with_columns(
            user_id=pl.format("user-{}", "user_id"),
            item_id=pl.format("item-{}", "item_id"),
        )
    )


def _wide(base: Workload) -> Workload:
    """Users and items by random numbers of 64 bits; the users no longer come in the order of their numbers."""
    rng = np.random.default_rng(5)
    most = sum(
        int(max(frame[name].to_numpy().max() for frame in (base.recs, base.truth))) for name in base.truth.columns
    )
    ids = rng.permutation(np.unique(rng.integers(-(2**63), 2**63 - 1, most + 100)))
    return base.each(
        lambda frame: frame.with_columns(
            user_id=pl.Series(ids[frame["user_id"].to_numpy()]),
            item_id=pl.Series(ids[-frame["item_id"].to_numpy()]),
        )
    )


def _graded(base: Workload) -> Workload:
    grades = np.random.default_rng(6).integers(1, 6, len(base.truth)).astype(np.float64)
    return Workload(base.recs, base.truth.with_columns(relevance=pl.Series(grades)))


@dataclass(frozen=True)
class Variant:
    """A base, by the sizes in which it differs from the reference, and the form it is given."""

    form: Callable[[Workload], Workload] = _sorted
    items: int = ITEMS
    length: int = LENGTH

    def base(self, users: int) -> Workload:
        """Lists of 1,000 are for fewer users, so that there are as many rows."""
        return reference(users=max(1, users * LENGTH // self.length), items=self.items, length=self.length)


VARIANTS = {
    "sorted": Variant(),
    "pandas input": Variant(),  # the same data in another kind of frame
    "shuffled": Variant(_shuffled),
    "text ids": Variant(_text),
    "64-bit ids": Variant(_wide),
    "graded": Variant(_graded),
    "large catalogue": Variant(items=5_000_000),
    "long lists": Variant(length=1000),
}


def save(load: Workload, folder: Path, *, kinds: Collection[str]) -> None:
    """Both tables for measure.py: for Polars as Arrow in one piece, ready to be mapped; for pandas as NumPy arrays."""
    folder.mkdir(parents=True)
    for name, frame in (("recs", load.recs), ("truth", load.truth)):
        if "polars" in kinds:
            frame.rechunk().write_ipc(folder / f"{name}.arrow", record_batch_size=len(frame))
        if "pandas" in kinds:
            np.savez(folder / f"{name}.npz", **_arrays(frame))


def _arrays(frame: pl.DataFrame) -> dict[str, Any]:
    """The columns; text as its words and, for each row, the word's number."""
    arrays: dict[str, Any] = {}
    for column in frame:
        if column.dtype == pl.String:
            words = column.unique()
            arrays[f"{column.name} words"] = words.to_numpy().astype(str)
            arrays[f"{column.name} codes"] = column.cast(pl.Enum(words)).to_physical().to_numpy()
        else:
            arrays[column.name] = column.to_numpy()
    return arrays
