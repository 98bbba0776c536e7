"""A case per line in, a number per line out: what all programs in this folder share."""

from __future__ import annotations

import contextlib
import io
import json
import math
import sys
import warnings
from collections.abc import Callable
from typing import Any


def answer(metric: Callable[[dict[str, Any]], Any]) -> None:
    """Print the metric of each case on standard input; what the library refuses is an error."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                value = metric(json.loads(line))
            print("null" if value is None or math.isnan(value) else repr(float(value)))
        except Exception as error:
            print(json.dumps({"error": f"{type(error).__name__}: {error}".splitlines()[0]}))


def best_first(rows: list[list[Any]], k: int | None = None) -> list[str]:
    """The items of a list, best score first, equal scores in their order."""
    return [item for item, _ in sorted(rows, key=lambda row: -row[1])][:k]
