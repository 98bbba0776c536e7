"""Printable: names and messages hold what others wrote, and none of it may steer a terminal or hide."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ORDINARY = "\u200c\u200d\u3000"
"""What Python does not call printable and names need: the joiners of Persian and of emoji, the space of Japanese."""

_ESCAPE = re.compile(r"\\(?=x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")


def escape(char: str) -> str:
    r"""A character as Python writes it in a string: \x1b, \u202e."""
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printable(text: str, keep: str = "", escape: Callable[[str], str] = escape) -> str:
    r"""The text with an escape for each character that steers (controls, line breaks, bidirectional marks) or hides.

    >>> from atkay.text.printable import printable
    >>> print(printable("\x1b[31mred"))
    \x1b[31mred
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep or char in ORDINARY else escape(char) for char in text)


def one_line(text: str) -> str:
    r"""The same for a name: what differs still differs, also from a name that has the escape itself in it.

    >>> from atkay.text.printable import one_line
    >>> print(one_line("a\nb"), one_line("a\\x0ab"), one_line("C:\\new"))
    a\x0ab a\x5cx0ab C:\new
    """
    return printable(_ESCAPE.sub(r"\\x5c", text))
