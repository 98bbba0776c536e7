"""Spoken: what specs and names mean in the dialect of a library, and under which protocol it counts them."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

from atkay.errors import ProtocolError, SpecError, listing, offer, shown
from atkay.metrics.metric import Metric
from atkay.metrics.spec import parse, separate, stated
from atkay.protocol import Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from atkay.dialects.dialect import Dialect


def speak(library: Dialect, specs: str | Metric | Iterable[str | Metric]) -> dict[str, Metric]:
    """What each spec, or name of the library's own, means here."""
    return {str(spec): meaning(library, spec)[0] for spec in spoken(library, specs)}


def spoken(library: Dialect, specs: str | Metric | Iterable[str | Metric]) -> list[Any]:
    """Each spec, or name of the library's own, a name for each of its numbers."""
    return [name for spec in separate(specs) for name in library.numbers(spec)]


def meaning(library: Dialect, spec: str | Metric) -> tuple[Metric, dict[str, Any]]:
    """The metric, and what the library's own name says of the protocol."""
    if not isinstance(spec, str):
        return spec, {}
    ours, fields = library.meaning(spec)
    family, dot, _ = spec.strip().partition(".")
    if not ours and dot and any(own.startswith(f"{family}_{{") for own in library.names):
        raise SpecError(f"{library.library}: cannot read the parameters of {shown(spec)}. {library.note}")
    metric = parse(ours or spec)
    if metric.name not in library.words:
        raise SpecError(
            f"{library.library} has no {metric.name}; this dialect has {listing(sorted(library.words))}. "
            f"{offer(spec, library.names)}"
        )
    if metric.name in library.uncut and metric.k is not None:
        raise SpecError(f"{library.library} has no {metric.name} with a cutoff that is supported here. {library.note}")
    words: dict[str, Any] = library.words[metric.name]
    words = {name: word for name, word in words.items() if name not in stated(ours or spec)}
    if metric.k is None and metric.cuts:
        words["k"] = library.cutoff
    return dataclasses.replace(metric, **words), fields


def names_of(library: Dialect, metric: Metric) -> Iterator[tuple[str, str]]:
    """Our spec for a metric, and the library's own names for it, as far as they take no number but the cutoff, of
    several names for one thing the first; each with what it says of the protocol.
    """
    yield str(metric), ""
    first: dict[str, str] = {}
    for name, spec in library.names.items():
        first.setdefault(spec, name)
    for spec, name in first.items():
        own = name.format(k=metric.k) if set(re.findall(r"\{(\w+)\}", name)) <= {"k"} else ""
        if own and ("{k}" in name) <= (metric.k is not None):
            own += f"@{metric.k}" if metric.k is not None and "{k}" not in name else ""
            try:
                same = type(meaning(library, own)[0]) is type(metric)
            except SpecError:  # a cutoff that the name does not take
                continue
            if same:
                yield own, spec.partition(";")[2]


def usual(library: Dialect, specs: Iterable[str]) -> list[str]:
    """Those of the specs that the library has; uncut where it does not cut."""
    shared = [metric for metric in map(parse, specs) if metric.name in library.words]
    return [str(dataclasses.replace(metric, k=None) if metric.name in library.uncut else metric) for metric in shared]


def protocols(
    library: Dialect, protocol: Protocol | None, fields: Mapping[str, Any], specs: Iterable[str | Metric]
) -> dict[Metric, Protocol]:
    """The protocol under which the library counts each number, with whatever the caller says otherwise."""
    rules: dict[Metric, Protocol] = {}
    for spec in specs:
        metric, own = meaning(library, spec)
        for name in fields.keys() & own:
            if Protocol(**{name: fields[name]}) != Protocol(**{name: own[name]}):
                raise ProtocolError(
                    f"{spec} sets {name}={own[name]}, but the call sets {name}={fields[name]!r}. Set it once."
                )
        base = main_protocol(library, protocol, {}).with_fields(**_apart(library, metric) if protocol is None else {})
        settled = base.with_fields(**own).with_fields(**fields)
        for one in metric.split():
            if rules.setdefault(one, settled) != settled:
                raise _twice(one, rules[one], settled)
    return rules


def main_protocol(library: Dialect, protocol: Protocol | None, fields: Mapping[str, Any]) -> Protocol:
    """The protocol that holds for the library's metrics unless its table says otherwise of one."""
    return (Protocol(**library.protocol) if protocol is None else protocol).with_fields(**fields)


def goes_by_score(library: Dialect, protocol: Protocol | None, fields: Mapping[str, Any]) -> bool:
    """Whether all metrics go by the score where there is a rank, too: also one whose ties are those of the rows."""
    return bool(main_protocol(library, protocol, fields).trait("ties", "over_rank"))


def _apart(library: Dialect, metric: Metric) -> dict[str, Any]:
    """The fields in which the library counts a metric otherwise than the others."""
    cut = {} if metric.k is None else library.apart.get(f"{metric.name}@{{k}}", {})
    return {**library.apart.get(metric.name, {}), **cut}


def _twice(metric: Metric, one: Protocol, other: Protocol) -> ProtocolError:
    differ = [each.name for each in dataclasses.fields(one) if getattr(one, each.name) != getattr(other, each.name)]
    words = [", ".join(f"{name}={getattr(each, name)!r}" for name in differ) for each in (one, other)]
    return ProtocolError(
        f"{metric} is requested twice, with {words[0]} and with {words[1]}, but has one column in a result. Use "
        f"two calls."
    )
