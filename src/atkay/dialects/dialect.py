"""What a dialect is: a library's metric options and protocol in our words, and its own names for metrics.

To add one, write a file with a ``DIALECT`` in this folder: it is found by itself.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atkay.errors import ProtocolError, SpecError, listing, offer, shown
from atkay.metrics.metric import Metric, parse, separate, stated
from atkay.text.grid import Grid, Tabular

if TYPE_CHECKING:
    from atkay.protocol import Protocol


@dataclass(frozen=True)
class Dialect:
    """A library's conventions.

    ``words`` has the metrics that the library shares with us, each with the words in which it differs from our default.
    ``names`` has the library's own names as specs, ``{k}`` and the like standing for numbers; after a semicolon, what a
    name says of the protocol: ``"map@{k}-l{level}": "map@{k}; min_relevance={level}"``. ``protocol`` holds the fields
    that differ, and ``apart`` those in which a metric ("precision"), or its form with a cutoff ("mrr@{k}"), differs
    from the library's others. ``uncut`` names metrics that it computes for whole lists alone; ``cutoff`` is where it
    cuts lists if no cutoff is given. ``unstable`` names metrics that put equal scores in an order of the library's own,
    which no word says, in lists of so many items and more: 2, or LONG.
    ``checked`` says whether the library itself was run, or its source was read; ``note``, what it does besides.
    """

    name: str
    library: str
    version: str
    words: Mapping[str, Mapping[str, str | float]]
    names: Mapping[str, str] = field(default_factory=dict)
    protocol: Mapping[str, Any] = field(default_factory=dict)
    apart: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    uncut: tuple[str, ...] = ()
    cutoff: int | None = None
    unstable: Mapping[str, int] = field(default_factory=dict)
    checked: str = "run"
    note: str = ""

    @property
    def title(self) -> str:
        """The library and its version."""
        return f"{self.library} {self.version}"

    def speak(self, specs: str | Metric | Iterable[str | Metric]) -> dict[str, Metric]:
        """What each spec, or name of the library's own, means here."""
        return {str(spec): self._meant(spec)[0] for spec in separate(specs)}

    def names_of(self, metric: Metric) -> Iterator[tuple[str, str]]:
        """Our spec for a metric, and the library's own names for it, as far as they take no number but the cutoff; each
        with what it says of the protocol.
        """
        yield str(metric), ""
        for name, meaning in self.names.items():
            if set(re.findall(r"\{(\w+)\}", name)) == ({"k"} if metric.k else set()):
                own = name.format(k=metric.k)
                if type(self._meant(own)[0]) is type(metric):
                    yield own, meaning.partition(";")[2]

    def having(self, specs: Iterable[str], protocol: Protocol | None, fields: Mapping[str, Any]) -> list[str]:
        """Those of the specs that the library has under one protocol, the first one's; uncut where it does not cut.

        What it counts in another way stays in where the caller says how.
        """
        shared = [metric for metric in map(parse, specs) if metric.name in self.words]
        asked = [dataclasses.replace(metric, k=None) if metric.name in self.uncut else metric for metric in shared]
        rules = [{**self.protocol, **self._apart(metric), **fields} for metric in asked]
        return [str(metric) for metric, rule in zip(asked, rules, strict=True) if protocol or rule == rules[0]]

    def settle(
        self, protocol: Protocol | None, fields: Mapping[str, Any], specs: str | Metric | Iterable[str | Metric] = ()
    ) -> Protocol:
        """The dialect's protocol for these metrics, with whatever the caller says otherwise.

        One call has one protocol: metrics that the library counts in different ways are refused.
        """
        from atkay.protocol import Protocol

        given = Protocol(**self.protocol) if protocol is None else protocol
        bare = dataclasses.replace(given, exclude=None, candidates=None)  # tables do not compare
        rules: dict[Protocol, tuple[str, dict[str, Any]]] = {}
        for spec in separate(specs) if specs else ():
            metric, said = self._meant(spec)
            chosen = (self._apart(metric) if protocol is None else {}) | said
            for name in fields.keys() & said:
                if Protocol(**{name: fields[name]}) != Protocol(**{name: said[name]}):
                    raise ProtocolError(
                        f"{spec} says {name}={said[name]}, and the call says {name}={fields[name]!r}. Say it once."
                    )
            chosen = {name: value for name, value in chosen.items() if name not in fields}
            rules.setdefault(bare.with_fields(**chosen), (str(spec), chosen))
        if len(rules) > 1:
            raise self._mixed({settled: spec for settled, (spec, _) in rules.items()})
        for _, chosen in rules.values():
            given = given.with_fields(**chosen)
        return given.with_fields(**fields)

    def _apart(self, metric: Metric) -> dict[str, Any]:
        """The fields in which the library counts a metric otherwise than the others."""
        cut = {} if metric.k is None else self.apart.get(f"{metric.name}@{{k}}", {})
        return {**self.apart.get(metric.name, {}), **cut}

    def _mixed(self, rules: Mapping[Protocol, str]) -> ProtocolError:
        (one, first), (other, second) = list(rules.items())[:2]
        differ = [each.name for each in dataclasses.fields(one) if getattr(one, each.name) != getattr(other, each.name)]
        said = (", ".join(f"{name}={getattr(each, name)!r}" for name in differ) for each in (one, other))
        return ProtocolError(
            f"{self.library} takes {first} with {next(said)} and {second} with {next(said)}, and a call has one "
            f"protocol. Ask for them in two calls, or say {listing(differ)} yourself."
        )

    def _meant(self, spec: str | Metric) -> tuple[Metric, dict[str, Any]]:
        """The metric, and what the library's own name says of the protocol besides."""
        if not isinstance(spec, str):
            return spec, {}
        if meaning := self._own(spec):
            own, _, said = meaning.partition(";")
            return self._cut(parse(own)), dict(one.split("=") for one in said.split())
        metric = parse(spec)
        if metric.name not in self.words:
            raise SpecError(
                f"{self.library} has no {metric.name}; this dialect speaks of {listing(sorted(self.words))}. "
                f"{offer(spec, self.names)}"
            )
        if metric.name in self.uncut and metric.k is not None:
            raise SpecError(f"{self.library} has no {metric.name} with a cutoff that can be given here. {self.note}")
        words = {name: word for name, word in self.words[metric.name].items() if name not in stated(spec)}
        return self._cut(dataclasses.replace(metric, **words)), {}  # type: ignore[arg-type]  # fields of that metric

    def owns(self, name: str) -> bool:
        """Whether it is a name of the library's own."""
        return bool(self._own(name))

    def _own(self, spec: str) -> str:
        """What a name of the library's own means; nothing where it has no such name."""
        found = ((meaning, _pattern(name).fullmatch(str(spec).strip())) for name, meaning in self.names.items())
        return next((meaning.format(**match.groupdict()) for meaning, match in found if match), "")

    def _cut(self, metric: Metric) -> Metric:
        """The metric at the library's own cutoff where none is given."""
        return dataclasses.replace(metric, k=self.cutoff) if metric.k is None and metric.cuts else metric


@functools.cache
def _pattern(name: str) -> re.Pattern[str]:
    """A name in which {k} and the like stand for numbers."""
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[0-9]+(?:\\.[0-9]+)?)", re.escape(name)), re.IGNORECASE)


class Dialects(Tabular, Mapping[str, Dialect]):
    """All dialects by name; prints as a table."""

    def __init__(self, found: Iterable[Dialect]) -> None:
        self._found = {each.name: each for each in sorted(found, key=lambda each: each.name)}

    def __getitem__(self, name: str) -> Dialect:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def _grid(self) -> Grid:
        rows = [
            (
                name,
                each.title,
                "run" if each.checked == "run" else "from source",
                "; ".join(
                    (
                        _printed(each.protocol) or "the default",
                        *(f"{name}: {_printed(own)}" for name, own in each.apart.items()),
                    )
                ),
                ", ".join(sorted(each.words)),
            )
            for name, each in self.items()
        ]
        return Grid(("dialect", "library", "checked", "protocol", "metrics"), rows)


def _printed(fields: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in fields.items())


def list_dialects() -> Dialects:
    """Every dialect, with the version of the library it follows.

    >>> atkay.list_dialects()["replay"].words["map"]
    {'per': 'capped'}
    """
    return _load_folder()


@functools.cache
def _load_folder() -> Dialects:
    names = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]) if module.name != "dialect"]
    return Dialects(importlib.import_module(f"{__package__}.{name}").DIALECT for name in names)


def dialect(name: str | Dialect) -> Dialect:
    """The dialect of a name."""
    if isinstance(name, Dialect):
        return name
    plain = {re.sub(r"\W|_", "", each): found for each, found in list_dialects().items()}
    found = plain.get(re.sub(r"\W|_", "", name.lower())) if isinstance(name, str) else None
    if found is None:
        raise SpecError(
            f"no dialect {shown(name)}. {offer(name, list_dialects())} atkay.list_dialects() lists them all."
        )
    return found
