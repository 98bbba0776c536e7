"""Record: a pytest plugin that writes every call of a kernel to a file, with its arrays before and after it.

``replay.c`` makes the same calls where there is no Python, on another machine or with another C library.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from atkay.core.native import library

given: dict[int, Any] = {}
"""The arrays of the next call, by address."""

recorded: set[str] = set()


def remember(array: Any) -> None:
    at = array.__array_interface__["data"][0]
    if at not in given or given[at].nbytes < array.nbytes:
        given[at] = array


def pytest_configure(config: pytest.Config) -> None:
    file: IO[bytes] = Path(os.environ["RECORD"]).open("wb")  # noqa: SIM115  # open until the process ends
    address, call = library.address, library.call

    def recording_address(array: Any, *types: Any) -> int:
        remember(array)
        return address(array, *types)

    def recording_call(name: str, *arguments: int) -> int:
        arrays = [given.get(argument) for argument in arguments]
        before = [None if array is None else array.tobytes() for array in arrays]
        result = call(name, *arguments)
        file.write(struct.pack("<32sqq", name.encode(), len(arguments), result))
        for argument, array, data in zip(arguments, arrays, before, strict=True):
            file.write(struct.pack("<qq", *((0, argument) if array is None or data is None else (1, len(data)))))
            if array is not None and data is not None:
                file.write(data + array.tobytes())
        given.clear()
        recorded.add(name)
        return result

    library.address, library.call = recording_address, recording_call
    from atkay.core.native import kernels  # imports the two above

    rows = kernels._rows_in_one_piece

    def recording_rows(values: Any) -> Any:
        values = np.ascontiguousarray(rows(values))
        remember(values)
        return values

    kernels._rows_in_one_piece = recording_rows


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line("recorded: " + " ".join(sorted(recorded)))
