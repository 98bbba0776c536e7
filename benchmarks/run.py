"""Measure atkay on the reference workload and its variants, next to the limit and to the other libraries.

    python benchmarks/run.py                            # everything: 13.8 million listed rows
    python benchmarks/run.py --quick                    # a tenth of the users, in two minutes
    python benchmarks/run.py --only scaling             # one part: variants, peers, small, scaling or start
    python benchmarks/run.py --only variants --variant shuffled

Each library has its own virtual environment with pinned versions, made on first use. What is compared lies in the same
files and is measured one after the other on the same machine, each in a fresh process. A full run also writes
docs/benchmark.json, docs/benchmark.svg and docs/benchmark.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import present
from tools import OURS, PEERS, SMALL, TOOLS
from workload import LENGTH, USERS, VARIANTS, Variant, resized, save

import atkay

HERE = Path(__file__).parent
PARTS = ("variants", "peers", "small", "scaling", "start")
FEW = 50  # users to warm up with; ranx goes down to one thread for good when it sees fewer than ten
FEW_USERS = (10, 100)
CALLS = 50  # of few users, of which the fastest counts
SIZES = (10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000, 1_000_000)
STARTS = {
    "import numpy": "import numpy",
    "import atkay": "import atkay",
    "import polars": "import polars",
    "first evaluate": "import atkay; atkay.evaluate({1: ['a', 'b']}, {1: ['b']}, 'ndcg@10').to_dict()",
}


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def interpreter(tool: str) -> str:
    """The Python of a library's own environment, made when its versions are new."""
    if tool in OURS:
        return sys.executable
    tool = tool.removesuffix("-dicts")
    home, pins = HERE.parent / f".venv-bench-{tool}", PEERS[tool].pins
    python, ready = home / "bin" / "python", home / "ready"
    if not ready.exists() or ready.read_text() != "\n".join(pins):
        say(f"making an environment for {PEERS[tool].name} ...")
        venv.create(home, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", *pins], check=True)
        ready.write_text("\n".join(pins))
    return str(python)


def output(command: list[str]) -> str:
    """What a fresh process prints last."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr}")
    return done.stdout.splitlines()[-1]


def _kept(found: dict[str, Any]) -> dict[str, Any]:
    return {key: found[key] for key in ("rows", "seconds", "memory", "input")}


@dataclass
class Bench:
    """One run. One workload at a time lies on disk, and nothing is measured twice."""

    home: Path
    users: int
    written: tuple[Variant, int] | None = None
    size: dict[str, int] = field(default_factory=dict)
    found: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.home / "workload"

    def write(self, variant: Variant, users: int) -> None:
        if self.written == (variant, users):
            return
        base = variant.base(self.users)
        shutil.rmtree(self.folder, ignore_errors=True)
        whole = variant.form(resized(base, users * LENGTH // variant.length))
        # More users than the workload has are for atkay alone.
        kinds = ("polars", "pandas") if users <= self.users else ("polars",)
        save(whole, self.folder, kinds=kinds)
        save(variant.form(resized(base, FEW)), self.folder / "few", kinds=kinds)
        os.sync()  # nothing is being written while the clock runs
        # An Arrow file that is not compressed is the columns' bytes and a page of names.
        size = sum((self.folder / f"{name}.arrow").stat().st_size for name in ("recs", "truth"))
        self.size = {"rows": len(whole.recs), "input": size}
        self.written = (variant, users)

    def measure(self, tool: str, variant: Variant, users: int, repeats: int = 1, reading: str = "") -> dict[str, Any]:
        key = (tool, variant, users, reading)
        if key not in self.found:
            self.write(variant, users)
            python = interpreter(tool)
            found = output([python, str(HERE / "measure.py"), tool, str(self.folder), str(repeats), reading])
            self.found[key] = json.loads(found) | self.size
        return self.found[key]

    def ours(self, variant: Variant, users: int, tool: str = "atkay") -> dict[str, Any]:
        """Seconds on a frame in ordinary memory; the peak in another process, on one that is mapped."""
        timed = self.measure(tool, variant, users, repeats=5)
        weighed = self.measure(tool, variant, users, reading="mapped" if tool == "atkay" else "pandas")
        return timed | {"memory": weighed["memory"]}

    def peer(self, tool: str, variant: Variant, users: int, ours: dict[str, Any]) -> dict[str, Any]:
        """One run of a library, whose numbers must be ours."""
        reading = "mapped" if PEERS[tool].frames == "polars" else "pandas"
        theirs = self.measure(tool, variant, users, reading=reading)
        shared = ours["values"].keys() & theirs["values"].keys()
        if "recall@10" not in shared:
            raise SystemExit(
                f"{PEERS[tool].name} gives no recall@10 to compare; it gives {', '.join(theirs['values'])}"
            )
        for name in sorted(shared):
            here, there = ours["values"][name], theirs["values"][name]
            if not abs(here - there) <= PEERS[tool].tolerance:
                raise SystemExit(f"{name} of {users:,} users is {here!r} here and {there!r} in {PEERS[tool].name}")
        return theirs

    def variants(self, names: list[str]) -> list[dict[str, Any]]:
        rows = []
        for name in names:
            say(f"{name} ...")
            variant = VARIANTS[name]
            ours = self.ours(variant, self.users, "atkay-pandas" if name == "pandas input" else "atkay")
            reading = self.measure("limit", variant, self.users, repeats=5)
            rectools = self.peer("rectools", variant, self.users, ours)
            rows.append(_kept(ours) | {"name": name, "limit": reading["seconds"], "rectools": rectools["seconds"]})
        return rows

    def peers(self) -> list[dict[str, Any]]:
        variant = VARIANTS["sorted"]
        ours = self.ours(variant, self.users)
        first = {"name": "atkay", "version": atkay.__version__, "differs": "", "users": self.users}
        rows = [_kept(ours) | first | {"whole": ours["seconds"], "atkay": ours["seconds"]}]
        for tool, peer in sorted(PEERS.items(), key=lambda entry: entry[1].slow):
            users = self.users // 10 if peer.slow else self.users
            say(f"{peer.name}, {users:,} users ...")
            ours = self.ours(variant, users)
            theirs = self.peer(tool, variant, users, ours)
            named = {"name": peer.name, "version": peer.version, "differs": peer.differs, "users": users}
            whole = theirs["seconds"] * self.users / users
            rows.append(_kept(theirs) | named | {"whole": whole, "atkay": ours["seconds"], "pins": peer.pins})
        return rows

    def small(self) -> list[dict[str, Any]]:
        rows = []
        for tool, form in SMALL.items():
            say(f"{TOOLS[tool].name}, few users from {form} ...")
            found = [self.measure(tool, VARIANTS["sorted"], users, repeats=CALLS)["seconds"] for users in FEW_USERS]
            rows.append({"name": TOOLS[tool].name, "form": form, "seconds": found})
        return rows

    def scaling(self) -> list[dict[str, Any]]:
        rows = []
        for users in SIZES:
            if users <= 8 * self.users:
                say(f"{users:,} users ...")
                found = self.measure("atkay", VARIANTS["sorted"], users, repeats=5)
                rows.append({"users": users, "rows": found["rows"], "seconds": found["seconds"]})
        return rows


def start(repeats: int = 5) -> dict[str, float]:
    """Seconds in a fresh process, the interpreter's own start not counted: the best of several."""
    seconds: dict[str, list[float]] = {name: [] for name in STARTS}
    for turn in range(repeats):
        say(f"start, {turn + 1} of {repeats} ...")
        for name, code in STARTS.items():
            timed = f"import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
            seconds[name].append(float(output([sys.executable, "-c", timed])))
    return {name: min(found) for name, found in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure atkay next to the limit and to the other libraries.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the users")
    parser.add_argument("--users", type=int, help="so many users")
    parser.add_argument("--only", choices=PARTS, action="append", help="one part; may be given again")
    parser.add_argument("--variant", choices=VARIANTS, action="append", help="one variant; may be given again")
    options = parser.parse_args()
    users = options.users or (USERS // 10 if options.quick else USERS)
    parts = options.only or PARTS
    for tool in PEERS:
        in_small = "small" in parts and f"{tool}-dicts" in SMALL
        if "peers" in parts or in_small or ("variants" in parts and tool == "rectools"):
            interpreter(tool)
    with tempfile.TemporaryDirectory() as home:
        bench = Bench(Path(home), users)
        results: dict[str, Any] = {"users": users, "machine": present.machine()}
        if "variants" in parts:
            results["variants"] = bench.variants(options.variant or list(VARIANTS))
        if "peers" in parts:
            results["peers"] = bench.peers()
        if "small" in parts:
            results["small"] = bench.small()
        if "scaling" in parts:
            results["scaling"] = bench.scaling()
    if "start" in parts:
        results["start"] = start()
    print(present.text(results))
    if users == USERS and not options.only and not options.variant:
        present.publish(results)


if __name__ == "__main__":
    main()
