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

from atkay.errors import SpecError, listing, offer
from atkay.grid import Grid
from atkay.metrics.base import Metric, parse, separate, stated

if TYPE_CHECKING:
    from atkay.protocol import Protocol


@dataclass(frozen=True)
class Dialect:
    """A library's conventions.

    ``words`` has the metrics that the library shares with us, each with the words in which it differs from our default.
    ``names`` has the library's own names as specs, ``{k}`` standing for a cutoff. ``protocol`` holds the fields that
    differ. ``uncut`` names metrics that it computes for whole lists alone, or otherwise than here once they are cut.
    ``checked`` says whether the library itself was run, or its source was read; ``note``, what it does besides.
    """

    name: str
    library: str
    version: str
    words: Mapping[str, Mapping[str, str | float]]
    names: Mapping[str, str] = field(default_factory=dict)
    protocol: Mapping[str, Any] = field(default_factory=dict)
    uncut: tuple[str, ...] = ()
    checked: str = "run"
    note: str = ""

    def speak(self, specs: str | Metric | Iterable[str | Metric]) -> dict[str, Metric]:
        """What each spec, or name of the library's own, means here."""
        return {str(spec): self._meant(spec) for spec in separate(specs)}

    def _meant(self, spec: str | Metric) -> Metric:
        if not isinstance(spec, str):
            return spec
        for name, meaning in self.names.items():
            pattern = re.escape(name).replace(r"\{k\}", r"(?P<k>[0-9]+)")
            if found := re.fullmatch(pattern, spec.strip(), re.IGNORECASE):
                return parse(meaning.format(**found.groupdict()))
        metric = parse(spec)
        if metric.name not in self.words:
            raise SpecError(
                f"{self.library} has no {metric.name}; this dialect speaks of {listing(sorted(self.words))}. "
                f"{offer(spec, self.names)}"
            )
        if metric.name in self.uncut and metric.k is not None:
            raise SpecError(f"{self.library} has no {metric.name} with a cutoff that can be given here. {self.note}")
        words = {name: word for name, word in self.words[metric.name].items() if name not in stated(spec)}
        return dataclasses.replace(metric, **words)  # type: ignore[arg-type]  # words are fields of that metric

    def settle(self, protocol: Protocol | None, fields: Mapping[str, Any]) -> Protocol:
        """The dialect's protocol, with whatever the caller says otherwise."""
        from atkay.protocol import Protocol

        return (protocol or Protocol(**self.protocol)).with_fields(**fields)


class Dialects(Mapping[str, Dialect]):
    """All dialects by name; prints as a table."""

    def __init__(self, found: Iterable[Dialect]) -> None:
        self._found = {each.name: each for each in sorted(found, key=lambda each: each.name)}

    def __getitem__(self, name: str) -> Dialect:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return self._grid().text()

    def _repr_html_(self) -> str:
        return self._grid().html()

    def to_markdown(self) -> str:
        """The table in Markdown."""
        return self._grid().markdown()

    def _grid(self) -> Grid:
        rows = [
            (
                name,
                f"{each.library} {each.version}",
                "run" if each.checked == "run" else "from source",
                ", ".join(f"{key}={value}" for key, value in each.protocol.items()) or "the default",
                ", ".join(sorted(each.words)),
            )
            for name, each in self.items()
        ]
        return Grid(("dialect", "library", "checked", "protocol", "metrics"), rows)


def dialects() -> Dialects:
    """Every dialect, with the version of the library it follows.

    >>> atkay.dialects()["replay"].words["map"]
    {'per': 'capped'}
    """
    return _load_folder()


@functools.cache
def _load_folder() -> Dialects:
    names = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]) if module.name != "base"]
    return Dialects(importlib.import_module(f"{__package__}.{name}").DIALECT for name in names)


def dialect(name: str) -> Dialect:
    """The dialect of a name."""
    plain = {re.sub(r"\W|_", "", each): found for each, found in dialects().items()}
    found = plain.get(re.sub(r"\W|_", "", str(name).lower()))
    if found is None:
        raise SpecError(f"no dialect {name!r}. {offer(str(name), dialects())} atkay.dialects() lists them all.")
    return found
