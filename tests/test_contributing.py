"""The example of CONTRIBUTING works as it stands: one file, one test, and the tests of all metrics still pass."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import atkay

ROOT = Path(__file__).parent.parent
OTHERS = (
    "test_cli.py",
    "test_common.py",
    "test_compare*.py",
    "test_engine_*.py",
    "test_examples.py",
    "test_forks.py",
    "test_fuzz_*.py",
    "test_input_files.py",
    "test_output.py",
    "test_printable.py",
    "test_re[cp]*.py",
    "test_saved.py",
    "test_tasks*.py",
    "test_torchmetrics.py",
    "test_tracking.py",
    "test_wrong_arguments.py",
)
"""Tests of what is built on numbers, whichever metrics there are; they take long, or need more than the copy has."""


def test_a_metric_is_one_file_and_one_test(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n# (\S+)\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.DOTALL)
    assert [name for name, _ in blocks] == ["src/atkay/metrics/first_rank.py", "tests/test_first_rank.py"]
    for folder in ("src", "tests", "conformance"):
        ignored = shutil.ignore_patterns("__pycache__", Path(__file__).name, *OTHERS)
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    for name in ("pyproject.toml", "conftest.py", "README.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name, code in blocks:
        (tmp_path / name).write_text(code)
    everything = [str(tmp_path / folder) for folder in ("tests", "src")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *everything],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src"), "HYPOTHESIS_PROFILE": "few"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "first_rank" not in atkay.metrics()
