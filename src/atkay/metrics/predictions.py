"""Predictions: scores beside outcomes that are known, for metrics of ratings and of clicks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from atkay.core.kernels import exact_sums, sums
from atkay.errors import InputError
from atkay.metrics.metric import Bools, Floats, Ints, Judged, Ratio, RunMetric, divide, word

DIGIT_BITS, DIGITS = 32, 136
"""How exact sums stand in a state: digits to the base 2^32, enough for any sum of products of two floats."""


class Predictions(NamedTuple):
    """Rows by query and rank: the score, the grade, and whether that is relevant."""

    query: Ints
    rank: Ints
    score: Floats
    grade: Floats
    relevant: Bools

    @property
    def error(self) -> Floats:
        """How far the score is above the grade."""
        return self.score - self.grade


def rows_field() -> Any:
    """The field that says which items have a known outcome."""
    return word(
        judged="the listed items that the truth has, relevant or not",
        listed="all listed items; those that the truth does not have are not relevant",
    )


def constant_field() -> Any:
    """The field for R² where all grades are the same, so that there is no spread to explain."""
    return word(
        skip="no value",
        zero="0, or 1 where all predictions are right; no value for a single row",
    )


def predictions(judged: Judged, metric: object, rows: str = "judged") -> Predictions:
    """The scores of the rows whose outcome is known."""
    known = judged.judgements if rows == "judged" else judged.listings
    listed = known.listed
    if known.score is None and len(listed.row):
        raise InputError(
            f"has no scores, which {metric} compares with what came of them",
            advice="Add a column of scores, or pass {user: {item: score}} or a matrix of scores.",
            table="recs",
        )
    score = np.empty(0) if known.score is None else known.score[listed.row].astype(float)
    return Predictions(listed.query, listed.rank, score, listed.grade.astype(float), listed.relevant)


def probabilities(score: Floats, metric: object) -> Floats:
    """Scores that are probabilities."""
    wrong = ~((score >= 0) & (score <= 1))
    if wrong.any():
        raise InputError(
            f"{int(wrong.sum()):,} of {len(score):,} scores lie outside 0 to 1, such as {score[wrong][0]:g}, "
            f"and {metric} reads them as such",
            advice="Pass probabilities between 0 and 1; or of=logits for scores that are log-odds.",
            table="recs",
        )
    return score


@dataclass(frozen=True)
class RowMean(Ratio):
    """The mean of a loss over rows: of all users together, or of each user."""

    needs_truth = False
    reads_scores = True
    averages = True  # the order of rows does not matter
    cuts = False
    bounded = False
    better = "lower"

    average: Literal["pooled", "users"] = word(
        pooled="the mean over the rows of all users", users="the mean of the users' means"
    )

    def losses(self, judged: Judged) -> tuple[Predictions, Floats]:
        """The rows, and the loss of each."""
        raise NotImplementedError

    def ratio(self, judged: Judged) -> tuple[Floats, Floats]:
        """The sum of the losses, and the number of rows."""
        rows, loss = self.losses(judged)
        total = sums(rows.query, rows.rank, loss, self.cutoffs, judged.n_queries)
        return total, sums(rows.query, rows.rank, None, self.cutoffs, judged.n_queries)

    def values(self, judged: Judged) -> Floats:
        return divide(*self.ratio(judged), np.nan)


@dataclass(frozen=True)
class OfRows(RunMetric):
    """A number of the rows of all users together. Rows of its state are counts, and an :func:`exact` sum."""

    reads_scores = True
    averages = True  # the order of rows does not matter
    per_item = False
    cuts = False
    bounded = False
    better = "lower"

    def predictions(self, judged: Judged) -> Predictions:
        """The rows that count."""
        return predictions(judged, self)

    def join(self, one: Ints, other: Ints) -> Ints:
        both = one + other
        for place in range(-DIGITS, -1):
            both[:, place + 1] += both[:, place] >> DIGIT_BITS
            both[:, place] &= (1 << DIGIT_BITS) - 1
        return both

    def users(self, judged: Judged) -> Ints:
        """The users that have such a row."""
        return np.array([len(np.unique(self.predictions(judged).query))])


def exact(*products: tuple[Floats, Floats]) -> Ints:
    """The exact sum of each row's products, none of which is negative, as digits: a row for each sum."""
    totals = [total for one, other in products for total in exact_sums(np.atleast_2d(one), np.atleast_2d(other))]
    width = DIGIT_BITS // 8 * DIGITS
    return np.array([np.frombuffer(total.to_bytes(width, "little"), "<u4") for total in totals], np.int64)


def read_exact(digits: Ints) -> list[int]:
    """The sums, in units of 2^-EXACT_POWER."""
    return [int.from_bytes(row.astype("<u4").tobytes(), "little") for row in digits]
