"""Every metric of the registry with every word, in ``make test-deep`` every combination, and data to try them on."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
from hypothesis import strategies as st

import atkay
from atkay.errors import SpecError
from atkay.metrics.metric import Metric, conventions
from atkay.words import words_of

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
"""Whether this is ``make test-deep``."""

NUMBERS = (0.5, 1.0, 2.0)
NUMBERS_OF = {"power": (1.0, 0.5), "clip": (0.0, 0.25)}
"""Of fields that want others."""

Row = tuple[int, int, float]


def every_variant(*cutoffs: int | tuple[int, ...] | None) -> Iterator[Metric]:
    """All metrics and all words, at the given cutoffs: every combination in ``make test-deep``, else each word once."""
    for cls in atkay.list_metrics().values():
        for k in cutoffs if cls.cuts else (None,):
            yield from combinations(cls, k) if DEEP else each_word(cls, k)


def combinations(cls: type[Metric], k: int | tuple[int, ...] | None) -> Iterator[Metric]:
    """With all words that go together, the defaults first."""
    fields = conventions(cls)
    numbers = {each.name: NUMBERS_OF.get(each.name, NUMBERS) for each in fields}
    choices = [list(words_of(each)) or list(filter(each.metadata["check"], numbers[each.name])) for each in fields]
    for chosen in itertools.product(*choices):
        words: dict[str, Any] = dict(zip((each.name for each in fields), chosen, strict=True))
        if words.get("of") != "probabilities":  # which the scores of the tests are not
            with contextlib.suppress(SpecError):
                yield cls(**words, k=k)


def each_word(cls: type[Metric], k: int | tuple[int, ...] | None) -> Iterator[Metric]:
    """With the defaults, and with each other word once, beside as many defaults as go with it."""
    seen: set[tuple[str, object]] = set()
    for number, metric in enumerate(combinations(cls, k)):
        words = {(each.name, getattr(metric, each.name)) for each in conventions(cls)}
        if number == 0 or words - seen:
            seen |= words
            yield metric


def side(user: Callable[[int], object] = int, item: Callable[[int], object] = int) -> dict[str, Any]:
    """Something for every metric that needs more than recs and truth.

    User 5 and item 7 are not in training, and item 7 has no propensity.
    """
    train = {0: [0, 1, 2], 1: [0, 2], 2: [0], 3: [3, 4, 5, 6, 0], 4: [1, 6], ANCHOR: [0, 5]}
    features = [
        (number, [["a"], ["a", "b"], ["b"], ["c"], ["c", "a"], ["d"], ["b", "d"], ["e"]][number], number % 3, number**2)
        for number in range(8)
    ]
    return {
        "train": {user(who): [item(one) for one in ones] for who, ones in train.items()},
        "catalog": [item(number) for number in range(8)],
        "features": pl.DataFrame(
            {
                "item": [item(number) for number, *_ in features],
                "genres": [words for _, words, *_ in features],
                "x": [float(x) for *_, x, _ in features],
                "y": [float(y + 1) for *_, y in features],
            }
        ),
        "propensity": {item(number): (number + 1) / 10 for number in range(7)},
        "reference": {user(who): [item(one) for one in (0, 3, 1)] for who in (0, 1, 2, 3, 5, ANCHOR)},
    }


ANCHOR = 99
"""A user with a list and truth that have an item in common, so that there is always something to evaluate."""

users, items = st.integers(0, 5), st.integers(0, 7)
scores = st.sampled_from([-2.0, -0.5, 0.0, 0.25, 0.25, 1.0, 3.5])
grades = st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.0, 0.5, -1.0, -2.0])


@st.composite
def rows(draw: st.DrawFn, values: st.SearchStrategy[float], anchor: float, *, repeats: bool = False) -> list[Row]:
    """Rows of user, item and value; each pair once unless repeats are wanted."""
    found = draw(st.lists(st.tuples(users, items, values), max_size=40))
    if not repeats:
        found = list({(user, item): (user, item, value) for user, item, value in found}.values())
    return [*found, (ANCHOR, 0, anchor)]


def recs_frame(found: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(found, schema={"user": pl.Int64, "item": pl.Int64, "score": pl.Float64}, orient="row")


def truth_frame(found: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(found, schema={"user": pl.Int64, "item": pl.Int64, "relevance": pl.Float64}, orient="row")


ListsAndGrades = dict[int, tuple[list[int], dict[int, float]]]

lists_and_grades = st.dictionaries(
    st.integers(0, 4),
    st.tuples(
        st.lists(st.integers(0, 9), unique=True, max_size=9),
        st.dictionaries(st.integers(0, 9), st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 4.0]), max_size=7),
    ),
    max_size=4,
)


def anchored(users: ListsAndGrades) -> tuple[dict[int, list[int]], dict[int, dict[int, float]]]:
    """Lists and truth of those who have relevant items; user 99 has one."""
    users = {**{user: one for user, one in users.items() if any(one[1].values())}, ANCHOR: ([1, 0, 2], {0: 1.0})}
    return {user: listed for user, (listed, _) in users.items()}, {user: grades for user, (_, grades) in users.items()}


def relevant(grades: dict[int, float]) -> set[int]:
    return {item for item, grade in grades.items() if grade}


def mean(values: list[float]) -> float:
    """The mean of the values that are defined."""
    defined = [value for value in values if not math.isnan(value)]
    return statistics.fmean(defined) if defined else math.nan


SEGMENTS = pl.DataFrame({"user": [0, 1, 2, 3, 99], "age": ["old", "young", "old", None, "young"]})
