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
    from collections.abc import Collection, Iterable, Mapping

    from atkay.metrics.metric import Metric
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
@click.option(
    "--fail-if-worse-than",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Exit with 1 if a metric is worse than in a result saved with --json.",
)
@click.option(
    "--better",
    multiple=True,
    metavar="METRIC=WORD",
    callback=options.pairs("METRIC=higher or METRIC=lower, such as arp@10=lower"),
    help="Whether higher or lower is better, for metrics without a direction; used by the two options above.",
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
    better: dict[str, str],
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
    from atkay.evaluation.request import USUAL
    from atkay.metrics.spec import parse_all, separate
    from atkay.results.result import Result

    if better and not (fail_under or fail_if_worse_than):
        raise Refused("--better is used by --fail-under and --fail-if-worse-than; give one of them.")
    before = Result.load(fail_if_worse_than) if fail_if_worse_than else None
    if not chosen["dialect"]:  # whose names are known when lists are evaluated
        _check_baseline(
            _directions(parse_all(separate(metrics or USUAL)), {}, better, before or ()), before, fail_if_worse_than
        )
    # What is read in parts shows how far it is by itself.
    with contextlib.nullcontext() if chosen["memory"] else working("Evaluating"):
        result = atkay.evaluate(recs, truth, **options.given({"metrics": metrics, **chosen}))
    directions = _directions(result.metrics, result.names, better, before or ())
    _check_baseline(directions, before, fail_if_worse_than)
    failed = _under(result, fail_under, directions)
    if before is not None and fail_if_worse_than is not None:
        failed += _worse(result, before, fail_if_worse_than, directions)
    # Files first: they are written where nobody can be shown anything, too.
    if per_query:
        _write(result, per_query)
    if saved and failed and fail_if_worse_than and options.is_same(saved, fail_if_worse_than):
        failed.append(f"'{saved}' was not changed")  # the same command again must fail again
    elif saved:
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


def _directions(
    metrics: Iterable[Metric], names: Mapping[str, str], better: dict[str, str], before: Collection[str]
) -> dict[str, str]:
    """Which values of each number are better; whoever compares one with an earlier one has to know."""
    from atkay.errors import offer
    from atkay.metrics.spec import parse

    single = {str(one): one.better for metric in metrics for one in metric.split()}
    directions = dict(single)
    for name, word in better.items():
        if word not in ("higher", "lower"):
            raise Refused(f"--better {name}={word}: must be higher or lower.")
        for one in map(str, parse(names.get(name, name)).split()):
            if one not in single:
                raise Refused(f"--better: metric '{name}' is not evaluated. {offer(one, single)}")
            if single[one] not in ("neither", word):
                raise Refused(f"--better {name}={word}: for {one}, {single[one]} is better; leave it out.")
            directions[one] = word
    if unclear := [name for name, word in directions.items() if word == "neither" and name in before]:
        one, *others = unclear
        advice = f"{'For each, pass' if others else 'Pass'} --better {'METRIC' if others else one}=higher or "
        advice += f"{'METRIC' if others else one}=lower"
        raise Refused(
            f"--fail-if-worse-than: {' and '.join(unclear)} {'have' if len(unclear) > 1 else 'has'} no direction. "
            f"{advice}, or leave the metric out."
        )
    return directions


def _check_baseline(names: Iterable[str], before: Collection[str] | None, path: Path | None) -> None:
    """A gate on a metric that the baseline lacks would let everything through."""
    if before is not None and (missing := [name for name in names if name not in before]):
        raise Refused(
            f"--fail-if-worse-than: '{path}' has no {' and no '.join(missing)}; it has {', '.join(before)}. Save it "
            "again with the same -m."
        )


def _under(result: Result, limits: dict[str, str], directions: Mapping[str, str]) -> list[str]:
    """What falls short of its limit; for a metric of which less is better, what exceeds it."""
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
        direction = directions[str(parse(result.names.get(name, name)))]
        if _is_worse(direction, value, limit):
            side, why = ("above", "; lower is better") if direction == "lower" else ("below", "")
            side = "not at least" if math.isnan(value) else side
            failed.append(f"{name} = {_digits(value, limit)} is {side} {text} (--fail-under{why})")
    return failed


def _worse(result: Result, before: Result, path: Path, directions: Mapping[str, str]) -> list[str]:
    """What is worse than in a saved result that was computed in the same way."""
    from atkay.comparison.sheet import check_data, check_protocols, check_weights

    both = {path.name: before, "this run": result}
    check_protocols(both, "--fail-if-worse-than")
    check_data(both, "--fail-if-worse-than")
    check_weights(both, "--fail-if-worse-than")
    return [
        f"{name} = {_digits(result[name], before[name])}, worse than {_digits(before[name], result[name])} in "
        f"'{path.name}'" + (" (lower is better)" if directions[name] == "lower" else "")
        for name in directions
        if _is_worse(directions[name], result[name], before[name])
    ]


def _is_worse(better: str, value: float, limit: float) -> bool:
    """Whether a value is worse than the limit by more than rounding; NaN is, unless the limit is NaN too."""
    from atkay.comparison.sheet import ROUNDING_SHARE

    if math.isnan(limit):
        return False
    rounding = ROUNDING_SHARE * abs(limit)
    return not (value <= limit + rounding if better == "lower" else value >= limit - rounding)


def _digits(value: float, other: float) -> str:
    """With four digits, or as many as tell it from another."""
    return next(text for n in (4, 8, 17) if (text := f"{value:.{n}f}") != f"{other:.{n}f}" or n == 17)
