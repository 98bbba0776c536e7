"""Several data sets: Demšar's example, SciPy, what is averaged, what is refused, and what is shown."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import atkay
from atkay.comparison.average_ranks import AverageRanks, critical_difference, friedman, ranked
from atkay.errors import InputError, NumberError, ProtocolError, SourceError
from atkay.results.save import seal
from made import result

# Demšar, Statistical comparisons of classifiers over multiple data sets, 2006, table 6: AUC on 14 data sets. Two that
# the table rounds to 0.975 have the ranks 2 and 3.
CLASSIFIERS = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
AUC = np.array(
    [
        (0.763, 0.768, 0.771, 0.798),
        (0.599, 0.591, 0.590, 0.569),
        (0.954, 0.971, 0.968, 0.967),
        (0.628, 0.661, 0.654, 0.657),
        (0.882, 0.888, 0.886, 0.898),
        (0.936, 0.931, 0.916, 0.931),
        (0.661, 0.668, 0.609, 0.685),
        (0.583, 0.583, 0.563, 0.625),
        (0.775, 0.838, 0.866, 0.875),
        (1.000, 1.000, 1.000, 1.000),
        (0.940, 0.962, 0.965, 0.962),
        (0.619, 0.666, 0.614, 0.669),
        (0.972, 0.981, 0.9752, 0.9748),
        (0.957, 0.978, 0.946, 0.970),
    ]
)


def test_demsar() -> None:
    found = AverageRanks.of(CLASSIFIERS, AUC, "higher")
    assert {run: round(rank, 3) for run, rank in found.ranks.items()} == {
        "C4.5+m+cf": 1.964,
        "C4.5+m": 2.000,
        "C4.5+cf": 2.893,
        "C4.5": 3.143,
    }
    # He leaves ties uncorrected. Here 2, 2, 4 and 2 runs are tied: of 14 · 4 · (4² - 1) this takes 3 · 6 + 60.
    assert found.chi_squared * (1 - 78 / 840) == pytest.approx(9.28, abs=0.005)
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    # 3.143 - 1.964 = 1.179 is below it: Nemenyi's test finds nothing, as in the paper.
    assert found.cliques == (("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"),)


@pytest.mark.parametrize(
    ("runs", "quantile"),
    [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (8, 3.031), (9, 3.102), (10, 3.164)],
)
def test_critical_values_of_demsar(runs: int, quantile: float) -> None:
    # His table 5(a), to its last digit.
    assert critical_difference(6, runs) / math.sqrt(runs * (runs + 1) / 36) == pytest.approx(quantile, abs=0.0012)


def test_friedman_of_scipy() -> None:
    rng = np.random.default_rng(4)
    for values in (rng.random((7, 4)), rng.integers(0, 3, (9, 5)).astype(float), AUC):
        expected = stats.friedmanchisquare(*values.T)
        assert friedman(ranked(values, "higher")) == pytest.approx((expected.statistic, expected.pvalue))
    # Of two runs, the one is better on all 5: (5 - 0)² / 5.
    assert friedman(ranked(np.array([[1.0, 2.0]] * 5), "higher"))[0] == 5
    assert friedman(np.full((3, 4), 2.5)) == (0, 1)


def test_ranks() -> None:
    means = np.array([[0.3, 0.1, 0.3, 0.2], [0.1 + 0.2, 0.3, 0.4, 0.0]])
    assert ranked(means, "higher").tolist() == [[1.5, 4, 1.5, 3], [2.5, 2.5, 1, 4]]
    assert ranked(means, "lower").tolist() == [[3.5, 1, 3.5, 2], [2.5, 2.5, 4, 1]]


def test_groups() -> None:
    # Always in this order, 10 times: ranks 1 to 5, and the difference is 2.728 · sqrt(30 / 60) = 1.93.
    found = AverageRanks.of("abcde", np.tile([5.0, 4, 3, 2, 1], (10, 1)), "higher")
    assert found.critical_difference == pytest.approx(1.929, abs=0.001)
    assert found.cliques == (("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"))
    assert found.letters == {"a": "a", "b": "ab", "c": "bc", "d": "cd", "e": "d"}
    # Friedman's test comes first: 2.5 between the first two is more than 2.569 · sqrt(20 / 24) = 2.35, but p = 0.0503.
    ranks = np.array([[2.0, 3, 1, 4], [1, 4, 3, 2], [1, 4, 3, 2], [1, 4, 2, 3]])
    assert stats.friedmanchisquare(*ranks.T).pvalue == pytest.approx(0.0503, abs=0.0001)
    assert AverageRanks.of("abcd", ranks, "lower").cliques == (("a", "c", "d", "b"),)
    # Data sets in which a run has no value do not count.
    some = AverageRanks.of("ab", np.array([[1.0, 2], [1, math.nan], [1, 2]]), "higher")
    assert (some.data_sets, some.ranks) == (2, {"b": 1.0, "a": 2.0})
    none = AverageRanks.of("ab", np.full((2, 2), math.nan), "higher")
    assert none.data_sets == 0
    assert none.p == 1


SETS = ("books", "films", "games")


def board(**given: Any) -> atkay.Leaderboard:
    """``good`` is first everywhere, by much on films; the other two change places."""
    low = np.linspace(0.1, 0.2, 12)
    means = {"books": (0.02, 0.01, 0.0), "films": (0.6, 0.0, 0.1), "games": (0.03, 0.02, 0.01)}
    runs = {
        name: {
            run: result(low + shift + (0.05 if at else -0.05) * np.sin(np.arange(12) * (at + 1)))
            for at, (run, shift) in enumerate(zip(("good", "one", "two"), shifts, strict=True))
        }
        for name, shifts in means.items()
    }
    return atkay.compare_data_sets(runs, **given)


def test_averages_are_over_data_sets() -> None:
    found = board(baseline="one")
    assert (found.data_sets, found.runs, found.metrics, len(found), [*found]) == (
        SETS,
        ("good", "one", "two"),
        ("mrr",),
        3,
        [*SETS],
    )
    means = np.array([[found[name].means[run]["mrr"].mean for run in found.runs] for name in SETS])
    by_run = dict(zip(found.runs, means.mean(axis=0), strict=True))
    ranks = dict(zip(found.runs, stats.rankdata(-means, axis=1).mean(axis=0), strict=True))
    rows = {row["run"]: row for row in found.averages.to_dicts()}
    assert {run: row["mean"] for run, row in rows.items()} == pytest.approx(by_run)
    assert {run: row["average_rank"] for run, row in rows.items()} == pytest.approx(ranks)
    assert [*rows] == sorted(ranks, key=ranks.__getitem__)
    assert found["films"].baseline == "one"
    assert found.table.filter(pl.col("data_set") == "films", pl.col("run") == "good")["tier"].item() == 1
    assert found.table["rank"].to_list() == pytest.approx(stats.rankdata(-means, axis=1).ravel())
    assert found.to_polars().equals(found.table)


def test_compare_takes_data_sets(tmp_path: Path) -> None:
    truth = {name: {user: [f"{name} 1"] for user in range(8)} for name in ("a", "b")}
    runs: dict[str, Any] = {
        name: {
            "new": {user: [f"{name} 1", f"{name} 2"] for user in range(8)},
            "old": {user: [f"{name} 2", f"{name} 1"] for user in range(8)},
        }
        for name in ("a", "b")
    }
    found: Any = atkay.compare(runs, truth, "mrr", baseline="old", test="permutation", permutations=999)
    assert isinstance(found, atkay.Leaderboard)
    assert found["a"].tests == ("permutation",)
    assert found["a"].permutations == 999
    assert found["a"].baseline == "old"
    named = atkay.compare_data_sets(runs, truth, "mrr", baseline="old", test="permutation", permutations=999)
    assert named.to_dict() == found.to_dict()
    results = {
        name: {run: atkay.evaluate(each, truth[name], "mrr") for run, each in of.items()} for name, of in runs.items()
    }
    for name, of in results.items():
        for run, each in of.items():
            each.save(tmp_path / f"{name} {run}.json")
    paths = {name: {run: tmp_path / f"{name} {run}.json" for run in of} for name, of in runs.items()}
    for saved in (results, paths):
        again: Any = atkay.compare(saved, baseline="old", test="permutation", permutations=999)
        assert again.averages.equals(found.averages)
    # A value for each data set.
    train = {name: {0: [f"{name} 1"]} for name in truth}
    novel = atkay.compare_data_sets(runs, truth, "novelty@1", train=train)
    assert novel.averages["average_rank"].null_count() == novel.averages["group"].null_count() == 2
    assert [row.split()[-2:] for row in repr(novel).splitlines()[2:4]] == [["–", "–"]] * 2
    with pytest.raises(NumberError, match=r"'novelty@1' has no direction, so no ranks; this leaderboard has none\."):
        novel.plot()


def test_users_named_as_runs() -> None:
    # The truth has the names of the runs, but what they hold are lists, or scores, of users.
    truth = {"a": ["x"], "b": ["y"]}
    for lists in ({"a": ["x"], "b": ["y", "x"]}, {"a": {"x": 2.0, "y": 1.0}, "b": {"y": 1}}):
        found = atkay.compare({"a": lists, "b": lists}, truth, "mrr")
        assert isinstance(found, atkay.Comparison)


def test_refused() -> None:
    one, other = {"x": result([0.1, 0.2]), "y": result([0.2, 0.2])}, {"x": result([0.1, 0.3]), "y": result([0.3, 0.2])}
    pairs: list[tuple[Any, Any, str]] = [
        ({"a": one}, None, "pass at least two data sets, got 'a'"),
        ({"a": one, "b": [1]}, None, "runs must be {data set: {name: lists}}. For runs on one data set use compare."),
        (one, None, "runs must be {data set: {name: lists}}"),
        ({"a": one, "b": {"x": one["x"]}}, None, "the runs of 'a' are 'x', 'y'; those of 'b' are 'x'. Give every data"),
        ({"a": one, "b": other}, {"a": {1: [2]}}, "runs are of 'a', 'b', but truth of 'a'"),
        ({"a": one, "b": other}, [1], "truth must be {data set: truth}"),
    ]
    for runs, truth, message in pairs:
        with pytest.raises(InputError, match="compare_data_sets: ") as raised:
            atkay.compare_data_sets(runs, truth)
        assert message in str(raised.value)
    missing: dict[str, Any] = {"a": one, "b": {**one, "y": result([0.1], "map")}}
    with pytest.raises(NumberError, match=r"no metric in common.*The data set is 'b'\."):
        atkay.compare_data_sets(missing)
    others = {name: result([0.1, 0.2], "map") for name in "xy"}
    with pytest.raises(NumberError, match=r"'a' has 'mrr', 'b' 'map'\. Name the metrics that all have with metrics="):
        atkay.compare_data_sets({"a": one, "b": others})
    skipped = {name: result([0.1, 0.2], protocol=atkay.Protocol(no_recs="skip")) for name in "xy"}
    with pytest.raises(ProtocolError, match="'a' and 'b' were evaluated under different protocols: no_recs is"):
        atkay.compare_data_sets({"a": one, "b": skipped})


def test_shown() -> None:
    found = board()
    head, _, *rows = repr(found).splitlines()
    assert head.split() == ["metric", "run", *SETS, "mean", "average", "rank", "group"]
    assert [row.split()[:3] for row in rows[:3]] == [["mrr", "↑", run] for run in ("good", "one", "two")]
    assert rows[0].endswith("a")
    assert "each of which counts the same" in repr(found)
    assert "Friedman chi-squared = " in repr(found)
    assert "bold" not in repr(found)
    assert f"**{found['films'].means['good']['mrr'].mean:.4f}**" in found.to_markdown()
    assert "bold: significantly better than every other run on that data set" in found.to_markdown()
    assert found.to_latex().count("textbf") == 1
    assert "\\begin{tabular}{llrrrrrl}" in found.to_latex()
    assert "\\item ↑ higher is better".replace("↑", r"$\uparrow$") in found.to_latex(
        caption="All", names={"good": "Ours"}
    )
    assert "| Ours |" in found.to_markdown(names={"good": "Ours"}, percent=True, digits=1)
    # With two data sets no ranks are far enough apart.
    few = atkay.compare_data_sets({name: dict(found[name].results) for name in SETS[:2]})
    assert "critical difference 2.34, more than ranks can differ: too few data sets to tell runs apart" in repr(few)


def test_plotted() -> None:
    found = board()
    chart = found.plot("mrr").to_dict()
    (bars,) = (
        [rows for rows in chart["datasets"].values() if "to" in rows[0]]
        if "datasets" in chart
        else [layer["data"]["values"] for layer in chart["layer"] if "to" in layer["data"]["values"][0]]
    )
    assert [bar["row"] for bar in bars] == ["critical difference", "group a"]
    assert (bars[1]["rank"], bars[1]["to"]) == (1, max(found.ranks["mrr"].ranks.values()))
    assert bars[0]["to"] == 1 + found.ranks["mrr"].critical_difference
    assert found.plot().to_dict() == chart


def test_saved(tmp_path: Path) -> None:
    found = board(baseline="one")
    for name in ("b.json", "b.json.gz"):
        found.save(tmp_path / name)
        again = atkay.Leaderboard.load(tmp_path / name)
        assert again.to_dict() == found.to_dict() == json.loads(found.to_json())
        assert repr(again) == repr(found)
    content = found.to_dict()
    assert content["ranks"]["mrr"]["ranks"]["good"] == 1
    alone = {"books": content["comparisons"]["books"]}
    wrong: list[dict[str, Any]] = [{"comparisons": alone}, {"comparisons": {}}, {"ranks": 1, "x": 2}]
    for broken in wrong:
        (tmp_path / "c.json").write_bytes(seal("leaderboard", content | broken))
        with pytest.raises(SourceError, match="cannot load"):
            atkay.Leaderboard.load(tmp_path / "c.json")
    with pytest.raises(SourceError, match="is a saved leaderboard, not a saved comparison"):
        atkay.Comparison.load(tmp_path / "b.json")
