"""Seconds of one evaluation of the reference workload by the number of threads: one process each, best of seven.

python benchmarks/cores.py                        # sorted and shuffled rows, 1, 2, 4, 8, 16 threads
python benchmarks/cores.py --variant graded --threads 1 --threads 2
"""

from __future__ import annotations

import argparse
import os
import time

from tools import atkay
from workload import USERS, VARIANTS

from atkay.core.threads import VARIABLE, cores
from atkay.text.grid import Grid

REPEATS = 7


def seconds(name: str, threads: list[int]) -> list[float]:
    load = VARIANTS[name].form(VARIANTS[name].base(USERS))
    run = atkay(load.recs.rechunk(), load.truth.rechunk())
    best = []
    for count in threads:
        os.environ[VARIABLE] = str(count)
        run()
        taken = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            run()
            taken.append(time.perf_counter() - start)
        best.append(min(taken))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description="Time one evaluation by the number of threads.")
    parser.add_argument("--variant", choices=VARIANTS, action="append", help="one variant; may be given again")
    parser.add_argument("--threads", type=int, action="append", help="so many threads; may be given again")
    options = parser.parse_args()
    threads = options.threads or [count for count in (1, 2, 4, 8, 16) if count <= cores()]
    header = ("rows", *(f"{count} threads" if count > 1 else "1 thread" for count in threads), "faster")
    rows = []
    for name in options.variant or ["sorted", "shuffled"]:
        best = seconds(name, threads)
        rows.append((name, *(f"{1000 * each:.0f} ms" for each in best), f"{best[0] / best[-1]:.1f}x"))
    print(f"{cores()} cores")
    print(Grid(header, rows, right=header[1:]).markdown())


if __name__ == "__main__":
    main()
