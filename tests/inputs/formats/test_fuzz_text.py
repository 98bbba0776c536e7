"""Text files as people write them, with any header, separator, encoding and order of columns: the right number or ours.

What comes out is the number of the same lists as dicts, or one of our errors; never another number or exception.
"""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import atkay
from atkay import Columns
from atkay.errors import AtkayError
from atkay.tables import ITEM, RELEVANCE, SCORE, USER

METRICS = ["ndcg@2", "mrr", "recall@3"]
PLAIN = ["01", "1.0", "1e3", "NA", "null", "nan", "Q0", "0", "true", "user", "item", "2024-01-02", "sep=;", "é"]
ANY = st.text(st.sampled_from("ab01é-_.:;,|/ #\"'"), min_size=1, max_size=4).map(str.strip).filter(len)
IDS = st.one_of(ANY, st.integers(-2, 12).map(str), st.integers(0, 20).map(str), st.sampled_from(PLAIN))
SPELT: Any = st.sampled_from([str, str.upper, str.title, lambda name: name.replace("_", " "), lambda name: f" {name}"])
OTHERS = {"title": "some words", "ts": "1700000000", "price": "1.5", "Unnamed: 0": "3"}
BEFORE, AFTER = ("", "\n", "sep=;\n"), ("", "\n", "\n\n")


def text_of(rows: list[list[str]], names: list[str], data: st.DataObject) -> tuple[str, bool]:
    """The table as text, and whether it has a header."""
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    header = data.draw(st.sampled_from([True, True, True, False]), "header")
    if header:
        for name in data.draw(st.lists(st.sampled_from([*OTHERS]), unique=True, max_size=2), "others"):
            columns.setdefault(name, [OTHERS[name]] * len(rows))
        columns = {name: columns[name] for name in data.draw(st.permutations([*columns]), "order")}
    separator = data.draw(st.sampled_from(",;\t|"), "separator")
    quoting: Any = data.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), "quoting")
    file = io.StringIO()
    end = data.draw(st.sampled_from(["\n", "\r\n"]), "end")
    writer = csv.writer(file, delimiter=separator, quoting=quoting, lineterminator=end)
    writer.writerows(([[*columns]] if header else []) + [list(row) for row in zip(*columns.values(), strict=True)])
    before = data.draw(st.sampled_from(BEFORE if separator == ";" else BEFORE[:2]), "before")
    return before + file.getvalue().rstrip("\r\n") + data.draw(st.sampled_from(AFTER), "after"), header


def written(path: Path, text: str, data: st.DataObject) -> Path:
    encodings = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "utf-32"]
    content = text.encode(data.draw(st.sampled_from(encodings), "encoding"))
    suffix = data.draw(st.sampled_from([".csv", ".csv", ".tsv", ".txt", "", ".dat"]), "suffix")
    packed = data.draw(st.booleans(), "packed")
    path = path.with_name(path.name + suffix + (".gz" if packed and suffix else ""))
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@given(
    users=st.lists(IDS, unique=True, min_size=1, max_size=3),
    items=st.lists(IDS, unique=True, min_size=2, max_size=5),
    memory=st.sampled_from([None, "1GB"]),
    data=st.data(),
)
@pytest.mark.filterwarnings("ignore::atkay.errors.AtkayWarning")
def test_any_text(
    tmp_path_factory: pytest.TempPathFactory,
    users: list[str],
    items: list[str],
    memory: str | None,
    data: st.DataObject,
) -> None:
    some = st.lists(st.sampled_from(items), unique=True, min_size=1)
    run = {user: {item: 9.25 - at for at, item in enumerate(data.draw(some, "list"))} for user in users}
    grades = {user: {item: data.draw(st.integers(0, 3)) for item in data.draw(some, "truth")} for user in users}
    folder = tmp_path_factory.mktemp("text")
    roles = {"run": SCORE[0], "truth": (*RELEVANCE[0], *RELEVANCE[1])}
    files, columns = {}, {}
    comma = data.draw(st.booleans(), "decimal comma")
    lists: dict[str, Any] = {"run": run, "truth": grades}
    for name, numbers in roles.items():
        rows = [[user, item, str(number)] for user, items in lists[name].items() for item, number in items.items()]
        rows = data.draw(st.permutations(rows), "rows")
        if comma:
            rows = [[user, item, number.replace(".", ",")] for user, item, number in rows]
        usual = [data.draw(st.sampled_from(names), "name") for names in (USER[0], ITEM[0], numbers)]
        names = [data.draw(SPELT, "spelling")(each) for each in usual]
        text, header = text_of(rows, names, data)
        files[name] = written(folder / name, text, data)
        table = "recs" if name == "run" else "truth"
        if not header:
            columns[table] = Columns(header="none")
    try:
        expected = dict(atkay.evaluate(run, grades, METRICS).items())
    except AtkayError:
        expected = {}  # nothing is relevant
    try:
        result = atkay.evaluate(files["run"], files["truth"], METRICS, columns=columns or None, memory=memory)
    except AtkayError:
        event("refused" if expected else "refused, as it must be")
        return
    event("read")
    assert dict(result.items()) == expected
