"""Doctests see the package under its own name."""

from __future__ import annotations

from typing import Any

import pytest

import atkay


@pytest.fixture(autouse=True)
def _names(doctest_namespace: dict[str, Any]) -> None:
    doctest_namespace["atkay"] = atkay
