"""Result: the numbers, whom they count, and what they mean in words."""

from __future__ import annotations

import dataclasses
import gzip
import html
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from atkay import __version__
from atkay.arrays import Floats, Ints
from atkay.errors import NumberError, SourceError, SpecError, listing
from atkay.grid import Grid
from atkay.means import Summary, exact_sum, group_means, mean, pooled, summarise, summarise_pooled
from atkay.metrics.base import Definition, Metric, parse
from atkay.output import write_whole
from atkay.protocol import Described, Protocol

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import pandas as pd
    import polars as pl


T = TypeVar("T")


@dataclass(frozen=True)
class Population:
    """Whom and what the numbers count.

    Of the users: ``evaluated`` enter the means; ``without_list`` have truth and no list, ``without_truth`` a list and
    no relevant item (the protocol says whether these are evaluated); ``emptied`` had a list of which nothing was
    left. Of the rows: ``relevant`` in the truth of all users, and ``hits`` among them; ``listed`` as given; of these,
    ``unknown`` name an item that the truth never mentions and ``tied`` share their score with another of the
    list, and ``duplicated``, ``excluded``, ``outside`` (no candidate) and ``unjudged`` were taken out.
    """

    evaluated: int
    without_list: int
    without_truth: int
    emptied: int
    relevant: int
    hits: int
    listed: int
    unknown: int
    excluded: int
    outside: int
    unjudged: int
    duplicated: int
    tied: int

    def sentences(self, protocol: Protocol) -> list[str]:
        """What a reader of the numbers should know."""
        of = {"zero": "scored 0", "one": "scored 1", "skip": "skipped"}
        said = [f"{self.evaluated:,} users evaluated"]
        if self.without_list:
            said.append(f"{self.without_list:,} without a list ({of[protocol.no_recs]})")
        if self.without_truth:
            said.append(f"{self.without_truth:,} without truth ({of[protocol.no_truth]})")
        if self.emptied:
            said.append(f"{self.emptied:,} with nothing left in the list")
        rows = [f"{self.hits:,} hits in {self.listed:,} listed items, {self.relevant:,} relevant"]
        rows += [
            f"{count:,} {what}"
            for count, what in (
                (self.excluded, "excluded"),
                (self.outside, "outside the candidates"),
                (self.unjudged, "unjudged and dropped"),
                (self.duplicated, "duplicates dropped"),
                (self.tied, f"tied (ties={protocol.ties})"),
            )
            if count
        ]
        return ["; ".join(said), "; ".join(rows)]


class Numbers(dict[str, T]):
    """Something for each number, under its canonical name; asked for under any name, or as a metric."""

    def __missing__(self, name: str | Metric) -> T:
        try:
            canonical = str(parse(name))
        except SpecError as error:
            raise NumberError(str(error)) from error
        if not super().__contains__(canonical):
            raise NumberError(f"'{canonical}' was not asked for; this result has {listing(self)}.")
        return self[canonical]

    def __contains__(self, name: object) -> bool:
        try:
            return super().__contains__(str(parse(name)))  # type: ignore[arg-type]  # anything else is no metric
        except SpecError:
            return False


@dataclass(frozen=True, eq=False)
class Slicing:
    """Users in segments: ``segment[code[q]]`` is the segment of query q."""

    name: str
    segments: Sequence[Any]
    code: Ints


@dataclass(frozen=True, eq=False)
class Result(Mapping[str, float]):
    """The numbers of an evaluation; behaves like a table, and like a record of names and means.

    ``result["ndcg@10"]`` is a number; ``table`` adds intervals and counts; ``per_query`` has a row per user;
    ``population``, ``definitions`` and ``protocol`` say what the numbers are.
    """

    metrics: tuple[Metric, ...]
    query_values: Floats
    ids: Mapping[str, Any]
    population: Population
    protocol: Protocol
    parts: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)
    groups: Ints | None = None
    slicings: tuple[Slicing, ...] = ()
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    fingerprint: Mapping[str, str] = field(default_factory=dict)
    version: str = __version__

    @cached_property
    def _single(self) -> dict[str, Metric]:
        return {str(one): one for metric in self.metrics for one in metric.split()}

    def __getitem__(self, name: str | Metric) -> float:
        return self.means[name]  # type: ignore[index]  # a metric stands for its name

    __eq__ = object.__eq__  # two results with the same means need not be the same
    __hash__ = object.__hash__

    def __iter__(self) -> Iterator[str]:
        return iter(self._single)

    def __len__(self) -> int:
        return len(self._single)

    def __contains__(self, name: object) -> bool:
        return name in self.means

    @cached_property
    def means(self) -> Numbers[float]:
        """Each number."""
        units = self._units(None)
        return Numbers((name, pooled(*unit) if isinstance(unit, tuple) else mean(unit)) for name, unit in units)

    @cached_property
    def summaries(self) -> Numbers[Summary]:
        """Each number with its interval, spread and counts."""
        return self._summarise(None)

    def _summarise(self, rows: Ints | None) -> Numbers[Summary]:
        return Numbers(
            (name, summarise_pooled(*unit) if isinstance(unit, tuple) else summarise(unit))
            for name, unit in self._units(rows)
        )

    def _units(self, rows: Ints | None) -> Iterator[tuple[str, Floats | tuple[Floats, Floats]]]:
        """What each number is the mean of (a pair where it is pooled), for some of the queries or for all.

        A unit is a query, or all queries of one group.
        """

        def of_units(values: Floats, merge: Any) -> Floats:
            values = values if rows is None else values[rows]
            return values if groups is None else merge(values, groups, n_groups)

        groups, n_groups = None, 1
        if self.groups is not None:
            groups = np.unique(self.groups if rows is None else self.groups[rows], return_inverse=True)[1]
            n_groups = int(groups.max()) + 1
        for at, name in enumerate(self._single):
            if name in self.parts:
                above, below = (of_units(part, exact_sum) for part in self.parts[name])
                yield name, (above, below)
            else:
                yield name, of_units(self.query_values[:, at], group_means)

    @cached_property
    def definitions(self) -> Numbers[Definition]:
        """Each number in one sentence of plain words, and its formula."""
        over = "mean over users"
        if self.protocol.groups:
            unit = " and ".join(self.protocol.groups)
            over = f"mean over the queries of one {unit} first, then over all"
        summed = "summed over all users before dividing"
        return Numbers(
            (name, Definition(f"{words}; {summed if name in self.parts else over}", formula))
            for name, one in self._single.items()
            for words, formula in [one.define()]
        )

    @property
    def table(self) -> pl.DataFrame:
        """A row per number: metric, mean, 95 % interval (low, high), deviation, users counted and undefined."""
        import polars as pl

        return pl.DataFrame(
            [(name, *found) for name, found in self.summaries.items()],
            schema={"metric": pl.String, **_numbers()},
            orient="row",
        ).fill_nan(None)

    @property
    def slices(self) -> pl.DataFrame:
        """A row per slice, segment and number, with the same columns as the table."""
        import polars as pl

        rows = [(*names, *found) for *names, found in self._slices]
        schema = {"slice": pl.String, "segment": pl.String, "metric": pl.String, **_numbers()}
        return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)

    @cached_property
    def _slices(self) -> list[tuple[str, str | None, str, Summary]]:
        return [
            (slicing.name, None if segment is None else str(segment), name, found)
            for slicing in self.slicings
            for segment, members in _members(slicing)
            for name, found in self._summarise(members).items()
        ]

    @property
    def per_query(self) -> pl.DataFrame:
        """A row per evaluated user: the ids as they came in, and each number; null where it is undefined."""
        import polars as pl

        ids = pl.DataFrame(dict(self.ids))
        values = pl.DataFrame(dict(zip(self._single, self.query_values.T, strict=True))).fill_nan(None)
        return pl.concat([ids, values], how="horizontal")

    def to_dict(self) -> dict[str, float]:
        """Names and means."""
        return dict(self)

    def to_polars(self) -> pl.DataFrame:
        """The table."""
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        """The table, for pandas."""
        import pandas as pd

        return pd.DataFrame([{"metric": name, **found._asdict()} for name, found in self.summaries.items()])

    def to_markdown(self) -> str:
        """The table in Markdown."""
        return self._grid().markdown()

    def to_latex(self) -> str:
        """The table in LaTeX, for the booktabs package."""
        return self._grid().latex()

    def __repr__(self) -> str:
        parts = [self._grid().text()]
        if self.slicings:
            parts.append(self._slice_grid().text())
        return "\n\n".join([*parts, "\n".join(self._notes())])

    def _repr_html_(self) -> str:
        tables = [self._grid().html()] + ([self._slice_grid().html()] if self.slicings else [])
        return "\n".join(tables) + "<p>" + "<br>".join(html.escape(note) for note in self._notes()) + "</p>"

    def _notes(self) -> list[str]:
        default = Protocol()
        said = [
            words
            for name, words in self.protocol.words().items()
            if getattr(self.protocol, name) != getattr(default, name) and name != "seed"
        ]
        return [*self.population.sentences(self.protocol), *said]

    def _grid(self) -> Grid:
        rows = [(name, *_cells(found)) for name, found in self.summaries.items()]
        return Grid(("metric", *_HEADER), rows, right=_HEADER)

    def _slice_grid(self) -> Grid:
        rows = [
            (name, "(none)" if segment is None else segment, metric, *_cells(found))
            for name, segment, metric, found in self._slices
        ]
        return Grid(("slice", "segment", "metric", *_HEADER), rows, right=_HEADER)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a JSON file, compressed where the name ends in ``.gz``; whole or not at all."""
        content = json.dumps(self._record(), ensure_ascii=False, allow_nan=False).encode()
        write_whole(Path(path), gzip.compress(content, mtime=0) if Path(path).suffix == ".gz" else content)

    def _record(self) -> dict[str, Any]:
        return {
            "atkay": self.version,
            "fingerprint": dict(self.fingerprint),
            "metrics": [str(metric) for metric in self.metrics],
            "numbers": {name: _plain(found._asdict()) for name, found in self.summaries.items()},
            "definitions": {name: found._asdict() for name, found in self.definitions.items()},
            "protocol": dataclasses.asdict(self.protocol),
            "population": dataclasses.asdict(self.population),
            "columns": {table: dict(used) for table, used in self.columns.items()},
            "slices": [
                {"slice": name, "segment": segment, "metric": metric, **_plain(found._asdict())}
                for name, segment, metric, found in self._slices
            ],
            "per_query": {
                "ids": {name: _packed(column) for name, column in self.ids.items()},
                "values": {name: _listed(self.query_values[:, at]) for at, name in enumerate(self._single)},
                "parts": {name: [_listed(part) for part in both] for name, both in self.parts.items()},
                "groups": None if self.groups is None else self.groups.tolist(),
                "slicings": [
                    {
                        "name": each.name,
                        "segments": [str(s) if s is not None else None for s in each.segments],
                        "code": each.code.tolist(),
                    }
                    for each in self.slicings
                ],
            },
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """A result that was saved before."""
        try:
            content = Path(path).read_bytes()
            record = json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
            return cls._from_record(record)
        except (OSError, EOFError, zlib.error, ValueError, LookupError, TypeError, AttributeError) as error:
            raise SourceError(
                f"cannot load '{path}' as a saved result: {error}. Write one with result.save(path)."
            ) from error

    @classmethod
    def _from_record(cls, record: dict[str, Any]) -> Result:
        rows = record["per_query"]
        metrics = tuple(parse(spec) for spec in record["metrics"])
        names = [str(one) for metric in metrics for one in metric.split()]
        ids = {name: _unpacked(name, column) for name, column in rows["ids"].items()}
        values = np.array([rows["values"][name] for name in names], dtype=float).T
        if set(rows["values"]) != set(names) or {len(values), record["population"]["evaluated"]} != {
            len(column) for column in ids.values()
        }:
            raise ValueError("its parts do not fit together")
        protocol = record["protocol"]
        for name in ("exclude", "candidates"):
            protocol[name] = None if protocol[name] is None else Described(protocol[name])
        return cls(
            metrics=metrics,
            query_values=values,
            ids=ids,
            population=Population(**record["population"]),
            protocol=Protocol(**protocol),
            parts={name: (np.array(above), np.array(below)) for name, (above, below) in rows["parts"].items()},
            groups=None if rows["groups"] is None else np.array(rows["groups"]),
            slicings=tuple(
                Slicing(each["name"], each["segments"], np.array(each["code"])) for each in rows["slicings"]
            ),
            columns=record["columns"],
            fingerprint=record["fingerprint"],
            version=record["atkay"],
        )


_HEADER = ("mean", "95 % interval", "deviation", "users", "undefined")


def _numbers() -> dict[str, Any]:
    import polars as pl

    return {name: pl.Int64 if name in ("users", "undefined") else pl.Float64 for name in Summary._fields}


def _cells(found: Summary) -> tuple[str, ...]:
    interval = "–" if math.isnan(found.low) else f"{found.low:.4f} to {found.high:.4f}"
    deviation = "–" if math.isnan(found.deviation) else f"{found.deviation:.4f}"
    mean = "–" if math.isnan(found.mean) else f"{found.mean:.4f}"
    return mean, interval, deviation, f"{found.users:,}", f"{found.undefined:,}"


def _members(slicing: Slicing) -> Iterator[tuple[Any, Ints]]:
    """Each segment that has users, and their rows."""
    order = np.argsort(slicing.code, kind="stable")
    codes, starts = np.unique(slicing.code[order], return_index=True)
    for code, rows in zip(codes, np.split(order, starts[1:]), strict=True):
        yield slicing.segments[code], rows


def _plain(numbers: dict[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in numbers.items()}


def _listed(column: Floats) -> list[float | None]:
    return [None if math.isnan(value) else value for value in column.tolist()]


def _packed(ids: Any) -> dict[str, Any]:
    """Ids as JSON can hold them, and their type."""
    import polars as pl

    column = pl.Series(ids)
    dtype = column.dtype
    kind = {"type": str(dtype.base_type()), "unit": getattr(dtype, "time_unit", None)}
    if dtype.is_temporal():
        return {**kind, "zone": getattr(dtype, "time_zone", None), "values": column.to_physical().to_list()}
    return {**kind, "values": (column.bin.encode("hex") if dtype == pl.Binary else column).to_list()}


def _unpacked(name: str, packed: dict[str, Any]) -> pl.Series:
    import polars as pl

    dtype = getattr(pl, packed["type"])
    if dtype == pl.Binary:
        return pl.Series(name, packed["values"], pl.String).str.decode("hex")
    if dtype in (pl.Datetime, pl.Duration):
        dtype = dtype(packed["unit"]) if dtype == pl.Duration else dtype(packed["unit"], packed["zone"])
    if dtype.is_temporal():
        return pl.Series(name, packed["values"], pl.Int64).cast(pl.Int32 if dtype == pl.Date else pl.Int64).cast(dtype)
    return pl.Series(name, packed["values"], dtype)
