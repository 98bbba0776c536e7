"""``atkay conform``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from atkay.cli import options
from atkay.cli.output import show, working


@click.command("conform", short_help="Find the convention that a program follows.")
@click.argument("program")
@click.option(
    "-m", "--metrics", multiple=True, required=True, metavar="METRIC", help="A metric with its cutoff: ndcg@5."
)
@click.option("--as", "dialect", metavar="NAME", help="The library whose numbers it should give; see `atkay dialects`.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=300.0, help="Seconds for a round of cases.")
@click.option("--out", type=options.Output(".json"), help="Also write everything as JSON.")
@options.form
def command(program: str, out: Path | None, form: str, **chosen: Any) -> None:
    """Find the convention that PROGRAM follows, in any language, and where it is wrong.

    PROGRAM is a command that reads a case per line, as JSON, and prints a number per line. The exit code is 1 if it
    does not conform.

    \b
    Example:
      $ atkay conform "python mine.py" -m ndcg@5
    """
    import atkay

    with working("Asking the program"):
        conformance = atkay.conform(program, **chosen)
    if out is not None:
        conformance.save(out)
    show(conformance, form)
    if not conformance:
        raise click.exceptions.Exit(1)
