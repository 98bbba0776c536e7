"""Corrections: p-values of many comparisons, such that a family of them errs no more often than one would."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from atkay.core.types import Floats


def holm(p: Floats) -> Floats:
    """Holm's step-down p-values: the chance of even one false finding in the family stays below the level.

    The i-th smallest of m is multiplied by m - i + 1, and none is smaller than the one before it.

    Holm, A simple sequentially rejective multiple test procedure, 1979.

    Examples
    --------
    .005 · 4, .01 · 3, .03 · 2, and .04 · 1 = .04, which may not be below .06.

    >>> from atkay.comparison.corrections import holm
    >>> holm(np.array([0.01, 0.04, 0.03, 0.005])).round(4).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    out = np.empty_like(p)
    out[order] = np.minimum(steps, 1.0)
    return out


def bonferroni(p: Floats) -> Floats:
    """Each p-value times their number: as Holm's, and never smaller."""
    return np.minimum(p * len(p), 1.0)


def benjamini_hochberg(p: Floats) -> Floats:
    """The step-up p-values: of what is found, a share of no more than the level is expected to be false.

    Benjamini and Hochberg, Controlling the false discovery rate, 1995.
    """
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p), dtype=float)


def unchanged(p: Floats) -> Floats:
    """The p-values as they are."""
    return p


CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "bh": benjamini_hochberg,
    "none": unchanged,
}

FAMILIES = ("all", "metric")


def corrected(p: Floats, correction: str, family: str, *, joint: bool, segments: int = 1) -> Floats:
    """The p-values of one test, metrics x (segments x) pairs, corrected within their family; NaN is no member.

    A ``joint`` test, such as Tukey's, holds for all pairs of one metric at once: its p-values are multiplied by the
    number of metrics and of segments in the family, and that is all.
    """
    there = ~np.isnan(p)
    out = np.full(p.shape, np.nan)
    if correction == "none":
        out[there] = p[there]
    elif joint:
        metrics = int(there.any(axis=1).sum()) if family == "all" else 1
        out[there] = np.minimum(p[there] * metrics * segments, 1.0)
    elif family == "all":
        out[there] = CORRECTIONS[correction](p[there])
    else:
        for row, inside in enumerate(there):
            out[row, inside] = CORRECTIONS[correction](p[row, inside])
    return out
