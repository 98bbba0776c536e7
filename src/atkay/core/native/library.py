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


from_buffer: Any = ctypes.c_char.from_buffer


def address(array: Array, kind: Any) -> int:
    """Where an array lies, which is of that type and in one piece."""
    if array.dtype != kind or not array.flags.c_contiguous:
        raise TypeError(f"a kernel takes {np.dtype(kind)} in one piece, not {array.dtype}")
    if array.flags.writeable and array.size:  # then ctypes is five times as fast as NumPy
        return ctypes.addressof(from_buffer(array))
    return begin(array)


def begin(array: Array) -> int:
    """Where the first value of an array lies, which may have gaps."""
    place: int = array.__array_interface__["data"][0]
    return place


FUNCTIONS: dict[str, Any] = {}
"""The kernels that were called already."""


def call(name: str, *arguments: int) -> int:
    """What a kernel returns; its last argument but its results is the number of threads."""
    function = FUNCTIONS.get(name)
    if function is None:
        function = getattr(LIBRARY, name)
        function.argtypes, function.restype = [ctypes.c_int64] * len(arguments), ctypes.c_int64
        FUNCTIONS[name] = function
    result: int = function(*arguments)
    if result == OUT_OF_MEMORY:
        raise MemoryError(f"{name}: there is not enough memory")
    return result
