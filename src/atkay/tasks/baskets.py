"""Next basket: given a user's orders so far, what is in the next one?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.core.lists import mask
from atkay.errors import InputError, number_of
from atkay.evaluation.evaluate import evaluate
from atkay.inputs.coding.vocabulary import Vocabulary
from atkay.inputs.columns import Columns
from atkay.inputs.logs import read_log
from atkay.inputs.read import columns_of
from atkay.tasks.log import Sequences, count_of, first_rows
from atkay.tasks.task import SEEN, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atkay.core.types import Bools, Ints
    from atkay.tasks.task import Average, Seen


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class BasketTask(Task):
    """Next-basket task, with its repeat and explore parts.

    ``repeat`` and ``explore`` evaluate the same lists on a part of the basket: items ordered before, and items new to
    the user. Users whose basket has no such part are skipped.
    """

    _internal = f"{Task._internal} repeats"

    repeats: pl.Series
    """Which rows of the truth name an item that the user had ordered before."""

    @cached_property
    def repeat(self) -> Task:
        """Evaluate only items that are ordered again."""
        return self._part("repeat", self.repeats)

    @cached_property
    def explore(self) -> Task:
        """Evaluate only items that are new to the user."""
        return self._part("explore", ~self.repeats)

    def repetition_ratio(self, recs: Any = None, k: int | None = None) -> float:
        """The mean share of repeated items in a basket: of the truth, or of the top k of lists."""
        if recs is None:
            of_query = self.truth.select(*self.key, self.repeats.alias(_REPEATED)).group_by(self.key)
            return float(of_query.agg(pl.col(_REPEATED).mean())[_REPEATED].mean())  # type: ignore[arg-type]
        spec = "new_to_user" if k is None else f"new_to_user@{k}"
        columns = self._columns(recs, None) | {"train": self._names(self.history)}
        return 1 - evaluate(recs, self.truth, spec, train=self.history, columns=columns)[spec]

    def _part(self, name: str, part: pl.Series) -> Task:
        """The other items stay in the truth with grade 0, so that lists are read the same way.

        Baskets without the part are skipped in all dialects.
        """
        if not part.any():
            raise InputError(f"{self.name}: no basket has items to {name}.")
        plain = {each: getattr(self, each) for each in Task.__dataclass_fields__}
        truth = self.truth.with_columns(part.cast(pl.Float64).alias(_WANTED))
        note = f"only items to {name}: {int(part.sum()):,} of {number_of(len(part), 'item')}"
        plain |= {"name": f"{self.name}, {name}", "truth": truth, "relevance": _WANTED, "notes": (*self.notes, note)}
        return Task(**plain | {"no_truth": "skip"})


_REPEATED, _WANTED = "ordered before", "relevance"


def next_basket(
    orders: Any,
    *,
    last: int = 1,
    min_orders: int = 2,
    seen: Seen = "keep",
    average: Average = "query",
    columns: Columns | Mapping[str, Columns] | None = None,
) -> BasketTask:
    """Next-basket prediction: each user's last order is the truth.

    Training data are all orders except each user's ``last`` ones; users with fewer than ``min_orders`` orders are only
    in training. With ``last=1`` a query is a user; with more it is a user and an order, a model may see all earlier
    orders of the user, and ``average="user"`` averages per user first.

    Parameters
    ----------
    orders
        A row per item of an order: user, order, item, time. Orders are sorted by the time of their first row; ties keep
        the row order.
    last
        The number of orders of each user to predict; never the first one.
    min_orders
        Users with fewer orders are not evaluated; at least 2.
    seen
        "keep" or "exclude" items that the user ordered before. Baskets often repeat such items; "exclude" then warns.
    average
        "query", "user" or "pooled".
    columns
        The names of the columns, where they differ from the usual ones.

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
    users, (owner,) = Vocabulary.of([(frame[user],)], dense=True)
    basket, n_baskets = Sequences.of_codes(owner, users.size).pairs(frame[order])
    pair, n_pairs = Sequences.of_codes(basket, n_baskets).pairs(frame[item])
    if n_pairs < len(pair):  # each item once in an order
        kept = mask(first_rows(pair, n_pairs), len(pair))
        frame, owner, basket = frame.filter(kept), owner[kept], basket[kept]
    oldest = Sequences.of_codes(basket, n_baskets, frame[time])
    began = frame[time].gather(oldest.row[oldest.start[:-1]])
    owner_of = np.empty(n_baskets, owner.dtype)
    owner_of[basket] = owner
    line = Sequences.of_codes(owner_of, users.size, began)
    place, n_orders = line.by_row(line.place), line.by_row(np.repeat(line.length, line.length))
    held = (place >= n_orders - last) & (place > 0) & (n_orders >= min_orders)
    if not held.any():
        raise InputError(
            f"next_basket: no user has {min_orders} orders, so there is nothing to predict. Is '{order}' the "
            f"order and '{user}' the user?"
        )
    frame = frame.with_columns(began.gather(basket), pl.Series(_PLACE, place[basket]))
    rows_held = held[basket]
    truth = frame.filter(rows_held)
    pair, n_pairs = Sequences.of_codes(owner, users.size).pairs(frame[item])
    repeated = _before(pair[~rows_held], pair[rows_held], truth[_PLACE].to_numpy(), n_pairs)
    key = (user,) if last == 1 else (user, order)
    names = (user, order, item, time)
    users_held = number_of(int(np.count_nonzero(mask(owner_of[held], users.size))), "user")
    what = "the last order" if last == 1 else f"the last {last} orders"
    everything = f"{number_of(n_baskets, 'order')} of {number_of(users.size, 'user')} in total"
    note = f"{what} of {users_held} with at least {min_orders} orders; {everything}"
    return BasketTask(
        name="next basket",
        train=frame.filter(~rows_held).select(names),
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
        repeats=pl.Series(_REPEATED, repeated),
    ).settled()


_PLACE = "place of the order"


def _before(known: Ints, wanted: Ints, place: Ints, n_pairs: int) -> Bools:
    """Which wanted pairs are known, or wanted in an order of a lower place, too."""
    first = np.zeros(n_pairs, place.dtype)
    falling = np.argsort(-place, kind="stable")
    first[wanted[falling]] = place[falling]  # what is assigned last stays
    return mask(known, n_pairs)[wanted] | (first[wanted] < place)


def _reach(frame: pl.DataFrame, truth: pl.DataFrame, key: tuple[str, ...]) -> pl.DataFrame:
    """How many rows of the user precede each order to predict."""
    user = key[0]
    size = frame.group_by(*key, _PLACE).len(SEEN).sort(user, _PLACE)
    before = size.with_columns((pl.col(SEEN).cum_sum().over(user) - pl.col(SEEN)).alias(SEEN))
    return truth.select(key).unique(maintain_order=True).join(before.drop(_PLACE), on=key, maintain_order="left")
