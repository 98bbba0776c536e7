"""Packing: a record and integer arrays as portable bytes, and back. No code is executed."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.core.schema import parse_json
from atkay.errors import SourceError, a_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from atkay.core.types import Array, Ints

MAGIC = b"atkay1\r\n"
"""What packed bytes begin with; the line ending shows what a text mode has done to them."""

BYTES_PER_NUMBER = 8
"""Bytes of a length, or of a checksum."""

BYTES_OF_HEAD = len(MAGIC) + 2 * BYTES_PER_NUMBER
"""What comes before the content: how long that is, and its checksum."""

WIDTHS = ("|u1", "<u2", "<u4", "<i8")
"""Integer types, the narrowest that fits is used."""


def pack(record: Mapping[str, Any], arrays: Sequence[Ints]) -> bytes:
    """A record that JSON can hold, and arrays; the same bytes for the same content."""
    narrow = [_narrow(each) for each in arrays]
    layout = [[each.dtype.str, list(each.shape)] for each in narrow]
    text = json.dumps([record, layout], sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    content = b"".join([_number(len(text)), text, *(each.tobytes() for each in narrow)])
    return b"".join([MAGIC, _number(len(content)), _number(zlib.crc32(content)), content])


def unpack(packed: bytes) -> tuple[dict[str, Any], list[Ints]]:
    """What was packed."""
    if len(several := split(packed)) != 1:
        raise SourceError(f"these are the bytes of {len(several)} streams; read one at a time.")
    content = bytes(packed)[BYTES_OF_HEAD:]
    if zlib.crc32(content) != int.from_bytes(packed[BYTES_OF_HEAD - BYTES_PER_NUMBER : BYTES_OF_HEAD], "little"):
        raise SourceError("the bytes of a stream are damaged: the checksum does not match.")
    try:
        begin = BYTES_PER_NUMBER + int.from_bytes(content[:BYTES_PER_NUMBER], "little")
        record, layout = parse_json(content[BYTES_PER_NUMBER:begin])
        arrays = []
        for width, shape in layout:
            if width not in WIDTHS:
                raise ValueError(f"no width {width!r}")
            size = int(np.prod(shape, dtype=np.int64))
            arrays.append(np.frombuffer(content, width, size, begin).astype(np.int64).reshape(shape))
            begin += size * np.dtype(width).itemsize
        if not isinstance(record, dict):
            raise ValueError(f"found {a_type(record)} in place of the header")
    except (ValueError, TypeError, OverflowError) as error:
        raise SourceError(f"cannot read these bytes as a stream: {error}.") from error
    return record, arrays


def split(packed: bytes) -> list[bytes]:
    """What was packed several times and stands one after the other, one by one."""
    if not isinstance(packed, bytes | bytearray | memoryview):
        raise SourceError(f"a stream is read from bytes, got {a_type(packed)}.")
    packed, parts = bytes(packed), []
    while True:
        if packed[: len(MAGIC)] != MAGIC[: len(packed)] or not packed:
            raise SourceError(
                f"these are not bytes of a stream: they start with {packed[: len(MAGIC)]!r}. Use to_bytes() to "
                f"write them."
            )
        end = BYTES_OF_HEAD + int.from_bytes(packed[len(MAGIC) : len(MAGIC) + BYTES_PER_NUMBER], "little")
        if len(packed) < max(end, BYTES_OF_HEAD):
            raise SourceError(
                f"the bytes of a stream are truncated: got {len(packed):,} of {max(end, BYTES_OF_HEAD):,}."
            )
        parts.append(packed[:end])
        packed = packed[end:]
        if not packed:
            return parts


def _number(number: int) -> bytes:
    return number.to_bytes(BYTES_PER_NUMBER, "little")


def _narrow(numbers: Ints) -> Array:
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    for width in WIDTHS[:-1]:
        if low >= 0 and high <= np.iinfo(width).max:
            return numbers.astype(width)
    return numbers.astype(WIDTHS[-1])
