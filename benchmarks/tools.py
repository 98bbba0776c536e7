"""What is measured: atkay, the limit, and the other libraries, each with the versions it is installed in.

A tool is a function that gets both tables and returns what is to be timed: six metrics at six cutoffs, from the frame
in memory to the numbers. Putting the tables into the library's own form is inside the clock, because a user pays for
it; imports are outside. Values go by atkay's names, and run.py compares all that both sides have, so a name says which
convention the library follows: `map(per=capped)` is not `map`.

Read with each tool's own interpreter: only the standard library is imported at the top.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

CUTOFFS = (1, 3, 5, 10, 20, 50)
NAMES = ("ndcg", "map", "mrr", "recall", "precision", "hit")

Values = dict[str, float]
Run = Callable[[], Values]


def atkay(recs: Any, truth: Any) -> Run:
    from atkay import evaluate

    cutoffs = ",".join(map(str, CUTOFFS))
    metrics = [f"{name}@{cutoffs}" for name in NAMES]
    return lambda: evaluate(recs, truth, metrics).to_dict()


def atkay_dicts(recs: Any, truth: Any) -> Run:
    """From the dicts that trec_eval and its relatives take; to make them is not timed."""
    judged, listed = _dicts(recs, truth)
    return atkay(listed, judged)


def ranx_dicts(recs: Any, truth: Any) -> Run:
    """From such dicts, too."""
    dicts = _dicts(recs, truth)
    return lambda: _ranx(*dicts)


def pytrec_eval_dicts(recs: Any, truth: Any) -> Run:
    """From such dicts, too."""
    dicts = _dicts(recs, truth)
    return lambda: _pytrec_eval(*dicts)


def limit(recs: Any, truth: Any) -> Run:
    """Every column read once: a NumPy sum over each; of text, which has no sum, Polars adds up the lengths."""
    columns = [*recs, *truth]
    numbers = [column.to_numpy() for column in columns if column.dtype.is_numeric()]
    texts = [column for column in columns if not column.dtype.is_numeric()]

    def run() -> Values:
        for number in numbers:
            number.sum()
        for text in texts:
            text.str.len_bytes().sum()
        return {}

    return run


def rectools(recs: Any, truth: Any) -> Run:
    from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, calc_metrics

    # RecTools reads ranks, and its models write them: they are there before the clock starts.
    rank = recs.groupby("user_id")["score"].rank(method="first", ascending=False).astype(int)
    ranked = recs[["user_id", "item_id"]].assign(rank=rank)
    ndcg = "ndcg(gain=binary)" if "relevance" in truth else "ndcg"
    kinds = {"map": MAP, "mrr": MRR, "recall": Recall, "precision": Precision, "hit": HitRate}
    metrics = {f"{name}@{k}": kind(k=k) for name, kind in kinds.items() for k in CUTOFFS}
    metrics |= {f"{ndcg}@{k}": NDCG(k=k, divide_by_achievable=True) for k in CUTOFFS}
    return lambda: dict(calc_metrics(metrics, reco=ranked, interactions=truth))


def replay(recs: Any, truth: Any) -> Run:
    from replay.metrics import MAP, MRR, NDCG, HitRate, OfflineMetrics, Precision, Recall

    names = {NDCG: "ndcg", MAP: "map(per=capped)", MRR: "mrr", Recall: "recall", Precision: "precision", HitRate: "hit"}
    columns = {"query_column": "user_id", "item_column": "item_id", "rating_column": "score"}

    def run() -> Values:
        found = OfflineMetrics([kind(list(CUTOFFS)) for kind in names], **columns)(recs, truth)
        return {f"{name}@{k}": found[f"{kind.__name__}@{k}"] for kind, name in names.items() for k in CUTOFFS}

    return run


def _nested(frame: Any, values: Any) -> dict[str, dict[str, Any]]:
    """{user: {item: value}} with ids as text, for trec_eval and its relatives. Each item is made into text only once;
    a user's rows stand together, as they do in the reference workload.
    """
    import numpy as np
    import pandas as pd

    codes, items = pd.factorize(frame["item_id"].to_numpy())
    texts = np.array([str(item) for item in items], dtype=object)[codes].tolist()
    numbers = values.tolist()
    users = frame["user_id"].to_numpy()
    starts = np.flatnonzero(users[1:] != users[:-1]) + 1
    spans = pairwise([0, *starts.tolist(), len(users)])
    return {str(users[a]): dict(zip(texts[a:b], numbers[a:b], strict=True)) for a, b in spans}


def _dicts(recs: Any, truth: Any) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """The judgements and the run."""
    import numpy as np

    return _nested(truth, np.ones(len(truth), int)), _nested(recs, recs["score"])


def ranx(recs: Any, truth: Any) -> Run:
    # Plain dicts: with Qrels and Run it takes longer by a third. Both have the same users in the same order.
    return lambda: _ranx(*_dicts(recs, truth))


def _ranx(judged: Any, listed: Any) -> Values:
    from ranx import evaluate

    names = ["hit_rate" if name == "hit" else name for name in NAMES]
    found = evaluate(judged, listed, [f"{name}@{k}" for name in names for k in CUTOFFS])
    return {name.replace("hit_rate", "hit"): float(value) for name, value in found.items()}


def pytrec_eval(recs: Any, truth: Any) -> Run:
    return lambda: _pytrec_eval(*_dicts(recs, truth))


def _pytrec_eval(judged: Any, listed: Any) -> Values:
    from pytrec_eval import RelevanceEvaluator, compute_aggregated_measure

    names = {"ndcg_cut": "ndcg", "map_cut": "map", "recall": "recall", "P": "precision", "success": "hit"}
    cutoffs = ",".join(map(str, CUTOFFS))
    rows = (
        RelevanceEvaluator(judged, {*(f"{name}.{cutoffs}" for name in names), "recip_rank"}).evaluate(listed).values()
    )

    def mean(measure: str) -> float:
        return float(compute_aggregated_measure(measure, [row[measure] for row in rows]))

    found = {f"{ours}@{k}": mean(f"{name}_{k}") for name, ours in names.items() for k in CUTOFFS}
    return found | {"mrr": mean("recip_rank")}


def ir_measures(recs: Any, truth: Any) -> Run:
    from ir_measures import AP, RR, P, R, Success, calc_aggregate, nDCG

    kinds = dict(zip(NAMES, (nDCG, AP, RR, R, P, Success), strict=True))
    measures = {kind @ k: f"{name}@{k}" for name, kind in kinds.items() for k in CUTOFFS}

    def run() -> Values:
        found = calc_aggregate(list(measures), *_dicts(recs, truth))
        return {measures[measure]: value for measure, value in found.items()}

    return run


def recommenders(recs: Any, truth: Any) -> Run:
    from recommenders.evaluation import python_evaluation as evaluation

    kinds = {"map": evaluation.map, "recall": evaluation.recall_at_k, "precision": evaluation.precision_at_k}
    columns = {"col_user": "user_id", "col_item": "item_id", "col_prediction": "score"}

    def run() -> Values:
        # Every call makes a hash of both frames, byte by byte, to look into a cache of one entry. So lists are cut
        # before the call, as relevancy_method=None allows (three times faster), and a cutoff's metrics stand together.
        wanted = truth.assign(rating=1.0)
        longest = evaluation.get_top_k_items(recs, col_user="user_id", col_rating="score", k=max(CUTOFFS))
        found: Values = {}
        for k in CUTOFFS:
            listed = longest.loc[longest["rank"] <= k, list(recs)]
            call = {"rating_true": wanted, "rating_pred": listed, "relevancy_method": None, "k": k} | columns
            found[f"ndcg@{k}"] = float(evaluation.ndcg_at_k(**call, col_rating="rating", discfun_type="log2"))
            found |= {f"{name}@{k}": float(kind(**call)) for name, kind in kinds.items()}
        return found

    return run


def torchmetrics(recs: Any, truth: Any) -> Run:
    import numpy as np
    import torch
    from torchmetrics import MetricCollection
    from torchmetrics.retrieval import (
        RetrievalHitRate,
        RetrievalMAP,
        RetrievalMRR,
        RetrievalNormalizedDCG,
        RetrievalPrecision,
        RetrievalRecall,
    )

    kinds = {
        "ndcg": RetrievalNormalizedDCG,
        "map(per=hits)": RetrievalMAP,
        "mrr": RetrievalMRR,
        "recall": RetrievalRecall,
        "precision": RetrievalPrecision,
        "hit": RetrievalHitRate,
    }

    def run() -> Values:
        metrics = {f"{name}@{k}": kind(top_k=k) for name, kind in kinds.items() for k in CUTOFFS}
        # One group: all of them share one copy of the rows.
        collection = MetricCollection(metrics, compute_groups=[list(metrics)])
        # It counts the relevant among the rows it sees. Truth that is not listed comes last, with a score that it takes
        # as "not retrieved"; lists are longer than the largest cutoff.
        rows = recs.merge(truth.assign(target=True), how="outer", on=["user_id", "item_id"])
        collection.update(
            torch.tensor(rows["score"].fillna(-1.0).to_numpy(np.float32)),
            torch.tensor(rows["target"].notna().to_numpy()),
            indexes=torch.tensor(rows["user_id"].to_numpy()),
        )
        with torch.inference_mode():
            return {name: value.item() for name, value in collection.compute().items()}

    return run


@dataclass(frozen=True)
class Tool:
    """Something to measure: its name, what makes it ready, its kind of frame; for a library also what to install."""

    name: str
    ready: Callable[[Any, Any], Run]
    frames: str = "pandas"
    pins: tuple[str, ...] = ()
    differs: str = ""
    slow: bool = False  # it needs minutes, so it gets a tenth of the users
    tolerance: float = 1e-9

    @property
    def version(self) -> str:
        """Of the library itself, which stands first."""
        return self.pins[0].partition("==")[2]


FLOAT32 = 1e-6
PANDAS = ("pandas==3.1.1", "numpy==2.4.6")
OLDER = ("pandas==2.3.3", "numpy==2.4.6")

OURS = {
    "atkay": Tool("atkay", atkay, frames="polars"),
    "atkay-pandas": Tool("atkay", atkay),
    "atkay-dicts": Tool("atkay", atkay_dicts),
    "limit": Tool("limit", limit, frames="polars"),
}
PEERS = {
    "rectools": Tool("RecTools", rectools, pins=("rectools==0.19.0", "pandas==2.3.3", "numpy==1.26.4")),
    "replay": Tool(
        "RePlay",
        replay,
        frames="polars",
        pins=("replay-rec==0.22.0", "polars==1.44.2", "pyarrow==23.0.1", *OLDER),
        differs="map is divided by min(k, relevant)",
    ),
    "ranx": Tool("ranx", ranx, pins=("ranx==0.3.21", "numba==0.68.1", *PANDAS)),
    "pytrec_eval": Tool(
        "pytrec_eval",
        pytrec_eval,
        pins=("pytrec_eval-terrier==0.5.11", *PANDAS),
        differs="mrr has no cutoffs; scores in float32",
        tolerance=FLOAT32,
    ),
    "ir_measures": Tool(
        "ir-measures",
        ir_measures,
        pins=("ir-measures==0.4.3", "pytrec_eval-terrier==0.5.11", *PANDAS),
        differs="scores in float32",
        slow=True,
        tolerance=FLOAT32,
    ),
    "recommenders": Tool(
        "recommenders",
        recommenders,
        pins=("recommenders==1.2.1", "scikit-learn==1.9.1", *OLDER),
        differs="no mrr, no hit",
        slow=True,
    ),
    "torchmetrics": Tool(
        "torchmetrics",
        torchmetrics,
        pins=("torchmetrics==1.9.0", "torch==2.13.0", *PANDAS),
        differs="map is divided by hits; float32",
        slow=True,
        tolerance=FLOAT32,
    ),
}
SMALL = {
    "atkay": "frames",
    "atkay-dicts": "dicts",
    "pytrec_eval-dicts": "dicts",
    "ranx-dicts": "dicts",
}
"""What is timed on few users, and from what."""
TOOLS = OURS | PEERS
TOOLS["pytrec_eval-dicts"] = replace(PEERS["pytrec_eval"], ready=pytrec_eval_dicts)
TOOLS["ranx-dicts"] = replace(PEERS["ranx"], ready=ranx_dicts)
