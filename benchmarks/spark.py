"""Rows per second on Spark next to in memory, from the same Parquet files, in one run.

    python benchmarks/spark.py           # the reference workload on local[2]
    python benchmarks/spark.py 0.1 4     # a tenth of its users, on local[4]

Both read the files and give six metrics at six cutoffs; a few users go first, so that processes and imports are there.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from workload import USERS, Workload, reference, resized

import atkay
from atkay.engines.spark.spark import local_session

METRICS = [f"{name}@1,3,5,10,20,100" for name in ("ndcg", "map", "mrr", "recall", "precision", "hit")]


def written(workload: Workload, folder: Path) -> Path:
    folder.mkdir()
    workload.recs.write_parquet(folder / "recs.parquet")
    workload.truth.write_parquet(folder / "truth.parquet")
    return folder


def timed(read: Callable[[Path], Any], folder: Path) -> tuple[float, atkay.Result]:
    began = time.perf_counter()
    result = atkay.evaluate(read(folder / "recs.parquet"), read(folder / "truth.parquet"), METRICS)
    return time.perf_counter() - began, result


def main(share: str = "1", cores: str = "2") -> None:
    spark = local_session(int(cores), {"spark.driver.memory": "4g"})
    ways: dict[str, Callable[[Path], Any]] = {
        "in memory": pl.read_parquet,
        f"Spark, local[{cores}]": lambda path: spark.read.parquet(str(path)),
    }
    base = reference()
    with tempfile.TemporaryDirectory() as folder:
        few = written(resized(base, 1000), Path(folder) / "few")
        all_users = written(resized(base, int(USERS * float(share))), Path(folder) / "all")
        results = []
        for name, read in ways.items():
            timed(read, few)
            seconds, result = timed(read, all_users)
            results.append(result)
            rows = result.population.listed
            print(f"{name}: {rows:,} listed rows in {seconds:.1f} s, {rows / seconds:,.0f} per second")
    apart = max(abs(results[0][name] - results[1][name]) for name in results[0])
    print(f"the largest difference between them is {apart:.1g}")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
