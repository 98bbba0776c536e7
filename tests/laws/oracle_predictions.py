"""The oracle's metrics of ratings and clicks, in plain loops: scores beside outcomes that are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple, cast

from oracle_hits import Case, Data, Formula, Words, choose


class Seen(NamedTuple):
    """A prediction and what came of it."""

    score: float
    grade: float
    relevant: bool


def seen(case: Case, words: Words) -> list[Seen]:
    every = choose(words, "rows", {"judged": False, "listed": True})
    return [
        Seen(cast("float", entry.score), entry.stated or 0.0, entry.grade is not None)
        for entry in case.entries
        if every or entry.judged
    ]


def probability(score: float, words: Words) -> float:
    if not choose(words, "of", {"probabilities": False, "logits": True}):
        return score
    return 1 / (1 + math.exp(-score))


def squared(case: Case, words: Words) -> tuple[float, float]:
    rows = seen(case, words)
    return math.fsum((row.score - row.grade) ** 2 for row in rows), len(rows)


def absolute(case: Case, words: Words) -> tuple[float, float]:
    rows = seen(case, words)
    return math.fsum(abs(row.score - row.grade) for row in rows), len(rows)


def surprise(case: Case, words: Words) -> tuple[float, float]:
    rows = [(probability(row.score, words), row.relevant) for row in seen(case, words)]
    return -math.fsum(math.log(p if relevant else 1 - p) for p, relevant in rows), len(rows)


def quotient(parts: tuple[float, float]) -> float:
    return parts[0] / parts[1] if parts[1] else math.nan


def explained(rows: Sequence[Seen], words: Words) -> float:
    """R², in fractions."""
    grades = [Fraction(row.grade) for row in rows]
    mean = sum(grades, Fraction()) / max(len(grades), 1)
    spread = sum(((grade - mean) ** 2 for grade in grades), Fraction())
    left = sum(((Fraction(row.score) - Fraction(row.grade)) ** 2 for row in rows), Fraction())
    if spread:
        return float(1 - left / spread)
    finite = choose(words, "constant", {"skip": False, "zero": True})
    return float(not left) if finite and len(rows) > 1 else math.nan


# Of one user.


def mse(case: Case, words: Words) -> float:
    return quotient(squared(case, words))


def mae(case: Case, words: Words) -> float:
    return quotient(absolute(case, words))


def log_loss(case: Case, words: Words) -> float:
    return quotient(surprise(case, words))


def user_rmse(case: Case, words: Words) -> float:
    return math.sqrt(mse(case, words))


def user_r2(case: Case, words: Words) -> float:
    return explained(seen(case, words), words)


# Of all users together.


def of_all(cases: Sequence[Case], words: Words) -> list[Seen]:
    return [row for case in cases for row in seen(case, words)]


def rmse(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    parts = [squared(case, words) for case in cases]
    return math.sqrt(quotient((math.fsum(total for total, _ in parts), sum(n for _, n in parts))))


def r2(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    return explained(of_all(cases, words), words)


def row_auc(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    rows = of_all(cases, words)
    pairs = [(one, other) for one in rows for other in rows if one.relevant and not other.relevant]
    right = sum((one.score > other.score) + (one.score == other.score) / 2 for one, other in pairs)
    return quotient((right, len(pairs)))


def ece(cases: Sequence[Case], words: Words, k: int | None, data: Data) -> float:
    bins, rows = int(words.get("bins", 15)), of_all(cases, words)
    total = 0.0
    for one in range(bins):
        inside = [
            (p, row.relevant) for row in rows if min(int((p := probability(row.score, words)) * bins), bins - 1) == one
        ]
        total += abs(math.fsum(p - relevant for p, relevant in inside))
    return quotient((total, len(rows)))


def with_rows(cases: Sequence[Case], words: Words) -> int:
    return sum(bool(seen(case, words)) for case in cases)


ROWS: dict[str, tuple[Formula, set[str]]] = {
    "mse": (mse, {"average"}),
    "mae": (mae, {"average"}),
    "log_loss": (log_loss, {"of", "rows", "average"}),
    "user_rmse": (user_rmse, set()),
    "user_r2": (user_r2, {"constant"}),
}
POOLED_ROWS = {"mse": squared, "mae": absolute, "log_loss": surprise}

RUN_ROWS: dict[str, tuple[Callable[[Sequence[Case], Words, int | None, Data], float], set[str]]] = {
    "rmse": (rmse, set()),
    "r2": (r2, {"constant"}),
    "row_auc": (row_auc, {"rows"}),
    "ece": (ece, {"bins", "of", "rows"}),
}
