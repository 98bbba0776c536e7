"""Corners in which a number went wrong, or a message was no help."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
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
from atkay.errors import (
    AtkayError,
    ColumnError,
    IdError,
    InputError,
    OrderError,
    OutputError,
    ProtocolError,
    SourceError,
)


def refused(error: type[AtkayError], message: str, recs: Any, truth: Any, **fields: Any) -> None:
    with pytest.raises(error) as caught:
        atkay.evaluate(recs, truth, "mrr", **fields)
    assert message in str(caught.value), str(caught.value)


# Columns


def test_a_column_plays_one_role() -> None:
    recs = pl.DataFrame({"doc_id": [1, 1, 2, 2], "label": [0, 1, 0, 2], "score": [0.9, 0.1, 0.8, 0.3]})
    truth = pl.DataFrame({"doc_id": [1, 2], "label": [0, 2]})
    # The labels are the items, and no grades: document 1 has its hit at rank 1, document 2 at rank 2.
    result = atkay.evaluate(recs, truth, "mrr", columns=Columns(user="doc_id", item="label"))
    assert result["mrr"] == (1 + 1 / 2) / 2
    placed = pl.DataFrame({"user": [1, 1], "position": [2, 1]})
    assert atkay.evaluate(placed, {1: [2]}, "mrr", columns=Columns(item="position"))["mrr"] == 1
    refused(ColumnError, "no column for the item", recs, truth, columns=Columns(user="doc_id"))
    with pytest.raises(ColumnError, match="each column has one role, got 'x', 'x'"):
        Columns(item="x", score="x")
    with pytest.raises(ColumnError, match="each column has one role"):
        Columns(user=("u", "u"))
    with pytest.raises(ColumnError, match="column names must be strings, got 0"):
        Columns(user=0)  # type: ignore[arg-type]  # the mistake
    refused(InputError, "pass Columns(...) for recs, got 'u'", recs, truth, columns={"recs": "u"})


def test_a_key_named_like_a_metric_or_a_helper() -> None:
    recs = pl.DataFrame({"mrr": [1, 2], "item": [5, 6]})
    refused(ColumnError, "the column 'mrr' has the name of a requested metric", recs, recs, columns=Columns(user="mrr"))
    odd = pl.DataFrame({"code": [1, 1, 2], "id 0": [1, 2, 1], "item": [5, 6, 5]})
    columns = Columns(user=("code", "id 0"))
    users = pl.DataFrame({"code": [1, 2], "key 0": ["x", "y"]})
    result = atkay.evaluate(odd, odd, "mrr", columns=columns, average_over="code", slices=users)
    assert result["mrr"] == 1
    assert result.slices["segment"].to_list() == ["x", "y"]


def test_columns_that_stand_twice(tmp_path: Path) -> None:
    twice = pd.DataFrame([[1, 5, 6], [2, 6, 5]], columns=["user", "item", "item"])
    refused(ColumnError, "there are 2 columns 'item'", twice, {1: [5], 2: [6]})
    (tmp_path / "r.csv").write_text("user,item,item\n1,5,6\n")
    refused(ColumnError, "has 'item' twice", tmp_path / "r.csv", {1: [5]})
    table = pa.table([pa.array([1]), pa.array([5]), pa.array([6])], names=["user", "item", "item"])
    refused(SourceError, "cannot read a Table as an Arrow table", table, {1: [5]})


def test_a_named_index_is_a_column() -> None:
    frame = pd.DataFrame({"user": ["a", "a", "b"], "item": [1, 2, 1]})
    assert atkay.evaluate(frame.set_index("user"), frame.set_index(["user", "item"]), "recall")["recall"] == 1


# Order


def test_a_lazy_frame_is_asked_once() -> None:
    """Rows that come in another order every time keep their segments and groups."""
    n = 5000
    rng = np.random.default_rng(0)
    truth = pl.DataFrame({"q": np.arange(n), "item": rng.integers(0, 5, n)})
    recs = pl.DataFrame({"q": np.arange(n), "item": rng.integers(0, 5, n)})
    hit = np.where(truth["item"] == recs["item"], "hit", "miss")
    segments = pl.DataFrame({"q": np.arange(n), "segment": hit})
    result = atkay.evaluate(recs, truth, "mrr", columns=Columns(user="q"), slices=segments.lazy().unique())
    assert result.slices.select("segment", "mean").rows() == [("hit", 1.0), ("miss", 0.0)]
    grouped = truth.with_columns(g=pl.Series(hit)).lazy().unique()
    result = atkay.evaluate(recs, grouped, "mrr", columns=Columns(user="q"), average_over="g")
    assert result["mrr"] == (1 + 0) / 2


def test_the_index_of_a_pandas_series_is_the_user() -> None:
    recs = pd.Series({"ann": ["a", "b"], "bob": ["c", "d"]})
    truth = pd.Series({"bob": ["c"], "ann": ["a"]})
    assert atkay.evaluate(recs, truth, "mrr")["mrr"] == 1
    assert atkay.evaluate(recs, truth, "mrr", exclude=pd.Series(["a", "c"]))["mrr"] == 0
    segments = atkay.evaluate(recs, truth, "mrr", slices=pd.Series({"ann": "x", "bob": "y"})).slices
    assert segments["segment"].to_list() == ["x", "y"]


def test_whole_numbers_in_text_keep_all_their_digits(tmp_path: Path) -> None:
    big = 2**53
    (tmp_path / "r.csv").write_text(f"user,item,score\n1,11,{big}\n1,10, {big + 1}\n")
    assert atkay.evaluate(tmp_path / "r.csv", {1: [10]}, "mrr")["mrr"] == 1
    (tmp_path / "a.run").write_text(f"1 Q0 11 1 {big} t\n1 Q0 10 2 {big + 1} t\n")
    assert atkay.evaluate(tmp_path / "a.run", {1: [10]}, "mrr")["mrr"] == 1
    decimals = pl.DataFrame({"user": [1, 1], "item": [11, 10], "score": [Decimal(f"{big}.1"), Decimal(f"{big}.2")]})
    assert atkay.evaluate(decimals, {1: [10]}, "mrr")["mrr"] == 1
    wide = pl.DataFrame({"user": [1, 1], "item": [11, 10], "score": pl.Series([2**100, 2**100 + 1], dtype=pl.Int128)})
    assert atkay.evaluate(wide, {1: [10]}, "mrr")["mrr"] == 1


def test_ranks_with_equal_scores_do_not_contradict() -> None:
    recs = pl.DataFrame({"user": [1, 1], "item": [10, 11], "rank": [2, 1], "score": [0.5, 0.5]})
    assert atkay.evaluate(recs, {1: [11]}, "mrr")["mrr"] == 1


def test_ranks_beyond_64_bits() -> None:
    recs = pl.DataFrame({"user": [1], "item": [10], "rank": pl.Series([2**64 - 1], dtype=pl.UInt64)})
    refused(OrderError, "ranks must be 1, 2, 3", recs, {1: [10]})


def test_many_tied_rows_stay_as_given() -> None:
    users, items = 40, 500
    recs = pl.DataFrame({"user": np.repeat(np.arange(users), items), "item": np.tile(np.arange(items)[::-1], users)})
    recs = recs.with_columns(score=pl.lit(1.0)).sample(fraction=1, shuffle=True, seed=1)
    first = recs.group_by("user", maintain_order=True).first().select("user", "item")
    assert atkay.evaluate(recs, first, "mrr")["mrr"] == 1


# Ids


def test_slices_by_group_match_the_group() -> None:
    truth = pl.DataFrame({"order": [1, 2, 3, 4], "shop": [3, 3, 4, 4], "item": ["a"] * 4})
    recs = pl.DataFrame({"order": [1, 2, 3, 4], "item": ["a", "a", "b", "b"]})
    shops = pl.DataFrame({"shop": [3, 4], "segment": ["good", "bad"]})
    columns = {"recs": Columns(user="order"), "truth": Columns(user="order")}
    result = atkay.evaluate(recs, truth, "hit@1", columns=columns, average_over="shop", slices=shops)
    assert result.slices.select("segment", "mean", "users").rows() == [("bad", 0.0, 1), ("good", 1.0, 1)]


def test_other_tables_may_name_the_user_alone() -> None:
    rows = pl.DataFrame({"user": [1, 1, 2], "order": [1, 2, 1], "item": ["a", "b", "a"]})
    columns = Columns(user=("user", "order"))
    seen = pl.DataFrame({"user": [1], "item": ["a"]})
    for exclude in (seen, {1: ["a"]}):
        result = atkay.evaluate(rows, rows, "hit@1", columns=columns, average_over="user", exclude=exclude)
        assert result.per_query["hit@1"].to_list() == [0, 1, 1]
    users = pl.DataFrame({"user": [1, 2], "segment": ["g", "h"]})
    assert atkay.evaluate(rows, rows, "hit@1", columns=columns, slices=users).slices["users"].to_list() == [2, 1]
    per_user = atkay.evaluate(rows, rows, "hit@1", columns=columns, slices={1: "g", 2: "h"}, average_over="user")
    assert per_user.slices["users"].to_list() == [1, 1]


def test_dates_of_different_resolution_are_different_types() -> None:
    day = dt.datetime(2024, 1, 1)
    one = pl.DataFrame({"user": pl.Series([day]).cast(pl.Datetime("ms")), "item": ["a"]})
    other = pl.DataFrame({"user": pl.Series([day]).cast(pl.Datetime("us")), "item": ["a"]})
    zoned = other.with_columns(pl.col("user").dt.replace_time_zone("UTC"))
    refused(IdError, "ids of different types", one, other)
    refused(IdError, "ids of different types", other, zoned)
    refused(IdError, "ids of different types", other, other, exclude=one)
    assert atkay.evaluate(one, one, "mrr")["mrr"] == 1


def test_integers_near_and_beyond_the_limits() -> None:
    for dtype, ids in (
        (pl.UInt64, [2**63 + 5, 2**63 + 9]),
        (pl.Int128, [2**100, 2**100 + 1]),
        (pl.Int64, [-(2**63), 2**63 - 1]),
    ):
        frame = pl.DataFrame({"user": [1, 1], "item": pl.Series(ids, dtype=dtype)})
        assert atkay.evaluate(frame, frame[1:], "mrr")["mrr"] == 0.5
        users = pl.DataFrame({"user": frame["item"], "item": [1, 1]})
        assert atkay.evaluate(users, users, "mrr").per_query["user"].to_list() == ids
    assert atkay.evaluate({1: [1, 2]}, {1: [2]}, "mrr", exclude=[1, 2**64 - 1])["mrr"] == 1


def test_floats_that_cannot_tell_ids_apart() -> None:
    frame = pl.DataFrame({"user": [1], "item": [2.0**53 + 2]})
    refused(IdError, "which a float cannot represent exactly", frame, {1: [5]})
    refused(IdError, "which a float", frame.with_columns(pl.lit(2.0**25).cast(pl.Float32).alias("item")), {1: [5]})
    refused(OrderError, "scores[0, 1] is inf, which cannot be ranked", np.array([[1.0, np.inf]]), [[1]])
    refused(InputError, "without fractions", np.array([[1.0, 2.0**60]]), [[1]])


def test_ids_of_other_kinds() -> None:
    ids = [uuid.UUID(int=n) for n in (5, 2**127)]
    frame = pd.DataFrame({"user": [i.bytes for i in ids], "item": [1, 2]})
    result = atkay.evaluate(frame, frame, "mrr")
    assert result["mrr"] == 1
    lasting = pl.DataFrame({"user": [dt.timedelta(1), dt.timedelta(2)], "item": [1, 2]})
    assert atkay.evaluate(lasting, lasting, "mrr")["mrr"] == 1


def test_a_hash_depends_on_the_id_alone() -> None:
    from atkay.core.fingerprint import id_numbers

    narrow, wide = pl.Series([7], dtype=pl.Int8), pl.Series([7, 2**64 - 1], dtype=pl.UInt64)
    assert id_numbers(narrow)[0] == id_numbers(wide)[0] == id_numbers(wide.cast(pl.Int128))[0]
    assert id_numbers(wide)[1] == id_numbers(wide[1:])[0]


def test_files_beside_files(tmp_path: Path) -> None:
    tables = {"recs": "1,10\n1,11\n2,10\n", "truth": "1,11\n2,10\n", "exclude": "1,10\n", "odd": "1,10\nguest,x7\n"}
    for name, rows in tables.items():
        (tmp_path / f"{name}.csv").write_text("user,item\n" + rows)
    recs, truth, exclude, odd = (tmp_path / f"{name}.csv" for name in tables)
    (tmp_path / "users.csv").write_text("user,segment\n1,a\nguest,b\n")
    forms: list[Any] = [exclude, odd, {1: [10]}, [10], pl.DataFrame({"user": [1], "item": [10]}), {"1": ["10"]}]
    for given in forms[:5]:
        result = atkay.evaluate(recs, truth, "mrr", exclude=given, slices=tmp_path / "users.csv")
        assert result.per_query["mrr"][0] == 1
        assert result.slices["segment"].to_list() == ["a", None]
    assert atkay.evaluate(pl.read_csv(recs), truth, "mrr", exclude=exclude).per_query["mrr"][0] == 1
    refused(IdError, "exclude and truth have ids of different types", recs, truth, exclude=forms[5])


def test_long_integers_in_files(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(f"user,item\n1,{2**63 - 1}\n")
    assert atkay.evaluate(tmp_path / "r.csv", {1: [2**63 - 1]}, "mrr")["mrr"] == 1


# Dicts, arrays, matrices


def test_whole_and_broken_numbers_mix() -> None:
    assert atkay.evaluate({1: {1: 1, 2: 0.5}}, {1: {1: 1, 2: 0.5}}, "mrr")["mrr"] == 1
    assert atkay.evaluate({1: [1, 2.0]}, {1: {2: True, 1: 2}}, "mrr(target=best)")["mrr(target=best)"] == 1


def test_padding_means_the_same_everywhere() -> None:
    truth, spec = [[1], [2]], "precision(per=listed)"
    padded = [[1, -1], [2, 3]]
    forms = [np.array(padded), np.array(padded, object), padded, [np.array(row) for row in padded]]
    masked = np.ma.array([[1, 9], [2, 3]], mask=[[False, True], [False, False]])
    for recs in (*forms, masked, list(masked)):
        assert atkay.evaluate(recs, truth, spec)[spec] == (1 + 1 / 2) / 2
    assert atkay.evaluate(np.array([[1, 5], [2, 3]]), [np.array([1, -1]), np.array([2, -1])], "recall")["recall"] == 1


def test_zeros_of_a_sparse_matrix() -> None:
    zeros = sp.csr_matrix((np.array([0.0, 0.0]), np.array([1, 2]), np.array([0, 2])), shape=(1, 3))
    assert atkay.evaluate([[1, 2]], [[2]], "mrr", exclude=zeros)["mrr"] == 0.5
    twice = sp.csr_matrix((np.array([1.0, 2.0, 2.0]), np.array([1, 1, 2]), np.array([0, 3])), shape=(1, 3))
    assert atkay.evaluate(twice, [[1]], "mrr")["mrr"] == 1  # entries of one place are added: 3 and 2


def test_rows_that_do_not_fit() -> None:
    refused(SourceError, "exclude has 1 rows and truth 2", [[1, 2], [1, 2]], [[2], [2]], exclude=[[1]])
    refused(SourceError, "got shape (1, 1, 1)", np.ones((1, 1, 1), int), [[1]])
    refused(SourceError, "got shape ()", np.array(5), [[1]])
    refused(SourceError, "but this one seems to hold columns", {"user": [1], "item": [2]}, {1: [2]})
    refused(IdError, "users are tuples of different lengths ([1, 2])", {(1, 2): [1], (1,): [1]}, {(1, 2): [1]})
    refused(IdError, "users are tuples of different lengths", {(1, 2): [1], 3: [1]}, {(1, 2): [1]})
    refused(IdError, "found integers too large for a column", {2**130: [1]}, {1: [1]})


def test_long_paths() -> None:
    refused(SourceError, "cannot look for the file", "x" * 5000, {1: [1]})


def test_pairs_are_no_lists() -> None:
    recs, truth = {0: [10, 11], 2: [10, 12]}, {0: [10], 2: [10]}
    refused(SourceError, "a set has no order, so its elements cannot be users", recs, truth, exclude={(2, 10)})
    refused(SourceError, "a list of tuples of 2 could be rows of user and item", recs, truth, exclude=[(2, 10)])
    refused(SourceError, "a list of lists of 2 could be rows of user and item", recs, truth, exclude=[[2, 10]])
    refused(SourceError, "a list of lists of 2 could be rows of user and item", recs, truth, candidates=[[10, 12]])
    refused(SourceError, "lists without users are numbered", recs, truth, candidates=[[10, 12, 13, 14, 15]])
    refused(SourceError, "a set has no order", recs, {(10, 12), (10,)})


def test_tables_of_which_no_row_can_match(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    for rows in ("ann,10\nbob,11\n", "1,a\n2,b\n"):
        path.write_text("user,item\n" + rows)
        refused(IdError, "exclude: its ids cannot match those of the lists", {1: [10]}, {1: [10]}, exclude=path)
    path.write_text("item\nx\ny\n")
    refused(IdError, "exclude: its ids cannot match", {1: [10]}, {1: [10]}, exclude=path)


def test_empty_and_mixed_arrays() -> None:
    big = 2**53
    recs = {1: np.array([big + 1, 5]), 2: np.array([])}
    assert atkay.evaluate(recs, {1: [big], 2: [5]}, "mrr")["mrr"] == 0
    assert atkay.evaluate(recs, {1: [big + 1]}, "mrr")["mrr"] == 1
    refused(IdError, "found int64, str_", {1: np.array([10, 11]), 2: np.array(["x"])}, {1: ["10"], 2: ["x"]})


def test_repeated_exclusions_have_the_same_fingerprint() -> None:
    recs, truth = {1: [10, 11]}, {1: [11]}
    one, two = (atkay.evaluate(recs, truth, "mrr", exclude={1: items}) for items in ([10], [10, 10]))
    assert one.fingerprint == two.fingerprint
    assert one["mrr"] == two["mrr"] == 1


# Values


def test_a_threshold_needs_grades() -> None:
    message = "min_relevance=2 needs grades, but there are none; the columns used are 'user', 'item'"
    refused(atkay.errors.RelevanceError, message, {1: [10]}, {1: [10]}, min_relevance=2)


def test_boolean_grades() -> None:
    truth = pl.DataFrame({"user": [1, 1], "item": [1, 2], "relevance": [True, False]})
    assert atkay.evaluate({1: [2, 1]}, truth, "mrr")["mrr"] == 0.5
    exact = pl.DataFrame({"user": [1], "item": [1], "relevance": [Decimal("2.5")]})
    assert atkay.evaluate({1: [1]}, exact, "dcg(gain=linear)")["dcg(gain=linear)"] == 2.5


def test_small_and_large_grades() -> None:
    # 2^g - 1 is nearly g ln 2: (1 + 3/log2(3)) / (3 + 1/log2(3)).
    tiny = atkay.evaluate({1: [2, 1]}, {1: {1: 3e-16, 2: 1e-16}}, "ndcg")["ndcg"]
    assert tiny == pytest.approx((1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3)))
    with pytest.raises(atkay.errors.RelevanceError, match="too large for gain=exp2"):
        atkay.evaluate({1: [1]}, {1: {1: 1023.9}}, "ndcg")


def test_counts_when_reasons_overlap() -> None:
    recs, truth = {1: ["a", "b", "c", "d"]}, {1: {"a": 1, "b": 0}}
    result = atkay.evaluate(recs, truth, "mrr", exclude=["c"], candidates=["a", "b", "d"], unjudged="drop")
    population = result.population
    assert (population.excluded, population.outside, population.unjudged) == (1, 0, 1)


def test_average_over_with_columns_of_every_role() -> None:
    truth = pl.DataFrame({"q": [1, 2, 3], "code": [7, 7, 8], "item": [1, 2, 3], "rel": [1, 1, 2]})
    recs, columns = {1: [1], 2: [9], 3: [3]}, {"truth": Columns(user="q")}
    expected = {"code": (1 / 2 + 1) / 2, "rel": (1 / 2 + 1) / 2, "item": 2 / 3, "q": 2 / 3, ("q", "code"): 2 / 3}
    for names, mean in expected.items():
        assert atkay.evaluate(recs, truth, "mrr", columns=columns, average_over=names)["mrr"] == pytest.approx(mean)


def test_groups_of_queries_that_do_not_count_may_be_missing() -> None:
    truth = pl.DataFrame({"q": [1, 2], "g": ["x", None], "item": [1, 2], "rel": [1, 0]})
    result = atkay.evaluate({1: [1], 2: [2]}, truth, "mrr", columns={"truth": Columns(user="q")}, average_over="g")
    assert result.summaries["mrr"][-2:] == (1, 0)


def test_the_interval_of_a_pooled_number_is_over_groups() -> None:
    """Three users, and six more like them."""
    rows = {"user": [user + more for more in (0, 3, 6) for user in (1, 1, 2, 2, 3)], "order": [1, 2, 1, 2, 1] * 3}
    recs = pl.DataFrame({**rows, "item": [1, 9, 3, 4, 9] * 3})
    truth = pl.DataFrame({**rows, "item": [1, 2, 3, 4, 5] * 3})
    spec, columns = "recall(average=pooled)", Columns(user=("user", "order"))
    summary = atkay.evaluate(recs, truth, spec, columns=columns, average_over="user").summaries[spec]
    # Per user 1/2, 2/2, 0/1: ratio 3/5, residuals 1 - 6/5, 2 - 6/5, 0 - 3/5, over the mean denominator 5/3.
    spread = np.std(np.array([-0.2, 0.8, -0.6] * 3) / (5 / 3), ddof=1)
    assert summary.mean == pytest.approx(3 / 5)
    assert summary.high - summary.mean == pytest.approx(2.306004135204166 * spread / np.sqrt(9))
    assert summary.users == 9


# Results


def test_a_protocol_from_a_result() -> None:
    first = atkay.evaluate({1: [1, 2]}, {1: [2]}, "mrr", exclude=[1], ties="Item")  # type: ignore[arg-type]
    assert first.protocol.ties == "item"
    with pytest.raises(ProtocolError, match=r"does not hold exclude \(1 row of items\); pass exclude= again"):
        atkay.evaluate({1: [1, 2]}, {1: [2]}, "mrr", protocol=first.protocol)
    assert atkay.evaluate({1: [1, 2]}, {1: [2]}, "mrr", protocol=first.protocol, exclude=[1])["mrr"] == 1


def test_a_result_behaves_like_a_record() -> None:
    result = atkay.evaluate({1: [1]}, {1: [1]}, ["p@1", "mrr"])
    assert result.get("map") is None
    assert result.get("nonsense", 7) == 7
    assert result.__contains__(atkay.MRR())
    assert result[atkay.MRR()] == 1
    assert result.definitions["p@1"] == result.definitions["precision@1"]
    assert result.summaries["P@1"].mean == 1
    with pytest.raises(KeyError):
        result["map"]
    assert result != atkay.evaluate({1: [1]}, {1: [1]}, ["p@1", "mrr"], no_recs="skip")


@pytest.mark.parametrize(
    "ids",
    [
        pl.Series([dt.date(2024, 1, 1), dt.date(2024, 1, 2)]),
        pl.Series([dt.datetime(2024, 1, 1, 5), dt.datetime(2024, 1, 2)]).dt.replace_time_zone("Europe/Berlin"),
        pl.Series([dt.time(1), dt.time(2)]),
        pl.Series([dt.timedelta(1), dt.timedelta(2)]),
        pl.Series([b"a", b"\xff"]),
        pl.Series([1, 2], dtype=pl.UInt8),
        pl.Series(["x", "y"]),
    ],
    ids=lambda ids: str(ids.dtype),
)
def test_ids_come_back_as_they_were(ids: pl.Series, tmp_path: Path) -> None:
    frame = pl.DataFrame({"user": ids, "item": [1, 2]})
    result = atkay.evaluate(frame, frame, "mrr")
    result.save(tmp_path / "r.json")
    assert atkay.Result.load(tmp_path / "r.json").per_query.equals(result.per_query)
    assert result.per_query["user"].dtype == ids.dtype


def test_damaged_results(tmp_path: Path) -> None:
    path = tmp_path / "r.json.gz"
    atkay.evaluate({1: [1], 2: [5]}, {1: [1], 2: [1]}, "mrr").save(path)
    whole = path.read_bytes()
    for broken in (whole[: len(whole) // 2], whole[:30] + b"xxxx" + whole[34:]):
        path.write_bytes(broken)
        with pytest.raises(SourceError, match="cannot load"):
            atkay.Result.load(path)
    with pytest.raises(OutputError, match="no folder"):
        atkay.evaluate({1: [1]}, {1: [1]}, "mrr").save(tmp_path / "nowhere" / "r.json")


def test_fingerprints_see_every_row() -> None:
    def of(recs: Any, **fields: Any) -> dict[str, str]:
        return dict(atkay.evaluate(recs, {1: ["a"]}, "mrr", **fields).fingerprint)

    one = of({1: ["a", "x", "y"]})
    assert one["recs"] != of({1: ["a", "x", "z"]})["recs"]
    assert one["recs"] != of({1: ["a", "y", "x"]})["recs"]
    assert one == of({1: {"x": 0.5, "y": 0.25, "a": 0.75}})
    assert one["recs"] == of({1: ["a", "x", "y"]}, exclude=["x"])["recs"]
    assert of({1: ["a"]}, exclude=["x"])["exclude"] == of({1: ["a"]}, exclude=["y"])["exclude"]  # never listed


def test_segments_that_are_empty_or_missing() -> None:
    result = atkay.evaluate({1: [1], 2: [1]}, {1: [1], 2: [1]}, "mrr", slices={1: "", 2: None})
    assert result.slices["segment"].to_list() == ["", None]
    nothing = pl.DataFrame({"user": [1, 2], "segment": pl.Series([None, None], dtype=pl.String)})
    assert atkay.evaluate({1: [1]}, {1: [1]}, "mrr", slices=nothing).slices["segment"].to_list() == [None]


def test_compressed_text(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "r.csv.gz").write_bytes(gzip.compress(b"user;item\n1;5\n\n1;6\n"))
    assert atkay.evaluate(tmp_path / "r.csv.gz", {1: [6]}, "mrr")["mrr"] == 0.5
    (tmp_path / "r.tsv").write_bytes(b"user\titem\n1\t5\n1\t6\n")
    assert atkay.evaluate(tmp_path / "r.tsv", {1: [6]}, "mrr")["mrr"] == 0.5
    (tmp_path / "tabs.csv").write_bytes(b"user\titem\n1\t5\n1\t6\n")
    assert atkay.evaluate(tmp_path / "tabs.csv", {1: [6]}, "mrr")["mrr"] == 0.5
    (tmp_path / "pipes.csv").write_bytes(b"user|item\n1|5\n1|6\n")
    assert atkay.evaluate(tmp_path / "pipes.csv", {1: [6]}, "mrr")["mrr"] == 0.5


def test_trec_lines_in_odd_shapes(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\n  q1 Q0 d\u00a01 1 5e-1 t \r\nq1\tQ0\td2\t2\t.25\tt\r\n\n".encode())
    assert atkay.evaluate(tmp_path / "a.txt", {"q1": ["d2"]}, "mrr")["mrr"] == 0.5
