"""A metric is one file and one test, both named after it."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest

import atkay
import atkay.metrics
from atkay.metrics.metric import Metric
from atkay.metrics.registry import HELPERS

TESTS = Path(__file__).parents[1] / "metrics"
OURS = {name: cls for name, cls in atkay.list_metrics().items() if cls.__module__.startswith("atkay.")}


@pytest.mark.parametrize("name", OURS)
def test_a_metric_has_a_file_and_a_test_of_its_name(name: str) -> None:
    module = importlib.import_module(f"atkay.metrics.{name}")
    defined = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
    assert [each for each in defined if issubclass(each, Metric)] == [OURS[name]]
    assert (TESTS / f"test_{name}.py").exists()


def test_the_folder_holds_metrics_and_named_helpers_alone() -> None:
    files = {module.name for module in pkgutil.iter_modules(atkay.metrics.__path__)}
    assert files == set(OURS) | HELPERS
