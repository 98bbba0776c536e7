"""The oracle's metrics over subtopics, in plain loops."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from oracle_hits import Case, Formula, Item, Words, choose, ratio

Weigh = Callable[[int], float]
"""What a rank weighs."""
Reader = Callable[[Item], list[str]]


def by_log(place: int) -> float:
    return 1 / math.log2(place + 1)


def by_place(place: int) -> float:
    return 1 / place


def by_beta(words: Words) -> Weigh:
    beta = float(words.get("beta", 0.5))
    return lambda place: beta ** (place - 1)


def reader(case: Case, words: Words) -> Reader:
    """The subtopics of an item: those of the truth, where it has any and the word lets it, or its categories."""
    given = choose(words, "subtopics", {"given": case.data.subtopics, "features": None})

    def of_item(item: Item) -> list[str]:
        return sorted(set(case.data.categories.get(item, ()) if given is None else given.get((case.user, item), ())))

    return of_item


def number(case: Case, topics: Reader) -> int:
    return len({topic for item in case.relevant for topic in topics(item)})


def novelty(items: Sequence[tuple[int, Item]], topics: Reader, words: Words, weigh: Weigh) -> float:
    """The sum over places and items of what their subtopics are still worth."""
    fading = 1 - float(words.get("alpha", 0.5))
    shown: Counter[str] = Counter()
    total = 0.0
    for place, item in items:
        total += math.fsum(fading ** shown[topic] for topic in topics(item)) * weigh(place)
        shown.update(topics(item))
    return total


def of_hits(case: Case, topics: Reader, words: Words, weigh: Weigh) -> float:
    return novelty([(hit.place, hit.item) for hit in case.hits], topics, words, weigh)


def greedy(case: Case, topics: Reader, words: Words) -> list[tuple[int, Item]]:
    """The relevant items, the one with the highest gain first, of equal ones the last id as text."""
    fading = 1 - float(words.get("alpha", 0.5))
    share = choose(words, "equal", {"rounded": 1 - 1e-12, "exact": 1.0})
    left = sorted(case.relevant, key=str, reverse=True)
    ideal: list[Item] = []
    shown: Counter[str] = Counter()

    def gain(item: Item) -> float:
        return math.fsum(fading ** shown[topic] for topic in topics(item))

    while left:
        best = max(map(gain, left))
        chosen = next(item for item in left if gain(item) >= best * share)
        left.remove(chosen)
        ideal.append(chosen)
        shown.update(topics(chosen))
    return list(enumerate(ideal[: case.k], start=1))


def over_greedy(weigh_of: Callable[[Words], Weigh], case: Case, words: Words) -> float:
    topics, weigh = reader(case, words), weigh_of(words)
    if not number(case, topics):
        return math.nan
    return of_hits(case, topics, words, weigh) / novelty(greedy(case, topics, words), topics, words, weigh)


def over_every(weigh: Weigh, case: Case, words: Words) -> float:
    """The sum of the hits, divided by that of a list in which every item has every subtopic, or as the word says."""
    topics, alpha = reader(case, words), float(words.get("alpha", 0.5))
    n = number(case, topics)
    if not n:
        return math.nan
    highest = n * math.fsum((1 - alpha) ** (place - 1) * weigh(place) for place in range(1, case.k_or_L + 1))
    per = {"ideal": highest, "subtopics": n / alpha if alpha else math.inf, "nothing": 1.0}
    return ratio(of_hits(case, topics, words, weigh), choose(words, "per", per))


def nrbp(case: Case, words: Words) -> float:
    topics = reader(case, words)
    factor = 1 - (1 - float(words.get("alpha", 0.5))) * float(words.get("beta", 0.5))
    n = number(case, topics)
    return factor * of_hits(case, topics, words, by_beta(words)) / n if n else math.nan


def mean_over_topics(case: Case, words: Words, of_topic: Callable[[str, Reader], float]) -> float:
    topics = reader(case, words)
    every = {topic for item in case.relevant for topic in topics(item)}
    return math.fsum(of_topic(topic, topics) for topic in every) / len(every) if every else math.nan


def ap_ia(case: Case, words: Words) -> float:
    def of_topic(topic: str, topics: Reader) -> float:
        places = [hit.place for hit in case.hits if topic in topics(hit.item)]
        precisions = [nth / place for nth, place in enumerate(places, start=1)]
        return math.fsum(precisions) / sum(topic in topics(item) for item in case.relevant)

    return mean_over_topics(case, words, of_topic)


def p_ia(case: Case, words: Words) -> float:
    def of_topic(topic: str, topics: Reader) -> float:
        places = choose(words, "per", {"k": case.k_or_L, "listed": case.L})
        return ratio(sum(topic in topics(hit.item) for hit in case.hits), places)

    return mean_over_topics(case, words, of_topic)


def subtopic_recall(case: Case, words: Words) -> float:
    return mean_over_topics(case, words, lambda topic, topics: any(topic in topics(hit.item) for hit in case.hits))


SUBTOPICS: dict[str, tuple[Formula, set[str]]] = {
    "alpha_dcg": (partial(over_every, by_log), {"subtopics", "alpha", "per"}),
    "alpha_ndcg": (partial(over_greedy, lambda _: by_log), {"subtopics", "alpha", "equal"}),
    "err_ia": (partial(over_every, by_place), {"subtopics", "alpha", "per"}),
    "nerr_ia": (partial(over_greedy, lambda _: by_place), {"subtopics", "alpha", "equal"}),
    "nrbp": (nrbp, {"subtopics", "alpha", "beta"}),
    "nnrbp": (partial(over_greedy, by_beta), {"subtopics", "alpha", "beta", "equal"}),
    "ap_ia": (ap_ia, {"subtopics"}),
    "p_ia": (p_ia, {"subtopics", "per"}),
    "subtopic_recall": (subtopic_recall, {"subtopics"}),
}
