"""Phrases: the arguments that a message names, as Python or as the shell writes them."""

from __future__ import annotations

import re
import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

STANDARD_INPUT = "standard input"
"""The name of the file in which the shell keeps what it reads from there."""

_in_shell = False


@contextmanager
def shell_syntax() -> Iterator[None]:
    """Within this, messages name options in place of arguments."""
    global _in_shell  # a process is a shell command or it is not, in all of its threads
    before, _in_shell = _in_shell, True
    try:
        yield
    finally:
        _in_shell = before


def either(python: str, shell: str) -> str:
    """Advice that differs between Python and the shell."""
    return shell if _in_shell else python


def in_library(label: str, **examples: str) -> str:
    """The example for what a table is called, such as "a pandas frame"; none in the shell, or of another kind of table.

    >>> in_library("a pandas frame", pandas=".astype(str)", Polars=".cast(pl.String)")
    '.astype(str)'
    >>> in_library("lists", pandas=".astype(str)", Polars=".cast(pl.String)")
    ''
    """
    names = {f"a {library}{kind}": code for library, code in examples.items() for kind in (" frame", "")}
    return either(names.get(label, ""), "")


def option(name: str) -> str:
    """The shell's option for an argument."""
    return "--" + name.replace("_", "-")


def argument(name: str, value: object = None) -> str:
    """An argument, or one with its value.

    >>> argument("train"), argument("ties", "expected")
    ('train=', "ties='expected'")
    >>> with shell_syntax():
    ...     argument("train"), argument("ties", "expected")
    ('--train', '--ties expected')
    """
    if value is None:
        return either(f"{name}=", option(name))
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return either(f"{name}={value!r}" if isinstance(value, str) else f"{name}={text}", f"{option(name)} {text}")


def columns_argument(table: str = "", /, **roles: Any) -> str:
    """The argument that names columns; ``...`` stands for a name that only the user knows, ``(...,)`` for several.

    With a ``table`` the names are those of its columns alone.

    >>> columns_argument(user="uid"), columns_argument(score=...)
    ("columns=Columns(user='uid')", 'columns=Columns(score=...)')
    >>> with shell_syntax():
    ...     columns_argument(user="uid"), columns_argument(score=...)
    ('--column user=uid', '--column score=NAME')
    >>> columns_argument("recs", user="uid")
    "columns={'recs': Columns(user='uid')}"
    >>> with shell_syntax():
    ...     columns_argument("recs", user="uid")
    '--column recs.user=uid'
    """
    of = f"{table}." if table else ""
    python = ", ".join(f"{role}={_python_name(name)}" for role, name in roles.items())
    shell = (f"--column {shlex.quote(f'{of}{role}={_shell_name(name)}')}" for role, name in roles.items())
    return either(
        f"columns={{{table!r}: Columns({python})}}" if table else f"columns=Columns({python})", " ".join(shell)
    )


def between_commas(text: str) -> list[str]:
    """The parts of a text; the commas of a table in braces are its own.

    >>> between_commas("gain={1:1,2:3}, ideal=full")
    ['gain={1:1,2:3}', 'ideal=full']
    """
    return [part.strip() for part in re.split(r",(?![^{}]*})", text)]


def _python_name(name: Any) -> str:
    return "..." if name is ... else "(...)" if name == (...,) else repr(name)


def _shell_name(name: Any) -> str:
    return (
        "NAME,NAME" if name == (...,) else "NAME" if name is ... else name if isinstance(name, str) else ",".join(name)
    )
