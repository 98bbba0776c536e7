"""Explain: why two numbers differ, one convention at a time."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.audit.discrepancy import SAME, Change, Discrepancy, Example, Step, Worked, word_of
from atkay.audit.variants import plain
from atkay.dialects.dialect import Dialect, find_dialect
from atkay.errors import AtkayError, ProtocolError, SpecError, TiesWarning, shown, who
from atkay.evaluation.evaluate import evaluate
from atkay.evaluation.finish import Setting, finish
from atkay.evaluation.measure import measure_aligned
from atkay.evaluation.request import Request
from atkay.evaluation.spoken import goes_by_score, meaning, protocols
from atkay.inputs.coding.align import align_tables
from atkay.inputs.read import read_tables
from atkay.metrics.metric import Metric, RunMetric, conventions
from atkay.metrics.spec import parse
from atkay.metrics.worked import arithmetic
from atkay.protocol import CONCERNS, Protocol, fields_about
from atkay.results.sample_users import Place, by_item
from atkay.tables import FILTERS, SIDE
from atkay.text.help import spell_out
from atkay.text.phrases import argument
from atkay.words import words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Unpack

    from atkay.core.types import Floats
    from atkay.inputs.coding.align import Aligned
    from atkay.inputs.table import Table
    from atkay.judged.judged import Judged
    from atkay.results.result import Result
    from atkay.text.arguments import ProtocolFields, WholeListArguments

UNSAID = {
    "average_over": "every query counts on its own",
    "exclude": "no items are removed from the lists",
    "candidates": "all items stay in the lists",
    "depth": "lists are read to their end",
    "seed": "no randomness",
}
SHOWN = 20
"""Items shown of a list or of a user's truth."""


@spell_out(evaluate, but=("slices", "weights", "cluster", "sampled", "memory", "spill"))
def explain(
    recs: Any,
    truth: Any,
    metric: str | Metric,
    theirs: str | Metric | Dialect,
    *,
    their_protocol: Protocol | ProtocolFields | Mapping[str, Any] | None = None,
    **given: Unpack[WholeListArguments],
) -> Discrepancy:
    """Explain why two numbers differ, one convention at a time.

    The steps go from our number to theirs: which users count, how lists and truth are read, then the formula. Each step
    says what changes, by how much and for how many users, and shows the user who changes most. Options that only work
    together are one step.

    Parameters
    ----------
    metric
        The metric to explain: a spec with one cutoff, a metric, or the library's own name for it.
    recs, truth
        As for :func:`evaluate`.
    theirs
        A dialect or its name, or another spec or metric.
    their_protocol
        Their protocol, or the fields in which it differs.
    **given
        Further arguments of :func:`evaluate`, for our side. Exclusions, candidates, thresholds, duplicates and groups
        apply to both sides. With ``dialect=`` our side is a library too.

    Examples
    --------
    RePlay divides by min(k, R): A has six relevant items and five places.

    >>> recs = {"A": ["i1", "i9", "i2", "i8", "i3"], "B": ["i1", "i7"]}
    >>> truth = {"A": ["i1", "i2", "i3", "i4", "i5", "i6"], "B": ["i1", "i2"], "C": ["i1"]}
    >>> why = atkay.explain(recs, truth, "map@5", theirs="replay")
    >>> print(why.summary)
    map@5 is 0.2926 here and 0.3178 in replay-rec 0.22.0: per=capped (the relevant items, or k where that is smaller)
    adds 0.0252.
    >>> print(why.moving[0].example.after.arithmetic)
    hits at ranks 1, 3, 5: (1/1 + 2/3 + 3/5) / min(5, 6) = 0.4533
    """
    for side in (metric, *(() if isinstance(theirs, Dialect) else (theirs,))):
        if not isinstance(side, str):
            parse(side)  # refuses what is no metric
    rest: dict[str, Any] = {**given}
    for name in ("slices", "sampled", "weights", "cluster"):
        if rest.pop(name, None) is not None:
            raise ProtocolError(f"explain: {name}= is not supported; it explains one mean over all users.")
    columns, users = rest.pop("columns", None), rest.pop("users", None)
    side = {name: rest.pop(name, None) for name in SIDE}
    filters = {name: rest.pop(name, None) for name in FILTERS}
    spoken, protocol = rest.pop("dialect", None), rest.pop("protocol", None)
    if protocol is not None and not isinstance(protocol, Protocol):
        raise ProtocolError(f"explain: protocol must be a Protocol(...), got {shown(protocol)}.")
    here, there = None if spoken is None else find_dialect(spoken), _dialect(theirs)
    start, end, spec = _metrics(metric, theirs, here, there)
    own = (protocol or Protocol()).with_fields(**rest)
    rules = own if here is None else next(iter(protocols(here, protocol, rest, [metric]).values()))
    ours = _Conventions(rules, start, filters)
    goal = _goal(rules if there is None else own_protocol(there, own, spec), end, filters, their_protocol)
    for each in (ours, goal):
        if each.protocol.aggregate != "mean":
            given_aggregate = argument("aggregate", each.protocol.aggregate)
            raise ProtocolError(f"explain: {given_aggregate} is not supported; it explains one mean over all users.")
    tables = {"recs": recs, "truth": truth, **side}
    given_tables = {name: table for name, table in tables.items() if table is not None}
    Request((start, end), ours.protocol, tables=given_tables).check()
    by_score = here is not None and goes_by_score(here, protocol, rest)
    kept: dict[tuple[Any, ...], tuple[dict[str, Table], Aligned]] = {}

    def measure(at: _Conventions) -> _State:
        """The metric under given conventions."""
        rules, ids = at.protocol, tuple(id(table) for table in at.filters.values())
        key = (*ids, rules.groups, rules.min_relevance, rules.scores)
        request = Request((at.metric,), rules, tables={**tables, **at.filters}, columns=columns)
        if key not in kept:
            read = read_tables(
                request.tables, rules, columns, users=users, by_score=by_score, subtopics=request.subtopics
            )
            kept[key] = read, align_tables(read, rules, metrics=(start, end))
        read, aligned = kept[key]
        assert aligned.codes is not None
        request.check(*SIDE)
        return _State.of(request, Setting.of(request, aligned.codes, read), aligned)

    first = measure(ours)
    steps = _walk(ours, goal, first, measure)
    return Discrepancy(
        spec=str(start),
        ours=first.value,
        theirs=steps[-1].after if steps else first.value,
        steps=tuple(steps),
        our_name="here" if here is None else f"in {here.title}",
        their_name=_called(ours, goal) if there is None else f"in {there.title}",
    )


class _Conventions(NamedTuple):
    """The conventions of a number: protocol, metric, and the tables that filter lists."""

    protocol: Protocol
    metric: Metric
    filters: Mapping[str, Any]

    def chosen(self, of: str, name: str) -> Any:
        return self.filters[name] if of == "filter" else getattr(getattr(self, of), name)

    def taking(self, chosen: Sequence[tuple[str, str]], goal: _Conventions) -> _Conventions:
        """The same with some conventions of the goal."""
        words: dict[str, dict[str, Any]] = {"protocol": {}, "metric": {}, "filter": {}}
        for of, name in chosen:
            if name != "metric":
                words[of][name] = goal.chosen(of, name)
        metric = goal.metric if ("metric", "metric") in chosen else dataclasses.replace(self.metric, **words["metric"])
        return _Conventions(self.protocol.with_fields(**words["protocol"]), metric, {**self.filters, **words["filter"]})

    def word(self, of: str, name: str) -> Any:
        """What is chosen."""
        return str(self.metric) if name == "metric" else self.chosen(of, name)

    def short(self, of: str, name: str) -> str:
        """What the chosen word stands for."""
        if of != "metric":
            return self.meaning(of, name)
        words = {each.name: words_of(each) for each in dataclasses.fields(self.metric)}.get(name, {})
        return self.metric.top if name == "k" else words.get(self.word(of, name), self.metric.define().formula)

    def meaning(self, of: str, name: str) -> str:
        """The convention in plain English."""
        if of == "metric":
            return self.metric.define().words
        if of == "filter" and self.filters[name] is not None:
            return {"exclude": "the given items are removed from the lists", "candidates": "only the given items stay"}[
                name
            ]
        return self.protocol.words().get(name, UNSAID.get(name, ""))


def _path(ours: _Conventions, goal: _Conventions) -> list[tuple[str, str]]:
    """The conventions that differ: which users count, how lists are read, the formula."""
    every = [("filter" if name in FILTERS else "protocol", name) for name in fields_about(*CONCERNS)]
    same_kind = type(ours.metric) is type(goal.metric)
    if same_kind:
        every += [("metric", each) for each in ("k", *(one.name for one in conventions(type(ours.metric))))]
    path = [(of, name) for of, name in every if not _same(*(one.chosen(of, name) for one in (ours, goal)))]
    return path if same_kind else [*path, ("metric", "metric")]


def _same(one: Any, other: Any) -> bool:
    """Whether two words are the same; tables are where they are the same object."""
    return one is other or (isinstance(one, str | float | int | tuple) and type(one) is type(other) and one == other)


def _walk(
    ours: _Conventions, goal: _Conventions, state: _State, measure: Callable[[_Conventions], _State]
) -> list[Step]:
    """The steps from ours to the goal; an option that is invalid on its own is combined with the next ones."""
    steps: list[Step] = []
    at, waiting, failed = ours, list[tuple[str, str]](), None
    for convention in _path(ours, goal):
        waiting.append(convention)
        try:
            there = at.taking(waiting, goal)
            after = measure(there)
        except AtkayError as error:
            failed = error
            continue
        changes = tuple(_change(at, there, *each) for each in waiting)
        steps.append(_step(changes, state, after))
        at, state, waiting = there, after, []
    if waiting and failed is not None:
        raise failed
    return steps


def _change(at: _Conventions, there: _Conventions, of: str, name: str) -> Change:
    short = at.short(of, name), there.short(of, name)
    meaning = at.meaning(of, name), there.meaning(of, name)
    before, after = short if meaning[0] == meaning[1] else meaning
    return Change(name, at.word(of, name), there.word(of, name), short[1], before, after)


@dataclass(frozen=True, eq=False)
class _State:
    """A number and its users: per query the value (NaN for whoever does not count), and its part above and below the
    line of the mean.
    """

    aligned: Aligned
    judged: Judged
    metric: Metric
    value: float
    values: Floats
    above: Floats
    below: Floats

    @classmethod
    def of(cls, request: Request, setting: Setting, aligned: Aligned) -> _State:
        """The number of a request for one metric."""
        part, judged, _ = measure_aligned(request, setting, lambda _: aligned)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TiesWarning)
            result = finish(request, setting, [part])
        [metric] = request.metrics
        values, above, below = np.full(judged.n_queries, np.nan), *np.zeros((2, judged.n_queries))
        values[part.rows] = result.query_values[:, 0]
        above[part.rows], below[part.rows] = _shares(result)
        return cls(aligned, judged, metric, result[metric], values, above, below)

    def worked(self, query: int) -> Worked:
        """How the value of a user is computed: the top of the list, the hits below it, and the arithmetic."""
        one, value = self.judged.part(query, query + 1), float(self.values[query])
        judged, k = self.metric.view(one), self.metric.cutoffs[0]
        item = judged.lists.item
        # By item: hits with equal scores may share a rank.
        grade = dict(zip(judged.item.tolist(), judged.grade.tolist(), strict=True))
        deep = [rank for rank in (np.flatnonzero(np.isin(item, judged.item)) + 1).tolist() if SHOWN // 2 < rank <= k]
        ranks = [*range(1, min(k, SHOWN // 2, len(item)) + 1), *deep][:SHOWN]
        codes = item[np.array(ranks, np.int64) - 1]
        scores, ids = self._scores(query), self.aligned.items.ids(codes).to_series().to_list()
        places = tuple(
            Place(rank, name, scores.get(code), grade.get(code))
            for rank, name, code in zip(ranks, ids, codes.tolist(), strict=True)
        )
        return Worked(places, len(item), value, self._arithmetic(one, query, value))

    def _scores(self, query: int) -> dict[int, float]:
        """The scores of a user's items; the better one of duplicates."""
        score, recs = self.aligned.score, self.aligned.recs
        if score is None:
            return {}
        return by_item(recs.part(query, query + 1), score.of(recs, np.array([query])), 0)

    def _arithmetic(self, judged: Judged, query: int, value: float) -> str:
        if math.isnan(value):
            missing = "no value" if judged.answered[0] and judged.n_relevant[0] else ""
            missing = missing or ("no list" if judged.n_relevant[0] else "no relevant item")
            return f"{missing}: not counted"
        if self.metric.view(judged).n_relevant[0] == 0 and self.metric.needs_truth:
            return f"no relevant item: scores {value:g} by the protocol"
        pooled = getattr(self.metric, "average", "") == "pooled"
        sums = f"; numerator {self.above[query]:g}, denominator {self.below[query]:g}" if pooled else ""
        return arithmetic(self.metric, judged) + sums


def _shares(result: Result) -> tuple[Floats, Floats]:
    """What each counted query adds above and below the line: the number is the quotient of the sums."""
    if result.ratios:
        above, below = next(iter(result.ratios.values()))
        return above, below
    values = result.query_values[:, 0]
    there = ~np.isnan(values)
    weight = there.astype(float)
    if result.groups is not None:
        in_group = np.bincount(result.groups, weights=weight)
        weight = weight / np.maximum(in_group, 1)[result.groups]
    return np.where(there, values, 0.0) * weight, weight


def _step(changes: tuple[Change, ...], before: _State, after: _State) -> Step:
    was, stays = ~np.isnan(before.values), ~np.isnan(after.values)
    changed = int((np.abs(after.values - before.values) > SAME).sum())  # NaN is never more
    entered, left = int((stays & ~was).sum()), int((was & ~stays).sum())
    # Of all users these add up to (after - before) times the sum below: each user's part of the change.
    pull = (after.above - before.above) - before.value * (after.below - before.below)
    effect = changed or entered or left or abs(after.value - before.value) > SAME
    example = None
    if effect:
        query = int(np.argmax(np.round(np.abs(pull), 12)))  # the first of equals
        share = float(pull[query] / after.below.sum())
        example = _example(before, after, query, share)
    return Step(changes, before.value, after.value, changed, entered, left, example)


def _example(before: _State, after: _State, query: int, share: float) -> Example:
    aligned = after.aligned
    rows = slice(*aligned.truth.start[query : query + 2])
    grades = np.ones(rows.stop - rows.start) if aligned.grade is None else aligned.grade[rows]
    best = np.argsort(-grades, kind="stable")[:SHOWN]
    items = aligned.items.ids(aligned.truth.item[rows][best]).to_series().to_list()
    return Example(
        user=who(aligned.ids, query),
        truth=tuple(zip(items, grades[best].tolist(), strict=True)),
        n_truth=len(grades),
        before=before.worked(query),
        after=after.worked(query),
        share=share,
    )


def _dialect(theirs: str | Metric | Dialect) -> Dialect | None:
    """The dialect of that name; None where it is a metric."""
    if not isinstance(theirs, str):
        return theirs if isinstance(theirs, Dialect) else None
    try:
        return find_dialect(theirs)
    except SpecError as error:
        try:
            parse(theirs)
        except SpecError:
            if "@" in theirs or "(" in theirs:
                raise
            raise error from None
        return None


def _metrics(
    metric: str | Metric, theirs: str | Metric | Dialect, here: Dialect | None, there: Dialect | None
) -> tuple[Metric, Metric, str]:
    """Our metric and theirs, and the spec in their library."""
    try:
        start = parse(metric) if here is None else meaning(here, metric)[0]
    except SpecError:
        if there is None:
            raise
        end = meaning(there, metric)[0]  # a name of the library's own
        return _checked(plain(end)), _checked(end), str(metric)
    if there is None:
        return _checked(start), _checked(parse(theirs)), ""  # type: ignore[arg-type]  # no dialect
    spec = str(plain(_checked(start)))
    return start, _checked(meaning(there, spec)[0]), spec


def _checked(metric: Metric) -> Metric:
    if isinstance(metric, RunMetric):
        raise SpecError(
            f"explain: {metric} is a metric of the whole run, not a mean over users. Choose another metric."
        )
    if len(metric.cutoffs) > 1:
        raise SpecError(f"explain: name one cutoff at a time, got '{metric}'. Write '{metric.split()[0]}'.")
    return metric


def own_protocol(library: Dialect, own: Protocol, spec: str) -> Protocol:
    """A library's protocol for a metric, with what the caller says of the task."""
    task = {name: value for name, value in own.changes(Protocol()).items() if name in fields_about("task")}
    return next(iter(protocols(library, None, task, [spec]).values()))


def _goal(
    base: Protocol, metric: Metric, filters: Mapping[str, Any], theirs: Protocol | Mapping[str, Any] | None
) -> _Conventions:
    """Their side: the protocol, or some of its fields and tables, in place of ours."""
    if theirs is None or isinstance(theirs, Protocol):
        (theirs or base).check_filters(filters)
        return _Conventions(theirs or base, metric, filters)
    if not isinstance(theirs, Mapping) or not all(isinstance(name, str) for name in theirs):
        raise ProtocolError(
            f"explain: their_protocol must be a Protocol(...) or some of its fields, got {shown(theirs)}."
        )
    tables = {name: theirs[name] for name in FILTERS if name in theirs}
    words = {name: word for name, word in theirs.items() if name not in tables}
    return _Conventions(base.with_fields(**words), metric, {**filters, **tables})


def _called(ours: _Conventions, goal: _Conventions) -> str:
    """Their side, where it is no library's."""
    words = [f"{name}={word_of(goal.chosen(of, name))}" for of, name in _path(ours, goal) if of != "metric"]
    return f"as {goal.metric}" + (f" with {', '.join(words)}" if words else "")
