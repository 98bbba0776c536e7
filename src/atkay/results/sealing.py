"""Sealing: a record as a JSON file with a checksum, and back. Nothing is executed, and nothing half right is read."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import zlib
from typing import TYPE_CHECKING, Any, TypeVar

from atkay.core.schema import parse_json
from atkay.errors import OutputError, SourceError
from atkay.text.files import path_of, write_whole
from atkay.text.sizes import size_in_words

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    T = TypeVar("T")

FORMAT = 1
"""Raised with every change of what is saved."""

CHECKSUM = re.compile(rb'\{"checksum": "([0-9a-f]{64})", ')
"""What a file begins with. The checksum is that of the text without it: of "{" and all that follows here."""

LARGEST, RATIO = 1 << 30, 200
"""Bytes that a compressed file may unpack to, and how many times its size where that is more."""


class _OtherFile(ValueError):
    """A file that is something else than what was asked for; the message goes on after its name."""


def seal(kind: str, record: Mapping[str, Any]) -> bytes:
    """A record as JSON with its checksum; ``kind`` says what it is."""
    try:
        text = json.dumps({"format": f"atkay {kind} {FORMAT}", **record}, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise OutputError(f"cannot save a {kind} with a number that is infinite") from error
    content = text.encode(errors="backslashreplace")  # half of a surrogate pair, as JSON writes it
    return b'{"checksum": "%b", %b' % (hashlib.sha256(content).hexdigest().encode(), content[1:])


def unseal(kind: str, content: bytes) -> dict[str, Any]:
    """The record that was sealed, unchanged."""
    found = CHECKSUM.match(content)
    if not found:
        raise _OtherFile(f"is not a {kind} saved by this version of atkay (no checksum)")
    text = b"{" + content[found.end() :].rstrip()
    if hashlib.sha256(text).hexdigest().encode() != found[1]:
        raise ValueError("its checksum does not match: it was changed after it was saved")
    record = parse_json(text)
    is_format = record.pop("format", None)
    other = re.fullmatch(r"atkay (\w+) \d+", str(is_format))
    if other and other[1] != kind:
        raise _OtherFile(f"is a saved {other[1]}; a saved {kind} is needed")
    if is_format != f"atkay {kind} {FORMAT}":
        raise ValueError(f"its format is {is_format!r}, and this version reads 'atkay {kind} {FORMAT}'")
    return dict(record)


def save_sealed(path: str | os.PathLike[str], kind: str, record: Mapping[str, Any]) -> None:
    """Write a record, compressed where the name ends in ``.gz``; whole or not at all."""
    named, content = path_of(path), seal(kind, record)
    write_whole(named, gzip.compress(content, mtime=0) if named.name.endswith(".gz") else content)


def load_sealed(path: str | os.PathLike[str], kind: str, read: Callable[[dict[str, Any]], T]) -> T:
    """What ``read`` makes of a record that was saved."""
    named = path_of(path, SourceError)
    advice = f"Write one with {kind}.save(path)."
    try:
        return read(unseal(kind, _unpacked(named.read_bytes())))
    except _OtherFile as error:
        raise SourceError(f"'{path}' {error}. {advice}") from error
    except (OSError, EOFError, zlib.error, ValueError, TypeError, MemoryError) as error:
        why = str(error).rstrip(".") or "it does not fit into memory"
        raise SourceError(f"cannot load '{path}' as a saved {kind}: {why}. {advice}") from error


def _unpacked(content: bytes) -> bytes:
    if content[:2] != b"\x1f\x8b":
        return content
    most = max(LARGEST, RATIO * len(content))
    unpacked = gzip.GzipFile(fileobj=io.BytesIO(content)).read(most + 1)
    if len(unpacked) > most:
        raise ValueError(
            f"its {size_in_words(len(content))} unpack to more than {size_in_words(most)}, too much to take at once; "
            "unpack it yourself if you trust it"
        )
    return unpacked
