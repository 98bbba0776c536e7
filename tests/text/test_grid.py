"""Tables of text: what a narrow terminal shows of them."""

import pytest

import atkay
from atkay.text import grid
from atkay.text.grid import Grid

ROW = ["a" * 30, "b" * 20, "c" * 10]
TABLE = Grid(("one", "two", "three"), [ROW], spare=("two", "three"))


@pytest.mark.parametrize(
    ("columns", "shown", "left_out"),
    [
        (64, ["one", "two", "three"], ""),  # 30 + 20 + 10 and two spaces between them, twice
        (63, ["one", "three"], "two"),
        (42, ["one", "three"], "two"),
        (41, ["one"], "two, three"),
    ],
)
def test_a_narrow_terminal_leaves_out_spare_columns(
    columns: int, shown: list[str], left_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid, "is_terminal", lambda stream: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    head, rule, row, *more = TABLE.text().splitlines()
    assert head.split() == shown
    assert len(rule) == len(row) <= columns
    assert more == ([f"(this terminal is too narrow for: {left_out})"] if left_out else [])


def test_a_pipe_has_every_column() -> None:
    assert TABLE.text().splitlines()[0].split() == ["one", "two", "three"]


def test_differences_fit_100_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = {user: ["i1", "i2"] for user in range(20)}
    runs = {
        "old": {user: ["i9", "i8" if user % 3 else "i1"] for user in truth},
        "new": {user: ["i1", "i2" if user % 4 else "i9"] for user in truth},
    }
    comparison = atkay.compare(runs, truth, "ndcg@10", baseline="old")
    monkeypatch.setattr(grid, "is_terminal", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "100")
    [line] = [line for line in repr(comparison).splitlines() if "significant" in line and "CI" in line]
    assert len(line) <= 100
    assert line.split()[:3] == ["ndcg@10", "↑", "new"]
