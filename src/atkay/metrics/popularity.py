"""Popularity in training: what the metrics about known and unknown items share."""

from __future__ import annotations

from typing import Any

import numpy as np

from atkay.core.types import Bools, Floats
from atkay.judged.judged import Judged
from atkay.words import word


def mean_of_listed(judged: Judged, weights: Floats, cutoffs: tuple[int, ...]) -> Floats:
    """The mean of the weights of listed items, one weight per row of ``judged.top``; NaN for an empty list."""
    with np.errstate(invalid="ignore"):
        return judged.over_list(weights, cutoffs) / judged.listed(cutoffs)


def unseen_field() -> Any:
    """The field that says what an item counts that nobody had in training."""
    return word(one="as if one user had it", skip="it is left out, of the divisor, too", zero="0")


UNSEEN = {
    "one": "an item without any counts as if it had one",
    "skip": "an item without any is left out",
    "zero": "an item without any counts 0",
}


def information(judged: Judged, of: str) -> tuple[Floats, Bools]:
    """The self-information of each item in bits, an unseen one as if one user had it; and which items are seen."""
    train = judged.train
    total = train.users if of == "users" else len(train.items)
    return np.log2(total / np.maximum(train.popularity, 1)), train.popularity > 0
