"""The page for whoever decides: what stands first, what can be chosen and saved, and what makes it again."""

from __future__ import annotations

import base64
import csv
import io
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import atkay
from atkay.cli.app import app
from atkay.core.types import Slicing
from atkay.reporting.card import by_segment
from atkay.reporting.view import View
from made import result
from opened import Opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TRUTH = {f"u{user}": ["a", "b"] for user in range(60)}
RUNS = {
    "old": {user: ["a", "x", "y"] if int(user[1:]) % 3 else ["x", "y", "z"] for user in TRUTH},
    "new": {user: ["a", "b", "x"] if int(user[1:]) % 3 else ["x", "w", "v"] for user in TRUTH},
    "low": {user: ["x", "y", "b"] for user in TRUTH},
}
SEGMENTS = {user: "third" if int(user[1:]) % 3 == 0 else "other" for user in TRUTH}
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

REDS = """async (source) => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const { width, height } = image;
  const pen = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
  pen.drawImage(image, 0, 0);
  const { data } = pen.getImageData(0, 0, width, height), red = [0xfb, 0xdc, 0xd4];
  return data.filter((_, at) => at % 4 === 0 && red.every((part, n) => data[at + n] === part)).length;
}"""
"""How many pixels of a picture are of the red of the page."""


def run(line: str) -> Any:
    return CliRunner().invoke(app, shlex.split(line), prog_name="atkay")


@pytest.fixture(scope="module")
def comparison() -> atkay.Comparison:
    return atkay.compare(RUNS, TRUTH, "ndcg@3,recall@3,precision@3,arp@3", slices=SEGMENTS, train=RUNS["low"], test="t")


@pytest.fixture
def page(browser: Browser, comparison: atkay.Comparison, tmp_path: Path) -> Opened:
    (tmp_path / "b.png").write_bytes(PIXEL)
    features = {
        "item": ["a", "b", "x"],
        "title": ["Apple <b>", "Bread", "Xigua"],
        "image": [
            "data:image/png;base64," + base64.b64encode(PIXEL).decode(),
            str(tmp_path / "b.png"),
            "https://x.org/x",
        ],
    }
    import polars as pl

    atkay.report(comparison, tmp_path / "page.html", features=pl.DataFrame(features))
    return Opened(browser, tmp_path / "page.html", viewport={"width": 1280, "height": 860})


def test_the_first_screen_of_the_demo(browser: Browser, tmp_path: Path) -> None:
    """The model wins 11 % with earlier users and loses 29 % with this year's, without a look further down."""
    assert run(f"demo -o {tmp_path / 'page.html'}").exit_code == 0
    for width, height in ((1280, 860), (390, 844)):
        found = Opened(browser, tmp_path / "page.html", viewport={"width": width, "height": height})
        said = found.page.locator("#verdict-segments")
        assert said.inner_text() == "By since: model wins 11 % with earlier and loses 29 % with this year."
        box = said.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < height
        assert found.page.evaluate("document.documentElement.scrollWidth") == width
    first = found.page.locator("#summary tbody tr")
    assert [first.nth(row).locator(".mark[data-number='1']").inner_text() for row in (1, 2)] == ["+11 %", "-29 %"]
    assert found.page.locator("#verdict-word").inner_text() == "Not worse overall, worse in part"
    assert found.page.locator("#verdict").get_attribute("class") == "mixed"
    lost, gained = (
        [float(text) for text in side.locator("li .score:last-child").all_inner_texts()]
        for side in found.page.locator("#moved-users > div").all()
    )
    assert (lost, gained) == (sorted(lost), sorted(gained, reverse=True))
    assert (len(lost), len(gained), lost[0] < -0.5, gained[0] > 0.5) == (8, 8, True, True)
    assert [found.said, found.asked] == [[], [found.url]]


@pytest.mark.parametrize(
    ("names", "counts", "words"),
    [
        ("ABC", [20, 20, 20], "wins 100 % with A and 100 % with B, and loses 50 % with C"),
        ("AC", [40, 20], "wins 100 % with A and loses 50 % with C"),
    ],
)
def test_gains_by_segment_share_a_verb(names: str, counts: list[int], words: str) -> None:
    """40 users rise from a mean of 0.25 to 0.5, and 20 fall from 0.5 to 0.25."""
    values = {"old": [0.2, 0.3] * 20 + [0.5] * 20, "new": [0.5] * 40 + [0.2, 0.3] * 10}
    slicing = Slicing("kind", list(names), np.repeat(np.arange(len(names)), counts))
    runs = {name: result(of_run, slicings=(slicing,)) for name, of_run in values.items()}
    compared = atkay.compare(runs, baseline="old", test="t")
    assert by_segment(View.of(compared), compared.differences[0]) == f"By kind: new {words}."


def test_the_word_is_that_of_min_effect(tmp_path: Path) -> None:
    """60 users, of whom two lose 0.1: the mean falls by 0.0033, the interval reaches 0.008."""
    values = [0.5] * 60
    runs = {"old": result(values), "new": result([0.4, 0.4, *values[2:]])}
    for least, word in ((None, "Cannot tell"), (0.005, "Cannot tell"), (0.01, "Not worse")):
        found = atkay.compare(runs, baseline="old", test="t", min_effect=least)
        atkay.report(found, tmp_path / "page.html")
        assert f'id="verdict-word">{word}</strong>' in (tmp_path / "page.html").read_text()
    same = atkay.compare({"old": runs["old"], "new": runs["old"]}, baseline="old", test="t")
    atkay.report(same, tmp_path / "page.html")
    assert 'id="verdict-word">Not worse</strong>' in (tmp_path / "page.html").read_text()


def test_the_baseline_can_be_chosen_where_every_pair_is_compared(page: Opened, comparison: atkay.Comparison) -> None:
    (pair,) = (each for each in comparison["ndcg@3"] if {each.run, each.against} == {"old", "new"})
    assert (pair.run, pair.against) == ("new", "old")
    assert page.page.locator("#verdict").inner_text().startswith("new compared with old, ndcg@3")
    means = {name: comparison.means[name]["ndcg@3"].mean for name in RUNS}
    board = page.page.locator("#leaderboard tbody").first
    order = [name[:3] for name in board.locator("th").all_inner_texts()]
    assert order == sorted(means, key=lambda run: -means[run])
    page.choose("against", "1")
    assert page.page.locator("#verdict-title").inner_text() == "old compared with new, ndcg@3"
    change = 100 * (means["old"] - means["new"]) / means["new"]
    assert page.page.locator("#verdict-change").inner_text() == f"{change:+.0f} %"
    assert page.page.locator("#verdict").get_attribute("class") == "worse"
    marks = board.locator("tr", has_text="old").locator(".mark").first
    assert (marks.inner_text(), marks.get_attribute("class")) == (f"{change:+.0f} %", "mark worse")
    assert board.locator("tr", has_text="new").locator(".mark").first.inner_text() == ""
    tiers = board.locator(".tier")
    assert tiers.locator("span").all_inner_texts() == [str(tier) for tier in (1, 2, 3)]
    assert tiers.locator("small").all_inner_texts() == ["rank 1", "rank 2", "rank 3"]
    page.choose("metric", "arp")
    assert tiers.locator("span").all_inner_texts() == ["–"] * 3  # it has no direction
    assert page.page.locator("#verdict-word").inner_text() in ("Higher", "Lower")
    assert page.said == []


def test_users_who_lost_and_gained_are_searched_and_shown_side_by_side(page: Opened) -> None:
    gained = page.page.locator("#moved-users > div").nth(1)
    assert gained.locator("h3").inner_text() == "Gained most in ndcg@3"
    gained.locator("button").first.click()
    user = gained.locator("button").first.inner_text()
    assert SEGMENTS[user] == "other"
    lists = page.page.locator(".lists > div")
    assert lists.locator("h4").all_inner_texts() == ["Truth: 2 relevant", "old: 3 listed", "new: 3 listed"]
    new = lists.nth(2).locator("li")
    # Next to a, b, x: nothing, new, and down from rank 2.
    assert [row.locator(".moved").all_inner_texts() for row in new.all()] == [[], ["new"], ["▼ 1"]]
    assert lists.nth(1).locator(".gone").all_inner_texts() == ["left"]
    assert new.nth(0).locator("bdi").all_inner_texts() == ["Apple <b>", "a"]
    assert new.nth(1).locator("img").evaluate("image => image.decode().then(() => image.naturalWidth)") == 1
    assert new.nth(2).locator("a").get_attribute("href") == "https://x.org/x"
    page.page.fill("#find", "U57")
    assert page.page.locator("#user option").all_inner_texts() == ["u57"]
    assert "u57" in page.page.locator("#one-user caption").inner_text()
    page.page.fill("#find", "nobody")
    assert "No user on this page" in page.page.locator("#one-user").inner_text()
    assert (page.said, len(page.asked)) == ([], 1)


def test_tables_are_saved(page: Opened, comparison: atkay.Comparison, tmp_path: Path) -> None:
    saved = {}
    box = page.page.locator("#leaderboard .forms").first
    for form in ("CSV", "LaTeX", "PNG"):
        with page.page.expect_download() as waiting:
            box.get_by_text(form, exact=True).click()
        waiting.value.save_as(tmp_path / form)
        saved[waiting.value.suggested_filename] = (tmp_path / form).read_bytes()
    assert list(saved) == ["means-of-the-runs.csv", "means-of-the-runs.tex", "means-of-the-runs.png"]
    text, tex, png = saved.values()
    # The table has its colours, whatever the scheme of the page: the red of what is significantly worse.
    code = base64.b64encode(png).decode()
    assert page.page.evaluate(REDS, f"data:image/png;base64,{code}") > 100
    rows = list(csv.DictReader(io.StringIO(text.decode())))
    assert {row["run"][:3]: row["tier"] for row in rows} == {"new": "1", "old": "2", "low": "3"}
    for row in rows:
        found = comparison.means[row["run"][:3]]["ndcg@3"]
        assert row["ndcg@3"].rstrip("abc") == f"{found.mean:.4f}"
        assert row["ndcg@3 interval"] == f"[{found.low:.4f}, {found.high:.4f}]"
    assert rows[0]["ndcg@3 difference"].endswith(" %")
    assert tex.startswith(b"\\begin{tabular}{lrrrrr}\n\\toprule\nrun & tier & ndcg@3 $\\uparrow$ & ")
    assert tex.decode().count(r" \\") == 4


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, lists in {**RUNS, "truth": TRUTH}.items():
        lines = [f"{user},{item}" for user, items in lists.items() for item in items]
        Path(f"{name}.csv").write_text("\n".join(["user,item", *lines]))
    Path("users.csv").write_text("\n".join(["user,part", *(f"{user},{part}" for user, part in SEGMENTS.items())]))
    Path("items.csv").write_text("item,title\na,An apple\nb,Bread\n")
    return tmp_path


def without_date(page: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "", page)


def printed(page: str) -> str:
    import html

    found = re.search(r'id="reproduce"[^>]*><code>(.*?)</code>', page, re.DOTALL)
    assert found is not None
    return html.unescape(found[1])


def test_the_command_gives_the_same_page_again(files: Path) -> None:
    line = "report old.csv 'a new one=new.csv' low.csv --truth truth.csv -m ndcg@3 --slices users.csv --every-pair"
    line += " --test t --features items.csv -o a.html"
    assert run(line).exit_code == 0
    first = Path("a.html").read_text()
    assert '{"title":"An apple"}' in first
    command = printed(first)
    assert shlex.split(command)[1:] == shlex.split(line)
    Path("a.html").unlink()
    assert run(command.removeprefix("atkay ")).exit_code == 0
    assert without_date(Path("a.html").read_text()) == without_date(first)
    for name in ("old.csv", "new.csv", "low.csv", "truth.csv", "users.csv", "items.csv"):
        assert re.search(rf">{name}<", first)


def test_the_code_gives_the_same_page_again(files: Path) -> None:
    runs = {name: f"{name}.csv" for name in ("old", "new")}
    columns = atkay.Columns(user="user")
    found = atkay.compare(runs, "truth.csv", "ndcg@3", slices="users.csv", test="t", baseline="old", columns=columns)
    atkay.report(found, "a.html", title="It's new", recs=runs, truth="truth.csv", columns=columns)
    first = Path("a.html").read_text()
    Path("a.html").unlink()
    exec(printed(first), {})
    assert without_date(Path("a.html").read_text()) == without_date(first)
    # Tables without a file are named.
    atkay.report(atkay.evaluate(RUNS["new"], TRUTH, "mrr", slices=SEGMENTS), "b.html")
    named = Path("b.html").read_text()
    assert "recs, truth, slices: the tables as they were passed." in named
    exec(printed(named), {"recs": RUNS["new"], "truth": TRUTH, "slices": SEGMENTS})
    assert without_date(Path("b.html").read_text()) == without_date(named)


def test_many_runs_are_drawn_few_at_a_time(browser: Browser, tmp_path: Path) -> None:
    runs = {f"run {at}": RUNS["new" if at % 2 else "old"] for at in range(12)}
    atkay.report(atkay.compare(runs, TRUTH, "ndcg@1,3", baseline="run 0", test="t"), tmp_path / "page.html")
    found = Opened(browser, tmp_path / "page.html", viewport={"width": 390, "height": 844})
    assert found.page.locator("#leaderboard tbody tr").first.locator("xpath=..").locator("tr").count() == 12
    assert "5 of 12 runs" in found.page.locator("#curves-caption").inner_text()
    assert found.page.locator("#curves-chart svg .role-legend-label text").count() == 5
    found.choose("run", "11")
    assert "run 11" in found.page.locator("#curves-table").text_content()  # type: ignore[operator]  # it has text
    assert found.page.evaluate("document.documentElement.scrollWidth") == 390
    assert found.said == []


def test_a_number_of_whole_runs_alone(tmp_path: Path) -> None:
    """Segments have their users, although no users are paired, and nothing stands below a heading without a word."""
    catalog = ["a", "b", "x", "y", "z", "w", "v"]
    compared = atkay.compare(RUNS, TRUTH, "coverage@3", slices=SEGMENTS, catalog=catalog, baseline="old")
    atkay.report(compared, tmp_path / "page.html")
    written = (tmp_path / "page.html").read_text()
    assert re.findall(r"<small>(\d+) users</small>", written)[:2] == ["40", "20"]
    assert 'id="changed"><li>Nothing else was measured.</li>' in written
