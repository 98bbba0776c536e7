"""Axes: what the entries of a field stand for, so that records are cut and joined field by field."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def per_hit(*, optional: bool = False) -> Any:
    """A field with an entry per hit."""
    return _axis("hit", optional)


def per_query(*, optional: bool = False) -> Any:
    """A field with an entry per query."""
    return _axis("query", optional)


def lists() -> Any:
    """A field that can be cut and joined by query itself; an engine may leave it out."""
    return _axis("lists", optional=True)


def _axis(name: str, optional: bool) -> Any:
    metadata = {"axis": name}
    return field(default=None, metadata=metadata) if optional else field(metadata=metadata)
