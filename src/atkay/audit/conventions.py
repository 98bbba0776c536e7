"""Conventions: the same lists evaluated as other libraries do."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from atkay.audit.explain import own_protocol
from atkay.audit.variants import digits, meanings
from atkay.audit.variants import plain as plain_words
from atkay.dialects.dialect import list_dialects
from atkay.errors import AtkayError, AtkayWarning
from atkay.evaluation.evaluate import evaluate
from atkay.evaluation.request import Request
from atkay.metrics.metric import RunMetric
from atkay.protocol import Protocol
from atkay.tables import FILTERS
from atkay.text.grid import Grid, Tabular

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Unpack

    from atkay.metrics.metric import Metric
    from atkay.text.arguments import GeneralArguments


@dataclass(frozen=True, repr=False)
class Conventions(Tabular):
    """The numbers of each library: ``values[library][spec]``, for the specs that it has.

    The first row is atkay's.
    """

    specs: tuple[str, ...]
    values: Mapping[str, Mapping[str, float]]

    def _grid(self) -> Grid:
        rows = [(name, *(digits(of.get(spec, math.nan)) for spec in self.specs)) for name, of in self.values.items()]
        return Grid(("library", *self.specs), rows, right=self.specs)


def conventions(
    recs: Any, truth: Any, metrics: str | Metric | Iterable[str | Metric], **given: Unpack[GeneralArguments]
) -> Conventions:
    """Compute metrics as every library would, with its own options and protocol.

    ``given`` are further arguments of :func:`evaluate`. Exclusions, candidates, thresholds, duplicates and groups apply
    to all libraries; which users count and how ties are ordered is each library's own. Metrics of the whole run, and
    those that need more than recs and truth, are left out.

    Examples
    --------
    Six relevant items and five places: RePlay divides by five, ranx by six.

    >>> from atkay.audit.conventions import conventions
    >>> table = conventions({"A": ["i1", "i9", "i2", "i8", "i3"]}, {"A": ["i1", "i2", "i3", "i4", "i5", "i6"]}, "map@5")
    >>> round(table.values["atkay"]["map@5"], 4), round(table.values["replay-rec 0.22.0"]["map@5"], 4)
    (0.3778, 0.4533)
    """
    rest: dict[str, Any] = {**given}
    columns, protocol = rest.pop("columns", None), rest.pop("protocol", None)
    filters = {name: rest.pop(name, None) for name in FILTERS}
    request = Request.of(metrics, protocol, dialect=rest.pop("dialect", None))
    own = (protocol or Protocol()).with_fields(**rest)
    single = [one for metric in request.metrics for one in metric.split()]
    plain = {str(plain_words(one)): plain_words(one) for one in single if not (isinstance(one, RunMetric) or one.needs)}
    jobs: dict[Protocol, list[tuple[str, str, Metric]]] = {}
    for spec, metric in plain.items():
        jobs.setdefault(own, []).append(("atkay", spec, metric))
        for _, dialect, meant in meanings(metric):
            jobs.setdefault(own_protocol(dialect, own, spec), []).append((dialect.title, spec, meant))
    values: dict[str, dict[str, float]] = {"atkay": {}, **{each.title: {} for each in list_dialects().values()}}
    for rules, numbers in jobs.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AtkayWarning)
                metrics = [metric for *_, metric in numbers]
                result = evaluate(recs, truth, metrics, columns=columns, protocol=rules, **filters)
        except AtkayError:
            if rules is own:
                raise
            continue  # it would refuse these lists
        for title, spec, metric in numbers:
            values[title][spec] = result[metric]
    return Conventions(tuple(plain), {name: of for name, of in values.items() if of})
