"""The same data in every form gives the same digits."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import atkay
from atkay import Columns
from atkay.errors import SourceError

METRICS = ["ndcg@3,10", "map@3", "mrr", "recall@3", "precision(per=listed)@3", "hit@1", "recall(average=pooled)@3"]

# Users 0 to 3; user 3 has no list, user 2 no relevant item. Scores fall along each list.
LISTS = {0: [5, 9, 2, 8, 3], 1: [7, 1], 2: [1, 2, 3]}
GRADES = {0: {5: 3, 2: 1, 3: 2, 4: 1}, 1: {1: 2, 0: 1}, 2: {9: 0}, 3: {5: 1}}
ROWS = [(user, item, 1.0 - 0.125 * n) for user, items in LISTS.items() for n, item in enumerate(items)]
TRUTH = [(user, item, grade) for user, graded in GRADES.items() for item, grade in graded.items()]

RECS = pl.DataFrame(ROWS, schema=["user", "item", "score"], orient="row")
GRADED = pl.DataFrame(TRUTH, schema=["user", "item", "relevance"], orient="row")
WANTED = atkay.evaluate(RECS, GRADED, METRICS)


def same(result: atkay.Result) -> None:
    assert result.table.equals(WANTED.table, null_equal=True)
    assert result.fingerprint == WANTED.fingerprint
    assert result.population == WANTED.population
    assert result.per_query.get_columns()[0].cast(pl.String).to_list() == ["0", "1", "3"]


class Stream:
    """Something that exports the Arrow C stream and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


FRAMES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "polars lazy": lambda frame: frame.lazy(),
    "polars in chunks": lambda frame: pl.concat([frame[:3], frame[3:]], rechunk=False),
    "polars shuffled": lambda frame: frame.sample(fraction=1, shuffle=True, seed=3),
    "polars narrow": lambda frame: frame.with_columns(pl.col("user").cast(pl.Int8), pl.col("item").cast(pl.UInt16)),
    "polars unsigned": lambda frame: frame.with_columns(pl.col("user", "item").cast(pl.UInt64)),
    "pandas": lambda frame: pd.DataFrame(frame.to_dict(as_series=False)),
    "pandas with float ids": lambda frame: pd.DataFrame(frame.to_dict(as_series=False)).astype({"user": float}),
    "pandas nullable": lambda frame: pd.DataFrame(frame.to_dict(as_series=False)).astype({"item": "Int64"}),
    "pandas on arrow": lambda frame: pd.DataFrame(frame.to_dict(as_series=False)).astype({"item": "int64[pyarrow]"}),
    "arrow": lambda frame: frame.to_arrow(),
    "arrow record batch": lambda frame: pa.RecordBatch.from_pydict(frame.to_dict(as_series=False)),
    "arrow c stream": lambda frame: Stream(frame.to_arrow()),
}


@pytest.mark.parametrize("form", FRAMES)
def test_frames(form: str) -> None:
    same(atkay.evaluate(FRAMES[form](RECS), FRAMES[form](GRADED), METRICS))


@pytest.mark.parametrize("form", ["polars", "pandas", "arrow"])
def test_text_ids(form: str) -> None:
    recs, truth = (
        frame.with_columns(pl.format("u{}", "user").alias("user"), pl.format("i{}", "item").alias("item"))
        for frame in (RECS, GRADED)
    )
    result = atkay.evaluate(FRAMES[form](recs), FRAMES[form](truth), METRICS)
    assert result.table.equals(WANTED.table, null_equal=True)
    assert result.per_query["user"].to_list() == ["u0", "u1", "u3"]


def test_categories_are_text() -> None:
    words = [frame.with_columns(pl.format("i{}", "item").alias("item")) for frame in (RECS, GRADED)]
    recs, truth = words[0].with_columns(pl.col("item").cast(pl.Categorical)), words[1]
    assert atkay.evaluate(recs, truth, METRICS).table.equals(WANTED.table, null_equal=True)
    frame = pd.DataFrame(words[0].to_dict(as_series=False)).astype({"item": "category"})
    assert atkay.evaluate(frame, truth, METRICS).table.equals(WANTED.table, null_equal=True)


def test_ranks_instead_of_scores() -> None:
    rank = RECS.select("user", "item", rank=pl.col("score").rank("ordinal", descending=True).over("user"))
    same(atkay.evaluate(rank.sample(fraction=1, shuffle=True, seed=1), GRADED, METRICS))
    same(atkay.evaluate(rank.with_columns(pl.col("rank").cast(pl.Float64)), GRADED, METRICS))


def test_rows_in_order_need_neither_score_nor_rank() -> None:
    same(atkay.evaluate(RECS.select("user", "item"), GRADED, METRICS))


def test_an_explicit_rank_wins() -> None:
    upside_down = RECS.with_columns(rank=pl.int_range(pl.len()).over("user") + 1, score=-pl.col("score"))
    same(atkay.evaluate(upside_down, GRADED, METRICS, columns=Columns(rank="rank")))


def test_dicts() -> None:
    same(atkay.evaluate(LISTS, GRADES, METRICS))
    scored = {user: {item: score for other, item, score in ROWS if other == user} for user in LISTS}
    same(atkay.evaluate(scored, GRADES, METRICS))
    arrays = {user: np.array(items) for user, items in LISTS.items()}
    same(atkay.evaluate(arrays, GRADES, METRICS))
    same(atkay.evaluate({user: tuple(items) for user, items in LISTS.items()} | {3: ()}, GRADES, METRICS))


def binary() -> atkay.Result:
    truth = {user: [item for item, grade in graded.items() if grade] for user, graded in GRADES.items()}
    return atkay.evaluate(LISTS, truth, METRICS)


@pytest.mark.parametrize("pad", ["-1", "nan", "masked", "none"])
def test_arrays_of_users_by_k(pad: str) -> None:
    padded = np.full((4, 5), -1)
    for user, items in LISTS.items():
        padded[user, : len(items)] = items
    recs: Any = padded
    if pad == "nan":
        recs = np.where(padded < 0, np.nan, padded)
    if pad == "masked":
        recs = np.ma.masked_less(np.where(padded < 0, -7, padded), 0)
    if pad == "none":
        recs = np.where(padded < 0, None, padded)  # type: ignore[call-overload]  # an array of objects
    truth = [np.array([item for item, grade in GRADES[user].items() if grade], dtype=int) for user in range(4)]
    expected = binary()
    for form in (truth, [list(items) for items in truth], [set(items.tolist()) for items in truth]):
        result = atkay.evaluate(recs, form, METRICS)
        assert result.table.equals(expected.table, null_equal=True)
        assert result.fingerprint == expected.fingerprint
    matrix = sparse(GRADES)
    same(atkay.evaluate(recs, matrix, METRICS))


def sparse(graded: dict[int, dict[int, int]]) -> sp.csr_matrix:
    cells = [(user, item, grade) for user, of in graded.items() for item, grade in of.items()]
    row, column, data = (np.array(part) for part in zip(*cells, strict=True))
    return sp.csr_matrix((data, (row, column)), shape=(4, 10))


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.coo_array, sp.csr_array])
def test_sparse_matrices_of_scores_and_grades(kind: Any) -> None:
    cells = [(user, item, score) for user, item, score in ROWS]
    row, column, data = (np.array(part) for part in zip(*cells, strict=True))
    recs = kind((data, (row, column)), shape=(4, 10))
    same(atkay.evaluate(recs, kind(sparse(GRADES)), METRICS))


def test_a_query_of_several_columns() -> None:
    def split(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.select(
            pl.exclude("user"), session_id=pl.format("s{}", pl.col("user") // 2), step=pl.col("user") % 2
        )

    columns = Columns(user=("session_id", "step"))
    result = atkay.evaluate(split(RECS), split(GRADED), METRICS, columns=columns)
    assert result.table.equals(WANTED.table, null_equal=True)
    assert result.per_query.select("session_id", "step").rows() == [("s0", 0), ("s0", 1), ("s1", 1)]
    tuples = {(f"s{user // 2}", user % 2): items for user, items in LISTS.items()}
    graded = {(f"s{user // 2}", user % 2): items for user, items in GRADES.items()}
    result = atkay.evaluate(tuples, graded, METRICS)
    assert result.table.equals(WANTED.table, null_equal=True)


@pytest.mark.parametrize(
    ("user", "item", "score", "relevance"),
    [
        ("userID", "itemID", "prediction", "rating"),
        ("query_id", "doc_id", "score", "relevance"),
        ("qid", "docno", "Score", "rel"),
        ("UserId", "MovieId", "pred", "Rating"),
        ("user_id", "item_id", "rating", "label"),
        ("customer id", "product-id", "similarity", "grade"),
    ],
)
def test_usual_column_names_are_found(user: str, item: str, score: str, relevance: str) -> None:
    recs = RECS.rename({"user": user, "item": item, "score": score}).with_columns(timestamp=pl.lit(5))
    truth = GRADED.rename({"user": user, "item": item, "relevance": relevance}).with_columns(timestamp=pl.lit(5))
    result = atkay.evaluate(recs, truth, METRICS)
    assert result.table.equals(WANTED.table, null_equal=True)
    assert result.columns["recs"] == {"user": user, "item": item, "score": score}
    assert result.columns["truth"] == {"user": user, "item": item, "relevance": relevance}
    assert result.per_query.columns[0] == user


def test_tables_with_different_names() -> None:
    recs = RECS.rename({"user": "who", "item": "what", "score": "how"})
    truth = GRADED.rename({"user": "visitor", "item": "sku", "relevance": "worth"})
    columns = {"recs": Columns(user="who", item="what", score="how"), "truth": Columns(relevance="worth")}
    assert atkay.evaluate(recs, truth, METRICS, columns=columns).table.equals(WANTED.table, null_equal=True)


# Files


def write_trec_run(frame: pl.DataFrame, path: Path, separator: str = " ") -> None:
    lines = (separator.join(map(str, (u, "Q0", i, n, s, "tag"))) for n, (u, i, s) in enumerate(frame.rows(), start=1))
    path.write_text("\n".join(lines) + "\n")


def write_qrels(frame: pl.DataFrame, path: Path, separator: str = " ") -> None:
    path.write_text("".join(separator.join(map(str, (u, 0, i, r))) + "\n" for u, i, r in frame.rows()))


def gzipped(frame: pl.DataFrame, path: Path) -> None:
    path.write_bytes(gzip.compress(frame.write_csv().encode()))


WRITERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "{}.csv": lambda frame, path: frame.write_csv(path),
    "{}.CSV": lambda frame, path: frame.write_csv(path),
    "{}.csv.gz": gzipped,
    "{}-semicolons.csv": lambda frame, path: frame.write_csv(path, separator=";"),
    "{}-bom.csv": lambda frame, path: frame.write_csv(path, include_bom=True),
    "{}-crlf.csv": lambda frame, path: frame.write_csv(path, line_terminator="\r\n"),
    "{}.tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "{}.parquet": lambda frame, path: frame.write_parquet(path),
    "{}.arrow": lambda frame, path: frame.write_ipc(path),
    "{}.feather": lambda frame, path: frame.write_ipc(path),
    "{}-stream.arrow": lambda frame, path: frame.write_ipc_stream(path),
    "{}.jsonl": lambda frame, path: frame.write_ndjson(path),
    "{}.ndjson": lambda frame, path: frame.write_ndjson(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_files(name: str, tmp_path: Path) -> None:
    recs, truth = tmp_path / name.format("recs"), tmp_path / name.format("truth")
    WRITERS[name](RECS, recs)
    WRITERS[name](GRADED, truth)
    same(atkay.evaluate(recs, truth, METRICS))
    same(atkay.evaluate(str(recs), GRADED, METRICS))
    same(atkay.evaluate(RECS, truth, METRICS))


@pytest.mark.parametrize("separator", [" ", "\t", "   ", " \t"])
@pytest.mark.parametrize("names", [("a.run", "a.qrels"), ("input.BM25", "qrels.trec8.adhoc"), ("run.txt", "rel.txt")])
def test_trec_files(separator: str, names: tuple[str, str], tmp_path: Path) -> None:
    recs, truth = (tmp_path / name for name in names)
    write_trec_run(RECS, recs, separator)
    write_qrels(GRADED, truth, separator)
    same(atkay.evaluate(recs, truth, METRICS))
    same(atkay.evaluate(recs, GRADED, METRICS))
    same(atkay.evaluate(RECS, truth, METRICS))
    assert atkay.evaluate(recs, truth, METRICS).per_query.columns[0] == "qid"


def test_a_file_without_types_follows_the_other_side(tmp_path: Path) -> None:
    text = [frame.with_columns(pl.col("user", "item").cast(pl.String)) for frame in (RECS, GRADED)]
    RECS.write_csv(tmp_path / "recs.csv")
    result = atkay.evaluate(tmp_path / "recs.csv", text[1], METRICS)
    assert result.table.equals(WANTED.table, null_equal=True)
    assert result.per_query["user"].to_list() == ["0", "1", "3"]


def test_leading_zeros_are_part_of_an_id(tmp_path: Path) -> None:
    (tmp_path / "recs.csv").write_text("user,item\n1,007\n1,7\n")
    (tmp_path / "truth.csv").write_text("user,item\n1,7\n")
    assert atkay.evaluate(tmp_path / "recs.csv", tmp_path / "truth.csv", "mrr")["mrr"] == 0.5


def test_ids_with_commas_quotes_and_line_breaks(tmp_path: Path) -> None:
    odd = ['a,"b"', "two\nlines", "emoji 🍵", "עברית", "x" * 10_000]
    recs = pl.DataFrame({"user": ["u,1"] * 5, "item": odd})
    recs.write_csv(tmp_path / "recs.csv")
    result = atkay.evaluate(tmp_path / "recs.csv", {"u,1": odd[::-1]}, ["recall@5", "mrr"])
    assert result["recall@5"] == 1


def test_json_lines_keep_their_types(tmp_path: Path) -> None:
    lines = [{"user_id": "ann", "item_id": "007", "score": 2}, {"user_id": "ann", "item_id": "7", "score": 1.5}]
    (tmp_path / "recs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert atkay.evaluate(tmp_path / "recs.jsonl", {"ann": ["7"]}, "mrr")["mrr"] == 0.5


def test_inputs_are_not_changed() -> None:
    frame = pd.DataFrame(RECS.to_dict(as_series=False)).sample(frac=1, random_state=2)
    recs, truth = frame.copy(), {user: dict(graded) for user, graded in GRADES.items()}
    atkay.evaluate(recs, truth, METRICS, exclude={0: [9]}, ties="item")
    pd.testing.assert_frame_equal(recs, frame)
    assert truth == GRADES
    matrix = np.array([[1, 2, 3], [2, 1, 3]])
    before = matrix.copy()
    atkay.evaluate(matrix, [[1], [3]], "mrr")
    assert (matrix == before).all()


@pytest.mark.parametrize(
    "exclude",
    [
        {0: [9, 8], 1: [7]},
        pl.DataFrame({"user": [0, 0, 1, 77], "item": [9, 8, 7, 1]}),
        pd.DataFrame({"user_id": [0, 0, 1], "item_id": [9, 8, 7], "rating": [5, 5, 5]}),
        [9, 8, 7, 1234],
        {9, 8, 7},
        np.array([9, 8, 7]),
        pl.Series([9, 8, 7]),
        pl.DataFrame({"item": [9, 8, 7]}),
        sp.csr_matrix(([1, 1, 1], ([0, 0, 1], [9, 8, 7])), shape=(4, 10)),
    ],
    ids=lambda given: type(given).__name__,
)
def test_forms_of_exclude(exclude: Any) -> None:
    result = atkay.evaluate(RECS, GRADED, ["recall@3", "mrr"], exclude=exclude)
    assert result.population.excluded == 3
    # User 0 is left with 5, 2, 3: all of them relevant, out of four; user 1 with 1 of two; user 3 has no list.
    assert result["recall@3"] == pytest.approx((3 / 4 + 1 / 2 + 0) / 3)


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arrow", "jsonl"])
def test_a_file_without_a_suffix_is_known_by_its_content(tmp_path: Path, kind: str) -> None:
    frame = pl.DataFrame({"user": [1, 1, 2], "item": [5, 6, 5], "score": [3.0, 2.0, 1.0]})
    path = tmp_path / "lists"
    writers: dict[str, Callable[[Path], object]] = {
        "csv": frame.write_csv,
        "tsv": lambda path: frame.write_csv(path, separator="\t"),
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
        "jsonl": frame.write_ndjson,
    }
    writers[kind](path)
    # User 1 finds 6 at rank 2, user 2 finds 5 at rank 1.
    assert atkay.evaluate(path, {1: [6], 2: [5]}, "mrr")["mrr"] == 0.75


def test_tuples_could_be_rows_or_the_items_of_users() -> None:
    recs, pairs = {1: [3, 4], 2: [9, 1]}, [(1, 3), (2, 1)]
    with pytest.raises(SourceError, match=r"truth: a list of tuples of 2 could be rows of user and item, or 2 items"):
        atkay.evaluate(recs, pairs, "mrr")
    with pytest.raises(SourceError, match=r"recs: a list of tuples of 3 could be rows of user, item and score, or 3"):
        atkay.evaluate([(0, 1, 0.9), (0, 2, 0.8)], {0: [2]}, "mrr")
    # As rows: user 1 finds item 3 first, user 2 item 1 second. As lists: items 1, 3 and 2, 1 of users 0 and 1.
    rows = pl.DataFrame(pairs, schema=["user", "item"], orient="row")
    assert atkay.evaluate(recs, rows, "mrr")["mrr"] == (1 + 1 / 2) / 2
    assert atkay.evaluate({0: [3], 1: [4, 1]}, [list(pair) for pair in pairs], "mrr")["mrr"] == (1 + 1 / 2) / 2


def test_a_series_goes_by_its_order_where_its_index_allows() -> None:
    truth = pd.DataFrame({"user": [1, 1, 2, 2], "item": [5, 6, 5, 6], "relevance": [1, 0, 1, 0]}, index=[7, 8, 9, 10])
    values = [0.1, 0.9, 0.8, 0.2]
    # By place: user 1 finds item 5 second, user 2 first.
    for index in (truth.index, None, truth.index.rename("row")):
        assert atkay.evaluate(pd.Series(values, index=index), truth, "mrr")["mrr"] == (1 / 2 + 1) / 2
    turned = pd.Series(values[::-1], index=truth.index[::-1])
    with pytest.raises(SourceError, match=r"by its index or by its order. Pass series.loc\[truth.index\]"):
        atkay.evaluate(turned, truth, "mrr")
    assert atkay.evaluate(turned.loc[truth.index], truth, "mrr")["mrr"] == (1 / 2 + 1) / 2
    of_pairs = truth.set_index(["user", "item"]).index[::-1]
    pairs = pd.Series(values[::-1], index=of_pairs)
    for given in (truth, pl.from_pandas(truth)):
        with pytest.raises(SourceError, match=r"whose index, 'user', 'item', is not .* pass series.rename\('score'\)"):
            atkay.evaluate(pairs, given, "mrr")
        assert atkay.evaluate(pairs.rename("score").reset_index(), given, "mrr")["mrr"] == (1 / 2 + 1) / 2
