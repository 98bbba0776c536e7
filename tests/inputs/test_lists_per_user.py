"""A row per user with a list of items: the same lists give the same numbers in every form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import atkay
from atkay import Columns
from atkay.errors import ColumnError, InputError, OrderError, SourceError

LISTS = {1: [5, 9, 2], 2: [7, 5], 3: []}
SCORES = {1: [0.5, 0.25, 0.125], 2: [2.0, 1.0], 3: []}
GRADES = {1: {9: 3, 4: 1}, 2: {7: 1}, 3: {5: 2}}
METRICS = ["mrr@3", "recall@2", "ndcg(gain=linear)@3"]
SCORED = {user: dict(zip(items, SCORES[user], strict=True)) for user, items in LISTS.items()}
EXPECTED = atkay.evaluate(SCORED, GRADES, METRICS)

ROWS = pl.DataFrame({"user": list(LISTS), "items": list(LISTS.values()), "scores": list(SCORES.values())})
PAIRS = [[{"movieId": item, "rating": score} for item, score in graded.items()] for graded in SCORED.values()]
STRUCTS = pl.DataFrame({"userId": list(LISTS), "recommendations": PAIRS})
TRUTH = pl.DataFrame(
    {
        "user": list(GRADES),
        "items": [[{"item": item, "rating": each[item]} for item in each] for each in GRADES.values()],
    }
)
TEXT = pl.DataFrame({"customer_id": [1, 2, 3], "prediction": [" 5 9  2", "7 5", None]})


class Row(tuple[Any, ...]):
    """As Spark hands over a struct: a tuple that knows its names."""

    __fields__ = ("movieId", "rating")


def objects(entry: Callable[[Any], Any]) -> pd.DataFrame:
    """A pandas frame with a list of objects per user, None for the one without."""
    lists = [[entry(pair) for pair in graded.items()] or None for graded in SCORED.values()]
    return pd.DataFrame({"user": list(LISTS), "recommendations": lists})


FORMS: dict[str, Any] = {
    "lists side by side": ROWS,
    "lists alone": ROWS.select("user", "items"),
    "lists in the usual column": ROWS.select("user", item="items"),
    "missing, not empty": ROWS.select("user", pl.when(pl.col("items").list.len() > 0).then("items")),
    "lazy": ROWS.lazy(),
    "Arrow": ROWS.to_arrow(),
    "structs": STRUCTS,
    "structs, lazy": STRUCTS.lazy(),
    "pandas with lists": ROWS.to_pandas(),
    "pandas with arrays": pd.DataFrame({"user": list(LISTS), "items": [np.array(items) for items in LISTS.values()]}),
    "pandas with tuples": objects(tuple),
    "pandas with rows": objects(Row),
    "pandas with dicts": objects(lambda pair: {"item": pair[0], "score": pair[1]}),
    "text": TEXT,
    "text in pandas": TEXT.to_pandas(),
    "text, all of it": TEXT.cast({"customer_id": pl.String}),
}


def test_the_expected_numbers() -> None:
    # User 1 finds 9 at rank 2 of [9, 4]; user 2 finds 7 at rank 1; user 3 has no list.
    assert EXPECTED["mrr@3"] == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert EXPECTED["recall@2"] == pytest.approx((1 / 2 + 1 + 0) / 3)
    discount = 1 / np.log2(3)
    assert EXPECTED["ndcg(gain=linear)@3"] == pytest.approx((3 * discount / (3 + 1 * discount) + 1 + 0) / 3)
    assert EXPECTED.population.without_list == 1


def same(result: atkay.Result) -> None:
    assert result.table.equals(EXPECTED.table)
    assert result.fingerprint == EXPECTED.fingerprint
    assert result.population == EXPECTED.population


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_lists(form: str) -> None:
    truth: Any = GRADES
    if form == "text, all of it":
        truth = {str(user): {str(item): grade for item, grade in each.items()} for user, each in GRADES.items()}
        result = atkay.evaluate(FORMS[form], truth, METRICS)
        assert result.table.equals(EXPECTED.table)
        return
    same(atkay.evaluate(FORMS[form], truth, METRICS))


@pytest.mark.parametrize("form", ["lists side by side", "lazy", "structs", "pandas with tuples", "text"])
def test_lists_in_parts(form: str) -> None:
    same(atkay.evaluate(FORMS[form], TRUTH, METRICS, memory="100MB"))


@pytest.mark.parametrize(
    "form", [TRUTH, TRUTH.to_pandas(), TRUTH.lazy(), TRUTH.to_arrow()], ids=lambda form: type(form).__name__
)
def test_lists_of_truth(form: Any) -> None:
    same(atkay.evaluate(SCORED, form, METRICS))


def test_files_of_lists(tmp_path: Path) -> None:
    STRUCTS.write_parquet(tmp_path / "recs.parquet")
    ROWS.write_ndjson(tmp_path / "recs.jsonl")
    TRUTH.write_parquet(tmp_path / "truth.parquet")
    TEXT.write_csv(tmp_path / "recs.csv")
    for name in ("recs.parquet", "recs.jsonl", "recs.csv"):
        for memory in (None, "100MB"):
            same(atkay.evaluate(tmp_path / name, tmp_path / "truth.parquet", METRICS, memory=memory))


def test_lists_of_other_tables() -> None:
    seen = pl.DataFrame({"user": [1, 2], "items": [[5], [9]]})
    by_row = atkay.evaluate(ROWS, GRADES, METRICS, exclude=seen)
    # Without 5, user 1 finds 9 at rank 1; 9 is not in the list of user 2.
    assert by_row["mrr@3"] == pytest.approx((1 + 1 + 0) / 3)
    assert by_row.fingerprint == atkay.evaluate(SCORED, GRADES, METRICS, exclude={1: [5], 2: [9]}).fingerprint


def test_text_is_split_and_said_so() -> None:
    assert "recs from 'prediction', split at blanks" in atkay.evaluate(TEXT, GRADES, METRICS).readings
    assert not any("split" in words for words in atkay.evaluate(ROWS, GRADES, METRICS).readings)


def test_named_columns_of_lists() -> None:
    named = ROWS.rename({"items": "shown", "scores": "how"})
    same(atkay.evaluate(named, GRADES, METRICS, columns={"recs": Columns(item="shown", score="how")}))
    assert atkay.evaluate(STRUCTS, GRADES, METRICS).columns["recs"] == {
        "user": "userId",
        "item": "movieId",
        "score": "rating",
    }


def test_a_name_in_the_structs_and_beside_them() -> None:
    frame = STRUCTS.with_columns(rating=pl.lit(4.0))
    assert atkay.evaluate(frame, GRADES, METRICS).columns["recs"]["score"] == "recommendations.rating"


@pytest.mark.parametrize(
    ("recs", "error", "message"),
    [
        (
            pl.DataFrame({"user": [1, 2], "prediction": ["5 9", "7"]}),
            InputError,
            r"recs: 'prediction' has blanks in 1 of 2 rows: they could separate items, or be part of an id. Name the "
            r"column 'item' if each row holds one id; if it holds several, make it a list",
        ),
        (
            ROWS.with_columns(scores=pl.col("scores").list.head(1)),
            SourceError,
            "'scores' has 1 entries where 'items' has 3",
        ),
        (ROWS.with_columns(recommendations="items"), ColumnError, "could each be the lists of items"),
        (
            pl.DataFrame({"user": [1], "recs": [[{"a": 1, "b": 2.0}]]}),
            ColumnError,
            r"'recs' holds structs of \(?'a', 'b'\)?, of which none has the name of an item",
        ),
        (
            pd.DataFrame({"user": [1], "recs": [[(1, 2, 3)]]}),
            SourceError,
            "'recs' holds tuples of another length than 2",
        ),
        (pd.DataFrame({"user": [1], "recs": [[1, "a"]]}), InputError, "found int, str"),
    ],
)
def test_lists_that_are_refused(recs: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        atkay.evaluate(recs, GRADES, "mrr")


def test_ids_with_blanks_stay_whole() -> None:
    """A column of one item is not split, whatever its values hold."""
    recs = pl.DataFrame({"user": [1, 1, 2], "item": ["green tea", "rye", "green tea"]})
    # User 1 finds rye at rank 2, user 2 green tea at rank 1.
    assert atkay.evaluate(recs, {1: ["rye"], 2: ["green tea"]}, "mrr")["mrr"] == 0.75


# Objects of recommender libraries; stand-ins, as none of them is needed for the tests.


class ItemListCollection:
    """A collection of LensKit, as far as it is read."""

    __module__ = "lenskit.data.collection"
    key_fields = ("user_id",)

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def to_df(self) -> pd.DataFrame:
        return self._frame

    @classmethod
    def from_dict(cls, lists: dict[int, ItemList], key: str) -> ItemListCollection:
        frames = [each.frame.assign(**{key: user}) for user, each in lists.items()]
        return cls(pd.concat(frames, ignore_index=True))


class ItemList:
    """A list of LensKit."""

    __module__ = "lenskit.data.items"

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame

    def to_df(self) -> pd.DataFrame:
        return self.frame


class Dataset:
    """A data set of RecTools, whose interactions have internal ids."""

    __module__ = "rectools.dataset.dataset"

    def get_raw_interactions(self) -> pd.DataFrame:
        rows = [(user, item, grade) for user, each in GRADES.items() for item, grade in each.items()]
        return pd.DataFrame(rows, columns=["user_id", "item_id", "weight"])


class Interactions:
    """Interactions of RecTools."""

    __module__ = "rectools.dataset.interactions"


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    data = SimpleNamespace(ItemListCollection=ItemListCollection)
    for name, module in {"lenskit": data, "lenskit.data": data}.items():
        monkeypatch.setitem(__import__("sys").modules, name, module)


@pytest.mark.usefixtures("libraries")
def test_objects_of_lenskit() -> None:
    lists = {
        user: ItemList(pd.DataFrame({"item_id": items, "score": SCORES[user], "rank": range(1, len(items) + 1)}))
        for user, items in LISTS.items()
        if items
    }
    same(atkay.evaluate(ItemListCollection.from_dict(lists, "user_id"), GRADES, METRICS))
    same(atkay.evaluate(lists, GRADES, METRICS))
    unordered = ItemListCollection(pd.DataFrame({"user_id": [1, 1], "item_id": [5, 9]}))
    with pytest.raises(OrderError, match=r"recs: the item lists have neither an order nor scores.*ordered=True"):
        atkay.evaluate(unordered, GRADES, METRICS)
    with pytest.raises(SourceError, match=r"recs: an ItemList has no user. Pass \{user: item_list\}"):
        atkay.evaluate(lists[1], GRADES, METRICS)


@pytest.mark.usefixtures("libraries")
def test_objects_of_rectools() -> None:
    same(atkay.evaluate(SCORED, Dataset(), METRICS, columns={"truth": Columns(relevance="weight")}))
    with pytest.raises(SourceError, match=r"hold internal ids.*get_raw_interactions.*interactions\.df"):
        atkay.evaluate(SCORED, Interactions(), METRICS)


class Interchange:
    """A frame of a library that has no Arrow: the interchange protocol and nothing else."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return self._frame.__dataframe__(nan_as_null=nan_as_null, allow_copy=allow_copy)


def test_the_interchange_protocol() -> None:
    rows = [(user, item, score) for user, each in SCORED.items() for item, score in each.items()]
    frame = pl.DataFrame(rows, schema=["user", "item", "score"], orient="row").to_arrow()
    same(atkay.evaluate(Interchange(frame), GRADES, METRICS))
    with pytest.raises(SourceError, match="cannot read an Interchange by the dataframe interchange protocol"):
        atkay.evaluate(Interchange(STRUCTS.to_arrow()), GRADES, METRICS)


# Files of recommender data sets

RECBOLE = (
    "user_id:token\titem_id:token\trating:float\ttimestamp:float\n1\t9\t3\t5\n1\t4\t1\t5\n2\t7\t1\t5\n3\t5\t2\t5\n"
)
MOVIELENS = "1::9::3::978300760\n1::4::1::978302109\n2::7::1::978301968\n\n3::5::2::978300275\n"


@pytest.mark.parametrize(
    ("name", "content", "column"),
    [
        ("ml.inter", RECBOLE, "user_id"),
        ("unnamed", RECBOLE, "user_id"),
        ("ratings.dat", MOVIELENS, "user"),
        ("ratings.dat", MOVIELENS.replace("\n", "\r\n"), "user"),
        ("ratings.dat", "uid::iid::rating::ts\n" + MOVIELENS, "uid"),
    ],
)
def test_ratings_of_data_sets(name: str, content: str, column: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content.encode())
    for memory in (None, "100MB"):
        result = atkay.evaluate(SCORED, tmp_path / name, METRICS, memory=memory)
        same(result)
        assert result.columns["truth"]["user"] == column


def test_categories_of_data_sets(tmp_path: Path) -> None:
    (tmp_path / "movies.dat").write_bytes(
        b"5::Toy Story (1995)::Animation|Comedy\n9::Caf\xe9 au Lait (1993)::Comedy\n2::Heat::Action\n7::X::Drama\n"
    )
    (tmp_path / "ml.item").write_text(
        "item_id:token\tclass:token_seq\n5\tAnimation Comedy\n9\tComedy\n2\tAction\n7\tDrama\n"
    )
    # User 1 sees Animation, Comedy and Action; user 2 Drama, Animation and Comedy.
    for name, reading in {
        "movies.dat": "categories from features' column 'genres' (split at '|')",
        "ml.item": "",
    }.items():
        result = atkay.evaluate(SCORED, GRADES, "category_count@3", features=tmp_path / name, no_recs="skip")
        assert result["category_count@3"] == 3
        assert not reading or reading in result.readings


def test_fields_that_are_not_known(tmp_path: Path) -> None:
    (tmp_path / "odd.dat").write_text("a::b::c::d\n")
    with pytest.raises(
        SourceError, match=r"cannot tell what the fields of 'odd\.dat' are: 'a::b::c::d'. Put a header line"
    ):
        atkay.evaluate(SCORED, tmp_path / "odd.dat", "mrr")
    (tmp_path / "short.dat").write_text("1::9::3::5\n1::4\n2::7::1::5\n")
    with pytest.raises(InputError, match="truth"):
        atkay.evaluate(SCORED, tmp_path / "short.dat", "mrr")
