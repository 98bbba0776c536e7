"""Clusters: queries that depend on each other, in means, differences and tests."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import atkay
from atkay.comparison.difference import Difference
from atkay.core.types import Clusters
from atkay.errors import InputError, ProtocolError, SpecError
from made import result

# Eight queries of three users; the relevant item stands at these ranks, 0 where it is missing.
USERS = ["ann", "ann", "ann", "bob", "bob", "bob", "cat", "cat"]
RANKS = {"old": [1, 2, 2, 4, 0, 4, 0, 2], "new": [2, 2, 1, 4, 4, 0, 0, 4]}
QUERIES = list(range(8))
CLUSTER = dict(zip(QUERIES, USERS, strict=True))
TRUTH = {query: ["r"] for query in QUERIES}


def lists(ranks: list[int]) -> dict[int, list[str]]:
    return {query: ["r" if at == rank else f"x{at}" for at in range(1, 5)] for query, rank in enumerate(ranks)}


RUNS = {name: lists(ranks) for name, ranks in RANKS.items()}


def test_the_interval_of_a_mean_is_cluster_robust() -> None:
    """statsmodels 0.15.0: OLS(values, ones).fit(cov_type="cluster", cov_kwds={"groups": users}, use_t=True)."""
    plain = atkay.evaluate(RUNS["old"], TRUTH, "mrr").summaries["mrr"]
    found = atkay.evaluate(RUNS["old"], TRUTH, "mrr", cluster=CLUSTER).with_intervals("student").summaries["mrr"]
    assert found[0] == plain[0] == 0.375
    assert found[3:] == plain[3:]  # SD and counts are those of queries
    # By hand: residuals sum to 2 - 3 * .375, .5 - 3 * .375 and .5 - 2 * .375; 4.302653 is t at 2 degrees of freedom.
    error = (3 / 2 * (0.875**2 + 0.625**2 + 0.25**2)) ** 0.5 / 8
    assert error == pytest.approx(0.16901022)
    assert found.high == min(1, 0.375 + 4.302652729911275 * error)
    # A metric without bounds: dcg@1 is 1 where the item stands first, and so is its mean 1/8.
    unbounded = atkay.evaluate(RUNS["old"], TRUTH, "dcg@1", cluster=CLUSTER).summaries["dcg@1"]
    half = 4.302652729911275 * (3 / 2 * ((1 - 3 / 8) ** 2 + (3 / 8) ** 2 + (2 / 8) ** 2)) ** 0.5 / 8
    assert (unbounded.low, unbounded.high) == pytest.approx((0, 1 / 8 + half))


def test_weights_and_clusters() -> None:
    """statsmodels 0.15.0: WLS(values, ones, weights=weights) with the same covariance."""
    weights = dict(zip(QUERIES, [1, 1, 1, 2, 2, 2, 3, 3], strict=True))
    found = atkay.evaluate(RUNS["old"], TRUTH, "mrr", cluster=CLUSTER, weights=weights).summaries["mrr"]
    assert found.mean == pytest.approx(0.3)
    assert (found.low, found.high) == pytest.approx((0, 0.78931838))


@pytest.fixture
def difference() -> Difference:
    return atkay.compare(RUNS, TRUTH, "mrr", cluster=CLUSTER, test=("t", "permutation", "bootstrap"))["mrr"][0]


def test_the_t_test_of_a_difference(difference: Difference) -> None:
    """statsmodels 0.15.0, of the differences."""
    assert difference.difference == -0.03125
    assert (difference.low, difference.high) == pytest.approx((-0.18251514, 0.12001514))
    assert difference.p["t"] == pytest.approx(0.46784792)
    assert (difference.wins, difference.ties, difference.losses, difference.users) == (2, 3, 3, 8)  # of queries


def test_permutations_flip_whole_clusters(difference: Difference) -> None:
    """Sums by user: 0, 0 and -1/4. One does not vanish, and both of its signs reach it."""
    assert difference.p["permutation"] == 1.0
    users = [f"u{n}" for n in range(9)]
    of_user = [7, 1, 2, 1, 3, 2, 1, 9, 1]
    cluster = {(user, n): user for user, size in zip(users, of_user, strict=True) for n in range(size)}
    rng = np.random.default_rng(1)
    values = {key: rng.integers(1, 5, 2).tolist() for key in cluster}
    truth = {key: ["r"] for key in cluster}
    runs = {
        str(at): dict(zip(values, lists([pair[at] for pair in values.values()]).values(), strict=True)) for at in (0, 1)
    }
    found = atkay.compare(runs, truth, "mrr", cluster=cluster, test="permutation")["mrr"][0]
    sums = [sum(1 / values[key][1] - 1 / values[key][0] for key in cluster if key[0] == user) for user in users]
    flipped = [abs(np.dot(signs, sums)) for signs in itertools.product((1, -1), repeat=9)]
    assert found.p["permutation"] == np.mean(np.array(flipped) >= abs(sum(sums)) - 1e-12)


def test_bootstrap_draws_whole_clusters() -> None:
    """Four queries of one user that are all alike are one query."""
    rng = np.random.default_rng(2)
    ranks = rng.integers(1, 5, (2, 40))
    four = {str(at): lists(np.repeat(each, 4).tolist()) for at, each in enumerate(ranks)}
    once = {str(at): lists(each.tolist()) for at, each in enumerate(ranks)}
    options: dict[str, Any] = {"test": ("t", "permutation", "bootstrap", "tukey", "randomised_tukey")}
    cluster = {query: query // 4 for query in range(160)}
    truth = {query: ["r"] for query in range(160)}
    for interval in ("student", "percentile", "bca", "studentised"):
        options["interval"] = interval
        found = atkay.compare(four, truth, "mrr", cluster=cluster, **options)["mrr"][0]
        alone = atkay.compare(once, dict(list(truth.items())[:40]), "mrr", **options)["mrr"][0]
        assert found.difference == pytest.approx(alone.difference)
        assert (found.low, found.high) == pytest.approx((alone.low, alone.high))
        shares = (found.relative_low, found.relative_high), (alone.relative_low, alone.relative_high)
        assert shares[0] == pytest.approx(shares[1])
        for test, p in alone.p.items():
            assert found.p[test] == pytest.approx(p)
        assert (found.users, alone.users) == (160, 40)
    kinds: tuple[Any, ...] = ("auto", "percentile", "bca", "studentised", "logit", "wilson", "clopper-pearson")
    for interval in kinds:
        one, other = (
            atkay.evaluate(run, {query: ["r"] for query in run}, "mrr,hit@1", cluster=clusters).with_intervals(interval)
            for run, clusters in ((four["0"], cluster), (once["0"], {query: query for query in range(40)}))
        )
        for name in one:
            assert one.summaries[name][:3] == pytest.approx(other.summaries[name][:3])


def test_each_query_its_own_cluster_changes_nothing() -> None:
    own = {query: query for query in QUERIES}
    plain = atkay.compare(RUNS, TRUTH, ["mrr", "recall(average=pooled)@2"])
    found = atkay.compare(RUNS, TRUTH, ["mrr", "recall(average=pooled)@2"], cluster=own)
    for one, other in zip(plain, found, strict=True):
        assert (one.difference, one.low, one.high) == pytest.approx((other.difference, other.low, other.high))
        assert dict(one.p) == pytest.approx(dict(other.p))


FRAMES = {
    name: pl.DataFrame(
        [(user, n, item) for (n, user), items in zip(enumerate(USERS), run.values(), strict=True) for item in items],
        schema=["user", "order", "item"],
        orient="row",
    )
    for name, run in RUNS.items()
}
TRUTH_FRAME = pl.DataFrame({"user": USERS, "order": QUERIES, "item": ["r"] * 8, "shop": [user[0] for user in USERS]})
COLUMNS = atkay.Columns(user=("user", "order"), item="item")


def test_every_form_says_the_same(tmp_path: Path) -> None:
    """A key column, a column of truth, a table, a dict, an array; in memory and from files."""
    wanted = atkay.evaluate(RUNS["old"], TRUTH, "mrr", cluster=CLUSTER).summaries["mrr"]
    by_row = atkay.evaluate(list(RUNS["old"].values()), list(TRUTH.values()), "mrr", cluster=USERS).summaries["mrr"]
    table = pl.DataFrame({"user": ["ann", "bob", "cat"], "cluster": [7, 8, 9]})
    table.write_csv(tmp_path / "clusters.csv")
    FRAMES["old"].write_parquet(tmp_path / "old.parquet")
    TRUTH_FRAME.write_parquet(tmp_path / "truth.parquet")
    assert by_row == wanted
    for cluster in ("user", "shop", table, {"ann": 7, "bob": 8, "cat": 9}, str(tmp_path / "clusters.csv")):
        here = atkay.evaluate(FRAMES["old"], TRUTH_FRAME, "mrr", columns=COLUMNS, cluster=cluster)
        files = atkay.evaluate(
            tmp_path / "old.parquet", tmp_path / "truth.parquet", "mrr", columns=COLUMNS, cluster=cluster, memory=4_000
        )
        assert here.summaries["mrr"] == files.summaries["mrr"] == wanted


def test_groups_within_clusters() -> None:
    """Orders are averaged per shop first; shops of one owner are a cluster."""
    truth = TRUTH_FRAME.with_columns(owner=pl.Series(["x", "x", "x", "x", "x", "x", "y", "y"]))
    options: dict[str, Any] = {"columns": COLUMNS, "average_over": "user", "cluster": "owner"}
    found = atkay.evaluate(FRAMES["old"], truth, "mrr", **options)
    means = {"ann": 2 / 3, "bob": 1 / 6, "cat": 1 / 4}
    middle = sum(means.values()) / 3
    away = means["ann"] + means["bob"] - 2 * middle
    half = 12.706204736432095 * (2 * 2 * away**2) ** 0.5 / 3
    assert found["mrr"] == pytest.approx(middle)
    assert (found.summaries["mrr"].low, found.summaries["mrr"].high) == pytest.approx(
        (max(middle - half, 0), min(middle + half, 1))
    )


def test_differences_of_groups_within_clusters() -> None:
    """The same as comparing the users' own means, clustered by their owners."""
    rng = np.random.default_rng(4)
    rows = [(user, order) for user in range(12) for order in range(1 + user % 3)]
    owner = {user: user // 2 for user in range(12)}
    truth = pl.DataFrame([(*row, "r", owner[row[0]]) for row in rows], ["user", "order", "item", "owner"], orient="row")
    results = {}
    for name in ("a", "b"):
        ranked = dict(zip(rows, lists(rng.integers(1, 5, len(rows)).tolist()).values(), strict=True))
        listed = [(*row, item) for row, items in ranked.items() for item in items]
        frame = pl.DataFrame(listed, ["user", "order", "item"], orient="row")
        options: dict[str, Any] = {"columns": COLUMNS, "average_over": "user", "cluster": "owner"}
        results[name] = atkay.evaluate(frame, truth, "mrr", **options)
    means = {
        name: result(
            each.per_query.group_by("user", maintain_order=True).agg(pl.col("mrr").mean())["mrr"].to_numpy(),
            clusters=Clusters("owner", np.array([*owner.values()])),
        )
        for name, each in results.items()
    }
    tests: Any = ("t", "permutation", "bootstrap", "tukey", "randomised_tukey")
    found, alone = (atkay.compare(runs, test=tests)["mrr"][0] for runs in (results, means))
    assert (found.difference, found.low, found.high) == pytest.approx((alone.difference, alone.low, alone.high))
    assert dict(found.p) == pytest.approx(dict(alone.p))
    assert (found.users, found.wins, found.ties) == (alone.users, alone.wins, alone.ties)


def test_it_is_printed_and_saved(tmp_path: Path) -> None:
    found = atkay.evaluate(FRAMES["old"], TRUTH_FRAME, "mrr", columns=COLUMNS, cluster="user")
    assert "intervals and tests are clustered by user (3 clusters)" in str(found)
    assert found.definitions["mrr"].words.endswith(", interval clustered by user")
    found.save(tmp_path / "r.json")
    again = atkay.Result.load(tmp_path / "r.json")
    assert again.summaries == found.summaries
    both = atkay.compare({"a": again, "b": found})
    both.save(tmp_path / "c.json")
    assert atkay.Comparison.load(tmp_path / "c.json").cluster == both.cluster == "user"
    with pytest.raises(SpecError, match=r"power: .* and these queries are clustered by user"):
        atkay.power(both)
    assert "clustered by user (3 clusters): permutations and bootstrap take whole clusters" in str(both)


def test_refused() -> None:
    few = {query: user for query, user in CLUSTER.items() if query < 7}
    with pytest.raises(InputError, match="cluster: 1 query without a cluster: user 7, for example"):
        atkay.evaluate(RUNS["old"], TRUTH, "mrr", cluster=few)
    with pytest.raises(InputError, match="cluster: truth has no column 'shops'"):
        atkay.evaluate(FRAMES["old"], TRUTH_FRAME, "mrr", columns=COLUMNS, cluster="shops")
    with pytest.raises(InputError, match="the queries of one group have different clusters"):
        atkay.evaluate(FRAMES["old"], TRUTH_FRAME, "mrr", columns=COLUMNS, average_over="user", cluster="order")
    with pytest.raises(ProtocolError, match="cluster= is for aggregate='mean' or geometric, not for median"):
        atkay.evaluate(RUNS["old"], TRUTH, "mrr", cluster=CLUSTER, aggregate="median")
    with pytest.raises(ProtocolError, match="Stream: 'cluster' is not supported"):
        atkay.Stream("mrr", cluster=CLUSTER)  # type: ignore[call-arg]
    old = atkay.evaluate(RUNS["old"], TRUTH, "mrr", cluster=CLUSTER)
    with pytest.raises(ProtocolError, match="cluster is 'cluster' in 'a' and None in 'b'"):
        atkay.compare({"a": old, "b": atkay.evaluate(RUNS["new"], TRUTH, "mrr")})
    other = atkay.evaluate(RUNS["new"], TRUTH, "mrr", cluster=CLUSTER | {0: "bob"})
    with pytest.raises(InputError, match="some queries are in one cluster in another run, and in several in 'a'"):
        atkay.compare({"a": old, "b": other})
