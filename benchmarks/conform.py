"""Play every dialect back as a program, and count how many `conform` names as they are.

    python benchmarks/conform.py [--metrics ndcg@5 map@5 precision@5] [DIALECT ...]

The numbers come from the same engine, so this says nothing of the formulas: it says whether the cases tell conventions
apart. A metric is identified where the dialect is among the libraries, no fault is named, and no word is guessed: the
spec and every field are those of the dialect, or its word is listed among those that no case tells apart.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import atkay
from atkay.audit.conform import _target
from atkay.audit.conformance import Conformity
from atkay.audit.probes import Probe, Probes
from atkay.audit.search import USUAL
from atkay.dialects.dialect import Dialect
from atkay.evaluation.spoken import usual
from atkay.text.grid import Grid

METRICS = ("ndcg@5", "map@5", "precision@5")


def player(dialect: Dialect) -> Callable[[dict[str, Any]], float]:
    """A program that prints what the dialect says."""

    def program(case: dict[str, Any]) -> float:
        cut = "" if case["k"] is None else f"@{case['k']}"
        recs = {user: tuple((item, score) for item, score in rows) for user, rows in case["recs"].items()}
        return float(_target(case["metric"] + cut, dialect).values(Probes([Probe(recs, case["truth"])]))[0])

    return program


def guessed(dialect: Dialect, finding: Conformity) -> list[str]:
    """The words that are not those of the dialect and not listed beside them."""
    target = _target(finding.metric, dialect)
    words = []
    if finding.spec != str(target.metric) and str(target.metric) not in finding.open.get("spec", ()):
        words.append(f"{finding.spec}, not {target.metric}")
    found = USUAL.with_fields(**finding.protocol)
    return words + [
        f"{field}={getattr(found, field)}, not {word}"
        for field, word in target.protocol.changes(found).items()
        if str(word) not in finding.open.get(field, ())
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--metrics", nargs="*", default=METRICS)
    parser.add_argument("dialect", nargs="*", default=list(atkay.list_dialects()))
    options = parser.parse_args()
    rows, asked, right = [], 0, 0
    for name in options.dialect:
        dialect = atkay.list_dialects()[name]
        specs = usual(dialect, options.metrics)
        start = time.process_time()
        conformance = atkay.conform(player(dialect), specs)
        took = time.process_time() - start
        wrong = []
        for finding in conformance:
            words = guessed(dialect, finding)
            named = name in finding.libraries and not finding.faults
            wrong += [f"{finding.verdict} {'; '.join(words)}"] if words or not named else []
        asked, right = asked + len(specs), right + len(specs) - len(wrong)
        rows.append((name, f"{len(specs) - len(wrong)} of {len(specs)}", f"{took:.1f}", " ".join(wrong)))
        print(*rows[-1], sep=" | ", flush=True)
    print(f"\n{right} of {asked} identified\n")
    print(Grid(("dialect", "identified", "CPU seconds", "what is not"), rows).markdown())


if __name__ == "__main__":
    main()
