"""Evaluate: lists against truth, through the stages, to a result."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.errors import PopulationError
from atkay.metrics.base import Bools, Floats, Metric, Ratio, parse_all
from atkay.protocol import Protocol
from atkay.result import Population, Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from atkay.align import Aligned
    from atkay.columns import Columns
    from atkay.judge import Counts
    from atkay.judged import Judged

USUAL = ("ndcg@10", "map@10", "mrr@10", "recall@10", "precision@10", "hit@10")


def evaluate(
    recs: Any,
    truth: Any,
    metrics: str | Metric | Iterable[str | Metric] = USUAL,
    *,
    columns: Columns | Mapping[str, Columns] | None = None,
    slices: Any = None,
    protocol: Protocol | None = None,
    **fields: Any,
) -> Result:
    """Hold ranked lists against held-out truth.

    Parameters
    ----------
    recs
        The lists: a table with a row per user and item and, where the rows are not in order, a ``rank`` or a ``score``
        (Polars, pandas, Arrow); ``{user: [items]}`` or ``{user: {item: score}}``; an array of users x k items; a SciPy
        sparse matrix of scores; or the path of a file (CSV, TSV, Parquet, Arrow, JSON Lines, TREC run).
    truth
        What is relevant, in any of these forms; a grade may stand where the lists have a score (TREC qrels included).
    metrics
        Specs such as ``"ndcg@10"`` or ``"map(per=hits)@5,10"``, or metrics such as ``NDCG(k=10)``.
    columns
        The names of the columns, where they are not found by themselves.
    slices
        A table that gives each user a segment, or ``{user: segment}``: every metric is also taken per segment.
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
    from atkay.align import align
    from atkay.judge import judge
    from atkay.slicing import group_queries, slice_queries
    from atkay.tables import columns_of, read_items, read_recs, read_slices, read_truth

    asked = parse_all(metrics)
    rules = (protocol or Protocol()).with_fields(fields)
    read = {
        "recs": read_recs(recs, columns_of(columns, "recs")),
        "truth": read_truth(truth, columns_of(columns, "truth"), rules.groups),
    }
    for name in ("exclude", "candidates"):
        given = getattr(rules, name)
        if given is not None:
            read[name] = table = read_items(given, name, columns_of(columns, name))
            rules = rules.with_fields({name: f"{len(table):,} rows of {table.label}"})
    aligned = align(read["recs"], read["truth"], read.get("exclude"), read.get("candidates"))
    judged, counts = judge(aligned, rules)
    counted = who_counts(judged, rules, aligned)
    groups = group_queries(aligned, rules.groups, counted)
    if slices is not None:
        read["slices"] = read_slices(slices, columns_of(columns, "slices"), read["truth"].key, rules.groups)
    values, parts = measure(judged, asked, rules, counted)
    return Result(
        metrics=asked,
        query_values=values,
        ids={column.name: column for column in aligned.queries.filter(counted).get_columns()},
        population=_population(judged, counted, counts),
        protocol=rules,
        parts=parts,
        groups=None if groups is None else groups.code[counted],
        slicings=slice_queries(aligned, read.get("slices"), groups, counted),
        columns={name: table.used for name, table in read.items()},
        fingerprint=_fingerprint(aligned, judged),
    )


def who_counts(judged: Judged, protocol: Protocol, aligned: Aligned) -> Bools:
    """The queries that enter the means."""
    truth, answered = judged.n_relevant > 0, judged.answered
    missing = {"no_recs": truth & ~answered, "no_truth": answered & ~truth}
    what = {"no_recs": "have truth and no list", "no_truth": "have a list and no relevant item"}
    counted = truth & answered
    for name, queries in missing.items():
        word = getattr(protocol, name)
        if word == "error" and queries.any():
            raise PopulationError(
                f"{int(queries.sum()):,} users {what[name]}, {aligned.who(int(np.argmax(queries)))} for example, and "
                f"the protocol says {name}='error'. Mend the data, or choose {name}='zero' or 'skip'."
            )
        if word in ("zero", "one"):
            counted = counted | queries
    if not counted.any():
        raise PopulationError(
            "no user is left to evaluate: nobody has both a list and a relevant item. Are all grades 0, or below "
            f"min_relevance={protocol.min_relevance}?"
        )
    return counted


def measure(
    judged: Judged, metrics: Sequence[Metric], protocol: Protocol, counted: Bools
) -> tuple[Floats, dict[str, tuple[Floats, Floats]]]:
    """The values of the counted queries, and numerators and denominators where they are pooled."""
    lost = (judged.n_relevant == 0)[counted]
    n_numbers = sum(len(metric.cutoffs) for metric in metrics)
    values = np.empty((n_numbers, int(counted.sum()))).T  # a number's values lie together
    parts: dict[str, tuple[Floats, Floats]] = {}
    first = 0
    for metric in metrics:
        last = first + len(metric.cutoffs)
        values[:, first:last] = metric.values(judged)[counted]
        if isinstance(metric, Ratio) and metric.average == "pooled":
            above, below = (part[counted] for part in metric.parts(judged))
            if protocol.no_truth == "one":
                above[lost] = below[lost]
            parts |= {str(one): (above[:, at], below[:, at]) for at, one in enumerate(metric.split())}
        first = last
    if lost.any():
        values[lost] = 1.0 if protocol.no_truth == "one" else 0.0
    return values, parts


def _population(judged: Judged, counted: Bools, counts: Counts) -> Population:
    truth, answered = judged.n_relevant > 0, judged.answered
    return Population(
        evaluated=int(counted.sum()),
        without_list=int((truth & ~answered).sum()),
        without_truth=int((answered & ~truth).sum()),
        emptied=int((answered & (judged.n_listed == 0)).sum()),
        relevant=int(judged.n_relevant.sum()),
        hits=len(judged.query),
        **dataclasses.asdict(counts),
    )


def _fingerprint(aligned: Aligned, judged: Judged) -> dict[str, str]:
    """What tells two inputs apart, in whatever form and order they came.

    The truth's is over its rows. The lists' is over their lengths and hits, on which every accuracy metric depends.
    """
    from atkay.hashing import scrambled

    query, item, truth = aligned.query_hashes(), aligned.item_hashes(), aligned.truth
    rows = item[truth.item]
    if not (aligned.grade is None or (aligned.grade == 1).all()):
        rows = scrambled(1, rows, aligned.grade.view(np.uint64))
    # The hashes of a query's rows are added up, so that their order does not matter.
    running = np.concatenate((np.zeros(1, np.uint64), np.cumsum(rows)))
    wanted = scrambled(2, query, np.diff(running[truth.start]))[truth.length > 0]
    lengths = scrambled(3, query, judged.n_listed.astype(np.uint64))[judged.n_listed > 0]
    hits = scrambled(4, query[judged.query], item[judged.item], judged.rank.astype(np.uint64))
    listed = np.concatenate((lengths, hits))
    return {"truth": f"{int(wanted.sum()):016x}", "recs": f"{int(listed.sum()):016x}"}
