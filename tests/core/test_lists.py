"""What lists are made of: numbers that stand for many."""

from __future__ import annotations

import numpy as np
import pytest

from atkay.core.lists import constant, is_constant, picked


def test_one_number_stands_for_all() -> None:
    ones = constant(1.5, (2, 3))
    assert ones.tolist() == [[1.5, 1.5, 1.5], [1.5, 1.5, 1.5]]
    assert ones.strides == (0, 0)
    with pytest.raises(ValueError, match="read-only"):
        ones[0, 0] = 2  # which would change all of them


def test_picked_rows_of_a_constant_are_one_number_still() -> None:
    rows = np.array([2, 0])
    assert picked(constant(4.0, (3,)), rows).strides == (0,)
    assert picked(constant(4.0, (3,)), rows).tolist() == [4.0, 4.0]
    assert picked(np.array([1.0, 2.0, 3.0]), rows).tolist() == [3.0, 1.0]
    assert picked(constant(4.0, (0,)), rows[:0]).tolist() == []
    assert is_constant(picked(constant(4.0, (3,)), rows))
