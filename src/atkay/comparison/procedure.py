"""Procedure: the tests of a comparison, their correction and their seed."""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from atkay.comparison.corrections import CORRECTIONS, FAMILIES
from atkay.comparison.tests import TESTS
from atkay.core.types import is_integer
from atkay.errors import InputError, SpecError, a_type, an_integer, listing, shown, unknown_value
from atkay.text.phrases import argument

TestName = Literal["t", "permutation", "bootstrap", "tukey", "randomised_tukey", "wilcoxon", "sign"]
Correction = Literal["holm", "bonferroni", "bh", "none"]
Family = Literal["all", "metric"]
Interval = Literal["student", "percentile", "bca", "studentised"]
INTERVALS: tuple[Interval, ...] = get_args(Interval)


@dataclass(frozen=True)
class Procedure:
    """The tests, their correction and their seed."""

    tests: tuple[str, ...]
    correction: str
    family: str
    interval: str
    permutations: int
    rng: int

    @property
    def lowest(self) -> float:
        """The smallest p-value of a random test."""
        return 1 / (self.permutations + 1)

    @classmethod
    def of(
        cls,
        baseline: object,
        test: str | Sequence[str],
        correction: str,
        family: str,
        interval: str,
        permutations: int,
        rng: int,
    ) -> Procedure:
        """The procedure, its arguments checked."""
        single = isinstance(test, str) or not isinstance(test, Collection) or getattr(test, "ndim", 1) == 0
        tests: tuple[Any, ...] = (test,) if single else tuple(test)
        if baseline is not None and not isinstance(baseline, str):
            raise InputError(
                f"compare: baseline must be the name of a run, got {a_type(baseline)}. The lists of a "
                f"reference recommender, which some metrics need, are passed as {argument('reference')}."
            )
        if not tests:
            raise SpecError(f"compare: test is empty; choose from {listing(TESTS)}.")
        words: list[tuple[str, str, Collection[str]]] = [("test", one, TESTS) for one in tests]
        words += [
            ("correction", correction, CORRECTIONS),
            ("family", family, FAMILIES),
            ("interval", interval, INTERVALS),
        ]
        for what, word, known in words:
            if not isinstance(word, str) or word not in known:
                raise SpecError(f"compare: {unknown_value(word, what, known)}")
        for name, number, least in (("permutations", permutations, 1), ("rng", rng, 0)):
            if not is_integer(number, least):
                raise SpecError(f"compare: {name} must be {an_integer(least)}, got {shown(number)}.")
        return cls(
            tuple(dict.fromkeys(tests)), correction, family, interval, operator.index(permutations), operator.index(rng)
        )
