"""conform: conventions, faults and programs are recognised by what they print."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import atkay
from atkay.audit.probes import Probe, Probes
from atkay.audit.program import Program
from atkay.dialects.dialect import find_dialect
from atkay.errors import InputError, SpecError
from atkay.evaluation.request import Request

DEEP = pytest.mark.deep
EXAMPLES = Path(__file__).parents[2] / "examples" / "conform"


def metric(
    case: dict[str, Any],
    *,
    kind: str = "ndcg",
    gain: Callable[[float], float] = lambda grade: grade,
    ideal_gain: Callable[[float], float] | None = None,
    discount: Callable[[int], float] = lambda rank: math.log2(rank + 1),
    ideal_discount: Callable[[int], float] | None = None,
    best: str = "k",
    repeats: str = "once",
    ties: str = "given",
    deep: int = 0,
    late: int = 0,
    skipped: bool = False,
    relevant: Callable[[float], bool] = lambda grade: grade > 0,
    key: Callable[[str], str] = lambda item: item,
    ascending: bool = False,
    excluded: str = "",
    mean: Callable[[list[float]], float] = lambda values: sum(values) / len(values),
    hits_only: bool = False,
    paired: bool = False,
) -> float | None:
    """A metric as people write it, with room for their mistakes."""
    values, k = [], case["k"]
    lists = list(case["recs"].values())
    for place, (user, grades) in enumerate(case["truth"].items()):
        known = {key(item): grade for item, grade in grades.items() if relevant(grade)}
        given = case["recs"].get(user, []) if not paired else lists[place] if place < len(lists) else []
        rows = [(key(item), score) for item, score in given]
        if not known or (skipped and not rows):
            continue
        away = case.get("exclude", {}).get(user, ())
        rows = [row for row in rows if excluded != "first" or row[0] not in away]
        if ties == "text":
            rows.sort()
        items = [item for item, _ in sorted(rows, key=lambda row: row[1] if ascending else -row[1])]
        items = list(dict.fromkeys(items)) if repeats == "once" else items
        items = items[: max(k + deep, 0)]
        items = [item for item in items if excluded != "after the cut" or item not in away]
        items = list(dict.fromkeys(items)) if repeats == "after the cut" else items
        hits = [(rank, known[item]) for rank, item in enumerate(items, 1) if item in known]
        ideal = sorted(known.values(), reverse=True)[: len(items) if best == "list" else k]
        if kind == "ndcg":
            top = sum((ideal_gain or gain)(grade) / (ideal_discount or discount)(n) for n, grade in enumerate(ideal, 1))
            value = sum(gain(grade) / discount(rank) for rank, grade in hits) / top if top else 0.0
        elif kind == "mrr":
            value = 1 / (hits[0][0] + late) if hits else 0.0
        elif kind == "map":
            value = sum(n / (rank + late) for n, (rank, _) in enumerate(hits, 1)) / len(known)
        else:
            value = {"recall": len(hits) / len(known), "hit": float(bool(hits)), "precision": len(hits) / k}[kind]
        if hits or not hits_only:
            values.append(value)
    return mean(values) if values else None


PLANTED: dict[str, tuple[str, dict[str, Any]]] = {
    "a repeated item counts again": ("ndcg", {"repeats": "counted"}),
    "repeated items are removed after the cut, not before": ("map", {"repeats": "after the cut"}),
    "the list is not cut at k, the ideal is": ("ndcg", {"deep": 1000}),
    "hit is not recall": ("recall", {"kind": "hit"}),
    "the logarithm is off by one: log2(rank + 2)": ("ndcg", {"discount": lambda rank: math.log2(rank + 2)}),
    "the logarithm is off by one in DCG only": (
        "ndcg",
        {"discount": lambda rank: math.log2(rank + 2), "ideal_discount": lambda rank: math.log2(rank + 1)},
    ),
    "DCG takes the natural logarithm, the ideal log2": (
        "ndcg",
        {"discount": lambda rank: math.log(rank + 1), "ideal_discount": lambda rank: math.log2(rank + 1)},
    ),
    "no discount: every rank counts alike": ("ndcg", {"discount": lambda rank: 1.0}),
    "grades are exponentiated in DCG, not in the ideal": (
        "ndcg",
        {"gain": lambda grade: 2**grade - 1, "ideal_gain": lambda grade: grade},
    ),
    "ids are compared as numbers": ("map", {"key": lambda item: str(int(item)) if item.isdecimal() else item}),
    "ids are compared without regard to case": ("hit", {"key": str.lower}),
    "users are paired by position, not by id": ("recall", {"paired": True}),
    "the list is cut before excluded items are removed": ("recall", {"excluded": "after the cut"}),
    "1 / (rank + 1): ranks start at 2": ("mrr", {"late": 1}),
    "hits / (rank + 1): ranks start at 2": ("map", {"late": 1}),
    "users without a hit are left out of the mean": ("map", {"hits_only": True}),
    "users are added up, not averaged": ("mrr", {"mean": sum}),
    "the median over users is taken, not the mean": ("ndcg", {"mean": lambda values: sorted(values)[len(values) // 2]}),
    "the last of the k ranks does not count": ("precision", {"deep": -1}),
    "lists are cut at 4, 1 place before k": ("recall", {"deep": -1}),
    "an item is relevant above grade 1, not from it on": ("recall", {"relevant": lambda grade: grade > 1}),
    "scores are sorted in ascending order": ("mrr", {"ascending": True}),
}
"""What is wrong, in words, the metric that was meant, and the mistake."""


def _median(values: list[float]) -> float:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


FEW = {"ids are compared without regard to case"}
"""Those that every run looks for; ``make test-deep`` looks for all."""


@pytest.mark.parametrize("words", [each if each in FEW else pytest.param(each, marks=DEEP) for each in PLANTED])
def test_planted_faults_are_named_with_a_counterexample_of_three_items(words: str) -> None:
    name, mistake = PLANTED[words]
    options: dict[str, Any] = {"kind": name, **mistake} | ({"mean": _median} if "median" in words else {})
    conformance = atkay.conform(lambda case: metric(case, **options), f"{name}@5")
    assert conformance.faults == (words,)
    assert not conformance
    example = conformance.counterexample
    assert example is not None
    listed = {row[0] for rows in example.case["recs"].values() for row in rows}
    assert len(listed.union(*example.case["truth"].values())) <= 3
    printed = metric(dict(example.case), **options)
    assert example.printed == pytest.approx(math.nan if printed is None else printed, nan_ok=True)
    assert not abs(example.printed - example.expected) <= 1e-6
    protocol = atkay.Protocol(duplicates="first")
    if "exclude" not in example.case:
        lists = {user: list(map(tuple, rows)) for user, rows in example.case["recs"].items()}
        truth = example.case["truth"]
        at = f"{conformance[f'{name}@5'].spec.partition('@')[0]}@{example.case['k']}".replace("hit@", f"{name}@")
        assert atkay.evaluate(lists, truth, at, protocol=protocol)[at] == pytest.approx(example.expected)


@pytest.mark.parametrize(
    ("options", "spec", "fields"),
    [
        ({"kind": "map", "ties": "text"}, "map@5", {"ties": "text"}),
        pytest.param({}, "ndcg(gain=linear)@5", {}, marks=DEEP),
        pytest.param({"best": "list"}, "ndcg(gain=linear,ideal=possible)@5", {}, marks=DEEP),
        pytest.param({"kind": "recall", "skipped": True}, "recall@5", {"no_recs": "skip"}, marks=DEEP),
        pytest.param(
            {"kind": "mrr", "relevant": lambda grade: grade >= 2}, "mrr@5", {"min_relevance": 2.0}, marks=DEEP
        ),
    ],
)
def test_conventions_are_found(options: dict[str, Any], spec: str, fields: dict[str, Any]) -> None:
    name = f"{options.get('kind', 'ndcg')}@5"
    conformance = atkay.conform(lambda case: metric(case, **options), name)
    assert conformance[name].spec == spec
    changed = {field: word for field, word in conformance[name].protocol.items() if field != "negative"}
    assert changed == fields
    assert conformance
    assert conformance[name].agreeing == conformance[name].cases > 100


@pytest.mark.parametrize(
    "library", ["trec_eval", *(pytest.param(name, marks=DEEP) for name in ("ranx", "sklearn", "xgboost"))]
)
def test_dialects_played_back_are_identified(library: str) -> None:
    dialect = find_dialect(library)
    request = Request.of("ndcg@5", None, {}, dialect=library)
    protocol = request.protocol.with_fields(duplicates="first", negative="irrelevant")
    words = protocol if request.protocol.negative == "error" else request.protocol.with_fields(duplicates="first")

    def program(case: dict[str, Any]) -> float:
        recs = {user: tuple((item, score) for item, score in rows) for user, rows in case["recs"].items()}
        return float(Probes([Probe(recs, case["truth"])]).values([request.metrics[0]], words)[0, 0])

    conformance = atkay.conform(program, "ndcg@5", dialect=library)
    assert library in conformance.libraries
    assert conformance["ndcg@5"].spec == str(request.metrics[0])
    assert conformance
    assert conformance.line.startswith(f"conforms to {dialect.title}: ")


def test_a_dialect_that_a_program_does_not_speak() -> None:
    conformance = atkay.conform(lambda case: metric(case, kind="map"), "map@5", dialect="trec_eval")
    assert not conformance
    assert "ties=given instead of text_desc" in conformance["map@5"].notes[0]
    assert conformance.counterexample is not None


def test_no_convention_says_this(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atkay.audit.conform.ROUNDS", 1)  # further rounds look for it in vain
    conformance = atkay.conform(lambda case: (metric(case, kind="hit") or 0) / 3, "hit@5")
    assert "no convention says this" in conformance["hit@5"].verdict
    example = conformance.counterexample
    assert example is not None
    assert example.printed == pytest.approx((metric(dict(example.case), kind="hit") or 0) / 3)


@DEEP
def test_chance_is_named() -> None:
    calls: list[int] = []

    def program(case: dict[str, Any]) -> float:
        calls.append(1)
        return len(calls) / 1e6

    assert "the same case gives" in atkay.conform(program, "map@5")["map@5"].verdict


def test_refused_cases_and_percentages() -> None:
    def program(case: dict[str, Any]) -> dict[str, str] | float | None:
        if set(case["truth"]) - set(case["recs"]):
            return {"error": "no list"}
        value = metric(case, kind="recall")
        return None if value is None else 100 * value

    conformity = atkay.conform(program, "recall@5")["recall@5"]
    assert conformity.protocol["no_recs"] == "error"
    assert "It refuses users without a list." in conformity.notes
    assert "Numbers are printed as percentages." in conformity.notes
    assert conformity


PROGRAMS: dict[str, tuple[list[str], str, str, dict[str, str]]] = {
    "ndcg.py": ([sys.executable, "ndcg.py"], "ndcg@5", "ndcg(gain=linear)@5", {}),
    "map.js": (["node", "map.js"], "map@5", "map(per=capped)@5", {}),
    "hit.awk": (["awk", "-f", "hit.awk"], "hit@5", "hit@5", {"no_recs": "skip"}),
    "mrr.c": (["./mrr"], "mrr@5", "mrr@5", {"ties": "reversed"}),
}


@pytest.mark.parametrize("name", [pytest.param(each, marks=() if each == "mrr.c" else DEEP) for each in PROGRAMS])
def test_programs_in_any_language(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command, asked, spec, fields = PROGRAMS[name]
    for file in EXAMPLES.iterdir():
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    needed = "cc" if name == "mrr.c" else command[0]
    if shutil.which(needed) is None:
        pytest.skip(f"{needed} is not installed")
    if name == "mrr.c":
        subprocess.run(["cc", "-O1", "-o", "mrr", "mrr.c"], check=True)
    conformity = atkay.conform(command, asked)[asked]
    assert (conformity.spec, dict(conformity.protocol)) == (spec, fields)
    assert conformity


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("print(1)", "printed 1 line for"),
        ("import sys; [print('x') for line in sys.stdin]", "printed 'x' for case 1"),
        ("import sys; sys.exit('no such column')", "exit code 1.*It wrote: no such column"),
    ],
)
def test_what_a_program_does_wrong(code: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Program([sys.executable, "-c", code]).ask([{"metric": "ndcg"}] * 2)


def test_wrong_arguments() -> None:
    with pytest.raises(InputError, match="cannot start 'no-such-program'"):
        Program("no-such-program").ask([])
    with pytest.raises(SpecError, match="needs more than recs and truth"):
        atkay.conform(metric, "coverage@5")
    with pytest.raises(SpecError, match="one cutoff at a time"):
        atkay.conform(metric, "ndcg@5,10")
    with pytest.raises(InputError, match=r"more than 0\.5 seconds"):
        Program([sys.executable, "-c", "import time; time.sleep(5)"], 0.5).ask([])
    with pytest.raises(InputError, match="gave no number"):
        atkay.conform(lambda case: None, "hit@5")


def test_everything_is_saved(tmp_path: Path) -> None:
    conformance = atkay.conform(lambda case: metric(case, kind="hit", excluded="after the cut"), ["recall@5", "hit@5"])
    assert conformance["hit@5"].faults == ("the list is cut before excluded items are removed",)
    assert conformance.specs == {"recall@5": "hit@5", "hit@5": "hit@5"}
    conformance.save(tmp_path / "conform.json")
    assert '"conforms": false' in (tmp_path / "conform.json").read_text()
    assert "Counterexample" in repr(conformance)
    assert len(conformance) == 2
