"""Threads: how many the kernels may use."""

from __future__ import annotations

import math
import os
from functools import cache

from atkay.errors import InputError

VARIABLE = "ATKAY_THREADS"
"""The environment variable that says how many threads to use."""


def threads() -> int:
    """As many as ATKAY_THREADS says, else one for each core that this process may use."""
    given = os.environ.get(VARIABLE)
    if given is None:
        return cores()
    if not given.isascii() or not given.isdigit() or not int(given):
        raise InputError(f"{VARIABLE} is {given!r}, and a number of threads is 1, 2, 3, ...: set it so, or unset it.")
    return int(given)


@cache
def cores() -> int:
    """The cores that this process may use: fewer than the machine has where it is bound to some, or has a quota."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(bound, math.ceil(quota() if math.isfinite(quota()) else bound)))


def quota(root: str = "/sys/fs/cgroup") -> float:
    """How many cores' time a container may use, as Linux says; infinite where nothing does."""
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            words = [word for name in names for word in _read(f"{root}/{name}").split()]
        except OSError:
            continue
        if len(words) == 2 and words[0].isdigit() and int(words[1]):
            return int(words[0]) / int(words[1])
    return math.inf


def _read(path: str) -> str:
    with open(path) as file:  # noqa: PTH123  # pathlib would be imported for nothing else
        return file.read()
