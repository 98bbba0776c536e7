"""Comparison: means of runs, their differences, and verdicts."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from atkay.aggregates import MEAN, Aggregate, title_of
from atkay.comparison.difference import COUNTS, RELATIVE, Difference, counts, effect, p_value
from atkay.comparison.margins import Margins
from atkay.comparison.sheet import ROUNDING_SHARE
from atkay.comparison.tests import TESTS
from atkay.comparison.verdict import CORRECTION_NAMES, LEVEL, amount, verdict, way
from atkay.errors import need
from atkay.metrics.metric import Metric, RunMetric
from atkay.metrics.spec import parse
from atkay.results.numbers import Numbers
from atkay.results.save import load_record, save_record
from atkay.results.summary import Summary, cells, number_types
from atkay.text.grid import ARROWS, Cell, Grid, Listing, headed
from atkay.text.paper import PLAIN, Exported, Legend, Look, Remarks

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    import altair as alt
    import pandas as pd
    import polars as pl

    from atkay.comparison.ranks import RankIntervals
    from atkay.comparison.sheet import Sheet
    from atkay.comparison.tiers import Tiers
    from atkay.results.result import Result


Means = Mapping[str, Mapping[str, Summary]]
"""The summary of each metric: ``means[run][metric]``."""


MARKS = {"better": "*", "worse": "†", "higher": "↑", "lower": "↓"}
"""The mark behind a mean, by its comparison with the baseline."""
MOST_LETTERS = 26
"""More runs than this are marked by numbers."""


class _Differences(Numbers[tuple[Difference, ...]]):
    """The differences by metric."""

    holder = "comparison"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Exported):
    """Means, differences and verdicts of several runs; prints as a table and exports to LaTeX, Markdown, pandas and
    Polars.

    ``comparison["ndcg@10"]`` holds the differences in one metric, ``differences`` all of them and ``segments`` those
    per segment (:class:`Difference`). ``means[run][metric]`` is a :class:`Summary`; ``segment_means[slice, segment]``
    are the means per segment.
    """

    _internal = (
        "bold_legend difference_grid every_pair leaders mean_grid names order ordered sheet standings threshold title"
    )

    runs: tuple[str, ...]
    baseline: str | None
    metrics: tuple[str, ...]
    tests: tuple[str, ...]
    correction: str
    family: str
    interval: str
    permutations: int
    rng: int
    min_effect: Mapping[str, float]
    means: Means
    differences: tuple[Difference, ...]
    segments: tuple[Difference, ...]
    protocol: Mapping[str, str]
    """Each field of the protocol in words."""
    notes: tuple[str, ...]
    version: str
    results: Mapping[str, Result] = field(default_factory=dict)
    """The result of each run; not saved."""
    sheet: Sheet | None = None
    """The values of all runs, user by user; not saved."""
    standings: Mapping[str, Any] = field(default_factory=dict)
    """The tiers and rank intervals of a comparison that was saved."""
    segment_means: Mapping[tuple[str, str | None], Means] = field(default_factory=dict)
    """The means of each run in each segment of each slice."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The dialect's names of metrics, and our specs for them."""
    cluster: str | None = None
    """What a cluster is, where intervals and tests count clusters of users."""

    def __post_init__(self) -> None:
        """Complete each difference with the correction, for its verdict."""
        for name in ("differences", "segments"):
            completed = tuple(replace(each, correction=self.correction) for each in getattr(self, name))
            object.__setattr__(self, name, completed)

    def __getitem__(self, metric: str | Metric) -> tuple[Difference, ...]:
        return self._by_metric[self.names.get(str(metric), str(metric))]

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    def __len__(self) -> int:
        return len(self.differences)

    @cached_property
    def _by_metric(self) -> Numbers[tuple[Difference, ...]]:
        return _Differences((name, tuple(d for d in self.differences if d.metric == name)) for name in self.metrics)

    @property
    def table(self) -> pl.DataFrame:
        """A row per metric and pair: difference, relative difference, their intervals (low, high), effect size, counts,
        p-values, verdict.
        """
        return _frame(self.differences, self.tests)

    @property
    def slices(self) -> pl.DataFrame:
        """A row per segment, metric and pair; ``against_mean`` marks segments with the opposite effect."""
        from atkay.core.forks import polars as pl

        against = pl.Series("against_mean", [self._moves_against(each) for each in self.segments], pl.Boolean)
        return _frame(self.segments, self.tests, ("slice", "segment")).with_columns(against)

    def _moves_against(self, segment: Difference) -> bool:
        return segment.difference * self._whole[segment.metric, segment.run, segment.against] < 0

    @cached_property
    def _whole(self) -> dict[tuple[str, str, str], float]:
        return {(d.metric, d.run, d.against): d.difference for d in self.differences}

    @property
    def movers(self) -> tuple[Difference, ...]:
        """The segments with the opposite effect, significant ones first, then by p-value."""
        movers = filter(self._moves_against, self.segments)
        return tuple(
            sorted(movers, key=lambda d: (not d.significant, d.corrected.get(d.decided_by or "", 1.0), d.segment or ""))
        )

    @cached_property
    def every_pair(self) -> tuple[Difference, ...]:
        """The differences of all pairs of runs, with a baseline too."""
        from atkay.comparison.tiers import all_pairs

        return tuple(all_pairs(self))

    @cached_property
    def tiers(self) -> Tiers:
        """The runs that cannot be told apart: for each metric the names by tier, best first.

        ``comparison.tiers["ndcg@10"]`` is ``(("b", "c"), ("a",))``. A tier begins at its best run; the first that is
        significantly worse begins the next. Every pair of runs is tested and corrected for, with a baseline too.
        Metrics without direction, and those that are not tested, have none.
        """
        from atkay.comparison.tiers import Tiers, tiers_of

        return Tiers(self.standings["tiers"]) if self.standings else tiers_of(self)

    @cached_property
    def rank_intervals(self) -> RankIntervals:
        """The rank of each run in each metric that has tiers, and its 95 % interval by bootstrap over users.

        ``comparison.rank_intervals["ndcg@10"]["b"]`` has ``rank``, ``low`` and ``high``, 1 for the best.
        """
        from atkay.comparison.ranks import RankIntervals, rank_intervals_of

        return RankIntervals(self.standings["rank_intervals"]) if self.standings else rank_intervals_of(self)

    @property
    def rank_table(self) -> pl.DataFrame:
        """A row per metric and run, best first: mean, tier, rank, and the 95 % interval of the rank (low, high)."""
        from atkay.comparison.tiers import rank_frame

        return rank_frame(self)

    @cached_property
    def bounds(self) -> Margins:
        """For each difference, whether the unjudged items could turn the order of the two runs."""
        return Margins.of(self)

    @property
    def mean_table(self) -> pl.DataFrame:
        """A row per run and metric: mean, 95 % CI (low, high), SD over users (deviation), and counts."""
        return _mean_frame(("run", "metric"), _lines(self.means))

    @property
    def slice_mean_table(self) -> pl.DataFrame:
        """The same for each segment of each slice."""
        rows = [(*where, *line) for where, means in self.segment_means.items() for line in _lines(means)]
        return _mean_frame(("slice", "segment", "run", "metric"), rows)

    def to_polars(self) -> pl.DataFrame:
        """The table of differences."""
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        """The table of differences as a pandas frame."""
        need("to_pandas", "pandas", "pandas")
        import pandas as pd

        return pd.DataFrame(self.table.to_dict(as_series=False))

    def to_dict(self) -> dict[str, Any]:
        """Everything as a JSON-compatible dict."""
        segment_means = [
            {"slice": name, "segment": segment, "means": means} for (name, segment), means in self.segment_means.items()
        ]
        from atkay.comparison.saved import FILE

        written = {"segment_means": segment_means, "tiers": self.tiers, "rank_intervals": self.rank_intervals}
        content: dict[str, Any] = FILE.write({**vars(self), **written, "atkay": self.version})
        return content

    def to_json(self) -> str:
        """Everything, as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save to a JSON file, compressed if the name ends in ``.gz``; atomic."""
        save_record(path, "comparison", self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Comparison:
        """Load a saved comparison."""
        from atkay.comparison.saved import comparison_of

        return load_record(path, "comparison", comparison_of)

    def _nameable(self) -> tuple[dict[str, str], Numbers[tuple[str, bool]]]:
        spoken = {name: meant for name, meant in self.names.items() if meant in self.metrics}
        metrics = Numbers((name, (name, parse(name).bounded)) for name in self.metrics)
        return spoken | {run: run for run in self.runs}, metrics

    def _latex_parts(self, look: Look) -> list[Grid | Sequence[str]]:
        """The means and what their marks mean."""
        return [self.mean_grid(look), self._legend_lines(look, bold=True), self._remarks(look)]

    def _parts(self, *, bold: bool, look: Look = PLAIN) -> list[Grid | Sequence[str]]:
        """The means, with marks for significant differences and the best in bold; the differences."""
        parts: list[Grid | Sequence[str]] = [
            self.mean_grid(look),
            self._legend_lines(look, bold=bold),
            *self._tier_parts(look),
            self.difference_grid(self.ordered, look=look),
        ]
        if self.segments:
            parts += [
                self._segment_mean_grid(look),
                self.difference_grid(self.segments, ("slice", "segment"), look),
                self._moving(look),
            ]
        return [*parts, self._remarks(look)]

    def _tier_parts(self, look: Look) -> list[Grid | Sequence[str]]:
        """The tiers, where there are enough runs for any."""
        from atkay.comparison.tiers import tier_parts

        return tier_parts(self, look.name) if len(self.runs) > 2 else []

    def _legend_lines(self, look: Look, *, bold: bool) -> Legend:
        marks = self._bold_legend(look) if bold else self._legend(look)
        return Legend(line for line in (marks, self._header_legend(look)) if line)

    def _remarks(self, look: Look) -> Remarks:
        """The notes, with the printed names of runs."""
        starts = {f"{run}: ": f"{look.name(run)}: " for run in self.runs}
        return Remarks(
            next((new + note[len(old) :] for old, new in starts.items() if note.startswith(old)), note)
            for note in self.notes
        )

    def mean_grid(self, look: Look = PLAIN) -> Grid:
        """Runs x metrics, the best run first, with marks."""
        header = ("run", *(self._headed(name, look) for name in self.metrics))
        rows = [(self._name(run, look), *(self._cell(run, name, look) for name in self.metrics)) for run in self.order]
        return Grid(header, rows)  # to the left: marks behind them would move the digits

    @property
    def _first(self) -> str | None:
        """The first metric that has a direction."""
        return next((name for name in self.metrics if parse(name).better != "neither"), None)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The runs by the first metric that has a direction, the best first."""
        first = self._first
        if first is None:
            return self.runs
        sign = 1 if parse(first).better == "lower" else -1
        means = {run: self.means[run][first].mean for run in self.runs}
        return tuple(sorted(self.runs, key=lambda run: (math.isnan(means[run]), sign * means[run])))

    @property
    def ordered(self) -> list[Difference]:
        """The differences, metric by metric, of the best run first."""
        place = {run: at for at, run in enumerate(self.order)}
        return sorted(self.differences, key=lambda d: (self.metrics.index(d.metric), place[d.run], place[d.against]))

    def _headed(self, metric: str, look: Look) -> str:
        return look.headed(metric, parse(metric).better)

    def _name(self, run: str, look: Look) -> Cell:
        """The name of a run, with its letter, or as the baseline."""
        if self.baseline is None:
            return Cell(look.name(run), marks=self._letter(run))
        return Cell(look.name(run) + (" (baseline)" if run == self.baseline else ""))

    def _letter(self, run: str) -> str:
        at = self.order.index(run)
        return chr(ord("a") + at) if len(self.runs) <= MOST_LETTERS else f" {at + 1}"

    def leaders(self, metric: str) -> list[str]:
        """The runs with the best mean; near-equal means are decided by paired differences."""
        means = {run: self.means[run][metric] for run in self.runs}
        first = best(means, parse(metric).better)
        behind = {
            each.run if way(each.better, each.difference) == "worse" else each.against
            for each in self._by_metric[metric]
            if {each.run, each.against} <= {*first} and way(each.better, each.difference)
            if each.users == means[each.run].users == means[each.against].users
        }
        return [run for run in first if run not in behind]

    @cached_property
    def _bold(self) -> dict[str, str]:
        """The run that is the best one of a metric, and significantly better than every other.

        Of two runs that are tested against the baseline alone, one is better if it is better than the baseline, and the
        other worse.
        """
        bold = {}
        for metric in self.metrics:
            better = {
                (run, d.against if run == d.run else d.run)
                for d in self._by_metric[metric]
                for run in (d.run, d.against)
                if d.standing(run) == "better"
            }
            if self.baseline is not None and not self._of_both:
                above = [run for run, other in better if other == self.baseline]
                below = [other for run, other in better if run == self.baseline]
                better |= set(itertools.product(above, below))
            for run in self.leaders(metric):
                if all((run, other) in better for other in self.runs if other != run):
                    bold[metric] = run
        return bold

    def _cell(self, run: str, metric: str, look: Look) -> Cell:
        marks = []
        for each in self._by_metric[metric]:
            if run not in (each.run, each.against):
                continue
            word = each.standing(run)
            if self.baseline is None:
                other = each.against if run == each.run else each.run
                marks += [self._letter(other)] if word in ("better", "higher") else []
            elif run != self.baseline:
                marks += [MARKS.get(word, "")]
        marks.sort(key=lambda mark: (len(mark), mark))
        mean, *_ = cells(self.means[run][metric], look.decimals(metric), look.scale(metric))
        return Cell(mean, bold=self._bold.get(metric) == run, marks="".join(marks))

    @property
    def legend(self) -> str:
        """What the marks mean."""
        return self._legend(PLAIN)

    def _legend(self, look: Look) -> str:
        tested = [each for each in self.differences if each.decided_by]
        if not tested:
            return "no marks: none of these metrics was tested"
        by = " or ".join(
            self._with_correction(name) for name in self.tests if any(d.decided_by == name for d in tested)
        )
        without = list(dict.fromkeys(look.name(each.metric) for each in tested if each.better == "neither"))
        directed = any(each.better != "neither" for each in tested)
        if self.baseline is None:
            word = "better" if directed else "higher"
            also = f" (higher for {', '.join(without)})" if directed and without else ""
            names = "letters" if len(self.runs) <= MOST_LETTERS else "numbers"
            return (
                f"{names}: significantly {word} than the run with that {names[:-1]}{also}, {self.threshold} "
                f"({by}){self._of_both}"
            )
        baseline = look.name(self.baseline)
        meanings = [f"* significantly better than {baseline}, † significantly worse"] if directed else []
        if without:
            where = f"{', '.join(without)}: " if directed else ""
            meanings.append(f"{where}↑ significantly higher than {baseline}, ↓ significantly lower")
        return f"{'; '.join(meanings)}; {self.threshold} ({by}){self._of_both}"

    @property
    def title(self) -> str:
        """What the numbers are: means, or another aggregate."""
        return title_of({Aggregate.of(each.aggregate) for each in self.differences} or {MEAN})

    @property
    def bold_legend(self) -> str:
        """What bold and the marks mean."""
        return self._bold_legend(PLAIN)

    def _bold_legend(self, look: Look) -> str:
        metrics = [metric for metric in map(parse, self.metrics) if metric.better != "neither"]
        if not (metrics and any(each.decided_by for each in self.differences)):
            return self._legend(look)
        ways = {metric.better for metric in metrics}
        word = f"{ways.pop()[:-2]}est" if len(ways) == 1 else "best"
        what = "value" if all(isinstance(metric, RunMetric) for metric in metrics) else self.title
        most = "significantly better than every other run"
        if self.baseline is not None and len(self.runs) > 2:
            most += f" (runs are tested against {look.name(self.baseline)} only)"
        bold = f"bold: {word} {what}, {most}" if self._bold else f"none in bold: no run is {most}"
        return f"{bold}; {self._legend(look)}"

    def _header_legend(self, look: Look) -> str:
        """How the runs are sorted, and what the arrows in headers mean."""
        ways = sorted({parse(name).better for name in self.metrics} & {*ARROWS})
        arrows = [f"{ARROWS[way]} {way} is better" for way in ways]
        first = look.name(self._first or "")
        return f"runs sorted by {first}; in headers, {', '.join(arrows)}" if ways else ""

    @property
    def _of_both(self) -> str:
        """A note where means and differences cover different users."""
        uneven = any(
            each.users != self.means[run][each.metric].users
            for each in self.differences
            if each.decided_by
            for run in (each.run, each.against)
        )
        return "; marks compare users evaluated in both runs" if uneven else ""

    @property
    def threshold(self) -> str:
        """The condition for significance."""
        return f"{self._corrected}p < {LEVEL:g}"

    @property
    def _corrected(self) -> str:
        return "" if self.correction == "none" else "corrected "

    def _with_correction(self, test: str) -> str:
        """A test and its correction; Tukey's tests have their own."""
        return (
            test if TESTS[test].joint or self.correction == "none" else f"{test}, {CORRECTION_NAMES[self.correction]}"
        )

    def difference_grid(
        self, differences: Sequence[Difference], ahead: tuple[str, ...] = (), look: Look = PLAIN
    ) -> Grid:
        """A row per difference, with its verdict."""
        of_tests = tuple(f"p ({self._with_correction(name)})" for name in self.tests)
        header = (*ahead, "metric", "run", "against", "verdict", "wins/ties/losses", "users", *of_tests)
        rows = [
            (
                *(_named(getattr(each, name)) for name in ahead),
                look.headed(each.metric, each.better),
                look.name(each.run),
                look.name(each.against),
                _verdict(each, look),
                counts(each),
                f"{each.users:,}" if each.users or math.isnan(each.difference) else "–",  # of the whole run
                *(p_value(each.corrected[name]) for name in self.tests),
            )
            for each in differences
        ]
        first, *others = of_tests
        known = ["against"] if self.baseline else []  # the table of means names it
        spare = (*reversed(others), "users", "wins/ties/losses", first, *known)
        return Grid(header, rows, right=("wins/ties/losses", "users", *of_tests), spare=spare)

    def _segment_mean_grid(self, look: Look) -> Grid:
        rows = [
            (
                *(name, _named(segment), look.name(run)),
                *(cells(of_run[each], look.decimals(each), look.scale(each))[0] for each in self.metrics),
            )
            for (name, segment), of_segment in self.segment_means.items()
            for run in self.order
            if (of_run := of_segment.get(run)) is not None
        ]
        metrics = tuple(self._headed(name, look) for name in self.metrics)
        return Grid(("slice", "segment", "run", *metrics), rows, right=metrics)

    def _moving(self, look: Look) -> list[str]:
        against = [
            f"{d.slice} {_named(d.segment)}: {look.name(d.metric)}, {look.name(d.run)} vs {look.name(d.against)}: "
            + ("" if d.significant else f"{amount(d, d.difference, look.decimals(d.metric), look.scale(d.metric))}, ")
            + _verdict(d, look)
            for d in self.movers
        ]
        return ["segments with the opposite effect:", *against] if against else ["no segment has the opposite effect"]

    @property
    def details(self) -> Listing:
        """Each difference in full: effect size d_z, SD of the users' differences, who is paired, and all p-values."""
        header = (
            *("metric", "run", "against", "d_z", "SD", "users", "in one run only", "undefined"),
            *(f"p ({name}{words})" for name in self.tests for words in ("", ", corrected")),
        )
        rows = [
            (
                headed(each.metric, each.better),
                *(each.run, each.against, effect(each)),
                "–" if math.isnan(each.deviation) else f"{each.deviation:.4f}",
                *(f"{number:,}" for number in (each.users, each.left_out, each.undefined)),
                *(p_value(p[name]) for name in self.tests for p in (each.p, each.corrected)),
            )
            for each in self.ordered
        ]
        return Listing(header, rows, right=header[3:])

    def plot(
        self,
        kind: Literal["differences", "means"] = "differences",
        *,
        size: Literal["screen", "column", "text"] = "screen",
    ) -> alt.FacetChart:
        """A chart of the "differences" or of the "means", each with its interval (Altair; ``atkay[report]``).

        ``size`` is that of a "screen", or of a paper's "column" (3.3 inches) or "text" (7 inches). ``save("fig.pdf")``
        or ``save("fig.svg")`` writes a file.
        """
        from atkay.reporting.charts import plot_comparison

        return plot_comparison(self, kind, size)


def best(means: Mapping[str, Summary], better: str) -> list[str]:
    """The runs with the best mean, several if equal; none for a metric without direction."""
    known = {run: each.mean for run, each in means.items() if not math.isnan(each.mean)}
    if better == "neither" or not known:
        return []
    first = (min if better == "lower" else max)(known.values())
    return [run for run, mean in known.items() if abs(mean - first) <= ROUNDING_SHARE * abs(first)]


def _verdict(difference: Difference, look: Look) -> str:
    """The verdict with the printed names and units."""
    return verdict(replace(difference, run=look.name(difference.run)), look.scale(difference.metric))


def _named(segment: str | None) -> str:
    return "(none)" if segment is None else segment


def _frame(differences: Sequence[Difference], tests: Sequence[str], ahead: tuple[str, ...] = ()) -> pl.DataFrame:
    from atkay.core.forks import polars as pl

    text = (*ahead, "metric", "run", "against", "better")
    numbers = ("difference", "low", "high", *RELATIVE, "deviation", "effect")
    rows = [
        (
            *(getattr(each, name) for name in (*text, *numbers, *COUNTS)),
            *(each.p[name] for name in tests),
            *(each.corrected[name] for name in tests),
            each.finding,
            each.verdict,
        )
        for each in differences
    ]
    schema = {
        **dict.fromkeys(text, pl.String),
        **dict.fromkeys(numbers, pl.Float64),
        **dict.fromkeys(COUNTS, pl.Int64),
        **{f"p_{name}": pl.Float64 for name in tests},
        **{f"p_{name}_corrected": pl.Float64 for name in tests},
        "finding": pl.String,
        "verdict": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)


def _mean_frame(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> pl.DataFrame:
    from atkay.core.forks import polars as pl

    schema = {**dict.fromkeys(names, pl.String), **number_types()}
    return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)


def _lines(means: Means) -> list[tuple[Any, ...]]:
    return [(run, name, *numbers) for run, of_run in means.items() for name, numbers in of_run.items()]
