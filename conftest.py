"""Doctests see the package under its own name; hypothesis draws the same examples every time, or many other ones."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import settings

import atkay


@pytest.fixture(autouse=True)
def _names(doctest_namespace: dict[str, Any]) -> None:
    doctest_namespace["atkay"] = atkay


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """With NO_SKIPS a skipped test is a failure: what a machine can do, it does."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("NO_SKIPS") and exitstatus == 0 and reporter and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def spark() -> Any:
    """The session of this machine; the first test starts it."""
    pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
    from atkay.engines.spark.spark import check_java, local_session

    try:
        check_java()
    except ImportError as absent:
        pytest.skip(str(absent))
    return local_session(2, {"spark.sql.shuffle.partitions": "4"})


DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long is for ``make test-deep``."""
    if not DEEP:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("deep")])
        items[:] = [item for item in items if not item.get_closest_marker("deep")]


settings.register_profile("full", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("few", deadline=None, derandomize=True, max_examples=3)
# Other examples each time. A failure is printed with what it takes to see it again.
settings.register_profile("deep", deadline=None, max_examples=400, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "full"))
