"""The command ``atkay``: which commands there are, and what becomes of errors and warnings."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import click

from atkay import __version__
from atkay.errors import AtkayError, AtkayWarning
from atkay.text.phrases import shell_syntax
from atkay.text.printable import printable

COMMANDS = (
    "evaluate",
    "compare",
    "diff",
    "gate",
    "variants",
    "reconcile",
    "explain",
    "check",
    "verify",
    "conform",
    "report",
    "metrics",
    "dialects",
    "demo",
    "completion",
)


def safe(message: str) -> str:
    """A message as a terminal takes it: what it quotes steers nothing, and none of its lines passes for another one."""
    return printable(message, keep="\n").replace("\n", "\n  ")


class Refused(click.ClickException):
    """What cannot be done, in one sentence and without a traceback."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        """On standard error, so that a pipe gets tables or nothing."""
        click.echo(safe(f"atkay: {self.message}"), err=True)


class Failed(Refused):
    """A number that a pipeline does not accept."""

    exit_code = 1


class Commands(click.Group):
    """Commands, loaded on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, in the order in which one needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"atkay.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant; a name that is nearly right is offered."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from atkay.errors import offer

            raise click.UsageError(f"unknown command '{args[0]}'. {offer(args[0], COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; whatever atkay refuses, and whatever a disk refuses, is a sentence."""
        shown: set[str] = set()

        def warn(message: Warning | str, *_: Any, **__: Any) -> None:
            if str(message) not in shown:  # every run of a comparison may have the same to say
                click.echo(safe(f"atkay: warning: {message}"), err=True)
            shown.add(str(message))

        with warnings.catch_warnings(), shell_syntax():
            warnings.simplefilter("always", AtkayWarning)
            warnings.showwarning = warn
            try:
                return super().invoke(ctx)
            except AtkayError as error:
                raise Refused(str(error)) from error
            except click.UsageError as error:
                error.message = safe(error.message)  # type: ignore[misc]  # it quotes what was given
                raise
            except KeyboardInterrupt:
                click.echo("atkay: interrupted", err=True)
                ctx.exit(130)
            except BrokenPipeError:
                raise  # whoever read has had enough: click ends quietly
            except OSError as error:
                raise Refused(_of_disk(error)) from error


def _of_disk(error: OSError) -> str:
    """What the disk refuses, without its number."""
    if error.strerror is None:
        return str(error)
    where = error.filename2 or error.filename
    return f"{error.strerror}: '{where}'" if where else error.strerror


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="atkay")
def app() -> None:
    """Evaluate recommenders and rankers.

    RECS and TRUTH are files: CSV, TSV, Parquet, Arrow, JSON Lines, TREC run and qrels; "-" is standard input.
    """


def main() -> None:
    """The entry point."""
    app(prog_name="atkay")
