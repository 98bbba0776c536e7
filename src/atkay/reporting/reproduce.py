"""Reproduce: the call that gives the numbers again."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from atkay.dialects.dialect import list_dialects
from atkay.protocol import Protocol
from atkay.reporting.view import View, shown
from atkay.tables import FILTERS, SIDE

if TYPE_CHECKING:
    from atkay.comparison.comparison import Comparison
    from atkay.results.result import Result


def call(view: View) -> str:
    """The call, with everything that was not left as it is by default; tables are named."""
    cutoffs: dict[str, list[str]] = {}
    for family, at, cutoff in (name.partition("@") for name in view.names):
        cutoffs.setdefault(family + at, []).append(cutoff)
    names = ", ".join(repr(family + ",".join(several)) for family, several in cutoffs.items())
    of_result = next(iter(view.results.values()), None)
    if of_result is not None and of_result.apart:
        names = ", ".join(map(repr, of_result.names))
    arguments = [] if of_result is None else _of_result(of_result)
    arguments += [] if view.comparison is None else _of_comparison(view.comparison)
    if view.comparison is None:
        first = "atkay.evaluate(\n    recs, truth,"
    else:
        runs = ", ".join(f"{shown(repr(run))}: ..." for run in view.runs)
        first = f"atkay.compare(\n    {{{runs}}},\n    truth,"
    lines = [f"    {name}={value}," for name, value in arguments]
    return "\n".join(["import atkay", "", first, f"    [{names}],", *lines, ")"])


def _of_result(result: Result) -> list[tuple[str, str]]:
    """The arguments of evaluate besides recs, truth and metrics."""
    default, arguments = Protocol(), list[tuple[str, str]]()
    library = next((each for each in list_dialects().values() if each.title == result.dialect), None)
    if library is not None and result.apart:  # the library counts some of its numbers otherwise
        default, arguments = Protocol(**library.protocol), [("dialect", repr(library.name))]
    words = {each.name: getattr(result.protocol, each.name) for each in dataclasses.fields(Protocol)}
    arguments += [
        (name, "..." if name in FILTERS else repr(value))
        for name, value in words.items()
        if value != getattr(default, name)
    ]
    arguments += [(name, "...") for name in SIDE if name in result.fingerprint]
    arguments += [("slices", "...")] if result.slicings else []
    arguments += [("weights", "...")] if result.weighted else []
    arguments += [("cluster", "...")] if result.clusters is not None else []
    return arguments + ([] if result.sampled is None else [("sampled", repr(result.sampled))])


def _of_comparison(comparison: Comparison) -> list[tuple[str, str]]:
    """What was said to compare."""
    import inspect

    from atkay.comparison.compare import compare

    default = {name: each.default for name, each in inspect.signature(compare).parameters.items()}
    words: dict[str, Any] = {
        "baseline": comparison.baseline,
        "test": comparison.tests,
        "min_effect": dict(comparison.min_effect) or None,
    }
    words |= {name: getattr(comparison, name) for name in ("correction", "family", "interval", "permutations", "rng")}
    return [(name, repr(value)) for name, value in words.items() if value != default[name]]
