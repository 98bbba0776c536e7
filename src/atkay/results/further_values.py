"""Further values: tables with further values of each number of a result, and of each user."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from atkay.errors import NumberError
from atkay.text.grid import Grid, Tabular

if TYPE_CHECKING:
    import polars as pl

    from atkay.core.types import Floats
    from atkay.metrics.metric import Metric
    from atkay.results.numbers import Numbers

R = TypeVar("R", bound=tuple[float, ...])


@dataclass(frozen=True, eq=False, repr=False)
class FurtherValues(Tabular, Generic[R]):
    """Several values of each number of a result; ``refused`` says which numbers have none, and why.

    ``users`` has those of each user, by value and number.
    """

    _internal = "ids names parts rows users"

    header: ClassVar[tuple[str, ...]]
    rows: Numbers[R]
    refused: Mapping[str, str]
    users: Mapping[str, Mapping[str, Floats]]
    ids: Mapping[str, Any]
    names: Mapping[str, str]
    """The dialect's names of metrics, and our specs for them."""

    def __getitem__(self, name: str | Metric) -> R:
        spec = self.names.get(str(name), str(name))
        if spec in self.refused:
            raise NumberError(f"{spec} has no {type(self).__name__.lower()}: {self.refused[spec]}.")
        return self.rows[spec]

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def table(self) -> pl.DataFrame:
        """A row per number."""
        from atkay.core.forks import polars as pl

        schema = {"metric": pl.String, **dict.fromkeys(self.header, pl.Float64)}
        rows = [(name, *row) for name, row in self.rows.items()]
        return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)

    def to_polars(self) -> pl.DataFrame:
        """The table."""
        return self.table

    @property
    def per_query(self) -> pl.DataFrame:
        """A row per number and user, with the ids as given; null where undefined."""
        from atkay.core.forks import polars as pl

        frames = [
            pl.DataFrame({**self.ids, "metric": name, **{value: of[name] for value, of in self.users.items()}})
            for name in self.rows
        ]
        return pl.concat(frames).fill_nan(None) if frames else pl.DataFrame(dict(self.ids)).clear()

    def _grid(self) -> Grid:
        rows = [
            (name, *("–" if math.isnan(value) else f"{value:.4f}" for value in row)) for name, row in self.rows.items()
        ]
        return Grid(("metric", *self.header), rows, right=self.header)

    def _notes(self) -> list[str]:
        return [f"{name}: {reason}" for name, reason in self.refused.items()]
