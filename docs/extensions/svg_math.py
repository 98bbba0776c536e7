"""Formulas as SVG, drawn when the site is built: they need neither scripts nor fonts nor a network."""

from __future__ import annotations

import html
from typing import Any

import ziamath
from docutils import nodes

ziamath.config.svg2 = False
ziamath.config.math.color = "currentColor"


def image(latex: str, inline: bool) -> str:
    """The formula as an image, with its LaTeX for whoever cannot see it."""
    drawn = ziamath.Latex(latex, size=16 if inline else 18, inline=inline)
    style = f' style="vertical-align: {drawn.getyofst():.1f}px"' if inline else ""
    label = html.escape(" ".join(latex.split()))
    return str(drawn.svg()).replace("<svg ", f'<svg role="img" aria-label="{label}"{style} ', 1)


def inline(self: Any, node: Any) -> None:
    self.body.append(f'<span class="math">{image(node.astext(), inline=True)}</span>')
    raise nodes.SkipNode


def block(self: Any, node: Any) -> None:
    self.body.append(f'<div class="math">{image(node.astext(), inline=False)}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("svg", (inline, None), (block, None))
    app.config.html_math_renderer = "svg"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
