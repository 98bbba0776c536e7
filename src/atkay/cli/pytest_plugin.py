"""The pytest plugin: the fixture ``ranking_gate``, and ``pytest --atkay``, which prints all gates.

pytest imports this module in every session of every project that has atkay installed: it imports nothing until a test
uses the fixture.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from atkay.comparison.gate_result import GateResult

GATES = pytest.StashKey[list[tuple[str, str, str]]]()
"""The test of each gate, and its outcome as text and as Markdown."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("atkay", "gates for recommenders and rankers")
    group.addoption("--atkay", action="store_true", help="print the outcome of each ranking_gate, passed or not")
    group.addoption("--atkay-update", action="store_true", help="write the baselines of ranking_gate")
    group.addoption("--atkay-markdown", metavar="FILE", help="write all gates as Markdown, for a pull request")


def pytest_configure(config: pytest.Config) -> None:
    """Nothing is checked yet."""
    config.stash[GATES] = []


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the gates, and write them as Markdown."""
    if config.getoption("--atkay"):
        for test, text, _ in config.stash[GATES]:
            terminalreporter.section(test)
            terminalreporter.write_line(text)
    if path := config.getoption("--atkay-markdown"):
        from atkay.text.files import write_whole

        parts = [f"### {test}\n\n{markdown}\n" for test, _, markdown in config.stash[GATES]]
        write_whole(path, "\n".join(parts).encode())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of pytest-xdist hands its gates over."""
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["atkay"] = session.config.stash[GATES]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """The gates of a worker of pytest-xdist; one that has crashed has none."""
    node.config.stash[GATES] += [tuple(each) for each in getattr(node, "workeroutput", {}).get("atkay", ())]


@pytest.fixture
def ranking_gate(request: pytest.FixtureRequest) -> Callable[..., GateResult]:
    """Check a run against a committed baseline: fails if it is worse, skips if the users are too few to tell.

    ``ranking_gate(run, truth, metrics, min_effect="2%")`` takes what ``atkay.gate`` takes. ``baseline`` is a file
    beside the test, by default ``baseline.json.gz``; ``pytest --atkay-update`` writes it.
    """

    def check(
        run: Any,
        truth: Any = None,
        metrics: Any = None,
        *,
        baseline: Any = "baseline.json.gz",
        cannot_tell: Literal["skip", "pass", "fail"] = "skip",
        **given: Any,
    ) -> GateResult:
        __tracebackhide__ = True
        import atkay
        from atkay.errors import unknown_value

        if cannot_tell not in ("skip", "pass", "fail"):
            raise ValueError(unknown_value(cannot_tell, "cannot_tell", ("skip", "pass", "fail")))
        if isinstance(baseline, str | Path):
            baseline = request.path.parent / baseline
        update = request.config.getoption("--atkay-update")
        if isinstance(baseline, Path) and not baseline.exists() and not update:
            pytest.fail(f"no baseline '{baseline}'. Make it with pytest --atkay-update, and commit it.", pytrace=False)
        outcome = atkay.gate(run, baseline, truth, metrics, update_baseline=update, **given)
        request.config.stash[GATES].append((request.node.nodeid, str(outcome), outcome.to_markdown()))
        if outcome.outcome == "worse" or (outcome.outcome, cannot_tell) == ("cannot tell", "fail"):
            pytest.fail(str(outcome), pytrace=False)
        if (outcome.outcome, cannot_tell) == ("cannot tell", "skip"):
            pytest.skip(outcome.headline)
        return outcome

    return check
