"""Lock: one thread at a time, for objects that are also copied, pickled and inherited by forked processes."""

from __future__ import annotations

import os
import threading


class Lock:
    """A reentrant lock; a copy, an unpickled one and a forked process each have a lock of their own.

    A thread that holds a plain lock during a fork would leave it locked forever in the child.
    """

    def __init__(self) -> None:
        self._of_process: dict[int, threading.RLock] = {}

    def __enter__(self) -> None:
        self._own.acquire()

    def __exit__(self, *_: object) -> None:
        self._own.release()

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return type(self), ()

    @property
    def _own(self) -> threading.RLock:
        return self._of_process.setdefault(os.getpid(), threading.RLock())
