"""How many threads the kernels use, and forks of a process that has used them."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from atkay.core import threads
from atkay.core.native.library import LIBRARY
from atkay.errors import InputError

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="affinity and control groups are those of Linux")


@pytest.mark.parametrize(("given", "number"), [("1", 1), ("7", 7), (" 7 ", 7), ("99999999999999999999999", 256)])
def test_the_environment_says(given: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATKAY_THREADS", given)
    assert threads.threads() == number


@pytest.mark.parametrize("given", ["0", "-2", "two", "1.5", "", "9" * 5000])
def test_what_is_not_a_number_of_threads(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATKAY_THREADS", given)
    with pytest.raises(InputError, match=f"ATKAY_THREADS must be a positive integer, got '{given}'. Unset it"):
        threads.threads()


@LINUX
@pytest.mark.parametrize(
    ("bound", "quota", "number"), [(8, math.inf, 8), (8, 2.5, 3), (8, 0.1, 1), (2, 4.0, 2), (1000, math.inf, 256)]
)
def test_cores(bound: int, quota: float, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATKAY_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(bound)))
    monkeypatch.setattr(threads, "quota", lambda: quota)
    threads.cores.cache_clear()
    assert threads.threads() == number
    threads.cores.cache_clear()


@LINUX
def test_a_process_that_is_bound_to_a_core() -> None:
    bind = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); from atkay.core.threads import cores"
    assert run(f"{bind}; print(cores())", ATKAY_THREADS=None) == "1\n"


@pytest.mark.parametrize(
    ("cgroups", "files", "quota"),
    [
        ("", {}, math.inf),
        ("0::/", {"cpu.max": "150000 100000"}, 1.5),
        ("0::/", {"cpu.max": "max 100000"}, math.inf),
        # The least of all levels counts.
        ("0::/slice/job", {"slice/cpu.max": "300000 100000", "slice/job/cpu.max": "400000 100000"}, 3.0),
        ("0::/slice/job", {"slice/cpu.max": "max 100000", "slice/job/cpu.max": "50000 100000"}, 0.5),
        # Version 1, of which a container sees its own group as the root, and the path that the host calls it by.
        ("4:memory:/\n3:cpu,cpuacct:/", {"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000"}, 2.0),
        ("1:cpu:/docker/0a", {"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000"}, 0.5),
        ("1:cpu:/job", {"cpu/job/cpu.cfs_quota_us": "90000", "cpu/job/cpu.cfs_period_us": "10000"}, 9.0),
        ("1:cpu:/", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, math.inf),
        ("4:cpuset:/job\n0::/", {"cpuset/job/cpu.max": "1 2", "cpu.max": "odd"}, math.inf),
    ],
)
def test_quota(cgroups: str, files: dict[str, str], quota: float, tmp_path: Path) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    (tmp_path / "cgroup").write_text(f"{cgroups}\n")
    assert threads.quota(str(tmp_path), str(tmp_path / "cgroup")) == quota
    assert threads.quota(str(tmp_path), str(tmp_path / "missing")) == math.inf


FORK = """
import os, sys, threading, warnings
warnings.simplefilter("ignore")  # newer versions of Python warn of forks
import numpy as np
from atkay.core import kernels
ids = np.random.default_rng(0).integers(0, 1000, 2_000_000)
expected = kernels.changes(ids).tolist()
{before}
children = []
for _ in range(5):
    child = os.fork()
    if child == 0:
        os._exit(0 if kernels.changes(ids).tolist() == expected else 1)
    children.append(child)
print([os.waitpid(child, 0)[1] for child in children])
{after}
"""
BUSY = """
running = True
def work():
    while running:
        kernels.span(ids)
busy = threading.Thread(target=work)
busy.start()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.skipif(LIBRARY is None, reason="the kernels are not built")
@pytest.mark.parametrize(("before", "after"), [("", ""), (BUSY, "running = False; busy.join()")])
def test_a_fork_after_or_during_a_kernel(before: str, after: str) -> None:
    """Threads live no longer than a call, so a forked process misses none."""
    assert run(FORK.format(before=before, after=after), ATKAY_THREADS="4") == f"{[0] * 5}\n"


def run(script: str, **variables: str | None) -> str:
    environment = {name: text for name, text in {**os.environ, **variables}.items() if text is not None}
    command = [sys.executable, "-c", script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120).stdout
