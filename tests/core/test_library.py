"""Which library is loaded, and what runs where none can be: the same numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from atkay.core.native import build
from atkay.core.native.library import LIBRARY

EVALUATE = """
import json, sys, warnings
import numpy as np
import polars as pl
import atkay
from atkay.core.native.library import LIBRARY
from atkay.errors import SpeedWarning

rng = np.random.default_rng(0)
rows, users, items = 30_000, 400, 300  # lists with ties and with items that stand twice, in any order
recs = pl.DataFrame({"user": rng.integers(0, users, rows), "item": rng.integers(0, items, rows)})
recs = recs.with_columns(score=rng.integers(0, 50, rows) / 8)
truth = recs.sample(2_000, seed=1).select("user", "item").unique(maintain_order=True)
truth = truth.with_columns(relevance=rng.integers(1, 5, len(truth)))
text = [table.with_columns(pl.col("user", "item").cast(pl.String)) for table in (recs, truth)]
metrics = "ndcg@1,5,10 map@10 mrr recall@5,50 auc rbp err@10 novelty@10 coverage@10 gini@10 ild(by=cooccurrence)@5"
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    results = [
        atkay.evaluate(
            lists,
            wanted,
            metrics.split(),
            train=wanted.select("user", "item"),
            catalog=lists.select("item").unique(maintain_order=True),
            duplicates="first",
            ties=ties,
        )
        for lists, wanted in ((recs, truth), text)
        for ties in ("given", "random")
    ]
values = [[result.to_dict(), result.fingerprint, result.per_query.to_dict(as_series=False)] for result in results]
slower = [str(each.message) for each in caught if each.category is SpeedWarning]
print(json.dumps({"compiled": LIBRARY is not None, "warnings": slower, "values": values}))
"""


def run(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **variables}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done


def evaluated(**variables: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run(EVALUATE, **variables).stdout)
    return answer


@pytest.mark.skipif(LIBRARY is None, reason="the kernels are not built")
def test_a_whole_evaluation_with_and_without_the_library() -> None:
    compiled = evaluated(ATKAY_THREADS="1")
    assert compiled["compiled"]
    assert compiled["warnings"] == []
    assert evaluated(ATKAY_THREADS="5") == compiled
    assert evaluated(ATKAY_KERNELS="reference") == {**compiled, "compiled": False}


LOAD = """
import warnings
warnings.simplefilter("always")
import atkay
for _ in range(2):
    assert atkay.evaluate({1: [2, 3]}, {1: [3]}, "mrr")["mrr"] == 1 / 2
"""


def warnings_with(library: Path) -> list[str]:
    return [line for line in run(LOAD, ATKAY_KERNELS=str(library)).stderr.splitlines() if "SpeedWarning" in line]


def test_a_library_that_cannot_be_loaded(tmp_path: Path) -> None:
    """One warning, which says what is wrong and what to do; then the numbers all the same."""
    missing, broken = tmp_path / "missing.so", tmp_path / "broken.so"
    broken.write_text("not a library")
    for library, problem in ((missing, f"{missing} does not exist"), (broken, str(broken))):
        (warning,) = warnings_with(library)
        assert problem in warning
        assert "without its compiled kernels" in warning
        assert "python -m atkay.core.native.build" in warning


def compiled(source: str, folder: Path) -> Path:
    command = build.compiler()
    if command is None:
        pytest.skip("there is no C compiler")
    (folder / "other.c").write_text(source)
    library = folder / build.library_name()
    subprocess.run([*command, "-shared", "-fPIC", str(folder / "other.c"), "-o", str(library)], check=True)
    return library


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("long long kernels_version(void) { return 1; }", "was built from other sources"),
        ("int other(void) { return 1; }", "kernels_version"),
    ],
)
def test_a_library_of_other_sources(source: str, problem: str, tmp_path: Path) -> None:
    (warning,) = warnings_with(compiled(source, tmp_path))
    assert problem in warning


def test_a_change_of_a_source_changes_the_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "FOLDER", tmp_path)
    source = tmp_path / "kernel.c"
    source.write_text("int one;")
    before = build.version()
    source.write_text("int two;")
    assert build.version() != before


@pytest.mark.parametrize("command", ["no-such-compiler", f"{sys.executable} -c 'raise SystemExit(\"no-such-header\")'"])
def test_a_compiler_that_fails(command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is left behind, and the message says why."""
    monkeypatch.setenv("CC", command)
    with pytest.raises(SystemExit, match=r"The kernels were not built: .*no-such-"):
        build.main([str(tmp_path / "libkernels.so")])
    assert list(tmp_path.iterdir()) == []


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(build, "find_spec", lambda name: None)
    assert build.compiler() is None
    with pytest.raises(SystemExit, match="pip install ziglang"):
        build.main([])
