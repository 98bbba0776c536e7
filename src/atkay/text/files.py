"""Files are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from atkay.errors import AtkayError, OutputError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

DESCRIPTORS = Path("/dev/fd")
"""Where the system names the files that a process has open: /dev/stdout is a link to /dev/fd/1."""


def path_of(path: object, error: type[AtkayError] = OutputError) -> Path:
    """A path from a user's argument, checked."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str):
        raise error(f"path must be a str or a Path, got {shown(path)}.")
    if not text:
        raise error("path is empty; name a file.")
    return Path(text)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal; false if closed."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file next to its place, then put it there in one step: a reader never sees half a file.

    Links are followed, and a file that is replaced keeps its permissions. Pipes and devices are written into.
    """
    named = path_of(path)
    with _refusing(path):
        target = _target(named)
        if isinstance(target, Path) and not _is_special(target):
            _replace(target, content)
            return
        for stream in (sys.stdout, sys.stderr):  # what was printed before comes first
            if stream is not None:
                stream.flush()
        with open(target, "wb", closefd=isinstance(target, Path)) as file:
            file.write(content)


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written, before the work that fills it."""
    named = path_of(path)
    with _refusing(path):
        _target(named)


def _target(path: Path) -> Path | int:
    """Where links lead: a path, or the number of a file that this process has open."""
    with contextlib.suppress(FileNotFoundError):
        path.stat()  # raises where links go round in circles, or a folder may not be searched
    link = path
    while True:
        if link.name.isdigit() and link.parent.resolve() == DESCRIPTORS.resolve() and link.exists():
            return int(link.name)
        if not link.is_symlink():
            break
        link = link.parent / link.readlink()
    if _is_special(path):
        return path
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise OutputError(f"no folder '{target.parent}' to write '{target.name}' into; create it first")
    if target.is_dir():
        raise OutputError(f"'{path}' is a folder; name a file to write")
    if target.exists() and not _may(target, os.W_OK):
        raise PermissionError("Permission denied")
    if not _may(target.parent, os.W_OK | os.X_OK):  # a file is written next to its place first
        raise PermissionError(f"the folder '{target.parent}' is not writable")
    return target


def _may(path: Path, mode: int) -> bool:
    """Whether this process may do so, as whomever it acts."""
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _is_special(path: Path) -> bool:
    """Whether it is a pipe, a device or a socket."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _replace(target: Path, content: bytes) -> None:
    temporary = target.with_name(f".atkay-{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            before = target.stat()
            if hasattr(os, "chown"):
                with contextlib.suppress(PermissionError):  # only root can write as somebody else
                    os.chown(temporary, before.st_uid, before.st_gid)
            temporary.chmod(stat.S_IMODE(before.st_mode))
        try:
            temporary.replace(target)
        except OSError as error:
            if error.errno not in (errno.EBUSY, errno.EXDEV):
                raise
            target.write_bytes(content)  # a file that is mounted by itself cannot be replaced, only written into
            temporary.unlink()
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _refusing(path: object) -> Iterator[None]:
    """What the system refuses, as an error of ours that keeps its number."""
    try:
        yield
    except OutputError:
        raise
    except (OSError, ValueError) as error:  # the latter: a NUL in a path
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        refused = OutputError(f"cannot write {str(path)!r}: {why}. Choose another path.")
        refused.errno = getattr(error, "errno", None)
        raise refused from error
