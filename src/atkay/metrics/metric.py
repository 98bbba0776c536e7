"""What a metric is: a frozen dataclass whose fields are its conventions, and the grammar of its spec.

::

    spec     = name [ "(" field "=" word { "," field "=" word } ")" ] [ "@" cutoff { "," cutoff } ]
    ndcg@10    map(per=hits)@10    recall(per=capped)@5,10,20    f1(beta=2)

Without ``@`` nothing is cut. Names and words are case-insensitive.

To add a metric, write a subclass of :class:`Metric` in a file of this folder: it is found by itself.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import itertools
import math
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from atkay.core.types import WHOLE, Floats, Ints
from atkay.errors import SpecError, offer, shown
from atkay.text.grid import Grid
from atkay.words import checked, word, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from atkay.judged.judged import Judged

_BY_ALIAS: dict[str, type[Metric]] = {}
"""Every metric under each of its names; a subclass enters by being defined."""

TERMS = 20
"""So many terms of a sum are written out."""

DEEPEST = 10_000_000
"""The largest cutoff that can be asked for: some ideals are summed down to it."""

DIGITS = 20
"""Digits of a cutoff that are read: Python refuses to read thousands of them."""


def number(default: float, check: Callable[[float], bool], meaning: str) -> Any:
    """A field that takes a number."""
    return field(default=default, metadata={"check": check, "meaning": meaning})


def average() -> Any:
    """The field of metrics that are a ratio: averaged over users, or of all users' sums."""
    return word(
        users="the mean of the users' values",
        pooled="the sum of the users' numerators over the sum of their denominators",
    )


class Definition(NamedTuple):
    """A number in words and as a formula."""

    words: str
    formula: str


def divide(numerator: Floats, denominator: Floats | Ints) -> Floats:
    """The quotient, and 0 where the denominator is 0: nothing asked for, nothing found."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = numerator / denominator
    return np.where(denominator == 0, 0.0, quotient) if (denominator == 0).any() else quotient


@dataclass(frozen=True)
class Metric:
    """A metric: its conventions, and the cutoffs at which it is taken.

    A subclass sets ``name`` and ``aliases``, declares its conventions with :func:`word` and :func:`number`, and
    writes ``values`` and ``define``. Its docstring is its reference page.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    cuts: ClassVar[bool] = True
    """Whether the metric can be cut at a k."""
    needs_truth: ClassVar[bool] = True
    """Whether the value is about relevant items; where not, a user without any has a value all the same."""
    least: ClassVar[float] = 0.0
    """What no value is below."""
    by_score: ClassVar[bool] = False
    """Whether a hit must have a score above 0 where the protocol says nonpositive=missed."""
    by_item: ClassVar[bool] = False
    """Whether it matters which of two items that are equally relevant stands first."""
    by_length: ClassVar[bool] = False
    """Whether the length of a list is all that matters."""
    by_grade: ClassVar[bool] = False
    """Whether every grade above 0 counts where the protocol says gains=positive; no hit scores 0."""
    averages: ClassVar[bool] = False
    """Whether there is a closed form for the average over all orders of equal scores."""
    partial: ClassVar[bool] = False
    """Whether some users with relevant items have no value."""
    better: ClassVar[str] = "higher"
    """Which values are better: "higher", "lower", or "neither" where that depends on what is wanted."""
    k: int | tuple[int, ...] | None = field(default=None, kw_only=True)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        names = (cls.name, *cls.aliases) if "name" in vars(cls) else ()
        for alias in names:
            other = _BY_ALIAS.get(alias, cls)
            if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
                raise SpecError(f"{cls.__qualname__}: '{alias}' is the name of {other.__qualname__} already.")
        _BY_ALIAS.update(dict.fromkeys(names, cls))

    def __post_init__(self) -> None:
        for convention in conventions(type(self)):
            object.__setattr__(self, convention.name, _checked(self, convention))
        if self.k is not None:
            object.__setattr__(self, "k", _checked_cutoffs(self))

    @property
    def cutoffs(self) -> tuple[int, ...]:
        """The cutoffs; one that cuts nothing where none was given."""
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

    def define(self) -> Definition:
        """The number in words and as a formula, for one cutoff."""
        raise NotImplementedError

    def expression(self, judged: Judged) -> str:
        """The arithmetic of the value of the one query, at the one cutoff; empty where it is not written out.

        ``judged`` has one query with relevant items, and no hits in groups of equal scores that are averaged over.
        """
        return ""

    @property
    def top(self) -> str:
        """What is looked at, in words."""
        return "the whole list" if self.k is None else f"the top {self.k}"

    @property
    def needs(self) -> tuple[str, ...]:
        """Which of train, catalog, features and reference have to be given; "pairs" means train, item by item."""
        return ()

    @property
    def looks_back(self) -> bool:
        """Whether the value depends on what the query's own user had in training."""
        return False

    @property
    def bounded(self) -> bool:
        """Whether no list scores above 1."""
        return True

    def split(self) -> tuple[Self, ...]:
        """The same metric, once for each of its cutoffs."""
        return tuple(dataclasses.replace(self, k=None if k == WHOLE else k) for k in self.cutoffs)

    def __matmul__(self, k: int | tuple[int, ...]) -> Self:
        """``NDCG() @ 10`` is ``NDCG(k=10)``."""
        return dataclasses.replace(self, k=k)

    def __str__(self) -> str:
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

    average: str = average()

    def parts(self, judged: Judged) -> tuple[Floats, Floats]:
        """Numerator and denominator, per query and cutoff."""
        raise NotImplementedError

    def values(self, judged: Judged) -> Floats:
        """The numerator over the denominator, and 0 where that is 0."""
        return divide(*self.parts(judged))

    def expression(self, judged: Judged) -> str:
        """The numerator over the denominator."""
        above, below = (printed(float(part[0, 0])) for part in self.parts(judged))
        return quotient(above, below)


def is_pooled(metric: Metric) -> bool:
    """Whether users' numerators and denominators are summed before dividing."""
    return isinstance(metric, Ratio) and metric.average == "pooled"


@dataclass(frozen=True)
class ListMetric(Metric):
    """A metric that looks at what is listed, relevant or not. An empty list has no value unless the metric says so."""

    needs_truth: ClassVar[bool] = False
    better: ClassVar[str] = "neither"


@dataclass(frozen=True)
class RunMetric(Metric):
    """A number of the whole run: of all lists together, not a mean over users.

    The users may be counted in parts: the parts' states add up, and the number follows from their sum.
    """

    needs_truth: ClassVar[bool] = False
    better: ClassVar[str] = "neither"

    def state(self, judged: Judged) -> Ints:
        """Whole numbers that add up over parts of the users; the cutoffs are the first axis."""
        raise NotImplementedError

    def users(self, judged: Judged) -> Ints:
        """How many of the users count, at each cutoff."""
        return np.full(len(self.cutoffs), judged.n_queries)

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """The number at each cutoff; of any part of the users only what it knows of items may be asked."""
        raise NotImplementedError


def conventions(cls: type[Metric]) -> tuple[dataclasses.Field[Any], ...]:
    """The fields of a metric that are conventions: all but the cutoff, ``average`` last."""
    found = [each for each in dataclasses.fields(cls) if each.name != "k"]
    return tuple(sorted(found, key=lambda each: each.name == "average"))


def printed(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def quotient(above: str, below: str) -> str:
    """One expression over another, and 0 where there is nothing to divide by."""
    return "0" if below == "0" else f"{above} / {below}"


def added(terms: Iterable[str], count: int) -> str:
    """The sum of so many terms; only the first ones are looked at."""
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


def _checked(metric: Metric, convention: dataclasses.Field[Any]) -> str | float:
    given = getattr(metric, convention.name)
    if words_of(convention):
        return checked(metric.name, convention, given, SpecError)
    try:
        value = math.nan if isinstance(given, str) and not given.isascii() else float(given)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not convention.metadata["check"](value):
        raise SpecError(
            f"{metric.name}: {convention.name}={shown(given)} does not fit; it takes {convention.metadata['meaning']}."
        )
    return value


def _checked_cutoffs(metric: Metric) -> int | tuple[int, ...]:
    if not metric.cuts:
        raise SpecError(
            f"{metric.name} takes no cutoff: it takes the whole list, or sets its own for each user. "
            f"Write '{metric.name}' without '@'."
        )
    k: Any = metric.k
    several = isinstance(k, Iterable) and not isinstance(k, str) and getattr(k, "ndim", 1) > 0
    given: Sequence[Any] = tuple(k) if several else (k,)
    whole = all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in given)
    if not given or not whole or not all(1 <= k <= DEEPEST for k in given):
        raise _bad_cutoff(metric.name, shown(given[0] if len(given) == 1 else metric.k))
    cutoffs = tuple(dict.fromkeys(int(k) for k in given))
    return cutoffs[0] if len(cutoffs) == 1 else cutoffs


def _bad_cutoff(name: str, given: str) -> SpecError:
    return SpecError(
        f"{name}: a cutoff is a whole number from 1 to {DEEPEST:,}, given was {given}. Leave the cutoff out to take "
        "the whole list."
    )


class Catalogue(Mapping[str, type[Metric]]):
    """The metrics that exist, by name; prints as a table of their conventions."""

    def __init__(self, classes: Iterable[type[Metric]]) -> None:
        self._classes = {each.name: each for each in sorted(classes, key=lambda each: each.name)}

    def __getitem__(self, name: str) -> type[Metric]:
        return self._classes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def __repr__(self) -> str:
        return self._grid().text()

    def _repr_html_(self) -> str:
        return self._grid().html()

    def _grid(self) -> Grid:
        rows = [(name, _words(each), ", ".join(each.aliases)) for name, each in self.items()]
        return Grid(("metric", "conventions (default first)", "also called"), rows)


def _words(cls: type[Metric]) -> str:
    return "; ".join(
        f"{each.name} = {' | '.join(words_of(each))}" if words_of(each) else f"{each.name} = {printed(each.default)}"
        for each in conventions(cls)
    )


def list_metrics() -> Catalogue:
    """Every metric that exists, with its aliases and conventions.

    >>> atkay.list_metrics()["ndcg"]
    <class 'atkay.metrics.dcg.NDCG'>
    """
    return Catalogue(set(_by_alias().values()))


def _by_alias() -> dict[str, type[Metric]]:
    _load_folder()
    return _BY_ALIAS


@functools.cache
def _load_folder() -> None:
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        importlib.import_module(f"{__package__}.{module.name}")


_SPEC = re.compile(r"\s*([^()@,=]+?)\s*(?:\(([^()]*)\))?\s*(?:@(.*))?", re.DOTALL)
_BETWEEN_SPECS = re.compile(r",(?!\s*\d+\s*(?:,|$))(?![^()]*\))")


def parse(spec: str | Metric) -> Metric:
    """The metric that a spec names.

    >>> atkay.parse("NDCG(gain=linear)@10")
    NDCG(k=10, gain='linear', discount='log2', ideal='relevant')
    >>> str(atkay.parse("p @ 5, 10"))
    'precision@5,10'
    """
    if isinstance(spec, Metric) and hasattr(spec, "name"):
        return spec
    if isinstance(spec, type) and issubclass(spec, Metric):
        raise SpecError(f"{spec.__name__} is a class of metrics; write {spec.__name__}() or {spec.__name__}(k=10).")
    found = _SPEC.fullmatch(spec) if isinstance(spec, str) else None
    if found is None or not isinstance(spec, str):
        brackets = isinstance(spec, str) and spec.count("(") != spec.count(")")
        hint = f"{'a bracket is missing; ' if brackets else ''}write a spec such as 'ndcg@10' or 'map(per=hits)@5,10'."
        raise SpecError(f"{shown(spec)} is no metric; {hint}")
    name, chosen, cut = found.groups()
    cls = _by_alias().get(re.sub(r"[\s-]+", "_", name.lower()))
    if cls is None:
        near = offer(name[:80], _by_alias(), list_metrics())
        raise SpecError(f"no metric {shown(name)}. {near} atkay.list_metrics() lists them all.")
    return cls(**_parse_choices(cls, chosen), k=None if cut is None else _parse_cutoffs(cls.name, spec, cut))


def _parse_choices(cls: type[Metric], chosen: str | None) -> dict[str, Any]:
    known = [each.name for each in conventions(cls)]
    out: dict[str, str] = {}
    for choice in (chosen or "").split(",") if (chosen or "").strip() else []:
        name, equals, value = (part.strip().lower() for part in choice.partition("="))
        if name in known and not value:
            raise SpecError(f"{cls.name}: '{name}' needs a value: {_possible(cls, name)}.")
        if not equals or name not in known:
            field_of = [each.name for each in conventions(cls) if name in words_of(each)]
            hint = offer(name, known) if known else "It has no conventions to choose."
            hint = f"Write '{field_of[0]}={name}'." if field_of else hint
            raise SpecError(f"{cls.name}: no convention {shown(choice.strip())}. {hint}")
        if name in out:
            raise SpecError(f"{cls.name}: '{name}' is given twice.")
        out[name] = value
    return out


def _possible(cls: type[Metric], name: str) -> str:
    """What to write for a convention."""
    [convention] = [each for each in conventions(cls) if each.name == name]
    words = [f"{name}={word}" for word in words_of(convention)] or [f"{name}={printed(convention.default)}"]
    rest = "" if words_of(convention) else f" ({convention.metadata['meaning']})"
    return "write " + ", ".join(words[:-1]) + (" or " if len(words) > 1 else "") + words[-1] + rest


def _parse_cutoffs(name: str, spec: str, cut: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\s*-?[0-9]+\s*(,\s*-?[0-9]+\s*)*", cut):
        raise SpecError(f"{shown(spec)}: after '@' come whole numbers, such as '@10' or '@5,10,20'.")
    for k in cut.split(","):
        if len(k.strip()) > DIGITS:
            raise _bad_cutoff(name, f"a number of {len(k.strip()):,} digits")
    return tuple(int(k) for k in cut.split(","))


def stated(spec: str) -> set[str]:
    """The conventions that a spec itself chooses."""
    found = _SPEC.fullmatch(spec)
    chosen = found.group(2) if found else None
    return {choice.partition("=")[0].strip().lower() for choice in (chosen or "").split(",")} - {""}


def separate(specs: str | Metric | Iterable[str | Metric]) -> list[Any]:
    """One spec, several in one string ("ndcg@10,map@5,10"), or any collection of them, one by one."""
    parts: list[Any] = [specs]
    if isinstance(specs, Mapping):
        raise SpecError(
            f"metrics must be a list of specs, got {shown(specs)}. A cutoff is a part of the spec: write ['ndcg@5', "
            "'map@5,10'], for example."
        )
    if isinstance(specs, set | frozenset | bytes):
        raise SpecError(f"metrics must be a list of specs, such as ['ndcg@10', 'map@10'], got {shown(specs)}.")
    if isinstance(specs, str):
        parts = list(_BETWEEN_SPECS.split(specs))
    elif isinstance(specs, Iterable) and getattr(specs, "ndim", 1) > 0:
        try:
            parts = list(specs)
        except TypeError as error:
            raise SpecError(f"metrics must be a list of specs, got {shown(specs)}.") from error
    if not parts:
        raise SpecError("no metric is asked for; leave the argument out for the usual six at 10.")
    return parts


def parse_all(specs: str | Metric | Iterable[str | Metric]) -> tuple[Metric, ...]:
    """The metrics of some specs, each number once."""
    asked: list[Metric] = []
    known: set[Metric] = set()
    for metric in map(parse, separate(specs)):
        single = metric.split()
        fresh = tuple(k for k, one in zip(metric.cutoffs, single, strict=True) if one not in known)
        known.update(single)
        if fresh:  # what was asked for before is answered once
            asked.append(metric if fresh == metric.cutoffs else dataclasses.replace(metric, k=fresh))
    return tuple(asked)
