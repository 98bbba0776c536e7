"""Truth with subtopics, and what the tests of the metrics over them share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import polars as pl
import pytest

import atkay
from atkay.errors import SideError, SpecError

Subtopics = Mapping[str, Sequence[str]]
"""The subtopics for which each item is relevant."""

WEB: Subtopics = {"a": ["1", "2"], "b": ["1"], "c": ["3"], "d": ["2", "3", "4"]}
"""S = 4. Items e and x are relevant to nothing."""


def both(spec: str, listed: str, subtopics: Subtopics = WEB) -> float:
    """The value of one list, which is the same from subtopics of the truth and from categories."""
    rows = [("u", item, topic) for item, topics in subtopics.items() for topic in topics]
    truth = pl.DataFrame(rows, schema=["user", "item", "subtopic"], orient="row")
    of_truth = atkay.evaluate({"u": list(listed)}, truth, spec)
    features = {**subtopics, "x": ["1", "5"]}
    of_features = atkay.evaluate({"u": list(listed)}, {"u": [*subtopics]}, spec, features=features)
    assert of_truth[spec] == of_features[spec]
    return of_truth[spec]


def check_no_subtopics(spec: str) -> None:
    """A user whose relevant items have no subtopic has no value; a list without a hit scores 0."""
    given = {"u": ["f", "a"]}, {"u": ["f"]}
    assert math.isnan(atkay.evaluate(*given, spec, features={"a": ["1"]})[spec])
    assert both(spec, "ex") == 0
    with pytest.raises(SideError, match=r"needs subtopics: add a column 'subtopic' to truth, or pass features="):
        atkay.evaluate(*given, spec)


def check_alpha(name: str) -> None:
    """Alpha is a number from 0 to 1."""
    with pytest.raises(SpecError, match="alpha must be a number from 0 to 1, got '2'"):
        atkay.parse(f"{name}(alpha=2)")
