"""trec_eval 9, and pytrec_eval, which is the same code."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

CUTOFFS = "5,10,15,20,30,100,200,500,1000"

METRICS = (
    *(
        "precision",
        "recall",
        "hit",
        "map",
        "mrr",
        "f1",
        "ndcg(gain=linear)",
        "r_precision",
        "bpref",
        "infap",
        "utility",
    ),
    *("set_map", "normalized_gain", "ndcg_rel", "rndcg", "yaap", "count", "total"),
)
NAMES = {
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
    "set_F_{beta}": "f1(beta={beta:root})",
    "gm_map": "map; aggregate=geometric",
    "gm_bpref": "bpref; aggregate=geometric",
    "iprec_at_recall_{recall}": "interpolated_precision(recall={recall})",
    "11pt_avg_{levels}": "interpolated_map(points={{{levels}}})",
    "Rprec_mult_{multiple}": "r_precision(multiple={multiple})",
    "utility_{hit},{wrong},{missed},{zero}": "utility(hit={hit},wrong={wrong},missed={missed})",
    "ndcg_{gains}": "ndcg(gain={gains:table})",
    "ndcg_rel_{gains}": "ndcg_rel(gain={gains:table})",
    "Rndcg_{gains}": "rndcg(gain={gains:table})",
    "G_{gains}": "normalized_gain(gain={gains:table})",
    "G": "normalized_gain",
    "binG": "normalized_gain(gain=binary)",
    "num_q": "total(of=users)",
    "num_ret": "total",
    "num_rel": "total(of=relevant)",
    "num_rel_ret": "total(of=hits)",
    "num_nonrel_judged_ret": "total(of=nonrelevant)",
}
DOTTED = {
    **dict.fromkeys(("P", "recall", "success", "iprec_at_recall"), ""),
    **dict.fromkeys(("relative_P", "map_cut", "ndcg_cut"), CUTOFFS),
    "Rprec_mult": ",".join(f"{fifths / 5:.2f}" for fifths in range(1, 11)),
}
PROTOCOL = {
    "no_recs": "skip",
    "no_truth": "judged",
    "ties": "text_desc",
    "gains": "positive",
    "negative": "unjudged",
}
UNCUT = ("mrr", "infap", "yaap", "utility", "normalized_gain")
WITHOUT = {
    **dict.fromkeys(("runid", "relstring"), "a text, not a number"),
    **dict.fromkeys(("map_avgjg", "P_avgjg", "Rprec_mult_avgjg"), "several groups of judgements"),
    "prefs": "preferences between two documents, and groups of them",
}


def _of_recall(rounding: str) -> tuple[str, ...]:
    """Those at levels of recall, and how the number of relevant items that makes a level is rounded."""
    return f"interpolated_precision(rounding={rounding})", f"interpolated_map(rounding={rounding})"


DIALECT = Dialect(
    name="trec_eval",
    library="pytrec_eval-terrier",
    version="0.5.11",
    metrics=(*METRICS, *_of_recall("from_tenth")),
    names=NAMES,
    dotted=DOTTED,
    protocol={**PROTOCOL, "scores": "float32"},
    uncut=UNCUT,
    note="recip_rank uses the whole list. ndcg counts every grade above 0, whatever the relevance level (-l) is. The "
    "fourth weight of utility, for what is neither listed nor relevant, must be 0 here.",
    without=WITHOUT,
    editions={
        ">=10": {
            "library": "trec_eval",
            "version": "10.0",
            "metrics": (
                *METRICS,
                *_of_recall("nearest"),
                "rbp_residual(p=0.9,unjudged=open_if_any)",
                "unjudged(per=k)",
            ),
            "names": {
                **NAMES,
                "rbp_resid": "rbp_residual",
                "rbp_resid_p={p}": "rbp_residual(p={p})",
                "unj_{k}": "unjudged@{k}",
            },
            "dotted": {**DOTTED, "unj": "5,10,20"},
            "protocol": PROTOCOL,
            "uncut": (*UNCUT, "rbp_residual"),
            "checked": "source",
            "without": {
                **WITHOUT,
                "rbp": "its gains are scaled by variables that have no value; rbp(p=0.9) is what is meant",
            },
        }
    },
)
