"""``atkay report``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from atkay.cli import options
from atkay.cli.output import working
from atkay.text.printable import printable


@click.command("report", cls=options.Repeatable, short_help="Write an HTML report.")
@options.runs(least=1)
@options.metrics
@options.tests
@click.option("--every-pair", is_flag=True, help="Compare every pair of runs; the page then lets choose the baseline.")
@options.page
@click.option("--title", help="Title of the report.")
@click.option("--slices", type=options.InputFile(), help="A segment for each user.")
@options.weights
@options.cluster
@options.protocol_of_runs
def command(output: Path, title: str | None, every_pair: bool, **chosen: Any) -> None:
    """Write one HTML file: verdict, segments, leaderboard, charts, users' lists, definitions.

    It works without a network. A RUN is a file of lists; several are compared with the first one. Titles, pictures and
    links of items are read from --features.

    \b
    Examples:
      $ atkay report recs.csv --truth truth.csv -m ndcg@5,map@5
      $ atkay report recs.csv other.csv --truth truth.csv -m ndcg@5,10 --slices users.csv -o two.html
    """
    import atkay
    from atkay.reporting.report import need_packages

    need_packages()
    runs = chosen["runs"]
    if len(runs) > 1:
        content: Any = options.compared(chosen, every_pair=every_pair)
    elif every_pair:
        raise click.UsageError("--every-pair needs at least two runs, got one. Add a run, or leave it out.")
    else:
        with working("Evaluating"):
            content = options.evaluated(chosen)
    lists = {name: path for name, path in runs.items() if not options.is_saved(path)}
    elsewhere = options.lists_again(chosen, lists if len(runs) > 1 else next(iter(lists.values()), None))
    features = chosen["features"] if lists else None
    atkay.report(content, output, title=title, features=features, code=options.line(), **elsewhere)
    click.echo(f"wrote {printable(str(output))}", err=True)
