"""pytrec_eval-terrier: trec_eval's measures on dicts. It keeps scores in single precision.

One of trec_eval's measures, yaap, is in its compiled part alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean as mean
from typing import Any

from entries import CUTOFFS, Data, Entry
from pytrec_eval import RelevanceEvaluator, compute_aggregated_measure
from pytrec_eval_ext import RelevanceEvaluator as Compiled

INPUTS = {
    "qrels": "{user: {item: relevance}} from truth.csv",
    "run": "{user: {item: score}} from recs.csv; an item that stands twice keeps its last score",
}
CUT = ("P", "relative_P", "recall", "success", "map_cut", "ndcg_cut")
WHOLE = (
    *("map", "ndcg", "recip_rank", "Rprec", "bpref", "set_P", "set_recall", "set_F", "set_map", "gm_map"),
    *("set_relative_P", "infAP", "11pt_avg", "utility", "binG", "G", "ndcg_rel", "Rndcg"),
)
AT = {"iprec_at_recall": ("0.00", "0.10", "0.35", "1.00"), "Rprec_mult": ("0.20", "1.40")}
COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    scope = {"RelevanceEvaluator": RelevanceEvaluator, "compute_aggregated_measure": compute_aggregated_measure}
    return scope | {"Compiled": Compiled, "mean": mean, "qrels": data.grades, "run": data.run}, entries()


def entries() -> Iterator[Entry]:
    measures = [(f"{name}.{k}", f"{name}_{k}", name, k) for name in CUT for k in CUTOFFS]
    measures += [(name, name, name, None) for name in WHOLE]
    measures += [(f"{name}.{at}", f"{name}_{at}", f"{name}_{at}", None) for name, levels in AT.items() for at in levels]
    for options in ({}, {"relevance_level": 2}, {"judged_docs_only_flag": True}):
        given = "".join(f", {key}={value}" for key, value in options.items())
        for asked, key, name, k in measures:
            rows = f"RelevanceEvaluator(qrels, {{'{asked}'}}{given}).evaluate(run)"
            yield Entry(
                name,
                f"compute_aggregated_measure('{key}', [row['{key}'] for row in {rows}.values()])",
                k,
                options,
                each=f"{{user: row['{key}'] for user, row in {rows}.items()}}",
            )
        for name in COUNTS:
            rows = f"RelevanceEvaluator(qrels, {{'{name}'}}{given}).evaluate(run)"
            values = f"[row['{name}'] for row in {rows}.values()]"
            yield Entry(name, f"compute_aggregated_measure('{name}', {values})", None, options)
            if name != "num_q":
                each = f"{{user: row['{name}'] for user, row in {rows}.items()}}"
                yield Entry(name, f"mean({values})", None, {"mean": True, **options}, each=each)
    rows = "Compiled(qrels, {'yaap'}, 1, False).evaluate(run)"
    yield Entry(
        "yaap",
        f"mean([row['yaap'] for row in {rows}.values()])",
        each=f"{{user: row['yaap'] for user, row in {rows}.items()}}",
    )
