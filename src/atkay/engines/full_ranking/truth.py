"""Truth and excluded items in CSR form, and a Judged from the ranks of the relevant items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.core.fingerprint import Fingerprint, id_numbers, scrambled
from atkay.core.kernels import fingerprint, match, within
from atkay.core.lists import Lists, mask
from atkay.core.match import repeated
from atkay.errors import DuplicateError, InputError, ProtocolError, RelevanceError, listing
from atkay.evaluation.finish import read_grades
from atkay.evaluation.hits import find_hits, relevant_grades
from atkay.evaluation.judge import without_depth
from atkay.evaluation.raters import one_grade_each, unjudged_rows
from atkay.inputs.arrays import Use, item_rows
from atkay.inputs.coding.grades import Grades
from atkay.inputs.item_rows import ItemRows, as_array, compressed, is_sparse
from atkay.judged.judged import Judged
from atkay.judged.side import Side
from atkay.protocol import Protocol
from atkay.results.population import Population
from atkay.words import Word, words_of

if TYPE_CHECKING:
    import polars as pl

    from atkay.core.types import Bools, Floats, Ints
    from atkay.evaluation.request import Request

TIES = tuple(
    word
    for word, meaning in words_of(Protocol.__dataclass_fields__["ties"]).items()
    if not isinstance(meaning, Word) or meaning.traits.get("by") in (None, "item", "grade")
)
"""What can be done about equal scores where they are counted and not listed."""


class Ranked(NamedTuple):
    """Of each target, in the order of the truth: how many items score above, how many as high, itself among them, how
    many of these have a lower index, and whether the score is above 0.
    """

    above: Ints
    equal: Ints
    before: Ints
    positive: Bools


@dataclass(frozen=True, eq=False)
class Truth:
    """What is wanted and what is not ranked, user by user; items are numbered from 0."""

    wanted: Lists
    grade: Floats
    seen: Lists | None

    @classmethod
    def read(cls, truth: Any, exclude: Any, protocol: Protocol) -> Truth:
        """Truth and seen items, each pair once, as the protocol says."""
        rows = _rows(truth, "grades", "truth")
        grades = np.ones(len(rows.item)) if rows.value is None else rows.value.astype(float)
        if not np.isfinite(grades).all():
            raise RelevanceError("truth: grades must be finite numbers.")
        if protocol.negative == "error" and (below := int(np.count_nonzero(grades < 0))):
            raise RelevanceError(
                f"truth: {below:,} of {len(grades):,} grades are below 0. Fix them, or pass negative='irrelevant' or "
                "negative='unjudged'."
            )
        n_items, seen = rows.width, None
        if exclude is not None:
            other = _rows(exclude, "members", "exclude")
            if len(other.length) != len(rows.length):
                raise InputError(
                    f"exclude has {len(other.length):,} users and truth {len(rows.length):,}. Both need a row per user."
                )
            n_items = max(n_items, other.width)
            seen = other.lists(n_items)
            seen = seen.only(~mask(repeated(seen), len(seen)))
        wanted = rows.lists(n_items)
        again = repeated(wanted)
        if len(again) and (protocol.duplicates if protocol.raters == "one" else protocol.raters) == "error":
            raise DuplicateError(
                f"truth: item {wanted.item[again[0]]} appears twice in the truth of user {wanted.query_of(again[0])}; "
                f"{len(again):,} of {len(wanted):,} rows repeat an item. Drop them, or pass duplicates='first' to keep "
                "the first of each."
            )
        if len(again):
            unjudged = unjudged_rows(grades, protocol)
            if unjudged is not None:  # what others judged counts; where nobody did the pair stays, as one that is named
                pair = wanted.owner() * n_items + wanted.item
                kept = ~(unjudged & np.isin(pair, pair[~unjudged]))
                wanted, grades = wanted.only(kept), grades[kept]
            wanted, settled = one_grade_each(wanted, grades, protocol.raters)
            assert settled is not None
            grades = settled
        return cls(wanted, grades, seen)

    def readings(self, protocol: Protocol) -> tuple[str, ...]:
        """The grades, where there are others than 0 and 1."""
        grades = self.grades
        return (read_grades("the values of truth", grades, protocol),) if grades and grades.graded else ()

    @cached_property
    def grades(self) -> Grades | None:
        """Which grades there are."""
        return Grades.of(self.grade)

    @property
    def n_users(self) -> int:
        """How many users there are, with or without truth."""
        return self.wanted.n_queries

    @property
    def n_named(self) -> int:
        """How many items there are at least: truth and seen items name some, and a matrix has its width."""
        return self.wanted.n_items

    @cached_property
    def n_seen(self) -> Ints:
        """How many items are not ranked for each user."""
        return np.zeros(self.n_users, np.int64) if self.seen is None else self.seen.length

    @cached_property
    def rows(self) -> Ints:
        """The rows of the truth that are ranked: those that the user has not seen. They are the targets."""
        if self.seen is None:
            return np.arange(len(self.wanted))
        return np.flatnonzero(~mask(match(self.wanted, self.seen).row, len(self.wanted)))

    @cached_property
    def targets(self) -> tuple[Ints, Ints]:
        """The user and the item of each target."""
        return self.wanted.owner()[self.rows], self.wanted.item[self.rows]

    def judged(
        self, protocol: Protocol, ranked: Ranked, n_items: int, lists: Lists | None = None, level: Lists | None = None
    ) -> Judged:
        """The hits: all relevant items that are ranked, where they stand in the list of all items."""
        if (unjudged := unjudged_rows(self.grade, protocol)) is not None:
            judged_only = Truth(self.wanted.only(~unjudged), self.grade[~unjudged], self.seen)
            of_judged = Ranked._make(each[~unjudged[self.rows]] for each in ranked)
            judged = judged_only.judged(protocol, of_judged, n_items, lists, level)
            named = np.bincount(self.wanted.owner()[unjudged], minlength=self.n_users)
            return replace(
                judged, n_unjudged=named, n_unjudged_above=self._above(judged, protocol, ranked, unjudged[self.rows])
            )
        query, item = self.targets
        least = protocol.min_relevance
        grade = relevant_grades(self.grade, least)
        rank = _settled(protocol, query, item, grade[self.rows], ranked)
        order = np.lexsort((rank, query))
        n_listed, whole = n_items - self.n_seen, (lists, level)
        if protocol.depth is not None:
            order = order[rank[order] <= protocol.depth]
            n_listed = np.minimum(n_listed, protocol.depth)
            lists = None if lists is None else lists.only(within(lists.owner()) <= protocol.depth)
            level = None if level is None else level.only(level.item < protocol.depth)
        tied = None
        if (ranked.equal > 1).any() or level:
            above, equal = ranked.above[order], ranked.equal[order]
            tied = above, equal if protocol.depth is None else np.minimum(equal, protocol.depth - above)
            if protocol.ties == "together":
                rank = ranked.above + ranked.equal

        def hits(grade: Floats) -> Judged:
            return find_hits(
                self.wanted,
                grade,
                protocol,
                query[order],
                self.rows[order],
                rank[order],
                tied=tied,
                positive=None if protocol.nonpositive == "listed" else ranked.positive[order],
                n_listed=n_listed,
                answered=np.full(self.n_users, n_items > 0),
                ranking=Lists(np.zeros(self.n_users + 1, np.int64), item[:0], n_items) if lists is None else lists,
                side=Side(n_items, catalog=np.ones(n_items, bool)),
                level=level,
                raw=self.grade,
            )

        judged = replace(hits(grade), threshold=least or 0.0)
        if protocol.gains == "positive" and least is not None and (self.grade != 1).any():
            judged = replace(judged, graded=hits(relevant_grades(self.grade, None)))
        if tied is not None and protocol.depth is not None:
            judged = replace(judged, uncut=self.judged(without_depth(protocol), ranked, n_items, *whole))
        return judged

    def _above(self, judged: Judged, protocol: Protocol, ranked: Ranked, targets: Bools) -> Ints:
        """How many of these targets, none of them relevant, stand above each hit."""
        query, item = self.targets
        rank = _settled(protocol, query, item, np.where(targets, -1.0, self.grade[self.rows]), ranked)
        stride = int(max(rank.max(initial=0), judged.rank.max(initial=0))) + 1
        places = np.sort(query[targets] * stride + rank[targets])
        first = judged.query * stride
        above: Ints = np.searchsorted(places, first + judged.rank) - np.searchsorted(places, first)
        return above

    def counts(self, ranked: Ranked, n_items: int, depth: int | None) -> Population:
        """The lists are all items for all users; of ties, those with an item of the truth are known."""
        groups = np.stack((self.targets[0], ranked.above, ranked.equal))[:, ranked.equal > 1]
        return Population(
            listed=self.n_users * n_items,
            unknown=self.n_users * (n_items - len(np.unique(self.wanted.item))),
            tied=int(np.unique(groups, axis=1)[2].sum()),
            excluded=int(self.n_seen.sum()),
            beyond=0 if depth is None else int(np.maximum(n_items - self.n_seen - depth, 0).sum()),
        )

    def fingerprints(self, ids: Ints | pl.Series) -> dict[str, str]:
        """What tells two inputs apart; none where users have other ids than whole numbers."""
        if not isinstance(ids, np.ndarray) and not ids.dtype.is_integer():
            return {}
        query = scrambled(0, _number(ids) if isinstance(ids, np.ndarray) else id_numbers(ids))
        fingerprints = {"truth": str(Fingerprint(fingerprint(self.wanted, query, 0, self.grade)))}
        if self.seen is not None:
            fingerprints["exclude"] = str(Fingerprint(fingerprint(self.seen, query, 0)))
        return fingerprints


def _rows(given: Any, use: Use, name: str) -> ItemRows:
    """Items in CSR form, or in an array with a row per user."""
    array = given if is_sparse(given) else as_array(given, name)
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "biuf":
        return compressed(given, name, add_up=False)
    rows = item_rows(array, use, name)
    if len(rows.item) and rows.item.min() < 0:
        raise InputError(f"item codes must be at least 0, got {rows.item.min()}.", table=name)
    return rows


def _number(code: Ints) -> Any:
    return code.view(np.uint64)


def tie_order(protocol: Protocol) -> tuple[str, bool]:
    """What equal scores are ordered by, and whether descending; items come in the order of their columns."""
    descending = protocol.trait("ties", "descending") or protocol.trait("ties", "turns")
    return protocol.trait("ties", "by") or "item", bool(descending)


def _settled(protocol: Protocol, query: Ints, item: Ints, grade: Floats, ranked: Ranked) -> Ints:
    """The rank of each target, from 1, with equal scores in the order that the word says."""
    above, equal, before, _ = ranked
    by, best = tie_order(protocol)
    if by == "item":
        return above + (equal - before if best else before + 1)
    order = np.lexsort((item, -grade if best else grade, grade < 0, above, query))
    new = (np.diff(query[order], prepend=-1) != 0) | (np.diff(above[order], prepend=-1) != 0)
    group = np.cumsum(new) - 1
    n_groups = int(group[-1]) + 1 if len(group) else 0
    place, relevant = np.empty_like(above), np.empty_like(above)
    place[order] = within(group)
    relevant[order] = np.bincount(group, grade[order] >= 0, n_groups).astype(np.int64)[group]
    # The others of the group are in the order of the items, those that nobody graded among them.
    by_index = np.lexsort((item, above, query))
    earlier: Ints = np.cumsum(grade[by_index] >= 0) - (grade[by_index] >= 0)
    rest = np.empty_like(above)
    rest[by_index] = before[by_index] - (earlier - earlier[np.flatnonzero(new)][group]) + 1
    if best:
        return above + np.where(grade >= 0, place, relevant + rest)
    return above + np.where(grade >= 0, equal - relevant + place, rest)


def list_depth(request: Request) -> int:
    """How deep the lists have to be that the metrics look at; 0 where they look at hits alone.

    What needs more than ranks, or more than vectors, is refused.
    """
    for protocol in (request.protocol, *request.apart.values()):
        for name, words in {"ties": TIES, "scores": ("exact",), "unjudged": ("irrelevant",)}.items():
            if getattr(protocol, name) not in words:
                raise ProtocolError(
                    f"full_ranking: {name}='{getattr(protocol, name)}' needs whole lists, which are not made "
                    f"here; choose from are {listing(words)}. Or make lists, and pass them to evaluate."
                )
    if request.protocol.groups:
        raise ProtocolError(
            "full_ranking: average_over= is not supported: truth has no columns. Average result.query_values by ids."
        )
    for metric in request.metrics:
        if metric.reads_scores:
            raise ProtocolError(
                f"full_ranking: {metric} reads the scores of listed items, which are not kept here. Pass lists with "
                "scores to evaluate(recs, truth, ...)."
            )
        other = [name for name in metric.needs if name != "catalog"]
        if other:
            raise ProtocolError(
                f"full_ranking: {metric} needs {other[0]}=, which is not supported here. Make lists of the top "
                f"items and pass them to evaluate(..., {other[0]}=...)."
            )
        if not metric.needs_truth and metric.k is None:
            raise ProtocolError(f"full_ranking: {metric} needs a cutoff: '{metric}@10'.")
    return max((k for metric in request.metrics if not metric.needs_truth for k in metric.cutoffs), default=0)
