"""``atkay dialects``."""

from __future__ import annotations

import click

from atkay.cli import options
from atkay.cli.output import show


@click.command("dialects", short_help="List the libraries whose numbers atkay reproduces.")
@options.form
def command(form: str) -> None:
    """List the libraries that `--dialect` reproduces, and their versions.

    \b
    Example:
      $ atkay dialects
    """
    import atkay

    show(atkay.list_dialects(), form)
