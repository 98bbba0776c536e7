"""Ask one library for everything, in its own environment: python ask.py ADAPTER.py FOUND.json

An adapter says for one data set which names its calls may use and which calls there are: `ask`, and for truth with
subtopics `ask_of_subtopics`, where the library has measures of these. A call is a text and is run as
it stands, so the recorded call is the one that gave the value. The adapter is loaded from its path, since it often has
the name of the package that it speaks to.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import math
import platform
import sys
import warnings
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from entries import Entry, read

DATA = Path(__file__).resolve().parent / "data"


def number(value: Any) -> float | str | None:
    """A float that JSON can hold and that reads back as the same float; NaN is null."""
    found = float(value)
    return None if math.isnan(found) else found if math.isfinite(found) else str(found)


def first_line(error: Exception) -> str:
    said = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {said[0]}".rstrip(": ")


def answer(entry: Entry, scope: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"metric": entry.metric, "k": entry.k, "options": dict(entry.options), "call": entry.call}
    names = scope | entry.scope
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            found["value"] = number(eval(entry.call, names))
        except Exception as error:
            return found | {"value": None, "error": first_line(error)}
        if entry.each:
            try:
                each = {str(user): number(value) for user, value in eval(entry.each, names).items()}
                found["per_user"] = dict(sorted(each.items()))
            except Exception as error:
                found["per_user_error"] = first_line(error)
    return found


def main(adapter: str, target: str) -> None:
    spec = spec_from_file_location("adapter", adapter)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    data = {}
    for folder in sorted(path for path in DATA.iterdir() if path.is_dir()):
        given = read(folder)
        asks = getattr(module, "ask_of_subtopics", None) if given.subtopics else module.ask
        if asks is not None:
            scope, entries = asks(given)
            data[folder.name] = [answer(entry, scope) for entry in entries]
    head = {"python": platform.python_version(), "inputs": module.INPUTS}
    Path(target).write_text(json.dumps(head | {"data": data}))


if __name__ == "__main__":
    main(*sys.argv[1:])
