"""The pytest plugin: what passes, fails and is skipped, and that it is not in the way."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "gate"

TESTS = """
TRUTH = {user: ["tea"] for user in range(20)}
HIT, MISS = ["tea", "rye"], ["rye", "tea"]
MISSES = MANY

def run(misses):
    return {user: MISS if user < misses else HIT for user in TRUTH}

def test_same(ranking_gate):
    assert ranking_gate(run(0), TRUTH, "mrr", min_effect="5%").outcome == "not worse"

def test_worse(ranking_gate):
    ranking_gate(run(MISSES), TRUTH, "mrr", min_effect="5%", baseline="other.json")

def test_few(ranking_gate):
    ranking_gate(run(min(MISSES, 1)), TRUTH, "mrr", min_effect=0.001, baseline="other.json")
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # the entry point would bring it a second time
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # a file of the same length and second would not be read again
    return pytester


def run(project: pytest.Pytester, misses: int, *more: str) -> pytest.RunResult:
    project.makepyfile(test_ranking=TESTS.replace("MANY", str(misses)))
    return project.runpytest_subprocess("-p", "atkay.cli.pytest_plugin", "-rs", *more)


def test_from_no_baseline_to_the_first_red_test(project: pytest.Pytester) -> None:
    missing = run(project, 0)
    missing.assert_outcomes(failed=3)
    missing.stdout.fnmatch_lines(["*no baseline '*baseline.json.gz'. Make it with pytest --atkay-update, and commit*"])
    run(project, 0, "--atkay-update").assert_outcomes(passed=3)
    red = run(project, 7, "--atkay", "--atkay-markdown", "gates.md", "-p", "xdist", "-n", "1")
    red.assert_outcomes(passed=1, failed=1, skipped=1)
    red.stdout.fnmatch_lines(
        [
            "*gate: worse: mrr -0.175 (-18 %), 95 % CI [[]-0.290, -0.060], p = 0.008 (one-sided)*",
            "*test_ranking.py::test_same*",
            "gate: not worse: mrr *no user's value has changed",
            "SKIPPED *cannot tell: mrr *more users would tell*",
        ],
        consecutive=False,
    )
    assert "### test_ranking.py::test_worse" in (project.path / "gates.md").read_text()
    assert "Traceback" not in str(red.stdout)


def test_it_imports_nothing() -> None:
    code = "import sys, atkay.cli.pytest_plugin\nprint(*(name for name in sys.modules if name.startswith('atkay')))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(out.split()) == {"atkay", "atkay.core", "atkay.core.forks", "atkay.cli", "atkay.cli.pytest_plugin"}


def test_the_example_turns_red(project: pytest.Pytester) -> None:
    """Without its synonyms the search finds less; the committed baseline says so."""
    shutil.copytree(EXAMPLE, project.path, dirs_exist_ok=True)
    plugin = "-p", "atkay.cli.pytest_plugin"
    project.runpytest_subprocess(*plugin).assert_outcomes(passed=1)
    search = project.path / "search.py"
    search.write_text(search.read_text().replace("SYNONYMS.get(word, word) for word", "word for word"))
    red = project.runpytest_subprocess(*plugin)
    red.assert_outcomes(failed=1)
    red.stdout.fnmatch_lines(["gate: worse: ndcg@10 -0.130 (-15 %)*"])
