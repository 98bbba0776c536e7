"""The kernels of groups against their twins in NumPy, on one thread and on several, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_kernels import drawn, seeds, workers

from atkay.core import reference
from atkay.core.native import kernels
from atkay.core.native.library import LIBRARY
from kernel_threads import on

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="the kernels are not built: no C compiler was there")


@given(seed=seeds, threads=workers, n_items=st.sampled_from([1, 3, 40, 2**31 - 1, 2**40]))
def test_number_pairs(seed: int, threads: int, n_items: int) -> None:
    rng = np.random.default_rng(seed)
    length = rng.integers(0, 20, rng.integers(0, 40))
    start, rows = np.concatenate(([0], np.cumsum(length))), int(length.sum())
    row, item = rng.permutation(rows), n_items - 1 - rng.integers(0, min(n_items, 40), rows)
    with on(threads):
        native, n = kernels.number_pairs(start, row, item, n_items)
    plain, n_plain = reference.number_pairs(start, row, item, n_items)
    assert (native.tolist(), n) == (plain.tolist(), n_plain)


def test_numbers_go_from_list_to_list() -> None:
    # The first list has rows 3 and 1, the second none, the third rows 4, 0 and 2.
    start, row, item = np.array([0, 2, 2, 5]), np.array([3, 1, 4, 0, 2]), np.array([7, 5, 9, 5, 9])
    for of in (kernels, reference):
        number, n = of.number_pairs(start, row, item, 10)
        assert (number.tolist(), n) == ([2, 0, 1, 0, 1], 3)


def test_take_in_an_order_of_narrow_integers() -> None:
    values, order = np.arange(300_000) * 3, np.arange(300_000)[::-1].astype("i4")
    assert (kernels.take(values, order) == reference.take(values, order)).all()


@given(seed=seeds, threads=workers, n_items=st.sampled_from([40, 41, 5000]))
def test_cooccurrence(seed: int, threads: int, n_items: int) -> None:
    rng = np.random.default_rng(seed)
    lists = drawn(rng, int(rng.integers(0, 30)), n_items=n_items)
    one = rng.integers(0, n_items - 1, 200)
    other = rng.integers(one + 1, n_items)
    with on(threads):
        native = kernels.cooccurrence(lists)
        shared = kernels.shared(*native, one, other), kernels.shared(*native, other, one)
    plain = reference.cooccurrence(lists)
    assert [each.tolist() for each in native] == [each.tolist() for each in plain]
    assert shared[0].tolist() == shared[1].tolist() == reference.shared(*plain, one, other).tolist()
