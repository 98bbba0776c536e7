"""Items: their titles, pictures and links, from a table of features."""

from __future__ import annotations

import base64
import mimetypes
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atkay.inputs.read import columns_of, read_items
from atkay.inputs.titles import TITLES
from atkay.reporting.view import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl

    from atkay.inputs.columns import Columns

PICTURES = ("picture", "image", "img", "photo", "thumbnail", "cover", "poster", "picture_url", "image_url", "img_url")
LINKS = ("link", "url", "href", "item_url", "product_url", "page")
"""Usual names of columns."""

PICTURE_BYTES = 100_000
"""The largest picture that goes into a page."""
ALL_PICTURES_BYTES = 3_000_000
"""What all pictures of a page may take together."""


@dataclass(frozen=True, eq=False)
class Items:
    """What a table of features says of items to whoever looks at them; ids as text."""

    titles: Mapping[str, str]
    pictures: Mapping[str, str]
    links: Mapping[str, str]

    @classmethod
    def read(cls, features: Any, columns: Columns | Mapping[str, Columns] | None = None) -> Items:
        """Titles, pictures and links in a table of items; the title may be its only column, whatever its name."""
        table = read_items(features, "features", columns_of(columns, "features"))
        assert table.extra is not None
        ids = [shown(item) for item in table.ids[-1].to_list()]
        texts = [name for name in table.extra.columns if table.extra.schema[name].to_python() is str]
        title = _first(texts, TITLES) or (texts[0] if len(table.extra.columns) == len(texts) == 1 else None)
        chosen = (title, _first(texts, PICTURES), _first(texts, LINKS))
        return cls(*({} if name is None else _column(ids, table.extra[name]) for name in chosen))

    def of(self, texts: Iterable[str]) -> dict[str, dict[str, str]]:
        """What is known of some items; a picture is part of the page, or its address is a link."""
        left, known = ALL_PICTURES_BYTES, dict[str, dict[str, str]]()
        for text in texts:
            each: dict[str, str] = {}
            if text in self.titles:
                each["title"] = shown(self.titles[text])
            if (link := self.links.get(text, "")).startswith(("https://", "http://")):
                each["link"] = link
            if text in self.pictures:
                picture = _picture(self.pictures[text])
                if picture and len(picture) <= left:
                    each["picture"], left = picture, left - len(picture)
                elif "link" not in each and self.pictures[text].startswith(("https://", "http://")):
                    each["link"] = self.pictures[text]
            if each:
                known[text] = each
        return known


def _first(names: Iterable[str], usual: Iterable[str]) -> str | None:
    """The column with the first of the usual names."""
    by_name = {name.lower().replace(" ", "_"): name for name in names}
    return next((by_name[name] for name in usual if name in by_name), None)


def _column(ids: Iterable[str], column: pl.Series) -> dict[str, str]:
    return {item: text for item, text in zip(ids, column.to_list(), strict=True) if text}


def _picture(source: str) -> str:
    """A picture as a data address: one that is given as such, or a file; nothing is loaded from a network."""
    if source.startswith("data:image/"):
        return source if len(source) <= PICTURE_BYTES else ""
    kind, path = mimetypes.guess_type(source)[0] or "", Path(source)
    try:
        if not kind.startswith("image/") or "://" in source or path.stat().st_size > PICTURE_BYTES:
            return ""
        return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
    except OSError:
        return ""
