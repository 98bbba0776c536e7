"""ir-measures, which asks pytrec_eval for most of its measures, and other programs for RR@k, ERR and RBP."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

NAMES = {
    "P": "precision",
    "R": "recall",
    "Success": "hit",
    "AP": "map",
    "RR": "mrr",
    "Rprec": "r_precision",
    "SetP": "precision(per=listed)",
    "SetF": "f1",
}
BINARY = NAMES | {"SetR": "recall", "Bpref": "bpref"}

DIALECT = Dialect(
    name="ir_measures",
    library="ir-measures",
    version="0.4.3",
    metrics=(
        *("precision", "recall", "hit", "map", "mrr", "mrr@{k}; ties=text scores=exact", "ndcg(gain=linear)", "f1"),
        *("r_precision", "bpref", "err; scores=exact", "rbp; ties=given scores=exact"),
    ),
    names=BINARY
    | {f"{own}(rel={{rel}})": f"{spec}; min_relevance={{rel}}" for own, spec in BINARY.items()}
    | {f"{own}(judged_only=True)": f"{spec}; unjudged=drop" for own, spec in (NAMES | {"nDCG": "ndcg"}).items()}
    | {
        "nDCG(dcg='exp-log2')": "ndcg(gain=exp2); scores=exact",
        "RBP(rel={rel})": "rbp; min_relevance={rel}",
        "RBP(rel={rel},p={p})": "rbp(p={p}); min_relevance={rel}",
    },
    protocol={
        "no_truth": "judged",
        "ties": "text_desc",
        "scores": "float32",
        "gains": "positive",
        "negative": "unjudged",
    },
    note="The beta of its SetF is the square of beta here. Its RBP takes rows in input order and ignores their scores.",
)
