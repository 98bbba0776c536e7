"""Plan: what the parts of one evaluation share, from tables that have each item once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from atkay.evaluation.finish import Setting
from atkay.inputs.coding.align import Codes
from atkay.inputs.coding.types import check_keys, fitting_tables, same_types
from atkay.tables import FILTERS, OF_USERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atkay.evaluation.request import Request
    from atkay.inputs.table import Table


def share(request: Request, tables: Mapping[str, Table], room: int | None = None) -> Setting:
    """The codes of all items, from tables of which ``recs`` and ``truth`` have each item, and at least one user.

    ``room``: see Vocabulary.
    """
    check_keys(tables["recs"], tables["truth"])
    recs, truth = same_types(tables["recs"], tables["truth"])
    side = fitting_tables(tables, truth, truth.queries, request.protocol.groups)
    codes, _ = Codes.of(recs, truth, side, request.metrics, room=room)
    examples = {
        table.name: replace(table, ids=tuple(column.head(1) for column in table.ids)) for table in (recs, truth)
    }
    # Parts read the side tables as codes, and of the others a row.
    kept = {name: tables[name] for name in (*FILTERS, *OF_USERS) if name in tables}
    return Setting.of(request, codes, {**kept, **examples})
