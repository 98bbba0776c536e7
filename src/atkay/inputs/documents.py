"""Documents: nested objects that search engines and benchmarks write, and what each of them holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import polars as pl

from atkay.errors import SourceError, listing
from atkay.inputs.checks import series
from atkay.inputs.columns import named_like
from atkay.inputs.formats.trec import SWAPPED
from atkay.inputs.judgment_lists import judgment_lists
from atkay.inputs.mappings import read_mapping
from atkay.inputs.search_responses import search_responses
from atkay.inputs.table import Source, frame_source, roles_of, source_of
from atkay.tables import ITEM, KINDS, USER


def read_document(given: Any, table: str, label: str, what: str = "") -> Source | None:
    """What one of these objects holds, None where it is another; ``what`` names it in a message."""
    if (records := read_records(given, table, label)) is not None:
        return records
    if not {"user", "item"} <= KINDS[table].roles.keys() or not isinstance(given, Mapping | list):
        return None
    what = what or label
    if isinstance(given, Mapping) and str(given.get("format")).startswith("atkay "):
        raise SourceError(
            f"{what} is a saved {str(given['format']).split()[1]} of atkay, which holds numbers, not lists",
            advice="Pass it to compare(), or load it with atkay.Result.load(path).",
            table=table,
        )
    try:
        predictions = _mteb(given, what, table)
        nested = judgment_lists(given, what, table) or search_responses(given, what, table)
    except (KeyError, TypeError, AttributeError) as error:
        raise SourceError(f"{what} lacks a field, or has another type in its place: {error}.", table=table) from error
    if predictions is not None:
        return replace(read_mapping(predictions, table), label=label)
    if nested is None:
        return None
    if nested.judged == (KINDS[table].value == "score") and KINDS[table].value:
        holds = "judgments, not ranked lists" if nested.judged else "ranked lists, not judgments"
        raise SourceError(f"{what} is {nested.kind}, which holds {holds}", advice=SWAPPED, table=table)
    rows = [(name, item, number) for name, items in nested.lists.items() for item, number in items]
    columns = {"user": [row[0] for row in rows], "item": [row[1] for row in rows]}
    value, numbers = KINDS[table].value, [row[2] for row in rows]
    if value and None not in numbers:
        columns[value] = _numbers(numbers)
    read = {name: series(name, values, table) for name, values in columns.items()}
    return source_of(read, roles_of(table, read), label, len(nested.lists) if nested.numbered else None)


def _numbers(values: list[Any]) -> list[Any]:
    """The numbers of a column; OpenSearch takes them as text, too, and mixed."""
    return list(map(str, values)) if any(isinstance(one, str) for one in values) else values


def read_records(given: Any, table: str, label: str) -> Source | None:
    """A frame that was written as objects, one per row."""
    if not isinstance(given, list) or not given or not all(isinstance(row, Mapping) for row in given):
        return None
    if not names_columns(given[0]):
        return None
    names = dict.fromkeys(name for row in given for name in row)
    return frame_source(pl.DataFrame([series(name, [row.get(name) for row in given], table) for name in names]), label)


def names_columns(keys: Iterable[object]) -> bool:
    """Whether there is a user's column and an item's among the first keys."""
    names = [name for name in islice(keys, 100) if isinstance(name, str)]
    return bool(named_like(names, USER[0]) and named_like(names, ITEM[0]))


def _mteb(given: Any, what: str, table: str) -> Mapping[Any, Any] | None:
    """The predictions of one subset and one split."""
    if not isinstance(given, Mapping):
        return None
    if isinstance(given.get("task_name"), str) and isinstance(given.get("scores"), Mapping):
        raise SourceError(
            f"{what} is a result of MTEB, which holds numbers of metrics, not lists",
            advice="Pass the predictions, which mteb.evaluate(..., prediction_folder=...) writes.",
            table=table,
        )
    if not isinstance(given.get("mteb_model_meta"), Mapping):
        return None
    splits = {
        (subset, split): lists
        for subset, of_subset in given.items()
        if subset != "mteb_model_meta"
        for split, lists in of_subset.items()
    }
    if len(splits) != 1:
        names = [f"{subset}/{split}" for subset, split in splits]
        raise SourceError(
            f"{what} holds the predictions of {listing(names)}",
            advice="Pass those of one subset and one split, such as json.load(file)"
            + "".join(f"[{name!r}]" for name in next(iter(splits), ("default", "test")))
            + ".",
            table=table,
        )
    lists: Any = next(iter(splits.values()))
    if not isinstance(lists, Mapping):
        raise SourceError(f"{what} holds predictions of another task than retrieval.", table=table)
    if table == "truth":
        raise SourceError(
            f"{what} holds MTEB's predictions, which are ranked lists, not judgments", advice=SWAPPED, table=table
        )
    return lists
