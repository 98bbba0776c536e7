"""The temporary folder in which rows are written by part while files are evaluated."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from atkay.errors import SpillError, shown
from atkay.text.phrases import argument
from atkay.text.sizes import size_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

REFUSALS = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)
"""What a disk says that takes nothing, or no more."""


@contextlib.contextmanager
def spill_folder(where: object) -> Iterator[Path]:
    """A folder of our own, removed on success, error and Ctrl-C."""
    if where is not None and (not isinstance(where, str | os.PathLike) or not str(where).strip()):
        raise SpillError(f"spill must be the path of a folder, got {shown(where)}.")
    parent = Path(tempfile.gettempdir() if where is None else str(where)).expanduser()
    is_folder = False
    with contextlib.suppress(OSError, ValueError):  # a name that no folder can have
        is_folder = parent.is_dir()
    if not is_folder:
        raise SpillError(
            f"spill: no folder '{str(parent)[:80]}'. Create it, or name another folder for temporary files."
        )
    with refusing(parent):
        folder = Path(tempfile.mkdtemp(prefix="atkay-", dir=parent))
    # One Ctrl-C raises two interrupts, one from Polars and one from Python: the second may meet the first removal.
    try:
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def refusing(where: Path, needed: int | None = None) -> Iterator[None]:
    """What a disk refuses, as an error that says what to do; ``needed``: bytes that are about to be written."""
    free = shutil.disk_usage(where).free
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        code = re.search(r"\(os error (\d+)\)", str(error))  # Polars' own errors have no number but this
        number = error.errno if isinstance(error, OSError) else int(code[1]) if code else None
        if number not in REFUSALS:
            raise
        about = "" if needed is None else f"; about {size_in_words(needed)} needed"
        raise SpillError(
            f"spill: cannot write to '{where}': {os.strerror(number)}. {size_in_words(free)} free{about}. "
            f"Name a folder on a larger disk with {argument('spill')}, or sort the files by user, which needs far less."
        ) from error
