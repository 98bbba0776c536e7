"""atkay ("@k") evaluates recommenders and rankers, with every convention named.

The public names are loaded when they are used: importing atkay imports nothing else.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from atkay.core.forks import watch

if TYPE_CHECKING:
    from atkay import errors as errors
    from atkay import tasks as tasks
    from atkay.audit.explain import explain as explain
    from atkay.audit.reconcile import reconcile as reconcile
    from atkay.audit.variants import variants as variants
    from atkay.comparison.compare import compare as compare
    from atkay.comparison.comparison import Comparison as Comparison
    from atkay.comparison.overlap import Overlap as Overlap
    from atkay.comparison.overlap import overlap as overlap
    from atkay.comparison.power import power as power
    from atkay.dialects.dialect import dialects as dialects
    from atkay.engines.full_ranking.full_ranking import FullRanking as FullRanking
    from atkay.engines.full_ranking.full_ranking import full_ranking as full_ranking
    from atkay.engines.stream import Stream as Stream
    from atkay.evaluation.evaluate import evaluate as evaluate
    from atkay.inputs.columns import Columns as Columns
    from atkay.metrics.alpha_ndcg import AlphaNDCG as AlphaNDCG
    from atkay.metrics.auc import AUC as AUC
    from atkay.metrics.auc import GroupAUC as GroupAUC
    from atkay.metrics.average_precision import MAP as MAP
    from atkay.metrics.average_precision import MNAP as MNAP
    from atkay.metrics.bpref import BPref as BPref
    from atkay.metrics.calibration import Calibration as Calibration
    from atkay.metrics.cascade import ERR as ERR
    from atkay.metrics.cascade import RBP as RBP
    from atkay.metrics.cascade import RBPResidual as RBPResidual
    from atkay.metrics.concentration import Entropy as Entropy
    from atkay.metrics.concentration import Gini as Gini
    from atkay.metrics.concentration import InterListDistance as InterListDistance
    from atkay.metrics.coverage import Coverage as Coverage
    from atkay.metrics.coverage import UserCoverage as UserCoverage
    from atkay.metrics.dcg import DCG as DCG
    from atkay.metrics.dcg import NDCG as NDCG
    from atkay.metrics.diversity import ILD as ILD
    from atkay.metrics.diversity import CategoryCount as CategoryCount
    from atkay.metrics.diversity import CategoryEntropy as CategoryEntropy
    from atkay.metrics.exposure import Exposure as Exposure
    from atkay.metrics.f1 import F1 as F1
    from atkay.metrics.hit import HitRate as HitRate
    from atkay.metrics.median_rank import MPR as MPR
    from atkay.metrics.median_rank import MedianRank as MedianRank
    from atkay.metrics.metric import Metric as Metric
    from atkay.metrics.metric import metrics as metrics
    from atkay.metrics.metric import parse as parse
    from atkay.metrics.novelty import EFD as EFD
    from atkay.metrics.novelty import EPC as EPC
    from atkay.metrics.novelty import NewToUser as NewToUser
    from atkay.metrics.novelty import Novelty as Novelty
    from atkay.metrics.novelty import Surprisal as Surprisal
    from atkay.metrics.parity import PopREO as PopREO
    from atkay.metrics.parity import PopRSP as PopRSP
    from atkay.metrics.popularity import ARP as ARP
    from atkay.metrics.popularity import LongTail as LongTail
    from atkay.metrics.popularity import PopularityLift as PopularityLift
    from atkay.metrics.precision import Precision as Precision
    from atkay.metrics.r_precision import RPrecision as RPrecision
    from atkay.metrics.recall import Recall as Recall
    from atkay.metrics.reciprocal_rank import MRR as MRR
    from atkay.metrics.sampled import Sampled as Sampled
    from atkay.metrics.serendipity import Serendipity as Serendipity
    from atkay.metrics.serendipity import Unexpectedness as Unexpectedness
    from atkay.protocol import Protocol as Protocol
    from atkay.reporting.report import report as report
    from atkay.results.result import Population as Population
    from atkay.results.result import Result as Result

__version__ = "0.1.0"

_HOMES = {
    "evaluate": "evaluation.evaluate",
    "overlap": "comparison.overlap",
    "Overlap": "comparison.overlap",
    "parse": "metrics.metric",
    "metrics": "metrics.metric",
    "Metric": "metrics.metric",
    "Columns": "inputs.columns",
    "Protocol": "protocol",
    "Population": "results.result",
    "Result": "results.result",
    "Sampled": "metrics.sampled",
    "Stream": "engines.stream",
    "full_ranking": "engines.full_ranking.full_ranking",
    "FullRanking": "engines.full_ranking.full_ranking",
    "dialects": "dialects.dialect",
    "variants": "audit.variants",
    "reconcile": "audit.reconcile",
    "explain": "audit.explain",
    "compare": "comparison.compare",
    "Comparison": "comparison.comparison",
    "power": "comparison.power",
    "report": "reporting.report",
}
_MODULES = ("errors", "tasks")


class _Package(ModuleType):
    """The package itself. A function keeps its name although a module is called the same (evaluate, metrics)."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
watch()


def _metric_classes() -> dict[str, Any]:
    from atkay.metrics.metric import metrics

    return {each.__name__: each for each in metrics().values()}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"atkay.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"atkay.{name}")
    elif name[:1].isupper() and name in (classes := _metric_classes()):
        value = classes[name]
    else:
        raise AttributeError(f"module 'atkay' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({"__version__", *_MODULES, *_HOMES, *_metric_classes()})
