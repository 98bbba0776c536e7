"""``atkay evaluate``."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atkay.cli import options
from atkay.cli.app import Failed, Refused
from atkay.cli.output import show, working

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atkay.results.result import Result

WRITTEN = {
    ".parquet": "write_parquet",
    ".csv": "write_csv",
    ".jsonl": "write_ndjson",
    ".ndjson": "write_ndjson",
    ".arrow": "write_ipc",
}
"""Formats of values per user, by suffix, and Polars' way to write them."""


@click.command("evaluate", short_help="Evaluate ranked lists against held-out truth.")
@options.tables
@options.metrics
@click.option("--slices", type=options.InputFile(), help="A segment for each user; adds every metric per segment.")
@options.weights
@options.cluster
@click.option(
    "--interval",
    metavar="NAME",
    help="Confidence interval: auto (default), student, logit, wilson, clopper-pearson, percentile, bca, studentised.",
)
@click.option(
    "--per-query", type=options.Output(*WRITTEN), help="Write the values per user: Parquet, CSV or JSON Lines."
)
@click.option("--json", "saved", type=options.Output(), help="Save the result, to load and compare later.")
@click.option(
    "--fail-under",
    multiple=True,
    metavar="METRIC=NUMBER",
    callback=options.pairs("METRIC=NUMBER, such as ndcg@10=0.35"),
    help="Exit with 1 if a metric is below the number (above it, if lower is better).",
)
@options.better
@options.protocol
@options.larger
@options.form
def command(
    recs: str,
    truth: str,
    metrics: str | None,
    per_query: Path | None,
    saved: Path | None,
    fail_under: dict[str, str],
    better: dict[str, str],
    interval: Any,
    form: str,
    **chosen: Any,
) -> None:
    """Evaluate ranked lists against held-out truth.

    RECS and TRUTH are files; a folder, or a pattern such as "recs/*.parquet", is one table in several files.

    \b
    Examples:
      $ atkay evaluate recs.csv truth.csv -m ndcg@5,map@5
      $ atkay evaluate recs.csv truth.csv --dialect ranx --slices users.csv --format markdown
      $ atkay evaluate recs.csv truth.csv -m ndcg@5 --json today.json --fail-under ndcg@5=0.1
      $ atkay evaluate "recs*.csv" truth.csv --memory 2GB
    """
    import atkay
    from atkay.comparison.directions import directions

    if better and not fail_under:
        raise Refused("--better is used by --fail-under; give both, or neither.")
    # What is read in parts shows how far it is by itself.
    with contextlib.nullcontext() if chosen["memory"] else working("Evaluating"):
        result = atkay.evaluate(recs, truth, **options.given({"metrics": metrics, **chosen}))
    result = result if interval is None else result.with_intervals(interval)
    failed = _under(result, fail_under, directions(result.metrics, better, result.names, "--better"))
    # Files first: they are written where nobody can be shown anything, too.
    if per_query:
        _write(result, per_query)
    if saved:
        result.save(saved)
    show(result, form)
    if failed:
        raise Failed(f"failed: {'; '.join(failed)}")


def _write(result: Result, path: Path) -> None:
    """The values of each user, in the format that the file's name says; whole or not at all."""
    import io

    from atkay.text.files import write_whole

    buffer = io.BytesIO()
    getattr(result.per_query, WRITTEN[path.suffix.lower()])(buffer)
    write_whole(path, buffer.getvalue())


def _under(result: Result, limits: dict[str, str], directions: Mapping[str, str]) -> list[str]:
    """What falls short of its limit by more than rounding; where lower is better, what exceeds it."""
    from atkay.comparison.sheet import ROUNDING_SHARE
    from atkay.metrics.spec import parse

    failed = []
    for name, text in limits.items():
        try:
            limit = float(text)
        except ValueError:
            limit = math.nan
        if math.isnan(limit):
            raise Refused(f"--fail-under: cannot read '{text}' as a number.")
        value = result[name]
        lower = directions[str(parse(result.names.get(name, name)))] == "lower"
        rounding = ROUNDING_SHARE * abs(limit)
        if not (value <= limit + rounding if lower else value >= limit - rounding):
            side, why = ("above", "; lower is better") if lower else ("below", "")
            side = "not at least" if math.isnan(value) else side
            failed.append(f"{name} = {_digits(value, limit)} is {side} {text} (--fail-under{why})")
    return failed


def _digits(value: float, other: float) -> str:
    """With four digits, or as many as tell it from another."""
    return next(text for n in (4, 8, 17) if (text := f"{value:.{n}f}") != f"{other:.{n}f}" or n == 17)
