"""Arrow: columns where they lie, in one or several chunks, by Arrow's interface for C. Nothing is copied."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from atkay.core.native.library import address
from atkay.core.types import Array, Ints

KINDS = {np.dtype(kind): number for number, kind in enumerate((np.int32, np.int64, np.float32, np.float64))}
"""The types of numbers that a column may have, as kernels number them."""
VIEWS, LARGE_TEXT, TEXT = 4, 5, 6
"""How kernels number the forms of text."""

FORMATS = {b"i": 0, b"l": 1, b"f": 2, b"g": 3}
FORMATS |= {b"vu": VIEWS, b"vz": VIEWS, b"U": LARGE_TEXT, b"Z": LARGE_TEXT, b"u": TEXT, b"z": TEXT}
"""Arrow's names of the types of numbers, and of the forms of text and of bytes."""

CHUNK = np.dtype([("kind", np.int64), ("rows", np.int64), ("data", np.int64), ("more", np.int64)])
"""Where a chunk lies, for a kernel: its type, its rows, and two addresses."""

VIEW_BYTES = 16


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class ArrowColumn:
    """A column of numbers or of text without nulls: anything with ``__arrow_c_stream__``, which lives as long as this.

    ``chunks`` says where its chunks lie.
    """

    def __init__(self, column: Any) -> None:
        self._column, self._arrays, self._letters = column, list[_Array](), list[Any]()
        capsule = column.__arrow_c_stream__()
        stream = ctypes.cast(_pointer(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream)).contents
        schema = _Schema()
        failed = stream.get_schema(stream, schema)
        kind = None if failed else FORMATS.get(schema.format)
        if schema.release:
            schema.release(schema)
        if kind is None:
            raise TypeError("not a column of numbers or text that kernels take")
        chunks = []
        while True:
            array = _Array()
            if stream.get_next(stream, array):
                raise TypeError("this column cannot be read")
            if not array.release:
                break
            self._arrays.append(array)
            chunks.append((kind, array.length, *self._addresses(kind, array)))
        del capsule  # which releases the stream; the arrays are ours
        self.kind = kind
        self.dtype = np.dtype(object) if kind >= VIEWS else list(KINDS)[kind]
        self.chunks = np.array(chunks, CHUNK)

    def _addresses(self, kind: int, array: _Array) -> tuple[int, int]:
        """Where the data of a chunk lie, and what belongs to them."""
        buffers = array.buffers
        if kind == VIEWS:
            # Validity, views, the letters' buffers, and last the sizes of these.
            letters = (ctypes.c_void_p * max(1, array.n_buffers - 3))(
                *(buffers[2 + n] for n in range(array.n_buffers - 3))
            )
            self._letters.append(letters)
            return (buffers[1] or 0) + VIEW_BYTES * array.offset, ctypes.addressof(letters)
        if kind in (LARGE_TEXT, TEXT):
            return buffers[2] or 0, (buffers[1] or 0) + (8 if kind == LARGE_TEXT else 4) * array.offset
        return (buffers[1] or 0) + (4, 8)[kind % 2] * array.offset, 0

    def __len__(self) -> int:
        return int(self.chunks["rows"].sum())

    def take(self, rows: Ints) -> Array:
        """The numbers of some rows."""
        end = self.chunks["rows"].cumsum()
        chunk, out = np.searchsorted(end, rows, side="right"), np.empty(len(rows), self.dtype)
        order = np.argsort(chunk, kind="stable") if (chunk[1:] < chunk[:-1]).any() else slice(None)
        rows, edges = rows[order], np.searchsorted(chunk[order], np.arange(len(end) + 1))
        taken = np.empty(len(rows), self.dtype)
        for at, (_, length, data, _) in enumerate(self.chunks.tolist()):
            here = slice(edges[at], edges[at + 1])
            values = (ctypes.c_char * (length * self.dtype.itemsize)).from_address(data)
            taken[here] = np.frombuffer(values, self.dtype)[rows[here] - (end[at] - length)]
        out[order] = taken
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """All values in one piece, text as Python has it: for what has no kernel."""
        values = np.array(self._column.to_list(), object) if self.kind >= VIEWS else self._column.to_numpy()
        return values.astype(dtype or values.dtype, copy=bool(copy))

    def __del__(self) -> None:
        for array in getattr(self, "_arrays", ()):
            array.release(array)


def chunks_of(values: Array | ArrowColumn) -> Array:
    """Where the chunks of a column lie; those of an array, which is in one piece, are one."""
    if isinstance(values, ArrowColumn):
        return values.chunks
    return np.array([(KINDS[values.dtype], len(values), address(values, values.dtype), 0)], CHUNK)
