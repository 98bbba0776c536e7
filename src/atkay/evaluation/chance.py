"""Chance: what a random order of the lists would score, what the best one would, and where a result stands between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atkay.core.kernels import within
from atkay.core.lists import rows_between
from atkay.evaluation.measure import values_of
from atkay.metrics.gains import keeps_others
from atkay.metrics.metric import AllOrders, RunMetric, is_pooled
from atkay.results.further_values import FurtherValues
from atkay.results.measured import in_rows
from atkay.results.numbers import Numbers
from atkay.text.phrases import argument

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from atkay.core.types import Floats
    from atkay.judged.judged import Judged
    from atkay.metrics.metric import Metric
    from atkay.results.measured import Measured
    from atkay.results.result import Result

ROUNDING = 1e-12
"""Two values whose difference is a smaller share of them are equal."""


class Standing(NamedTuple):
    """A number between chance and the best."""

    value: float
    chance: float
    best: float
    ceiling: float
    adjusted: float


@dataclass(frozen=True, eq=False, repr=False)
class Chance(FurtherValues[Standing]):
    """Each number next to what chance and the best order would score.

    ``chance["ndcg@10"]`` is a :class:`Standing`: the ``value``; its expected value if each list were in random order
    (``chance``); the value of the same items in the best order (``best``), and of lists as long with any items
    (``ceiling``); and ``adjusted``, (value - chance) / (best - chance): 0 for a random order, 1 for the best one, below
    0 for what is worse than chance, and undefined where all orders are worth the same. ``table`` has a row per number,
    ``per_query`` one per number and user; ``adjusted`` of all users is that of the means.

    References
    ----------
    Berrendorf, Faerman, Vermue and Tresp, On the ambiguity of rank-based evaluation of entity alignment or link
    prediction methods, 2020.
    Hoyt, Berrendorf, Galkin, Tresp and Gyori, A unified framework for rank-based evaluation metrics for link prediction
    in knowledge graphs, 2022.
    """

    header = Standing._fields


def find_chance(result: Result) -> Chance:
    """A result's numbers between chance and the best."""
    measured = result.measured("chance")
    known = [_closed_forms(each) for each in measured]
    reasons = {
        metric: _why_not(metric, each, forms)
        for each, forms in zip(measured, known, strict=True)
        for metric in each.metrics
    }
    kept = [each._replace(metrics=[metric for metric in each.metrics if not reasons[metric]]) for each in measured]
    names = [name for name in result if any(name in each.numbers for each in kept)]
    value = {name: result.query_values[:, result.by_query.index(name)] for name in names}
    orders = {"chance": _shuffled, "best": _best_order, "ceiling": _best_items}
    of_orders = {
        name: _of_order(kept, order, [_columns(forms, name) for forms in known], result)
        for name, order in orders.items()
    }
    users = {"value": value, **{order: of_users for order, (of_users, _) in of_orders.items()}}
    means: dict[str, Mapping[str, Any]] = {
        "value": result,
        **{order: of_all for order, (_, of_all) in of_orders.items()},
    }
    users["adjusted"] = {
        name: _adjusted(*(users[side][name] for side in ("value", "chance", "best"))) for name in names
    }
    numbers = {name: [means[side][name] for side in means] for name in names}
    return Chance(
        rows=Numbers((name, Standing._make([*each, float(_adjusted(*each[:3]))])) for name, each in numbers.items()),
        refused={name: reason for metric, reason in reasons.items() if reason for name in metric.numbers},
        users=users,
        ids=result.ids,
        names=result.names,
    )


def _closed_forms(measured: Measured) -> dict[Metric, AllOrders]:
    """What all orders are worth to the counted queries, where a metric cannot average its values over them otherwise.

    Without relevant items the order does not matter.
    """
    metrics, protocol, judged, counted = measured
    forms = {}
    for metric in metrics:
        view = metric.view(judged)
        if metric.needs_truth and not metric.shuffles(view) and (form := metric.all_orders(view)) is not None:
            own, _ = values_of(judged, [metric], protocol, counted)
            lost = (judged.n_relevant == 0) & (protocol.no_truth == "one" or not metric.by_grade)
            same = (lost | (view.n_relevant == 0))[counted, None]
            forms[metric] = AllOrders._make(None if one is None else np.where(same, own, one[counted]) for one in form)
    return forms


def _columns(forms: Mapping[Metric, AllOrders], side: str) -> dict[Metric, Floats]:
    """Those of one side."""
    columns = {metric: getattr(form, side, None) for metric, form in forms.items()}
    return {metric: column for metric, column in columns.items() if column is not None}


def _of_order(
    measured: Sequence[Measured],
    order: Callable[[Judged], Judged],
    columns: Sequence[Mapping[Metric, Floats]],
    result: Result,
) -> tuple[dict[str, Floats], Mapping[str, float]]:
    """The values of the lists in another order, of the users and of all of them; ``columns`` has those known."""
    values, sides = [], []
    for each, known in zip(measured, columns, strict=True):
        metrics = [metric for metric in each.metrics if metric not in known]
        of_users, ratios = values_of(_ordered(each.judged, order), metrics, each.protocol, each.counted)
        numbers = each._replace(metrics=metrics).numbers
        of_names = dict(zip(numbers, of_users.T, strict=True))
        for metric in (metric for metric in each.metrics if metric in known):
            of_metric = dict(zip(metric.numbers, known[metric].T, strict=True))
            of_names |= of_metric
            if is_pooled(metric):  # of all pairs it is the share that it is of each user's
                ratios |= {name: (np.nan_to_num(column), 1.0 - np.isnan(column)) for name, column in of_metric.items()}
        values.append(of_names)
        sides.append(ratios)
    users = in_rows(measured, values)
    above, below = (in_rows(measured, [{n: pair[at] for n, pair in of.items()} for of in sides], 0.0) for at in (0, 1))
    return users, result.means_of(users, {name: (above[name], below[name]) for name in above})


def _ordered(judged: Judged, order: Callable[[Judged], Judged]) -> Judged:
    """Lists in another order, for all that metrics see of them."""
    graded = None if judged.graded is None else order(judged.graded)
    none: dict[str, Any] = dict.fromkeys(("judging", "ranking", "level", "n_unjudged_above", "of_hits", "of_truth"))
    return replace(order(judged), graded=graded, **none)


def _shuffled(judged: Judged) -> Judged:
    """All orders of each list, equally likely: those of equal scores."""
    tied = np.zeros_like(judged.rank), judged.n_listed[judged.query]
    return replace(judged, rank=judged.nth, tied=tied, averaged=True)


def _best_order(judged: Judged) -> Judged:
    """The hits first, the best of them before the others."""
    above = np.zeros_like(judged.rank)
    return replace(judged, rank=judged.nth, grade=judged.best_hits, tied=None, averaged=False, nonrelevant_above=above)


def _best_items(judged: Judged) -> Judged:
    """The best relevant items, as many as each list has places."""
    hits = np.minimum(judged.n_relevant, judged.n_listed)
    query = np.repeat(np.arange(judged.n_queries), hits)
    none = np.zeros_like(query)
    return replace(
        judged,
        query=query,
        rank=within(query),
        grade=judged.grades[rows_between(judged.edges[:-1], hits)],
        item=none,
        tied=None,
        averaged=False,
        nonrelevant_above=none,
    )


def _adjusted(value: Any, chance: Any, best: Any) -> Any:
    """Where a value stands between chance, 0, and the best, 1; NaN where these are equal."""
    room = np.subtract(best, chance)
    alike = np.abs(room) <= ROUNDING * np.maximum(np.abs(best), np.abs(chance))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(alike, np.nan, np.subtract(value, chance) / room)


def _why_not(metric: Metric, measured: Measured, forms: Container[Metric]) -> str:
    """Why nothing is known of a metric's value by chance; empty where it is."""
    if isinstance(metric, RunMetric):
        return "it is a number of the whole run, not a mean over users"
    if not metric.needs_truth:
        return "it has a value where nothing is relevant, too"
    if measured.protocol.duplicates == "counted":
        return f"{argument('duplicates', 'counted')} counts an item at each of its places, so that no list is the best"
    if metric not in forms and not metric.shuffles(metric.view(measured.judged)):
        return "no closed form of its value by chance is known"
    if keeps_others(getattr(metric, "gain", "")):
        return "its table can give a higher grade a lower gain, so that the best order is not that of the grades"
    if measured.judged.positive is not None:
        return f"{argument('nonpositive', measured.protocol.nonpositive)} makes it depend on scores"
    return ""
