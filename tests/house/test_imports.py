"""What is loaded when, and what is public."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys

import pytest
from public import ARGUMENTS, STUB, WITH_WORDS, annotated, arguments, stub

import atkay

HEAVY = ["numpy", "polars", "scipy", "pandas", "rich", "pyarrow", "altair", "pyspark"]


def loaded_after(code: str) -> set[str]:
    """The packages that a fresh interpreter has loaded after running the code."""
    listing = f"{code}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    out = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    return set(out.stdout.split())


def test_importing_atkay_loads_nothing_heavy() -> None:
    assert not loaded_after("import atkay") & set(HEAVY)


@pytest.mark.parametrize(
    "code",
    [
        "import atkay; atkay.parse('ndcg@10'); atkay.list_metrics()",
        "import atkay.judged.judged, atkay.metrics.dcg, atkay.core.match, atkay.core.order, atkay.metrics.worked",
        "import atkay; atkay.Stream(['ndcg@10', 'coverage@10'], n_items=5)",
    ],
)
def test_formulas_and_judged_need_numpy_alone(code: str) -> None:
    assert loaded_after(code) & set(HEAVY) == {"numpy"}


def test_a_judged_is_measured_with_numpy_alone() -> None:
    code = """
import numpy as np
from atkay.judged.judged import Judged

from atkay.core.lists import Lists
from atkay.metrics.spec import parse
one = np.ones(1, int)
ranking = Lists.of(np.array([2]), np.array([4, 5]), 6)
judged = Judged(query=0 * one, rank=2 * one, grade=np.ones(1), item=5 * one, n_relevant=one, n_listed=2 * one,
                answered=one > 0, grades=np.ones(1), ranking=ranking)
assert parse("mrr").values(judged).tolist() == [[0.5]]
from atkay.evaluation.finish import Setting, finish
from atkay.evaluation.measure import measure
from atkay.evaluation.request import Request
from atkay.results.population import Population
request = Request.of("mrr")
part = measure(judged, Population(listed=2, unknown=1), request, ids={"user": np.array([7])})
result = finish(request, Setting(request.protocol, judged), [part])
assert result["mrr"] == 0.5
"""
    assert loaded_after(code) & set(HEAVY) == {"numpy"}


def test_evaluating_loads_neither_pandas_nor_rich() -> None:
    loaded = loaded_after("import atkay; atkay.evaluate({1: [2]}, {1: [2]}, 'mrr')")
    assert not loaded & {"pandas", "rich", "pyarrow", "altair", "pyspark"}


def test_the_public_surface() -> None:
    classes = {each.__name__ for each in atkay.list_metrics().values()}
    assert {"DCG", "F1", "HitRate", "MAP", "MNAP", "MRR", "NDCG", "Precision", "RPrecision", "Recall"} <= classes
    assert set(dir(atkay)) - classes == {
        "Columns", "Comparison", "Conformance", "FullRanking", "GateResult", "Leaderboard", "Metric", "Overlap",
        "Population", "Protocol", "QueryDiff", "Result", "RunDiff", "Sampled", "Stream", "TableCheck", "Verification",
        "__version__", "check", "compare", "compare_data_sets", "conform", "diff", "errors", "evaluate", "explain",
        "full_ranking", "gate", "list_dialects", "list_metrics", "overlap", "parse", "power", "read_ir_metadata",
        "reconcile", "report", "tasks", "variants", "verify", "write_ir_metadata",
    }  # fmt: skip
    for name in dir(atkay):
        assert getattr(atkay, name) is not None


def test_type_checkers_know_the_public_names() -> None:
    assert sorted(STUB.read_text().split("\n")) == sorted(stub().split("\n")), "run `make format`"


def test_type_checkers_know_the_keywords_and_words() -> None:
    assert ast.dump(ast.parse(ARGUMENTS.read_text())) == ast.dump(ast.parse(arguments())), "run `make format`"
    for path in WITH_WORDS:
        source = path.read_text()
        assert ast.dump(ast.parse(source)) == ast.dump(ast.parse(annotated(source))), f"{path}: run `make format`"


def test_every_module_can_be_imported_by_its_name() -> None:
    names = [module.name for module in pkgutil.walk_packages(atkay.__path__, "atkay.") if "__main__" not in module.name]
    assert len(names) > 100
    for name in names:
        found: dict[str, object] = {}
        exec(f"import {name} as module", found)
        assert found["module"] is sys.modules[name]


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match="module 'atkay' has no attribute 'evalute'"):
        atkay.evalute  # type: ignore[attr-defined]  # noqa: B018 - the mistake
