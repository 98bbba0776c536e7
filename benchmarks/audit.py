"""Seconds for variants and reconcile on the reference workload, next to one evaluate of the same numbers.

    python benchmarks/audit.py [--users N] [VARIANT ...]

Reported are numbers that RePlay would print, and numbers that nothing gives, so that all is searched in vain.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

from workload import USERS, VARIANTS

import atkay
from atkay.text.grid import Grid

NAMES = ("map@10", "ndcg@10")


def timed(call: Callable[..., Any], *given: Any, **named: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    found = call(*given, **named)
    return time.perf_counter() - start, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--users", type=int, default=USERS)
    parser.add_argument("variant", nargs="*", default=["sorted"], help="forms of the workload")
    options = parser.parse_args()
    rows = []
    for name in options.variant:
        load = VARIANTS[name].form(VARIANTS[name].base(options.users))
        tables = load.recs.rechunk(), load.truth.rechunk()
        atkay.evaluate(*tables, NAMES).to_dict()  # so that thread pools are there
        took, result = timed(atkay.evaluate, *tables, NAMES, dialect="replay")
        rows.append((name, "evaluate", f"{took:.2f}", f"{len(result)} numbers"))
        took, found = timed(atkay.variants, *tables, "ndcg@10")
        rows.append((name, "variants", f"{took:.2f}", f"{len(found) + sum(map(len, found.alike.values()))} variants"))
        printed = {spec: f"{result[spec]:.5f}" for spec in NAMES}
        for what, reported in (("reconcile", printed), ("reconcile in vain", dict.fromkeys(NAMES, "0.987654"))):
            took, found = timed(atkay.reconcile, *tables, reported)
            rows.append((name, what, f"{took:.2f}", f"{found.tried:,} values, {found.matches:,} matches"))
    print(f"{options.users:,} users\n")
    print(Grid(("workload", "call", "seconds", "of"), rows, right=("seconds",)).markdown())


if __name__ == "__main__":
    main()
