"""Gains and discounts: what grades and ranks are worth, by a word or a given table."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from atkay.core.kernels import along_lists
from atkay.core.lists import constant, is_constant
from atkay.core.types import Floats, Ints
from atkay.errors import RelevanceError, SpecError, shown
from atkay.judged.judged import Judged
from atkay.metrics.metric import number
from atkay.metrics.worked import printed
from atkay.words import Scale, is_table

Given = str | Scale
"""A word, a table, or a function; a metric keeps the last two as text, such as "{1:1,2:3}"."""


OTHERS = ("else", "grade")
"""What a table of gains says where grades that it does not have are worth themselves."""

HIGHEST_ASKED = 5
"""A function of the grade is asked for the grades from 1 to this one."""


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


def discount_of(name: Given) -> Callable[[Ints], Floats]:
    """What the gain at a rank is divided by."""
    if not is_table(name):
        return DISCOUNTS[str(name)]
    divisors = np.array([*table_of(name).values()])
    return lambda rank: divisors.take(rank - 1, mode="clip")  # what stands below the last cutoff does not count


def gains(name: Given, grade: Floats, threshold: float = 0.0) -> Floats:
    """What the grades are worth; ``threshold`` is the lowest grade that is relevant."""
    name = str(name)
    if len(grade) and is_constant(grade):
        return constant(_gain(name, float(grade[0]), threshold), grade.shape)
    return _gains(name, grade, threshold)


@functools.lru_cache(maxsize=256)
def _gain(name: str, grade: float, threshold: float) -> float:
    return float(_gains(name, np.array([grade]), threshold)[0])


def _gains(name: str, grade: Floats, threshold: float) -> Floats:
    if is_table(name):
        return _looked_up_in_table(name, grade)
    power = grade - threshold + 1 if name == "exp2_above" else grade
    if name.startswith("exp2") and power.max(initial=0) > LARGEST_EXPONENT:
        raise RelevanceError(
            f"truth: a grade of {grade.max():g} is too large for gain={name}, which computes 2^grade. "
            "Choose gain=linear or gain=binary."
        )
    if name != "binary":
        check_weights(grade)
    return GAINS[name](power)


def distinct_gain(name: Given, grade: Floats, threshold: float = 0.0) -> str | float:
    """What tells the gain from others: its name, or where all grades are the same what they are worth."""
    return _gain(str(name), float(grade[0]), threshold) if len(grade) and is_constant(grade) else str(name)


def table_text(owner: str, field: str, table: Given, keys: Sequence[int]) -> str:
    """A table as it stands in a spec; a function is asked for the ``keys``."""
    if isinstance(table, str):
        pairs: Any = [part.split(":") for part in table.strip("{}").split(",")]
    else:
        pairs = table.items() if isinstance(table, Mapping) else [(key, table(key)) for key in keys]
    others = [OTHERS] if field == "gain" and any(tuple(pair) == OTHERS for pair in pairs) else []
    try:
        numbers = sorted((float(key), float(value)) for key, value in pairs if (key, value) not in others)
    except (TypeError, ValueError):
        raise SpecError(
            f"{owner}: write {field} as a table of numbers, such as {field}={{1:1,2:3}}; got {shown(table)}."
        ) from None
    values = [value for _, value in numbers]
    if not numbers or not all(0 <= each <= LARGEST_GRADE for pair in numbers for each in pair):
        raise SpecError(f"{owner}: {field}={shown(table)} must have numbers of 0 or more.")
    if values != sorted(values) and not others:
        raise SpecError(
            f"{owner}: {field}={shown(table)} must have numbers that do not fall: "
            + ("a higher grade is worth as much or more." if field == "gain" else "a lower rank is divided by as much.")
        )
    if len({key for key, _ in numbers}) < len(numbers):
        raise SpecError(f"{owner}: {field}={shown(table)} names a number twice.")
    return (
        "{" + ",".join([*(f"{printed(key)}:{printed(value)}" for key, value in numbers), *map(":".join, others)]) + "}"
    )


def settled_gain(owner: str, gain: Given) -> Given:
    """The word, or a table as it stands in a spec."""
    if not is_table(gain):
        return gain
    text = table_text(owner, "gain", gain, range(1, HIGHEST_ASKED + 1))
    if table_of(text).get(0.0):
        raise SpecError(f"{owner}: an item of grade 0 is not relevant and gains nothing; leave it out.")
    return text


def table_of(given: Given) -> dict[float, float]:
    """What such a text says."""
    pairs = re.findall(r"([^{},:]+):([^{},:]+)", str(given))
    return {float(key): float(value) for key, value in pairs if (key, value) != OTHERS}


def keeps_others(gain: Given) -> bool:
    """Whether it is a table in which other grades are worth themselves, so that a higher grade can be worth less."""
    return str(gain).endswith(":".join(OTHERS) + "}")


def best_first(gain: Given, grade: Floats, owner: Callable[[], Ints], threshold: float = 0.0) -> Floats:
    """What the grades are worth, the most first; ``grade`` falls within each query, and ``owner`` has the queries."""
    worth = gains(gain, grade, threshold)
    return worth[np.lexsort((-worth, owner()))] if keeps_others(gain) else worth


def ideal_gains(gain: Given, judged: Judged) -> Floats:
    """What each query's relevant items are worth, the most first."""
    owner = functools.partial(np.repeat, np.arange(judged.n_queries), judged.n_relevant)
    return best_first(gain, judged.grades, owner, judged.threshold)


def _looked_up_in_table(name: str, grade: Floats) -> Floats:
    table = table_of(name)
    known = np.array([*table])
    place = np.searchsorted(known, grade).clip(max=len(known) - 1)
    worth = np.array([*table.values()]).take(place)
    if keeps_others(name):
        check_weights(grade)
        return np.where(known[place] == grade, worth, grade)
    if (missing := grade[known[place] != grade]).size:
        raise RelevanceError(
            f"truth: gain={name} does not say what a grade of {missing[0]:g} is worth. Add it to the table, "
            "or write else:grade there."
        )
    return worth


def check_weights(grade: Floats) -> None:
    """Refuse grades whose sums or quotients no float holds."""
    low, high = grade.min(initial=1), grade.max(initial=1)
    low = low if low > 0 else grade.min(initial=1, where=grade > 0)
    if low < SMALLEST_GRADE or high > LARGEST_GRADE:
        grade_and_size = f"{low:g} is too small" if low < SMALLEST_GRADE else f"{high:g} is too large"
        raise RelevanceError(
            f"truth: a grade of {grade_and_size} to sum exactly. Rescale the grades, for instance to 0 to 5."
        )


def best_sums(judged: Judged, gain: Given, discount: Callable[[Ints], Floats], cutoffs: Sequence[int]) -> Floats:
    """The discounted gain of each query's relevant items in the best order, up to each cutoff."""
    worth = ideal_gains(gain, judged)
    if is_constant(worth):
        # Summed in rank order as `total` does it, so that a perfect list scores 1 to the last bit.
        places = np.arange(1, judged.n_relevant.max(initial=0) + 1)
        running = np.concatenate(([0.0], np.cumsum(worth[:1] / discount(places))))
        upto = running[np.minimum(np.arange(len(running)), np.array(cutoffs)[:, None])]
        ideal: Floats = upto.take(judged.n_relevant, axis=1, mode="clip").T
        return ideal
    deepest = min(max(cutoffs), int(judged.n_relevant.max(initial=0)))
    return along_lists(judged.edges, worth, discount(np.arange(1, deepest + 1)), cutoffs)


def highest_grade(default: float) -> Any:
    """The field that says which grade is the highest there can be."""
    meaning = f"a number above 0, at most {LARGEST_EXPONENT}"
    return number(default, lambda value: 0 < value <= LARGEST_EXPONENT, meaning)
