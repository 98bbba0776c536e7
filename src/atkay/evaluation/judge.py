"""Judge: settle the lists as the protocol says, and find their hits."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from atkay.core.fingerprint import Fingerprint, item_fingerprint, numbers_of, scrambled
from atkay.core.kernels import fingerprint, steps, take
from atkay.core.lists import Lists, constant, mask
from atkay.core.match import match_each, repeated
from atkay.core.order import Moved, Scores
from atkay.core.types import Array
from atkay.errors import RelevanceError
from atkay.evaluation.hits import find_hits, group_of, listing_of, relevant_grades
from atkay.evaluation.raters import one_grade_each, unjudged_rows
from atkay.evaluation.subtopics import one_row_each
from atkay.inputs.coding.ranking import Origin, rank_order, repeats
from atkay.judged.judged import Judged
from atkay.judged.judgements import Later
from atkay.judged.side import side_fingerprints
from atkay.results.population import Population
from atkay.text.phrases import argument, columns_argument

if TYPE_CHECKING:
    from collections.abc import Callable

    from atkay.core.lists import Match
    from atkay.core.types import Bools, Floats, Hashes, Ints
    from atkay.errors import DuplicateError
    from atkay.inputs.coding.align import Aligned
    from atkay.protocol import Protocol

MOVED_SHARE = 0.1
"""With fewer rows than this share in ties, only these are put in order."""


class Settled(NamedTuple):
    """Judged lists, counts of the listed rows, and lists and truth before filtering."""

    judged: Judged
    rows: Population
    aligned: Aligned
    ranking: Lists
    given: Aligned
    """The rows as they came, grades that nobody gave included."""

    def fingerprints(self) -> dict[str, Fingerprint]:
        """What tells two inputs apart, in whatever form and order of rows they came.

        Of the truth its pairs and grades count, of the lists their order, of the others their pairs.
        """
        aligned = self.aligned
        query, item = aligned.query_numbers, aligned.items.numbering
        truth, grade = aligned.truth, aligned.grade
        if self.judged.n_unjudged is not None:
            assert grade is not None
            assert self.given.grade is not None
            below = self.given.grade < 0
            named = self.given.truth.only(below)
            order = np.argsort(np.concatenate((truth.owner(), named.owner())), kind="stable")
            items = np.concatenate((truth.item, named.item))[order]
            grade = np.concatenate((grade, self.given.grade[below]))[order]
            truth = Lists.of(truth.length + named.length, items, truth.n_items)
        judgements = Fingerprint(fingerprint(truth, query, item, grade))
        if self.given.subtopic is not None:
            judgements = Fingerprint(_of_subtopics(self.given, query))
        fingerprints = {"truth": judgements}
        hashes = aligned.matched.hashes if self.ranking is aligned.recs else None
        fingerprints["recs"] = Fingerprint(fingerprint(self.ranking, query, item, ranked=True, hashes=hashes))
        for name, rows in (("exclude", aligned.exclude), ("candidates", aligned.candidates)):
            if isinstance(rows, Lists):
                fingerprints[name] = Fingerprint(fingerprint(rows, query, item))
            elif rows is not None:
                fingerprints[name] = Fingerprint(fixed=item_fingerprint(numbers_of(np.flatnonzero(rows), item)))
        return fingerprints | side_fingerprints(aligned.side, query, item)


def _of_subtopics(aligned: Aligned, query: Hashes) -> int:
    """What tells truth with subtopics apart: a row's number is that of its item and its subtopic."""
    assert aligned.subtopic is not None
    assert aligned.subtopic_numbers is not None
    number = scrambled(5, aligned.item_numbers(aligned.truth.item), aligned.subtopic_numbers.take(aligned.subtopic))
    rows = replace(aligned.truth, item=np.arange(len(number)), n_items=len(number))
    return fingerprint(rows, query, number, aligned.grade)


def judge(given: Aligned, protocol: Protocol) -> Settled:
    """The lists in order, filtered, and their hits."""
    aligned = _turned(given) if protocol.trait("ties", "turns") else given
    aligned = _by_score(aligned, protocol)
    _refuse_negative(aligned, protocol)
    n_unjudged, named, unjudged = None, None, unjudged_rows(aligned.grade, protocol)
    if unjudged is not None:
        assert aligned.grade is not None
        n_unjudged = np.bincount(aligned.truth.owner()[unjudged], minlength=aligned.truth.n_queries)
        named = aligned.truth.only(unjudged)
        subtopic = None if aligned.subtopic is None else aligned.subtopic[~unjudged]
        truth, grades = aligned.truth.only(~unjudged), aligned.grade[~unjudged]
        aligned = replace(aligned, truth=truth, grade=grades, subtopic=subtopic)
    subtopics = None
    if aligned.subtopic is not None:
        _check_once(aligned, protocol, (False, len(repeated(aligned.with_subtopics)) > 0))
        aligned, subtopics = one_row_each(aligned, protocol)
    aligned, matched = _each_pair_once(aligned, protocol)
    query, row, at = matched.query, matched.row, matched.at
    grade = _grades(aligned, protocol.min_relevance)
    order, n_tied = _order(aligned, protocol, row, grade[at])
    if isinstance(order, Moved):
        ranking = replace(aligned.recs, item=order.take(aligned.recs.item))
        row = order.places(row)
        rising = np.argsort(row, kind="stable")
        row, at = row[rising], at[rising]
    else:
        ranking = aligned.recs.reordered(order)
    before = ranking
    if isinstance(order, np.ndarray):
        place = np.flatnonzero(mask(row, len(order))[order])  # where the graded rows have come to stand
        at = at[np.searchsorted(row, order[place])]
        row, query = place, aligned.truth.owner().take(at)
    taken = _take_out(aligned, protocol, ranking, row)
    ordered = row[taken.graded]
    ranking, row, kept = taken.ranking, taken.row, taken.kept
    at, query = at[taken.graded], query[taken.graded]

    def scores() -> Array:
        """The scores of the ranking's rows."""
        assert aligned.score is not None
        # What moved among equal scores takes none along.
        values = take(aligned.score.values, order) if isinstance(order, np.ndarray) else aligned.score.values
        return values[kept]

    def scores_of_judged() -> Floats:
        """The scores of the truth's rows, NaN where they are not listed."""
        assert aligned.score is not None
        out = np.full(len(aligned.truth), np.nan)
        # Of an item that stands twice the first row's score is the one that stays.
        out[at[::-1]] = aligned.score.values[order[ordered] if isinstance(order, np.ndarray) else ordered][::-1]
        return out

    equal = steps(ranking, scores()).equal if n_tied else None
    all_count = protocol.nonpositive == "listed" or aligned.score is None
    positive = None if all_count else np.asarray(scores()[row] > 0)
    as_matched = order is None and ranking is before
    rank = matched.rank if as_matched else row - ranking.start[query] + 1
    tied = None if equal is None else group_of(equal, row, ranking.start[query])
    unjudged_above = None if named is None else _named_above(ranking, named, row, query)
    if tied is not None and protocol.ties == "together":
        rank = tied[0] + tied[1]

    find_score = None if aligned.score is None else scores

    def hits(grade: Floats, threshold: float = 0.0) -> Judged:
        return find_hits(
            aligned.truth,
            grade,
            protocol,
            query,
            at,
            rank,
            tied=tied,
            positive=positive,
            n_listed=ranking.length,
            threshold=threshold,
            answered=aligned.recs.length > 0,
            ranking=ranking,
            side=aligned.side,
            level=None if equal is None else _places(ranking, equal),
            n_unjudged=n_unjudged,
            unjudged_above=unjudged_above,
            raw=aligned.grade,
            find_score=find_score and scores_of_judged,
            listing=Later(partial(listing_of, ranking, row, at, aligned.grade, grade, find_score)),
            subtopics=subtopics,
        )

    judged = hits(grade, protocol.min_relevance or 0.0)
    if protocol.gains == "positive" and protocol.min_relevance is not None:
        judged = replace(judged, graded=hits(_grades(aligned, None)))
    if n_tied and protocol.depth is not None:
        judged = replace(judged, uncut=judge(given, without_depth(protocol)).judged)
    rows = Population(
        listed=len(given.recs),
        unknown=given.n_unknown,
        tied=n_tied,
        duplicated=len(given.recs) - len(aligned.recs),
        **taken.counts,
    )
    return Settled(judged, rows, aligned, before, given)


def without_depth(protocol: Protocol) -> Protocol:
    """The protocol under which an item stands where the depth counts it."""
    return replace(protocol, depth=None, unjudged="irrelevant", unlisted="missed")


def _named_above(ranking: Lists, named: Lists, row: Ints, query: Ints) -> Ints:
    """How many items that the truth names, and nobody judged, stand above each of the graded rows."""
    unjudged = mask(match_each(ranking, named).row, len(ranking))
    unjudged[row] = False  # somebody else judged it
    before = np.concatenate(([0], np.cumsum(unjudged)))
    above: Ints = before[row] - before[ranking.start[query]]
    return above


def _places(ranking: Lists, row: Ints) -> Lists:
    """The places of some rows in their lists, from 0."""
    start = np.searchsorted(row, ranking.start)
    return Lists(start, row - np.repeat(ranking.start[:-1], np.diff(start)), len(ranking))


def _by_score(aligned: Aligned, protocol: Protocol) -> Aligned:
    """The lists without their ranks where the word for ties goes by scores; ranks that contradict these are refused."""
    if aligned.rank is None or aligned.score is None or not protocol.trait("ties", "over_rank"):
        return aligned
    rank_order(aligned.recs, aligned.rank, aligned.score, _origin(aligned))
    return replace(aligned, rank=None)


def _origin(aligned: Aligned) -> Origin:
    return Origin("recs", aligned.names, aligned.whose, aligned.first_rank)


def _turned(aligned: Aligned) -> Aligned:
    """The rows of each list from the last to the first, where their scores put them in order afterwards."""
    if aligned.score is None or aligned.rank is not None:
        return aligned
    start = aligned.recs.start
    back = np.repeat(start[:-1] + start[1:] - 1, np.diff(start)) - np.arange(len(aligned.recs))
    return replace(aligned, recs=aligned.recs.reordered(back), score=Scores(aligned.score.values[back]))


def _each_pair_once(aligned: Aligned, protocol: Protocol) -> tuple[Aligned, Match]:
    """Lists and truth without repeated items, which lists keep if each counts; and the rows that the truth grades."""
    matched = aligned.matched
    if not any(matched.repeated):
        return aligned, matched
    _check_once(aligned, protocol, matched.repeated)
    each_time = protocol.duplicates == "counted"
    if matched.repeated[0] and not each_time:
        # Of an item that stands twice the better rank counts, so the lists are put in order first.
        order, _ = _order(aligned, replace(protocol, ties="given"), matched.row[:0], np.empty(0))
        assert not isinstance(order, Moved)  # they keep the order that was given
        recs = aligned.recs.reordered(order)
        score = None if aligned.score is None or aligned.rank is not None else aligned.score.values
        score = score if score is None or order is None else score[order]
        once = ~mask(repeated(recs), len(recs))
        kept = None if score is None else Scores(score[once])
        aligned = replace(aligned, recs=recs.only(once), score=kept, rank=None)
    if matched.repeated[1]:
        truth, grade = one_grade_each(aligned.truth, aligned.grade, protocol.raters)
        aligned = replace(aligned, truth=truth, grade=grade)
    return aligned, match_each(aligned.recs, aligned.truth) if each_time else aligned.matched


def _check_once(aligned: Aligned, protocol: Protocol, twice: tuple[bool, bool]) -> None:
    """Refuse lists and truth of which rows are repeated, where the protocol says so."""
    settling = protocol.duplicates if protocol.raters == "one" else protocol.raters
    for table, again, word in zip(("recs", "truth"), twice, (protocol.duplicates, settling), strict=True):
        if again and word == "error":
            raise _duplicate(aligned, table)


def _grades(aligned: Aligned, least: float | None) -> Floats:
    """The grades of the truth's rows, -1 for what does not count as relevant."""
    if aligned.grade is None:
        return constant(1.0, (len(aligned.truth),))
    return relevant_grades(aligned.grade, least)


def _order(aligned: Aligned, protocol: Protocol, row: Ints, grade: Floats) -> tuple[Ints | Moved | None, int]:
    """The rows in rank order, None where they stand in it, and how many are tied; ``row``, ``grade``: the hits."""
    recs, score = aligned.recs, aligned.score
    key = None if protocol.trait("ties", "stays") else _tie_breaker(aligned, protocol, row, grade)
    if key is not None and score is not None and aligned.rank is None:
        score_steps = score.steps(recs)
        if score_steps.rising < 0 and 0 < len(score_steps.equal) < MOVED_SHARE * len(recs):
            return Moved.among_equal(score_steps.equal, key), score_steps.n_tied
    return rank_order(recs, aligned.rank, score, _origin(aligned), None if key is None else lambda: key(None))


def _tie_breaker(aligned: Aligned, protocol: Protocol, row: Ints, grade: Floats) -> Callable[[Ints | None], Array]:
    """What equal scores are ordered by, the lowest first, of some rows or all."""
    recs = aligned.recs

    def of_grades(rows: Ints | None) -> Array:
        of_row = np.full(len(recs), -1.0)
        of_row[row] = grade
        return of_row if rows is None else of_row[rows]

    def owner(rows: Ints | None) -> Ints:
        return recs.owner() if rows is None else np.searchsorted(recs.start, rows, side="right") - 1

    def item(rows: Ints | None) -> Ints:
        return recs.item if rows is None else recs.item[rows]

    keys: dict[str, Callable[[Ints | None], Array]] = {
        "item": item,
        "text": lambda rows: aligned.items.text_order().take(item(rows)),
        "grade": of_grades,
        "hash": lambda rows: scrambled(
            protocol.seed, aligned.query_numbers[owner(rows)], aligned.item_numbers(item(rows))
        ),
    }
    key = keys[protocol.trait("ties", "by")]
    if not protocol.trait("ties", "descending"):
        return key

    def descending(rows: Ints | None) -> Array:
        values = key(rows)
        return -values.astype(np.result_type(values, np.int64))

    return descending


class Taken(NamedTuple):
    """What is left of the lists, and how many rows were taken out for each reason."""

    ranking: Lists
    row: Ints
    """The rows that the truth grades."""
    kept: Bools | Ints | slice
    """Which rows are left."""
    graded: Bools | slice
    """Which of the rows that the truth grades are left."""
    counts: dict[str, int]


def _take_out(aligned: Aligned, protocol: Protocol, ranking: Lists, row: Ints) -> Taken:
    """Take the rows that must not be there out of the lists; ``row``: those that the truth grades."""
    gone: Bools | None = None
    counts: dict[str, int] = {}

    def drop(why: str, out: Bools) -> None:
        nonlocal gone
        counts[why] = int(np.count_nonzero(out if gone is None else out & ~gone))
        gone = out if gone is None else gone | out

    if aligned.exclude is not None:
        drop("excluded", _within(ranking, aligned.exclude))
    if aligned.candidates is not None:
        drop("outside", ~_within(ranking, aligned.candidates))
    if protocol.depth is not None:
        drop("beyond", _beyond(ranking, gone, protocol.depth))
    every = slice(None)
    graded = every if gone is None else ~gone[row]
    if protocol.unjudged == "drop":  # the rows that are left are known: to go through all of them would take longest
        left = row[graded]
        counts["unjudged"] = len(ranking) - sum(counts.values()) - len(left)
        start = np.searchsorted(left, ranking.start)
        return Taken(Lists(start, ranking.item[left], ranking.n_items), np.arange(len(left)), left, graded, counts)
    if gone is None:
        return Taken(ranking, row, every, every, counts)
    return Taken(ranking.only(~gone), row[graded] - np.cumsum(gone)[row[graded]], ~gone, graded, counts)


def _beyond(ranking: Lists, gone: Bools | None, depth: int) -> Bools:
    """The rows that stand below the first ``depth`` of their list, not counting those that are gone."""
    kept = np.ones(len(ranking), bool) if gone is None else ~gone
    place = np.concatenate(([0], np.cumsum(kept)))
    before_list = np.repeat(place[ranking.start[:-1]], np.diff(ranking.start))
    below: Bools = place[1:] - before_list > depth
    return below


def _within(ranking: Lists, rows: Lists | Bools) -> Bools:
    """Which listed rows are among the given ones."""
    return mask(match_each(ranking, rows).row, len(ranking)) if isinstance(rows, Lists) else rows[ranking.item]


def _refuse_negative(aligned: Aligned, protocol: Protocol) -> None:
    if protocol.negative != "error" or aligned.grade is None or not (below := aligned.grade < 0).any():
        return
    row = int(np.argmax(below))
    item = aligned.items.ids(aligned.truth.item[[row]]).item()
    raise RelevanceError(
        f"item {item!r} of {aligned.whose(aligned.truth.query_of(row))} has the grade {aligned.grade[row]:g}; "
        f"{int(below.sum()):,} of {len(below):,} grades are below 0",
        advice=f"Fix the grades, or pass {argument('negative', 'irrelevant')} or {argument('negative', 'unjudged')}.",
        table="truth",
    )


def _duplicate(aligned: Aligned, table: str) -> DuplicateError:
    lists, where = (aligned.recs, "list") if table == "recs" else (aligned.truth, "truth")
    advice = f"Drop them, or pass {argument('duplicates', 'first')} to keep the first of each."
    if table == "recs":
        advice = f"{advice[:-1]}, or {argument('duplicates', 'counted')} to count each."
    if table == "truth":
        advice += f" If several people graded them, pass {argument('raters', 'mean')}."
        if aligned.truth_names.get("item") == "docno":  # of a qrels file
            columns = columns_argument("truth", subtopic="iteration")
            advice += f" If the second field is a subtopic, as in ndeval's qrels, pass {columns}."
    return repeats(lists, aligned.items, lambda query: f"the {where} of {aligned.whose(query)}", table, advice)
