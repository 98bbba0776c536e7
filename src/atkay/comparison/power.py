"""Power: which differences a number of users can detect."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from atkay.aggregates import Aggregate
from atkay.comparison.comparison import Comparison
from atkay.comparison.verdict import LEVEL
from atkay.core.types import is_number
from atkay.errors import InputError, SpecError, a_type, shown
from atkay.text.grid import Grid, Tabular
from atkay.text.phrases import argument

if TYPE_CHECKING:
    import polars as pl

NORMAL_DEGREES = 1e6
"""With more degrees of freedom the t-distribution is the normal one to all digits that matter here."""


def chance(effect: float, users: float, level: float = LEVEL) -> float:
    """The chance that a paired t-test finds an effect of this size d_z (two-sided).

    t has the noncentral t-distribution with ``users - 1`` degrees of freedom and the centre d_z · sqrt(users).
    """
    from scipy.special import nctdtr, ndtr, ndtri, stdtrit

    degrees, centre = users - 1, abs(effect) * math.sqrt(users)
    if degrees > NORMAL_DEGREES:
        limit = -float(ndtri(level / 2))
        return float(ndtr(centre - limit) + ndtr(-limit - centre))
    limit = float(stdtrit(degrees, 1 - level / 2))
    wrong_side = float(nctdtr(degrees, centre, -limit))
    # SciPy has no number for some of these far tails; they are below 1e-9.
    return 1 - float(nctdtr(degrees, centre, limit)) + (0.0 if math.isnan(wrong_side) else wrong_side)


def detectable(users: float, wanted: float = 0.8, level: float = LEVEL) -> float:
    """The smallest effect size d_z that is found with the wanted chance."""
    from scipy.optimize import brentq

    if users < 2:
        return math.nan
    high = 1.0
    while chance(high, users, level) < wanted:
        high *= 2
    return float(brentq(lambda effect: chance(effect, users, level) - wanted, 0.0, high, xtol=1e-12))


def needed(effect: float, wanted: float = 0.8, level: float = LEVEL) -> float:
    """How many users it takes to find an effect of this size d_z with the wanted chance.

    Examples
    --------
    >>> from atkay.comparison.power import needed
    >>> round(needed(0.5), 2)
    33.37
    """
    from scipy.optimize import brentq

    if not effect:
        return math.inf
    high = 4.0
    while chance(effect, high, level) < wanted:
        high *= 2
    if chance(effect, 2.0, level) >= wanted:
        return 2.0
    return float(brentq(lambda users: chance(effect, users, level) - wanted, 2.0, high, xtol=1e-6))


class Reach(NamedTuple):
    """The power of one comparison: a metric and a pair of runs.

    ``detectable`` is the smallest true difference that is detected with the wanted power. With ``min_effect``,
    ``chance`` is the power to detect it, and ``needed`` the number of users required.
    """

    metric: str
    run: str
    against: str
    users: int
    deviation: float
    detectable: float
    min_effect: float
    chance: float
    needed: float


@dataclass(frozen=True, repr=False)
class Power(Tabular):
    """The power of a comparison; a row per metric and pair."""

    rows: tuple[Reach, ...]
    wanted: float
    level: float

    def __iter__(self) -> Iterator[Reach]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_polars(self) -> pl.DataFrame:
        """A row per metric and pair."""
        import polars as pl

        schema: dict[str, Any] = {
            name: pl.String if kind is str else pl.Int64 if kind is int else pl.Float64
            for name, kind in zip(Reach._fields, (str, str, str, int, *[float] * 5), strict=True)
        }
        return pl.DataFrame(list(self.rows), schema=schema, orient="row").fill_nan(None)

    def _notes(self) -> list[str]:
        return [
            f"detectable: the smallest true difference that a paired t-test at level {self.level:.2g} detects "
            f"with power "
            f"{self.wanted:g}"
        ]

    def _grid(self) -> Grid:
        rows = [
            (
                *row[:3],
                f"{row.users:,}",
                *(_shown(value) for value in row[4:8]),
                "–" if math.isnan(row.needed) else f"{math.ceil(row.needed):,}",
            )
            for row in self.rows
        ]
        header = (*Reach._fields[:4], "SD", "detectable", "min_effect", "power", "users needed")
        return Grid(header, rows, right=header[3:])


def _shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4g}"


def power(comparison: Comparison, wanted: float = 0.8, level: float | None = None) -> Power:
    """Power analysis: the smallest difference that this number of users can detect, per metric.

    The SD of the users' differences is taken from the comparison. Post-hoc power of the observed difference adds
    nothing to its p-value and is not given; set the difference of interest with ``compare(..., min_effect=...)``.

    Parameters
    ----------
    comparison
        The result of :func:`compare`.
    wanted
        The wanted power.
    level
        The significance level of the test. By default 0.05, divided by the number of differences corrected together for
        Holm's and Bonferroni's corrections.

    Examples
    --------
    The users' differences in reciprocal rank are 1/2, 0, 1/2, 0, with SD 0.2887. Four users can detect a difference of
    2.1 SD.

    >>> truth = {user: ["tea"] for user in "abcd"}
    >>> old = {user: ["rye", "tea"] for user in "abcd"}
    >>> new = old | {"a": ["tea"], "c": ["tea"]}
    >>> row = atkay.power(atkay.compare({"old": old, "new": new}, truth, "mrr")).rows[0]
    >>> round(row.deviation, 4), round(row.detectable / row.deviation, 1)
    (0.2887, 2.1)
    """
    if not isinstance(comparison, Comparison):
        raise InputError(f"power: pass a Comparison from compare(...), got {a_type(comparison)}.")
    if ordered := [each.aggregate for each in comparison.differences if Aggregate.of(each.aggregate).ordered]:
        raise SpecError(
            f"power: it is that of a t-test of means, and these runs are compared by "
            f"{argument('aggregate', ordered[0])}. Compare them by their means."
        )
    if comparison.cluster is not None:
        raise SpecError(
            "power: it is that of independent users, and these queries are clustered by "
            f"{comparison.cluster}. Compare the clusters' own means with {argument('average_over')}."
        )
    level = LEVEL / _members(comparison) if level is None else level
    for name, share in (("wanted", wanted), ("level", level)):
        if not is_number(share, 0, 1):
            raise SpecError(f"power: {name} must be a number between 0 and 1, got {shown(share)}.")
    if wanted <= level:
        raise SpecError(
            f"power: wanted must be above the level {level:g}, got {wanted:g}. Pass a higher power, such as wanted=0.8."
        )
    return Power(tuple(_rows(comparison, wanted, level)), wanted, level)


def _members(comparison: Comparison) -> int:
    """The number of differences corrected together."""
    if comparison.correction not in ("holm", "bonferroni"):
        return 1
    tested = [each.metric for each in comparison.differences if each.finding != "not tested"]
    return max(len(tested) if comparison.family == "all" else max(map(tested.count, tested), default=1), 1)


def _rows(comparison: Comparison, wanted: float, level: float) -> Iterator[Reach]:
    for difference in comparison.differences:
        known = difference.deviation > 0
        smallest = detectable(difference.users, wanted, level) * difference.deviation if known else math.nan
        least = comparison.min_effect.get(difference.metric, math.nan)
        matters = known and not math.isnan(least)
        yield Reach(
            difference.metric,
            difference.run,
            difference.against,
            difference.users,
            difference.deviation,
            smallest,
            least,
            chance(least / difference.deviation, difference.users, level) if matters else math.nan,
            needed(least / difference.deviation, wanted, level) if matters else math.nan,
        )
