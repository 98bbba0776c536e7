"""What a metric is: a frozen dataclass whose fields are its conventions.

To add a metric, write a subclass of :class:`Metric` in a file of this folder: it is found by itself.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from atkay.core.kernels import divide
from atkay.core.types import WHOLE, Bools, Floats, Ints
from atkay.errors import SpecError, shown
from atkay.judged.judged import Judged
from atkay.metrics.worked import printed, quotient
from atkay.text.help import Visible
from atkay.words import checked, is_table, word, words_of

__all__ = [
    "WHOLE", "AllOrders", "Bools", "Definition", "Floats", "Ints", "Judged", "ListMetric", "Metric", "Ratio",
    "RunMetric", "divide", "number", "word",
]  # fmt: skip
"""What the file of a metric usually needs, in one import."""

BY_ALIAS: dict[str, type[Metric]] = {}
"""Every metric under each of its names; a subclass enters by being defined."""

PARSED: dict[str, Metric] = {}
"""Specs that were read already; a new metric may take one of their names."""
PARSED_TOGETHER: dict[tuple[Any, ...], tuple[Metric, ...]] = {}
"""The same for the specs of a call."""

DEEPEST = 10_000_000
"""The largest cutoff: some ideals are summed down to it."""


def number(default: float, check: Callable[[float], bool], meaning: str) -> Any:
    """A field that takes a number."""
    return field(default=default, metadata={"check": check, "meaning": meaning})


class Definition(NamedTuple):
    """A number in words and as a formula."""

    words: str
    formula: str


class AllOrders(NamedTuple):
    """What all orders of lists are worth, queries x cutoffs."""

    chance: Floats
    """The mean over them, of those that have a value."""
    best: Floats | None = None
    """The best of them; None where that is the one with the best hits first."""


@dataclass(frozen=True)
class Metric(Visible):
    """A metric: its conventions, and the cutoffs at which it is taken.

    A subclass sets ``name`` and ``aliases``, declares its conventions with :func:`word` and :func:`number`, and
    writes ``values`` and ``define``. Its docstring is its reference page.
    """

    _internal = (
        "across all_orders averages beside by_grade by_item by_length by_score by_subtopic cuts expression "
        "least looks_back monotone needs_pairs numbers of_empty of_one_gain partial plainest reach "
        "reads_lists reads_scores repeats shuffles sides top view"
    )

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()
    """The side tables that the metric reads: train, catalog, features, propensity, reference."""
    needs_truth: ClassVar[bool] = True
    """Whether the value is about relevant items; where not, a user without any has a value all the same."""
    reads_scores: ClassVar[bool] = False
    """Whether scores are read as predictions of an outcome: of grades, or of relevance."""
    reads_lists: ClassVar[bool] = False
    """Whether whole lists are read, and not the hits alone."""
    needs_pairs: ClassVar[bool] = False
    """Whether train is read item by item: which users had both of two items."""
    looks_back: ClassVar[bool] = False
    """Whether the value depends on what the query's own user had in training."""
    cuts: ClassVar[bool] = True
    """Whether the metric can be cut at a k."""
    better: ClassVar[str] = "higher"
    """Which values are better: "higher", "lower", or "neither" where the metric has no direction."""
    least: ClassVar[float] = 0.0
    """The lowest value there can be."""
    bounded: ClassVar[bool] = True
    """Whether no list scores above 1."""
    partial: ClassVar[bool] = False
    """Whether some users with relevant items have no value."""
    averages: ClassVar[bool] = False
    """Whether the metric has a closed form for the average over all orders of equal scores."""
    repeats: ClassVar[bool] = False
    """Whether the metric adds up hits, so that a relevant item that is listed twice can count at both of its places."""
    monotone: ClassVar[bool] = False
    """Whether moving a relevant item up within the cutoff never makes the value worse, nor does a higher grade but for
    the ideal, and one more relevant item below the cutoff never makes it better: what ``result.bounds`` rests on."""
    of_one_gain: ClassVar[bool] = False
    """Whether that is so only where all relevant items have the same grade."""
    across: ClassVar[bool] = False
    """Whether moving up across the cutoff does not make the value worse either, but one more below may improve it."""
    by_score: ClassVar[bool] = False
    """Whether a hit must have a score above 0 where the protocol says nonpositive=missed."""
    by_item: ClassVar[bool] = False
    """Whether it matters which of two items that are equally relevant stands first."""
    by_length: ClassVar[bool] = False
    """Whether the length of a list is all that matters."""
    of_empty: ClassVar[bool] = False
    """Whether an empty list may score something else than 0."""
    by_grade: ClassVar[bool] = False
    """Whether every grade above 0 counts where the protocol says gains=positive; no hit scores 0."""
    by_subtopic: ClassVar[bool] = False
    """Whether subtopics of the truth can stand in for the table that is needed."""
    beside: ClassVar[tuple[RunMetric, ...]] = ()
    """Numbers of the whole run that a result names in words beside this one."""
    k: int | tuple[int, ...] | None = field(default=None, kw_only=True)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        names = (cls.name, *cls.aliases) if "name" in vars(cls) else ()
        for alias in names:
            other = BY_ALIAS.get(alias, cls)
            if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
                raise SpecError(f"{cls.__qualname__}: the name '{alias}' is already used by {other.__qualname__}.")
        BY_ALIAS.update(dict.fromkeys(names, cls))
        PARSED.clear()
        PARSED_TOGETHER.clear()

    def __post_init__(self) -> None:
        for convention in conventions(type(self)):
            object.__setattr__(self, convention.name, _checked(self, convention))
        if self.k is not None:
            object.__setattr__(self, "k", _checked_cutoffs(self))

    @property
    def cutoffs(self) -> tuple[int, ...]:
        """The cutoffs; WHOLE, which cuts nothing, where none was given."""
        if self.k is None:
            return (WHOLE,)
        return self.k if isinstance(self.k, tuple) else (self.k,)

    @property
    def reach(self) -> int:
        """How far down a list anything matters: to the deepest cutoff."""
        return max(self.cutoffs)

    def view(self, judged: Judged) -> Judged:
        """What the metric sees of judged lists under their protocol."""
        if self.by_score:
            return judged.above_zero
        return judged.graded or judged if self.by_grade else judged

    def values(self, judged: Judged) -> Floats:
        """One value per query and cutoff, of a :meth:`view`; NaN where the metric is undefined."""
        raise NotImplementedError

    def sides(self, judged: Judged) -> tuple[Floats, Floats | Ints] | None:
        """Numerators and denominators, where values are their quotients and 0 where there is nothing to divide by.

        Then these can be divided where the values are to stand, without a copy.
        """
        return None

    def shuffles(self, judged: Judged) -> bool:
        """Whether :meth:`values` has the average over all orders of these lists, where all scores are equal."""
        return self.averages

    def all_orders(self, judged: Judged) -> AllOrders | None:
        """The same, where a closed form is known for whole lists alone; None where none is."""
        return None

    def define(self) -> Definition:
        """The number in words and as a formula, for one cutoff."""
        raise NotImplementedError

    def plainest(self, judged: Judged) -> Self:
        """The first of its variants that has the same values on these lists, where that is known beforehand."""
        return self

    def expression(self, judged: Judged) -> str:
        """The arithmetic of the value of the one query, at the one cutoff; empty where it is not written out.

        ``judged`` has one query with relevant items, and no hits in groups of equal scores that are averaged over.
        """
        return ""

    @property
    def top(self) -> str:
        """The part of the list that counts, in words."""
        return "the whole list" if self.k is None else f"the top {self.k}"

    def split(self) -> tuple[Self, ...]:
        """The same metric, once for each of its cutoffs."""
        return self._single

    @cached_property
    def _single(self) -> tuple[Self, ...]:
        return tuple(dataclasses.replace(self, k=k) for k in self.k) if isinstance(self.k, tuple) else (self,)

    def __matmul__(self, k: int | tuple[int, ...]) -> Self:
        """``NDCG() @ 10`` is ``NDCG(k=10)``."""
        return dataclasses.replace(self, k=k)

    def __str__(self) -> str:
        return self._spec

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The specs of its numbers, one for each cutoff."""
        return tuple(map(str, self.split()))

    @cached_property
    def _spec(self) -> str:
        chosen = [
            f"{each.name}={printed(getattr(self, each.name))}"
            for each in conventions(type(self))
            if getattr(self, each.name) != each.default
        ]
        cut = "" if self.k is None else "@" + ",".join(map(str, self.cutoffs))
        return self.name + (f"({','.join(chosen)})" if chosen else "") + cut


@dataclass(frozen=True)
class Ratio(Metric):
    """A metric that is one count over another, so that users can be averaged or pooled."""

    average: Literal["users", "pooled"] = word(
        users="the mean of the users' values",
        pooled="the sum of the users' numerators over the sum of their denominators",
    )

    def ratio(self, judged: Judged) -> tuple[Floats, Floats | Ints]:
        """Numerator and denominator, per query and cutoff."""
        raise NotImplementedError

    def values(self, judged: Judged) -> Floats:
        """The numerator over the denominator, and 0 where that is 0."""
        return divide(*self.ratio(judged))

    def sides(self, judged: Judged) -> tuple[Floats, Floats | Ints] | None:
        """The ratio, unless a subclass makes something else of it."""
        return self.ratio(judged) if type(self).values is Ratio.values else None

    def expression(self, judged: Judged) -> str:
        """The numerator over the denominator."""
        return quotient(*(printed(float(side[0, 0])) for side in self.ratio(judged)))


def is_pooled(metric: Metric) -> bool:
    """Whether users' numerators and denominators are summed before dividing."""
    return isinstance(metric, Ratio) and metric.average == "pooled"


@dataclass(frozen=True)
class ListMetric(Metric):
    """A metric that looks at what is listed, relevant or not. An empty list has no value unless the metric says so."""

    needs_truth = False
    reads_lists = True
    better = "neither"


@dataclass(frozen=True)
class RunMetric(Metric):
    """A number of the whole run: of all lists together, not a mean over users.

    The users may be counted in parts: the parts' states add up, and the number follows from their sum.
    """

    _internal = f"{Metric._internal} finish grows join per_item state users"

    needs_truth = False
    reads_lists = True
    better = "neither"
    per_item: ClassVar[bool] = True
    """Whether the state has at least one number for each item that there is."""
    grows: ClassVar[bool] = False
    """Whether the state has a row for each value that there was, so that :meth:`join` is no plain sum."""

    def state(self, judged: Judged) -> Ints:
        """Integers that add up over parts of the users; the cutoffs are the first axis."""
        raise NotImplementedError

    def join(self, one: Ints, other: Ints) -> Ints:
        """The state of both parts of the users."""
        return one + other

    def users(self, judged: Judged) -> Ints:
        """The number of users that count, at each cutoff."""
        return np.full(len(self.cutoffs), judged.n_queries)

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """The number at each cutoff; ``judged`` is any part of the users, to read what is known of items."""
        raise NotImplementedError


def runs_of(metrics: Iterable[Metric]) -> list[RunMetric]:
    """The numbers of the whole run that are counted: those that are metrics, and those beside others."""
    each = [one for metric in metrics for one in ((metric,) if isinstance(metric, RunMetric) else metric.beside)]
    return list(dict.fromkeys(each))


_CONVENTIONS: dict[type[Metric], tuple[dataclasses.Field[Any], ...]] = {}


def conventions(cls: type[Metric]) -> tuple[dataclasses.Field[Any], ...]:
    """The fields of a metric that are conventions: all but the cutoff, ``average`` last."""
    if cls not in _CONVENTIONS:
        fields = [each for each in dataclasses.fields(cls) if each.name != "k"]
        _CONVENTIONS[cls] = tuple(sorted(fields, key=lambda each: each.name == "average"))
    return _CONVENTIONS[cls]


def _checked(metric: Metric, convention: dataclasses.Field[Any]) -> Any:
    given = getattr(metric, convention.name)
    if convention.metadata.get("table") and is_table(given):
        return given  # the metric sees to it
    if words_of(convention):
        try:
            return checked(metric.name, convention, given, SpecError)
        except SpecError as error:
            if type(given) is int and 1 <= given <= DEEPEST and metric.cuts:
                raise error.replace(note=f"For a cutoff write {type(metric).__name__}(k={given}).") from None
            raise
    try:
        value = math.nan if isinstance(given, str) and not given.isascii() else float(given)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not convention.metadata["check"](value):
        raise SpecError(
            f"{metric.name}: {convention.name} must be {convention.metadata['meaning']}, got {shown(given)}."
        )
    return value


def _checked_cutoffs(metric: Metric) -> int | tuple[int, ...]:
    if not metric.cuts:
        raise SpecError(f"{metric.name} takes no cutoff: write '{metric.name}' without '@'.")
    k: Any = metric.k
    several = isinstance(k, Iterable) and not isinstance(k, str) and getattr(k, "ndim", 1) > 0
    given: Sequence[Any] = tuple(k) if several else (k,)
    integers = all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in given)
    if not given or not integers or not all(1 <= k <= DEEPEST for k in given):
        raise bad_cutoff(metric.name, shown(given[0] if len(given) == 1 else metric.k))
    cutoffs = tuple(dict.fromkeys(int(k) for k in given))
    return cutoffs[0] if len(cutoffs) == 1 else cutoffs


def bad_cutoff(name: str, given: str) -> SpecError:
    return SpecError(
        f"{name}: k must be a positive integer up to {DEEPEST:,}, got {given}. Leave it out to use the whole list."
    )
