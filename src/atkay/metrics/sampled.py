"""Sampled candidates: what metrics on a sample of the catalogue mean, and estimates of what they would be on all of it.

A relevant item that stands at rank r among n items stands at rank 1 + Binomial(m, (r - 1) / (n - 1)) among m sampled
ones and itself. Metrics of that rank are not those of r, and can put models in another order (Krichene and Rendle, On
sampled metrics for item recommendation, 2020).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from atkay.core.types import Bools, Floats, Ints
from atkay.errors import InputError, ProtocolError, SpecError, shown, who
from atkay.judged.judged import Judged
from atkay.metrics.metric import Metric, Ratio, RunMetric
from atkay.metrics.spec import parse_all
from atkay.text.help import Visible
from atkay.words import checked, word, words_of

RANKS_PER_BLOCK = 1 << 14


@dataclass(frozen=True)
class Sampled(Visible):
    """Declares that lists rank one relevant item among sampled negatives.

    ``catalog_size`` is the number of items n, ``negatives`` the number of sampled ones m, drawn uniformly. The
    ``estimator`` says what the numbers are:

    - ``none``: the metric on the sample, as it is;
    - ``rank``: the metric at 1 + (n - 1)(r - 1)/m, an unbiased estimate of the rank from the sampled rank r;
    - ``least_squares``: a value for each sampled rank, such that their average over samples comes closest to the metric
      on the catalogue, over all ranks alike;
    - ``tradeoff``: the same, with the variance of the estimate weighing ``gamma`` against its bias (0 to below 1).

    Krichene and Rendle, On sampled metrics for item recommendation, 2020, sections 5.1 to 5.3.

    Examples
    --------
    The relevant item is first of ten sampled candidates and itself, in a catalogue of 101 items; and second. The
    unbiased ranks are 1 and 1 + 100 · 1/10 = 11.

    >>> import warnings
    >>> recs = {"ann": [0, *range(1, 11)], "bob": [1, 0, *range(2, 11)]}
    >>> sampled = atkay.Sampled(catalog_size=101, negatives=10, estimator="rank")
    >>> with warnings.catch_warnings(action="ignore"):
    ...     result = atkay.evaluate(recs, {"ann": [0], "bob": [0]}, "mrr", sampled=sampled)
    >>> result.per_query["mrr"].to_list() == [1, 1 / 11]
    True
    """

    _internal = "chances estimates gamma of_queries"

    catalog_size: int
    negatives: int
    estimator: Literal["none", "rank", "least_squares", "tradeoff"] = word(
        none="metrics on a sample of the catalogue, not corrected",
        rank="metrics at an unbiased estimate of the rank in the catalogue, from a sample of it",
        least_squares="least-squares estimates of metrics on the catalogue, from a sample of it",
        tradeoff="estimates of metrics on the catalogue that trade bias for variance, from a sample of it",
    )
    gamma: float = field(default=0.1)

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            given = getattr(self, each.name)
            if words_of(each):
                object.__setattr__(self, each.name, checked("sampled", each, given, ProtocolError))
            elif each.name == "gamma":
                if not isinstance(given, int | float) or not 0 <= given < 1:
                    raise ProtocolError(f"sampled: gamma must be a number from 0 to below 1, got {shown(given)}.")
            elif isinstance(given, bool) or not isinstance(given, int | np.integer) or not 1 <= given < 2**63:
                raise ProtocolError(f"sampled: {each.name} must be a positive integer, got {shown(given)}.")
            else:
                object.__setattr__(self, each.name, int(given))
        if self.negatives >= self.catalog_size:
            raise ProtocolError(
                f"sampled: negatives must be below catalog_size, got {self.negatives:,} of {self.catalog_size:,}. "
                "Leave sampled= out if all items were ranked."
            )

    @property
    def words(self) -> str:
        """What the numbers are."""
        estimator = next(each for each in dataclasses.fields(self) if each.name == "estimator")
        gamma = f" (gamma {self.gamma:g})" if self.estimator == "tradeoff" else ""
        return (
            f"sampled: {words_of(estimator)[self.estimator]}{gamma}; {self.negatives:,} of "
            f"{self.catalog_size:,} items were ranked"
        )

    def chances(self, ranks: Ints) -> Floats:
        """The chance of each sampled rank (columns, from 1) for items at given ranks in the catalogue (rows)."""
        from scipy.special import gammaln, xlog1py, xlogy

        above, m = np.arange(self.negatives + 1), self.negatives
        worse = ((np.asarray(ranks) - 1) / max(self.catalog_size - 1, 1))[:, None]
        ways = gammaln(m + 1) - gammaln(above + 1) - gammaln(m - above + 1)
        # Logarithms of a binomial's terms: SciPy's own binom.pmf takes twenty times as long for a million ranks.
        return np.asarray(np.exp(ways + xlogy(above, worse) + xlog1py(m - above, -worse)))

    def expected(self, metrics: str | Metric | Iterable[str | Metric], ranks: Sequence[int]) -> dict[str, list[float]]:
        """What metrics show on a sample, on average, for relevant items at given ranks in the catalogue.

        Examples
        --------
        The item at rank 51 of 101 is beaten by each of two sampled ones with chance 1/2: it is first of three with
        chance 1/4, second with 1/2, last with 1/4, and 1/4 + 1/2 · 1/2 + 1/4 · 1/3 = 7/12.

        >>> [value] = atkay.Sampled(catalog_size=101, negatives=2).expected("mrr", [51])["mrr"]
        >>> round(value - 7 / 12, 12)
        0.0
        """
        specs = parse_all(metrics)
        for metric in specs:
            check_of_rank(metric)
        wrong = [rank for rank in ranks if not 1 <= rank <= self.catalog_size or rank != int(rank)]
        if wrong:
            raise ProtocolError(f"sampled: ranks must be integers from 1 to {self.catalog_size:,}, got {wrong[0]!r}.")
        values = self.chances(np.asarray(ranks)) @ at_ranks(specs, np.arange(1, self.negatives + 2), self.negatives + 1)
        return dict(zip((str(one) for each in specs for one in each.split()), values.T.tolist(), strict=True))

    def estimates(self, metrics: Sequence[Metric]) -> Floats:
        """The value that stands for each sampled rank: sampled ranks x numbers."""
        return _estimates(self, tuple(metrics), RANKS_PER_BLOCK)

    def _estimates(self, metrics: Sequence[Metric]) -> Floats:
        n, m = self.catalog_size, self.negatives
        sampled_rank = np.arange(1, m + 2)
        if self.estimator == "none":
            return at_ranks(metrics, sampled_rank, m + 1)
        if self.estimator == "rank":
            return at_ranks(metrics, 1 + (n - 1) * (sampled_rank - 1) / m, n)
        gamma = self.gamma if self.estimator == "tradeoff" else 0.0
        # Least squares over all ranks r, each with weight 1/n: rows sqrt((1 - gamma)/n) A_r, and for the variance one
        # row per sampled rank. A triangle with the same solution is kept, so that n rows never lie in memory at once.
        columns = sum(len(metric.cutoffs) for metric in metrics)
        triangle, seen = np.empty((0, m + 1 + columns)), np.zeros(m + 1)
        for first in range(1, n + 1, RANKS_PER_BLOCK):
            ranks = np.arange(first, min(first + RANKS_PER_BLOCK, n + 1))
            chances = self.chances(ranks)
            seen += chances.sum(axis=0)
            scale = np.sqrt((1 - gamma) / n)
            rows = np.hstack((scale * chances, at_ranks(metrics, ranks, n) / (scale * n)))
            triangle = _triangle(triangle, rows)
        spread = np.hstack((np.diag(np.sqrt(gamma * seen / n)), np.zeros((m + 1, columns))))
        triangle = _triangle(triangle, spread)
        return np.asarray(np.linalg.lstsq(triangle[:, : m + 1], triangle[:, m + 1 :], rcond=None)[0], dtype=float)

    def of_queries(self, judged: Judged, metrics: Sequence[Metric], counted: Bools, ids: Mapping[str, Any]) -> Floats:
        """The values of the counted queries, from the sampled rank of each one's relevant item."""
        wrong = counted & ((judged.n_relevant != 1) | (judged.n_listed != self.negatives + 1))
        wrong[judged.query] |= counted[judged.query] & (judged.grade != 1)
        hits = np.bincount(judged.query, minlength=judged.n_queries)
        wrong |= counted & (hits != 1)
        if wrong.any():
            query = int(np.argmax(wrong))
            raise InputError(
                f"sampled: {who(ids, query)} has {judged.n_relevant[query]} relevant items and a list of "
                f"{judged.n_listed[query]}; estimates need one relevant item of grade 1 per user, ranked among "
                f"{self.negatives:,} sampled ones: a list of {self.negatives + 1:,}."
            )
        values = np.empty((judged.n_queries, sum(len(metric.cutoffs) for metric in metrics)))
        # Among equal scores the item stands at each of n places after t others alike.
        t, n = judged.ties if judged.averaged else (judged.rank - 1, np.ones(len(judged.rank), np.int64))
        running = np.concatenate((np.zeros((1, values.shape[1])), np.cumsum(self.estimates(metrics), axis=0)))
        alone = self.estimates(metrics)[t]
        values[judged.query] = np.where(n[:, None] == 1, alone, (running[t + n] - running[t]) / n[:, None])
        return values[counted]


@functools.lru_cache(maxsize=32)
def _estimates(sampled: Sampled, metrics: tuple[Metric, ...], _block: int) -> Floats:
    return sampled._estimates(metrics)


def check_of_rank(metric: Metric) -> None:
    """A metric can be estimated if it is a function of the rank of one relevant item."""
    pooled = isinstance(metric, Ratio) and metric.average == "pooled"
    try:
        if metric.needs or not metric.needs_truth or isinstance(metric, RunMetric) or pooled:
            raise SpecError("not of one user")
        at_ranks([metric], np.array([1.5]), 3)
    except SpecError as error:
        raise ProtocolError(
            f"{metric} cannot be estimated from a sample: it is not a function of the rank of one relevant item. "
            "Leave it out, or choose estimator='none'."
        ) from error


def _triangle(before: Floats, rows: Floats) -> Floats:
    return np.asarray(np.linalg.qr(np.vstack((before, rows)), mode="r"))


def at_ranks(metrics: Sequence[Metric], ranks: Floats | Ints, length: int) -> Floats:
    """The values of lists of a length with one relevant item, at each of the ranks: ranks x numbers."""
    n = len(ranks)
    judged = Judged(
        query=np.arange(n),
        rank=np.asarray(ranks),
        grade=np.ones(n),
        item=np.zeros(n, np.int64),
        n_relevant=np.ones(n, np.int64),
        n_listed=np.full(n, length),
        answered=np.ones(n, bool),
        grades=np.ones(n),
    )
    return np.hstack([metric.values(judged) for metric in metrics])
