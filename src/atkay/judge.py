"""Judge: settle the lists as the protocol says, and find their hits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from atkay.errors import DuplicateError, OrderError
from atkay.hashing import scrambled
from atkay.judged import Judged
from atkay.match import Pairs
from atkay.ranking import Array, Ranking, by_rank, by_score, in_order, ties_in

if TYPE_CHECKING:
    from atkay.align import Aligned
    from atkay.metrics.base import Bools, Floats, Ints
    from atkay.protocol import Protocol


@dataclass(frozen=True)
class Counts:
    """The listed rows as they came in, and what became of them."""

    listed: int
    unknown: int
    excluded: int
    outside: int
    unjudged: int
    duplicated: int
    tied: int


@dataclass(frozen=True, eq=False)
class Graded:
    """The truth without repeated pairs; ``grade`` is 0 for what does not count as relevant."""

    pairs: Pairs
    grade: Floats


def judge(aligned: Aligned, protocol: Protocol) -> tuple[Judged, Counts]:
    """The hits of the lists, and what was done to the lists before."""
    truth = _truth(aligned, protocol)
    row, at = truth.pairs.find(aligned.recs)
    order = _order(aligned, protocol, row, truth.grade[at])
    listed = aligned.recs
    if order is not None:
        listed = Pairs(listed.query[order], listed.item[order], listed.n_items)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        row, at = _sorted(place[row], at)

    counts, keep = _settle(aligned, protocol, listed, order, row)
    if keep is not None:
        row, at = row[keep[row]], at[keep[row]]
        row = (np.cumsum(keep) - 1)[row]
        listed = Pairs(listed.query[keep], listed.item[keep], listed.n_items)

    n_queries = len(aligned.queries)
    ranking = Ranking.of(np.bincount(listed.query, minlength=n_queries), listed.item)
    hit = truth.grade[at] > 0
    row, at = row[hit], at[hit]
    query = listed.query[row].astype(np.int64)
    relevant = truth.grade > 0
    owner = truth.pairs.query[relevant].astype(np.int64)
    judged = Judged(
        query=query,
        rank=row - ranking.start[query] + 1,
        grade=truth.grade[at],
        item=listed.item[row].astype(np.int64),
        n_relevant=np.bincount(owner, minlength=n_queries),
        n_listed=ranking.length,
        answered=np.bincount(aligned.recs.query, minlength=n_queries) > 0,
        grades=_best_first(owner, truth.grade[relevant]),
        ranking=ranking,
    )
    return judged, counts


def _sorted(row: Ints, at: Ints) -> tuple[Ints, Ints]:
    by = np.argsort(row)
    return row[by], at[by]


def _best_first(query: Ints, grade: Floats) -> Floats:
    """The grades of one query after the other, the best of each first."""
    if (grade == grade[:1]).all():
        return grade
    return grade[np.lexsort((-grade, query))]


def _truth(aligned: Aligned, protocol: Protocol) -> Graded:
    pairs = aligned.truth
    grade = np.ones(len(pairs)) if aligned.grade is None else aligned.grade.to_numpy()
    again = pairs.repeated()
    if len(again):
        if protocol.duplicates == "error":
            raise _duplicate("truth", aligned, pairs, again)
        once = np.ones(len(pairs), bool)
        once[again] = False
        pairs, grade = Pairs(pairs.query[once], pairs.item[once], pairs.n_items), grade[once]
    relevant = grade > 0 if protocol.min_relevance is None else grade >= protocol.min_relevance
    return Graded(pairs, np.where(relevant, grade, 0.0))


def _order(aligned: Aligned, protocol: Protocol, row: Ints, grade: Floats) -> Ints | None:
    """The rows in rank order, None where they stand in it; ``row`` and ``grade`` tell which rows are relevant."""
    query = aligned.recs.query
    if aligned.rank is not None:
        order, wrong = by_rank(query, aligned.rank.to_numpy(), len(aligned.queries))
        if wrong >= 0:
            raise _not_ranks(aligned, wrong)
        if aligned.score is not None:
            _agree(aligned, order)
        return order
    score = None if aligned.score is None else aligned.score.to_numpy()
    if in_order(query, score) and (score is None or protocol.ties == "given" or not ties_in(query, score).any()):
        return None
    return by_score(query, aligned.score, _tie_breakers(aligned, protocol, row, grade))


def _tie_breakers(aligned: Aligned, protocol: Protocol, row: Ints, grade: Floats) -> list[tuple[Array, bool]]:
    recs = aligned.recs
    if aligned.score is None or protocol.ties == "given":
        return []
    if protocol.ties in ("item", "item_desc"):
        return [(recs.item, protocol.ties == "item_desc")]
    if protocol.ties == "random":
        return [
            (
                scrambled(protocol.seed, aligned.query_hashes()[recs.query], aligned.item_hashes()[recs.item]),
                False,
            )
        ]
    of_row = np.zeros(len(recs))
    of_row[row] = grade
    return [(of_row, protocol.ties == "best")]


def _settle(
    aligned: Aligned, protocol: Protocol, listed: Pairs, order: Ints | None, judged: Ints
) -> tuple[Counts, Bools | None]:
    """Which of the rows, in rank order, stay in the lists; None where all do."""
    again = listed.repeated()
    if len(again) and protocol.duplicates == "error":
        raise _duplicate("recs", aligned, listed, again)
    drops: dict[str, Bools] = {}
    if len(again):
        drops["duplicated"] = _mask(again, len(listed))
    if aligned.exclude is not None:
        drops["excluded"] = aligned.exclude.within(listed)
    if aligned.candidates is not None:
        drops["outside"] = ~aligned.candidates.within(listed)
    if protocol.unjudged == "drop":
        drops["unjudged"] = ~_mask(judged, len(listed))
    gone = np.zeros(len(listed), bool) if drops else None
    dropped = dict.fromkeys(("duplicated", "excluded", "outside", "unjudged"), 0)
    for why, mask in drops.items():
        assert gone is not None
        dropped[why] = int(np.count_nonzero(mask & ~gone))
        gone |= mask
    counts = Counts(
        listed=len(listed), unknown=aligned.n_unknown(), tied=_n_tied(aligned, listed.query, order), **dropped
    )
    return counts, None if gone is None else ~gone


def _mask(rows: Ints, size: int) -> Bools:
    mask = np.zeros(size, bool)
    mask[rows] = True
    return mask


def _n_tied(aligned: Aligned, query: Ints, order: Ints | None) -> int:
    if aligned.score is None or aligned.rank is not None:
        return 0
    score = aligned.score.to_numpy()
    return int(np.count_nonzero(ties_in(query, score if order is None else score[order])))


def _agree(aligned: Aligned, order: Ints | None) -> None:
    """Where there are ranks and scores, a better rank has no lower score."""
    assert aligned.score is not None
    assert aligned.rank is not None
    query, score, rank = aligned.recs.query, aligned.score.to_numpy(), aligned.rank
    if order is not None:
        query, score = query[order], score[order]
    rising = np.flatnonzero((query[1:] == query[:-1]) & (score[1:] > score[:-1]))
    if len(rising):
        here = int(rising[0])
        at = [here, here + 1] if order is None else [int(order[here]), int(order[here + 1])]
        raise OrderError(
            f"recs: '{rank.name}' and '{aligned.score.name}' contradict each other: for {aligned.who(query[here])}, "
            f"rank {rank[at[0]]} has score {score[here]:g} and rank {rank[at[1]]} has score {score[here + 1]:g}. Say "
            f"which holds: columns=Columns(rank='{rank.name}') or columns=Columns(score='{aligned.score.name}')."
        )


def _not_ranks(aligned: Aligned, row: int) -> OrderError:
    assert aligned.rank is not None
    query = aligned.recs.query[row]
    ranks = np.sort(aligned.rank.to_numpy()[aligned.recs.query == query])
    shown = ", ".join(map(str, ranks[:8])) + (", ..." if len(ranks) > 8 else "")
    hint = (
        "They start at 0: add 1."
        if ranks[0] == 0 and (np.diff(ranks) == 1).all()
        else ("Number each list again, or leave the column out and order by score.")
    )
    return OrderError(
        f"recs: '{aligned.rank.name}' of {aligned.who(query)} is {shown}; the ranks of a list of {len(ranks)} are 1 to "
        f"{len(ranks)}, each once. {hint}"
    )


def _duplicate(table: str, aligned: Aligned, pairs: Pairs, again: Ints) -> DuplicateError:
    row = int(again[0])
    item = aligned.items.ids(pairs.item[row : row + 1]).item()
    where = "list" if table == "recs" else "truth"
    return DuplicateError(
        f"{table}: item {item!r} stands twice in the {where} of {aligned.who(pairs.query[row])}; {len(again):,} of "
        f"{len(pairs):,} rows repeat an item. Drop them, or pass duplicates='first' to keep the first of each."
    )
