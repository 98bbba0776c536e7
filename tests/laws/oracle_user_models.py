"""The oracle's metrics of users who read down a list: rank by rank, from what they do at each."""

from __future__ import annotations

import math
from collections.abc import Callable

from oracle_hits import Case, Formula, Words, choose, ratio

NEVER_ENDS = 400
"""How far a list that never ends is read here; the rest is an integral."""


def gains(case: Case, words: Words, length: int) -> list[float]:
    """The gain of each rank, as a share of the highest grade."""
    highest = float(words.get("highest", 1.0))
    out = [0.0] * length
    for hit in case.hits:
        assert hit.grade is not None
        out[hit.place - 1] += min(hit.grade / highest, 1.0)
    return out


def deepest(case: Case) -> int:
    """The ranks to walk through."""
    return max([case.k_or_L, *(hit.place for hit in case.hits)])


def read_on(
    case: Case, words: Words, goes_on: Callable[[int, float], float], tail: Callable[[int, float], float]
) -> float:
    """The gain per item read by a user who goes on below a rank with a chance that its rank and past gain decide.

    ``tail`` adds up the reading below the last rank that was walked through, where the list never ends.
    """
    if not case.hits:
        return 0.0
    length = deepest(case) if case.k is not None else max(NEVER_ENDS, deepest(case))
    reading, read, gained, value = 1.0, 0.0, 0.0, 0.0
    for rank, gain in enumerate(gains(case, words, length), 1):
        read += reading
        value += reading * gain
        gained += gain
        reading *= goes_on(rank, gained)
    return value / (read + (reading * tail(length, gained) if case.k is None else 0.0))


def insq(case: Case, words: Words) -> float:
    t = float(words.get("t", 1.0))
    return read_on(case, words, lambda rank, _: ((rank - 1 + 2 * t) / (rank + 2 * t)) ** 2, squares_below(2 * t))


def inst(case: Case, words: Words) -> float:
    t = float(words.get("t", 1.0))

    def goes_on(rank: int, gained: float) -> float:
        missing = t - gained
        return ((rank - 1 + t + missing) / (rank + t + missing)) ** 2

    return read_on(case, words, goes_on, lambda length, gained: squares_below(2 * t - gained)(length, gained))


def squares_below(offset: float) -> Callable[[int, float], float]:
    """Σ (x / (x + i))² over all i from 0, by Euler and Maclaurin, where x = length + offset is large."""

    def tail(length: int, _: float) -> float:
        x = length + offset
        return x * x * (1 / x + 1 / (2 * x**2) + 1 / (6 * x**3))

    return tail


def sdcg(case: Case, words: Words) -> float:
    discounts = [1 / math.log2(rank + 1) for rank in range(1, deepest(case) + 1)]
    seen = math.fsum(gain * one for gain, one in zip(gains(case, words, deepest(case)), discounts, strict=True))
    return ratio(seen, math.fsum(discounts[: case.k_or_L]))


def nerr(case: Case, words: Words) -> float:
    p, t = float(words.get("p", 0.9)), float(words.get("t", 1.0))
    patience: Callable[[int], float] = choose(
        words,
        "patience",
        {
            "flat": lambda rank: 1.0,
            "rank": lambda rank: 1 / rank,
            "geometric": lambda rank: p ** (rank - 1),
            "insq": lambda rank: (2 * t / (rank - 1 + 2 * t)) ** 2,
        },
    )
    if not case.hits:
        return 0.0
    length, below = deepest(case), 0.0
    if case.k is None and words.get("patience") in ("geometric", "insq"):
        length = max(NEVER_ENDS, length)
        below = squares_below(2 * t)(length, 0.0) * patience(length + 1) if words["patience"] == "insq" else 0.0
    unsatisfied, read, value = 1.0, 0.0, 0.0
    for rank, chance in enumerate(gains(case, words, length), 1):
        read += patience(rank) * unsatisfied
        value += patience(rank) * unsatisfied * chance
        unsatisfied *= 1 - chance
    return value / (read + unsatisfied * below)


def bpm(case: Case, words: Words) -> float:
    t, highest = float(words.get("t", 1.0)), float(words.get("highest", 1.0))
    grades = gains(case, {"highest": highest}, deepest(case))
    gained = 0.0
    for rank, gain in enumerate(grades, 1):
        gained += gain
        if gained >= t - 1e-12:
            return gained / rank
    return ratio(gained, case.k_or_L)


def compatibility(case: Case, words: Words) -> float:
    p = float(words.get("p", 0.95))
    listed = [entry.item for entry in case.top]
    place = {entry.item: entry.place for entry in case.entries}
    ideal = sorted(case.relevant, key=lambda item: (-case.relevant[item], place.get(item, math.inf)))
    depth = max(len(case.entries), len(ideal))
    depth = depth if case.k is None else min(depth, case.k)

    def overlap(one: list[object], other: list[object]) -> float:
        return math.fsum(p ** (d - 1) * len({*one[:d]} & {*other[:d]}) / d for d in range(1, depth + 1))

    weights = math.fsum(p ** (d - 1) for d in range(1, depth + 1))
    best = choose(words, "per", {"ideal": overlap(ideal, ideal), "weights": weights})
    return ratio(overlap(listed, ideal), best)


USER_MODELS: dict[str, tuple[Formula, set[str]]] = {
    "insq": (insq, {"t", "highest"}),
    "inst": (inst, {"t", "highest"}),
    "sdcg": (sdcg, {"highest"}),
    "nerr": (nerr, {"patience", "p", "t", "highest"}),
    "bpm": (bpm, {"t", "highest"}),
    "compatibility": (compatibility, {"p", "per"}),
}
"""All of them read every grade above 0."""
