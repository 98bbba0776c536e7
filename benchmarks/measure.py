"""Measure one tool on one workload, in a process of its own: seconds, and peak memory above the input.

    python benchmarks/measure.py TOOL FOLDER REPEATS [mapped]

Run by run.py with the tool's own interpreter. A few users go first, so that imports, thread pools and compiled code are
there. Prints one line of JSON.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path
from typing import Any

from tools import TOOLS


def pandas_frame(path: Path) -> Any:
    """From NumPy arrays, read straight into their place; text comes as codes and words, so equal ids are one object."""
    import numpy as np
    import pandas as pd

    columns = {}
    with np.load(path.with_suffix(".npz")) as file:
        for name in file.files:
            column, _, part = name.partition(" ")
            if not part:
                columns[column] = file[name]
            elif part == "codes":
                columns[column] = file[f"{column} words"].astype(object)[file[name]]
    return pd.DataFrame(columns)


def polars_frame(path: Path) -> Any:
    import polars as pl

    return pl.read_ipc(path.with_suffix(".arrow"))


def mapped_frame(path: Path) -> Any:
    """The file itself as the frame's memory, every page touched: reading leaves nothing behind in an allocator.

    Polars 2 no longer maps files by itself; what Arrow has mapped it takes over without a copy, text included.
    """
    import numpy as np
    import polars as pl
    import pyarrow as pa
    import pyarrow.ipc

    with pa.memory_map(str(path.with_suffix(".arrow"))) as file:
        buffer = file.read_buffer()
    np.frombuffer(buffer, np.uint8)[::1024].max()
    return pl.from_arrow(pyarrow.ipc.open_file(buffer).read_all())


READERS = {"pandas": pandas_frame, "polars": polars_frame, "mapped": mapped_frame}


def resident(field: str) -> int:
    """Bytes in memory: now (VmRSS), or the most since the peak was forgotten (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(field))


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def main(name: str, folder: str, repeats: str, reading: str = "") -> None:
    tool = TOOLS[name]
    read = READERS[reading or tool.frames]
    home = Path(folder)
    tool.ready(read(home / "few" / "recs"), read(home / "few" / "truth"))()
    run = tool.ready(read(home / "recs"), read(home / "truth"))
    gc.collect()
    forget_peak()
    before = resident("VmRSS")
    seconds, memory = [], 0
    for turn in range(int(repeats)):
        start = time.perf_counter()
        values = run()
        seconds.append(time.perf_counter() - start)
        if turn == 0:
            memory = resident("VmHWM") - before
    print(json.dumps({"seconds": min(seconds), "memory": memory, "values": values}))


if __name__ == "__main__":
    main(*sys.argv[1:])
