"""Objects of retrieval libraries, in the shape that each library gives them; and their numbers by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import atkay
from atkay.errors import DuplicateError, SourceError
from small_case import QRELS, RUN, agrees


class TrecQrel(NamedTuple):
    """As ir_datasets has it; ir-measures' Qrel has the same fields."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class ScoredDoc(NamedTuple):
    query_id: str
    doc_id: str
    score: float


QREL_ROWS = [TrecQrel(query, name, grade) for query, grades in QRELS.items() for name, grade in grades.items()]
RUN_ROWS = [ScoredDoc(query, name, score) for query, scores in RUN.items() for name, score in scores.items()]


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("memory", [None, "1GB"])
def test_named_tuples(kind: Any, memory: str | None) -> None:
    agrees(kind(RUN_ROWS), kind(QREL_ROWS), memory=memory)
    agrees(kind(RUN_ROWS[::-1]), kind(QREL_ROWS[::-1]), memory=memory)


def test_named_tuples_that_cannot_be_read() -> None:
    with pytest.raises(SourceError, match=r"truth: cannot read a list_iterator.* only once. Pass list\(...\) of it"):
        atkay.evaluate(RUN_ROWS, iter(QREL_ROWS), "mrr")
    with pytest.raises(SourceError, match="named tuples of different fields"):
        atkay.evaluate([*RUN_ROWS, *QREL_ROWS], QREL_ROWS, "mrr")
    with pytest.raises(DuplicateError):
        atkay.evaluate(RUN_ROWS, [*QREL_ROWS, QREL_ROWS[0]], "mrr")


class Dataset:
    """As ``ir_datasets.load`` gives it."""

    def qrels_iter(self) -> Iterator[TrecQrel]:
        return iter(QREL_ROWS)

    def scoreddocs_iter(self) -> Iterator[ScoredDoc]:
        return iter(RUN_ROWS)


class Qrels:
    """As ``dataset.qrels``: rows, which it can count."""

    def __len__(self) -> int:
        return len(QREL_ROWS)

    def __iter__(self) -> Iterator[TrecQrel]:
        return iter(QREL_ROWS)


class Held:
    """As ranx' Qrels and Run: numba's dicts inside, and a method that copies them."""

    def __init__(self, lists: dict[str, dict[str, float]]) -> None:
        self._lists = lists

    def to_dict(self) -> dict[str, dict[str, float]]:
        return defaultdict(dict, self._lists)


def test_ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dataset, "__module__", "ir_datasets.datasets.base")
    agrees(Dataset(), Dataset())
    agrees(RUN, Dataset())
    monkeypatch.setattr(Qrels, "__module__", "ir_datasets.datasets.base")
    agrees(RUN, Qrels())


def test_ranx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Held, "__module__", "ranx.data_structures.run")
    agrees(Held(RUN), Held({query: dict(grades) for query, grades in QRELS.items()}))


def test_objects_of_nobody() -> None:
    with pytest.raises(SourceError, match="cannot read a Held"):
        atkay.evaluate(Held(RUN), QRELS, "mrr")
