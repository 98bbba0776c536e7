"""INST: precision for a user whose hope for more falls with what was found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.metrics.gains import highest_grade
from atkay.metrics.metric import Definition, Floats, Judged, Metric, divide
from atkay.metrics.user_models import before, goal, inverse_squares, share_of_highest, squares
from atkay.metrics.worked import printed


@dataclass(frozen=True)
class INST(Metric):
    """The gain per item read by a user who hopes for t items, and reads on for what is still missing.

    The user goes on from rank r with chance ``((r - 1 + t + T_r) / (r + t + T_r))²``, where T_r is what is still hoped
    for there: t less the gain of the ranks 1 to r. The gain of an item is ``min(grade / highest, 1)``, and the value
    is the expected gain over the expected number of items read.

    Conventions
    -----------
    t
        How much the user hopes to find, in items of the highest grade: 1 by default, a short search.
    highest
        The highest grade of the scale, 1 by default; a grade counts as its share of it, a higher one as 1.

    Without a cutoff the list is read as if it went on for ever with nothing of use in it; ``@k`` has the reading stop
    at rank k, as the cwl_eval program does at 1,000. No hit scores 0.

    References
    ----------
    Moffat, Bailey, Scholer and Thomas, INST: an adaptive metric for information retrieval evaluation, 2015.

    Examples
    --------
    Hits at ranks 1 and 3, t = 1. After the first the user hopes for nothing more and goes on with chance (1/2)², from
    rank 2 with (2/3)²: the ranks are read with chance 1, 1/4 and 1/9, so it is (1 + 1/9) / (1 + 1/4 + 1/9).

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b"]}, "inst@3")
    >>> round(result["inst@3"], 6)
    0.816327
    """

    name = "inst"
    by_grade = True

    t: float = goal()
    highest: float = highest_grade(1.0)

    def values(self, judged: Judged) -> Floats:
        # From one hit to the next the chances to go on cancel out: below a hit at rank r, rank r + i is read with
        # chance (c / (a + 1 - gain + i - 1))², where a = r - 1 + 2t - the gain above it.
        twice, rank, nth = 2 * self.t, judged.rank, judged.nth
        gain = share_of_highest(judged.grade, self.highest)
        a = rank - 1 + twice - before(np.add, gain, nth)
        kept = twice * before(np.multiply, 1 - gain / a, nth)
        chance, c = (kept / a) ** 2, kept * (1 - gain / a)
        follows = np.diff(judged.query, append=-1) == 0
        following = np.where(follows, np.append(rank[1:], 0), np.inf)
        first = np.full(judged.n_queries, np.inf)
        first[judged.query[nth == 1]] = rank[nth == 1]
        last = inverse_squares(self.t).last(judged, self.cutoffs)
        reads = twice**2 * squares(twice, np.minimum(first[:, None], last))
        for column, end in enumerate(last.T):
            below = np.minimum(following, end[judged.query]) - rank
            seen = below > 0
            more = c[seen] ** 2 * squares((a + 1 - gain)[seen], below[seen])
            reads[:, column] += np.bincount(judged.query[seen], more, judged.n_queries)
        return np.minimum(divide(judged.total(gain * chance, self.cutoffs), reads), 1.0)

    def define(self) -> Definition:
        t, highest = printed(self.t), printed(self.highest)
        return Definition(
            f"expected gain per item read in {self.top} by a user who hopes for {t} and goes on with chance "
            f"((rank - 1 + {t} + T) / (rank + {t} + T))^2, T what is still hoped for, min(grade / {highest}, 1) an "
            "item's gain",
            f"Σ W gain / Σ W, W = Π ((i - 1 + {t} + T_i) / (i + {t} + T_i))^2, T_i = {t} - Σ gain",
        )
