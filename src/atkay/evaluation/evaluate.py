"""Evaluate: lists against truth, by the engine that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from atkay.errors import ProtocolError
from atkay.evaluation.request import USUAL, Request
from atkay.inputs.frames import is_spark
from atkay.tables import TABLES
from atkay.text.phrases import argument

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from atkay.inputs.columns import Columns
    from atkay.metrics.metric import Metric
    from atkay.metrics.sampled import Sampled
    from atkay.protocol import Protocol
    from atkay.results.result import Result


def evaluate(
    recs: Any,
    truth: Any,
    metrics: str | Metric | Iterable[str | Metric] = USUAL,
    *,
    columns: Columns | Mapping[str, Columns] | None = None,
    slices: Any = None,
    exclude: Any = None,
    candidates: Any = None,
    train: Any = None,
    catalog: Any = None,
    features: Any = None,
    reference: Any = None,
    sampled: Sampled | None = None,
    dialect: str | None = None,
    memory: str | int | None = None,
    spill: str | os.PathLike[str] | None = None,
    protocol: Protocol | None = None,
    **fields: Any,
) -> Result:
    """Hold ranked lists against held-out truth.

    Parameters
    ----------
    recs
        The lists: a table with a row per user and item and, where the rows are not in order, a ``rank`` or a ``score``
        (Polars, pandas, Arrow); ``{user: [items]}`` or ``{user: {item: score}}``; an array of users x k items, in which
        -1 fills up short lists; a SciPy sparse matrix of scores; the path of a file (CSV, TSV, Parquet, Arrow, JSON
        Lines, TREC run), of a folder of files, or of several: ``"recs/*.parquet"``; or a Spark frame, which is judged
        in its cluster (docs/spark.md).
    truth
        What is relevant, in any of these forms; a grade may stand where the lists have a score (TREC qrels included).
    metrics
        Specs such as ``"ndcg@10"`` or ``"map(per=hits)@5,10"``, or metrics such as ``NDCG(k=10)``; left out with a
        dialect, those of the usual six that the library has.
    columns
        The names of the columns, where they are not found by themselves.
    slices
        A table that gives each user a segment, or ``{user: segment}``: every metric is also taken per segment.
    exclude, candidates
        Items that are taken out of the lists before ranking, such as what a user has seen; and those that alone may
        stay. Tables of users and items, ``{user: items}``, or a plain collection of items that holds for every user.
    train, catalog, features, reference
        What some metrics need besides: the interactions that the models learned from (users and items); all items; a
        table, or ``{item: ...}``, with categories or numbers of items; the lists of a reference recommender, or one
        list that it shows to everybody.
    sampled
        Where the lists rank one relevant item among sampled ones and not among all: ``Sampled(catalog_size=n,
        negatives=m)``. The result says so, and can be an estimate for the whole catalogue.
    dialect
        The name of a library, such as "ranx": metrics and protocol then mean what they mean there, as far as nothing
        else is said, and its own names of metrics work, too. ``atkay.list_dialects()`` lists them.
    memory
        About how much may be used, such as "2GB", for files that do not fit: users are then divided into parts, judged
        one part after the other, and the result is the same. Lists, truth, ``exclude`` and ``candidates`` may be
        larger than memory where they are files or Polars lazy frames; everything else is read whole, and so is what
        was given as something else. Values per user stay in memory, 8 bytes for each number.
    spill
        With ``memory``: the folder for the parts while they are judged, by default the system's for temporary files.
        What is written there is removed afterwards, even after an error or Ctrl-C.
    protocol, **fields
        Who counts, and how lists are read: the fields of :class:`Protocol`, as a whole or one by one.

    Examples
    --------
    >>> recs = {"ann": ["tea", "milk", "rye"], "bob": ["jam", "tea"]}
    >>> truth = {"ann": ["tea", "rye"], "bob": ["oat", "jam"], "cat": ["tea"]}
    >>> result = atkay.evaluate(recs, truth, ["precision@2", "recall@2"])
    >>> round(result["recall@2"], 4)
    0.3333
    >>> result.population.without_list
    1
    """
    tables = {"recs": recs, "truth": truth, "exclude": exclude, "candidates": candidates, "train": train}
    tables |= {"catalog": catalog, "features": features, "reference": reference, "slices": slices}
    tables |= {name: fields.pop(name) for name in TABLES if name in fields}
    request = Request.of(metrics, protocol, fields, dialect=dialect, tables=tables, columns=columns, sampled=sampled)
    request.check()
    if is_spark(recs):
        from atkay.engines.spark.spark import evaluate_spark

        if memory is not None or spill is not None:
            raise ProtocolError(
                f"evaluate: {argument('memory')} and {argument('spill')} are for files; Spark uses its own settings."
            )
        return evaluate_spark(request)
    if memory is not None:
        from atkay.engines.files.files import evaluate_files

        return evaluate_files(request, memory, spill)
    if spill is not None:
        raise ProtocolError(
            f"evaluate: {argument('spill')} is for files that are larger than memory: pass {argument('memory', '2GB')}."
        )
    from atkay.engines.memory import evaluate_memory

    return evaluate_memory(request)
