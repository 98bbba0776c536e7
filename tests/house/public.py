"""Writes src/atkay/__init__.pyi, from which type checkers learn the public names."""

from __future__ import annotations

from pathlib import Path

import atkay

STUB = Path(__file__).parents[2] / "src" / "atkay" / "__init__.pyi"


def stub() -> str:
    """Every public name, imported from its home."""
    homes = {name: f"atkay.{home}" for name, home in atkay.HOMES.items()}
    homes |= {each.__name__: each.__module__ for each in atkay.list_metrics().values()}
    homes |= dict.fromkeys(atkay.MODULES, "atkay")
    lines = [f"from {home} import {name} as {name}" for name, home in homes.items()]
    return "\n".join(
        [
            "# Written by tests/house/public.py.",
            *lines,
            "",
            "HOMES: dict[str, str]",
            "MODULES: tuple[str, ...]",
            "__version__: str",
            "",
        ]
    )


if __name__ == "__main__":
    STUB.write_text(stub())
