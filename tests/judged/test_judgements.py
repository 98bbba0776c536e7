"""Judgements: every judged item, its grade, its place and its score, however lists are ordered, filtered and cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from atkay.core.types import Ints
from atkay.evaluation.judge import judge
from atkay.inputs.coding.align import align_tables
from atkay.inputs.read import read_tables
from atkay.judged.judged import Judged
from atkay.judged.judgements import Judgements
from atkay.protocol import Protocol

# Ann's list by score: c .9, a .5, b .5, z .1; the truth grades a 2, b 0, x 1. Bob's list: x .7; the truth grades x -1.
RECS = pl.DataFrame(
    {"user": [*"aaaab"], "item": [*"zbacx"], "score": [0.1, 0.5, 0.5, 0.9, 0.7]},
)
TRUTH = pl.DataFrame({"user": [*"aaab"], "item": [*"abxx"], "grade": [2.0, 0.0, 1.0, -1.0]})


def judged(**fields: Any) -> Judged:
    tables = {"recs": RECS, "truth": TRUTH, **({"exclude": fields.pop("exclude")} if "exclude" in fields else {})}
    protocol = Protocol(**fields)
    read = read_tables(tables, protocol, None)
    return judge(align_tables(read, protocol), protocol).judged


def in_words(judgements: Judgements) -> list[tuple[Any, ...]]:
    """Query, grade, whether it is relevant, rank and score of each row; no score where it is not listed."""
    assert judgements.score is not None
    score = [None if np.isnan(value) else value for value in judgements.score.tolist()]
    columns = (judgements.items.owner(), judgements.grade, judgements.relevant, judgements.rank)
    return list(zip(*(column.tolist() for column in columns), score, strict=True))


def test_every_judged_item_has_a_row_with_its_place_and_score() -> None:
    # b stands before a, as in the input: b has rank 2, a rank 3; x is not in ann's list.
    assert in_words(judged().judgements) == [
        (0, 2.0, True, 3, 0.5), (0, 0.0, False, 2, 0.5), (0, 1.0, True, 0, None), (1, -1.0, False, 1, 0.7),
    ]  # fmt: skip


def test_places_and_scores_follow_ties_filters_and_thresholds() -> None:
    assert in_words(judged(ties="best").judgements)[:2] == [(0, 2.0, True, 2, 0.5), (0, 0.0, False, 3, 0.5)]
    assert in_words(judged(min_relevance=2).judgements)[2] == (0, 1.0, False, 0, None)
    without_c = in_words(judged(exclude={"a": ["c"], "b": ["a"]}).judgements)
    assert without_c[:2] == [(0, 2.0, True, 2, 0.5), (0, 0.0, False, 1, 0.5)]
    condensed = in_words(judged(unjudged="drop", ties="item").judgements)
    assert condensed == [
        (0, 2.0, True, 1, 0.5), (0, 0.0, False, 2, 0.5), (0, 1.0, True, 0, None), (1, -1.0, False, 1, 0.7),
    ]  # fmt: skip
    assert len(in_words(judged(negative="unjudged").judgements)) == 3


@pytest.mark.parametrize("queries", [np.array([1]), np.array([1, 0])])
def test_parts_picks_and_joins_keep_rows_together(queries: Ints) -> None:
    whole = judged(no_truth="zero")
    rows = in_words(whole.judgements)
    of_query = [[row for row in rows if row[0] == query] for query in (0, 1)]
    picked = [(n, *row[1:]) for n, query in enumerate(queries) for row in of_query[query]]
    assert in_words(whole.pick(queries).judgements) == picked
    joined = Judged.concatenate([whole.part(0, 1), whole.part(1, 2)])
    assert in_words(joined.judgements) == rows


def test_listed_rows_come_by_query_and_rank() -> None:
    listed = judged().judgements.listed
    assert listed.query.tolist() == [0, 0, 1]
    assert listed.rank.tolist() == [2, 3, 1]
    assert listed.grade.tolist() == [0.0, 2.0, -1.0]
    assert listed.relevant.tolist() == [False, True, False]
