"""Gains and discounts: what grades and ranks are worth, for DCG, nDCG, ERR and RBP."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from atkay.core.kernels import along_lists
from atkay.core.lists import is_constant
from atkay.core.types import Floats, Ints
from atkay.errors import RelevanceError
from atkay.judged.judged import Judged
from atkay.metrics.metric import number


def _exp2(grade: Floats) -> Floats:
    gain = np.exp2(grade) - 1
    if grade.min(initial=1) < 0.5:  # far below 1 the difference to 1 would lose its digits; whole grades stay exact
        gain = np.where(grade < 0.5, np.expm1(grade * math.log(2)), gain)
    return gain


GAINS: dict[str, Callable[[Floats], Floats]] = {
    "exp2": _exp2,
    "exp2_above": _exp2,
    "linear": lambda grade: grade,
    "binary": np.ones_like,
}


LARGEST_EXPONENT = 500
"""The highest grade that can be an exponent: squares and sums of such gains are still numbers."""


SMALLEST_GRADE, LARGEST_GRADE = 2.0**-LARGEST_EXPONENT, 2.0**LARGEST_EXPONENT
"""The grades that can be added up, for the same reason; below, quotients lose their digits."""


def _looked_up(formula: Callable[[Ints], Floats]) -> Callable[[Ints], Floats]:
    """The formula of ranks; where there are more of them than different ones, each is worked out once."""

    def of(rank: Ints) -> Floats:
        deepest = int(rank.max(initial=1))
        return formula(rank) if deepest >= len(rank) else formula(np.arange(1, deepest + 1)).take(rank - 1)

    return of


DISCOUNTS: dict[str, Callable[[Ints], Floats]] = {
    "log2": _looked_up(lambda rank: np.log2(rank + 1)),
    "ln": _looked_up(lambda rank: np.log(rank + 1)),
    "jk": _looked_up(lambda rank: np.maximum(1, np.log2(rank))),
}


def gains(name: str, grade: Floats, threshold: float = 0.0) -> Floats:
    """What the grades are worth; ``threshold`` is the lowest grade that is relevant."""
    if len(grade) and is_constant(grade):
        return np.broadcast_to(_gain(name, float(grade[0]), threshold), grade.shape)
    return _gains(name, grade, threshold)


@lru_cache(maxsize=256)
def _gain(name: str, grade: float, threshold: float) -> float:
    return float(_gains(name, np.array([grade]), threshold)[0])


def _gains(name: str, grade: Floats, threshold: float) -> Floats:
    power = grade - threshold + 1 if name == "exp2_above" else grade
    if name.startswith("exp2") and power.max(initial=0) > LARGEST_EXPONENT:
        raise RelevanceError(
            f"truth: a grade of {grade.max():g} is too large for gain={name}, which computes 2^grade. "
            "Choose gain=linear or gain=binary."
        )
    if name != "binary":
        check_weights(grade)
    return GAINS[name](power)


def distinct_gain(name: str, grade: Floats, threshold: float = 0.0) -> str | float:
    """What tells the gain from others: its name, or where all grades are the same what they are worth."""
    return _gain(name, float(grade[0]), threshold) if len(grade) and is_constant(grade) else name


def check_weights(grade: Floats) -> None:
    """Refuse grades whose sums or quotients no float holds."""
    low, high = grade.min(initial=1), grade.max(initial=1)
    low = low if low > 0 else grade.min(initial=1, where=grade > 0)
    if low < SMALLEST_GRADE or high > LARGEST_GRADE:
        grade_and_size = f"{low:g} is too small" if low < SMALLEST_GRADE else f"{high:g} is too large"
        raise RelevanceError(
            f"truth: a grade of {grade_and_size} to sum exactly. Rescale the grades, for instance to 0 to 5."
        )


def best_sums(
    judged: Judged, gain: Callable[[Floats], Floats], discount: Callable[[Ints], Floats], cutoffs: Sequence[int]
) -> Floats:
    """The discounted gain of each query's relevant items in the best order, up to each cutoff."""
    grades = judged.grades
    worth = gain(grades)
    if is_constant(worth):
        # Summed in rank order as `total` does it, so that a perfect list scores 1 to the last bit.
        places = np.arange(1, judged.n_relevant.max(initial=0) + 1)
        running = np.concatenate(([0.0], np.cumsum(worth[:1] / discount(places))))
        ideal = np.empty((len(cutoffs), judged.n_queries))
        for row, k in zip(ideal, cutoffs, strict=True):
            np.take(running[np.minimum(np.arange(len(running)), k)], judged.n_relevant, out=row, mode="clip")
        return ideal.T
    deepest = min(max(cutoffs), int(judged.n_relevant.max(initial=0)))
    return along_lists(judged.edges, worth, discount(np.arange(1, deepest + 1)), cutoffs)


def highest_grade(default: float) -> Any:
    """The field that says which grade is the highest there can be."""
    meaning = f"a number above 0, at most {LARGEST_EXPONENT}"
    return number(default, lambda value: 0 < value <= LARGEST_EXPONENT, meaning)
