"""Exact sums: the same in any parts and order, and the means and intervals that follow from them."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.core.moments import Moments, sum_up
from atkay.core.reference import EXACT_POWER
from atkay.engines.plan import share
from atkay.errors import InputError, RowsError, SourceError
from atkay.evaluation.finish import finish
from atkay.evaluation.measure import measure_tables
from atkay.evaluation.part import Part
from atkay.evaluation.request import Request
from atkay.inputs.coding.segments import slice_queries
from atkay.inputs.read import read_tables
from atkay.results.population import Population
from atkay.results.save import seal, unseal
from atkay.results.summary import summarise

ALIKE = [0.1, math.nextafter(0.1, 1), 0.1 + 1e-15]
anything = st.floats(allow_nan=True, allow_infinity=False) | st.sampled_from([5e-324, sys.float_info.max, -1e-300])
usual = st.floats(0, 1, allow_subnormal=False).map(lambda value: round(value, 9)) | st.sampled_from(
    [1 / 3, 1e5, *ALIKE]
)
counts = st.integers(0, 50).map(float)


def fractions(sums: tuple[int, ...]) -> tuple[Fraction, ...]:
    return tuple(Fraction(each, 1 << EXACT_POWER) for each in sums)


def of(values: list[float]) -> Moments:
    return sum_up(["one"], np.array(values, dtype=float)[:, None])["one"]


@given(values=st.lists(anything, max_size=20))
def test_sums_are_those_of_fractions(values: list[float]) -> None:
    moments, there = of(values), [Fraction(value) for value in values if not math.isnan(value)]
    assert (moments.users, moments.undefined) == (len(there), len(values) - len(there))
    assert fractions(moments.sums) == (sum(there),)
    assert fractions(moments.products) == (sum(value**2 for value in there),)


@given(numerator=st.lists(anything, min_size=5, max_size=5), denominator=st.lists(anything, min_size=5, max_size=5))
def test_sums_of_pairs_are_those_of_fractions(numerator: list[float], denominator: list[float]) -> None:
    moments = sum_up(["one"], np.array(numerator)[:, None], np.array(denominator)[:, None])["one"]
    both = [(a, b) for a, b in zip(numerator, denominator, strict=True) if not math.isnan(a) and b > 0]
    pairs = [(Fraction(a), Fraction(b)) for a, b in both]
    assert fractions(moments.sums) == (sum(a for a, _ in pairs), sum(b for _, b in pairs))
    assert fractions(moments.products) == (
        sum(a * a for a, _ in pairs),
        sum(a * b for a, b in pairs),
        sum(b * b for _, b in pairs),
    )


@given(values=st.lists(anything, max_size=20), seed=st.integers(0, 99), cut=st.integers(0, 20))
def test_parts_in_any_order_merge_to_the_same(values: list[float], seed: int, cut: int) -> None:
    mixed = np.random.default_rng(seed).permutation(np.array(values)).tolist()
    whole = of(values)
    assert of(mixed[:cut]).merge(of(mixed[cut:])) == of(mixed[cut:]).merge(of(mixed[:cut])) == whole
    assert Moments.of_record(whole.record()) == whole


def test_more_users_than_are_summed_in_one_go() -> None:
    # Every digit of the value is as large as it gets.
    n, value = 100_003, Fraction(math.nextafter(1, 0))
    moments = of([float(value)] * n)
    assert fractions(moments.sums) == (n * value,)
    assert fractions(moments.products) == (n * value**2,)


@given(values=st.lists(usual, min_size=1, max_size=30))
def test_the_summary_is_that_of_the_values(values: list[float]) -> None:
    moments, there = of(values), [Fraction(value) for value in values]
    n, mean = len(there), sum(there) / len(there)
    assert moments.mean == float(mean)
    if n > 1:
        variance = sum((value - mean) ** 2 for value in there) / (n - 1)
        assert moments.deviation == pytest.approx(math.sqrt(variance), rel=1e-15, abs=0)


@given(pairs=st.lists(st.tuples(counts, counts), min_size=1, max_size=30))
def test_the_summary_of_pooled_users(pairs: list[tuple[float, float]]) -> None:
    numerator, denominator = np.array(pairs).T
    moments = sum_up(["one"], numerator[:, None], denominator[:, None])["one"]
    assert moments.pooled
    there = [(Fraction(a), Fraction(b)) for a, b in pairs if b]
    assert (moments.users, moments.undefined) == (len(there), len(pairs) - len(there))
    if len(there) > 1:
        ratio, n = sum(a for a, _ in there) / sum(b for _, b in there), len(there)
        residuals = [(a - ratio * b) * n / sum(b for _, b in there) for a, b in there]
        assert moments.mean == float(ratio)
        variance = sum(each**2 for each in residuals) / (n - 1)
        assert moments.deviation == pytest.approx(math.sqrt(variance), rel=1e-15, abs=0)


def test_the_interval_of_a_pooled_ratio() -> None:
    # Ratio 6/12. Residuals n - r d: 0, 1, -1, over the mean denominator 4: variance (2/16) / 2.
    summary = summarise(sum_up(["one"], np.array([[1.0], [2.0], [3.0]]), np.array([[2.0], [2.0], [8.0]]))["one"])
    quantile = 0.95 * math.sqrt(2 / (1 - 0.95**2))  # Student's at 0.975; with 2 degrees of freedom it has a closed form
    half = quantile * math.sqrt((2 / 16) / 2) / math.sqrt(3)
    # SciPy 1.15 has ten digits of the quantile, later versions have all.
    assert [summary.mean, summary.low, summary.high] == pytest.approx([0.5, 0.5 - half, 0.5 + half], rel=1e-9)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_a_deviation_whose_square_no_float_holds(scale: float) -> None:
    # Of 1, 2 and 3 it is 1.
    assert of([scale, 2 * scale, 3 * scale]).deviation == pytest.approx(scale, rel=1e-12)


def test_values_that_are_alike_differ_by_nothing() -> None:
    assert of([0.1] * 1000).deviation == 0


def test_nobody_has_no_mean() -> None:
    assert math.isnan(of([]).mean)
    assert math.isnan(summarise(of([math.nan])).mean)


def test_an_infinite_value_has_no_sum() -> None:
    with pytest.raises(InputError, match="infinite"):
        of([math.inf])


@pytest.mark.parametrize(
    "record", [[1, 0, ["1/0"], []], [-1, 0, ["1/0"], ["1/0"]], [1, 0, ["1/99999999999"], ["1/0"]], [1, 0, ["1"], ["1"]]]
)
def test_what_is_no_record_of_sums(record: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"sum|non-negative"):
        Moments.of_record(record)


RECS = {"ann": ["tea", "milk", "rye"], "bob": ["jam", "tea"], "eve": ["oat"], "dan": ["jam"], "kim": ["rye", "tea"]}
TRUTH = {"ann": ["tea", "rye"], "bob": ["oat", "jam"], "cat": ["tea"], "eve": ["tea"], "kim": ["tea"]}
BOTH: dict[str, dict[str, list[str]]] = {"recs": RECS, "truth": TRUTH}
EVERYBODY = ["ann", "bob", "cat", "dan", "eve", "kim"]
METRICS = ["precision(average=pooled)@2", "ndcg@2,3", "coverage@2", "novelty@2"]
GIVEN: dict[str, Any] = {
    "catalog": ["tea", "milk", "rye", "jam", "oat"],
    "train": {"ann": ["jam"], "bob": ["jam", "rye"], "kim": ["tea"]},
    "slices": {"ann": "old", "bob": "new", "cat": "old", "eve": "new"},
}


def in_parts(*parts: list[str], **given: Any) -> atkay.Result:
    """A result out of sums over parts of the users."""
    request = Request.of(METRICS, tables={"recs": RECS, "truth": TRUTH, **given})
    setting = share(request, read_tables(request.tables, request.protocol))
    summed = []
    for users in parts:
        tables = {name: {user: each[user] for user in users if user in each} for name, each in BOTH.items()}
        part = measure_tables(request, setting, tables)
        slicings, _ = slice_queries(pl.DataFrame(dict(part.ids)), setting.tables.get("slices"), None)
        summed.append(part.sum(slicings=slicings))
    return finish(request, setting, summed)


@pytest.mark.parametrize(
    "parts",
    [[EVERYBODY], [["ann", "dan"], ["kim"], ["bob", "cat", "eve"]], [["bob", "cat", "eve"], ["ann", "dan", "kim"]]],
)
def test_a_result_out_of_sums(parts: list[list[str]], tmp_path: Path) -> None:
    result, rows = in_parts(*parts, **GIVEN), atkay.evaluate(RECS, TRUTH, METRICS, **GIVEN)
    assert list(result) == list(rows)
    assert dict(result) == dict(rows)
    assert result.definitions == rows.definitions
    assert result.table.equals(rows.table)
    assert result.slices.equals(rows.slices)
    assert repr(result) == repr(rows)

    result.save(tmp_path / "result.json")
    again = atkay.Result.load(tmp_path / "result.json")
    assert again.sums == result.sums
    assert repr(again) == repr(result)
    assert again.slices.equals(result.slices)


def test_what_takes_a_value_per_user_says_so(tmp_path: Path) -> None:
    result, rows = in_parts(EVERYBODY, **GIVEN), atkay.evaluate(RECS, TRUTH, METRICS, **GIVEN)
    with pytest.raises(RowsError, match="per_query needs values per user"):
        result.per_query  # noqa: B018 - the mistake
    with pytest.raises(RowsError, match="compare: 'new' needs values per user"):
        atkay.compare({"old": rows, "new": result}, metrics=["ndcg@2"])
    atkay.report(result, tmp_path / "report.html")
    assert "ndcg@2" in (tmp_path / "report.html").read_text()


def a_part(**given: Any) -> Part:
    fields: dict[str, Any] = {"ids": {}, "ratios": {}, "population": Population()}
    return Part(np.arange(3), names=("one",), values=np.array([[1.0], [0.5], [0.0]]), **fields | given)


def test_rows_do_not_merge() -> None:
    with pytest.raises(RowsError, match="once they are summed"):
        a_part().merge(a_part().sum())


def test_sums_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    in_parts(EVERYBODY, **GIVEN).save(path)
    record = unseal("result", path.read_bytes())
    record["sums"][0]["numbers"].pop("ndcg@2")
    path.write_bytes(seal("result", record))
    with pytest.raises(SourceError, match="parts are inconsistent"):
        atkay.Result.load(path)


def test_queries_of_one_group_are_averaged_first() -> None:
    # Users 1 and 2 have the values 1 and 1/2, user 3 has 0: (3/4 + 0) / 2.
    sums = a_part().sum(groups=np.array([7, 7, 8])).sums
    assert sums is not None
    assert sums[None].numbers["one"].mean == 0.375
    assert sums[None].queries == 3
