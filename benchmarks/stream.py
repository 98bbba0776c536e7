"""What a batch costs in a stream, beside evaluate on the same rows in the same run.

    python benchmarks/stream.py                 # batches of 256, 1,024 and 4,096 users
    python benchmarks/stream.py 512             # any other size

Lists of 100 items and 24 relevant ones, six metrics at six cutoffs; the best of three rounds each. Then the scores of
all items.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import atkay

USERS, ITEMS, LENGTH, WANTED = 16_384, 20_000, 100, 24
METRICS = [f"{name}@1,3,5,10,20,100" for name in ("ndcg", "map", "mrr", "recall", "precision", "hit")]


def codes(rng: np.random.Generator, width: int) -> Any:
    """Different items for each user."""
    step = ITEMS // width
    return rng.permuted(rng.integers(0, step, (USERS, width)) + np.arange(width) * step, axis=1)


def best(work: Callable[[], object]) -> float:
    """Seconds of the best of three rounds."""
    rounds = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        rounds.append(time.perf_counter() - began)
    return min(rounds)


def main(*sizes: str) -> None:
    rng = np.random.default_rng(1)
    items, targets = codes(rng, LENGTH), codes(rng, WANTED)
    at_once = best(lambda: atkay.evaluate(items, targets, METRICS).means)
    print(f"evaluate, {USERS:,} users at once: {at_once:.3f} s")
    for size in map(int, sizes or ("256", "1024", "4096")):
        stream = atkay.Stream(METRICS)

        def run(stream: atkay.Stream = stream, size: int = size) -> None:
            stream.reset()
            for first in range(0, USERS, size):
                stream.update(items[first : first + size], targets[first : first + size])
            dict(stream.compute())

        took = best(run)
        batch = 1000 * took * size / USERS
        print(f"batches of {size:,}: {batch:.1f} ms each, {took:.3f} s in all, {took / at_once:.1f} x evaluate")
    packed = stream.to_bytes()
    merged = atkay.Stream(METRICS)
    print(f"to_bytes: {len(packed):,} bytes; merge of it: {1000 * best(lambda: merged.merge(packed)):.2f} ms")
    few, scores = 256, rng.random((256, ITEMS), np.float32)
    cut = atkay.Stream(["ndcg@10", "recall@10"])
    took = best(lambda: cut.update(scores=scores, targets=targets[:few]))
    print(f"scores of all {ITEMS:,} items, {few} users: {1000 * took:.1f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:])
