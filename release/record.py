"""Record: a pytest plugin that writes every call of a kernel to a file, with its arrays before and after it.

``replay.c`` makes the same calls where there is no Python, on another machine or with another C library.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from atkay.core.native import library
from atkay.core.native.arrow import CHUNK

given: list[Any] = []
"""The arrays whose addresses were asked for since the last call."""

recorded: set[str] = set()

NOT_REPLAYED = {"number_ids", "numbered", "first_seen", "write_codes", "forget_numbering"}
NOT_REPLAYED |= {"changes_text", "order_text", "text_numbers"}
"""Kernels that keep memory from one call to the next, or take text."""

WIDTH = (4, 8, 4, 8)
"""Bytes of a number, by its type as kernels number them."""


def arrays_in(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, list | tuple):
            yield from arrays_in(value)


def pytest_configure(config: pytest.Config) -> None:
    file: IO[bytes] = Path(os.environ["RECORD"]).open("wb")  # noqa: SIM115  # open until the process ends
    address, call = library.address, library.call

    def recording_address(array: Any, kind: Any) -> int:
        given.append(array)
        return address(array, kind)

    def recording_call(name: str, *arguments: int) -> int:
        # Arrays with gaps are not asked for their address, and are local variables of the function that calls.
        sizes: dict[int, int] = {}
        columns = {array.ctypes.data: array for array in given if array.dtype == CHUNK}
        for array in (*given, *arrays_in(sys._getframe(1).f_locals.values())):
            start, end = np.lib.array_utils.byte_bounds(array) if array.size else (array.ctypes.data,) * 2
            sizes[start] = max(sizes.get(start, 0), end - start)
        before = {at: ctypes.string_at(at, sizes[at]) for at in arguments if at in sizes}
        result = call(name, *arguments)
        recorded.add(name)
        if name in NOT_REPLAYED:
            return result
        file.write(struct.pack("<32sqq", name.encode(), len(arguments), result))
        for argument in arguments:
            if argument in columns:
                file.write(struct.pack("<qq", 2, len(columns[argument])))
                for kind, rows, data, _ in columns[argument].tolist():
                    size = WIDTH[kind] * rows
                    file.write(struct.pack("<qqq", kind, rows, size) + ctypes.string_at(data, size))
                continue
            is_array = argument in sizes
            file.write(struct.pack("<qq", is_array, sizes[argument] if is_array else argument))
            if is_array:
                file.write(before[argument] + ctypes.string_at(argument, sizes[argument]))
        given.clear()
        return result

    library.address, library.call = recording_address, recording_call  # before the modules that import them


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line("recorded: " + " ".join(sorted(recorded)))
