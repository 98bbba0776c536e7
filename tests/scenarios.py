"""What the fuzz draws: small data with ties, repeats and gaps, a protocol, side tables, segments, and metrics."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from oracle import AVERAGED, LISTS, METRICS, RUN, WORDS, Data, Rules, Words

from atkay import Columns
from atkay.metrics.metric import Metric, conventions
from variants import DEEP, every_variant

VARIANTS = [metric for metric in every_variant(None, 1, 2, 3, 10) if metric.name in {*METRICS, *LISTS, *RUN}]
"""Of the metrics that the oracle knows; of a new one, test_engines_agree.py demands that engines agree."""
ANCHOR = 6
"""A user whose list and truth have an item in common, and whom every table names."""
USERS, ITEMS = range(ANCHOR + 1), range(8)

users, items = st.integers(0, ANCHOR - 1), st.integers(0, len(ITEMS) - 1)
# Some scores are equal in single precision alone.
scores = st.sampled_from([-2.0, -0.5, 0.0, 0.25, 0.25, 0.25 + 1e-9, 1.0, 3.5])
grades = st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.0, 0.5, -1.0])


def examples(few: int, deep: int) -> settings:
    """So many examples where the same are drawn every time, and in ``make test-deep``."""
    profile = settings()
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    slow.append(HealthCheck.function_scoped_fixture)  # the session of Spark, which all examples share
    most = deep if DEEP else min(few, profile.max_examples)
    return settings(profile, max_examples=most, suppress_health_check=slow)


Name = Callable[[int], Hashable]
KINDS: dict[str, tuple[Any, Name]] = {
    "int": (pl.Int64, lambda n: n),
    "below 0": (pl.Int64, lambda n: 7 * n - 20),
    "uint64": (pl.UInt64, lambda n: 2**63 + 3 * n - 5),
    "text": (pl.String, lambda n: ["9", "10", "a", "B", "é", "a b", "Ω\u00a0", "007", "-1"][n]),
    "date": (pl.Date, lambda n: datetime.date(2026, 1, 28) + datetime.timedelta(n)),
}
"""Types of ids, and the id of a small number."""


@dataclass(frozen=True, repr=False)
class Scenario:
    """One drawn evaluation; all ids are as the library sees them."""

    data: Data
    rules: Rules
    metrics: list[Metric]
    user_type: Any
    item_type: Any
    seed: int
    segments: Mapping[Hashable, tuple[str | None, int]] | None
    stepwise: bool
    """Queries are pairs of a user and a step, and a user's steps are averaged first."""

    def __repr__(self) -> str:
        """What it takes to see it again, without the defaults."""
        default = asdict(Rules())
        said = {name: word for name, word in self.words.items() if word != default.get(name)}
        data = {name: found for name, found in vars(self.data).items() if found and name not in ("owner", "scored")}
        return f"Scenario({[str(metric) for metric in self.metrics]}, {said}, {data}, segments={self.segments})"

    @property
    def key(self) -> list[str]:
        return ["user", "step"] if self.stepwise else ["user"]

    def ids(self, query: Any) -> tuple[Any, ...]:
        return query if self.stepwise else (query,)

    def frame(self, rows: Sequence[tuple[Any, ...]], **values: Any) -> pl.DataFrame:
        """Rows of a query, an item, and perhaps a value."""
        key = {"user": self.user_type} | ({"step": pl.Int64} if self.stepwise else {})
        flat = [(*self.ids(query), *rest) for query, *rest in rows]
        return pl.DataFrame(flat, schema=key | {"item": self.item_type} | values, orient="row")

    @property
    def recs(self) -> pl.DataFrame:
        return self.frame(self.data.recs, score=pl.Float64)

    @property
    def truth(self) -> pl.DataFrame:
        if self.data.subtopics is None:
            return self.frame(self.data.truth, relevance=pl.Float64)
        of = self.data.subtopics
        rows = [(user, item, grade, topic) for user, item, grade in self.data.truth for topic in of[user, item]]
        return self.frame(rows, relevance=pl.Float64, subtopic=pl.String)

    @property
    def outside(self) -> dict[str, pl.DataFrame]:
        """The tables that stay with the users: exclude and candidates."""
        given = {"exclude": self.data.exclude or None, "candidates": self.data.candidates}
        return {name: self.frame(sorted(pairs, key=repr)) for name, pairs in given.items() if pairs is not None}

    def by_user(self, lists: Mapping[Any, Sequence[Any]]) -> pl.DataFrame:
        rows = [(user, item) for user, these in lists.items() for item in these]
        return pl.DataFrame(rows, schema={"user": self.user_type, "item": self.item_type}, orient="row")

    @property
    def side(self) -> dict[str, Any]:
        data = self.data
        known = list(data.vectors)
        return {
            "train": self.by_user(data.train),
            "catalog": pl.DataFrame({"item": sorted(data.catalog, key=repr)}, schema={"item": self.item_type}),
            "features": pl.DataFrame(
                {
                    "item": pl.Series(known, dtype=self.item_type),
                    "genres": pl.Series([list(data.categories[item]) for item in known], dtype=pl.List(pl.String)),
                    "x": [float(data.vectors[item][0]) for item in known],
                    "y": [float(data.vectors[item][1]) for item in known],
                }
            ),
            "propensity": data.propensity,
            "reference": self.by_user(data.reference),
        }

    @property
    def words(self) -> dict[str, Any]:
        """The fields of the protocol that are no tables."""
        return asdict(self.rules) | {"seed": self.seed} | ({"average_over": "user"} if self.stepwise else {})

    @property
    def columns(self) -> dict[str, Columns] | None:
        if not self.stepwise:
            return None
        key = Columns(user=("user", "step"))
        return dict.fromkeys(["recs", "truth", *self.outside], key)

    @property
    def slices(self) -> pl.DataFrame | None:
        if self.segments is None:
            return None
        rows = [(user, *of_user) for user, of_user in self.segments.items()]
        return pl.DataFrame(rows, schema={"user": self.user_type, "age": pl.String, "size": pl.Int64}, orient="row")

    @property
    def asked(self) -> list[tuple[str, Metric, Words, int | None]]:
        """Each number that is asked for: its name, its metric, its words, and its cutoff."""
        return [(str(one), one, words_of(one), one.k) for metric in self.metrics for one in metric.split()]  # type: ignore[misc]

    @property
    def averaged(self) -> bool:
        """Whether every metric has a value where equal scores are averaged or share a place."""
        return self.rules.ties not in ("expected", "together") or all(one.name in AVERAGED for one in self.metrics)


def words_of(metric: Metric) -> dict[str, str | float]:
    return {each.name: getattr(metric, each.name) for each in conventions(type(metric))}


def distinct(rows: Sequence[tuple[Any, Any, float]]) -> list[tuple[Any, Any, float]]:
    return list({(user, item): (user, item, value) for user, item, value in rows}.values())


@st.composite
def rules(draw: st.DrawFn) -> Rules:
    """A protocol; a word that refuses whatever is not perfect is drawn seldom, or nothing else would be seen."""
    words: dict[str, Any] = {}
    for name, every in WORDS.items():
        often = [word for word in every if word != "error"]
        words[name] = draw(st.sampled_from([*often, *often, *often, *every]))
    if words["ties"] not in ("expected", "together", "random"):
        words["depth"] = draw(st.sampled_from([None, None, None, 1, 2, 4]))
    return Rules(**words, min_relevance=draw(st.sampled_from([None, None, 0.0, 0.5, 1.0, 2.0])))


@st.composite
def scenarios(
    draw: st.DrawFn, *, kinds: Sequence[str] = tuple(KINDS), n_metrics: int = 12, subtopics: bool = True
) -> Scenario:
    """All that an evaluation can be given. Every table has something to do with the lists.

    ``subtopics``: the truth may name subtopics.
    """
    protocol = draw(rules())
    repeats = protocol.duplicates != "error" or draw(st.integers(0, 9)) == 0
    row = st.lists(st.tuples(users, items, scores), max_size=24)
    listed, graded = draw(row), draw(st.lists(st.tuples(users, items, grades), max_size=20))
    if not repeats:
        listed = distinct(listed)
    if not repeats and protocol.raters in ("one", "error"):
        graded = distinct(graded)
    listed += [(ANCHOR, 0, 1.0), (ANCHOR, 5, 0.25), (ANCHOR, 3, 0.25)]
    graded += [(ANCHOR, 0, 3.0), (ANCHOR, 3, 1.0)]
    pairs = st.sets(st.tuples(users, items), max_size=10)
    exclude = draw(st.just(set()) | pairs.map(lambda found: found | {(ANCHOR, 5)}))
    candidates = draw(st.none() | pairs.map(lambda found: found | {(ANCHOR, 0), (ANCHOR, 3)}))

    stepwise = draw(st.integers(0, 3)) == 0
    (user_type, user_name), (item_type, item_name) = (KINDS[draw(st.sampled_from(kinds))] for _ in range(2))

    def query(number: int) -> Any:
        return (user_name(number // 2), number % 2) if stepwise else user_name(number)

    def owner(name: Any) -> Any:
        return name[0] if stepwise else name

    some_items = st.lists(items, min_size=1, max_size=6, unique=True)
    some_users = st.lists(users, max_size=5, unique=True)
    train = {owner(query(user)): draw(some_items) for user in draw(some_users)} | {owner(query(ANCHOR)): [0, 5]}
    reference = {owner(query(user)): draw(some_items) for user in draw(some_users)} | {owner(query(ANCHOR)): [3, 0]}
    known = sorted({*draw(some_items), 0, 3, 5})
    vector = st.tuples(st.integers(-2, 2), st.integers(-2, 2))
    features = {item: (draw(st.lists(st.sampled_from("abcd"), max_size=3)), draw(vector)) for item in known}
    features[0] = (["a"], (1, 0))
    features[3] = (["a", "b"], (1, 2))

    some_topics = st.lists(st.sampled_from(["1", "2", "10", "b"]), min_size=1, max_size=3, unique=True)
    topics: dict[tuple[Any, Any], list[str]] | None = None
    if subtopics and draw(st.integers(0, 2)) == 0:
        topics = {(query(user), item_name(item)): draw(some_topics) for user, item, _ in graded}

    def pick(found: set[tuple[int, int]]) -> frozenset[tuple[Any, Any]]:
        return frozenset((query(user), item_name(item)) for user, item in found)

    def named(lists: Mapping[Any, Sequence[int]]) -> dict[Any, list[Any]]:
        return {user: [item_name(item) for item in these] for user, these in lists.items()}

    data = Data(
        recs=[(query(user), item_name(item), score) for user, item, score in listed],
        truth=[(query(user), item_name(item), grade) for user, item, grade in graded],
        exclude=pick(exclude),
        candidates=None if candidates is None else pick(candidates),
        train=named(train),
        catalog=frozenset(item_name(item) for item in {*draw(some_items), 0, 3, 5}),
        categories={item_name(item): kinds for item, (kinds, _) in features.items()},
        vectors={item_name(item): vector for item, (_, vector) in features.items()},
        propensity={item_name(item): (item + 1) / 10 for item in known},
        reference=named(reference),
        owner=owner,
        subtopics=topics,
    )
    segment = st.tuples(st.sampled_from(["old", "young", None]), st.integers(0, 2))
    drawn = draw(st.none() | st.dictionaries(st.integers(0, ANCHOR), segment, max_size=5))
    segments: dict[Hashable, tuple[str | None, int]] | None = None
    if drawn is not None:
        segments = {owner(query(user)): of_user for user, of_user in {**drawn, ANCHOR: ("old", 1)}.items()}
    closed = protocol.ties in ("expected", "together") and draw(st.integers(0, 9)) > 0
    pool = [metric for metric in VARIANTS if metric.averages] if closed else VARIANTS
    if protocol.duplicates == "counted":
        pool = [metric for metric in pool if metric.repeats]
    first = draw(st.integers(0, len(pool) - 1))
    metrics = list(dict.fromkeys(pool[(first + 131 * n) % len(pool)] for n in range(n_metrics)))
    return Scenario(data, protocol, metrics, user_type, item_type, draw(st.integers(0, 3)), segments, stepwise)


def without_repeats(scenario: Scenario) -> Scenario:
    """The same with the first row of each pair of the truth alone."""
    once = {(user, item): (user, item, grade) for user, item, grade in reversed(scenario.data.truth)}
    return replace(scenario, data=replace(scenario.data, truth=list(once.values())[::-1]))
