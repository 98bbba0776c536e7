"""Where the time goes: seconds per stage of one evaluation of the reference workload, best of five.

    python benchmarks/stages.py            # sorted
    python benchmarks/stages.py shuffled   # any of the variants

Only the calling thread is watched, so a stage's time is what a clock on the wall shows, with the threads it starts.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
from collections.abc import Callable
from typing import Any

from tools import atkay
from workload import USERS, VARIANTS

from atkay.text.grid import Grid

STAGES = {
    "read.py read_recs": "read: find the columns, scores are finite",
    "align.py align_tables": "align",
    "lookup.py changes": "  find where the user changes",
    "vocabulary.py of": "  codes for users and items",
    "order.py together": "  sort the rows by user and score",
    "lists.py taken": "  move columns (and in judge)",
    "judge.py judge": "judge",
    "match.py match": "  match with the truth, find duplicates",
    "judge.py _order": "  scores fall along each list",
    "judge.py _marks": "  fingerprints",
    "judge.py best_first": "  order the truth's grades",
    "measure.py values_of": "values of 36 numbers per user",
    "result.py means": "means",
}


def stages(run: Callable[[], Any]) -> dict[str, float]:
    watch = cProfile.Profile()
    watch.enable()
    run()
    watch.disable()
    found = {"whole": 0.0}
    for (path, _, function), (*_, seconds, _) in pstats.Stats(watch).stats.items():  # type: ignore[attr-defined]  # not in the stubs
        name = f"{path.rpartition('/')[2]} {function}"
        if name in STAGES:
            found[STAGES[name]] = seconds
        if name == "evaluate.py evaluate" or name == "result.py to_dict":
            found["whole"] += seconds
    return found


def main(name: str) -> None:
    load = VARIANTS[name].form(VARIANTS[name].base(USERS))
    run = atkay(load.recs.rechunk(), load.truth.rechunk())
    runs = [stages(run) for _ in range(5)]
    best = min(runs, key=lambda run: run["whole"])
    rows = [(stage, f"{1000 * best[stage]:.0f}") for stage in [*STAGES.values(), "whole"] if stage in best]
    print(Grid(("stage", "ms"), rows, right=("ms",)).markdown())


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["sorted"]))
