"""Recommenders, on pandas. Its nDCG counts users without a list, its other metrics do not."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="recommenders",
    library="recommenders",
    version="1.2.1",
    metrics=(
        "precision",
        "recall",
        "map",
        "ndcg(gain=binary,discount=ln); no_recs=zero",
        "rmse; no_truth=zero",
        "mae; no_truth=zero",
        "r2(constant=zero); no_truth=zero",
        "row_auc; no_truth=zero",
    ),
    names={
        "rsquared": "r2",
        "auc": "row_auc",
        "precision_at_k@{k}": "precision@{k}",
        "recall_at_k@{k}": "recall@{k}",
        "map_at_k@{k}": "map(per=capped)@{k}",
        "ndcg_at_k@{k}": "ndcg@{k}",
        "precision_at_k": "precision@10",
        "recall_at_k": "recall@10",
        "map_at_k": "map(per=capped)@10",
        "ndcg_at_k": "ndcg@10",
    },
    protocol={"no_recs": "skip"},
    note="Its map divides by the relevant items, its map_at_k by k where that is less.",
    alike={
        "catalog_coverage": "coverage",
        "distributional_coverage": "entropy",
        "novelty": "surprisal",
        "diversity": "ild",
        "serendipity": "serendipity",
        "logloss": "log_loss",
    },
    without={
        "r_precision_at_k": "hits in the top min(k, R) over R, of users with a hit alone",
        "exp_var": "the explained variance of ratings",
    },
)
