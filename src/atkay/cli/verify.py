"""``atkay verify``."""

from __future__ import annotations

from typing import Any

import click

from atkay.cli import options
from atkay.cli.output import show, working
from atkay.tables import SIDE, TABLES

NAMES = ("recs", "truth", *SIDE, "exclude", "candidates", "slices", "weights")
"""The tables that may have moved."""


def _moved(command: Any) -> Any:
    for name in reversed(dict.fromkeys(NAMES)):
        command = click.option(f"--{name}", type=options.InputFile(), help=f"{TABLES[name].help} [default: as saved]")(
            command
        )
    return command


@click.command("verify", short_help="Recompute a saved result, or say what changed.")
@click.argument("result", type=click.Path(exists=True, dir_okay=False))
@_moved
@click.option("--column", "columns", type=options.Column(), multiple=True, help=options.COLUMN)
@options.form
def command(result: str, form: str, **chosen: Any) -> None:
    """Recompute RESULT, a saved one, from the files that it names, or say what changed.

    Every number and every fingerprint is compared. The exit code is 1 if one is not the same.

    \b
    Example:
      $ atkay verify saved.json
    """
    import atkay

    with working("Evaluating again"):
        verified = atkay.verify(result, **options.given(chosen))
    show(verified, form)
    if not verified:
        raise click.exceptions.Exit(1)
