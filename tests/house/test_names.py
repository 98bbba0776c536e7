"""Names of the house: a class name exists once in the package, and a variable says what it holds."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "atkay"


def classes() -> Counter[str]:
    return Counter(
        node.name
        for path in SRC.rglob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    )


def test_a_class_name_exists_once() -> None:
    assert not {name for name, count in classes().items() if count > 1}


def test_variables_name_their_content() -> None:
    everywhere, besides = {"found", "said", "told", "asked", "these"}, {"some", "beside", "wanted"}
    folders = ("core", "inputs", "evaluation", "results", "judged", "text", "engines")
    for path in SRC.rglob("*.py"):
        here = path.relative_to(SRC).parts[0] in folders and "full_ranking" not in path.parts
        names = {
            node.id if isinstance(node, ast.Name) else node.arg
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Name | ast.arg)
        }
        assert not names & (everywhere | besides if here else everywhere), path
