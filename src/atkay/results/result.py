"""Result: metrics with intervals, the evaluated users, and definitions in words."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from typing import Protocol as Interface

import numpy as np

from atkay import __version__
from atkay.aggregates import MEAN, Aggregate, title_of
from atkay.core.types import Clusters, Floats, Ints, Slicing
from atkay.errors import RowsError, SourceError, SpecError, need, number_of
from atkay.metrics.metric import Definition, Metric, is_pooled
from atkay.protocol import Protocol
from atkay.results.intervals import AUTO, PROPORTIONS, RESAMPLED, UNLIMITED, IntervalMethod, IntervalName, Limits
from atkay.results.numbers import Numbers
from atkay.results.population import Population
from atkay.results.segments import frame_of, gaps_of, members_of
from atkay.results.summary import (
    HEADER,
    Summary,
    cells,
    means_of,
    summarise,
    units,
    unscaled,
)
from atkay.text.files import path_of
from atkay.text.grid import ARROWS, Grid
from atkay.text.paper import PLAIN, Exported, Legend, Look, Remarks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import altair as alt
    import pandas as pd
    import polars as pl
    import pyspark.sql

    from atkay.core.moments import Sums
    from atkay.evaluation.bounds import Bounds
    from atkay.evaluation.chance import Chance
    from atkay.metrics.sampled import Sampled
    from atkay.results.measured import Measured
    from atkay.results.sample_users import Examples


T = TypeVar("T")

WEIGHTED = "users count by their weights"

Segment = tuple[str, Any] | None
"""A slice's name and one of its segments; None is all users."""


class Kept(Interface):
    """Values per user that stay where they were computed."""

    def result(self) -> Result:
        """The result with a row per user, brought here."""

    def frame(self) -> pyspark.sql.DataFrame:
        """The values per user, where they are."""


@dataclass(frozen=True, eq=False, repr=False)
class Result(Exported, Mapping[str, float]):
    """The result of an evaluation: a table, and a mapping of metrics to means.

    ``result["ndcg@10"]`` is a mean; ``table`` adds intervals and counts; ``per_query`` has a row per user;
    ``population``, ``definitions`` and ``protocol`` describe the numbers. Streams keep only ``sums``: their results
    have no ``per_query``.
    """

    _internal = (
        "again aggregates apart apart_words by_query clusters counted example_users examples examples_of groups header "
        "ids interval kept limits means means_of measured named protocol_of query_values ratios slice_summaries "
        "slicings sums weighted weights whole whole_of whole_users with_rows"
    )

    metrics: tuple[Metric, ...]
    query_values: Floats
    ids: Mapping[str, Any]
    population: Population
    protocol: Protocol
    ratios: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)
    """Numerators and denominators of the numbers that are pooled."""
    groups: Ints | None = None
    slicings: tuple[Slicing, ...] = ()
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    fingerprint: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    """The path of each table that was read from a file; in a saved result, as seen from there."""
    version: str = __version__
    whole: Mapping[str, float] = field(default_factory=dict)
    """The numbers that are of the whole run and not a mean."""
    dialect: str | None = None
    """The library whose conventions hold, and its version."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The dialect's names of metrics, and our specs for them."""
    apart: Mapping[str, Protocol] = field(default_factory=dict)
    """The numbers that its library counts under another protocol."""
    sampled: Sampled | None = None
    """How the candidates were sampled, where they were."""
    whole_of: Mapping[tuple[str, Any], Mapping[str, float]] = field(default_factory=dict)
    """The same for each segment of each slicing."""
    whole_users: Mapping[Segment, Mapping[str, int]] = field(default_factory=dict)
    """The number of users in each of these metrics, for all users and each segment."""
    examples: Examples | Callable[..., Examples] | None = None
    """A few users in full, or what chooses them; not saved."""
    again: Callable[[], Sequence[Measured]] | None = None
    """Judges the same lists once more, where these are small enough to be kept; not saved."""
    sums: Mapping[Segment, Sums] | None = None
    """Without per-user values: the sums over all users, and over each segment."""
    weights: Floats | None = None
    """How much each row of ``query_values`` counts, where that differs."""
    clusters: Clusters | None = None
    """Whose queries depend on each other, where intervals and tests count clusters."""
    interval: IntervalMethod = AUTO
    """How the intervals are found."""
    kept: Kept | None = None
    """Where the values per user are, if they are elsewhere; neither saved nor pickled."""
    engine: str | None = None
    """How the ranks were found, where it was not from lists."""
    readings: tuple[str, ...] = ()
    """Which columns decided the order of the lists, the grades or the categories, where that could be otherwise."""
    named: Mapping[str, str] = field(default_factory=dict)
    """The arguments that name columns, as code; not saved."""

    @cached_property
    def example_users(self) -> Examples | None:
        """A few users in full, chosen on first use; None if the lists are not at hand."""
        return self.examples() if callable(self.examples) else self.examples

    def examples_of(self, rows: Ints) -> Examples | None:
        """The users of these rows in full; the few that were kept where no others are at hand."""
        return self.examples(rows=rows) if callable(self.examples) else self.examples

    @cached_property
    def _single(self) -> dict[str, Metric]:
        return {name: one for metric in self.metrics for name, one in zip(metric.numbers, metric.split(), strict=True)}

    def __getitem__(self, name: str | Metric) -> float:
        return self.means[self.names.get(str(name), str(name))]

    __eq__ = object.__eq__  # two results with the same means need not be the same
    __hash__ = object.__hash__

    def __iter__(self) -> Iterator[str]:
        return iter(self._single)

    def __len__(self) -> int:
        return len(self._single)

    def __contains__(self, name: object) -> bool:
        return self.names.get(str(name), name) in self.means

    @cached_property
    def means(self) -> Numbers[float]:
        """Each number."""
        if self.sums is not None:
            means = {name: unscaled(each.mean, self._aggregate(name)) for name, each in self.sums[None].numbers.items()}
            return self._in_order({**means, **self.whole})
        means = means_of(self.by_query, self.query_values, self.ratios, self.groups, self.aggregates, self.weights)
        return self._in_order({**means, **self.whole})

    @cached_property
    def summaries(self) -> Numbers[Summary]:
        """Each metric with its interval, SD and counts."""
        if self.sums is not None:
            return self._of_sums(self.sums[None], None, self.whole)
        return self._summarise(None, None, self.whole)

    def _summarise(self, rows: Ints | None, segment: Segment, whole: Mapping[str, float]) -> Numbers[Summary]:
        clusters = None if self.clusters is None else self._cluster_of_units(self.clusters.code, rows)
        summaries = {
            name: summarise(unit, self._aggregate(name), self.interval, self.limits(name), clusters)
            for name, unit in units(
                self.by_query, self.query_values, self.ratios, self.groups, rows, self.aggregates, self.weights
            )
        }
        return self._with_whole(summaries, whole, segment, len(self.query_values) if rows is None else len(rows))

    def _of_sums(self, sums: Sums, segment: Segment, whole: Mapping[str, float]) -> Numbers[Summary]:
        summaries = {
            name: summarise(moments, self._aggregate(name), self.interval, self.limits(name))
            for name, moments in sums.numbers.items()
        }
        return self._with_whole(summaries, whole, segment, sums.queries)

    def _cluster_of_units(self, code: Ints, rows: Ints | None) -> Ints:
        """The cluster of each query or, where there are groups, of each group."""
        chosen = slice(None) if rows is None else rows
        if self.groups is None:
            return np.asarray(code[chosen])
        return np.asarray(code[chosen][np.unique(self.groups[chosen], return_index=True)[1]])

    def limits(self, name: str) -> Limits:
        """The lowest and the highest value that a metric can have; estimates from a sample can have any.

        Where an item counts at each of its places, there is no highest value.
        """
        metric = self._single[name]
        if self.sampled is not None and self.sampled.estimator != "none":
            return UNLIMITED
        bounded = metric.bounded and self.protocol_of(name).duplicates != "counted"
        return metric.least, 1.0 if bounded else math.inf

    def with_intervals(self, interval: IntervalName, *, samples: int = 10_000, rng: int = 7) -> Result:
        """The same result with other 95 % confidence intervals.

        Parameters
        ----------
        interval
            "auto": Wilson's where every value is 0 or 1, as of ``hit``, else Student's. "student"; "logit", "wilson" or
            "clopper-pearson" for metrics from 0 to 1; or the bootstrap's "percentile", "bca" or "studentised". None
            goes beyond the lowest or the highest value that a metric can have.
        samples
            The number of bootstrap samples.
        rng
            The seed of the bootstrap; the same seed gives the same intervals.

        Examples
        --------
        Three of four users have a hit. Wilson's interval, and the exact one of Clopper and Pearson:

        >>> recs = {user: ["tea"] for user in "abcd"}
        >>> result = atkay.evaluate(recs, {**{user: ["tea"] for user in "abc"}, "d": ["rye"]}, "hit")
        >>> [round(end, 4) for end in result.summaries["hit"][1:3]]
        [0.3006, 0.9544]
        >>> [round(end, 4) for end in result.with_intervals("clopper-pearson").summaries["hit"][1:3]]
        [0.1941, 0.9937]
        """
        method = IntervalMethod(interval, samples, rng)
        for name in self.by_query:
            aggregate, of_means = self._aggregate(name), interval not in ("auto", "percentile")
            if aggregate.ordered and of_means:
                raise SpecError(
                    f"with_intervals: '{interval}' is of means, and {name} is aggregated by {aggregate.name}. Choose "
                    "'auto' or 'percentile'."
                )
            if interval in PROPORTIONS and (self.limits(name) != (0.0, 1.0) or aggregate != MEAN):
                raise SpecError(
                    f"with_intervals: '{interval}' is for means of values from 0 to 1, and {name} is something else. "
                    "Choose 'auto' or 'studentised'."
                )
        here = self.with_rows(f"with_intervals: '{interval}'") if interval in RESAMPLED else self
        return replace(here, interval=method)

    def _with_whole(
        self, summaries: Mapping[str, Summary], whole: Mapping[str, float], segment: Segment, queries: int
    ) -> Numbers[Summary]:
        """The means, and the metrics of the whole run, which have no SD."""
        users = dict.fromkeys(whole, queries) | dict(self.whole_users.get(segment, {}))
        nothing = math.nan, math.nan, math.nan
        alone = {name: Summary(value, *nothing, users[name], queries - users[name]) for name, value in whole.items()}
        return self._in_order({**summaries, **alone})

    def _in_order(self, numbers: Mapping[str, T]) -> Numbers[T]:
        return Numbers((name, numbers[name]) for name in self._single)

    @property
    def by_query(self) -> list[str]:
        """The metrics that are means over users, in the order of the columns of ``query_values``."""
        return [name for name in self._single if name not in self.whole]

    @cached_property
    def aggregates(self) -> dict[str, Aggregate]:
        """How the users' values become one number, for the numbers that are no means."""
        each = {
            name: Aggregate.of(self.protocol_of(name).aggregate).towards(self._single[name].better)
            for name in self.by_query
        }
        return {name: aggregate for name, aggregate in each.items() if aggregate != MEAN}

    def _aggregate(self, name: str) -> Aggregate:
        return self.aggregates.get(name, MEAN)

    @property
    def _pooled(self) -> set[str]:
        """The pooled metrics."""
        if self.sums is None:
            return set(self.ratios)
        pooled = {name for name, moments in self.sums[None].numbers.items() if moments.pooled}
        return {name for name in pooled if is_pooled(self._single[name])}

    @property
    def weighted(self) -> bool:
        """Whether users count by weights."""
        if self.sums is None:
            return self.weights is not None
        return any(each.pooled and name not in self._pooled for name, each in self.sums[None].numbers.items())

    @cached_property
    def definitions(self) -> Numbers[Definition]:
        """Each metric in one sentence, and its formula."""
        sampled = f", {self.sampled.words}" if self.sampled else ""
        return Numbers(
            (name, Definition(f"{words}; {self._taken(name)}{self._clustered(name)}{sampled}", formula))
            for name, one in self._single.items()
            for words, formula in [one.define()]
        )

    def _taken(self, name: str) -> str:
        """What a number is of: all lists together, sums over users, or the users' values."""
        if name in self.whole:
            return "of all lists together"
        if name in self._pooled:
            return f"{'weighted and ' if self.weighted else ''}summed over all users before dividing"
        return self._over(name)

    def _clustered(self, name: str) -> str:
        """By what the interval of a number is clustered."""
        if self.clusters is None or name in self.whole:
            return ""
        return f", interval {self.clusters.by}"

    @property
    def table(self) -> pl.DataFrame:
        """A row per metric: mean, 95 % CI (low, high), SD over users (deviation), users counted and undefined."""
        return frame_of(("metric",), [(name, *summary) for name, summary in self.summaries.items()])

    @property
    def slices(self) -> pl.DataFrame:
        """A row per slice, segment and metric, with the columns of the table."""
        rows = [(*names, *summary) for *names, summary in self.slice_summaries]
        return frame_of(("slice", "segment", "metric"), rows)

    @property
    def gaps(self) -> pl.DataFrame:
        """A row per slice and metric: the segments with the highest and the lowest mean, and their gap.

        Highest and lowest refer to the value, whichever is better; among equal means the first segment is named.
        ``ratio`` is lowest / highest: 1 if all segments are equal, null if the highest is 0 or the lowest negative.
        ``mad`` is the mean absolute difference of all pairs of segments, which for two is the gap: the user MAD of
        Deldjoo et al., of any metric.
        Users without a segment and segments without a value are ignored; with fewer than two segments there is no row.
        """
        return gaps_of(self.slices)

    @cached_property
    def slice_summaries(self) -> list[tuple[str, str | None, str, Summary]]:
        """Slice, segment, metric and summary."""
        return [
            (slicing.name, None if segment is None else str(segment), name, summary)
            for slicing in self.slicings
            for segment, summaries in self._segments(slicing)
            for name, summary in summaries.items()
        ]

    def _segments(self, slicing: Slicing) -> Iterator[tuple[Any, Numbers[Summary]]]:
        """Each segment that has users, and its metrics."""
        of_run = {segment: numbers for (name, segment), numbers in self.whole_of.items() if name == slicing.name}
        if self.sums is None:
            for segment, members in members_of(slicing):
                yield segment, self._summarise(members, (slicing.name, segment), of_run.get(segment, {}))
            return
        for segment in slicing.segments:
            if (slicing.name, segment) in self.sums:
                name = (slicing.name, segment)
                yield segment, self._of_sums(self.sums[name], name, of_run.get(segment, {}))

    @property
    def per_query(self) -> pl.DataFrame:
        """A row per evaluated user: the ids as given, and each metric; null where undefined."""
        from atkay.core.forks import polars as pl

        here = self.with_rows("per_query")
        ids = pl.DataFrame(dict(here.ids))
        values = pl.DataFrame(dict(zip(here.by_query, here.query_values.T, strict=True))).fill_nan(None)
        return ids.hstack(values)

    def with_rows(self, what: str) -> Result:
        """The result with per-user values, fetched if they are elsewhere; ``what`` needs them."""
        if self.sums is None:
            return self
        if self.kept is None and "_brought" not in vars(self):
            raise RowsError(
                f"{what} needs values per user, but this result only has sums. Evaluate all users at once: "
                f"evaluate(recs, truth, ...)."
            )
        return self._brought

    @cached_property
    def _brought(self) -> Result:
        assert self.kept is not None
        return self.kept.result()

    @cached_property
    def bounds(self) -> Bounds:
        """The lowest and the highest value of each metric that the unjudged items of the lists allow.

        For lists in memory, up to a million rows; see the page about unjudged items.
        """
        from atkay.evaluation.bounds import find_bounds

        return find_bounds(self)

    @cached_property
    def chance(self) -> Chance:
        """Each metric next to what a random order of the lists would score, and the best one.

        For lists in memory, up to a million rows; see the page about unjudged items.
        """
        from atkay.evaluation.chance import find_chance

        return find_chance(self)

    def means_of(self, users: Mapping[str, Floats], ratios: Mapping[str, tuple[Floats, Floats]]) -> Numbers[float]:
        """The means of other values of the same users, by number; ``ratios`` where these are pooled."""
        metrics = tuple(metric for name, metric in self._single.items() if name in users)
        if not metrics:
            return Numbers()
        values = np.array([users[str(metric)] for metric in metrics]).T
        return replace(self, metrics=metrics, query_values=values, ratios=ratios, whole={}).means

    def measured(self, what: str) -> Sequence[Measured]:
        """The lists, judged again; ``what`` needs them."""
        if self.again is None:
            raise RowsError(
                f"{what} needs the lists, which are kept with the results of lists in memory up to a million rows, but "
                "neither saved nor kept with estimates from a sample. Evaluate the lists themselves, or a part of the "
                "users: evaluate(recs, truth, ...)."
            )
        return self.again()

    def to_spark(self) -> pyspark.sql.DataFrame:
        """``per_query`` as a Spark frame, for a result of Spark frames; rows stay in the cluster.

        They are cached in the cluster while the result exists; afterwards they are recomputed.
        """
        if self.kept is None:
            raise RowsError(
                "to_spark: this result has no Spark frame: it was not evaluated on one, or was saved or "
                "pickled since. Create one with spark.createDataFrame(result.per_query.to_arrow())."
            )
        return self.kept.frame()

    def to_dict(
        self,
        *,
        names: Literal["spec", "plain"] = "spec",
        intervals: Literal["none", "ends"] = "none",
        undefined: Literal["nan", "drop"] = "nan",
        prefix: str = "",
    ) -> dict[str, float]:
        """Metrics and means as plain floats, for any experiment tracker.

        ``names="plain"`` uses only letters, digits and underscores (``ndcg_at_10``); ``intervals="ends"`` adds the ends
        of the 95 % CI (``ndcg_at_10_low``, ``ndcg_at_10_high``); undefined metrics are NaN, or left out with
        ``undefined="drop"``. ``prefix`` precedes each name.
        """
        from atkay.reporting.mlflow import flat

        return flat(self, names=names, intervals=intervals, undefined=undefined, prefix=prefix)

    def ir_metadata(self) -> dict[str, Any]:
        """What the evaluation knows of ir_metadata's fields, for ``atkay.write_ir_metadata`` to put into a TREC run."""
        from atkay.results.ir_metadata import ir_metadata_of

        return ir_metadata_of(self)

    def log_mlflow(
        self,
        *,
        prefix: str = "",
        step: int | None = None,
        report: str | None = "report.html",
        saved: str | None = "result.json",
    ) -> str:
        """Log metrics with intervals, protocol and report to MLflow's active run, or a new one (``atkay[mlflow]``).

        Returns the id of the run. See ``atkay.reporting.mlflow.log_mlflow`` for what is logged.
        """
        from atkay.reporting.mlflow import log_mlflow

        return log_mlflow(self, prefix=prefix, step=step, report=report, saved=saved)

    def to_polars(self) -> pl.DataFrame:
        """The table."""
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        """The table as a pandas frame."""
        need("to_pandas", "pandas", "pandas")
        import pandas as pd

        return pd.DataFrame([{"metric": name, **summary._asdict()} for name, summary in self.summaries.items()])

    def _nameable(self) -> tuple[dict[str, str], Numbers[tuple[str, bool]]]:
        spoken = {name: meant for name, meant in self.names.items() if meant in self._single}
        return spoken, Numbers((name, (name, one.bounded)) for name, one in self._single.items())

    def _parts(self, *, bold: bool, look: Look = PLAIN) -> list[Grid | Sequence[str]]:
        """The table of metrics, with slices that of segments, and notes; what arrows mean where there is bold, too."""
        ways = sorted({one.better for one in self._single.values()} & {*ARROWS})
        legend = Legend([", ".join(f"{ARROWS[way]} {way} is better" for way in ways)] if ways and bold else [])
        slices = [self._slice_grid(look)] if self.slicings else []
        return [self._grid(look), *([legend] if legend else []), *slices, self._notes()]

    def counted(self) -> list[str]:
        """The counts of users and items, in words."""
        return self.population.sentences(self.protocol, self.metrics, self._unit, apart=bool(self.apart))

    def protocol_of(self, name: str) -> Protocol:
        """The protocol of a metric."""
        return self.apart.get(name, self.protocol)

    def apart_words(self) -> dict[str, str]:
        """The metrics that have another protocol, and how it differs."""
        names: dict[Protocol, list[str]] = {}
        for name, rules in self.apart.items():
            names.setdefault(rules, []).append(name)
        return {", ".join(several): "; ".join(rules.differing(self.protocol)) for rules, several in names.items()}

    def _notes(self) -> Remarks:
        spoken = [f"dialect: {self.dialect}"] if self.dialect else []
        return Remarks(
            [
                *self.counted(),
                *map(self._with_removed, self.protocol.chosen()),
                *(f"{names}: {words}" for names, words in self.apart_words().items()),
                *([] if self._unit == "user" or self.protocol.groups else [self._over()]),
                *([WEIGHTED] if self.weighted else []),
                *([] if self.clusters is None else [self.clusters.words]),
                *([f"95 % CI: {words}"] if (words := self.interval.words) else []),
                *([self.sampled.words] if self.sampled else []),
                *spoken,
                *([self.engine] if self.engine else []),
                *self.readings,
            ]
        )

    def _with_removed(self, words: str) -> str:
        """Next to the size of the table of what to exclude: how many listed items it removed."""
        removed = f"{words}; {number_of(self.population.excluded, 'listed item')} removed"
        return removed if words == self.protocol.words().get("exclude") else words

    @property
    def _unit(self) -> str:
        """What is evaluated: a user, or a query if several columns identify it."""
        return "user" if len(self.ids) < 2 else "query"

    def _over(self, name: str = "") -> str:
        """What a number is over: users, queries, or users whose queries are averaged first."""
        aggregate = self._aggregate(name) if name else Aggregate.of(self.protocol.aggregate)
        weighted = "weighted " if self.weighted else ""
        if self.protocol.groups:
            then = "over all" if aggregate == MEAN and not weighted else f"{weighted}{aggregate.words('all')}"
            return f"mean over the queries of each {' and '.join(self.protocol.groups)}, then {then}"
        return weighted + aggregate.words("users" if self._unit == "user" else f"queries ({', '.join(self.ids)})")

    def _row(self, name: str, summary: Summary, look: Look) -> tuple[str, ...]:
        head = look.headed(name, self._single[name].better)
        return head, *cells(summary, look.decimals(name), look.scale(name))

    def _grid(self, look: Look) -> Grid:
        rows = [self._row(name, summary, look) for name, summary in self.summaries.items()]
        return Grid(("metric", *self.header), rows, right=self.header)

    def _slice_grid(self, look: Look) -> Grid:
        rows = [
            (name, "(none)" if segment is None else segment, *self._row(metric, summary, look))
            for name, segment, metric, summary in self.slice_summaries
        ]
        return Grid(("slice", "segment", "metric", *self.header), rows, right=self.header)

    @property
    def header(self) -> tuple[str, ...]:
        """The head of the columns behind the names of metrics."""
        return title_of(map(self._aggregate, self.by_query)) if self.aggregates else "mean", *HEADER[1:]

    def plot(
        self, kind: Literal["means", "curves"] = "means", *, size: Literal["screen", "column", "text"] = "screen"
    ) -> alt.LayerChart | alt.FacetChart:
        """A chart of the "means" with their intervals, or of "curves" by cutoff (Altair; ``atkay[report]``).

        ``size`` is that of a "screen", or of a paper's "column" (3.3 inches) or "text" (7 inches). ``save("fig.pdf")``
        or ``save("fig.svg")`` writes a file.
        """
        from atkay.reporting.charts import plot_result

        return plot_result(self, kind, size)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save to a JSON file, compressed if the name ends in ``.gz``; atomic."""
        from atkay.results.save import save

        save(self, path_of(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Load a saved result."""
        from atkay.results.save import load

        return load(path_of(path, SourceError))
