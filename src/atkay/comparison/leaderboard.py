"""Leaderboard: the same runs on several data sets, their averages and ranks."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay import __version__
from atkay.comparison.average_ranks import AverageRanks, ranked
from atkay.comparison.comparison import Comparison
from atkay.comparison.difference import p_value
from atkay.metrics.spec import parse
from atkay.results.numbers import Numbers
from atkay.results.save import load_record, save_record
from atkay.results.summary import cells
from atkay.text.grid import ARROWS, Cell, Grid
from atkay.text.paper import PLAIN, Exported, Legend, Look, Remarks

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    import altair as alt
    import polars as pl

    from atkay.core.types import Floats


class _AllRanks(Numbers[AverageRanks]):
    """The ranks of each metric with a direction."""

    holder = "leaderboard"
    lack = "has no direction, so no ranks"


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Exported):
    """The same runs on several data sets: each comparison, means over data sets, and average ranks.

    ``leaderboard["games"]`` is the :class:`Comparison` of one data set, ``comparisons`` has all of them.
    ``ranks["ndcg@10"]`` has the average ranks, the Friedman test and the critical difference (:class:`AverageRanks`).
    In means and ranks each data set counts the same, however many users it has.
    """

    _internal = "means"

    comparisons: Mapping[str, Comparison]
    version: str = __version__

    def __getitem__(self, data_set: str) -> Comparison:
        return self.comparisons[data_set]

    def __iter__(self) -> Iterator[str]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    @property
    def data_sets(self) -> tuple[str, ...]:
        """The names of the data sets."""
        return tuple(self.comparisons)

    @property
    def _first(self) -> Comparison:
        return next(iter(self.comparisons.values()))

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs."""
        return self._first.runs

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics."""
        return self._first.metrics

    def means(self, metric: str) -> Floats:
        """The means of a metric, data sets x runs."""
        return np.array([[each.means[run][metric].mean for run in self.runs] for each in self.comparisons.values()])

    @cached_property
    def ranks(self) -> Numbers[AverageRanks]:
        """The average ranks in each metric with a direction."""
        better = {name: parse(name).better for name in self.metrics}
        return _AllRanks(
            (name, AverageRanks.of(self.runs, self.means(name), way))
            for name, way in better.items()
            if way != "neither"
        )

    @property
    def table(self) -> pl.DataFrame:
        """A row per metric, data set and run: mean, 95 % CI (low, high), users, rank and tier."""
        from atkay.core.forks import polars as pl

        rows = []
        for metric in self.metrics:
            ranks, better = self.means(metric) * math.nan, parse(metric).better
            whole = ~np.isnan(self.means(metric)).any(axis=1)
            if better != "neither":
                ranks[whole] = ranked(self.means(metric)[whole], better)
            for (name, each), of_run in zip(self.comparisons.items(), ranks.tolist(), strict=True):
                tiers = each.tiers.get(metric, ())
                for run, rank in zip(self.runs, of_run, strict=True):
                    tier = next((at for at, tied in enumerate(tiers, start=1) if run in tied), None)
                    summary = each.means[run][metric]
                    rows.append((metric, name, run, summary.mean, summary.low, summary.high, summary.users, rank, tier))
        schema = {
            **dict.fromkeys(("metric", "data_set", "run"), pl.String),
            **dict.fromkeys(("mean", "low", "high"), pl.Float64),
            "users": pl.Int64,
            "rank": pl.Float64,
            "tier": pl.Int64,
        }
        return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)

    @property
    def averages(self) -> pl.DataFrame:
        """A row per metric and run, best first: mean over data sets, average rank, and the letters of its groups."""
        from atkay.core.forks import polars as pl

        rows = [
            (metric, run, mean, rank if rank is None else float(rank), letters)
            for metric in self.metrics
            for run, mean, rank, letters in self._averaged(metric)
        ]
        schema = {"metric": pl.String, "run": pl.String, "mean": pl.Float64, "average_rank": pl.Float64}
        return pl.DataFrame(rows, schema={**schema, "group": pl.String}, orient="row").fill_nan(None)

    def _averaged(self, metric: str) -> list[tuple[str, float, float | None, str | None]]:
        means = dict(zip(self.runs, self.means(metric).mean(axis=0).tolist(), strict=True))
        if metric not in self.ranks:
            return [(run, mean, None, None) for run, mean in means.items()]
        average_ranks = self.ranks[metric]
        return [(run, means[run], rank, average_ranks.letters[run]) for run, rank in average_ranks.ranks.items()]

    def to_polars(self) -> pl.DataFrame:
        """The table of all means and ranks."""
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """Everything as a JSON-compatible dict."""
        ranks = {name: {**vars(each), "cliques": [*map(list, each.cliques)]} for name, each in self.ranks.items()}
        comparisons = {name: each.to_dict() for name, each in self.comparisons.items()}
        plain: dict[str, Any] = json.loads(json.dumps(ranks).replace("NaN", "null"))
        return {"atkay": self.version, "comparisons": comparisons, "ranks": plain}

    def to_json(self) -> str:
        """Everything, as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save to a JSON file, compressed if the name ends in ``.gz``; atomic."""
        save_record(path, "leaderboard", self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Leaderboard:
        """Load a saved leaderboard."""
        from atkay.comparison.saved import leaderboard_of

        return load_record(path, "leaderboard", leaderboard_of)

    def plot(self, metric: str | None = None) -> alt.LayerChart:
        """A critical-difference diagram of one metric, by default the first that has ranks (Altair; ``atkay[report]``).

        Runs stand at their average ranks; a bar joins those that do not differ significantly.
        """
        from atkay.reporting.rank_chart import plot_ranks

        name = next(iter(self.ranks), self.metrics[0]) if metric is None else metric
        return plot_ranks(name, self.ranks[name])

    def _nameable(self) -> tuple[dict[str, str], Numbers[tuple[str, bool]]]:
        metrics = Numbers((name, (name, parse(name).bounded)) for name in self.metrics)
        return {name: name for name in (*self.runs, *self.data_sets)}, metrics

    def _parts(self, *, bold: bool, look: Look = PLAIN) -> list[Grid | Sequence[str]]:
        """The table and its notes; ``bold`` says whether bold is seen."""
        explained = ["bold: significantly better than every other run on that data set"] if bold else []
        return [self._grid(look), Legend([*explained, *self._legend()]), Remarks(self._remarks(look))]

    def _grid(self, look: Look) -> Grid:
        numbers = (*map(look.name, self.data_sets), "mean", "average rank")
        rows: list[list[str | Cell]] = []
        for metric in self.metrics:
            digits, scale = look.decimals(metric), look.scale(metric)
            for run, mean, rank, letters in self._averaged(metric):
                averaged = self._first.means[run][metric]._replace(mean=mean, low=math.nan, high=math.nan)
                shown = ["–", "–"] if rank is None or math.isnan(rank) else [f"{rank:.2f}", str(letters)]
                of_sets = [
                    Cell(cells(each.means[run][metric], digits, scale)[0], bold=_is_alone(each, metric, run))
                    for each in self.comparisons.values()
                ]
                name = look.headed(metric, parse(metric).better)
                rows.append([name, look.name(run), *of_sets, cells(averaged, digits, scale)[0], *shown])
        return Grid(("metric", "run", *numbers, "group"), rows, right=numbers)

    def _legend(self) -> list[str]:
        legend = [
            f"mean and average rank over {len(self)} data sets, each of which counts the same; rank 1 is the best"
        ]
        if self.ranks:
            ways = sorted({parse(name).better for name in self.ranks})
            legend.append(", ".join(f"{ARROWS[way]} {way} is better" for way in ways))
            legend.append(
                "group: runs that share a letter do not differ significantly in average rank (Friedman test, then "
                "Nemenyi's critical difference, 5 %)"
            )
        return legend

    def _remarks(self, look: Look) -> list[str]:
        notes = []
        for name, each in self.ranks.items():
            few = "" if each.data_sets == len(self) else f" over the {each.data_sets} data sets with all values"
            p = p_value(each.p)
            equals = "" if p.startswith("<") else "= "
            least = f"critical difference {each.critical_difference:.2f}"
            if each.critical_difference > len(self.runs) - 1:
                least += ", more than ranks can differ: too few data sets to tell runs apart"
            notes.append(
                f"{look.name(name)}: Friedman chi-squared = {each.chi_squared:.2f}, p {equals}{p}{few}; {least}"
            )
        return notes


def _is_alone(comparison: Comparison, metric: str, run: str) -> bool:
    """Whether a run is significantly better than every other."""
    return comparison.tiers.get(metric, ((),))[0] == (run,) and comparison.rank_intervals[metric][run].high == 1
