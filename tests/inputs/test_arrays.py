"""Arrays: the same items by user, in every form that they may come in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import atkay
from atkay.errors import InputError
from atkay.inputs.item_rows import ItemRows, compressed, matrix, padded, ragged

GRADES = np.array([[0.0, 2, 0, 1], [0, 0, 0, 0], [0, 0, 3, 0]])
CODES = [[1, 3], [], [2]]


@pytest.mark.parametrize(
    "rows",
    [
        padded(np.array([[1, 3], [-1, -1], [2, -1]])),
        padded(np.array([[1, 3], [np.nan, np.nan], [-1, 2]])),
        padded(np.array([[1, 3], [None, None], [2, -1]], object)),
        padded(np.ma.array([[1, 3], [7, 7], [2, 7]], mask=np.array([[0, 0], [1, 1], [0, 1]], bool))),
        matrix(GRADES, GRADES > 0),
        matrix(GRADES > 0, GRADES > 0),
        compressed(sparse.csr_array(GRADES), "truth"),
        compressed(sparse.coo_array(GRADES), "truth"),
        compressed(([0, 2, 2, 3], [1, 3, 2]), "truth"),
        ragged([np.array([1, 3]), np.array([]), np.array([-1, 2])]),
    ],
    ids=["padded", "with NaN", "with None", "masked", "grades", "truth values", "csr", "coo", "indices", "ragged"],
)
def test_every_form_gives_the_same_rows(rows: ItemRows) -> None:
    lists = rows.lists(4)
    assert [lists.item[begin:end].tolist() for begin, end in zip(lists.start, lists.start[1:], strict=False)] == CODES
    assert rows.width == 4
    assert rows.n_items in (None, 4)
    assert rows.value is None or rows.value.tolist() == [2, 1, 3]


@pytest.mark.parametrize(("options", "codes", "values"), [({}, [1], [3]), ({"add_up": False}, [1, 1], [1, 2])])
def test_entries_of_the_same_place(options: dict[str, Any], codes: list[int], values: list[int]) -> None:
    twice = sparse.csr_array((np.array([1, 2]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    rows = compressed(twice, "truth", **options)
    assert rows.value is not None
    assert (rows.item.tolist(), rows.value.tolist()) == (codes, values)


@pytest.mark.parametrize(
    ("dtype", "mark"), [("int64", -100), ("int32", -(2**31)), ("uint8", 255), ("uint64", 2**64 - 1)]
)
def test_other_marks_at_the_ends_of_rows(dtype: str, mark: int) -> None:
    # As items they would be relevant: the recall of the first user would be 1/2.
    truth = np.array([[3, mark], [2, 1]], dtype=dtype)
    with pytest.raises(
        InputError, match=rf"truth: rows end with {mark}, which could pad them, or be an item. .* -1: num"
    ):
        atkay.evaluate([[3], [1]], truth, "recall")
    padded = np.where(truth == mark, -1, truth.astype(int))
    assert atkay.evaluate([[3], [1]], padded, "recall")["recall"] == (1 + 1 / 2) / 2
    assert atkay.evaluate([[3], [1]], dict(enumerate(truth)), "recall")["recall"] == (1 / 2 + 1 / 2) / 2
    ids = np.array([[-5, 3], [2, -7]])  # negative ids at any place are ids
    assert atkay.evaluate([[-5], [2]], ids, "recall")["recall"] == 1 / 2
