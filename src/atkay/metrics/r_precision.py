"""R-precision: precision where recall could just be complete."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.core.kernels import sums
from atkay.judged import ties as expected
from atkay.metrics.metric import Definition, Floats, Judged, Metric, divide


@dataclass(frozen=True)
class RPrecision(Metric):
    """The share of relevant items among as many places as there are relevant items.

    Hits in the top R, divided by R, with R the user's relevant items. It takes no cutoff.

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
    """

    name = "r_precision"
    aliases = ("rprecision", "r_prec", "rprec")
    cuts = False
    averages = True

    def values(self, judged: Judged) -> Floats:
        relevant = judged.n_relevant
        enough = relevant[judged.query]
        early = expected.share(judged, enough) if judged.averaged else (judged.rank <= enough).astype(float)
        return divide(sums(judged.query, judged.rank, early, self.cutoffs, judged.n_queries), relevant[:, None])

    def expression(self, judged: Judged) -> str:
        relevant = judged.n_relevant[0]
        return f"{(judged.rank <= relevant).sum()} / {relevant}"

    def define(self) -> Definition:
        return Definition(
            "relevant items among the first R listed, divided by R, the number of relevant items", "h@R / R"
        )
