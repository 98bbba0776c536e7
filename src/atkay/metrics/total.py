"""Total: how many users, or items, an evaluation is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.metrics.count import Count, counts, items_field
from atkay.metrics.metric import Definition, Floats, Ints, Judged, RunMetric


@dataclass(frozen=True)
class Total(RunMetric):
    """The sum over users of what :class:`Count` counts, as trec_eval prints it for a run.

    Conventions
    -----------
    of
        As in :class:`Count`: ``listed``, ``relevant``, ``hits``, ``nonrelevant`` and ``unjudged``; ``users`` counts
        the users themselves (trec_eval's ``num_q``).

    Examples
    --------
    >>> recs, truth = {"ann": ["a", "x"], "bob": ["a"]}, {"ann": ["a"], "bob": ["b", "c"]}
    >>> result = atkay.evaluate(recs, truth, ["total", "total(of=relevant)", "total(of=hits)"])
    >>> list(result.values())
    [3.0, 3.0, 1.0]
    """

    name = "total"
    bounded = False
    per_item = False

    of: Literal["listed", "relevant", "hits", "nonrelevant", "unjudged", "users"] = items_field(
        users="users that are evaluated"
    )

    @property
    def by_length(self) -> bool:  # type: ignore[override]  # a word decides
        """Whether it does not matter which items are listed."""
        return self.of in ("listed", "relevant", "users")

    def state(self, judged: Judged) -> Ints:
        """The sum at each cutoff."""
        if self.of == "users":
            return self.users(judged)[:, None]
        return np.array([[total] for total in counts(self.of, judged, self.cutoffs).sum(axis=0)], np.int64)

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """The same as floats."""
        return state[:, 0].astype(float)

    def define(self) -> Definition:
        if self.of == "users":
            return Definition("number of users that are evaluated", "|U|")
        words, formula = Count(of=self.of, k=self.k).define()
        return Definition(f"sum over users of the {words}", f"Σ {formula}")
