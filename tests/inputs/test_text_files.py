"""Text files as people make them: without a header, with any separator, decimal commas, and other encodings.

Worked out by hand: ann's list is tea, rum, rye with tea relevant at grade 5 and rye at 1, so the reciprocal rank is 1;
bo's is rum, tea with tea relevant, so it is 1/2. The mean is 0.75.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay import Columns
from atkay.errors import AtkayError, ColumnError, OrderError
from scenarios import examples

RECS = [("11", "101", "0.75"), ("11", "102", "0.5"), ("11", "103", "0.25"), ("22", "102", "1.5"), ("22", "101", "0.5")]
TRUTH = {11: {101: 5, 103: 1}, 22: {101: 3}}
NAMED, POSITIONS = ("user", "item", "score"), ("column_1", "column_2", "column_3")
MEMORY = pytest.mark.parametrize("memory", [None, "1GB"])


def text_of(rows: Any, separator: str = ",", end: str = "\n") -> str:
    return "".join(separator.join(row) + end for row in rows)


def read(path: Path, content: str | bytes, truth: Any = TRUTH, **given: Any) -> atkay.Result:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return atkay.evaluate(path, truth, "mrr", min_relevance=1, **given)


def refused(error: type[AtkayError], message: str, path: Path, content: str, truth: Any = TRUTH, **given: Any) -> None:
    with pytest.raises(error) as caught:
        read(path, content, truth, **given)
    assert message in str(caught.value), str(caught.value)


FORMS = {
    "comma.csv": text_of([NAMED, *RECS]),
    "comma.tsv": text_of([NAMED, *RECS]),
    "tab.csv": text_of([NAMED, *RECS], "\t"),
    "tab.tsv": text_of([NAMED, *RECS], "\t"),
    "bar.txt": text_of([NAMED, *RECS], "|"),
    "blank.txt": text_of([NAMED, *RECS], " "),
    "aligned.txt": text_of([NAMED, *RECS], "   "),
    "spaced.csv": text_of([NAMED, *RECS], ", "),
    "excel.csv": "sep=;\r\n" + text_of([NAMED, *RECS], ";", "\r\n").replace(".", ","),
    "semicolon.csv": text_of([NAMED, *RECS], ";"),
    "decimal.csv": text_of([NAMED, *RECS], ";").replace(".", ","),
    "bom.csv": "\ufeff" + text_of([NAMED, *RECS]),
    "led.csv": "\n\n" + text_of([NAMED, *RECS]),
    "bare.csv": text_of(RECS),
    "bare": text_of(RECS, "\t"),
    "bare.dat": text_of(RECS, "|"),
    "bare_led.csv": "\n\n" + text_of(RECS),
    "bare_decimal.csv": text_of(RECS, ";").replace(".", ","),
    "bare_bom.csv": "\ufeff" + text_of(RECS, end="\r\n"),
    "bare_blank.txt": text_of(RECS, " "),
}


@MEMORY
@pytest.mark.parametrize("name", FORMS)
def test_the_same_lists_in_every_form(name: str, memory: str | None, tmp_path: Path) -> None:
    expected = read(tmp_path / "expected.csv", FORMS["comma.csv"], memory=memory)
    for content in (FORMS[name], FORMS[name].encode("utf-16"), gzip.compress(FORMS[name].encode())):
        path = tmp_path / (name if isinstance(content, str) or content[:2] != b"\x1f\x8b" else f"{name}.gz")
        result = read(path, content, memory=memory)
        assert (result["mrr"], result.population.listed, result.population.evaluated) == (0.75, 5, 2)
        assert result.fingerprint == expected.fingerprint
        columns = POSITIONS if name.startswith("bare") else NAMED
        assert tuple(result.columns["recs"].values()) == columns
        assert ("column_1" in result.readings[0]) == name.startswith("bare")


@MEMORY
def test_ratings_as_movielens_writes_them(memory: str | None, tmp_path: Path) -> None:
    (tmp_path / "u.data").write_text("11\t101\t5\t881250949\n11\t103\t1\t881250950\n22\t101\t3\t891717742\n")
    result = read(tmp_path / "recs.csv", FORMS["bare.csv"], tmp_path / "u.data", memory=memory)
    assert result["mrr"] == 0.75
    assert result.columns["truth"] == {"user": "column_1", "item": "column_2", "relevance": "column_3"}
    assert "grades 1 to 5 from 'column_3'; relevant from 1" in result.readings


@pytest.mark.parametrize(
    ("rows", "question"),
    [
        (["11,101,3", "11,102,2", "22,101,1"], "'column_3' could be the score (highest first) or the rank (1 first)"),
        (["0,11,101,0.5", "1,11,102,0.4"], "'column_1' counts the rows, so it may be an index and no user"),
        (["5,11,101,0.5", "6,11,102,0.4"], "'column_1' counts the rows, so it may be an index and no user"),
        (["11,0.5,101", "11,0.25,102"], "'column_2' holds 0.5, which cannot be an item"),
        (["11,101,1,0.5", "11,102,2,0.4"], "'column_3' could be the score (highest first) or the rank (1 first)"),
    ],
)
def test_columns_with_two_readings_are_asked_about(rows: list[str], question: str, tmp_path: Path) -> None:
    refused(ColumnError, f"'a.csv' has no header line, and {question}", tmp_path / "a.csv", "\n".join(rows) + "\n")


def test_an_index_is_asked_about_where_the_score_is_named(tmp_path: Path) -> None:
    rows, named = "0,11,101,0.5\n1,11,103,0.4\n2,22,101,0.9\n", Columns(score="column_4")
    question = "'column_1' counts the rows, so it may be an index and no user"
    refused(ColumnError, question, tmp_path / "a.csv", rows, columns={"recs": named})
    # With the user and the item named both users find item 101 first.
    named = Columns(user="column_2", item="column_3", score="column_4")
    assert read(tmp_path / "a.csv", rows, columns={"recs": named})["mrr"] == 1


def test_truth_with_two_readings_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "truth.csv").write_text("11,101,44\n11,103,2\n22,101,7\n")
    question = (
        "'column_3' could be a grade, a count or another id. Pass columns={'truth': Columns(relevance='column_3')}"
    )
    refused(ColumnError, question, tmp_path / "a.csv", FORMS["bare.csv"], tmp_path / "truth.csv")
    named = {"truth": Columns(relevance="column_3")}
    assert read(tmp_path / "a.csv", FORMS["bare.csv"], tmp_path / "truth.csv", columns=named)["mrr"] == 0.75


@MEMORY
def test_the_advice_keeps_the_first_row(memory: str | None, tmp_path: Path) -> None:
    rows, truth = "a,x\nb,y\n", {"a": ["x"], "b": ["y"]}
    refused(ColumnError, "pass columns=Columns(header='none')", tmp_path / "a.csv", rows, truth, memory=memory)
    result = read(tmp_path / "a.csv", rows, truth, columns=Columns(header="none"), memory=memory)
    assert (result["mrr"], result.population.listed) == (1, 2)
    # 0,1,2 may be a header as pandas writes one, or data.
    numbers, named = "0,1,2\n1,5,3\n", Columns(header="none", score="column_3")
    refused(ColumnError, "no column for the user", tmp_path / "b.csv", numbers, {0: [1], 1: [5]}, memory=memory)
    result = read(tmp_path / "b.csv", numbers, {0: [1], 1: [5]}, columns={"recs": named}, memory=memory)
    assert (result["mrr"], result.population.listed) == (1, 2)


def test_a_header_of_numbers_is_read_as_said(tmp_path: Path) -> None:
    names = Columns(user="7", item="8", score="0.5", header="first")
    result = read(tmp_path / "a.csv", "7,8,0.5\n11,101,0.5\n", columns={"recs": names})
    assert result.population.listed == 1


def test_files_of_a_folder_begin_alike(tmp_path: Path) -> None:
    (tmp_path / "recs").mkdir()
    (tmp_path / "recs/a.csv").write_text(FORMS["comma.csv"])
    (tmp_path / "recs/b.csv").write_text("33,101,0.5\n")
    with pytest.raises(AtkayError, match=r"a\.csv' has a header line, and '.*b\.csv' has none"):
        atkay.evaluate(tmp_path / "recs", TRUTH, "mrr", min_relevance=1)
    (tmp_path / "recs/a.csv").write_text(FORMS["bare.csv"])
    assert atkay.evaluate(tmp_path / "recs", TRUTH, "mrr", min_relevance=1).population.listed == 6


@MEMORY
def test_commas_with_two_readings_are_asked_about(memory: str | None, tmp_path: Path) -> None:
    text = "user;item;score\n11;101;1,234\n11;102;2,5{}\n22;101;7\n"
    message = "'score' holds '1,234', of which the comma may be a decimal one or separate thousands"
    refused(OrderError, message, tmp_path / "a.csv", text.format("00"), memory=memory)
    # 2,5 can only be a decimal comma: 101 has 1.234 and 102 has 2.5, so ann's tea is second.
    assert read(tmp_path / "b.csv", text.format(""), memory=memory)["mrr"] == (1 / 2 + 1) / 2
    mixed = "user;item;score\n11;101;0,5\n11;102;0.25\n"
    message = "'score' mixes decimal points with commas, such as '0,5' in row 0 (counting from 0). Write all numbers"
    refused(OrderError, message, tmp_path / "c.csv", mixed, memory=memory)


def test_latin_1_is_said_and_matches_utf_8(tmp_path: Path) -> None:
    (tmp_path / "truth.csv").write_text("user,item\nann,thé\nbo,café\n", encoding="utf-8")
    recs = "user,item,score\nann,thé,0.5\nbo,thé,0.5\nbo,café,0.25\n".encode("latin-1")
    result = read(tmp_path / "recs.csv", recs, tmp_path / "truth.csv")
    assert result["mrr"] == (1 + 1 / 2) / 2
    assert f"'{tmp_path / 'recs.csv'}' read as Latin-1" in result.readings
    result.save(tmp_path / "result.json")
    assert atkay.Result.load(tmp_path / "result.json").readings == result.readings


IDS = st.sampled_from(["7", "007", "ann", "u-1", "é1", "a b", "x;y", "x,y", 'say "hi"', "item", "0.5", "12,5"])
ROWS = st.lists(st.tuples(IDS, IDS, st.integers(1, 99)), min_size=1, max_size=6, unique_by=lambda row: row[:2])


@examples(150, 3_000)
@given(
    rows=ROWS,
    separator=st.sampled_from([",", ";", "\t", "|"]),
    header=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"]),
    end=st.sampled_from(["\n", "\r\n"]),
    quotes=st.booleans(),
    comma=st.booleans(),
    order=st.permutations([0, 1, 2]),
    suffix=st.sampled_from([".csv", ".tsv", ".txt", ""]),
)
def test_no_form_gives_another_number(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, int]],
    separator: str,
    header: bool,
    encoding: str,
    end: str,
    quotes: bool,
    comma: bool,
    order: list[int],
    suffix: str,
) -> None:
    """What is read is the number of the same lists as a dict, or it is refused."""
    truth = {user: [item] for user, item, _ in rows}  # the last item of each
    lists: dict[str, dict[str, float]] = {user: {} for user, *_ in rows}
    for at, (user, item, score) in enumerate(rows):
        lists[user][item] = score + at / 128 + 1 / 512  # scores that differ, and are no integers
    expected = atkay.evaluate(lists, truth, ["mrr", "hit@1"])

    def cell(value: str) -> str:
        quoted = quotes or any(mark in value for mark in (separator, '"', "\n"))
        return '"' + value.replace('"', '""') + '"' if quoted else value

    def number(score: float) -> str:
        return str(score).replace(".", ",") if comma else str(score)

    table = [NAMED, *((user, item, number(score)) for user, items in lists.items() for item, score in items.items())]
    places = order if header else [0, 1, 2]
    text = "".join(
        separator.join(cell(row[place]) for place in places) + end for row in (table if header else table[1:])
    )
    path = tmp_path_factory.mktemp("text") / f"recs{suffix}"
    path.write_bytes(text.encode(encoding))
    try:
        result = atkay.evaluate(path, truth, ["mrr", "hit@1"])
    except AtkayError:
        return
    assert dict(result) == pytest.approx(dict(expected)), text
    assert result.population.listed == len(rows), text
