"""Judged: the hits, and a few facts per query. All that an accuracy metric needs; NumPy and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from atkay.core.kernels import sums, within
from atkay.core.lists import Lists, is_constant, rows_of
from atkay.core.types import WHOLE, Bools, Floats, Ints
from atkay.errors import ProtocolError, SpecError
from atkay.judged.axes import lists, per_hit, per_query
from atkay.judged.judgements import Judgements, Later
from atkay.judged.side import Side, WithSide
from atkay.judged.subtopics import Subtopics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

Memo = dict[object, dict[int, Floats]]
"""Columns with a value per query, by what they are and by their cutoff."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Judged(WithSide):
    """Lists matched with the truth.

    Per hit, ordered by query and rank: ``query``, ``rank`` (from 1), ``grade``, ``item`` (its code), ``nth``.
    Per query: ``n_relevant``, ``n_listed``, and ``answered``: whether there was a list before anything was
    taken out of it. ``grades`` holds the grades of each query's relevant items, best first, one query after the other.
    What follows an engine may leave out: ``ranking`` holds the whole lists, for metrics that look at more than hits,
    ``truth`` the relevant items, for those that ask which ones were missed, ``judging`` every item that the truth
    judges and ``listing`` every item that is listed, ``side`` what was given besides lists and truth, ``subtopics``
    those of relevant items where the truth names any. ``n_nonrelevant`` counts the query's items that were judged and
    are not relevant, ``nonrelevant_above`` how many of them stand above each hit. ``tied`` has the group of equal
    scores of each hit: how many items come before it, and how many it has; ``level`` the places of each list, from 0,
    whose item has the score of the one before: a cutoff there cuts through equal scores. ``averaged`` says that values
    are averages over all orders of equal scores. ``n_unjudged`` counts items that the truth names without judging them,
    where there are any, and ``n_unjudged_above`` how many of them stand above each hit.
    ``positive`` tells which hits have a score above 0, where some metrics leave out the others. ``threshold`` is the
    grade from which an item is relevant, 0 where any grade above 0 is. ``graded`` has the same lists with every grade
    above 0 as relevant, where metrics of grades see these and others do not. Where many metrics are measured,
    ``of_hits`` and ``of_truth`` keep what several of them need; the latter depends on ``grades``, ``n_relevant`` and
    ``threshold`` alone. ``uncut`` has the lists before the protocol's depth cuts them, where it may cut through equal
    scores.
    """

    query: Ints = per_hit()
    rank: Ints = per_hit()
    grade: Floats = per_hit()
    item: Ints = per_hit()
    n_relevant: Ints = per_query()
    n_listed: Ints = per_query()
    answered: Bools = per_query()
    grades: Floats
    ranking: Lists | None = lists()
    side: Side | None = lists()
    truth: Lists | None = lists()
    judging: Later | None = lists()
    listing: Later | None = lists()
    tied: tuple[Ints, Ints] | None = None
    level: Lists | None = lists()
    averaged: bool = False
    subtopics: Subtopics | None = lists()
    n_nonrelevant: Ints | None = per_query(optional=True)
    nonrelevant_above: Ints | None = per_hit(optional=True)
    n_unjudged: Ints | None = per_query(optional=True)
    n_unjudged_above: Ints | None = per_hit(optional=True)
    positive: Bools | None = per_hit(optional=True)
    threshold: float = 0.0
    graded: Judged | None = lists()
    uncut: Judged | None = lists()
    of_hits: Memo | None = None
    of_truth: Memo | None = None

    @property
    def n_queries(self) -> int:
        """How many queries there are, with a list, with truth, or both."""
        return len(self.n_relevant)

    @cached_property
    def nth(self) -> Ints:
        """Which hit of its list each hit is, from 1."""
        return within(self.query)

    @cached_property
    def best_hits(self) -> Floats:
        """The grades of the hits, the best of each list first."""
        return self.grade if is_constant(self.grade) else self.grade[np.lexsort((-self.grade, self.query))]

    @cached_property
    def upto(self) -> Ints:
        """How many hits of its list stand at each hit's place or above: more than nth where hits share a place."""
        if self.tied is None:
            return self.nth
        last = np.flatnonzero((np.diff(self.query, append=-1) != 0) | (np.diff(self.rank, append=-1) != 0))
        return np.repeat(self.nth[last], np.diff(last, prepend=-1))

    @cached_property
    def best(self) -> Floats:
        """The highest grade in each query's truth, 0 where nothing is relevant."""
        out = np.zeros(self.n_queries)
        with_truth = self.n_relevant > 0
        out[with_truth] = self.grades[self.edges[:-1][with_truth]]
        return out

    @property
    def ties(self) -> tuple[Ints, Ints]:
        """The group of equal scores of each hit; one by itself where there are no ties."""
        return self.tied or (self.rank - 1, np.ones(len(self.rank), np.int64))

    def total(self, weights: Floats | float, cutoffs: Sequence[int]) -> Floats:
        """The sum of the hits' weights up to each cutoff: queries x cutoffs."""
        if isinstance(weights, np.ndarray):
            if self.averaged:
                raise ProtocolError("a weight that depends on the rank cannot be averaged over ties.")
            return sums(self.query, self.rank, weights, cutoffs, self.n_queries)
        if self.averaged:
            t, n = self.ties
            totals = np.empty((len(cutoffs), self.n_queries))  # floats, even where bincount has no hit to add up
            for at, k in enumerate(cutoffs):
                totals[at] = np.bincount(self.query, np.clip(k - t, 0, n) / n, self.n_queries)
            return weights * totals.T
        counts = self._hits.get(tuple(cutoffs))
        if counts is None:
            counts = self._hits[tuple(cutoffs)] = sums(self.query, self.rank, None, cutoffs, self.n_queries)
        return counts if weights == 1 else weights * counts

    @cached_property
    def _hits(self) -> dict[tuple[int, ...], Floats]:
        """The number of hits up to cutoffs, kept because many metrics ask for it."""
        return {}

    def listed(self, cutoffs: Sequence[int]) -> Ints:
        """The list's length after the cut."""
        return np.minimum(self.n_listed, _column(cutoffs)).T

    def capped(self, cutoffs: Sequence[int]) -> Ints:
        """min(k, R): how many hits a perfect list could have."""
        return np.minimum(self.n_relevant, _column(cutoffs)).T

    def depth(self, cutoffs: Sequence[int]) -> Ints:
        """The cutoff as a number: k, or the list's own length where nothing is cut."""
        ks = _column(cutoffs)
        if WHOLE not in cutoffs:
            return np.broadcast_to(ks, (len(cutoffs), self.n_queries)).T
        return np.where(ks == WHOLE, self.n_listed, ks).T

    def part(self, first: int, last: int) -> Judged:
        """The queries from ``first`` to before ``last``, on their own."""
        begin, end = np.searchsorted(self.query, (first, last))
        hits, grades = slice(begin, end), slice(*self.edges[[first, last]])
        queries = slice(first, last)
        return self._cut(self.query[hits] - first, hits, queries, grades, lambda one: one.part(first, last))

    def pick(self, queries: Ints) -> Judged:
        """The given queries on their own, in that order."""
        place = np.full(self.n_queries, -1)
        place[queries] = np.arange(len(queries))
        query = place[self.query]
        hits = np.flatnonzero(query >= 0)
        hits = hits[np.argsort(query[hits], kind="stable")]
        return self._cut(query[hits], hits, queries, rows_of(self.edges, queries), lambda one: one.pick(queries))

    def where(self, queries: Bools) -> Judged:
        """The chosen queries, on their own."""
        return self if queries.all() else self.pick(np.flatnonzero(queries))

    def without_hits(self, hits: Bools) -> Judged:
        """The same lists and truth, some of the hits left out."""
        every = slice(None)
        return self._cut(self.query[~hits], ~hits, every, every, lambda one: one)

    def _cut(self, query: Ints, hits: Any, queries: Any, grades: Any, pick: Callable[[Any], Any]) -> Judged:
        """Some of the queries or hits, field by field; ``query`` numbers the hits' queries anew."""
        take = {"hit": lambda array: array[hits], "query": lambda array: array[queries], "lists": pick}
        values = {name: take[axis](value) for name, axis in AXES.items() if (value := getattr(self, name)) is not None}
        values |= {"query": query, "grades": self.grades[grades]}
        if self.tied is not None:
            values["tied"] = self.tied[0][hits], self.tied[1][hits]
        return Judged(**values, averaged=self.averaged, threshold=self.threshold)

    @cached_property
    def above_zero(self) -> Judged:
        """The same without the hits whose score is 0 or below, where some metrics leave these out."""
        if self.positive is None:
            return self
        return replace(self.without_hits(~self.positive), of_hits=None if self.of_hits is None else {})

    @property
    def lists(self) -> Lists:
        """The whole lists, for metrics that cannot do without."""
        return _kept(self.ranking, "whole lists")

    @property
    def relevant(self) -> Lists:
        """The relevant items of each query, in no particular order, for metrics that ask what was missed."""
        return _kept(self.truth, "all relevant items")

    @property
    def judgements(self) -> Judgements:
        """Every item that the truth judges, relevant or not, its grade, and where it is listed."""
        return _kept(self.judging, "all judged items").rows

    @property
    def listings(self) -> Judgements:
        """Every listed item, its grade, 0 where the truth does not judge it, and its score."""
        return _kept(self.listing, "the scores of whole lists").rows

    @property
    def nonrelevant(self) -> tuple[Ints, Ints]:
        """Judged items that are not relevant: how many each query has, and how many of them stand above each hit."""
        what = "judged items that are not relevant"
        return _kept(self.n_nonrelevant, what), _kept(self.nonrelevant_above, what)

    @property
    def unjudged_above(self) -> Ints:
        """How many items that the truth names without judging them stand above each hit."""
        return np.zeros(len(self.query), np.int64) if self.n_unjudged_above is None else self.n_unjudged_above

    @property
    def has_nonrelevant(self) -> Bools:
        """The queries whose truth names an item that is not relevant, with a judgement of it or without."""
        unjudged = 0 if self.n_unjudged is None else self.n_unjudged
        named: Bools = self.nonrelevant[0] + unjudged > 0
        return named

    def top(self, k: int) -> Places:
        """Query, rank and item of what stands in the top k of every list; the last one asked for is kept."""
        if self._top.get("k") != k:
            lists = self.lists
            length = np.minimum(lists.length, k)
            query = np.repeat(np.arange(lists.n_queries), length)
            rank = within(query)
            item = lists.item if k >= lists.length.max(initial=0) else lists.item.take(lists.start[query] + rank - 1)
            self._top.update(k=k, places=Places(query, rank, item))
        places: Places = self._top["places"]
        return places

    @cached_property
    def _top(self) -> dict[str, Any]:
        return {}

    def over_list(self, weights: Floats, cutoffs: Sequence[int]) -> Floats:
        """The sum of weights up to each cutoff, one for each row of ``top(max(cutoffs))``: queries x cutoffs."""
        places = self.top(max(cutoffs))
        return sums(places.query, places.rank, weights, cutoffs, self.n_queries)

    @cached_property
    def edges(self) -> Ints:
        """Where each query's grades begin, and where the last one's end."""
        return np.concatenate(([0], np.cumsum(self.n_relevant)))

    @classmethod
    def of_nobody(cls, n_items: int, side: Side | None) -> Judged:
        """No query at all, and what is known of items: from what was counted elsewhere, the numbers of a run follow."""
        none, no_grade = np.empty(0, np.int64), np.empty(0)
        no_rows = Later(lambda: Judgements(Lists.of(none, none, n_items), no_grade, np.empty(0, bool), none))
        return cls(
            query=none,
            rank=none,
            grade=no_grade,
            item=none,
            n_relevant=none,
            n_listed=none,
            answered=np.empty(0, bool),
            grades=no_grade,
            ranking=Lists.of(none, none, n_items),
            side=side,
            truth=Lists.of(none, none, n_items),
            judging=no_rows,
            listing=no_rows,
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Judged]) -> Judged:
        """One Judged out of several with different queries and the same item codes."""
        join: dict[str, Callable[[Any], Any]] = {
            "hit": np.concatenate,
            "query": np.concatenate,
            "lists": lambda each: each[0].concatenate(each),
        }
        values: dict[str, Any] = {}
        if any(part.graded is not None for part in parts):
            parts = [part if part.graded else replace(part, graded=part) for part in parts]
        for name, axis in AXES.items():
            of_parts = [getattr(part, name) for part in parts]
            if all(value is not None for value in of_parts):
                values[name] = join[axis](of_parts)
        shift = np.cumsum([0, *(part.n_queries for part in parts)])
        values["query"] = np.concatenate([part.query + by for part, by in zip(parts, shift, strict=False)])
        values["grades"] = np.concatenate([part.grades for part in parts])
        values["tied"] = tuple(np.concatenate(side) for side in zip(*(part.ties for part in parts), strict=True))
        return cls(**values, averaged=parts[0].averaged, threshold=parts[0].threshold)


AXES: dict[str, str] = {each.name: each.metadata["axis"] for each in fields(Judged) if "axis" in each.metadata}
"""The axis of each field that has one: what is cut and joined by it."""


def kept(memo: Memo | None, what: object, cutoffs: Sequence[int], work: Callable[[Sequence[int]], Floats]) -> Floats:
    """A column per cutoff, of which each is worked out once; every time where nothing is kept."""
    if memo is None:
        return work(cutoffs)
    columns = memo.setdefault(what, {})
    missing = [k for k in dict.fromkeys(cutoffs) if k not in columns]
    if missing:
        columns.update(zip(missing, work(missing).T, strict=True))
    return np.array([columns[k] for k in cutoffs]).T


def _kept(what: T | None, name: str) -> T:
    if what is None:
        raise SpecError(
            f"a metric needs {name}, but only hits were kept. Evaluate the lists themselves: evaluate(recs, "
            f"truth, ...)."
        )
    return what


class Places(NamedTuple):
    """Rows of lists, ordered by query and rank."""

    query: Ints
    rank: Ints
    item: Ints


def _column(cutoffs: Sequence[int]) -> Ints:
    """The cutoffs as the first axis, turned round afterwards: a cutoff's values then lie together."""
    return np.array(cutoffs, dtype=np.int64)[:, None]
