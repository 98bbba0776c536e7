"""Accuracy: how many items of the catalogue are rightly shown or rightly left out."""

from __future__ import annotations

from dataclasses import dataclass

from atkay.metrics.fall_out import of_catalog
from atkay.metrics.metric import Definition, Floats, Judged, Ratio


@dataclass(frozen=True)
class Accuracy(Ratio):
    """The share of the catalogue that the list has on the right side: shown and relevant, or neither.

    ``(h + C - R - (L - h)) / C``, with C the items of the catalogue and L those shown in the top k. It needs
    ``catalog``; items that are not in it do not count. In a large catalogue it is near 1 whatever is shown;
    :class:`MCC` is not.

    Conventions
    -----------
    average
        ``users`` is the mean of the users' shares; ``pooled`` is the same where all have one catalogue.

    References
    ----------
    Herlocker, Konstan, Terveen and Riedl, Evaluating collaborative filtering recommender systems, 2004.

    Examples
    --------
    Of six items, a is rightly shown and y, z, w are rightly left out; x is shown for nothing and b is missed.

    >>> result = atkay.evaluate({"ann": ["a", "x"]}, {"ann": ["a", "b"]}, "accuracy@2", catalog=list("abxyzw"))
    >>> round(result["accuracy@2"], 6)
    0.666667
    """

    name = "accuracy"
    needs = ("catalog",)
    reads_lists = True
    of_empty = True
    monotone = True

    def shuffles(self, judged: Judged) -> bool:
        """If nothing but the catalogue is listed, only the number of hits depends on the order."""
        return bool(judged.catalog.all())

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The items on the right side, and the catalogue."""
        hits, shown, relevant = of_catalog(judged, self.cutoffs)
        every = judged.catalog.sum() + 0 * shown
        return every - relevant - shown + 2 * hits, every

    def define(self) -> Definition:
        return Definition(
            f"items of the catalogue that are relevant and in {self.top}, or neither, divided by the catalogue",
            "(h + C - R - (L - h)) / C",
        )
