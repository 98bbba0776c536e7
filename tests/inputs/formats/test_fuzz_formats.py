"""The same lists under any header, separator, encoding and order of rows and columns, and as JSON: the same numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.errors import AtkayError

HEADERS = {
    "BEIR": (("query-id", "corpus-id", "score"), ("query-id", "corpus-id", "score")),
    "PyTerrier": (("qid", "docno", "score"), ("qid", "docno", "label")),
    "ranx": (("q_id", "doc_id", "score"), ("q_id", "doc_id", "score")),
    "ir-measures": (("query_id", "doc_id", "score"), ("query_id", "doc_id", "relevance")),
    "Quepid": (("query", "docid", "score"), ("query", "docid", "rating")),
}
FORMS = ("csv", "tsv", "json", "jsonl", "parquet", "ltr")
METRICS = ["ndcg@2", "mrr", "recall@3"]
IDS = st.text(st.sampled_from("ab01-_.é:/{"), min_size=1, max_size=3)
GRADES = st.dictionaries(IDS, st.dictionaries(IDS, st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=4)
SCORES = st.dictionaries(IDS, st.lists(IDS, unique=True, min_size=1, max_size=4), min_size=1, max_size=4)


def table(lists: dict[str, dict[str, Any]], names: tuple[str, ...], more: bool, shuffled: Any) -> pl.DataFrame:
    rows = [(query, name, number) for query, numbers in lists.items() for name, number in numbers.items()]
    frame = pl.DataFrame(shuffled(rows), schema=names, orient="row")
    if more and "qid" in names:
        frame = frame.with_columns(query="text of " + pl.col("qid"), docid=pl.int_range(pl.len()))
    return frame.select(shuffled(frame.columns))


def written(path: Path, form: str, frame: pl.DataFrame, lists: dict[str, Any], data: st.DataObject) -> Path:
    path = path.with_suffix(f".{form}")
    if form == "parquet":
        frame.write_parquet(path)
    elif form == "jsonl":
        frame.write_ndjson(path.with_suffix(data.draw(st.sampled_from([".jsonl", ".json", ""]))))
        path = next(path.parent.glob(f"{path.stem}*"))
    elif form == "json":
        path.write_text(json.dumps(lists, ensure_ascii=data.draw(st.booleans())), encoding="utf-8")
    elif form == "ltr":
        rows = [(query, name, grade) for query, grades in lists.items() for name, grade in grades.items()]
        path.write_text("".join(f"{grade} qid:{query} 1:0.5 # docid = {name}\n" for query, name, grade in rows))
    else:
        separator = "\t" if form == "tsv" else data.draw(st.sampled_from(",;|"))
        end = data.draw(st.sampled_from(["\n", "\r\n"]))
        text = frame.write_csv(separator=separator, line_terminator=end)
        path.write_bytes(text.encode(data.draw(st.sampled_from(["utf-8", "utf-8-sig"]))))
    return path


@given(grades=GRADES, listed=SCORES, header=st.sampled_from([*HEADERS]), more=st.booleans(), data=st.data())
@pytest.mark.filterwarnings("ignore::atkay.errors.UnusedWarning")
def test_the_same_lists_in_any_form(
    tmp_path_factory: pytest.TempPathFactory,
    grades: dict[str, dict[str, int]],
    listed: dict[str, list[str]],
    header: str,
    more: bool,
    data: st.DataObject,
) -> None:
    run = {query: {name: 9.5 - at for at, name in enumerate(names)} for query, names in listed.items()}
    folder = tmp_path_factory.mktemp("formats")

    def shuffled(values: list[Any]) -> list[Any]:
        return data.draw(st.permutations(values))

    files = {}
    given_as: list[tuple[str, dict[str, Any]]] = [("run", run), ("qrels", grades)]
    for (name, lists), names in zip(given_as, HEADERS[header], strict=True):
        form = data.draw(st.sampled_from(FORMS[: 5 if name == "run" else 6]))
        files[name] = written(folder / name, form, table(lists, names, more, shuffled), lists, data)
    try:
        expected = atkay.evaluate(run, grades, METRICS)
    except AtkayError as error:
        with pytest.raises(type(error)):
            atkay.evaluate(files["run"], files["qrels"], METRICS)
        return
    result = atkay.evaluate(files["run"], files["qrels"], METRICS)
    assert dict(result.items()) == dict(expected.items())
    assert result.fingerprint == expected.fingerprint
