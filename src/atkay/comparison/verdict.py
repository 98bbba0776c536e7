"""Verdicts: what a difference means, in words for those who decide."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from atkay.comparison.tests import TESTS

if TYPE_CHECKING:
    from atkay.comparison.comparison import Difference

LEVEL = 0.05
"""Below this corrected p-value a difference is significant."""

NOT_SIGNIFICANT = "not significant"
CONTRADICTORY = "contradictory"
"""The finding where the test that decides does not test the mean, and is significant the other way."""

OPPOSITE = {"better": "worse", "worse": "better", "higher": "lower", "lower": "higher", "": ""}

SIZES = {0.8: "large", 0.5: "medium", 0.2: "small", 0.0: "very small"}
"""Words for the effect size d_z, from so much on (Cohen, Statistical power analysis for the behavioral sciences)."""


def way(better: str, difference: float) -> str:
    """Which way a difference goes: "better" or "worse", by the direction of the metric; "higher" or "lower" where it
    has none; empty where there is no difference.

    >>> way("higher", -0.1), way("lower", -0.1), way("neither", -0.1)
    ('worse', 'better', 'lower')
    """
    if math.isnan(difference) or not difference:
        return ""
    word = {"higher": "better", "lower": "worse"}.get(better, "higher")
    return word if difference > 0 else OPPOSITE[word]


def finding(p: float, low: float, high: float, min_effect: float | None) -> str:
    """What was found: whether there is a difference and, where a threshold is given, whether it matters."""
    if math.isnan(p):
        return "not tested"
    inside = min_effect is not None and max(abs(low), abs(high)) < min_effect
    if p >= LEVEL:
        return "no difference that matters" if inside else NOT_SIGNIFICANT
    if min_effect is None:
        return "significant"
    if inside:
        return "significant but smaller than what matters"
    beyond = min(abs(low), abs(high)) >= min_effect and low * high > 0
    return "significant and matters" if beyond else "significant, perhaps too small to matter"


def size(effect: float) -> str:
    """The word for an effect size."""
    return next(word for least, word in SIZES.items() if abs(effect) >= least)


def verdict(difference: Difference) -> str:
    """One line: how much better or worse, how sure that is, and how large against what users differ by."""
    if math.isnan(difference.difference):
        return "undefined"
    digits, sign = _digits(difference), math.copysign(1, difference.difference)
    word = way(difference.better, difference.difference)
    amount = f"{abs(difference.difference):.{digits}f} {word}" if word else "no difference"
    if not math.isnan(difference.low):
        amount += _interval(difference, sign, digits)
    phrases = [amount, difference.finding]
    if difference.contradicted:
        phrases[1] += f": the {difference.decided_by} test, which does not test the mean, finds {_favoured(difference)}"
    elif difference.finding == NOT_SIGNIFICANT and difference.p.get(difference.decided_by or "", 1.0) < LEVEL:
        phrases[1] += " after the correction"
    if difference.significant and not math.isnan(difference.effect):
        phrases.append(size(difference.effect))
    return "; ".join([*phrases, *_dissent(difference)])


def _favoured(difference: Difference) -> str:
    """What a test finds that contradicts the mean."""
    word = OPPOSITE[way(difference.better, difference.difference)]
    return f"{difference.run} {word}" if word else "a difference"


def _interval(difference: Difference, sign: float, digits: int) -> str:
    # The interval is told in the direction of the sentence: "0.012 worse, 0.004 to 0.020" is -0.020 to -0.004.
    low, high = (_rounded(end, digits) for end in sorted((sign * difference.low, sign * difference.high)))
    return f", 95 % interval {low} to {high}"


def _rounded(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}"  # no "-0.000"


def _digits(difference: Difference) -> int:
    """Three, or as many more as the interval leaves meaning in; fewer where numbers are large."""
    half = (difference.high - difference.low) / 2
    half = half if half > 0 else abs(difference.difference) / 10
    least = 3 if max(abs(difference.difference), half) < 10 else 1
    return min(max(least, -math.floor(math.log10(half))), 12) if half > 0 else least


def _dissent(difference: Difference) -> list[str]:
    """The tests of the mean that say otherwise than the one that decides.

    A p-value that could not be smaller is no word against a difference.
    """
    others = [
        name
        for name, p in difference.corrected.items()
        if TESTS[name].of_mean and not math.isnan(p) and (p < LEVEL) != difference.significant
        if not (difference.significant and name in difference.lowest)
    ]
    if not others or difference.decided_by is None:
        return []
    return [f"{'not ' if difference.significant else ''}significant by {' and '.join(others)}"]
