"""The oracle's metrics of what is judged, in plain loops."""

from __future__ import annotations

from oracle_hits import Case, Words, choose, ratio


def _share(case: Case, words: Words, judged: bool) -> float:
    count = sum(entry.judged is judged for entry in case.top)
    return ratio(count, choose(words, "per", {"listed": case.L, "k": case.k_or_L}))


def judged(case: Case, words: Words) -> float:
    return _share(case, words, True)


def unjudged(case: Case, words: Words) -> float:
    return _share(case, words, False)


OF_JUDGED = {"judged": (judged, {"per"}), "unjudged": (unjudged, {"per"})}
