"""Pages are written for the repository and for pytest; this makes them pages of a site.

Links between files of the repository lead to pages of the site, and the empty line that ends a doctest is left out.
"""

from __future__ import annotations

import re
from typing import Any

PAGES = {
    "README.md": "/index.md",
    "CONTRIBUTING.md": "/contributing.md",
    "CHANGELOG.md": "/changelog.md",
    "conformance/README.md": "/conformance.md",
}
TO_PAGE = re.compile(rf"\]\((?:\.\./)*({'|'.join(map(re.escape, PAGES))})(?:#[^)]*)?\)")
TO_RECORDING = re.compile(r"\[([^\]]+)\]\(recorded/[^)]*\)")


def adapt(text: str) -> str:
    text = TO_PAGE.sub(lambda link: f"]({PAGES[link[1]]})", text)
    text = TO_RECORDING.sub(r"\1", text).replace("](docs/", "](/")
    return text.replace("\n\n```\n", "\n```\n")


def setup(app: Any) -> dict[str, bool]:
    def edit(*event: Any) -> None:
        event[-1][0] = adapt(event[-1][0])

    app.connect("source-read", edit)
    app.connect("include-read", edit)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
