"""Library: load the compiled kernels, and call them with arrays whose type and layout are checked."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import numpy as np

from atkay.core.native.build import LIBRARIES, library_name, version
from atkay.core.types import Array

VARIABLE = "ATKAY_KERNELS"
"""The environment variable that names another library, or "reference" for none."""

REFERENCE = "reference"

OUT_OF_MEMORY = -1


def load() -> tuple[ctypes.CDLL | None, str | None]:
    """The library, or None and the reason why it cannot be used; without a reason where the user wants none."""
    given = os.environ.get(VARIABLE)
    if given == REFERENCE:
        return None, None
    path = Path(given).absolute() if given else LIBRARIES / library_name()
    if not path.is_file():
        return None, f"{path} does not exist"
    try:
        library = ctypes.CDLL(str(path))
        library.kernels_version.restype = ctypes.c_int64
        built_from = library.kernels_version()
    except (OSError, AttributeError) as error:
        return None, str(error)
    if built_from != version():
        return None, f"{path} was built from other sources"
    return library, None


LIBRARY, PROBLEM = load()


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
