"""Arrow: columns of text where they lie, by Arrow's interface for C. Nothing is copied."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

VIEWS, LARGE_TEXT, TEXT = 2, 3, 4
"""How kernels number the forms of text."""

KINDS = {b"vu": VIEWS, b"vz": VIEWS, b"U": LARGE_TEXT, b"Z": LARGE_TEXT, b"u": TEXT, b"z": TEXT}
"""Arrow's names of the forms of text and of bytes."""

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


class ColumnPlace(NamedTuple):
    """Where a column lies, for a kernel: its form, its rows, and two addresses."""

    kind: int
    rows: int
    data: int
    more: int


class TextColumn:
    """A column of text without nulls, in one piece: anything with ``__arrow_c_stream__``. Lives as long as this."""

    def __init__(self, column: Any) -> None:
        self._column = column
        capsule = column.__arrow_c_stream__()
        address = _pointer(capsule, b"arrow_array_stream")
        stream = ctypes.cast(address, ctypes.POINTER(_Stream)).contents
        schema, self._array = _Schema(), _Array()
        failed = stream.get_schema(stream, schema)
        kind = None if failed else KINDS.get(schema.format)
        if schema.release:
            schema.release(schema)
        if kind is None or stream.get_next(stream, self._array) or not self._array.release:
            raise TypeError("this is no column of text")
        del capsule  # which releases the stream; the array is ours
        array, buffers = self._array, self._array.buffers
        if kind == VIEWS:
            # Validity, views, the letters' buffers, and last the sizes of these.
            self._letters = (ctypes.c_void_p * max(1, array.n_buffers - 3))(
                *(buffers[2 + n] for n in range(array.n_buffers - 3))
            )
            data, more = (buffers[1] or 0) + VIEW_BYTES * array.offset, ctypes.addressof(self._letters)
        else:
            wide = 8 if kind == LARGE_TEXT else 4
            data, more = buffers[2] or 0, (buffers[1] or 0) + wide * array.offset
        self.place = ColumnPlace(kind, array.length, data, more)

    def __len__(self) -> int:
        return self.place.rows

    def texts(self) -> list[str]:
        """All texts, as Python has them."""
        texts: list[str] = self._column.to_list()
        return texts

    def __del__(self) -> None:
        array = getattr(self, "_array", None)
        if array is not None and array.release:
            array.release(array)
