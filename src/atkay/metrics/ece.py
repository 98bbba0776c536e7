"""Expected calibration error: whether predicted probabilities come true as often as they say."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from atkay.core.reference import EXACT_POWER
from atkay.metrics.metric import Definition, Floats, Ints, Judged, number, word
from atkay.metrics.predictions import OfRows, Predictions, exact, predictions, probabilities, read_exact, rows_field
from atkay.metrics.worked import printed


@dataclass(frozen=True)
class ECE(OfRows):
    """Whether predicted probabilities come true as often as they say.

    Rows are put into bins by their probability p, and ``Σ n_b / n |mean p - share of relevant rows|`` is taken over the
    bins. 0 is calibrated: of what was predicted with 0.2, a fifth is clicked. It says nothing about the order.

    Conventions
    -----------
    bins
        How many bins of equal width there are, 15 as in Guo et al. A p on an edge belongs to the upper bin, and 1 to
        the last (torchmetrics puts 1 into a bin of its own; the paper's bins have their upper edge).
    of
        ``probabilities`` takes scores as they are, and refuses those below 0 or above 1; ``logits`` takes scores as
        log-odds, p = 1 / (1 + e^-score).
    rows
        ``judged`` counts the listed items that the truth has, with grades of 0 for those that were shown in vain;
        ``listed`` counts all listed items, those that the truth does not have as not relevant: the lists are what was
        shown, the truth is the clicks.

    Undefined without a row. A user with nothing relevant counts under ``no_truth=zero``, and is left
    out by default.

    References
    ----------
    Naeini, Cooper and Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning, 2015.
    Guo et al., On calibration of modern neural networks, 2017.

    Examples
    --------
    Two bins: of 0.1 and 0.3 none came true, of 0.5 and 0.7 one of two: 2/4 · |0.2 - 0| + 2/4 · |0.6 - 0.5|.

    >>> recs, truth = {"ann": {"a": 0.1, "b": 0.3, "c": 0.5, "d": 0.7}}, {"ann": {"a": 0, "b": 0, "c": 0, "d": 1}}
    >>> round(atkay.evaluate(recs, truth, "ece(bins=2)")["ece(bins=2)"], 4)
    0.15
    """

    name = "ece"
    aliases = ("expected_calibration_error",)
    bounded = True

    bins: float = number(15.0, lambda bins: 1 <= bins <= 1000 and bins % 1 == 0, "an integer from 1 to 1,000")
    of: Literal["probabilities", "logits"] = word(
        probabilities="the score is the probability", logits="the score is the log-odds"
    )
    rows: Literal["judged", "listed"] = rows_field()

    def predictions(self, judged: Judged) -> Predictions:
        return predictions(judged, self, self.rows)

    def state(self, judged: Judged) -> Ints:
        """Of each bin: rows, relevant rows, and the exact sum of p."""
        rows, bins = self.predictions(judged), int(self.bins)
        p = np.exp(-np.logaddexp(0, -rows.score)) if self.of == "logits" else probabilities(rows.score, self)
        place = np.searchsorted(np.arange(1, bins) / bins, p, side="right")
        inside = [p[place == one] for one in range(bins)]
        counts = np.bincount(place, minlength=bins), np.bincount(place[rows.relevant], minlength=bins)
        return np.column_stack((*counts, exact(*((one, np.ones(len(one))) for one in inside))))

    def finish(self, state: Ints, judged: Judged) -> Floats:
        """The differences of the bins, each by its share of the rows."""
        relevant, n = state[:, 1].tolist(), int(state[:, 0].sum())
        differences = (
            abs(Fraction(p, 1 << EXACT_POWER) - hits)
            for p, hits in zip(read_exact(state[:, 2:]), relevant, strict=True)
        )
        return np.array([float(sum(differences) / n) if n else np.nan])

    def define(self) -> Definition:
        p = {"probabilities": "the score", "logits": "1 / (1 + e^-score)"}[self.of]
        return Definition(
            f"difference of the mean p and the share of relevant rows, p being {p}, averaged over "
            f"{printed(self.bins)} bins of p by their rows",
            "Σ n_b / n |mean p - mean [relevant]|",
        )
