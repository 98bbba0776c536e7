"""When two results are the same, to the last bit."""

from __future__ import annotations

import numpy as np

import atkay


def assert_same(one: atkay.Result, other: atkay.Result) -> None:
    assert np.array_equal(one.query_values, other.query_values, equal_nan=True)
    assert one.per_query.equals(other.per_query)
    assert one.table.equals(other.table)
    assert one.slices.equals(other.slices)
    for what in ("population", "fingerprint", "columns", "protocol", "names"):
        assert getattr(one, what) == getattr(other, what), what
    assert repr(one) == repr(other)
