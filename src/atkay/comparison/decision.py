"""Decision: what a difference means for whoever decides, by the rule of the gate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from atkay.comparison.checked import Checked

if TYPE_CHECKING:
    from atkay.comparison.difference import Difference


class Decision(NamedTuple):
    """A word, and what it rests on where the verdict does not say it."""

    word: str
    reason: str


def decide(difference: Difference, min_effect: float | None, numbers: int) -> Decision:
    """What to call a run: "better", "worse", "not worse", "cannot tell", or "not tested".

    Better and worse are significant. A gain that the interval excludes to be as large as ``min_effect`` is "not
    worse"; whatever is not better is what the gate calls it, see :class:`Checked`. A metric without direction is
    "higher", "lower" or, within ``min_effect``, "equivalent". ``numbers`` are tested together.
    """
    if difference.finding == "not tested" or difference.contradicted:
        return Decision("cannot tell" if difference.contradicted else "not tested", "")
    word = difference.standing(difference.run)
    least = math.nan if min_effect is None else min_effect
    checked = Checked(difference, least, 0.0 if word == "worse" else 1.0, numbers)
    low, high = (difference.low, difference.high) if difference.deviation else (difference.difference,) * 2
    if difference.better == "neither":
        equal = max(abs(low), abs(high)) < least or not (difference.difference or difference.deviation)
        return Decision("equivalent" if equal else word or "cannot tell", "")
    if word == "better" and not (-low if difference.better == "lower" else high) < least:
        return Decision(word, "")
    return Decision(checked.outcome, checked.reason.removeprefix("; "))
