"""Expected exposure: whether items of the same grade get the attention that is due to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.judged import ties as expected
from atkay.metrics.metric import Definition, Floats, Ints, Judged, Metric, number, word
from atkay.metrics.worked import printed


@dataclass(frozen=True)
class ExpectedExposure(Metric):
    """How far the attention that a list gives to items is from what they deserve: expected exposure.

    The item at rank r gets the exposure ``e = patience^(r - 1)``, an item that is not in the top k none. It deserves
    ``e*``: items of a higher grade stand before those of a lower one, and all items of the same grade get the mean
    exposure of the places that they would fill together. An item that is not relevant deserves none.

    Conventions
    -----------
    of
        ``loss`` is ``Σ (e - e*)²`` over all items (EE-L), 0 if everybody gets what is due. It is ``EE-D - 2 EE-R + Σ
        e*²``: ``disparity``, ``Σ e²`` (EE-D), is how unevenly exposure is spread, and depends on the length of the list
        alone; ``relevance``, ``Σ e · e*`` (EE-R), is how much of it goes to those who deserve it.
    patience
        The chance that a user who has seen a place goes on to the next one, 0.5 by default.
    levels
        ``grades``: each grade is a level of its own. ``binary``: all relevant items deserve the same.

    Each user has one list here, so items of the same grade cannot take turns, and a loss of 0 is out of reach where a
    grade has several items: exposures of several lists for one query, as in the paper, are not averaged. With a cutoff,
    the places below it give no exposure, neither to the list nor to what is due.

    References
    ----------
    Diaz, Mitra, Ekstrand, Biega and Carterette, Evaluating stochastic rankings with expected exposure, 2020.

    Examples
    --------
    Two relevant items deserve (1 + 0.5) / 2 = 0.75 each. They stand at ranks 1 and 3, with exposures of 1 and 0.25; the
    item between them has 0.5 and deserves nothing: 0.0625 + 0.25 + 0.25.

    >>> lists, truth = {"ann": ["tea", "rye", "jam"]}, {"ann": ["tea", "jam"]}
    >>> atkay.evaluate(lists, truth, "expected_exposure@3")["expected_exposure@3"]
    0.5625
    """

    name = "expected_exposure"
    aliases = ("ee", "individual_exposure")
    bounded = False
    monotone = True
    averages = True

    of: Literal["loss", "disparity", "relevance"] = word(
        loss="the squared differences between exposure and target, summed",
        disparity="the squared exposures, summed",
        relevance="the exposures times their targets, summed",
    )
    levels: Literal["grades", "binary"] = word(
        grades="items of a higher grade deserve to stand higher", binary="all relevant items deserve the same"
    )
    patience: float = number(0.5, lambda value: 0 < value < 1, "a number between 0 and 1")

    @property
    def better(self) -> str:  # type: ignore[override]  # a word decides
        """A list that is cut at k has the same disparity, whatever it shows."""
        return {"loss": "lower", "disparity": "neither", "relevance": "higher"}[self.of]

    @property
    def needs_truth(self) -> bool:  # type: ignore[override]  # a word decides
        """Disparity asks for nothing but exposure."""
        return self.of != "disparity"

    @property
    def reads_lists(self) -> bool:  # type: ignore[override]  # a word decides
        """Disparity asks for every listed item."""
        return self.of == "disparity"

    @property
    def of_empty(self) -> bool:  # type: ignore[override]  # a word decides
        """Whoever deserved exposure got none."""
        return self.of == "loss"

    @property
    def of_one_gain(self) -> bool:  # type: ignore[override]  # a word decides
        """An item of another grade changes what is due to the others."""
        return self.levels == "grades"

    @property
    def across(self) -> bool:  # type: ignore[override]  # a word decides
        """With one more relevant item, less may be due to each."""
        return self.of == "loss"

    @property
    def by_length(self) -> bool:  # type: ignore[override]  # a word decides
        """Every place has its exposure."""
        return self.of == "disparity"

    @property
    def by_grade(self) -> bool:  # type: ignore[override]  # a word decides
        """Grades decide what is due."""
        return self.of != "disparity" and self.levels == "grades"

    def values(self, judged: Judged) -> Floats:
        gamma = self.patience
        listed = judged.listed(self.cutoffs).astype(float)
        disparity: Floats = (1 - gamma ** (2 * listed)) / (1 - gamma**2)
        if self.of == "disparity":
            return disparity
        query, size, target, tier = self._targets(judged)
        deserved = np.array([column.take(tier) for column in target.T])

        def exposure(rank: Ints) -> Floats:
            given: Floats = np.power(gamma, rank - 1.0)
            return given

        def exposed(worth: Floats, k: int) -> Floats:
            if judged.averaged:
                return expected.weighted(judged, worth, exposure, (k,))[:, 0]
            return judged.total(exposure(judged.rank) * worth, (k,))[:, 0]

        relevance: Floats = np.array(list(map(exposed, deserved, self.cutoffs))).T
        if self.of == "relevance":
            return relevance
        due = [np.bincount(query, size * column**2, judged.n_queries) for column in target.T]
        loss = np.maximum(disparity - 2 * relevance + np.array(due).T, 0)
        loss[judged.n_relevant == 0] = np.nan  # as no_truth=zero has it
        return loss

    def _targets(self, judged: Judged) -> tuple[Ints, Ints, Floats, Ints]:
        """The levels of each query, best first: query, number of items, the exposure due to each; the hits' levels."""
        query = np.repeat(np.arange(judged.n_queries), judged.n_relevant)
        grade, of_hits = judged.grades, judged.grade
        if self.levels == "binary":
            grade, of_hits = np.ones(len(grade)), np.ones(len(of_hits))
        new = np.flatnonzero((np.diff(query, prepend=-1) != 0) | (np.diff(grade, prepend=np.nan) != 0))
        size = np.diff(np.append(new, len(query)))
        before = new - judged.edges.take(query[new])
        depth = np.minimum.outer(before + size, self.cutoffs), np.minimum.outer(before, self.cutoffs)
        upto, above = ((1 - self.patience ** each.astype(float)) / (1 - self.patience) for each in depth)
        # Levels are in the order of queries and falling grades, and so are these numbers.
        kinds = np.unique(grade)
        level = query[new] * len(kinds) + len(kinds) - np.searchsorted(kinds, grade[new])
        hit = judged.query * len(kinds) + len(kinds) - np.searchsorted(kinds, of_hits)
        return query[new], size, (upto - above) / size[:, None], np.searchsorted(level, hit)

    def define(self) -> Definition:
        words, formula = {
            "loss": ("squared difference between an item's exposure and the exposure due to it, summed", "Σ (e - e*)²"),
            "disparity": ("squared exposure of an item, summed", "Σ e²"),
            "relevance": ("exposure of an item times the exposure due to it, summed", "Σ e · e*"),
        }[self.of]
        due = {
            "grades": "; due is the mean exposure of the places of all items of its grade, higher grades first",
            "binary": "; due to a relevant item is the mean exposure of the places that all of them would fill",
        }[self.levels]
        gamma = printed(self.patience)
        return Definition(
            f"{words} over all items; a rank in {self.top} gives the exposure {gamma}^(rank - 1)"
            f"{due if self.needs_truth else ''}",
            f"{formula}, e = {gamma}^(rank - 1)",
        )
