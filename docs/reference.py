"""Write the reference page of all metrics, from the registry."""

from __future__ import annotations

import inspect
from pathlib import Path

import atkay
from atkay.metrics.metric import conventions
from atkay.words import words_of


def page() -> str:
    parts = [
        "# Metrics",
        "Written from the registry by `make docs`. h: hits in the top k; R: relevant items; L: listed items.",
    ]
    for name, cls in atkay.list_metrics().items():
        parts.append(f"## `{name}`")
        if cls.aliases:
            parts.append("Also called " + ", ".join(f"`{alias}`" for alias in cls.aliases) + ".")
        rows = [
            f"| `{each.name}` | `{word}` | {meaning} |"
            for each in conventions(cls)
            for word, meaning in words_of(each).items()
        ]
        if rows:
            parts.append("\n".join(["| field | word | meaning |", "| --- | --- | --- |", *rows]))
        parts.append(f"```text\n{inspect.cleandoc(cls.__doc__ or '')}\n```")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    target = Path(__file__).parent / "build" / "metrics.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text(page())
    print(f"wrote {target.relative_to(Path.cwd())}")
