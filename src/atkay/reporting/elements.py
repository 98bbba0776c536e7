"""Elements: HTML as a tree, in which whatever is text stays text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, tostring

from atkay.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

KEPT = "\n\u2068\u2069"
"""Line breaks of code, and the marks around a text whose direction is its own."""


def element(tag: str, *content: str | Element, **attributes: str) -> Element:
    """An element; ``class_`` is the attribute class, and other underlines are hyphens."""
    made = Element(tag, {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()})
    for part in content:
        if isinstance(part, str) and tag not in ("script", "style"):
            part = printable(part, keep=KEPT)
        if isinstance(part, Element):
            made.append(part)
        elif len(made):
            made[-1].tail = (made[-1].tail or "") + part
        else:
            made.text = (made.text or "") + part
    return made


def paragraphs(*lines: str) -> list[Element]:
    """A paragraph per line."""
    return [element("p", line) for line in lines]


def bullets(lines: Iterable[str]) -> Element:
    """A list."""
    return element("ul", *(element("li", line) for line in lines))


def table(
    caption: str,
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    marks: Sequence[str] = (),
    row_data: Sequence[Mapping[str, str]] = (),
    right: Collection[str] = (),
    wrap: Collection[str] = (),
) -> Element:
    """A table in a box that scrolls by itself; the first cell of a row is its head.

    Where columns have a cutoff, ``marks`` has it (empty for the others), and the page can hide the column.
    ``row_data`` are attributes of the rows. The columns named in ``right`` are aligned to the right, those in
    ``wrap`` hold sentences.
    """

    def cell(tag: str, content: Any, at: int, **more: str) -> Element:
        cut = {"data_k": marks[at]} if marks and marks[at] else {}
        side = {"right": header[at] in right, "wrap": header[at] in wrap and tag == "td"}
        named = {"class_": " ".join(name for name, holds in side.items() if holds)} if any(side.values()) else {}
        parts = content if isinstance(content, list) else [content]
        parts = parts if tag == "td" and any(side.values()) else [element("div", *parts)]
        return element(tag, *parts, **cut, **named, **more)

    head = element("tr", *(cell("th", name, at, scope="col") for at, name in enumerate(header)))
    body = [
        element(
            "tr",
            cell("th", row[0], 0, scope="row"),
            *(cell("td", content, at) for at, content in enumerate(row[1:], start=1)),
            **(row_data[nth] if row_data else {}),
        )
        for nth, row in enumerate(rows)
    ]
    made = element("table", element("caption", caption), element("thead", head), element("tbody", *body))
    return element("div", made, class_="scroll", tabindex="0", role="region", aria_label=caption)


def details(summary: str, *content: str | Element, **attributes: str) -> Element:
    """What is shown to those who ask."""
    return element("details", element("summary", summary), *content, **attributes)


def written(root: Element) -> str:
    """The tree as HTML."""
    return tostring(root, encoding="unicode", method="html")


def as_script(data: Any) -> str:
    """JSON that can stand in a script element: nothing in it ends the element or begins another."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
