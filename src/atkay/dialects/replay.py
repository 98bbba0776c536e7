"""RePlay, on Polars or pandas."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="replay",
    library="replay-rec",
    version="0.22.0",
    metrics=("precision", "recall", "hit", "map(per=capped)", "mrr", "ndcg(gain=binary)", "top_auc(one_kind=hit)"),
    names={"RocAuc": "top_auc"},
    protocol={"ties": "item_desc"},
    note="Given pandas tables, versions below 0.20 leave equal scores in any order.",
    alike={
        "Coverage": "coverage",
        "Novelty": "new_to_user",
        "Surprisal": "surprisal",
        "Unexpectedness": "unexpectedness",
        "CategoricalDiversity": "category_count",
    },
)
