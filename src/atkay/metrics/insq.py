"""INSQ: precision for a user who reads on more readily, the further down already."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.metrics.gains import highest_grade
from atkay.metrics.metric import Definition, Floats, Judged, Metric
from atkay.metrics.user_models import goal, inverse_squares, share_of_highest
from atkay.metrics.worked import printed


@dataclass(frozen=True)
class INSQ(Metric):
    """The gain per item read by a user who hopes for t items and gives up slowly.

    ``Σ w_r min(grade / highest, 1) / Σ w_r`` with ``w_r = (2t / (r - 1 + 2t))²``, the chance that rank r is read: the
    further down a user is, the likelier the next item is read too.

    Conventions
    -----------
    t
        How much the user hopes to find, in items of the highest grade: 1 by default, a short search.
    highest
        The highest grade of the scale, 1 by default; a grade counts as its share of it, a higher one as 1.

    Without a cutoff the list is read as if it went on for ever with nothing of use in it; ``@k`` has the reading stop
    at rank k, as the cwl_eval program does at 1,000. What was gained does not change how far the user reads: that is
    :class:`INST`. No hit scores 0.

    References
    ----------
    Moffat, Scholer and Thomas, Models and metrics: IR evaluation as a user process, 2012.

    Examples
    --------
    Hits at ranks 1 and 3; the ranks are read with chance 1, (2/3)² and (2/4)²: (1 + 1/4) / (1 + 4/9 + 1/4).

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b"]}, "insq@3")
    >>> round(result["insq@3"], 6)
    0.737705
    """

    name = "insq"
    monotone = True
    averages = True
    by_grade = True

    t: float = goal()
    highest: float = highest_grade(1.0)

    def values(self, judged: Judged) -> Floats:
        gain = share_of_highest(judged.grade, self.highest)
        return inverse_squares(self.t).precision(judged, gain, self.cutoffs)

    def define(self) -> Definition:
        twice, highest = printed(2 * self.t), printed(self.highest)
        gain, weight = f"min(grade / {highest}, 1)", f"({twice} / (rank - 1 + {twice}))^2"
        return Definition(
            f"sum of {gain} · {weight} over the relevant items in {self.top}, over the sum of the second factor",
            f"Σ w · {gain} / Σ w, w = {weight}",
        )
