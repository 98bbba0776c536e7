"""Gate: is a new run worse than the baseline?"""

from __future__ import annotations

import datetime
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.aggregates import Aggregate
from atkay.comparison.checked import Checked
from atkay.comparison.compare import compare
from atkay.comparison.corrections import holm
from atkay.comparison.directions import directions
from atkay.comparison.gate_result import GateResult
from atkay.comparison.looks import Looks, p_of_loss
from atkay.comparison.sheet import check_data, check_protocols, check_weights
from atkay.comparison.tests import TESTS
from atkay.comparison.verdict import LEVEL
from atkay.core.types import is_number
from atkay.errors import (
    InputError,
    NumberError,
    OutputError,
    ProtocolError,
    SourceError,
    SpecError,
    number_of,
    offer,
    shown,
)
from atkay.evaluation.evaluate import evaluate
from atkay.evaluation.request import USUAL
from atkay.metrics.spec import parse_all, separate
from atkay.results.result import Result
from atkay.results.save import is_saved
from atkay.text.help import spell_out
from atkay.text.phrases import argument, either

if TYPE_CHECKING:
    from typing import Unpack

    from atkay.comparison.difference import Difference
    from atkay.comparison.directions import Direction
    from atkay.metrics.metric import Metric
    from atkay.text.arguments import GateArguments

    MinEffect = float | str

FIXED = ("baseline", "min_effect", "correction", "family")
"""Arguments of compare that a gate has itself, or decides."""

SHARE = re.compile(r"\s*([0-9.eE+-]+)\s*%\s*")


@spell_out(compare, but=FIXED)  # type: ignore[has-type]  # atkay/__init__.pyi imports both
def gate(
    run: Any,
    baseline: Any,
    truth: Any = None,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    min_effect: MinEffect | Mapping[str, MinEffect] | None = None,
    better: Mapping[str, Direction] | None = None,
    looks: str | os.PathLike[str] | None = None,
    look: str | None = None,
    update_baseline: bool = False,
    **given: Unpack[GateArguments],
) -> GateResult:
    """Check that a run is not worse than its baseline: for tests, CI and releases.

    The first metric is the main one; the others are guardrails, and segments (``slices=``) are checked in the main
    metric. Users are paired. A harmless change is called "worse" with a probability of at most 5 %, however many
    numbers are checked: their p-values, each one-sided and the larger one of all tests, are corrected together (Holm).

    Parameters
    ----------
    run
        Lists as ``evaluate`` takes them, or a :class:`Result` or the path of a saved one.
    baseline
        The same; usually the path of a result saved with ``result.save("baseline.json.gz")`` and committed.
    truth
        As for ``evaluate``; not needed if both are results.
    metrics
        As for ``evaluate``. By default all metrics of the baseline.
    min_effect
        The smallest loss that matters: a number, or a share of the baseline's mean such as "2%"; for all metrics, or
        ``{metric: loss}``.
    better
        ``{metric: "higher"}`` or ``{metric: "lower"}`` for metrics without a direction.
    looks
        For a series of looks at other users each time, such as those of every day: the path of a file that the gate
        keeps. All users so far are checked, with intervals that hold at all looks together (confidence sequences), so
        that a harmless change is ever called "worse" with a probability of at most 5 %.
    look
        The name of this look, by default the date; a look of the same name is replaced.
    update_baseline
        Save the run as the baseline, a file to be committed, and compare it with itself.
    **given
        Further arguments of ``compare`` and ``evaluate``: test, interval, protocol, columns, slices, dialect, ...

    Examples
    --------
    Twenty users. The new run moves the relevant item from rank 1 to rank 2 for seven of them: the mean reciprocal rank
    falls from 1 to (13 · 1 + 7 · 1/2) / 20 = 0.825.

    >>> truth = {user: ["tea"] for user in range(20)}
    >>> old = {user: ["tea", "rye"] for user in truth}
    >>> new = old | {user: ["rye", "tea"] for user in range(7)}
    >>> checked = atkay.gate(new, old, truth, "mrr", min_effect="5%")
    >>> checked.outcome, checked["mrr"].gain
    ('worse', -0.175)
    >>> print(checked["mrr"].verdict)
    -0.175 (-18 %), 95 % CI [-0.290, -0.060], p = 0.008 (one-sided): worse
    """
    own = {*(compare.__kwdefaults__ or {})} - {*FIXED}
    of_compare: dict[str, Any] = {name: value for name, value in given.items() if name in own}
    of_evaluate: dict[str, Any] = {name: value for name, value in given.items() if name not in own}
    if fixed := [name for name in FIXED if name in of_evaluate]:
        raise ProtocolError(f"gate: no argument '{fixed[0]}': all numbers of a gate are corrected together (Holm).")
    if strange := [name for name in _tests(of_compare) if name in TESTS and not TESTS[name].of_mean]:
        raise SpecError(f"gate: the {strange[0]} test does not test the mean. Leave it out.")
    if update_baseline:
        _check_name(baseline)
    used = _is_there(baseline, needed=not update_baseline) and not (update_baseline and metrics is not None)
    before = _result(baseline, truth, metrics, of_evaluate) if used else None
    names = list(before) if metrics is None and before is not None else separate(USUAL if metrics is None else metrics)
    after = _result(run, truth, names, of_evaluate)
    if before is None or update_baseline:
        before = after
    checked_metrics = _metrics(before, after, names, of_evaluate.get("dialect"))
    _check_same(before, after)
    known = _directions(checked_metrics, better or {}, before.names)
    comparison = compare({"baseline": before, "run": after}, metrics=checked_metrics, baseline="baseline", **of_compare)
    main = comparison.metrics[0]
    differences = [*comparison.differences, *(each for each in comparison.segments if each.metric == main)]
    losses = _losses(min_effect, comparison.metrics, before.names)
    differences = [replace(each, better=known[each.metric], deviation=_deviation(each)) for each in differences]
    if looks is not None:
        differences = _with_looks(differences, after, looks, look)
    elif look is not None:
        raise ProtocolError(f"gate: {argument('look')} names one of several; pass {argument('looks')} as well.")
    p = np.array([_of_loss(each) if looks is None else p_of_loss(each) for each in differences])
    tested = ~np.isnan(p)
    p[tested] = holm(p[tested])
    checked = tuple(
        Checked(each, _least(each, losses.get(each.metric)), float(of_loss), int(tested.sum()), looks is not None)
        for each, of_loss in zip(differences, p, strict=True)
    )
    if update_baseline:
        after.save(baseline)
    return GateResult(checked=checked, comparison=comparison)


def _deviation(difference: Difference) -> float:
    """The SD of independent users whose t-interval would be as wide as this one.

    It is that of the users at hand, unless these are clustered, or the interval is not that of a mean.
    """
    from scipy.special import stdtrit

    if not difference.deviation > 0:
        return difference.deviation
    half = (difference.high - difference.low) / 2
    return half * math.sqrt(difference.users) / float(stdtrit(difference.users - 1, 1 - LEVEL / 2))


def _with_looks(
    differences: Sequence[Difference], run: Result, path: str | os.PathLike[str], name: str | None
) -> list[Difference]:
    """The differences of all looks; this one is added to the file."""
    name = datetime.date.today().isoformat() if name is None else name
    looks = Looks.load(path, run).with_look(name, run, differences)
    pooled = list(looks.pooled(differences))
    looks.save(path)
    return pooled


def _tests(of_compare: Mapping[str, Any]) -> tuple[str, ...]:
    test = of_compare.get("test", ())
    return (test,) if isinstance(test, str) else tuple(test)


def _is_there(baseline: Any, *, needed: bool) -> bool:
    """Whether there is a baseline; the usual file of one can be made."""
    there = not _is_saved_name(baseline) or Path(baseline).exists()
    if needed and not there:
        raise SourceError(f"gate: no baseline '{baseline}'. Make it with {_update()}, and commit it.")
    return there


def _is_saved_name(path: Any) -> bool:
    return isinstance(path, str | os.PathLike) and str(path).endswith((".json", ".json.gz"))


def _check_name(baseline: Any) -> None:
    """Only what is read as a saved result is written as one."""
    if not _is_saved_name(baseline):
        raise OutputError(
            f"gate: cannot save the baseline as {shown(baseline)}; name a file that ends in .json or .json.gz."
        )


def _update() -> str:
    return either("update_baseline=True", "--update-baseline")


def _result(run: Any, truth: Any, metrics: Any, given: Mapping[str, Any]) -> Result:
    """The result of lists, evaluated now or before."""
    if isinstance(run, Result):
        return run
    if isinstance(run, str | os.PathLike) and is_saved(run):
        return Result.load(run)
    if truth is None:
        raise InputError("gate: lists must be evaluated: pass " + either("truth as well.", "TRUTH as well."))
    return evaluate(run, truth, **({} if metrics is None else {"metrics": metrics}), **given)


def _metrics(before: Result, after: Result, names: Iterable[Any], dialect: str | None) -> list[Metric]:
    """The metrics to check; both results have them, and they can be tested."""
    if dialect is None:
        meant = {**before.names, **after.names}
        single = [one for metric in parse_all([meant.get(str(each), each) for each in names]) for one in metric.split()]
    else:
        single = [one for metric in after.metrics for one in metric.split()]
    for what, result in (("baseline", before), ("run", after)):
        if missing := [str(metric) for metric in single if str(metric) not in result]:
            raise NumberError(
                f"gate: the {what} has no {' and no '.join(missing)}; it has {', '.join(result)}. Evaluate it "
                "again with these metrics."
            )
    if whole := [str(metric) for metric in single if str(metric) in after.whole]:
        raise SpecError(
            f"gate: {whole[0]} is a metric of the whole run and has no value per user to test. Leave it out; "
            + either("compare its value with a limit.", "atkay evaluate --fail-under compares it with a limit.")
        )
    return single


def _check_same(before: Result, after: Result) -> None:
    """Both results were computed alike: on the same truth, under the same protocol; else say what has changed."""
    both = {"baseline": before, "run": after}
    for check in (check_protocols, check_data, check_weights):
        try:
            check(both, "gate")
        except (ProtocolError, InputError) as error:
            changed = _users_changed(before, after) if check is check_data else ""
            note = f"{changed}If that is intended, pass {_update()}."
            raise error.replace(note=note) from error


def _users_changed(before: Result, after: Result) -> str:
    if before.sums is not None or after.sums is not None:
        return ""
    old, new = (set(zip(*(list(column) for column in each.ids.values()), strict=True)) for each in (before, after))
    if old == new:
        return "The evaluated users are the same. "
    return f"{number_of(len(new - old), 'new user')}, {len(old - new):,} no longer there. "


def _directions(metrics: Iterable[Metric], better: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Which values of each metric are better; a gate has to know."""
    known = directions(metrics, better, names, f"gate: {argument('better')}")
    if unclear := [name for name, word in known.items() if word == "neither"]:
        advice = either(f"better={{{unclear[0]!r}: 'higher'}}", f"--better {unclear[0]}=higher") + " (or lower)"
        raise SpecError(
            f"gate: {' and '.join(unclear)} {'have' if len(unclear) > 1 else 'has'} no direction. Pass {advice}, or "
            "leave the metric out."
        )
    return known


def _losses(
    min_effect: MinEffect | Mapping[str, MinEffect] | None, metrics: Iterable[str], names: Mapping[str, str]
) -> dict[str, tuple[float, bool]]:
    """The smallest loss that matters of each metric, and whether it is a share of the baseline."""
    metrics = list(metrics)
    if min_effect is None:
        return {}
    if not isinstance(min_effect, Mapping):
        return dict.fromkeys(metrics, _loss(min_effect))
    losses = {
        str(one): _loss(value)
        for name, value in min_effect.items()
        for metric in parse_all([names.get(name, name)])
        for one in metric.split()
    }
    if unknown := [name for name in losses if name not in metrics]:
        raise NumberError(f"gate: unknown metric '{unknown[0]}' in min_effect. {offer(unknown[0], metrics)}")
    return losses


def _loss(value: MinEffect) -> tuple[float, bool]:
    """A loss as a number, or as a share in percent: "2%"."""
    share = SHARE.fullmatch(value) if isinstance(value, str) else None
    try:
        number = float(share[1]) / 100 if share else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not is_number(number, 0, 1 if share else 1e300):
        raise SpecError(
            f"gate: min_effect must be a positive number such as 0.01, or a share such as '2%', got {shown(value)}."
        )
    return number, share is not None


def _of_loss(difference: Difference) -> float:
    """The one-sided p-value of a loss: the largest of all tests, which are two-sided."""
    p = [each for each in difference.p.values() if not math.isnan(each)]
    if not p:
        return math.nan
    gains = (difference.difference < 0) == (difference.better == "lower")
    return 1 - max(p) / 2 if gains else max(p) / 2


def _least(difference: Difference, loss: tuple[float, bool] | None) -> float:
    """The smallest loss that matters, as the difference has it: a share is one of the baseline's mean."""
    if loss is None:
        return math.nan
    number, is_share = loss
    if not is_share:
        return number
    if Aggregate.of(difference.aggregate).logarithmic:
        return -math.log1p(-number)
    return number * abs(difference.base) or math.nan  # no loss is a share of 0
