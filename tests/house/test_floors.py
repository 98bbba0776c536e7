"""The floors of the house: imports go down, and whoever lives on one floor does not import the neighbours."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "atkay"

FLOORS = {
    "errors": 0, "words": 0, "aggregates": 0, "protocol": 0, "tables": 0, "text": 0,
    "core": 1,
    "judged": 2, "metrics": 2, "dialects": 2,
    "inputs": 3,
    "results": 4,
    "evaluation": 5,
    "engines": 6,
    "audit": 7, "comparison": 7, "tasks": 7,
    "reporting": 8,
    "cli": 9,
}  # fmt: skip

FOR_TYPE_CHECKERS = "text.arguments"
"""It is never imported when the code runs, and names the types of all floors."""

NEIGHBOURS = {("metrics", "judged")}
"""Rooms of one floor of which the first may import the second; those of floor 0 are one room."""

DOORS = {
    ("audit.variants", "reporting.charts"),
    ("comparison.comparison", "reporting.charts"),
    ("comparison.leaderboard", "reporting.rank_chart"),
    ("evaluation.evaluate", "engines.files.files"),
    ("evaluation.evaluate", "engines.memory"),
    ("evaluation.evaluate", "engines.spark.spark"),
    ("results.result", "evaluation.bounds"),
    ("results.result", "evaluation.chance"),
    ("results.result", "reporting.charts"),
    ("results.result", "reporting.mlflow"),
    ("tasks.task", "comparison.compare"),
    ("tasks.task", "comparison.comparison"),
}
"""Methods such as Result.plot, and evaluate choosing an engine: one line each that leads up, or next door."""


def modules() -> dict[str, Path]:
    found = {".".join(path.relative_to(SRC).with_suffix("").parts): path for path in SRC.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for name, path in found.items()}


def imports(path: Path, known: set[str]) -> Iterator[str]:
    """The modules of ours that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "atkay":
            for alias in node.names:
                name = f"{node.module}.{alias.name}".removeprefix("atkay.")
                yield name if name in known else node.module.removeprefix("atkay").removeprefix(".")
        elif isinstance(node, ast.Import):
            yield from (a.name.removeprefix("atkay.") for a in node.names if a.name.startswith("atkay."))


def leads_up(here: str, there: str) -> bool:
    one, other = here.partition(".")[0], there.partition(".")[0]
    if other == one or (one, other) in NEIGHBOURS or FLOORS[one] == FLOORS.get(other) == 0:
        return False
    return FLOORS[other] >= FLOORS[one]


def up() -> set[tuple[str, str]]:
    every = modules()
    known = set(every)
    return {
        (here, there)
        for here, path in every.items()
        if here.partition(".")[0] in FLOORS and here != FOR_TYPE_CHECKERS
        for there in imports(path, known)
        if there and leads_up(here, there)
    }


def test_imports_go_down() -> None:
    assert up() == DOORS


def test_the_top_level_holds_the_modules_of_floor_0_and_the_rooms() -> None:
    modules = {path.stem for path in SRC.glob("*.py")} - {"__init__", "__main__"}
    assert modules == {"aggregates", "errors", "protocol", "tables", "words"}
    assert modules | {path.parent.name for path in SRC.glob("*/__init__.py")} == set(FLOORS)


@pytest.mark.parametrize(("code", "leads"), [
    ("from atkay.engines.stream import Stream", "engines.stream"),
    ("def f():\n    from atkay.engines import stream", "engines.stream"),
    ("import atkay.engines.stream", "engines.stream"),
])  # fmt: skip
def test_the_test_sees_imports_wherever_they_are(tmp_path: Path, code: str, leads: str) -> None:
    (tmp_path / "a.py").write_text(code)
    assert list(imports(tmp_path / "a.py", {"engines.stream"})) == [leads]
    assert leads_up("results.result", leads)
    assert not leads_up("cli.app", leads)
