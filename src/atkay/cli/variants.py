"""``atkay variants``."""

from __future__ import annotations

from typing import Any

import click

from atkay.cli import options
from atkay.cli.output import show, working


@click.command("variants", short_help="Compute a metric under all its conventions.")
@options.tables
@click.argument("metric")
@options.protocol
@options.form
def command(recs: str, truth: str, metric: str, form: str, **chosen: Any) -> None:
    """Compute METRIC under all its conventions, and name the libraries that use each.

    \b
    Example:
      $ atkay variants recs.csv truth.csv map@5
    """
    import atkay

    with working("Trying all conventions"):
        variants = atkay.variants(recs, truth, metric, **options.given(chosen))
    show(variants, form)
