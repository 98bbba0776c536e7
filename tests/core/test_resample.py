"""The kernels of resamples against their twins in NumPy, on one thread and on several, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from atkay.core import reference
from atkay.core.native import kernels
from atkay.core.native.library import LIBRARY
from kernel_threads import on

compiled = pytest.mark.skipif(LIBRARY is None, reason="the kernels are not built: no C compiler was there")

seeds = st.integers(0, 2**32 - 1)
workers = st.sampled_from([1, 2, 5])


@compiled
@given(seed=seeds, threads=workers, base=st.sampled_from([2, 3, 4, 7, 10, 17, 256]), several=st.booleans())
def test_choices(seed: int, threads: int, base: int, several: bool) -> None:
    rng = np.random.default_rng(seed)
    units, columns, resamples = int(rng.integers(0, 150)), int(rng.integers(1, 20)), int(rng.integers(0, 600))
    group = reference.units_per_code(base)
    words = -(-units // (group * reference.CODES_PER_WORD))
    rows = rng.normal(size=(units, base, columns) if several else (units, columns))
    code = rng.integers(0, base**group, (words, resamples, reference.CODES_PER_WORD))
    codes = code.astype(np.uint8).view("<u8")[:, :, 0].astype(np.uint64)
    before = rng.normal(size=(resamples, columns))
    native, plain = before.copy(), before.copy()
    reference.choice_sums(rows, base, codes, plain)
    with on(threads):
        kernels.choice_sums(rows, base, codes, native)
    assert native.tobytes() == plain.tobytes()
    # By the definition: the digit of each unit says which of its rows, or how often its row.
    digit = code[..., None] // base ** np.arange(group)[::-1] % base
    digit = digit.transpose(1, 0, 2, 3).reshape(resamples, words * 8 * group)[:, :units]
    chosen = rows[np.arange(units), digit] if several else digit[..., None] * rows
    np.testing.assert_allclose(native - before, chosen.sum(axis=1), rtol=0, atol=1e-10 * base)


@compiled
@given(seed=seeds, threads=workers, limit=st.integers(1, 256), first=st.integers(0, 9), words=st.integers(0, 9))
def test_random_codes(seed: int, threads: int, limit: int, first: int, words: int) -> None:
    with on(threads):
        native = kernels.random_codes(seed, first, (words, 20), limit)
        whole = kernels.random_codes(seed, 0, (words, 20 + first), limit)
    assert (
        native.tolist() == whole[:, first:].tolist() == reference.random_codes(seed, first, (words, 20), limit).tolist()
    )


def test_every_code_comes_as_often() -> None:
    codes = reference.random_codes(1, 0, (100, 1000), 100)
    assert stats.chisquare(np.bincount(codes.view(np.uint8).ravel(), minlength=100)).pvalue > 0.001


@compiled
@given(seed=seeds, threads=workers)
def test_resamples(seed: int, threads: int) -> None:
    rng = np.random.default_rng(seed)
    units, columns, resamples = int(rng.integers(1, 200)), int(rng.integers(0, 20)), int(rng.integers(0, 300))
    values = rng.normal(size=(units, columns))
    small = rng.integers(0, 2**16, (units, int(rng.integers(0, 40)))).astype(np.uint16)
    numbers, key = rng.integers(0, 10_000, resamples), int(rng.integers(0, 2**63))
    with on(threads):
        native = kernels.resampled_sums(key, numbers, values, small)
    for one, other in zip(native, reference.resampled_sums(key, numbers, values, small), strict=True):
        assert one.tobytes() == other.tobytes()


@compiled
@given(seed=seeds)
def test_sums_of_what_was_drawn(seed: int) -> None:
    """By the definition: every unit counts as often as it was drawn, whatever it is added up with."""
    rng = np.random.default_rng(seed)
    units = int(rng.integers(1, 100))
    drawn = [reference.drawn(seed, number, units) for number in range(20)]
    assert all(len(each) == units and each.min() >= 0 and each.max() < units for each in drawn)
    values = np.eye(units) * 7
    sums, small = kernels.resampled_sums(seed, np.arange(20), values, values.astype(np.uint16))
    times = np.array([np.bincount(each, minlength=units) for each in drawn])
    assert sums.tolist() == small.tolist() == (7 * times).tolist()


def test_every_unit_is_drawn_as_often() -> None:
    """Of 7 units, 20,000 samples: all draws, pairs of neighbours, and how often a unit comes in a sample."""
    drawn = np.array([reference.drawn(3, number, 7) for number in range(20_000)])
    assert stats.chisquare(np.bincount(drawn.ravel())).pvalue > 0.001
    assert stats.chisquare(np.bincount((drawn[:, :-1:2] * 7 + drawn[:, 1::2]).ravel(), minlength=49)).pvalue > 0.001
    times = np.bincount((drawn == 0).sum(axis=1), minlength=8)
    often = stats.binom.pmf(np.arange(8), 7, 1 / 7) * len(drawn)
    assert stats.chisquare([*times[:4], times[4:].sum()], [*often[:4], often[4:].sum()]).pvalue > 0.001
