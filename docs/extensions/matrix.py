"""The matrix: which metric is in which library, written from the registry and the dialects when the site is built."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable

import atkay
from atkay.dialects.dialect import Dialect
from atkay.metrics.metric import Metric


def matrix(group_of: Callable[[type[Metric]], str], groups: Iterable[str]) -> str:
    """A row for each metric, a column for each library, and the metrics of libraries that are not here."""
    known = of_libraries()
    every = sorted(atkay.list_metrics().values(), key=lambda cls: (-len(libraries(cls)), cls.name))
    head = "".join(f'<th scope="col"><span>{html.escape(name)}</span></th>' for name in known)
    body = "".join(section(group, [cls for cls in every if group_of(cls) == group], known.values()) for group in groups)
    shared = sum(len(libraries(cls)) > 0 for cls in every)
    return "\n".join(
        [
            "Which library has what",
            "======================",
            "",
            f"{len(every)} metrics, {shared} of them in at least one of {len(known)} dialects. ● says that "
            "``dialect=`` gives the library's number, ○ that the library has a metric of the same idea, which was not "
            "compared. Hover over a mark for the library's own name.",
            "",
            ".. raw:: html",
            "",
            '   <div class="matrix"><table>'
            f'<thead><tr><th scope="col">metric</th>{head}</tr></thead>{body}</table></div>',
            "",
            *elsewhere(known.values()),
        ]
    )


def of_libraries() -> dict[str, Dialect]:
    """The dialects, without those of other versions."""
    return {name: each for name, each in atkay.list_dialects().items() if not each.versions}


def libraries(cls: type[Metric]) -> list[str]:
    """The libraries that have the metric, or one of its idea."""
    return [name for name, each in of_libraries().items() if cls.name in (*each.words, *each.alike.values())]


def section(group: str, metrics: Iterable[type[Metric]], dialects: Iterable[Dialect]) -> str:
    rows = "".join(row(cls, dialects) for cls in metrics)
    return f'<tbody><tr><th colspan="99" scope="colgroup">{group}</th></tr>{rows}</tbody>'


def row(cls: type[Metric], dialects: Iterable[Dialect]) -> str:
    cells = "".join(cell(cls, each) for each in dialects)
    return f'<tr><th scope="row"><a href="{cls.name}.html">{cls.name}</a></th>{cells}</tr>'


def cell(cls: type[Metric], dialect: Dialect) -> str:
    spoken = cls.name in dialect.words
    known = dialect.names if spoken else dialect.alike
    own = [name for name, spec in known.items() if re.split(r"[(@;{]", spec)[0] == cls.name]
    if not (spoken or own):
        return "<td></td>"
    names = f"{dialect.name}: {', '.join(own) or cls.name}"
    return f'<td title="{html.escape(names)}">{"●" if spoken else "○"}</td>'


def elsewhere(dialects: Iterable[Dialect]) -> list[str]:
    """What libraries have and their dialects do not speak, each with the reason."""
    lines = [
        f"- ``{each.name}``: " + "; ".join(f"``{name}``, {why}" for name, why in each.without.items())
        for each in dialects
        if each.without
    ]
    return ["In a library and not here", "-------------------------", "", *lines, ""]
