"""trec_eval 10: scores in double precision, recall levels rounded to the nearest, and the residual of RBP."""

from __future__ import annotations

from dataclasses import replace

from atkay.dialects.trec_eval import DIALECT as NINE

DIALECT = replace(
    NINE,
    name="trec_eval_10",
    library="trec_eval",
    version="10.0",
    metrics=(
        *(spec.replace("rounding=from_tenth", "rounding=nearest") for spec in NINE.metrics),
        "rbp_residual(p=0.9,unjudged=open_if_any)",
        "unjudged(per=k)",
    ),
    names={
        **NINE.names,
        "rbp_resid": "rbp_residual",
        "rbp_resid_p={p}": "rbp_residual(p={p})",
        "unj_{k}": "unjudged@{k}",
    },
    dotted={**NINE.dotted, "unj": "5,10,20"},
    protocol={**NINE.protocol, "scores": "exact"},
    uncut=(*NINE.uncut, "rbp_residual"),
    checked="source",
    without={
        **NINE.without,
        "rbp": "its gains are scaled by variables that have no value; rbp(p=0.9) is what is meant",
    },
)
