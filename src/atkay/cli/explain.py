"""``atkay explain``."""

from __future__ import annotations

from typing import Any

import click

from atkay.cli import options
from atkay.cli.output import show, working


@click.command("explain", short_help="Explain why two numbers differ, step by step.")
@options.tables
@click.argument("metric")
@click.option("--theirs", required=True, metavar="NAME", help="A dialect or another spec.")
@click.option(
    "--their",
    multiple=True,
    metavar="FIELD=WORD",
    callback=options.pairs("FIELD=WORD, such as no_recs=skip"),
    help="A field of their protocol that differs.",
)
@options.protocol
@options.form
def command(recs: str, truth: str, metric: str, theirs: str, their: dict[str, str], form: str, **chosen: Any) -> None:
    """Explain why our number and theirs differ, one convention at a time.

    Each step says what changes, by how much and for how many users, and shows the user who changes most.

    \b
    Example:
      $ atkay explain recs.csv truth.csv map@5 --theirs replay
    """
    import atkay

    with working("Explaining"):
        explained = atkay.explain(
            recs, truth, metric, theirs=theirs, their_protocol=their or None, **options.given(chosen)
        )
    show(explained, form)
