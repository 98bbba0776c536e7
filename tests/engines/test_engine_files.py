"""Files in parts give what they give in memory, to the last bit; and whatever happens on the way, nothing is left."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import atkay
from atkay import Columns
from atkay.cli.app import app
from atkay.engines.files import files
from atkay.errors import (
    AtkayError,
    ColumnError,
    DuplicateError,
    IdError,
    OrderError,
    OverlapWarning,
    PopulationError,
    ProtocolError,
    RelevanceError,
    SourceError,
    SpillError,
    UnusedWarning,
)
from atkay.evaluation.measure import measure_tables
from atkay.text import progress
from atkay.text.sizes import bytes_of
from same import assert_same
from variants import SEGMENTS

FEW = 4_000
"""Bytes of memory: a part has about twenty rows."""
MANY = ["ndcg@3", "map", "precision(average=pooled)@2", "inter_list_distance@2", "mrr@5"]


def lists(users: int = 40, length: int = 6, seed: int = 3) -> pl.DataFrame:
    """Lists of different items, the best first, the users in order."""
    rng = np.random.default_rng(seed)
    item = np.concatenate([rng.choice(15, length, replace=False) for _ in range(users)])
    score = np.tile(np.arange(length, 0, -1) / 4, users)
    return pl.DataFrame({"user": np.repeat(np.arange(users), length), "item": item, "score": score})


def wanted(users: int = 44, seed: int = 4) -> pl.DataFrame:
    """Truth for these and four more users, with grades of 0, too."""
    rng = np.random.default_rng(seed)
    item = np.concatenate([rng.choice(15, 3, replace=False) for _ in range(2, users)])
    grade = rng.integers(0, 4, len(item)).astype(float)
    return pl.DataFrame({"user": np.repeat(np.arange(2, users), 3), "item": item, "relevance": grade})


RECS, TRUTH = lists(), wanted()
BOTH: list[dict[str, Any]] = [{}, {"memory": FEW}]
"""In memory, and in parts."""


def shuffled(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.sample(fraction=1, shuffle=True, seed=1)


def mixed(frame: pl.DataFrame) -> pl.DataFrame:
    """Users in no order, each one's rows apart from each other and in the order in which they were."""
    return (
        frame.with_columns(place=pl.int_range(pl.len()).over("user")).sort("place", maintain_order=True).drop("place")
    )


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.format("u{}", "user").alias("user"), pl.format("i{}", "item").alias("item"))


def write(frame: pl.DataFrame, path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    ways: dict[str, Callable[[Path], Any]] = {
        ".parquet": frame.write_parquet,
        ".csv": frame.write_csv,
        ".arrow": frame.write_ipc,
        ".jsonl": frame.write_ndjson,
    }
    ways[path.suffix](path)
    return str(path)


def several(frame: pl.DataFrame, folder: Path, n_files: int, suffix: str = ".parquet") -> str:
    """The rows in several files; their names tell the order."""
    size = -(-len(frame) // n_files)
    for number in range(n_files):
        write(frame[number * size : (number + 1) * size], folder / f"{number}{suffix}")
    return str(folder)


@pytest.fixture
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A folder for what is written on the way, which is empty again afterwards."""
    spill = tmp_path / "spill"
    spill.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spill))
    yield spill
    assert not list(spill.iterdir())


pytestmark = pytest.mark.usefixtures("nothing_left")


def same(recs: Any, truth: Any, metrics: Any = MANY, memory: Any = FEW, **given: Any) -> atkay.Result:
    result = atkay.evaluate(recs, truth, metrics, memory=memory, **given)
    assert_same(result, atkay.evaluate(recs, truth, metrics, **given))
    return result


def judged_parts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each part has that is judged from now on."""
    found: list[int] = []

    def measured(request: Any, setting: Any, tables: Any) -> Any:
        found.append(len(tables["recs"].select(tables["recs"].names)))
        return measure_tables(request, setting, tables)

    monkeypatch.setattr(files, "measure_tables", measured)
    return found


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow", ".jsonl"])
@pytest.mark.parametrize("order", [lambda frame: frame, shuffled, mixed], ids=["sorted", "shuffled", "mixed"])
def test_every_format_and_order(
    suffix: str, order: Callable[[pl.DataFrame], pl.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = judged_parts(monkeypatch)
    same(write(order(RECS), tmp_path / f"r{suffix}"), write(order(TRUTH), tmp_path / f"t{suffix}"))
    assert len(judged) > 5
    assert sum(judged) == len(RECS)


@pytest.mark.parametrize("ties", ["given", "item_desc", "best", "random", "text", "reversed", "expected"])
def test_every_way_to_read_lists(ties: str, tmp_path: Path) -> None:
    recs = RECS.with_columns(score=(pl.col("score") * 2).floor())
    seen = shuffled(lists(60, 2, seed=8).select("user", "item"))
    for order in (shuffled, lambda frame: frame):
        given: dict[str, Any] = {
            "ties": ties,
            "no_recs": "skip",
            "no_truth": "judged",
            "min_relevance": 2,
            "gains": "positive",
            "exclude": write(order(seen).sort("user") if order is not shuffled else seen, tmp_path / "seen.csv"),
            "candidates": write(pl.DataFrame({"item": range(0, 15, 2)}), tmp_path / "some.csv"),
            "seed": 3,
        }
        both = write(order(recs), tmp_path / "r.parquet"), write(order(TRUTH), tmp_path / "t.parquet")
        result = same(*both, ["ndcg@3", "map", "hit@1"], **given)
        assert str(result.protocol.exclude) == "120 rows of 'seen.csv'"
        given["candidates"] = write(lists(70, 9, seed=9), tmp_path / "c.parquet")
        given["exclude"] = [1, 2]
        same(*both, ["ndcg@3", "map", "hit@1"], **given)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_lists_without_scores_stay_in_their_order(suffix: str, tmp_path: Path) -> None:
    truth = write(TRUTH, tmp_path / f"t{suffix}")
    for order in (mixed, lambda frame: frame):
        same(write(order(RECS).drop("score"), tmp_path / f"r{suffix}"), truth)


def test_ranks_are_numbered_alike_in_all_parts(tmp_path: Path) -> None:
    # The list of user 3 alone is numbered from 1: in memory and in parts that is refused, whatever part it is in.
    ranked = RECS.with_columns(rank=pl.int_range(pl.len()).over("user")).drop("score")
    path, truth = write(ranked, tmp_path / "r.csv"), write(TRUTH, tmp_path / "t.parquet")
    same(path, truth)
    for given in BOTH:
        assert "recs ordered by column 'rank', numbered from 0" in atkay.evaluate(path, truth, "mrr", **given).readings
    wrong = ranked.with_columns(rank=pl.col("rank") + (pl.col("user") == 3))
    size = (wrong["user"] == 3).sum()
    for form in ("r.csv", "r.parquet"):
        path = write(wrong, tmp_path / form)
        for given in BOTH:
            message = rf"of user 3 is 1, 2, .*; the ranks of a list of {size} must be 0 to {size - 1}"
            with pytest.raises(OrderError, match=message):
                atkay.evaluate(path, truth, "mrr", **given)


def test_ranks(tmp_path: Path) -> None:
    ranked = RECS.with_columns(rank=pl.int_range(pl.len()).over("user") + 1).drop("score")
    same(write(shuffled(ranked), tmp_path / "r.csv"), write(TRUTH, tmp_path / "t.parquet"))


def test_several_files(tmp_path: Path) -> None:
    recs, truth = several(RECS, tmp_path / "recs", 5), several(TRUTH, tmp_path / "truth", 3, ".csv")
    Path(recs, "_SUCCESS").touch()
    Path(recs, ".hidden").touch()
    whole = atkay.evaluate(RECS, TRUTH, MANY)
    for pattern in (recs, f"{recs}/", f"{recs}/*.parquet", f"{tmp_path}/r*/*"):
        assert atkay.evaluate(pattern, truth, MANY).per_query.equals(whole.per_query)
        assert same(pattern, truth).per_query.equals(whole.per_query)
    same(several(mixed(RECS), tmp_path / "mixed", 4), truth)
    gone = tmp_path / "narrow"
    write(RECS[:120].with_columns(pl.col("item").cast(pl.Int8)), gone / "a.parquet")
    write(RECS[120:].select("score", "item", "user"), gone / "b.parquet")
    assert same(str(gone), truth).per_query.equals(whole.per_query)


def test_files_that_are_sorted_and_do_not_follow_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atkay.engines.files.partition.ROWS_PER_BATCH", 30)
    monkeypatch.setattr("atkay.engines.files.partition.ROWS_SAMPLED", 10)
    truth = write(TRUTH, tmp_path / "t.parquet")
    same(several(RECS, tmp_path / "follow", 4), truth)
    same(several(pl.concat([RECS[120:], RECS[:120]]), tmp_path / "turned", 2), truth)
    same(several(pl.concat([RECS[::2], RECS[1::2]]), tmp_path / "both", 2), truth)


def test_odd_names_of_files(tmp_path: Path, nothing_left: Path) -> None:
    odd = tmp_path / "a [b] *"
    recs, truth = several(mixed(RECS), odd / "r{}", 2), write(TRUTH, odd / "t[1].parquet")
    spill = nothing_left / "c [d] = *"
    spill.mkdir()
    same(recs, truth)
    atkay.evaluate(recs, truth, memory=FEW, spill=spill)
    spill.rmdir()


def test_streams_of_arrow(tmp_path: Path) -> None:
    """They have no table of contents, so they are read whole."""
    for number in (1, 2):
        (RECS[:120] if number == 1 else RECS[120:]).write_ipc_stream(tmp_path / f"{number}.arrow")
    same(str(tmp_path / "*.arrow"), write(TRUTH, tmp_path / "t.parquet"))


def test_files_that_are_no_table(tmp_path: Path) -> None:
    def refused(error: type[AtkayError], message: str, pattern: Any) -> None:
        for more in BOTH:
            with pytest.raises(error, match=message):
                atkay.evaluate(pattern, TRUTH, "mrr", **more)

    write(RECS, tmp_path / "x" / "a.parquet")
    write(RECS, tmp_path / "x" / "b.csv")
    refused(
        SourceError,
        r"a.parquet' is Parquet, and '.*b.csv' is CSV. All files of a table must be of one format",
        tmp_path / "x",
    )
    write(RECS.drop("score"), tmp_path / "y" / "b.parquet")
    write(RECS, tmp_path / "y" / "a.parquet")
    refused(ColumnError, "'user', 'item', 'score', and '.*b.parquet' has 'user', 'item'. All files of", tmp_path / "y")
    write(as_text(RECS), tmp_path / "z" / "b.parquet")
    write(RECS, tmp_path / "z" / "a.parquet")
    refused(SourceError, "'user' is Int64 in '.*a.parquet' and String in '.*b.parquet'", tmp_path / "z")
    refused(SourceError, r"no file matches '.*\*.tsv'", tmp_path / "*.tsv")
    (tmp_path / "empty").mkdir()
    refused(SourceError, "no files in folder", tmp_path / "empty")


def test_text_ids(tmp_path: Path) -> None:
    for order in (shuffled, lambda frame: frame.sort("user", maintain_order=True)):
        for suffix in (".parquet", ".csv"):
            recs, truth = (
                write(order(as_text(frame)), tmp_path / f"{n}{suffix}") for n, frame in enumerate((RECS, TRUTH))
            )
            same(recs, truth)
            same(recs, truth, ["coverage", "gini"], catalog=[f"i{n}" for n in range(15)])


def test_all_rows_decide_on_types(tmp_path: Path) -> None:
    """One id that is no integer, in the last row, makes text of all; and one score that is none floats."""
    truth = write(TRUTH, tmp_path / "t.csv")
    odd = pl.concat([RECS.cast(pl.String), pl.DataFrame({"user": ["9"], "item": ["007"], "score": ["0.25"]})])
    same(write(odd, tmp_path / "r.csv"), truth)
    result = same(write(odd.rename({"item": "user", "user": "item"}), tmp_path / "r.csv"), truth)
    assert result.ids["user"].dtype == pl.String
    huge = 2**53
    close = [(0, 1, huge), (0, 2, huge + 1), (1, 1, 1), (2, 1, 1), (3, 2, 5)]  # the same as floats
    frame = pl.DataFrame(close, schema=["user", "item", "score"], orient="row")
    answer = pl.DataFrame({"user": [0, 1, 2, 3], "item": [2, 1, 1, 1]})
    result = same(write(frame, tmp_path / "r.csv"), write(answer, tmp_path / "t.csv"), "hit@1", memory=300)
    assert result["hit@1"] == 0.75  # all but user 3: of user 0 the second row is the best
    text = frame.cast(pl.String).vstack(pl.DataFrame({"user": ["4"], "item": ["1"], "score": ["0.5"]}))
    result = same(write(text, tmp_path / "r.csv"), tmp_path / "t.csv", "hit@1", memory=300)
    assert result["hit@1"] == 0.5


def test_text_and_typed_files(tmp_path: Path) -> None:
    same(write(RECS, tmp_path / "r.csv"), write(TRUTH, tmp_path / "t.parquet"), memory=9_000)
    odd = RECS.cast(pl.String).vstack(pl.DataFrame({"user": ["x"], "item": ["1"], "score": ["1"]}))
    with pytest.raises(IdError, match="ids of different types: user ids are text"):
        atkay.evaluate(write(odd, tmp_path / "r.csv"), str(tmp_path / "t.parquet"), "mrr", memory=FEW)


@pytest.mark.parametrize(
    "change",
    [
        {"user": pl.Int8, "item": pl.UInt16, "score": pl.Float32},
        {"user": pl.Float64, "item": pl.Float32, "score": pl.Int64},
        {"user": pl.UInt64, "item": pl.UInt64, "score": pl.Decimal(10, 2)},
        {"user": pl.Int128, "item": pl.Int64, "score": pl.UInt8},
    ],
    ids=["narrow", "floats", "unsigned", "wide"],
)
def test_types_of_numbers(change: dict[Any, Any], tmp_path: Path) -> None:
    truth = write(TRUTH, tmp_path / "t.parquet")
    for order in (shuffled, lambda frame: frame):
        same(write(order(RECS).cast(change), tmp_path / "r.arrow"), truth)


def test_ids_beyond_64_bits(tmp_path: Path) -> None:
    high = 2**63 + 5
    recs, truth = (
        frame.cast({"user": pl.UInt64}).with_columns(
            user=pl.when(user=39).then(pl.lit(high, pl.UInt64)).otherwise(pl.col("user"))
        )
        for frame in (RECS, TRUTH)
    )
    result = same(write(recs, tmp_path / "r.parquet"), write(truth, tmp_path / "t.parquet"))
    assert high in result.ids["user"]
    same(write(recs, tmp_path / "r.parquet"), write(TRUTH, tmp_path / "t.parquet"))
    turned = [frame.rename({"user": "item", "item": "user"}) for frame in (recs, truth)]
    once = [frame.unique(["user", "item"], keep="first", maintain_order=True) for frame in turned]
    same(write(once[0], tmp_path / "r.parquet"), write(once[1], tmp_path / "t.parquet"), ["ndcg@3", "map"])


def test_categories(tmp_path: Path) -> None:
    recs = as_text(RECS).cast({"user": pl.Categorical, "item": pl.Enum([f"i{n}" for n in range(15)])})
    same(write(recs, tmp_path / "r.parquet"), write(as_text(TRUTH), tmp_path / "t.parquet"))


@pytest.mark.parametrize("order", [shuffled, lambda frame: frame.sort("user")], ids=["shuffled", "sorted"])
@pytest.mark.parametrize(
    ("kind", "other"),
    [
        (pl.Categorical, pl.Int64),
        (pl.Binary, pl.Int64),
        (pl.Date, pl.Int64),
        (pl.Binary, pl.String),
        (pl.Date, pl.String),
        (pl.Date, pl.Categorical),
    ],
)
def test_users_of_different_types(
    kind: Any, other: Any, order: Callable[[pl.DataFrame], pl.DataFrame], tmp_path: Path
) -> None:
    def typed(frame: pl.DataFrame, dtype: Any) -> pl.DataFrame:
        plain = pl.Int32 if dtype in (pl.Date, pl.Int64) else pl.String
        return order(frame.cast({"user": plain}).cast({"user": dtype}))

    frames = typed(RECS, kind), typed(TRUTH, other)
    both = write(frames[0], tmp_path / "r.parquet"), write(frames[1], tmp_path / "t.parquet")
    for recs, truth in (frames, both):
        for more in BOTH:
            with pytest.raises(IdError, match="recs and truth have ids of different types: user ids are"):
                atkay.evaluate(recs, truth, "mrr", **more)


def test_several_columns_name_a_query(tmp_path: Path) -> None:
    def stepped(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.select(
            pl.col("user").floordiv(7).alias("house"), pl.col("user").mod(7).alias("step"), *frame.columns[1:]
        )

    key = Columns(user=("house", "step"))
    seen = stepped(lists(50, 3, seed=5)).drop("score")
    slices = pl.DataFrame({"house": range(7), "street": list("abcabca")})
    for order in (shuffled, lambda frame: frame):
        recs, truth = (write(order(stepped(frame)), tmp_path / f"{n}.parquet") for n, frame in enumerate((RECS, TRUTH)))
        same(recs, truth, columns=key)
        given: dict[str, Any] = {"columns": key, "slices": slices, "average_over": "house", "no_truth": "zero"}
        same(recs, truth, exclude=write(order(seen).select("step", "house", "item"), tmp_path / "s.parquet"), **given)
        by_house = seen.select("house", "item").unique(maintain_order=True)
        same(recs, truth, exclude=write(by_house, tmp_path / "h.csv"), **given)
        same(recs, truth, exclude={(1, 2): [1, 2, 3], (3, 0): [4]}, columns=key)


def test_columns_in_another_order(tmp_path: Path) -> None:
    """Lists and truth go by the order in which their columns are named."""
    recs = RECS.select(a=pl.col("user") // 7, b=pl.col("user") % 7, item="item", score="score")
    truth = TRUTH.select(b=pl.col("user") // 7, a=pl.col("user") % 7, item="item", relevance="relevance")
    key = {"recs": Columns(user=("a", "b")), "truth": Columns(user=("b", "a"))}
    for order in (shuffled, lambda frame: frame):
        both = write(order(recs), tmp_path / "r.parquet"), write(order(truth), tmp_path / "t.parquet")
        assert same(*both, columns=key).population.hits > 10


def test_groups_from_the_truth(tmp_path: Path) -> None:
    truth = TRUTH.with_columns(house=pl.format("h{}", pl.col("user") % 3))
    result = same(
        write(RECS, tmp_path / "r.csv"), write(truth, tmp_path / "t.csv"), average_over="house", no_truth="skip"
    )
    assert result.groups is not None


def test_dialects_and_samples(tmp_path: Path) -> None:
    recs, truth = write(RECS, tmp_path / "r.parquet"), write(TRUTH, tmp_path / "t.parquet")
    same(recs, truth, ["ndcg@3", "map@3"], dialect="ranx")
    one = write(TRUTH.unique("user", keep="first", maintain_order=True).with_columns(relevance=1), tmp_path / "o.csv")
    with pytest.warns(atkay.errors.SampledWarning):
        same(recs, one, "ndcg@3", sampled=atkay.Sampled(catalog_size=100, negatives=5))


def test_trec_files(tmp_path: Path) -> None:
    run = "".join(f"q{user} Q0 d{item} 0 {score} me\n" for user, item, score in shuffled(RECS).rows())
    qrels = "".join(f"q{user} 0 d{item} {grade:g}\n" for user, item, grade in TRUTH.rows())
    (tmp_path / "a.run").write_text(run)
    (tmp_path / "a.qrels").write_text(qrels)
    same(tmp_path / "a.run", tmp_path / "a.qrels")
    (tmp_path / "a.run").write_text(run + "\n\nq1 Q0 d2\n")
    for more in BOTH:
        with pytest.raises(SourceError, match=f"line {len(RECS) + 3} of '.*a.run' as a TREC run line: 'q1 Q0"):
            atkay.evaluate(tmp_path / "a.run", tmp_path / "a.qrels", **more)


def test_what_is_in_memory_already(tmp_path: Path) -> None:
    recs = write(RECS, tmp_path / "r.parquet")
    same(recs, TRUTH)
    same(recs, {user: {int(item): 1} for user, item, _ in TRUTH.rows()})
    same(RECS.lazy(), TRUTH.lazy())
    same(shuffled(RECS).lazy(), TRUTH)
    same(RECS.to_arrow(), TRUTH.to_pandas())
    same(RECS["item"].to_numpy().reshape(40, 6), {user: [user % 15] for user in range(40)})


def test_one_user_has_most_rows(tmp_path: Path) -> None:
    giant = pl.DataFrame(
        {"user": [7] * 300, "item": pl.int_range(300, eager=True), "score": pl.int_range(300, 0, -1, eager=True) / 2}
    )
    recs = pl.concat([RECS.filter(pl.col("user") != 7), giant])
    for frame in (recs.sort("user", maintain_order=True), recs):
        same(write(frame, tmp_path / "r.parquet"), write(TRUTH, tmp_path / "t.parquet"))


def test_items_far_apart(tmp_path: Path) -> None:
    far = [frame.with_columns(pl.col("item") * 10**15 - 10**9) for frame in (RECS, TRUTH)]
    same(write(far[0], tmp_path / "r.parquet"), write(far[1], tmp_path / "t.parquet"))


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("order", [shuffled, lambda frame: frame], ids=["shuffled", "sorted"])
def test_what_exclude_may_hold(order: Callable[[pl.DataFrame], pl.DataFrame], suffix: str, tmp_path: Path) -> None:
    both = write(order(RECS), tmp_path / "r.parquet"), write(order(TRUTH), tmp_path / "t.parquet")
    seen = RECS[::7].select("user", "item")
    same(*both, exclude=write(seen.clear(), tmp_path / f"e{suffix}"))
    same(*both, candidates=write(RECS.select("user", "item")[30:], tmp_path / f"c{suffix}"))
    strangers = pl.DataFrame({"user": [7000, 8000], "item": [1, 2]})
    same(*both, exclude=write(strangers, tmp_path / f"e{suffix}"))

    def refused(message: str, exclude: pl.DataFrame) -> None:
        path = write(exclude, tmp_path / f"e{suffix}")
        for more in BOTH:
            with pytest.raises(IdError, match=message):
                atkay.evaluate(*both, exclude=path, **more)

    refused(
        "exclude: 'item' is missing in row",
        pl.concat([seen, pl.DataFrame({"user": [3], "item": [None]}, seen.schema)]),
    )
    far = pl.DataFrame({"user": range(7000, 8200), "item": 1}).cast(seen.schema)  # in parts of their own
    same(*both, exclude=write(order(pl.concat([seen, far])), tmp_path / f"e{suffix}"))
    gap = pl.DataFrame({"user": [9000], "item": [None]}, seen.schema)
    refused("exclude: 'item' is missing in row", pl.concat([seen, far, gap]))
    words = as_text(seen)
    if suffix == ".csv":
        same(*both, exclude=write(pl.concat([words, seen.cast(pl.String)]), tmp_path / "e.csv"))
        refused("exclude: its ids cannot match those of the lists: it has 'u0', 'i", words)
    else:
        refused("exclude and truth have ids of different types", words)


@pytest.mark.parametrize("order", [shuffled, lambda frame: frame], ids=["shuffled", "sorted"])
@pytest.mark.parametrize("name", ["exclude", "candidates"])
@pytest.mark.parametrize(
    ("user", "item", "message"),
    [
        (1999.0, None, r"'item' is missing in row 1999 \(counting"),
        (None, 1, r"'user' is missing in row 1999 \(counting"),
        (1999.5, 1, "'user' holds 1999.5, which cannot be an id"),
    ],
)
def test_rows_of_strangers_are_checked(
    user: float | None, item: int | None, message: str, name: str, order: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    seen: Any = pl.DataFrame({"user": [*map(float, range(1999)), user], "item": [1] * 1999 + [item]})
    for more in BOTH:
        with pytest.raises(IdError, match=f"{name}: {message}"):
            atkay.evaluate(order(RECS), order(TRUTH), "mrr", **{name: seen}, **more)


def test_a_catalogue_of_items_that_are_only_listed(tmp_path: Path) -> None:
    """So many items and none in common would be refused; the lists have them, between their lowest and highest."""
    recs = pl.DataFrame({"user": np.repeat(np.arange(20), 10), "item": np.arange(200)}).with_row_index("score")
    truth = pl.DataFrame({"user": np.arange(150) % 20, "item": np.where(np.arange(150), np.arange(1000, 1150), 0)})
    both = write(recs, tmp_path / "r.parquet"), write(truth, tmp_path / "t.parquet")
    same(*both, ["coverage@5", "mrr"], memory=200_000, catalog=list(range(20, 150)))


def test_numbers_that_everything_works_with(tmp_path: Path) -> None:
    recs, truth = write(RECS, tmp_path / "r.parquet"), write(TRUTH, tmp_path / "t.parquet")
    other = write(RECS.with_columns(-pl.col("score")), tmp_path / "o.parquet")
    comparison = atkay.compare({"a": recs, "b": other}, truth, "ndcg@3", memory=FEW, permutations=100)
    want = atkay.compare({"a": recs, "b": other}, truth, "ndcg@3", permutations=100)
    assert comparison.to_polars().equals(want.to_polars())
    result = atkay.evaluate(recs, truth, MANY, memory=FEW)
    result.save(tmp_path / "saved.json")
    assert_same(atkay.Result.load(tmp_path / "saved.json"), result)
    atkay.report(result, tmp_path / "report.html")
    assert "ndcg@3" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("order", [shuffled, lambda frame: frame], ids=["shuffled", "sorted"])
def test_errors_name_the_row_of_the_file(
    order: Callable[[pl.DataFrame], pl.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atkay.engines.files.files.ROWS_PER_BATCH", 50)
    monkeypatch.setattr("atkay.engines.files.files.ROWS_SAMPLED", 10)
    monkeypatch.setattr("atkay.engines.files.partition.ROWS_SAMPLED", 10)

    def refused(error: type[AtkayError], message: str, recs: pl.DataFrame, truth: pl.DataFrame, suffix: str) -> None:
        both = write(recs, tmp_path / f"r{suffix}"), write(truth, tmp_path / f"t{suffix}")
        with pytest.raises(error, match=message):
            atkay.evaluate(*both, "mrr", memory=FEW)
        with pytest.raises(error):
            atkay.evaluate(*both, "mrr")

    at = pl.int_range(pl.len())
    recs, truth = order(RECS), order(TRUTH)
    for suffix in (".parquet", ".csv"):
        last = "" if suffix == ".csv" else r" Counts are for rows 200 to 239\."
        nan = recs.with_columns(score=pl.when(at == 207).then(float("nan")).otherwise("score"))
        refused(OrderError, rf"recs: 'score' .* in row 207 \(counting from 0\).*{last}", nan, truth, suffix)
        null = recs.with_columns(item=pl.when(at == 207).then(None).otherwise("item"))
        refused(IdError, r"recs: 'item' is missing in row 207 \(", null, truth, suffix)
        if suffix == ".parquet":  # a CSV file has the text NaN, which is an id
            nan = recs.with_columns(item=pl.when(at >= 207).then(float("nan")).otherwise(pl.col("item").cast(float)))
            refused(
                IdError, rf"recs: 'item' is missing in row 207 \(.*, one of 33 such rows.*{last}", nan, truth, suffix
            )
        nan = truth.with_columns(relevance=pl.when(at == 101).then(float("nan")).otherwise("relevance"))
        refused(RelevanceError, r"truth: 'relevance' .* in row 101 \(counting", recs, nan, suffix)
    twice = pl.concat([recs, recs.tail(1)])
    refused(DuplicateError, r"appears twice .*\(Counts are for one part of \d+\.\)", twice, truth, ".parquet")
    words = recs.cast(pl.String).with_columns(score=pl.when(at == 3).then(pl.lit("high")).otherwise("score"))
    holds = "recs: 'score' holds 'high' in row 3 .* or fill them in\\.{}$"
    refused(OrderError, holds.format(r" Based on the first 10 rows\."), words, truth, ".csv")
    refused(OrderError, holds.format(""), words[:10], truth, ".csv")


def test_two_errors_of_which_one_counts_rows() -> None:
    """The user of row 1150 is no id, the item of row 1100 is missing; users are looked at first."""
    at = pl.int_range(pl.len())
    recs = lists(600, 2).with_columns(
        user=pl.when(at == 1150).then(575.5).otherwise(pl.col("user").cast(float)),
        item=pl.when(at == 1100).then(None).otherwise("item"),
    )
    for more in BOTH:
        with pytest.raises(IdError, match=r"recs: 'user' holds 575\.5, which cannot be an id"):
            atkay.evaluate(recs, TRUTH, "mrr", **more)


def test_other_errors(tmp_path: Path) -> None:
    recs, truth = write(RECS, tmp_path / "r.parquet"), write(TRUTH, tmp_path / "t.parquet")
    with pytest.raises(PopulationError, match=r"no_recs='error'.*\(Counts are for one part of \d+\.\)"):
        atkay.evaluate(recs, truth, memory=FEW, no_recs="error")
    with pytest.raises(DuplicateError, match=r"slices: user 7 has two rows\. Give each user one segment\.$"):
        atkay.evaluate(recs, truth, memory=FEW, slices=pl.DataFrame({"user": [7, 7], "age": [1, 2]}))
    with pytest.raises(IdError, match="no user in common: recs has 0, truth has 1002"):
        atkay.evaluate(recs, write(TRUTH.with_columns(pl.col("user") + 1000), tmp_path / "u.csv"), memory=FEW)
    with pytest.warns(OverlapWarning, match="no item in common"):
        atkay.evaluate(recs, write(TRUTH.with_columns(pl.col("item") + 1000), tmp_path / "u.csv"), memory=FEW)
    with pytest.raises(SourceError, match="has no rows"):
        atkay.evaluate(write(RECS.clear(), tmp_path / "none.parquet"), truth, memory=FEW)
    Path(tmp_path, "broken.parquet").write_bytes(Path(recs).read_bytes()[:-100])
    with pytest.raises(SourceError, match="cannot read"):
        atkay.evaluate(tmp_path / "broken.parquet", truth, memory=FEW)
    described = atkay.evaluate(recs, truth, exclude=[1]).protocol
    with pytest.raises(ProtocolError, match="a result's protocol does not hold exclude"):
        atkay.evaluate(recs, truth, protocol=described, memory=FEW)
    with pytest.raises(ProtocolError, match=r"spill= is for files .*: pass memory='2GB'"):
        atkay.evaluate(recs, truth, spill=tmp_path)
    with pytest.raises(SpillError, match="no folder '/nowhere'"):
        atkay.evaluate(recs, truth, memory=FEW, spill="/nowhere")


def test_the_shell(tmp_path: Path) -> None:
    both = [write(shuffled(RECS), tmp_path / "r.csv"), write(TRUTH, tmp_path / "t.csv")]

    def run(*given: object) -> Any:
        return CliRunner().invoke(app, ["evaluate", *both, *map(str, given)], prog_name="atkay")

    assert run("--memory", FEW).stdout == run().stdout
    assert run("--memory", FEW, "--spill", tmp_path / "spill", "--format", "csv").stdout == run("-f", "csv").stdout
    found = run("--spill", tmp_path)
    assert found.exit_code == 2
    assert found.stderr == ("atkay: evaluate: --spill is for files that are larger than memory: pass --memory 2GB.\n")
    assert "memory must be a size such as '2GB'" in run("--memory", "much").stderr


def test_a_warning_comes_once(tmp_path: Path) -> None:
    recs = write(RECS.rename({"score": "weight"}), tmp_path / "r.parquet")
    with pytest.warns(UnusedWarning, match="'weight' is not used") as caught:
        atkay.evaluate(recs, write(TRUTH, tmp_path / "t.parquet"), memory=FEW)
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("given", "size"),
    [
        *[("2GB", 2 * 10**9), ("1.5 gib", 3 * 2**29), ("512MB", 512 * 10**6), ("7", 7), (4096, 4096), ("1 kb", 1000)],
        *[("2G", 2 * 10**9), ("3 m", 3 * 10**6), ("1e9", 10**9), ("1.5e+2kb", 150_000), (1e17, 10**17), (2.5, 2)],
    ],
)
def test_sizes(given: Any, size: int) -> None:
    assert bytes_of(given) == size


@pytest.mark.parametrize(
    "given",
    [
        "",
        "much",
        "2 G B",
        "-1GB",
        0,
        True,
        "0GB",
        "1.2.3GB",
        "5IB",
        "2Gi",
        "9" * 400 + "GB",
        "1e400",
        math.inf,
        math.nan,
    ],
)
def test_no_sizes(given: Any) -> None:
    with pytest.raises(ProtocolError, match="memory must be a size such as '2GB'"):
        bytes_of(given)


# What happens on the way: an evaluation in a process of its own, which stops at a given point and says so.

SCRIPT = """
import signal, sys, time
import atkay
from atkay.text.progress import Steps
from atkay.engines.files import files

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs do not hear it
where, at = sys.argv[1], int(sys.argv[2])
measured, calls, told = files.measure_tables, [], []

def stop(seconds=60):
    if not told:
        told.append(sys.stdout.write("ready\\n"))  # from one thread alone
        sys.stdout.flush()
    time.sleep(seconds)

def measure_tables(*given):
    calls.append(1)
    if where == "judging" and len(calls) > at:
        stop()
    return measured(*given)

files.measure_tables = measure_tables
if where == "partitioning":
    Steps.next = lambda steps, rows=1: stop(1)  # on a thread of Polars, which waits for it
if where == "shell":
    where = "judging"
    from atkay.cli.app import main
    sys.argv = ["atkay", *sys.argv[3:]]
    main()
else:
    result = atkay.evaluate(sys.argv[3], sys.argv[4], "ndcg@3,map,coverage", catalog=sys.argv[5], memory=4000,
                            spill=sys.argv[6])
    result.save(sys.argv[6] + ".json")
    print(len(calls))
"""


def start(*given: object) -> subprocess.Popen[str]:
    line = [sys.executable, "-c", textwrap.dedent(SCRIPT), *map(str, given)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def stopped(process: subprocess.Popen[str], how: signal.Signals) -> tuple[int, str]:
    """Send a signal to a process once it is ready; how it ended, and what it said."""
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(how)
    try:
        _, printed = process.communicate(timeout=50)
    finally:
        process.kill()
    return process.returncode, printed


Inputs = tuple[str, str, str, Path]
"""Lists, truth, all items, and the folder for what is written on the way."""


@pytest.fixture(params=["sorted", "shuffled"])
def inputs(request: pytest.FixtureRequest, tmp_path: Path, nothing_left: Path) -> Inputs:
    order = shuffled if request.param == "shuffled" else lambda frame: frame
    recs, truth = write(order(RECS), tmp_path / "r.parquet"), write(order(TRUTH), tmp_path / "t.parquet")
    return recs, truth, write(pl.DataFrame({"item": range(15)}), tmp_path / "items.csv"), nothing_left


def expected(inputs: Inputs) -> atkay.Result:
    return atkay.evaluate(inputs[0], inputs[1], "ndcg@3,map,coverage", catalog=inputs[2])


def test_an_interrupt_leaves_nothing(inputs: Inputs, tmp_path: Path) -> None:
    ended, printed = stopped(start("judging", 3, *inputs), signal.SIGINT)
    assert ended == -signal.SIGINT, printed  # as Python ends where nobody catches it
    assert printed.rstrip().endswith("KeyboardInterrupt")
    assert not Path(f"{inputs[3]}.json").exists()


def test_an_interrupt_while_rows_are_partitioned(tmp_path: Path, nothing_left: Path) -> None:
    recs, truth = write(shuffled(RECS), tmp_path / "r.parquet"), write(TRUTH, tmp_path / "t.parquet")
    ended, printed = stopped(start("partitioning", 0, recs, truth, recs, nothing_left), signal.SIGINT)
    assert ended in (-signal.SIGINT, 1), printed
    assert "KeyboardInterrupt" in printed


def test_an_interrupt_in_the_shell(inputs: Inputs, tmp_path: Path) -> None:
    line = ["evaluate", *inputs[:2], "--memory", 4000, "--spill", inputs[3], "--json", tmp_path / "saved.json"]
    process = start("shell", 0, *line)
    ended, printed = stopped(process, signal.SIGINT)
    assert (ended, printed) == (130, "atkay: interrupted\n")
    assert not (tmp_path / "saved.json").exists()


def test_two_runs_at_the_same_time(inputs: Inputs, nothing_left: Path) -> None:
    process = start("judging", 3, *inputs)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    given: dict[str, Any] = {"catalog": inputs[2], "memory": FEW}
    assert_same(atkay.evaluate(*inputs[:2], "ndcg@3,map,coverage", **given), expected(inputs))
    assert len(list(nothing_left.iterdir())) == 1  # the other one has its own still
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=50)


FULL = """
import resource, signal, sys
import atkay

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]), int(sys.argv[4])))
try:
    atkay.evaluate(*sys.argv[1:3], memory="1GB", spill=sys.argv[3])
except atkay.errors.SpillError as error:
    print(error)
"""


@pytest.mark.parametrize("most", [10, 1_000, 100_000])
def test_a_disk_that_takes_no_more(most: int, tmp_path: Path, nothing_left: Path) -> None:
    recs, truth = shuffled(lists(9_000, 10)), shuffled(wanted(9_000))
    both = write(recs, tmp_path / "r.parquet"), write(truth, tmp_path / "t.parquet")
    line = [sys.executable, "-c", FULL, *both, str(nothing_left), str(most)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=50)
    assert done.stdout.startswith(f"spill: cannot write to '{nothing_left}"), done.stderr
    assert "File too large. " in done.stdout
    assert "free; about" in done.stdout
    assert "spill=" in done.stdout


class Terminal:
    """What is written to a terminal."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.said.append(text)
        return len(text)

    def flush(self) -> None: ...


def test_progress_with_time_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "SECONDS_BEFORE_BAR", 0.0)
    atkay.evaluate(write(shuffled(RECS), tmp_path / "r.parquet"), write(TRUTH, tmp_path / "t.parquet"), memory=FEW)
    printed = "".join(terminal.said)
    assert "partitioning" in printed
    assert "judging" in printed
    assert "0:00:00" in printed


@pytest.mark.parametrize("given", BOTH)
def test_nobody_is_left_and_there_are_slices(given: dict[str, Any]) -> None:
    with pytest.raises(PopulationError, match=r"no user to evaluate"):
        atkay.evaluate(RECS, TRUTH.with_columns(relevance=pl.lit(0.0)), MANY, slices=SEGMENTS, **given)


WIDE_USERS = [pl.col("user") + 2**63, pl.col("user") + 2**63 * (pl.col("user") % 2), pl.col("user") - 2**63]


@pytest.mark.parametrize("user", WIDE_USERS, ids=["above", "some above", "all below"])
@pytest.mark.parametrize("average_over", [None, "user"])
def test_slices_of_users_beyond_64_bits(user: pl.Expr, average_over: str | None) -> None:
    # In some parts all ids fit into a narrower type than in others, and than those of the slices.
    recs, truth = (frame.cast({"user": pl.Int128}).with_columns(user.alias("user")) for frame in (RECS, TRUTH))
    slices = pl.DataFrame({"user": pl.Series(range(44), dtype=pl.Int128), "half": ["a", "b"] * 22}).with_columns(user)
    metrics = [*MANY, "coverage@2"]
    given: dict[str, Any] = {"slices": slices, "catalog": list(range(15)), "average_over": average_over}
    result = atkay.evaluate(recs, truth, metrics, memory=FEW, **given)
    assert_same(result, atkay.evaluate(recs, truth, metrics, **given))
    assert result.slices["segment"].unique().sort().to_list() == ["a", "b"]


@pytest.mark.parametrize("given", BOTH)
def test_slices_that_name_users_without_truth_alone(given: dict[str, Any]) -> None:
    # Users 0 and 1 have lists and no truth: nobody in a segment is evaluated, and all the others are in none.
    result = atkay.evaluate(RECS, TRUTH, "mrr", slices={0: "x", 1: "y"}, **given)
    ((_, segment, _, everybody),) = result.slice_summaries
    assert segment is None
    assert everybody == result.summaries["mrr"]
    with pytest.raises(IdError, match=r"slices has no user in common with recs and truth: 77 in slices"):
        atkay.evaluate(RECS, TRUTH, "mrr", slices={77: "x"}, **given)
