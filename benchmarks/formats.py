"""How fast files are read: a million rows of the same lists in each format, best of three.

    python benchmarks/formats.py                 # a million rows
    python benchmarks/formats.py --rows 100000

Shown are rows per second of the clock on the wall and of the processor (all threads together): on a machine that does
other things, only the second can be compared.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from atkay.inputs.kinds import open_source

LISTED = 100


def _write_json(frame: pl.DataFrame, path: Path, indent: int | None = None) -> None:
    lists = frame.group_by("user", maintain_order=True).agg("item", "score").iter_rows()
    content = {user: dict(zip(items, scores, strict=True)) for user, items, scores in lists}
    path.write_text(json.dumps(content, indent=indent))


def _write_lines(frame: pl.DataFrame, path: Path, line: str, *columns: str) -> None:
    frame.select(pl.format(line, *columns)).write_csv(path, include_header=False, quote_style="never")


FILES: dict[str, tuple[str, Callable[[pl.DataFrame, Path], None]]] = {
    "run.parquet": ("recs", pl.DataFrame.write_parquet),
    "run.csv": ("recs", pl.DataFrame.write_csv),
    "run.txt": ("recs", lambda frame, path: _write_lines(frame, path, "{} Q0 {} 1 {} tag", "user", "item", "score")),
    "qrels.txt": ("truth", lambda frame, path: _write_lines(frame, path, "{} 0 {} 1", "user", "item")),
    "run.json": ("recs", _write_json),
    "indented.json": ("recs", lambda frame, path: _write_json(frame, path, indent=2)),
    "run.jsonl": ("recs", pl.DataFrame.write_ndjson),
    "letor.svmlight": (
        "truth",
        lambda frame, path: _write_lines(frame, path, "1 qid:{} 1:{} 2:0.5 3:1 #docid = {}", "user", "score", "item"),
    ),
}


def lists(rows: int) -> pl.DataFrame:
    """A hundred different items for each user, the best first; ids are text."""
    at = np.arange(rows)
    item = (at % LISTED * 37 + at // LISTED * 13) % (LISTED * 37)
    score = -np.sort(-np.random.default_rng(7).random((rows // LISTED, LISTED)), axis=1).ravel().round(6)
    frame = pl.DataFrame({"user": at // LISTED, "item": item, "score": score})
    return frame.with_columns(pl.format("q{}", "user").alias("user"), pl.format("doc{}", "item").alias("item"))


def seconds(path: Path, table: str, rows: int) -> tuple[float, float]:
    """On the wall and of the processor, to read all columns."""
    wall, processor = time.perf_counter(), time.process_time()
    source = open_source(path, table)
    read = source.select(source.names)
    taken = time.perf_counter() - wall, time.process_time() - processor
    assert len(read) == rows, f"{path.name} has {len(read)} rows"
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="a multiple of 100")
    rows = parser.parse_args().rows
    frame = lists(rows)
    print("million rows/s     wall  processor")
    with tempfile.TemporaryDirectory() as folder:
        for name, (table, write) in FILES.items():
            path = Path(folder, name)
            write(frame, path)
            wall, processor = (min(best) for best in zip(*(seconds(path, table, rows) for _ in range(3)), strict=True))
            print(f"{name:<16} {rows / wall / 1e6:6.1f}  {rows / processor / 1e6:9.1f}", flush=True)


if __name__ == "__main__":
    main()
