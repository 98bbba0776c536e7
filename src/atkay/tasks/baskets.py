"""Next basket: given a user's orders so far, what is in the next one?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.errors import InputError, number_of
from atkay.evaluation.evaluate import evaluate
from atkay.inputs.columns import Columns
from atkay.inputs.logs import read_log
from atkay.inputs.read import columns_of
from atkay.tasks.log import Sequences, count_of
from atkay.tasks.task import SEEN, Task

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class BasketTask(Task):
    """Next baskets, and what of them is a repeat.

    ``repeat`` and ``explore`` judge the same lists by a part of the basket: what the user had ordered before, and what
    is new to the user. A user whose basket has no such part is left out there, whatever the dialect.
    """

    repeats: pl.Series
    """Which rows of the truth name an item that the user had ordered before."""

    @cached_property
    def repeat(self) -> Task:
        """The same lists, judged by what is ordered again."""
        return self._part("repeat", self.repeats)

    @cached_property
    def explore(self) -> Task:
        """The same lists, judged by what is new to the user."""
        return self._part("explore", ~self.repeats)

    def repetition_ratio(self, recs: Any = None, k: int | None = None) -> float:
        """The share of a basket that is ordered again, mean over queries: of the truth, or of the top k of lists."""
        if recs is None:
            of_query = self.truth.select(*self.key, self.repeats.alias(_REPEATED)).group_by(self.key)
            return float(of_query.agg(pl.col(_REPEATED).mean())[_REPEATED].mean())  # type: ignore[arg-type]
        spec = "new_to_user" if k is None else f"new_to_user@{k}"
        columns = self._columns(recs, None) | {"train": self._names(self.history)}
        return 1 - evaluate(recs, self.truth, spec, train=self.history, columns=columns)[spec]

    def _part(self, name: str, part: pl.Series) -> Task:
        """The rest of a basket stays as judged and not wanted, so that lists are read alike.

        A basket without the part would then score 0 in some dialects: it is skipped in all.
        """
        if not part.any():
            raise InputError(f"{self.name}: no basket has a part to {name}.")
        plain = {each: getattr(self, each) for each in Task.__dataclass_fields__}
        truth = self.truth.with_columns(part.cast(pl.Float64).alias(_WANTED))
        note = f"the part of each basket to {name}: {number_of(int(part.sum()), 'item')} of {len(part):,}"
        plain |= {"name": f"{self.name}, {name}", "truth": truth, "relevance": _WANTED, "notes": (*self.notes, note)}
        return Task(**plain | {"no_truth": "skip"})


_REPEATED, _WANTED = "ordered before", "relevance"


def next_basket(
    orders: Any,
    *,
    last: int = 1,
    min_orders: int = 2,
    seen: str = "keep",
    average: str = "query",
    columns: Columns | Mapping[str, Columns] | None = None,
) -> BasketTask:
    """A user's orders so far, and the last one as truth.

    Training data are all orders but each user's ``last`` ones; those of users with fewer than ``min_orders`` are for
    training alone. With ``last=1`` a query is a user. With more, it is a user and an order, a model may see all earlier
    orders of the user, and ``average="user"`` averages the orders of one user first.

    Parameters
    ----------
    orders
        A row per item of an order: a user, an order, an item, a time. Orders go by the time of their first row, and
        those of the same user and time stay in the order of the rows.
    last
        How many orders of each user are asked for; the first order of a user never is.
    min_orders
        Users with fewer orders are not asked; two are the least.
    seen
        "keep" leaves items that the user had ordered before in the lists; "exclude" takes them out. Most of a basket
        is often ordered again: then a warning says so.
    average
        "query", "user" or "pooled".
    columns
        The names of the columns, where they are not found by themselves.

    References
    ----------
    Li et al., A next basket recommendation reality check, 2023 (arXiv 2109.14233): repeat and explore, and the
    reference recommenders of ``atkay.tasks.references``.

    Examples
    --------
    Ann orders tea again, and rye for the first time:

    >>> import polars as pl
    >>> orders = pl.DataFrame({"user": ["ann"] * 4, "order": [1, 1, 2, 2], "time": [1, 1, 2, 2],
    ...                        "item": ["tea", "jam", "tea", "rye"]})
    >>> task = atkay.tasks.next_basket(orders)
    >>> task.repetition_ratio()
    0.5
    >>> recs = {"ann": ["tea", "jam", "oat", "rye"]}
    >>> [part.evaluate(recs, "recall@2")["recall@2"] for part in (task, task.repeat, task.explore)]
    [0.5, 1.0, 0.0]
    """
    last, min_orders = count_of(last, "next_basket: last"), count_of(min_orders, "next_basket: min_orders", 2)
    needed = ("user", "order", "item", "time")
    used, frame = read_log(orders, "orders", columns_of(columns, "orders"), needed)
    user, order, item, time = (used[role] for role in needed)
    frame = _each_once(frame, (user, order, item))
    baskets = frame.group_by(user, order, maintain_order=True).agg(pl.col(time).min())
    line = Sequences.of(baskets[user], baskets[time])
    place, n_orders = line.by_row(line.place), line.by_row(np.repeat(line.length, line.length))
    held = (place >= n_orders - last) & (place > 0) & (n_orders >= min_orders)
    if not held.any():
        raise InputError(
            f"next_basket: no user has {min_orders} orders, so there is nothing to ask. Is '{order}' an order, and "
            f"'{user}' a user?"
        )
    frame = frame.drop(time).join(
        baskets.with_columns(pl.Series(_PLACE, place), pl.Series(_HELD, held)), on=(user, order), maintain_order="left"
    )
    truth = frame.filter(_HELD)
    wanted = frame.join(truth, on=(user, item), how="semi")
    first = wanted.group_by(user, item).agg(pl.col(_PLACE).min().alias(_FIRST))
    truth = truth.join(first, on=(user, item), maintain_order="left")
    key = (user,) if last == 1 else (user, order)
    names = (user, order, item, time)
    users = number_of(int(baskets.filter(held)[user].n_unique()), "user")
    what = "the last order" if last == 1 else f"the last {last} orders"
    everything = f"{number_of(len(baskets), 'order')} of {number_of(len(line.length), 'user')} in all"
    note = f"{what} of {users} with {min_orders} orders or more; {everything}"
    return BasketTask(
        name="next basket",
        train=frame.filter(~pl.col(_HELD)).select(names),
        truth=truth.select(names),
        key=key,
        item=item,
        owner=user,
        event=(user, order, item),
        time=time,
        user=user,
        average=average,
        seen=seen,
        past=None if last == 1 else frame.sort(_PLACE, maintain_order=True).select(names),
        reach=None if last == 1 else _reach(frame, truth, key),
        notes=(note,),
        repeats=truth.select(pl.col(_FIRST) < pl.col(_PLACE)).to_series(),
    ).settled()


_PLACE, _HELD, _FIRST = "place of the order", "order is held out", "place of the item's first order"


def _each_once(frame: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """Each item once in an order. Rows with different hashes differ, and these are found faster."""
    if frame.select(names).hash_rows().n_unique() == len(frame):
        return frame
    return frame.unique(names, keep="first", maintain_order=True)


def _reach(frame: pl.DataFrame, truth: pl.DataFrame, key: tuple[str, ...]) -> pl.DataFrame:
    """How many rows of the user come before each order that is asked for."""
    user = key[0]
    size = frame.group_by(*key, _PLACE).len(SEEN).sort(user, _PLACE)
    before = size.with_columns((pl.col(SEEN).cum_sum().over(user) - pl.col(SEEN)).alias(SEEN))
    return truth.select(key).unique(maintain_order=True).join(before.drop(_PLACE), on=key, maintain_order="left")
