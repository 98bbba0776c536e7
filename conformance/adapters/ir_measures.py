"""ir-measures: one name for each measure, computed by whichever of its providers comes first: pytrec_eval for most,
msmarco for RR with a cutoff, gdeval.pl for ERR and exponential gains (which prints five decimals), cwl_eval for
RBP and the other models of a reader, pyndeval for measures over subtopics.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ir_measures
from entries import CUTOFFS, Data, Entry
from ir_measures import Qrel, ScoredDoc, calc_aggregate, iter_calc

INPUTS = {
    "qrels": "[Qrel(user, item, relevance)] from truth.csv",
    "run": "[ScoredDoc(user, item, score)] from recs.csv",
    "subtopic_qrels": "[Qrel(user, item, relevance, subtopic)] from truth.csv of subtopics",
    "numbered_qrels, numbered_run": "the same with a number for each user, as gdeval.pl demands",
    "names": "{number: user}",
}
OPTIONS: tuple[dict[str, Any], ...] = ({}, {"rel": 2}, {"judged_only": True})
CUT = (
    *((name, options) for name in ("P", "R", "Success", "AP") for options in OPTIONS),
    *(("RR", {}), ("RR", {"rel": 2}), ("nDCG", {}), ("nDCG", {"dcg": "exp-log2"})),
    *(("nDCG", {"gains": {1: 1, 2: 3, 3: 7}}), ("nDCG", {"judged_only": True}), ("ERR", {})),
    *((name, {"max_rel": 3}) for name in ("SDCG", "NERR8", "NERR9", "BPM")),
    *((name, {"max_rel": 1}) for name in ("SDCG", "NERR8", "BPM")),
    ("BPM", {"T": 2.0, "max_rel": 3}),
    *(("Judged", {}), ("Accuracy", {})),
)
WHOLE = (
    *((name, options) for name in ("AP", "RR", "Rprec", "SetP", "SetF") for options in OPTIONS),
    *(("SetP", {"relative": True}), ("SetP", {"rel": 2, "relative": True}), ("SetRelP", {"judged_only": True})),
    *(("SetF", {"rel": 2, "beta": 0.5}), ("nDCG", {"gains": {1: 3, 2: 2}}), ("nDCG", {"gains": {3: 1}})),
    *(("NumQ", {}), ("NumRel", {}), ("NumRet", {}), ("NumRet", {"rel": 2}), ("NumRelRet", {})),
    *(("nDCG", {}), ("nDCG", {"judged_only": True}), ("Bpref", {}), ("Bpref", {"rel": 2})),
    *(("SetR", {}), ("SetR", {"rel": 2}), ("SetF", {"beta": 2.0}), ("SetAP", {}), ("infAP", {}), ("infAP", {"rel": 2})),
    *(("RBP", {"rel": 1}), ("RBP", {"rel": 2}), ("RBP", {"rel": 1, "p": 0.5})),
    *((name, {"max_rel": 3}) for name in ("INST", "INSQ", "NERR10", "NERR11")),
    *(("INST", {"max_rel": 1}), ("INSQ", {"max_rel": 1})),
    *((name, {"T": 2.5, "max_rel": 3}) for name in ("INST", "INSQ", "NERR11")),
    *(("NERR10", {"p": 0.5, "max_rel": 3}), ("Compat", {}), ("Compat", {"p": 0.8, "normalize": False})),
    *(("Judged", {}), ("Accuracy", {})),
)

RECALLS = (0.0, 0.3, 1.0)
"""Where interpolated precision is taken."""


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    names = {name: getattr(ir_measures, name) for name in ("IPrec", *(name for name, _ in (*CUT, *WHOLE)))}
    scope = {"calc_aggregate": calc_aggregate, "iter_calc": iter_calc, "run": [ScoredDoc(*row) for row in data.recs]}
    scope |= {"qrels": [Qrel(*row) for row in data.truth]}
    codes = {user: str(code + 1) for user, code in data.users.items()}
    scope |= {"numbered_qrels": [Qrel(codes[user], item, grade) for user, item, grade in data.truth]}
    scope |= {"numbered_run": [ScoredDoc(codes[user], item, score) for user, item, score in data.recs]}
    scope |= {"names": {code: user for user, code in codes.items()}}
    return names | scope, entries()


def entries() -> Iterator[Entry]:
    measures = [(name, options, k) for name, options in CUT for k in CUTOFFS]
    measures += [(name, options, None) for name, options in WHOLE]
    for name, options, k in measures:
        measure = written(name, options, k)
        call = f"calc_aggregate([{measure}], qrels, run)[{measure}]"
        each = f"{{found.query_id: found.value for found in iter_calc([{measure}], qrels, run)}}"
        if name == "ERR" or "dcg" in options:
            call = call.replace("qrels, run", "numbered_qrels, numbered_run")
            each = each.replace("found.query_id", "names[found.query_id]", 1)
            each = each.replace("qrels, run", "numbered_qrels, numbered_run")
        yield Entry(name, call, k, options, "" if name.startswith("Num") else each)
    for recall in RECALLS:
        measure = f"IPrec @ {recall}"
        yield Entry(
            "IPrec",
            f"calc_aggregate([{measure}], qrels, run)[{measure}]",
            None,
            {"recall": recall},
            f"{{found.query_id: found.value for found in iter_calc([{measure}], qrels, run)}}",
        )


OF_SUBTOPICS = {
    "ERR_IA": ({}, {"rel": 2}),
    "nERR_IA": ({}, {"rel": 2}),
    "alpha_DCG": ({}, {"alpha": 0.3}, {"alpha": 0.3, "rel": 2}),
    "alpha_nDCG": ({}, {"alpha": 0.3}, {"alpha": 0.9}, {"alpha": 0.3, "rel": 2}),
    "P_IA": ({}, {"rel": 2}),
    "StRecall": ({}, {"rel": 2}),
}
OF_WHOLE_LISTS = {
    "NRBP": ({}, {"alpha": 0.3}, {"beta": 0.8}, {"alpha": 0.3, "beta": 0.8}, {"alpha": 0.3, "beta": 0.8, "rel": 2}),
    "nNRBP": ({}, {"alpha": 0.3}, {"beta": 0.8}, {"alpha": 0.3, "beta": 0.8}, {"alpha": 0.3, "beta": 0.8, "rel": 2}),
    "AP_IA": ({}, {"rel": 2}),
}


def ask_of_subtopics(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    scope = {name: getattr(ir_measures, name) for name in (*OF_SUBTOPICS, *OF_WHOLE_LISTS)}
    scope |= {"calc_aggregate": calc_aggregate, "iter_calc": iter_calc, "run": [ScoredDoc(*row) for row in data.recs]}
    scope |= {"subtopic_qrels": [Qrel(*row, topic) for row, topic in zip(data.truth, data.subtopics, strict=True)]}
    return scope, entries_of_subtopics()


def entries_of_subtopics() -> Iterator[Entry]:
    measures = [(name, each, k) for name, options in OF_SUBTOPICS.items() for each in options for k in (1, 5, 10, 20)]
    measures += [(name, each, None) for name, options in OF_WHOLE_LISTS.items() for each in options]
    for name, options, k in measures:
        measure = written(name, options, k)
        call = f"calc_aggregate([{measure}], subtopic_qrels, run)[{measure}]"
        each = f"{{found.query_id: found.value for found in iter_calc([{measure}], subtopic_qrels, run)}}"
        yield Entry(name, call, k, options, each)


def written(name: str, options: dict[str, Any], k: int | None) -> str:
    """A measure as a Python expression."""
    given = ", ".join(f"{key}={value!r}" for key, value in options.items())
    return name + (f"({given})" if given else "") + (f" @ {k}" if k else "")
