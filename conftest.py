"""Doctests see the package under its own name; hypothesis draws the same examples every time, or many other ones."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

import atkay

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest_plugins = "pytester"  # tests of the plugin run pytest

README = Path(__file__).parent / "README.md"
DOCS = Path(__file__).parent / "docs"
WHEELS = Path(__file__).parent / "examples" / "wheels"
collect_ignore_glob = [
    "docs/build/*",
    "docs/conf.py",
    "docs/extensions/*",
    "tests/engines/kernels_*",
    "tests/engines/torch_*",
]


@pytest.fixture(autouse=True)
def _names(doctest_namespace: dict[str, Any]) -> None:
    doctest_namespace["atkay"] = atkay


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """With NO_SKIPS a skipped test is a failure: what a machine can do, it does."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("NO_SKIPS") and exitstatus == 0 and reporter and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One worker runs all that needs Spark, so that one JVM starts, and begins with it; other tests go one by one."""
    from xdist.scheduler import LoadScopeScheduling

    class OneJVM(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            return "spark" if _needs_spark(nodeid) else nodeid

    return OneJVM(config, log)


def _needs_spark(nodeid: str) -> bool:
    """The one thing that is known of a test before it is handed out is its name."""
    return "spark" in nodeid.lower()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, where it is; ``make browser`` installs it."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("no chromium on this machine: make browser")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""The queries of tests are so small that compiling them well would take most of the time."""


@pytest.fixture
def spark(request: pytest.FixtureRequest) -> Any:
    """The session of this machine; the first test starts it."""
    assert _needs_spark(request.node.nodeid), "name a test that uses Spark after it: another worker would start a JVM"
    pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
    from atkay.engines.spark.spark import check_java, local_session

    try:
        check_java()
    except ImportError as absent:
        pytest.skip(str(absent))
    return local_session(2, {"spark.sql.shuffle.partitions": "4", "spark.driver.extraJavaOptions": QUICK_START})


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``atkay demo --data shop`` writes."""
    from atkay.cli.demo import _write
    from atkay.cli.sample import sample

    folder = tmp_path_factory.mktemp("demo") / "shop"
    _write(sample(), folder)
    return folder


@pytest.fixture(autouse=True)
def _page(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page runs in a folder of its own, with the files that it tells the reader to get."""
    if DOCS not in request.path.parents and request.path != README:
        return
    page = request.path.read_text()
    monkeypatch.chdir(tmp_path)
    if "from pyspark" in page:
        request.getfixturevalue("spark")
    if "shop/" in page:
        (tmp_path / "shop").symlink_to(request.getfixturevalue("shop"))
    if "pip download recbole" in page:
        wheel = max(WHEELS.glob("recbole-*.whl"), default=None)
        if wheel is None:
            pytest.skip("needs the wheel of recbole in examples/wheels: make examples")
        (tmp_path / wheel.name).symlink_to(wheel)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long is for ``make test-deep``; the page about Spark warns as the tests of Spark do."""
    for item in items:
        if item.path == DOCS / "spark.md":
            item.add_marker(
                pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
            )
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
    if os.environ.get("HYPOTHESIS_PROFILE") != "deep":
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("deep")])
        items[:] = [item for item in items if not item.get_closest_marker("deep")]


settings.register_profile("full", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("few", deadline=None, derandomize=True, max_examples=3)
# Other examples each time. A failure is printed with what it takes to see it again.
settings.register_profile("deep", deadline=None, max_examples=400, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "full"))
