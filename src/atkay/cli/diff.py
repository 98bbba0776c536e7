"""``atkay diff``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from atkay.cli import options
from atkay.cli.output import show, working


@click.command("diff", short_help="Show what changed between two runs.")
@click.argument("run_a", type=options.InputFile())
@click.argument("run_b", type=options.InputFile())
@click.argument("truth", type=options.InputFile(), required=False)
@click.option("-k", "cutoff", metavar="K", default="10", show_default=True, help="Compare the top k; all: whole lists.")
@click.option("-m", "--metric", metavar="SPEC", help="The metric of gains and losses. [default: ndcg@k]")
@click.option("-p", type=float, default=0.9, show_default=True, help="Persistence of rank-biased overlap.")
@click.option("--query", metavar="ID", help="Show the lists of one user side by side; key columns with commas between.")
@click.option("--top", type=int, default=10, show_default=True, help="How many users and items to show.")
@click.option("--json", "saved", type=options.Output(), help="Save the summary and the top users and items.")
@options.protocol
@options.form
def command(
    run_a: str,
    run_b: str,
    truth: str | None,
    cutoff: str,
    query: str | None,
    saved: Path | None,
    form: str,
    **chosen: Any,
) -> None:
    """Show what changed from RUN_A to RUN_B: whose lists, which items; with TRUTH also who gained and lost, and why.

    \b
    Examples:
      $ atkay diff recs.csv other.csv -k 5
      $ atkay diff recs.csv other.csv truth.csv -k 5 --top 3
      $ atkay diff recs.csv other.csv truth.csv -k 5 --query Ada
    """
    import atkay
    from atkay.text.files import write_whole

    k: Any = None if cutoff == "all" else int(cutoff) if cutoff.isdecimal() else cutoff
    names = options.name_of(run_a), options.name_of(run_b)
    names = names if names[0] != names[1] else ("a", "b")
    with working("Comparing"):
        diff = atkay.diff(run_a, run_b, truth, k=k, names=names, **options.given(chosen))
    if saved:
        write_whole(saved, diff.to_json().encode())
    show(diff if query is None else diff.query(*query.split(",")), form)
