"""``atkay dialects``."""

from __future__ import annotations

import click

from atkay.cli import options
from atkay.cli.output import show


@click.command("dialects", short_help="List the libraries whose numbers atkay reproduces.")
@options.form
def command(form: str) -> None:
    """List the libraries whose numbers `--dialect` gives, and the versions that are followed.

    \b
    Example:
      $ atkay dialects
    """
    import atkay

    show(atkay.list_dialects(), form)
