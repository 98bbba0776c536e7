"""ranx: as Qrels and Run objects, and as plain dicts, which it pairs by their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from entries import CUTOFFS, Data, Entry
from ranx import Qrels, Run, evaluate

INPUTS = {
    "qrels": "{user: {item: relevance}} from truth.csv, in file order",
    "run": "{user: {item: score}} from recs.csv, in file order; an item that stands twice keeps its last score",
}
CUT = ("hits", "hit_rate", "precision", "recall", "f1", "mrr", "map", "dcg", "dcg_burges", "ndcg", "ndcg_burges")
WHOLE = ("r-precision", "bpref", "rbp.50", "rbp.80", "rbp.95")
OBJECTS = "Qrels(qrels), Run(run)"


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    scope = {"evaluate": evaluate, "Qrels": Qrels, "Run": Run, "qrels": data.grades, "run": data.run}
    return scope, entries(any(grade > 1 for _, _, grade in data.truth))


def entries(graded: bool) -> Iterator[Entry]:
    measures = [(f"{name}@{k}" if k else name, name, k) for name in CUT for k in (None, *CUTOFFS)]
    measures += [(name, name, None) for name in WHOLE]
    for asked, name, k in measures:
        # Objects are put in the order of their users' names; dicts stay as they are.
        each = f"dict(zip(sorted(qrels), evaluate({OBJECTS}, '{asked}', return_mean=False)))"
        yield Entry(name, f"evaluate({OBJECTS}, '{asked}')", k, {"inputs": "objects"}, each)
        given = f"evaluate({OBJECTS}, '%s', make_comparable=True)"
        each = f"dict(zip(sorted(qrels), {given[:-1]}, return_mean=False)))"
        options = {"inputs": "objects", "make_comparable": True}
        yield Entry(name, given % asked, k, options, each % asked)
        if graded:
            level = f"{asked}-l2"
            yield Entry(name, given % level, k, options | {"rel_lvl": 2}, each % level)
        # Asked for one metric with a cutoff, it looks its values up without the cutoff and raises KeyError; hence two.
        each = f"dict(zip(qrels, evaluate(qrels, run, ['{asked}'] * 2, return_mean=False)['{asked}']))"
        yield Entry(name, f"evaluate(qrels, run, '{asked}')", k, {"inputs": "dicts"}, each)
