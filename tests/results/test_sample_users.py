"""The few users that a result keeps in full."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import atkay
from atkay.audit.conventions import conventions
from atkay.dialects.dialect import list_dialects
from atkay.errors import AtkayError, ColumnError, SpecError
from atkay.metrics.metric import RunMetric
from atkay.results.sample_users import USERS_KEPT, Place

RECS = pl.DataFrame(
    {
        "user": ["ann", "ann", "ann", "ann", "bob", "bob"],
        "item": ["rye", "tea", "jam", "tea", "oat", "jam"],
        "score": [1.0, 5.0, 3.0, 4.0, 2.0, 2.0],
    }
)
TRUTH = pl.DataFrame(
    {
        "user": ["ann", "ann", "ann", "ann", "bob", "cat", "dan"],
        "item": ["tea", "rye", "oat", "tea", "jam", "jam", "jam"],
        "relevance": [1, 3, 0, 2, 2, 1, 0],
    }
)


def test_a_user_in_full() -> None:
    result = atkay.evaluate(RECS, TRUTH, ["ndcg@2", "mrr"], duplicates="first", exclude={"ann": ["jam"]})
    examples = result.example_users
    assert examples is not None
    shown = {result.ids["user"][row]: nth for nth, row in enumerate(examples.rows.tolist())}
    assert sorted(shown) == ["ann", "bob", "cat"]  # nothing is relevant for dan
    # jam is excluded; of the two rows of tea the better one counts, in the truth the first one.
    assert examples.listed(shown["ann"]) == [Place(1, "tea", 5.0, 1.0), Place(2, "rye", 1.0, 3.0)]
    assert examples.truth(shown["ann"]) == [("rye", 3.0), ("tea", 1.0)]
    assert examples.listed(shown["bob"]) == [Place(1, "oat", 2.0, None), Place(2, "jam", 2.0, 2.0)]
    assert examples.listed(shown["cat"]) == []
    assert examples.truth(shown["cat"]) == [("jam", 1.0)]
    assert examples.arithmetic(atkay.parse("mrr"), shown["bob"]) == "hit at rank 2: 1 / 2 = 0.5000"


def test_arithmetic_ends_in_the_value_of_the_result() -> None:
    rng = np.random.default_rng(3)
    items = np.array([f"i{n}" for n in range(30)])
    recs = {
        user: dict(zip(rng.choice(items, 8, replace=False), rng.integers(0, 5, 8), strict=True)) for user in range(40)
    }
    truth = {
        user: dict(zip(rng.choice(items, 4, replace=False), rng.integers(0, 4, 4), strict=True)) for user in range(45)
    }
    metrics = [
        cls(k=5) if cls.cuts else cls() for cls in atkay.list_metrics().values() if not issubclass(cls, RunMetric)
    ]
    metrics = [metric for metric in metrics if not (metric.needs or metric.reads_scores)]
    assert len(metrics) > 10
    result = atkay.evaluate(recs, truth, metrics)
    assert result.example_users is not None
    for nth, row in enumerate(result.example_users.rows.tolist()):
        for metric in metrics:
            value = result.query_values[row, result.by_query.index(str(metric))]
            message = "no value" if np.isnan(value) else f"{value:.4f}"
            assert result.example_users.arithmetic(metric, nth).endswith(message), (metric, nth)


def test_few_users_are_kept_and_nothing_of_the_others() -> None:
    users = 5 * USERS_KEPT
    recs = {user: [f"own {user}", "tea"] for user in range(users)}
    result = atkay.evaluate(recs, {user: ["tea"] for user in range(users)}, "mrr")
    assert result.example_users is not None
    assert len(result.example_users) == USERS_KEPT
    assert len(result.example_users.ids) == USERS_KEPT + 1
    assert len(set(result.example_users.rows.tolist())) == USERS_KEPT


def test_nobody_has_truth() -> None:
    result = atkay.evaluate(
        {"ann": ["tea"], "bob": ["tea"]},
        {"ann": {"tea": 0}, "bob": {"tea": 1}},
        "mrr",
        no_truth="zero",
        min_relevance=1,
    )
    assert result.example_users is not None
    assert len(result.example_users) == 1


@pytest.mark.parametrize("spec", ["ndcg@3", "map@3", "mrr@3", "recall@3", "precision@3", "hit@3"])
def test_conventions_are_what_each_dialect_says(spec: str) -> None:
    recs = {"A": {"a": 3, "b": 2, "c": 2, "d": 1}, "B": {"a": 1, "e": 1}, "C": {"z": 1}}
    truth = {"A": {"a": 1, "c": 2, "x": 1, "y": 1}, "B": {"e": 3}, "D": {"a": 1}}
    settings = conventions(recs, truth, spec)
    expected = {"atkay": atkay.evaluate(recs, truth, spec)[spec]}
    for name, each in list_dialects().items():
        try:
            expected[f"{each.library} {each.version}"] = atkay.evaluate(recs, truth, spec, dialect=name)[spec]
        except SpecError:
            continue  # it does not have the metric
        except AtkayError as error:
            raise AssertionError(name) from error
    assert {name: of[spec] for name, of in settings.values.items()} == pytest.approx(expected, nan_ok=True)
    assert len(set(np.round(list(expected.values()), 9))) > 1


def test_what_the_caller_says_of_the_task_holds_for_every_library() -> None:
    recs, truth = {"A": ["a", "b", "c"]}, {"A": {"a": 1, "c": 3}}
    settings = conventions(recs, truth, ["map(per=hits)@2", "coverage@2"], exclude={"A": ["a"]}, min_relevance=2)
    assert settings.specs == ("map@2",)  # words are each library's own, and coverage is of the whole run
    # b and c are left, c alone is relevant: 1/2, whatever it is divided by.
    assert settings.values["atkay"] == {"map@2": 0.5}
    assert settings.values["ranx 0.3.21"] == {"map@2": 0.5}
    assert "atkay" in repr(settings)
    with pytest.raises(ColumnError):
        conventions(pl.DataFrame({"user": ["A"]}), truth, "map@2")
