"""Reproduce: when and from what a page was made, and the code that makes it again."""

from __future__ import annotations

import dataclasses
import platform
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atkay.dialects.dialect import list_dialects
from atkay.protocol import Protocol
from atkay.reporting.view import View
from atkay.tables import FILTERS, OF_USERS, SIDE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atkay.comparison.comparison import Comparison
    from atkay.results.result import Result

PACKAGES = ("numpy", "polars", "altair")
"""Packages whose versions a page names."""

RESULT = {"evaluate": "result", "compare": "comparison"}
"""What the code of a page calls that which a function returns."""


@dataclass(frozen=True)
class Provenance:
    """Where a page comes from: the date, versions, files, and the code that gives the same page again."""

    created: str
    code: str
    versions: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, view: View, code: str, notes: tuple[str, ...] = ()) -> Provenance:
        """The provenance of a page that is made now."""
        made = {name: each for name in PACKAGES if (each := _version(name))}
        own = view.comparison.version if view.comparison else next(iter(view.results.values())).version
        files: dict[str, list[str]] = {}
        for run, result in view.results.items():
            for table, path in result.sources.items():
                name = f"recs of {run}" if table == "recs" and view.comparison else table
                files.setdefault(name, []).append(_from_here(path))
        return cls(
            created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            code=code,
            versions={"atkay": own, "Python": platform.python_version(), **made},
            files={name: ", ".join(dict.fromkeys(paths)) for name, paths in files.items()},
            notes=notes,
        )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def call(view: View) -> str:
    """The call, with everything that was not left as it is by default.

    Files are named by their paths; other tables by the argument that they are passed as.
    """
    cutoffs: dict[str, list[str]] = {}
    for family, at, cutoff in (name.partition("@") for name in view.names):
        cutoffs.setdefault(family + at, []).append(cutoff)
    names = ", ".join(repr(family + ",".join(several)) for family, several in cutoffs.items())
    of_result = next(iter(view.results.values()), None)
    if of_result is not None and of_result.dialect:  # as the library calls them
        names = ", ".join(map(repr, of_result.names))
    arguments = [] if of_result is None else _of_result(of_result)
    arguments += [] if view.comparison is None else _of_comparison(view.comparison)
    truth = "truth" if of_result is None else _table(of_result, "truth")
    if view.comparison is None:
        assert of_result is not None
        first = [f"    {_table(of_result, 'recs')},"]
    elif view.results and all("recs" in result.sources for result in view.results.values()):
        paths = (f"        {run!r}: {_table(result, 'recs')}," for run, result in view.results.items())
        first = ["    {", *paths, "    },"]
    else:
        first = ["    runs,"]
    name = "evaluate" if view.comparison is None else "compare"
    lines = [*first, f"    {truth},", f"    [{names}],", *(f"    {name}={value}," for name, value in arguments)]
    return "\n".join(["import atkay", "", f"{RESULT[name]} = atkay.{name}(", *lines, ")"])


def code_of(view: View, path: str, title: str | None, again: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The code that makes the page again, and what has to be known to run it.

    ``again`` are the arguments of the report that only the caller has.
    """
    code = call(view)
    arguments = [repr(path), *([f"title={title!r}"] if title is not None else [])]
    arguments += [f"{name}={_named(view, name, value)}" for name, value in again.items() if value is not None]
    name = RESULT["evaluate" if view.comparison is None else "compare"]
    code = f"{code}\natkay.report({name}, {', '.join(arguments)})"
    tables = ("runs", "recs", "truth", *FILTERS, *OF_USERS, *SIDE)
    free = [name for name in tables if re.search(rf"^    {name},$|[ (]{name}={name}\b", code, re.MULTILINE)]
    if not free:
        return code, ()
    runs = f"; runs holds {{name: lists}} of {', '.join(map(repr, view.runs))}" if "runs" in free else ""
    return code, (f"{', '.join(free)}: the tables as they were passed{runs}.",)


def _named(view: View, name: str, value: Any) -> str:
    """An argument of the report as code: what was printed for the call, or its name."""
    result = next(iter(view.results.values()), None)
    if isinstance(value, str | int | float | bool) or name == "columns":
        return repr(value) if name != "columns" else _columns(repr(value))
    if name == "recs" and isinstance(value, dict) and all(isinstance(each, str) for each in value.values()):
        return repr(value)
    if name == "recs" and view.comparison is not None:
        return "runs" if set(value) == set(view.runs) else f"{{run: runs[run] for run in {list(value)!r}}}"
    return name if result is None else _table(result, name)


def _table(result: Result, name: str) -> str:
    """A table as code: the path of a file, else the argument as which it was passed."""
    return repr(_from_here(result.sources[name])) if name in result.sources else name


def _from_here(path: str) -> str:
    """A path as it is called from the working directory, where it lies within."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


def _columns(text: str) -> str:
    return re.sub(r"\bColumns\(", "atkay.Columns(", text)


def _of_result(result: Result) -> list[tuple[str, str]]:
    """The arguments of evaluate besides recs, truth and metrics."""
    default, arguments = Protocol(), list[tuple[str, str]]()
    library = next((each for each in list_dialects().values() if each.title == result.dialect), None)
    if library is not None:
        default, arguments = Protocol(**library.protocol), [("dialect", repr(library.name))]
    words = {each.name: getattr(result.protocol, each.name) for each in dataclasses.fields(Protocol)}
    arguments += [
        (name, _table(result, name) if name in FILTERS else repr(value))
        for name, value in words.items()
        if value != getattr(default, name)
    ]
    tables = [name for name in SIDE if name in result.fingerprint]
    given = {"slices": result.slicings, "weights": result.weighted, "cluster": result.clusters is not None}
    tables += [name for name in OF_USERS if given[name] and name not in result.named]
    arguments += [(name, _table(result, name)) for name in tables]
    arguments += [(name, _columns(each)) for name, each in result.named.items()]
    return arguments + ([] if result.sampled is None else [("sampled", f"atkay.{result.sampled!r}")])


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
