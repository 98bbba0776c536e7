"""Show what run.py measured: tables, a chart, and the page with both.

python benchmarks/present.py   # once more from docs/benchmark.json
"""

from __future__ import annotations

import json
import math
import os
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import polars as pl

import atkay
from atkay.text.grid import Grid

ROOT = Path(__file__).parent.parent
NUMBERS, CHART, PAGE = (ROOT / "docs" / f"benchmark.{kind}" for kind in ("json", "svg", "md"))
HEAD = """\
# Benchmarks

`make bench` measures atkay next to seven other libraries, in one run on the same data, each library in its own
environment with pinned versions; `make bench QUICK=1` takes a tenth of the users and two minutes. It writes this page.
[Where the time goes](performance.md) explains the numbers.

![Seconds of every library for the reference workload](benchmark.svg)
"""

Rows = Sequence[dict[str, Any]]


def machine() -> dict[str, Any]:
    """Where and when."""
    info = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", info)
    return {
        "processor": model[1] if model else platform.machine(),
        "cores": os.cpu_count(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "polars": pl.__version__,
        "atkay": atkay.__version__,
        "date": datetime.now(UTC).date().isoformat(),
    }


def _number(value: float) -> str:
    """Three digits that count, and all that stand before the point."""
    digits = 2 - math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:,.{min(max(digits, 0), 3)}f}"


def _times(value: float) -> str:
    return f"{value:,.1f}" if value < 10 else f"{value:,.0f}"


def _memory(row: dict[str, Any]) -> tuple[str, str]:
    return f"{row['memory'] / 1e6:,.0f}", f"{row['memory'] / row['input']:.2f}"


def _rate(row: dict[str, Any]) -> str:
    return f"{row['rows'] / row['seconds'] / 1e6:,.2f} M"


def _grid(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str]) -> str:
    return Grid(header, rows, right=[name for name in header if name not in left]).markdown()


def peers(rows: Rows, users: int) -> str:
    header = (
        "library",
        "version",
        "users",
        "seconds",
        "rows/s",
        "whole, s",
        "peak MB",
        "x input",
        "x faster",
        "differs",
    )
    cells = [
        (
            row["name"],
            row["version"],
            f"{row['users']:,}",
            _number(row["seconds"]),
            _rate(row),
            _number(row["whole"]) if row["users"] == users else f"≈ {_number(row['whole'])}",
            *_memory(row),
            "" if row["name"] == "atkay" else _times(row["seconds"] / row["atkay"]),
            row["differs"],
        )
        for row in sorted(rows, key=itemgetter("whole"))
    ]
    return _grid(header, cells, ("library", "version", "differs"))


def variants(rows: Rows) -> str:
    header = ("workload", "listed rows", "seconds", "rows/s", "peak MB", "x input", "x limit", "RecTools s", "x faster")
    cells = [
        (
            row["name"],
            f"{row['rows']:,}",
            _number(row["seconds"]),
            _rate(row),
            *_memory(row),
            _times(row["seconds"] / row["limit"]),
            _number(row["rectools"]),
            _times(row["rectools"] / row["seconds"]),
        )
        for row in rows
    ]
    return _grid(header, cells, ("workload",))


def scaling(rows: Rows) -> str:
    header = ("users", "listed rows", "seconds", "x users", "x seconds")
    steps = [(f"{b['users'] / a['users']:.2f}", f"{b['seconds'] / a['seconds']:.2f}") for a, b in pairwise(rows)]
    cells = [
        (f"{row['users']:,}", f"{row['rows']:,}", _number(row["seconds"]), *step)
        for row, step in zip(rows, [("", ""), *steps], strict=False)
    ]
    return _grid(header, cells, ())


def small(rows: Rows) -> str:
    cells = [(row["name"], row["form"], *(f"{1000 * each:.2f}" for each in row["seconds"])) for row in rows]
    return _grid(("library", "from", "10 users, ms", "100 users, ms"), cells, ("library", "from"))


def start(seconds: dict[str, float]) -> str:
    atkay_, numpy_ = seconds["import atkay"], seconds["import numpy"]
    above = seconds["first evaluate"] - seconds["import polars"]
    notes = {
        "import atkay": f"{atkay_ / numpy_:.2f} x import numpy",
        "first evaluate": f"{above:.3f} s above import polars",
    }
    cells = [(name, f"{value:.3f}", notes.get(name, "")) for name, value in seconds.items()]
    return _grid(("in a fresh process", "seconds", "that is"), cells, ("in a fresh process", "that is"))


def text(results: dict[str, Any]) -> str:
    """All tables that were measured, and what was measured where."""
    where, users = results["machine"], results["users"]
    parts = [
        f"One run on {where['cores']} cores of {where['processor']} with {where['memory'] / 2**30:.0f} GiB of memory, "
        f"{where['date']}: Python {where['python']}, NumPy {where['numpy']}, Polars {where['polars']}."
    ]
    if "peers" in results:
        parts += [
            f"Every library on {users:,} users x 100 listed items, from its own kind of frame in memory to the six "
            "metrics at six cutoffs. ≈ is scaled from fewer users; `x faster` is what atkay is ahead on the same "
            "users. Every number that a library shares with atkay is the same, to 1e-9, or 1e-6 where it counts in "
            "float32. Peak memory is above the input. RecTools gets its ranks before the clock starts.",
            peers(results["peers"], users),
        ]
    if "variants" in results:
        parts += [
            "atkay on the same data in other forms. The limit is the time to read every input column once: a NumPy sum "
            "over each (of text, the lengths added up by Polars). Peak memory is above the input.",
            variants(results["variants"]),
        ]
    if "small" in results:
        parts += [
            "Few users: the same metrics, lists of 100, the best of 50 calls. Dicts are made before the clock starts.",
            small(results["small"]),
        ]
    if "scaling" in results:
        parts += ["More users:", scaling(results["scaling"])]
    if "start" in results:
        parts += ["Starting:", start(results["start"])]
    return "\n\n".join(part if part.startswith("|") else fill(part, width=124) for part in parts)


def chart(rows: Rows, users: int, path: Path) -> None:
    """Seconds of every library for the whole reference workload, on a log axis."""
    import altair as alt

    whole = [row["whole"] for row in rows]
    # A log axis has no zero: bars start at a power of ten below the shortest, and leave room for the longest's label.
    low, high = math.floor(math.log10(min(whole) / 2)), math.ceil(math.log10(3 * max(whole)))
    bars = pl.DataFrame(
        {
            "library": [row["name"] for row in rows],
            "seconds": whole,
            "start": [10.0**low] * len(whole),
            "label": [f"{'' if row['users'] == users else '≈ '}{_number(row['whole'])} s" for row in rows],
        }
    )
    base = alt.Chart(bars).encode(
        alt.Y("library:N", sort=alt.SortField("seconds"), title=None),
        alt.X(
            "seconds:Q",
            scale=alt.Scale(type="log", domain=[10.0**low, 10.0**high], nice=False),
            axis=alt.Axis(format=",~g", labelFlush=False, values=[10.0**power for power in range(low, high + 1)]),
            title="seconds: each line is ten times the one before",
        ),
    )
    colour = alt.condition(alt.datum.library == "atkay", alt.value("#d9480f"), alt.value("#868e96"))
    drawn = base.mark_bar(height=20).encode(x2="start:Q", color=colour)
    labels = base.mark_text(align="left", dx=6, fontSize=12, color="#212529").encode(text="label:N")
    title = alt.TitleParams(
        f"Six metrics at six cutoffs for {users:,} users x 100 items",
        subtitle="seconds, end to end from a frame in memory; ≈ scaled from fewer users",
    )
    layers = alt.layer(drawn, labels).properties(width=560, height=alt.Step(30), title=title)
    layers = (
        layers.configure(background="white", padding=16, font="sans-serif")
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=12, titleFontSize=12, titleFontWeight="normal", titlePadding=10)
        .configure_axisX(gridColor="#dee2e6", domain=False, ticks=False)
        .configure_axisY(ticks=False, domain=False, labelFontSize=13, labelPadding=8)
        .configure_title(anchor="start", offset=14, fontSize=15, subtitleFontSize=12, subtitleColor="#495057")
    )
    layers.save(path)


def publish(results: dict[str, Any]) -> None:
    """The numbers, the chart, and the page."""
    NUMBERS.write_text(json.dumps(results, indent=1) + "\n")
    chart(results["peers"], results["users"], CHART)
    PAGE.write_text(f"{HEAD}\n{text(results)}\n")


if __name__ == "__main__":
    publish(json.loads(NUMBERS.read_text()))
