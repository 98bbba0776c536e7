"""``atkay completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion", short_help="Print a completion script for your shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands, options and values in your shell.

    \b
    Example:
      $ atkay completion bash
    Put `eval "$(atkay completion bash)"` into ~/.bashrc, or the same for zsh; for fish,
      atkay completion fish > ~/.config/fish/completions/atkay.fish
    """
    completion = get_completion_class(shell)
    assert completion is not None  # a choice of those that click has
    click.echo(completion(ctx.find_root().command, {}, "atkay", "_ATKAY_COMPLETE").source())
