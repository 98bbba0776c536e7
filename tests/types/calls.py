"""Right and wrong calls, which type checkers read and nobody runs; a line is wrong where it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import atkay
from atkay import tasks

if TYPE_CHECKING:
    from atkay.engines.torchmetrics import StreamMetric

recs: Any = {"ann": ["tea"]}
truth: Any = {"ann": ["tea"]}
vectors: Any = None


def evaluate() -> None:
    atkay.evaluate(recs, truth)
    atkay.evaluate(recs, truth, "ndcg@10", ties="item", no_recs="skip", min_relevance=4, seed=1)
    atkay.evaluate(recs, truth, [atkay.NDCG(k=10), "map@5"], average_over=["user"], dialect="ranx")
    atkay.evaluate(recs, truth, columns=atkay.Columns(user="uid"), exclude=recs, memory="2GB", train=recs)
    atkay.evaluate(recs, truth, protocol=atkay.Protocol(ties="best", no_truth="zero"))
    atkay.evaluate(recs, truth, ties="bogus")  # wrong
    atkay.evaluate(recs, truth, tie="item")  # wrong
    atkay.evaluate(recs, truth, no_recs=0)  # wrong
    atkay.evaluate(recs, truth, min_relevance="4")  # wrong
    atkay.evaluate(recs, truth, k=10)  # wrong
    atkay.evaluate(recs, truth, basline=recs)  # wrong
    atkay.evaluate(recs, truth, 10)  # wrong
    atkay.evaluate(recs, truth, sampled=100)  # wrong
    atkay.evaluate(recs)  # wrong
    atkay.evalute(recs, truth)  # wrong
    atkay.Protocol(ties="items")  # wrong
    atkay.Protocol(tie="item")  # wrong


def metrics() -> None:
    atkay.NDCG(gain="linear", discount="jk", ideal="full", k=10)
    atkay.NDCG("linear", k=(5, 10))
    atkay.F1(beta=2, average="pooled")
    print(atkay.Novelty(unseen="skip") @ 10, atkay.MAP(per="capped") @ (5, 10))
    atkay.NDCG(gain="lin")  # wrong
    atkay.NDCG(gains="linear")  # wrong
    atkay.NDCG(k="10")  # wrong
    atkay.NDCG(k=1.5)  # wrong
    atkay.NDCG() @ "10"  # wrong
    atkay.F1(beta="2")  # wrong
    atkay.Precision(average="pool")  # wrong
    atkay.Novelty(unseen="none")  # wrong
    atkay.AUC(unlisted="first")  # wrong
    atkay.Serendipity(kind="ranx")  # wrong
    atkay.Sampled(100, 10, estimator="best")  # wrong


def results() -> None:
    result = atkay.evaluate(recs, truth)
    number: float = result["ndcg@10"]
    rows: int = result.per_query.height + result.population.evaluated
    result.to_dict(names="plain", intervals="ends")
    result.plot("curves")
    text: str = result["ndcg@10"]  # wrong
    print(number, rows, text)
    result.mean  # wrong
    result.per_user  # wrong
    result.population.users  # wrong
    result.to_dict(names="short")  # wrong
    result.plot("bars")  # wrong
    atkay.Result.load(5)  # wrong


def compare() -> None:
    runs = {"old": recs, "new": recs}
    found = atkay.compare(runs, truth, "mrr", baseline="old", test="t", correction="bh", ties="item", slices=recs)
    atkay.compare(runs, truth, test=["permutation", "wilcoxon"], family="metric", interval="bca", min_effect=0.01)
    print(found["mrr"][0].difference + 1)
    found.plot("means")
    atkay.report(found, "report.html", recs=runs, truth=truth, ties="item")
    atkay.compare(runs, truth, basline="old")  # wrong
    atkay.compare(runs, truth, baseline=1)  # wrong
    atkay.compare(runs, truth, test="student")  # wrong
    atkay.compare(runs, truth, test=["t", "student"])  # wrong
    atkay.compare(runs, truth, correction="holmes")  # wrong
    atkay.compare(runs, truth, interval="normal")  # wrong
    atkay.compare(runs, truth, ties="bogus")  # wrong
    atkay.compare(recs)["mrr"][0].diff  # wrong
    found.winners  # wrong
    atkay.report(found, "report.html", tie="item")  # wrong


def audit() -> None:
    atkay.explain(recs, truth, "map@5", "ranx", ties="item", their_protocol={"ties": "given"})
    atkay.variants(recs, truth, "map@5", no_recs="skip", exclude=recs).to_dict()
    atkay.reconcile(recs, truth, {"map@5": "0.24"}, no_recs="skip", candidates=recs)
    atkay.explain(recs, truth, "map@5", "ranx", ties="bogus")  # wrong
    atkay.explain(recs, truth, "map@5", "ranx", slices=recs)  # wrong
    atkay.variants(recs, truth, "map@5", tie="item")  # wrong
    atkay.reconcile(recs, truth, {"map@5": "0.24"}, norecs="skip")  # wrong
    atkay.reconcile(recs, truth, {"map@5": "0.24"}, dialect="ranx")  # wrong


def streams() -> None:
    stream = atkay.Stream("ndcg@10", n_items=5, ties="item", catalog=[1, 2])
    stream.update(vectors, vectors, exclude=vectors)
    atkay.Stream.from_bytes(stream.to_bytes(), train=recs).compute()["ndcg@10"]
    StreamMetric("mrr", n_items=5, ties="item", sync_on_compute=False)
    atkay.Stream("ndcg@10", items=5)  # wrong
    atkay.Stream("ndcg@10", n_items="5")  # wrong
    atkay.Stream("ndcg@10", ties="bogus")  # wrong
    atkay.Stream.from_bytes(stream.to_bytes(), trian=recs)  # wrong
    stream.result  # wrong


def full_ranking() -> None:
    atkay.full_ranking(vectors, vectors, truth, "mrr", precision="tf32", exclude=truth, ties="worst", memory="1GB")
    atkay.FullRanking(truth, "mrr", similarity="cosine", device="cpu").evaluate(vectors, vectors)["mrr"]
    atkay.full_ranking(vectors, vectors, truth, "mrr", precision="float8")  # wrong
    atkay.full_ranking(vectors, vectors, truth, "mrr", candidates=recs)  # wrong
    atkay.FullRanking(truth, "mrr", similarity="euclid")  # wrong
    atkay.FullRanking(truth, "mrr", ties="bogus")  # wrong


def of_tasks() -> None:
    task = tasks.next_basket(recs, last=2, seen="exclude", average="user")
    tasks.next_item(recs, steps="last", unseen="drop")
    tasks.random_holdout(recs, within="user")
    task.evaluate(recs, "recall@10", average="pooled", ties="item")
    task.compare({"a": recs, "b": recs}, baseline="a", average="user", test="t", ties="item")
    task.evaluate(recs, average="mean")  # wrong
    task.evaluate(recs, ties="bogus")  # wrong
    task.compare({"a": recs, "b": recs}, basline="a")  # wrong
    tasks.next_basket(recs, seen="drop")  # wrong
    tasks.next_item(recs, steps="all")  # wrong
    tasks.k_folds(recs, over="items")  # wrong
    task.test  # wrong
