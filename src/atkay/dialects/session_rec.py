"""session-rec: the next item, or all that follow in the session."""

from __future__ import annotations

from atkay.dialects.dialect import Dialect

DIALECT = Dialect(
    name="session_rec",
    library="session-rec",
    version="02cf507",
    metrics=("hit", "mrr", "precision", "recall", "ndcg(gain=binary,discount=jk)"),
    names={"HitRate": "hit"},
    cutoff=20,
    unstable=2,
    checked="source",
    note="Its version is a commit. HitRate and MRR have one relevant item, the next; the others all that follow in the "
    "session. The order of equal scores is undefined.",
    without={"MAP": "precisions are divided by k at each hit, and the last place is left out"},
)
