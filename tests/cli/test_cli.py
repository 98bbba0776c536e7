"""The shell: what is printed where, and how it ends."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import polars as pl
import pytest
from click.testing import CliRunner, Result

import atkay
from atkay.cli.app import COMMANDS, app

DATA = Path(__file__).parents[2] / "examples" / "data"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for file in DATA.glob("*.csv"):
        shutil.copy(file, tmp_path)
    (tmp_path / "published.md").write_text("| model | MAP | P@k |\n|-|-|-|\n| SAR | 0.110591 | 0.330753 |\n")
    for name in ("books", "games"):  # two data sets with two runs
        folder = tmp_path / "shops" / name
        folder.mkdir(parents=True)
        for each in ("recs", "other", "truth"):
            shutil.copy(DATA / f"{each}.csv", folder)
    shutil.copy(DATA.parent / "conform" / "ndcg.py", tmp_path / "mine.py")
    monkeypatch.chdir(tmp_path)
    atkay.evaluate("recs.csv", "truth.csv", "ndcg@10").save("saved.json")
    return tmp_path


def run(line: str, **given: object) -> Result:
    return CliRunner().invoke(app, shlex.split(line), prog_name="atkay", **given)  # type: ignore[arg-type]  # by name


def examples() -> list[str]:
    """The lines of all help texts that can be typed."""
    context = click.Context(app)
    texts = [click.Context(app.get_command(context, name) or app).get_help() for name in COMMANDS]
    return [line for text in texts for line in re.findall(r"^ *\$ atkay (.+)$", text, re.MULTILINE)]


def test_every_command_has_an_example() -> None:
    assert {line.split()[0] for line in examples()} == set(COMMANDS)


@pytest.mark.parametrize("line", examples())
def test_examples_of_the_help(here: Path, line: str) -> None:
    found = run(line)
    assert found.exit_code == 0, found.stderr
    assert found.output  # the page is a file; the message about it goes to standard error
    assert "warning" not in found.stderr


def test_diff_prints_one_user_and_saves_the_rest(here: Path) -> None:
    found = run("diff recs.csv other.csv truth.csv -k 5 --top 2 --query Ada --json diff.json")
    assert "Persona ✓ 2  entered (8)" in found.stdout
    content = json.loads((here / "diff.json").read_text())
    assert content["names"] == ["recs", "other"]
    assert [each["query"]["user"] for each in content["most_changed"]] == ["Fay", "Dora"]
    whole = json.loads(run("diff recs.csv other.csv -k all -f json").stdout)
    assert len(whole) == 12
    assert run("diff recs.csv recs.csv -k 5").stdout.startswith(
        "a → b: the top 5 of the lists of 12 users in both runs"
    )
    pl.read_csv(here / "other.csv").rename({"user": "who"}).write_csv(here / "who.csv")
    assert run("diff recs.csv who.csv --column run_b.user=who").stdout.startswith("recs → who: the top 10")
    assert "k must be a positive integer" in run("diff recs.csv other.csv -k five").stderr
    assert "Did you mean 'Ada'?" in run("diff recs.csv other.csv --query Adda").stderr


def test_check_ends_with_1_where_a_number_is_flagged(here: Path) -> None:
    assert run("check published.md --users 943 --k 10 --out page.html").exit_code == 0
    assert "<table>" in (here / "page.html").read_text()
    flagged = run("check published.md --users 942 --k 10 -f json")
    assert flagged.exit_code == 1
    assert [cell["flagged"] for cell in json.loads(flagged.stdout)] == [False, True]
    assert "users has no" in run("check published.md --users X=5").stderr
    assert "write a number" in run("check published.md --users many").stderr


def test_verify_ends_with_1_where_something_changed(here: Path) -> None:
    assert run("verify saved.json").exit_code == 0
    changed = run("verify saved.json --recs other.csv")
    assert changed.exit_code == 1
    assert "'recs' changed" in changed.stdout


def test_conform_ends_with_1_where_a_program_does_not_conform(here: Path) -> None:
    program = "import json, sys; [print(1 / (1 + len(json.loads(line)['truth']))) for line in sys.stdin]"
    (here / "mine.py").write_text(program)
    wrong = run(f"conform '{sys.executable} mine.py' -m hit@3 --out conform.json")
    assert wrong.exit_code == 1
    assert "no convention says this" in wrong.stdout
    assert json.loads((here / "conform.json").read_text())["conforms"] is False
    assert "cannot start" in run("conform no-such-program -m hit@3").stderr


def test_version_and_help() -> None:
    assert run("--version").stdout == f"atkay, version {atkay.__version__}\n"
    assert all(name in run("--help").stdout for name in COMMANDS)
    assert "Where to write the report." in run("demo --help").stdout


def test_clusters_and_intervals(here: Path) -> None:
    """Two users in one shop: one cluster has no interval; the intervals of both users by name."""
    Path("recs.csv").write_text("user,item\nann,tea\nbob,jam\n")
    Path("truth.csv").write_text("user,item,shop\nann,tea,x\nbob,rye,x\n")
    Path("clusters.csv").write_text("user,cluster\nann,1\nbob,2\n")
    call = "evaluate recs.csv truth.csv -m hit"
    assert "[0.0945, 0.9055]" in run(call).stdout  # Wilson's, of 1 of 2
    assert "[0.0126, 0.9874]" in run(f"{call} --interval clopper-pearson").stdout
    assert "clustered by shop (1 cluster)" in run(f"{call} --cluster shop").stdout
    assert "clustered (2 clusters)" in run(f"{call} --cluster clusters.csv").stdout
    assert "unknown value 'exact' for interval" in run(f"{call} --interval exact").stderr


def test_aggregates_and_weights(here: Path) -> None:
    Path("recs.csv").write_text("user,item\nann,tea\nbob,rye\nbob,tea\n")
    Path("truth.csv").write_text("user,item\nann,tea\nbob,tea\n")
    Path("weights.csv").write_text("user,weight\nann,1\nbob,3\n")
    call = "evaluate recs.csv truth.csv -m mrr -f json"
    for options, value in {
        "--aggregate geometric": (1 * 1 / 2) ** (1 / 2),
        "--aggregate 'worst(share=0.75)'": (1 / 2 + 1 / 2 * 1) / 1.5,
        "--weights weights.csv": (1 * 1 + 3 * 1 / 2) / 4,
    }.items():
        assert json.loads(run(f"{call} {options}").stdout)[0]["mean"] == pytest.approx(value)
    assert "choose mean, geometric, median" in run(f"{call} --aggregate middle").stderr
    both = run(f"{call} --weights weights.csv --aggregate median").stderr
    assert "--weights is for --aggregate mean or geometric, not for median" in both
    assert run(f"{call} --weights weights.csv --json saved.json").exit_code == 0
    Path("weights.csv").write_text("user,weight\nann,1\nbob,2\n")
    gate = run("gate recs.csv truth.csv --weights weights.csv --baseline saved.json")
    assert "gate: user 'bob' has different weights in 'baseline' and 'run'" in gate.stderr


def test_metrics_say_what_they_measure() -> None:
    said = "Average precision: the precision at the rank of each relevant item, averaged; early hits count more."
    assert said in run("metrics map").stdout
    assert "How early the first relevant item comes." in run("metrics mrr").stdout


def test_help_stays_light() -> None:
    code = (
        "import sys\nfrom atkay.cli.app import app\n"
        "try: app(['--help'], prog_name='atkay')\nexcept SystemExit: pass\n"
        "print([name for name in ('polars', 'scipy', 'altair', 'rich', 'numpy') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.endswith("[]\n")


def test_the_numbers_are_those_of_evaluate(here: Path) -> None:
    expected = atkay.evaluate("recs.csv", "truth.csv", ["ndcg@5", "map(per=hits)@3,5"], no_recs="skip")
    line = "evaluate recs.csv truth.csv -m 'ndcg@5,map(per=hits)@3,5' --no-recs skip"
    rows = json.loads(run(f"{line} -f json").stdout)
    assert {row["metric"]: row["mean"] for row in rows} == dict(expected)
    table = pl.read_csv(run(f"{line} --format csv").stdout.encode())
    assert table["mean"].to_list() == pytest.approx(list(expected.values()))
    assert run(f"{line} -f markdown").stdout == expected.to_markdown() + "\n"
    assert run(f"{line} -f latex").stdout == expected.to_latex() + "\n"
    assert run(line).stdout == repr(expected) + "\n"


def test_what_is_written(here: Path) -> None:
    found = run("evaluate recs.csv truth.csv -m mrr --per-query users.parquet --json mrr.json")
    assert found.exit_code == 0
    saved = atkay.Result.load("mrr.json")
    assert pl.read_parquet("users.parquet").equals(saved.per_query)
    bad = run("evaluate recs.csv truth.csv -m mrr --per-query users.xlsx")
    assert (bad.exit_code, "the suffix must be one of .parquet, .csv" in bad.stderr) == (2, True)
    nowhere = run("evaluate recs.csv truth.csv -m mrr --json no/folder.json")
    assert (nowhere.exit_code, nowhere.stdout, "create it first" in nowhere.stderr) == (2, "", True)
    folder = run("evaluate recs.csv truth.csv -m mrr --json .")
    assert (folder.exit_code, folder.stdout) == (2, "")


def test_segments_in_every_format(here: Path) -> None:
    line = "evaluate recs.csv truth.csv -m hit@5 --slices users.csv"
    rows = json.loads(run(f"{line} -f json").stdout)
    assert [row["segment"] for row in rows] == [None, "earlier", "this year"]
    assert pl.read_csv(run(f"{line} -f csv").stdout.encode())["segment"].to_list() == [None, "earlier", "this year"]
    for form in ("markdown", "latex", "table"):
        assert "this year" in run(f"{line} -f {form}").stdout
    compared = json.loads(
        run("compare recs.csv other.csv --truth truth.csv -m hit@5 --slices users.csv -f json").stdout
    )
    assert [row["segment"] for row in compared] == [None, "earlier", "this year"]


def test_numbers_stay_numbers(here: Path) -> None:
    [first, *_] = json.loads(run("reconcile recs.csv truth.csv map@5=0.4507 ndcg@5=0.5384 -f json").stdout)
    assert first["metrics"] == ["map(per=capped)@5", "ndcg(gain=binary)@5"]
    assert first["values"] == pytest.approx([0.4507, 0.5384], abs=5e-5)
    assert (first["words"], first["libraries"]) == (2, ["pyg", "recbole", "replay", "sentence_transformers", "warprec"])
    nothing = run("reconcile recs.csv truth.csv map@5=0.123456 -f json")
    assert (json.loads(nothing.stdout), "No match" in nothing.stderr) == ([], True)
    words = json.loads(run("metrics map -f json").stdout)
    assert {"field": "per", "word": "capped"}.items() <= words[1].items()


def test_whoever_has_read_enough(here: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -m atkay metrics | head -1"
    found = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert found.stdout.startswith("metric")
    assert found.stderr == ""


def test_an_interrupt_is_no_failed_gate(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(atkay, "evaluate", stop)
    found = run("evaluate recs.csv truth.csv")
    assert (found.exit_code, found.stderr) == (130, "atkay: interrupted\n")


def test_a_column_that_may_have_been_meant(here: Path) -> None:
    pl.read_csv("recs.csv").rename({"score": "My Score"}).reverse().write_csv("odd.csv")
    found = run("evaluate odd.csv truth.csv -m mrr")
    assert found.exit_code == 0
    assert found.stderr == (
        "atkay: warning: recs: no column was recognised as score, so each list keeps the row order; "
        "'My Score' is not used. Pass --column 'score=My Score' if it is the score; otherwise drop it.\n"
    )
    named = run("evaluate odd.csv truth.csv -m mrr --column 'score=My Score'")
    assert "score 'My Score' (" in named.stdout
    plain = named.stdout.replace("score 'My Score'", "score")
    assert (plain, named.stderr) == (run("evaluate recs.csv truth.csv -m mrr").stdout, "")


def test_standard_input(here: Path) -> None:
    plain = run("evaluate recs.csv truth.csv -m mrr")
    assert run("evaluate - truth.csv -m mrr", input=(here / "recs.csv").read_bytes()).stdout == plain.stdout
    parquet = here / "truth.parquet"
    pl.read_csv("truth.csv").write_parquet(parquet)
    assert run("evaluate recs.csv - -m mrr", input=parquet.read_bytes()).stdout == plain.stdout
    both = run("compare - other.csv --truth truth.csv -m mrr", input=(here / "recs.csv").read_bytes())
    assert both.exit_code == 0, both.stderr
    twice = run("evaluate - - -m mrr", input=b"user,item\n")
    assert (twice.exit_code, "only one table can come from standard input" in twice.stderr) == (2, True)
    empty = run("evaluate - truth.csv -m mrr", input=b"")
    assert (empty.exit_code, empty.stderr) == (2, "atkay: recs: standard input is empty.\n")


def test_columns(here: Path) -> None:
    pl.read_csv("recs.csv").rename({"user": "who", "item": "what"}).write_csv("odd.csv")
    plain = run("evaluate recs.csv truth.csv -m mrr")
    named = run("evaluate odd.csv truth.csv -m mrr --column recs.user=who --column recs.item=what")
    assert named.stdout == plain.stdout.replace("recs: user, item,", "recs: user 'who', item 'what',")
    unknown = run("evaluate odd.csv truth.csv -m mrr")
    assert unknown.exit_code == 2
    assert unknown.stderr == (
        "atkay: recs: no column for the user; columns are 'who', 'what', 'score'. Name it with --column "
        "recs.user=NAME.\n"
    )
    pl.read_csv("recs.csv").rename({"user": "usr"}).write_csv("odd.csv")
    assert run("evaluate odd.csv truth.csv").stderr.endswith("Pass --column recs.user=usr.\n")
    wrong = run("evaluate odd.csv truth.csv --column people=who")
    assert (wrong.exit_code, "'people=who' is not [TABLE.]ROLE=NAME" in wrong.stderr) == (2, True)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("evaluate nothing.csv truth.csv", "recs: no file 'nothing.csv'"),
        ("evaluate recs.csv truth.csv -m ndgc@5", "unknown metric 'ndgc'"),
        ("evaluate recs.csv truth.csv -m novelty@5", "novelty@5 needs --train: "),
        ("evaluate recs.csv truth.csv --no-recs error", "choose --no-recs zero or 'skip'"),
        ("evaluate recs.csv truth.csv --dialect rank", "unknown dialect 'rank'"),
        ("evaluate recs.csv truth.csv --fail-under ndcg@10", "'ndcg@10' is not METRIC=NUMBER"),
        ("evaluate recs.csv truth.csv --fail-under ndcg@10=high", "cannot read 'high' as a number"),
        ("evaluate recs.csv truth.csv --fail-under mrr@3=0.1", "'mrr@3' was not evaluated"),
        ("evaluat recs.csv truth.csv", "unknown command 'evaluat'. Did you mean 'evaluate'?"),
        ("compare recs.csv --truth truth.csv", "pass at least two runs"),
        ("compare recs.csv recs.csv --truth truth.csv", "two runs are named 'recs'"),
        ("compare recs.csv other.csv", "truth"),
        ("compare recs.csv other.csv --truth truth.csv --test f", "'f'"),
        ("compare recs.csv other.csv --truth truth.csv --min-effect much", "neither a number nor METRIC=NUMBER"),
        ("reconcile recs.csv truth.csv map@5", "'map@5' is not METRIC=NUMBER"),
        ("explain recs.csv truth.csv map@5 --theirs nobody", "nobody"),
        ("report recs.csv truth.csv", "pass the relevant items with --truth FILE."),
        ("metrics nothing", "unknown metric 'nothing'"),
    ],
)
def test_refusals(here: Path, line: str, said: str) -> None:
    found = run(line)
    assert found.exit_code == 2
    assert said in found.stderr
    assert "Traceback" not in found.output
    assert found.stdout == ""


def test_gates_of_a_pipeline(here: Path) -> None:
    # 9 of 12 users have a hit in their top 5: 0.75.
    line = "evaluate recs.csv truth.csv -m hit@5"
    assert run(f"{line} --fail-under hit@5=0.75").exit_code == 0
    under = run(f"{line} --fail-under hit@5=0.76")
    assert (under.exit_code, under.stderr) == (1, "atkay: failed: hit@5 = 0.7500 is below 0.76 (--fail-under)\n")


def test_files_of_a_gate_end_with_a_line(here: Path) -> None:
    files = "--markdown gate.md --junit gate.xml --json gate.json"
    assert run(f"gate other.csv truth.csv -m ndcg@5 --baseline recs.csv {files}").exit_code == 0
    for name in ("gate.md", "gate.xml", "gate.json"):
        text = Path(name).read_text()
        assert text.strip() + "\n" == text


def test_a_gate_counts_clusters(here: Path) -> None:
    # Twelve users of one gain each are one observation if they are of one cluster.
    users = pl.read_csv("truth.csv")["user"].unique()
    pl.DataFrame({"user": users, "team": [1] * len(users)}).write_csv("teams.csv")
    line = "gate other.csv truth.csv -m ndcg@5 --baseline recs.csv"
    assert run(line).exit_code == 0
    assert run(f"{line} --cluster teams.csv").exit_code == 3


def test_a_gate_on_a_metric_without_a_direction_asks_for_one(here: Path) -> None:
    """Whether popular items are wanted is not for a metric to say."""
    pl.DataFrame({"user": ["x", "y", "x"], "item": ["Heat", "Heat", "Fargo"]}).write_csv("train.csv")
    line = "evaluate recs.csv truth.csv -m hit@5,arp@5 --train train.csv"
    asks = run("gate recs.csv truth.csv -m hit@5,arp@5 --train train.csv --baseline other.csv")
    assert (asks.exit_code, asks.stdout) == (2, "")
    assert "arp@5 has no direction. Pass --better arp@5=higher (or lower), or leave the metric out." in asks.stderr
    value = atkay.evaluate("recs.csv", "truth.csv", "arp@5", train="train.csv")["arp@5"]
    for sign, failing in ((1, "higher"), (-1, "lower")):
        limit = value + sign * 0.25
        for word in ("higher", "lower"):
            found = run(f"{line} --fail-under arp@5={limit} --better arp@5={word}")
            assert found.exit_code == (1 if word == failing else 0), found.stderr
    assert run(f"{line} --fail-under arp@5={value + 1}").exit_code == 1  # under is under
    assert run(f"{line} --fail-under arp@5={value - 1}").exit_code == 0
    refused = {
        "--better arp@5=lower": "--better is used by --fail-under",
        "--fail-under arp@5=1 --better arp@5=less": "must be higher or lower",
        "--fail-under arp@5=1 --better arp@6=lower": "'arp@6' is not evaluated",
        "--fail-under hit@5=0.1 --better hit@5=lower": "for hit@5, higher is better",
        "--fail-under hit@5=nan": "cannot read 'nan' as a number",
    }
    for options, said in refused.items():
        found = run(f"{line} {options}")
        assert (found.exit_code, found.stdout) == (2, "")
        assert said in found.stderr


def test_a_gate_for_which_lower_is_better(here: Path) -> None:
    value = atkay.evaluate("recs.csv", "truth.csv", "median_rank@5")["median_rank@5"]
    line = "evaluate recs.csv truth.csv -m median_rank@5"
    assert run(f"{line} --fail-under median_rank@5={value + 1}").exit_code == 0
    above = run(f"{line} --fail-under median_rank@5={value - 1}")
    assert above.exit_code == 1
    assert above.stderr.endswith(f"is above {value - 1} (--fail-under; lower is better)\n")


def test_the_baseline_of_a_comparison_is_a_run(here: Path) -> None:
    line = "compare recs.csv new=other.csv --truth truth.csv -m hit@5"
    for name in ("new", "other.csv", "new=other.csv"):
        (row,) = json.loads(run(f"{line} --baseline {name} -f json").stdout)
        assert (row["run"], row["against"]) == ("recs", "new")
    unknown = run(f"{line} --baseline truth.csv")
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert "unknown run 'truth.csv'; runs are recs, new" in unknown.stderr
    assert "--reference FILE" in unknown.stderr
    assert "cannot be combined" in run(f"{line} --baseline new --every-pair").stderr
    needs = run("compare recs.csv other.csv --truth truth.csv -m unexpectedness@5")
    assert (needs.exit_code, "needs --reference: the lists" in needs.stderr) == (2, True)
    assert run("compare recs.csv other.csv --truth truth.csv -m unexpectedness@5 --reference recs.csv").exit_code == 0
    page = run("report recs.csv new=other.csv --truth truth.csv -m hit@5 --baseline new -o page.html")
    assert (page.exit_code, "compared with new" in Path("page.html").read_text()) == (0, True)


def test_a_report_of_one_run_ignores_nothing(here: Path) -> None:
    for options in ("--test t", "--baseline recs", "--min-effect 0.1", "--every-pair"):
        found = run(f"report recs.csv --truth truth.csv -m hit@5 {options}")
        assert (found.exit_code, "needs at least two runs, got one" in found.stderr) == (2, True)
    assert run("evaluate recs.csv truth.csv -m hit@5 --json saved.json").exit_code == 0
    for options in ("--truth truth.csv", "-m hit@5", "--ties best", "--column user=user", "--slices users.csv"):
        found = run(f"report saved.json {options}")
        assert (found.exit_code, "no effect: 'saved.json' is already evaluated" in found.stderr) == (2, True)
    assert run("report saved.json").exit_code == 0
    assert run("report recs.csv --truth truth.csv -m unexpectedness@5 --reference other.csv").exit_code == 0


def test_runs_are_called_as_their_files_or_as_given(here: Path) -> None:
    found = run("compare recs.csv better=other.csv --truth truth.csv -m hit@5 -f json")
    rows = json.loads(found.stdout)
    assert [(row["run"], row["against"]) for row in rows] == [("better", "recs")]
    expected = atkay.compare({"recs": "recs.csv", "better": "other.csv"}, "truth.csv", "hit@5", baseline="recs")
    assert rows[0]["difference"] == expected["hit@5"][0].difference
    pairs = json.loads(
        run("compare recs.csv other.csv third=recs.csv --truth truth.csv -m hit@5 --every-pair -f json").stdout
    )
    assert len(pairs) == 3


def test_folders_are_data_sets(here: Path) -> None:
    line = "compare --data-sets shops/books toys=shops/games -m hit@5"
    rows = json.loads(run(f"{line} -f json --json board.json").stdout)
    assert [(row["data_set"], row["run"]) for row in rows] == [
        (name, each) for name in ("books", "toys") for each in ("other", "recs")
    ]
    alone = atkay.evaluate("recs.csv", "truth.csv", "hit@5")["hit@5"]
    assert {row["mean"] for row in rows if row["run"] == "recs"} == {alone}
    board = atkay.Leaderboard.load("board.json")
    assert (board.data_sets, board.runs, board["toys"].baseline) == (("books", "toys"), ("other", "recs"), None)
    assert "Friedman" in run(line).stdout
    based = run(f"{line} --baseline recs --min-effect 0.1 --json based.json")
    assert (based.exit_code, atkay.Leaderboard.load("based.json")["toys"].baseline) == (0, "recs")
    for name in ("books", "games"):
        Path("shops", name, "truth.csv").rename(Path("shops", name, "held out.csv"))
    assert json.loads(run(f"{line} --truth 'held out.csv' -f json").stdout) == rows
    for options, message in {
        "": "no truth in 'shops/books', which has held out.csv, other.csv, recs.csv. Name its file with --truth",
        "--baseline recs --every-pair": "cannot be combined",
        "recs.csv --truth 'held out.csv'": "'recs.csv' is not a folder",
    }.items():
        refused = run(f"{line} {options}")
        assert (refused.exit_code, message in refused.stderr) == (2, True), refused.stderr
    for name in ("books", "games"):
        for each in ("recs", "other"):
            file = f"shops/{name}/{each}"
            assert run(f"evaluate {file}.csv truth.csv -m hit@5 --json {file}.json").exit_code == 0
            Path("shops", name, f"{each}.csv").unlink()
        Path("shops", name, "held out.csv").unlink()
    assert json.loads(run(line.replace(" -m hit@5", " -f json")).stdout) == rows


def test_saved_results_can_be_compared(here: Path) -> None:
    for name in ("recs", "other"):
        assert run(f"evaluate {name}.csv truth.csv -m hit@5 --json {name}.json").exit_code == 0
    assert (
        run("compare recs.json other.json").stdout
        == run("compare recs.csv other.csv --truth truth.csv -m hit@5").stdout
    )


def test_warnings_stand_on_the_error_stream(here: Path) -> None:
    pl.read_csv("recs.csv").with_columns(score=pl.lit(1.0)).write_csv("flat.csv")
    found = run("evaluate flat.csv truth.csv -m hit@1")
    assert found.exit_code == 0
    assert found.stderr.startswith("atkay: warning: the order of equal scores decides")
    assert "Choose --ties expected" in found.stderr
    assert json.loads(run("evaluate flat.csv truth.csv -m hit@1 -f json").stdout)


@pytest.mark.parametrize(("words", "offered"), [("ev", "evaluate"), ("evaluate a b --ties ex", "expected")])
def test_the_shell_completes(words: str, offered: str) -> None:
    environment = {
        "_ATKAY_COMPLETE": "bash_complete",
        "COMP_WORDS": f"atkay {words}",
        "COMP_CWORD": str(len(words.split())),
    }
    found = CliRunner().invoke(app, [], prog_name="atkay", env=environment)
    assert f"plain,{offered}" in found.stdout


def test_the_baseline_by_its_file(here: Path) -> None:
    """A name first, then a file, however its path is written."""
    line = "compare recs.csv other.csv --truth truth.csv -m mrr --format json --test t"
    for said in ("other", "other.csv", "./other.csv", str(here / "other.csv")):
        found = run(f"{line} --baseline {said}")
        assert (found.exit_code, {row["against"] for row in json.loads(found.stdout)}) == (0, {"other"})
    named = run(
        "compare other.csv=recs.csv b=other.csv --truth truth.csv -m mrr --test t --format json --baseline other.csv"
    )
    assert {row["against"] for row in json.loads(named.stdout)} == {"other.csv"}


def test_options_without_effect(here: Path) -> None:
    many = "evaluate recs.csv truth.csv -m coverage@2,arp@2 --catalog truth.csv --train truth.csv"
    assert run(f"{many} --json real.json").exit_code == 0
    one = "report recs.csv --truth truth.csv"
    for line, said in {
        f"{one} --baseline x": "--baseline needs at least two runs, got one. Add a run, or leave it out.",
        f"{one} --test t --rng 1": "--test and --rng need at least two runs, got one. Add a run, or leave them out.",
        "report real.json --ties best": "--ties has no effect: 'real.json' is already evaluated. Leave it out, or pass",
        f"{one} -m serendipity@2": "needs --reference: the lists",
        "compare recs.csv other.csv --truth truth.csv -m serendipity@2": "needs --reference: the lists",
    }.items():
        found = run(line)
        assert found.exit_code == 2, line
        assert said in found.stderr, (line, found.stderr)
        assert "in compare" not in found.stderr


def test_every_field_of_the_protocol_is_an_option_with_help() -> None:
    told = run("evaluate --help").stdout
    for each in dataclasses.fields(atkay.Protocol):
        assert f"--{each.name.replace('_', '-')} " in told
        assert each.metadata["help"].endswith(".")


def test_the_list_of_metrics_is_plain_text() -> None:
    assert "``" not in run("metrics").stdout
    assert ":class:" not in run("metrics").stdout


def test_the_gate_ends_with_its_outcome(here: Path) -> None:
    """Other lists have a significantly higher nDCG than recs (examples of the help compare them)."""
    line = "gate {} truth.csv --min-effect 2%"
    missing = run(line.format("recs.csv"))
    assert missing.exit_code == 2
    said = "atkay: gate: no baseline 'baseline.json.gz'. Make it with --update-baseline, and commit it.\n"
    assert missing.stderr == said
    wrote = run("gate other.csv truth.csv -m ndcg@5 --update-baseline")
    assert (wrote.exit_code, wrote.stderr) == (0, "wrote baseline.json.gz\n")
    assert run(line.format("other.csv")).exit_code == 0
    worse = run(line.format("recs.csv") + " --markdown gate.md --junit gate.xml --json gate.json")
    assert (worse.exit_code, worse.stderr) == (1, "")
    assert worse.stdout.startswith("gate: worse: ndcg@5 -0.060 (-14 %), 95 % CI [-0.107, -0.014]")
    assert json.loads(Path("gate.json").read_text())["outcome"] == "worse"
    assert "<failure" in Path("gate.xml").read_text()
    assert "| worse " in Path("gate.md").read_text()
    unclear = "gate recs.csv truth.csv -m recall@5 --baseline other.csv --min-effect recall@5=0.001"
    assert {run(f"{unclear}{more}").exit_code for more in ("", " --cannot-tell fail", " --cannot-tell pass")} == {
        3,
        1,
        0,
    }
    assert run(f"{unclear} --looks looks.json --look monday").exit_code == 3
    other = run(line.format("recs.csv") + " --ties best")
    assert other.exit_code == 2
    assert "protocols: ties is 'given' in 'baseline' and 'best' in 'run'" in other.stderr
    assert "If that is intended, pass --update-baseline." in other.stderr
    same = run("gate recs.csv truth.csv --baseline recs.csv --update-baseline")
    assert (same.exit_code, "name a file that ends in .json" in same.stderr) == (2, True)
