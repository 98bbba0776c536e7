"""The oracle: rows to numbers in plain loops, written from the definitions.

It shares no code and no idea with the library, so the two agree only where both follow the definition. Slow on
purpose. An unknown metric, field or word raises: a typo in a test must not turn into a default. Here are the protocol
and what becomes of values; oracle_hits.py has the metrics of hits, oracle_lists.py those of whole lists and runs.
"""

from __future__ import annotations

import itertools
import math
import statistics
import struct
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from oracle_attention import ATTENTION
from oracle_hits import (
    AVERAGE,
    AVERAGED,
    BY_GRADE,
    BY_SCORE,
    METRICS,
    POOLED,
    Case,
    Data,
    Entry,
    Item,
    Row,
    User,
    Words,
)
from oracle_lists import LISTS, POOLED_LISTS, RUN, about_truth, median_users
from oracle_predictions import POOLED_ROWS, ROWS, RUN_ROWS, with_rows
from oracle_propensities import POOLED_WEIGHTED, RUN_WEIGHTED, WEIGHTED
from oracle_ranks import RANKS, RANKS_POOLED
from oracle_subtopics import SUBTOPICS
from oracle_trec import TREC_AVERAGED, TREC_GRADED, TREC_LISTS, TREC_METRICS, TREC_RUN
from oracle_user_models import USER_MODELS
from scipy import stats

__all__ = ["AVERAGED", "LISTS", "METRICS", "RUN", "Data", "Number", "Refused", "Rules", "Words"]

LISTS.update(ROWS, **WEIGHTED)
POOLED_LISTS.update(POOLED_ROWS, **POOLED_WEIGHTED)
RUN.update(RUN_ROWS, **RUN_WEIGHTED)
AVERAGED.update(ROWS, RUN_ROWS)
USERS = {"median_rank": median_users, **dict.fromkeys(RUN_ROWS, with_rows)}
"""How many users count in a number of the run, where not all of them do."""


METRICS |= USER_MODELS | RANKS | ATTENTION
POOLED |= RANKS_POOLED
AVERAGE |= dict.fromkeys(RANKS_POOLED, ("users", "pooled"))
BY_GRADE |= {*USER_MODELS, "opa", "ndpm"}
METRICS |= TREC_METRICS
LISTS |= TREC_LISTS
RUN |= TREC_RUN
AVERAGED |= TREC_AVERAGED
BY_GRADE |= TREC_GRADED


class Refused(Exception):
    """The protocol calls this data an error."""


WORDS: dict[str, tuple[str, ...]] = {
    "no_recs": ("zero", "skip", "error"),
    "no_truth": ("skip", "zero", "one", "error", "judged"),
    "ties": (
        *("given", "item", "item_desc", "best", "worst", "random"),
        *("expected", "text", "text_desc", "reversed", "together"),
    ),
    "scores": ("exact", "float32"),
    "nonpositive": ("listed", "missed"),
    "gains": ("relevant", "positive"),
    "duplicates": ("error", "first", "counted"),
    "unjudged": ("irrelevant", "drop"),
    "negative": ("irrelevant", "unjudged", "error"),
    "raters": ("one", "mean", "median", "majority", "error"),
    "unlisted": ("missed", "ignored"),
}
"""The protocol's words, the default first."""


@dataclass(frozen=True)
class Rules:
    """A protocol; min_relevance and depth stand for themselves."""

    no_recs: str = "zero"
    no_truth: str = "skip"
    ties: str = "given"
    scores: str = "exact"
    nonpositive: str = "listed"
    gains: str = "relevant"
    duplicates: str = "error"
    unjudged: str = "irrelevant"
    negative: str = "irrelevant"
    raters: str = "one"
    unlisted: str = "missed"
    min_relevance: float | None = None
    depth: int | None = None

    def __post_init__(self) -> None:
        for name, words in WORDS.items():
            if getattr(self, name) not in words:
                raise ValueError(f"{name}={getattr(self, name)!r}; words are {', '.join(words)}")


@dataclass(frozen=True)
class Query:
    """One user as the protocol reads the rows."""

    user: User
    orders: Sequence[tuple[float, list[Entry]]]
    """The lists that equal scores allow, each with its weight; one where the protocol settles the order."""
    relevant: Mapping[Item, float]
    nonrelevant: int
    has_list: bool
    counted: bool
    positive: Mapping[Item, float]
    """The grades above 0 of the truth, relevant or not."""
    uncut: Sequence[Entry] = ()
    """The list before the depth cuts it, and before unjudged items are dropped."""

    @property
    def entries(self) -> list[Entry]:
        return self.orders[0][1]

    def case(self, k: int | None, data: Data, entries: list[Entry] | None = None, threshold: float = 0.0) -> Case:
        listed = self.entries if entries is None else entries
        return Case(listed, self.relevant, k, data, self.user, self.nonrelevant, threshold)


# From rows to lists.


def rows_by_user(rows: Iterable[Row]) -> dict[User, list[tuple[Item, float]]]:
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
            raise Refused(f"item {item!r} occurs twice")
    return kept


def settled_truth(rows: list[tuple[Item, float]], rules: Rules) -> dict[Item, float]:
    """One grade of each item that somebody judged."""
    if rules.negative == "error" and any(grade < 0 for _, grade in rows):
        raise Refused("a grade below 0")
    if rules.negative == "unjudged":
        rows = [(item, grade) for item, grade in rows if grade >= 0]
    if rules.raters == "one":
        return first_of_each(rows, rules.duplicates)
    grades: dict[Item, list[float]] = {}
    for item, grade in rows:
        grades.setdefault(item, []).append(grade)
    if rules.raters == "error" and any(len(each) > 1 for each in grades.values()):
        raise Refused("an item graded twice")
    settle: dict[str, Callable[[list[float]], float]] = {
        "error": max,
        "mean": statistics.fmean,
        "median": statistics.median,
        "majority": lambda each: min(statistics.multimode(each)),
    }
    return {item: settle[rules.raters](each) for item, each in grades.items()}


def rounded(score: float, scores: str) -> float:
    """The score as it is compared."""
    return float(struct.unpack("f", struct.pack("f", score))[0]) if scores == "float32" else score


def in_rank_order(
    rows: list[tuple[Item, float]], relevant: Mapping[Item, float], ties: str
) -> list[tuple[Item, float]]:
    """Sort by the tie rule first, then by score: both sorts are stable, so the first decides the ties."""

    def by_item(row: tuple[Item, float]) -> Any:
        return row[0]

    def as_text(row: tuple[Item, float]) -> str:
        return str(row[0])

    def by_grade(row: tuple[Item, float]) -> float:
        return relevant.get(row[0], -1.0)  # below the grade of 0 that min_relevance=0 makes relevant

    def by_score(row: tuple[Item, float]) -> float:
        return row[1]

    if ties in ("given", "expected", "together", "random"):  # all orders of what is equal are made of this one
        settled = rows
    elif ties == "reversed":
        settled = rows[::-1]
    elif ties in ("item", "item_desc"):
        settled = sorted(rows, key=by_item, reverse=ties == "item_desc")
    elif ties in ("text", "text_desc"):
        settled = sorted(rows, key=as_text, reverse=ties == "text_desc")
    elif ties in ("best", "worst"):
        settled = sorted(rows, key=by_grade, reverse=ties == "best")
    else:
        raise ValueError(f"ties={ties!r}")
    return sorted(settled, key=by_score, reverse=True)


def tie_groups(entries: Sequence[Entry]) -> list[list[Entry]]:
    """The list in groups of equal scores."""
    return [list(group) for _, group in itertools.groupby(entries, key=lambda entry: entry.score)]


def all_orders(entries: list[Entry]) -> list[tuple[float, list[Entry]]]:
    """Every order of equal scores with its share of all orders; items that no metric of hits tells apart are one."""

    def orders(group: list[Entry]) -> list[tuple[float, list[Entry]]]:
        found: Counter[tuple[Any, ...]] = Counter()
        example: dict[tuple[Any, ...], list[Entry]] = {}
        for order in itertools.permutations(group):
            pattern = tuple((entry.grade, entry.positive) for entry in order)
            found[pattern] += 1
            example.setdefault(pattern, list(order))
        total = sum(found.values())
        return [(count / total, example[pattern]) for pattern, count in found.items()]

    out = []
    for chosen in itertools.product(*map(orders, tie_groups(entries))):
        order = list(itertools.chain(*(part for _, part in chosen)))
        out.append((math.prod(weight for weight, _ in chosen), placed(order)))
    return out


def placed(entries: Iterable[Entry]) -> list[Entry]:
    return [replace(entry, place=place) for place, entry in enumerate(entries, start=1)]


def placed_together(entries: list[Entry]) -> list[Entry]:
    """Equal scores at the last of their places."""
    out: list[Entry] = []
    for group in tie_groups(entries):
        out += [replace(entry, place=len(out) + len(group)) for entry in group]
    return out


def is_relevant(grade: float, min_relevance: float | None) -> bool:
    return grade > 0 if min_relevance is None else grade >= min_relevance


@dataclass(frozen=True)
class Judged:
    """All users, and what is said of them and of the rows."""

    queries: list[Query]
    population: Mapping[str, int]


def judge(data: Data, rules: Rules) -> Judged:
    """Settle every list as the protocol says, and decide who counts; Refused where the protocol says error."""
    lists, truths = rows_by_user(data.recs), rows_by_user(data.truth)
    known_items = {item for _, item, _ in data.truth}
    queries = []
    count: Counter[str] = Counter(listed=len(data.recs))
    count["unknown"] = sum(item not in known_items for _, item, _ in data.recs)
    for user in {**lists, **truths}:
        judged = settled_truth(truths.get(user, []), rules)
        relevant = {item: grade for item, grade in judged.items() if is_relevant(grade, rules.min_relevance)}
        positive = {item: grade for item, grade in judged.items() if grade > 0}
        rows = [(item, rounded(score, rules.scores)) for item, score in lists.get(user, [])]
        if not data.scored:
            rows = [(item, -float(place)) for place, (item, _) in enumerate(rows)]
        ranked = in_rank_order(rows, relevant, rules.ties)
        if rules.duplicates != "counted":
            ranked = list(first_of_each(ranked, rules.duplicates).items())
        count["duplicated"] += len(rows) - len(ranked)
        scores = Counter(score for _, score in ranked)
        count["tied"] += sum(n for n in scores.values() if n > 1)

        kept, uncut, place = [], [], 0
        for item, score in ranked:
            if (user, item) in data.exclude:
                count["excluded"] += 1
                continue
            if data.candidates is not None and (user, item) not in data.candidates:
                count["outside"] += 1
                continue
            place += 1
            named = item not in judged and any(other == item for other, _ in truths.get(user, []))
            facts = (item in judged, named, positive.get(item), judged.get(item))
            uncut.append(Entry(item, relevant.get(item), 0, score, *facts))
            if rules.depth is not None and place > rules.depth:
                count["beyond"] += 1
            elif rules.unjudged == "drop" and item not in judged:
                count["unjudged"] += 1
            else:
                kept.append(uncut[-1])
        nonrelevant = len(judged) - len(relevant)
        if rules.unlisted == "ignored":
            listed = {entry.item for entry in kept}
            relevant = {item: grade for item, grade in relevant.items() if item in listed}
            positive = {item: grade for item, grade in positive.items() if item in listed}
        if rules.ties in ("expected", "random"):
            orders = all_orders(kept)
        else:
            orders = [(1.0, placed_together(kept) if rules.ties == "together" else placed(kept))]

        # A list of which nothing is left is still a list: the user was served.
        has_list, has_truth = user in lists, len(relevant) > 0
        count["without_list"] += has_truth and not has_list
        count["without_truth"] += has_list and not has_truth
        count["emptied"] += has_list and not kept
        count["relevant"] += len(relevant)
        count["hits"] += sum(entry.grade is not None for entry in kept)
        unjudged = rules.negative == "unjudged" and any(grade < 0 for _, grade in truths.get(user, []))
        counted = who_counts(has_list, has_truth, nonrelevant > 0 or unjudged, rules)
        count["evaluated"] += counted
        queries.append(Query(user, orders, relevant, nonrelevant, has_list, counted, positive, uncut))
    if not count["evaluated"]:
        raise Refused("nobody is left to evaluate")
    names = ("evaluated", "without_list", "without_truth", "emptied", "relevant", "hits", "listed", "unknown")
    gone = ("excluded", "outside", "beyond", "unjudged", "duplicated", "tied")
    return Judged(queries, {name: count[name] for name in (*names, *gone)})


def who_counts(has_list: bool, has_truth: bool, has_nonrelevant: bool, rules: Rules) -> bool:
    if has_list and has_truth:
        return True
    if has_truth:
        if rules.no_recs == "error":
            raise Refused("a user has truth and no list")
        return rules.no_recs != "skip"
    if has_list:
        if rules.no_truth == "error":
            raise Refused("a user has a list and no relevant item")
        return rules.no_truth in ("zero", "one") or (rules.no_truth == "judged" and has_nonrelevant)
    return rules.no_truth == "judged" and rules.no_recs == "zero" and has_nonrelevant


# From lists to numbers.


def value(query: Query, metric: str, words: Words, k: int | None, data: Data, rules: Rules) -> float:
    """One user's value, nan where there is none."""
    if is_pooled(metric, words):
        above, below = pair(query, metric, words, k, data, rules)
        return above / below if below else math.nan  # whoever adds nothing to the denominator does not count
    if not query.relevant and about_truth(metric, words):
        lower = is_lower_better(metric, words)
        if rules.no_truth == "one":
            return math.nan if lower else 1.0
        if not (every_grade(metric, words, rules) and query.positive):
            return math.nan if lower else 0.0
    formula, fields = (METRICS | LISTS)[metric]
    if not words.keys() <= fields:
        raise ValueError(f"{metric} has no field {sorted(words.keys() - fields)}")
    values = [weight * formula(case, words) for weight, case in cases_of(query, metric, words, k, data, rules)]
    return math.fsum(values)


def every_grade(metric: str, words: Words, rules: Rules) -> bool:
    """Whether grades above 0 that are not relevant are gains all the same, and so need no relevant item."""
    return metric != "rndcg" and sees_every_grade(metric, words, rules)


def sees_every_grade(metric: str, words: Words, rules: Rules) -> bool:
    graded = metric in BY_GRADE and (metric, words.get("gain")) != ("normalized_gain", "binary")
    graded |= metric == "mean_rank" and words.get("gain") == "linear"
    graded |= metric == "expected_exposure" and words.get("levels") != "binary" and words.get("of") != "disparity"
    return graded and rules.gains == "positive" and rules.min_relevance is not None


def cases_of(
    query: Query, metric: str, words: Words, k: int | None, data: Data, rules: Rules
) -> list[tuple[float, Case]]:
    missed = rules.nonpositive == "missed" and metric in BY_SCORE and data.scored
    found = []
    threshold = rules.min_relevance or 0.0
    if sees_every_grade(metric, words, rules):
        graded = [(weight, [replace(e, grade=e.positive) for e in entries]) for weight, entries in query.orders]
        query, threshold = replace(query, orders=graded, relevant=query.positive), 0.0
    for weight, entries in query.orders:
        if missed:
            entries = [replace(e, grade=e.grade if cast("float", e.score) > 0 else None) for e in entries]
        found.append((weight, query.case(k, data, entries, threshold)))
    return found


def pair(query: Query, metric: str, words: Words, k: int | None, data: Data, rules: Rules) -> tuple[float, float]:
    """One user's numerator and denominator."""
    above = below = 0.0
    for weight, case in cases_of(query, metric, words, k, data, rules):
        parts = (POOLED | POOLED_LISTS)[metric](case, words)
        above, below = above + weight * parts[0], below + weight * parts[1]
    if not query.relevant and about_truth(metric, words):
        kept = rules.no_truth != "one" and every_grade(metric, words, rules)
        if is_lower_better(metric, words) and not kept:
            return 0.0, 0.0
        above = below if rules.no_truth == "one" else above if kept else 0.0
    return above, below


def is_lower_better(metric: str, words: Words) -> bool:
    if metric == "expected_exposure":
        return words.get("of", "loss") == "loss"
    return metric in ("mean_rank", "mpr", "fall_out", "ndpm")


@dataclass(frozen=True)
class Number:
    """A number with all that is said of it."""

    mean: float
    low: float = math.nan
    high: float = math.nan
    deviation: float = math.nan
    users: int = 0
    undefined: int = 0


def is_pooled(metric: str, words: Words) -> bool:
    if metric in POOLED_LISTS:
        return words.get("average") == "pooled"
    return metric in POOLED and words.get("average", AVERAGE[metric][0]) == "pooled"


def number(
    queries: Sequence[Query],
    metric: str,
    words: Words,
    k: int | None,
    data: Data,
    rules: Rules,
    group: Callable[[User], Hashable] | None = None,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> Number:
    """The number of some users: the mean of their values, the pooled ratio, or what the whole run has.

    ``group`` names the unit that a query belongs to, where units are averaged first. ``limits`` are the lowest and the
    highest value of the metric.
    """
    here = [query for query in queries if query.counted]
    if metric in RUN:
        formula, fields = RUN[metric]
        if not words.keys() <= fields:
            raise ValueError(f"{metric} has no field {sorted(words.keys() - fields)}")
        cases = [query.case(k, data) for query in here]
        users = USERS[metric](cases, words) if metric in USERS else len(cases)
        return Number(formula(cases, words, k, data), users=users, undefined=len(here) - users)
    found = {query.user: value(query, metric, words, k, data, rules) for query in here}
    units: dict[Hashable, list[User]] = {}
    for user in found:
        units.setdefault(user if group is None else group(user), []).append(user)
    of_unit = {unit: [user for user in users if not math.isnan(found[user])] for unit, users in units.items()}
    there = {unit: users for unit, users in of_unit.items() if users}
    if not is_pooled(metric, words):
        means = [math.fsum(found[user] for user in users) / len(users) for users in there.values()]
        return within(of_values(means, len(units) - len(means)), [(each, 1.0) for each in means], limits)
    by_user = {query.user: query for query in here}
    pairs = [summed([pair(by_user[user], metric, words, k, data, rules) for user in users]) for users in there.values()]
    return within(of_pairs(pairs, len(units) - len(pairs)), pairs, limits, pooled=True)


def summed(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return math.fsum(above for above, _ in pairs), math.fsum(below for _, below in pairs)


def of_values(values: Sequence[float], undefined: int) -> Number:
    """The mean and Student's interval."""
    n = len(values)
    if n == 0:
        return Number(math.nan, undefined=undefined)
    mean = math.fsum(values) / n
    if n == 1:
        return Number(mean, users=1, undefined=undefined)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    half = float(stats.t.ppf(0.975, n - 1)) * deviation / math.sqrt(n)
    return Number(mean, mean - half, mean + half, deviation, n, undefined)


def within(
    found: Number, pairs: Sequence[tuple[float, float]], limits: tuple[float, float], *, pooled: bool = False
) -> Number:
    """The number with an interval that stays within the limits; Wilson's of zeros and ones."""
    n, mean = len(pairs), found.mean
    if math.isnan(found.low):
        return found
    if limits == (0.0, 1.0) and all(min(above, below - above) < 1e-12 * below for above, below in pairs):
        z, t = stats.norm.ppf(0.975), stats.t.ppf(0.975, n - 1)
        users = float(n)
        if pooled:
            error = (found.high - found.low) / 2 / t
            alike = summed(pairs)[1] ** 2 / math.fsum(below**2 for _, below in pairs)
            users = alike if error < 1e-12 else min(mean * (1 - mean) / (error**2 * (n - 1) / n), n)
            users *= (z / t) ** 2
        middle = (mean + z**2 / users / 2) / (1 + z**2 / users)
        half = z / (1 + z**2 / users) * math.sqrt(max(mean * (1 - mean), 0) / users + z**2 / users**2 / 4)
        return replace(found, low=min(middle - half, mean), high=max(middle + half, mean))
    return replace(found, low=max(found.low, limits[0]), high=min(found.high, limits[1]))


def of_pairs(pairs: Sequence[tuple[float, float]], undefined: int) -> Number:
    """The ratio of the sums, and the interval of its linear approximation."""
    n, (found, total) = len(pairs), summed(pairs)
    if total == 0:
        return Number(math.nan, users=n, undefined=undefined)
    mean = found / total
    if n < 2:
        return Number(mean, users=n, undefined=undefined)
    squares = math.fsum((above - mean * below) ** 2 for above, below in pairs)
    error = math.sqrt(n / (n - 1) * squares) / total
    half = float(stats.t.ppf(0.975, n - 1)) * error
    return Number(mean, mean - half, mean + half, math.nan, n, undefined)


def tie_decided(
    queries: Sequence[Query], metrics: Sequence[tuple[str, Words, int | None]], rules: Rules
) -> dict[str, int]:
    """How many counted lists depend on the order of equal scores, and how many of these have 16 items or more."""

    def deepest(kept: Callable[[str, Words], bool]) -> float:
        return max((math.inf if k is None else k for name, words, k in metrics if kept(name, words)), default=0)

    def of_lists(name: str, words: Words) -> bool:
        lengths = {
            "user_coverage": True,
            "expected_exposure": True,
            "rbp_residual": words.get("unjudged", "irrelevant") == "irrelevant",
            "count": words.get("of", "listed") in ("listed", "relevant"),
            "total": words.get("of", "listed") in ("listed", "relevant", "users"),
        }
        return not about_truth(name, words) and not lengths.get(name, False)

    cuts = {k for name, words, k in metrics if of_lists(name, words)}

    def depends(group: list[Entry], before: int, cuts: Iterable[int | None]) -> bool:
        mixed = len({entry.grade for entry in group}) > 1
        graded = len({entry.positive for entry in group}) > 1
        hit = any(entry.grade is not None for entry in group)
        return (
            (mixed and before < deepest(about_truth))
            or (graded and before < deepest(lambda name, words: every_grade(name, words, rules)))
            or any(cut is not None and before < cut < before + len(group) for cut in cuts)
            or (
                len(group) > 1
                and (
                    (hit and before < deepest(lambda name, words: about_truth(name, words) and apart(name, words)))
                    or before < deepest(lambda name, words: of_lists(name, words) and apart(name, words))
                )
            )
        )

    decided = 0
    for query in queries:
        before, here = 0, False
        for group in tie_groups(query.entries):
            here |= depends(group, before, cuts)
            before += len(group)
        before = 0
        depth = math.inf if rules.depth is None else rules.depth
        for group in tie_groups(query.uncut):
            if before < depth < before + len(group):  # the depth cuts it
                here |= depends(group, before, {rules.depth for cut in cuts if cut is None or cut >= depth})
            before += len(group)
        decided += query.counted and here
    return {"tie_decided": decided, "tie_decided_long": 0}  # no list here is that long


def apart(metric: str, words: Words) -> bool:
    """Whether it matters which of two items that are equally relevant stands first."""
    if metric in ("epc", "efd", "eild"):
        return words.get("relevance", "hits") == "hits" or words.get("discount", "log2") == "log2"
    if metric == "serendipity":
        return words.get("kind") != "unexpectedness"
    if metric == "rbp_residual":
        return words.get("unjudged", "irrelevant") != "irrelevant"
    return metric in (*SUBTOPICS, "exposure", *WEIGHTED) or (
        metric in ("calibration", "awrf")
        and words.get("weight", "uniform" if metric == "calibration" else "jk") != "uniform"
    )
