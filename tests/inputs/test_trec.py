"""TREC files as they come: rounds, tabs, comments, text after the tag, ranks from 0, no tag, no suffix, compressed."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atkay
from atkay.errors import AtkayError, DuplicateError, OrderError, SourceError

FILES = Path(__file__).parent / "formats" / "trec"
PAIR = ["mrr", "map"]


def numbers(recs: Any, truth: Any, metrics: list[str] = PAIR, **fields: Any) -> list[float]:
    return list(atkay.evaluate(recs, truth, metrics, **fields).values())


def refused(message: str, recs: Any, truth: Any) -> None:
    with pytest.raises(SourceError) as caught:
        atkay.evaluate(recs, truth, "mrr")
    assert message in str(caught.value), str(caught.value)


def test_tabs_and_hashes_within_ids() -> None:
    # The second of the two queries has no list and scores 0; the first finds its document at rank 2.
    recs = {"9593#0": ["69125#0", "68764#1"]}
    assert numbers(recs, FILES / "miracl.tsv") == [0.25, 0.25]


@pytest.mark.parametrize(
    ("name", "queries"),
    {
        "anserini_bright.txt": {
            "Lemma_kit/sum_1.json": ["proofs/part_10.txt", "proofs/part_2.txt"],
            "Lemma_kit/limit_2.json": ["proofs/part_7.txt"],
        },
        "anserini_entities.txt": {
            "INEX_LD-1": ["<wiki:Été_(saison)>", "<wiki:École_d%27art>"],
            "enwiki:Salt%20Lake/History": ["<wiki:東京>"],
        },
        "anserini_fire.txt": {"225": ["en.3.407.31.2008.11.28", "filename.txt"], "226": ["XIE20000917.0024"]},
        "anserini_m_beir.txt": {"8:41": ["8:40", "8:379"], "8:42": ["7:14"]},
        "anserini_pages.qrels": {"1090": ["6471", "6472"], "1091": ["6480"]},
    }.items(),
)
def test_ids_of_the_qrels_that_anserini_ships(name: str, queries: dict[str, list[str]]) -> None:
    """The first query has its relevant document at rank 2, the second at rank 1; each has one."""
    assert numbers(queries, FILES / name) == [(1 / 2 + 1) / 2, (1 / 2 + 1) / 2]


def test_comments_and_text_after_the_tag() -> None:
    # 301: a relevant document at rank 2, the only one: 1/2 and 1/2. 302: at rank 1, one of two: 1 and 1/2.
    assert numbers(FILES / "metadata.run", FILES / "robust.qrels") == [0.75, 0.5]


QRELS = {"q301": {"b": 2, "a": 0, "c": 1}, "q302": {"d": 1, "e": 0}}
RUN = {"q301": {"a": 9.5, "b": 8.0, "x": 7.25, "c": 7.0}, "q302": {"d": 3.0, "e": 2.5}}
# q301: relevant at ranks 2 and 4, of 2: RR 1/2, AP (1/2 + 2/4) / 2. q302: at rank 1: 1 and 1.
EXPECTED = [0.75, 0.75]
Line = Callable[[str, str, float, int], str]
QRELS_LINES: dict[str, tuple[str, Line]] = {
    "zeros": ("qrels.txt", lambda query, item, grade, at: f"{query} 0 {item} {grade}"),
    "no_suffix": ("qrels", lambda query, item, grade, at: f"{query} Q0 {item} {grade}"),
    "own_suffix": ("a.qrels", lambda query, item, grade, at: f"{query} anything {item} {grade}"),
    "other_suffix": ("a.test", lambda query, item, grade, at: f" {query}  q0\t {item}   {grade} "),
    "tabs": ("test.tsv", lambda query, item, grade, at: f"{query}\t0\t{item}\t{grade}"),
    "rounds": ("judged.txt", lambda query, item, grade, at: f"{query} {at % 2 / 2} {item} {grade}"),
    "decimals": ("qrels.trec", lambda query, item, grade, at: f"{query} 0 {item} {grade}.0"),
    "commented": ("judged.txt", lambda query, item, grade, at: f"# {at}: 0 0 0\n\n{query} 0 {item} {grade}"),
    "windows": ("judged.txt", lambda query, item, grade, at: f"{query} 0 {item} {grade}\r"),
    "named": ("my_qrels_v2.txt", lambda query, item, grade, at: f"{query} {query} {item} {grade}"),
}
RUN_LINES: dict[str, tuple[str, Line]] = {
    "usual": ("run.txt", lambda query, item, score, at: f"{query} Q0 {item} {at + 1} {score} tag"),
    "no_suffix": ("run", lambda query, item, score, at: f"{query}\tQ0\t{item}\t{at + 1}\t{score}\ttag"),
    "tabs": ("run.tsv", lambda query, item, score, at: f"{query}\tQ0\t{item}\t{at + 1}\t{score}\ttag"),
    "own_suffix": ("a.run", lambda query, item, score, at: f"{query} x {item} 7 {score} 5"),
    "from_0": ("a.res", lambda query, item, score, at: f"{query} 0 {item} {at} {score} tag"),
    "no_tag": ("a.txt", lambda query, item, score, at: f"{query} Q0 {item} {at} {score}"),
    "text_after": ("a.txt", lambda query, item, score, at: f"{query} Q0 {item} {at + 1} {score} tag and more, 7"),
    "commented": ("a.txt", lambda query, item, score, at: f"  # {at}\n{query} Q0 {item} {at + 1} {score} tag"),
    "other_second": ("a.txt", lambda query, item, score, at: f"{query} iter {item} {at + 1} {score} tag"),
    "windows": ("a.txt", lambda query, item, score, at: f"{query} Q0 {item} {at + 1} {score} tag\r"),
}


def written(folder: Path, name: str, line: Line, rows: dict[str, dict[str, Any]], end: str = "\n") -> Path:
    text = [line(query, item, value, at) for query, row in rows.items() for at, (item, value) in enumerate(row.items())]
    path = folder / name
    path.write_bytes(("\n".join(text) + end).encode())
    return path


@pytest.fixture(scope="module")
def reference() -> atkay.Result:
    return atkay.evaluate(RUN, QRELS, PAIR)


def assert_same(result: atkay.Result, reference: atkay.Result) -> None:
    assert list(result.values()) == EXPECTED
    assert result.fingerprint == reference.fingerprint


@pytest.mark.parametrize("form", QRELS_LINES)
def test_forms_of_qrels(form: str, reference: atkay.Result, tmp_path: Path) -> None:
    assert_same(atkay.evaluate(RUN, written(tmp_path, *QRELS_LINES[form], QRELS), PAIR), reference)


@pytest.mark.parametrize("form", RUN_LINES)
def test_forms_of_runs(form: str, reference: atkay.Result, tmp_path: Path) -> None:
    assert_same(atkay.evaluate(written(tmp_path, *RUN_LINES[form], RUN, end=""), QRELS, PAIR), reference)


def packed(path: Path, kind: str) -> Path:
    out = path.with_name(path.name + kind)
    pack: dict[str, Callable[[bytes], bytes]] = {
        ".gz": gzip.compress,
        ".bz2": bz2.compress,
        ".xz": lzma.compress,
        ".zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
    }
    whole, half = path.read_bytes(), path.stat().st_size // 2
    out.write_bytes(pack[kind](whole[:half]) + pack[kind](whole[half:]))  # in two members, as parallel packers write
    path.unlink()
    return out


@pytest.mark.parametrize("kind", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("engine", [{}, {"memory": "100KB"}])
def test_compressed(kind: str, engine: dict[str, Any], reference: atkay.Result, tmp_path: Path) -> None:
    run = packed(written(tmp_path, *RUN_LINES["usual"], RUN), kind)
    qrels = packed(written(tmp_path, *QRELS_LINES["zeros"], QRELS), kind)
    assert_same(atkay.evaluate(run, qrels, PAIR, **engine), reference)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([run.name, qrels.name])


@pytest.mark.parametrize("kind", [".bz2", ".xz"])
def test_compressed_tables(kind: str, reference: atkay.Result, tmp_path: Path) -> None:
    rows = [(query, item, grade) for query, grades in QRELS.items() for item, grade in grades.items()]
    frame = pl.DataFrame(rows, ["query", "item", "relevance"], orient="row")
    (tmp_path / "truth").mkdir()
    for name, part in (("a.csv", frame[:2]), ("b.csv", frame[2:])):
        part.write_csv(tmp_path / "truth" / name)
        packed(tmp_path / "truth" / name, kind)
    assert_same(atkay.evaluate(RUN, tmp_path / "truth", PAIR), reference)


@pytest.mark.parametrize("kind", [".gz", ".bz2", ".xz", ".zst"])
def test_broken_archives(kind: str, tmp_path: Path) -> None:
    run = packed(written(tmp_path, *RUN_LINES["usual"], RUN), kind)
    run.write_bytes(run.read_bytes()[:-9])
    refused(f"'{run}'", run, QRELS)
    refused("Is it complete", run, QRELS)


@given(
    qrels=st.dictionaries(
        st.sampled_from(["1", "9#0", "q 2".replace(" ", "_"), "03"]),
        st.dictionaries(st.sampled_from(["a", "b#1", "#c", "4", "0.5"]), st.integers(0, 3), min_size=1),
        min_size=1,
    ),
    gap=st.sampled_from([" ", "\t", "  ", " \t"]),
    second=st.sampled_from(["0", "Q0", "q0"]),
    between=st.lists(st.sampled_from(["", "# text", "  # 1 0 a 1", " \t", "\r"]), max_size=3),
    order=st.randoms(use_true_random=False),
    suffix=st.sampled_from([".txt", ".qrels", "", ".tsv"]),
)
def test_any_layout(
    qrels: dict[str, dict[str, int]],
    gap: str,
    second: str,
    between: list[str],
    order: Any,
    suffix: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    rows = [gap.join((query, second, item, str(grade))) for query, row in qrels.items() for item, grade in row.items()]
    order.shuffle(rows)
    rows[len(rows) // 2 : len(rows) // 2] = between
    path = tmp_path_factory.mktemp("layout") / f"a{suffix}"
    path.write_text("\n".join(rows), newline="")
    recs = {query: [*row] for query, row in qrels.items()}

    def outcome(truth: Any) -> Any:
        try:
            result = atkay.evaluate(recs, truth, ["map", "ndcg"])
        except AtkayError as error:
            return type(error)
        return dict(result), result.fingerprint

    assert outcome(path) == outcome(qrels)


def test_two_readings(tmp_path: Path) -> None:
    (tmp_path / "judged").write_text("196\t242\t3\t2\n186\t302\t3\t1\n")
    refused("the 4 columns of", tmp_path / "judged", {"196": ["242"]})
    refused(
        "query, iteration, document, relevance (TREC qrels); or user, item, rating, time",
        {"1": [1]},
        tmp_path / "judged",
    )
    # A time in the fourth column leaves one reading.
    assert numbers({"196": ["242"], "22": ["1"]}, FILES / "u.data") == [1 / 3, 1 / 3]  # the first of three users


def test_numbers_for_documents_are_qrels_by_their_name(tmp_path: Path) -> None:
    text = "1 1 10 0\n1 2 11 1\n"
    (tmp_path / "judged.txt").write_text(text)
    refused("have two readings", {"1": ["10", "11"]}, tmp_path / "judged.txt")
    (tmp_path / "qrels.txt").write_text(text)
    assert numbers({"1": ["10", "11"]}, tmp_path / "qrels.txt") == [0.5, 0.5]


def test_prels() -> None:
    refused("has 5 columns, as prels have", {"1": ["clueweb09-en0000-12-00001"]}, FILES / "prels.txt")


def test_subtopics_have_two_readings() -> None:
    with pytest.raises(DuplicateError, match=r"several people graded .* raters='mean'.* second field is a subtopic"):
        atkay.evaluate({"1": ["clueweb09-en0003-55-31884"]}, FILES / "ndeval.txt", "map")


@pytest.mark.parametrize(
    "line",
    [
        "301 a 1 9.5 5",  # no second field: the tag would be the score
        "301 Q0 a b 1 9.5 tag",  # a blank in the document's id: the rank would be the score
        "301 Q0 part 3 1 9.5 tag",
        "301 Q0 a 1 9.5",  # no tag, where the first line has one
        "301 Q0 a one 9.5 tag",
    ],
)
def test_shifted_fields(line: str, tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text(f"301 Q0 d 1 10 tag\n{line}\n")
    refused("cannot read line 2 of", tmp_path / "a.run", QRELS)


def test_document_with_a_blank_in_qrels(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("# head\n301 0 a 1\n301 0 part 3 1\n")
    refused("cannot read line 3 of", RUN, tmp_path / "a.qrels")


def test_a_table_whose_header_looks_like_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("0\t1\t2\t3\n301\ta\tx\t0\n301\tb\tx\t2\n")
    columns = atkay.Columns(user="0", item="1", relevance="3")
    assert numbers({"301": ["a", "b"]}, tmp_path / "a.tsv", columns={"truth": columns}) == [0.5, 0.5]


@pytest.mark.parametrize("dialect", ["trec_eval", "ir_measures"])
def test_ranks_beside_scores(dialect: Any, tmp_path: Path) -> None:
    """trec_eval sorts by score, of equal ones the last document first, and does not read the rank of PyTerrier."""
    lists = {"qid": ["q1"] * 3, "docno": ["a", "b", "c"], "rank": [0, 1, 2], "score": [2.0, 1.0, 1.0]}
    qrels = {"q1": {"c": 1, "a": 1}}
    frame = pl.DataFrame(lists)
    frame.write_csv(tmp_path / "run.tsv", separator="\t")
    # a, c, b: AP (1/1 + 2/2) / 2. By rank a, b, c: (1/1 + 2/3) / 2.
    for recs in (frame, tmp_path / "run.tsv", {"q1": {"a": 2.0, "b": 1.0, "c": 1.0}}):
        assert [*atkay.evaluate(recs, qrels, "map" if dialect == "trec_eval" else "AP", dialect=dialect).values()] == [
            1
        ]
    assert numbers(frame, qrels, ["map"]) == [(1 + 2 / 3) / 2]
    result = atkay.evaluate(frame, qrels, "map", dialect="trec_eval", columns={"recs": atkay.Columns(rank="rank")})
    assert result["map"] == (1 + 2 / 3) / 2


@pytest.mark.parametrize("memory", [None, "1GB"])
def test_rbp_by_itself_goes_by_scores_like_the_other_metrics(memory: str | None) -> None:
    # ir-measures 0.4.3 with cwl-eval 1.0.12 prints these, alone and next to AP, whatever the rank says.
    qrels = {"q": {"a": 1, "b": 0, "c": 1}}
    for scores, expected in (
        ({"b": 1.0, "a": 3.0, "c": 2.0}, 0.5 * (1 + 0.5)),  # a, c, b
        ({"b": 2.0, "a": 2.0, "c": 2.0}, 0.5 * (0.5 + 0.25)),  # as they stand
        ({"a": 2.0, "b": 2.0, "c": 2.0}, 0.5 * (1 + 0.25)),
    ):
        frame = pl.DataFrame({"qid": ["q"] * 3, "docno": [*scores], "score": [*scores.values()], "rank": [2, 1, 3]})
        for metrics in (["RBP(p=0.5)"], ["RBP(p=0.5)", "AP"]):
            result = atkay.evaluate(frame, qrels, metrics, dialect="ir_measures", memory=memory)
            assert result["rbp(p=0.5)"] == expected
            assert "recs ordered by column 'score', not by 'rank'" in result.readings


def test_ties_as_text_do_not_hide_ranks_that_contradict_the_scores() -> None:
    # Of equal scores the last document comes first: c, d, b, a; by rank c, b, d, a.
    columns = {"user": ["q"] * 4, "item": ["a", "b", "c", "d"], "score": [0.0, 1.0, 2.0, 1.0]}
    agreeing = pl.DataFrame(columns).with_columns(rank=pl.Series([4, 2, 1, 3]))
    result = atkay.evaluate(agreeing, {"q": ["d"]}, "mrr", ties="text_desc")
    assert result["mrr"] == 1 / 2
    assert "recs ordered by column 'score', not by 'rank'" in str(result)
    assert atkay.evaluate(agreeing, {"q": ["d"]}, "mrr", ties="item_desc")["mrr"] == 1 / 3
    contradicting = pl.DataFrame(columns).with_columns(rank=pl.Series([1, 2, 3, 4]))
    with pytest.raises(OrderError, match="'rank' and 'score' contradict each other: for user 'q', rank 1 has score 0"):
        atkay.evaluate(contradicting, {"q": ["d"]}, "mrr", ties="text_desc")
    for columns_of_recs, expected in ((atkay.Columns(rank="rank"), 1 / 4), (atkay.Columns(score="score"), 1 / 2)):
        named = {"recs": columns_of_recs}
        assert atkay.evaluate(contradicting, {"q": ["d"]}, "mrr", ties="text_desc", columns=named)["mrr"] == expected


def test_runs_of_two_systems_are_no_run(tmp_path: Path) -> None:
    (tmp_path / "bm25.run").write_text("q301 Q0 a 1 9.5 bm25\n")
    (tmp_path / "dense.run").write_text("q301 Q0 b 1 0.9 dense\nq302 Q0 d 1 0.8 dense\n")
    for recs in (tmp_path, tmp_path / "*.run"):
        refused("bm25.run' and in", recs, QRELS)
    refused("dense.run': are they the runs of two systems, or parts of one? Pass the run of one", tmp_path, QRELS)
    # The parts of one: a is not relevant to q301, and d is to q302.
    (tmp_path / "dense.run").write_text("q302 Q0 d 1 0.8 dense\n")
    assert numbers(tmp_path, QRELS, ["mrr"]) == [1 / 2]
