"""R-precision: precision where recall could just be complete."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.core.kernels import sums
from atkay.judged import ties as expected
from atkay.metrics.metric import Definition, Floats, Ints, Judged, Metric, divide, number
from atkay.metrics.worked import printed, quotient

ROUNDING = 0.9
"""What trec_eval adds before it cuts the digits of a number of places: only a rest below a tenth is not rounded up."""


@dataclass(frozen=True)
class RPrecision(Metric):
    """The share of relevant items among as many places as there are relevant items, or a multiple of it.

    Hits in the top R, divided by R, with R the user's relevant items. It takes no cutoff.

    Conventions
    -----------
    multiple
        Precision at this multiple of R, 1 by default (trec_eval's ``Rprec_mult``): low multiples show whether early
        places are right, high ones whether much is found. The number of places is floor(multiple · R + 0.9), as
        trec_eval rounds it; where that is 0 the value is 0.

    Users without a relevant item have none: the protocol's ``no_truth`` says what they score, if they count.

    References
    ----------
    Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, chapter 8.

    Examples
    --------
    Three relevant items, one of them in the top 3:

    >>> result = atkay.evaluate({"ann": ["a", "x", "y", "b"]}, {"ann": ["a", "b", "c"]}, "r_precision")
    >>> round(result["r_precision"], 4)
    0.3333

    Two relevant items among the first 2 · 3 places:

    >>> result = atkay.evaluate({"ann": ["a", "x", "y", "b"]}, {"ann": ["a", "b", "c"]}, "r_precision(multiple=2)")
    >>> round(result["r_precision(multiple=2)"], 4)
    0.3333
    """

    name = "r_precision"
    aliases = ("rprecision", "r_prec", "rprec")
    monotone = True
    cuts = False
    averages = True

    multiple: float = number(1.0, lambda multiple: 0 < multiple <= 1e6, "a number above 0, at most a million")

    def values(self, judged: Judged) -> Floats:
        places = self._places(judged.n_relevant)
        enough = places[judged.query]
        early = expected.share(judged, enough) if judged.averaged else (judged.rank <= enough).astype(float)
        return divide(sums(judged.query, judged.rank, early, self.cutoffs, judged.n_queries), places[:, None])

    def _places(self, relevant: Ints) -> Ints:
        """How many places count, of users with this number of relevant items."""
        places: Ints = np.floor(self.multiple * relevant + ROUNDING).astype(np.int64)
        return places

    def expression(self, judged: Judged) -> str:
        places = int(self._places(judged.n_relevant)[0])
        return quotient(str((judged.rank <= places).sum()), str(places))

    def define(self) -> Definition:
        if self.multiple == 1:
            return Definition(
                "relevant items among the first R listed, divided by R, the number of relevant items", "h@R / R"
            )
        m = printed(self.multiple)
        return Definition(
            f"relevant items among the first n listed, divided by n, {m} times the number of relevant items", "h@n / n"
        )
