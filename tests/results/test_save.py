"""Saved results, comparisons and streams: whatever was changed is refused, or loads to something that works."""

from __future__ import annotations

import contextlib
import copy
import functools
import gzip
import json
import math
import random
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import atkay
from atkay.errors import AtkayError, OutputError, SampledWarning, SourceError
from atkay.reporting.data import page_data
from atkay.reporting.view import View
from atkay.results import save
from atkay.results.packing import pack, unpack
from atkay.results.save import seal, unseal

RECS = {"ann": [3, 1, 2], "bob": [2, 4], "eve": [1, 4], "dan": [5], "kim": [4, 2]}
OTHER = {"ann": [1, 3, 2], "bob": [4, 2], "eve": [4, 1], "dan": [5], "kim": [2, 4]}
TRUTH = {"ann": [1, 2], "bob": [4], "eve": [1], "dan": [1], "kim": [2]}
AGES = {"ann": "old", "bob": "old", "eve": "young", "dan": "young"}
CATALOG = [1, 2, 3, 4, 5]
METRICS = ["ndcg@1,2", "mrr", "precision(average=pooled)@2", "coverage@2"]


def in_groups() -> atkay.Result:
    rows = {"user": ["a", "a", "b"], "day": pl.Series([1, 2, 1]).cast(pl.Date), "item": [1, 2, 3]}
    columns = atkay.Columns(user=("user", "day"))
    recs = pl.DataFrame({**rows, "item": [1, 3, 3]})
    return atkay.evaluate(recs, pl.DataFrame(rows), ["mrr", "p@1"], columns=columns, average_over="user")


def estimated() -> atkay.Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SampledWarning)
        sampled = atkay.Sampled(catalog_size=101, negatives=2, estimator="rank")
        return atkay.evaluate({1: [0, 1, 2], 2: [1, 0, 2]}, {1: [0], 2: [0]}, "mrr", sampled=sampled)


def a_stream(**beside: Any) -> atkay.Stream:
    stream = atkay.Stream(METRICS, n_items=6, **beside)
    stream.update(items=[[3, 1], [2, 4]], targets=[[1, -1], [2, 4]])
    return stream


RESULTS: dict[str, Callable[[], atkay.Result]] = {
    "slices": lambda: atkay.evaluate(RECS, TRUTH, METRICS, slices=AGES, catalog=CATALOG, exclude={"ann": [3]}),
    "groups": in_groups,
    "sampled": estimated,
    "dialect": lambda: atkay.evaluate(RECS, TRUTH, ["ndcg_cut_5", "P_5"], dialect="trec_eval"),
    "sums": lambda: a_stream().compute(),
}


def a_comparison() -> atkay.Comparison:
    return atkay.compare(
        {"old": RECS, "new": OTHER},
        TRUTH,
        ["mrr", "ndcg@2", "coverage@2"],
        baseline="old",
        test=("t", "permutation"),
        slices=AGES,
        catalog=CATALOG,
        min_effect={"mrr": 0.1},
        permutations=100,
    )


def everything(result: atkay.Result | atkay.Comparison) -> None:
    """Whatever can be shown of it."""
    shown = [repr(result), result._repr_html_(), result.to_markdown(), result.to_latex(), str(result.to_pandas())]
    assert all(isinstance(each, str) for each in shown)
    json.dumps(page_data(View.of(result)))
    assert result.table.height
    assert result.slices.height >= 0
    if isinstance(result, atkay.Comparison):
        result.to_json()
        assert result.mean_table.height
        assert result.slice_mean_table.height >= 0
        return
    assert result.definitions
    assert result.gaps.height >= 0
    assert result.to_dict(names="plain", intervals="ends")
    if result.sums is None:
        assert result.per_query.height == result.population.evaluated
        json.dumps(page_data(View.of(atkay.compare({"one": result, "other": result}, permutations=10))))


STRANGE: list[Any] = [
    None,
    True,
    -1,
    0,
    7,
    0.5,
    -0.5,
    1e308,
    10**400,
    2**62,
    "",
    "x",
    "1/0",
    [],
    {},
    [[]],
    [None],
    {"x": 1},
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a record, from the top."""
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inside:
        yield from places(each, (*path, name))


def changed(record: Any, path: tuple[Any, ...], how: Any) -> Any:
    """The record with one place changed, removed, or with something added to it."""
    record = copy.deepcopy(record)
    inside = record
    for name in path[:-1]:
        inside = inside[name]
    if how == "remove":
        del inside[path[-1]]
    elif how == "add":
        here = inside[path[-1]]
        here.append(here[-1] if here else 0) if isinstance(here, list) else here.update(moon="full")
    elif how == "negate":
        inside[path[-1]] = -inside[path[-1]]
    else:
        inside[path[-1]] = how
    return record


def changes(record: Any, chance: float, seed: int = 7) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """Many records with one change each; ``chance`` is the share of all of them."""
    draw = random.Random(seed)
    for path in places(record):
        value = record
        for name in path:
            value = value[name]
        ways = ["remove", *(["add"] if isinstance(value, dict | list) else []), *STRANGE]
        ways += ["negate"] if isinstance(value, int | float) else []
        for how in ways:
            same = type(how) is type(value) or {type(how), type(value)} == {int, float}
            if draw.random() < chance and not (same and how == value):
                made = changed(record, path, how)
                if json.dumps(made) != json.dumps(record):
                    yield path, how, made


def assert_survives(load: Callable[[], Any], use: Callable[[Any], None], where: object) -> bool:
    """It is refused by an error of ours, or loads and works; tells whether it loads."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            result = load()
    except AtkayError:
        return False
    except Exception as error:  # whatever else it is
        raise AssertionError(f"{where}: loading ends in {error!r}") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            use(result)
    except Exception as error:
        raise AssertionError(f"{where}: what was loaded ends in {error!r}") from error
    return True


CHANCE = 0.03
"""The share of changes that are tried; 1.0 tries all of them in a few minutes."""


@pytest.mark.parametrize("name", RESULTS)
def test_changed_results(name: str, tmp_path: Path) -> None:
    path, result = tmp_path / "r.json", RESULTS[name]()
    result.save(path)
    record = unseal("result", path.read_bytes())
    everything(atkay.Result.load(path))
    for where, how, made in changes(record, CHANCE):
        path.write_bytes(seal("result", made))
        if assert_survives(lambda: atkay.Result.load(path), everything, (where, how)):
            assert where[0] in FREE, (where, how)


FREE = {
    "atkay",
    "fingerprint",
    "sources",
    "columns",
    "dialect",
    "engine",
    "definitions",
    "protocol",
    "population",
    "per_query",
    "names",
    "sampled",
    "interval",
}
"""Where another value is as good: names, words, ids, and values from which the same numbers follow."""


def test_a_changed_value_is_refused(tmp_path: Path) -> None:
    # Even with its checksum made anew: mrr of two users, 1 and 1/2, has the mean 3/4 and not that of 1 and 1/4.
    path = tmp_path / "r.json"
    atkay.evaluate({1: [1], 2: [2, 1]}, {1: [1], 2: [1]}, "mrr").save(path)
    record = unseal("result", path.read_bytes())
    record["per_query"]["values"]["mrr"][1] = 0.25
    path.write_bytes(seal("result", record))
    with pytest.raises(SourceError, match=r"the mean of mrr is 0.75 in it, and 0.625 by the values in it"):
        atkay.Result.load(path)


def test_changed_comparisons(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    a_comparison().save(path)
    record = unseal("comparison", path.read_bytes())
    everything(atkay.Comparison.load(path))
    for where, how, made in changes(record, CHANCE / 4):
        path.write_bytes(seal("comparison", made))
        assert_survives(lambda: atkay.Comparison.load(path), everything, (where, how))


def test_changed_streams() -> None:
    header, states = unpack(a_stream().to_bytes())
    everything(atkay.Stream.from_bytes(pack(header, states)).compute())
    for where, how, made in changes(header, 0.1):
        packed = pack(made, states)
        assert_survives(
            functools.partial(atkay.Stream.from_bytes, packed), lambda s: everything(s.compute()), (where, how)
        )
    for state in (states[0] - 9, states[0][:, :3], np.zeros((1, 2, 3), np.int64), np.full(states[0].shape, 2**62)):
        packed = pack(header, [state])
        assert_survives(functools.partial(atkay.Stream.from_bytes, packed), lambda s: everything(s.compute()), state)


@pytest.mark.parametrize("name", ["r.json", "r.json.gz"])
def test_every_byte_counts(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    atkay.evaluate({1: [1]}, {1: [1]}, "mrr").save(path)
    content = path.read_bytes()
    text = gzip.decompress(content) if name.endswith(".gz") else content
    step = max(1, len(text) // 200)
    for at in range(0, len(text), step):
        made = text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :]
        path.write_bytes(gzip.compress(made) if name.endswith(".gz") else made)
        with pytest.raises(SourceError, match=r"checksum|format|is not a saved atkay"):
            atkay.Result.load(path)
    for end in range(0, len(content), step):
        path.write_bytes(content[:end])
        with pytest.raises(SourceError, match=r"cannot load|is not a saved atkay"):
            atkay.Result.load(path)


def test_what_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    RESULTS["slices"]().save(path)
    record = unseal("result", path.read_bytes())

    def refused(content: bytes, message: str, kind: Any = atkay.Result) -> None:
        path.write_bytes(content)
        with pytest.raises(SourceError, match=message):
            kind.load(path)

    refused(
        json.dumps(record).encode(),
        r"^'.*r.json' is not a saved atkay result. Write one with result.save",
    )
    refused(
        seal("result", record).replace(b"0.5", b"0.6", 1), "checksum does not match: the file was changed after saving"
    )
    refused(seal("comparison", record), r"^'.*' is a saved comparison, not a saved result. Write one with result.")
    refused(seal("result", record), r"is a saved result, not a saved comparison. Write.* comparison", atkay.Comparison)
    later = json.dumps({"format": "atkay result 99", **record}).encode()
    refused(_sealed(later), "its format is 'atkay result 99', but this version reads 'atkay result 3'")
    refused(_sealed(b'{"format": "atkay result 3", "a": %b}' % (b"[" * 100_000 + b"]" * 100_000)), "nested too deeply")
    refused(_sealed(b'{"format": "atkay result 3", "a": 1, "a": 2}'), "'a' appears twice")
    refused(_sealed(b'{"format": "atkay result 3", "a": NaN}'), "must be a number, got 'NaN'")
    refused(_sealed(b'{"format": "atkay result 3", "a": 1%b}' % (b"0" * 5000)), "cannot load")
    refused(seal("result", {**record, "moon": 1}), "'moon' is not a known field")
    refused(seal("result", {**record, "dialect": 5}), "dialect: must be text, got 5")
    refused(
        seal("result", {**record, "population": {**record["population"], "hits": -1}}),
        "population: hits: must be a non-negative integer, got -1",
    )
    record["per_query"]["slicings"][0]["code"][0] = 9
    refused(seal("result", record), "its parts are inconsistent: slicings")


def _sealed(text: bytes) -> bytes:
    """A text with a right checksum."""
    import hashlib

    return b'{"checksum": "%b", %b' % (hashlib.sha256(text).hexdigest().encode(), text[1:])


def test_deeply_nested_bytes_of_a_stream() -> None:
    import zlib

    text = b'[{"a": %b}, []]' % (b"[" * 100_000 + b"]" * 100_000)
    content = len(text).to_bytes(8, "little") + text
    packed = b"atkay1\r\n" + len(content).to_bytes(8, "little") + zlib.crc32(content).to_bytes(8, "little") + content
    with pytest.raises(SourceError, match="nested too deeply"):
        atkay.Stream.from_bytes(packed)


@pytest.mark.parametrize("counted", [True, False])
def test_many_items_take_no_memory(counted: bool) -> None:
    stream = a_stream() if counted else atkay.Stream(METRICS, n_items=6)
    header, states = unpack(stream.to_bytes())
    message = "n_items is 2,000,000,000, but coverage@2 was counted for fewer items"
    tracemalloc.start()
    try:
        with pytest.raises(SourceError, match=message) if counted else contextlib.nullcontext():
            atkay.Stream.from_bytes(pack({**header, "n_items": 2 * 10**9}, states))
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 10_000_000


def test_what_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(save, "LARGEST_BYTES", 1 << 20)
    path = tmp_path / "r.json.gz"
    path.write_bytes(gzip.compress(b" " * (1 << 21)))
    with pytest.raises(SourceError, match=r"its 2.\d* KB unpack to more than 1.05 MB"):
        atkay.Result.load(path)


def test_a_line_break_at_the_end_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    result = RESULTS["slices"]()
    result.save(path)
    path.write_bytes(path.read_bytes() + b"\r\n")  # as editors and version control leave it
    assert repr(atkay.Result.load(path)) == repr(result)


def test_a_compressed_comparison(tmp_path: Path) -> None:
    comparison = a_comparison()
    comparison.save(tmp_path / "c.json.gz")
    assert (tmp_path / "c.json.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert atkay.Comparison.load(tmp_path / "c.json.gz").to_dict() == comparison.to_dict()


def test_infinite_numbers_are_not_saved(tmp_path: Path) -> None:
    import dataclasses

    result = dataclasses.replace(RESULTS["slices"](), whole={"coverage@2": math.inf})
    with pytest.raises(OutputError, match="cannot save a result that contains infinity"):
        result.save(tmp_path / "r.json")
    assert not list(tmp_path.iterdir())
