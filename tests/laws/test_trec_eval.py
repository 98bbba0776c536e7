"""trec_eval 9.0.8 on grades below 0, on queries that lack a list or judgements, and with its options.

The numbers come from its own code, as pytrec_eval-terrier 0.5.11 has it compiled, run on these qrels and this run:
the scores of a list fall from place to place.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import atkay
from atkay.errors import SpecError

RANDOM = {
    # query: qrels (document:grade), list, and what trec_eval -q prints for MEASURES
    "0": (
        "8:3 7:2 10:-1 11:3 3:0 1:0",
        "4 2 1 8 0 11 3 5 9",
        (0.19444527776111145, 0.3333333333333333, 0.2424242424242424, 0.2, -5.0, 0.27250978843597823,
         0.2585776951655083, 0.34015199929162726, 0.1335333252840647, 0.14814814814814814, 0.6666666666666666,
         -0.7691330875378676, 2.0),
    ),
    "1": (
        "0:3 8:0 1:2 11:1 10:2 9:3 6:0",
        "3 10 4 7 0 5 8 11 2 1",
        (0.33499941667572203, 0.4, 0.35454545454545455, 0.2857142857142857, -2.0, 0.35022936641724123,
         0.2433450546782752, 0.3818515857189621, 0.3120797741763416, 0.32, 0.8, -0.48046276003587285, 1.0),
    ),
    "2": ("4:0 3:0 6:0", "10 0", (0, 0, 0, 0, -2.0, 0, 0, 0, 0, 0, 0, 0, 0)),
    "3": (
        "3:-1 0:2 7:2 6:0",
        "10 3 4 5 1 2 6 0 11 9 8",
        (0.0625012499750005, 0.125, 0.06818181818181818, 0.0, -9.0, 0.15773243839286438, 0.1505149978319906,
         0.19342640361727081, 0.09671320180863541, 0.045454545454545456, 0.5, -0.9382696385929302, 1.0),
    ),
    "4": (
        "11:2 1:2 0:0 9:-1",
        "3 7 8 11 2 9 5 6 0 1",
        (0.25, 0.25, 0.22727272727272727, 0.0, -6.0, 0.3658532768686871, 0.34394140144926144, 0.35268776596461476,
         0.22065370467831932, 0.2, 1.0, -0.5645298027378518, 1.0),
    ),
    "5": ("3:0 0:2 4:3 9:-1 10:3 1:0", "2 3", (0, 0, 0, 0, -2.0, 0, 0, 0, 0, 0, 0, -1.3862943611198906, 1.0)),
    "6": ("4:0 0:0 9:0 5:0 11:3 3:-1", "0 9 5 10 7", (0, 0, 0, 0, -5.0, 0, 0, 0, 0, 0, 0, -0.6931471805599453, 3.0)),
    "7": (
        "9:2 7:0 11:-1 2:0",
        "3 9 11 10 2 5",
        (0.5, 0.5, 0.5, 0.5, -4.0, 0.6309297535714575, 0.6309297535714575, 0.6309297535714575, 0.31546487678572877,
         0.16666666666666666, 1.0, 0.0, 1.0),
    ),
    "8": ("1:1 2:0", "", ()),
    "9": ("", "1", ()),
}  # fmt: skip
MEASURES = [
    *("infAP", "iprec_at_recall_0.35", "11pt_avg", "Rprec_mult_1.40", "utility", "binG", "G", "ndcg_rel", "Rndcg"),
    *("set_map", "set_relative_P", "yaap", "count(of=nonrelevant)"),
]
MEANS = [
    *("map", "infAP", "iprec_at_recall_0.35", "11pt_avg", "Rprec_mult_1.40", "utility", "G", "ndcg_rel", "Rndcg"),
    *("set_map", "bpref", "num_q", "num_ret", "num_rel_ret", "num_nonrel_judged_ret"),
]
OPTIONS = [
    # fields that stand for its options, and what trec_eval prints for MEANS; None where it prints -nan
    (
        {},
        (0.16461805555555553, 0.16774324305147925, 0.20104166666666667, 0.1740530303030303, 0.12321428571428572, -4.375,
         0.20341361283706164, 0.23738093852049155, 0.13480561034163624, 0.11003367003367003, 0.3041666666666667,
         8, 55, 10, 10),
    ),
    (
        {"min_relevance": 2},
        (0.16024305555555557, 0.16336825346826397, 0.20104166666666667, 0.1672348484848485, 0.12916666666666665, -4.625,
         0.20341361283706164, 0.23738093852049155, 0.13480561034163624, 0.09815867003367003, 0.30208333333333337,
         8, 55, 9, 11),
    ),
    (
        {"depth": 3},
        (0.075, 0.075, 0.0625, 0.07954545454545454, 0.08035714285714285, -2.25, 0.08765832845176269,
         0.10298440536392937, 0.06532626631407755, 0.049999999999999996, 0.15, 8, 22, 2, 5),
    ),
    (
        {"unjudged": "drop"},
        (0.3977777777777778, 0.3977781277701251, None, None, 0.30892857142857144, 0.0, 0.3518410129310725,
         0.44568703355934003, 0.3997265223140783, 0.29875, 0.3041666666666667, 8, 20, 10, 10),
    ),
    (
        {"no_recs": "zero"},
        (0.14632716049382713, 0.14910510493464824, 0.1787037037037037, 0.1547138047138047, 0.10952380952380952,
         -3.888888888888889, 0.18081210029961034, 0.2110052786848814, 0.11982720919256555, 0.09780770669659558,
         0.27037037037037037, 9, 55, 10, 10),
    ),
    (
        {"min_relevance": 2, "depth": 5, "unjudged": "drop", "no_recs": "zero"},
        (0.24074074074074073, 0.24074078703611113, None, None, 0.15185185185185185, -0.1111111111111111,
         0.21647666232232357, 0.3076885718132276, 0.2895790096978999, 0.18518518518518517, 0.24074074074074073,
         9, 11, 5, 6),
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The run and the qrels."""
    folder, run, qrels = tmp_path_factory.mktemp("trec"), [], []
    for query, (judged, listed, _) in RANDOM.items():
        qrels += [f"{query} 0 {document.replace(':', ' ')}" for document in judged.split()]
        run += [f"{query} Q0 {document} 0 {20 - place} t" for place, document in enumerate(listed.split())]
    for name, lines in (("lists.run", run), ("judged.qrels", qrels)):
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder / "lists.run", folder / "judged.qrels"


def test_every_query(files: tuple[Path, Path]) -> None:
    found = atkay.evaluate(*files, MEASURES, dialect="trec_eval").query_values
    assert found.tolist() == [pytest.approx(values, abs=1e-12) for _, _, values in RANDOM.values() if values]


@pytest.mark.parametrize(("fields", "means"), OPTIONS)
def test_options(files: tuple[Path, Path], fields: dict[str, Any], means: tuple[float | None, ...]) -> None:
    found = atkay.evaluate(*files, MEANS, dialect="trec_eval", **fields)
    for measure, value in zip(MEANS, means, strict=True):
        assert value is None or found[measure] == pytest.approx(value, abs=1e-12), measure


def test_the_collection_size_is_a_constant(files: tuple[Path, Path]) -> None:
    # -m utility.0,0,0,1 -N 100 prints 100 - L - R + h: of query 0 with L = 9, R = 3 and h = 2, 90.
    result = atkay.evaluate(*files, "utility(hit=-1,wrong=-1,missed=-1)", dialect="trec_eval")
    assert result.query_values[0, 0] + 100 == 100 - 9 - 3 + 2


OWN = Path(__file__).parent / "trec_eval"
"""The files of its own tests; its README says where they come from."""
COUNTS = {
    "num_ret": "count",
    "num_rel": "count(of=relevant)",
    "num_rel_ret": "count(of=hits)",
    "num_nonrel_judged_ret": "count(of=nonrelevant)",
}
"""Sums in the summary, which are metrics of their own for single queries."""
OF_TEN = ("rbp_resid", "unj_5", "unj_10", "unj_20")


def printed(value: float) -> Any:
    """A number that was printed with four decimals."""
    return pytest.approx(value, abs=0.5e-4 + 1e-9)


def outputs(name: str) -> tuple[list[str], dict[str, list[str]]]:
    """The queries, and what it prints of them by measure, the summary last."""
    header, *rows = (line.split(" ") for line in (OWN / f"{name}.txt").read_text().splitlines())
    return header[1:-1], {measure: values for measure, *values in rows}


@pytest.fixture(scope="module")
def own_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Path], Path]:
    """Its runs, and its qrels."""
    folder, run = tmp_path_factory.mktemp("own"), (OWN / "results.test").read_text().splitlines(keepends=True)
    for name, lines in {"results": run, "trunc": run[:500] + run[1000:1084]}.items():
        (folder / f"{name}.run").write_text("".join(lines))
    (folder / "judged.qrels").write_text((OWN / "qrels.test").read_text())
    return {name: folder / f"{name}.run" for name in ("results", "trunc")}, folder / "judged.qrels"


@pytest.mark.parametrize(
    ("name", "run", "fields"),
    [
        ("all_trec", "results", {}),
        ("parameters", "results", {}),
        ("all_trec_c", "trunc", {"no_recs": "zero"}),
        ("all_trec_c_M100", "trunc", {"no_recs": "zero", "depth": 100}),
    ],
)
def test_its_own_tests(own_files: tuple[dict[str, Path], Path], name: str, run: str, fields: dict[str, Any]) -> None:
    runs, qrels = own_files
    queries, expected = outputs(name)
    geometric = [measure for measure in expected if measure.startswith("gm_")]
    of_ten = [measure for measure in OF_TEN if measure in expected]
    usual = [measure for measure in expected if measure not in ("rbp", *of_ten, *geometric)]
    calls = [("trec_eval", usual), *(("trec_eval", [measure]) for measure in geometric), ("trec_eval>=10", of_ten)]
    for dialect, measures in calls if of_ten else calls[:-1]:
        counts = [COUNTS[measure] for measure in measures if measure in COUNTS]
        result = atkay.evaluate(runs[run], qrels, [*measures, *counts], dialect=dialect, **fields)
        rows = [[*map(str, result.ids["qid"])].index(query) for query in queries]
        for measure in measures:
            *values, summary = expected[measure]
            assert result[measure] == printed(float(summary)), measure
            if "-" not in values:
                column = result.by_query.index(result.names[COUNTS.get(measure, measure)])
                of_queries = result.query_values[rows, column].tolist()
                assert of_queries == [printed(float(value)) for value in values], measure


def test_what_rbp_of_version_10_is_meant_to_be(own_files: tuple[dict[str, Path], Path]) -> None:
    # All grades are 0 or 1, so that what it divides by, a variable that is never set, does not matter.
    runs, qrels = own_files
    result = atkay.evaluate(runs["trunc"], qrels, "rbp(p=0.9)", ties="text_desc", no_recs="zero", depth=100)
    assert result["rbp(p=0.9)"] == printed(float(outputs("all_trec_c_M100")[1]["rbp"][-1]))


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("P.5,10", ["P_5", "P_10"]),
        ("recall.20", ["recall.20"]),
        ("iprec_at_recall..10,0.20", ["iprec_at_recall_.10", "iprec_at_recall_0.20"]),
        ("ndcg_cut", [f"ndcg_cut_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]),
        ("set_F.0.5", ["set_F.0.5"]),
        ("utility.2,-1,-0.5,0.0", ["utility.2,-1,-0.5,0.0"]),
        ("map,P.5,7,3,ndcg.1=3,2=9,11pt_avg..25,.5", ["map", "P_5", "P_7", "P_3", "ndcg.1=3,2=9", "11pt_avg..25,.5"]),
    ],
)
def test_names_with_parameters(name: str, names: list[str]) -> None:
    result = atkay.evaluate({1: ["a"]}, {1: {"a": 1}}, name, dialect="trec_eval")
    assert list(result.names) == names


def test_gains_leave_other_grades_as_they_are() -> None:
    # Grades 3, 1 and 2 at ranks 1, 3 and 4, with gains 3, 4 and 9: the most first is 9, 4, 3.
    recs, truth = {1: ["c", "x", "a", "b"]}, {1: {"a": 1, "b": 2, "c": 3}}
    result = atkay.evaluate(recs, truth, "ndcg.1=4,2=9", dialect="trec_eval")
    expected = (3 + 4 / 2 + 9 / math.log2(5)) / (9 + 4 / math.log2(3) + 3 / 2)
    assert result["ndcg.1=4,2=9"] == pytest.approx(expected)
    with pytest.raises(
        SpecError, match=r"cannot read the parameters of 'utility.1,-1,0,2'.* The fourth weight of utility"
    ):
        atkay.evaluate(recs, truth, "utility.1,-1,0,2", dialect="trec_eval")


def test_version_10() -> None:
    # Scores that are equal in single precision only; and 0.35 · 4 = 1.4 relevant items are 2 in version 9, 1 in 10.
    recs = {1: {"a": 0.5 + 1e-9, "x": 0.5, "b": 0.1, "c": 0.05}}
    truth = {1: {"a": 1, "b": 1, "c": 1, "d": 1}}
    specs = ["recip_rank", "iprec_at_recall_0.35"]
    nine, ten = (
        list(atkay.evaluate(recs, truth, specs, dialect=name).values()) for name in ("trec_eval", "trec_eval>=10")
    )
    # x first: hits at ranks 2, 3 and 4; a first: at 1, 3 and 4.
    assert nine == [1 / 2, 3 / 4]
    assert ten == [1, 1]


def test_the_residual_of_version_10() -> None:
    # m_rbp_resid.c: 0.9^L + 0.1 Σ 0.9^(rank - 1) over what nobody judged, 0 without any such.
    recs, truth = {1: ["a", "x"], 2: ["a"]}, {1: {"a": 1}, 2: {"a": 1}}
    result = atkay.evaluate(recs, truth, "rbp_resid", dialect="trec_eval>=10")
    assert result.query_values[:, 0].tolist() == [pytest.approx(0.9**2 + 0.1 * 0.9), 0]
    assert not math.isnan(result["rbp_resid"])


def test_what_nobody_judged_in_version_10() -> None:
    # Of a, x and p nobody judged x, and p has a grade below 0: 1 of 2, and 2 of 5 places.
    result = atkay.evaluate({1: ["a", "x", "p"]}, {1: {"a": 1, "p": -1}}, ["unj_2", "unj_5"], dialect="trec_eval>=10")
    assert list(result.values()) == [1 / 2, 2 / 5]
