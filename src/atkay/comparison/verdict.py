"""Verdicts: a difference in one line of words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from atkay.aggregates import Aggregate
from atkay.comparison.relative import percent
from atkay.comparison.tests import TESTS

if TYPE_CHECKING:
    from atkay.comparison.difference import Difference

LEVEL = 0.05
"""Below this corrected p-value a difference is significant."""

NOT_SIGNIFICANT = "not significant"
EQUIVALENT = "equivalent within min_effect"
CONTRADICTORY = "contradictory"
"""The deciding test does not test the mean, and is significant in the other direction."""

OPPOSITE = {"better": "worse", "worse": "better", "higher": "lower", "lower": "higher", "": ""}

SIZES = {0.8: "large", 0.5: "medium", 0.2: "small", 0.0: "very small"}
"""Words for the effect size d_z (Cohen, Statistical power analysis for the behavioral sciences)."""

CORRECTION_NAMES = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "Benjamini-Hochberg", "none": "uncorrected"}


def way(better: str, difference: float) -> str:
    """The direction of a difference: "better" or "worse", or "higher" or "lower" for a metric without direction; empty
    where there is no difference.

    >>> way("higher", -0.1), way("lower", -0.1), way("neither", -0.1)
    ('worse', 'better', 'lower')
    """
    if math.isnan(difference) or not difference:
        return ""
    word = {"higher": "better", "lower": "worse"}.get(better, "higher")
    return word if difference > 0 else OPPOSITE[word]


def finding(p: float, low: float, high: float, min_effect: float | None) -> str:
    """Whether a difference is significant and, where ``min_effect`` is given, whether it is large enough."""
    if math.isnan(p):
        return "not tested"
    inside = min_effect is not None and max(abs(low), abs(high)) < min_effect
    if p >= LEVEL:
        return EQUIVALENT if inside else NOT_SIGNIFICANT
    if min_effect is None:
        return "significant"
    if inside:
        return "significant, but below min_effect"
    beyond = min(abs(low), abs(high)) >= min_effect and low * high > 0
    return "significant, at least min_effect" if beyond else "significant, possibly below min_effect"


def size(effect: float) -> str:
    """The word for an effect size."""
    return next(word for least, word in SIZES.items() if abs(effect) >= least)


def verdict(difference: Difference, scale: int = 1) -> str:
    """One line: the difference, its confidence interval, the p-value that decides, and the conclusion.

    Numbers are printed times ``scale``.
    """
    if math.isnan(difference.difference):
        return "undefined"
    ci = _interval(difference, scale)
    conclusion = difference.finding
    if conclusion in (NOT_SIGNIFICANT, EQUIVALENT):
        text = "no significant difference" if difference.difference else "no difference"
        text = conclusion if conclusion == EQUIVALENT else text
        if difference.p.get(difference.decided_by or "", 1.0) < LEVEL:
            text, ci = f"{text} after correction", [*ci, _p_value(difference, ", ")]
        text += f" ({', '.join(ci)})" if ci else ""
    else:
        if difference.contradicted:
            conclusion += f": the {difference.decided_by} test, which does not test the mean, {_favoured(difference)}"
        elif difference.better == "lower" and difference.difference:
            conclusion += " (lower is better)"
        p = [_p_value(difference)] if difference.decided_by else []
        text = f"{', '.join([estimate(difference, scale), *p])}: {conclusion}"
    return "; ".join([text, *_dissent(difference)])


def estimate(difference: Difference, scale: int = 1) -> str:
    """The difference, its share and its interval: ``+0.060 (+14 %), 95 % CI [+0.014, +0.107]``."""
    digits, shown = _digits_at(difference, scale), scale * difference.difference
    if not round(shown, digits) and round(shown, 12):  # as small as it is, it has a sign
        digits = -math.floor(math.log10(abs(shown)))
    value = amount(difference, difference.difference, digits, scale)
    return ", ".join([f"{value}{_relative(difference)}", *_interval(difference, scale)])


def _interval(difference: Difference, scale: int) -> list[str]:
    """The confidence interval, where it is known."""
    if math.isnan(difference.low):
        return []
    digits = _digits_at(difference, scale)
    low, high = (amount(difference, end, digits, scale) for end in (difference.low, difference.high))
    return [f"95 % CI [{low}, {high}]"]


def _digits_at(difference: Difference, scale: int) -> int:
    """Two decimals fewer in percent."""
    return max(_digits(difference) - (2 if scale == 100 and not _of_logarithms(difference) else 0), 0)


def _favoured(difference: Difference) -> str:
    """The finding of a test that contradicts the mean."""
    word = OPPOSITE[way(difference.better, difference.difference)]
    return f"finds {difference.run} {word}" if word else "finds a difference"


def _relative(difference: Difference) -> str:
    """The difference as a share of the other run's mean, where that is positive."""
    return "" if math.isnan(difference.relative) else f" ({percent(difference.relative)})"


def shown_p(p: float, digits: int) -> str:
    """A p-value with this number of decimals; more where it would read as the level without being it."""
    return f"{p:.{next(more for more in range(digits, 18) if p == LEVEL or round(p, more) != LEVEL)}f}"


def _p_value(difference: Difference, before: str = " (") -> str:
    """The corrected p-value that decides, and by which correction: ``p = 0.011 (Holm)``."""
    name = difference.decided_by or ""
    p, by = difference.corrected[name], "Tukey" if TESTS[name].joint else CORRECTION_NAMES[difference.correction]
    return f"{p_in_words(p)}{before}{by}{')' if '(' in before else ''}"


def p_in_words(p: float) -> str:
    """A p-value with three digits, or with more where these decide."""
    return "p < 0.0001" if p < 0.0001 else f"p = {shown_p(p, 4 if p < 0.001 else 3)}"


def _of_logarithms(difference: Difference) -> bool:
    return Aggregate.of(difference.aggregate).logarithmic


def amount(difference: Difference, value: float, digits: int, scale: int = 1) -> str:
    """A difference, or an end of its interval: with its sign or, of logarithms, as the ratio that it stands for."""
    return f"×{math.exp(min(value, 99)):.{digits}f}" if _of_logarithms(difference) else signed(scale * value, digits)


def signed(value: float, digits: int) -> str:
    """A number with its sign; a rounded 0 is positive."""
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def _digits(difference: Difference) -> int:
    """Three decimals, more where the interval is narrow, fewer where numbers are large."""
    half = (difference.high - difference.low) / 2
    half = half if half > 0 else abs(difference.difference) / 10
    least = 3 if max(abs(difference.difference), half) < 10 else 1
    digits = max(least, -math.floor(math.log10(half))) if half > 0 else least
    end = min(abs(difference.low), abs(difference.high)) if difference.low * difference.high > 0 else 1.0
    if not round(end, digits):  # an end that is not 0 does not read as 0, unless it is very small
        digits = min(digits + 2, -math.floor(math.log10(end)))
    return min(digits, 12)


def _dissent(difference: Difference) -> list[str]:
    """The tests of the mean that disagree with the deciding one.

    A p-value at the lower bound set by the permutations does not count as disagreement.
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
