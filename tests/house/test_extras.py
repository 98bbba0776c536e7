"""Without the packages of an extra: one line that says how to install them, before any work is done."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

START = """
import sys
sys.modules.update(dict.fromkeys({blocked!r}))
import atkay
def result():
    return atkay.evaluate({{1: ["a"]}}, {{1: ["a"]}}, "mrr")
def comparison():
    return atkay.compare({{"a": {{1: ["a"], 2: ["b"]}}, "b": {{1: ["b"], 2: ["b"]}}}}, {{1: ["a"], 2: ["b"]}}, "mrr")
def pandas(ids):
    import pandas as pd
    return pd.DataFrame({{"user": pd.Series(ids, dtype="category"), "item": [1, 2]}})
"""
PAGE = "atkay.report('no result', 'page.html')"
"""What is passed cannot be read: were it looked at, another error would come."""

PYTHON = {
    "plot": ("altair", "result().plot()", "plot needs altair, which is not installed", "report"),
    "plot of a comparison": ("altair", "comparison().plot()", "plot needs altair,", "report"),
    "plot of variants": ("altair", "atkay.variants({1: ['a']}, {1: ['a']}, 'map').plot()", "needs altair,", "report"),
    "report": ("altair", PAGE, "the report needs altair, which is not installed", "report"),
    "report's scripts": ("vl_convert", PAGE, "the report needs vl_convert,", "report"),
    "report, both": ("altair vl_convert", PAGE, "altair and vl_convert, which are not installed", "report"),
    "mlflow": ("mlflow", "result().log_mlflow()", "log_mlflow needs mlflow,", "mlflow"),
    "to_pandas": ("pandas", "result().to_pandas()", "to_pandas needs pandas,", "pandas"),
    "to_pandas of a comparison": ("pandas", "comparison().to_pandas()", "to_pandas needs pandas,", "pandas"),
    "text of pandas": ("pyarrow", "atkay.evaluate(pandas(['a', 'b']), pandas(['a', 'b']))",
                       "recs: column 'user' of type category in a pandas frame needs pyarrow,", "pandas"),
    "full_ranking": ("torch", "atkay.full_ranking(1, 2, 3)", "full_ranking needs torch,", "torch"),
    "import of full_ranking": ("torch", "from atkay import full_ranking", "full_ranking needs torch,", "torch"),
    "torchmetrics": ("torchmetrics", "import atkay.engines.torchmetrics",
                     "atkay.engines.torchmetrics needs torchmetrics,", "torchmetrics"),
    "Spark": ("pyspark", "from atkay.engines.spark.spark import local_session; local_session()",
              "Spark needs pyspark,", "spark"),
    "Arrow for Spark": ("pyarrow", "from atkay.engines.spark.spark import evaluate_spark; evaluate_spark(None)",
                        "Spark needs pyarrow,", "spark"),
}  # fmt: skip
"""What is blocked, what is done, what is said, and the extra to install."""


def run(code: str, folder: Path, *blocked: str) -> subprocess.CompletedProcess[str]:
    """A new interpreter in which some packages cannot be imported."""
    program = START.format(blocked=blocked) + code
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=folder)


@pytest.mark.parametrize("case", PYTHON)
def test_in_python_an_error_of_ours(case: str, tmp_path: Path) -> None:
    blocked, code, message, extra = PYTHON[case]
    done = run(code, tmp_path, *blocked.split())
    *_, last = done.stderr.splitlines()
    assert re.fullmatch(
        rf"atkay\.errors\.MissingPackageError: .*{message}.*\. Run: pip install 'atkay\[{extra}\]'", last
    ), done.stderr
    assert not list(tmp_path.iterdir())


def test_the_error_is_an_import_error_too() -> None:
    from atkay.errors import AtkayError, MissingPackageError

    assert issubclass(MissingPackageError, AtkayError)
    assert issubclass(MissingPackageError, ImportError)


def test_every_extra_that_is_named_exists() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = re.findall(r"atkay\[(\w+)\]", "".join(path.read_text() for path in (ROOT / "src").rglob("*.py")))
    assert {extra for *_, extra in PYTHON.values()} | set(named) <= set(extras)
    assert set(named)


SHELL = "from atkay.cli.app import main; sys.argv = ['atkay', {arguments}]; main()"
LINE = "the report needs altair and vl_convert, which are not installed. Run: pip install 'atkay[report]'\n"


def test_in_a_shell_one_line_before_anything_is_read(tmp_path: Path) -> None:
    for name in ("recs.csv", "truth.csv"):
        (tmp_path / name).write_bytes(b"\xff no table")
    arguments = "'report', 'recs.csv', '--truth', 'truth.csv'"
    done = run(SHELL.format(arguments=arguments), tmp_path, "altair", "vl_convert")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"atkay: {LINE}")


def test_the_demo_shows_everything_else(tmp_path: Path) -> None:
    done = run(SHELL.format(arguments="'demo'"), tmp_path, "altair", "vl_convert")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].endswith(" items, and three recommenders. Which one is best?")
    assert "ndcg@10" in done.stdout
    assert done.stdout.endswith(f"\nNo report.html: {LINE}")
    assert not list(tmp_path.iterdir())


def test_help_works_without_torch(tmp_path: Path) -> None:
    done = run("import pydoc; print(pydoc.render_doc(atkay)); print(dir(atkay))", tmp_path, "torch")
    assert (done.returncode, done.stderr) == (0, "")
    assert "'evaluate'" in done.stdout
    assert "'full_ranking'" not in done.stdout
