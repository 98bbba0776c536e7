"""Star ratings: who says nothing about min_relevance is told that poor ratings count as relevant."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from scipy import sparse

import atkay
from atkay.cli.app import app
from atkay.errors import RelevanceWarning
from atkay.inputs.coding.grades import Grades

if TYPE_CHECKING:
    from pathlib import Path

USERS = 20
RECS = pl.DataFrame({"user": np.repeat(np.arange(USERS), 2), "item": [0, 1] * USERS, "score": [2.0, 1.0] * USERS})
ENGINES: list[dict[str, Any]] = [{}, {"memory": "1KB"}]


def truth(*grades: float) -> pl.DataFrame:
    """Each user rates as many items as there are grades."""
    n = len(grades)
    return pl.DataFrame(
        {
            "user": np.repeat(np.arange(USERS), n),
            "item": [*range(n)] * USERS,
            "rating": [float(g) for g in grades] * USERS,
        }
    )


def test_the_warning() -> None:
    with pytest.warns(RelevanceWarning) as caught:
        atkay.evaluate(RECS, truth(1, 2, 3, 4, 5), "map")
    assert [str(each.message) for each in caught] == [
        # Of each user's five ratings two are 1 or 2: 2 * 20 of 5 * 20.
        "truth: the grades 1 to 5 look like star ratings, and every rated item counts as relevant, also the 40 (40 %) "
        "rated 1 and 2. Pass min_relevance=4 to count liked items alone, or min_relevance=1 to say that all count."
    ]


@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "files"])
@pytest.mark.parametrize(
    ("grades", "words"),
    [
        ((5, 3, 1), r"the 20 \(33 %\) rated 1\. Pass min_relevance=4 .* or min_relevance=1 to"),
        ((0.5, 1, 2, 5), r"the 60 \(75 %\) rated 0\.5 to 2\. Pass min_relevance=4 .* or min_relevance=0\.5 to"),
        ((1.5, 4.5), r"grades 1\.5 to 4\.5 .* the 20 \(50 %\) rated 1\.5\. Pass min_relevance=4 "),
        ((10, 4, 3, 5), r"grades 3 to 10 .* the 40 \(50 %\) rated 3 and 4\. Pass min_relevance=8 "),
    ],
)
def test_ratings(grades: tuple[float, ...], words: str, engine: dict[str, Any]) -> None:
    with pytest.warns(RelevanceWarning, match=words):
        atkay.evaluate(RECS, truth(*grades), "map", **engine)


@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "files"])
@pytest.mark.parametrize(
    "grades",
    [
        (1,), (0, 1), (0, 1, 2, 3, 4), (1, 2, 3), (1, 2, 3, 4), (-2, 0, 1, 2, 3),  # judgments
        (0, 1, 2, 3, 4, 5), (-1, 1, 3, 5),  # judgments, too: nobody gives no star
        (1, 5),  # two values
        (3, 4, 5), (4, 4.5, 5),  # chosen already
        (1, 2, 3, 6), (1, 2, 3, 7, 12), (1, 1.3, 2.7, 5),  # counts, numbers of a model
    ],
)  # fmt: skip
def test_other_grades(grades: tuple[float, ...], engine: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RelevanceWarning)
        atkay.evaluate(RECS, truth(*grades), "map", **engine)


@pytest.mark.parametrize("said", [{"min_relevance": 0}, {"min_relevance": 4}, {"dialect": "ranx"}])
def test_what_is_said_is_meant(said: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RelevanceWarning)
        atkay.evaluate(RECS, truth(1, 2, 3, 4, 5), "map", **said)


def test_nothing_is_said_by_none_and_by_dialects_without_a_threshold() -> None:
    said: Any
    for said in ({"min_relevance": None}, {"dialect": "torchmetrics"}):
        with pytest.warns(RelevanceWarning):
            atkay.evaluate(RECS, truth(1, 2, 3, 4, 5), "map", **said)


def test_metrics_without_truth() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RelevanceWarning)
        atkay.evaluate(RECS, truth(1, 2, 3, 4, 5), "coverage", catalog=[*range(9)])


def test_streams_and_full_ranking() -> None:
    grade, scores = np.array([[1.0, 3.0, 5.0], [2.0, 4.0, 0.0]]), np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]])
    words = r"the 2 \(40 %\) rated 1 and 2"  # of five ratings
    rows = sparse.csr_array(grade)
    stream, other = (atkay.Stream("map", n_items=3) for _ in range(2))
    stream.update(scores=scores[:1], targets=rows[:1])
    other.update(scores=scores[1:], targets=rows[1:])
    restored = atkay.Stream.from_bytes(stream.to_bytes())
    stream.merge(other)
    restored.merge(other.to_bytes())
    for each in (stream, restored, atkay.Stream.from_bytes(stream.to_bytes())):
        with pytest.warns(RelevanceWarning, match=words):
            each.compute()
    torch = pytest.importorskip("torch")
    matrix = torch.tensor(scores)
    with pytest.warns(RelevanceWarning, match=words):
        atkay.FullRanking(rows, "map").evaluate_scores(lambda users: matrix[users])


def test_the_shell_names_its_option(tmp_path: Path) -> None:
    RECS.write_csv(tmp_path / "recs.csv")
    truth(1, 3, 5).write_csv(tmp_path / "truth.csv")
    paths = [str(tmp_path / name) for name in ("recs.csv", "truth.csv")]
    said = CliRunner().invoke(app, ["evaluate", *paths, "-m", "map"], prog_name="atkay").stderr
    assert "Pass --min-relevance 4 to count liked items alone, or --min-relevance 1 to say" in said
    line = ["evaluate", *paths, "-m", "map", "--min-relevance", "1"]
    assert not CliRunner().invoke(app, line, prog_name="atkay").stderr


def test_parts_add_up() -> None:
    parts = [Grades.of(np.array(each)) for each in ([1.0, 1.0], [4.5, 2.0], [5.0])]
    one, two, three = (part for part in parts if part is not None)
    whole = Grades.of(np.array([1.0, 1.0, 4.5, 2.0, 5.0]))
    assert one.merge(two).merge(three) == three.merge(one).merge(two) == whole
    assert whole is not None
    assert Grades.of_record([*whole[:3], list(whole.stars)]) == whole
    without = Grades.of(np.array([0.0, 5.0]))
    assert without is not None
    assert whole.poor() == (2 + 1, 5, (1.0, 2.0), 4)  # 1, 1 and 2
    assert without.merge(whole).poor() is None
