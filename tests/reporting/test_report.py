"""The report: one page, looked at in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import atkay
from atkay.errors import InputError
from atkay.reporting.data import page_data
from atkay.reporting.reproduce import call
from atkay.reporting.view import View
from atkay.results.population import Population
from atkay.results.result import Result
from opened import Opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "\"quoted\" & 'quoted' `${alert(4)}`",
    "🍵 tea",
    "שלום \u202eright to left",
    "javascript:alert(5)",
    "x" * 10_000,
]
"""Ids that some page has believed before."""


def lists(skill: float, seed: int) -> dict[str, list[str]]:
    """Ten of forty items for each of 150 users; the wanted ones, i0 to i2, more often."""
    rng = np.random.default_rng(seed)
    weights = np.where(np.arange(40) < 3, skill, 1.0)
    draw = weights / weights.sum()
    return {f"u{user}": [f"i{n}" for n in rng.choice(40, 10, replace=False, p=draw)] for user in range(150)}


TRUTH = {f"u{user}": {"i0": 2, "i1": 1, "i2": 1} for user in range(150)}
SEGMENTS = {f"u{user}": "new" if user % 3 else "old" for user in range(150)}
RUNS = {"base": lists(2.0, 1), "same": lists(2.0, 2), "new": lists(8.0, 3)}


@pytest.fixture(scope="module")
def comparison() -> atkay.Comparison:
    metrics = ["ndcg@1,5,10", "recall@5,10", "coverage@10"]
    catalog = [f"i{n}" for n in range(40)]
    return atkay.compare(RUNS, TRUTH, metrics, baseline="base", slices=SEGMENTS, catalog=catalog)


@pytest.fixture(scope="module")
def path(comparison: atkay.Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    atkay.report(comparison, path, title="Three runs", recs=RUNS, truth=TRUTH)
    return path


@pytest.fixture
def opened(browser: Browser, path: Path) -> Iterator[Opened]:
    found = Opened(browser, path, viewport={"width": 1280, "height": 900})
    yield found
    assert found.said == []
    assert found.asked == [found.url]
    found.page.context.close()


def test_the_page_loads_and_asks_for_nothing(opened: Opened) -> None:
    charts = ("means", "curves", "users", "differences", "moved", "slices", "trade")
    for name in charts:
        assert opened.page.locator(f"#{name}-chart svg").count() == 1, name
        assert opened.page.locator(f"#{name}-caption").inner_text()
    assert opened.page.locator("h1").inner_text() == "Three runs"
    assert "new compared with base, ndcg@10" in opened.page.locator("#verdict").inner_text()
    assert "new has the highest mean ndcg@10" in opened.page.locator("#leaderboard").inner_text()


def test_what_stands_there_is_what_was_found(opened: Opened, comparison: atkay.Comparison) -> None:
    board = opened.page.locator("#leaderboard table").first.inner_text()
    for run in comparison.runs:
        found = comparison.means[run]["ndcg@10"]
        assert f"{found.mean:.4f}" in board
        assert f"[{found.low:.4f}, {found.high:.4f}]" in board
    # The bars of a distribution hold all users.
    opened.page.locator("#users-figure summary").click()
    rows = opened.page.locator("#users-table tbody tr").all_inner_texts()
    assert sum(int(row.split("\t")[3].replace(",", "")) for row in rows) == 3 * 150


def test_the_controls_change_the_charts(opened: Opened) -> None:
    before = {name: opened.svg(name) for name in ("means", "curves", "users", "differences", "moved", "slices")}
    opened.choose("cutoff", "5")
    cut = {name: opened.svg(name) for name in before}
    assert all(cut[name] != before[name] for name in before if name != "curves")
    assert cut["curves"] == before["curves"]  # it has all cutoffs
    opened.choose("metric", "recall")
    assert all(opened.svg(name) != cut[name] for name in before)
    assert opened.page.locator("#means-caption").inner_text().startswith("recall@5")
    moved = opened.svg("moved")
    opened.choose("run", "1")
    assert opened.svg("moved") != moved
    assert "same vs base" in opened.page.locator("#moved-caption").inner_text()
    assert opened.page.locator("#verdict-title").inner_text() == "same compared with base, recall@5"


def test_tables_follow_the_cutoff(opened: Opened) -> None:
    head = opened.page.locator("#leaderboard thead").first
    assert "ndcg@10" in head.inner_text()
    assert "ndcg@5" not in head.inner_text()
    opened.page.check("#every")
    assert "ndcg@5" in head.inner_text()


def test_the_explorer_shows_a_user(opened: Opened, comparison: atkay.Comparison) -> None:
    user = opened.page.locator("#user option").nth(7).inner_text()
    opened.page.select_option("#user", "7")
    shown = opened.page.locator("#one-user")
    result = comparison.results["new"]
    row = list(result.ids["user"]).index(user)
    value = result.query_values[row, result.by_query.index("ndcg@10")]
    rows = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    sums = {(metric, run): said for metric, run, *said in shown.locator("tbody tr").evaluate_all(rows)}
    assert sums["ndcg@10", "new"][0] == f"{value:.4f}"
    assert sums["ndcg@10", "new"][1].endswith(f"= {value:.4f}")
    assert ("coverage@10", "new") not in sums  # no user has one
    places = shown.locator(".lists > div").nth(2).locator("li")
    assert places.locator(".item").all_inner_texts() == RUNS["new"][user]
    hits = places.and_(opened.page.locator(".hit")).locator(".item").all_inner_texts()
    assert hits == [item for item in RUNS["new"][user] if item in TRUTH[user]]
    opened.page.click("#after")
    assert opened.page.input_value("#user") == "8"


def test_the_keyboard_reaches_everything(opened: Opened) -> None:
    seen = []
    for _ in range(160):
        opened.page.keyboard.press("Tab")
        seen.append(opened.page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    assert opened.page.evaluate("document.querySelector('.skip').getAttribute('href')") == "#main"
    order = [
        seen.index(name) for name in ("theme", "metric", "cutoff", "run", "every", "across", "find", "user", "after")
    ]
    assert order == sorted(order)
    opened.page.focus("#cutoff")
    before = opened.svg("means")
    opened.page.keyboard.press("ArrowUp")
    opened.ready()
    assert opened.svg("means") != before


def test_light_and_dark(browser: Browser, path: Path) -> None:
    def colours(found: Opened) -> tuple[str, str]:
        style = "selector => getComputedStyle(document.querySelector(selector))"
        paper = found.page.evaluate(f"({style})('body').backgroundColor")
        return paper, found.page.evaluate(f"({style})('#means-chart svg text').fill")

    found = Opened(browser, path, color_scheme="dark")
    dark = colours(found)
    found.page.click("#theme")  # light, whatever the system says
    light = colours(found)
    found.page.click("#theme")
    assert colours(found) == dark
    assert light == ("rgb(255, 255, 255)", "rgb(29, 35, 43)")
    assert dark == ("rgb(20, 24, 29)", "rgb(228, 232, 238)")
    found.page.context.close()


def test_a_phone_scrolls_in_one_direction(browser: Browser, path: Path) -> None:
    found = Opened(browser, path, viewport={"width": 360, "height": 740})
    assert found.page.evaluate("document.documentElement.scrollWidth") == 360
    assert found.page.locator("#means-chart svg").bounding_box()["width"] <= 360  # type: ignore[index]  # it is there
    found.page.context.close()


def test_on_paper(browser: Browser, path: Path) -> None:
    found = Opened(browser, path)
    found.page.emulate_media(media="print")
    assert not found.page.locator("#controls").is_visible()
    assert found.page.locator("#leaderboard table").first.is_visible()
    assert found.page.pdf()[:4] == b"%PDF"
    found.page.context.close()


def test_charts_are_saved(opened: Opened, tmp_path: Path) -> None:
    for form, begins in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with opened.page.expect_download() as waiting:
            opened.page.click(f"button[data-save='means.{form}']")
        waiting.value.save_as(tmp_path / f"means.{form}")
        assert (tmp_path / f"means.{form}").read_bytes().startswith(begins)
    opened.asked[:] = opened.asked[:1]  # what was saved counts as asked for


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Users, items, runs, segments and the title: all of them hostile."""
    truth = dict.fromkeys(HOSTILE, HOSTILE[:3])
    runs = {name: {user: [*HOSTILE[at:], *HOSTILE[:at]] for user in HOSTILE} for at, name in enumerate(HOSTILE)}
    slices = {user: HOSTILE[at // 2] for at, user in enumerate(HOSTILE)}
    found = atkay.compare(runs, truth, ["ndcg@3,5", "coverage@3"], slices=slices, catalog=HOSTILE, test="t")
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    atkay.report(found, path, title=HOSTILE[0], recs={HOSTILE[1]: runs[HOSTILE[1]]}, truth=truth)
    return path


def test_hostile_ids_are_text(browser: Browser, hostile: Path) -> None:
    found = Opened(browser, hostile, viewport={"width": 800, "height": 600})
    isolated = "\u2068{}\u2069"  # what runs from right to left turns nothing around it
    texts = [text if len(text) < 200 else f"{text[:120]}… (10,000 characters)" for text in HOSTILE]
    texts = [isolated.format(text.replace("\u202e", r"\u202e")) if "\u202e" in text else text for text in texts]
    options = found.page.locator("#user option").all_text_contents()
    assert sorted(options) == sorted(texts)
    for at in range(len(HOSTILE)):
        found.page.select_option("#user", str(at))
        items = found.page.locator(".lists > div").nth(1).locator(".item").all_inner_texts()
        assert sorted(items) == sorted(texts)
    for at in range(len(HOSTILE)):
        found.choose("against", str(at))
        assert found.page.locator("#verdict-word").inner_text()
    assert found.page.locator("h1").inner_text() == HOSTILE[0]
    # A chart's labels and its tooltip, too.
    found.page.locator("#means-chart svg path[aria-roledescription=point]").first.hover(force=True)
    found.page.wait_for_selector("#vg-tooltip-element.visible")
    assert "<script>alert(1)</script>" in found.page.locator("#vg-tooltip-element").inner_text()
    assert found.page.locator("script").count() == 3
    assert found.page.locator("img").count() == 0
    assert found.page.evaluate("document.documentElement.scrollWidth") == 800
    assert found.said == []
    assert found.asked == [found.url]
    found.page.context.close()


def big(runs: int, users: int) -> atkay.Comparison:
    """A comparison of so many runs and users, out of random values."""
    rng = np.random.default_rng(5)
    specs = [f"{name}@5,10,20" for name in ("ndcg", "map", "mrr", "recall", "precision", "hit")]
    metrics = tuple(map(atkay.parse, specs))
    counts = dict.fromkeys(
        (
            "without_list",
            "without_truth",
            "emptied",
            "unknown",
            "excluded",
            "outside",
            "unjudged",
            "duplicated",
            "tied",
        ),
        0,
    )
    population = Population(evaluated=users, relevant=users, hits=1, listed=users, **counts)
    few = atkay.evaluate(RUNS["base"], TRUTH, specs)
    long = few.example_users
    assert long is not None
    results = {}
    for run in range(runs):
        values = rng.random((users, 18))
        ids = {"user": np.array([f"user number {n}" for n in range(users)])}
        result = Result(metrics, values, ids, population, atkay.Protocol())
        results[f"run number {run}"] = replace(result, examples=replace(long, rows=np.arange(len(long))))
    return atkay.compare(results, test="t", baseline="run number 0")


@pytest.mark.parametrize("users", [10_000, pytest.param(100_000, marks=pytest.mark.deep)])
def test_the_size_of_a_large_page(users: int, tmp_path: Path) -> None:
    path = tmp_path / "large.html"
    atkay.report(big(10, users), path)
    assert path.stat().st_size < 4_000_000
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', path.read_text())[1])  # type: ignore[index]
    assert len(data["explorer"]["users"]) == 6000 // (10 * 18)
    assert data["explorer"]["of"] == users
    assert sum(data["users"][0]["counts"][0]) == users


def test_one_result_alone(browser: Browser, tmp_path: Path) -> None:
    result = atkay.evaluate(RUNS["new"], TRUTH, ["ndcg@5,10", "mrr"])
    atkay.report(result, tmp_path / "one.html")
    found = Opened(browser, tmp_path / "one.html")
    assert f"ndcg@10 is {result['ndcg@10']:.4f}" in found.page.locator("#summary").inner_text()
    found.choose("metric", "mrr")
    assert found.page.locator("#cutoff option").all_inner_texts() == ["whole list"]
    assert found.page.locator("#verdict, #differences-figure, #run").count() == 0
    assert "Worst in mrr" in found.page.locator("#moved-users").inner_text()
    assert found.said == []
    found.page.context.close()


def test_what_was_saved_has_less_to_show(browser: Browser, comparison: atkay.Comparison, tmp_path: Path) -> None:
    comparison.save(tmp_path / "comparison.json")
    atkay.report(atkay.Comparison.load(tmp_path / "comparison.json"), tmp_path / "page.html")
    found = Opened(browser, tmp_path / "page.html")
    assert "no per-user values" in found.page.locator("#charts").inner_text()
    assert "are not saved" in found.page.locator("#explorer").inner_text()
    assert "pass the data again" in (found.page.locator("#conventions").text_content() or "")
    found.choose("cutoff", "5")
    assert found.said == []
    found.page.context.close()
    comparison.results["new"].save(tmp_path / "result.json")
    atkay.report(Result.load(tmp_path / "result.json"), tmp_path / "page.html")
    assert "are not saved" in (tmp_path / "page.html").read_text()


def test_charts_as_files(comparison: atkay.Comparison, tmp_path: Path) -> None:
    result = comparison.results["new"]
    charts = [
        comparison.plot(),
        result.plot(),
        result.plot("curves"),
        atkay.variants(RUNS["new"], TRUTH, "map@5").plot(),
    ]
    for at, chart in enumerate(charts):
        chart.save(str(tmp_path / f"{at}.png"))
        chart.save(str(tmp_path / f"{at}.svg"))
        assert (tmp_path / f"{at}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / f"{at}.svg").read_text().startswith("<svg")


def test_notebooks_show_tables(comparison: atkay.Comparison) -> None:
    shown: list[Any] = [comparison, comparison.results["new"], atkay.variants(RUNS["new"], TRUTH, "map@5")]
    assert all("<table>" in each._repr_html_() for each in shown)


def test_what_is_refused(comparison: atkay.Comparison, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pass a Result or a Comparison, got a dict"):
        atkay.report({}, tmp_path / "a.html")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"need both recs= and truth=.*got 'recs'"):
        atkay.report(comparison, tmp_path / "a.html", recs=RUNS)
    with pytest.raises(InputError, match="unknown run 'old'; runs are 'base', 'same', 'new'"):
        atkay.report(comparison, tmp_path / "a.html", recs={"old": RUNS["base"]}, truth=TRUTH)
    assert not list(tmp_path.iterdir())


def test_the_call_gives_the_numbers_again() -> None:
    recs = {user: items for user, items in RUNS["new"].items() if user != "u3"}
    result = atkay.evaluate(recs, TRUTH, "mrr,mrr@5,ndcg@5,10", no_recs="skip", min_relevance=2, ties="item")
    known: dict[str, Any] = {"recs": recs, "truth": TRUTH}
    exec(call(View.of(result)), known)
    again = known["result"]
    assert dict(again) == dict(result)
    assert again.protocol == result.protocol
    found = atkay.compare(
        RUNS, TRUTH, "ndcg@5", baseline="base", test="bootstrap", rng=3, min_effect=0.1, interval="bca"
    )
    known = {"runs": RUNS, "truth": TRUTH}
    exec(call(View.of(found)), known)
    assert known["comparison"].to_dict() == found.to_dict()
    for dialect in ("haystack<3.1", "replay", "xgboost<2"):  # the same dialect, edition included, and its own names
        result = atkay.evaluate(RUNS["new"], TRUTH, ["map@3", "ndcg@5"], dialect=dialect)
        known = {"recs": RUNS["new"], "truth": TRUTH}
        exec(call(View.of(result)), known)
        assert (dict(known["result"]), known["result"].dialect) == (dict(result), result.dialect)


def test_what_the_page_says_besides(tmp_path: Path) -> None:
    tied = {user: dict.fromkeys(items, 1.0) for user, items in RUNS["base"].items()}
    ties: Any
    for ties, said in (("given", True), ("expected", False)):
        atkay.report(atkay.evaluate(tied, TRUTH, "ndcg@5", ties=ties), tmp_path / "a.html")
        assert ("The order of equal scores decides" in (tmp_path / "a.html").read_text()) == said
    result = atkay.evaluate(RUNS["base"], TRUTH, "ndcg@5", dialect="ranx")
    atkay.report(result, tmp_path / "a.html")
    assert f"Conventions of {result.dialect}." in (tmp_path / "a.html").read_text()
    some = dict(list(RUNS["base"].items())[1:])
    count, missing = len(TRUTH), len(TRUTH) - len(some)
    no_recs: Any
    for no_recs, how in (("zero", "counted with an empty list"), ("skip", "skipped")):
        result = atkay.evaluate(some, TRUTH, "ndcg@5", no_recs=no_recs, weights=dict.fromkeys(TRUTH, 2.0))
        atkay.report(result, tmp_path / "a.html")
        page = (tmp_path / "a.html").read_text()
        assert f"No list for {missing} of {count} users: {how}." in page
        assert f"{result.population.evaluated} users, weighted; created" in page


def test_bounds_and_chance_stand_in_the_page(tmp_path: Path) -> None:
    def page(result: atkay.Result | atkay.Comparison) -> str:
        atkay.report(result, tmp_path / "a.html")
        return (tmp_path / "a.html").read_text()

    good, bad, truth = {1: ["a", "x"]}, {1: ["n", "a"]}, {1: {"a": 1, "n": 0}}
    text = page(atkay.compare({"bad": bad, "good": good}, truth, "mrr"))
    assert "cannot be turned by the unjudged items" in text
    assert "1 of 2 listed items unjudged" in text
    assert "Chance and the best order: good" in text
    result = atkay.evaluate(good, truth, "mrr")
    assert "1 of 2 listed items unjudged" in page(result)
    assert "Bounds and chance need the lists" in page(replace(result, again=None))
    long = atkay.evaluate({1: ["a", *map(str, range(3_000))]}, truth, "mrr")
    assert "These lists are too long to do this for every report" in page(long)


def test_those_who_lost_and_gained_most_are_in_the_page(comparison: atkay.Comparison) -> None:
    page = page_data(View.of(comparison))["explorer"]
    ids, each = [user["id"] for user in page["users"]], page["extreme"]
    assert (len(ids), len(set(ids)), each) == (100, 100, 100 // (4 * 2))
    base = comparison.results["base"].per_query.sort("user")
    for run in ("same", "new"):
        values = comparison.results[run].per_query.sort("user")["ndcg@10"] - base["ndcg@10"]
        for way in (1, -1):
            by_size = sorted(zip((way * values).to_list(), base["user"], strict=True))
            least = by_size[each - 1][0]
            assert {user for value, user in by_size if value < least} <= set(ids)
    # Of one run those with the lowest and the highest values.
    alone = page_data(View.of(comparison.results["new"]))["explorer"]
    ids = [user["id"] for user in alone["users"]]
    by_value = comparison.results["new"].per_query.sort("ndcg@10")
    lowest, highest = by_value["ndcg@10"][24], by_value["ndcg@10"][-25]
    beyond = by_value.filter((pl.col("ndcg@10") < lowest) | (pl.col("ndcg@10") > highest))
    assert len(beyond) > 10
    assert set(beyond["user"]) <= set(ids)


def test_the_same_users_whatever_the_order(comparison: atkay.Comparison) -> None:
    backwards = atkay.evaluate(dict(reversed(RUNS["base"].items())), TRUTH, "mrr")
    for result in (*comparison.results.values(), backwards):
        assert result.example_users is not None
        shown = [result.ids["user"][row] for row in result.example_users.rows.tolist()]
        first = next(iter(comparison.results.values()))
        assert first.example_users is not None
        assert shown == [first.ids["user"][row] for row in first.example_users.rows.tolist()]
        assert len(shown) == 100
        assert sorted(shown) != sorted(result.ids["user"])[:100]
    # Who is shown depends on the ids alone: whoever is left of them is shown by a run without some of the users.
    fewer = {user: items for user, items in RUNS["base"].items() if int(user[1:]) % 4}
    result = atkay.evaluate(fewer, TRUTH, "mrr", no_recs="skip")
    assert result.example_users is not None
    assert {user for user in shown if user in fewer} <= {
        result.ids["user"][n] for n in result.example_users.rows.tolist()
    }
