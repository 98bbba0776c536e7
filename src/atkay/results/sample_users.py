"""Examples: a few users in full, kept with a result so that its numbers can be looked into."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.core.fingerprint import HASH_MODULUS
from atkay.core.lists import mask, rows_of
from atkay.judged.judged import Judged
from atkay.metrics.worked import arithmetic
from atkay.text.printable import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atkay.core.lists import Lists
    from atkay.core.types import Array, Floats, Ints
    from atkay.inputs.coding.align import Aligned
    from atkay.metrics.metric import Metric

USERS_KEPT = 100
"""Users kept."""

ITEMS_SHOWN = 50
"""Items shown of a list and of a user's truth."""


class Place(NamedTuple):
    """An item of a list; ``grade`` is that of a hit, None elsewhere; ``score`` is None where there are none."""

    rank: int
    item: Any
    score: float | None
    grade: float | None

    def __str__(self) -> str:
        details = [] if self.score is None else [f"score {self.score:.10g}"]
        details += [] if self.grade in (None, 1) else [f"grade {self.grade:g}"]
        return f"{self.rank} {one_line(str(self.item))}{'' if self.grade is None else ' ✓'}" + (
            f" ({', '.join(details)})" if details else ""
        )


@dataclass(frozen=True, eq=False)
class Examples:
    """A few users in full; which ones depends on their ids alone, so that all runs show the same.

    ``rows`` are the rows of the users in the result. ``judged`` has their lists and hits only, ``codes`` and ``ids``
    the item codes that are shown, in ascending order, and their ids. ``given`` and ``given_truth`` are the rows of
    lists and truth as they came in, ``score`` and ``grade`` their numbers where there are any.
    """

    rows: Ints
    judged: Judged
    codes: Ints
    ids: Sequence[Any]
    given: Lists
    given_truth: Lists
    score: Array | None
    grade: Floats | None

    def __len__(self) -> int:
        return len(self.rows)

    def listed(self, nth: int) -> list[Place]:
        """The first places of one user's list."""
        one = self.judged.part(nth, nth + 1)
        codes = one.lists.item[:ITEMS_SHOWN]
        score = by_item(self.given, self.score, nth)
        place = np.flatnonzero(np.isin(one.lists.item, one.item)) + 1  # not the rank, which equal scores may share
        grade = dict(zip(place.tolist(), one.grade.tolist(), strict=True))
        places = enumerate(zip(self._ids(codes), codes.tolist(), strict=True), start=1)
        return [Place(at, item, score.get(code), grade.get(at)) for at, (item, code) in places]

    def truth(self, nth: int) -> list[tuple[Any, float]]:
        """The relevant items of one user and their grades, the best first."""
        codes = self.judged.relevant.part(nth, nth + 1).item
        given_truth = by_item(self.given_truth, self.grade, nth, first=True)
        grade = np.array([given_truth.get(code, 1.0) for code in codes.tolist()])
        best = np.argsort(-grade, kind="stable")[:ITEMS_SHOWN]
        return list(zip(self._ids(codes[best]), grade[best].tolist(), strict=True))

    def arithmetic(self, metric: Metric, nth: int) -> str:
        """How the value of a user is computed; empty if that needs more than list and truth."""
        return "" if metric.needs else arithmetic(metric, self.judged.part(nth, nth + 1))

    def _ids(self, codes: Ints) -> list[Any]:
        return [self.ids[at] for at in np.searchsorted(self.codes, codes).tolist()]


def choose(aligned: Aligned, judged: Judged, counted: Ints, rows: Ints | None = None) -> Examples:
    """Users with relevant items, picked by a hash of their ids; ``counted`` are the queries of the result.

    Or those in given ``rows`` of the result.
    """
    if rows is not None:
        return _examples(aligned, judged, counted, counted[rows])
    there = counted[judged.n_relevant[counted] > 0]
    number = aligned.query_numbers[there]
    if len(there) > USERS_KEPT:
        limit = min(8 * USERS_KEPT * HASH_MODULUS // len(there), HASH_MODULUS - 1)
        low = np.flatnonzero(number <= np.uint64(limit))  # nearly always enough
        low = low if len(low) > USERS_KEPT else np.arange(len(there))
        lowest = low[np.argpartition(number[low], USERS_KEPT)[:USERS_KEPT]]
        there, number = there[lowest], number[lowest]
    return _examples(aligned, judged, counted, there[np.argsort(number, kind="stable")])


def _examples(aligned: Aligned, judged: Judged, counted: Ints, chosen: Ints) -> Examples:
    """The given queries in full."""
    small = replace(judged, side=None).pick(chosen)  # what is known of all items is too much to keep
    given, given_truth, score = aligned.recs.pick(chosen), aligned.truth.pick(chosen), aligned.score
    codes = np.flatnonzero(mask(np.concatenate((small.lists.item, small.relevant.item)), aligned.items.size))
    return Examples(
        rows=np.searchsorted(counted, chosen),
        judged=small,
        codes=codes,
        ids=aligned.items.ids(codes).to_series().to_list(),
        given=given,
        given_truth=given_truth,
        score=None if score is None else score.of(aligned.recs, chosen),
        grade=None if aligned.grade is None else aligned.grade[rows_of(aligned.truth.start, chosen)],
    )


def by_item(lists: Lists, values: Array | None, query: int, *, first: bool = False) -> dict[int, float]:
    """The values of a query's items by code; the highest, or the first, of duplicates."""
    if values is None:
        return {}
    rows = slice(*lists.start[query : query + 2])
    item, value = lists.item[rows], values[rows]
    order = np.arange(len(item))[::-1] if first else np.argsort(value, kind="stable")
    return dict(zip(item[order].tolist(), value[order].tolist(), strict=True))
