"""The grammar of specs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atkay
from atkay.errors import SpecError
from atkay.metrics.metric import Metric
from atkay.metrics.spec import parse_all


@pytest.mark.parametrize(
    ("spec", "metric"),
    [
        ("ndcg@10", atkay.NDCG(k=10)),
        ("NDCG(gain=linear)@10", atkay.NDCG(gain="linear", k=10)),
        ("map(per=hits)@10", atkay.MAP(per="hits", k=10)),
        ("recall(per=capped)@5,10,20", atkay.Recall(per="capped", k=(5, 10, 20))),
        (" Recall ( per = Capped ) @ 5, 10 ", atkay.Recall(per="capped", k=(5, 10))),
        ("f1(beta=2)@5", atkay.F1(beta=2, k=5)),
        ("f1(beta=0.5)", atkay.F1(beta=0.5)),
        ("precision", atkay.Precision()),
        ("r-precision", atkay.RPrecision()),
        ("precision(average=pooled,per=listed)@5", atkay.Precision(per="listed", average="pooled", k=5)),
        ("p@5", atkay.Precision(k=5)),
        ("HR@5", atkay.HitRate(k=5)),
        ("hit_rate@5", atkay.HitRate(k=5)),
        ("Hit Rate@5", atkay.HitRate(k=5)),
        ("rr", atkay.MRR()),
        ("ap@5", atkay.MAP(k=5)),
        ("MNAP@3", atkay.MNAP(k=3)),
        ("dcg(discount=ln,gain=binary)", atkay.DCG(gain="binary", discount="ln")),
        ("ndcg()@10", atkay.NDCG(k=10)),
        ("recall@5,5", atkay.Recall(k=5)),
    ],
)
def test_parses(spec: str, metric: Metric) -> None:
    assert atkay.parse(spec) == metric
    assert hash(atkay.parse(spec)) == hash(metric)


@pytest.mark.parametrize(
    ("metric", "spec"),
    [
        (atkay.NDCG(k=10), "ndcg@10"),
        (atkay.NDCG(gain="exp2", k=10), "ndcg@10"),
        (atkay.MAP(per="hits", k=10), "map(per=hits)@10"),
        (atkay.Recall(per="capped", k=(5, 10, 20)), "recall(per=capped)@5,10,20"),
        (atkay.F1(beta=2), "f1(beta=2)"),
        (atkay.Precision(average="pooled", per="listed", k=5), "precision(per=listed,average=pooled)@5"),
        (atkay.NDCG(gain="linear") @ 10, "ndcg(gain=linear)@10"),
        (atkay.Recall() @ (5, 10), "recall@5,10"),
    ],
)
def test_prints(metric: Metric, spec: str) -> None:
    assert str(metric) == spec


def test_cutoffs_in_other_forms() -> None:
    assert atkay.NDCG(k=np.int64(5)) == atkay.NDCG(k=5)  # type: ignore[arg-type]  # taken all the same
    assert atkay.NDCG(k=range(1, 4)) == atkay.NDCG(k=(1, 2, 3))  # type: ignore[arg-type]  # so is this
    assert atkay.NDCG(k=np.array([5, 10])) == atkay.NDCG(k=(5, 10))  # type: ignore[arg-type]  # and this


def test_several_specs_in_one_string() -> None:
    found = parse_all("ndcg@10,map(per=hits)@5,10, f1(beta=2),mrr")
    assert list(map(str, found)) == ["ndcg@10", "map(per=hits)@5,10", "f1(beta=2)", "mrr"]
    words = parse_all("precision(per=listed,average=pooled)@5,10,dcg(gain=linear,discount=ln)@3")
    assert list(map(str, words)) == ["precision(per=listed,average=pooled)@5,10", "dcg(gain=linear,discount=ln)@3"]


def test_asked_twice_is_answered_once() -> None:
    assert list(map(str, parse_all(["p@5", "precision@5", atkay.Precision(k=5)]))) == ["precision@5"]
    assert list(map(str, parse_all("p@5,10,p@10,20,p"))) == ["precision@5,10", "precision@20", "precision"]
    result = atkay.evaluate({1: [1, 2]}, {1: [2]}, ["recall@1,2", "recall@2,3"])
    assert result.to_dict() == {"recall@1": 0, "recall@2": 1, "recall@3": 1}


@pytest.mark.parametrize("metrics", [None, 5, atkay.NDCG, [atkay.NDCG], atkay.Metric()])
def test_what_is_no_metric(metrics: Any) -> None:
    with pytest.raises(SpecError, match=r"cannot read .* as a metric|NDCG is a class; write NDCG"):
        atkay.evaluate({1: [1]}, {1: [1]}, metrics)


def test_a_name_is_given_once() -> None:
    with pytest.raises(SpecError, match="the name 'ndcg' is already used by NDCG"):
        type("Mine", (Metric,), {"name": "mine", "aliases": ("ndcg",)})


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("ndgc@10", "unknown metric 'ndgc'. Did you mean 'ndcg'? atkay.list_metrics() lists all metrics."),
        ("ngcd", "unknown metric 'ngcd'. Did you mean 'ndcg'? atkay.list_metrics() lists all metrics."),
        ("recal@10", "unknown metric 'recal'. Did you mean 'recall'? atkay.list_metrics() lists all metrics."),
        ("precison", "unknown metric 'precison'. Did you mean 'precision'? atkay.list_metrics() lists all metrics."),
        ("xyzzy", "unknown metric 'xyzzy'. atkay.list_metrics() lists all metrics."),
        (
            "ndcg(gain=exp)@10",
            "ndcg: unknown value 'exp' for gain; choose exp2, linear, binary or exp2_above. Did you mean 'exp2'?",
        ),
        ("map(pr=hits)@10", "map: unknown convention 'pr=hits'. Did you mean 'per'?"),
        ("map(hits)@10", "map: unknown convention 'hits'."),
        ("mnap(per=k)", "mnap has no conventions."),
        ("map(per=hits,per=k)", "'per' is given twice"),
        ("ndcg@0", "ndcg: k must be a positive integer up to 10,000,000, got 0"),
        ("ndcg@-5", "got -5"),
        ("ndcg@99999999999999999999", "up to 10,000,000"),
        ("ndcg@1_0", "write positive integers after '@'"),
        ("recall(capped)@5", "Write 'per=capped'."),
        ("ndcg@ten", "write positive integers after '@'"),
        ("ndcg@1.5", "write positive integers after '@'"),
        ("ndcg@", "write positive integers after '@'"),
        ("r_precision@5", "r_precision takes no cutoff"),
        ("f1(beta=-1)", "f1: beta must be a number above 0, at most a million, got '-1'"),
        ("f1(beta=two)", "got 'two'"),
        ("", "cannot read '' as a metric"),
        ("ndcg@10 map@10", "write positive integers after '@'"),
        (["ndcg@10", 7], "cannot read 7 as a metric; write a spec"),
        ([], "metrics is empty"),
    ],
)
def test_refuses(spec: str | list[str], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_all(spec)
    assert message in str(caught.value)


@pytest.mark.parametrize("k", [0, -1, 2.5, True, (), (5, 0), "10"])
def test_refuses_cutoffs(k: object) -> None:
    with pytest.raises(SpecError, match="k must be a positive integer up to 10,000,000"):
        atkay.NDCG(k=k)  # type: ignore[arg-type]  # the mistake


def test_the_catalogue_lists_what_exists() -> None:
    found = atkay.list_metrics()
    founding = {"dcg", "f1", "hit", "map", "mnap", "mrr", "ndcg", "precision", "r_precision", "recall"}
    assert founding <= set(found)
    assert list(found) == sorted(found)
    assert found["ndcg"] is atkay.NDCG
    assert "gain = exp2 | linear | binary" in repr(found)
    assert "<table>" in found._repr_html_()


def test_no_alias_means_two_metrics() -> None:
    names = [alias for cls in atkay.list_metrics().values() for alias in (cls.name, *cls.aliases)]
    assert len(names) == len(set(names))


def test_a_cutoff_without_its_name() -> None:
    cls: Any = type(atkay.parse("ndcg"))
    with pytest.raises(SpecError, match=r"unknown value 10 for gain; .* For a cutoff write NDCG\(k=10\)\.$"):
        cls(10)
