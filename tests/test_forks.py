"""A forked process works, or says at once why it cannot."""

from __future__ import annotations

import subprocess
import sys

import pytest

if sys.platform != "linux":
    pytest.skip("threads are seen on Linux", allow_module_level=True)

SCRIPT = """
import os, sys, warnings
warnings.simplefilter("ignore")  # newer versions of Python warn of forks
import atkay
RECS, TRUTH = {{"a": ["x", "z"], "b": ["z", "y"]}}, {{"a": ["x"], "b": ["y"]}}
def stream():
    stream = atkay.Stream("mrr")
    stream.update([[1, 2], [3, 4]], [[1], [4]])
    return stream.compute()["mrr"]
{before}
child = os.fork()
if child == 0:
    try:
        print({inside})
    except atkay.errors.ForkError as error:
        print(f"ForkError: {{error}}")
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
"""
EVALUATE = "atkay.evaluate(RECS, TRUTH, 'mrr')"


def forked(before: str, inside: str) -> str:
    script = SCRIPT.format(before=before, inside=inside)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.parametrize(
    "inside",
    [
        f"{EVALUATE}['mrr']",
        "atkay.compare({'a': RECS, 'b': RECS}, TRUTH, 'mrr')",
        "atkay.overlap(RECS, RECS)",
        "atkay.reconcile(RECS, TRUTH, {'mrr': '0.75'})",
        "result.table",
        "result.per_query",
        "atkay.report(result, 'never.html')",
    ],
)
def test_polars_that_has_started_before_the_fork(inside: str) -> None:
    told = forked(f"result = {EVALUATE}", inside)
    assert told.startswith("ForkError: this process was forked after Polars had started its threads")
    assert "multiprocessing.get_context('spawn')" in told


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        ("", f"{EVALUATE}['mrr']"),
        ("import polars; polars.DataFrame({'a': [1]})", f"{EVALUATE}['mrr']"),
        (f"result = {EVALUATE}", "stream()"),
        (f"result = {EVALUATE}", "result['mrr']"),
        (f"import subprocess; {EVALUATE}", "stream()"),
    ],
)
def test_forks_that_work(before: str, inside: str) -> None:
    assert forked(before, inside) == "0.75\n"


def test_other_processes_are_left_alone() -> None:
    """What is started by fork and exec has threads of its own."""
    inside = "import atkay; print(atkay.evaluate({1: [2]}, {1: [2]}, 'mrr')['mrr'])"
    again = f"import subprocess, sys; {EVALUATE}; subprocess.run([sys.executable, '-c', {inside!r}], check=True)"
    assert forked(again, "''").split() == ["1.0"]
