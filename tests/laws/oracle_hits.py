"""The oracle's metrics of hits, in plain loops, and what they see of a user."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeVar, cast

User = Hashable
Item = Hashable
Row = tuple[User, Item, float]
Words = Mapping[str, str | float]
T = TypeVar("T")


@dataclass(frozen=True)
class Data:
    """Everything that an evaluation is given."""

    recs: Sequence[Row]
    truth: Sequence[Row]
    exclude: Set[tuple[User, Item]] = frozenset()
    candidates: Set[tuple[User, Item]] | None = None
    train: Mapping[User, Sequence[Item]] = field(default_factory=dict)
    catalog: Set[Item] = frozenset()
    categories: Mapping[Item, Sequence[str]] = field(default_factory=dict)
    vectors: Mapping[Item, Sequence[float]] = field(default_factory=dict)
    propensity: Mapping[Item, float] = field(default_factory=dict)
    reference: Mapping[User, Sequence[Item]] = field(default_factory=dict)
    owner: Callable[[User], User] = lambda query: query
    """Under which name train, reference and segments know a query."""
    subtopics: Mapping[tuple[User, Item], Sequence[str]] | None = None
    """Those of each row of the truth, where it names any; the truth has the row for each of them."""
    scored: bool = True
    """Whether the lists have scores; else they are in the order of their rows."""


@dataclass(frozen=True)
class Entry:
    """One listed item."""

    item: Item
    grade: float | None
    """The grade of a relevant item, None for any other item: a grade of 0.5 may be not relevant, too."""
    place: int
    score: float | None = None
    judged: bool = False
    """Whether the truth grades the item, as relevant or not."""
    named: bool = False
    """Whether the truth names the item without judging it."""
    positive: float | None = None
    """Its grade where that is above 0, relevant or not."""
    stated: float | None = None
    """Its grade as the truth has it."""


@dataclass(frozen=True)
class Case:
    """One user: what was listed, what is relevant, and the cutoff."""

    entries: list[Entry]
    """The whole list in rank order."""
    relevant: Mapping[Item, float]
    """The grades of all relevant items of the truth, listed or not."""
    k: int | None
    data: Data
    user: User
    nonrelevant: int = 0
    """How many items the truth grades as not relevant."""
    threshold: float = 0.0
    """The lowest grade that is relevant; 0 where every grade above 0 is."""

    @property
    def top(self) -> list[Entry]:
        return [entry for entry in self.entries if self.k is None or entry.place <= self.k]

    @property
    def hits(self) -> list[Entry]:
        return [entry for entry in self.top if entry.grade is not None]

    @property
    def h(self) -> int:
        return len(self.hits)

    @property
    def R(self) -> int:
        return len(self.relevant)

    @property
    def L(self) -> int:
        return len(self.entries) if self.k is None else min(self.k, len(self.entries))

    @property
    def k_or_L(self) -> int:
        """k where a formula needs a number; without a cutoff the list's own length stands for it."""
        return self.L if self.k is None else self.k

    @property
    def capped(self) -> int:
        """min(k, R); without a cutoff nothing caps R."""
        return self.R if self.k is None else min(self.k, self.R)

    def hits_upto(self, place: int) -> int:
        return sum(entry.grade is not None and entry.place <= place for entry in self.entries)

    @property
    def history(self) -> list[Item]:
        return list(dict.fromkeys(self.data.train.get(self.data.owner(self.user), ())))

    @property
    def expected(self) -> list[Item]:
        """The reference list."""
        return list(self.data.reference.get(self.data.owner(self.user), ()))


def ratio(numerator: float, denominator: float) -> float:
    """A division where 0/0 is 0; any other division by zero would be a mistake and raises."""
    return 0.0 if numerator == denominator == 0 else numerator / denominator


def choose(words: Words, name: str, options: Mapping[str, T]) -> T:
    """The option that the word names; the first option is the default."""
    word = words.get(name, next(iter(options)))
    if word not in options:
        raise ValueError(f"{name}={word!r}; words are {', '.join(options)}")
    return options[cast("str", word)]


# Metrics that can be pooled: a numerator and a denominator per user.


def precision_parts(case: Case, words: Words) -> tuple[float, float]:
    return case.h, choose(
        words, "per", {"k": case.k_or_L, "listed": case.L, "capped": case.capped, "possible": min(case.L, case.R)}
    )


def recall_parts(case: Case, words: Words) -> tuple[float, float]:
    return case.h, choose(words, "per", {"relevant": case.R, "capped": case.capped})


def hit_parts(case: Case, words: Words) -> tuple[float, float]:
    any_hit = 1 if case.h > 0 else 0
    return choose(words, "count", {"any": (any_hit, 1), "share": (case.h, case.L), "number": (case.h, 1)})


def f1_parts(case: Case, words: Words) -> tuple[float, float]:
    beta = float(words.get("beta", 1.0))
    return (1 + beta**2) * case.h, beta**2 * case.R + case.k_or_L


def auc_parts(case: Case, words: Words) -> tuple[float, float]:
    """The pairs of a relevant and an irrelevant item in the right order, and all such pairs."""
    irrelevant = [entry for entry in case.entries if entry.grade is None]
    right = sum(hit.place < other.place for hit in case.hits for other in irrelevant)
    return right, choose(words, "unlisted", {"last": case.R, "skip": case.h}) * len(irrelevant)


def group_auc_parts(case: Case, words: Words) -> tuple[float, float]:
    right, pairs = auc_parts(case, words)
    if not pairs and choose(words, "no_pair", {"skip": True, "zero": False}):
        return 0.0, 0.0
    weight = choose(words, "weight", {"listed": case.L, "relevant": case.R, "pairs": pairs})
    return ratio(right, pairs) * weight, weight


def mpr_parts(case: Case, words: Words) -> tuple[float, float]:
    place = {entry.item: entry.place for entry in case.entries}
    above = below = 0.0
    for item, grade in case.relevant.items():
        weight = choose(words, "gain", {"linear": grade, "binary": 1.0})
        if item in place:
            above += weight * ratio(place[item] - 1, case.L - 1)
            below += weight
        elif choose(words, "unlisted", {"last": True, "skip": False}):
            above += weight
            below += weight
    return above, below


# One user's value.


def precision(case: Case, words: Words) -> float:
    return ratio(*precision_parts(case, words))


def recall(case: Case, words: Words) -> float:
    return ratio(*recall_parts(case, words))


def hit(case: Case, words: Words) -> float:
    return ratio(*hit_parts(case, words))


def f1(case: Case, words: Words) -> float:
    beta = float(words.get("beta", 1.0))
    p = ratio(case.h, case.k_or_L)
    r = ratio(case.h, case.R)
    return ratio((1 + beta**2) * p * r, beta**2 * p + r)


def auc(case: Case, words: Words) -> float:
    right, pairs = auc_parts(case, words)
    return right / pairs if pairs else choose(words, "no_pair", {"skip": math.nan, "zero": 0.0})


def mpr(case: Case, words: Words) -> float:
    above, below = mpr_parts(case, words)
    return above / below if below else math.nan


def r_precision(case: Case, words: Words) -> float:
    places = math.floor(float(words.get("multiple", 1.0)) * case.R + 0.9)
    return ratio(case.hits_upto(places), places)


def precision_at_hits(case: Case) -> float:
    """The sum of precision@rank over the ranks of the hits: the numerator of average precision."""
    return math.fsum(case.hits_upto(hit.place) / hit.place for hit in case.hits)


def average_precision(case: Case, words: Words) -> float:
    if words.get("per") == "places":
        places = range(1, case.k_or_L + 1)
        return ratio(math.fsum(case.hits_upto(place) / place for place in places), case.k_or_L)
    per = {
        "relevant": case.R,
        "capped": case.capped,
        "hits": case.h,
        "k": case.k_or_L,
        "listed": min(case.R, case.L),
    }
    return ratio(precision_at_hits(case), choose(words, "per", per))


def mnap(case: Case, words: Words) -> float:
    return ratio(precision_at_hits(case), case.capped)


def reciprocal_rank(case: Case, words: Words) -> float:
    best_only = choose(words, "target", {"any": False, "best": True})
    wanted = [hit for hit in case.hits if not best_only or hit.grade == max(case.relevant.values())]
    return 1 / wanted[0].place if wanted else 0.0


def gained(grade: float, words: Words, threshold: float) -> float:
    gains = {"exp2": math.pow(2, grade) - 1, "linear": grade, "binary": 1.0}
    return choose(words, "gain", {**gains, "exp2_above": math.pow(2, grade - threshold + 1) - 1})


def discounted(place: int, words: Words) -> float:
    discounts = {"log2": math.log2(place + 1), "ln": math.log(place + 1), "jk": max(1.0, math.log2(place))}
    return choose(words, "discount", discounts)


def dcg(case: Case, words: Words) -> float:
    return math.fsum(
        gained(cast("float", hit.grade), words, case.threshold) / discounted(hit.place, words) for hit in case.hits
    )


def ndcg(case: Case, words: Words) -> float:
    all_truth = sorted(case.relevant.values(), reverse=True)
    # The whole list, not its top k: the best k of what was listed is the best order of this list.
    own_list = sorted((entry.grade for entry in case.entries if entry.grade is not None), reverse=True)
    ideals = {
        "relevant": all_truth[: case.k],
        "full": [max(1.0, case.threshold) if words.get("gain") == "exp2_above" else 1.0] * case.k_or_L,
        "listed": own_list[: case.k],
        "uncut": all_truth,
        "possible": all_truth[: case.L if case.k is None else min(case.k, case.L)],
    }
    ideal = choose(words, "ideal", ideals)
    best = math.fsum(
        gained(grade, words, case.threshold) / discounted(place, words) for place, grade in enumerate(ideal, start=1)
    )
    return ratio(dcg(case, words), best)


def bpref(case: Case, words: Words) -> float:
    terms = []
    for hit in case.hits:
        above = sum(entry.judged and entry.grade is None and entry.place < hit.place for entry in case.entries)
        top, bottom = choose(
            words,
            "per",
            {
                "capped": (min(above, case.R), min(case.nonrelevant, case.R)),
                "relevant": (min(above, case.R), case.R),
                "plus10": (min(above, case.R + 10), case.R + 10),
            },
        )
        terms.append(1 - ratio(top, bottom))
    return ratio(math.fsum(terms), case.R)


def err(case: Case, words: Words) -> float:
    highest = float(words.get("highest", 4.0))
    goes_on, total = 1.0, 0.0
    for hit in case.hits:
        stops = (2 ** min(cast("float", hit.grade), highest) - 1) / 2**highest
        total += goes_on * stops / hit.place
        goes_on *= 1 - stops
    return total


def rbp(case: Case, words: Words) -> float:
    p, highest = float(words.get("p", 0.8)), float(words.get("highest", 1.0))
    total = 0.0
    for hit in case.hits:
        grade = cast("float", hit.grade)
        gain = choose(words, "gain", {"binary": 1.0, "linear": min(grade, highest) / highest, "grade": grade})
        total += gain * p ** (hit.place - 1)
    return (1 - p) * total


Formula = Callable[[Case, Words], float]

METRICS: dict[str, tuple[Formula, set[str]]] = {
    "precision": (precision, {"per", "average"}),
    "recall": (recall, {"per", "average"}),
    "hit": (hit, {"count", "average"}),
    "f1": (f1, {"beta", "average"}),
    "map": (average_precision, {"per"}),
    "mnap": (mnap, set()),
    "r_precision": (r_precision, {"multiple"}),
    "mrr": (reciprocal_rank, {"target"}),
    "dcg": (dcg, {"gain", "discount"}),
    "ndcg": (ndcg, {"gain", "discount", "ideal"}),
    "auc": (auc, {"unlisted", "no_pair", "average"}),
    "group_auc": (auc, {"unlisted", "no_pair", "weight", "average"}),
    "mpr": (mpr, {"gain", "unlisted", "average"}),
    "bpref": (bpref, {"per"}),
    "err": (err, {"highest"}),
    "rbp": (rbp, {"p", "gain", "highest"}),
}
POOLED: dict[str, Callable[[Case, Words], tuple[float, float]]] = {
    "precision": precision_parts,
    "recall": recall_parts,
    "hit": hit_parts,
    "f1": f1_parts,
    "auc": auc_parts,
    "group_auc": group_auc_parts,
    "mpr": mpr_parts,
}
AVERAGE = {name: ("pooled", "users") if name in ("group_auc", "mpr") else ("users", "pooled") for name in POOLED}
"""How users are put together where no word says it, and the other way."""
AVERAGED = {"precision", "recall", "hit", "f1", "map", "mnap", "r_precision", "mrr", "dcg", "ndcg", "auc", "group_auc",
            "rbp", "sdcg", "insq", "err", "mar", "mean_rank", "mpr", "expected_exposure"}  # fmt: skip
"""What has a value under ties=expected and ties=together."""
BY_SCORE = {"precision", "recall", "map", "mnap", "mrr"}
"""What nonpositive=missed is about."""
BY_GRADE = {"dcg", "ndcg", "err"}
"""What sees every grade above 0 where the protocol says gains=positive."""
