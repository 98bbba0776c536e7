"""``atkay metrics``."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import click

from atkay.cli import options
from atkay.cli.output import show

if TYPE_CHECKING:
    from atkay.metrics.metric import Metric


@click.command("metrics", short_help="List metrics; show one with its formula and options.")
@click.argument("name", required=False)
@options.form
def command(name: str | None, form: str) -> None:
    """List all metrics, or show one: its formula, its options, and which library uses which.

    \b
    Examples:
      $ atkay metrics
      $ atkay metrics ndcg
    """
    import atkay
    from atkay.metrics.metric import conventions
    from atkay.metrics.spec import parse
    from atkay.text.grid import Listing
    from atkay.text.rst import plain_text
    from atkay.words import words_of

    if name is not None:
        cls = type(parse(name))
        words = [(each.name, *word) for each in conventions(cls) for word in words_of(each).items()]
        click.echo(_page(cls)) if form == "table" else show(Listing(("field", "word", "meaning"), words), form)
        return
    rows = [
        (
            name,
            ", ".join(cls.aliases),
            "; ".join(f"{each.name}={'|'.join(words_of(each))}" for each in conventions(cls) if words_of(each)),
            plain_text((inspect.getdoc(cls) or "").split("\n")[0]),
        )
        for name, cls in atkay.list_metrics().items()
    ]
    if form != "table":
        show(Listing(("metric", "also", "words", "description"), rows), form)
    else:
        show(Listing(("metric", "description"), [(row[0], row[3]) for row in rows]), form)
        click.echo("\n`atkay metrics NAME` shows its formula, its options, and which library uses which.")


def _page(cls: type[Metric]) -> str:
    """The page of a metric: docstring and libraries."""
    import atkay
    from atkay.text.grid import Grid
    from atkay.text.rst import plain_text

    called = f"{cls.name}, also called {', '.join(cls.aliases)}" if cls.aliases else cls.name
    parts = [f"{called}\n{'─' * len(called)}", plain_text(inspect.getdoc(cls) or "")]
    rows = [
        (name, _said(each.words[cls.name])) for name, each in atkay.list_dialects().items() if cls.name in each.words
    ]
    if rows:
        parts.append(f"Libraries\n{'─' * 9}\n{Grid(('dialect', 'options'), rows).text()}")
    return "\n\n".join(parts)


def _said(words: Any) -> str:
    return ", ".join(f"{name}={word}" for name, word in words.items()) or "default"
