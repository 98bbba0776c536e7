"""Measured: lists judged again after their result was made, for what asks more of them than its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from atkay.core.types import Bools, Floats
    from atkay.judged.judged import Judged
    from atkay.metrics.metric import Metric
    from atkay.protocol import Protocol


class Measured(NamedTuple):
    """The metrics that are counted under one protocol, what they read, and which queries count."""

    metrics: Sequence[Metric]
    protocol: Protocol
    judged: Judged
    counted: Bools

    @property
    def numbers(self) -> list[str]:
        """The specs of the numbers."""
        return [name for metric in self.metrics for name in metric.numbers]


def in_rows(
    measured: Sequence[Measured], of_counted: Sequence[Mapping[str, Floats]], missing: float = np.nan
) -> dict[str, Floats]:
    """The values of the counted queries under each protocol, in the rows of the result; elsewhere ``missing``."""
    rows = np.flatnonzero(np.logical_or.reduce([each.counted for each in measured]))
    out: dict[str, Floats] = {}
    for each, values in zip(measured, of_counted, strict=True):
        place = np.searchsorted(rows, np.flatnonzero(each.counted))
        for name, column in values.items():
            out[name] = np.full(len(rows), missing)
            out[name][place] = column
    return out
