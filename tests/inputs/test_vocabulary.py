"""Ids and codes: every way of finding codes agrees."""

from __future__ import annotations

from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atkay.inputs.coding.vocabulary import Vocabulary


def check(
    one: list[object], other: list[object], *, dense: bool, dtype: pl.DataType | type[pl.DataType] | None = None
) -> Vocabulary:
    tables = [(pl.Series("id", values, dtype=dtype),) for values in (one, other)]
    vocabulary, codes = Vocabulary.of(tables, dense=dense)
    for (ids,), code in zip(tables, codes, strict=True):
        assert vocabulary.known(code).all()
        assert vocabulary.ids(code).to_series().to_list() == ids.to_list()
        assert (vocabulary.codes((ids,)) == code).all()
    everything = sorted(set(one) | set(other))  # type: ignore[type-var]  # all of one type
    if dense:
        assert vocabulary.size == len(everything)
    ordered = vocabulary.codes((pl.Series("id", everything, dtype=dtype),))
    assert (ordered[1:] > ordered[:-1]).all()  # codes keep the ids' order
    return vocabulary


near = st.lists(st.integers(-50, 50), min_size=1, max_size=30)
far = st.lists(st.integers(-(2**63), 2**63 - 1) | st.sampled_from([0, 2**40, -(2**50)]), min_size=1, max_size=30)


few = st.sampled_from([0, 2000])
"""How many ids are numbered by Python and not by a kernel."""


@given(one=near | far, other=near | far, dense=st.booleans(), few=few)
def test_integers(one: list[object], other: list[object], dense: bool, few: int) -> None:
    with patch("atkay.inputs.coding.vocabulary.FEW_ROWS", few):
        check(one, other, dense=dense)


@pytest.mark.parametrize("low", [2**31 - 2, 2**31, -(2**31) - 5, 2**61])
@pytest.mark.parametrize("dense", [False, True])
def test_near_ids_beyond_32_bits(low: int, dense: bool) -> None:
    check([low, low + 3], [low + 70, low + 3], dense=dense)  # codes are of 32 bits, ids are not


@given(
    one=st.lists(st.text(max_size=3), min_size=1, max_size=30),
    other=st.lists(st.text(max_size=3), min_size=1, max_size=30),
    few=few,
)
def test_text(one: list[object], other: list[object], few: int) -> None:
    with patch("atkay.inputs.coding.vocabulary.FEW_ROWS", few):
        vocabulary = check(one, other, dense=True, dtype=pl.String)
    unknown = vocabulary.codes((pl.Series(["never seen before"]),))
    assert not vocabulary.known(unknown).any()


@given(rows=st.lists(st.tuples(st.integers(0, 3), st.text(max_size=2)), min_size=1, max_size=20))
def test_several_columns(rows: list[tuple[int, str]]) -> None:
    number, text = (pl.Series(list(column)) for column in zip(*rows, strict=True))
    with patch("atkay.inputs.coding.vocabulary.ROWS_PER_SLICE", 3):
        vocabulary, (code,) = Vocabulary.of([(number, text)], dense=True)
    assert vocabulary.ids(code).rows() == rows
    assert [vocabulary.ids(code[at : at + 1]).row(0) for at in code.argsort()] == sorted(rows)


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int16, pl.UInt64, pl.Int128])
def test_narrow_and_wide_integers(dtype: type[pl.DataType]) -> None:
    low, high = (0, 255) if dtype == pl.UInt8 else (-128, 127) if dtype == pl.Int8 else (0, 300)
    check([low, high, low + 1], [high, high - 1], dense=False, dtype=dtype)
    check([low, high, low + 1], [high, high - 1], dense=True, dtype=dtype)
    if dtype in (pl.UInt64, pl.Int128):
        check([2**63 + 1, 2**63], [2**63 + 5], dense=True, dtype=dtype)


def test_integers_of_different_widths() -> None:
    vocabulary, codes = Vocabulary.of(
        [(pl.Series([1, 2], dtype=pl.Int8),), (pl.Series([2, 2**64 - 1], dtype=pl.UInt64),)]
    )
    assert codes[0][1] == codes[1][0]
    assert vocabulary.ids(codes[1]).to_series().to_list() == [2, 2**64 - 1]


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("far", [9, 10**12])
def test_an_integer_is_its_own_number(far: int, dense: bool) -> None:
    vocabulary, codes = Vocabulary.of([(pl.Series([-3, 5, far]),), (pl.Series([far, 5]),)], dense=dense)
    assert vocabulary.numbers(codes[0]).view("int64").tolist() == [-3, 5, far]


def test_ids_that_are_not_known() -> None:
    vocabulary, _ = Vocabulary.of([(pl.Series([10, 12]),), (pl.Series([15]),)], dense=True)
    assert vocabulary.known(vocabulary.codes((pl.Series([9, 10, 11, 15, 16, 10**12, -5]),))).tolist() == [
        False, True, False, True, False, False, False,
    ]  # fmt: skip
