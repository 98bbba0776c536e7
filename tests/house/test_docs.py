"""The site: all that is public has its place, what it shows has run, and what it says of other libraries was recorded.

Python blocks are doctests, which pytest collects from the pages themselves (conftest.py). ``make docs`` checks
links and markup, and runs the notebooks.
"""

from __future__ import annotations

import functools
import inspect
import json
import re
import runpy
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from recorded import FOLDER, frames

import atkay
from atkay.cli.app import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = [README, *(path for path in sorted(DOCS.rglob("*.md")) if "build" not in path.parts)]
MAKES_SHOP = "atkay demo --data shop"
CALLS = {
    "ranx": "evaluate(Qrels(qrels), Run(run), '{}', make_comparable=True)",
    "rectools": "{}.calc(reco, interactions)",
    "pytrec_eval": "compute_aggregated_measure('{0}', ",
    "torchmetrics": "{}(preds, ",
    "recommenders": "{}",
}
"""How the calls of a page begin in the recording of the library."""


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def commands(page: Path) -> list[str]:
    """The lines that run atkay, but the one that makes the shop, which is there."""
    lines = [line.partition("  #")[0].rstrip() for block in blocks(page, "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("atkay ") and line != MAKES_SHOP]


def documented() -> dict[str, list[str]]:
    """What the pages of the reference show, with the members that they name."""
    found: dict[str, list[str]] = {}
    for path in sorted((DOCS / "api").glob("*.rst")):
        for part in re.split(r"^\.\. py:currentmodule:: ", path.read_text(), flags=re.MULTILINE)[1:]:
            module = part.split("\n", 1)[0]
            for name, members in re.findall(
                r"^\.\. auto(?:class|function):: (\w+)(?:\(\))?\n(?:   :members: ((?:.|\n {4,})*))?",
                part,
                flags=re.MULTILINE,
            ):
                full = f"{module}.{name}"
                assert full not in found, f"{full} is there twice"
                found[full] = re.findall(r"\w+", members)
    return found


def test_the_reference_has_all_that_is_public_and_nothing_else() -> None:
    tasks = {f"atkay.tasks.{name}" for name in vars(atkay.tasks) if callable(getattr(atkay.tasks, name))}
    references = vars(atkay.tasks.references)
    tasks |= {f"atkay.tasks.references.{name}" for name in references if name.endswith("_top") and name[0] != "_"}
    public = {f"atkay.{name}" for name in atkay.HOMES} | tasks
    assert set(documented()) == public
    assert "automodule:: atkay.errors" in (DOCS / "api" / "errors.rst").read_text()
    assert set(atkay.MODULES) == {"errors", "tasks"}


def test_members_of_the_reference_exist() -> None:
    for name, members in documented().items():
        owner: Any = atkay
        for part in name.split(".")[1:]:
            owner = getattr(owner, part)
        for member in members:
            assert inspect.getdoc(inspect.getattr_static(owner, member)), f"{name}.{member}"


def test_formulas_are_those_of_metrics() -> None:
    """One that has none here shows the formula of its definition, so a new metric is still one file and one test."""
    formulas = runpy.run_path(str(DOCS / "extensions" / "formulas.py"))["FORMULAS"]
    assert set(formulas) <= set(atkay.list_metrics())


def test_a_page_explains_the_symbols_of_its_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS / "extensions"))
    symbols = runpy.run_path(str(DOCS / "extensions" / "metric_pages.py"))["symbols"]
    said = {name: re.findall(r"(?:: |; )\*?(\w+)", symbols(metric)) for name, metric in atkay.list_metrics().items()}
    assert said["map"] == ["k", "i", "rel", "R", "L"]  # L in per=listed
    assert said["ndcg"] == ["k", "i", "g"]
    assert said["arp"] == ["i", "L", "n", "U"]  # U in per=users
    assert said["epc"] == ["k", "i", "rel", "n", "U"]
    assert symbols(atkay.list_metrics()["gini"]) == ""


def test_every_dialect_is_described_as_its_table_and_its_recording_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS / "extensions"))
    made = runpy.run_path(str(DOCS / "extensions" / "dialect_tables.py"))["page"]()
    assert (DOCS / "dialects.md").read_text() == made, "run python docs/extensions/dialect_tables.py"


def test_the_readme_is_short_and_its_seconds_are_those_of_the_benchmark() -> None:
    text = README.read_text()
    assert len(text.splitlines()) <= 150
    whole = {row["name"]: row["whole"] for row in json.loads((DOCS / "benchmark.json").read_text())["peers"]}
    libraries = (["atkay"], ["ranx"], ["RecTools"], ["torchmetrics"], ["pytrec_eval", "ir-measures"])
    [row] = re.findall(r"^\| seconds for 138,493 users \| (.*) \| \|$", text, flags=re.MULTILINE)
    for cell, names in zip(row.split(" | "), libraries, strict=True):
        for seconds, name in zip(cell.split(", "), names, strict=True):
            assert float(seconds.removeprefix("≈ ")) == pytest.approx(whole[name], rel=0.15), name


def test_python_blocks_are_doctests() -> None:
    for page in PAGES:
        for block in blocks(page, "python"):
            assert block.startswith(">>> "), f"{page.name}: {block[:80]}"
            assert block.endswith("\n\n"), f"{page.name}: an empty line ends the block that ends with {block[-80:]}"


def test_links_of_the_repository_lead_to_files() -> None:
    """Those of the site are checked by ``make docs``."""
    for page in (*ROOT.glob("*.md"), *ROOT.glob("*/*.md"), *(DOCS / "coming-from").glob("*.md")):
        for link in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text()):
            made = "metrics" in Path(link).parts  # when the site is built
            assert made or (page.parent / link).exists(), f"{page.relative_to(ROOT)}: {link}"


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.stem)
def test_shell_commands_run(page: Path, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").symlink_to(shop)
    for line in commands(page):
        done = CliRunner().invoke(app, shlex.split(line, comments=True)[1:])
        assert done.exit_code == 0, f"{line}\n{done.output[-1000:]}"


@pytest.mark.parametrize("library", CALLS)
def test_both_libraries_return_what_the_table_says(library: str) -> None:
    page = (DOCS / "coming-from" / f"{library}.md").read_text()
    rows = re.findall(r"^\| `(.+)` \| `(.+)` \| ([\d.]+) \|$", page, flags=re.MULTILINE)
    [dialect] = set(re.findall(r'here, with `dialect="(\w+)"`', page))
    recorded = json.loads((FOLDER / "recorded" / f"{library}.json").read_text())["data"]["conventions"]
    evaluate = functools.partial(
        atkay.evaluate, *frames("conventions", "relevance > 0", "listed items"), dialect=dialect
    )
    assert len(rows) > 4
    for theirs, ours, value in rows:
        call = CALLS[library].format(theirs)
        [entry] = [each for each in recorded if each["call"].startswith(call) and not given(each, library)]
        result = eval(f"evaluate({ours})", {"evaluate": evaluate})
        assert f"{entry['value']:.4f}" == value, theirs
        assert next(iter(result.values())) == pytest.approx(entry["value"], abs=1e-6), (theirs, ours)


def given(entry: dict[str, Any], library: str) -> bool:
    """Whether a call of pytrec_eval sets options, which its measure does not tell."""
    return library == "pytrec_eval" and bool(entry["options"])


@pytest.mark.parametrize("notebook", sorted((DOCS / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_run(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    altair = pytest.importorskip("altair", reason="the extra 'report' is not installed")
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    try:
        for cell in json.loads(notebook.read_text())["cells"]:
            if cell["cell_type"] == "code":
                assert not cell["outputs"], "outputs are made when the site is built"
                exec("".join(cell["source"]), scope)
    finally:
        altair.renderers.enable("default")
