"""trec_eval 9, and pytrec_eval, which is the same code."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="trec_eval",
    library="pytrec_eval-terrier",
    version="0.5.11",
    metrics=(
        *("precision", "recall", "hit", "map", "mrr", "f1", "ndcg(gain=linear)", "r_precision", "bpref", "infap"),
        *("interpolated_precision(rounding=from_tenth)", "interpolated_map(rounding=from_tenth)", "utility", "set_map"),
        *("normalized_gain", "ndcg_rel", "rndcg", "yaap", "count", "total"),
    ),
    names={
        "P_{k}": "precision@{k}",
        "relative_P_{k}": "precision(per=capped)@{k}",
        "recall_{k}": "recall@{k}",
        "success_{k}": "hit@{k}",
        "map_cut_{k}": "map@{k}",
        "ndcg_cut_{k}": "ndcg@{k}",
        "set_P": "precision(per=listed)",
        "set_relative_P": "precision(per=possible)",
        "set_recall": "recall",
        "set_F": "f1",
        "gm_map": "map; aggregate=geometric",
        "gm_bpref": "bpref; aggregate=geometric",
        "iprec_at_recall_{recall}": "interpolated_precision(recall={recall})",
        "Rprec_mult_{multiple}": "r_precision(multiple={multiple})",
        "G": "normalized_gain",
        "binG": "normalized_gain(gain=binary)",
        "num_q": "total(of=users)",
        "num_ret": "total",
        "num_rel": "total(of=relevant)",
        "num_rel_ret": "total(of=hits)",
        "num_nonrel_judged_ret": "total(of=nonrelevant)",
    },
    protocol={
        "no_recs": "skip",
        "no_truth": "judged",
        "ties": "text_desc",
        "scores": "float32",
        "gains": "positive",
        "negative": "unjudged",
    },
    uncut=("mrr", "infap", "yaap", "utility", "normalized_gain"),
    note="recip_rank uses the whole list. ndcg counts every grade above 0, whatever the relevance level (-l) is.",
)
