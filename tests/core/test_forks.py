"""A forked process works, or says at once why it cannot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
    message = forked(f"result = {EVALUATE}", inside)
    assert message.startswith("ForkError: this process was forked after Polars had started its threads")
    assert "multiprocessing.get_context('spawn')" in message


def test_threads_that_have_no_name_yet(tmp_path: Path) -> None:
    """Polars' threads name themselves only when they first run."""
    unnamed = f"import atkay.core.forks as forks; forks.TASKS = {str(tmp_path)!r}"
    assert forked(f"result = {EVALUATE}; {unnamed}", "atkay.overlap(RECS, RECS)").startswith("ForkError")


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


def test_kernels_after_a_fork() -> None:
    """The threads that wait for the next kernel are lost with the fork, and started again."""
    before = """
os.environ["ATKAY_THREADS"] = "3"
import numpy as np
from atkay.core import kernels
falling = np.arange(400_000)[::-1] // 7  # enough rows for several threads
def places():
    return kernels.within(falling).sum(), kernels.span(falling)[1]
result = places()
"""
    assert forked(before, "[places() == result for _ in range(3)]") == "[True, True, True]\n"


def test_other_processes_are_left_alone() -> None:
    """What is started by fork and exec has threads of its own."""
    inside = "import atkay; print(atkay.evaluate({1: [2]}, {1: [2]}, 'mrr')['mrr'])"
    again = f"import subprocess, sys; {EVALUATE}; subprocess.run([sys.executable, '-c', {inside!r}], check=True)"
    assert forked(again, "''").split() == ["1.0"]


MANY = """
import numpy as np
import polars as pl
USERS = pl.DataFrame({{"user": [f"u{{n}}" for n in range(20_000)], "item": [1] * 20_000}})
result = atkay.evaluate(USERS, USERS, "hit@1", no_recs="skip")
result.save("{path}")
"""


def test_a_forked_server_loads_saved_results(tmp_path: Path) -> None:
    """So many users that Polars would share the work among its threads."""
    path = tmp_path / "saved.json.gz"
    before = MANY.format(path=path)
    assert forked(before, f"atkay.Result.load('{path}')['hit@1']").strip() == "1.0"
    # Runs of different users are put together by Polars.
    other = "other = atkay.evaluate(USERS[::-1][:15_000], USERS, 'hit@1', no_recs='skip')"
    both = "atkay.compare({'a': result, 'b': other}, test='t')"
    assert forked(f"{before}\n{other}", both).startswith("ForkError: this process was forked after Polars")


def test_full_ranking_after_a_fork() -> None:
    """PyTorch's threads are lost as well."""
    pytest.importorskip("torch")
    wanted = "(np.arange(65), np.ones(64, int))"  # of 500 equal scores that of the item with the number 1 is second
    ranked = f"atkay.full_ranking(np.ones((64, 8)), np.ones((500, 8)), {wanted}, 'mrr', device='cpu')['mrr']"
    threads = "import numpy as np, torch; torch.set_num_threads({})"
    message = forked(f"{threads.format(2)}\n{ranked}", ranked)
    assert message.startswith("ForkError: this process was forked after full_ranking had run")
    for before in (threads.format(2), f"{threads.format(1)}\n{ranked}"):
        assert float(forked(before, ranked)) == pytest.approx(0.5)
