"""``atkay reconcile``."""

from __future__ import annotations

from typing import Any

import click

from atkay.cli import options
from atkay.cli.output import show, working


@click.command("reconcile", short_help="Find the conventions behind reported numbers.")
@options.tables
@click.argument(
    "reported",
    nargs=-1,
    required=True,
    metavar="METRIC=NUMBER...",
    callback=options.pairs("METRIC=NUMBER, such as map@10=0.2447"),
)
@options.protocol
@options.form
def command(recs: str, truth: str, reported: dict[str, str], form: str, **chosen: Any) -> None:
    """Find which conventions, and which libraries, give reported numbers.

    Give the numbers with all digits that were printed: they set the tolerance.

    \b
    Example:
      $ atkay reconcile recs.csv truth.csv map@5=0.4507 ndcg@5=0.5384
    """
    import atkay

    with working("Searching conventions"):
        reconciled = atkay.reconcile(recs, truth, reported, **options.given(chosen))
    show(reconciled, form)
    if not reconciled and form in ("json", "csv"):
        click.echo(f"atkay: {reconciled.verdict}", err=True)
