"""No mark, count, colour or word of a comparison contradicts the sign of a difference and the metric's direction."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atkay
from atkay.cli.output import FORMS
from atkay.comparison.difference import COUNTS, NUMBERS, RELATIVE, Difference
from atkay.core.types import Slicing
from atkay.errors import NotMeanWarning
from atkay.reporting.boards import leaderboard, segment_board
from atkay.reporting.card import TONES, card, mark
from atkay.reporting.charts import colour_of
from atkay.reporting.data import page_data
from atkay.reporting.elements import written
from atkay.reporting.summary import sentences
from atkay.reporting.view import View
from made import result

DIRECTIONS = {"mrr": "higher", "mpr": "lower", "arp@10": "neither"}
RUNS = "pqrs"
USERS = 40  # of few differences with ties, SciPy goes through all of Wilcoxon's patterns
WORDS = {"higher": ("worse", "better"), "lower": ("better", "worse"), "neither": ("lower", "higher")}
"""Lower and higher values, in the words of each direction."""

MARKS = {"better": "*", "worse": "†", "higher": "↑", "lower": "↓"}
UP = ("better", "higher")
HEADERS = {"mrr": "mrr ↑", "mpr": "mpr ↓", "arp@10": "arp@10"}
LATEX = {"*": "*", "†": r"\textdagger{}", "↑": r"$\uparrow$", "↓": r"$\downarrow$"}


class Case:
    """Runs with values in whole tenths, so that the sign of each difference is known without rounding."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        shifts = rng.integers(-4, 5, (len(RUNS), 1, 3))
        self.tenths = rng.integers(4, 8, (1, USERS, 3)) + rng.integers(-2, 3, (len(RUNS), USERS, 3)) + shifts
        slicing = (Slicing("half", ["one", "two"], np.arange(USERS) % 2),)
        runs = {
            run: result(of_run / 10, " ".join(DIRECTIONS), slicings=slicing)
            for run, of_run in zip(RUNS, self.tenths, strict=True)
        }
        self.baseline = [None, "p", "q"][seed % 3]
        self.test = ["t", "permutation", "wilcoxon", "sign"][seed // 3 % 4]
        options: dict[str, Any] = {"baseline": self.baseline, "test": self.test, "permutations": 1_000}
        self.comparison = atkay.compare(runs, correction="holm" if seed % 2 else "none", **options)

    def apart(self, found: Difference) -> np.ndarray[Any, Any]:
        """The users' differences, in tenths."""
        users = slice(None) if found.segment is None else np.arange(USERS) % 2 == ["one", "two"].index(found.segment)
        of = [
            self.tenths[RUNS.index(run), users, list(DIRECTIONS).index(found.metric)]
            for run in (found.run, found.against)
        ]
        return of[0] - of[1]

    def word(self, found: Difference, run: str) -> str:
        """How a run stands to the other one; empty where that is not significant."""
        way = int(np.sign(self.apart(found).sum())) * (1 if run == found.run else -1)
        if not found.significant or not way:
            return ""
        return WORDS[DIRECTIONS[found.metric]][way > 0]

    @property
    def order(self) -> list[str]:
        """The runs, the highest mrr first."""
        sums = {run: int(self.tenths[RUNS.index(run), :, 0].sum()) for run in RUNS}
        return sorted(RUNS, key=lambda run: -sums[run])

    def words(self, run: str, metric: str) -> dict[str, str]:
        """How a run stands to the others that it was tested against."""
        return {
            found.against if run == found.run else found.run: self.word(found, run)
            for found in self.comparison[metric]
            if run in (found.run, found.against)
        }

    def marks(self, run: str, metric: str) -> str:
        words = self.words(run, metric)
        if self.baseline is None:
            return "".join(letter for letter, other in zip("abcd", self.order, strict=True) if words.get(other) in UP)
        return "" if run == self.baseline else MARKS.get(words[self.baseline], "")

    def bold(self, run: str, metric: str) -> bool:
        """Whether it is significantly better than all others, or than a baseline to which the others are worse."""
        words = self.words(run, metric)
        if self.baseline not in (None, run) and words[str(self.baseline)] == "better":
            of_baseline = self.words(str(self.baseline), metric)
            words |= {other: word for other, word in of_baseline.items() if other != run}
        return len(words) == len(RUNS) - 1 and set(words.values()) == {"better"}


@pytest.fixture(params=range(12), scope="module")
def case(request: pytest.FixtureRequest) -> Case:
    if request.param // 3 % 4 < 2:
        return Case(request.param)
    with pytest.warns(NotMeanWarning):
        return Case(request.param)


def test_the_cases_have_every_word() -> None:
    """What is checked below occurs: all words, and differences that are not significant."""
    cases = [Case(seed) for seed in range(6)]
    words = {each.word(found, found.run) for each in cases for found in each.comparison}
    assert words == {"", "better", "worse", "higher", "lower"}


def test_marks(case: Case) -> None:
    """Marks, bold and the order of rows say the same in every form."""
    found = case.comparison
    text = [re.split(r"\s{2,}", line) for line in repr(found).splitlines()[: 2 + len(RUNS)]]
    markdown = [line.split("|")[1:-1] for line in found.to_markdown().splitlines()[: 2 + len(RUNS)]]
    latex = [line.removesuffix(r" \\").split(" & ") for line in found.to_latex().splitlines()[3 : 5 + len(RUNS)]]
    head, *html = re.findall(r"<tr>(<t[hd].*?)</tr>", found._repr_html_())[: 1 + len(RUNS)]
    page = written(leaderboard(View.of(found))[1])
    rows = re.findall(r"<tr data-run=\"\d\">(<th scope=\"row\".*?)</tr>", page)
    headers = list(HEADERS.values())
    assert text[0] == ["run", *headers]
    assert [cell.strip() for cell in markdown[0]] == ["run", *headers]
    assert re.findall(r"<th[^>]*>(.*?)</th>", head) == ["run", *headers]
    assert [cell.replace(r"$\uparrow$", "↑").replace(r"$\downarrow$", "↓") for cell in latex[0]] == ["run", *headers]
    for nth, run in enumerate(case.order):
        of_html, of_page = re.findall(r"<td.*?</td>", html[nth]), re.findall(r"<td.*?</td>", rows[nth])[1:]  # the tier
        for named in (text[nth + 2][0], markdown[nth + 2][0].strip(), latex[nth + 2][0], of_html[0], rows[nth]):
            assert run in named
            assert ("baseline" in named) == (run == case.baseline)
        for at, metric in enumerate(DIRECTIONS):
            marks, bold = case.marks(run, metric), case.bold(run, metric)
            raised = "".join(LATEX.get(mark, mark) for mark in marks)
            assert text[nth + 2][at + 1].partition(" ")[2] == marks
            in_markdown, in_latex = markdown[nth + 2][at + 1], latex[nth + 2][at + 1]
            assert "".join(re.findall(r"<sup>(.*)</sup>", in_markdown)) == marks
            assert in_latex.endswith(rf"\textsuperscript{{{raised}}}" if marks else tuple("0123456789}"))
            assert (r"\textsuperscript" in in_latex) == bool(marks)
            assert (r"\textbf" in in_latex, "**" in in_markdown) == (bold, bold)
            for cell in (of_html[at + 1], of_page[at]):
                assert "".join(re.findall(r"<sup>(.*)</sup>", cell)) == marks
                assert ("<b>" in cell) == bold
    if case.baseline:
        assert "* significantly better" in found.legend
        assert "arp@10: ↑ significantly higher" in found.legend
    assert found.bold_legend.startswith("bold: best mean" if "**" in found.to_markdown() else "none in bold")


def test_words_and_counts(case: Case) -> None:
    for found in (*case.comparison.differences, *case.comparison.segments):
        apart, (down, up) = case.apart(found), WORDS[DIRECTIONS[found.metric]]
        way = int(np.sign(apart.sum()))
        assert np.sign(found.difference) == way
        tested = found.finding not in ("not significant", "contradictory")
        expected = {1: "+", 0: "no difference", -1: "-"}[way] if tested or not way else ""
        assert found.verdict.startswith(expected or ("no significant difference", "+", "-"))
        lower = tested and way and DIRECTIONS[found.metric] == "lower"
        assert ("lower is better" in found.verdict) == bool(lower)
        if not found.contradicted:
            assert not any(word in found.verdict.replace("lower is better", "") for word in (down, up))
        wins, losses = int((apart > 0).sum()), int((apart < 0).sum())
        if DIRECTIONS[found.metric] == "lower":
            wins, losses = losses, wins
        assert (found.wins, found.ties, found.losses) == (wins, int((apart == 0).sum()), losses)
        for run in (found.run, found.against):
            assert found.standing(run) == case.word(found, run)
        assert colour_of(found) == (case.word(found, found.run) or "not significant")
        if found.significant and case.test in ("sign", "wilcoxon"):  # these have a side of their own
            assert case.test == "wilcoxon" or np.sign(wins - losses) == {"lower": -way}.get(found.better, way)
    for found in case.comparison.movers:
        (whole,) = (d for d in case.comparison[found.metric] if (d.run, d.against) == (found.run, found.against))
        assert case.apart(found).sum() * case.apart(whole).sum() < 0


def test_tables_of_differences(case: Case) -> None:
    found = case.comparison
    for form in ("json", "csv", "table", "markdown"):
        lines = FORMS[form](found).splitlines()
        for line in lines:
            if form in ("table", "markdown") and re.search(r"\barp@10 +\|? +\w +", line):
                assert re.search(r"\d+ higher/\d+ equal/\d+ lower", line)
                assert not re.search("better|worse|wins", line)
    for row, difference in zip(json.loads(FORMS["json"](found)), (*found.differences, *found.segments), strict=True):
        assert row["better"] == DIRECTIONS[row["metric"]]
        assert np.sign(row["difference"]) == np.sign(case.apart(difference).sum())


def test_the_page(case: Case) -> None:
    view = View.of(case.comparison)
    data = page_data(view)
    ways = 1 if case.baseline else 2  # where every pair is compared, the baseline can be chosen
    assert len(view.differences) == ways * len(case.comparison.differences)
    for pair, found in zip(data["pairs"], view.differences, strict=True):
        assert pair["found"] == (case.word(found, found.run) or "not significant")
        assert pair["counts"] == [found.wins, found.ties, found.losses]
        # Users drawn on the left of 0 have lower values, on the right higher ones.
        counts, apart = pair["moved"]["counts"], case.apart(found)
        assert [sum(counts[:20]), sum(counts[20:])] == [(apart < 0).sum(), (apart > 0).sum()]
        texts = {name: data["strings"][place] for name, place in pair["card"].items() if name != "changed"}
        assert texts["found"] == pair["found"].replace(" ", "-")
        said = texts["word"].lower().partition(" overall")[0]
        excluded = found.high < 0 if found.better == "lower" else found.low > 0
        assert said in ({"not worse"} if excluded and not found.significant else {pair["found"], "cannot tell"})
    first, *others = sentences(view)
    significant = {
        (run, found.against if run == found.run else found.run): case.word(found, run)
        for found in case.comparison["mrr"]
        for run in (found.run, found.against)
    }
    claims = re.findall(r"(?<!not )significantly better than ([^:,.]*)", first)
    leader = first.removeprefix("No significant difference in mrr. ")[0]
    for claim in claims:
        named = [run for run in RUNS if run != leader] if "every" in claim else re.split(", | and ", claim)
        assert all(significant[leader, run] == "better" for run in named), first
    if first.startswith("No significant difference"):
        assert not any(significant.values())
        assert not claims
    if " is significantly better than " in first:
        assert all(significant.get((leader, run)) == "better" for run in RUNS if run != leader)
    told = next(line for line in others if "tested differences over all metrics" in line)
    count = sum(bool(case.word(found, found.run)) for found in case.comparison)
    assert told.startswith(f"{count} of ")


def test_no_mark_of_the_page_contradicts_its_verdict(case: Case) -> None:
    """The colour, the word and the sign of each difference in the page, of all users and of segments."""
    found = case.comparison
    least = dict.fromkeys(DIRECTIONS, 0.05)
    for view in (View.of(found), View.of(replace(found, min_effect=least))):
        of_segments = [each for of_pair in view.segments.values() for each in of_pair]
        for each in (*view.differences, *of_segments):
            word, way = case.word(each, each.run), np.sign(case.apart(each).sum())
            text, tone = mark(each)
            assert tone == (word or colour_of(each).replace(" ", "-"))
            assert text.startswith({1: "+", 0: "equal", -1: "-"}[int(way)])
        for each in view.differences:
            shown, word = card(view, each), case.word(each, each.run)
            in_segments = {case.word(d, d.run) for d in view.segments[each.metric, each.run, each.against]}
            said, _, part = shown.word.lower().partition(" overall, ")
            assert part == ("worse in part" if "worse" in in_segments and said != "worse" else "")
            assert shown.tone == ("mixed" if part else TONES.get(said, said))
            # The word is that of the verdict, unless min_effect weakens it.
            assert said == "cannot tell" or not each.contradicted
            assert said == word or (said, word) in {
                ("cannot tell", ""),
                *(("not worse", word) for word in ("", "better", "worse")),
                *(("equivalent", word) for word in ("", "higher", "lower")),
            }
            for claim, words in (("wins", "better"), ("loses", "worse"), ("higher", "higher"), ("lower", "lower")):
                assert (claim in shown.segments) <= (words in in_segments)
        board = written(leaderboard(view)[1]) + written(segment_board(view)[0])
        for tone, text in re.findall(r'class="mark ([a-z-]+)"[^>]*>([^<]*)<', board):
            assert tone in ("not-significant", "contradictory", "not-tested") or text[0] in "+-"


@pytest.mark.parametrize("aggregate", ["mean", "geometric"])
def test_a_difference_the_other_way_round(aggregate: str) -> None:
    """It is what a comparison finds whose runs come in the other order."""
    lists = [{user: [*"xyz"[: (user * step) % 4], "a"] for user in range(30)} for step in (1, 3)]
    results = [atkay.evaluate(each, {user: ["a"] for user in range(30)}, "mrr", aggregate=aggregate) for each in lists]
    (one,) = atkay.compare(dict(zip("ab", results, strict=True)), test="t")
    (other,) = atkay.compare(dict(zip("ba", results[::-1], strict=True)), test="t")
    assert one.difference
    assert (other.run, other.against) == (one.against, one.run)
    for name in (*NUMBERS, *COUNTS, *RELATIVE):
        assert getattr(one.turned, name) == pytest.approx(getattr(other, name), nan_ok=True), name
    assert one.turned.verdict == other.verdict


def test_a_metric_without_a_direction_alone() -> None:
    runs = {
        "low": result(np.arange(20) / 10, "arp@10"),
        "high": result((np.arange(20) + np.arange(20) % 3 + 1) / 10, "arp@10"),
    }
    against = atkay.compare(runs, baseline="low")
    assert against.bold_legend == "↑ significantly higher than low, ↓ significantly lower; corrected p < 0.05 (t, Holm)"
    assert r"\textsuperscript{$\uparrow$}" in against.to_latex()
    letters = atkay.compare(runs)
    assert letters.legend == "letters: significantly higher than the run with that letter, corrected p < 0.05 (t, Holm)"
    assert "better" not in repr(against) + repr(letters) + against.to_markdown()


def test_nothing_is_marked_where_nothing_is_tested() -> None:
    lists = {"a": {1: ["x"], 2: ["x"]}, "b": {1: ["x"], 2: ["y"]}}
    found = atkay.compare(lists, {1: ["x"], 2: ["x"]}, "coverage@1", catalog=["x", "y"], baseline="a")
    assert found.bold_legend == "no marks: none of these metrics was tested"


def test_a_test_that_contradicts_the_mean_makes_no_mark(tmp_path: Path) -> None:
    """Twenty users lose 0.1 and two gain 5: the mean rises by 8/22, and the sign test finds losses."""
    before = np.full(22, 5.0)
    after = before + np.repeat([-0.1, 5.0], [20, 2])
    for test in ("sign", "wilcoxon"):
        with pytest.warns(NotMeanWarning):
            found = atkay.compare({"a": result(before), "b": result(after)}, test=test, baseline="a")
        (only,) = found
        assert only.p[test] < 0.05
        assert (only.difference > 0, only.significant, only.opposite) == (True, False, (test,))
        assert only.finding == "contradictory"
        assert only.verdict.endswith(f"contradictory: the {test} test, which does not test the mean, finds b worse")
        assert found.mean_grid().rows[1][1].marks == ""  # type: ignore[union-attr]
        found.save(tmp_path / "comparison.json")
        assert atkay.Comparison.load(tmp_path / "comparison.json").differences[0].contradicted


def test_the_headline_says_what_contradicts_the_mean() -> None:
    """45 of 60 users lose 0.1 and 15 gain 0.5: the mean rises by (15 · 0.5 - 45 · 0.1) / 60 = 0.05."""
    before = np.full(60, 0.5)
    after = before + np.repeat([-0.1, 0.5], [45, 15])
    with pytest.warns(NotMeanWarning):
        found = atkay.compare({"a": result(before), "b": result(after)}, test="sign", min_effect=1.0)
    (only,) = found
    p = 2 * sum(math.comb(60, k) for k in range(16)) / 2**60
    assert only.p["sign"] == pytest.approx(p, rel=1e-12)
    assert (only.finding, colour_of(only)) == ("contradictory", "contradictory")
    assert card(View.of(found), only).word == "Cannot tell"  # though the interval lies within min_effect
    assert re.sub(r" \(95.*?\)", "", sentences(View.of(found))[0]) == (
        "b has the highest mean mrr, 0.5500, but the sign test, which decides, favours a (45 wins, 15 losses, "
        f"p = {p:.4f})."
    )
    # The means are equal where the 15 gain 0.3.
    with pytest.warns(NotMeanWarning):
        equal = atkay.compare(
            {"a": result(before), "b": result(before + np.repeat([-0.1, 0.3], [45, 15]))}, test="sign"
        )
    assert equal.differences[0].verdict.endswith("the sign test, which does not test the mean, finds a difference")
    assert sentences(View.of(equal))[0].endswith(
        f", but the sign test, which decides, finds a difference between b and a (p = {p:.4f})."
    )


def test_no_cell_is_bold_and_significantly_worse() -> None:
    """A evaluates 200 users, the second hundred badly; B the first hundred alone, worse than A for one in five."""
    truth = {user: ["a"] for user in range(200)}
    a = {user: ["a", "b"] if user < 100 else ["b", "a"] for user in range(200)}
    b = {user: ["b", "a"] if user % 5 == 0 else ["a", "b"] for user in range(100)}
    found = atkay.compare({"A": a, "B": b}, truth, ["mrr"], baseline="A", no_recs="skip")
    assert [found.means[run]["mrr"].mean for run in "AB"] == pytest.approx([(100 + 50) / 200, (80 + 10) / 100])
    cells = [row[1] for row in found.mean_grid().rows]
    assert found.order == ("B", "A")
    assert [(cell.bold, cell.marks) for cell in cells] == [(False, "†"), (False, "")]  # type: ignore[union-attr]
    assert found.bold_legend == (
        "none in bold: no run is significantly better than every other run; * significantly better than A, "
        "† significantly worse; corrected p < 0.05 (t, Holm); marks compare users evaluated in both runs"
    )
    for text in (found.to_latex(), found.to_markdown(), repr(found), found._repr_html_()):
        assert "marks compare users evaluated in both runs" in text
    assert "2 runs, 100 to 200 users, compared with A." in sentences(View.of(found))


def test_what_bold_means() -> None:
    base = np.arange(20) / 100
    up, down = (np.column_stack([base, 1 + base]) + shift * (1 + base[:, None]) for shift in (0.2, -0.2))
    for metrics, (better, worse), words in (
        ("mrr hit@1", (up, down), "bold: highest mean, "),
        ("mpr mean_rank", (down, up), "bold: lowest mean, "),
        ("mrr mpr", (up, down), "bold: best mean, "),
    ):
        runs = {"a": result(worse, metrics), "b": result(better, metrics)}
        legend = f"{words}significantly better than every other run; "
        assert atkay.compare(runs).bold_legend.startswith(legend)
        assert atkay.compare(runs, baseline="a").bold_legend.startswith(legend)
        runs["c"] = result((better + worse) / 2, metrics)
        three = atkay.compare(runs)
        assert three.bold_legend.startswith(legend)
        against_c = atkay.compare(runs, baseline="c")  # it lies between the others
        assert against_c.bold_legend.startswith(f"{legend[:-2]} (runs are tested against c only); ")
        assert three.mean_grid().rows[0][1].bold  # type: ignore[union-attr]
        if len(set(metrics.split()) & {"mrr", "mpr"}) > 1:
            continue  # here a, too, is the best in one metric
        # Two challengers are not tested against each other: which one is the best is not known.
        assert atkay.compare(runs, baseline="a").bold_legend.startswith(
            "none in bold: no run is significantly better than every other run (runs are tested against a only); "
        )


def test_what_is_not_tested_is_not_bold() -> None:
    lists = {"a": {1: ["x", "y"], 2: ["y", "x"]}, "b": {1: ["x", "y"], 2: ["x", "y"]}}
    found = atkay.compare(lists, {1: ["x"], 2: ["x"]}, "median_rank")
    assert found.order == ("b", "a")
    assert "**" not in found.to_markdown()
    assert found.bold_legend == "no marks: none of these metrics was tested"


def test_many_runs_are_marked_by_numbers() -> None:
    runs = {f"run {at}": result(np.arange(5) / 10) for at in range(27)}
    assert atkay.compare(runs, test="t").legend.startswith(
        "numbers: significantly better than the run with that number"
    )
    del runs["run 26"]
    assert atkay.compare(runs, test="t").legend.startswith("letters: ")


def test_a_number_of_the_whole_run_is_no_mean() -> None:
    lists = {"a": {1: ["y", "x"]}, "b": {1: ["x", "y"]}, "c": {1: ["x", "y"]}}
    found = atkay.compare(lists, {1: ["x"]}, "median_rank")
    assert sentences(View.of(found))[0] == "b and c have the same lowest median_rank: 1.0000."
    del lists["c"]
    found = atkay.compare(lists, {1: ["x"]}, "median_rank")
    assert sentences(View.of(found))[0].startswith("b has the lowest median_rank, 1.0000")


def test_means_that_are_equal_both_lead() -> None:
    """0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1, by values that round in other ways."""
    runs = {"a": result([0.1 + 0.2, 0.4]), "b": result([0.3, 0.4]), "c": result([0.1, 0.1])}
    found = atkay.compare(runs)
    assert found.means["a"]["mrr"].mean != found.means["b"]["mrr"].mean
    assert found.leaders("mrr") == ["a", "b"]
    assert [row[1].bold for row in found.mean_grid().rows] == [False] * 3  # type: ignore[union-attr]
    assert sentences(View.of(found))[0].startswith("a and b have the same highest mean mrr: 0.3500")


def test_the_headline() -> None:
    """A winner is named where the test names it."""
    rng = np.random.default_rng(1)
    base = rng.random(60) / 2
    noise = [base + rng.normal(0, 0.1, 60) for _ in range(2)]
    good, better = (base + shift + rng.normal(0, 0.02, 60) for shift in (0.2, 0.4))

    def headline(baseline: str | None = None, **values: Any) -> str:
        runs = {name: result(column) for name, column in values.items()}
        return re.sub(r" \(.*?\)", "", sentences(View.of(atkay.compare(runs, baseline=baseline)))[0])

    best = f"{better.mean():.4f}"
    assert headline(a=base, b=better) == f"b is significantly better than a in mrr: {best}."
    assert headline(a=base, b=good, c=better) == f"c is significantly better than every other run in mrr: {best}."
    assert headline("a", a=base, b=good, c=better) == (
        f"c has the highest mean mrr, {best}: significantly better than a, not tested against b."
    )
    assert headline("c", a=base, b=good, c=better) == f"c is significantly better than every other run in mrr: {best}."
    first = f"{max(noise, key=np.mean).mean():.4f}"
    leader = "xy"[int(np.argmax([column.mean() for column in noise]))]
    assert headline(x=noise[0], y=noise[1]) == (
        f"No significant difference in mrr. {leader} has the highest mean mrr, {first}."
    )
    close = better + np.repeat([1e-3, -1e-3], 30) + 1e-5
    assert headline(a=base, b=better, c=close) == (
        f"c has the highest mean mrr, {close.mean():.4f}: significantly better than a, not significantly better than b."
    )


def test_the_headline_of_other_users() -> None:
    """b has the higher mean, by easier users; for each user that both have, a is better."""
    rng = np.random.default_rng(2)
    common = rng.random(40) / 4
    a = result(np.concatenate([common + 0.2 + rng.normal(0, 0.01, 40), np.zeros(40)]), ids=range(80))
    b = result(np.concatenate([common, np.full(40, 0.9)]), ids=[*range(40), *range(100, 140)])
    (said, *_) = sentences(View.of(atkay.compare({"a": a, "b": b})))
    assert said.startswith("b has the highest mean mrr")
    assert said.endswith(": significantly worse than a on the users evaluated in both.")


def test_every_pair_of_letters() -> None:
    """A run between two others is higher than one of them, and lower than the other."""
    base = np.arange(20) / 10
    spread = (np.arange(20) % 3 - 1) / 100
    runs = {name: result(base + shift * (1 + spread), "arp@10") for name, shift in zip("abc", (0, 1, 2), strict=True)}
    marks = [row[1].marks for row in atkay.compare(runs).mean_grid().rows]  # type: ignore[union-attr]
    assert marks == ["", "a", "ab"]
