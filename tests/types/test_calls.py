"""mypy and pyright report each wrong line of calls.py, and no other."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

CALLS = Path(__file__).with_name("calls.py")
SRC = Path(__file__).parents[2] / "src"
WRONG = {number for number, line in enumerate(CALLS.read_text().splitlines(), 1) if line.endswith("# wrong")}

# The types of other packages are not looked at: that takes most of the time, and no call depends on them.
MYPY = f"""[mypy]
strict = true
follow_imports = silent
ignore_missing_imports = true
mypy_path = {SRC}
[mypy-altair.*,click.*,mlflow.*,numpy.*,pandas.*,polars.*,pyarrow.*,pyspark.*,rich.*,scipy.*,torch.*,torchmetrics.*]
follow_imports = skip
"""
PYRIGHT = {"include": [str(CALLS)], "extraPaths": [str(SRC)], "pythonVersion": "3.11", "typeCheckingMode": "standard"}


def output(*command: str | Path) -> str:
    return subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True).stdout


def test_there_are_mistakes() -> None:
    assert len(WRONG) > 50


def test_mypy(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="needs mypy")
    config = tmp_path / "mypy.ini"
    config.write_text(MYPY)
    found = output("mypy", "--config-file", config, "--cache-dir", tmp_path / "cache", CALLS)
    assert {int(number) for number in re.findall(r"calls\.py:(\d+): error", found)} == WRONG, found


def test_pyright(tmp_path: Path) -> None:
    pytest.importorskip("basedpyright", reason="needs basedpyright")
    config = tmp_path / "pyrightconfig.json"
    config.write_text(json.dumps(PYRIGHT))
    found = json.loads(output("basedpyright", "--project", config, "--outputjson"))["generalDiagnostics"]
    errors = [each for each in found if each["severity"] == "error"]
    assert {each["range"]["start"]["line"] + 1 for each in errors} == WRONG, found
