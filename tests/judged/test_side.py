"""What is given besides lists and truth: every form it may come in, and what is refused."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import atkay
from atkay.errors import ColumnError, DuplicateError, IdError, InputError, OrderError, OverlapWarning, SideError
from atkay.inputs.coding.align import Aligned, align_tables
from atkay.inputs.columns import Columns
from atkay.inputs.read import read_tables
from atkay.judged.judged import Judged
from atkay.judged.side import Side
from atkay.metrics.spec import parse_all
from atkay.protocol import Protocol
from atkay.tables import SIDE, TABLES

RECS = {"ann": ["tea", "jam"], "bob": ["jam", "rye"], "eve": ["tea"]}
TRUTH = {"ann": ["jam"], "bob": ["tea"], "eve": ["tea"]}


def aligned(columns: Columns | None = None, pairs: bool = False, **beside: Any) -> Aligned:
    tables = read_tables({"recs": RECS, "truth": TRUTH, **beside}, Protocol(), columns)
    return align_tables(tables, Protocol(), metrics=parse_all("ild(by=cooccurrence)") if pairs else ())


def names(rows: Aligned, codes: Any) -> list[str]:
    return rows.items.ids(np.asarray(codes)).to_series().to_list()


TRAIN = {"ann": ["tea", "oat"], "cat": ["tea"], "bob": ["rye"]}
FRAME = pl.DataFrame({"user": ["ann", "cat", "ann", "bob", "ann"], "item": ["tea", "tea", "oat", "rye", "tea"]})


@pytest.mark.parametrize(
    "train",
    [
        TRAIN,
        FRAME,
        FRAME.lazy(),
        FRAME.to_pandas(),
        FRAME.to_arrow(),
        FRAME.with_columns(rating=pl.lit(3), time=pl.lit(1)),
    ],
    ids=["dict", "polars", "lazy", "pandas", "arrow", "more columns"],
)
def test_train(train: Any) -> None:
    """A pair that stands twice counts once; an item and a user that nobody else knows count, too."""
    rows = aligned(train=train)
    assert rows.side is not None
    assert rows.side.train is not None
    trained = rows.side.train
    assert trained.users == 3
    popularity = dict(zip(names(rows, range(rows.items.size)), trained.popularity.tolist(), strict=True))
    assert popularity == {"jam": 0, "oat": 1, "rye": 1, "tea": 2}
    edges = itertools.pairwise(trained.history.start)
    items = [sorted(names(rows, trained.history.item[begin:end])) for begin, end in edges]
    assert items == [["oat", "tea"], ["rye"], []]


def test_train_from_a_file(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "train.csv")
    result = atkay.evaluate(RECS, TRUTH, "arp@1", train=tmp_path / "train.csv")
    # The first items are tea (2 users), jam (0) and tea (2).
    assert result["arp@1"] == pytest.approx(4 / 3)
    assert result.columns["train"] == {"user": "user", "item": "item"}


def test_items_that_share_users() -> None:
    rows = aligned(train={"ann": ["tea", "oat", "jam"], "cat": ["tea", "jam"], "bob": ["rye"]}, pairs=True)
    assert rows.side is not None
    assert rows.side.train is not None
    pairs = rows.side.train.pairs
    assert pairs is not None
    code = {name: code for code, name in enumerate(names(rows, range(rows.items.size)))}
    expected = {"tea jam": 2, "jam tea": 2, "tea oat": 1, "jam oat": 1, "rye tea": 0, "oat rye": 0}
    one, other = (np.array([code[pair.split()[side]] for pair in expected]) for side in (0, 1))
    assert pairs.shared(one, other).tolist() == list(expected.values())
    # ann has tea and oat, cat tea and jam: n = 2 for tea and jam, 1 for oat; an item is like itself.
    like = rows.side.train.likeness(np.array([code["tea"], code["tea"]]), np.array([code["oat"], code["tea"]]))
    assert like.tolist() == pytest.approx([1 / np.sqrt(2), 1])


@pytest.mark.parametrize(
    "catalog",
    [
        ["tea", "jam", "rye", "oat"],
        {"tea", "jam", "rye", "oat"},
        np.array(["tea", "jam", "rye", "oat"]),
        pl.Series(["tea", "jam", "rye", "oat", "tea"]),
        pl.DataFrame({"sku": ["tea", "jam", "rye", "oat"], "price": [1, 2, 3, 4]}),
        pd.DataFrame({"whatever": ["tea", "jam", "rye", "oat"]}),
    ],
    ids=["list", "set", "array", "series", "frame", "one column"],
)
def test_catalog(catalog: Any) -> None:
    # Of four items tea, jam and rye are listed.
    assert atkay.evaluate(RECS, TRUTH, "coverage", catalog=catalog)["coverage"] == 0.75


@pytest.mark.parametrize(
    "features",
    [
        {"tea": [1.0, 2.0], "jam": [3.0, 4.0]},
        {"tea": (1, 2), "jam": (3, 4)},
        pl.DataFrame({"item": ["tea", "jam"], "x": [1, 3], "y": [2.0, 4.0]}),
        pl.DataFrame({"item": ["tea", "jam"], "vector": [[1, 2], [3, 4]]}),
        pl.DataFrame(
            {"item": ["tea", "jam"], "vector": [[1.0, 2.0], [3.0, 4.0]]},
            schema_overrides={"vector": pl.Array(pl.Float64, 2)},
        ),
        pd.DataFrame({"item_id": ["tea", "jam"], "x": [1, 3], "y": [2.0, 4.0]}),
    ],
    ids=["dict", "dict of tuples", "columns", "lists", "arrays", "pandas"],
)
def test_vectors(features: Any) -> None:
    rows = aligned(features=features)
    assert rows.side is not None
    assert rows.side.features is not None
    vectors = rows.side.features.vectors
    assert vectors is not None
    vector_of = dict(zip(names(rows, range(rows.items.size)), vectors.tolist(), strict=True))
    assert vector_of["tea"] == [1, 2]
    assert vector_of["jam"] == [3, 4]
    assert np.isnan(vector_of["rye"]).all()


def test_vectors_of_numbered_items() -> None:
    features = np.array([[1, 0], [0, 1], [5, 5]])
    tables = read_tables({"recs": [[0, 2]], "truth": [[2]], "features": features}, Protocol())
    rows = align_tables(tables, Protocol())
    assert rows.side is not None
    assert rows.side.features is not None
    assert rows.side.features.vectors is not None
    assert rows.side.features.vectors.tolist() == [[1, 0], [0, 1], [5, 5]]


@pytest.mark.parametrize(
    "features",
    [
        {"tea": ["hot", "drink"], "jam": ["sweet"]},
        pl.DataFrame({"item": ["tea", "jam"], "kinds": [["hot", "drink", "hot"], ["sweet"]]}),
        pl.DataFrame({"item": ["tea", "jam", "tea", "tea"], "kind": ["hot", "sweet", "drink", None]}),
        pl.DataFrame({"item": ["tea", "jam", "tea"], "kind": ["hot", "sweet", "drink"]}).cast({"kind": pl.Categorical}),
    ],
    ids=["dict", "lists", "rows", "categorical"],
)
def test_categories(features: Any) -> None:
    rows = aligned(features=features)
    assert rows.side is not None
    assert rows.side.features is not None
    kinds = rows.side.features.categories
    assert kinds is not None
    assert kinds.n_items == 3
    assert dict(zip(names(rows, range(rows.items.size)), kinds.length.tolist(), strict=True)) == {
        "jam": 1, "rye": 0, "tea": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    "reference",
    [
        {"ann": ["tea", "rye"], "eve": ["rye", "tea"]},
        {"ann": {"rye": 0.5, "tea": 2}, "eve": {"tea": 1, "rye": 3}},
        pl.DataFrame(
            {"user": ["ann", "eve", "ann", "eve"], "item": ["rye", "rye", "tea", "tea"], "rank": [2, 1, 1, 2]}
        ),
    ],
    ids=["lists", "scores", "ranks"],
)
def test_reference(reference: Any) -> None:
    rows = aligned(reference=reference)
    assert rows.side is not None
    lists = rows.side.reference
    assert lists is not None
    items = [names(rows, lists.item[begin:end]) for begin, end in itertools.pairwise(lists.start)]
    assert items == [["tea", "rye"], [], ["rye", "tea"]]


@pytest.mark.parametrize(
    "reference",
    [
        ["rye", "tea"],
        pl.DataFrame({"item": ["tea", "rye"], "score": [0.1, 0.7]}),
        pl.DataFrame({"item": ["tea", "rye"], "rank": [2, 1]}),
    ],
    ids=["list", "scores", "ranks"],
)
def test_one_reference_for_everybody(reference: Any) -> None:
    rows = aligned(reference=reference)
    assert rows.side is not None
    assert rows.side.reference is not None
    assert names(rows, rows.side.reference.item) == ["rye", "tea"] * 3


def test_codes_of_lists_do_not_depend_on_what_else_is_given() -> None:
    alone = atkay.evaluate(RECS, TRUTH, "ndcg")
    beside = atkay.evaluate(RECS, TRUTH, "ndcg", train=TRAIN, catalog=["oat", "tea", "a"])
    assert beside.to_dict() == alone.to_dict()
    assert beside.population == alone.population
    assert {name: beside.fingerprint[name] for name in ("recs", "truth")} == alone.fingerprint


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"train": {1: ["tea"]}}, IdError, "train and truth have ids of different types"),
        ({"train": pl.DataFrame({"a": ["ann"], "item": ["tea"]})}, ColumnError, "train: no column for the user"),
        ({"catalog": pl.DataFrame({"a": ["tea"], "b": ["jam"]})}, ColumnError, "catalog: no column for the item"),
        ({"catalog": []}, InputError, "catalog: items has no rows"),
        ({"features": pl.DataFrame({"item": ["tea"]})}, InputError, "features: no column besides the item"),
        (
            {"features": pl.DataFrame({"item": ["tea", "tea"], "x": [1, 2]})},
            DuplicateError,
            "'tea' has two rows of numbers",
        ),
        ({"features": {"tea": [1.0, 2.0], "jam": [3.0]}}, InputError, "of different lengths"),
        (
            {"features": pl.DataFrame({"item": ["tea"], "x": [None]}, schema_overrides={"x": pl.Float64})},
            InputError,
            "has missing or non-finite values",
        ),
        (
            {"features": pl.DataFrame({"item": ["tea"], "x": [float("nan")]})},
            InputError,
            "has missing or non-finite values",
        ),
        ({"features": pl.DataFrame({"item": ["tea"], "x": [{"a": 1}]})}, InputError, "is of type Struct"),
        ({"reference": {"ann": ["tea", "tea"]}}, DuplicateError, "'tea' appears twice"),
        (
            {"reference": pl.DataFrame({"item": ["tea"], "rank": [2]})},
            OrderError,
            "reference: 'rank' of all users is 2; the ranks of a list of 1 must be 1 to 1, each once",
        ),
        (
            {"reference": pl.DataFrame({"user": ["ann"] * 2, "item": ["a", "b"], "rank": [1, 2], "score": [3, 4]})},
            OrderError,
            "reference: 'rank' and 'score' contradict each other: for user 'ann', rank 1 has score 3 and rank 2 has "
            "score 4. Name the one to use: columns={'reference': ",
        ),
        (
            {"reference": pl.DataFrame({"user": ["ann"], "item": ["tea"], "rank": [2]})},
            OrderError,
            "reference: 'rank' of user 'ann' is 2; the ranks of a list of 1 must be 1 to 1, each once",
        ),
        ({"trian": TRAIN}, InputError, None),
    ],
)
def test_what_is_refused(given: dict[str, Any], error: type[Exception], message: str | None) -> None:
    if message is None:
        with pytest.raises(atkay.errors.ProtocolError, match=r"no argument 'trian'\. Did you mean 'train'"):
            atkay.evaluate(RECS, TRUTH, "mrr", **given)
        return
    with pytest.raises(error, match=message):
        atkay.evaluate(RECS, TRUTH, "mrr", **given)


def test_many_items_and_none_in_common() -> None:
    recs, train = {1: list(range(200))}, {1: list(range(1000, 1200))}
    with pytest.raises(
        IdError, match="train has no item in common with recs and truth: 1000 in train, 0 in recs or truth"
    ):
        atkay.evaluate(recs, {1: [5]}, "mrr", train=train)
    with pytest.warns(OverlapWarning, match="train has no item in common with recs and truth: 1000 in train, 0 in"):
        assert atkay.evaluate({1: [0]}, {1: [0]}, "arp", train=train)["arp"] == 0


@pytest.mark.parametrize(("spec", "name"), [("arp@2", "train"), ("coverage@2", "catalog")])
def test_a_metric_names_what_it_needs(spec: str, name: str) -> None:
    with pytest.raises(SideError, match=rf"{spec} needs {name}=: "):
        atkay.evaluate(RECS, TRUTH, ["mrr", spec])


def test_a_fingerprint_of_everything_that_was_given() -> None:
    def of(**given: Any) -> dict[str, str]:
        return dict(atkay.evaluate(RECS, TRUTH, "mrr", **given).fingerprint)

    vectors = {"tea": [1.0, 2.0], "jam": [3.0, 4.0]}
    tables: dict[str, Any] = {
        "train": TRAIN, "catalog": ["tea", "jam"], "features": vectors, "reference": {"ann": ["tea", "jam"]}
    }  # fmt: skip
    others: dict[str, Any] = {
        "train": {"ann": ["tea"], "cat": ["tea", "oat"], "bob": ["rye"]},  # as popular, by others
        "catalog": ["tea", "rye"],
        "features": {"tea": [1.0, 2.0], "jam": [4.0, 3.0]},
        "reference": {"ann": ["jam", "tea"]},
    }
    before = of(**tables)
    assert set(before) == {"recs", "truth", *tables}
    for name, other in others.items():
        after = of(**{**tables, name: other})
        assert {key for key in before if before[key] != after[key]} == {name}
    shuffled = FRAME.sample(fraction=1, shuffle=True, seed=1)
    assert of(train=shuffled) == of(train=TRAIN)
    kinds = of(features={"tea": ["hot"], "jam": ["sweet"]})["features"]
    assert kinds != of(features={"tea": ["sweet"], "jam": ["hot"]})["features"]


def test_whole_and_broken_numbers_in_one_vector() -> None:
    result = atkay.evaluate(RECS, TRUTH, "ild@2", features={"tea": [1.0, 0], "jam": [0, 1.0]})
    assert result.per_query["ild@2"][0] == pytest.approx(1)  # tea and jam are at a right angle


def test_a_reference_is_ordered_and_of_the_same_users() -> None:
    with pytest.raises(atkay.errors.SourceError, match="reference: a set has no order"):
        atkay.evaluate(RECS, TRUTH, "unexpectedness@2", reference={"tea", "jam"})
    with pytest.raises(
        IdError, match="reference has no user in common with recs and truth: 999 in reference, 0 in recs or truth"
    ):
        atkay.evaluate({n: ["tea"] for n in range(200)}, {1: ["tea"]}, "unexpectedness@2", reference={999: ["tea"]})
    empty = pl.DataFrame({"item": ["tea"], "v": [[]]}, schema_overrides={"v": pl.List(pl.Float64)})
    with pytest.raises(InputError, match="of different lengths"):
        atkay.evaluate(RECS, TRUTH, "ild@2", features=empty)


@pytest.mark.filterwarnings(
    "ignore::atkay.errors.OverlapWarning"
)  # the one listed item is not the one that the user had
def test_vectors_of_any_length() -> None:
    """Only the direction counts: the same one is not serendipitous, however long or short the vectors are."""
    for long in (1e200, 1.0, 1e-200):
        features = {"tea": [long, long], "jam": [long, long]}
        spec = "serendipity(kind=cosine,similarity=features)@1"
        result = atkay.evaluate({1: ["tea"]}, {1: ["tea"]}, spec, train={1: ["jam"]}, features=features)
        assert result[spec] == pytest.approx(0, abs=1e-12)


def test_whole_run_metrics_alone_with_users_without_truth() -> None:
    catalog = ["tea", "jam", "rye", "oat"]
    result = atkay.evaluate(RECS | {"zoe": ["rye"]}, TRUTH, "coverage", catalog=catalog, no_truth="zero")
    assert result["coverage"] == 0.75


def test_every_side_table_is_a_field_and_a_property() -> None:
    """A side table is declared in TABLES, has a field of Side, and metrics read it as a property of Judged."""
    assert {field.name for field in dataclasses.fields(Side)} == {"n_items", *SIDE}
    for name in SIDE:
        with pytest.raises(SideError, match=f"a metric needs {name}=: {TABLES[name].meaning}"):
            getattr(Judged.of_nobody(3, Side(3)), name)
