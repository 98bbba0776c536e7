"""JSON: run dictionaries in every way of writing them, MTEB's files, frames as JSON."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.errors import AtkayError, DuplicateError, SourceError
from atkay.inputs.kinds import open_source
from small_case import METRICS, QRELS, RUN, agrees, rows

MEMORY = pytest.mark.parametrize("memory", [None, "1GB"])


def written(path: Path, document: object, **how: Any) -> Path:
    path.write_text(json.dumps(document, **how), encoding="utf-8")
    return path


def refused(error: type[AtkayError], message: str, recs: Any = RUN, truth: Any = QRELS) -> None:
    with pytest.raises(error, match=message):
        atkay.evaluate(recs, truth, METRICS)


@MEMORY
@pytest.mark.parametrize("how", [{}, {"indent": 2}, {"separators": (",", ":")}, {"sort_keys": True}])
@pytest.mark.parametrize("suffix", [".json", ".txt", ""])
def test_run_dictionaries(how: dict[str, Any], suffix: str, memory: str | None, tmp_path: Path) -> None:
    run, qrels = written(tmp_path / f"run{suffix}", RUN, **how), written(tmp_path / f"qrels{suffix}", QRELS, **how)
    result = agrees(run, qrels, memory=memory)
    assert list(result.per_query["user"]) == ["q1", "q2"]


def test_compressed_and_marked(tmp_path: Path) -> None:
    text = json.dumps(RUN).encode()
    (tmp_path / "run.json.gz").write_bytes(gzip.compress(text))
    (tmp_path / "marked.json").write_bytes(b"\xef\xbb\xbf" + text)
    pl.DataFrame({"": text.decode().split("\n")}).write_csv(
        tmp_path / "run.json.zst", include_header=False, quote_style="never", compression="zstd"
    )
    agrees(tmp_path / "run.json.gz")
    agrees(tmp_path / "run.json.zst")
    agrees(tmp_path / "marked.json")
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(text)[:-9])
    refused(SourceError, "recs: cannot read '.*cut.json.gz'", tmp_path / "cut.json.gz")


def test_lz4(tmp_path: Path) -> None:
    """The reader of it would be one more package, and ranx has it."""
    (tmp_path / "run.lz4").write_bytes(b"\x04\x22\x4d\x18")
    refused(SourceError, r"is compressed with LZ4, .* pass ranx.Run.from_file\('.*run.lz4'\)", tmp_path / "run.lz4")


def test_lists_in_their_order(tmp_path: Path) -> None:
    agrees(written(tmp_path / "run.json", {query: list(scores) for query, scores in RUN.items()}))


def test_ids_that_are_numbers(tmp_path: Path) -> None:
    """A key of JSON is always text, and means the number that the other side has; "07" does not."""
    run = written(tmp_path / "run.json", {"1": {"10": 0.5, "11": 0.7}})
    assert atkay.evaluate(run, {1: [10]}, "mrr")["mrr"] == 1 / 2
    run = written(tmp_path / "run.json", {"1": {"10": 0.5, "07": 0.7}})
    assert atkay.evaluate(run, {"1": ["07"]}, "mrr")["mrr"] == 1


NAMES = st.text(st.one_of(st.sampled_from('"\\/{}[]:, \t\n\u2028é✓😀0a'), st.characters(codec="utf-8")), max_size=4)
SCORES = st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e300, 1e300), st.sampled_from([0.1, 1e-9, -0.0, 1e22]))


@given(
    document=st.dictionaries(NAMES, st.dictionaries(NAMES, SCORES, max_size=4), min_size=1, max_size=4),
    indent=st.sampled_from([None, 0, 1, "\t"]),
    ascii_only=st.booleans(),
)
def test_any_run_is_read_as_python_reads_it(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any], indent: Any, ascii_only: bool
) -> None:
    path = tmp_path_factory.mktemp("json") / "run.json"
    source = open_source(written(path, document, indent=indent, ensure_ascii=ascii_only), "recs")
    read = source.select(["user", "item", "score"])
    expected = [(q, d, float(s)) for q, scores in document.items() for d, s in scores.items()]
    assert read.with_columns(pl.col("score").cast(pl.Float64)).rows() == expected


@given(data=st.data())
def test_a_broken_document_is_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """With a character more, less or another, it is read as Python reads it, or not at all."""
    text = json.dumps(RUN)
    at = data.draw(st.integers(0, len(text) - 1))
    cut, new = data.draw(st.integers(0, 1)), data.draw(st.sampled_from(["", *'{}[]:,"\\ 0.e-x']))
    text = text[:at] + new + text[at + cut :]
    path = tmp_path_factory.mktemp("json") / "run.json"
    path.write_text(text)
    try:
        source = open_source(path, "recs")
        read = source.select(source.names)
    except AtkayError:
        return
    pairs = json.loads(text, object_pairs_hook=list)  # an item twice is met later, as in every other format
    expected = [(q, d, float(s)) for q, scores in pairs for d, s in scores]
    assert [(q, d, float(s)) for q, d, s in read.rows()] == expected


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ('{"q1": {"d1": 1}, "q1": {"d2": 1}}', SourceError, "recs: '.*' has 'q1' twice in one object"),
        ('{"q1": {"d1": 1, "d1": 2}}', DuplicateError, "d1"),
        ('{"q1": {"d1": 1, "d1": 2}, "q\\"": {}}', SourceError, "has 'd1' twice in one object"),
        ('{"q1": {"d1": 1}', SourceError, r"recs: '.*run.json' is not JSON: .* Is it complete\?"),
        ('{"q1": {"d1": "much"}}', AtkayError, "text, such as 'much'"),
        ('{"q1": {"d1": NaN}}', AtkayError, "missing"),
        ('{"q1": {"d1": null}}', AtkayError, "recs: 'score' is of type Null"),
        ('{"q1": {"d1": null, "d2": 1}}', AtkayError, "missing"),
        ('{"q1": {"d1": {"score": 1}}}', AtkayError, "recs: 'score' is of type"),
        ('{"q1": 0.5}', SourceError, "the value of user 'q1' is a float"),
        ('"text"', SourceError, "cannot|not a table"),
        ("[[[1]]]", AtkayError, "recs"),
        ('{"q\\ud800": {"d1": 1}}', AtkayError, "recs"),
        ("{}", SourceError, "no rows"),
    ],
)
def test_what_is_no_run(text: str, error: type[AtkayError], message: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(text)
    refused(error, message, tmp_path / "run.json")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes('{"q1": {"é'.encode() + 'é": 1}}'.encode("cp1252"))
    refused(SourceError, "line 1 of '.*run.json' is neither UTF-8 nor Latin-1", tmp_path / "run.json")


def test_several_documents(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        written(tmp_path / name, RUN)
    refused(SourceError, "'.*a.json' and '.*b.json' are JSON, one document each. Pass one", tmp_path)


# MTEB.

META = {"mteb_model_meta": {"model_name": "org/model", "revision": "abc"}}


@pytest.mark.parametrize("how", [{}, {"indent": 1}])
def test_mteb_predictions(how: dict[str, Any], tmp_path: Path) -> None:
    predictions = META | {"default": {"test": RUN}}
    agrees(written(tmp_path / "NFCorpus_predictions.json", predictions, **how))
    agrees(predictions)
    refused(SourceError, "truth: .* holds MTEB's predictions, which are ranked lists", RUN, predictions)


def test_mteb_predictions_of_several_splits(tmp_path: Path) -> None:
    path = written(tmp_path / "p.json", META | {"en": {"test": RUN, "dev": RUN}, "de": {"test": RUN}})
    refused(SourceError, r"holds the predictions of 'en/test', 'en/dev', 'de/test'. .*json.load\(file\)\['en'\]", path)


def test_mteb_results(tmp_path: Path) -> None:
    result = {"task_name": "NFCorpus", "mteb_version": "2.0", "scores": {"test": [{"ndcg_at_10": 0.3}]}}
    refused(SourceError, "is a result of MTEB, which holds numbers of metrics", written(tmp_path / "r.json", result))


# Frames as JSON.


@pytest.mark.parametrize("orient", ["records", "columns", "list"])
def test_frames(orient: Any, tmp_path: Path) -> None:
    paths = {}
    for name, lists, number in (("run", RUN, "score"), ("qrels", QRELS, "label")):
        frame = pd.DataFrame(rows(lists, "qid", "docno", number))
        if orient == "list":
            paths[name] = written(tmp_path / f"{name}.json", frame.to_dict(orient="list"))
        else:
            frame.to_json(paths.setdefault(name, tmp_path / f"{name}.json"), orient=orient)
    agrees(paths["run"], paths["qrels"])


def test_records_in_memory() -> None:
    agrees(rows(RUN, "qid", "docno", "score"), rows(QRELS, "qid", "docno", "label"))


def test_json_lines_under_another_name(tmp_path: Path) -> None:
    for name, lists, number in (("run.json", RUN, "score"), ("qrels", QRELS, "label")):
        pl.DataFrame(rows(lists, "qid", "docno", number)).write_ndjson(tmp_path / name)
    agrees(tmp_path / "run.json", tmp_path / "qrels")
    (tmp_path / "one").write_text('{"user": "q2", "item": "d4", "score": 1}\n')
    assert atkay.evaluate(tmp_path / "one", {"q2": ["d4"]}, "mrr")["mrr"] == 1


# Results of ours are JSON, too.


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_lists_and_saved_results_side_by_side(suffix: str, tmp_path: Path) -> None:
    lists, saved = tmp_path / f"lists{suffix}", tmp_path / f"saved{suffix}"
    content = json.dumps(RUN).encode()
    lists.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    atkay.evaluate(RUN, QRELS, METRICS).save(saved)
    runs = {"lists": lists, "saved": saved}
    comparison = atkay.compare(runs, written(tmp_path / "qrels.json", QRELS), METRICS)
    assert comparison.results["lists"]["mrr"] == comparison.results["saved"]["mrr"] == (1 / 2 + 1) / 2
    refused(SourceError, "recs: '.*saved.json.*' is a saved result of atkay, which holds numbers, not lists", saved)


FRAME = pd.DataFrame({"user": ["a", "a", "b"], "item": [3, 1, 1], "score": [0.9, 0.5, 0.3]})


@pytest.mark.parametrize("orient", ["split", "records", "index", "columns", "table"])
def test_frames_that_pandas_wrote(orient: Any, tmp_path: Path) -> None:
    # 1 stands at rank 2 of a, and at rank 1 of b.
    for frame, truth in ((FRAME, {"a": [1], "b": [1]}), (FRAME.assign(user=[7, 7, 8]), {7: [1], 8: [1]})):
        frame.to_json(tmp_path / "recs.json", orient=orient)
        assert atkay.evaluate(tmp_path / "recs.json", truth, "mrr")["mrr"] == (1 / 2 + 1) / 2


def test_values_that_pandas_wrote_have_no_names(tmp_path: Path) -> None:
    for frame in (FRAME, FRAME[["item", "score"]], FRAME[["user", "item"]]):
        frame.to_json(tmp_path / "recs.json", orient="values")
        with pytest.raises(SourceError, match=r"holds rows without the names of their columns, such as .*'records'\)"):
            atkay.evaluate(tmp_path / "recs.json", {"a": [1]}, "mrr")
    (tmp_path / "recs.json").write_text("[[3, 1], [1]]")  # lists of items
    assert atkay.evaluate(tmp_path / "recs.json", {0: [1], 1: [1]}, "mrr")["mrr"] == (1 / 2 + 1) / 2
