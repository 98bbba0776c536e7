"""Saving: a result as a JSON file, and back."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay import __version__
from atkay.core.moments import Moments, Sums
from atkay.core.schema import Reader, codes, count, floats, listed, made, mapped, maybe, number, record, text
from atkay.core.types import Slicing
from atkay.metrics.metric import Metric, RunMetric, is_pooled
from atkay.metrics.sampled import Sampled
from atkay.metrics.spec import parse
from atkay.protocol import Protocol
from atkay.results.result import Population, Result, Segment
from atkay.results.sealing import load_sealed, save_sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import polars as pl

    from atkay.core.types import Floats


def save(result: Result, path: Path) -> None:
    """Write a result, compressed where the name ends in ``.gz``; whole or not at all."""
    save_sealed(path, "result", {name: each.write(result) for name, each in FIELDS.items()})


def load(path: Path) -> Result:
    """Read a result that was saved before."""
    return load_sealed(path, "result", _result)


class Field(NamedTuple):
    """A field of the file: how it is written, and what it has to be."""

    write: Callable[[Result], Any]
    read: Reader


def metric_spec(value: Any) -> Metric:
    """A metric by its canonical name."""
    found = parse(text(value))
    if str(found) != value:
        raise ValueError(f"'{value}' is written '{found}'")
    return found


def _ids(packed: Any) -> pl.Series:
    """Ids of one type, none of them null."""
    import polars as pl

    fields = _PACKED(packed)
    try:
        found = _unpacked(fields)
        again = _packed(found)
        found.to_list()  # a time that Python cannot hold
    except (TypeError, LookupError, OverflowError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ValueError(f"no ids of type {fields['type']}: {error}") from error
    same_types = set(map(type, again["values"])) == set(map(type, fields["values"]))
    if again != fields or not same_types or found.null_count():
        raise ValueError(f"no ids of type {fields['type']}")
    return found


def _list(value: Any) -> list[Any]:
    return list(listed(lambda each: each)(value))


_PACKED = record({"type": text, "unit": maybe(text), "zone": maybe(text), "values": _list})
_NUMBERS: dict[str, Reader] = dict.fromkeys(("mean", "low", "high", "deviation"), number)
SUMMARY: dict[str, Reader] = {**_NUMBERS, "users": count, "undefined": count}
_SEGMENT = {"slice": text, "segment": maybe(text)}
_ANY_SEGMENT = {"slice": maybe(text), "segment": maybe(text)}
"""Or everybody."""

FIELDS = {
    "atkay": Field(lambda result: result.version, text),
    "fingerprint": Field(lambda result: dict(result.fingerprint), mapped(text)),
    "metrics": Field(lambda result: [str(metric) for metric in result.metrics], listed(metric_spec)),
    "numbers": Field(
        lambda result: {name: plain(found._asdict()) for name, found in result.summaries.items()},
        mapped(record(SUMMARY)),
    ),
    "definitions": Field(
        lambda result: {name: found._asdict() for name, found in result.definitions.items()},
        mapped(record({"words": text, "formula": text})),
    ),
    "protocol": Field(
        lambda result: dataclasses.asdict(result.protocol),
        made(Protocol, **dict.fromkeys(("exclude", "candidates"), maybe(text))),
    ),
    "population": Field(
        lambda result: dataclasses.asdict(result.population),
        made(Population, **{each.name: count for each in dataclasses.fields(Population)}),
    ),
    "columns": Field(
        lambda result: {table: dict(used) for table, used in result.columns.items()}, mapped(mapped(text))
    ),
    "slices": Field(
        lambda result: [
            {"slice": name, "segment": segment, "metric": metric, **plain(found._asdict())}
            for name, segment, metric, found in result.slice_summaries
        ],
        listed(record({**_SEGMENT, "metric": text, **SUMMARY})),
    ),
    "dialect": Field(lambda result: result.dialect, maybe(text)),
    "names": Field(lambda result: dict(result.names), mapped(metric_spec)),
    "engine": Field(lambda result: result.engine, maybe(text)),
    "readings": Field(lambda result: list(result.readings), listed(text)),
    "sampled": Field(
        lambda result: None if result.sampled is None else dataclasses.asdict(result.sampled), maybe(made(Sampled))
    ),
    "whole": Field(lambda result: plain(dict(result.whole)), mapped(number)),
    "whole_of": Field(
        lambda result: [
            {"slice": name, "segment": _text(segment), "numbers": plain(dict(numbers))}
            for (name, segment), numbers in result.whole_of.items()
        ],
        listed(record({**_SEGMENT, "numbers": mapped(number)})),
    ),
    "whole_users": Field(
        lambda result: [{**_segment(segment), "users": dict(users)} for segment, users in result.whole_users.items()],
        listed(record({**_ANY_SEGMENT, "users": mapped(count)})),
    ),
    "per_query": Field(
        lambda result: {
            "ids": {name: _packed(column) for name, column in result.ids.items()},
            "values": {name: _listed(result.query_values[:, at]) for at, name in enumerate(result.by_query)},
            "parts": {
                name: {"above": _listed(above), "below": _listed(below)}
                for name, (above, below) in result.parts.items()
            },
            "groups": None if result.groups is None else result.groups.tolist(),
            "slicings": [
                {"name": each.name, "segments": list(map(_text, each.segments)), "code": each.code.tolist()}
                for each in result.slicings
            ],
        },
        record(
            {
                "ids": mapped(_ids),
                "values": mapped(floats),
                "parts": mapped(record({"above": floats, "below": floats})),
                "groups": maybe(codes),
                "slicings": listed(record({"name": text, "segments": listed(maybe(text)), "code": codes})),
            }
        ),
    ),
    "sums": Field(
        lambda result: None if result.sums is None else _sums(result.sums),
        maybe(listed(record({**_ANY_SEGMENT, "queries": count, "numbers": mapped(Moments.of_record)}))),
    ),
}
"""The file, field by field. What follows from other fields is there for those who read it without atkay."""

_FILE = record({name: each.read for name, each in FIELDS.items()})


def _result(content: dict[str, Any]) -> Result:
    read = _FILE(content)
    rows = read["per_query"]
    columns = list(rows["values"].values())
    n_rows = 0 if read["sums"] is not None else read["population"].evaluated
    found = Result(
        metrics=read["metrics"],
        query_values=np.array(columns).T if {*map(len, columns)} == {n_rows} else np.empty((n_rows, 0)),
        ids={name: column.alias(name) for name, column in rows["ids"].items()},
        population=read["population"],
        protocol=read["protocol"],
        parts={name: (part["above"], part["below"]) for name, part in rows["parts"].items()},
        groups=rows["groups"],
        slicings=tuple(Slicing(**each) for each in rows["slicings"]),
        columns=read["columns"],
        fingerprint=read["fingerprint"],
        version=read["atkay"],
        dialect=read["dialect"],
        names={name: str(metric) for name, metric in read["names"].items()},
        engine=read["engine"],
        readings=read["readings"],
        sampled=read["sampled"],
        whole=read["whole"],
        whole_of={(each["slice"], each["segment"]): each["numbers"] for each in read["whole_of"]},
        whole_users={_segment_of(each): each["users"] for each in read["whole_users"]},
        sums=_of_sums(read["sums"]),
    )
    given = {"values": list(rows["values"])} | {name: read[name] for name in ("whole_of", "whole_users", "sums")}
    if misfits := [name for name, fits in _fitting(found, given, n_rows).items() if not fits]:
        raise ValueError(f"its parts do not fit together: {', '.join(misfits)}")
    _check_derived(found, read)
    return found


def _fitting(found: Result, given: Mapping[str, Any], n_rows: int) -> dict[str, bool]:
    """Whether each part fits the others; ``given`` has what a dict would hide: order, and entries that stand twice."""
    single = [one for metric in found.metrics for one in metric.split()]
    names, of_run = [str(one) for one in single], {str(one) for one in single if isinstance(one, RunMetric)}
    pooled = {str(one) for one in single if is_pooled(one)}
    segments = {(each.name, segment) for each in found.slicings for segment in each.segments}
    coded = all(each.code.max(initial=-1) < len(each.segments) for each in found.slicings)
    if found.sums is not None:
        members: set[Any] = {*found.sums} - {None}
    else:
        codes_of = ((each, code) for each in found.slicings if coded for code in np.unique(each.code))
        members = {(each.name, each.segments[code]) for each, code in codes_of}
    parts = [part for both in found.parts.values() for part in both]
    ids = list(found.ids.values())
    return {
        "metrics": 0 < len(names) == len({*names}),
        "names": all(str(one) in names for spec in found.names.values() for one in parse(spec).split()),
        "population": found.population.evaluated > 0,
        "values": given["values"] == found.by_query and found.query_values.shape == (n_rows, len(found.by_query)),
        "parts": {*found.parts} == (pooled if found.sums is None else {*()}) and {*map(len, parts)} <= {n_rows},
        "ids": {*map(len, ids)} == {n_rows}
        and not {*found.ids} & {*names}
        and len(set(zip(*(column.to_list() for column in ids), strict=True))) == n_rows,  # without Polars' threads
        "groups": (found.groups is None) == (not found.protocol.groups or found.sums is not None)
        and (found.groups is None or len(found.groups) == n_rows),
        "slicings": coded
        and len({each.name for each in found.slicings}) == len(found.slicings)
        and len(segments) == sum(len(each.segments) for each in found.slicings)
        and {len(each.code) for each in found.slicings} <= {n_rows},
        "whole": {*found.whole} == of_run,
        "whole_of": len(found.whole_of) == len(given["whole_of"])
        and {*found.whole_of} <= segments
        and all({*found.whole_of.get(segment, ())} == of_run for segment in members | {*found.whole_of}),
        "whole_users": len(found.whole_users) == len(given["whole_users"])
        and {*found.whole_users} == ({None, *found.whole_of} if of_run else set())
        and all({*users} == of_run for users in found.whole_users.values()),
        "sums": found.sums is None
        or (
            len(found.sums) == len(given["sums"])
            and members <= segments
            and None in found.sums
            and found.sums[None].queries == found.population.evaluated
            and all(each.fits(found.by_query, pooled) for each in found.sums.values())
        ),
    }


def _check_derived(found: Result, read: Mapping[str, Any]) -> None:
    """The numbers in the file are those of the values in it."""
    saved: list[tuple[Any, Any]] = [((name,), each) for name, each in read["numbers"].items()]
    saved += [((each["slice"], each["segment"], each["metric"]), each) for each in read["slices"]]
    here: list[tuple[Any, Any]] = [((name,), each) for name, each in found.summaries.items()]
    here += [((*where,), each) for *where, each in found.slice_summaries]
    if [where for where, _ in saved] != [where for where, _ in here] or list(read["definitions"]) != list(found):
        raise ValueError("its parts do not fit together: numbers")
    for (where, one), (_, other) in zip(saved, here, strict=True):
        for name, value in other._asdict().items():
            same = math.isclose(one[name], value, rel_tol=1e-9, abs_tol=1e-12)
            if not (same or (math.isnan(one[name]) and math.isnan(value))):
                raise ValueError(
                    f"the {name} of {where[-1]} is {one[name]} in it, and {value} by the values in it (saved by atkay "
                    f"{found.version}, read by {__version__}); evaluate again"
                )


def _sums(sums: Mapping[Segment, Sums]) -> list[dict[str, Any]]:
    """The sums of everybody, and of each segment."""
    found = []
    for segment, of_segment in sums.items():
        found.append({**_segment(segment), **of_segment.record()})
    return found


def _of_sums(records: tuple[dict[str, Any], ...] | None) -> dict[Segment, Sums] | None:
    if records is None:
        return None
    return {_segment_of(each): Sums(each["queries"], each["numbers"]) for each in records}


def _segment(segment: Segment) -> dict[str, Any]:
    """A segment by name; everybody is in no slice."""
    name, value = segment or (None, None)
    return {"slice": name, "segment": _text(value)}


def _segment_of(record: Mapping[str, Any]) -> Segment:
    if record["slice"] is None and record["segment"] is not None:
        raise ValueError(f"segment '{record['segment']}' is in no slice")
    return None if record["slice"] is None else (record["slice"], record["segment"])


def plain(record: dict[str, Any]) -> dict[str, Any]:
    """Numbers as JSON can hold them, NaN being null."""
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in record.items()}


def _text(segment: Any) -> str | None:
    return None if segment is None else str(segment)


def _listed(column: Floats) -> list[float | None]:
    return [None if math.isnan(value) else value for value in column.tolist()]


def _packed(ids: Any) -> dict[str, Any]:
    """Ids as JSON can hold them, and their type."""
    import polars as pl

    column = pl.Series(ids)
    dtype = column.dtype
    if dtype.is_temporal():
        values = column.to_physical().to_list()
    else:
        values = (column.bin.encode("hex") if dtype == pl.Binary else column).to_list()
    unit, zone = getattr(dtype, "time_unit", None), getattr(dtype, "time_zone", None)
    return {"type": str(dtype.base_type()), "unit": unit, "zone": zone, "values": values}


def _unpacked(packed: dict[str, Any]) -> pl.Series:
    import polars as pl

    dtype: Any = getattr(pl, packed["type"], None)
    is_known = isinstance(dtype, type) and issubclass(dtype, pl.DataType)
    if not is_known:
        raise TypeError("no such type")
    if dtype == pl.Binary:
        return pl.Series(packed["values"], dtype=pl.String).str.decode("hex")
    if dtype in (pl.Datetime, pl.Duration):
        dtype = dtype(packed["unit"]) if dtype == pl.Duration else dtype(packed["unit"], packed["zone"])
    if dtype.is_temporal():
        return pl.Series(packed["values"], dtype=pl.Int64).cast(pl.Int32 if dtype == pl.Date else pl.Int64).cast(dtype)
    return pl.Series(packed["values"], dtype=dtype)
