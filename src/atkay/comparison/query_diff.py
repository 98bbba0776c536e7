"""Query diff: the lists of one user in two runs, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from atkay.text.grid import Grid, Tabular

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl


class ItemChange(NamedTuple):
    """An item of the top k of either run: its rank in each, None where it is not listed, and what the truth says.

    ``change`` is "entered" or "left" (the top k), "up", "down" or "same". ``grade`` is None where the truth does not
    judge the item, and ``relevant`` where there is no truth.
    """

    item: Any
    title: str | None
    rank_a: int | None
    rank_b: int | None
    change: str
    grade: float | None = None
    relevant: bool | None = None

    @property
    def name(self) -> str:
        """The title, or the id where there is none."""
        return str(self.item) if self.title is None else self.title

    @property
    def moved(self) -> str:
        """From where to where."""
        return f"{self.rank_a or '–'} → {self.rank_b or '–'}"


@dataclass(frozen=True, eq=False, repr=False)
class QueryDiff(Tabular):
    """What changed for one user: the items of either top k, those of run b first, in its order, then those that left.

    ``rbo`` and the other measures are those of :func:`atkay.overlap` for the top k; ``kept`` is the share of run a's
    top k that run b keeps. ``a``, ``b`` and ``difference`` are the metric's values and b - a, None where undefined.
    """

    query: Mapping[str, Any]
    names: tuple[str, str]
    k: int | None
    measures: Mapping[str, float | None]
    a: float | None
    b: float | None
    rows: tuple[ItemChange, ...]
    metric: str | None = None

    def __iter__(self) -> Any:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def difference(self) -> float | None:
        """The value in run b minus that in run a."""
        return None if self.a is None or self.b is None else self.b - self.a

    def to_dict(self) -> dict[str, Any]:
        """Everything as a JSON-compatible dict: the rows as dicts."""
        values = {} if self.metric is None else {"a": self.a, "b": self.b, "difference": self.difference}
        return {"query": {**self.query}, **self.measures, **values, "rows": [row._asdict() for row in self.rows]}

    def to_polars(self) -> pl.DataFrame:
        """A row per item."""
        import polars as pl

        schema = {"title": pl.String, "rank_a": pl.Int64, "rank_b": pl.Int64, "change": pl.String}
        schema |= {"grade": pl.Float64, "relevant": pl.Boolean}
        columns = {name: [getattr(row, name) for row in self.rows] for name in ItemChange._fields}
        return pl.DataFrame(columns, schema_overrides=schema)

    def _grid(self) -> Grid:
        """A row per rank: the item of run a and where it went, the item of run b and where it came from."""
        gone = {row.rank_a: row for row in self.rows if row.rank_a and row.change != "entered"}
        come = {row.rank_b: row for row in self.rows if row.rank_b and row.change != "left"}
        header = ("rank", self.names[0], "goes to", self.names[1], "comes from")
        rows = [
            (
                f"{rank}",
                *_cells(gone.get(rank), "rank_b", "left"),
                *_cells(come.get(rank), "rank_a", "entered"),
            )
            for rank in range(1, max([0, *gone, *come]) + 1)
        ]
        return Grid(header, rows, right=("rank",))

    def _notes(self) -> Sequence[str]:
        who = ", ".join(map(str, self.query.values()))
        counts = {
            change: sum(row.change == change for row in self.rows) for change in ("entered", "left", "up", "down")
        }
        depth = "whole lists" if self.k is None else f"top {self.k}"
        changes = f"{counts['entered']} entered, {counts['left']} left, {counts['up']} up, {counts['down']} down"
        notes = [f"{who}, {depth}: {changes}; rbo {shown(self.measures['rbo'])}"]
        if self.metric is not None:
            change = "undefined" if self.difference is None else f"{self.difference:+.4f}"
            notes.append(
                f"{self.metric}: {shown(self.a)} → {shown(self.b)} ({change}). ✓ relevant, ✗ judged not relevant"
            )
        return notes


def shown(value: float | None) -> str:
    """A value, or a dash where there is none."""
    return "–" if value is None else f"{value:.4f}"


def _cells(row: ItemChange | None, elsewhere: str, changed: str) -> tuple[str, str]:
    """An item with what the truth says of it, and its rank in the other run."""
    if row is None:
        return "", ""
    mark = "" if row.grade is None else f" {'✓' if row.relevant else '✗'}"
    grade = f" {row.grade:g}" if row.relevant and row.grade not in (None, 1) else ""
    rank = getattr(row, elsewhere)
    arrow = {"up": f"↑ {rank}", "down": f"↓ {rank}", "same": "="}.get(row.change)
    outside = f"{changed} ({rank})" if rank else changed
    return f"{row.name}{mark}{grade}", arrow or outside
