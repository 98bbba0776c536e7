"""pytrec_eval-terrier: trec_eval's measures on dicts. It keeps scores in single precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from entries import CUTOFFS, Data, Entry
from pytrec_eval import RelevanceEvaluator, compute_aggregated_measure

INPUTS = {
    "qrels": "{user: {item: relevance}} from truth.csv",
    "run": "{user: {item: score}} from recs.csv; an item that stands twice keeps its last score",
}
CUT = ("P", "relative_P", "recall", "success", "map_cut", "ndcg_cut")
WHOLE = ("map", "ndcg", "recip_rank", "Rprec", "bpref", "set_P", "set_recall", "set_F", "set_map", "gm_map")


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    scope = {"RelevanceEvaluator": RelevanceEvaluator, "compute_aggregated_measure": compute_aggregated_measure}
    return scope | {"qrels": data.grades, "run": data.run}, entries()


def entries() -> Iterator[Entry]:
    measures = [(f"{name}.{k}", f"{name}_{k}", name, k) for name in CUT for k in CUTOFFS]
    measures += [(name, name, name, None) for name in WHOLE]
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
