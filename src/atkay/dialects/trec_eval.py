"""trec_eval, and pytrec_eval, which is the same code."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="trec_eval",
    library="pytrec_eval-terrier",
    version="0.5.11",
    metrics=("precision", "recall", "hit", "map", "mrr", "f1", "ndcg(gain=linear)", "r_precision", "bpref"),
    names={
        "P_{k}": "precision@{k}",
        "relative_P_{k}": "precision(per=capped)@{k}",
        "recall_{k}": "recall@{k}",
        "success_{k}": "hit@{k}",
        "map_cut_{k}": "map@{k}",
        "ndcg_cut_{k}": "ndcg@{k}",
        "set_P": "precision(per=listed)",
        "set_recall": "recall",
        "set_F": "f1",
        "gm_map": "map; aggregate=geometric",
        "gm_bpref": "bpref; aggregate=geometric",
    },
    protocol={
        "no_recs": "skip",
        "no_truth": "judged",
        "ties": "text_desc",
        "scores": "float32",
        "gains": "positive",
        "negative": "unjudged",
    },
    uncut=("mrr",),
    note="recip_rank uses the whole list. ndcg counts every grade above 0, whatever the relevance level (-l) is.",
)
