"""A result with given values, for what is built on results."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import polars as pl

import atkay
from atkay import Population


def result(values: Any, metrics: str = "mrr", ids: Any = None, **fields: Any) -> atkay.Result:
    """A result with given values: a row per user, a column per metric."""
    values = np.array(values, dtype=float).reshape(len(values), -1)
    counts = {field.name: 0 for field in dataclasses.fields(Population)} | {"evaluated": len(values)}
    given: dict[str, Any] = {"protocol": atkay.Protocol(), "fingerprint": {"truth": "1", "recs": "2"}}
    return atkay.Result(
        metrics=tuple(atkay.parse(spec) for spec in metrics.split()),
        query_values=values,
        ids={"user": pl.Series(range(len(values)) if ids is None else ids)},
        population=Population(**counts),
        **given | fields,
    )
