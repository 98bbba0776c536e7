"""Notes: what the changelog says of a version. ``python release/notes.py v0.1.0``"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from atkay import __version__


def notes(changelog: str, version: str) -> str:
    """The section of a version, without its heading."""
    found = re.search(rf"^## \[{re.escape(version)}\].*\n((?:(?!## ).*\n)*)", changelog, re.MULTILINE)
    if found is None or not found[1].strip():
        sys.exit(f"CHANGELOG.md has no section [{version}], or an empty one.")
    return found[1].strip()


if __name__ == "__main__":
    version = sys.argv[1].removeprefix("v")
    if version not in (__version__, "Unreleased"):
        sys.exit(f"The tag is {version}, and atkay.__version__ is {__version__}.")
    print(notes((Path(__file__).parent.parent / "CHANGELOG.md").read_text(), version))
