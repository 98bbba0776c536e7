"""Arithmetic: one user's value written out. NumPy only."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from atkay.core.types import WHOLE
from atkay.errors import SpecError

if TYPE_CHECKING:
    from atkay.judged.judged import Judged
    from atkay.metrics.metric import Metric

TERMS = 20
"""Terms of a sum, and ranks of hits, that are written out."""


def arithmetic(metric: Metric, judged: Judged) -> str:
    """One user's hits, and how the metric's value follows from them: "hits at ranks 1, 3: (1/1 + 2/3) / 6 = 0.2778".

    ``judged`` has one query, the metric one cutoff. Where a metric does not write its arithmetic out, or the value is
    an average over the orders of equal scores, the numbers are named from which it follows.

    Examples
    --------
    >>> import numpy as np
    >>> from atkay.metrics.worked import arithmetic
    >>> from atkay.judged.judged import Judged
    >>> judged = Judged(query=np.array([0, 0]), rank=np.array([1, 3]), grade=np.ones(2), item=np.array([4, 7]),
    ...                 n_relevant=np.array([6]), n_listed=np.array([5]), answered=np.array([True]), grades=np.ones(6))
    >>> arithmetic(atkay.parse("map(per=capped)@5"), judged)
    'hits at ranks 1, 3: (1/1 + 2/3) / min(5, 6) = 0.3333'
    """
    if judged.n_queries != 1 or len(metric.cutoffs) != 1:
        raise SpecError(
            f"arithmetic: pass one user and one cutoff at a time, got {judged.n_queries:,} users and '{metric}'."
        )
    judged = metric.view(judged)
    value = float(metric.values(judged)[0, 0])
    result = "no value" if math.isnan(value) else f"{value:.4f}"
    top = judged.rank <= metric.cutoffs[0]
    first, size = judged.ties
    averaged = judged.averaged and bool((size[first < metric.cutoffs[0]] > 1).any())
    if averaged:
        near = first < metric.cutoffs[0]
        spans = zip((first + 1)[near].tolist(), (first + size)[near].tolist(), strict=True)
        hits = _hits([f"{low}" if low == high else f"{low} to {high}" for low, high in spans])
        return f"{hits}, averaged over the orders of equal scores; {_sizes(metric, judged)}: {result}"
    hits = _hits([str(rank) for rank in judged.rank[top].tolist()])
    expression = metric.expression(replace(judged, averaged=False))
    if not expression or math.isnan(value):
        return f"{hits}; {_sizes(metric, judged)}: {result}"
    return f"{hits}: {expression} = {result}"


def _hits(ranks: list[str]) -> str:
    if not ranks:
        return "no hit"
    more = f" and {len(ranks) - TERMS:,} more" if len(ranks) > TERMS else ""
    return f"hit{'s' if len(ranks) > 1 else ''} at rank{'s' if len(ranks) > 1 else ''} {', '.join(ranks[:TERMS])}{more}"


def _sizes(metric: Metric, judged: Judged) -> str:
    """R, L and k."""
    k = "" if metric.cutoffs[0] == WHOLE else f", k = {metric.cutoffs[0]}"
    return f"R = {judged.n_relevant[0]}, L = {judged.listed(metric.cutoffs)[0, 0]}{k}"


def printed(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def quotient(numerator: str, denominator: str) -> str:
    """One expression over another, and 0 where there is nothing to divide by."""
    return "0" if denominator == "0" else f"{numerator} / {denominator}"


def added(terms: Iterable[str], count: int) -> str:
    """The sum of ``count`` terms, of which the first TERMS are written out."""
    more = [f"... {count - TERMS:,} more"] if count > TERMS else []
    return " + ".join([*itertools.islice(terms, TERMS), *more]) or "0"


def bracketed(sums: str) -> str:
    """A sum as a part of something else."""
    return f"({sums})" if " " in sums or "/" in sums else sums


def share_of_possible(judged: Judged, k: int) -> str:
    """The hits of the one query over min(k, R)."""
    return quotient(printed(float(judged.total(1, (k,))[0, 0])), lesser(k, int(judged.n_relevant[0])))


def lesser(one: int, other: int) -> str:
    """The smaller of two numbers, both of them shown; one that cuts nothing is left out."""
    if WHOLE in (one, other):
        return str(min(one, other))
    return "0" if min(one, other) == 0 else f"min({one}, {other})"
