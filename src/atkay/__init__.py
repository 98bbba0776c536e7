"""atkay ("@k") evaluates recommenders and rankers, with every convention named.

The public names are loaded when they are used: importing atkay imports nothing else. Type checkers read them from
``__init__.pyi``, which ``make format`` writes.
"""

from __future__ import annotations

import importlib
from typing import Any

from atkay.core.forks import watch

__version__ = "0.1.0"

HOMES = {
    "Columns": "inputs.columns",
    "Comparison": "comparison.comparison",
    "Conformance": "audit.conformance",
    "FullRanking": "engines.full_ranking.full_ranking",
    "GateResult": "comparison.gate_result",
    "Leaderboard": "comparison.leaderboard",
    "Metric": "metrics.metric",
    "Overlap": "comparison.overlap",
    "Population": "results.population",
    "Protocol": "protocol",
    "QueryDiff": "comparison.query_diff",
    "Result": "results.result",
    "RunDiff": "comparison.run_diff",
    "Sampled": "metrics.sampled",
    "Stream": "engines.stream",
    "TableCheck": "audit.table_check",
    "Verification": "audit.verify",
    "check": "audit.check",
    "compare": "comparison.compare",
    "compare_data_sets": "comparison.compare_data_sets",
    "conform": "audit.conform",
    "diff": "comparison.diff",
    "evaluate": "evaluation.evaluate",
    "explain": "audit.explain",
    "full_ranking": "engines.full_ranking.full_ranking",
    "gate": "comparison.gate",
    "list_dialects": "dialects.dialect",
    "list_metrics": "metrics.registry",
    "overlap": "comparison.overlap",
    "parse": "metrics.spec",
    "power": "comparison.power",
    "read_ir_metadata": "inputs.ir_metadata",
    "reconcile": "audit.reconcile",
    "report": "reporting.report",
    "variants": "audit.variants",
    "verify": "audit.verify",
    "write_ir_metadata": "inputs.ir_metadata",
}
"""The public names but the classes of metrics, which are found in their folder."""

MODULES = ("errors", "tasks")

watch()


def _metric_classes() -> dict[str, Any]:
    from atkay.metrics.registry import list_metrics

    return {each.__name__: each for each in list_metrics().values()}


def __getattr__(name: str) -> Any:
    if name in HOMES:
        value = getattr(importlib.import_module(f"atkay.{HOMES[name]}"), name)
    elif name in MODULES:
        value = importlib.import_module(f"atkay.{name}")
    elif name[:1].isupper() and name in (classes := _metric_classes()):
        value = classes[name]
    else:
        raise AttributeError(f"module 'atkay' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from atkay.errors import is_installed

    hidden = set() if is_installed("torch") else {"FullRanking", "full_ranking"}  # help(atkay) asks for every name
    return sorted({"__version__", *MODULES, *HOMES, *_metric_classes()} - hidden)
