"""The oracle's metrics that weigh hits by inverse propensities, in plain loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from oracle_hits import Case, Data, Formula, Item, Words, choose
from oracle_lists import popularity, training_users

Parts = tuple[float, float]


def weight(data: Data, item: Item, words: Words) -> float | None:
    """1/p, None for an item without a propensity."""
    users = popularity(data)
    share = choose(
        words,
        "propensity",
        {
            "users": users[item] / (training_users(data) or 1),
            "interactions": users[item] / (sum(users.values()) or 1),
            "given": data.propensity.get(item, 0.0),
        },
    )
    return 1 / max(share ** float(words["power"]), float(words["clip"])) if share else None


def wanted(case: Case, words: Words) -> list[float]:
    """The weights of the relevant items, the highest first."""
    found = (weight(case.data, item, words) for item in case.relevant)
    return sorted((each for each in found if each is not None), reverse=True)


def mean(case: Case, words: Words) -> float:
    """What 1 becomes where weights are normalised; 0 where there is nothing to weigh."""
    weights = wanted(case, words)
    if not weights:
        return 0.0
    return choose(words, "estimator", {"ips": 1.0, "snips": math.fsum(weights) / len(weights)})


def gained(case: Case, words: Words, discount: Callable[[int], float] = lambda place: 1.0) -> float:
    return math.fsum((weight(case.data, hit.item, words) or 0.0) / discount(hit.place) for hit in case.hits)


def log2(place: int) -> float:
    return math.log2(place + 1)


def precision(case: Case, words: Words) -> Parts:
    return gained(case, words), case.k_or_L * mean(case, words)


def recall(case: Case, words: Words) -> Parts:
    return gained(case, words), len(wanted(case, words)) * mean(case, words)


def hit(case: Case, words: Words) -> Parts:
    return gained(case, words), mean(case, words)


def dcg(case: Case, words: Words) -> Parts:
    return gained(case, words, log2), len(wanted(case, words)) * mean(case, words)


def ndcg(case: Case, words: Words) -> Parts:
    weights = wanted(case, words)[: case.k]
    worth = choose(words, "estimator", {"ips": [1.0 for _ in weights], "snips": weights})
    return gained(case, words, log2), math.fsum(each / log2(place) for place, each in enumerate(worth, start=1))


def formula(parts: Callable[[Case, Words], Parts]) -> Formula:
    def value(case: Case, words: Words) -> float:
        above, below = parts(case, words)
        if not wanted(case, words):
            return math.nan
        return above / below if below else 0.0

    return value


POOLED_WEIGHTED = {
    "ips_precision": precision,
    "ips_recall": recall,
    "ips_hit": hit,
    "ips_dcg": dcg,
    "ips_ndcg": ndcg,
}
WEIGHTED: dict[str, tuple[Formula, set[str]]] = {
    name: (formula(parts), {"estimator", "propensity", "power", "clip", "average"})
    for name, parts in POOLED_WEIGHTED.items()
}


def effective_sample_size(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    weights = [each for case in cases for each in wanted(case, words)]
    return math.fsum(weights) ** 2 / math.fsum(each**2 for each in weights) if weights else math.nan


RUN_WEIGHTED = {"effective_sample_size": (effective_sample_size, {"propensity", "power", "clip"})}
