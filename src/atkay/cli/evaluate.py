"""``atkay evaluate``."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atkay.cli import options
from atkay.cli.app import Failed, Refused
from atkay.cli.output import show, working

if TYPE_CHECKING:
    from atkay.result import Result

WRITTEN = {
    ".parquet": "write_parquet",
    ".csv": "write_csv",
    ".jsonl": "write_ndjson",
    ".ndjson": "write_ndjson",
    ".arrow": "write_ipc",
}
"""Formats of values per user, by suffix, and Polars' way to write them."""


@click.command("evaluate", short_help="Ranked lists against held-out truth.")
@options.tables
@options.metrics
@click.option("--slices", type=options.Table(), help="A segment for each user: every metric per segment, too.")
@click.option("--per-query", type=options.Output(*WRITTEN), help="Write a row per user: Parquet, CSV or JSON Lines.")
@click.option("--json", "saved", type=options.Output(), help="Save the whole result, to load and compare.")
@click.option(
    "--fail-under",
    multiple=True,
    metavar="METRIC=NUMBER",
    callback=options.pairs("METRIC=NUMBER, such as ndcg@10=0.35"),
    help="Exit with 1 where a metric is worse than the number.",
)
@click.option(
    "--fail-if-worse-than",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Exit with 1 where a metric is worse than in a result that was saved with --json.",
)
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
    fail_if_worse_than: Path | None,
    form: str,
    **chosen: Any,
) -> None:
    """Hold ranked lists against held-out truth.

    RECS and TRUTH are files; a folder, or a pattern such as "recs/*.parquet", is one table in several files.

    \b
    Examples:
      $ atkay evaluate recs.csv truth.csv -m ndcg@5,map@5
      $ atkay evaluate recs.csv truth.csv --dialect ranx --slices users.csv --format markdown
      $ atkay evaluate recs.csv truth.csv -m ndcg@5 --json today.json --fail-under ndcg@5=0.1
      $ atkay evaluate "recs*.csv" truth.csv --memory 2GB --resume
    """
    import atkay

    # What is read in parts shows how far it is by itself.
    with contextlib.nullcontext() if chosen["memory"] else working("Evaluating"):
        result = atkay.evaluate(recs, truth, **options.given({"metrics": metrics, **chosen}))
    failed = [*_under(result, fail_under), *(_worse(result, fail_if_worse_than) if fail_if_worse_than else ())]
    show(result, form)
    if per_query:
        _write(result, per_query)
    if saved:
        result.save(saved)
    if failed:
        raise Failed("; ".join(failed))


def _write(result: Result, path: Path) -> None:
    """The values of each user, in the format that the file's name says; whole or not at all."""
    import io

    from atkay.output import write_whole

    buffer = io.BytesIO()
    getattr(result.per_query, WRITTEN[path.suffix.lower()])(buffer)
    write_whole(path, buffer.getvalue())


def _under(result: Result, limits: dict[str, str]) -> list[str]:
    """What falls short of its limit; for a metric of which less is better, what exceeds it."""
    from atkay.metrics.base import parse

    said = []
    for name, text in limits.items():
        try:
            limit = float(text)
        except ValueError as error:
            raise Refused(f"--fail-under: '{text}' is no number.") from error
        value = result[name]
        if _is_worse(parse(result.names.get(name, name)).better, value, limit):
            said.append(f"{name} is {value:.4f}, the limit is {text}")
    return said


def _worse(result: Result, path: Path) -> list[str]:
    """What is worse than in a saved result that was computed in the same way."""
    from atkay.compare.sheet import check_data, check_protocols
    from atkay.result import Result

    before = Result.load(path)
    both = {path.name: before, "this one": result}
    check_protocols(both)
    check_data(both)
    shared = [metric for each in result.metrics for metric in each.split() if str(metric) in before]
    if not shared:
        raise Refused(f"--fail-if-worse-than: '{path}' has none of these metrics; it has {', '.join(before)}.")
    return [
        f"{metric} is {result[metric]:.4f}, in '{path.name}' it is {before[metric]:.4f}"
        for metric in shared
        if _is_worse(metric.better, result[metric], before[metric])
    ]


def _is_worse(better: str, value: float, limit: float) -> bool:
    """Whether a value falls short; one that is no number does."""
    return not (value <= limit if better == "lower" else value >= limit)
