"""What the tests of the torchmetrics interface run in other processes; there, little is to be imported."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import torch

from atkay.engines.torchmetrics import StreamMetric

METRICS = ["ndcg@5", "map@5", "precision(average=pooled)@5", "coverage@5", "median_rank"]
USERS, ITEMS = 24, 12
WORDS: dict[str, Any] = {"n_items": ITEMS, "ties": "item"}

FIRST = 7
"""So many users come first, all of them in one process."""


def data() -> tuple[Any, Any]:
    """Scores of all items with some that are equal, and what is relevant."""
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 20, (USERS, ITEMS)) / 8
    return torch.tensor(scores, dtype=torch.float32), torch.tensor(rng.random((USERS, ITEMS)) < 0.2)


def plain(found: dict[str, Any]) -> dict[str, float]:
    """Tensors as numbers."""
    return {name: value.item() for name, value in found.items()}


def in_process(rank: int, size: int, folder: str) -> None:
    """One process of two: at first the other one has no users, then it has all the others."""
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=size)
    scores, targets = data()
    metric = StreamMetric(METRICS, compute_with_cache=False, **WORDS)  # the other process has news, this one may not
    for stage in range(2):
        for first in range(0, FIRST, 4) if stage == 0 else range(FIRST, USERS, 4):
            if rank == stage:
                rows = slice(first, min(first + 4, FIRST if stage == 0 else USERS))
                metric.update(scores[rows], targets[rows])
        Path(folder, f"found{rank}-{stage}").write_bytes(pickle.dumps(plain(metric.compute())))
    torch.distributed.destroy_process_group()
