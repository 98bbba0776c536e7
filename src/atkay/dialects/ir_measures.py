"""ir-measures, which asks pytrec_eval for most of its measures, and other programs for RR@k, ERR and RBP."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations

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
    "SetAP": "set_map",
}
CWL = {
    "INST(max_rel={max})": "inst(highest={max})@1000",
    "INST(T={t},max_rel={max})": "inst(t={t},highest={max})@1000",
    "INSQ(max_rel={max})": "insq(highest={max})@1000",
    "INSQ(T={t},max_rel={max})": "insq(t={t},highest={max})@1000",
    "SDCG(max_rel={max})": "sdcg(highest={max})",
    "NERR8(max_rel={max})": "nerr(highest={max})",
    "NERR9(max_rel={max})": "nerr(patience=rank,highest={max})",
    "NERR10(max_rel={max})": "nerr(patience=geometric,highest={max})@1000",
    "NERR10(p={p},max_rel={max})": "nerr(patience=geometric,p={p},highest={max})@1000",
    "NERR11(max_rel={max})": "nerr(patience=insq,highest={max})@1000",
    "NERR11(T={t},max_rel={max})": "nerr(patience=insq,t={t},highest={max})@1000",
    "BPM(max_rel={max})": "bpm(highest={max})",
    "BPM(T={t},max_rel={max})": "bpm(t={t},highest={max})",
}
"""What the cwl_eval program computes, which reads each list as 1,000 items, the listed ones first."""
COMPATIBILITY = {
    "Compat": "compatibility",
    "Compat(p={p})": "compatibility(p={p})",
    "Compat(normalize=False)": "compatibility(per=weights)",
    "Compat(p={p},normalize=False)": "compatibility(p={p},per=weights)",
}
DIVERSE = {
    "ERR_IA": ("err_ia", ()),
    "nERR_IA": ("nerr_ia", ()),
    "alpha_DCG": ("alpha_dcg", ("alpha",)),
    "alpha_nDCG": ("alpha_ndcg", ("alpha",)),
    "NRBP": ("nrbp", ("alpha", "beta")),
    "nNRBP": ("nnrbp", ("alpha", "beta")),
    "AP_IA": ("ap_ia", ()),
    "MAP_IA": ("ap_ia", ()),
    "P_IA": ("p_ia", ()),
    "StRecall": ("subtopic_recall", ()),
}
"""What pyndeval computes, and the options that each has besides the lowest relevant grade."""
OF_NDEVAL = "ties=text scores=exact negative=irrelevant"
BINARY = NAMES | {"SetR": "recall", "Bpref": "bpref", "infAP": "infap"}


def _with_options(own: str, ours: str, options: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The names of a measure with each choice of its options. At a cutoff of 1 it divides nothing by the ideal list."""
    for chosen in chain.from_iterable(combinations(options, n) for n in range(len(options) + 1)):
        words = [f"{name}={{{name}}}" for name in chosen]
        for rel, least in (((), ""), (("rel={rel}",), "; min_relevance={rel}")):
            name = f"{own}({','.join((*words, *rel))})" if words or rel else own
            if ours in ("alpha_dcg", "err_ia"):
                yield f"{name}@1", f"{ours}({','.join((*words, 'per=nothing'))})@1{least}"
            yield name, (f"{ours}({','.join(words)})" if words else ours) + least


DIALECT = Dialect(
    name="ir_measures",
    library="ir-measures",
    version="0.4.3",
    metrics=(
        *("precision", "recall", "hit", "map", "mrr", "mrr@{k}; ties=text scores=exact", "ndcg(gain=linear)", "f1"),
        *("r_precision", "bpref", "set_map", "infap", "interpolated_precision(rounding=from_tenth)"),
        *("err; scores=exact", "rbp; ties=given scores=exact"),
        *(f"{name}; ties=given scores=exact" for name in ("inst", "insq", "sdcg", "nerr", "bpm")),
        "compatibility; ties=text scores=exact",
        *(f"{name}; {OF_NDEVAL}" for name in ("alpha_dcg", "ap_ia", "err_ia", "nrbp", "p_ia", "subtopic_recall")),
        *(f"{name}(equal=exact); {OF_NDEVAL}" for name in ("alpha_ndcg", "nerr_ia", "nnrbp")),
        "judged; ties=text scores=exact negative=irrelevant",
        "top_auc; ties=given scores=exact no_truth=skip",
    ),
    names=BINARY
    | CWL
    | {name.replace("max_rel", "min_rel=0,max_rel"): spec for name, spec in CWL.items()}
    | COMPATIBILITY
    | {name: spec for own, (ours, options) in DIVERSE.items() for name, spec in _with_options(own, ours, options)}
    | {"Judged": "judged", "Accuracy": "top_auc", "Accuracy(rel={rel})": "top_auc; min_relevance={rel}"}
    | {f"{own}(rel={{rel}})": f"{spec}; min_relevance={{rel}}" for own, spec in BINARY.items()}
    | {f"{own}(judged_only=True)": f"{spec}; unjudged=drop" for own, spec in (NAMES | {"nDCG": "ndcg"}).items()}
    | {f"{own}(rel={{rel}},judged_only=True)": f"{NAMES[own]}; min_relevance={{rel}} unjudged=drop" for own in NAMES}
    | {
        "IPrec@{recall}": "interpolated_precision(recall={recall})",
        "IPrec(rel={rel})@{recall}": "interpolated_precision(recall={recall}); min_relevance={rel}",
        "IPrec(judged_only=True)@{recall}": "interpolated_precision(recall={recall}); unjudged=drop",
        "nDCG(dcg='log2')": "ndcg",
        "nDCG(dcg='exp-log2')": "ndcg(gain=exp2); scores=exact",
        "nDCG(gains={table})": "ndcg(gain={table})",
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
    note="The beta of its SetF is the square of beta here. Its RBP keeps the input order of equal scores. "
    "Its nNRBP has no value for a user without relevant items, who scores 0 here.",
    alike={"NumQ": "total", "NumRel": "total", "NumRet": "total"},
)
