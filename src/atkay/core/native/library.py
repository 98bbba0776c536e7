"""Library: load the compiled kernels, and call them with arrays whose type and layout are checked."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import numpy as np

from atkay.core.native.build import LIBRARIES, library_name
from atkay.core.types import Array

VARIABLE = "ATKAY_KERNELS"
"""The environment variable that names another library, or "reference" for none."""

OUT_OF_MEMORY = -1
VERSION = 1
"""That of the kernels' arguments: a library of another version is not used."""


def load() -> ctypes.CDLL | None:
    """The library, None where there is none that fits."""
    given = os.environ.get(VARIABLE)
    if given == "reference":
        return None
    path = Path(given) if given else LIBRARIES / library_name()
    try:
        library = ctypes.CDLL(str(path))
        return library if library.kernels_version() == VERSION else None
    except (OSError, AttributeError):
        return None


LIBRARY = load()


def address(array: Array, *types: Any) -> int:
    """Where an array lies, which is of one of the types and in one piece."""
    if array.dtype not in types or not array.flags.c_contiguous:
        raise TypeError(f"a kernel takes {' or '.join(map(str, map(np.dtype, types)))} in one piece, not {array.dtype}")
    place: int = array.__array_interface__["data"][0]
    return place


def call(name: str, *arguments: int) -> int:
    """What a kernel returns; its last argument but its results is the number of threads."""
    function = getattr(LIBRARY, name)
    if function.argtypes is None:
        function.argtypes, function.restype = [ctypes.c_int64] * len(arguments), ctypes.c_int64
    result: int = function(*arguments)
    if result == OUT_OF_MEMORY:
        raise MemoryError(f"{name}: there is not enough memory")
    return result
