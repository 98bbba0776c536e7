"""Diff: what changed between the lists of two runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from atkay.comparison.changes import find_changes
from atkay.comparison.overlap import similarity
from atkay.comparison.run_diff import RunDiff
from atkay.core.kernels import match
from atkay.core.lists import mask
from atkay.core.types import WHOLE, is_integer, is_number
from atkay.errors import InputError, ProtocolError, SpecError, shown
from atkay.evaluation.raters import is_relevant
from atkay.evaluation.request import Request
from atkay.metrics.metric import DEEPEST, Metric, RunMetric
from atkay.protocol import Protocol
from atkay.tables import FILTERS, RUNS, SIDE
from atkay.text.help import describe, name_side_tables, spell_out
from atkay.text.phrases import argument

if TYPE_CHECKING:
    from typing import Unpack

    from atkay.comparison.paired_lists import PairedLists
    from atkay.core.types import Bools
    from atkay.inputs.columns import Columns
    from atkay.text.arguments import Library, TablesAndFields


@describe(Protocol, but=FILTERS)
@name_side_tables
@spell_out(SIDE, Protocol)
def diff(
    run_a: Any,
    run_b: Any,
    truth: Any = None,
    k: int | None = 10,
    *,
    metric: str | Metric | None = None,
    p: float = 0.9,
    names: Sequence[str] = ("a", "b"),
    top: int = 10,
    columns: Columns | Mapping[str, Columns] | None = None,
    users: Any = None,
    exclude: Any = None,
    candidates: Any = None,
    dialect: Library | str | None = None,
    protocol: Protocol | None = None,
    **fields: Unpack[TablesAndFields],
) -> RunDiff:
    """Show what changed between two runs: which lists, which items, and who gained or lost.

    Lists are read, ordered and filtered as ``evaluate`` does, and compared user by user. Without truth: the users whose
    lists changed most, the items that entered, left and moved. With truth also who gained and who lost by a
    metric, and the relevant items that caused it.

    Parameters
    ----------
    run_a, run_b
        The lists before and after, in any form that ``evaluate`` takes.
    truth
        As for ``evaluate``.
    k
        The top k is compared; None for whole lists. Ranks below k still tell where an item came from.
    metric
        With truth: the metric of gains and losses, by default nDCG@k.
    p
        The persistence of rank-biased overlap, see :func:`overlap`.
    names
        What the two runs are called.
    top
        How many users and items the printed tables show.
    columns
        The names of the columns, for all tables or by table; ``run_a`` and ``run_b`` may differ.
    users, exclude, candidates, dialect
        As for ``evaluate``.
    **tables
        ``features`` may have the titles of items, which are shown beside the ids. The others are for metrics:

        (each table)
    protocol, **fields
        How lists are read: a :class:`Protocol`, or its fields as keywords.

    References
    ----------
    Webber, Moffat and Zobel, A similarity measure for indefinite rankings, 2010.

    Examples
    --------
    For Ann oat entered, milk left and rye moved up. At depths 1, 2 and 3 the lists have 1, 1 and 2 items in common:
    rank-biased overlap is 0.1 (1 + 0.9 / 2 + 0.81 * 2 / 3) + 0.9³ * 2 / 3. For Bob nothing changed.

    >>> old = {"ann": ["tea", "milk", "rye"], "bob": ["jam", "tea"]}
    >>> new = {"ann": ["tea", "rye", "oat"], "bob": ["jam", "tea"]}
    >>> changed = atkay.diff(old, new, {"ann": ["rye"], "bob": ["tea"]}, k=3, metric="mrr")
    >>> changed.query("ann")
    rank  a      goes to  b      comes from
    ───────────────────────────────────────
       1  tea    =        tea    =
       2  milk   left     rye ✓  ↑ 3
       3  rye ✓  ↑ 2      oat    entered
    <BLANKLINE>
    ann, top 3: 1 entered, 1 left, 1 up, 0 down; rbo 0.6850
    <BLANKLINE>
    mrr: 0.3333 → 0.5000 (+0.1667). ✓ relevant, ✗ judged not relevant
    >>> changed.summary["identical"], changed.summary["gained"]
    (1, 1)
    """
    from atkay.comparison.paired_lists import pair_lists

    _check(k, p, names, top)
    tables = {"truth": truth, "exclude": exclude, "candidates": candidates}
    rest: dict[str, Any] = {**fields}
    tables |= {name: rest.pop(name) for name in SIDE if name in rest}
    if metric is None:
        metric = "ndcg" if k is None else f"ndcg@{k}"
    elif truth is None:
        raise ProtocolError(f"diff: {argument('metric', str(metric))} needs truth. Pass it, or leave out the metric.")
    request = Request.of(metric, protocol, rest, dialect=dialect, tables={"recs": run_a} | tables, users=users)
    one = request.metrics[0]
    if len(request.metrics) > 1 or len(one.numbers) != 1 or isinstance(one, RunMetric):
        raise SpecError(f"diff: metric must be one number for each user, such as 'ndcg@10'; got {shown(str(metric))}.")
    features = request.tables.get("features")
    kept = {name: table for name, table in request.tables.items() if name not in SIDE or name in one.needs}
    request = _with_tables(request, kept, truth)
    pairs = pair_lists((run_a, run_b), request, columns)
    matched = match(pairs.a, pairs.b)
    depth = WHOLE if k is None else int(k)
    titles = None
    if features is not None:
        from atkay.inputs.titles import read_titles

        titles = read_titles(features, _of_tables(columns), pairs.items, pairs.example)
    return RunDiff(
        pairs=pairs,
        scores=similarity(pairs.a, pairs.b, matched, depth, float(p)),
        changed=find_changes(pairs.a, pairs.b, matched, depth, _relevant(pairs, request.protocol.min_relevance)),
        titles=titles,
        request=request,
        k=None if k is None else int(k),
        p=float(p),
        names=(str(names[0]), str(names[1])),
        top=int(top),
    )


def _with_tables(request: Request, tables: Mapping[str, Any], truth: Any) -> Request:
    """The request with the tables that are read: those that the metric needs, and no truth where none was given."""
    rules = request.protocol
    for name, of_means in (("average_over", rules.groups), ("aggregate", rules.aggregate != "mean")):
        if of_means:
            value = getattr(rules, name)
            raise ProtocolError(
                f"diff: users are shown one by one, so {argument(name, value)} has no effect. Leave it out."
            )
    if truth is not None:
        request = replace(request, tables=tables)
        request.check()
        return request
    for name, by_truth in (("ties", rules.trait("ties", "by") == "grade"), ("unjudged", rules.unjudged == "drop")):
        if by_truth:
            value = getattr(rules, name)
            raise ProtocolError(f"diff: {argument(name, value)} needs truth. Pass it, or choose another word.")
    return replace(request, tables={name: table for name, table in tables.items() if name in FILTERS})


def _relevant(pairs: PairedLists, least: float | None) -> tuple[Bools, Bools] | None:
    """Which rows of either run are relevant; None where there is no truth."""
    if pairs.truth is None:
        return None
    items, grade = pairs.truth
    relevant = items.only(is_relevant(grade, least))
    return mask(match(pairs.a, relevant).row, len(pairs.a)), mask(match(pairs.b, relevant).row, len(pairs.b))


def _of_tables(columns: Columns | Mapping[str, Columns] | None) -> Columns | Mapping[str, Columns] | None:
    """The column names without those of the runs."""
    if not isinstance(columns, Mapping):
        return columns
    return {table: of_table for table, of_table in columns.items() if table not in RUNS}


def _check(k: object, p: object, names: object, top: object) -> None:
    if k is not None and not is_integer(k, 1, DEEPEST):
        raise SpecError(
            f"diff: k must be a positive integer up to {DEEPEST:,}, or None for whole lists; got {shown(k)}."
        )
    if not is_number(p, 0, 1):
        raise SpecError(f"diff: p must be a number between 0 and 1, got {shown(p)}.")
    if not is_integer(top, 0):
        raise SpecError(f"diff: top must be 0 or a positive integer, got {shown(top)}.")
    if isinstance(names, str) or not isinstance(names, Sequence) or len(names) != 2 or names[0] == names[1]:
        raise InputError(f"diff: names must be two different names, got {shown(names)}.")
