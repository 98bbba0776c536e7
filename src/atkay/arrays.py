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
