"""Compare: evaluate runs, pair them by user, and test their differences."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay import __version__
from atkay.comparison.comparison import Comparison
from atkay.comparison.corrections import corrected
from atkay.comparison.data_sets import over_data_sets
from atkay.comparison.difference import Difference
from atkay.comparison.procedure import Correction, Family, Interval, Procedure, TestName
from atkay.comparison.run_table import RunTable
from atkay.comparison.sheet import lay_out
from atkay.comparison.tests import TESTS
from atkay.comparison.verdict import CONTRADICTORY, CORRECTION_NAMES, LEVEL, finding
from atkay.core.types import Floats, is_number
from atkay.errors import (
    InputError,
    NotMeanWarning,
    NumberError,
    PermutationsWarning,
    ProtocolError,
    SpecError,
    a_type,
    listing,
    offer,
    shown,
    warn,
)
from atkay.evaluation.evaluate import evaluate
from atkay.evaluation.request import USUAL
from atkay.metrics.metric import Metric
from atkay.metrics.spec import parse_all, separate
from atkay.results.ordered import TAIL_USERS
from atkay.results.result import WEIGHTED, Result
from atkay.results.save import is_saved
from atkay.text.help import spell_out
from atkay.text.phrases import argument, either

if TYPE_CHECKING:
    from typing import Unpack

    from atkay.comparison.sheet import Pair, Sheet
    from atkay.text.arguments import EvaluateArguments


@spell_out(evaluate)
def compare(
    runs: Mapping[str, Any],
    truth: Any = None,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    baseline: str | None = None,
    test: TestName | Sequence[TestName] = ("t", "permutation"),
    correction: Correction = "holm",
    family: Family = "all",
    interval: Interval = "student",
    min_effect: float | Mapping[str, float] | None = None,
    permutations: int = 10_000,
    rng: int = 7,
    **given: Unpack[EvaluateArguments],
) -> Comparison:
    """Compare runs: how large are the differences, and which are significant?

    Runs are paired by user. A user who is evaluated in only one of two runs is left out of their difference, and
    counted in ``left_out``.

    Parameters
    ----------
    runs
        ``{name: lists}``, two or more: lists as ``evaluate`` takes them, the path of a file, a :class:`Result`, or the
        path of a saved one (``.json``, ``.json.gz``). For several data sets ``{data set: {name: lists}}``, see
        ``compare_data_sets``, whose :class:`Leaderboard` is then returned.
    truth
        As for ``evaluate``; not needed if all runs are results. For several data sets ``{data set: truth}``.
    metrics
        As for ``evaluate``. By default the metrics that all given results have, or those of ``evaluate``.
    baseline
        The run to compare all others with; by default every pair is compared.
    test
        One or several of "t", "permutation", "bootstrap", "tukey", "randomised_tukey", "wilcoxon", "sign". The first
        that has a p-value decides the verdict.
    correction
        "holm", "bonferroni", "bh" (Benjamini and Hochberg), or "none".
    family
        What to correct together: "all" differences, or those of each "metric".
    interval
        The confidence interval of a difference: "student", or the bootstrap's "percentile", "bca" or "studentised".
        Those of means are the results' own, see :meth:`Result.with_intervals`.
    min_effect
        The smallest difference that matters, for all metrics or as ``{metric: difference}``; for geometric means that
        of the logarithms.
    permutations
        The number of permutations or bootstrap samples.
    rng
        The seed of random tests; the same seed gives the same numbers.
    **given
        Further arguments of ``evaluate``: protocol, columns, slices, train, dialect, ...

    Examples
    --------
    Four users; the new run brings the relevant item from rank 2 to rank 1 for three of them. The differences in
    reciprocal rank are 1/2, 1/2, 1/2 and 0, their mean is 3/8, and of 2³ sign patterns 2 reach it: p = 1/4.

    >>> truth = {user: ["tea"] for user in "abcd"}
    >>> old = {user: ["rye", "tea"] for user in "abcd"}
    >>> new = {**{user: ["tea", "rye"] for user in "abc"}, "d": ["rye", "tea"]}
    >>> comparison = atkay.compare({"old": old, "new": new}, truth, "mrr", baseline="old", test="permutation")
    >>> comparison["mrr"][0].difference, comparison["mrr"][0].p
    (0.375, {'permutation': 0.25})
    >>> print(comparison["mrr"][0].verdict)
    no significant difference (95 % CI [-0.023, +0.773])
    """
    if _has_data_sets(runs, truth):
        of_call = {name: value for name, value in {**locals()}.items() if name in (compare.__kwdefaults__ or ())}
        leaderboard: Any = over_data_sets(compare, runs, truth, metrics, of_call | given)
        return leaderboard  # type: ignore[no-any-return]  # compare_data_sets has the type of it
    procedure = Procedure.of(baseline, test, correction, family, interval, permutations, rng)
    _check_arguments(given)
    results, single = _results(runs, truth, metrics, given)
    names = tuple(results)
    if baseline is not None and baseline not in names:
        raise InputError(f"compare: unknown baseline '{baseline}'. {offer(baseline, names)}")
    spoken = _names(results)
    least = _thresholds(min_effect, single, spoken)
    sheet = lay_out(results, single)
    _check_tests(sheet, procedure)
    table = RunTable(results, single, sheet, _pairs(names, baseline), procedure)
    for name in procedure.tests:
        if not TESTS[name].of_mean:
            warn(
                f"the {name} test does not test the mean: it can be significant where the means are equal, and not "
                "significant where they differ. Use it together with 't' or 'permutation'.",
                NotMeanWarning,
            )
    with table.steps:
        differences = judge([table.differences((0,))], procedure, least)
        segments = [comparison for tables in table.of_slices() for comparison in judge(tables, procedure, least)]
    comparison = Comparison(
        runs=names,
        baseline=baseline,
        metrics=tuple(map(str, single)),
        **vars(procedure),
        min_effect=least,
        means=table.means,
        differences=tuple(differences),
        segments=tuple(segments),
        protocol={**(shared := next(iter(results.values()))).protocol.words(), **shared.apart_words()},
        notes=tuple(_notes(results, table.sheet, procedure, single)),
        version=__version__,
        results=results,
        sheet=sheet,
        segment_means=table.segment_means,
        names=spoken,
        cluster=None if sheet.clusters is None else sheet.clusters.name,
    )
    for message in _too_few_permutations(comparison):
        warn(message, PermutationsWarning)
    return comparison


def _has_data_sets(runs: Any, truth: Any) -> bool:
    """Whether these runs are ``{data set: {run: lists}}``: each has a truth of its own, or all are results."""
    if not isinstance(runs, Mapping) or not runs:
        return False
    if not all(isinstance(each, Mapping) and not isinstance(each, Result) for each in runs.values()):
        return False
    every = (run for each in runs.values() for run in each.values())
    if truth is None:
        return all(isinstance(run, Result) or (isinstance(run, str | os.PathLike) and is_saved(run)) for run in every)
    # Users may be named as runs are; then these are the lists of users.
    return isinstance(truth, Mapping) and any(name in truth for name in runs) and not any(map(_is_list, every))


def _is_list(run: Any) -> bool:
    """Whether this is the list of one user: items in order, or scores of items."""
    if isinstance(run, Mapping):
        return any(isinstance(score, Real) for score in run.values())
    return isinstance(run, list | tuple | set | frozenset) or getattr(run, "ndim", 2) == 1


def _check_tests(sheet: Sheet, procedure: Procedure) -> None:
    """Tests of means do not test a median: what depends on the order of the values takes the bootstrap."""
    ordered = [each for each in sheet.aggregates.values() if each.ordered and not each.extreme]
    strange = [name for name in procedure.tests if name != "bootstrap"]
    if ordered and (strange or procedure.interval != "percentile"):
        what = f"the {strange[0]} test tests means" if strange else f"interval='{procedure.interval}' is of means"
        raise SpecError(
            f"compare: {what}, and these runs are compared by {argument('aggregate', str(ordered[0]))}. Pass "
            f"{argument('test', 'bootstrap')}, {argument('interval', 'percentile')}: users are drawn with replacement, "
            "and the aggregate is computed again for each sample."
        )


def _too_few_permutations(comparison: Comparison) -> Iterator[str]:
    """The random tests whose smallest possible p-value cannot be significant after correction."""
    families: dict[Any, list[Difference]] = {}
    for each in (*comparison.differences, *comparison.segments):
        families.setdefault((each.slice, each.metric if comparison.family == "metric" else None), []).append(each)
    for test in comparison.tests:
        stuck = [
            _members(family, test)
            for family in families.values()
            if any(test in d.lowest and d.corrected[test] >= LEVEL for d in family)
        ]
        if stuck:
            yield (
                f"the smallest p-value of the {test} test is 1/{comparison.permutations + 1:,}; corrected for "
                f"{max(stuck):,} comparisons it is not below {LEVEL:g}, so such differences cannot be "
                f"significant. Pass "
                f"permutations={math.ceil(max(stuck) / LEVEL):_} or more, or compare fewer runs or metrics."
            )


def _check_arguments(given: Mapping[str, Any]) -> None:
    """For an unknown argument suggest those of compare first, then those of evaluate."""
    known = list(inspect.signature(compare).parameters)
    for name in given:
        if name not in (*known, "k"):  # of k, evaluate says where it goes
            raise ProtocolError(f"compare: no argument '{name}'. {offer(name, known)}")


def _members(family: Sequence[Difference], test: str) -> int:
    """How many differences are corrected together; a joint test counts all pairs as one."""
    pair = ("metric", "segment") if TESTS[test].joint else ("metric", "segment", "run", "against")
    return len({tuple(getattr(each, name) for name in pair) for each in family if not math.isnan(each.p[test])})


def _pairs(names: Sequence[str], baseline: str | None) -> list[Pair]:
    if baseline is not None:
        base = names.index(baseline)
        return [(base, other) for other in range(len(names)) if other != base]
    return [(one, other) for one in range(len(names)) for other in range(one + 1, len(names))]


def _results(
    runs: Mapping[str, Any], truth: Any, metrics: Any, given: Mapping[str, Any]
) -> tuple[dict[str, Result], tuple[Metric, ...]]:
    """Every run as a result, evaluated now or before, and the metrics to compare."""
    if not isinstance(runs, Mapping):
        raise InputError(f"compare: runs must be {{name: lists}}, got {a_type(runs)}.")
    if strange := [name for name in runs if not isinstance(name, str)]:
        raise InputError(f"compare: names of runs must be strings, got {shown(strange[0])}. Convert it with str().")
    if len(runs) < 2:
        raise InputError(f"compare: pass at least two runs, got {listing(runs) or 'none'}.")
    ready = {name: result for name, run in runs.items() if (result := _ready(run)) is not None}
    fresh = [name for name in runs if name not in ready]
    if fresh and truth is None:
        raise InputError(
            f"compare: '{fresh[0]}' is not a saved result and must be evaluated: pass "
            + either("truth as well.", "--truth FILE.")
        )
    if not fresh and (unused := [*(["truth"] if truth is not None else []), *sorted(given)]):
        raise InputError(
            f"compare: {listing(unused)} has no effect: all runs are already evaluated. Leave it out, or pass lists."
        )
    if metrics is None:
        metrics = _shared(ready) if ready else USUAL
    metrics = separate(metrics)
    if given.get("dialect") is None:
        metrics = _meant(metrics, _names(ready))
    evaluated = {name: _evaluated(name, runs[name], truth, metrics, **given) for name in fresh}
    wanted = evaluated[fresh[0]].metrics if fresh else parse_all(metrics)  # a dialect has names of its own
    single = tuple(each for metric in wanted for each in metric.split())
    results = {name: (ready | evaluated)[name].with_rows(f"compare: '{name}'") for name in runs}
    for run, result in results.items():
        for metric in single:
            if str(metric) not in result:
                raise NumberError(
                    f"compare: '{metric}' is not in the result of '{run}', which has {listing(result)}. Evaluate it "
                    "again."
                )
    return results, single


def _evaluated(name: str, run: Any, truth: Any, metrics: Any, **given: Any) -> Result:
    """The result of one run; errors name the run."""
    try:
        return evaluate(run, truth, metrics, **given)
    except InputError as error:
        raise error.replace(run=name) from error


def _names(results: Mapping[str, Result]) -> dict[str, str]:
    """The dialect's names of metrics, and our specs for them."""
    return {name: meant for result in results.values() for name, meant in result.names.items()}


def _meant(specs: Iterable[Any], names: Mapping[str, str]) -> tuple[Metric, ...]:
    """The metrics of some specs, some of which may be names of a dialect."""
    return parse_all([names.get(spec, spec) if isinstance(spec, str) else spec for spec in specs])


def _ready(run: Any) -> Result | None:
    if isinstance(run, Result):
        return run
    if isinstance(run, str | os.PathLike) and is_saved(run):
        return Result.load(Path(run))
    return None


def _shared(results: Mapping[str, Result]) -> list[str]:
    """The metrics that all results have."""
    (first, one), *others = results.items()
    shared = [name for name in one if all(name in other for _, other in others)]
    if not shared:
        has = "; ".join(f"'{name}' has {listing(each)}" for name, each in results.items())
        raise NumberError(
            f"compare: the results have no metric in common: {has}. Evaluate '{first}' and the others with the "
            f"same metrics."
        )
    return shared


def _thresholds(
    min_effect: float | Mapping[str, float] | None, metrics: Sequence[Metric], spoken: Mapping[str, str]
) -> dict[str, float]:
    """The smallest difference that matters, for each metric that has one."""
    names = [str(metric) for metric in metrics]
    if min_effect is None:
        return {}
    if isinstance(min_effect, Mapping):
        wanted = {
            str(one): value
            for name, value in min_effect.items()
            for metric in _meant([name], spoken)
            for one in metric.split()
        }
    else:
        wanted = dict.fromkeys(names, min_effect)
    for name, value in wanted.items():
        if name not in names:
            raise NumberError(f"compare: unknown metric '{name}' in min_effect. {offer(name, names)}")
        if not is_number(value, 0, 1e300):
            raise SpecError(f"compare: min_effect must be a positive number, got {shown(value)}.")
    return {name: float(value) for name, value in wanted.items()}


def judge(tables: Sequence[Sequence[Difference]], procedure: Procedure, least: Mapping[str, float]) -> list[Difference]:
    """The differences of one or several tables, corrected as one family."""
    rows = [each for table in tables for each in table]
    metrics = list(dict.fromkeys(each.metric for each in rows))
    of_metric = [[at for at, each in enumerate(rows) if each.metric == name] for name in metrics]
    corrected_by: dict[str, Floats] = {}
    for name in procedure.tests:
        p = np.array([each.p[name] for each in rows], dtype=float)
        out = np.empty_like(p)
        if rows:
            places = np.array(of_metric)
            out[places] = corrected(
                p[places], procedure.correction, procedure.family, joint=TESTS[name].joint, segments=len(tables)
            )
        corrected_by[name] = out
    return [
        _with_finding(replace(each, corrected={name: float(p[at]) for name, p in corrected_by.items()}), least)
        for at, each in enumerate(rows)
    ]


def _with_finding(difference: Difference, least: Mapping[str, float]) -> Difference:
    if difference.contradicted:
        return replace(difference, finding=CONTRADICTORY)
    p = difference.corrected[difference.decided_by] if difference.decided_by else math.nan
    ends = (difference.low, difference.high) if difference.deviation else (difference.difference, difference.difference)
    return replace(difference, finding=finding(p, *ends, least.get(difference.metric)))


def _readings(results: Mapping[str, Result]) -> list[str]:
    """How columns were read; runs are named where they differ."""
    runs = {
        words: [name for name, result in results.items() if words in result.readings]
        for result in results.values()
        for words in result.readings
    }
    return [words if len(of) == len(results) else f"{', '.join(of)}: {words}" for words, of in runs.items()]


def _notes(results: Mapping[str, Result], sheet: Sheet, procedure: Procedure, metrics: Sequence[Metric]) -> list[str]:
    """The notes below the tables."""
    one = next(iter(results.values()))
    unit = f"{' and '.join(one.protocol.groups)} (averaged over its queries first)" if one.protocol.groups else "user"
    rows = "groups of queries" if one.protocol.groups else "users"
    notes = [f"{name}: {result.counted()[0]}" for name, result in results.items()]
    notes.append(f"paired by {unit}; difference = run - against")
    if uneven := int(sheet.uneven.sum()):
        what = "queries without a value" if one.protocol.groups else "users missing"
        notes.append(
            f"{what} in some runs: {uneven:,}; a mean covers the users of its run, a difference those of both runs"
        )
    family = "all differences" if procedure.family == "all" else "the differences in each metric"
    corrected = f"p-values corrected for {family} ({CORRECTION_NAMES[procedure.correction]})"
    corrected = "p-values not corrected" if procedure.correction == "none" else corrected
    notes.append(f"{corrected}; the first test with a p-value decides")
    ordered = [each for each in sheet.aggregates.values() if each.ordered]
    words = {name: TESTS[name].words for name in procedure.tests}
    if ordered and "bootstrap" in words:
        words["bootstrap"] = f"percentile bootstrap test of the difference ({ordered[0].words()})"
    notes += [f"{name}: {meaning}" for name, meaning in words.items()]
    if any(TESTS[name].joint for name in procedure.tests):
        notes.append("Tukey's p-values already account for all pairs; they are corrected for metrics and segments only")
        notes += [
            f"Tukey's tests of {paired.metric}: {known:,} of {len(units):,} {rows} have a value in every run"
            for paired in sheet.paired()
            for units in [paired.defined(paired.all_runs)]
            if (known := int(units.sum())) < len(units)
        ]
    if any(str(metric) in one.ratios for metric in metrics):
        notes.append("pooled metrics are tested with the delta method")
    if sheet.clusters is not None:
        notes.append(
            f"{sheet.clusters.words}: permutations and bootstrap take whole clusters, wilcoxon and sign have no p-value"
        )
    if sheet.weights is not None:
        notes.append(f"{WEIGHTED}; t and bootstrap use the delta method, wilcoxon and sign have no p-value")
    if any(aggregate.logarithmic for aggregate in sheet.aggregates.values()):
        notes.append("geometric means are compared by their ratio: tests, d_z and min_effect are of its logarithm")
    if ordered:
        notes.append(
            "minimum and maximum depend on one user and are not tested"
            if ordered[0].extreme
            else f"tested where {TAIL_USERS} users or more lie on either side of the quantile, or among the worst"
        )
    if any(str(metric) in one.whole for metric in metrics):
        notes.append("metrics of the whole run are not means over users and are not tested")
    if one.sampled is not None:
        notes.append(one.sampled.words)
    notes += one.protocol.chosen()
    notes += [f"{names}: {words}" for names, words in one.apart_words().items()]
    notes += _readings(results)
    versions = sorted({result.version for result in results.values()})
    if len(versions) > 1:
        notes.append(f"evaluated with different versions of atkay: {', '.join(versions)}")
    return notes
