"""ir-measures, which asks pytrec_eval for most of its measures, and other programs for RR@k, ERR and RBP."""

from __future__ import annotations

import re

from atkay.dialects.dialect import Dialect

NAMES = {
    "P@{k}": "precision@{k}",
    "R@{k}": "recall@{k}",
    "Success@{k}": "hit@{k}",
    "AP@{k}": "map@{k}",
    "AP": "map",
    "RR": "mrr",
    "Rprec": "r_precision",
    "SetP": "precision(per=listed)",
    "SetF": "f1",
}
BINARY = NAMES | {"RR@{k}": "mrr@{k}", "SetR": "recall", "Bpref": "bpref"}
GRADED = {"nDCG@{k}": "ndcg(gain=linear)@{k}", "nDCG": "ndcg(gain=linear)"}


def _with(option: str, said: str, names: dict[str, str]) -> dict[str, str]:
    """The names with an option in brackets, AP(rel=2)@10, and what it says of the protocol."""
    return {re.sub("@|$", rf"({option})\g<0>", own, count=1): f"{spec}; {said}" for own, spec in names.items()}


DIALECT = Dialect(
    name="ir_measures",
    library="ir-measures",
    version="0.4.3",
    words={
        "precision": {},
        "recall": {},
        "hit": {},
        "map": {},
        "mrr": {},
        "ndcg": {"gain": "linear"},
        "f1": {},
        "r_precision": {},
        "bpref": {},
        "err": {},
        "rbp": {},
    },
    names=BINARY
    | GRADED
    | _with("rel={rel}", "min_relevance={rel}", BINARY)
    | _with("judged_only=True", "unjudged=drop", NAMES | GRADED)
    | {
        "nDCG(dcg='exp-log2')@{k}": "ndcg(gain=exp2)@{k}; scores=exact",
        "ERR@{k}": "err@{k}",
        "RBP(rel={rel})": "rbp; min_relevance={rel}",
        "RBP(rel={rel},p={p})": "rbp(p={p}); min_relevance={rel}",
    },
    protocol={"no_truth": "judged", "ties": "text_desc", "scores": "float32", "gains": "positive"},
    apart={
        "mrr@{k}": {"ties": "text", "scores": "exact"},
        "err": {"scores": "exact"},
        "rbp": {"ties": "given", "scores": "exact"},
    },
    note="The beta of its SetF is the square of beta here. Its RBP takes rows as they stand, whatever their scores.",
)
