"""Input kinds x faults: the right number or our own error, never another exception, another number, or a hang.

What is right is decided by the oracle over the rows as the file or the object says them literally. Where a fault
leaves several readings, an error is always right and a silent number is not.
"""

from __future__ import annotations

import copy
import csv
import dataclasses
import gzip
import io
import json
import math
import re
import signal
import string
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import assume, example, given
from hypothesis import strategies as st
from oracle import WORDS, Data, Refused, Rules, judge, number

import atkay
from atkay import Columns, Protocol
from atkay.errors import AtkayError, AtkayWarning, TiesWarning
from atkay.results.packing import pack, unpack
from scenarios import examples, words_of

SPECS = ["ndcg@3", "map(per=hits)@4", "mrr", "recall(average=pooled)@2", "precision@2", "hit(count=share)"]
METRICS = [atkay.parse(spec) for spec in SPECS]
SECONDS = 60
"""A small evaluation that takes longer hangs."""

Row = tuple[Any, Any, Any]
Rows = list[Row]


@contextmanager
def watched() -> Iterator[None]:
    """Nothing but our own errors and warnings leaves, and it comes to an end."""

    def hangs(*_: object) -> None:
        raise TimeoutError(f"not done within {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AtkayWarning)  # any other is an error, as everywhere in the tests
            yield
    except (AtkayError, AssertionError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a panic of Polars is no Exception
        raise AssertionError(f"{type(error).__module__}.{type(error).__qualname__}: {error}") from error
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def attempt(call: Callable[[], Any]) -> Any:
    """What comes out, None where it is refused; a refusal says why."""
    try:
        with watched():
            return call()
    except AtkayError as error:
        if not str(error).strip():
            raise AssertionError("an error without a word") from error
        return None


def outcome(recs: Any, truth: Any, **given: Any) -> tuple[dict[str, float] | None, list[type[Warning]]]:
    """The numbers, None where they are refused, and what was warned of."""

    def call() -> tuple[dict[str, float], list[type[Warning]]]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            numbers = dict(atkay.evaluate(recs, truth, METRICS, **given))
        kinds = [each.category for each in caught]
        assert all(issubclass(each, AtkayWarning) for each in kinds), kinds
        return numbers, [each for each in kinds if each is not TiesWarning]

    return attempt(call) or (None, [])


def by_the_book(recs: Rows, truth: Rows, *, scored: bool = True, duplicates: str = "error") -> dict[str, float] | None:
    """The oracle's numbers, None where it refuses."""
    data, rules = Data(recs, truth, scored=scored), Rules(duplicates=duplicates)
    try:
        queries = judge(data, rules).queries
    except Refused:
        return None
    return {
        str(one): number(queries, one.name, words_of(one), one.k, data, rules).mean  # type: ignore[arg-type]  # one cutoff
        for one in METRICS
    }


def same(numbers: dict[str, float] | None, expected: dict[str, float] | None) -> bool:
    return numbers is not None and expected is not None and numbers == pytest.approx(expected, abs=1e-12, nan_ok=True)


@st.composite
def small(draw: st.DrawFn) -> tuple[Rows, Rows]:
    """Lists, each from the best to the worst, and graded truth; users and items are numbered from 0."""
    recs, truth = [], []
    for user in range(draw(st.integers(1, 4))):
        items = draw(st.lists(st.integers(0, 9), max_size=4, unique=True))
        scores = sorted(draw(st.lists(st.integers(-3, 6), min_size=4, max_size=4)), reverse=True)
        recs += [(user, item, score / 4) for item, score in zip(items, scores, strict=False)]
        graded = draw(st.dictionaries(st.integers(0, 9), st.integers(0, 3), max_size=4))
        truth += [(user, item, float(grade)) for item, grade in graded.items()]
    last = max((user for user, *_ in [*recs, *truth]), default=0) + 1
    return [*recs, (last, 3, 0.5), (last, 4, 0.25)], [*truth, (last, 4, 1.0)]


# The same data in every form.


def frame(rows: Rows, value: str, ids: Any = pl.Int64) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"user": ids, "item": ids, value: pl.Float64}, orient="row")


def as_pandas(rows: Rows, value: str) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["user", "item", value])


def nested(rows: Rows, value: str) -> dict[Any, dict[Any, float]]:
    return {user: {item: each for who, item, each in rows if who == user} for user, *_ in rows}


def plain_lists(rows: Rows, value: str) -> dict[Any, list[Any]]:
    return {user: [item for who, item, _ in rows if who == user] for user, *_ in rows}


def sparse(rows: Rows, value: str) -> sp.csr_matrix:
    users, items, values = zip(*rows, strict=True)
    return sp.csr_matrix((values, (users, items)), shape=(6, 10))


def padded(rows: Rows, value: str) -> np.ndarray[Any, Any]:
    lists = plain_lists(rows, value)
    out = np.full((6, max(map(len, lists.values()))), -1)
    for user, items in lists.items():
        out[user, : len(items)] = items
    return out


def ranked(rows: Rows, value: str) -> pl.DataFrame:
    table = frame(rows, value)
    return (
        table.with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
        .drop(value)
        .sample(fraction=1, shuffle=True, seed=4)
    )


OBJECTS: dict[str, Callable[[Rows, str], Any]] = {
    "polars": frame,
    "polars lazy": lambda rows, value: frame(rows, value).lazy(),
    "polars text": lambda rows, value: frame(rows, value).with_columns(pl.col("user", "item").cast(pl.String)),
    "polars uint64": lambda rows, value: frame(rows, value, pl.UInt64),
    "polars categories": lambda rows, value: frame(rows, value).with_columns(
        pl.col("user", "item").cast(pl.String).cast(pl.Categorical)
    ),
    "pandas": as_pandas,
    "pandas objects": lambda rows, value: as_pandas(rows, value).astype({"user": object, "item": object}),
    "pandas indexed": lambda rows, value: as_pandas(rows, value).set_index(pd.Index(range(7, 7 + len(rows)))),
    "arrow": lambda rows, value: frame(rows, value).to_arrow(),
    "arrow batch": lambda rows, value: pa.RecordBatch.from_pandas(as_pandas(rows, value)),
    "arrow dictionary": lambda rows, value: pa.table(
        {
            "user": pa.array([f"u{user}" for user, *_ in rows]).dictionary_encode(),
            "item": pa.array([f"i{item}" for _, item, _ in rows]).dictionary_encode(),
            value: [each for *_, each in rows],
        }
    ),
    "dict of dicts": nested,
    "sparse": sparse,
}
UNSCORED: dict[str, Callable[[Rows, str], Any]] = {
    "dict of lists": plain_lists,
    "dict of tuples": lambda rows, value: {user: tuple(items) for user, items in plain_lists(rows, value).items()},
    "dict of arrays": lambda rows, value: {user: np.array(items) for user, items in plain_lists(rows, value).items()},
    "array": padded,
    "array of floats": lambda rows, value: np.where(padded(rows, value) < 0, np.nan, padded(rows, value)),
    "list of lists": lambda rows, value: [[item for item in row if item >= 0] for row in padded(rows, value).tolist()],
    "ranks": ranked,
    "ranks as floats": lambda rows, value: ranked(rows, value).cast({"rank": pl.Float64}),
    "polars without scores": lambda rows, value: frame(rows, value).drop(value),
}


def text_of(rows: Rows, value: str, separator: str = ",", end: str = "\n") -> str:
    lines = [separator.join(["user", "item", value]), *(separator.join(map(str, row)) for row in rows)]
    return end.join(lines) + end


def quoted(rows: Rows, value: str) -> str:
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in [("user", "item", value), *rows]) + "\n"


def more_columns(rows: Rows, value: str) -> str:
    header = f"note,{value},item,when,user\n"
    return header + "".join(f'"a, b",{each},{item},2026-01-0{user + 1},{user}\n' for user, item, each in rows)


def run_or_qrels(rows: Rows, value: str) -> str:
    if value == "score":
        return "".join(f"{user} Q0 {item} {n} {score} tag\n" for n, (user, item, score) in enumerate(rows))
    return "".join(f"{user} 0 {item} {grade:g}\n" for user, item, grade in rows)


def json_lines(rows: Rows, value: str) -> str:
    return "".join(json.dumps({"user": user, "item": item, value: each}) + "\n" for user, item, each in rows)


FILES: dict[str, Callable[[Rows, str], bytes | str]] = {
    "a.csv": text_of,
    "semicolons.csv": lambda rows, value: text_of(rows, value, ";"),
    "bom.csv": lambda rows, value: "\ufeff" + text_of(rows, value),
    "crlf.csv": lambda rows, value: text_of(rows, value, end="\r\n"),
    "unended.csv": lambda rows, value: text_of(rows, value).rstrip("\n"),
    "blank.csv": lambda rows, value: text_of(rows, value).replace("\n", "\n\n"),
    "quoted.csv": quoted,
    "more.csv": more_columns,
    "a.csv.gz": lambda rows, value: gzip.compress(text_of(rows, value).encode()),
    "a.tsv": lambda rows, value: text_of(rows, value, "\t"),
    "a.jsonl": json_lines,
    "crlf.jsonl": lambda rows, value: json_lines(rows, value).replace("\n", "\r\n"),
    "a.run": run_or_qrels,
    "bom.run": lambda rows, value: "\ufeff" + run_or_qrels(rows, value),
    "crlf.run": lambda rows, value: run_or_qrels(rows, value).replace("\n", "\r\n"),
    "tabs.run": lambda rows, value: run_or_qrels(rows, value).replace(" ", "\t"),
    "a.parquet": lambda rows, value: written(frame(rows, value).write_parquet),
    "a.arrow": lambda rows, value: written(frame(rows, value).write_ipc),
    "stream.arrow": lambda rows, value: written(frame(rows, value).write_ipc_stream),
}


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def put(folder: Path, name: str, rows: Rows, value: str) -> Path:
    """A file of these rows; a run and a qrels file have the suffix that says so."""
    path = folder / f"{value}-{name if value == 'score' else name.replace('.run', '.qrels')}"
    content = FILES[name](rows, value)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def in_folder(folder: Path, name: str, rows: Rows, value: str) -> Path:
    """A folder of two files."""
    inside = folder / f"{value} in parts"
    inside.mkdir()
    middle = max(1, len(rows) // 2)
    for part, part_rows in enumerate((rows[:middle], rows[middle:])):
        if part_rows:
            put(inside, name, part_rows, value).rename(inside / f"{part}-{name}")
    return inside


@examples(60, 3_000)
@given(data=small(), recs_kind=st.sampled_from([*OBJECTS, *UNSCORED]), truth_kind=st.sampled_from([*OBJECTS]))
def test_every_object(data: tuple[Rows, Rows], recs_kind: str, truth_kind: str) -> None:
    recs, truth = data
    strange = {
        kind for kind in (recs_kind, truth_kind) if "text" in kind or "categories" in kind or "dictionary" in kind
    }
    if strange:  # ids of another type or name match those of the same kind alone
        recs_kind = truth_kind = strange.pop()
    made = (OBJECTS | UNSCORED)[recs_kind](recs, "score"), OBJECTS[truth_kind](truth, "relevance")
    numbers, warned = outcome(*made)
    if "sparse" in recs_kind:  # equal scores then stand in the order of the columns
        recs = sorted(recs, key=lambda row: row[:2])
    assert same(numbers, by_the_book(recs, truth, scored=recs_kind in OBJECTS)), (numbers, recs_kind, truth_kind)
    assert not warned


@examples(60, 3_000)
@given(
    data=small(),
    recs_kind=st.sampled_from([*FILES]),
    truth_kind=st.sampled_from([*FILES]),
    folder=st.booleans(),
    memory=st.sampled_from([None, 2_000]),
)
def test_every_file(
    tmp_path_factory: pytest.TempPathFactory,
    data: tuple[Rows, Rows],
    recs_kind: str,
    truth_kind: str,
    folder: bool,
    memory: int | None,
) -> None:
    recs, truth = data
    place = tmp_path_factory.mktemp("files")
    write = in_folder if folder and not recs_kind.startswith(("bom", "stream")) else put
    made = write(place, recs_kind, recs, "score"), put(place, truth_kind, truth, "relevance")
    numbers, warned = outcome(*made, memory=memory)
    assert same(numbers, by_the_book(recs, truth)), (numbers, by_the_book(recs, truth))
    assert not warned


# Faults in values: such a table has no number, or the one that is said.

Faulty = tuple[Rows, Rows]


def cell(rows: Rows, at: int, column: int, value: Any) -> Rows:
    changed = list(rows[at % len(rows)])
    changed[column] = value
    return [*rows[: at % len(rows)], tuple(changed), *rows[at % len(rows) + 1 :]]


WRONG: dict[str, Callable[[Rows, Rows, int], Faulty]] = {
    "no user": lambda recs, truth, at: (cell(recs, at, 0, None), truth),
    "no item": lambda recs, truth, at: (cell(recs, at, 1, None), truth),
    "no score": lambda recs, truth, at: (cell(recs, at, 2, None), truth),
    "score nan": lambda recs, truth, at: (cell(recs, at, 2, math.nan), truth),
    "score inf": lambda recs, truth, at: (cell(recs, at, 2, math.inf), truth),
    "score -inf": lambda recs, truth, at: (cell(recs, at, 2, -math.inf), truth),
    "score text": lambda recs, truth, at: (cell(recs, at, 2, "high"), truth),
    "score a list": lambda recs, truth, at: (cell(recs, at, 2, [1.0]), truth),
    "item of another type": lambda recs, truth, at: (cell(recs, at, 1, "x"), truth),
    "item with a fraction": lambda recs, truth, at: (cell(recs, at, 1, 2.5), truth),
    "no user in truth": lambda recs, truth, at: (recs, cell(truth, at, 0, None)),
    "no item in truth": lambda recs, truth, at: (recs, cell(truth, at, 1, None)),
    "grade nan": lambda recs, truth, at: (recs, cell(truth, at, 2, math.nan)),
    "grade inf": lambda recs, truth, at: (recs, cell(truth, at, 2, math.inf)),
    "grade below 0": lambda recs, truth, at: (recs, cell(truth, at, 2, -1.0)),
    "grade text": lambda recs, truth, at: (recs, cell(truth, at, 2, "good")),
    "row twice": lambda recs, truth, at: ([*recs, recs[at % len(recs)]], truth),
    "truth twice": lambda recs, truth, at: (recs, [*truth, truth[at % len(truth)]]),
    "other users": lambda recs, truth, at: (recs, [(user + 50, item, grade) for user, item, grade in truth]),
    "nothing": lambda recs, truth, at: ([], truth),
    "no truth": lambda recs, truth, at: (recs, []),
}


def loose(rows: Rows, value: str) -> pd.DataFrame:
    """A pandas frame takes whatever there is."""
    return pd.DataFrame({name: pd.Series([row[at] for row in rows], dtype=object if at < 2 else None)
                         for at, name in enumerate(["user", "item", value])})  # fmt: skip


def loose_csv(rows: Rows, value: str) -> str:
    return text_of([tuple("" if each is None else each for each in row) for row in rows], value)  # type: ignore[misc]


TAKES_ALL: dict[str, Callable[[Rows, str, Path], Any]] = {
    "pandas": lambda rows, value, folder: loose(rows, value),
    "polars": lambda rows, value, folder: pl.DataFrame(
        {name: pl.Series([row[at] for row in rows], strict=False) for at, name in enumerate(["user", "item", value])}
    ),
    "dict of dicts": lambda rows, value, folder: nested(rows, value),
    "csv": lambda rows, value, folder: saved(folder / f"{value}.csv", loose_csv(rows, value)),
    "tsv": lambda rows, value, folder: saved(folder / f"{value}.tsv", loose_csv(rows, value).replace(",", "\t")),
    "jsonl": lambda rows, value, folder: saved(folder / f"{value}.jsonl", json_lines(rows, value)),
}


def saved(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@examples(100, 4_000)
@given(
    data=small(),
    fault=st.sampled_from([*WRONG]),
    kind=st.sampled_from([*TAKES_ALL]),
    at=st.integers(0, 50),
    memory=st.sampled_from([None, 2_000]),
)
def test_a_wrong_value_is_refused(
    tmp_path_factory: pytest.TempPathFactory,
    data: tuple[Rows, Rows],
    fault: str,
    kind: str,
    at: int,
    memory: int | None,
) -> None:
    # Where it is one: a key stands in a dict once, and text files have text for any item.
    assume(not (kind == "dict of dicts" and fault in ("row twice", "truth twice")))
    assume(not (kind in ("csv", "tsv") and fault in ("item of another type", "item with a fraction")))
    folder = tmp_path_factory.mktemp("wrong")
    recs, truth = WRONG[fault](*data, at)
    made = TAKES_ALL[kind](recs, "score", folder), TAKES_ALL[kind](truth, "relevance", folder)
    numbers, _ = outcome(*made, memory=memory)
    assert numbers is None, (fault, kind, numbers)


HARMLESS: dict[str, Callable[[Rows, Rows], Faulty]] = {
    "ids as floats": lambda *both: tuple([(float(u), float(i), v) for u, i, v in rows] for rows in both),
    "huge ids": lambda *both: tuple([(u + 2**63, i + 2**63, v) for u, i, v in rows] for rows in both),
    "huger ids": lambda *both: tuple([(u + 2**90, i + 2**90, v) for u, i, v in rows] for rows in both),
    "both signs": lambda *both: tuple([(u - 2, (i - 3) * 2**60, v) for u, i, v in rows] for rows in both),
    "scores of whole numbers": lambda recs, truth: ([(u, i, int(4 * s)) for u, i, s in recs], truth),
    "scores as text": lambda recs, truth: ([(u, i, str(s)) for u, i, s in recs], truth),
    "tiny scores": lambda recs, truth: ([(u, i, s * 1e-300) for u, i, s in recs], truth),
    "large scores": lambda recs, truth: ([(u, i, s * 1e307) for u, i, s in recs], truth),
    "grades of whole numbers": lambda recs, truth: (recs, [(u, i, int(g)) for u, i, g in truth]),
}


@examples(40, 2_000)
@given(data=small(), change=st.sampled_from([*HARMLESS]), kind=st.sampled_from([*TAKES_ALL]))
def test_what_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, data: tuple[Rows, Rows], change: str, kind: str
) -> None:
    folder = tmp_path_factory.mktemp("harmless")
    recs, truth = HARMLESS[change](*data)
    try:
        made = TAKES_ALL[kind](recs, "score", folder), TAKES_ALL[kind](truth, "relevance", folder)
    except (pl.exceptions.PolarsError, OverflowError, TypeError):
        assume(False)  # no such frame can be made
    numbers, _ = outcome(*made)
    assert numbers is None or same(numbers, by_the_book(*data)), (change, kind, numbers)


NAMED = ["pandas", "polars", "csv", "tsv", "jsonl"]
"""Forms with names of columns: without them truth and lists look alike."""


@examples(30, 1_500)
@given(data=small(), kind=st.sampled_from(NAMED), fault=st.sampled_from(["other items", "swapped"]))
def test_what_cannot_be_meant_is_said(
    tmp_path_factory: pytest.TempPathFactory, data: tuple[Rows, Rows], kind: str, fault: str
) -> None:
    """Nothing in common, or truth and lists swapped: an error, or a number with a warning next to it."""
    folder = tmp_path_factory.mktemp("said")
    recs, truth = data
    make = TAKES_ALL[kind]
    if fault == "swapped":
        given: dict[str, Any] = {"recs": make(truth, "relevance", folder), "truth": make(recs, "score", folder)}
    else:
        other = [(user, item + 100, grade) for user, item, grade in truth]
        given = {"recs": make(recs, "score", folder), "truth": make(other, "relevance", folder)}
    numbers, warned = outcome(**given)
    assert numbers is None or warned, (fault, kind, numbers)
    if fault == "other items" and numbers is not None:
        assert same(numbers, by_the_book(recs, other))


@examples(10, 500)
@given(data=small(), which=st.sampled_from(["both", "recs", "truth"]))
def test_a_run_is_no_truth_and_qrels_are_no_lists(
    tmp_path_factory: pytest.TempPathFactory, data: tuple[Rows, Rows], which: str
) -> None:
    folder = tmp_path_factory.mktemp("swapped")
    run, qrels = put(folder, "a.run", data[0], "score"), put(folder, "a.run", data[1], "relevance")
    given = {"recs": run if which == "truth" else qrels, "truth": qrels if which == "recs" else run}
    numbers, warned = outcome(**given)
    assert numbers is None or warned, (which, numbers)


BESIDE = {
    "exclude": "mrr",
    "candidates": "mrr",
    "train": "new_to_user,arp",
    "catalog": "coverage,gini",
    "features": "category_count",
    "reference": "unexpectedness",
}


@examples(25, 750)
@given(data=small(), name=st.sampled_from([*BESIDE]), far=st.sampled_from(["users", "items"]), by_frame=st.booleans())
def test_a_table_of_other_users_or_items_is_said(data: tuple[Rows, Rows], name: str, far: str, by_frame: bool) -> None:
    """A table that shares no user or no item with the lists has no effect, or a wrong one."""
    recs, truth = data
    by_user = name not in ("catalog", "features")
    assume(by_user or far == "items")
    more = [(recs[0][0], item, 0) for item in range(10, 20)]  # a few items alone may well be in no list
    rows = [(user + 50 * (far == "users"), item + 50 * (far == "items")) for user, item, _ in [*recs, *more]]
    table: Any = {user: [item for who, item in rows if who == user] for user, _ in rows}
    if name == "catalog":
        table = [item for _, item in rows]
    elif name == "features":
        table = {item: ["a"] for _, item in rows}
    elif by_frame:
        table = pl.DataFrame(rows, schema=["user", "item"], orient="row")

    def call() -> list[type[Warning]]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            atkay.evaluate(frame(recs, "score"), frame(truth, "relevance"), BESIDE[name], **{name: table})
        return [each.category for each in caught if each.category is not TiesWarning]

    assert attempt(call) != [], (name, far)


RANKS: dict[str, Callable[[list[int]], list[Any]]] = {
    "from 0": lambda ranks: [rank - 1 for rank in ranks],
    "gap": lambda ranks: [rank + (rank > 1) for rank in ranks],
    "twice": lambda ranks: [max(1, rank - 1) for rank in ranks],
    "fraction": lambda ranks: [rank + 0.5 for rank in ranks],
    "negative": lambda ranks: [-rank for rank in ranks],
    "missing": lambda ranks: [None if rank == 1 else rank for rank in ranks],
    "huge": lambda ranks: [rank + 2**62 for rank in ranks],
    "text": lambda ranks: [f"#{rank}" for rank in ranks],
}


@examples(25, 1_000)
@given(data=small(), fault=st.sampled_from([*RANKS]), kind=st.sampled_from(["polars", "csv"]), at=st.integers(0, 4))
def test_ranks_that_are_none(
    tmp_path_factory: pytest.TempPathFactory, data: tuple[Rows, Rows], fault: str, kind: str, at: int
) -> None:
    recs, truth = data
    lists = plain_lists(recs, "")
    chosen = [user for user, items in lists.items() if len(items) > 1]
    broken = chosen[at % len(chosen)]
    rows = []
    for user, items in lists.items():
        ranks: list[Any] = list(range(1, len(items) + 1))
        rows += [(user, *row) for row in zip(items, RANKS[fault](ranks) if user == broken else ranks, strict=True)]
    made = TAKES_ALL[kind](rows, "rank", tmp_path_factory.mktemp("ranks"))
    numbers, _ = outcome(made, frame(truth, "relevance"))
    assert numbers is None or same(numbers, by_the_book(recs, truth, scored=False)), (fault, numbers)


# Faults in bytes: what a text file says literally is what counts.

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
LETTERS = st.sampled_from([*"0123456789.,-+eE;:|\t \n#xX", "\n\n", "é", "0", "1"])


@st.composite
def edits(draw: st.DrawFn, letters: st.SearchStrategy[str] = LETTERS) -> Callable[[str], str]:
    """A few letters put in, taken out or replaced, and perhaps the end cut off."""
    changes = draw(st.lists(st.tuples(st.integers(0, 400), st.sampled_from("pots"), letters), min_size=1, max_size=3))

    def edit(text: str) -> str:
        for at, how, letter in changes:
            at %= max(len(text), 1)
            taken = 0 if how == "p" else 1
            text = text[:at] if how == "s" else text[:at] + ("" if how == "t" else letter) + text[at + taken :]
        return text

    return edit


def number_in(text: Any) -> float | None:
    if isinstance(text, str):
        return float(text) if NUMBER.fullmatch(text.strip()) else None
    return float(text) if isinstance(text, int | float) and not isinstance(text, bool) else None


def literally(cells: list[list[str]]) -> Rows | None:
    """The rows of a text file, None where one of them is none."""
    rows = []
    for each in cells:
        value = number_in(each[2]) if len(each) == 3 else None
        if value is None or not math.isfinite(value) or not each[0] or not each[1]:
            return None
        rows.append((each[0], each[1], value))
    return rows


def read_csv(text: str) -> Rows | None:
    lines = [line for line in csv.reader(io.StringIO(text)) if any(line)]
    return literally(lines[1:]) if lines and lines[0][:2] == ["user", "item"] and len(lines[0]) == 3 else None


def read_run(text: str) -> Rows | None:
    lines = [re.split("[ \t]+", line.strip(" \t")) for line in text.split("\n") if line.strip()]
    if any(len(line) not in (6, 4) or len(line) != len(lines[0]) for line in lines):
        return None
    return literally([[line[0], line[2], line[4] if len(line) == 6 else line[3]] for line in lines])


def read_json(text: str) -> Rows | None:
    rows = []
    for line in text.split("\n"):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            value = next(row[name] for name in ("score", "relevance") if name in row)
            rows.append((row["user"], row["item"], value))
        except (ValueError, LookupError, TypeError, StopIteration):
            return None
    kinds = [{type(row[at]) for row in rows} for at in (0, 1)]
    if any(kind not in ({int}, {str}) for kind in kinds) or any(number_in(row[2]) is None for row in rows):
        return None
    return rows


READERS: dict[str, tuple[Callable[[Rows, str], Any], Callable[[str], Rows | None], str]] = {
    "csv": (text_of, read_csv, ".csv"),
    "trec": (run_or_qrels, read_run, ".run"),
    "json": (json_lines, read_json, ".jsonl"),
}


def judged(recs: Rows | None, truth: Rows | None) -> dict[str, float] | None:
    """What is right for rows as they stand in files; None where an error is."""
    if not recs or not truth or any(grade < 0 for *_, grade in truth):
        return None
    return by_the_book(recs, truth)


@examples(120, 6_000)
@given(
    data=small(),
    kind=st.sampled_from([*READERS]),
    edit=edits(),
    side=st.sampled_from(["score", "relevance"]),
    memory=st.sampled_from([None, None, 2_000]),
)
def test_edited_text_files(
    tmp_path_factory: pytest.TempPathFactory,
    data: tuple[Rows, Rows],
    kind: str,
    edit: Callable[[str], str],
    side: str,
    memory: int | None,
) -> None:
    write, read, suffix = READERS[kind]
    texts = {"score": write(data[0], "score"), "relevance": write(data[1], "relevance")}
    texts[side] = edit(texts[side])
    folder = tmp_path_factory.mktemp("edited")
    paths = []
    for value, text in texts.items():
        path = folder / f"{value}{'.qrels' if suffix == '.run' and value == 'relevance' else suffix}"
        path.write_bytes(text.encode())
        paths.append(path)
    numbers, _ = outcome(*paths, memory=memory)
    if numbers is None:
        return
    if kind == "csv" and texts[side].split("\n")[0] != write(data[0], side).split("\n")[0]:
        return  # another header is another table
    if kind == "json" and f'"{side}": ' not in texts[side]:
        return  # and so is another name
    expected = judged(read(texts["score"]), read(texts["relevance"]))
    assert same(numbers, expected), (texts[side], numbers, expected)


BYTES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "only a line end": lambda content: b"\n",
    "half": lambda content: content[: len(content) // 2],
    "cut": lambda content: content[:-3],
    "zeros": lambda content: content + bytes(64),
    "zeros inside": lambda content: content[: len(content) // 2] + bytes(8) + content[len(content) // 2 :],
    "UTF-16": lambda content: content.decode("utf-8", "replace").encode("utf-16"),
    "Latin-1": lambda content: content.replace(b"0", "é".encode("latin-1")),
    "not UTF-8": lambda content: content.replace(b"0", b"\xff\xfe"),
    "compressed": gzip.compress,
    "compressed and cut": lambda content: gzip.compress(content)[:-9],
    "backwards": lambda content: content[::-1],
    "twice": lambda content: content + content,
}


@examples(80, 4_000)
@given(
    data=small(),
    name=st.sampled_from([name for name in FILES if name.startswith(("a.", "stream"))]),
    fault=st.sampled_from([*BYTES]) | st.tuples(st.integers(0, 2_000), st.integers(0, 255)),
    side=st.sampled_from(["score", "relevance"]),
    suffix=st.booleans(),
    memory=st.sampled_from([None, 2_000]),
)
def test_broken_bytes(
    tmp_path_factory: pytest.TempPathFactory,
    data: tuple[Rows, Rows],
    name: str,
    fault: str | tuple[int, int],
    side: str,
    suffix: bool,
    memory: int | None,
) -> None:
    """Whatever the bytes are, nothing but our own error comes out of them."""
    folder = tmp_path_factory.mktemp("broken")
    paths = {value: put(folder, name, rows, value) for value, rows in zip(("score", "relevance"), data, strict=True)}
    content = paths[side].read_bytes()
    if isinstance(fault, str):
        content = BYTES[fault](content)
    else:
        at = fault[0] % len(content)
        content = content[:at] + bytes([fault[1]]) + content[at + 1 :]
    paths[side] = paths[side] if suffix else folder / "unnamed"
    paths[side].write_bytes(content)
    numbers, _ = outcome(paths["score"], paths["relevance"], memory=memory)
    if fault in ("empty", "only a line end", "half", "cut", "backwards") and name.endswith(("parquet", "arrow", "gz")):
        assert numbers is None


# Faults in what is passed.


class Odd:
    """An object that is nothing."""


ODD: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "number": lambda: 5,
    "nan": lambda: math.nan,
    "True": lambda: True,
    "text": lambda: "no such file",
    "empty text": lambda: "",
    "text with zeros": lambda: "a\0b",
    "long text": lambda: "x" * 5_000,
    "bytes": lambda: b"user,item\n1,2\n",
    "object": Odd,
    "class": lambda: Odd,
    "function": lambda: len,
    "range": lambda: range(3),
    "set": lambda: {1, 2},
    "generator": lambda: ([item] for item in range(3)),
    "map": lambda: map(str, range(3)),
    "empty dict": dict,
    "empty list": list,
    "dict of numbers": lambda: {1: 2},
    "dict of None": lambda: {1: None},
    "dict of text": lambda: {1: "abc"},
    "dict of sets": lambda: {1: {1, 2}},
    "dict of bytes": lambda: {1: b"ab"},
    "dict of nested": lambda: {1: [[1], [2]]},
    "dict of dicts of text": lambda: {1: {2: "x"}},
    "dict of dicts of None": lambda: {1: {2: None}},
    "dict of dicts of dicts": lambda: {1: {2: {3: 4}}},
    "dict with None": lambda: {None: [1]},
    "dict with nan": lambda: {math.nan: [1]},
    "dict with tuples": lambda: {(1, 2): [1], (1,): [2]},
    "dict with mixed keys": lambda: {1: [1], "a": [2]},
    "dict with objects": lambda: {Odd(): [1]},
    "dict of generators": lambda: {1: (item for item in [1, 2])},
    "list of numbers": lambda: [1, 2, 3],
    "list of text": lambda: ["a", "b"],
    "list of dicts": lambda: [{"user": 1, "item": 2}],
    "list of None": lambda: [None, None],
    "ragged": lambda: [[1], [2, 3], 4],
    "array": lambda: np.arange(3),
    "array of floats": lambda: np.array([[0.5, 1.5]]),
    "array of nan": lambda: np.array([[np.nan, np.nan]]),
    "array of objects": lambda: np.array([[Odd()]], dtype=object),
    "array of text": lambda: np.array([["a", "b"]]),
    "array of dates": lambda: np.array([["2026-01-01"]], dtype="datetime64[D]"),
    "array of complex": lambda: np.array([[1j]]),
    "array of truth values": lambda: np.array([[True, False]]),
    "array of three dimensions": lambda: np.zeros((2, 2, 2), int),
    "array of nothing": lambda: np.zeros((0, 3), int),
    "scalar array": lambda: np.array(3),
    "structured array": lambda: np.array([(1, 2)], dtype=[("user", int), ("item", int)]),
    "matrix": lambda: np.ones((2, 3)).astype(int).view(np.matrix),
    "masked": lambda: np.ma.masked_less(np.zeros((2, 2), int), 1),
    "sparse": lambda: sp.csr_matrix(np.eye(3)),
    "sparse nan": lambda: sp.csr_matrix(np.array([[np.nan, 1.0]])),
    "sparse of nothing": lambda: sp.csr_matrix((3, 3)),
    "sparse complex": lambda: sp.csr_matrix(np.eye(2) * 1j),
    "sparse of truth values": lambda: sp.csr_matrix(np.eye(2, dtype=bool)),
    "sparse diagonal": lambda: sp.dia_matrix(np.eye(3)),
    "polars without columns": pl.DataFrame,
    "polars without rows": lambda: pl.DataFrame({"user": [], "item": []}),
    "polars nulls": lambda: pl.DataFrame({"user": [None], "item": [None]}),
    "polars lists": lambda: pl.DataFrame({"user": [[1]], "item": [[2]]}),
    "polars structs": lambda: pl.DataFrame({"user": [{"a": 1}], "item": [1]}),
    "polars objects": lambda: pl.DataFrame({"user": pl.Series([Odd()], dtype=pl.Object), "item": [1]}),
    "polars truth values": lambda: pl.DataFrame({"user": [True], "item": [1]}),
    "polars decimals": lambda: pl.DataFrame(
        {"user": [1], "item": [2], "score": pl.Series(["1.5"]).cast(pl.Decimal(10, 2))}
    ),
    "polars series": lambda: pl.Series([1, 2]),
    "polars group": lambda: pl.DataFrame({"user": [1], "item": [2]}).group_by("user"),
    "lazy without the column": lambda: pl.LazyFrame({"user": [1]}).select("nobody"),
    "lazy that fails": lambda: pl.LazyFrame({"user": ["x"], "item": [1]}).with_columns(pl.col("user").cast(pl.Int64)),
    "pandas without columns": pd.DataFrame,
    "pandas columns twice": lambda: pd.DataFrame([[1, 2, 3]], columns=["user", "item", "item"]),
    "pandas several levels": lambda: pd.DataFrame(
        [[1, 2]], columns=pd.MultiIndex.from_tuples([("user", 1), ("item", 2)])
    ),
    "pandas numbered columns": lambda: pd.DataFrame([[1, 2]]),
    "pandas series": lambda: pd.Series([1, 2]),
    "pandas intervals": lambda: pd.DataFrame({"user": pd.interval_range(0, 2), "item": [1, 2]}),
    "pandas periods": lambda: pd.DataFrame({"user": pd.period_range("2026-01", periods=2, freq="M"), "item": [1, 2]}),
    "pandas complex": lambda: pd.DataFrame({"user": [1j], "item": [1]}),
    "arrow without rows": lambda: pa.table({"user": pa.array([], pa.int64()), "item": pa.array([], pa.int64())}),
    "arrow columns twice": lambda: pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["user", "user"]),
    "arrow maps": lambda: pa.table({"user": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), "item": [1]}),
    "arrow array": lambda: pa.array([1, 2]),
    "path": lambda: Path("no/such/file.csv"),
    "folder": lambda: Path("/proc/self/fd"),
    "device": lambda: Path("/dev/null"),
    "file": lambda: io.StringIO("user,item\n1,2\n"),
    "columns": Columns,
    "metric": lambda: atkay.parse("mrr"),
}
TABLES = ["recs", "truth", "train", "catalog", "features", "propensity", "reference", "exclude", "candidates", "slices"]
ARGUMENTS = [
    *TABLES,
    "columns",
    "sampled",
    "dialect",
    "memory",
    "spill",
    "protocol",
    "average_over",
    "seed",
    "min_relevance",
]
ARGUMENTS += [*WORDS, "metrics"]
GOOD: dict[str, Any] = {
    "recs": pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 3], "score": [0.5, 0.25, 1.0]}),
    "truth": pl.DataFrame({"user": [1, 2], "item": [1, 3], "relevance": [1, 2]}),
}


@examples(200, 2_000)
@given(argument=st.sampled_from(ARGUMENTS), kind=st.sampled_from([*ODD]), memory=st.sampled_from([None, 2_000]))
def test_odd_arguments(argument: str, kind: str, memory: int | None) -> None:
    assume(argument in TABLES or not kind.startswith("lazy"))  # Polars cannot even print these
    given = GOOD | {"metrics": ["mrr", "ndcg@2"]} | ({} if memory is None else {"memory": memory})
    if argument in ("train", "catalog", "features", "reference"):
        needs = {"train": "arp", "catalog": "coverage", "features": "category_count", "reference": "unexpectedness"}
        given["metrics"] = needs[argument]
    attempt(lambda: repr(atkay.evaluate(**(given | {argument: ODD[kind]()}))))


STREAMED = ["items", "targets", "scores", "users", "exclude", "candidates"]


@examples(80, 1_000)
@given(argument=st.sampled_from(STREAMED), kind=st.sampled_from([*ODD]), n_items=st.sampled_from([None, 4]))
def test_odd_batches(argument: str, kind: str, n_items: int | None) -> None:
    good: dict[str, Any] = {"items": [[1, 2], [0, 3]], "targets": [[1], [3]], "users": [7, 8]}

    def call() -> str:
        stream = atkay.Stream(["mrr", "ndcg@2"], n_items=n_items)
        stream.update(**(good | {argument: ODD[kind]()}))
        return repr(stream.compute())

    attempt(call)


@st.composite
def specs(draw: st.DrawFn) -> str:
    """A spec with a few letters changed, or none at all."""
    known = ["ndcg(gain=linear,discount=jk,ideal=full)@5,10", "map(per=hits)@3", "mrr", "rbp(p=0.5)@10", "P @ 5", "err"]
    letters = st.sampled_from([*string.ascii_lowercase, *"()@=,. -+0123456789eE_\t\n", "∞", "𝟝", "9" * 50, "\0"])
    return draw(edits(letters))(draw(st.sampled_from(known)))


@examples(200, 10_000)
@given(spec=specs() | st.text(max_size=12))
@example("ndcg@" + "9" * 5_000)
@example("ndcg(gain)@5")
@example("rbp(p=1e400)")
def test_specs(spec: str) -> None:
    metric = attempt(lambda: atkay.parse(spec))
    assert metric is None or atkay.parse(str(metric)) == metric
    attempt(lambda: atkay.evaluate(**GOOD, metrics=["mrr", spec], catalog=[1, 2, 3]))


odd_values: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 10**400, 1e308, math.nan, "", "zero", "Given", b"x", [], {}, (1,), Odd]
)


@examples(60, 3_000)
@given(fields=st.dictionaries(st.sampled_from([each.name for each in dataclasses.fields(Protocol)]), odd_values))
@example({"min_relevance": 10**400})
@example({"seed": 10**400})
def test_words_of_the_protocol(fields: dict[str, Any]) -> None:
    protocol = attempt(lambda: Protocol(**fields))
    if protocol is not None:
        assert protocol.words()
        attempt(lambda: atkay.evaluate(**GOOD, metrics="mrr", protocol=protocol))


# Faults in what was saved.


def everything() -> atkay.Result:
    """A result that has all there is to save."""
    recs = pl.DataFrame({"user": [1, 1, 2, 3, 4], "item": [1, 2, 3, 1, 2], "score": [0.5, 0.5, 1.0, 0.75, 0.1]})
    truth = pl.DataFrame({"user": [1, 2, 3, 5], "item": [2, 3, 2, 1], "relevance": [1, 2, 1, 1]})
    metrics = ["ndcg@2", "recall(average=pooled)@1,2", "coverage@2", "new_to_user@1", "auc"]
    given: dict[str, Any] = {"train": {1: [1], 2: [2]}, "catalog": [1, 2, 3, 4], "exclude": {1: [9], 2: [1]}}
    slices = pl.DataFrame({"user": [1, 2, 3], "age": ["old", None, "young"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AtkayWarning)
        return atkay.evaluate(recs, truth, metrics, slices=slices, **given)


def said(result: atkay.Result) -> list[Any]:
    """All that a reader sees of a result."""
    per_query = result.per_query.to_dict(as_series=False) if result.sums is None else None
    shown = [repr(result), result.table.rows(), result.slices.rows(), result.gaps.rows(), dict(result), per_query]
    return [*shown, vars(result.population), result.protocol.words(), dict(result.fingerprint)]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Any]:
    path = tmp_path_factory.mktemp("kept") / "result.json"
    result = everything()
    result.save(path)
    loaded = atkay.Result.load(path)
    return path.read_bytes(), repr(said(loaded))


def places(record: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a record, everything that holds it included."""
    if here:
        yield here
    inside = record.items() if isinstance(record, dict) else enumerate(record) if isinstance(record, list) else ()
    for name, value in inside:
        yield from places(value, (*here, name))


json_values = st.sampled_from(
    [None, True, False, 0, 1, -1, 2, 0.5, 1e308, 10**30, "", "x", "mrr", "1", [], {}, [1], [None], {"a": 1}, [[1]]]
)


def changed(record: Any, where: tuple[Any, ...], how: str, value: Any) -> Any:
    record = copy.deepcopy(record)
    holder = record
    for name in where[:-1]:
        holder = holder[name]
    if how == "drop":
        holder.pop(where[-1])
    elif how == "add":
        (holder.insert(where[-1], value) if isinstance(holder, list) else holder.update({f"{where[-1]} ": value}))
    else:
        holder[where[-1]] = value
    return record


@examples(150, 7_500)
@given(at=st.integers(0, 10**6), how=st.sampled_from(["set", "set", "drop", "add"]), value=json_values)
def test_changed_results(
    tmp_path_factory: pytest.TempPathFactory, kept: tuple[bytes, Any], at: int, how: str, value: Any
) -> None:
    record = json.loads(kept[0])
    where = list(places(record))
    record = changed(record, where[at % len(where)], how, value)
    path = tmp_path_factory.mktemp("changed") / "result.json"
    path.write_text(json.dumps(record))
    loads_as_it_was_or_not(path, kept[1])


@examples(60, 3_000)
@given(at=st.integers(0, 10**6), edit=edits(st.sampled_from([*'{}[]",:0123456789eE-.nu', "\\u0000", "é"])))
def test_edited_results(
    tmp_path_factory: pytest.TempPathFactory, kept: tuple[bytes, Any], at: int, edit: Callable[[str], str]
) -> None:
    text = kept[0].decode()
    middle = at % len(text)
    path = tmp_path_factory.mktemp("edited") / "result.json"
    path.write_text(text[:middle] + edit(text[middle : middle + 400]) + text[middle + 400 :])
    loads_as_it_was_or_not(path, kept[1])


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "", "null", "5", '"x"', "[]", "{}", "\0"])
def test_results_that_are_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "result.json"
    path.write_text(text)
    assert attempt(lambda: atkay.Result.load(path)) is None


def loads_as_it_was_or_not(path: Path, before: str) -> None:
    assert attempt(lambda: repr(said(atkay.Result.load(path)))) in (None, before)


def full_stream() -> atkay.Stream:
    stream = atkay.Stream(["ndcg@2", "recall(average=pooled)@1", "coverage@2"], n_items=5)
    stream.update([[1, 2], [3, 0], [4, -1]], [[1], [0], [2]])
    return stream


@examples(80, 4_000)
@given(at=st.integers(0, 10**6), byte=st.integers(0, 255), how=st.sampled_from(["set", "drop", "add", "cut"]))
def test_changed_bytes_of_a_stream(at: int, byte: int, how: str) -> None:
    content = full_stream().to_bytes()
    at %= len(content)
    rest = {"set": content[at + 1 :], "drop": content[at + 1 :], "add": content[at:], "cut": b""}[how]
    broken = content[:at] + (bytes([byte]) if how in ("set", "add") else b"") + rest
    now = attempt(lambda: repr(atkay.Stream.from_bytes(broken).compute()))
    assert now in (None, repr(full_stream().compute()))


@examples(80, 4_000)
@given(at=st.integers(0, 10**6), how=st.sampled_from(["set", "set", "drop", "add"]), value=json_values)
@example(at=0, how="nested", value=None)
@example(at=0, how="huge", value=None)
def test_forged_bytes_of_a_stream(at: int, how: str, value: Any) -> None:
    """Bytes that somebody made with a right checksum: read, or refused."""
    header, states = unpack(full_stream().to_bytes())
    if how == "nested":
        deep = "[" * 50_000 + "]" * 50_000
        forged = pack_text(json.dumps([header | {"names": "deep"}, []]).replace('"deep"', deep), states)
    elif how == "huge":
        forged = pack(header | {"n_items": 10**15}, states)
    else:
        where = list(places(header))
        forged = pack(changed(header, where[at % len(where)], how, value), states)
    attempt(lambda: repr(atkay.Stream.from_bytes(forged).compute()))


def pack_text(text: str, states: Any) -> bytes:
    """Bytes whose header is this text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("atkay.results.packing.json.dumps", lambda *_, **__: text)
        return pack({}, states)
