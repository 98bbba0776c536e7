"""The oracle's metrics of pairs, ranks and the whole catalogue, pair by pair and item by item."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import cast

from oracle_hits import Case, Formula, Words, choose, ratio
from scipy import stats


def undefined(above: float, below: float) -> float:
    return above / below if below else math.nan


def graded_pairs(case: Case, words: Words) -> tuple[float, float]:
    """Pairs in the order of their grades, and all pairs whose grades differ."""
    grades = [entry.grade or 0.0 for entry in case.top]
    pairs = [(one, other) for one, other in itertools.combinations(grades, 2) if one != other]
    return sum(one > other for one, other in pairs), len(pairs)


def wrong_pairs(case: Case, words: Words) -> tuple[float, float]:
    right, pairs = graded_pairs(case, words)
    return pairs - right, pairs


def judged_grades(case: Case) -> list[float]:
    return [cast("float", entry.stated) for entry in case.top if entry.judged]


def kendall(case: Case, words: Words) -> float:
    grades = judged_grades(case)
    if len(set(grades)) < 2:
        return math.nan
    if words.get("form", "b") == "b":
        return float(stats.kendalltau([-place for place in range(len(grades))], grades).statistic)
    pairs = list(itertools.combinations(grades, 2))
    difference = sum((one > other) - (one < other) for one, other in pairs)
    return difference / choose(words, "form", {"b": 0, "a": len(pairs), "gamma": sum(a != b for a, b in pairs)})


def spearman(case: Case, words: Words) -> float:
    grades = judged_grades(case)
    if len(set(grades)) < 2:
        return math.nan
    return float(stats.spearmanr([-place for place in range(len(grades))], grades).statistic)


def mar(case: Case, words: Words) -> float:
    k = case.k_or_L
    return ratio(math.fsum(ratio(sum(hit.place <= at for hit in case.hits), case.R) for at in range(1, k + 1)), k)


def mean_rank_parts(case: Case, words: Words) -> tuple[float, float]:
    if not case.entries:
        return 0.0, 0.0
    place = {entry.item: entry.place for entry in case.entries}
    ranks = weights = 0.0
    for item, grade in case.relevant.items():
        weight = choose(words, "gain", {"binary": 1.0, "linear": grade})
        if item in place or choose(words, "unlisted", {"last": True, "skip": False}):
            ranks += weight * place.get(item, len(case.entries) + 1)
            weights += weight
    return ranks, weights


def top_auc_parts(case: Case, words: Words) -> tuple[float, float]:
    irrelevant = [entry for entry in case.top if entry.grade is None]
    return sum(hit.place < other.place for hit in case.hits for other in irrelevant), case.h * len(irrelevant)


def top_auc(case: Case, words: Words) -> float:
    right, pairs = top_auc_parts(case, words)
    without = choose(words, "one_kind", {"skip": math.nan, "zero": 0.0, "hit": float(case.h > 0)})
    return right / pairs if pairs else without


def partial_auc(case: Case, words: Words) -> float:
    hits = [entry for entry in case.entries if entry.grade is not None]
    irrelevant = [entry for entry in case.entries if entry.grade is None]
    k = len(irrelevant) if case.k is None else case.k
    if choose(words, "short", {"ignore": False, "skip": True}) and len(irrelevant) < k and len(hits) < case.R:
        return math.nan
    counted = choose(words, "relevant", {"all": (hits, case.R), "top": (hits[:k], min(k, case.R))})
    # Irrelevant items that the list lacks stand below all that it has.
    right = sum(hit.place < other.place for hit in counted[0] for other in irrelevant[:k])
    return undefined(right + len(counted[0]) * max(0, k - len(irrelevant)), k * counted[1])


def fall_out_parts(case: Case, words: Words) -> tuple[float, float]:
    catalog = case.data.catalog
    candidates = choose(words, "among", {"catalog": catalog, "listed": {entry.item for entry in case.entries}})
    irrelevant = {*candidates} - {*case.relevant}
    return len(irrelevant & {entry.item for entry in case.top}), len(irrelevant)


def specificity_parts(case: Case, words: Words) -> tuple[float, float]:
    shown, every = fall_out_parts(case, words)
    return every - shown, every


def accuracy_parts(case: Case, words: Words) -> tuple[float, float]:
    shown, relevant = {entry.item for entry in case.top}, {*case.relevant}
    return sum((item in shown) == (item in relevant) for item in case.data.catalog), len(case.data.catalog)


def mcc(case: Case, words: Words) -> float:
    shown, relevant = {entry.item for entry in case.top}, {*case.relevant}
    rows = [(item in shown, item in relevant) for item in sorted(case.data.catalog, key=str)]
    tp, fp, fn, tn = (rows.count(row) for row in ((True, True), (True, False), (False, True), (False, False)))
    below = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return (tp * tn - fp * fn) / math.sqrt(below) if below else 0.0


def of(parts: Callable[[Case, Words], tuple[float, float]]) -> Formula:
    return lambda case, words: undefined(*parts(case, words))


RANKS_POOLED: dict[str, Callable[[Case, Words], tuple[float, float]]] = {
    "opa": graded_pairs,
    "ndpm": wrong_pairs,
    "mean_rank": mean_rank_parts,
    "top_auc": top_auc_parts,
    "fall_out": fall_out_parts,
    "specificity": specificity_parts,
    "accuracy": accuracy_parts,
}
RANKS: dict[str, tuple[Formula, set[str]]] = {
    "opa": (of(graded_pairs), {"average"}),
    "ndpm": (of(wrong_pairs), {"average"}),
    "kendall": (kendall, {"form"}),
    "spearman": (spearman, set()),
    "mar": (mar, set()),
    "mean_rank": (of(mean_rank_parts), {"gain", "unlisted", "average"}),
    "top_auc": (top_auc, {"one_kind", "average"}),
    "partial_auc": (partial_auc, {"relevant", "short"}),
    "fall_out": (of(fall_out_parts), {"among", "average"}),
    "specificity": (of(specificity_parts), {"among", "average"}),
    "accuracy": (of(accuracy_parts), {"average"}),
    "mcc": (mcc, set()),
}
