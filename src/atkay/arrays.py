"""Names for the arrays that go from stage to stage."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Array = NDArray[Any]

WHOLE = int(np.iinfo(np.int64).max)
"""The cutoff that cuts nothing."""

LONG = 16
"""The length from which usual quicksorts, which do not keep the order of equal scores, stop using an insertion sort."""
