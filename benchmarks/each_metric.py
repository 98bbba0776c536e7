"""What each metric costs on the reference workload, as a multiple of ndcg in the same run.

    python benchmarks/each_metric.py [--users N] [METRIC ...]

Everything is given that any metric needs: the truth of other users as training data, categories and vectors of items,
a reference. A time is that of one evaluate at cutoff 10, from the frames to the number, best of three.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings

import numpy as np
import polars as pl
from workload import ITEMS, USERS, VARIANTS

import atkay
from atkay.metrics.metric import Metric
from atkay.text.grid import Grid


def seconds(metric: Metric, recs: pl.DataFrame, truth: pl.DataFrame, given: dict[str, object]) -> float:
    found = []
    for _ in range(3):
        start = time.perf_counter()
        atkay.evaluate(recs, truth, metric, **given).to_dict()  # type: ignore[arg-type]  # by name
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--users", type=int, default=USERS)
    parser.add_argument("metric", nargs="*", help="only these")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    load = VARIANTS["sorted"].form(VARIANTS["sorted"].base(options.users))
    recs, truth = load.recs, load.truth
    rng = np.random.default_rng(8)
    items = np.arange(1, ITEMS + 1)
    given: dict[str, object] = {
        "train": truth.with_columns(pl.col("user_id").reverse()).select("user_id", "item_id"),
        "catalog": items,
        "features": pl.DataFrame(
            {
                "item_id": items,
                "genres": [[f"g{n}" for n in row] for row in rng.integers(0, 20, (ITEMS, 2)).tolist()],
                "vector": rng.standard_normal((ITEMS, 32)),
            }
        ),
        "reference": rng.choice(items, 100, replace=False).tolist(),
    }
    reference = seconds(atkay.parse("ndcg@10"), recs, truth, given)
    rows = []
    for name, cls in atkay.list_metrics().items():
        if options.metric and name not in options.metric:
            continue
        words = [{"kind": word} for word in ("murakami", "rectools", "ge", "cosine")] if name == "serendipity" else [{}]
        words = [{"by": word} for word in ("features", "categories", "cooccurrence")] if name == "ild" else words
        for chosen in words:
            metric = cls(**chosen, k=10 if cls.cuts else None)
            print(f"{metric} ...", file=sys.stderr)
            took = seconds(metric, recs, truth, given)
            rows.append((str(metric), f"{took:.2f}", f"{took / reference:.1f}"))
    header = ("metric", "seconds", "x ndcg")
    print(f"ndcg@10 takes {reference:.2f} s for {options.users:,} users with lists of 100.\n")
    print(Grid(header, rows, right=header[1:]).markdown())


if __name__ == "__main__":
    main()
