"""Tables for papers: captions, labels, digits, percent, names and notes, in LaTeX, Markdown and HTML alike."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import atkay
from atkay.core.types import Slicing
from atkay.errors import SpecError
from made import result

BASE = np.arange(20) / 100
EVIL = "a_b & 50 % #1 $x$ {y} ~^ \\foo <i> | [z] *q*"
"""A name with all that means something in LaTeX, Markdown or HTML."""
METRICS = "mrr mean_rank"


def two(**names: str) -> atkay.Comparison:
    """A run with a higher mrr and a mean rank that is no better."""
    old, new = names.get("old", "old"), names.get("new", "new")
    up = BASE + 0.25 * (1 + BASE)
    values = {old: np.column_stack([BASE, BASE + 2]), new: np.column_stack([up, BASE + 2])}
    return atkay.compare({name: result(of_run, METRICS) for name, of_run in values.items()}, baseline=old, test="t")


def test_a_table_in_latex() -> None:
    """The mean of 0, 0.01, ..., 0.19 is 0.095; with 0.25 · (1 + value) more it is 0.095 + 0.25 · 1.095 = 0.36875."""
    latex = two().to_latex(caption="Both", label="tab:both", percent=True, names={"RR": "MRR", "new": "ours"}, digits=1)
    assert latex.splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\begin{threeparttable}",
        r"\caption{Both}",
        r"\label{tab:both}",
        r"\begin{tabular}{lll}",
        r"\toprule",
        r"run & MRR (\%) $\uparrow$ & mean\_rank $\downarrow$ \\",
        r"\midrule",
        r"ours & \textbf{36.9}\textsuperscript{*} & 2.1 \\",
        r"old (baseline) & 9.5 & 2.1 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\begin{tablenotes}[flushleft]",
        r"\footnotesize",
        r"\item bold: best mean, significantly better than every other run; * significantly better than old, "
        r"\textdagger{} significantly worse; corrected p \textless{} 0.05 (t, Holm)",
        r"\item runs sorted by MRR; in headers, $\uparrow$ higher is better, $\downarrow$ lower is better",
        r"\end{tablenotes}",
        r"\end{threeparttable}",
        r"\end{table}",
    ]
    bare = two().to_latex(notes="none").splitlines()
    assert (bare[0], bare[-1]) == (r"\begin{tabular}{lll}", r"\end{tabular}")
    assert two().to_latex(notes=["[1] Seen on 5 %."]).splitlines()[-3] == r"\item {}[1] Seen on 5 \%."
    assert r"\item paired by user; difference = run - against" in two().to_latex(notes="all")


def test_the_same_in_markdown_and_html() -> None:
    options: dict[str, Any] = {"names": {"mrr": "MRR", "new": "ours"}, "percent": True}
    markdown = two().to_markdown(caption="Both *runs*", label="tab:both", digits=1, **options)
    lines = markdown.splitlines()
    assert lines[:4] == ['<a id="tab:both"></a>', "", r"Both \*runs*", ""]
    assert lines[4].split("|")[2].strip() == "MRR (%) ↑"
    assert "| **36.9**<sup>*</sup> | 2.1 " in markdown
    # A verdict has as many digits as it takes, in the unit of the header.
    assert "| MRR (%) ↑ " in markdown
    assert re.search(r"\| ours \| old +\| \+27\.\d+ \(\+288 %\), 95 % CI \[\+2\d\.", markdown)
    assert "ours: 20 users evaluated" in markdown
    html = two().to_html(caption="Both <runs>", label="tab:both", digits=1, **options)
    assert html.startswith('<table id="tab:both">\n<caption>Both &lt;runs&gt;</caption>\n')
    assert '<td style="text-align: left"><b>36.9</b><sup>*</sup></td>' in html
    assert two().to_html() == two()._repr_html_()
    assert "new" not in (markdown + html).replace("newest", "")
    for form in (two().to_markdown, two().to_html):
        assert "bold: best mean" in form(notes="legend")
        assert "paired by user" not in form(notes="legend")
        assert "bold: best mean" not in form(notes="none")
        assert "Twice." in form(notes=["Twice."])


def test_one_run() -> None:
    """0.25 and 0.75: mean 0.5, SD 0.3536, and Student's interval ±12.706 · 0.3536 / sqrt(2) = ±3.1766, cut."""
    one = result([[0.25, 2], [0.75, 4]], METRICS, slicings=(Slicing("half", ["a", "b"], np.array([0, 1])),))
    latex = one.to_latex(caption="One", percent=True, names={"mrr": "MRR"})
    assert r"MRR (\%) $\uparrow$ & 50.00 & [0.00, 100.00] & 35.36 & 2 & 0 \\" in latex
    assert r"mean\_rank $\downarrow$ & 3.0000 & " in latex
    assert (latex.count(r"\begin{table}"), latex.count(r"\toprule"), latex.count(r"\caption")) == (1, 2, 1)
    assert r"\item $\uparrow$ higher is better, $\downarrow$ lower is better" in latex
    assert "2 users evaluated" not in latex
    assert "2 users evaluated" in one.to_markdown()
    assert "2 users evaluated" in one.to_latex(notes="all")
    assert re.search(r"\| MRR ↑ +\|  0\.5 \|", one.to_markdown(digits=1, names={"mrr": "MRR"}))


def test_names_captions_and_notes_are_escaped() -> None:
    options: dict[str, Any] = {"caption": EVIL, "names": {"mrr": EVIL, "old": EVIL}, "notes": [EVIL]}
    escaped = (
        r"a\_b \& 50 \% \#1 \$x\$ \{y\} \textasciitilde{}\textasciicircum{} \textbackslash{}foo "
        r"\textless{}i\textgreater{} \textbar{} [z] *q*"
    )
    for found in (two().to_latex(**options), two(new=EVIL).to_latex(caption=EVIL, notes=[EVIL])):
        assert rf"\caption{{{escaped}}}" in found
        assert rf"\item {escaped}" in found
        assert found.count(escaped) >= 3
        assert "a_b" not in found
    assert "<i>" not in two().to_html(**options)
    markdown = two().to_markdown(**options)
    assert not re.search(r"(?<!\\)<i>", markdown)
    rows = [line for line in markdown.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows[:4]} == {4}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"digits": -1}, "digits must be an integer from 0 to 15, got -1"),
        ({"digits": 2.0}, "digits must be an integer from 0 to 15, got 2.0"),
        ({"names": {"mrrr": "MRR"}}, "names: no run or metric 'mrrr'. Did you mean 'mrr'?"),
        ({"names": {"mrr": 1}}, "names: the printed name of 'mrr' must be a text, got 1"),
        ({"names": ["mrr"]}, "names must be {name: printed name}, got ['mrr']"),
        ({"notes": "marks"}, "notes must be one of 'legend', 'all', 'none', or a list of texts, got 'marks'"),
        ({"notes": 1}, "or a list of texts, got 1"),
        ({"label": "tab 1}"}, "label must consist of letters, digits and : . + / _ -, got 'tab 1}'"),
    ],
)
@pytest.mark.parametrize("form", ["to_latex", "to_markdown", "to_html"])
def test_wrong_arguments(form: str, options: dict[str, Any], message: str) -> None:
    for shown in (two(), result([0.1, 0.2], METRICS.split()[0])):
        with pytest.raises(SpecError) as caught:
            getattr(shown, form)(**options)
        assert message in str(caught.value)


def test_the_names_of_a_dialect() -> None:
    truth = {"ann": ["x"]}
    found = atkay.evaluate(truth, truth, ["ndcg_cut_10"], dialect="trec_eval")
    assert "| nDCG ↑ |" in found.to_markdown(names={"ndcg_cut_10": "nDCG"})
