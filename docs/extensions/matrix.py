"""The matrix: which metric is in which library, written from the registry and the dialects when the site is built."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable

import atkay
from atkay.dialects.dialect import Dialect
from atkay.metrics.metric import Metric


def matrix(group_of: Callable[[type[Metric]], str]) -> str:
    """A row for each metric, a column for each library, and the metrics of libraries that are not here."""
    known = atkay.list_dialects()
    every = sorted(atkay.list_metrics().values(), key=lambda cls: (-len(libraries(cls)), cls.name))
    head = "".join(f'<th scope="col"><span>{html.escape(name)}</span></th>' for name in known)
    groups = dict.fromkeys(map(group_of, every))
    body = "".join(section(group, [cls for cls in every if group_of(cls) == group], known.values()) for group in groups)
    shared = sum(len(libraries(cls)) > 0 for cls in every)
    return "\n".join(
        [
            "Which library has what",
            "======================",
            "",
            f"{len(every)} metrics, {shared} of them in at least one of {len(known)} libraries. A mark says that "
            "``dialect=`` gives the library's number; hover over it for the library's own names. A library may "
            "compute more than its dialect speaks: what is known of that stands below the table.",
            "",
            ".. raw:: html",
            "",
            f'   <div class="matrix"><table><thead><tr><th scope="col">metric</th>{head}</tr></thead>{body}</table></div>',
            "",
            *elsewhere(known.values()),
        ]
    )


def libraries(cls: type[Metric]) -> list[str]:
    """The dialects that have the metric."""
    return [name for name, each in atkay.list_dialects().items() if cls.name in each.words]


def section(group: str, metrics: Iterable[type[Metric]], dialects: Iterable[Dialect]) -> str:
    rows = "".join(row(cls, dialects) for cls in metrics)
    return f'<tbody><tr><th colspan="99" scope="colgroup">{group}</th></tr>{rows}</tbody>'


def row(cls: type[Metric], dialects: Iterable[Dialect]) -> str:
    cells = "".join(cell(cls, each) for each in dialects)
    return f'<tr><th scope="row"><a href="{cls.name}.html">{cls.name}</a></th>{cells}</tr>'


def cell(cls: type[Metric], dialect: Dialect) -> str:
    if cls.name not in dialect.words:
        return "<td></td>"
    own = [name for name, spec in dialect.names.items() if re.split(r"[(@;{]", spec)[0] == cls.name]
    return f'<td title="{html.escape(dialect.name)}: {html.escape(", ".join(own) or cls.name)}">●</td>'


def elsewhere(dialects: Iterable[Dialect]) -> list[str]:
    """What libraries have and their dialects do not speak, each with the reason."""
    lines = [
        f"- ``{each.name}``: " + "; ".join(f"``{name}``, {why}" for name, why in each.without.items())
        for each in dialects
        if each.without
    ]
    return ["In the libraries and not in their dialects", "-" * 42, "", *lines, ""] if lines else []
