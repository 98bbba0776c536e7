"""Subtopics: truth with a row for each subtopic of an item, as one row per item, and the subtopics of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from atkay.core.lists import Lists
from atkay.evaluation.raters import is_relevant, one_grade_each
from atkay.judged.subtopics import Subtopics

if TYPE_CHECKING:
    from atkay.inputs.coding.align import Aligned
    from atkay.protocol import Protocol


def one_row_each(aligned: Aligned, protocol: Protocol) -> tuple[Aligned, Subtopics]:
    """Truth with each item once, with the highest of its grades, and the subtopics for which items are relevant."""
    rows, grade = one_grade_each(aligned.with_subtopics, aligned.grade, protocol.raters)
    query = rows.owner()
    order = np.lexsort((rows.item, query))
    size = max(rows.n_items // max(aligned.truth.n_items, 1), 1)
    item, subtopic = np.divmod(rows.item[order], size)
    first = np.ones(len(item), bool)
    first[1:] = (query[1:] != query[:-1]) | (item[1:] != item[:-1])
    start = np.flatnonzero(first)
    truth = Lists.of(np.bincount(query[start], minlength=rows.n_queries), item[start], aligned.truth.n_items)
    relevant, highest = np.ones(len(item), bool), None
    if grade is not None:
        grade = grade[order]
        relevant, highest = is_relevant(grade, protocol.min_relevance), np.maximum.reduceat(grade, start)
    count = np.bincount((np.cumsum(first) - 1)[relevant], minlength=len(start))
    subtopics = Subtopics(
        truth.only(count > 0), Lists.of(count[count > 0], subtopic[relevant], size), aligned.items.text_order
    )
    return replace(aligned, truth=truth, grade=highest, subtopic=None), subtopics
