"""``atkay demo``."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atkay.cli import options
from atkay.text.printable import printable

if TYPE_CHECKING:
    from atkay.cli.sample import Sample

METRICS = "ndcg@5,10,20,map@10,recall@10,hit@10,coverage@10,arp@10"
LIBRARIES = ("trec_eval", "recommenders", "lightgbm", "lenskit", "elliot")


@click.command("demo", cls=options.Repeatable, short_help="See it work on a made-up shop.")
@options.page
@click.option("--data", type=click.Path(path_type=Path), help="Also write the tables as CSV files into this folder.")
def command(output: Path, data: Path | None) -> None:
    """Evaluate, compare, explain and report, on data that are made up on the spot: nothing is needed.

    \b
    Example:
      $ atkay demo
    """
    import polars as pl

    import atkay
    from atkay.cli.sample import sample
    from atkay.errors import AtkayWarning, MissingPackageError, SpeedWarning

    warnings.simplefilter("ignore", AtkayWarning)
    warnings.simplefilter("always", SpeedWarning)
    shop = sample()
    users, items = len(shop.users), len(shop.items)
    click.echo(f"A made-up shop: {users:,} users, {items:,} items, and three recommenders. Which one is best?\n")
    if data:
        _write(shop, data)
    comparison = atkay.compare(
        shop.runs,
        shop.truth,
        METRICS,
        baseline="neighbours",
        slices=shop.users,
        train=shop.train,
        catalog=shop.items["item"],
        permutations=2000,
        min_effect={"ndcg@10": 0.01},
    )
    click.echo(comparison.mean_grid().text() + f"\n{comparison.legend}\n")
    for difference in comparison["ndcg@10"]:
        click.echo(f"  {difference.run}, ndcg@10: {difference.verdict}.")
    model, truth = shop.runs["model"], shop.truth
    click.echo("\nThe same lists, the same name, and what other libraries would print as MAP@10:\n")
    for library in LIBRARIES:
        value = atkay.evaluate(model, truth, "map@10", dialect=library)["map@10"]
        click.echo(f"  {library:13} {value:.4f}")
    printed = atkay.evaluate(model, truth, ["map@10", "ndcg@10"], dialect="replay")
    reported = {name: f"{printed[name]:.4f}" for name in ("map@10", "ndcg@10")}
    click.echo(f"\nA paper prints {', '.join(f'{name} = {value}' for name, value in reported.items())}. How?\n")
    explained = atkay.reconcile(model, truth, reported)
    click.echo(f"  {explained.explanations[0]}\n  {explained.verdict}\n")
    try:
        number = pl.col("item").str.split("-").list.last()
        titles = shop.items.select("item", title=pl.col("kind").str.to_titlecase() + " no. " + number)
        atkay.report(
            comparison,
            output,
            title="A made-up shop",
            recs={name: shop.runs[name] for name in ("neighbours", "model")},
            truth=truth,
            features=titles,
            code=options.line(),
        )
        click.echo(f"Everything on one page: {printable(str(output.resolve()))}")
    except MissingPackageError as missing:
        click.echo(f"No {printable(output.name)}: {missing}")


def _write(shop: Sample, folder: Path) -> None:
    from atkay.text.files import write_whole

    folder.mkdir(parents=True, exist_ok=True)
    tables = {"train": shop.train, "truth": shop.truth, "users": shop.users, "items": shop.items, **shop.runs}
    for name, table in tables.items():
        write_whole(folder / f"{name}.csv", table.write_csv().encode())
    click.echo(f"The tables are in {printable(str(folder))}: {', '.join(f'{name}.csv' for name in tables)}.\n")
