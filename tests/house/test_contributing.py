"""The example of CONTRIBUTING works as it stands: one file, one test, and the tests of all metrics still pass."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import atkay

ROOT = Path(__file__).parents[2]
READS_THE_REGISTRY = (
    "tests/house/test_metric_files.py",
    "tests/metrics/test_first_rank.py",
    "tests/metrics/test_definitions.py",
    "tests/metrics/test_spec.py",
    "tests/metrics/test_worked.py",
    "tests/laws/test_laws.py",
    "tests/laws/test_oracle.py",
    "tests/engines/test_engines_agree.py",
    "tests/judged/test_ties.py",
    "src/atkay/metrics/first_rank.py",
)
"""What runs over all metrics, whichever there are: nothing else can fail because there is one more."""

FOR_ONE_MORE = "not spark and (first_rank or not (parses_back or in_all_its_words or a_file_and_a_test))"
"""Of tests that run once for each metric, those of the new one."""


def test_a_metric_is_one_file_and_one_test(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n# (\S+)\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.DOTALL)
    assert [name for name, _ in blocks] == ["src/atkay/metrics/first_rank.py", "tests/metrics/test_first_rank.py"]
    for folder in ("src", "tests", "conformance"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    for name in ("pyproject.toml", "conftest.py", "README.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name, code in blocks:
        (tmp_path / name).write_text(code)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "-k",
            FOR_ONE_MORE,
            *READS_THE_REGISTRY,
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src"), "HYPOTHESIS_PROFILE": "few"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "first_rank" not in atkay.list_metrics()
