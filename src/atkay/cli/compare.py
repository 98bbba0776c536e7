"""``atkay compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from atkay.cli import options
from atkay.cli.output import show

DATA_SETS = "Each RUN is a folder, a data set with a file per run and its truth: truth.csv, or as --truth says."


@click.command("compare", short_help="Compare runs: which differences are significant?")
@options.runs(least=2)
@options.metrics
@options.tests
@click.option("--every-pair", is_flag=True, help="Compare every pair of runs instead of each with a baseline.")
@click.option("--data-sets", is_flag=True, help=DATA_SETS)
@click.option("--slices", type=options.InputFile(), help="A segment for each user; adds differences per segment.")
@options.weights
@options.cluster
@click.option("--json", "saved", type=options.Output(), help="Save the whole comparison.")
@options.protocol_of_runs
@options.larger
@options.form
def command(saved: Path | None, form: str, every_pair: bool, data_sets: bool, **chosen: Any) -> None:
    """Compare runs with the first one, or with --baseline, user by user: which differences are significant?

    A RUN is a file of lists, or a result that was saved with `atkay evaluate --json`. It is called as its file is, or
    otherwise: NAME=FILE.

    \b
    Examples:
      $ atkay compare recs.csv new=other.csv --truth truth.csv -m ndcg@5,map@5
      $ atkay compare recs.csv new=other.csv --truth truth.csv -m ndcg@5 --baseline new
      $ atkay compare recs.csv other.csv --truth truth.csv -m ndcg@5 --slices users.csv --min-effect 0.01
      $ atkay compare --data-sets shops/books shops/games -m ndcg@5
    """
    if data_sets:
        comparison = options.compared_on_data_sets(chosen, every_pair=every_pair)
    else:
        comparison = options.compared(chosen, every_pair=every_pair)
    if saved:
        comparison.save(saved)
    show(comparison, form)
