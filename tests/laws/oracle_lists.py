"""The oracle's metrics of whole lists, of what is known of items, and of all users together, in plain loops."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from typing import cast

from oracle_hits import METRICS, Case, Data, Entry, Formula, Item, Words, choose, ratio
from oracle_judged import OF_JUDGED
from oracle_subtopics import SUBTOPICS

# What is known of items.


def popularity(data: Data) -> Counter[Item]:
    """The training users of each item."""
    return Counter(item for items in data.train.values() for item in set(items))


def training_users(data: Data) -> int:
    return sum(bool(items) for items in data.train.values())


def together(data: Data, one: Item, other: Item) -> int:
    return sum(one in items and other in items for items in data.train.values())


def topics(data: Data, item: Item) -> list[str]:
    return sorted(set(data.categories.get(item, ())))


def in_head(data: Data, share: float, *, by_item: bool = False) -> set[Item]:
    """The items before which all more popular ones together have less than the share of the interactions, or items."""
    users = popularity(data)
    weight = dict.fromkeys(users, 1) if by_item else users
    total = sum(weight.values())
    before = {item: sum(weight[other] for other in users if users[other] > users[item]) for item in users}
    return {item for item, count in before.items() if count < share * total - 1e-9}


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


def over(terms: Sequence[float], divisor: float) -> float:
    """A sum divided, nan where there is nothing to divide by."""
    return math.fsum(terms) / divisor if divisor else math.nan


# Of one list.


def arp(case: Case, words: Words) -> float:
    users = popularity(case.data)
    counts = list(users.values())
    divisors = {
        "one": 1.0,
        "interactions": sum(counts),
        "users": training_users(case.data),
        "highest": max(counts),
        "mean": statistics.fmean(counts),
    }
    return over([users[entry.item] / choose(words, "per", divisors) for entry in case.top], case.L)


def long_tail(case: Case, words: Words) -> float:
    by_item = choose(words, "head_of", {"interactions": False, "items": True})
    head = in_head(case.data, float(words.get("head", 0.8)), by_item=by_item)
    tail = [entry.item not in head for entry in case.top]
    return over(tail, case.L) * choose(words, "per", {"listed": 1, "one": case.L})


def bits_of(data: Data, entries: Sequence[Entry], words: Words, total: int) -> list[float | None]:
    """-log2 of each item's share, None for an item that is left out."""
    users = popularity(data)
    unseen = choose(words, "unseen", {"one": -math.log2(1 / total) if total else math.nan, "skip": None, "zero": 0.0})
    return [-math.log2(users[entry.item] / total) if users[entry.item] else unseen for entry in entries]


def novelty(case: Case, words: Words) -> float:
    pairs = sum(popularity(case.data).values())
    total = choose(words, "of", {"users": training_users(case.data), "interactions": pairs})
    found = [bits for bits in bits_of(case.data, case.top, words, total) if bits is not None]
    return over(found, len(found))


def surprisal(case: Case, words: Words) -> float:
    users, everybody = popularity(case.data), training_users(case.data)
    if not case.entries or everybody < 2:
        return math.nan
    terms = [-math.log2(max(users[entry.item], 1) / everybody) / math.log2(everybody) for entry in case.top]
    return math.fsum(terms) / choose(words, "per", {"listed": case.L, "k": case.k_or_L})


def new_to_user(case: Case, words: Words) -> float:
    return over([entry.item not in case.history for entry in case.top], case.L)


def lift_parts(case: Case, words: Words) -> tuple[float, float]:
    users = popularity(case.data)
    had = over([users[item] for item in case.history], len(case.history))
    return over([users[entry.item] for entry in case.top], case.L) - had, had


def popularity_lift(case: Case, words: Words) -> float:
    above, below = lift_parts(case, words)
    return above / below


def complement(case: Case, words: Words, worth: Sequence[float | None]) -> float:
    """What EPC and EFD have in common: items of the top k weigh by their place, some of them are left out."""
    above = below = 0.0
    for entry, each in zip(case.top, worth, strict=True):
        if each is None:
            continue
        weight = choose(words, "discount", {"log2": 1 / math.log2(entry.place + 1), "flat": 1.0})
        counts = choose(words, "relevance", {"hits": entry.grade is not None, "listed": True})
        above += weight * each * counts
        below += weight
    empty = choose(words, "relevance", {"hits": 0.0, "listed": math.nan})
    return above / below if below else empty


def epc(case: Case, words: Words) -> float:
    users, everybody = popularity(case.data), training_users(case.data)
    return complement(case, words, [1 - users[entry.item] / everybody for entry in case.top])


def efd(case: Case, words: Words) -> float:
    total = sum(popularity(case.data).values())
    return complement(case, words, bits_of(case.data, case.top, words, total))


def shares_of(data: Data, weighted: Sequence[tuple[Item, float]]) -> dict[str, float]:
    """The share of each category; an item of several counts in equal parts."""
    mass: dict[str, float] = {}
    for item, weight in weighted:
        for topic in topics(data, item):
            mass[topic] = mass.get(topic, 0.0) + weight / len(topics(data, item))
    total = math.fsum(mass.values())
    return {topic: part / total for topic, part in mass.items()}


def calibration(case: Case, words: Words) -> float:
    weights: dict[str, Callable[[int], float]] = {
        "uniform": lambda place: 1.0,
        "log2": lambda place: 1 / math.log2(place + 1),
        "reciprocal": lambda place: 1 / place,
    }
    weigh = choose(words, "weight", weights)
    p = shares_of(case.data, [(item, 1.0) for item in case.history])
    q = shares_of(case.data, [(entry.item, weigh(entry.place)) for entry in case.top])
    if not p or not q:
        return math.nan
    alpha = float(words.get("alpha", 0.01))
    every = {topic: (p.get(topic, 0.0), q.get(topic, 0.0)) for topic in {*p, *q}}

    def divergence(pairs: Sequence[tuple[float, float]]) -> float:
        return math.fsum(one * math.log(one / other) for one, other in pairs if one)

    def kl() -> float:
        return divergence([(one, (1 - alpha) * other + alpha * one) for one, other in every.values()])

    def js() -> float:
        middle = [(one, other, (one + other) / 2) for one, other in every.values()]
        return (divergence([(one, m) for one, _, m in middle]) + divergence([(two, m) for _, two, m in middle])) / 2

    def hellinger() -> float:
        return math.sqrt(math.fsum((math.sqrt(one) - math.sqrt(other)) ** 2 for one, other in every.values()) / 2)

    return choose(words, "distance", {"kl": kl, "js": js, "hellinger": hellinger})()


def awrf(case: Case, words: Words) -> float:
    data, patience = case.data, float(words.get("patience", 0.5))
    weights: dict[str, Callable[[int], float]] = {
        "jk": lambda place: 1 / math.log2(max(place, 2)),
        "log2": lambda place: 1 / math.log2(place + 1),
        "geometric": lambda place: patience ** (place - 1),
        "uniform": lambda place: 1.0,
    }
    weigh = choose(words, "weight", weights)
    every = {topic for item in data.categories for topic in topics(data, item)}
    targets = {
        "items": shares_of(data, [(item, 1.0) for item in data.categories]),
        "even": {topic: 1 / len(every) for topic in every},
        "train": shares_of(data, [(item, 1.0) for items in data.train.values() for item in set(items)]),
        "relevant": shares_of(data, [(item, 1.0) for item in case.relevant]),
    }
    p, q = choose(words, "target", targets), shares_of(data, [(e.item, weigh(e.place)) for e in case.top])
    if not p or not q:
        return math.nan
    pairs = [(p.get(topic, 0.0), q.get(topic, 0.0)) for topic in every]
    both = [*pairs, *((other, one) for one, other in pairs)]
    js = math.fsum(one * math.log(2 * one / (one + other)) for one, other in both if one) / 2
    return 1 - choose(words, "distance", {"js": js, "variation": math.fsum(abs(a - b) for a, b in pairs) / 2})


def category_entropy(case: Case, words: Words) -> float:
    split = choose(words, "count", {"split": True, "each": False})
    listed = [(entry.item, 1.0 if split else float(len(topics(case.data, entry.item)))) for entry in case.top]
    shares = shares_of(case.data, listed)
    return -math.fsum(share * math.log2(share) for share in shares.values()) if shares else math.nan


def category_count(case: Case, words: Words) -> float:
    shown = {topic for entry in case.top for topic in topics(case.data, entry.item)}
    return float(len(shown)) if case.entries else math.nan


def distance_of(data: Data, words: Words) -> Callable[[Item, Item], float | None]:
    """How far apart two items are; None where nothing is known of one, and such pairs are left out."""
    users = popularity(data)

    def jaccard(one: Item, other: Item) -> float:
        a, b = set(topics(data, one)), set(topics(data, other))
        return 1 - len(a & b) / len(a | b)

    def shared(one: Item, other: Item) -> float:
        return 1 - together(data, one, other) / math.sqrt(users[one] * users[other])

    def differing(one: Item, other: Item) -> float:
        return float(sum(a != b for a, b in zip(data.vectors[one], data.vectors[other], strict=True)))

    ways: dict[str, tuple[Callable[[Item], bool], Callable[[Item, Item], float]]] = {
        "features": (
            lambda item: any(data.vectors.get(item, ())),
            lambda one, other: 1 - cosine(data.vectors[one], data.vectors[other]),
        ),
        "euclidean": (
            lambda item: item in data.vectors,
            lambda one, other: math.dist(data.vectors[one], data.vectors[other]),
        ),
        "hamming": (lambda item: item in data.vectors, differing),
        "categories": (lambda item: bool(topics(data, item)), jaccard),
        "cooccurrence": (lambda item: users[item] > 0, shared),
    }
    known, distance = choose(words, "by", ways)
    otherwise = choose(words, "unknown", {"skip": None, "apart": 1.0})
    return lambda one, other: distance(one, other) if known(one) and known(other) else otherwise


def ild(case: Case, words: Words) -> float:
    distance = distance_of(case.data, words)
    apart = [distance(one, other) for one, other in itertools.combinations([entry.item for entry in case.top], 2)]
    found = [each for each in apart if each is not None]
    return over(found, len(found))


def eild(case: Case, words: Words) -> float:
    distance = distance_of(case.data, words)
    flat = choose(words, "discount", {"log2": False, "flat": True})
    everything = choose(words, "relevance", {"hits": False, "listed": True})
    # Every distance of an item to itself is known where the item is.
    entries = [entry for entry in case.top if distance(entry.item, entry.item) is not None]

    def weigh(n: int) -> float:
        return 1.0 if flat else 1 / math.log2(n + 1)

    above = 0.0
    for i in entries:
        total = weight = 0.0
        for j in entries:
            if j is not i and (everything or j.grade is not None):
                w = weigh(max(1, j.place - i.place))
                total, weight = total + w * cast("float", distance(i.item, j.item)), weight + w
        if weight and (everything or i.grade is not None):
            above += weigh(i.place) * total / weight
    if everything and len(entries) < 2:
        return math.nan
    return above / math.fsum(weigh(i.place) for i in entries) if entries else 0.0


def user_coverage(case: Case, words: Words) -> float:
    asked = choose(words, "count", {"any": 1, "full": 1 if case.k is None else case.k})
    return float(asked <= case.L)


def unexpectedness(case: Case, words: Words) -> float:
    expected = choose(words, "expected", {"whole": case.expected, "top": case.expected[: case.k]})
    per = choose(words, "per", {"listed": case.L, "k": case.k_or_L})
    common = sum(entry.item in expected for entry in case.top)
    return 1 - common / per if case.entries else math.nan


def likeness(case: Case, item: Item, words: Words) -> float:
    """The mean cosine of an item to the user's history."""
    data, users = case.data, popularity(case.data)

    def shared(other: Item) -> float:
        return together(data, item, other) / math.sqrt(users[item] * users[other]) if users[item] else 0.0

    def by_vectors(other: Item) -> float:
        both = data.vectors.get(item, ()), data.vectors.get(other, ())
        return cosine(*both) if any(both[0]) and any(both[1]) else 0.0

    like = choose(words, "similarity", {"shared": shared, "features": by_vectors})
    return math.fsum(like(other) for other in case.history) / len(case.history)


def serendipity(case: Case, words: Words) -> float:
    kind, data, n = words.get("kind", "murakami"), case.data, len(case.data.catalog)
    unexpected = [entry for entry in case.top if entry.item not in case.expected]
    per = choose(words, "per", {"listed": case.L, "unexpected": len(unexpected), "k": case.k_or_L})
    if kind == "unexpectedness":
        return len(unexpected) / per if case.entries else math.nan
    if kind == "cosine" and not case.history:
        return math.nan
    users = popularity(data)
    levels = sorted(set(users.values()), reverse=True)

    def liking(place: int | None) -> float:
        """How much a list likes what stands at a place; nothing is liked less than what is not listed."""
        return 0.0 if place is None else max(n + 1 - place, 0) / n

    total = 0.0
    for nth, hit in enumerate(case.hits, start=1):
        if kind in ("murakami", "rectools"):
            listed = case.expected.index(hit.item) + 1 if hit.item in case.expected else None
            level = levels.index(users[hit.item]) + 1 if users[hit.item] else None
            worth = max((n + 1 - hit.place) / n - liking(listed if kind == "murakami" else level), 0.0)
        elif kind in ("ge", "adamopoulos"):
            worth = float(hit.item not in case.expected)
        elif kind == "cosine":
            worth = 1 - likeness(case, hit.item, words)
        else:
            raise ValueError(f"kind={kind!r}")
        total += worth * choose(words, "form", {"plain": 1.0, "ranked": nth / hit.place})
    return ratio(total, per)


LISTS: dict[str, tuple[Formula, set[str]]] = {
    "arp": (arp, {"per"}),
    "long_tail": (long_tail, {"head", "head_of", "per"}),
    "novelty": (novelty, {"of", "unseen"}),
    "surprisal": (surprisal, {"per"}),
    "new_to_user": (new_to_user, set()),
    "popularity_lift": (popularity_lift, {"average"}),
    "epc": (epc, {"discount", "relevance"}),
    "efd": (efd, {"discount", "relevance", "unseen"}),
    "calibration": (calibration, {"distance", "weight", "alpha"}),
    "awrf": (awrf, {"target", "distance", "weight", "patience"}),
    "category_entropy": (category_entropy, {"count"}),
    "category_count": (category_count, set()),
    "ild": (ild, {"by", "unknown"}),
    "eild": (eild, {"by", "unknown", "discount", "relevance"}),
    "user_coverage": (user_coverage, {"count"}),
    "unexpectedness": (unexpectedness, {"expected", "per"}),
    "serendipity": (serendipity, {"kind", "per", "form", "similarity"}),
    **SUBTOPICS,
    **OF_JUDGED,
}
POOLED_LISTS = {"popularity_lift": lift_parts}


def about_truth(metric: str, words: Words) -> bool:
    """Whether a value is about relevant items, so that the protocol decides what a user without any scores."""
    if metric in ("epc", "efd", "eild"):
        return words.get("relevance", "hits") == "hits"
    if metric == "serendipity":
        return words.get("kind") != "unexpectedness"
    if metric == "expected_exposure":
        return words.get("of") != "disparity"
    if metric == "awrf":
        return words.get("target") == "relevant"
    return metric in METRICS or metric in SUBTOPICS or metric == "median_rank" or metric.startswith("ips_")


# Of all users together.


def shown(cases: Sequence[Case], catalog: bool, data: Data) -> Counter[Item]:
    """How many lists show each item."""
    found = Counter(entry.item for case in cases for entry in case.top)
    return Counter({item: n for item, n in found.items() if not catalog or item in data.catalog})


def coverage(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    return len(shown(cases, True, data)) / len(data.catalog)


def gini(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    counts, n = shown(cases, True, data), len(data.catalog)
    ordered = sorted(counts[item] for item in data.catalog)
    below = choose(words, "divisor", {"n": n, "n_less_1": n - 1}) * sum(ordered)
    return over([(2 * j - n - 1) * x for j, x in enumerate(ordered, start=1)], below)


def entropy(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    as_share = choose(words, "unit", {"bits": False, "share": True})
    counts = shown(cases, as_share, data)
    total = sum(counts.values())
    if not total:
        return math.nan
    bits = -math.fsum(n / total * math.log2(n / total) for n in counts.values())
    return over([bits], math.log2(len(data.catalog))) if as_share else bits


def inter_list_distance(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    """Over all pairs of lists, one by one."""
    lists = [{entry.item for entry in case.top} for case in cases if case.entries]
    overlaps = [len(one & other) for one, other in itertools.combinations(lists, 2)]
    if not overlaps:
        return math.nan
    longest, mean = max(map(len, lists)), sum(map(len, lists)) / len(lists)
    per = choose(words, "per", {"k": k or longest, "listed": mean})
    return 1 - math.fsum(overlaps) / len(overlaps) / per


def median_rank(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    ranks = []
    for case in cases:
        if not case.relevant:
            continue
        last = k + 1 if k else (len(case.entries) + 1 if case.entries else math.inf)
        missed = choose(words, "missed", {"beyond": math.inf, "last": last, "skip": None})
        rank = case.hits[0].place if case.hits else missed
        if rank is not None:
            ranks.append(rank)
    middle = statistics.median(ranks) if ranks else math.nan
    return middle if middle < math.inf else math.nan


def median_users(cases: Sequence[Case], words: Words) -> int:
    """Who has a rank: a user with a relevant item, and where the others are skipped, with a hit."""
    return sum(bool(case.hits if words.get("missed") == "skip" else case.relevant) for case in cases)


def item_groups(words: Words, default: str, data: Data) -> dict[str, set[Item]]:
    if words.get("groups", default) == "popularity":
        head = in_head(data, float(words.get("head", 0.8)))
        return {"head": head, "tail": set(popularity(data)) - head}
    if words.get("groups", default) != "categories":
        raise ValueError(f"groups={words['groups']!r}")
    names = {topic for item in data.categories for topic in topics(data, item)}
    return {name: {item for item in data.categories if name in topics(data, item)} for name in names}


def exposure(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    found = []
    for members in item_groups(words, "categories", data).values():
        places = [entry.place for case in cases for entry in case.top if entry.item in members]
        relevant = sum(item in members for case in cases for item in case.relevant)
        per = {"items": len(cases) * len(members), "relevant": relevant, "listed": len(places)}
        divisor = choose(words, "per", per)
        if divisor:
            found.append(math.fsum(1 / math.log2(1 + place) for place in places) / divisor)
    if len(found) < 2 or max(found) == 0:
        return math.nan
    high, low = max(found), min(found)
    ways = {"ratio": high / low if low else math.nan, "inverse": low / high, "gap": high - low}
    return choose(words, "of", {**ways, "highest": high, "lowest": low})


def uneven(chances: Sequence[float]) -> float:
    if len(chances) < 2 or not any(chances):
        return math.nan
    return statistics.pstdev(chances) / statistics.fmean(chances)


def pop_reo(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    chances = []
    for members in item_groups(words, "popularity", data).values():
        wanted = sum(item in members for case in cases for item in case.relevant)
        found = sum(hit.item in members for case in cases for hit in case.hits)
        if wanted:
            chances.append(found / wanted)
    return uneven(chances)


def pop_rsp(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    unseen = choose(words, "items", {"unseen": True, "all": False})
    chances = []
    for members in item_groups(words, "popularity", data).values():
        could = listed = 0
        for case in cases:
            open_to = members - set(case.history) if unseen else members
            could += len(open_to)
            listed += sum(entry.item in open_to for entry in case.top)
        if could:
            chances.append(listed / could)
    return uneven(chances)


def item_mad(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    found = []
    for members in item_groups(words, "categories", data).values():
        shown = [[entry.grade is not None for case in cases for entry in case.top if entry.item == i] for i in members]
        rates = [sum(hits) / len(hits) for hits in shown if hits]
        if rates:
            found.append(math.fsum(rates) / len(rates))
    gaps = [abs(one - other) for one, other in itertools.combinations(found, 2)]
    return over(gaps, len(gaps))


def bias_disparity(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    groups = item_groups(words, "categories", data)
    known = {item for members in groups.values() for item in members}
    listed = [entry.item for case in cases for entry in case.top if entry.item in known]
    had = [item for case in cases for item in case.history if item in known]
    found = []
    for members in groups.values():
        of_lists = over([item in members for item in listed], len(listed))
        of_train = over([item in members for item in had], len(had))
        size = over([item in members for item in known], len(known))
        disparity = (of_lists - of_train) / of_train if of_train else math.nan
        ways = {"disparity": disparity, "lists": over([of_lists], size), "train": over([of_train], size)}
        found.append(choose(words, "bias", ways))
    there = [each for each in found if not math.isnan(each)]
    if not there:
        return math.nan
    none = 0 if words.get("bias", "disparity") == "disparity" else 1
    mean = statistics.fmean(abs(each - none) for each in there)
    return choose(words, "of", {"mean": mean, "highest": max(there), "lowest": min(there)})


RunFormula = Callable[[Sequence[Case], Words, int | None, Data], float]

RUN: dict[str, tuple[RunFormula, set[str]]] = {
    "coverage": (coverage, set()),
    "gini": (gini, {"divisor"}),
    "entropy": (entropy, {"unit"}),
    "inter_list_distance": (inter_list_distance, {"per"}),
    "median_rank": (median_rank, {"missed"}),
    "exposure": (exposure, {"groups", "head", "per", "of"}),
    "item_mad": (item_mad, {"groups", "head"}),
    "bias_disparity": (bias_disparity, {"bias", "of", "groups", "head"}),
    "pop_reo": (pop_reo, {"groups", "head"}),
    "pop_rsp": (pop_rsp, {"groups", "head", "items"}),
}
