"""Memory: all tables at once, as one part."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from atkay.evaluation.finish import Setting, finish
from atkay.evaluation.measure import measure_aligned
from atkay.inputs.coding.align import align_tables
from atkay.inputs.read import read_tables
from atkay.results.sample_users import choose

if TYPE_CHECKING:
    from atkay.evaluation.request import Request
    from atkay.inputs.coding.align import Aligned
    from atkay.protocol import Protocol
    from atkay.results.result import Result


ROWS_KEPT = 100_000
"""Lists up to this many rows are kept with their result."""


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
    )
    first = align_tables(tables, request.protocol, metrics=request.metrics)
    assert first.codes is not None
    setting = Setting.of(request, first.codes, tables)

    def align(protocol: Protocol) -> Aligned:
        return first if protocol.scores == request.protocol.scores else align_tables(tables, protocol, first.codes)

    part, judged, _ = measure_aligned(request, setting, align)
    examples = partial(choose, first, judged, part.rows)
    # Of small tables users are chosen when a report asks; large ones are not kept for that.
    return finish(request, setting, [part], examples if len(first.recs) <= ROWS_KEPT else examples())
