"""Saving: a result as a JSON file, and back."""

from __future__ import annotations

import dataclasses
import gzip
import json
import math
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.errors import SourceError
from atkay.metrics.base import parse
from atkay.output import write_whole
from atkay.protocol import Described, Protocol
from atkay.result import Population, Result, Segment, Slicing
from atkay.sampling import Sampled
from atkay.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

    from atkay.arrays import Floats


def save(result: Result, path: Path) -> None:
    """Write a result, compressed where the name ends in ``.gz``; whole or not at all."""
    content = json.dumps(_record(result), ensure_ascii=False, allow_nan=False).encode()
    write_whole(path, gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


def load(path: Path) -> Result:
    """Read a result that was saved before."""
    try:
        content = path.read_bytes()
        return _result(json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content))
    except (OSError, EOFError, zlib.error, ValueError, LookupError, TypeError, AttributeError) as error:
        raise SourceError(
            f"cannot load '{path}' as a saved result: {error}. Write one with result.save(path)."
        ) from error


def _record(result: Result) -> dict[str, Any]:
    """All of a result, as JSON can hold it."""
    return {
        "atkay": result.version,
        "fingerprint": dict(result.fingerprint),
        "metrics": [str(metric) for metric in result.metrics],
        "numbers": {name: plain(found._asdict()) for name, found in result.summaries.items()},
        "definitions": {name: found._asdict() for name, found in result.definitions.items()},
        "protocol": dataclasses.asdict(result.protocol),
        "population": dataclasses.asdict(result.population),
        "columns": {table: dict(used) for table, used in result.columns.items()},
        "slices": [
            {"slice": name, "segment": segment, "metric": metric, **plain(found._asdict())}
            for name, segment, metric, found in result.slice_summaries
        ],
        "dialect": result.dialect,
        "names": dict(result.names),
        "engine": result.engine,
        "readings": list(result.readings),
        "sampled": None if result.sampled is None else dataclasses.asdict(result.sampled),
        "whole": plain(dict(result.whole)),
        "whole_of": [
            {"slice": name, "segment": None if segment is None else str(segment), "numbers": plain(dict(numbers))}
            for (name, segment), numbers in result.whole_of.items()
        ],
        "per_query": {
            "ids": {name: _packed(column) for name, column in result.ids.items()},
            "values": {name: _listed(result.query_values[:, at]) for at, name in enumerate(result.by_query)},
            "parts": {name: [_listed(part) for part in both] for name, both in result.parts.items()},
            "groups": None if result.groups is None else result.groups.tolist(),
            "slicings": [
                {
                    "name": each.name,
                    "segments": [str(s) if s is not None else None for s in each.segments],
                    "code": each.code.tolist(),
                }
                for each in result.slicings
            ],
        },
        "sums": None if result.sums is None else _sums(result.sums),
    }


def _sums(sums: Mapping[Segment, Sums]) -> list[dict[str, Any]]:
    """The sums of everybody, and of each segment."""
    found = []
    for segment, of_segment in sums.items():
        name, value = segment or (None, None)
        found.append({"slice": name, "segment": None if value is None else str(value), **of_segment.record()})
    return found


def _result(record: dict[str, Any]) -> Result:
    rows = record["per_query"]
    metrics = tuple(parse(spec) for spec in record["metrics"])
    names = [str(one) for metric in metrics for one in metric.split() if str(one) not in record["whole"]]
    ids = {name: _unpacked(name, column) for name, column in rows["ids"].items()}
    n_rows = record["population"]["evaluated"] if record.get("sums") is None else 0
    values = np.empty((n_rows, 0))
    if names:
        values = np.array([rows["values"][name] for name in names], dtype=float).reshape(len(names), -1).T
    if set(rows["values"]) != set(names) or {len(values), n_rows} != {len(column) for column in ids.values()}:
        raise ValueError("its parts do not fit together")
    protocol = record["protocol"]
    for name in ("exclude", "candidates"):
        protocol[name] = None if protocol[name] is None else Described(protocol[name])
    return Result(
        metrics=metrics,
        query_values=values,
        ids=ids,
        population=Population(**record["population"]),
        protocol=Protocol(**protocol),
        parts={name: (np.array(above), np.array(below)) for name, (above, below) in rows["parts"].items()},
        groups=None if rows["groups"] is None else np.array(rows["groups"]),
        slicings=tuple(Slicing(each["name"], each["segments"], np.array(each["code"])) for each in rows["slicings"]),
        columns=record["columns"],
        fingerprint=record["fingerprint"],
        version=record["atkay"],
        dialect=record["dialect"],
        names=record["names"],
        engine=record.get("engine"),
        readings=tuple(record.get("readings", ())),
        sampled=None if record["sampled"] is None else Sampled(**record["sampled"]),
        whole=numbers(record["whole"]),
        whole_of={(each["slice"], each["segment"]): numbers(each["numbers"]) for each in record["whole_of"]},
        sums=_of_sums(record.get("sums"), names),
    )


def _of_sums(records: list[dict[str, Any]] | None, names: list[str]) -> dict[Segment, Sums] | None:
    """The sums, where there are any; a file of an earlier version has none."""
    if records is None:
        return None
    found: dict[Segment, Sums] = {
        None if each["slice"] is None else (each["slice"], each["segment"]): Sums.of_record(each) for each in records
    }
    if None not in found or any(list(sums.numbers) != names for sums in found.values()):
        raise ValueError("its parts do not fit together")
    return found


def numbers(record: dict[str, float | None]) -> dict[str, float]:
    """Numbers out of a file, null being NaN."""
    return {name: math.nan if value is None else value for name, value in record.items()}


def plain(record: dict[str, Any]) -> dict[str, Any]:
    """Numbers as JSON can hold them, NaN being null."""
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in record.items()}


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
