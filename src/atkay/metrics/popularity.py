"""Popularity in training: what the metrics about known and unknown items share."""

from __future__ import annotations

from typing import Any

import numpy as np

from atkay.core.types import Floats
from atkay.judged.judged import Judged
from atkay.metrics.metric import divide
from atkay.words import word


def mean_of_listed(judged: Judged, values: Floats, cutoffs: tuple[int, ...], counted: Floats | None = None) -> Floats:
    """The mean of the items' values over each list; ``counted`` is 0 for items that are left out."""
    item = judged.top(max(cutoffs)).item
    per = judged.listed(cutoffs) if counted is None else judged.over_list(counted.take(item), cutoffs)
    return divide(judged.over_list(values.take(item), cutoffs), per, np.nan)


def unseen_field() -> Any:
    """The field for the value of items without training users."""
    return word(one="as if one user had it", skip="it is left out, of the divisor, too", zero="0")


UNSEEN = {
    "one": "an item without any counts as if it had one",
    "skip": "an item without any is left out",
    "zero": "an item without any counts 0",
}


def information(judged: Judged, of: str, unseen: str = "one") -> tuple[Floats, Floats | None]:
    """The self-information of each item in bits; and 0 for items that are left out, None where all count."""
    train = judged.train
    bits = np.log2((train.users if of == "users" else len(train.items)) / np.maximum(train.popularity, 1))
    seen = train.popularity > 0
    return bits if unseen == "one" else np.where(seen, bits, 0.0), seen.astype(float) if unseen == "skip" else None
