"""Faults: mistakes that no convention is, each a small change of a case, of a formula, or of the mean over users."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.audit.probes import Formula, Mean, Probe, Probes
from atkay.core.types import WHOLE
from atkay.errors import SpecError
from atkay.metrics.dcg import DCG
from atkay.metrics.f1 import F1
from atkay.metrics.gains import discount_of, gains
from atkay.metrics.map import MAP
from atkay.metrics.metric import divide
from atkay.metrics.mrr import MRR
from atkay.metrics.ndcg import NDCG
from atkay.metrics.precision import Precision
from atkay.metrics.recall import Recall

if TYPE_CHECKING:
    from atkay.core.types import Bools, Floats, Ints
    from atkay.judged.judged import Judged
    from atkay.metrics.metric import Metric
    from atkay.protocol import Protocol

Twist = Callable[[Probe, int], Probe]

AGAIN = "\0"
"""What marks the repeats of an item, so that they are items of their own."""
APART = 1024.0
"""What is added to the grades of repeats, so that they can be told from the items that the truth has."""


@dataclass(frozen=True, eq=False)
class Fault:
    """A mistake in words, and what it changes: cases, the formula, or the mean over users."""

    words: str
    twist: Twist | None = None
    formula: Formula | None = None
    mean: Mean | None = None
    kinds: tuple[type, ...] = ()
    """The metrics that can have it; all where none is named."""

    def values(self, batch: Probes, metrics: Sequence[Metric], protocol: Protocol) -> Floats:
        """The values that a program with this fault has; infinite where a metric cannot have it."""
        out = np.full((len(metrics), len(batch.cases)), np.inf)
        able = [at for at, metric in enumerate(metrics) if not self.kinds or type(metric) in self.kinds]
        if able:
            of = self._of(batch, metrics[able[0]].cutoffs[0])
            try:
                out[able] = of.values([metrics[at] for at in able], protocol, self.formula, self.mean)
            except (SpecError, ValueError):  # a gain that does not take such grades
                return out
        return out

    def _of(self, batch: Probes, k: int) -> Probes:
        """The cases as the program reads them."""
        if self.twist is None:
            return batch
        key = (self.words, k)
        if key not in batch._kept:
            batch._kept[key] = Probes([self.twist(case, k) for case in batch.cases])
        kept: Probes = batch._kept[key]
        return kept


Rows = Sequence[tuple[str, float]]


def _lists(change: Callable[[Rows], Rows]) -> Twist:
    """Every list changed in the same way."""
    return lambda case, k: case._replace(recs={user: tuple(change(rows)) for user, rows in case.recs.items()})


def _truths(change: Callable[[Mapping[str, float]], Mapping[str, float]]) -> Twist:
    """The truth of every user changed in the same way."""
    return lambda case, k: case._replace(truth={user: change(grades) for user, grades in case.truth.items()})


def _ids(change: Callable[[str], str]) -> Twist:
    """Every item under another name."""

    def twist(case: Probe, k: int) -> Probe:
        recs = {user: tuple((change(name), score) for name, score in rows) for user, rows in case.recs.items()}
        truth = {user: {change(name): grade for name, grade in grades.items()} for user, grades in case.truth.items()}
        return case._replace(recs=recs, truth=truth)

    return twist


def _best_first(rows: Rows) -> list[int]:
    """The places of the rows, that of the highest score first."""
    return sorted(range(len(rows)), key=lambda at: -rows[at][1])


def _only_rows(rows: Rows, places: Sequence[int]) -> Rows:
    """Some of the rows, in their order."""
    return [rows[at] for at in sorted(places)]


def _cut(case: Probe, k: int) -> Probe:
    return _lists(lambda rows: _only_rows(rows, _best_first(rows)[:k]))(case, k)


def removed(case: Probe, k: int = WHOLE) -> Probe:
    """Without the items to exclude."""
    recs = {
        user: tuple(row for row in rows if row[0] not in case.exclude.get(user, ())) for user, rows in case.recs.items()
    }
    return case._replace(recs=recs)


def _again(case: Probe, k: int) -> Probe:
    """Repeats as items of their own, which the truth grades as it does the item."""
    recs, truth = {}, {user: dict(grades) for user, grades in case.truth.items()}
    for user, rows in case.recs.items():
        renamed = _renamed(rows)
        for (again, _), (name, _) in zip(renamed, rows, strict=True):
            if again != name and case.truth.get(user, {}).get(name, 0) > 0:
                truth[user][again] = APART + case.truth[user][name]
        recs[user] = tuple(renamed)
    return case._replace(recs=recs, truth=truth)


def _apart(judged: Judged) -> Judged:
    """The repeats are hits, and no relevant items of the truth."""
    owner = np.repeat(np.arange(judged.n_queries), judged.n_relevant)
    own = judged.grades < APART / 2
    return dataclasses.replace(
        judged,
        grade=np.where(judged.grade > APART / 2, judged.grade - APART, judged.grade),
        grades=judged.grades[own],
        n_relevant=np.bincount(owner[own], minlength=judged.n_queries),
        graded=None,
        of_hits=None,
        of_truth=None,
    )


def _renamed(rows: Rows) -> Rows:
    """Every row of an item but its best under a name of its own."""
    out, seen = list(rows), dict[str, int]()
    for at in _best_first(rows):
        name, score = rows[at]
        seen[name] = seen.get(name, 0) + 1
        out[at] = name + AGAIN * (seen[name] - 1), score
    return out


def _once(rows: Rows) -> Rows:
    """Each item at its best row."""
    renamed = _renamed(rows)
    return [row for row, (name, _) in zip(rows, renamed, strict=True) if not name.endswith(AGAIN)]


def _as_text(rows: Rows) -> Rows:
    order = {text: float(at) for at, text in enumerate(sorted({repr(score) for _, score in rows}))}
    return [(name, order[repr(score)]) for name, score in rows]


def _paired(case: Probe, k: int) -> Probe:
    """The first list with the first truth, and so on."""
    more = (f"{AGAIN}{at}" for at in range(len(case.truth)))
    return case._replace(truth=dict(zip([*case.recs, *more], case.truth.values(), strict=False)))


def _only(place: int) -> Twist:
    def twist(case: Probe, k: int) -> Probe:
        user = list(case.truth)[place]
        return case._replace(
            recs={name: rows for name, rows in case.recs.items() if name == user}, truth={user: case.truth[user]}
        )

    return twist


def _number(name: str) -> str:
    return str(int(name)) if name.isdecimal() else name


def _dcg(metric: Metric, judged: Judged, gain: Any = None, divisor: Any = None) -> Floats:
    """DCG with another gain or another divisor."""
    gain = metric.gain if gain is None else gain  # type: ignore[attr-defined]  # of dcg
    divisor = discount_of(metric.discount) if divisor is None else divisor  # type: ignore[attr-defined]  # too
    worth = gains(gain, judged.grade, judged.threshold) / divisor(judged.rank)
    return judged.total(worth, metric.cutoffs)


def _ideal(metric: Metric, judged: Judged, gain: Any = None, divisor: Any = None) -> Floats:
    """The same of the best list."""
    gain = metric.gain if gain is None else gain  # type: ignore[attr-defined]  # of dcg
    divisor = discount_of(metric.discount) if divisor is None else divisor  # type: ignore[attr-defined]  # too
    owner = np.repeat(np.arange(judged.n_queries), judged.n_relevant)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(judged.n_relevant) - judged.n_relevant, judged.n_relevant) + 1
    worth = gains(gain, judged.grades, judged.threshold) / divisor(place)
    worth = np.where(place <= metric.cutoffs[0], worth, 0.0)
    return np.asarray(np.bincount(owner, worth, judged.n_queries)[:, None], float)


def _log2(rank: Ints) -> Floats:
    return np.asarray(np.log2(rank + 1.0))


def _late(rank: Ints) -> Floats:
    return np.asarray(np.log2(rank + 2.0))


def _ndcg(above: dict[str, Any], below: dict[str, Any]) -> Formula:
    """NDCG with other words above the line and below it."""

    def formula(metric: Metric, judged: Judged) -> Floats:
        return divide(_dcg(metric, judged, **above), _ideal(metric, judged, **below))

    return formula


def _hits(judged: Judged, chosen: Bools, up: int = 0) -> Judged:
    """Some of the hits, some ranks further up."""
    return dataclasses.replace(
        judged,
        **{name: getattr(judged, name)[chosen] for name in ("query", "grade", "item")},
        rank=judged.rank[chosen] - up,
        tied=None,
        nonrelevant_above=None,
        positive=None,
        n_unjudged_above=None,
        of_hits=None,
    )


def _but_the_last(metric: Metric, judged: Judged) -> Floats:
    return metric.values(_hits(judged, judged.rank < metric.cutoffs[0]))


def _but_the_first(metric: Metric, judged: Judged) -> Floats:
    return metric.values(_hits(judged, judged.rank > 1, up=1))


def _deep(metric: Metric, judged: Judged) -> Floats:
    """DCG of the whole list over the ideal of the top k."""
    return divide(_dcg(dataclasses.replace(metric, k=None), judged), _ideal(metric, judged))


def _both(**words: Any) -> Formula:
    """DCG, or nDCG with the same words above and below the line."""

    def formula(metric: Metric, judged: Judged) -> Floats:
        above = _dcg(metric, judged, **words)
        return divide(above, _ideal(metric, judged, **words)) if isinstance(metric, NDCG) else above

    return formula


def _reciprocal(of: Callable[[Judged], Floats], per: str = "") -> Formula:
    """A sum over hits, perhaps divided by their number."""

    def formula(metric: Metric, judged: Judged) -> Floats:
        total = judged.total(of(judged), metric.cutoffs)
        return divide(total, judged.total(1, metric.cutoffs)) if per == "hits" else total

    return formula


def _last(metric: Metric, judged: Judged) -> Floats:
    """The reciprocal rank of the last hit."""
    within = judged.rank <= metric.cutoffs[0]
    deepest = np.zeros(judged.n_queries)
    np.maximum.at(deepest, judged.query[within], judged.rank[within])
    return np.divide(1, deepest, out=np.zeros(judged.n_queries), where=deepest > 0)[:, None]


def _precisions(of: Callable[[Judged], Floats]) -> Formula:
    """Average precision whose precision at a hit is another one; the denominator is the metric's own."""

    def formula(metric: Metric, judged: Judged) -> Floats:
        own = judged.total(judged.nth / judged.rank, metric.cutoffs)
        return divide(metric.values(judged) * judged.total(of(judged), metric.cutoffs), own)

    return formula


def _undivided(metric: Metric, judged: Judged) -> Floats:
    return judged.total(judged.nth / judged.rank, metric.cutoffs)


def _every_rank(metric: Metric, judged: Judged) -> Floats:
    """The mean of the precisions at all ranks down to the cutoff."""
    depth = judged.n_listed if metric.cutoffs[0] == WHOLE else np.full(judged.n_queries, metric.cutoffs[0])
    harmonic = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, max(depth.max(initial=0), 1) + 1))))
    left = np.maximum(harmonic[depth][judged.query] - harmonic[np.minimum(judged.rank, len(harmonic)) - 1], 0)
    return divide(judged.total(left, metric.cutoffs), depth[:, None])


def _arithmetic(metric: Metric, judged: Judged) -> Floats:
    k: Any = metric.k
    return (Precision(k=k).values(judged) + Recall(k=k).values(judged)) / 2


def _by_case(of: Callable[[Floats], float]) -> Mean:
    """What becomes of the values of a case's users, case by case."""

    def mean(values: Floats, case: Ints, n_cases: int) -> Floats:
        out = np.full((values.shape[1], n_cases), np.nan)
        for at in np.unique(case):
            for row, column in enumerate(values[case == at].T):
                there = column[~np.isnan(column)]
                if len(there):
                    out[row, at] = of(there)
        return out

    return mean


def _mean_of_hits(values: Floats) -> float:
    return float(values[values > 0].mean()) if (values > 0).any() else math.nan


def _geometric(values: Floats) -> float:
    return math.exp(np.log(values).mean()) if (values > 0).all() else 0.0


GAINED, OF_GRADES = (NDCG,), (DCG, NDCG)

FAULTS = (
    Fault("a repeated item counts again", twist=_again, formula=lambda metric, judged: metric.values(_apart(judged))),
    Fault("repeated items are removed after the cut, not before", twist=lambda case, k: _cut(case, k)),
    Fault("a repeated item takes a place that no other item gets", twist=_lists(_renamed)),
    Fault("a repeated item is removed, and what follows moves up", twist=_lists(_once)),
    Fault("of a repeated item the last row counts", twist=_lists(lambda rows: list(dict(rows).items()))),
    Fault("the list is cut before excluded items are removed", twist=lambda case, k: removed(_cut(case, k))),
    Fault("the last of the k ranks does not count", formula=_but_the_last),
    Fault("scores are sorted in ascending order", twist=_lists(lambda rows: [(name, 1000 - s) for name, s in rows])),
    Fault(
        "lists are read in the order of their rows, whatever the scores",
        twist=_lists(lambda rows: [(name, float(len(rows) - at)) for at, (name, _) in enumerate(rows)]),
    ),
    Fault("scores are compared as text", twist=_lists(_as_text)),
    Fault("the first item of each list is skipped", formula=_but_the_first),
    Fault("ids are compared as numbers", twist=_ids(_number)),
    Fault("ids are compared without regard to case", twist=_ids(str.lower)),
    Fault("users are paired by position, not by id", twist=_paired),
    Fault("only the first user counts", twist=_only(0)),
    Fault("only the last user counts", twist=_only(-1)),
    Fault(
        "grades are rounded down to integers",
        twist=_truths(lambda grades: {name: float(math.floor(grade)) for name, grade in grades.items()}),
    ),
    Fault(
        "an item is relevant above grade 1, not from it on",
        twist=_truths(lambda grades: {name: grade if grade > 1 else min(grade, 0) for name, grade in grades.items()}),
    ),
    Fault(
        "the truth is cut to its first k items",
        twist=lambda case, k: _truths(lambda grades: dict(list(grades.items())[:k]))(case, k),
    ),
    Fault("users without a hit are left out of the mean", mean=_by_case(_mean_of_hits)),
    Fault("users are added up, not averaged", mean=_by_case(lambda values: float(values.sum()))),
    Fault("the median over users is taken, not the mean", mean=_by_case(lambda values: float(np.median(values)))),
    Fault("the geometric mean over users is taken", mean=_by_case(_geometric)),
    Fault("the best user is taken, not the mean", mean=_by_case(lambda values: float(values.max()))),
    Fault("the logarithm is off by one: log2(rank + 2)", formula=_both(divisor=_late), kinds=OF_GRADES),
    Fault("the logarithm is off by one in DCG only", formula=_ndcg({"divisor": _late}, {}), kinds=GAINED),
    Fault("the logarithm is off by one in the ideal only", formula=_ndcg({}, {"divisor": _late}), kinds=GAINED),
    Fault(
        "DCG takes the natural logarithm, the ideal log2",
        formula=_ndcg({"divisor": np.log1p}, {"divisor": _log2}),
        kinds=GAINED,
    ),
    Fault(
        "DCG takes log2, the ideal the natural logarithm",
        formula=_ndcg({"divisor": _log2}, {"divisor": np.log1p}),
        kinds=GAINED,
    ),
    Fault("gains are divided by the rank, not by its logarithm", formula=_both(divisor=lambda r: r), kinds=OF_GRADES),
    Fault("no discount: every rank counts alike", formula=_both(divisor=np.ones_like), kinds=OF_GRADES),
    Fault(
        "grades are exponentiated in DCG, not in the ideal",
        formula=_ndcg({"gain": "exp2"}, {"gain": "linear"}),
        kinds=GAINED,
    ),
    Fault(
        "grades are exponentiated in the ideal, not in DCG",
        formula=_ndcg({"gain": "linear"}, {"gain": "exp2"}),
        kinds=GAINED,
    ),
    Fault("the ideal counts every gain as 1", formula=_ndcg({}, {"gain": "binary"}), kinds=GAINED),
    Fault("the list is not cut at k, the ideal is", formula=_deep, kinds=GAINED),
    Fault("1 / (rank + 1): ranks start at 2", formula=_reciprocal(lambda j: (j.nth == 1) / (j.rank + 1)), kinds=(MRR,)),
    Fault(
        "1 / (rank - 1): ranks start at 0",
        formula=_reciprocal(lambda j: (j.nth == 1) / np.maximum(j.rank - 1, 1)),
        kinds=(MRR,),
    ),
    Fault("reciprocal ranks are added up over all hits", formula=_reciprocal(lambda j: 1 / j.rank), kinds=(MRR,)),
    Fault(
        "reciprocal ranks are averaged over all hits", formula=_reciprocal(lambda j: 1 / j.rank, "hits"), kinds=(MRR,)
    ),
    Fault("the last hit counts, not the first", formula=_last, kinds=(MRR,)),
    Fault("hits / (rank + 1): ranks start at 2", formula=_precisions(lambda j: j.nth / (j.rank + 1)), kinds=(MAP,)),
    Fault("hits are counted from 0", formula=_precisions(lambda j: (j.nth - 1) / j.rank), kinds=(MAP,)),
    Fault("the sum of precisions is not divided", formula=_undivided, kinds=(MAP,)),
    Fault("precision is averaged over all ranks, not over hits", formula=_every_rank, kinds=(MAP,)),
    Fault("the arithmetic mean of precision and recall", formula=_arithmetic, kinds=(F1,)),
)
"""Every fault that has a name."""
