"""Comparison: the runs' numbers, their differences, and what can be said of them."""

from __future__ import annotations

import dataclasses
import html
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atkay.compare.tests import TESTS
from atkay.compare.verdict import LEVEL, verdict
from atkay.errors import SourceError
from atkay.grid import Cell, Grid, as_markdown, one_line
from atkay.means import Summary
from atkay.metrics.base import Metric, parse
from atkay.output import write_whole
from atkay.result import Numbers, cells, number_types
from atkay.saving import numbers, plain

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    import altair as alt
    import pandas as pd
    import polars as pl

    from atkay.result import Result


Means = Mapping[str, Mapping[str, Summary]]
"""What is said of each number: ``means[run][metric]``."""


@dataclass(frozen=True)
class Difference:
    """One number of ``run`` less that of ``against``, and how sure it is.

    ``low`` and ``high`` are the 95 % interval, ``deviation`` is the spread of the users' differences, and ``effect``
    the difference over it (d_z). ``wins``, ``ties`` and ``losses`` count the users for whom ``run`` is better, as
    good, and worse (where no direction is better: higher and lower); there are none where a number is pooled or of
    the whole run. ``users`` are paired; ``left_out`` are in one of the two runs alone, ``undefined`` have no value in
    one of them. ``p`` and ``corrected`` have a p-value per test; ``lowest`` are the tests that cannot give a smaller
    one with so many permutations. ``finding`` is what follows, by the first test that has a p-value.
    """

    metric: str
    run: str
    against: str
    better: str
    difference: float
    low: float
    high: float
    deviation: float
    effect: float
    wins: int | None
    ties: int | None
    losses: int | None
    users: int
    left_out: int
    undefined: int
    p: Mapping[str, float]
    corrected: Mapping[str, float]
    finding: str
    slice: str | None = None
    segment: str | None = None
    lowest: tuple[str, ...] = ()

    @property
    def decided_by(self) -> str | None:
        """The test that decides: the first that has a p-value."""
        return next((name for name, p in self.p.items() if not math.isnan(p)), None)

    @property
    def real(self) -> bool:
        """Whether there is a difference, by the corrected p-value of the test that decides."""
        return self.finding.startswith("real")

    @property
    def verdict(self) -> str:
        """What it means, in a line."""
        return verdict(self)

    @property
    def gain(self) -> float:
        """The difference, above 0 where ``run`` is better; NaN where no direction is."""
        return {"higher": 1.0, "lower": -1.0}.get(self.better, math.nan) * self.difference


NUMBERS = ("difference", "low", "high", "deviation", "effect")
WORDS = ("baseline", "correction", "family", "interval", "permutations", "rng")
NAMES = ("runs", "metrics", "tests", "notes")
BOLD = "bold: best; "
COUNTS = ("wins", "ties", "losses", "users", "left_out", "undefined")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs side by side: means, differences, verdicts; prints as a table, and goes wherever a table can go.

    ``means[run][metric]`` is a :class:`Summary`; ``differences`` has a :class:`Difference` per metric and pair, and
    ``segments`` the same for each segment, of which ``segment_means[slice, segment]`` are the means;
    ``comparison["ndcg@10"]`` are the differences in one metric.
    """

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
    segment_means: Mapping[tuple[str, str | None], Means] = field(default_factory=dict)
    """The means of each run in each segment of each slice."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The names that were asked for in a dialect, and what they are here."""

    def __getitem__(self, metric: str | Metric) -> tuple[Difference, ...]:
        return self._by_metric[self.names.get(str(metric), str(metric))]

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    def __len__(self) -> int:
        return len(self.differences)

    @cached_property
    def _by_metric(self) -> Numbers[tuple[Difference, ...]]:
        return Numbers((name, tuple(d for d in self.differences if d.metric == name)) for name in self.metrics)

    @property
    def table(self) -> pl.DataFrame:
        """A row per metric and pair: difference, interval, effect size, counts, p-values, verdict."""
        return _frame(self.differences, self.tests)

    @property
    def slices(self) -> pl.DataFrame:
        """The same for each segment of each slice; ``against_mean`` marks those that move against the whole."""
        from atkay.forks import polars as pl

        against = pl.Series("against_mean", [self._moves_against(found) for found in self.segments], pl.Boolean)
        return _frame(self.segments, self.tests, ("slice", "segment")).with_columns(against)

    def _moves_against(self, segment: Difference) -> bool:
        return segment.difference * self._whole[segment.metric, segment.run, segment.against] < 0

    @cached_property
    def _whole(self) -> dict[tuple[str, str, str], float]:
        return {(d.metric, d.run, d.against): d.difference for d in self.differences}

    @property
    def movers(self) -> tuple[Difference, ...]:
        """The segments that move against the mean, those first for which that is real, then by p-value."""
        found = filter(self._moves_against, self.segments)
        return tuple(
            sorted(found, key=lambda d: (not d.real, d.corrected.get(d.decided_by or "", 1.0), d.segment or ""))
        )

    @property
    def mean_table(self) -> pl.DataFrame:
        """A row per run and metric: the mean, its 95 % interval, deviation, and counts."""
        from atkay.forks import polars as pl

        schema = {"run": pl.String, "metric": pl.String, **number_types()}
        return pl.DataFrame(_lines(self.means), schema=schema, orient="row").fill_nan(None)

    @property
    def slice_mean_table(self) -> pl.DataFrame:
        """The same for each segment of each slice."""
        from atkay.forks import polars as pl

        rows = [(*where, *line) for where, means in self.segment_means.items() for line in _lines(means)]
        text = dict.fromkeys(("slice", "segment", "run", "metric"), pl.String)
        return pl.DataFrame(rows, schema={**text, **number_types()}, orient="row").fill_nan(None)

    def to_polars(self) -> pl.DataFrame:
        """The table of differences."""
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        """The table of differences, for pandas."""
        import pandas as pd

        return pd.DataFrame(self.table.to_dict(as_series=False))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        return {
            "atkay": self.version,
            **{name: getattr(self, name) for name in WORDS},
            **{name: list(getattr(self, name)) for name in NAMES},
            "min_effect": dict(self.min_effect),
            "protocol": dict(self.protocol),
            "names": dict(self.names),
            "means": _records(self.means),
            "segment_means": [
                {"slice": name, "segment": segment, "means": _records(means)}
                for (name, segment), means in self.segment_means.items()
            ],
            "differences": [_record(found) for found in self.differences],
            "segments": [_record(found) for found in self.segments],
        }

    def to_json(self) -> str:
        """Everything, as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a JSON file, whole or not at all."""
        write_whole(Path(path), self.to_json().encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Comparison:
        """A comparison that was saved before."""
        try:
            record = json.loads(Path(path).read_bytes())
            fields: dict[str, Any] = {name: record[name] for name in (*WORDS, "min_effect", "protocol", "names")}
            fields |= {name: tuple(record[name]) for name in NAMES}
            fields |= {name: tuple(map(_difference, record[name])) for name in ("differences", "segments")}
            fields["segment_means"] = {
                (each["slice"], each["segment"]): _means(each["means"]) for each in record["segment_means"]
            }
            return cls(**fields, means=_means(record["means"]), version=record["atkay"])
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise SourceError(
                f"cannot load '{path}' as a saved comparison: {error}. Write one with comparison.save(path)."
            ) from error

    def to_markdown(self) -> str:
        """All tables and notes in Markdown: the best mean in bold, raised marks where it is really better."""
        return "\n\n".join(
            part.markdown() if isinstance(part, Grid) else "  \n".join(as_markdown(one_line(line)) for line in part)
            for part in self._parts(BOLD)
        )

    def to_latex(self) -> str:
        """The means in LaTeX, for the booktabs package: the best in bold, raised marks where it is really better."""
        return f"{self.mean_grid().latex()}\n% {BOLD}{one_line(self.legend)}"

    def __repr__(self) -> str:
        return "\n\n".join(
            part.text() if isinstance(part, Grid) else "\n".join(map(one_line, part)) for part in self._parts("")
        )

    def _repr_html_(self) -> str:
        return "\n".join(
            part.html() if isinstance(part, Grid) else f"<p>{'<br>'.join(map(html.escape, part))}</p>"
            for part in self._parts(BOLD)
        )

    def _parts(self, bold: str) -> list[Grid | Sequence[str]]:
        """What is shown, one after the other: tables, and lines of text."""
        parts: list[Grid | Sequence[str]] = [
            self.mean_grid(),
            [bold + self.legend],
            self.difference_grid(self.differences),
        ]
        if self.segments:
            parts += [
                self._segment_mean_grid(),
                self.difference_grid(self.segments, ("slice", "segment")),
                self._moving(),
            ]
        return [*parts, self.notes]

    def mean_grid(self) -> Grid:
        """Runs x metrics, with marks."""
        header = ("run", *self.metrics)
        rows = [
            (
                Cell(run, marks="" if self.baseline else self._letter(run)),
                *(self._cell(run, name) for name in self.metrics),
            )
            for run in self.runs
        ]
        return Grid(header, rows)  # to the left: marks behind them would move the digits

    def _letter(self, run: str) -> str:
        at = self.runs.index(run)
        return chr(ord("a") + at) if len(self.runs) <= 26 else f" {at + 1}"

    def _cell(self, run: str, metric: str) -> Cell:
        mean = self.means[run][metric].mean
        better = parse(metric).better
        others = [self.means[other][metric].mean for other in self.runs]
        known = [value for value in others if not math.isnan(value)]
        best = {"higher": max, "lower": min}.get(better) if known else None
        marks = ""
        for found in self._by_metric[metric]:
            if not found.real or run not in (found.run, found.against) or not found.gain:
                continue
            won = (found.gain > 0) == (run == found.run)
            other = found.against if run == found.run else found.run
            if self.baseline is None:
                marks += self._letter(other) if won else ""
            elif run != self.baseline:
                marks += "*" if won else "†"
        return Cell(cells(self.means[run][metric])[0], bold=best is not None and mean == best(known), marks=marks)

    @property
    def legend(self) -> str:
        """What the marks mean."""
        deciding = [name for name in self.tests if any(d.decided_by == name for d in self.differences)]
        by = f"{self._corrected}p < {LEVEL:g} ({' or '.join(map(self._told, deciding or self.tests[:1]))})"
        if self.baseline is None:
            return f"letters: really better than that run, {by}"
        return f"*: really better than {self.baseline}, †: really worse, {by}"

    @property
    def _corrected(self) -> str:
        return "" if self.correction == "none" else "corrected "

    def _told(self, test: str) -> str:
        """A test and its correction; Tukey's have one of their own."""
        return test if TESTS[test].joint or self.correction == "none" else f"{test}, {self.correction}"

    def difference_grid(self, differences: Sequence[Difference], ahead: tuple[str, ...] = ()) -> Grid:
        """A row per difference, with its verdict."""
        of_tests = tuple(f"{self._corrected}p {name}" for name in self.tests)
        header = (*ahead, "metric", "run", "against", "verdict", "d_z", "wins/ties/losses", "users", *of_tests)
        rows = [
            (
                *(_named(getattr(found, name)) for name in ahead),
                found.metric,
                found.run,
                found.against,
                found.verdict,
                _number(found.effect),
                "–" if found.wins is None else f"{found.wins:,}/{found.ties:,}/{found.losses:,}",
                f"{found.users:,}" if found.users or math.isnan(found.difference) else "–",  # of the whole run
                *(p_value(found.corrected[name]) for name in self.tests),
            )
            for found in differences
        ]
        return Grid(header, rows, right=("d_z", "wins/ties/losses", "users", *of_tests))

    def _segment_mean_grid(self) -> Grid:
        rows = [
            (name, _named(segment), run, *(cells(of_run[metric])[0] for metric in self.metrics))
            for (name, segment), of_segment in self.segment_means.items()
            for run, of_run in of_segment.items()
        ]
        return Grid(("slice", "segment", "run", *self.metrics), rows, right=self.metrics)

    def _moving(self) -> list[str]:
        against = [
            f"{d.slice} {_named(d.segment)}: {d.metric} of {d.run} against {d.against}, {d.verdict}"
            for d in self.movers
        ]
        return ["against the mean:", *against] if against else ["no segment moves against the mean"]

    def plot(self, kind: str = "differences") -> alt.FacetChart:
        """A chart of the "differences" or of the "means", each with its interval (Altair; ``atkay[report]``)."""
        from atkay.compare.plot import plot

        return plot(self, kind)


def p_value(p: float) -> str:
    """A p-value as it is printed."""
    if math.isnan(p):
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _named(segment: str | None) -> str:
    return "(none)" if segment is None else segment


def _frame(differences: Sequence[Difference], tests: Sequence[str], ahead: tuple[str, ...] = ()) -> pl.DataFrame:
    from atkay.forks import polars as pl

    text = (*ahead, "metric", "run", "against")
    rows = [
        (
            *(getattr(found, name) for name in (*text, *NUMBERS, *COUNTS)),
            *(found.p[name] for name in tests),
            *(found.corrected[name] for name in tests),
            found.finding,
            found.verdict,
        )
        for found in differences
    ]
    schema = {
        **dict.fromkeys(text, pl.String),
        **dict.fromkeys(NUMBERS, pl.Float64),
        **dict.fromkeys(COUNTS, pl.Int64),
        **{f"p_{name}": pl.Float64 for name in tests},
        **{f"p_{name}_corrected": pl.Float64 for name in tests},
        "finding": pl.String,
        "verdict": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)


def _record(found: Difference) -> dict[str, Any]:
    record = dataclasses.asdict(found)
    return {**plain(record), "p": plain(record["p"]), "corrected": plain(record["corrected"]), "verdict": found.verdict}


def _lines(means: Means) -> list[tuple[Any, ...]]:
    return [(run, name, *found) for run, of_run in means.items() for name, found in of_run.items()]


def _records(means: Means) -> dict[str, Any]:
    return {run: {name: plain(found._asdict()) for name, found in of_run.items()} for run, of_run in means.items()}


def _means(records: dict[str, Any]) -> Means:
    return {run: {name: _summary(found) for name, found in of_run.items()} for run, of_run in records.items()}


def _summary(record: dict[str, Any]) -> Summary:
    fields: dict[str, Any] = {**numbers(record)}
    return Summary(**fields)


def _difference(record: dict[str, Any]) -> Difference:
    fields = {name: value for name, value in record.items() if name != "verdict"}
    of_tests = {"lowest": tuple(record["lowest"]), **{name: numbers(record[name]) for name in ("p", "corrected")}}
    return Difference(**fields | numbers({name: record[name] for name in NUMBERS}) | of_tests)
