"""Variants: one metric under all its conventions."""

from __future__ import annotations

import dataclasses
import itertools
import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.audit.discrepancy import SAME
from atkay.dialects.dialect import Dialect, list_dialects, newest
from atkay.errors import SpecError, TiesWarning
from atkay.evaluation.evaluate import evaluate
from atkay.evaluation.request import Request
from atkay.evaluation.spoken import meaning
from atkay.metrics.metric import Metric, conventions
from atkay.metrics.spec import parse
from atkay.protocol import Protocol
from atkay.tables import FILTERS
from atkay.text.grid import Grid, Tabular
from atkay.text.help import spell_out
from atkay.words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Unpack

    import altair as alt
    import polars as pl

    from atkay.core.types import Floats
    from atkay.text.arguments import EvaluateArguments


class Variant(NamedTuple):
    """One combination of conventions: its value, its distance from the default, and the libraries that use it."""

    spec: str
    value: float
    distance: float
    libraries: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Variants(Tabular):
    """The values of a metric under its conventions, the default first, then by distance.

    ``alike`` lists, for each spec, the omitted specs with the same value for every user.
    """

    rows: tuple[Variant, ...]
    alike: dict[str, tuple[str, ...]]
    protocol: Protocol

    def __iter__(self) -> Iterator[Variant]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_dict(self) -> dict[str, float]:
        """Specs and values."""
        return {row.spec: row.value for row in self.rows}

    def to_polars(self) -> pl.DataFrame:
        """A row per variant: spec, value, distance from the default, libraries."""
        import polars as pl

        schema: dict[str, Any] = {"spec": str, "value": float, "distance": float, "libraries": pl.List(pl.String)}
        rows = [(*row[:3], list(row.libraries)) for row in self.rows]
        return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)

    def plot(self) -> alt.Chart:
        """A bar per variant (Altair; ``atkay[report]``)."""
        from atkay.reporting.charts import plot_variants

        return plot_variants(self)

    def _grid(self) -> Grid:
        rows = [(row.spec, digits(row.value), digits(row.distance, "+"), ", ".join(row.libraries)) for row in self.rows]
        return Grid(("spec", "value", "from default", "libraries"), rows, right=("value", "from default"))


def digits(value: float, sign: str = "") -> str:
    """A value as printed, a dash where undefined."""
    return "–" if math.isnan(value) else f"{value:{sign}.4f}"


@spell_out(evaluate)
def variants(recs: Any, truth: Any, metric: str | Metric, **given: Unpack[EvaluateArguments]) -> Variants:
    """Compute a metric under all its conventions, and name the libraries that use each.

    ``given`` are further arguments of :func:`evaluate`: protocol, columns, side tables; with a dialect the default is
    the library's. Libraries are named by their options for the metric only, not by their protocol; use ``evaluate(...,
    dialect=...)`` for their number.

    Examples
    --------
    Hits at ranks 1 and 3 of 3, four relevant items.

    >>> atkay.variants({"ann": ["a", "x", "b"]}, {"ann": ["a", "b", "c", "d"]}, "map@3").to_dict()
    ... # doctest: +ELLIPSIS
    {'map@3': 0.416..., 'map(per=capped)@3': 0.555..., 'map(per=places)@3': 0.722..., 'map(per=hits)@3': 0.833...}
    """
    default, settled = _spoken(metric, {**given})
    if len(default.cutoffs) > 1:
        raise SpecError(f"variants: name one cutoff at a time, got '{default}'. Write '{default.split()[0]}'.")
    every = [default, *(each for each in combinations(default) if each != default)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TiesWarning)
        result = evaluate(recs, truth, every, **settled)
    libraries: dict[str, list[str]] = {}
    for name, _, meant in meanings(default):
        libraries.setdefault(str(meant), []).append(name)
    seen: dict[str, Floats | None] = {}
    alike: dict[str, tuple[str, ...]] = {}
    users: dict[str, list[str]] = {}
    for spec in map(str, every):
        pooled = spec in result.ratios or spec not in result.by_query
        values = None if pooled else result.query_values[:, result.by_query.index(spec)]
        same = (row for row, other in seen.items() if _same(result[row], result[spec]) and _same(other, values))
        first = next(same, spec)
        seen.setdefault(first, values)
        alike[first] = (*alike.get(first, ()), *([spec] if spec != first else []))
        users.setdefault(first, []).extend(libraries.get(spec, ()))
    start = result[str(default)]
    rows = [Variant(spec, result[spec], result[spec] - start, newest(sorted(users[spec]))) for spec in seen]
    rows[1:] = sorted(rows[1:], key=lambda row: (abs(row.distance), row.spec))
    return Variants(tuple(rows), alike, result.protocol)


def _spoken(metric: str | Metric, given: dict[str, Any]) -> tuple[Metric, dict[str, Any]]:
    """The metric and protocol in the given dialect, if any."""
    spoken, protocol = given.pop("dialect", None), given.get("protocol")
    if spoken is None:
        return parse(metric), given
    names = {each.name for each in dataclasses.fields(Protocol)} - set(FILTERS)
    fields = {name: given.pop(name) for name in names & set(given)}
    request = Request.of([metric], protocol, fields, dialect=spoken)
    return request.metrics[0], given | {"protocol": request.protocol}


def _same(one: Floats | float | None, other: Floats | float | None) -> bool:
    """Whether values are the same up to rounding; pooled metrics have no per-user values."""
    return one is None or other is None or np.allclose(one, other, rtol=0, atol=SAME, equal_nan=True)


def combinations(metric: Metric) -> Iterator[Metric]:
    """The metric in all combinations of its options; numbers and cutoff stay."""
    fields = [each for each in conventions(type(metric)) if words_of(each)]
    for chosen in itertools.product(*(words_of(each) for each in fields)):
        try:
            words: dict[str, Any] = dict(zip((each.name for each in fields), chosen, strict=True))
            yield dataclasses.replace(metric, **words)
        except SpecError:
            continue  # words that do not go together


def plain(metric: Metric) -> Metric:
    """The metric with default options; numbers and cutoff stay."""
    words: dict[str, Any] = {each.name: each.default for each in conventions(type(metric)) if words_of(each)}
    return dataclasses.replace(metric, **words)


def meanings(metric: Metric) -> Iterator[tuple[str, Dialect, Metric]]:
    """The metric as defined by each library that has it."""
    for name, dialect in list_dialects().items():
        try:
            yield name, dialect, meaning(dialect, str(plain(metric)))[0]
        except SpecError:
            continue  # it does not have the metric, or not with a cutoff
