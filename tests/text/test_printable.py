"""Names that come from others: nothing in them steers a terminal, a page, or a table."""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import atkay
from atkay.cli.app import app
from atkay.cli.output import FORMS
from atkay.errors import AtkayError, TiesWarning, warn
from atkay.text.grid import Grid, as_latex, as_markdown
from atkay.text.printable import ORDINARY, one_line, printable

CONTROLS = [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0))]
HIDDEN = ["\u200b", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2028", "\u2029", "\u2060"]
HIDDEN += ["\u2066", "\u2067", "\u2068", "\u2069", "\ufeff", "\u00ad", "\u061c", "\U000e0041", "\ud800", "\xa0"]
HOSTILE = [
    "a\x1b[31mred\x1b]0;title\x07",
    "a\rb\nc\td",
    "\x9b2J",
    "a\u202eb\u2066c",
    "[bold]x",
    "[/]",
    "[base]",
    "*",
    "a|b`c",
]
HOSTILE += [
    "",
    " ",
    "a  b",
    "\\x1b",
    "{}",
    "$x$ & 100 % #1_2^3~",
    "-- '' \"q\" <b>&amp;",
    "=1+1",
    "@x",
    "- x",
    "# x",
    "> x",
    "1. x",
]


def test_every_control_is_shown() -> None:
    for char in [*CONTROLS, *HIDDEN]:
        assert printable(f"a{char}b") == f"a{char.encode('unicode_escape').decode()}b".replace("\\t", "\\x09").replace(
            "\\n", "\\x0a"
        ).replace("\\r", "\\x0d")
        assert printable(printable(f"a{char}b")) == printable(f"a{char}b")
    for text in ("naïve", "日本語　名", "می\u200cخواهم", "👩\u200d💻", "שלום", "C:\\new", "a  b", "†"):
        assert one_line(text) == text


def test_different_names_stay_different() -> None:
    texts = [
        chr(code)
        for code in (*range(0x3001), *range(0xD7F0, 0xE010), *range(0xFE00, 0x10010), *range(0xE0000, 0xE0080))
    ]
    texts += [text.encode("unicode_escape").decode() for text in texts[:256]]
    texts += (
        [f"\\x{code:02x}" for code in range(256)] + [f"\\x5cx{code:02x}" for code in range(256)] + ["\\\\x1b", "\\\x1b"]
    )
    texts = list(dict.fromkeys(texts))
    assert len({one_line(text) for text in texts}) == len(texts)
    assert all(one_line(text).isprintable() or text in ORDINARY for text in texts)


RECS = {"ann": [1, 2], "bob": [3, 4], "eve": [1, 4], "dan": [4, 1]}
TRUTH = {"ann": [1], "bob": [4], "eve": [1], "dan": [1]}


def compared(name: str) -> atkay.Comparison:
    slices = pl.DataFrame({"user": [*RECS], f"s{name}": ["x", name, name, None]})
    runs = {name: RECS, "b": {user: items[::-1] for user, items in RECS.items()}}
    return atkay.compare(runs, TRUTH, ["mrr", "p@1"], baseline=name, slices=slices, permutations=50)


def evaluated(name: str) -> atkay.Result:
    rows = [(user, 1, item) for user, items in RECS.items() for item in items]
    keys = ["user", f"k{name}", "item"]
    recs = pl.DataFrame(rows, schema=keys, orient="row")
    truth = pl.DataFrame(
        [(user, 1, item) for user, items in TRUTH.items() for item in items], schema=keys, orient="row"
    )
    slices = pl.DataFrame({"user": [*RECS], "kind": ["x", name, name, None]})
    columns = atkay.Columns(user=("user", f"k{name}"))
    of_slices = atkay.Columns(user="user")
    return atkay.evaluate(
        recs, truth, "mrr", columns={"recs": columns, "truth": columns, "slices": of_slices}, slices=slices
    )


SHOWN: dict[str, Callable[[str], atkay.Result | atkay.Comparison]] = {"result": evaluated, "comparison": compared}


@pytest.mark.parametrize("kind", SHOWN)
@pytest.mark.parametrize("name", [text for text in HOSTILE if text])
def test_no_output_is_steered(kind: str, name: str) -> None:
    found = SHOWN[kind](name)
    for text in (*(form(found) for form in FORMS.values()), found._repr_html_()):
        assert all(line.isprintable() for line in text.split("\n"))
    if name.strip():
        assert one_line(name) in repr(found)
    segments = {row["segment"] for row in json.loads(FORMS["json"](found)) if row.get("segment")}
    assert segments == {"x", name}  # JSON has names as they are
    rows = list(csv.DictReader(io.StringIO(FORMS["csv"](found))))
    assert {row["segment"] for row in rows} == {"", "x", one_line(name)}


@pytest.mark.parametrize("kind", SHOWN)
def test_no_table_is_broken(kind: str) -> None:
    for name in filter(None, HOSTILE):
        found, ordinary = SHOWN[kind](name), SHOWN[kind]("ordinary")
        for form in ("markdown", "latex"):
            lines, expected = FORMS[form](found).split("\n"), FORMS[form](ordinary).split("\n")
            assert len(lines) == len(expected)
            separator = r"(?<!\\)\|" if form == "markdown" else r"(?<!\\)&"
            cells, of_ordinary = (
                [len(re.findall(separator, re.sub(r"\\\\(?!$)", "", line))) for line in text if line[:1] != "%"]
                for text in (lines, expected)
            )
            assert cells == of_ordinary


def test_latex() -> None:
    # After a line break or a rule of booktabs, [ begins an option and * a variant.
    rows = Grid(("[head]", "b"), [("[base]", "1"), ("*", "2"), ("x", "[y]")]).latex().splitlines()
    assert rows[2] == r"{}[head] & b \\"
    assert rows[4:7] == [r"{}[base] & 1 \\", r"{}* & 2 \\", r"x & [y] \\"]
    assert as_latex(r"a&b%c$d#e_f{g}h~i^j\k") == (
        r"a\&b\%c\$d\#e\_f\{g\}h\textasciitilde{}i\textasciicircum{}j\textbackslash{}k"
    )
    assert as_latex('<0.1> a|b "q" `x') == (
        r"\textless{}0.1\textgreater{} a\textbar{}b {\char34}q{\char34} \textasciigrave{}x"
    )
    assert as_latex("a---b ''c'' ,,") == "a-{}-{}-b '{}'c'{}' ,{},"
    assert as_latex("-0.5 map(per=hits)@5 Student's") == "-0.5 map(per=hits)@5 Student's"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# x", r"\# x"),
        ("> x", r"\> x"),
        (">x", r"\>x"),
        ("- x", r"\- x"),
        ("+ x", r"\+ x"),
        ("---", r"\---"),
        ("===", r"\==="),
        ("1. x", r"1\. x"),
        ("2) x", r"2\) x"),
        ("[a]: b", r"\[a]: b"),
        ("[a][b]", r"\[a][b]"),
        ("~~x~~", r"\~\~x~~"),
        ("$x$", r"\$x$"),
        ("-0.5", "-0.5"),
        ("+0.5", "+0.5"),
        ("#1", "#1"),
        ("1.5", "1.5"),
        ("~5", "~5"),
        ("5 $", "5 $"),
        ("=1", "=1"),
    ],
)
def test_markdown(text: str, shown: str) -> None:
    assert as_markdown(text) == shown


def test_messages_are_printable(tmp_path: Path) -> None:
    evil = "\x1b[31m\u202e\x9b"
    for error in (AtkayError(evil), atkay.errors.NumberError(evil), atkay.errors.OutputError(evil)):
        assert str(error) == r"\x1b[31m\u202e\x9b"
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        warn(evil, TiesWarning)
    assert str(messages[0].message) == r"\x1b[31m\u202e\x9b"
    with pytest.raises(AtkayError, match=r"\\x1b\[31m") as refused:
        atkay.evaluate(pl.DataFrame({evil: [1], "item": [1]}), TRUTH)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "{evil}.csv", "truth.csv", "-m", "mrr"],
        ["evaluate", "recs.csv", "truth.csv", "-m", "{evil}"],
        ["evaluate", "recs.csv", "truth.csv", "--column", "{evil}"],
        ["evaluate", "recs.csv", "truth.csv", "--ties", "{evil}"],
        ["evaluate", "recs.csv", "truth.csv", "--json", "no/{evil}/r.json"],
        ["evaluate", "recs.csv", "truth.csv", "--{evil}"],
        ["evaluate", "columns.csv", "truth.csv"],
        ["evaluate", "broken.run", "truth.csv"],
        ["compare", "{evil}.csv", "other/{evil}.csv", "--truth", "truth.csv"],
        ["{evil}"],
    ],
)
def test_errors_of_the_shell_are_printable(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    evil = "\x1b[31m\x07\u202ex\natkay: all is well"
    for name in ("recs", "truth"):
        Path(f"{name}.csv").write_text("user,item\n1,1\n2,2\n")
    Path("columns.csv").write_text('"\x1b[31mwho","\x07what"\n1,1\n')
    Path("broken.run").write_text("q1 Q0 \x1b[31md1 1 high t\n")
    run = CliRunner().invoke(app, [each.replace("{evil}", evil) for each in arguments])
    assert run.exit_code == 2
    lines = run.stderr.split("\n")
    assert all(line.isprintable() for line in lines)
    assert "atkay: all is well" not in lines


def test_the_page(tmp_path: Path) -> None:
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    marks = "".join(char for char in HOSTILE[0] + HOSTILE[1] + HOSTILE[2] + HOSTILE[3] if not char.isprintable())
    path = tmp_path / "page.html"
    atkay.report(compared("a\x1b[31m\x07\r\t\x9b\u202e\u2066b"), path)
    text = path.read_text()
    ours = re.sub(r"<(script|style)\b(?! id=\"data\").*?</\1>", "", text, flags=re.DOTALL)  # Vega has some of its own
    assert not set(marks) - {"\n"} & set(ours)
    assert r"a\x1b[31m\x07\x0d\x09\x9b\u202e\u2066b" in ours
