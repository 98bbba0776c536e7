"""``atkay gate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from atkay.cli import options
from atkay.cli.output import show, working
from atkay.text.files import write_whole
from atkay.text.printable import printable

EXIT_CODES = {"not worse": 0, "worse": 1, "cannot tell": 3}
"""2 is for what cannot be done, see :mod:`atkay.cli.app`."""

CANNOT_TELL = {"pass": 0, "fail": 1}


@click.command("gate", short_help="Check that a run is not worse than its baseline, for CI.")
@click.argument("recs", type=options.InputFile())
@click.argument("truth", type=options.InputFile(), required=False)
@click.option(
    "--baseline",
    type=options.InputFile(),
    default="baseline.json.gz",
    show_default=True,
    help="The saved result to compare with; or lists.",
)
@click.option("--update-baseline", is_flag=True, help="Evaluate and save the baseline, to be committed.")
@options.metrics
@click.option(
    "--min-effect",
    metavar="LOSS",
    callback=lambda _ctx, _param, text: text and options.of_metrics(text),
    help="The smallest loss that matters: a number, a share such as 2%, or METRIC=LOSS,...",
)
@click.option(
    "--cannot-tell", type=click.Choice(list(CANNOT_TELL)), help="Exit with 0 or 1 if the users are too few to tell."
)
@options.better
@click.option("--slices", type=options.InputFile(), help="A segment for each user; checked in the first metric.")
@options.weights
@options.cluster
@click.option(
    "--looks",
    type=click.Path(dir_okay=False),
    help="A file that is kept between looks at other users, such as daily ones.",
)
@click.option("--look", metavar="NAME", help="The name of this look. [default: the date]")
@click.option("--markdown", type=options.Output(), help="Write Markdown, for a pull request.")
@click.option("--junit", type=options.Output(), help="Write JUnit XML, for a CI system.")
@click.option("--json", type=options.Output(), help="Write JSON.")
@options.tests_of_means
@options.protocol
@options.larger
@options.form
def command(
    recs: str,
    truth: str | None,
    baseline: str,
    cannot_tell: str | None,
    markdown: Path | None,
    junit: Path | None,
    json: Path | None,
    form: str,
    **chosen: Any,
) -> None:
    """Check that a run is not worse than a committed baseline. The first metric is the main one.

    RECS is a file of lists, or a result saved with `atkay evaluate --json`, which needs no TRUTH.

    \b
    Exit status:
      0  not worse    a loss of --min-effect is excluded
      1  worse        a loss is significant, and --min-effect is not excluded
      2               the command cannot be run, or the baseline is missing or of other data
      3  cannot tell  more users are needed; see --cannot-tell

    \b
    Examples:
      $ atkay gate recs.csv truth.csv -m ndcg@5,recall@5 --update-baseline
      $ atkay gate other.csv truth.csv -m ndcg@5 --baseline recs.csv --min-effect 2% --cannot-tell pass
    """
    import atkay

    with working("Checking"):
        checked = atkay.gate(recs, baseline, truth, **options.given(chosen))
    if chosen["update_baseline"]:
        click.echo(printable(f"wrote {baseline}"), err=True)
    for path, text in ((markdown, checked.to_markdown), (junit, checked.to_junit), (json, checked.to_json)):
        if path is not None:
            write_whole(path, f"{text()}\n".encode())
    show(checked, form)
    code = CANNOT_TELL.get(cannot_tell or "") if checked.outcome == "cannot tell" else None
    click.get_current_context().exit(EXIT_CODES[checked.outcome] if code is None else code)
