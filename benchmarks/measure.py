"""Time one tool on one workload, in a process of its own.

Run by run.py with the tool's own interpreter; the frames come from Parquet files and are put into the tool's own form
before the clock starts. Prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CUTOFFS = (1, 3, 5, 10, 20, 50)


def atkay(recs: Path, truth: Path) -> Callable[[], Any]:
    import polars as pl

    from atkay import evaluate

    frames = [pl.read_parquet(path).rechunk() for path in (recs, truth)]
    cuts = ",".join(map(str, CUTOFFS))
    metrics = [f"{name}@{cuts}" for name in ("ndcg", "map", "mrr", "recall", "precision", "hit")]
    return lambda: evaluate(frames[0], frames[1], metrics).to_dict()


def limit(recs: Path, truth: Path) -> Callable[[], Any]:
    """The time to read every column once: a NumPy sum over each."""
    import polars as pl

    columns = [column.to_numpy() for path in (recs, truth) for column in pl.read_parquet(path).rechunk()]
    return lambda: [column.sum() for column in columns]


def rectools(recs: Path, truth: Path) -> Callable[[], Any]:
    import pandas as pd
    from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, calc_metrics

    listed, wanted = pd.read_parquet(recs), pd.read_parquet(truth)
    listed["rank"] = listed.groupby("user_id")["score"].rank(method="first", ascending=False).astype(int)
    kinds = {"ndcg": NDCG, "map": MAP, "mrr": MRR, "recall": Recall, "precision": Precision, "hit": HitRate}
    metrics = {f"{name}@{k}": kind(k=k) for name, kind in kinds.items() for k in CUTOFFS}
    return lambda: calc_metrics(metrics, reco=listed, interactions=wanted)


TOOLS = {"atkay": atkay, "limit": limit, "rectools": rectools}


def main(tool: str, recs: str, truth: str, repeats: str) -> None:
    run = TOOLS[tool](Path(recs), Path(truth))
    seconds = []
    for _ in range(int(repeats)):
        start = time.perf_counter()
        found = run()
        seconds.append(time.perf_counter() - start)
    recall = found["recall@10"] if isinstance(found, dict) else None
    print(json.dumps({"seconds": min(seconds), "recall@10": recall}))


if __name__ == "__main__":
    main(*sys.argv[1:])
