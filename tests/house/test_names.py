"""Names of the house: a class name exists once in the package."""

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
