"""Forks: a forked process has none of its parent's threads, and Polars would wait for its own forever.

Whoever needs Polars within a function takes it from here, ``from atkay.core.forks import polars``, which raises an
error where its threads are lost. As long as Polars has not started any, a forked process starts its own.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as polars

TASKS = "/proc/self/task"
"""Where Linux lists the threads of a process."""

_taken = False
"""Whether this process has used Polars through atkay. Its threads name themselves some time after they start: a fork
in that time would not see them."""
_started_before_fork = False
_lost = False


def _has_started() -> bool:
    """Whether Polars has started its threads; where threads cannot be seen, once it is imported."""
    if _taken or "polars" not in sys.modules:
        return _taken
    name = os.environ.get("POLARS_THREAD_NAME", "polars")
    try:
        tasks = os.listdir(TASKS)  # noqa: PTH208  # pathlib would be imported for nothing else
    except OSError:
        return True
    for task in tasks:
        try:
            with open(f"{TASKS}/{task}/comm") as file:  # noqa: PTH123
                if re.fullmatch(rf"{re.escape(name[:12])}.*\d\s*", file.read()):
                    return True
        except OSError:  # a thread that has just ended
            continue
    return False


def _before() -> None:
    global _started_before_fork
    _started_before_fork = _has_started()


def _in_child() -> None:
    global _lost
    _lost = _lost or _started_before_fork


def watch() -> None:
    """Look at every fork from here on; a process that is started by fork and exec is none of them."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before, after_in_child=_in_child)


def check_threads() -> None:
    """Raise an error where Polars would wait forever; elsewhere it counts as started from here on."""
    global _taken
    if _lost:
        from atkay.errors import ForkError

        raise ForkError(
            "this process was forked after Polars had started its threads, which do not survive a fork: reading "
            "a table would hang. Start processes with multiprocessing.get_context('spawn') or "
            "'forkserver' (PyTorch DataLoader: multiprocessing_context='spawn'), or fork before the first use of "
            "atkay or Polars."
        )
    _taken = True


_counting: int | None = None
"""The process in which PyTorch was first used to count, whose threads a forked process does not have either."""


def check_torch(threads: int) -> None:
    """Raise an error where PyTorch would wait forever for some of its ``threads``."""
    global _counting
    _counting = _counting or os.getpid()
    if threads > 1 and _counting != os.getpid():
        from atkay.errors import ForkError

        raise ForkError(
            "this process was forked after full_ranking had run, and PyTorch's threads do not survive a fork: it "
            "would hang. Start processes with multiprocessing.get_context('spawn') or 'forkserver'."
        )


def __getattr__(name: str) -> Any:
    if name != "polars":
        raise AttributeError(f"module 'atkay.forks' has no attribute '{name}'")
    check_threads()
    import polars

    return polars
