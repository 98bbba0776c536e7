"""Sizes of memory: as people write them, in bytes, and back."""

from __future__ import annotations

import re

from atkay.errors import ProtocolError, shown

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def bytes_of(memory: str | float, least: int = 1) -> int:
    """So much memory in bytes.

    >>> from atkay.text.sizes import bytes_of
    >>> bytes_of("2GB"), bytes_of("1.5 GiB"), bytes_of("2e9"), bytes_of(4096)
    (2000000000, 1610612736, 2000000000, 4096)
    """
    try:
        match = re.fullmatch(r"\s*([0-9.]+(?:E[+-]?[0-9]+)?)\s*([A-Z]*)\s*", str(memory).upper())
        size = int(float(match[1]) * UNITS[match[2]]) if match else 0
    except (ValueError, KeyError, OverflowError, RecursionError):
        size = 0
    if size < least or isinstance(memory, bool):
        enough = f" (at least {least:,})" if least > 1 else ""
        raise ProtocolError(
            f"memory must be a size such as '2GB' or '512MB', or a number of bytes{enough}, got {shown(memory)}."
        )
    return size


def size_in_words(count: int) -> str:
    """A number of bytes in words: 1.5 GB.

    >>> from atkay.text.sizes import size_in_words
    >>> size_in_words(1_500_000_000), size_in_words(12)
    ('1.5 GB', '12 bytes')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"
