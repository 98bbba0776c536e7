"""The oracle's metrics of the attention that lists give to items, in plain loops."""

from __future__ import annotations

import math

from oracle_hits import Case, Formula, Words, choose


def expected_exposure(case: Case, words: Words) -> float:
    patience = float(words.get("patience", 0.5))
    graded = choose(words, "levels", {"grades": True, "binary": False})
    level = {item: grade if graded else 1.0 for item, grade in case.relevant.items()}
    ideal = sorted(level, key=lambda item: -level[item])
    places = [patience ** (place - 1) if case.k is None or place <= case.k else 0.0 for place in range(1, case.R + 1)]
    due = {}
    for item in ideal:
        filled = [exposure for other, exposure in zip(ideal, places, strict=True) if level[other] == level[item]]
        due[item] = math.fsum(filled) / len(filled)
    got = {entry.item: patience ** (entry.place - 1) for entry in case.top}
    everything = {*due, *got}
    ways = {
        "loss": [(got.get(item, 0.0) - due.get(item, 0.0)) ** 2 for item in everything],
        "disparity": [each**2 for each in got.values()],
        "relevance": [got.get(item, 0.0) * due.get(item, 0.0) for item in everything],
    }
    return math.fsum(choose(words, "of", ways))


ATTENTION: dict[str, tuple[Formula, set[str]]] = {
    "expected_exposure": (expected_exposure, {"of", "levels", "patience"}),
}
