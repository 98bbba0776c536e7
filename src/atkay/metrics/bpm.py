"""The bejewelled player model: a user who stops when enough was found, or when the time is up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atkay.metrics.gains import highest_grade
from atkay.metrics.metric import Definition, Floats, Judged, Metric, divide
from atkay.metrics.user_models import goal, running
from atkay.metrics.worked import printed


@dataclass(frozen=True)
class BPM(Metric):
    """The gain per item read by a user who stops as soon as the gain comes to t, at the latest at rank k.

    ``Σ min(grade / highest, 1) / s`` over the ranks up to s, where s is the first rank at which the sum is t or more,
    and k where that is not so in the top k: the static form of the model.

    Conventions
    -----------
    t
        How much the user looks for, in items of the highest grade: 1 by default.
    highest
        The highest grade of the scale, 1 by default; a grade counts as its share of it, a higher one as 1.

    Without a cutoff the time is up where the list ends, so that a shorter list can score higher. No hit scores 0.

    References
    ----------
    Zhang, Liu, Li, Zhang, Xu and Ma, Evaluating web search with a bejeweled player model, 2017.

    Examples
    --------
    The grades 1 and 2 of 2 at ranks 1 and 3 come to 3/2, which is t or more at rank 3: 3/2 over 3.

    >>> result = atkay.evaluate({"ann": ["a", "x", "b", "y"]}, {"ann": {"a": 1, "b": 2}}, "bpm(highest=2)@10")
    >>> result["bpm(highest=2)@10"]
    0.5
    """

    name = "bpm"
    aliases = ("bejewelled_player_model", "bejeweled_player_model")
    by_grade = True
    monotone = True
    of_one_gain = True

    t: float = goal()
    highest: float = highest_grade(1.0)

    def values(self, judged: Judged) -> Floats:
        gain = np.minimum(judged.grade, self.highest)
        enough = running(np.add, gain, judged.nth) >= self.t * self.highest
        stop = np.full(judged.n_queries, np.inf)
        np.minimum.at(stop, judged.query[enough], judged.rank[enough])
        read = np.minimum(stop[:, None], judged.depth(self.cutoffs))
        counted = gain * (judged.rank <= stop[judged.query])
        return np.minimum(divide(judged.total(counted, self.cutoffs) / self.highest, read), 1.0)

    def define(self) -> Definition:
        t, gain = printed(self.t), f"min(grade / {printed(self.highest)}, 1)"
        return Definition(
            f"sum of {gain} over the relevant items in {self.top} down to the rank s where it reaches {t}, over s",
            f"Σ {gain} / s",
        )
