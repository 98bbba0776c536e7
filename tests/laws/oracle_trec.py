"""The oracle's metrics that trec_eval has beside the usual ones, in plain loops over places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from oracle_hits import Case, Data, Formula, Words, average_precision, choose, ratio


def infap(case: Case, words: Words) -> float:
    total, relevant, other, unjudged = 0.0, 0, 0, 0
    for entry in case.top:
        if entry.grade is not None:
            below = entry.place - 1
            found = (relevant + 1e-5) / (relevant + other + 2e-5)
            share = (relevant + other + unjudged) / below * found if below else 0.0
            total += 1 / entry.place + below / entry.place * share
            relevant += 1
        elif entry.judged:
            other += 1
        elif entry.named:
            unjudged += 1
    return ratio(total, case.R)


def at_recall(case: Case, recall: Fraction, words: Words) -> float:
    share = recall * case.R
    least = choose(
        words,
        "rounding",
        {
            "up": math.ceil(share),
            "from_tenth": math.floor(float(recall) * case.R + 0.9),
            "nearest": math.floor(share + Fraction(1, 2)),
        },
    )
    reached = [n / place for place in range(1, len(case.entries) + 1) if (n := case.hits_upto(place)) >= least]
    return max(reached, default=0.0)


def interpolated_precision(case: Case, words: Words) -> float:
    return at_recall(case, Fraction(str(words.get("recall", 0.0))), words)


def interpolated_map(case: Case, words: Words) -> float:
    points = int(words.get("points", 11))
    return math.fsum(at_recall(case, Fraction(n, points - 1), words) for n in range(points)) / points


def yaap(case: Case, words: Words) -> float:
    precisions = average_precision(case, {}) * case.R
    return math.log((1 + precisions) / (1 + case.R - precisions))


def set_map(case: Case, words: Words) -> float:
    return ratio(case.h, case.L) * ratio(case.h, case.R)


def utility(case: Case, words: Words) -> float:
    hit, wrong, missed = (float(words.get(name, value)) for name, value in (("hit", 1), ("wrong", -1), ("missed", 0)))
    return hit * case.h + wrong * (case.L - case.h) + missed * (case.R - case.h)


def gain(grade: float | None, words: Words) -> float:
    if grade is None:
        return 0.0
    return choose(words, "gain", {"linear": grade, "binary": 1.0, "exp2": 2**grade - 1})


def ideal(case: Case, words: Words) -> list[float]:
    """The gains of the relevant items, the best first."""
    return sorted((gain(grade, words) for grade in case.relevant.values()), reverse=True)


def normalized_gain(case: Case, words: Words) -> float:
    best, total, found, could = ideal(case, words), 0.0, 0.0, 0.0
    for place, entry in enumerate(case.top, start=1):
        could += max(1.0, best[place - 1]) if place <= len(best) else 1.0
        found += gain(entry.grade, words)
        total += gain(entry.grade, words) / math.log2(2 + could - found)
    return ratio(total, math.fsum(best))


def dcg_at(gains: Sequence[float], depth: int) -> float:
    return math.fsum(worth / math.log2(place + 1) for place, worth in enumerate(gains[:depth], start=1))


def ndcg_rel(case: Case, words: Words) -> float:
    listed = [gain(entry.grade, words) for entry in case.entries]
    best = [worth for worth in ideal(case, words) if worth > 0]
    at = [place for place, worth in enumerate(listed, start=1) if worth > 0]
    terms = [dcg_at(listed, place) / dcg_at(best, place) for place in at]
    terms += [ratio(dcg_at(listed, len(listed)), dcg_at(best, len(best)))] * (len(best) - len(at))
    return ratio(math.fsum(terms), len(best))


def rndcg(case: Case, words: Words) -> float:
    listed = [gain(entry.grade, words) for entry in case.entries]
    best = [worth for worth in ideal(case, words) if worth > 0]
    depths = [n for n in range(1, len(best) + 1) if n == len(best) or best[n] != best[n - 1]]
    terms = [dcg_at(listed, n) / dcg_at(best, n) for n in depths]
    if best and len(listed) > len(best) + 1:
        terms.append(dcg_at(listed, len(listed)) / dcg_at(best, len(best)))
    return ratio(math.fsum(terms), len(terms))


def count(case: Case, words: Words) -> float:
    return choose(
        words,
        "of",
        {
            "listed": case.L,
            "relevant": case.R,
            "hits": case.h,
            "nonrelevant": sum(entry.judged and entry.grade is None for entry in case.top),
            "unjudged": sum(not entry.judged for entry in case.top),
            "users": 1,
        },
    )


def total(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    return math.fsum(count(case, words) for case in cases)


def rbp_residual(case: Case, words: Words) -> float:
    p = float(words.get("p", 0.8))
    unknown = [entry.place for entry in case.top if not entry.judged]
    left = float(p**case.L)
    opened = left + (1 - p) * math.fsum(p ** (place - 1) for place in unknown)
    return choose(words, "unjudged", {"irrelevant": left, "open": opened, "open_if_any": opened if unknown else 0.0})


TREC_METRICS: dict[str, tuple[Formula, set[str]]] = {
    "infap": (infap, set()),
    "interpolated_precision": (interpolated_precision, {"recall", "rounding"}),
    "interpolated_map": (interpolated_map, {"points", "rounding"}),
    "yaap": (yaap, set()),
    "set_map": (set_map, set()),
    "normalized_gain": (normalized_gain, {"gain"}),
    "ndcg_rel": (ndcg_rel, {"gain"}),
    "rndcg": (rndcg, {"gain"}),
}
TREC_LISTS: dict[str, tuple[Formula, set[str]]] = {
    "utility": (utility, {"hit", "wrong", "missed"}),
    "count": (count, {"of"}),
    "rbp_residual": (rbp_residual, {"p", "unjudged"}),
}
TREC_RUN = {"total": (total, {"of"})}
TREC_AVERAGED = {"set_map", "utility"}
"""What has a value under ties=expected and ties=together."""
TREC_GRADED = {"ndcg_rel", "normalized_gain", "rndcg"}
"""What counts every grade above 0 under gains=positive."""
