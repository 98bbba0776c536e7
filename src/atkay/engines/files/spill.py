"""The folder that an evaluation of files keeps while it works: rows by part, and what was measured of each part.

It is removed in the end, however that comes. Only a process that is killed leaves it, and the next one that asks for
the same can go on from there.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import re
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import polars as pl

from atkay.core.fingerprint import Mark
from atkay.errors import SpillError
from atkay.evaluation.measure import Tally
from atkay.evaluation.part import Part
from atkay.inputs.coding.common import Common
from atkay.results.result import Population
from atkay.text.files import write_whole
from atkay.text.sizes import size_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from atkay.results.result import Segment

FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
"""What a disk says that takes no more."""
SEVERAL = 100
"""So many runs of the same thing at the same time have a folder each."""


@dataclass(frozen=True)
class Folder:
    """A folder that this process holds, as long as ``lock`` is open."""

    path: Path
    lock: BinaryIO

    @classmethod
    def of(cls, where: Path | None, asked: Mapping[str, Any], state: Mapping[str, Any], *, resume: bool) -> Folder:
        """The folder of what is ``asked`` for; what it holds stays only to resume, and if it is of the same ``state``.

        The state is how the inputs are now: after a change nothing of what was measured before holds.
        """
        where = Path(tempfile.gettempdir()) if where is None else where
        is_folder = False
        with contextlib.suppress(OSError, ValueError):  # a name that no folder can have
            is_folder = where.is_dir()
        if not is_folder:
            raise SpillError(
                f"spill: no folder '{str(where)[:80]}'. Make it, or name another: it holds what is written on the way."
            )
        name = "atkay-" + hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]
        now = json.dumps(state, sort_keys=True).encode()
        with refusing(where):
            folder = cls._held(where, name)
            try:
                there = folder.path / "state.json"
                if not (resume and there.exists() and there.read_bytes() == now):
                    folder.empty()
                    write_whole(there, now)
            except BaseException:
                folder.remove()
                raise
        return folder

    @classmethod
    def _held(cls, where: Path, name: str) -> Folder:
        """The first folder of that name that no other process holds, and that is our own."""
        for number in range(1, SEVERAL):
            path = where / (name if number == 1 else f"{name}-{number}")
            while True:
                path.mkdir(mode=0o700, exist_ok=True)
                try:
                    if hasattr(os, "getuid") and path.lstat().st_uid != os.getuid():  # whatever a link leads to
                        break
                    lock = (path / "lock").open("ab")
                except FileNotFoundError:  # whoever held the folder before has just removed it
                    continue
                if not _locked(lock):
                    lock.close()
                    break
                with contextlib.suppress(FileNotFoundError):
                    if os.fstat(lock.fileno()).st_ino == (path / "lock").stat().st_ino:
                        return cls(path, lock)
                lock.close()
        raise SpillError(
            f"spill: {SEVERAL} evaluations of the same files are at work in '{where}'. Name another folder."
        )

    def empty(self) -> None:
        """Remove all but the lock."""
        for each in self.path.iterdir():
            if each.is_dir():
                shutil.rmtree(each)
            elif each.name != "lock":
                each.unlink()

    def remove(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.lock.close()

    def part(self, number: int) -> Path:
        """Where a part is kept that was measured."""
        return self.path / f"measured-{number:05}.npz"


def _locked(lock: BinaryIO) -> bool:
    """Whether nobody else holds the lock; the system lets go of it when a process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows: whoever starts the same evaluation twice there names two folders
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def refusing(where: Path, needed: int | None = None) -> Iterator[None]:
    """What a disk refuses, as an error that says what to do; ``needed``: bytes that are about to be written."""
    free = shutil.disk_usage(where).free
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        found = re.search(r"\(os error (\d+)\)", str(error))  # Polars' own errors have no number but this
        number = error.errno if isinstance(error, OSError) else int(found[1]) if found else None
        if number not in (*FULL, errno.EROFS, errno.EACCES, errno.EPERM):
            raise
        about = "" if needed is None else f"; about {size_in_words(needed)} are needed"
        raise SpillError(
            f"spill: cannot write to '{where}': {os.strerror(number)}. {size_in_words(free)} were free there{about}. "
            "Name a folder on a larger disk with spill=, or sort the files by user, which takes far less."
        ) from error


def save_part(part: Part, path: Path) -> None:
    """Write what was measured of a part; whole or not at all."""
    tally = part.tally
    segments: dict[str, list[Any]] = {}
    for segment in tally.states:
        if segment is not None:
            segments.setdefault(segment[0], []).append(segment[1])
    frames = {"queries": part.queries, **({} if part.groups is None else {"groups": part.groups})}
    frames |= {f"segments {name}": pl.DataFrame({name: values}) for name, values in segments.items()}
    facts = {
        "population": asdict(tally.population),
        "marks": part.marks,
        "common": part.common.record(),
        "names": tally.names,
        "pooled": list(tally.parts),
        "segments": list(segments),
        "states": [list(states) for states in tally.states.values()],
        "whole_users": list(tally.whole_users.values()),
        "everybody": None in tally.states,
    }
    arrays: dict[str, Any] = {
        "rows": tally.rows,
        "values": tally.values,
        "facts": np.frombuffer(json.dumps(facts).encode(), np.uint8),
    }
    for at, (above, below) in enumerate(tally.parts.values()):
        arrays |= {f"above {at}": above, f"below {at}": below}
    for at, states in enumerate(tally.states.values()):
        arrays |= {f"state {at} {name}": state for name, state in states.items()}
    arrays |= part.common.arrays()
    for name, frame in frames.items():
        arrays[name] = np.frombuffer(frame.write_ipc(None).getvalue(), np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    write_whole(path, buffer.getvalue())


def load_part(path: Path) -> Part:
    """Read what was measured of a part."""
    with np.load(path, allow_pickle=False) as file:
        facts = json.loads(file["facts"].tobytes())

        def frame(name: str) -> pl.DataFrame:
            return pl.read_ipc(io.BytesIO(file[name].tobytes()))

        segments: list[Segment] = [None] if facts["everybody"] else []
        for name in facts["segments"]:
            segments += [(name, value) for value in frame(f"segments {name}").to_series()]
        states = {
            segment: {metric: file[f"state {at} {metric}"] for metric in metrics}
            for at, (segment, metrics) in enumerate(zip(segments, facts["states"], strict=True))
        }
        tally = Tally(
            rows=file["rows"],
            names=tuple(facts["names"]),
            values=file["values"],
            parts={name: (file[f"above {at}"], file[f"below {at}"]) for at, name in enumerate(facts["pooled"])},
            population=Population(**facts["population"]),
            states=states,
            whole_users=dict(zip(segments, facts["whole_users"], strict=True)),
        )
        return Part(
            tally,
            frame("queries"),
            frame("groups") if "groups" in file else None,
            {name: Mark(*mark) for name, mark in facts["marks"].items()},
            Common.of_record(facts["common"], file),
        )
