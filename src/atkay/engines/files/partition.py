"""Partition: the rows of tables in parts, so that all rows of a user are in the same one."""

from __future__ import annotations

import functools
import math
import operator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from atkay.engines.files.spill import refusing
from atkay.inputs.checks import ROWS_SAMPLED, comma_number, has_decimal_comma, integer, number
from atkay.inputs.coding.types import warn_misfits
from atkay.inputs.read import opened
from atkay.inputs.table import Pieces, Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from atkay.core.types import Ints
    from atkay.inputs.columns import Columns
    from atkay.inputs.table import Table
    from atkay.text.progress import Steps

ROWS_PER_BATCH = 1 << 20
"""Rows per block."""
MOST_PARTS = 4096
"""Each part is a file that is open while rows are divided."""
WIDE_INTEGERS = (pl.UInt64, pl.Int128, pl.UInt128)


def in_pieces(given: Any, name: str, columns: Columns) -> Source:
    """A table that can be read piece by piece; what is in memory is one piece."""
    source = opened(given, name, columns)
    if source.pieces is not None:
        return source
    return replace(source, pieces=Pieces(lambda chosen: source.select(chosen).lazy(), skips=True))


def first_rows(source: Source) -> Source:
    """The first rows alone: enough to tell which column is what."""
    return replace(source, select=lambda chosen: _collected(source, chosen, ROWS_SAMPLED))


def has_more(source: Source) -> bool:
    """Whether there are rows after the first ones."""
    return len(_collected(source, source.names[:1], ROWS_SAMPLED + 1)) > ROWS_SAMPLED


def _collected(source: Source, chosen: Sequence[str], rows: int) -> pl.DataFrame:
    assert source.pieces is not None
    with source.pieces.reading():
        return source.pieces.scan(chosen).head(rows).collect()


@dataclass(frozen=True, eq=False)
class Divided:
    """A table that is divided.

    ``table`` was read from its first rows, and tells which column is what; ``key`` are those that name the user, in
    the order of the truth's. ``typed`` says what becomes of text, for all rows alike; rows whose text in ``needed`` it
    can make nothing of name nobody, and are left out.
    """

    source: Source
    table: Table
    key: tuple[str, ...]
    n_rows: int = 0
    typed: Mapping[str, pl.Expr] = field(default_factory=dict)
    needed: tuple[str, ...] = ()

    @property
    def pieces(self) -> Pieces:
        """How it is read."""
        assert self.source.pieces is not None
        return self.source.pieces

    @property
    def names(self) -> list[str]:
        """The columns that are used."""
        extra = () if self.table.extra is None else self.table.extra.columns
        return list(dict.fromkeys([*self.table.used.values(), *extra]))

    @property
    def item(self) -> str:
        """The column of the items."""
        return self.table.used["item"]

    def rows(self, seen: Steps | None = None) -> pl.LazyFrame:
        """All rows, typed; ``seen`` receives their counts."""
        rows = self.pieces.scan(self.names)
        if seen is not None:
            rows = rows.map_batches(_telling(seen), streamable=True)
        for name in self.needed:
            rows = rows.filter(self.typed[name].is_not_null() | pl.col(name).is_null())  # a gap is an error later on
        return rows.with_columns(expression.alias(name) for name, expression in self.typed.items())

    def ask(self, *expressions: pl.Expr) -> tuple[Any, ...]:
        """Numbers about all rows, of which few are in memory at a time."""
        with self.pieces.reading():
            return self.pieces.scan(self.names).select(expressions).collect(engine="streaming").row(0)

    @functools.cached_property
    def first(self) -> pl.DataFrame:
        """The first rows, typed."""
        with self.pieces.reading():
            return self.rows().head(ROWS_SAMPLED).collect()

    @property
    def weight(self) -> float:
        """Bytes that a row takes while it is judged.

        Measured on the reference workload: 62 bytes for rows of 12, 87 for rows of 24, 125 for text.
        """
        return 32 + 2.5 * self.first.estimated_size() / max(1, len(self.first))

    def part_source(self, frame: pl.DataFrame) -> Source:
        """Some rows, typed, as a source."""
        return replace(self.source, names=tuple(frame.columns), select=frame.select, text=False, pieces=None)


def _telling(seen: Steps) -> Any:
    def tell(frame: pl.DataFrame) -> pl.DataFrame:
        seen.next(len(frame))
        return frame

    return tell


def divide_tables(sources: Mapping[str, Source], tables: Mapping[str, Table]) -> dict[str, Divided]:
    """The tables that name users as the lists do, with the types that all of their rows have.

    As in memory, text of a file without types becomes integers where all of a column can, on both sides.
    """
    truth = tables["truth"].key
    divided: dict[str, Divided] = {}
    for name, source in sources.items():
        key = tables[name].key
        if len(key) == len(truth):
            by_name = set(key) == set(truth) and name != "recs"  # lists and truth go by the order of the columns
            divided[name] = Divided(source, tables[name], truth if by_name else key)
    surveys = {name: _survey(one) for name, one in divided.items()}
    both = (divided["recs"], divided["truth"])
    kinds = [[_kind(one, at, surveys[one.table.name]) for one in both] for at in range(len(truth) + 1)]
    whole = [all(kind in ("integer", "text of integers") for kind in pair) for pair in kinds]
    for name, one in divided.items():
        for at, column in enumerate(_ids(one)):
            misfits, n_rows = surveys[name].misfits.get(column, 0), surveys[name].n_rows
            if name not in ("recs", "truth") and whole[at] and misfits < n_rows:  # else nothing fits: an error later on
                warn_misfits(name, misfits, n_rows, str(tables["truth"].ids[at][0]))
    return {
        name: _typed(
            replace(one, n_rows=surveys[name].n_rows), whole, surveys[name], outside=name not in ("recs", "truth")
        )
        for name, one in divided.items()
    }


@dataclass(frozen=True)
class _Survey:
    """Of all rows: how many there are, in how many a column of ids is text that is no integer, and as what text scores
    can be read.
    """

    n_rows: int
    misfits: Mapping[str, int] = field(default_factory=dict)
    score: pl.Expr | None = None


def _survey(one: Divided) -> _Survey:
    if not one.source.text:
        return _Survey(*one.ask(pl.len()))
    ids = [*one.table.key, one.item]
    score = one.table.used.get("score")
    forms: tuple[pl.Expr, ...] = ()
    expressions = [integer(name).null_count().alias(f"id {at}") for at, name in enumerate(ids)]
    if score is not None:
        forms = (number(score, pl.Int64), number(score, pl.Float64), comma_number(score))
        expressions += [form.null_count().alias(f"form {at}") for at, form in enumerate(forms)]
        expressions.append(has_decimal_comma(score))
    n_rows, *odd = one.ask(pl.len().alias("rows"), *expressions)
    *of_forms, commas = odd[len(ids) :] or (True,)
    fits = [form for form, count in zip(forms, of_forms, strict=True) if not count]
    if len(fits) == 1 and of_forms[-1] == 0 and not commas:  # 1,234 everywhere: a part asks, as all of it would
        fits = []
    return _Survey(n_rows, dict(zip(ids, odd, strict=False)), fits[0] if fits else None)


def _ids(one: Divided) -> tuple[str, ...]:
    return (*one.key, one.item)


def _kind(one: Divided, at: int, survey: _Survey) -> str:
    """What the ids of a column are, all of them."""
    name = _ids(one)[at]
    if one.source.text:
        return "text" if survey.misfits[name] else "text of integers"
    return "integer" if one.table.ids[at].dtype.is_integer() else "other"


def _typed(one: Divided, whole: Sequence[bool], survey: _Survey, *, outside: bool) -> Divided:
    """The table with text read as what all of it is; ``whole``: which ids are integers on both sides."""
    if not one.source.text:
        return one
    ids = [name for name, integers in zip(_ids(one), whole, strict=True) if integers]
    typed = {name: integer(name) for name in ids}
    if survey.score is not None:
        typed[one.table.used["score"]] = survey.score
    return replace(one, typed=typed, needed=tuple(ids) if outside else ())


def keys(divided: Mapping[str, Divided]) -> dict[str, list[pl.Expr]]:
    """What names the user in each table, as values that are equal where the ids are."""
    schemas = {name: one.rows().collect_schema() for name, one in divided.items()}
    columns: dict[str, list[pl.Expr]] = {name: [] for name in divided}
    for at in range(len(divided["truth"].key)):
        kinds = [schemas[name][one.key[at]] for name, one in divided.items()]
        kind: Any = None
        if any(dtype.is_numeric() for dtype in kinds):
            kind = pl.Int128 if any(dtype in WIDE_INTEGERS for dtype in kinds) else pl.Int64
        elif len(set(kinds)) > 1 or any(isinstance(dtype, pl.Categorical | pl.Enum) for dtype in kinds):
            kind = pl.String
        for (name, one), dtype in zip(divided.items(), kinds, strict=True):
            column = pl.col(one.key[at])
            if kind is not None and not dtype.is_numeric():  # ids of different types are refused when they are judged
                column = column.cast(pl.String, strict=False)
            columns[name].append(column if kind is None else column.cast(kind, strict=False))
    return columns


@dataclass(frozen=True, eq=False)
class Partition:
    """Tables in parts: rows between two ``edges`` of each table, or files in a ``folder``.

    ``numbers`` are those of the parts in which there are rows, if only of users who have neither list nor truth.
    """

    divided: Mapping[str, Divided]
    numbers: Sequence[int]
    edges: Mapping[str, Ints] | None = None
    folder: Path | None = None

    def rows(self, name: str) -> pl.LazyFrame:
        """All rows of a table, in any order."""
        if self.folder is None:
            return self.divided[name].rows()
        return pl.scan_parquet(sorted((self.folder / name).glob("*/*")), glob=False)

    def part(self, name: str, number: int) -> Source:
        """The rows of a table in one part."""
        one = self.divided[name]
        if self.edges is not None:
            first, last = self.edges[name][number : number + 2]
            with one.pieces.reading():
                return one.part_source(one.rows().slice(int(first), int(last - first)).collect())
        assert self.folder is not None
        files = sorted((self.folder / name / str(number)).glob("*"))
        frame = pl.read_parquet(files, glob=False) if files else one.first.clear()
        return one.part_source(frame)


def parts_needed(divided: Mapping[str, Divided], room: float) -> int:
    """The number of parts such that each fits into memory, if users are similar."""
    needed = sum(one.n_rows * one.weight for one in divided.values())
    return max(1, min(math.ceil(needed / room), MOST_PARTS))


def in_order(divided: Mapping[str, Divided], n_parts: int) -> Partition | None:
    """Tables of which all are in the order of the user, cut between users; None where one is not.

    The users and their rows are counted once; then a part is a range of rows, read from the files themselves.
    """
    runs: dict[str, pl.DataFrame] = {}
    by = keys(divided)
    for name, one in divided.items():
        column = one.table.ids[one.table.key.index(one.key[0])]
        users = _runs(one, by[name][0]) if one.pieces.skips and column.is_sorted() else None
        if users is None:
            return None
        runs[name] = users
    each = [users.select("user", weight=pl.col("rows") * divided[name].weight) for name, users in runs.items()]
    together = pl.concat(each).sort("user")
    sums = together.get_column("weight").cum_sum()
    rows_per_part = sums[-1] / n_parts
    at = np.asarray(sums.search_sorted(np.arange(1, n_parts) * rows_per_part))
    cuts = together.get_column("user").gather(np.minimum(at, len(together) - 1)).unique().sort()
    edges: dict[str, Ints] = {}
    for name, users in runs.items():
        before = users.get_column("user").search_sorted(cuts, side="right").to_numpy()
        rows = np.concatenate(([0], users.get_column("rows").cast(pl.Int64).cum_sum().to_numpy()))
        edges[name] = np.concatenate(([0], rows[before], rows[-1:]))
    rows_of_parts = sum(np.diff(each) for each in edges.values())
    return Partition(divided, np.flatnonzero(rows_of_parts).tolist(), edges=edges)


def _runs(one: Divided, user: pl.Expr) -> pl.DataFrame | None:
    """The users of a table in their order, and how many rows each has; None where they are in none."""
    runs, last = [], None
    with one.pieces.reading():
        for frame in one.rows().select(user.alias("user")).collect_batches(chunk_size=ROWS_PER_BATCH):
            column = frame.to_series()
            if not len(column):
                continue
            if column.null_count() or not column.is_sorted() or (last is not None and column[0] < last):
                return None
            last = column[-1]
            runs.append(column.rle().struct.unnest().select(rows="len", user="value"))
        return pl.concat(runs or [one.first.select(rows=pl.lit(0, pl.UInt32), user=user).clear()])


def spilled(divided: Mapping[str, Divided], n_parts: int, folder: Path, steps: Steps) -> Partition:
    """Tables in any order, written to a file per part, the rows of a user in the order that they came in."""
    by = keys(divided)
    for name, one in divided.items():
        code = functools.reduce(operator.xor, (key.hash(seed) for seed, key in enumerate(by[name])))
        needed = int(one.first.estimated_size() / max(1, len(one.first)) * one.n_rows)
        target = pl.PartitionBy(
            folder / name,
            key=(code % n_parts).alias(f"part beside {' '.join(one.names)}"),
            include_key=False,
            file_path_provider=lambda file: f"{file.partition_keys.item()}/{file.index_in_partition:06}.parquet",
        )
        with one.pieces.reading(), refusing(folder, needed):
            one.rows(steps).sink_parquet(target, compression="lz4", statistics=False, mkdir=True, engine="streaming")
    numbers = {int(part.name) for name in divided for part in (folder / name).glob("*")}
    return Partition(divided, sorted(numbers), folder=folder)
