"""Docstrings as plain text, for a terminal."""

from __future__ import annotations

import re

_ROLE = re.compile(r":(?:[a-z]+:)+`~?(?:([^`<]+?) <[^`>]*>|([^`]+))`")
_LITERAL = re.compile(r"``(.+?)``", re.DOTALL)
_UNDERLINE = re.compile(r"^([ \t]*)([-=~^])\2{2,}$", re.MULTILINE)


def plain_text(docstring: str) -> str:
    r"""A docstring without the markup of reStructuredText.

    >>> plain_text("``DCG / IDCG``, with DCG as in :class:`DCG`; see :func:`the call <atkay.evaluate>`.")
    'DCG / IDCG, with DCG as in DCG; see the call.'
    >>> plain_text("Title\n-----")
    'Title\n─────'
    """
    text = _ROLE.sub(lambda match: match[1] or match[2], docstring)
    text = _LITERAL.sub(r"\1", text)
    return _UNDERLINE.sub(lambda match: match[1] + "─" * (len(match[0]) - len(match[1])), text)
