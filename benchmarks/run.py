"""Time atkay on the reference workload and its variants, next to the limit of reading the input once and to RecTools.

    python benchmarks/run.py           # the whole workload: 13.8 million listed rows
    python benchmarks/run.py --quick   # a tenth of the users

RecTools gets its own virtual environment with a pinned version. What is compared lies in the same files, is measured
one after the other on the same machine, and each time in a fresh process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from workload import USERS, VARIANTS, Workload, variant

from atkay.grid import Grid

HERE = Path(__file__).parent
PEERS = {"rectools": ["rectools==0.19.0", "pyarrow==17.0.0"]}


def interpreter(peer: str) -> str:
    """The Python of a peer's own environment, made on first use."""
    home = HERE.parent / f".venv-bench-{peer}"
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        print(f"making an environment for {peer} ...", file=sys.stderr)
        venv.create(home, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS[peer]], check=True)
        (home / "ready").touch()
    return str(python)


def measure(tool: str, folder: Path, repeats: int) -> dict[str, float]:
    python = interpreter(tool) if tool in PEERS else sys.executable
    files = [str(folder / "recs.parquet"), str(folder / "truth.parquet")]
    command = [python, str(HERE / "measure.py"), tool, *files, str(repeats)]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(out.stdout.splitlines()[-1])
    return found


def row(load: Workload, folder: Path) -> tuple[str, ...]:
    load.recs.write_parquet(folder / "recs.parquet")
    load.truth.write_parquet(folder / "truth.parquet")
    ours, peer = measure("atkay", folder, 5), measure("rectools", folder, 1)
    if abs(ours["recall@10"] - peer["recall@10"]) > 1e-9:
        raise SystemExit(f"{load.name}: recall@10 is {ours['recall@10']} here and {peer['recall@10']} in RecTools")
    numbers = load.name not in ("text ids",)
    reading = measure("limit", folder, 5)["seconds"] if numbers else None
    return (
        load.name,
        f"{load.rows:,}",
        f"{ours['seconds']:.3f}",
        f"{load.rows / ours['seconds'] / 1e6:.0f} M",
        "–" if reading is None else f"{ours['seconds'] / reading:.1f}",
        f"{peer['seconds']:.1f}",
        f"{peer['seconds'] / ours['seconds']:.0f}",
    )


def main(users: int) -> None:
    rows = []
    for name in VARIANTS:
        print(f"{name} ...", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            rows.append(row(variant(name, users=users), Path(folder)))
    header = ("workload", "listed rows", "seconds", "rows/s", "x limit", "RecTools s", "x faster")
    print(Grid(header, rows, right=header[1:]).markdown())


if __name__ == "__main__":
    main(USERS // 10 if "--quick" in sys.argv[1:] else USERS)
