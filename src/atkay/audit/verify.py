"""Verify: does a saved result come out again, and if not, what changed?"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atkay import __version__
from atkay.dialects.dialect import list_dialects
from atkay.errors import InputError, listing, number_of
from atkay.evaluation.evaluate import evaluate
from atkay.inputs.paths import is_there
from atkay.protocol import Protocol
from atkay.results.result import Result
from atkay.text.grid import Grid, Tabular
from atkay.text.phrases import argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from atkay.inputs.columns import Columns

SAME = 1e-12
"""Numbers that differ by less, relative to the larger, are the same."""


@dataclass(frozen=True)
class Recomputed:
    """A number as it was saved, and as it comes out now."""

    metric: str
    saved: float
    now: float

    @property
    def same(self) -> bool:
        """Whether both are the same number; NaN is the same as NaN."""
        return math.isclose(self.saved, self.now, rel_tol=SAME) or (math.isnan(self.saved) and math.isnan(self.now))


@dataclass(frozen=True, repr=False)
class Verification(Tabular):
    """A saved result next to the same evaluation now; true if every table and every number is the same.

    ``changed`` names the tables whose fingerprint differs. ``result`` is the new result.
    """

    numbers: tuple[Recomputed, ...]
    tables: Mapping[str, str]
    """The file or object of each table."""
    changed: tuple[str, ...]
    remarks: tuple[str, ...]
    result: Result

    def __bool__(self) -> bool:
        return not self.changed and all(each.same for each in self.numbers)

    @property
    def verdict(self) -> str:
        """The conclusion in words."""
        different = [each for each in self.numbers if not each.same]
        if self:
            what = f"{number_of(len(self.numbers), 'number')} and {number_of(len(self.tables), 'table')}"
            return f"verified: {what} are the same"
        numbers = f"{len(different)} of {number_of(len(self.numbers), 'number')} changed"
        tables = f"{listing(self.changed)} changed" if self.changed else "no table changed"
        return f"not the same: {numbers}; {tables}"

    def _grid(self) -> Grid:
        rows = [
            (each.metric, f"{each.saved:.6g}", f"{each.now:.6g}", "same" if each.same else "changed")
            for each in self.numbers
        ]
        return Grid(("metric", "saved", "now", ""), rows, right=("saved", "now"))

    def _notes(self) -> Sequence[str]:
        tables = [
            f"{name}: {of}: {'changed' if name in self.changed else 'same fingerprint'}"
            for name, of in self.tables.items()
        ]
        return [self.verdict, *tables, *self.remarks]

    def to_polars(self) -> pl.DataFrame:
        """A row per number: metric, saved, now, same."""
        import polars as pl

        rows = [(each.metric, each.saved, each.now, each.same) for each in self.numbers]
        return pl.DataFrame(
            rows, schema={"metric": pl.String, "saved": pl.Float64, "now": pl.Float64, "same": pl.Boolean}, orient="row"
        )


def verify(
    result: Result | str | os.PathLike[str],
    recs: Any = None,
    truth: Any = None,
    *,
    columns: Columns | Mapping[str, Columns] | None = None,
    **tables: Any,
) -> Verification:
    """Recompute a saved result from its files, or say what changed.

    A result remembers the paths of its files and the fingerprints of what was read from them. The evaluation is done
    again with its metrics and its protocol, and every number and fingerprint compared.

    Parameters
    ----------
    result
        The path of a saved result, or a :class:`Result`.
    recs, truth
        Where the lists and the truth are now; by default the files that the result names, seen from its folder.
    columns
        As for ``evaluate``, where the result was computed with them.
    **tables
        The same for side tables, such as ``train=``, and for slices and weights.

    Examples
    --------
    >>> recs, truth = {"ann": ["tea", "rye"]}, {"ann": ["rye"]}
    >>> saved = atkay.evaluate(recs, truth, "mrr")
    >>> atkay.verify(saved, recs, truth).verdict
    'verified: 1 number and 2 tables are the same'
    >>> print(atkay.verify(saved, {"ann": ["rye", "tea"]}, truth))
    metric  saved  now
    ───────────────────────────
    mrr       0.5    1  changed
    <BLANKLINE>
    not the same: 1 of 1 number changed; 'recs' changed
    <BLANKLINE>
    recs: given: changed
    <BLANKLINE>
    truth: given: same fingerprint
    """
    folder = Path()
    if not isinstance(result, Result):
        folder = Path(result).parent
        result = Result.load(Path(result))
    given = {"recs": recs, "truth": truth, **tables}
    placed = _tables(result, {name: table for name, table in given.items() if table is not None}, folder)
    now = _again(result, placed, columns)
    numbers = [Recomputed(name, result[name], now[name][name]) for name in result]
    segments = {
        (slice_name, str(segment), name): each.mean
        for name, evaluated in now.items()
        for slice_name, segment, metric, each in evaluated.slice_summaries
        if metric == name
    }
    numbers += [
        Recomputed(f"{name}, {where} {segment}", each.mean, segments.get((where, str(segment), name), math.nan))
        for where, segment, name, each in result.slice_summaries
    ]
    fingerprint = {name: mark for each in now.values() for name, mark in each.fingerprint.items()}
    return Verification(
        numbers=tuple(numbers),
        tables={
            name: os.fspath(table) if isinstance(table, str | os.PathLike) else "given"
            for name, table in placed.items()
        },
        changed=tuple(name for name, mark in result.fingerprint.items() if fingerprint.get(name) != mark),
        remarks=tuple(_remarks(result, next(iter(now.values())))),
        result=next(iter(now.values())),
    )


def _tables(result: Result, given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Each table that the result was computed from."""
    tables = dict(given)
    for name, path in result.sources.items():
        places = (Path(os.path.normpath(place)) for place in (folder / path, path, folder / Path(path).name))
        there = next(filter(is_there, places), None)
        if name not in tables and there is None:
            raise InputError(f"verify: {name} was read from '{path}', which is not there. Pass {argument(name)}.")
        tables.setdefault(name, there)
    needed = dict.fromkeys(
        [*result.fingerprint, *(["slices"] if result.slicings else []), *(["weights"] if result.weighted else [])]
    )
    if missing := [name for name in needed if name not in tables]:
        raise InputError(
            f"verify: the result does not name the files of {listing(missing)}. Pass {argument(missing[0])}."
        )
    return tables


def _again(result: Result, tables: Mapping[str, Any], columns: Any) -> dict[str, Result]:
    """The result of each number, evaluated again: those that share a protocol together."""
    library = next((name for name, each in list_dialects().items() if each.title == result.dialect), None)
    single = {str(one): one for metric in result.metrics for one in metric.split()}
    groups: dict[Protocol, list[str]] = {}
    for name in single:
        groups.setdefault(result.protocol_of(name), []).append(name)
    again: dict[str, Result] = {}
    for protocol, names in groups.items():
        rules = protocol.with_fields(exclude=None, candidates=None)
        metrics = [single[name] for name in names]
        evaluated = evaluate(
            metrics=metrics, protocol=rules, dialect=library, columns=columns, sampled=result.sampled, **tables
        )
        again |= dict.fromkeys(names, evaluated)
    return {name: again[name] for name in single}


def _remarks(saved: Result, now: Result) -> list[str]:
    """What else differs."""
    remarks = []
    if saved.version != __version__:
        remarks.append(f"saved by atkay {saved.version}, verified by {__version__}")
    if saved.dialect and saved.dialect not in {each.title for each in list_dialects().values()}:
        remarks.append(
            f"the dialect was {saved.dialect}, which this version does not have; its conventions are in the specs"
        )
    for table, roles in saved.columns.items():
        others = now.columns.get(table, {})
        if roles != others:
            remarks.append(f"{table}: columns were {dict(roles)}, now {dict(others)}; pass {argument('columns')}")
    if saved.population.evaluated != now.population.evaluated:
        remarks.append(f"evaluated users: {saved.population.evaluated:,} saved, {now.population.evaluated:,} now")
    return remarks
