"""Threads: how many the kernels may use."""

from __future__ import annotations

import math
import os
from functools import cache

from atkay.errors import InputError

VARIABLE = "ATKAY_THREADS"
"""The environment variable that says how many threads to use."""

MOST_THREADS = 256
"""As in native/threads.c."""


def threads() -> int:
    """As many as ATKAY_THREADS says, else one for each core that this process may use."""
    given = os.environ.get(VARIABLE)
    if given is None:
        return cores()
    try:
        number = int(given)
    except ValueError:
        number = 0
    if number < 1:
        raise InputError(f"{VARIABLE} must be a positive integer, got {given!r}. Unset it to use all available cores.")
    return min(number, MOST_THREADS)


@cache
def cores() -> int:
    """The cores that this process may use: affinity and cgroup quota may leave fewer than the machine has."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = quota()
    return min(available, MOST_THREADS, max(1, math.ceil(limit)) if math.isfinite(limit) else available)


def quota(root: str = "/sys/fs/cgroup", cgroups: str = "/proc/self/cgroup") -> float:
    """How many cores the control groups of this process allow it on Linux: the least of all levels, or infinity."""
    least = math.inf
    for line in _read(cgroups).splitlines():  # number:controllers:path; version 2 names no controllers
        controllers, _, path = line.partition(":")[2].partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        levels = path.strip("/").split("/")
        for depth in range(len(levels) + 1):  # a container may see the path, but only its own group, as the root
            folder = "/".join([root, *(["cpu"] if controllers else []), *levels[:depth]])
            words = _read(f"{folder}/cpu.max").split()
            words = words or [
                *_read(f"{folder}/cpu.cfs_quota_us").split(),
                *_read(f"{folder}/cpu.cfs_period_us").split(),
            ]
            if len(words) == 2 and words[0].isdigit() and int(words[1]):  # else "max", or -1 in version 1
                least = min(least, int(words[0]) / int(words[1]))
    return least


def _read(path: str) -> str:
    """The text of a file, empty where there is none."""
    try:
        with open(path) as file:  # noqa: PTH123  # pathlib would be imported for nothing else
            return file.read()
    except OSError:
        return ""
