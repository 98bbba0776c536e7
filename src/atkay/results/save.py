"""Saving: a record as a JSON file with a checksum, and back; and what a result's file holds, field by field.

Nothing is executed, and nothing half right is read: whatever does not fit is refused.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import math
import os
import re
import zlib
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from atkay import __version__
from atkay.core.moments import Moments, Sums
from atkay.core.schema import (
    Form,
    built,
    codes,
    count,
    floats,
    listed,
    made,
    mapped,
    maybe,
    number,
    parse_json,
    record,
    text,
)
from atkay.core.types import Clusters, Slicing
from atkay.errors import OutputError, SourceError
from atkay.metrics.metric import Definition, Metric, RunMetric, is_pooled
from atkay.metrics.sampled import Sampled
from atkay.metrics.spec import parse
from atkay.protocol import Protocol
from atkay.results.intervals import RESAMPLED, IntervalMethod
from atkay.results.population import Population
from atkay.results.result import Result, Segment
from atkay.results.summary import RATIO_SIDES, Summary
from atkay.tables import FILTERS
from atkay.text.files import path_of, write_whole
from atkay.text.phrases import either
from atkay.text.sizes import size_in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    T = TypeVar("T")

FORMAT = 3
"""Raised with every change of what is saved."""

CHECKSUM = re.compile(rb'\{"checksum": "([0-9a-f]{64})", ')
"""What a file begins with. The checksum is that of the text without it: of "{" and all that follows here."""

BEGIN = b'{"checksum": "'
"""The first bytes of it."""

LARGEST_BYTES, LARGEST_RATIO = 1 << 30, 200
"""Bytes that a compressed file may unpack to, and how many times its size where that is more."""


class _OtherFile(ValueError):
    """A file that is something else than what is to be loaded; the message goes on after its name."""


def seal(kind: str, record: Mapping[str, Any]) -> bytes:
    """A record as JSON with its checksum; ``kind`` says what it is."""
    try:
        text = json.dumps({"format": f"atkay {kind} {FORMAT}", **record}, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise OutputError(f"cannot save a {kind} that contains infinity") from error
    content = text.encode(errors="backslashreplace")  # half of a surrogate pair, as JSON writes it
    return b'{"checksum": "%b", %b' % (hashlib.sha256(content).hexdigest().encode(), content[1:])


def unseal(kind: str, content: bytes) -> dict[str, Any]:
    """The record that was sealed, unchanged."""
    begin = CHECKSUM.match(content)
    if not begin:
        raise _OtherFile(f"is not a saved atkay {kind}")
    text = b"{" + content[begin.end() :].rstrip()
    if hashlib.sha256(text).hexdigest().encode() != begin[1]:
        raise ValueError("its checksum does not match: the file was changed after saving")
    record = parse_json(text)
    is_format = record.pop("format", None)
    other = re.fullmatch(r"atkay (\w+) \d+", str(is_format))
    if other and other[1] != kind:
        raise _OtherFile(f"is a saved {other[1]}, not a saved {kind}")
    if is_format != f"atkay {kind} {FORMAT}":
        raise ValueError(f"its format is {is_format!r}, but this version reads 'atkay {kind} {FORMAT}'")
    return dict(record)


def is_saved(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as one that was saved."""
    named = Path(path)
    try:
        if not named.is_file():  # a pipe can be read only once
            return False
        with gzip.open(named) if named.name.endswith(".gz") else named.open("rb") as file:
            return file.read(len(BEGIN)) == BEGIN
    except (OSError, EOFError, ValueError, zlib.error):
        return False


def save_record(path: str | os.PathLike[str], kind: str, record: Mapping[str, Any]) -> None:
    """Write a record, compressed where the name ends in ``.gz``; whole or not at all."""
    named, content = path_of(path), seal(kind, record)
    write_whole(named, gzip.compress(content, mtime=0) if named.name.endswith(".gz") else content)


def load_record(path: str | os.PathLike[str], kind: str, read: Callable[[dict[str, Any]], T]) -> T:
    """What ``read`` makes of a record that was saved."""
    named = path_of(path, SourceError)
    advice = f"Write one with {either(f'{kind}.save(path)', 'atkay evaluate --json FILE')}."
    try:
        return read(unseal(kind, _decompressed(named.read_bytes())))
    except _OtherFile as error:
        raise SourceError(f"'{path}' {error}. {advice}") from error
    except FileNotFoundError as error:
        raise SourceError(f"no file '{path}'") from error
    except (OSError, EOFError, zlib.error, ValueError, TypeError, MemoryError) as error:
        why = str(error).rstrip(".") or "it does not fit into memory"
        raise SourceError(f"cannot load '{path}' as a saved {kind}: {why}. {advice}") from error


def _decompressed(content: bytes) -> bytes:
    if content[:2] != b"\x1f\x8b":
        return content
    most = max(LARGEST_BYTES, LARGEST_RATIO * len(content))
    unpacked = gzip.GzipFile(fileobj=io.BytesIO(content)).read(most + 1)
    if len(unpacked) > most:
        raise ValueError(
            f"its {size_in_words(len(content))} unpack to more than {size_in_words(most)}; if you trust the "
            f"file, decompress it first"
        )
    return unpacked


def save(result: Result, path: Path) -> None:
    """Write a result, compressed where the name ends in ``.gz``; whole or not at all."""
    sources = {name: _seen_from(path, source) for name, source in result.sources.items()}
    save_record(path, "result", _FILE.write({**_content(result), "sources": sources}))


def _seen_from(path: Path, source: str) -> str:
    """The path of a file, as seen from the folder of a result: both may move together."""
    try:
        return Path(os.path.relpath(source, Path(path).absolute().parent)).as_posix()
    except ValueError:  # another drive
        return source


def load(path: Path) -> Result:
    """Read a result that was saved before."""
    return load_record(path, "result", _result)


def _metric(value: Any) -> Metric:
    """A metric by its canonical name."""
    metric = parse(text(value))
    if str(metric) != value:
        raise ValueError(f"'{value}' is written '{metric}'")
    return metric


def _ids(packed: Any) -> pl.Series:
    """Ids of one type, none of them null."""
    import polars as pl

    parts = _PACKED(packed)
    try:
        ids = _unpacked(parts)
        again = _packed(ids)
        ids.to_list()  # a time that Python cannot hold
    except (TypeError, LookupError, OverflowError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ValueError(f"cannot read ids of type {parts['type']}: {error}") from error
    same_types = set(map(type, again["values"])) == set(map(type, parts["values"]))
    if again != parts or not same_types or ids.null_count():
        raise ValueError(f"cannot read ids of type {parts['type']}")
    return ids


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


def _text(segment: Any) -> str | None:
    return None if segment is None else str(segment)


metric_spec = Form(_metric, str)
_SUMMARY = {
    **dict.fromkeys(("mean", "low", "high", "deviation"), number),
    **dict.fromkeys(("users", "undefined"), count),
}
summary = built(Summary, _SUMMARY)
_VALUES = listed(lambda value: value)
_PACKED = record({"type": text, "unit": maybe(text), "zone": maybe(text), "values": lambda value: [*_VALUES(value)]})
_SEGMENT = {"slice": text, "segment": maybe(text)}
_ANY_SEGMENT = {"slice": maybe(text), "segment": maybe(text)}
"""Or all users."""

_PROTOCOL = made(Protocol, **dict.fromkeys(FILTERS, maybe(text)))

FIELDS = {
    "atkay": text,
    "fingerprint": mapped(text),
    "sources": mapped(text),
    "metrics": listed(metric_spec),
    "numbers": mapped(summary),
    "definitions": mapped(built(Definition, {"words": text, "formula": text})),
    "protocol": _PROTOCOL,
    "apart": mapped(_PROTOCOL),
    "population": made(Population, **{each.name: count for each in fields(Population)}),
    "columns": mapped(mapped(text)),
    "slices": listed(record({**_SEGMENT, "metric": text, **_SUMMARY})),
    "dialect": maybe(text),
    "names": mapped(Form(lambda value: str(_metric(value)))),
    "engine": maybe(text),
    "readings": listed(text),
    "sampled": maybe(made(Sampled)),
    "interval": made(IntervalMethod),
    "whole": mapped(number),
    "whole_of": listed(record({**_SEGMENT, "numbers": mapped(number)})),
    "whole_users": listed(record({**_ANY_SEGMENT, "users": mapped(count)})),
    "per_query": record(
        {
            "ids": mapped(Form(_ids, _packed)),
            "values": mapped(floats),
            "ratios": mapped(record(dict.fromkeys(RATIO_SIDES, floats))),
            "groups": maybe(codes),
            "weights": maybe(floats),
            "clusters": maybe(built(Clusters, {"name": text, "code": codes})),
            "slicings": listed(built(Slicing, {"name": text, "segments": listed(maybe(text)), "code": codes})),
        }
    ),
    "sums": maybe(
        listed(record({**_ANY_SEGMENT, "queries": count, "numbers": mapped(Form(Moments.of_record, Moments.record))}))
    ),
}
"""The file, field by field. What follows from other fields is there for those who read it without atkay."""

_FILE = record(FIELDS)

_ATTRIBUTES = (
    "fingerprint",
    "sources",
    "metrics",
    "protocol",
    "population",
    "columns",
    "dialect",
    "names",
    "apart",
    "engine",
    "readings",
    "sampled",
    "interval",
    "whole",
)
"""The fields that a result has under the same name."""


def _content(result: Result) -> dict[str, Any]:
    """The fields of the file, as a result has them."""
    return {
        **{name: getattr(result, name) for name in _ATTRIBUTES},
        "atkay": result.version,
        "numbers": result.summaries,
        "definitions": result.definitions,
        "slices": [
            {"slice": name, "segment": segment, "metric": metric, **numbers._asdict()}
            for name, segment, metric, numbers in result.slice_summaries
        ],
        "whole_of": [{**_segment(segment), "numbers": numbers} for segment, numbers in result.whole_of.items()],
        "whole_users": [{**_segment(segment), "users": users} for segment, users in result.whole_users.items()],
        "per_query": {
            "ids": result.ids,
            "values": dict(zip(result.by_query, result.query_values.T, strict=True)),
            "ratios": {name: dict(zip(RATIO_SIDES, sides, strict=True)) for name, sides in result.ratios.items()},
            "groups": result.groups,
            "weights": result.weights,
            "clusters": result.clusters,
            "slicings": [Slicing(each.name, tuple(map(_text, each.segments)), each.code) for each in result.slicings],
        },
        "sums": None
        if result.sums is None
        else [{**_segment(segment), **vars(sums)} for segment, sums in result.sums.items()],
    }


def _result(content: dict[str, Any]) -> Result:
    read = _FILE(content)
    rows, sums = read["per_query"], read["sums"]
    columns = list(rows["values"].values())
    n_rows = 0 if sums is not None else read["population"].evaluated
    result = Result(
        **{name: read[name] for name in _ATTRIBUTES},
        version=read["atkay"],
        query_values=np.array(columns).T if {*map(len, columns)} == {n_rows} else np.empty((n_rows, 0)),
        ids={name: column.alias(name) for name, column in rows["ids"].items()},
        ratios={name: tuple(ratio[side] for side in RATIO_SIDES) for name, ratio in rows["ratios"].items()},
        groups=rows["groups"],
        weights=rows["weights"],
        clusters=rows["clusters"],
        slicings=rows["slicings"],
        whole_of={(each["slice"], each["segment"]): each["numbers"] for each in read["whole_of"]},
        whole_users={_segment_of(each): each["users"] for each in read["whole_users"]},
        sums=None if sums is None else {_segment_of(each): Sums(each["queries"], each["numbers"]) for each in sums},
    )
    given = {"values": list(rows["values"])} | {name: read[name] for name in ("whole_of", "whole_users", "sums")}
    check_fit(_fitting(result, given, n_rows))
    _check_derived(result, read)
    return result


def check_fit(fits: Mapping[str, bool]) -> None:
    """Refuse a file of which a part does not fit the others."""
    if misfits := [name for name, does_fit in fits.items() if not does_fit]:
        raise ValueError(f"its parts are inconsistent: {', '.join(misfits)}")


def _fitting(result: Result, given: Mapping[str, Any], n_rows: int) -> dict[str, bool]:
    """Whether each part fits the others; ``given`` shows what a dict hides: order and duplicates."""
    single = [one for metric in result.metrics for one in metric.split()]
    names, of_run = [str(one) for one in single], {str(one) for one in single if isinstance(one, RunMetric)}
    pooled = {str(one) for one in single if is_pooled(one)}
    segments = {(each.name, segment) for each in result.slicings for segment in each.segments}
    coded = all(each.code.max(initial=-1) < len(each.segments) for each in result.slicings)
    if result.sums is not None:
        members: set[Any] = {*result.sums} - {None}
    else:
        codes_of = ((each, code) for each in result.slicings if coded for code in np.unique(each.code))
        members = {(each.name, each.segments[code]) for each, code in codes_of}
    sides = [side for ratio in result.ratios.values() for side in ratio]
    ids = list(result.ids.values())
    return {
        "metrics": 0 < len(names) == len({*names}),
        "names": all(str(one) in names for spec in result.names.values() for one in parse(spec).split()),
        "apart": {*result.apart} <= {*names} and result.protocol not in result.apart.values(),
        "population": result.population.evaluated > 0,
        "values": given["values"] == result.by_query and result.query_values.shape == (n_rows, len(result.by_query)),
        "ratios": {*result.ratios} == (pooled if result.sums is None else {*()}) and {*map(len, sides)} <= {n_rows},
        "ids": {*map(len, ids)} == {n_rows}
        and not {*result.ids} & {*names}
        and len(set(zip(*(column.to_list() for column in ids), strict=True))) == n_rows,  # without Polars' threads
        "groups": (result.groups is None) == (not result.protocol.groups or result.sums is not None)
        and (result.groups is None or len(result.groups) == n_rows),
        "weights": result.weights is None or (len(result.weights) == n_rows and not (result.weights < 0).any()),
        "clusters": result.clusters is None or len(result.clusters.code) == n_rows,
        "interval": result.sums is None or result.interval.name not in RESAMPLED,
        "slicings": coded
        and len({each.name for each in result.slicings}) == len(result.slicings)
        and len(segments) == sum(len(each.segments) for each in result.slicings)
        and {len(each.code) for each in result.slicings} <= {n_rows},
        "whole": {*result.whole} == of_run,
        "whole_of": len(result.whole_of) == len(given["whole_of"])
        and {*result.whole_of} <= segments
        and all({*result.whole_of.get(segment, ())} == of_run for segment in members | {*result.whole_of}),
        "whole_users": len(result.whole_users) == len(given["whole_users"])
        and {*result.whole_users} == ({None, *result.whole_of} if of_run else set())
        and all({*users} == of_run for users in result.whole_users.values()),
        "sums": result.sums is None
        or (
            len(result.sums) == len(given["sums"])
            and members <= segments
            and None in result.sums
            and result.sums[None].queries == result.population.evaluated
            and any(all(each.fits(result.by_query, of) for each in result.sums.values()) for of in (pooled, {*names}))
        ),
    }


def _check_derived(result: Result, read: Mapping[str, Any]) -> None:
    """The numbers in the file are those of the values in it."""
    saved: list[tuple[Any, Any]] = [((name,), each._asdict()) for name, each in read["numbers"].items()]
    saved += [((each["slice"], each["segment"], each["metric"]), each) for each in read["slices"]]
    here: list[tuple[Any, Any]] = [((name,), each) for name, each in result.summaries.items()]
    here += [((*where,), each) for *where, each in result.slice_summaries]
    if [where for where, _ in saved] != [where for where, _ in here] or list(read["definitions"]) != list(result):
        raise ValueError("its parts are inconsistent: numbers")
    for (where, one), (_, other) in zip(saved, here, strict=True):
        for name, value in other._asdict().items():
            same = math.isclose(one[name], value, rel_tol=1e-9, abs_tol=1e-12)
            if not (same or (math.isnan(one[name]) and math.isnan(value))):
                raise ValueError(
                    f"the {name} of {where[-1]} is {one[name]} in it, and {value} by the values in it (saved by atkay "
                    f"{result.version}, read by {__version__}); evaluate again"
                )


def _segment(segment: Segment) -> dict[str, Any]:
    """A segment by name; all users are no slice."""
    name, value = segment or (None, None)
    return {"slice": name, "segment": _text(value)}


def _segment_of(record: Mapping[str, Any]) -> Segment:
    if record["slice"] is None and record["segment"] is not None:
        raise ValueError(f"segment '{record['segment']}' does not belong to a slice")
    return None if record["slice"] is None else (record["slice"], record["segment"])
