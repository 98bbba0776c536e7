"""A model under Lightning, which is imported where a test asks for it: that takes seconds."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytorch_lightning as lightning
import torch
from torch_processes import METRICS, WORDS, data, plain

from atkay.engines.torchmetrics import StreamMetric


class Ranker(lightning.LightningModule):
    """A model that knows the scores; each user is a row number."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.metric, self.folder = StreamMetric(METRICS, **WORDS), folder
        self.weight = torch.nn.Parameter(torch.ones(1))

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        scores, wanted = data()
        self.metric.update(scores[batch] * self.weight, wanted[batch])

    def on_validation_epoch_end(self) -> None:
        found = self.metric.compute()
        self.log_dict(found)
        self.metric.reset()
        Path(self.folder, f"found{self.global_rank}").write_bytes(pickle.dumps(plain(found)))
