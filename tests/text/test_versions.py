"""Ranges of versions, and the editions of a dialect that they choose."""

from __future__ import annotations

import pytest

from atkay.dialects.dialect import Dialect
from atkay.errors import SpecError

CHANGED = Dialect(
    "mill",
    "mill",
    "1.2.1",
    ("precision",),
    editions={"<1.2": {"version": "1.1.1", "metrics": ("recall",)}, ">=3": {"version": "3.0"}},
)


@pytest.mark.parametrize(
    ("versions", "version"),
    [
        ("<1.2", "1.1.1"),
        ("<1.2.0", "1.1.1"),
        ("==0.5", "1.1.1"),
        (">=0.1, <0.2", "1.1.1"),
        ("<=1.2", "1.2.1"),  # 1.2 itself is of the new ones
        ("== 1.2", "1.2.1"),
        (">=1.3", "1.2.1"),  # up to 3
        (">1,<2", "1.2.1"),
        ("<4", "1.2.1"),  # holds for some of them
        (">=3", "3.0"),
        ("==v3.1", "3.0"),
        (">2.9", "1.2.1"),
    ],
)
def test_a_range_chooses_an_edition(versions: str, version: str) -> None:
    assert CHANGED.of_versions(versions).version == version


def test_an_edition_differs_where_it_says_so() -> None:
    old = CHANGED.of_versions("<1.2")
    assert (old.name, old.title, old.metrics) == ("mill<1.2", "mill 1.1.1", ("recall",))


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ("~=1.2", "cannot read the versions '~=1.2'; write '<3.4', '>=1.2,<2' or '==1.2.1'"),
        ("=1.2", "cannot read the versions '=1.2'"),
        ("<", "cannot read the versions '<'"),
        ("<1.2rc1", "cannot read the versions '<1.2rc1'"),
        ("<1,>2", "no version is '<1,>2'"),
    ],
)
def test_what_is_no_range_is_refused(versions: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        CHANGED.of_versions(versions)
