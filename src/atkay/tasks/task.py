"""Task: training data, queries, truth, and how lists are evaluated."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import polars as pl

from atkay.aggregates import Aggregate
from atkay.comparison.compare import compare
from atkay.errors import ColumnError, InputError, RepeatsWarning, SpecError, SwappedWarning, listing, number_of, warn
from atkay.evaluation.evaluate import evaluate
from atkay.evaluation.request import USUAL
from atkay.inputs.columns import Columns
from atkay.inputs.kinds import open_source
from atkay.inputs.read import columns_of
from atkay.metrics.metric import Metric, Ratio
from atkay.metrics.spec import parse_all
from atkay.results.result import Result
from atkay.tables import TABLES
from atkay.tasks.log import word_of
from atkay.text.help import Visible, spell_out
from atkay.text.phrases import columns_argument
from atkay.text.printable import one_line

if TYPE_CHECKING:
    from typing import Unpack

    from atkay.comparison.comparison import Comparison
    from atkay.tasks.check import Check
    from atkay.text.arguments import CompareArguments, EvaluateArguments

Specs = str | Metric | Iterable[str | Metric]

Average = Literal["query", "session", "user", "pooled"]
Seen = Literal["keep", "exclude"]
AVERAGES: tuple[Average, ...] = get_args(Average)
ITEMS = "items"
"""The column of a task's queries with what they may see."""
SEEN = "events seen"
"""The column that says how many events of the past a query may see."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Task(Visible):
    """Training data, queries and truth made from a log, and how lists are evaluated.

    ``train`` are the training events; ``queries`` the queries with the items a model may see; ``truth`` the items to
    predict. ``evaluate`` and ``compare`` use the task's exclusions and averaging; ``check`` finds leaks. Columns keep
    their names from the log; ``key`` names those of a query.
    """

    _internal = "event owner past reach settled start"

    name: str
    train: pl.DataFrame
    truth: pl.DataFrame
    key: tuple[str, ...]
    item: str
    owner: str
    """The column whose events a query looks back at: the user, or the session."""
    event: tuple[str, ...]
    """The columns that tell events apart: the same in training and truth is a leak."""
    time: str | None = None
    user: str | None = None
    session: str | None = None
    relevance: str | None = None
    average: Average = "query"
    seen: Seen = "keep"
    past: pl.DataFrame | None = None
    """The events that queries look back at; by default the training data."""
    reach: pl.DataFrame | None = None
    """How many of these events each query may see; by default all."""
    start: Any = None
    """When the test starts, where this is the same for all queries."""
    cluster: str | None = None
    """The column of whose values the queries depend on each other: intervals and tests count these."""
    no_truth: str | None = None
    """The protocol's ``no_truth`` for queries without a relevant item; None leaves it to the dialect."""
    notes: tuple[str, ...] = ()
    """How the task was created, in words."""

    def __post_init__(self) -> None:
        word_of(self.seen, "seen", get_args(Seen))
        if ITEMS in (*self.key, self.user):
            raise ColumnError(
                f"{self.name}: the column name '{ITEMS}' is reserved for the items that a query may see. Rename yours."
            )
        self._level(self.average)

    @cached_property
    def queries(self) -> pl.DataFrame:
        """A row per query: its key, its user, and in ``items`` what a model may see, oldest first."""
        user = [self.user] if self.user is not None and self.user not in self.key else []
        queries = self.truth.select(*self.key, *user).unique(maintain_order=True)
        past = self.train if self.past is None else self.past
        past = past if self.time is None else past.sort(self.time, maintain_order=True)
        items = past.group_by(self.owner).agg(pl.col(self.item).alias(ITEMS))
        queries = queries.join(items, on=self.owner, how="left", maintain_order="left")
        if self.reach is not None:
            queries = queries.join(self.reach, on=self.key, how="left", maintain_order="left")
            queries = queries.with_columns(pl.col(ITEMS).list.head(SEEN)).drop(SEEN)
        return queries.with_columns(pl.col(ITEMS).fill_null([]))

    @cached_property
    def history(self) -> pl.DataFrame:
        """The history of each query: keys and items, a row per event."""
        if self.reach is None and self.key == (self.owner,):
            return (self.train if self.past is None else self.past).select(self.owner, self.item)
        seen = self.queries.select(*self.key, pl.col(ITEMS).alias(self.item))
        return seen.explode(self.item, empty_as_null=False)

    @spell_out(evaluate)
    def evaluate(
        self,
        recs: Any,
        metrics: Specs = USUAL,
        *,
        average: Average | None = None,
        **given: Unpack[EvaluateArguments],
    ) -> Result:
        """Evaluate lists with the task's protocol.

        ``average`` is "query" (every query has the same weight), "session" or "user" (queries are averaged per session
        or user first), or "pooled" (numerators and denominators are summed first). Further arguments are those of
        :func:`atkay.evaluate`, and override the task's own.
        """
        rest: dict[str, Any] = {**given}
        word = self.average if average is None else average
        level = self._level(word)
        metrics = _kept(metrics)
        wanted = self._meant(metrics, rest.get("dialect"))
        if word == "pooled":
            metrics = wanted = [_pooled(metric) for metric in wanted]
        own: dict[str, Any] = {"average_over": level} if level else {}
        if self.no_truth is not None and not {"no_truth", "protocol"} & set(rest):
            own["no_truth"] = self.no_truth
        columns = self._columns(recs, rest.pop("columns", None))
        if self.cluster not in (None, *level) and "cluster" not in rest and not _ordered(rest):
            own["cluster"] = self.cluster
        if self.seen == "exclude" and "exclude" not in rest:
            seen = self.history.join(self.truth, on=self.key, how="semi")  # all others were learned from alone
            own["exclude"], columns["exclude"] = seen, self._names(seen)
        needing = [metric for metric in wanted if "train" in metric.needs]
        if needing and "train" not in rest:
            own["train"] = self._learned(needing)
            columns["train"] = self._names(own["train"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SwappedWarning)  # this truth is none of the user's making
            return evaluate(recs, self.truth, metrics, columns=columns, **own | rest)

    @spell_out(compare)
    def compare(
        self,
        runs: Mapping[str, Any],
        metrics: Specs = USUAL,
        *,
        average: Average | None = None,
        **given: Unpack[CompareArguments],
    ) -> Comparison:
        """Compare runs with the task's protocol, as ``atkay.compare`` does."""
        own = compare.__kwdefaults__ or {}
        rest: dict[str, Any] = {**given}
        passed = {name: rest.pop(name) for name in own if name in rest}
        metrics, results = _kept(metrics), runs
        if isinstance(runs, Mapping):
            results = {
                name: run if isinstance(run, Result) else self.evaluate(run, metrics, average=average, **rest)
                for name, run in runs.items()
            }
        return compare(results, **passed)

    def check(self, recs: Any = None, *, columns: Columns | Mapping[str, Columns] | None = None) -> Check:
        """Check for leaks: true if there is none, for ``assert task.check()``.

        With lists, also check for items that did not exist yet. False if nothing could be checked; the result says why.
        """
        from atkay.tasks.check import check

        return check(self, recs, None if recs is None else self._columns(recs, columns)["recs"])

    def __repr__(self) -> str:
        queries, users = self.truth.select(self.key).n_unique(), ", ".join(self.key)
        rows = [
            f"{self.name}: {queries:,} queries, identified by {users}",
            f"train: {number_of(len(self.train), 'event')}; truth: {number_of(len(self.truth), 'row')}",
            {"keep": "seen items stay in the lists", "exclude": "seen items are removed from the lists"}[self.seen],
            f"average: {_AVERAGE_WORDS[self.average].format(session=self.session, user=self.user)}",
            *([] if self.cluster in (None, *self._level(self.average)) else [f"clusters: {self.cluster}"]),
        ]
        return "\n".join(map(one_line, [*rows, *self.notes]))

    def settled(self, again: int | None = None) -> Self:
        """The task; warns if seen items are excluded but most relevant items were seen before.

        ``again`` is the number of relevant items seen before, if known.
        """
        if self.seen == "exclude":
            if again is None:
                again = len(self.truth.join(self.history, on=self.history.columns, how="semi"))
            if again > len(self.truth) / 2:
                warn(
                    f"{self.name}: {again:,} of {len(self.truth):,} relevant items were seen before, and "
                    f"seen='exclude' removes seen items from the lists, so they count as missed. Choose "
                    f"seen='keep', or evaluate new items only.",
                    RepeatsWarning,
                )
        return self

    def _level(self, word: str) -> tuple[str, ...]:
        """The columns whose queries are averaged first."""
        word_of(word, "average", AVERAGES)
        column = {"session": self.session, "user": self.user}.get(word, "")
        if column is None:
            mend = f"Name the column with {columns_argument(user=...)}, or choose another value."
            raise InputError(
                f"{self.name}: average='{word}' needs a {word} in the log, but there is none. "
                + (mend if word == "user" else "Only next_item has sessions. Choose another value.")
            )
        return (column,) if column else ()

    def _learned(self, metrics: Sequence[Metric]) -> pl.DataFrame:
        """The training data as metrics need them: each user's, or each query's where they ask what it had.

        Where queries look back at more than the training data, these are two tables, and an evaluation takes one.
        """
        if self.past is None or not any(metric.looks_back for metric in metrics):
            return self.train.select(self.owner, self.item)
        if all(metric.name in LOOKING_BACK_ALONE for metric in metrics):
            return self.history
        several = listing(str(metric) for metric in metrics)
        raise InputError(
            f"{self.name}: {several} need both the training data of all users and the history of each query, "
            f"which are two tables here. Evaluate new_to_user and calibration in a separate call; for metrics "
            f"that need both, pass train=."
        )

    def _names(self, table: pl.DataFrame) -> Columns:
        """The names of the columns of a table whose last one has items."""
        return Columns(user=tuple(table.columns[:-1]), item=self.item)

    def _meant(self, metrics: Any, dialect: str | None) -> Sequence[Metric]:
        if dialect is None:
            return parse_all(metrics)
        from atkay.dialects.dialect import find_dialect
        from atkay.evaluation.spoken import speak

        return list(speak(find_dialect(dialect), metrics).values())

    def _columns(self, recs: Any, given: Any) -> dict[str, Columns]:
        """The names of the columns in every table; those of the lists are theirs, or found by themselves."""
        columns = {name: columns_of(given, name) for name in TABLES}
        listed = columns["recs"]
        there = open_source(recs, "recs", listed.header).names
        user = listed.user or (self.key if len(self.key) > 1 or self.key[0] in there else None)
        columns["recs"] = replace(listed, user=user, item=listed.item or (self.item if self.item in there else None))
        columns["truth"] = Columns(user=self.key, item=self.item, relevance=self.relevance)
        return columns


_AVERAGE_WORDS = {
    "query": "every query has the same weight",
    "session": "queries are averaged per {session} first",
    "user": "queries are averaged per {user} first",
    "pooled": "numerators and denominators are summed over all queries",
}


def _ordered(given: Mapping[str, Any]) -> bool:
    """Whether users are aggregated by what takes no clusters, such as a median."""
    aggregate = given.get("aggregate", getattr(given.get("protocol"), "aggregate", "mean"))
    return Aggregate.of(aggregate).ordered


def _kept(metrics: Specs) -> Specs:
    """Metrics, iterable more than once."""
    return metrics if isinstance(metrics, str | Metric) else list(metrics)


LOOKING_BACK_ALONE = ("new_to_user", "calibration")
"""Metrics that look at the training data of the query's own user and at no others."""


def _pooled(metric: Metric) -> Metric:
    if not isinstance(metric, Ratio):
        raise SpecError(
            f"average='pooled' sums numerators and denominators, which '{metric}' does not have; precision, "
            f"recall, hit and f1 do. Choose another value, or leave the metric out."
        )
    return replace(metric, average="pooled")
