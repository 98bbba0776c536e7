"""Seconds for ranking every item for every user by counting, next to products and products with top-k.

    python benchmarks/full_ranking.py --out FOLDER [--only PART ...]     on a GPU
    python benchmarks/full_ranking.py --cpu                              on a CPU, next to NumPy

Parts on a GPU, in this order: count, check, agree, depths, product, sweep, large. Each number is the median of several
runs, timed by events on the device, warm. Vectors are normal numbers and targets uniform over the items: the hardest
case, in which scores lie close to each other around every target.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import platform
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import Tensor

from atkay.engines.full_ranking import count as counting
from atkay.engines.full_ranking.count import Excluded, Targets, Vectors
from atkay.engines.full_ranking.device import KERNELS, Device, Kernel, Shape, count, cut, longest, own_scores, slack

USERS, ITEMS, DEPTH, SEEN = 16_384, 1_000_000, 128, 50
PRECISIONS = ("bfloat16", "float32", "tf32")
MEMORY = 8 << 30
ROOF = {"bfloat16": 790e12, "bytes": 4.8e12}
"""Operations and bytes a second that an H200 reaches in large products and copies."""

SWEEP: dict[str, list[Shape]] = {
    "bfloat16": [
        Shape(),
        Shape(stages=3),
        Shape(128, 256),
        Shape(128, 64, 4, 3),
        Shape(64, 128, 4, 3),
        Shape(64, 64, 4),
        Shape(waves=4),
    ],
    "float32": [
        Shape(items=64, stages=3),
        Shape(),
        Shape(128, 64, 4),
        Shape(64, 64, 4),
        Shape(64, 128, 4),
        Shape(depth=64, stages=3),
    ],
    "tf32": [Shape(), Shape(stages=3)],
}
"""How the work can be cut, for one target per user and for ten."""


class Log:
    """Lines that are printed and kept, and numbers for a file."""

    def __init__(self, out: Path | None) -> None:
        self.out, self.started = out, time.perf_counter()
        self.rows: list[dict[str, Any]] = []
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        line = f"[{time.perf_counter() - self.started:6.1f}] {line}"
        print(line, flush=True)
        self.lines.append(line)

    def row(self, part: str, what: str, seconds: float | None, **more: Any) -> None:
        told = ", ".join(f"{name} {value}" for name, value in more.items())
        shown = "-" if seconds is None else f"{1000 * seconds:9.2f} ms"
        self.say(f"{part:8} {what:60} {shown}  {told}")
        self.rows.append({"part": part, "what": what, "seconds": seconds, **more})
        self.write()

    def write(self) -> None:
        if self.out is not None:
            (self.out / "full_ranking.json").write_text(json.dumps(self.rows, indent=1) + "\n")
            (self.out / "full_ranking.log").write_text("\n".join(self.lines) + "\n")


def timed(call: Callable[[], Any], runs: int = 5) -> float:
    """Seconds of a call on the device, in the middle of several runs."""
    call()
    torch.cuda.synchronize()
    found: list[float] = []
    event: Any = torch.cuda.Event
    for _ in range(runs):
        begin, end = (event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        found.append(begin.elapsed_time(end) / 1000)
    return median(found)


def vectors(users: int, items: int, device: str, precision: str, depth: int = DEPTH) -> Vectors:
    made = torch.Generator(device).manual_seed(1)
    both = (torch.randn((n, depth), generator=made, device=device) for n in (users, items))
    return Vectors(*(counting.rounded(each, precision) for each in both))


def targets(users: int, items: int, each: int, device: str) -> Targets:
    made = torch.Generator(device).manual_seed(2)
    user = torch.arange(users, device=device).repeat_interleave(each)
    return Targets(user, torch.randint(items, (users * each,), generator=made, device=device))


def seen(users: int, items: int, device: str) -> Excluded:
    """Fifty items each, at a distance from each other, so that none comes twice."""
    made = torch.Generator(device).manual_seed(3)
    step = items // SEEN
    item = torch.randint(step, (users, SEEN), generator=made, device=device) + torch.arange(SEEN, device=device) * step
    return Excluded(torch.arange(users + 1, device=device) * SEEN, item.view(-1))


def share_of_roof(seconds: float, users: int, precision: str) -> str:
    passes = {"bfloat16": 1, "tf32": 1, "float32": 3}[precision]
    least = 2 * users * ITEMS * DEPTH * passes / ROOF["bfloat16"]
    return f"{100 * least / seconds:.0f} % of the roof ({1000 * least:.1f} ms)"


def part_count(log: Log) -> None:
    """The whole call, with and without seen items, and its stages."""
    for precision in PRECISIONS:
        for each in (1, 10):
            given = vectors(USERS, ITEMS, "cuda", precision)
            asked, out = targets(USERS, ITEMS, each, "cuda"), seen(USERS, ITEMS, "cuda")
            kernel = KERNELS[precision]
            for name, excluded in (("nothing seen", None), (f"{SEEN} seen", out)):

                def call(of: tuple[Any, ...] = (given, asked, excluded, MEMORY, kernel)) -> None:
                    counting.rank(*of)

                torch.cuda.reset_peak_memory_stats()
                before = torch.cuda.memory_allocated()
                took = timed(call)
                used = torch.cuda.max_memory_allocated() - before
                log.row("count", f"{precision}, {each} targets, {name}", took, workspace=f"{used / 1e9:.2f} GB")
            stages(log, f"{precision}, {each} targets", given, asked, out, kernel)
            del given


def stages(log: Log, name: str, given: Vectors, asked: Targets, out: Excluded, kernel: Kernel) -> None:
    """Each stage by itself."""
    launch = Launch(given, asked, kernel)
    device, size = launch.device, launch.device.shape.items
    log.row("stage", f"{name}, longest vectors", timed(lambda: longest(given.items, size)))
    log.row("stage", f"{name}, items in pieces", timed(lambda: cut(given.items, device.longest, kernel, size)))
    log.row("stage", f"{name}, own scores", timed(lambda: own_scores(given, asked)))
    log.row("stage", f"{name}, users in pieces", timed(launch.scale))
    log.row("stage", f"{name}, count", timed(launch.count))
    log.row("stage", f"{name}, settle", timed(launch.settle), **launch.about())
    log.row("stage", f"{name}, {SEEN} seen", timed(lambda: device.compare(out)))
    log.row("stage", f"{name}, last items", timed(lambda: device.compare(None, launch.items[1], len(given.items))))


class Launch:
    """The kernels with what they are given, so that each can be run by itself."""

    def __init__(self, given: Vectors, asked: Targets, kernel: Kernel, less: float = 1.0) -> None:
        self.device = Device(given, asked, own_scores(given, asked), kernel)
        self.items = 0, len(given.items) - len(given.items) % self.device.shape.items
        (self.rows,) = asked.rows
        self.users, self.threshold, self.missing = self.scale()
        self.slack = slack(given.items.device, kernel, self.device.shape, given.items.shape[1])
        self.slopes = self.device.slopes(self.items, self.slack / less)
        self.wanted = int(self.missing)
        self.found, self.doubts = self.count()

    def scale(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.device.scale(self.rows, self.items)

    def count(self) -> tuple[Tensor, Tensor]:
        return count(self.users, self.device.pieces(self.items), self.threshold, self.slopes, self.device.shape)

    def settle(self) -> None:
        self.device.settle(self.rows, 0, self.found, self.doubts, self.missing)

    def about(self) -> dict[str, Any]:
        bits = sum(int(((self.doubts >> n) & 1).sum()) for n in range(32))
        self.missing.fill_(self.wanted)
        self.settle()
        found = self.wanted - int(self.missing)
        share = f"2^{math.log2(self.slack):.2f} of the lengths"
        return {
            "slack": share,
            "cells": f"{bits / len(self.device.own):.2f} a target",
            "own": f"{found} of {self.wanted}",
        }


def wrong_ranks(given: Vectors, asked: Targets, out: Excluded | None, users: Tensor, kernel: Kernel) -> dict[str, Any]:
    """How many ranks of some users are others than those of a product in double precision, and by how much."""
    ranks, _ = counting.rank(given, asked, out, MEMORY, kernel)
    wrong, off, of = 0, 0, 0
    for user in users.tolist():
        score = given.items.double() @ given.users[user].double()
        at = torch.nonzero(asked.user == user)[:, 0]
        own = score[asked.item[at], None]
        if out is not None:
            score[out.item[out.start[user] : out.start[user + 1]]] = -torch.inf
        same = 1e-13 * own.abs()
        above, equal = (score > own + same).sum(1), ((score - own).abs() <= same).sum(1)
        wrong += int(((above != ranks.above[at]) | (equal != ranks.equal[at])).sum())
        off = max(off, int((above - ranks.above[at]).abs().max()))
        of += len(at)
    return {"wrong": wrong, "of": of, "off": off}


def hard(precision: str, asked: Targets) -> dict[str, Vectors]:
    """Vectors whose scores are easy to mistake."""
    given = vectors(USERS, ITEMS, "cuda", "float32")
    liked = given.items[asked.item.view(USERS, -1)[:, 0]]
    made = {
        "normal": given,
        "positive": Vectors(*(each.abs() for each in given)),
        "whole": Vectors(*(each.round() for each in given)),
        "like a target": Vectors(liked + 0.5 * given.users, given.items),
        "one large component": Vectors(*(torch.cat((each[:, :1] + 20, each[:, 1:]), 1) for each in given)),
    }
    return {name: Vectors(*(counting.rounded(each, precision) for each in both)) for name, both in made.items()}


def part_check(log: Log) -> None:
    """Ranks against a product in double precision, for some of the users; and how much slack there is to spare."""
    users = torch.randperm(USERS, generator=torch.Generator().manual_seed(5))[:64]
    for precision in PRECISIONS:
        asked, out = targets(USERS, ITEMS, 10, "cuda"), seen(USERS, ITEMS, "cuda")
        kernel, one = KERNELS[precision], targets(USERS, ITEMS, 1, "cuda")
        for name, given in hard(precision, asked).items():
            found = wrong_ranks(given, asked, out, users, kernel)
            log.row("check", f"{precision}: ranks of {len(users)} users, {name}", None, **found)
            for less in (1, 4, 16) if name in ("normal", "positive") else ():
                log.row(
                    "check", f"{precision}, {name}, slack / {less}", None, **Launch(given, one, kernel, less).about()
                )


def part_depths(log: Log) -> None:
    """All ranks against double precision, for vectors of other sizes, and for devices with less memory on the chip."""
    users, items = 300, 20_000
    for precision in PRECISIONS:
        for depth in (3, 100, 700):
            given = vectors(users, items, "cuda", precision, depth)
            asked, every = targets(users, items, 10, "cuda"), torch.arange(users, device="cuda")
            for shape in (KERNELS[precision].shape(given), KERNELS[precision].shapes[-1]):
                kernel = KERNELS[precision]._replace(shapes=(shape,))
                told = f"{precision}, {depth} components, {shape.users} x {shape.items} x {shape.depth}"
                log.row("depths", told, None, **wrong_ranks(given, asked, None, every, kernel))


def part_agree(log: Log) -> None:
    """The whole of ``full_ranking`` on the device, against the same on a CPU: to the last digit."""
    import atkay
    from atkay.errors import TiesWarning

    warnings.simplefilter("ignore", TiesWarning)
    made = np.random.default_rng(4)
    n_users, n_items = 500, 3001
    users, items = made.standard_normal((n_users, 24)), made.standard_normal((n_items, 24))
    items[n_items // 2 :] = items[: n_items - n_items // 2]  # ties
    users[::50] = 0
    truth, exclude = (
        (np.arange(n_users + 1) * size, np.concatenate([made.choice(n_items, size, replace=False) for _ in users]))
        for size in (7, 20)
    )
    given: dict[str, dict[str, Any]] = {
        "as they are": {},
        "seen items": {"exclude": exclude},
        "biases": {"item_bias": made.standard_normal(n_items), "exclude": exclude},
        "cosine": {"similarity": "cosine"},
        "huge": {"user_vectors": users * 1e25, "item_vectors": items * 1e20 ** made.uniform(-1, 1, (n_items, 1))},
        "little memory": {"memory": "1MB", "exclude": exclude},
        "ties by index": {"ties": "item"},
        "ties expected": {"ties": "expected", "metrics": ["ndcg@10", "map", "recall@100", "auc"]},
    }
    for precision, (name, more) in itertools.product(PRECISIONS, given.items()):
        metrics = ["ndcg@10", "mrr", "recall@100", "auc", "median_rank", "mpr"]
        call = {"user_vectors": users, "item_vectors": items, "truth": truth, "metrics": metrics, **more}
        there, here = (
            atkay.full_ranking(**call, precision=precision, device=device).to_dict() for device in ("cuda", "cpu")
        )
        different = sum(there[each] != here[each] for each in here)
        log.row("agree", f"{precision}, {name}", None, numbers=len(here), different=different)


def part_product(log: Log) -> None:
    """What the product costs by itself, and with the 100 best."""
    block, wide = 2048, 125_000
    for name, kind, tf32 in (
        ("bfloat16", torch.bfloat16, False),
        ("tf32", torch.float32, True),
        ("float32", torch.float32, False),
    ):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        users, items = (each.to(kind) for each in vectors(USERS, ITEMS, "cuda", "float32"))
        room = torch.empty((USERS, wide), dtype=kind, device="cuda")

        def product(users: Tensor = users, items: Tensor = items, room: Tensor = room) -> None:
            for first in range(0, ITEMS, wide):
                torch.mm(users, items[first : first + wide].T, out=room)

        log.row("product", f"{name} product", timed(product, 3))
        room = torch.empty((block, ITEMS), dtype=kind, device="cuda")

        def best(users: Tensor = users, items: Tensor = items, room: Tensor = room) -> None:
            for first in range(0, USERS, block):
                torch.mm(users[first : first + block], items.T, out=room).topk(100, dim=1)

        log.row("product", f"{name} product and topk(100)", timed(best, 2))
    torch.backends.cuda.matmul.allow_tf32 = False


def part_sweep(log: Log) -> None:
    """Every way to form and cut the products; compiled before, in several processes."""
    compile_all(log)
    for precision, ways in SWEEP.items():
        given = vectors(USERS, ITEMS, "cuda", precision)
        for each in (1, 10):
            asked = targets(USERS, ITEMS, each, "cuda")
            for shape in ways:
                try:
                    launch = Launch(given, asked, KERNELS[precision]._replace(shapes=(shape,)))
                    log.row("sweep", f"{precision} {each} targets {tuple(shape)}", timed(launch.count, 3))
                except Exception as error:  # the others go on
                    log.say(f"sweep {precision} {each} {tuple(shape)}: {type(error).__name__} {str(error)[:120]}")


def compile_all(log: Log) -> None:
    """Fill the cache of compiled kernels, many at a time."""
    cells = [(precision, at, each) for precision, ways in SWEEP.items() for at in range(len(ways)) for each in (1, 10)]
    lots = [cells[first::8] for first in range(8)]
    children = [
        subprocess.Popen(
            [sys.executable, __file__, "--compile", json.dumps(lot)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for lot in lots
    ]
    for child in children:
        try:
            child.wait(90)
        except subprocess.TimeoutExpired:
            child.kill()
    log.say(f"sweep: {len(cells)} kernels compiled")


def compile_some(cells: list[tuple[str, int, int]]) -> None:
    for precision, at, each in cells:
        kernel = KERNELS[precision]._replace(shapes=(SWEEP[precision][at],))
        try:
            given = vectors(256, 4096, "cuda", precision)
            Launch(given, targets(256, 4096, each, "cuda"), kernel)
        except Exception:  # told by the process that measures
            traceback.print_exc()


def part_large(log: Log) -> None:
    """A million users."""
    users = 1_000_000
    for precision, each in (("bfloat16", 1), ("float32", 1), ("bfloat16", 10), ("float32", 10)):
        given = vectors(users, ITEMS, "cuda", precision)
        asked, out = targets(users, ITEMS, each, "cuda"), seen(users, ITEMS, "cuda")
        kernel = KERNELS[precision]
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        for name, excluded in (("", None), (f", {SEEN} seen", out)):
            start = time.perf_counter()
            counting.rank(given, asked, excluded, MEMORY, kernel)
            torch.cuda.synchronize()
            took = time.perf_counter() - start
            used = f"{(torch.cuda.max_memory_allocated() - before) / 1e9:.2f} GB"
            roof = share_of_roof(took, users, precision)
            log.row("large", f"{precision}, {users:,} users, {each} targets{name}", took, workspace=used, roof=roof)
        del given, asked, out
        torch.cuda.empty_cache()


PARTS = {
    "count": part_count,
    "check": part_check,
    "agree": part_agree,
    "depths": part_depths,
    "product": part_product,
    "sweep": part_sweep,
    "large": part_large,
}


def on_gpu(log: Log, only: list[str]) -> None:
    import triton

    device = torch.cuda.get_device_properties(0)
    driver = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version,clocks.sm,power.limit", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    log.say(f"{device.name}, {device.multi_processor_count} processors, {device.total_memory / 1e9:.0f} GB, {driver}")
    log.say(
        f"python {platform.python_version()}, torch {torch.__version__}, triton {triton.__version__}, "
        f"CUDA {torch.version.cuda}"
    )
    log.say(
        f"{USERS:,} users x {ITEMS:,} items x {DEPTH}; at {ROOF['bfloat16'] / 1e12:.0f} TFLOP/s in bfloat16 "
        f"{2000 * USERS * ITEMS * DEPTH / ROOF['bfloat16']:.1f} ms, items read once "
        f"{1000 * 2 * ITEMS * DEPTH / ROOF['bytes']:.2f} ms"
    )
    for name in only:
        try:
            PARTS[name](log)
        except Exception:  # the other parts go on
            log.say(f"{name}: {traceback.format_exc()}")
    log.write()


def on_cpu(users: int, items: int, depth: int) -> None:
    """Ours and NumPy's, in turn."""
    given = vectors(users, items, "cpu", "float32", depth)
    asked = targets(users, items, 1, "cpu")
    of_numpy = tuple(each.numpy() for each in given)

    def ours() -> Any:
        return counting.rank(given, asked, None, 1 << 30, None)

    def theirs() -> None:
        for first in range(0, users, 500):
            scores = of_numpy[0][first : first + 500] @ of_numpy[1].T
            np.argpartition(scores, items - 100, axis=1)[:, items - 100 :]

    seconds: dict[str, list[float]] = {"counting": [], "product and argpartition": []}
    for _ in range(3):
        for name, call in zip(seconds, (ours, theirs), strict=True):
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
            print(f"{name:28} {seconds[name][-1]:6.2f} s", flush=True)
    best = {name: min(each) for name, each in seconds.items()}
    print(f"{users:,} users x {items:,} items x {depth}, {torch.get_num_threads()} threads, best of 3: {best}")
    print(f"counting is {best['product and argpartition'] / best['counting']:.1f} times faster")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, help="a folder for the log and the numbers")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--cpu", nargs="*", type=int, help="users, items and components; 10,000 x 100,000 x 64")
    parser.add_argument("--compile", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cpu is not None:
        on_cpu(*(options.cpu or (10_000, 100_000, 64)))
    elif options.compile:
        compile_some(json.loads(options.compile))
    else:
        if options.out is not None:
            options.out.mkdir(parents=True, exist_ok=True)
        on_gpu(Log(options.out), options.only)


if __name__ == "__main__":
    main()
