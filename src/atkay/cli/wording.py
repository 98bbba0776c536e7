"""Messages that name Python's arguments, in the words of the shell."""

from __future__ import annotations

import dataclasses
import re
import shlex

from atkay.protocol import Protocol

PYTHON = {
    r"atkay\.list_(metrics|dialects)\(\)": r"`atkay \1`",
    r"result\.save\(path\)": "atkay evaluate --json FILE",
    r", for instance with frame\.with_columns\(.*?\)\)": "",
    r"pass truth as well": "pass --truth FILE",
    r"'[^']*/standard input'": "standard input",
}
"""What is said otherwise in a shell."""

_LARGER = ("memory", "spill")
_TABLES = ("train", "catalog", "features", "reference", "exclude", "candidates", "slices")


def in_options(message: str) -> str:
    """The same advice with options in place of arguments.

    >>> in_options("Pass columns=Columns(user='uid'). Or choose ties='expected'.")
    'Pass --column user=uid. Or choose --ties expected.'
    """
    for python, shell in PYTHON.items():
        message = re.sub(python, shell, message)
    fields = "|".join([*(each.name for each in dataclasses.fields(Protocol)), *_LARGER])
    message = re.sub(r"columns=Columns\((\w+)='?([^')]+)'?\)", _column, message)
    message = re.sub(r"Columns\((\w+)='?([^')]+)'?\)", _column, message)
    message = re.sub(rf"\b({'|'.join((*_TABLES, *_LARGER))})=(?=[ .:;,)]|$)", r"--\1", message)
    return re.sub(rf"\b({fields})='?(\w[\w.]*)'?", lambda found: f"{option(found[1])} {found[2]}", message)


def option(name: str) -> str:
    """The option of an argument."""
    return "--" + name.replace("_", "-")


def _column(found: re.Match[str]) -> str:
    name = "NAME" if found[2] == "..." else found[2]
    return f"--column {shlex.quote(f'{found[1]}={name}')}"
