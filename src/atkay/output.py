"""Files are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write next to the target, then put it in place in one step: a reader never sees half a file."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"no folder '{path.parent}' to write '{path.name}' into; make it first")
    if path.is_dir():
        raise IsADirectoryError(f"'{path}' is a folder; name a file to write")
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
