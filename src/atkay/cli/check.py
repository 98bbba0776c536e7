"""``atkay check``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from atkay.cli import options
from atkay.cli.output import show


def _users(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> int | dict[str, int] | None:
    """One number, or one for each data set."""
    if not values:
        return None
    pairs = {name: count for name, _, count in (value.rpartition("=") for value in values)}
    try:
        users = {name: int(count.replace(",", "")) for name, count in pairs.items()}
    except ValueError:
        raise click.BadParameter("write a number, such as 943, or DATASET=NUMBER.", context, parameter) from None
    return users[""] if set(users) == {""} else users


@click.command("check", short_help="Find numbers in a published table that cannot be.")
@click.argument("table", type=click.Path(dir_okay=False, allow_dash=False))
@click.option("--users", multiple=True, metavar="[DATASET=]N", callback=_users, help="Users that each mean is of.")
@click.option("--relevant", type=click.Choice(["one", "many"]), default="many", help="Relevant items of each user.")
@click.option("--k", type=click.IntRange(1), help="The cutoff of columns that name none.")
@click.option("--items", type=click.IntRange(1), help="Items in the catalogue, for coverage.")
@click.option("--averaged", type=click.IntRange(1), default=1, help="Runs that each number is the mean of.")
@click.option("--dialect", metavar="NAME", help="The library that printed the numbers; see `atkay dialects`.")
@click.option("--out", type=options.Output(".html", ".json"), help="Also write a page with coloured cells, or JSON.")
@options.form
def command(table: str, out: Path | None, form: str, **chosen: Any) -> None:
    """Find numbers in TABLE that no data could give, each with its proof.

    TABLE is a CSV, Markdown or LaTeX file with a row for each system. The exit code is 1 if a number is flagged.

    \b
    Example:
      $ atkay check published.md --users 943 --k 10
    """
    import atkay

    checked = atkay.check(table, **chosen)
    if out is not None:
        checked.save(out)
    show(checked, form)
    if not checked:
        raise click.exceptions.Exit(1)
