"""Evaluate: choose the engine and evaluate lists against truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from atkay.errors import ProtocolError
from atkay.evaluation.request import USUAL, Request
from atkay.inputs.frames import is_spark
from atkay.protocol import Protocol
from atkay.tables import FILTERS, SIDE, TABLES
from atkay.text.help import describe, name_side_tables, spell_out
from atkay.text.phrases import argument

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from typing import Unpack

    from atkay.inputs.columns import Columns
    from atkay.metrics.metric import Metric
    from atkay.metrics.sampled import Sampled
    from atkay.results.result import Result
    from atkay.text.arguments import Library, TablesAndFields


@describe(Protocol, but=FILTERS)
@name_side_tables
@spell_out(SIDE, Protocol)
def evaluate(
    recs: Any,
    truth: Any,
    metrics: str | Metric | Iterable[str | Metric] = USUAL,
    *,
    columns: Columns | Mapping[str, Columns] | None = None,
    users: Any = None,
    slices: Any = None,
    weights: Any = None,
    cluster: Any = None,
    exclude: Any = None,
    candidates: Any = None,
    sampled: Sampled | None = None,
    dialect: Library | str | None = None,
    memory: str | int | None = None,
    spill: str | os.PathLike[str] | None = None,
    protocol: Protocol | None = None,
    **fields: Unpack[TablesAndFields],
) -> Result:
    """Evaluate ranked lists against held-out truth.

    Parameters
    ----------
    recs
        The ranked lists: a table (Polars, pandas, Arrow) with a row per user and item, in order or with a ``rank`` or
        ``score`` column, or with a list per user; ``{user: [items]}`` or ``{user: {item: score}}``; a users x k array
        of items, padded with -1, or ``(items, scores)``; a users x items matrix of scores, dense or sparse; the path of
        a file (CSV, TSV, Parquet, Arrow, JSON Lines, TREC run), a folder or a pattern such as ``"recs/*.parquet"``; or
        a Spark frame, which is evaluated in its cluster.
    truth
        The relevant items, in any of these forms, with grades in place of scores (TREC qrels included).
    metrics
        Specs such as ``"ndcg@10"`` or ``"map(per=hits)@5,10"``, or metrics such as ``NDCG(k=10)``. By default ndcg,
        map, mrr, recall, precision and hit at 10; with a dialect, those of them that the library has.
    columns
        The names of the columns, where they differ from the usual ones.
    users
        The ids of the rows of ``recs``, where it is an array or a list of lists, and of other arrays with as many rows.
        Rows of longer ones, such as the truth of all users, are user numbers.
    slices
        A table with a segment for each user, or ``{user: segment}``: adds every metric per segment.
    weights
        How much each user counts: a table with a number from 0 for each user, ``{user: weight}``, or an array by the
        rows of ``recs``. Only their ratios matter. For ``aggregate="mean"`` and ``"geometric"``.
    cluster
        Whose queries depend on each other, such as those of one user or session: the name of a column of the queries
        or of truth, a table with a cluster for each user, ``{user: cluster}``, or an array by the rows of ``recs``.
        Means stay what they are; intervals and tests count clusters. For ``aggregate="mean"`` and ``"geometric"``.
    exclude, candidates
        Items to remove from the lists before ranking, such as those already seen; and the only items to keep. Tables of
        users and items, ``{user: items}``, or a collection of items for all users.
    **tables
        What some metrics need:

        (each table)
    sampled
        ``Sampled(catalog_size=n, negatives=m)`` if the lists rank one relevant item among sampled negatives. The result
        says so, and can estimate the metrics on the whole catalogue.
    dialect
        A library, such as "ranx", whose conventions and metric names to use, or some versions of one, such as
        "trec_eval>=10"; explicit arguments take precedence. See ``atkay.list_dialects()``.
    memory
        The memory to use, such as "2GB", for files that do not fit: users are evaluated part by part, with the same
        result. ``recs``, ``truth``, ``exclude`` and ``candidates`` may be larger than memory if they are files or
        Polars lazy frames; all other tables are read whole. Values per user stay in memory, 8 bytes per user and
        metric.
    spill
        With ``memory``: the folder for temporary files, by default the system's. They are removed afterwards, also
        after an error or Ctrl-C.
    protocol, **fields
        Which users count and how lists are read: a :class:`Protocol`, or its fields as keywords.

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
    tables = {"recs": recs, "truth": truth, "exclude": exclude, "candidates": candidates, "slices": slices}
    tables |= {"weights": weights, "cluster": cluster}
    rest: dict[str, Any] = {**fields}
    tables |= {name: rest.pop(name) for name in TABLES if name in rest}
    request = Request.of(
        metrics, protocol, rest, dialect=dialect, tables=tables, columns=columns, users=users, sampled=sampled
    )
    request.check()
    if users is not None and (memory is not None or is_spark(recs)):
        raise ProtocolError(
            f"evaluate: {argument('users')} names the rows of arrays in memory; files and Spark frames name their "
            "users themselves."
        )
    if is_spark(recs):
        from atkay.engines.spark.spark import evaluate_spark

        if memory is not None or spill is not None:
            raise ProtocolError(
                f"evaluate: {argument('memory')} and {argument('spill')} are for files; Spark uses its own settings."
            )
        if cluster is not None:
            raise ProtocolError(
                f"evaluate: {argument('cluster')} is not supported for Spark frames, of which only sums come back. "
                f"Evaluate files, with {argument('memory', '2GB')} where they are large."
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
