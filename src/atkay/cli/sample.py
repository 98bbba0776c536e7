"""A made-up shop: users with tastes, what they bought, and what three recommenders would show them. Seeded."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from atkay.core.types import Array, Bools, Floats, Ints

USERS, ITEMS, TASTES, K = 3000, 800, 12, 20
ITEMS_PER_USER = 65
"""The most items that a user has bought and will buy."""
KINDS = ("bread", "cheese", "fruit", "coffee", "tea", "spice", "sweets", "wine", "pasta", "nuts", "honey", "oil")


class Sample(NamedTuple):
    """Tables as one would have them on disk."""

    train: pl.DataFrame
    truth: pl.DataFrame
    users: pl.DataFrame
    items: pl.DataFrame
    runs: dict[str, pl.DataFrame]


def sample(seed: int = 7) -> Sample:
    """The shop: 3,000 users, 800 items, a purchase history, held-out purchases, and three recommenders' lists."""
    import polars as pl

    rng = np.random.default_rng(seed)
    taste = rng.dirichlet(np.full(TASTES, 0.25), USERS)
    kind = rng.integers(0, TASTES, ITEMS)
    known = rng.zipf(1.7, ITEMS).clip(max=60) ** 0.6  # a few items are bought by many
    chance = taste[:, kind] * known
    order = np.argsort(np.log(chance + 1e-12) + rng.gumbel(size=chance.shape), axis=1)[:, ::-1]  # drawn by chance
    new = rng.random(USERS) < 0.3
    bought = np.where(new, rng.integers(3, 8, USERS), rng.integers(10, 40, USERS))
    unknown = np.flatnonzero(new)[::12]  # the model has nothing for them
    left = rng.integers(1, 25, USERS)
    user, place = np.divmod(np.arange(USERS * ITEMS_PER_USER), ITEMS_PER_USER)
    item = order[:, :ITEMS_PER_USER].ravel()
    seen, held = place < bought[user], (place >= bought[user]) & (place < (bought + left)[user])
    had = np.zeros((USERS, ITEMS), bool)
    had[user[seen], item[seen]] = True
    users, items = (
        np.array([f"u{n:04}" for n in range(USERS)]),
        np.array([f"{KINDS[kind[n]]}-{n:03}" for n in range(ITEMS)]),
    )

    def table(rows: Ints) -> pl.DataFrame:
        return pl.DataFrame({"user": users[user[rows]], "item": items[item[rows]]})

    grade = np.where(place == bought[user], 2, 1)  # the next purchase counts more than later ones
    truth = table(np.flatnonzero(held)).with_columns(relevance=pl.Series(grade[held]))
    return Sample(
        train=table(np.flatnonzero(seen)),
        truth=truth,
        users=pl.DataFrame({"user": users, "since": np.where(new, "this year", "earlier")}),
        items=pl.DataFrame({"item": items, "kind": [KINDS[each] for each in kind]}),
        runs={
            name: _lists(score, had, users, items).filter(~pl.col("user").is_in(users[unknown]) | (name != "model"))
            for name, score in _scores(had, chance, new, rng).items()
        },
    )


def _scores(had: Bools, chance: Floats, new: Bools, rng: np.random.Generator) -> dict[str, Floats]:
    """What three recommenders think of every item for every user; the model knows new users less well."""
    seen = had.astype(float)
    popularity = seen.sum(axis=0)
    unit = seen / np.sqrt(np.maximum(popularity, 1))
    neighbours = unit.T @ unit
    np.fill_diagonal(neighbours, 0)
    noise = rng.normal(0, 1, chance.shape) * np.where(new, 1.2, 0.1)[:, None]
    return {
        "popularity": np.broadcast_to(popularity, had.shape) + rng.random(len(popularity)) * 1e-6,
        "neighbours": seen @ neighbours + 1e-6 * popularity,
        "model": np.log(chance + 1e-6) + noise,
    }


def _lists(score: Floats, had: Bools, users: Array, items: Array) -> pl.DataFrame:
    """The K best items of each user that the user does not have yet."""
    import polars as pl

    score = np.where(had, -np.inf, score)
    best = np.argsort(-score, axis=1, kind="stable")[:, :K]
    return pl.DataFrame(
        {
            "user": np.repeat(users, K),
            "item": items[best.ravel()],
            "score": np.take_along_axis(score, best, axis=1).ravel(),
        }
    )
