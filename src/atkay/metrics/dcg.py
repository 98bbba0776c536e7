"""Discounted cumulative gain: graded relevance that counts less further down."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from atkay.errors import SpecError
from atkay.judged import ties as expected
from atkay.judged.judged import kept
from atkay.metrics.gains import (
    Given,
    discount_of,
    distinct_gain,
    gains,
    keeps_others,
    settled_gain,
    table_of,
    table_text,
)
from atkay.metrics.metric import WHOLE, Definition, Floats, Ints, Judged, Metric
from atkay.metrics.worked import added, printed
from atkay.words import Scale, is_table, word_or_table

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class DCG(Metric):
    """How much relevance the list shows, early ranks counting more.

    The sum of ``gain(grade) / discount(rank)`` over the hits in the top k.

    Conventions
    -----------
    gain
        ``exp2`` is 2^grade - 1 (Burges et al. 2005; web search, learning to rank); ``linear`` the grade itself
        (Järvelin and Kekäläinen 2002; trec_eval, ranx, scikit-learn, torchmetrics); ``binary`` 1 for every relevant
        item; ``exp2_above`` 2^(grade - min_relevance + 1) - 1, which is 1 for a grade of min_relevance, 0 where none
        is set (Elliot). On truth without grades nDCG is the same under all four.
    discount
        ``log2`` is log2(rank + 1); ``ln`` the natural logarithm of rank + 1 (Recommenders, Spark); ``jk`` max(1, log2
        rank), the original form, in which ranks 1 and 2 weigh the same (LensKit).

    Either can be a table instead: ``dcg(gain={1:1,2:3})``, ``DCG(gain={1: 1, 2: 3})``, with the gain of every grade
    above 0 in the truth, or the divisor of every rank down to the cutoff. With ``else:grade``, as in
    ``{1:1,2:9,else:grade}``, other grades are worth themselves (trec_eval, ir-measures), and a higher grade may be
    worth less. A function becomes such a table, for the grades 1 to 5 or for the ranks.

    No hit scores 0. It has no upper bound, so users with much relevance weigh more in its mean.

    References
    ----------
    Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, 2002.

    Examples
    --------
    Grades 3 and 1 at ranks 1 and 3: 7 / log2(2) + 1 / log2(4).

    >>> result = atkay.evaluate({"ann": ["a", "x", "b"]}, {"ann": {"a": 3, "b": 1}}, "dcg@3")
    >>> result["dcg@3"]
    7.5
    """

    name = "dcg"
    aliases: ClassVar[tuple[str, ...]] = ("discounted_cumulative_gain",)
    bounded = False
    averages = True
    repeats = True
    by_grade = True

    gain: Literal["exp2", "linear", "binary", "exp2_above"] | Scale = word_or_table(
        exp2="2^grade - 1", linear="the grade", binary="1", exp2_above="2^(grade - min_relevance + 1) - 1"
    )
    discount: Literal["log2", "ln", "jk"] | Scale = word_or_table(
        log2="log2(rank + 1)", ln="the natural logarithm of rank + 1", jk="max(1, log2 rank)"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gain", settled_gain(self.name, self.gain))
        if is_table(self.discount):
            deepest = max(self.cutoffs)
            if deepest == WHOLE:
                raise SpecError(f"{self.name}: a table or function of ranks needs a cutoff: write '@10', or k=10.")
            ranks = range(1, deepest + 1)
            object.__setattr__(self, "discount", table_text(self.name, "discount", self.discount, ranks))
            named = table_of(self.discount)
            if [*named] != [*range(1, len(named) + 1)] or len(named) < deepest or not named[1.0]:
                raise SpecError(
                    f"{self.name}: discount={self.discount} must divide each rank from 1 to {deepest} by a number "
                    "above 0."
                )

    @property
    def monotone(self) -> bool:  # type: ignore[override]  # a table decides
        """A higher grade can be worth less where a table leaves grades as they are."""
        return not keeps_others(self.gain)

    def values(self, judged: Judged) -> Floats:
        def work(cutoffs: Sequence[int]) -> Floats:
            worth, discount = gains(self.gain, judged.grade, judged.threshold), discount_of(self.discount)
            if judged.averaged:
                return expected.discounted(judged, worth, discount, cutoffs)
            return judged.total(worth / discount(judged.rank), cutoffs)

        gain = distinct_gain(self.gain, judged.grade, judged.threshold)
        return kept(judged.of_hits, (self.discount, gain), self.cutoffs, work)

    def plainest(self, judged: Judged) -> Self:
        """Where all grades are 1, gains are alike; ``exp2_above`` is worth more, or less, for an ideal of grade 1."""

        def worth(gain: Given) -> list[str | float]:
            return [distinct_gain(gain, grades, judged.threshold) for grades in (judged.grade, judged.grades)]

        first = next((gain for gain in ("exp2", "linear") if worth(gain) == worth(self.gain)), self.gain)
        return self if self.gain == "exp2_above" else replace(self, gain=first)

    def expression(self, judged: Judged) -> str:
        top = judged.rank <= self.cutoffs[0]
        return self._sum(judged.grade[top], judged.rank[top], judged.threshold)

    def _sum(self, grades: Floats, ranks: Ints, threshold: float) -> str:
        """The discounted gains of some grades at some ranks, written out."""
        above = f"(2^({{}} - {printed(threshold)} + 1) - 1)"
        of_grade = {"exp2": "(2^{} - 1)", "linear": "{}", "exp2_above": above}
        of_rank = {"log2": "log2({1})", "ln": "ln({1})", "jk": "max(1, log2({0}))"}
        gain = of_grade.get(str(self.gain), "{1}")
        discount = of_rank.get(str(self.discount), "{2}")
        worth, divisors = gains(self.gain, grades, threshold), discount_of(self.discount)(ranks)
        terms = (
            f"{'1' if one == 1 else gain.format(printed(float(grade)), printed(float(one)))} / "
            + discount.format(rank, rank + 1, printed(float(divisor)))
            for grade, one, rank, divisor in zip(grades, worth, ranks, divisors, strict=True)
        )
        return added(terms, len(ranks))

    def define(self) -> Definition:
        gain = {
            "exp2": "(2^grade - 1)",
            "linear": "grade",
            "binary": "1",
            "exp2_above": "(2^(grade - min_relevance + 1) - 1)",
        }.get(str(self.gain), f"{self.gain}[grade]")
        discount = {"log2": "log2(rank + 1)", "ln": "ln(rank + 1)", "jk": "max(1, log2 rank)"}
        term = f"{gain} / {discount.get(str(self.discount), f'{self.discount}[rank]')}"
        return Definition(f"sum of {term} over the relevant items in {self.top}", f"Σ {term}")
