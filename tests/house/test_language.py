"""Language of the house: wording that was retired does not come back into texts that users read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

RETIRED = {  # what to look for: an example, and what to write instead
    r"\bgiven (was|were)\b": ("k is a whole number from 1, given was 0", "k must be a positive integer, got 0"),
    r"\bwhole numbers? from\b": ("a whole number from 1", "a positive integer"),
    r"\bis no (word|table|number|result|run|list|id|sum|kind|field|column)\b": (
        "recs: a set is no table",
        "cannot read a set as a table",
    ),
    r"\b(held|holds?) (\S+ ){0,4}against\b": ("hold the lists against truth", "compare with"),
    r"^95 % interval$|95 % interval (-?\d|\{)": ("95 % interval 0.014 to 0.107", "95 % CI [+0.014, +0.107]"),
    r"\breally (better|worse)\b": ("really better", "significantly better"),
    r"\bnumbers without meaning\b|\bhardly luck\b": ("numbers without meaning", "expected matches by chance"),
    r"\bprimitive recommender": ("a primitive recommender", "a reference recommender"),
    r"\bmoves? against the mean\b": ("segments that move against the mean", "segments with the opposite effect"),
    r"(?i)\bwhom the numbers count\b": ("Whom the numbers count", "Evaluated users"),
    r"\blets? go of the interpreter\b": ("NumPy lets go of the interpreter", "NumPy releases the GIL"),
    r"\b[Ss]o many\b|\b[Ff]rom so (many|large)\b": ("From so large a share on", "more than this share"),
    r"\bis told\b": ("the interval is told", "the interval is given"),
    r"\b([Ss]omebody|one's own)\b": ("a number that somebody printed", "a reported number"),
    r"\bcompressed rows\b": ("as compressed rows", "as CSR"),
    r"\bstands? twice\b": ("item 'a' stands twice", "item 'a' appears twice"),
    r"\bnot asked for\b": ("'map' was not asked for", "'map' was not evaluated"),
    r"\bdoes not compare with\b|\bdo not compare with\b": ("does not compare with", "cannot be compared with"),
}


def texts() -> Iterator[tuple[str, str]]:
    """Every string of the package and every page, with where it is; line breaks are spaces."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.JoinedStr):
                parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
                yield f"{path.relative_to(ROOT)}:{node.lineno}", " ".join("".join(map(str, parts)).split())
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", " ".join(node.value.split())
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.js")):
        yield str(path.relative_to(ROOT)), " ".join(path.read_text().split())


@pytest.mark.parametrize("pattern", RETIRED)
def test_an_example_is_caught_and_its_replacement_is_not(pattern: str) -> None:
    example, instead = RETIRED[pattern]
    assert re.search(pattern, example)
    assert not any(re.search(each, instead) for each in RETIRED)


def test_retired_wording_does_not_come_back() -> None:
    found = [
        f"{where}: '{match[0]}'; write for instance: {instead}"
        for where, text in texts()
        for pattern, (_, instead) in RETIRED.items()
        for match in [re.search(pattern, text)]
        if match
    ]
    assert not found, "\n".join(found)
