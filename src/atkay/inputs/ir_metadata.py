"""ir_metadata: what a TREC run says of itself, in comments at its head (https://www.ir-metadata.org)."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from atkay.errors import SourceError, SpecError, need, shown
from atkay.text.files import write_whole

_PLAIN_KEY = r"(?!(?i:true|false|yes|no|on|off|null|y|n)$)[a-zA-Z][\w ]*"
"""What YAML reads as a text without quotes."""
START, END = "# ir_metadata.start", "# ir_metadata.end"


def read_ir_metadata(run: str | os.PathLike[str]) -> dict[str, Any]:
    """The metadata at the head of a TREC run file; empty where it has none.

    The keys are those of ir_metadata 0.2: platform, research goal, implementation, method, actor and data.
    """
    need("read_ir_metadata", "ir-metadata", "yaml")
    import yaml

    try:
        head, _ = _parts(Path(run))
        content = yaml.safe_load("\n".join(line.removeprefix("#").removeprefix(" ") for line in head)) if head else {}
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise SourceError(f"cannot read '{os.fspath(run)}': {error}.") from error
    except yaml.YAMLError as error:
        raise SourceError(
            f"the ir_metadata of '{os.fspath(run)}' is not YAML: {' '.join(str(error).split())}."
        ) from error
    if not isinstance(content, dict):
        raise SourceError(f"the ir_metadata of '{os.fspath(run)}' must be a mapping, got {shown(content)}.")
    return content


def write_ir_metadata(run: str | os.PathLike[str], out: str | os.PathLike[str], metadata: Mapping[str, Any]) -> None:
    """Write a TREC run with metadata at its head, in place of what stands there; atomic.

    ``result.ir_metadata()`` has what an evaluation knows: measures, conventions, test collection, software.
    """
    try:
        _, rows = _parts(Path(run))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise SourceError(f"cannot read '{os.fspath(run)}': {error}.") from error
    try:
        head = [START, *(f"# {line}" for line in _yaml(metadata)), END]
    except TypeError as error:
        raise SpecError(f"write_ir_metadata: metadata must be dicts, lists, texts and numbers: {error}.") from error
    content = ("\n".join(head) + "\n" + "".join(rows)).encode()
    write_whole(out, gzip.compress(content, mtime=0) if _is_packed(out) else content)


def _is_packed(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix == ".gz"


def _parts(path: Path) -> tuple[list[str], list[str]]:
    """The lines of the head, and those of the run."""
    content = path.read_bytes()
    lines = (gzip.decompress(content) if _is_packed(path) else content).decode().splitlines(keepends=True)
    stripped = [line.strip() for line in takewhile(lambda line: line.startswith("#"), lines)]
    if START not in stripped or END not in stripped:
        return [], lines
    start, end = stripped.index(START), stripped.index(END)
    return [line.rstrip() for line in lines[start + 1 : end]], [*lines[:start], *lines[end + 1 :]]


def _yaml(content: Any, indent: str = "") -> Iterator[str]:
    """Mappings and lists in block style, with every text in quotes: YAML as any parser reads it."""
    items = content.items() if isinstance(content, Mapping) else ((None, each) for each in content)
    for key, value in items:
        name = (
            "-"
            if key is None
            else f"{key if re.fullmatch(_PLAIN_KEY, str(key)) else json.dumps(str(key), ensure_ascii=False)}:"
        )
        if isinstance(value, Mapping | list | tuple) and value:
            yield f"{indent}{name}"
            yield from _yaml(value, indent + "  ")
        else:
            yield f"{indent}{name} {json.dumps(value, ensure_ascii=False)}"
