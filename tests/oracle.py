"""The oracle: every ranking metric in plain loops, written from its definition.

It shares no code and no idea with the library, so the two agree only where both follow the definition.
Slow on purpose. An unknown metric, field or word raises: a typo in a test must not turn into a default.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeVar, cast

User = Hashable
Item = Hashable
Row = tuple[User, Item, float]
Words = Mapping[str, str | float]
T = TypeVar("T")


@dataclass(frozen=True)
class Case:
    """One user: what was listed, what is relevant, and the cutoff."""

    listed: list[float | None]
    """The whole list in rank order: the grade of a relevant item, None for any other item.

    None and not 0, because with min_relevance=0 an item of grade 0 is relevant.
    """
    relevant: list[float]
    """The grades of all relevant items of the truth, listed or not."""
    k: int | None
    threshold: float = 0.0
    """The lowest grade that is relevant; 0 where every grade above 0 is."""

    @property
    def top(self) -> list[float | None]:
        return self.listed if self.k is None else self.listed[: self.k]

    @property
    def h(self) -> int:
        return sum(1 for grade in self.top if grade is not None)

    @property
    def R(self) -> int:
        return len(self.relevant)

    @property
    def L(self) -> int:
        return len(self.top)

    @property
    def k_or_L(self) -> int:
        """k where a formula needs a number; without a cutoff the list's own length stands for it."""
        return self.L if self.k is None else self.k

    @property
    def capped(self) -> int:
        """min(k, R); without a cutoff nothing caps R."""
        return self.R if self.k is None else min(self.k, self.R)


def ratio(numerator: float, denominator: float) -> float:
    """A division where 0/0 is 0; any other division by zero would be a mistake and raises."""
    return 0.0 if numerator == denominator == 0 else numerator / denominator


def choose(words: Words, field: str, options: Mapping[str, T]) -> T:
    """The option that the word names; the first option is the default."""
    word = words.get(field, next(iter(options)))
    if word not in options:
        raise ValueError(f"{field}={word!r}; words are {', '.join(options)}")
    return options[cast("str", word)]


# Metrics that can be pooled: a numerator and a denominator per user.


def precision_parts(case: Case, words: Words) -> tuple[float, float]:
    return case.h, choose(words, "per", {"k": case.k_or_L, "listed": case.L, "capped": case.capped})


def recall_parts(case: Case, words: Words) -> tuple[float, float]:
    return case.h, choose(words, "per", {"relevant": case.R, "capped": case.capped})


def hit_parts(case: Case, words: Words) -> tuple[float, float]:
    any_hit = 1 if case.h > 0 else 0
    return choose(words, "count", {"any": (any_hit, 1), "share": (case.h, case.L), "number": (case.h, 1)})


def f1_parts(case: Case, words: Words) -> tuple[float, float]:
    beta = float(words.get("beta", 1.0))
    return (1 + beta**2) * case.h, beta**2 * case.R + case.k_or_L


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


def r_precision(case: Case, words: Words) -> float:
    hits = 0
    for grade in case.listed[: case.R]:
        if grade is not None:
            hits += 1
    return ratio(hits, case.R)


def precision_at_hits(case: Case) -> float:
    """The sum of precision@rank over the ranks of the hits: the numerator of average precision."""
    hits = 0
    terms = []
    for rank, grade in enumerate(case.top, start=1):
        if grade is not None:
            hits += 1
            terms.append(hits / rank)
    return math.fsum(terms)


def average_precision(case: Case, words: Words) -> float:
    if words.get("per") == "places":
        found = [sum(grade is not None for grade in case.top[:place]) for place in range(1, int(case.k_or_L) + 1)]
        return ratio(math.fsum(hits / place for place, hits in enumerate(found, start=1)), case.k_or_L)
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
    for rank, grade in enumerate(case.top, start=1):
        if grade is not None and (not best_only or grade == max(case.relevant)):
            return 1 / rank
    return 0.0


def discounted_sum(grades: Sequence[float | None], words: Words, threshold: float) -> float:
    terms = []
    for rank, grade in enumerate(grades, start=1):
        if grade is not None:
            gains = {"exp2": 2.0**grade - 1, "linear": grade, "binary": 1.0}
            gain = choose(words, "gain", {**gains, "exp2_above": 2.0 ** (grade - threshold + 1) - 1})
            discounts = {"log2": math.log2(rank + 1), "ln": math.log(rank + 1), "jk": max(1.0, math.log2(rank))}
            terms.append(gain / choose(words, "discount", discounts))
    return math.fsum(terms)


def dcg(case: Case, words: Words) -> float:
    return discounted_sum(case.top, words, case.threshold)


def ndcg(case: Case, words: Words) -> float:
    all_truth = sorted(case.relevant, reverse=True)
    # The whole list, not its top k: the best k of what was listed is the best order of this list.
    own_list = sorted((grade for grade in case.listed if grade is not None), reverse=True)
    ideals = {
        "relevant": all_truth[: case.k],
        "full": [max(1.0, case.threshold) if words.get("gain") == "exp2_above" else 1.0] * case.k_or_L,
        "listed": own_list[: case.k],
        "uncut": all_truth,
    }
    ideal = choose(words, "ideal", ideals)
    return ratio(discounted_sum(case.top, words, case.threshold), discounted_sum(ideal, words, case.threshold))


METRICS: dict[str, tuple[Callable[[Case, Words], float], set[str]]] = {
    "precision": (precision, {"per", "average"}),
    "recall": (recall, {"per", "average"}),
    "hit": (hit, {"count", "average"}),
    "f1": (f1, {"beta", "average"}),
    "map": (average_precision, {"per"}),
    "mnap": (mnap, set()),
    "r_precision": (r_precision, set()),
    "mrr": (reciprocal_rank, {"target"}),
    "dcg": (dcg, {"gain", "discount"}),
    "ndcg": (ndcg, {"gain", "discount", "ideal"}),
}
POOLED: dict[str, Callable[[Case, Words], tuple[float, float]]] = {
    "precision": precision_parts,
    "recall": recall_parts,
    "hit": hit_parts,
    "f1": f1_parts,
}


# From rows to cases.


def rows_by_user(rows: Sequence[Row]) -> dict[User, list[tuple[Item, float]]]:
    users: dict[User, list[tuple[Item, float]]] = {}
    for user, item, value in rows:
        users.setdefault(user, []).append((item, value))
    return users


def first_of_each(rows: list[tuple[Item, float]], duplicates: str) -> dict[Item, float]:
    """Each item's first row, in the order of the rows."""
    kept: dict[Item, float] = {}
    for item, value in rows:
        if item not in kept:
            kept[item] = value
        elif duplicates == "error":
            raise ValueError(f"item {item!r} occurs twice")
    return kept


def in_rank_order(
    rows: list[tuple[Item, float]], relevant: Mapping[Item, float], ties: str
) -> list[tuple[Item, float]]:
    """Sort by the tie rule first, then by score: both sorts are stable, so the first decides the ties."""

    def by_item(row: tuple[Item, float]) -> Any:
        return row[0]

    def by_grade(row: tuple[Item, float]) -> float:
        return relevant.get(row[0], 0.0)

    def by_score(row: tuple[Item, float]) -> float:
        return row[1]

    if ties == "given":
        settled = rows
    elif ties == "reversed":
        settled = rows[::-1]
    elif ties == "item":
        settled = sorted(rows, key=by_item)
    elif ties == "item_desc":
        settled = sorted(rows, key=by_item, reverse=True)
    elif ties == "best":
        settled = sorted(rows, key=by_grade, reverse=True)
    elif ties == "worst":
        settled = sorted(rows, key=by_grade)
    else:
        raise ValueError(f"ties={ties!r}; the oracle knows given, reversed, item, item_desc, best, worst")
    return sorted(settled, key=by_score, reverse=True)


def is_relevant(grade: float, min_relevance: float | None) -> bool:
    return grade > 0 if min_relevance is None else grade >= min_relevance


def evaluate(
    recs: Sequence[Row],
    truth: Sequence[Row],
    metric: str,
    words: Words,
    k: int | None,
    *,
    no_recs: str = "zero",
    no_truth: str = "skip",
    ties: str = "given",
    duplicates: str = "first",
    min_relevance: float | None = None,
    gains: str = "relevant",
    unjudged: str = "irrelevant",
    exclude: Set[tuple[User, Item]] = frozenset(),
    candidates: Set[tuple[User, Item]] | None = None,
) -> tuple[dict[User, float], float]:
    """Each counted user's value, and the number: their mean, or the pooled ratio. Nobody counted: nan."""
    for name, word, known in (
        ("metric", metric, METRICS.keys()),
        ("no_recs", no_recs, {"zero", "skip", "error"}),
        ("no_truth", no_truth, {"skip", "zero", "one", "error"}),
        ("duplicates", duplicates, {"first", "error"}),
        ("unjudged", unjudged, {"irrelevant", "drop"}),
        ("gains", gains, {"relevant", "positive"}),
    ):
        if word not in known:
            raise ValueError(f"{name}={word!r}; words are {', '.join(sorted(known))}")
    formula, fields = METRICS[metric]
    if not words.keys() <= fields:
        raise ValueError(f"{metric} has no field {sorted(words.keys() - fields)}")
    pooled = choose(words, "average", {"users": False, "pooled": True})

    lists = rows_by_user(recs)
    truths = rows_by_user(truth)
    values: dict[User, float] = {}
    numerators: list[float] = []
    denominators: list[float] = []

    for user in {**lists, **truths}:
        judged = first_of_each(truths.get(user, []), duplicates)
        relevant = {item: grade for item, grade in judged.items() if is_relevant(grade, min_relevance)}
        ranked = first_of_each(in_rank_order(lists.get(user, []), relevant, ties), duplicates)
        every_grade = gains == "positive" and metric in ("dcg", "ndcg", "err")
        seen = {item: grade for item, grade in judged.items() if grade > 0} if every_grade else relevant

        listed: list[float | None] = []
        for item in ranked:
            if (user, item) in exclude:
                continue
            if candidates is not None and (user, item) not in candidates:
                continue
            if unjudged == "drop" and item not in judged:
                continue
            listed.append(seen.get(item))
        case = Case(listed, list(seen.values()), k, 0.0 if every_grade else min_relevance or 0.0)

        # A list that the exclusions emptied is still a list: the user was served.
        has_list = user in lists
        has_truth = len(relevant) > 0
        if not has_list and not has_truth:
            continue
        if not has_list and no_recs == "error":
            raise ValueError(f"user {user!r} has truth and no list")
        if not has_truth and no_truth == "error":
            raise ValueError(f"user {user!r} has a list and no relevant item")
        if (not has_list and no_recs == "skip") or (not has_truth and no_truth == "skip"):
            continue

        if has_truth or (seen and no_truth != "one"):
            values[user] = formula(case, words)
        else:
            values[user] = 1.0 if no_truth == "one" else 0.0
        if pooled:
            numerator, denominator = POOLED[metric](case, words)
            if not has_truth and no_truth == "one":
                numerator = denominator
            numerators.append(numerator)
            denominators.append(denominator)

    if pooled:
        total = math.fsum(denominators)
        return values, math.fsum(numerators) / total if total != 0 else math.nan
    return values, math.fsum(values.values()) / len(values) if values else math.nan
