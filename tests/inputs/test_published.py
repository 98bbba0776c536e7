"""Tables as they are published: CSV, Markdown, LaTeX."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from atkay.errors import SourceError
from atkay.inputs.published import Published, number_in, read_published

ROWS = (("BPR", "0.3796", "21.0"), ("SAS", ".37", ""))
HEADERS = (("Model", "HR@10", "nDCG@10"),)


@pytest.mark.parametrize(
    "text",
    [
        "Model,HR@10,nDCG@10\nBPR,0.3796,21.0\nSAS,.37,\n",
        "\nModel\tHR@10\tnDCG@10\nBPR\t0.3796\t21.0\nSAS\t.37\t\n",
        "Model;HR@10;nDCG@10\nBPR;0,3796;21,0\nSAS;.37;\n",
        "Words.\n\n| Model | HR@10 | nDCG@10 |\n|:-|-:|-|\n|[BPR](x.md) | **0.3796** | `21.0` |\n|SAS|_.37_||\n",
        "| a | b |\n| - | - |\n| no | numbers |\n\n"
        "|Model|HR@10|nDCG@10|\n|-|-|-|\n|BPR|0.3796|21.0|\n|SAS|.37||\n\nAfter | it.\n",
        "Model | HR@10 | nDCG@10\n--- | --- | ---\nBPR | <b>0.3796</b> | 21.0\nSAS | .37 |\n",
        r"""\begin{table}[t] \caption{100\% of users} % comment & more \\
\begin{tabular}{l|r@{}rr} \toprule
Model & HR@10 & nDCG@10 \\ \midrule
BPR & \textbf{0.3796} & $21.0$ \\[2pt]
SAS & \underline{.37} & \\ \bottomrule \end{tabular} \end{table}""",
        r"""\begin{tabular}{lrr} Model & HR@10 & nDCG@10 \\ \hline BPR & 0.3796 & \emph{21.0} \\
SAS & .37 & \end{tabular}""",
    ],
)
def test_every_form_is_the_same_table(text: str) -> None:
    assert read_published(text) == [Published(HEADERS, ROWS)]


def test_headers_over_several_columns_and_names_over_several_rows() -> None:
    [table] = read_published(
        r"""\begin{tabular}{ll} & \multicolumn{2}{c}{ML-1M} & Yelp \\ \cmidrule(lr){2-3}
        Model & HR@10 $\uparrow$ & nDCG@10 & HR@10 \\ \midrule
        \multirow{2}{*}{SAS} & 0.37$^{*}$ & $0.21 \pm 0.02$ & 12.3\% \\
        & .38 & -- & 3 \\ \end{tabular}"""
    )
    assert table.headers == (("", "ML-1M", "ML-1M", "Yelp"), ("Model", "HR@10", "nDCG@10", "HR@10"))
    assert table.rows == (("SAS", "0.37", "0.21 ± 0.02", "12.3%"), ("SAS", ".38", "–", "3"))


@pytest.mark.parametrize(
    ("text", "value", "half", "percent"),
    [
        ("0.3796", "0.3796", "0.00005", False),
        (".380", "0.380", "0.0005", False),
        ("37.96%", "37.96", "0.005", True),
        ("0.21 ± 0.02", "0.21", "0.005", False),
        ("0.21 (0.02)*", "0.21", "0.005", False),
        ("0.21†‡", "0.21", "0.005", False),
        ("12", "12", "0.5", False),
        ("1.20e-1", "0.120", "0.0005", False),
        ("−0.5", "-0.5", "0.05", False),
    ],
)
def test_a_number_keeps_its_digits(text: str, value: str, half: str, percent: bool) -> None:
    number = number_in(text)
    assert number is not None
    assert (number.value, number.half, number.percent) == (Decimal(value), Decimal(half), percent)


def test_colours_and_spreads_below_the_line_are_no_part_of_a_number() -> None:
    [table] = read_published(
        r"""\begin{tabular}{lrr} Model & HR@10 & MRR \\ \rowcolor{gray!20} SAS & \cellcolor[gray]{0.9}\textbf{0.37} &
        \textcolor{red}{\underline{0.21}}$_{\pm 0.02}$ \\ \end{tabular}"""
    )
    assert table.rows == (("SAS", "0.37", "0.21 ± 0.02"),)
    assert [bool(number and number.spread) for number in map(number_in, table.rows[0])] == [False, False, True]


def test_a_cell_of_several_lines() -> None:
    [table] = read_published(r"\begin{tabular}{lr} Model & \makecell[c]{HR\\@10} \\ \hline SAS & 0.37 \\ \end{tabular}")
    assert table == Published((("Model", "HR @10"),), (("SAS", "0.37"),))
    [table] = read_published(
        r"""\begin{tabular}[t]{lr} Model & \begin{tabular}[c]{@{}c@{}}(a)\\ HR@10\end{tabular} \\ \hline
        SAS & 0.37 \\ \end{tabular}"""
    )
    assert table == Published((("Model", "(a) HR@10"),), (("SAS", "0.37"),))


def test_every_table_of_a_readme_is_read_and_formulas_do_not_make_it_latex() -> None:
    tables = read_published(
        "We minimise $$a \\\\ b$$.\n\n| data | users |\n|-|-|\n| ML | 943 |\n\n| a |\n|-|\n| b |\n\n"
        "| Model | HR@10 |\n|-|-|\n| SAS | 0.37 |\n| | 0.38 |\n"
    )
    assert [table.headers[0] for table in tables] == [("data", "users"), ("Model", "HR@10")]
    assert tables[1].rows == (("SAS", "0.37"), ("SAS", "0.38"))


@pytest.mark.parametrize("text", ["", "–", "n/a", "BERT4Rec", "1.2.3", "2024-01-01", "3 of 5"])
def test_what_is_no_number(text: str) -> None:
    assert number_in(text) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("\n", "the table is empty"),
        ("a,b\nc,d\n", "it has no numbers"),
        ("ours,0.5\ntheirs,0.4\n", "its first row holds numbers already, where names of metrics belong"),
        (3, "pass the path of a table in CSV, Markdown or LaTeX, or its text, got an int"),
        (Path("nowhere.csv"), "no such file: 'nowhere.csv'"),
    ],
)
def test_what_is_no_table(given: object, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read_published(given)
