"""Paths: which files are meant by a path, a folder, a pattern or a pipe."""

from __future__ import annotations

import bz2
import glob
import itertools
import lzma
import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import IO, TYPE_CHECKING

from atkay.errors import SourceError, shown
from atkay.text.phrases import STANDARD_INPUT

if TYPE_CHECKING:
    from collections.abc import Callable

UNPACKED: dict[str, Callable[[Path], IO[bytes]]] = {".bz2": bz2.open, ".xz": lzma.open}
"""Kinds of compressed files that Polars does not read; it reads .gz and .zst by itself."""
HIDDEN = (".", "_")
"""How names begin that Spark and Hadoop do not take for data, such as _SUCCESS."""


def quoted(path: Path) -> str:
    """A path in a message."""
    return STANDARD_INPUT if path.name == STANDARD_INPUT else f"'{path}'"


def local_path(given: str | os.PathLike[str], table: str) -> Path:
    """The path of something on this machine."""
    text = os.fspath(given)
    if not isinstance(text, str):
        raise SourceError(f"a path must be a string, got {shown(text)}.", table=table)
    if not text.strip():
        raise SourceError(
            f"{text!r} does not name a file or a folder", advice="For the working directory write '.'.", table=table
        )
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text):
        raise SourceError(
            f"'{text}' is a URL, but only local files can be read by path",
            advice=f"Pass a local path or a frame, such as polars.scan_parquet('{text}').",
            table=table,
        )
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise SourceError(f"unknown home folder '{text}' is in", advice="Write the full path.", table=table) from error


def find_files(given: str | os.PathLike[str], table: str) -> list[Path]:
    """The file, or the files of a folder, of its sub-folders and of a pattern, in the order of their names."""
    path = local_path(given, table)
    try:
        if path.is_dir():
            files = _files_in(path, table)
        elif path.exists():
            files = [path]
        else:
            fixed = Path(*itertools.takewhile(lambda part: not glob.has_magic(part), path.parts))
            # Path.glob takes no absolute pattern.
            matching = map(Path, glob.glob(str(path), recursive=True))  # noqa: PTH207
            visible = (each for each in matching if not _is_hidden(each.relative_to(fixed)))
            every = (_files_in(each, table) if each.is_dir() else [each] for each in visible)
            files = sorted(set(itertools.chain.from_iterable(every)))
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise SourceError(f"cannot look for the file '{str(path)[:80]}...': {cause}.", table=table) from error
    if files:
        return files
    if path.is_dir():
        raise SourceError(f"no files in folder '{path}' or its subfolders.", table=table)
    what = "no file matches" if glob.has_magic(str(path)) else "no file"
    bare = Path(str(path).strip())
    hint = f"The working directory is '{Path.cwd()}'."
    if bare != path and bare.exists():
        hint = f"'{bare}' exists, without the spaces."
    raise SourceError(f"{what} '{path}'", advice=f"{hint}", table=table)


def is_there(given: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a file or a folder, or a pattern that files match; a pipe is read once."""
    path = Path(given)
    # Path.glob takes no absolute pattern.
    return path.is_file() or path.is_dir() or (glob.has_magic(str(path)) and any(glob.iglob(str(path), recursive=True)))  # noqa: PTH207


def _files_in(folder: Path, table: str, above: tuple[Path, ...] = ()) -> list[Path]:
    """All files of a folder and the folders within it, such as those of a partition, but hidden ones."""
    real = folder.resolve()
    if real in above:
        raise SourceError(f"'{folder}' is a link to a parent folder", advice="Name the files instead.", table=table)
    visible = sorted(each for each in folder.iterdir() if not _is_hidden(each.relative_to(folder)))
    inside = ([each] if not each.is_dir() else _files_in(each, table, (*above, real)) for each in visible)
    return list(itertools.chain.from_iterable(inside))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(HIDDEN) for part in path.parts) or path.suffix == ".crc"


class Stored:
    """What cannot be read where it is, as a file that is there for as long as this object: the content of a pipe, of a
    compressed file, or of a text file in another encoding, which ``write`` writes.
    """

    def __init__(self, given: Path, table: str, write: Callable[[Path], None] | None = None) -> None:
        folder = tempfile.mkdtemp(prefix="atkay-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        unpack = UNPACKED.get(given.suffix.lower())
        unpacked = unpack or (write and given.suffix.lower() == ".gz")
        self.path = Path(folder, given.stem if unpacked else given.name)
        try:
            if write:
                write(self.path)
                return
            with unpack(given) if unpack else given.open("rb") as source, self.path.open("wb") as target:
                shutil.copyfileobj(source, target)
        except (OSError, EOFError, lzma.LZMAError) as error:
            what, cause = "the file" if unpack else "the pipe", getattr(error, "strerror", None) or error
            advice = "Is it complete? Unpack it, or make it again." if unpack else ""
            raise SourceError(f"cannot read {what} '{given}': {cause}", advice=advice, table=table) from error
