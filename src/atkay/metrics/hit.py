"""Hit rate: whether anything relevant is listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.lists import constant
from atkay.judged import ties as expected
from atkay.metrics.metric import Definition, Floats, Ints, Judged, Ratio, word
from atkay.metrics.worked import printed


@dataclass(frozen=True)
class HitRate(Ratio):
    """The share of users who are shown at least one relevant item.

    1 where h > 0, else 0, with h the hits in the top k.

    Conventions
    -----------
    count
        ``any`` is the hit rate of most libraries (trec_eval calls it success); ``share`` is one user's "hit rate" in
        some course notes, h / L; ``number`` is h itself (RecPack's HitK, ranx's hits).

    average
        ``pooled`` matters for ``share`` alone: all hits over all listed items.

    An empty list scores 0.

    References
    ----------
    Deshpande and Karypis, Item-based top-N recommendation algorithms, 2004.

    Examples
    --------
    >>> result = atkay.evaluate({"ann": ["a", "x", "b"], "bob": ["y"]}, {"ann": ["a", "b"], "bob": ["z"]},
    ...                         ["hit@3", "hit(count=share)@3", "hit(count=number)@3"])
    >>> result["hit@3"], round(result["hit(count=share)@3"], 4), result["hit(count=number)@3"]
    (0.5, 0.3333, 1.0)
    """

    name = "hit"
    aliases = ("hr", "hit_rate", "hitrate", "hit_ratio", "success")
    monotone = True
    averages = True
    repeats = True

    count: Literal["any", "share", "number"] = word(
        any="1 where at least one item is relevant",
        share="the share of the listed items that are relevant",
        number="how many listed items are relevant",
    )

    @property
    def bounded(self) -> bool:  # type: ignore[override]  # a word decides
        """A number of hits has no bound."""
        return self.count != "number"

    def ratio(self, judged: Judged) -> tuple[Floats, Floats | Ints]:
        """What is counted, and what it is divided by."""
        hits = judged.total(1, self.cutoffs)
        if self.count == "share":
            return hits, judged.listed(self.cutoffs)
        if self.count == "any":
            hits = expected.any_hit(judged, self.cutoffs) if judged.averaged else np.minimum(hits, 1.0)
        return hits, constant(1.0, hits.shape)

    def expression(self, judged: Judged) -> str:
        if self.count == "share":
            return super().expression(judged)
        hits = printed(float(judged.total(1, self.cutoffs)[0, 0]))
        return f"min(1, {hits})" if self.count == "any" else hits

    def define(self) -> Definition:
        return {
            "any": Definition(f"1 where {self.top} holds a relevant item, else 0", "[h > 0]"),
            "share": Definition(f"relevant items in {self.top}, divided by the number of items listed there", "h / L"),
            "number": Definition(f"relevant items in {self.top}", "h"),
        }[self.count]
