"""How fast logs are split: rows per second of every way to make a task, best of three.

python benchmarks/splits.py              # 5 million rows
python benchmarks/splits.py 1000000      # any other number
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from atkay import tasks
from atkay.errors import RepeatsWarning
from atkay.text.grid import Grid

ROWS = 5_000_000


def log(rows: int) -> pl.DataFrame:
    """Events in no order: users with 50 each, popular items more often, orders and sessions of ten."""
    rng = np.random.default_rng(8)
    moment = rng.permutation(rows)
    user = moment % (rows // 50)
    return pl.DataFrame(
        {
            "user": user,
            "item": (30_000 * rng.random(rows) ** 3).astype(np.int64),
            "time": moment,
            "session": moment // (rows // 50) // 10 * (rows // 50) + user,
        }
    )


def measure(make: Callable[[], Any]) -> float:
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        make()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main(rows: int) -> None:
    warnings.simplefilter("ignore", RepeatsWarning)
    events = log(rows)
    orders = events.rename({"session": "order"})
    text = events.select(pl.col("user", "item").cast(pl.String), "time")
    plain = events.drop("session")
    ways: dict[str, Callable[[], Any]] = {
        "split_by_time": lambda: tasks.split_by_time(plain, rows * 4 // 5),
        "split_by_time, share": lambda: tasks.split_by_time(plain, share=0.2),
        "leave_last_out": lambda: tasks.leave_last_out(plain),
        "leave_last_k_out, k=5": lambda: tasks.leave_last_k_out(plain, 5),
        "leave_last_out, text ids": lambda: tasks.leave_last_out(text),
        "random_holdout": lambda: tasks.random_holdout(plain),
        "random_holdout, within user": lambda: tasks.random_holdout(plain, within="user"),
        "k_folds, five of them": lambda: tasks.k_folds(plain),
        "next_item": lambda: tasks.next_item(events),
        "next_basket": lambda: tasks.next_basket(orders),
    }
    rows_of = [(name, seconds := measure(make), rows / seconds / 1e6) for name, make in ways.items()]
    cells = [(name, f"{seconds:.2f}", f"{speed:.2f} M") for name, seconds, speed in rows_of]
    print(Grid(("way", "seconds", "rows/s"), cells, right=("seconds", "rows/s")).markdown())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
