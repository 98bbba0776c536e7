"""Full ranking on a CPU: ranks against a brute force in double precision, results against evaluate on whole lists."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import atkay
from atkay.errors import (
    AtkayError,
    DuplicateError,
    IdError,
    InputError,
    ProtocolError,
    RelevanceError,
    SourceError,
    TiesWarning,
)

torch = pytest.importorskip("torch")
sparse = pytest.importorskip("scipy.sparse")

from atkay.engines.full_ranking import blocks as torch_blocks  # noqa: E402 - needs torch
from atkay.engines.full_ranking import count as counting  # noqa: E402 - needs torch
from atkay.engines.full_ranking import full_ranking as engine  # noqa: E402 - needs torch
from atkay.engines.full_ranking.truth import TIES  # noqa: E402 - needs torch

METRICS = ["ndcg@5", "map@5", "mrr", "recall@3", "precision(per=listed)@5", "hit@1", "auc", "median_rank", "mpr"]
Arrays = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def normal(seed: int, *shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def whole(seed: int, *shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(-2, 3, shape).astype(np.float32)


def vectors() -> dict[str, Arrays]:
    """Users and items that are hard to tell apart, or to multiply."""
    few = normal(1, 4, 20)
    flat = normal(2, 12, 20)
    flat[::3] = 0
    wide = normal(3, 500, 20) * 10.0 ** np.linspace(-30, 5, 500, dtype=np.float32)[:, None]
    return {
        "random": (normal(4, 12, 20), normal(5, 5000, 20)),
        "one component": (normal(6, 12, 1), normal(7, 300, 1).round(1)),
        "many components": (normal(8, 12, 300), normal(9, 200, 300)),
        "groups of equal vectors": (normal(10, 12, 20), few[np.arange(500) % 4]),
        "all items equal": (normal(11, 12, 20), few[np.zeros(200, int)]),
        "users and items of zero": (flat, np.concatenate((flat, normal(12, 100, 20), flat))),
        "whole numbers": (whole(13, 12, 6), whole(14, 700, 6)),
        "huge": (normal(15, 12, 20) * np.float32(1e30), normal(16, 300, 20) * np.float32(1e30)),
        "tiny": (normal(17, 12, 20) * np.float32(1e-30), normal(18, 300, 20) * np.float32(1e-30)),
        "huge and tiny": (normal(19, 12, 20) * np.float32(1e25), wide),
    }


def brute_scores(users: np.ndarray[Any, Any], items: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """All scores in double precision; component by component, so that equal vectors have equal scores."""
    scores = np.zeros((len(users), len(items)))
    for user, item in zip(users.T.astype(float), items.T.astype(float), strict=True):
        scores += user[:, None] * item
    return scores


def brute_ranks(
    scores: np.ndarray[Any, Any], user: np.ndarray[Any, Any], item: np.ndarray[Any, Any], seen: list[list[int]]
) -> list[tuple[int, int, int]]:
    """Of each target: the items above, those as high, and the earlier of these."""
    found = []
    for u, i in zip(user, item, strict=True):
        ranked = np.setdiff1d(np.arange(scores.shape[1]), seen[u])
        equal = ranked[scores[u, ranked] == scores[u, i]]
        found.append((int((scores[u, ranked] > scores[u, i]).sum()), len(equal), int((equal < i).sum())))
    return found


@pytest.mark.parametrize("name", list(vectors()))
@pytest.mark.parametrize("each", [1, 3, 23])
@pytest.mark.parametrize("precision", engine.PRECISIONS)
def test_ranks_are_those_of_a_brute_force(name: str, each: int, precision: str) -> None:
    users, items = (counting.rounded(torch.from_numpy(one), precision) for one in vectors()[name])
    draw = np.random.default_rng(each)
    user = np.repeat(np.arange(len(users)), each)
    item = draw.integers(len(items), size=len(user))
    seen = [draw.choice(len(items), draw.integers(20), replace=False).tolist() for _ in range(len(users))]
    # A target among the seen items is compared with the others all the same.
    scores = brute_scores(users.float().numpy(), items.float().numpy())
    targets = counting.Targets(torch.from_numpy(user), torch.from_numpy(item))
    start = np.cumsum([0, *map(len, seen)])
    excluded = counting.Excluded(torch.from_numpy(start), torch.tensor([one for some in seen for one in some]))
    none: list[list[int]] = [[] for _ in seen]
    for out, left in ((None, none), (excluded, seen)):
        ranks, own = counting.rank(counting.Vectors(users, items), targets, out, 1 << 20, None)
        assert list(zip(*(count.tolist() for count in ranks), strict=True)) == brute_ranks(scores, user, item, left)
        np.testing.assert_allclose(own.numpy(), scores[user, item], rtol=1e-12, atol=1e-12 * abs(scores).max())


def test_blocks_do_not_change_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    users, items = (torch.from_numpy(one) for one in vectors()["random"])
    targets = counting.Targets(torch.arange(12).repeat_interleave(3), torch.arange(36) * 130)
    whole = counting.rank(counting.Vectors(users, items), targets, None, 1 << 30, None)
    monkeypatch.setattr(torch_blocks, "USERS", 7)
    monkeypatch.setattr(torch_blocks, "ITEMS", 100)  # which leaves part of a word of bits
    monkeypatch.setattr(torch_blocks, "ENOUGH", 3)
    parts = counting.rank(counting.Vectors(users, items), targets, None, 1 << 20, None)
    for one, other in zip((*whole[0], whole[1]), (*parts[0], parts[1]), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    ("script", "interpret"),
    [
        ("kernels_interpreted.py", "1"),
        pytest.param("kernels_interpreted.py all", "1", marks=pytest.mark.deep),
        ("kernels_compiled.py", "0"),
        pytest.param("kernels_compiled.py all", "0", marks=pytest.mark.deep),
    ],
)
def test_the_kernels_count_the_same_and_fit_on_the_chip(script: str, interpret: str, tmp_path: Path) -> None:
    pytest.importorskip("triton", reason="kernels are written in Triton")
    env = {**os.environ, "TRITON_INTERPRET": interpret, "TRITON_CACHE_DIR": str(tmp_path)}
    name, *more = script.split()
    command = [sys.executable, str(Path(__file__).with_name(name)), *more]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr


class Case(NamedTuple):
    """Small vectors with many equal scores, graded truth, and seen items, of which some are wanted."""

    users: np.ndarray[Any, Any]
    items: np.ndarray[Any, Any]
    truth: Any
    seen: Any
    scores: np.ndarray[Any, Any]


def case(seed: int = 0, n_users: int = 40, n_items: int = 60) -> Case:
    draw = np.random.default_rng(seed)
    users, items = whole(seed + 1, n_users, 4), whole(seed + 2, n_items, 4)
    pick = draw.random((n_users, n_items))
    truth = sparse.csr_matrix(np.where(pick < 0.08, draw.integers(1, 4, (n_users, n_items)), 0))
    seen = sparse.csr_matrix((pick > 0.06) & (pick < 0.2))
    return Case(users, items, truth, seen, brute_scores(users, items))


def listed(scores: np.ndarray[Any, Any]) -> dict[int, dict[int, float]]:
    return {user: dict(enumerate(row)) for user, row in enumerate(scores.tolist())}


def wanted(rows: Any) -> dict[int, dict[int, float]]:
    """The rows as evaluate takes them."""
    dense = rows.toarray().astype(float)
    return {user: {int(item): row[item] for item in np.flatnonzero(row)} for user, row in enumerate(dense) if row.any()}


def same(found: atkay.Result, reference: atkay.Result) -> None:
    """The same numbers, and the same value for every user."""
    assert list(found) == list(reference)
    for name in found:
        assert found[name] == pytest.approx(reference[name], rel=1e-12, nan_ok=True), name
    order = np.argsort(np.asarray(reference.ids["user"], int))
    np.testing.assert_allclose(found.query_values, reference.query_values[order], rtol=1e-12)


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("way", ["vectors", "scores", "blocks of scores"])
def test_results_are_those_of_whole_lists(ties: Any, seen: bool, way: str) -> None:
    users, items, truth, out, scores = case()
    metrics = METRICS[:7] if ties in ("expected", "together") else METRICS  # the last two have no closed form
    reference = atkay.evaluate(
        listed(scores), wanted(truth), metrics, ties=ties, exclude=wanted(out) if seen else None, no_truth="zero"
    )
    ways: dict[str, dict[str, Any]] = {
        "vectors": {"user_vectors": users, "item_vectors": items},
        "scores": {"score": lambda who: scores[who.numpy()]},
        "blocks of scores": {
            "score": lambda who: (torch.tensor(scores[who.numpy(), n : n + 7]) for n in range(0, 60, 7))
        },
    }
    found = atkay.full_ranking(
        **ways[way], truth=truth, metrics=metrics, exclude=out if seen else None, ties=ties, no_truth="zero"
    )
    same(found, reference)
    assert found.population.tied <= reference.population.tied


@pytest.mark.parametrize(
    "field",
    [
        {"min_relevance": 2},
        {"min_relevance": 0, "ties": "best"},
        {"min_relevance": 2, "gains": "positive"},
        {"unlisted": "ignored"},
        {"nonpositive": "missed"},
    ],
)
def test_the_protocol_is_that_of_evaluate(field: dict[str, Any]) -> None:
    users, items, truth, out, scores = case(5)
    field = {"ties": "item", "no_truth": "zero", **field}
    reference = atkay.evaluate(listed(scores), wanted(truth), METRICS[:6], exclude=wanted(out), **field)
    same(atkay.full_ranking(users, items, truth, METRICS[:6], exclude=out, **field), reference)


@pytest.mark.parametrize("dialect", ["cornac", "sklearn"])
def test_each_metric_is_counted_under_its_own_protocol(dialect: str) -> None:
    # Both put equal scores at one place in map, and not in ndcg: lists are judged twice, and items counted once.
    users, items, truth, out, scores = case(5)
    words: dict[str, Any] = {"metrics": ["ndcg", "map"], "dialect": dialect}
    with pytest.warns(TiesWarning) if dialect == "cornac" else contextlib.nullcontext():
        reference = atkay.evaluate(listed(scores), wanted(truth), exclude=wanted(out), **words)
        found = atkay.full_ranking(users, items, truth, exclude=out, **words)
    same(found, reference)
    assert found.apart.keys() == reference.apart.keys() == {"map"}
    assert found.apart["map"].ties == reference.apart["map"].ties == "together"


def test_lists_are_made_where_a_metric_looks_at_them() -> None:
    users, items, truth, out, scores = case(7)
    metrics = ["coverage@3,5", "gini@5", "mrr"]
    reference = atkay.evaluate(
        listed(scores),
        wanted(truth),
        metrics,
        exclude=wanted(out),
        ties="item",
        catalog=list(range(60)),
        no_truth="zero",
    )
    for given in ({"user_vectors": users, "item_vectors": items}, {"score": lambda who: scores[who.numpy()]}):
        same(atkay.full_ranking(**given, truth=truth, metrics=metrics, exclude=out, no_truth="zero"), reference)


OF_LISTS = ["coverage@1,3,40", "gini@3", "entropy@3", "inter_list_distance@1,40", "user_coverage(count=full)@40"]


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("ties", ["given", "item", "item_desc", "reversed", "best", "worst"])
@pytest.mark.parametrize("way", ["vectors", "scores", "whole scores"])
def test_lists_follow_the_word_for_ties(ties: str, seen: bool, way: str) -> None:
    # Five different scores for 60 items: a cutoff goes through far more equal scores than the list is long.
    users, items, truth, out, scores = case(7)
    users, items, scores = users[:, :1], items[:, :1], np.outer(users[:, 0], items[:, 0])
    ways: dict[str, dict[str, Any]] = {
        "vectors": {"user_vectors": users, "item_vectors": items},
        "scores": {"score": lambda who: scores[who.numpy()]},
        "whole scores": {"score": lambda who: torch.tensor(scores[who.numpy()]).long()},
    }
    words: dict[str, Any] = {"ties": ties, "no_truth": "zero"}
    found = atkay.full_ranking(
        **ways[way], truth=truth, metrics=OF_LISTS, exclude=out if seen else None, memory=1_000_000, **words
    )
    given: dict[str, Any] = {"catalog": list(range(60)), "exclude": wanted(out) if seen else None}
    reference = atkay.evaluate(listed(scores), wanted(truth), OF_LISTS, **given, **words)
    same(found, reference)
    assert found.population.tie_decided == reference.population.tie_decided > 0


@pytest.mark.parametrize("metrics", ["hit@3,map", "hit@2", "coverage@4,hit@1"])
def test_ties_that_a_depth_cuts(metrics: str) -> None:
    rng = np.random.default_rng(5)
    score, relevant = rng.integers(0, 4, (30, 8)).astype(float), rng.random((30, 8)) < 0.3
    for depth in (1, 2, 5):
        words: Any = {"depth": depth, "ties": "item"}
        found = atkay.FullRanking(relevant, metrics, **words).evaluate_scores(lambda users: torch.tensor(score)[users])
        reference = atkay.evaluate((None, score), relevant, metrics, catalog=list(range(8)), **words)
        assert found.population.tie_decided == reference.population.tie_decided > 0
        assert dict(found.items()) == dict(reference.items())


def test_lists_of_vectors_too_large_or_small_for_single_precision() -> None:
    # The lists are those of the vectors times a power of two that single precision can multiply.
    users, items, truth, _, _ = case(3)
    for scale in (2.0**100, 2.0**-100):
        found = atkay.full_ranking(users * np.float32(scale), items * np.float32(scale), truth, OF_LISTS)
        assert dict(found) == dict(atkay.full_ranking(users, items, truth, OF_LISTS))


def test_equal_scores_of_lists_have_no_average() -> None:
    with pytest.raises(ProtocolError, match=r"coverage@3 does not support ties='expected'"):
        atkay.FullRanking(([0, 1], [0]), "coverage@3", ties="expected")


@pytest.mark.parametrize("metrics", [["recall@1", "mrr"], ["recall@1", "coverage@1"]])
def test_lists_are_there_where_every_relevant_item_is_excluded(metrics: list[str]) -> None:
    # Three items are left for each of the two users, of which none is wanted: nothing is found, and nobody is empty.
    asked = []

    def score(who: Any) -> Any:
        asked.append(who.tolist())
        return torch.ones(len(who), 4)

    found = atkay.full_ranking(score=score, truth=([0, 1, 2], [2, 3]), metrics=metrics, exclude=([0, 1, 2], [2, 3]))
    assert (found.population.without_list, found.population.emptied, found.population.listed) == (0, 0, 8)
    assert found["recall@1"] == 0
    assert asked == ([[0, 1]] if "coverage@1" in metrics else [[0]])  # one is enough to learn how many items there are


@pytest.mark.parametrize("also", [{}, {"user_bias": np.arange(40.0)}])
def test_biases_of_items_are_added(also: dict[str, Any]) -> None:
    users, items, truth, _, scores = case(9)
    bias = np.arange(60) % 7 / 8
    words: dict[str, Any] = {"ties": "expected", "no_truth": "zero"}
    found = atkay.full_ranking(users, items, truth, METRICS[:7], item_bias=bias, **also, **words)
    same(found, atkay.evaluate(listed(scores + bias), wanted(truth), METRICS[:7], **words))


def test_cosine() -> None:
    users, items = normal(1, 40, 4), normal(2, 60, 4) * 10.0 ** np.arange(-30, 30).astype(np.float32)[:, None]
    truth = case(9).truth
    scores = brute_scores(users, items) / np.sqrt((items.astype(float) ** 2).sum(1))
    found = atkay.full_ranking(users, items, truth, METRICS, similarity="cosine", no_truth="zero")
    same(found, atkay.evaluate(listed(scores), wanted(truth), METRICS, no_truth="zero"))


@pytest.mark.parametrize(("precision", "bits"), [("tf32", 11), ("bfloat16", 8)])
def test_a_lower_precision_ranks_rounded_vectors_and_says_what_it_does(precision: Any, bits: int) -> None:
    users, items = normal(1, 40, 8), normal(2, 3000, 8)
    truth = (np.arange(41), np.arange(40) * 70)

    def rounded(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        fraction, exponent = np.frexp(values.astype(float))
        return np.asarray(np.ldexp(np.round(fraction * 2**bits), exponent - bits), np.float32)

    found = atkay.full_ranking(users, items, truth, "mrr", precision=precision)
    scores = brute_scores(rounded(users), rounded(items))
    above = np.array([(row > row[item]).sum() for row, item in zip(scores, truth[1], strict=True)])
    assert found.query_values[:, 0].tolist() == (1 / (above + 1)).tolist()
    exactly = brute_scores(users, items)
    moved = abs(above - [(row > row[item]).sum() for row, item in zip(exactly, truth[1], strict=True)])
    assert found.engine == (
        f"all 3,000 items ranked by counting: products in blocks on the CPU, {precision}; of 40 ranks, "
        f"{(moved > 0).sum()} differ from float32, by at most {moved.max():,} places, {moved.mean():,.1f} on average"
    )
    assert found.engine in str(found)
    assert moved.max() > 0


def test_a_wanted_item_that_was_seen_is_missed() -> None:
    # Items score 3, 2, 1; the first is wanted and seen, so it is not ranked, and recall cannot find it.
    user, items = np.array([[1.0]]), np.array([[3.0], [2.0], [1.0]])
    found = atkay.full_ranking(user, items, ([0, 2], [0, 1]), ["mrr", "recall@1"], exclude=([0, 1], [0]))
    assert (found["mrr"], found["recall@1"]) == (1.0, 0.5)


USER, ITEMS, TRUTH = np.ones((2, 3)), np.ones((4, 3)), ([0, 1, 2], [3, 0])


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"truth": None}, InputError, "truth is missing"),
        ({"user_vectors": None}, InputError, "score=, a function"),
        ({"score": lambda who: who}, InputError, "pass either vectors or score="),
        (
            {"user_vectors": np.array([[1, np.nan, 1], [1, 1, 1]])},
            InputError,
            "user_vectors: row 0 has a value that is",
        ),
        ({"item_vectors": np.array([[1.0, 1, 1], [1, np.inf, 1]])}, InputError, "item_vectors: row 1"),
        ({"item_vectors": np.full((4, 3), 1e300)}, InputError, "not finite"),
        ({"item_vectors": np.full((4, 3), 3.4e38, np.float32), "precision": "bfloat16"}, InputError, "not finite"),
        ({"item_vectors": np.full((4, 3), 3.4027e38, np.float32), "precision": "tf32"}, InputError, "not finite"),
        ({"item_bias": [1, 2, 3, np.nan]}, InputError, "item_bias: row 3"),
        ({"item_bias": [1.0, 2]}, InputError, "item_bias: got 2 numbers for 4 items"),
        ({"user_bias": [1.0, np.inf]}, InputError, "user_bias: row 1"),
        ({"user_vectors": np.ones((2, 5))}, InputError, "user_vectors have 5 components and item_vectors 3"),
        ({"user_vectors": np.ones((3, 3))}, InputError, "truth has 2 rows and user_vectors 3"),
        ({"user_vectors": np.ones(3)}, InputError, "a row of numbers per user"),
        ({"item_vectors": np.ones((4, 3), int)}, InputError, "got int64"),
        ({"item_vectors": np.ones((3, 3))}, InputError, "has item 3, but there are 3 items"),
        ({"truth": {0: [3]}}, SourceError, "cannot read a dict as CSR"),
        ({"truth": ([0, 1, 3], [3, 0])}, SourceError, "do not fit together"),
        ({"truth": ([0, 1, 2], [3.5, 0])}, SourceError, "do not fit together"),
        ({"truth": ([0, 1, 2], [3, -1])}, InputError, "item codes must be at least 0"),
        ({"truth": ([0, 1, 2], [3, 0], [1.0])}, SourceError, "1 values for 2 indices"),
        ({"truth": ([0, 1, 2], [3, 0], [1.0, np.inf])}, RelevanceError, "grades must be finite numbers"),
        ({"truth": ([0, 2, 2], [3, 3])}, DuplicateError, "item 3 appears twice in the truth of user 0"),
        ({"exclude": ([0, 1], [3])}, InputError, "exclude has 1 users and truth 2"),
        ({"ids": ["a"]}, InputError, "1 id for 2 users"),
        ({"precision": "float16"}, ProtocolError, "unknown value 'float16' for precision"),
        ({"similarity": "cosin"}, ProtocolError, "'cosine'"),
        ({"memory": "much"}, ProtocolError, "memory must be a size such as '2GB'"),
        ({"memory": 1000}, ProtocolError, r"\(at least 1,000,000\), got 1000"),
        ({"ties": "random"}, ProtocolError, "make lists, and pass them to evaluate"),
        ({"unjudged": "drop"}, ProtocolError, "make lists, and pass them to evaluate"),
        ({"candidates": {0: [1]}}, ProtocolError, "exclude the others"),
        ({"average_over": "user"}, ProtocolError, "average_over= is not supported"),
        ({"slices": {0: "new"}}, ProtocolError, r"slices= is an argument of evaluate\(...\) and is not supported here"),
        ({"metrics": "novelty@5"}, ProtocolError, "needs train=.* pass them to evaluate"),
        ({"metrics": "coverage"}, ProtocolError, "coverage needs a cutoff: 'coverage@10'"),
        ({"metrics": "ndgc@5"}, AtkayError, "ndcg"),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, Any], error: type[Exception], said: str) -> None:
    every = {"user_vectors": USER, "item_vectors": ITEMS, "truth": TRUTH, **given}
    with pytest.raises(error, match=said):
        atkay.full_ranking(**every)


@pytest.mark.parametrize(
    ("score", "said"),
    [
        (lambda who: np.ones(3), "the function returned shape"),
        (lambda who: np.ones((len(who) + 1, 4)), "a row per user and a column per item"),
        (lambda who: np.ones((len(who), 4 + int(who[0]))), "the function returned shape"),
        (lambda who: np.full((len(who), 4), np.nan), "a score is not finite"),
        (lambda who: np.ones((len(who), 2)), "has item 3, but there are 2 items"),
        (lambda who: iter(()), "the function returned shape"),
    ],
)
def test_scores_that_do_not_fit_are_refused(score: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        atkay.full_ranking(score=score, truth=(np.arange(41), np.arange(40) % 4))


def test_products_of_less_precision_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    exactly = torch.mm

    def rough(users: Any, items: Any, out: Any) -> None:
        exactly(users.bfloat16().float(), items.bfloat16().float(), out=out)

    monkeypatch.setattr(torch, "mm", rough)
    with pytest.raises(InputError, match="set_float32_matmul_precision"):
        atkay.full_ranking(normal(1, 5, 8), normal(2, 50, 8), (np.arange(6), np.arange(5)), "mrr")


@pytest.mark.parametrize("memory", [1 << 20, 1 << 24, 1 << 28])
def test_blocks_stay_within_the_memory(memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    made = torch_blocks.Room.of

    def room(users: int, items: int, device: Any) -> Any:
        taken.append(users * items * torch_blocks.NEAR)
        return made(users, items, device)

    monkeypatch.setattr(torch_blocks.Room, "of", room)
    n = 600
    atkay.full_ranking(normal(1, n, 4), normal(2, 50, 4), (np.arange(n + 1), np.arange(n) % 50), "mrr", memory=memory)
    assert max(taken) * torch.get_num_threads() <= memory
    asked: list[int] = []

    def score(who: Any) -> Any:
        asked.append(len(who))
        return torch.zeros((len(who), 5000))

    atkay.full_ranking(score=score, truth=(np.arange(n + 1), np.arange(n)), metrics="mrr", memory=memory)
    assert sum(asked) == n
    assert asked[0] == engine.FIRST_USERS  # how many items there are is not known before
    assert all(8 * 5000 * users <= memory for users in asked[1:])


@pytest.mark.parametrize("targets", [1, 10])
@pytest.mark.parametrize("memory", [1 << 20, 1 << 22, 1 << 28])
def test_parts_on_a_device_stay_within_the_memory(targets: int, memory: int) -> None:
    pytest.importorskip("triton", reason="kernels are written in Triton")
    from atkay.engines.full_ranking.device import KERNELS, Device, words

    n_users, n_items, depth = 5000, 100_000, 16
    given = counting.Vectors(torch.zeros((n_users, depth)), torch.zeros((n_items, depth)))
    user = torch.arange(n_users).repeat_interleave(targets)
    device = Device(given, counting.Targets(user, user), torch.zeros(len(user)), KERNELS["float32"])
    full = n_items - n_items % device.shape.items
    of_items: dict[tuple[int, int], int] = {}
    for (first, last), rows in device.parts(full, memory):
        of_items[first, last] = of_items.get((first, last), 0) + len(rows.user)
        # Bits that are in doubt, vectors in two pieces of two bytes, and counts.
        bits = len(rows.user) * targets * words(last - first, device.shape) * 4
        pieces = 2 * 2 * depth * (len(rows.user) + last - first)
        assert bits + pieces + len(rows.user) * targets * (3 * 4 + 3 * 8 + 4) <= memory
    assert set(of_items.values()) == {n_users}
    ends = [0, *(last for _, last in of_items)]
    assert [first for first, _ in of_items] == ends[:-1]
    assert ends[-1] == full


def test_the_work_on_a_device_is_cut_to_fit_on_its_chip(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("triton", reason="kernels are written in Triton")
    from atkay.engines.full_ranking import device as torch_device

    def items(precision: str, depth: int, room: int) -> tuple[int, int]:
        monkeypatch.setattr(torch_device, "on_chip", lambda _: room)
        given = counting.Vectors(torch.zeros((1, depth)), torch.zeros((1, depth)))
        shape = torch_device.KERNELS[precision].shape(given)
        assert shape.shared(depth, torch_device.KERNELS[precision].pieces) <= room
        return shape.items, shape.depth

    # An H200 has 227 KiB, an A100 163, a GeForce 99 and a T4 64. Half precision in two pieces: 4 bytes a component.
    # 128 users and three tiles of 64 items, 128 components each: 4 x 128 x (128 + 192) bytes = 160 KiB.
    assert [items("float32", 128, room << 10) for room in (227, 161, 159, 97, 64)] == [
        (64, 128), (64, 128), (128, 64), (64, 128), (64, 64),
    ]  # fmt: skip
    assert items("bfloat16", 128, 99 << 10) == (128, 128)
    assert items("float32", 1000, 227 << 10) == (128, 64)


def test_in_a_training_loop_nothing_but_hits_leaves_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []

    def to_host(tensor: Any) -> Any:
        left.append(tensor.numel())
        return tensor.numpy()

    monkeypatch.setattr(engine, "_host", to_host)
    users, items, truth, out, scores = case(11)
    reference = atkay.evaluate(listed(scores), wanted(truth), METRICS, exclude=wanted(out), no_truth="zero")
    validation = atkay.FullRanking(truth, METRICS, exclude=out, no_truth="zero")
    model = torch.nn.Parameter(torch.zeros(40, 4)), torch.nn.Parameter(torch.from_numpy(items))
    first = validation.evaluate(*model)
    with torch.no_grad():
        model[0].copy_(torch.from_numpy(users))
    same(validation.evaluate(*model), reference)
    assert first["auc"] != reference["auc"]
    n_targets = truth.nnz - truth.multiply(out).nnz
    assert left == [n_targets] * 8  # four numbers a target, twice


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.parametrize("make", ["pair", "tensors", "csr tensor", "coo"])
def test_truth_in_any_form(make: str) -> None:
    users, items, truth, _, _ = case(13)
    sparse_csr: Any = torch.sparse_csr_tensor
    given: Any = {
        "pair": lambda: (truth.indptr.tolist(), truth.indices, truth.data),
        "tensors": lambda: tuple(torch.from_numpy(np.array(one)) for one in (truth.indptr, truth.indices, truth.data)),
        "csr tensor": lambda: sparse_csr(
            *map(torch.from_numpy, (truth.indptr, truth.indices, truth.data)), truth.shape, check_invariants=True
        ),
        "coo": truth.tocoo,
    }[make]()
    same(atkay.full_ranking(users, items, given), atkay.full_ranking(users, items, truth))


@pytest.mark.parametrize(
    ("ids", "error", "said"),
    [
        ([7, 7], DuplicateError, "id 7 appears more than once; each row needs its own id."),
        (["ann", None], IdError, "'ids' is missing in row 1"),
        ([1.0, np.nan], IdError, "'ids' is missing in row 1"),
        ([1.5, 2], IdError, "'ids' holds 1.5, which cannot be an id"),
        ([1, "ann"], IdError, "it mixes types"),
        ([1], InputError, "ids: got 1 id for 2 users"),
    ],
)
def test_ids_that_do_not_name_the_users(ids: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=re.escape(said)):
        atkay.full_ranking(np.eye(2), np.eye(2), ([0, 1, 2], [0, 0]), "mrr", ids=ids)


def test_ids_name_the_users() -> None:
    found = atkay.full_ranking(np.eye(2), np.eye(2), ([0, 1, 2], [0, 0]), "mrr", ids=["ann", "bob"])
    assert found.per_query.rows() == [("ann", 1.0), ("bob", 0.5)]


def test_neither_polars_nor_a_terminal_is_needed() -> None:
    code = """
import sys
sys.modules.update(dict.fromkeys(("polars", "rich", "click", "scipy", "pandas", "pyarrow", "altair")))
import numpy as np, atkay
found = atkay.full_ranking(np.eye(2), np.eye(2), ([0, 1, 2], [0, 0]), ["mrr", "ndcg@1", "coverage@1"])
assert found["mrr"] == 0.75, found["mrr"]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("truth", [([0, 0, 0], np.empty(0, int)), sparse.csr_matrix((2, 4))])
def test_nobody_with_truth_is_an_error(truth: Any) -> None:
    for given in ({"user_vectors": USER, "item_vectors": ITEMS}, {"score": lambda who: np.ones((len(who), 4))}):
        with pytest.raises(AtkayError, match="no user to evaluate"):
            atkay.full_ranking(**given, truth=truth)


def test_infap_knows_the_pool() -> None:
    # Scores 4, 3, 2, 1: item 0 is relevant, 1 in the pool, 2 outside, 3 relevant: 1/4 + 2/4 · (1 + ε) / (1 + 2ε).
    score = np.array([[4.0, 3.0, 2.0, 1.0]], np.float32)
    grades = sparse.csr_array(np.array([[1.0, -1.0, 0.0, 1.0]]))
    value = (1 + 1 / 4 + 2 / 4 * (1 + 1e-5) / (1 + 2e-5)) / 2
    users, items = np.ones((1, 1), np.float32), score.T
    ranked = atkay.full_ranking(users, items, grades, "infap", negative="unjudged")
    assert ranked["infap"] == pytest.approx(value)


def test_lists_have_no_scores() -> None:
    vectors = torch.eye(2)
    with pytest.raises(ProtocolError, match="full_ranking: mse reads the scores of listed items"):
        atkay.full_ranking(user_vectors=vectors, item_vectors=vectors, truth=[[0], [1]], metrics=["mse"])
