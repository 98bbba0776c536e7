"""Memory: all tables at once, as one part."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from atkay.evaluation.finish import Setting, finish
from atkay.evaluation.judge import judge
from atkay.evaluation.measure import measure_aligned, who_counts
from atkay.inputs.coding.align import align_tables
from atkay.inputs.read import read_tables
from atkay.results.measured import Measured
from atkay.results.sample_users import choose

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from atkay.evaluation.request import Request
    from atkay.inputs.coding.align import Aligned
    from atkay.inputs.table import Table
    from atkay.metrics.metric import Metric
    from atkay.protocol import Protocol
    from atkay.results.result import Result


ROWS_KEPT = 1_000_000
"""Lists up to this many rows are kept with their result, for the users of a report, bounds and chance."""


def evaluate_memory(request: Request) -> Result:
    """The result of :func:`atkay.evaluate` for tables that fit into memory."""
    tables = read_tables(
        request.tables,
        request.protocol,
        request.columns,
        users=request.users,
        depth=request.depth,
        precision=request.precision,
        by_score=request.by_score,
        subtopics=request.subtopics,
        cluster=request.cluster,
    )
    first = align_tables(tables, request.protocol, metrics=request.metrics)
    assert first.codes is not None
    setting = Setting.of(request, first.codes, tables)

    align = partial(_aligned, first, tables, request.protocol.scores)
    part, judged, _ = measure_aligned(request, setting, align)
    examples = partial(choose, first, judged, part.rows)
    estimates = request.sampled is not None and request.sampled.estimator != "none"
    rules = [(one.metrics, one.protocol) for one in request.by_protocol()]
    again = None if estimates or len(first.recs) > ROWS_KEPT else partial(_judged_again, rules, align)
    return finish(request, setting, [part], examples if len(first.recs) <= ROWS_KEPT else examples(), again)


def _aligned(first: Aligned, tables: Mapping[str, Table], scores: str, protocol: Protocol) -> Aligned:
    """The aligned tables; once more where a protocol compares scores in another precision than the first."""
    return first if protocol.scores == scores else align_tables(tables, protocol, first.codes)


def _judged_again(
    rules: Sequence[tuple[Sequence[Metric], Protocol]], align: Callable[[Protocol], Aligned]
) -> list[Measured]:
    """What metrics under each protocol read."""
    judged = [judge(align(protocol), protocol).judged for _, protocol in rules]
    return [Measured(*each, seen, who_counts(seen, each[1], {})) for each, seen in zip(rules, judged, strict=True)]
