"""What a dialect is: a library's metric options and protocol in our words, and its own names for metrics.

To add one, write a file with a ``DIALECT`` in this folder: it is found by itself. Where a library changed its numbers,
``editions`` says for which of its versions what was otherwise.
"""

from __future__ import annotations

import functools
import importlib
import math
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from atkay.errors import SpecError, offer, shown
from atkay.text.grid import Grid, Tabular
from atkay.text.phrases import between_commas, either
from atkay.text.versions import Point, Versions

_VERSIONED = re.compile(r"([^<=>]*)(.*)", re.DOTALL)
_NUMBER = r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_KINDS = {
    "k": "[0-9]+",
    "zero": r"0+(?:\.0*)?",
    "table": r"\{[^{}]*\}",
    "levels": f"{_NUMBER}(?:,{_NUMBER})*",
    "gains": f"[0-9]+={_NUMBER}(?:,[0-9]+={_NUMBER})*",
}
"""What stands for braces of these names; others stand for a number."""

_ENTRY = re.compile(r"(?P<name>\w+)(?:\((?P<words>.*)\))?(?P<cut>@\{k\})?")


@dataclass(frozen=True)
class Dialect:
    """A library's conventions.

    ``metrics`` has those that the library shares with us, each as a spec in the library's words; after a semicolon, the
    fields of the protocol in which it differs from the library's others: ``"map(per=capped); ties=together"``, for its
    form with a cutoff ``"mrr@{k}; ties=text"``. ``names`` has the library's own names as specs. Whatever they do not
    say follows from ``metrics``. Names take one cutoff, written as ours (``@5``), unless ``{k}`` says where it stands;
    other braces stand for numbers, too: ``"map-l{level}": "map; min_relevance={level}"``, ``{table}`` for a table,
    ``{levels}`` for several numbers, ``{gains}`` for pairs as in ``1=3,2=9``. The spec can write them otherwise (see
    :class:`Parameter`). ``dotted`` has the families of names whose parameters after a dot are a number each, with the
    parameters that stand for none: ``"P.5,10"`` is P_5 and P_10. Other parameters after a dot belong to one number.
    ``idle`` has options in brackets that change nothing.
    ``protocol`` holds the fields that differ from our default. ``uncut`` names metrics that it computes for whole lists
    alone; ``cutoff`` is where it cuts lists if no cutoff is given. In lists of ``unstable`` items and more it puts
    equal scores in an order of its own, which no word says, in all metrics but the ``stable`` ones. ``alike``
    has names of the library's other metrics, each with the metric here that has its idea: their numbers were not
    compared. ``without`` names what it has and we have not, and says why. ``checked`` says whether the library itself
    was run, or its source was read; ``note`` is a remark. ``editions`` has the fields that differ in other versions,
    by range: ``{"<1.2": {"version": "1.1.1", ...}}``; the table itself holds for all versions in none of these ranges.
    """

    name: str
    library: str
    version: str
    metrics: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    dotted: Mapping[str, str] = field(default_factory=dict)
    idle: tuple[str, ...] = ()
    protocol: Mapping[str, Any] = field(default_factory=dict)
    uncut: tuple[str, ...] = ()
    cutoff: int | None = None
    unstable: int | None = None
    stable: tuple[str, ...] = ()
    alike: Mapping[str, str] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    checked: str = "run"
    note: str = ""
    editions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    versions: str = ""
    """The range of an edition."""

    @cached_property
    def others(self) -> dict[str, Dialect]:
        """The dialects of other versions, by range."""
        return {
            versions: replace(self, name=f"{self.name}{versions}", editions={}, versions=versions, **fields)
            for versions, fields in self.editions.items()
        }

    def of_versions(self, text: str) -> Dialect:
        """The dialect of a range of versions: this one where it holds for some of them, else that of the latest."""
        requested = Versions(text)
        ranges = {Versions(each): dialect for each, dialect in self.others.items()}
        points = {point for each in (requested, *ranges) for point in each.points if point in requested}

        def holding(point: Point) -> Dialect:
            return next((dialect for each, dialect in ranges.items() if point in each), self)

        if not points:
            raise SpecError(f"no version is {shown(text)}.")
        return self if self in map(holding, points) else holding(max(points))

    @property
    def title(self) -> str:
        """The library and its version."""
        return f"{self.library} {self.version}"

    @cached_property
    def words(self) -> dict[str, dict[str, str]]:
        """The metrics, each with the words in which it differs from our default."""
        entries = (_entry(spec) for spec in self.metrics)
        return {name: dict(_pairs(words or "", ",")) for name, words, cut in entries if not cut}

    @cached_property
    def apart(self) -> dict[str, dict[str, str]]:
        """The fields of the protocol in which a metric, or its form with a cutoff, differs from the others."""
        entries = {spec: _entry(spec) for spec in self.metrics if ";" in spec}
        return {name + (cut or ""): _fields(spec) for spec, (name, _, cut) in entries.items()}

    def numbers(self, name: Any) -> list[Any]:
        """The names of the numbers for which a name with parameters stands: P_5 and P_10 for ``P.5,10``."""
        family, dot, given = name.strip().partition(".") if isinstance(name, str) else ("", "", "")
        parameters = given if dot else self.dotted.get(family, "")
        if family not in self.dotted or "," not in parameters:
            return [name]
        return [f"{family}_{one.strip()}" for one in parameters.split(",")]

    def meaning(self, name: str) -> tuple[str, dict[str, str]]:
        """Our spec for a name of the library's own, and what it says of the protocol; nothing where it has no such."""
        name = _in_order(str(name).strip(), self.idle)
        dotted = name.replace(".", "_", 1) if self.dotted else name
        for own, spec in self.names.items():
            if match := _pattern(own).fullmatch(name) or _pattern(own).fullmatch(dotted):
                numbers = {brace: given and Parameter(given) for brace, given in match.groupdict().items()}
                cut = f"@{numbers['k']}" if "{k}" not in own and numbers["k"] else ""
                return spec.partition(";")[0].format(**numbers) + cut, _fields(spec.format(**numbers))
        return "", {}


def _entry(spec: str) -> tuple[str, str | None, str | None]:
    """The name of a metric, its words, and where it is cut."""
    match = _ENTRY.fullmatch(spec.partition(";")[0])
    if match is None:
        raise SpecError(f"'{spec}' is not a metric of a dialect.")
    return match["name"], match["words"], match["cut"]


def _fields(spec: str) -> dict[str, str]:
    """What a spec says of the protocol, after the semicolon."""
    return dict(_pairs(spec.partition(";")[2].strip(), " "))


def _pairs(text: str, between: str) -> Iterator[tuple[str, str]]:
    for pair in text.split(between) if text else ():
        name, _, value = pair.partition("=")
        yield name, value


def _in_order(name: str, idle: Iterable[str] = ()) -> str:
    """A name whose options, which may be written in any order, stand in the order of their names."""
    head, opened, rest = name.partition("(")
    options, closed, cut = rest.partition(")")
    given = [each for each in between_commas(options) if re.sub(r"\s", "", each) not in idle]
    if not given and closed:
        return head + cut
    return head + opened + ",".join(sorted(given, key=lambda each: each.partition("=")[0].lower())) + closed + cut


@functools.cache
def _pattern(name: str) -> re.Pattern[str]:
    """A name in which {k} and the like stand for numbers; a cutoff may follow where it has no place of its own."""
    cut = "" if "{k}" in name else r"(?:\s*@\s*(?P<k>[0-9]+))?"
    own = re.sub(
        r"\\\{(\w+)\\\}", lambda brace: f"(?P<{brace[1]}>{_KINDS.get(brace[1], _NUMBER)})", re.escape(_in_order(name))
    )
    return re.compile(own + cut, re.IGNORECASE)


class Parameter(str):
    """What stands in a name for its braces: ``{beta:root}`` in a spec is its square root, ``{gains:table}`` a table of
    gains in which other grades are worth themselves.
    """

    def __format__(self, form: str) -> str:
        """As the spec has it."""
        if form == "root":
            return repr(math.sqrt(float(self)))
        if form == "table":
            return "{" + self.strip("{}").replace("=", ":").replace(" ", "") + ",else:grade}"
        return super().__format__(form)


class Dialects(Tabular, Mapping[str, Dialect]):
    """All dialects by name; prints as a table."""

    def __init__(self, dialects: Iterable[Dialect]) -> None:
        every = [one for each in dialects for one in (each, *each.others.values())]
        self._dialects = {each.name: each for each in sorted(every, key=lambda each: each.name)}

    def __getitem__(self, name: str) -> Dialect:
        return self._dialects[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._dialects)

    def __len__(self) -> int:
        return len(self._dialects)

    def _grid(self) -> Grid:
        rows = [
            (
                name,
                each.title,
                "run" if each.checked == "run" else "from source",
                "; ".join(
                    (
                        _printed(each.protocol) or "default",
                        *(f"{name}: {_printed(own)}" for name, own in each.apart.items()),
                    )
                ),
                ", ".join(sorted(each.words)),
            )
            for name, each in self.items()
        ]
        return Grid(("dialect", "library", "checked", "protocol", "metrics"), rows, spare=("protocol",))


def _printed(fields: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in fields.items())


@functools.cache
def list_dialects() -> Dialects:
    """Every dialect, with the version of the library it follows.

    >>> atkay.list_dialects()["replay"].words["map"]
    {'per': 'capped'}
    """
    names = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]) if module.name != "dialect"]
    return Dialects(importlib.import_module(f"{__package__}.{name}").DIALECT for name in names)


def newest(names: Iterable[str]) -> tuple[str, ...]:
    """The names of dialects, without other versions of one that is there itself.

    >>> from atkay.dialects.dialect import newest
    >>> newest(["haystack<3.1", "xgboost", "xgboost<2"])
    ('haystack<3.1', 'xgboost')
    """
    every = dict.fromkeys(names)
    library = {name: re.split("[<=>]", name)[0] for name in every}
    return tuple(name for name in every if library[name] == name or library[name] not in every)


def find_dialect(name: str | Dialect) -> Dialect:
    """The dialect of a name, however its punctuation is written, or of some versions of the library.

    >>> from atkay.dialects.dialect import find_dialect
    >>> find_dialect("trec_eval").title, find_dialect("trec_eval>=10").title, find_dialect("trec_eval==9.0.7").title
    ('pytrec_eval-terrier 0.5.11', 'trec_eval 10.0', 'pytrec_eval-terrier 0.5.11')
    """
    if isinstance(name, Dialect):
        return name
    library, versions = _VERSIONED.fullmatch(name).groups() if isinstance(name, str) else ("", "")  # type: ignore[union-attr]  # matches any text
    plain = {re.sub(r"\W|_", "", each): one for each, one in list_dialects().items() if not one.versions}
    dialect = plain.get(re.sub(r"\W|_", "", library.lower()))
    if dialect is None:
        near = offer(name, list_dialects())
        lister = either("atkay.list_dialects()", "`atkay dialects`")
        raise SpecError(f"unknown dialect {shown(name)}. {near} {lister} lists them all.")
    return dialect.of_versions(versions) if versions else dialect
