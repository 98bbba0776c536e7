"""Deciding: the unjudged items that could turn the difference of two runs, measured one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from atkay.comparison.margins import ROUNDING
from atkay.core.kernels import match
from atkay.core.lists import Lists, mask, rows_between
from atkay.core.match import place_in
from atkay.errors import ProtocolError
from atkay.evaluation.judge import judge
from atkay.evaluation.measure import values_of, who_counts
from atkay.inputs.coding.align import Aligned
from atkay.text.phrases import argument

if TYPE_CHECKING:
    from atkay.comparison.paired_lists import PairedLists
    from atkay.core.types import Floats, Ints
    from atkay.evaluation.request import Request
    from atkay.protocol import Protocol


class Deciding(NamedTuple):
    """Unjudged items of users' lists, those that could turn most first; ``frame`` has their ranks and the turn."""

    query: Ints
    item: Ints
    frame: pl.DataFrame


def either_top(one: Lists, other: Lists, k: int) -> Lists:
    """The items of either top k: those of one list in its order, then those that only the other one has."""
    one, other = (cut(lists, k) for lists in (one, other))
    alone = ~mask(match(one, other).at, len(other))
    owner = np.concatenate((one.owner(), other.owner()[alone]))
    order = np.argsort(owner, kind="stable")
    length = np.bincount(owner, minlength=one.n_queries)
    return Lists.of(length, np.concatenate((one.item, other.item[alone]))[order], one.n_items)


def cut(lists: Lists, k: int) -> Lists:
    """The top k of all lists."""
    if not len(lists) or k >= lists.length.max():
        return lists
    length = np.minimum(lists.length, k)
    return Lists.of(length, lists.item[rows_between(lists.start[:-1], length)], lists.n_items)


def find_deciding(pairs: PairedLists, request: Request, differences: Floats, k: int) -> Deciding:
    """How much each unjudged item of either top k would change its user's difference, if it alone were relevant."""
    if reason := why_not(request):
        raise ProtocolError(f"diff: no unjudged items that decide: {reason}.")
    assert pairs.truth is not None
    reach = request.metrics[0].reach
    judged, grades = pairs.truth
    highest = float(grades.max(initial=request.protocol.min_relevance or 0.0)) or 1.0
    lists = either_top(pairs.a, pairs.b, min(k, reach))
    owner = lists.owner()
    lists = lists.only((place_in(judged, owner, lists.item) == 0) & ~np.isnan(differences)[owner])
    owner, turn = lists.owner(), np.zeros(len(lists))
    runs = cut(pairs.a, reach), cut(pairs.b, reach)
    # One item of each user at a time: the lists stay, and the truth has one more item.
    for nth in range(int(lists.length.max(initial=0))):
        users = np.flatnonzero(lists.length > nth)
        row = lists.start[users] + nth
        added = lists.item[row], highest
        a, b = (_values(pairs, request, run, users, *added) for run in runs)
        turn[row] = (b - a) - differences[users]
    turn[np.abs(turn) < ROUNDING] = 0.0
    order = np.lexsort((owner, -np.abs(turn)))
    ranks = (pl.Series(place_in(run, owner, lists.item)[order]).replace(0, None) for run in (pairs.a, pairs.b))
    columns = dict(zip(("rank_a", "rank_b"), ranks, strict=True))
    frame = pl.DataFrame({**columns, "difference": differences[owner[order]], "turn": turn[order]})
    return Deciding(owner[order], lists.item[order], frame)


def _values(pairs: PairedLists, request: Request, run: Lists, users: Ints, item: Ints, grade: float) -> Floats:
    """The values of some users' lists where one more item of each is relevant."""
    assert pairs.truth is not None
    truth, protocol = pairs.truth.items.pick(users), _of_lists(request.protocol)
    ends = truth.start[1:]
    aligned = Aligned(
        queries=pairs.ids[users],
        items=pairs.items,
        recs=run.pick(users),
        truth=Lists.of(truth.length + 1, np.insert(truth.item, ends, item), truth.n_items),
        grade=np.insert(pairs.truth.grade[rows_between(pairs.truth.items.start[users], truth.length)], ends, grade),
    )
    judged = judge(aligned, protocol).judged
    counted = who_counts(judged, protocol, aligned.ids)
    return values_of(judged, request.metrics, protocol, counted)[0][:, 0]


def _of_lists(protocol: Protocol) -> Protocol:
    """What is left of a protocol for lists that are in order and filtered."""
    return replace(
        protocol,
        ties="given",
        scores="exact",
        duplicates="error",
        raters="one",
        average_over=None,
        exclude=None,
        candidates=None,
        depth=None,
    )


def why_not(request: Request) -> str:
    """Why there is no answer; empty where values depend on nothing but which listed items are relevant."""
    metric, protocol = request.metrics[0], request.protocol
    if not metric.needs_truth:
        return f"{metric} does not depend on what is relevant"
    if metric.needs or metric.by_subtopic:
        return f"{metric} depends on more than what is relevant"
    if protocol.trait("ties", "takes") or protocol.trait("ties", "by") == "grade":
        return f"what becomes relevant changes the ranks under {argument('ties', protocol.ties)}"
    if protocol.duplicates == "counted":
        return f"{argument('duplicates', 'counted')} lets an item become relevant at several places at once"
    if protocol.unjudged == "drop":
        return f"{argument('unjudged', 'drop')} leaves no unjudged item in the lists"
    if protocol.nonpositive == "missed":
        return f"{argument('nonpositive', 'missed')} makes values depend on scores"
    return ""
