"""How far slow work is, on a terminal."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Self

from atkay.text.files import is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress

SECONDS_BEFORE_BAR = 2.0
"""Seconds of work before anything is shown."""


class Steps:
    """A number of steps; shows a progress bar on stderr after two seconds."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total, self._done, self._ahead = what, total, 0, 0.0
        self._began = time.monotonic()
        self._bar: Progress | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, share: float) -> None:
        """So large a share of the step at hand is done, as far as its work can tell."""
        self._ahead = min(self._ahead + share, 1.0)
        self._show()

    def next(self, steps: int = 1) -> None:
        """The step at hand is done, or several are; any thread may say so."""
        with self._lock:
            self._done, self._ahead = self._done + steps, 0.0
            self._show()

    def _show(self) -> None:
        if self._bar is None and time.monotonic() - self._began > SECONDS_BEFORE_BAR and is_terminal(sys.stderr):
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.add_task(self._what, total=self._total)
            self._bar.start()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done + self._ahead)
