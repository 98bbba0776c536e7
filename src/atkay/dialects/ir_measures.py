"""ir-measures, which asks pytrec_eval for most of its measures, and other programs for RR@k, ERR and RBP."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, combinations

from atkay.dialects.dialect import Dialect

REL = {"rel={rel}": "; min_relevance={rel}"}
JUDGED = {"judged_only=True": "; unjudged=drop"}
OF_MODELS = {"max_rel={max}": "highest={max}"}
STOP = {"T={t}": "t={t}"}
ALPHA = {"alpha={alpha}": "alpha={alpha}"}
BETA = {"beta={beta}": "beta={beta}"}
MEASURES = {
    **dict.fromkeys(("P", "Precision"), ("precision", REL | JUDGED)),
    **dict.fromkeys(("R", "Recall"), ("recall", REL | JUDGED)),
    "Success": ("hit", REL | JUDGED),
    **dict.fromkeys(("AP", "MAP"), ("map", REL | JUDGED)),
    **dict.fromkeys(("RR", "MRR"), ("mrr", REL | JUDGED)),
    "Rprec": ("r_precision", REL | JUDGED),
    "nDCG": ("ndcg", {"gains={table}": "gain={table:table}"} | JUDGED),
    "IPrec@{recall}": ("interpolated_precision(recall={recall})", REL | JUDGED),
    "Bpref": ("bpref", REL),
    "infAP": ("infap", REL),
    "SetP": ("precision(per=listed)", {"relative=False": ""} | REL | JUDGED),
    "SetRelP": ("precision(per=possible)", {"relative=True": ""} | REL | JUDGED),
    "SetR": ("recall", REL),
    "SetF": ("f1", {"beta={beta}": "beta={beta:root}"} | REL | JUDGED),
    "SetAP": ("set_map", REL | JUDGED),
    "NumQ": ("total(of=users)", {}),
    "NumRel": ("total(of=relevant)", {"rel=1": ""}),
    "NumRet": ("total", {}),
    "NumRelRet": ("total(of=hits)", REL),
    "ERR": ("err", {}),
    "RBP": ("rbp", {"p={p}": "p={p}"} | REL),
    # cwl_eval reads each list as 1,000 items, the listed ones first.
    "INST": ("inst@1000", STOP | OF_MODELS),
    "INSQ": ("insq@1000", STOP | OF_MODELS),
    "SDCG": ("sdcg", OF_MODELS),
    "NERR8": ("nerr", OF_MODELS),
    "NERR9": ("nerr(patience=rank)", OF_MODELS),
    "NERR10": ("nerr(patience=geometric)@1000", {"p={p}": "p={p}"} | OF_MODELS),
    "NERR11": ("nerr(patience=insq)@1000", STOP | OF_MODELS),
    "BPM": ("bpm", STOP | OF_MODELS),
    "Compat": ("compatibility", {"p={p}": "p={p}", "normalize=False": "per=weights"}),
    "Judged": ("judged", {}),
    "Accuracy": ("top_auc", REL),
    "ERR_IA": ("err_ia", REL),
    "nERR_IA": ("nerr_ia", REL),
    **dict.fromkeys(("alpha_DCG", "α_DCG"), ("alpha_dcg", ALPHA | REL)),
    **dict.fromkeys(("alpha_nDCG", "α_nDCG"), ("alpha_ndcg", ALPHA | REL)),
    "NRBP": ("nrbp", ALPHA | BETA | REL),
    "nNRBP": ("nnrbp", ALPHA | BETA | REL),
    **dict.fromkeys(("AP_IA", "MAP_IA"), ("ap_ia", REL)),
    "P_IA": ("p_ia", REL),
    "StRecall": ("subtopic_recall", REL),
}
"""Each measure as a spec here, and its options: as a word of that, or after a semicolon as a field of the protocol."""
OF_NDEVAL = "ties=text scores=exact negative=irrelevant"


def _names(own: str, ours: str, options: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The names of a measure with each choice of its options. At a cutoff of 1 pyndeval divides by no ideal."""
    measure, at, level = own.partition("@")
    spec, cut, depth = ours.partition("@")
    metric, _, fixed = spec.rstrip(")").partition("(")
    for chosen in chain.from_iterable(combinations(options, n) for n in range(len(options) + 1)):
        if OF_MODELS.keys() & options.keys() - set(chosen):
            continue  # they cannot do without
        words = [fixed, *(options[each] for each in chosen if not options[each].startswith(";"))]
        fields = [options[each].removeprefix(";") for each in chosen if options[each].startswith(";")]
        name = (f"{measure}({','.join(chosen)})" if chosen else measure) + at + level
        rules = ";" * bool(fields) + "".join(fields)
        if metric in ("alpha_dcg", "err_ia"):
            yield f"{name}@1", _written(metric, [*words, "per=nothing"]) + "@1" + rules
        yield name, _written(metric, words) + cut + depth + rules


def _written(metric: str, words: Iterable[str]) -> str:
    chosen = ",".join(filter(None, words))
    return f"{metric}({chosen})" if chosen else metric


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
        "total; no_recs=skip",
    ),
    names={name: spec for own, (ours, options) in MEASURES.items() for name, spec in _names(own, ours, options)}
    | {"nDCG(dcg='exp-log2')": "ndcg(gain=exp2); scores=exact"}
    | {
        name.replace("SetRelP", "SetP"): spec
        for name, spec in _names("SetRelP", *MEASURES["SetRelP"])
        if "relative=True" in name
    }
    | {"NumRet(rel={rel})": "total(of=hits); min_relevance={rel}"},
    idle=("judged_only=False", "normalize=True", "min_rel=0", "dcg='log2'"),
    protocol={
        "no_truth": "judged",
        "ties": "text_desc",
        "scores": "float32",
        "gains": "positive",
        "negative": "unjudged",
    },
    note="The beta of its SetF is the square of beta here. Its RBP keeps the input order of equal scores. "
    "Its nNRBP has no value for a user without relevant items, who scores 0 here.",
)
