"""F1: precision and recall in one number."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.metrics.metric import Definition, Floats, Judged, Ratio, number
from atkay.metrics.worked import printed


@dataclass(frozen=True)
class F1(Ratio):
    """Precision and recall in one number, which is low when either is.

    ``(1 + b²) P R / (b² P + R)`` from P = h / k and R = h / relevant of the same user, which is
    ``(1 + b²) h / (b² relevant + k)``: the form that is computed, and that pools.

    Conventions
    -----------
    beta
        How many times recall counts as much as precision; 1 weighs them alike. In the harmonic mean it weighs b².
    average
        ``pooled`` puts the sums of all users into the same formula (micro-averaged F1).

    Without a cutoff k is the list's own length. No hit scores 0.

    References
    ----------
    van Rijsbergen, Information Retrieval, 1979.

    Examples
    --------
    Two hits in the top 4 and three relevant items: P = 1/2, R = 2/3, F1 = 2 · 2 / (3 + 4).

    >>> result = atkay.evaluate({"ann": ["a", "x", "b", "y"]}, {"ann": ["a", "b", "c"]}, "f1@4")
    >>> round(result["f1@4"], 4)
    0.5714
    """

    name = "f1"
    aliases = ("f", "f_beta", "fbeta", "f_score", "f1_score")
    monotone = True
    averages = True
    repeats = True

    beta: float = number(1.0, lambda beta: 0 < beta <= 1e6, "a number above 0, at most a million")

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """Numerator and denominator of the form that pools."""
        square = self.beta**2
        relevant, k = judged.n_relevant[:, None].astype(float), judged.depth(self.cutoffs)
        return (1 + square) * judged.total(1, self.cutoffs), square * relevant + k

    def expression(self, judged: Judged) -> str:
        hits, relevant, k = judged.total(1, self.cutoffs)[0, 0], judged.n_relevant[0], judged.depth(self.cutoffs)[0, 0]
        if self.beta == 1:
            return f"2 * {hits:g} / ({relevant} + {k})"
        square = f"{printed(self.beta)}^2"
        return f"(1 + {square}) * {hits:g} / ({square} * {relevant} + {k})"

    def define(self) -> Definition:
        k = "L" if self.k is None else str(self.k)
        if self.beta == 1:
            return Definition(f"harmonic mean of precision and recall in {self.top}", f"2 h / (R + {k})")
        beta = printed(self.beta)
        return Definition(
            f"harmonic mean of precision and recall in {self.top}, recall weighing {beta}² times as much",
            f"(1 + {beta}²) h / ({beta}² R + {k})",
        )
