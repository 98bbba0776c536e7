"""Paths: which files are meant by a path, a folder, a pattern or a pipe."""

from __future__ import annotations

import glob
import itertools
import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path

from atkay.errors import SourceError, shown

HIDDEN = (".", "_")
"""How names begin that Spark and Hadoop do not take for data, such as _SUCCESS."""


def local_path(given: str | os.PathLike[str], table: str) -> Path:
    """The path of something on this machine."""
    text = os.fspath(given)
    if not isinstance(text, str):
        raise SourceError(f"{table}: a path must be text, got {shown(text)}.")
    if not text.strip():
        raise SourceError(f"{table}: {text!r} does not name a file or a folder. For the working directory write '.'.")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text):
        raise SourceError(
            f"{table}: '{text}' is a URL, and only files on this machine can be read by their path. Write a path, or "
            f"pass a frame, such as polars.scan_parquet('{text}')."
        )
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise SourceError(f"{table}: cannot tell whose home folder '{text}' is in. Write the whole path.") from error


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
            some = (each for each in matching if not _is_hidden(each.relative_to(fixed)))
            every = (_files_in(each, table) if each.is_dir() else [each] for each in some)
            files = sorted(set(itertools.chain.from_iterable(every)))
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise SourceError(f"{table}: cannot look for the file '{str(path)[:80]}...': {cause}.") from error
    if files:
        return files
    if path.is_dir():
        raise SourceError(f"{table}: there are no files in the folder '{path}' or in folders within it.")
    what = "no file matches" if glob.has_magic(str(path)) else "no file"
    bare = Path(str(path).strip())
    hint = f"The working directory is '{Path.cwd()}'."
    if bare != path and bare.exists():
        hint = f"There is '{bare}', without blanks around it."
    raise SourceError(f"{table}: {what} '{path}'. {hint}")


def _files_in(folder: Path, table: str, above: tuple[Path, ...] = ()) -> list[Path]:
    """All files of a folder and the folders within it, such as those of a partition, but hidden ones."""
    real = folder.resolve()
    if real in above:
        raise SourceError(f"{table}: '{folder}' is a link to a folder that it is in. Name the files themselves.")
    found = sorted(each for each in folder.iterdir() if not _is_hidden(each.relative_to(folder)))
    inside = ([each] if not each.is_dir() else _files_in(each, table, (*above, real)) for each in found)
    return list(itertools.chain.from_iterable(inside))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(HIDDEN) for part in path.parts) or path.suffix == ".crc"


class Stored:
    """The content of a pipe, which can be read once, as a file that is there for as long as this object."""

    def __init__(self, pipe: Path, table: str) -> None:
        folder = tempfile.mkdtemp(prefix="atkay-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = Path(folder, pipe.name)
        try:
            with pipe.open("rb") as source, self.path.open("wb") as target:
                shutil.copyfileobj(source, target)
        except OSError as error:
            raise SourceError(f"{table}: cannot read the pipe '{pipe}': {error.strerror}.") from error
