"""Files that people have: folders of folders, pipes, other encodings, mixed types, no header."""

from __future__ import annotations

import codecs
import gc
import gzip
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import atkay
from atkay.errors import AtkayError, ColumnError, IdError, OrderError, SourceError

CSV = "user,item,score\nañ,x,1\nb,y,2\n"
TRUTH = {"añ": ["x"], "b": ["y"]}
FILES = {
    "a.csv": CSV,
    "a.tsv": CSV.replace(",", "\t"),
    "a.run": "añ Q0 x 1 0.5 t\nb Q0 y 1 0.5 t\n",
    "a.jsonl": '{"user": "añ", "item": "x", "score": 1}\n{"user": "b", "item": "y", "score": 1}\n',
}
MEMORY = pytest.mark.parametrize("memory", [None, "1GB"])


def message(error: type[AtkayError], recs: Any, truth: Any = TRUTH, metric: str = "mrr", **fields: Any) -> str:
    with pytest.raises(AtkayError) as caught:
        atkay.evaluate(recs, truth, metric, **fields)
    assert type(caught.value) is error, repr(caught.value)
    return str(caught.value)


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(encoding))
    return path


# Types within one column.


@MEMORY
@pytest.mark.parametrize(
    ("values", "found"),
    [
        (("1", '"1"'), 'numbers (1 in line 1) and text ("1" in line 2 of'),
        (('"a"', "1"), 'text ("a" in line 1) and numbers (1 in line 2 of'),
        (("true", "1"), "true or false (true in line 1) and numbers (1 in line 2 of"),
        (('"a"', "false"), 'text ("a" in line 1) and true or false (false in line 2 of'),
        (("[1]", "1"), "lists ([1] in line 1) and numbers (1 in line 2 of"),
        (('{"a": 1}', '"b"'), 'objects ({"a": 1} in line 1) and text ("b" in line 2 of'),
    ],
)
def test_json_lines_with_mixed_types(values: tuple[str, str], found: str, memory: str | None, tmp_path: Path) -> None:
    for column in ("user", "item"):
        other = "item" if column == "user" else "user"
        text = "".join(f'{{"{column}": {value}, "{other}": "x", "score": 1}}\n' for value in values)
        told = message(IdError, write(tmp_path / "a.jsonl", text), {"1": ["x"]}, memory=memory)
        assert told.startswith(f"recs: '{column}' must hold only numbers or only text; found {found}")


def test_json_lines_of_one_type(tmp_path: Path) -> None:
    """Numbers are one type in JSON, and values within an object are not the column's."""
    numbers = write(tmp_path / "a.jsonl", '{"user": 1, "item": 5}\n{"user": 2.0, "item": 5}\n')
    assert atkay.evaluate(numbers, {1: [5], 2: [5]}, "mrr")["mrr"] == 1
    nested = '{"user": "a", "item": "x", "more": {"user": 1}}\n{"user": "b", "item": "x", "more": {"user": 2}}\n'
    assert atkay.evaluate(write(tmp_path / "b.jsonl", nested), {"a": ["x"], "b": ["x"]}, "mrr")["mrr"] == 1
    null = '{"user": "a", "item": "x", "score": null}\n{"user": "b", "item": "x", "score": 1}\n'
    assert "'score' is missing in row 0" in message(OrderError, write(tmp_path / "c.jsonl", null))


def test_lines_that_are_not_json(tmp_path: Path) -> None:
    good = '{"user": "a", "item": "x"}\n'
    broken = write(tmp_path / "a.jsonl", good * 2 + '\n{"user": "b", "item":\n')
    assert message(SourceError, broken).startswith(f"recs: line 4 of '{broken}' is not JSON: ")
    array = write(tmp_path / "b.jsonl", f"[{good.strip()}]\n")
    assert f"recs: line 1 of '{array}' holds lists. In JSON Lines each line is an object" in message(SourceError, array)


@pytest.mark.parametrize(
    "recs",
    [
        {1: ["x"], "1": ["y"]},
        {1: ["x", 1]},
        {1: [2, True]},
        {1: [True, 2]},
        {1: np.array([1, 2]), 2: np.array([True])},
        {1: ["x", b"x"]},
        [[1, "1"]],
        np.array([[1, "1"]], dtype=object),
        pd.DataFrame({"user": pd.Series([1, "1"], dtype=object), "item": ["x", "y"]}),
        pd.DataFrame({"user": pd.Series([2, True], dtype=object), "item": ["x", "y"]}),
    ],
)
def test_mixed_types_in_python(recs: Any) -> None:
    assert "must hold only numbers or only text; found" in message(IdError, recs, {1: ["x"]})


def test_text_among_scores() -> None:
    told = message(OrderError, {"b": {"y": 1.0, "x": "high"}})
    assert told == "recs: 'score' must hold only numbers; found float, str. Convert the values to one type."
    assert atkay.evaluate({"b": {"x": 1, "y": 1e30}}, {"b": ["y"]}, "mrr")["mrr"] == 1  # an int next to a large float
    assert "holds inf in row 1" in message(OrderError, {"b": {"x": 1, "y": float("inf")}})


# Folders and paths.


@MEMORY
def test_folders_within_folders(memory: str | None, tmp_path: Path) -> None:
    for user, where in enumerate(("date=2024-01-01/a.csv", "date=2024-01-02/deep/a.csv", "b.csv")):
        write(tmp_path / where, f"user,item,score\n{user},x,1\n")
    for hidden in ("_SUCCESS", ".b.csv.crc", "b.csv.crc", "_temporary/0/c.csv", ".hidden/d.csv"):
        write(tmp_path / hidden, "not a table")
    write(tmp_path / "date=2024-01-03/part-0.csv", "")  # a partition without rows
    truth = {user: ["x"] for user in range(3)}
    for path in (tmp_path, str(tmp_path / "*"), str(tmp_path / "**")):
        result = atkay.evaluate(path, truth, "mrr", memory=memory)
        assert (result["mrr"], result.population.without_list) == (1, 0)


def test_hive_partitions(tmp_path: Path) -> None:
    frame = pl.DataFrame({"user": [1, 2, 3], "item": [5, 5, 5], "day": ["a", "b", "b"]})
    frame.write_parquet(f"{tmp_path}/", partition_by="day")
    assert atkay.evaluate(tmp_path, {1: [5], 2: [5], 3: [5]}, "mrr")["mrr"] == 1


def test_folders_that_cannot_be_read(tmp_path: Path) -> None:
    write(tmp_path / "empty/a.csv", "")
    write(tmp_path / "empty/b.csv", "")
    assert "a.csv' is empty" in message(SourceError, tmp_path / "empty")
    write(tmp_path / "parquet/a.parquet", "")
    frame = pl.DataFrame({"user": ["b"], "item": ["y"]})
    frame.write_parquet(tmp_path / "parquet/b.parquet")
    assert "a.parquet' is empty" in message(SourceError, tmp_path / "parquet")
    (tmp_path / "parquet/a.parquet").unlink()
    (tmp_path / "parquet/a.parquet").symlink_to(tmp_path / "gone")
    assert "cannot read" in message(SourceError, tmp_path / "parquet")
    (tmp_path / "parquet/a.parquet").unlink()
    (tmp_path / "parquet/loop").symlink_to(tmp_path / "parquet")
    assert "is a link to a parent folder" in message(SourceError, tmp_path / "parquet")


def test_linked_folders_are_read(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere/a.csv", CSV)
    (tmp_path / "recs").mkdir()
    (tmp_path / "recs/link").symlink_to(tmp_path / "elsewhere")
    assert atkay.evaluate(tmp_path / "recs", TRUTH, "mrr")["mrr"] == 1


@pytest.mark.parametrize("path", ["", " "])
def test_paths_that_name_nothing(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.csv", CSV)
    told = message(SourceError, path)
    assert told == f"recs: {str(path)!r} does not name a file or a folder. For the working directory write '.'."
    for here in (".", "./", str(tmp_path)):
        assert atkay.evaluate(here, TRUTH, "mrr")["mrr"] == 1


@pytest.mark.parametrize("url", ["s3://bucket/recs.parquet", "https://example.org/recs.csv", "file:///recs.csv"])
def test_urls(url: str) -> None:
    assert f"'{url}' is a URL, but only local files can be read by path" in message(SourceError, url)


def test_home_folder_and_blanks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = write(tmp_path / "a.csv", CSV)
    assert atkay.evaluate("~/a.csv", TRUTH, "mrr")["mrr"] == 1
    assert f"no file '{path} '. '{path}' exists, without the spaces." in message(SourceError, f"{path} ")
    assert "unknown home folder" in message(SourceError, "~nobody-of-that-name/a.csv")
    assert "not a file, a folder or a pipe" in message(SourceError, "/dev/null")


# Pipes.


def pipe(path: Path, text: str) -> Path:
    os.mkfifo(path)
    threading.Thread(target=path.write_text, args=(text, "utf-8"), daemon=True).start()
    return path


@MEMORY
@pytest.mark.parametrize("name", ["recs", "recs.csv"])
def test_pipes(name: str, memory: str | None, tmp_path: Path) -> None:
    result = atkay.evaluate(pipe(tmp_path / name, CSV), TRUTH, "mrr", memory=memory)
    assert result["mrr"] == 1
    assert result.population.evaluated == 2


def test_pipes_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    atkay.evaluate(pipe(tmp_path / "recs", CSV), TRUTH, "mrr")
    assert f"'{tmp_path / 'empty'}' is empty" in message(SourceError, pipe(tmp_path / "empty", ""))
    gc.collect()
    assert not list((tmp_path / "temporary").iterdir())


# Encodings.


@MEMORY
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252"])
def test_other_encodings(name: str, encoding: str, memory: str | None, tmp_path: Path) -> None:
    result = atkay.evaluate(write(tmp_path / name, FILES[name], encoding), TRUTH, "mrr", memory=memory)
    assert (result["mrr"], result.population.evaluated) == (1, 2)
    compressed = tmp_path / f"{name}.gz"
    compressed.write_bytes(gzip.compress(FILES[name].encode(encoding)))
    assert atkay.evaluate(compressed, TRUTH, "mrr", memory=memory)["mrr"] == 1


@MEMORY
def test_other_encodings_far_down(memory: str | None, tmp_path: Path) -> None:
    far = CSV.replace("ñ", "n").encode() + b"c,x,1\n" * 5000 + "ñ,x,1\n".encode("cp1252")
    (tmp_path / "a.csv").write_bytes(far)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(far))
    for path in (tmp_path / "a.csv", tmp_path / "a.csv.gz"):
        result = atkay.evaluate(path, {"ñ": ["x"], "b": ["y"]}, "mrr", memory=memory, duplicates="first")
        assert (result["mrr"], result.population.listed) == (1, 5003)
    (tmp_path / "recs").write_bytes(codecs.BOM_UTF8 + FILES["a.jsonl"].encode())  # no suffix tells
    assert atkay.evaluate(tmp_path / "recs", TRUTH, "mrr", memory=memory)["mrr"] == 1


@MEMORY
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("user,item\nañ,x\n".encode() + "b,ÿ\n".encode("cp1252"), 3),  # two encodings in one file
        ("user,item\nпользователь,x\n".encode("cp1251"), 2),  # letters of Latin-1 do not stand side by side
        ("user,item\n顧客,x\n".encode("shift-jis"), 2),
        (b"user,item\na,x\nb\x81,y\n", 3),  # means nothing in cp1252
    ],
)
def test_text_that_is_in_no_encoding_we_know(text: bytes, line: int, memory: str | None, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(text)
    told = message(SourceError, tmp_path / "a.csv", memory=memory)
    assert told.startswith(f"recs: line {line} of '{tmp_path / 'a.csv'}' is neither UTF-8 nor Latin-1: ")


def test_names_that_may_be_data(tmp_path: Path) -> None:
    told = message(ColumnError, write(tmp_path / "a.csv", "a,x\nb,y\n"))
    assert "If the first line of the file is data, pass columns=Columns(header='none'), or put a header line" in told
    assert "if it holds names, pass columns=Columns(user=...)." in told
    told = message(ColumnError, {"b": ["y"]}, metric="coverage@1", catalog=write(tmp_path / "b.csv", "x\ny\nz\n"))
    assert "such as item; if it holds names, pass columns=Columns(item=...)." in told  # not two items out of three
    told = message(ColumnError, write(tmp_path / "c.csv", "a,a\nb,y\n"))
    assert "if the first line is data, pass columns=Columns(header='none')" in told
    told = message(ColumnError, pl.DataFrame({"u1": ["a"], "0.5": [1.0]}))
    assert "read the file again with has_header=False, and name the columns" in told
    told = message(ColumnError, pd.DataFrame({"u1": ["a"], "0.5": [1.0]}))
    assert "read the file again with header=None, and name the columns" in told
    told = message(ColumnError, write(tmp_path / "d.csv", "0,1,2\na,x,1\n"))  # as pandas writes columns without names
    assert "pass columns=Columns(user=...)" in told
