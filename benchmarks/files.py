"""Files larger than memory: 500 million listed rows within 2 GB, and how much slower that is than in memory.

    python benchmarks/files.py                        # 5 million users x 100 items, sorted; a fifth of them shuffled
    python benchmarks/files.py --users 500000         # a tenth
    python benchmarks/files.py --data /large/folder   # keep the files there (about 3 GB), and take them from there

Lists and truth are generated, 100,000 users to a file, and the same files are evaluated twice, one right after the
other: as many as fit in memory, and all of them with memory="2GB". Each runs in a process of its own, whose peak of
memory is what the system has counted. Sorted files are read in place; shuffled ones are first dealt out on disk.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

USERS, LISTED, WANTED, ITEMS = 5_000_000, 100, 24, 26_800
PER_FILE = 100_000
IN_MEMORY = 5
"""Files that are evaluated in memory: 50 million rows."""
MEMORY = "2GB"


def generate(folder: Path, users: int) -> None:
    """Lists and truth of so many users in files, each in the order of the users and, beside it, in none."""
    for number in range(users // PER_FILE):
        rng = np.random.default_rng([7, number])
        user = np.arange(number * PER_FILE, (number + 1) * PER_FILE, dtype=np.int32)
        listed = _distinct(rng, LISTED)
        wanted = _distinct(rng, WANTED)
        lucky = rng.random(wanted.shape) < 0.04
        wanted[lucky] = listed[:, :WANTED][lucky]  # some is what the lists show, so that there are hits
        score = -np.sort(-rng.random(listed.shape, dtype=np.float32), axis=1)
        recs = pl.DataFrame({"user_id": user.repeat(LISTED), "item_id": listed.ravel(), "score": score.ravel()})
        truth = pl.DataFrame({"user_id": user.repeat(WANTED), "item_id": wanted.ravel()}).unique(maintain_order=True)
        for name, frame in (("recs", recs), ("truth", truth)):
            for order in ("sorted", "shuffled"):
                path = folder / order / name / f"{number:03}.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                if order == "sorted" or number < users // PER_FILE // 5:
                    rows = frame if order == "sorted" else frame.sample(fraction=1, shuffle=True, seed=number)
                    rows.write_parquet(path, row_group_size=1 << 19)


def _distinct(rng: np.random.Generator, width: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    """For each user of a file so many different items, in any order."""
    wide = ITEMS // width
    item = rng.integers(0, wide, (PER_FILE, width), dtype=np.int32) + np.arange(width, dtype=np.int32) * wide
    return rng.permuted(item, axis=1)


def measure(folder: Path, files: int | None) -> dict[str, float]:
    """Seconds and peak memory of one evaluation, in a process of its own; ``files``: so many, in memory."""
    line = [sys.executable, __file__, "--one", str(folder)]
    done = subprocess.run([*line, *([] if files is None else [str(files)])], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def one(folder: str, files: str | None = None) -> None:
    """The process that is measured."""
    import atkay

    recs, truth = f"{folder}/recs/*.parquet", f"{folder}/truth/*.parquet"
    began = time.perf_counter()
    if files is None:
        result = atkay.evaluate(recs, truth, memory=MEMORY)
    else:
        first = [sorted(Path(folder, name).glob("*"))[: int(files)] for name in ("recs", "truth")]
        result = atkay.evaluate(pl.scan_parquet(first[0]), pl.scan_parquet(first[1]))
    took = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    rows = result.population.listed
    print(json.dumps({"seconds": took, "rows": rows, "peak": peak, "ndcg": result["ndcg@10"]}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=USERS, help="a multiple of 500,000")
    parser.add_argument("--data", type=Path, help="a folder to keep the files in")
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        return one(*given.one)
    with tempfile.TemporaryDirectory() as temporary:
        data = given.data or Path(temporary)
        if not (data / "sorted").exists():
            generate(data, given.users)
        for order in ("sorted", "shuffled"):
            print(f"{order}:")
            speeds = []
            for name, files in (("in memory", IN_MEMORY), (f'memory="{MEMORY}"', None)):
                found = measure(data / order, files)
                speeds.append(found["rows"] / found["seconds"])
                print(
                    f"  {name:<16} {found['rows']:>13,.0f} rows  {found['seconds']:7.1f} s  "
                    f"{speeds[-1] / 1e6:5.1f} million rows/s  peak {found['peak'] / 1e9:.2f} GB",
                    flush=True,
                )
            print(f"  ratio            {speeds[1] / speeds[0]:.2f}", flush=True)


if __name__ == "__main__":
    main()
