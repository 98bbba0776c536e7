"""Data sets: the same runs on several of them, one comparison each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from atkay.comparison.leaderboard import Leaderboard
from atkay.errors import AtkayError, InputError, NumberError, ProtocolError, a_type, listing
from atkay.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from atkay.comparison.comparison import Comparison


def over_data_sets(
    compare: Callable[..., Comparison], runs: Any, truth: Any, metrics: Any, given: Mapping[str, Any]
) -> Leaderboard:
    """Compare the runs of each data set; what does not belong together is refused."""
    if not isinstance(runs, Mapping) or any(
        isinstance(each, Result) or not isinstance(each, Mapping) for each in runs.values()
    ):
        raise InputError(
            "compare_data_sets: runs must be {data set: {name: lists}}. For runs on one data set use compare."
        )
    if len(runs) < 2:
        raise InputError(f"compare_data_sets: pass at least two data sets, got {listing(runs) or 'none'}.")
    if truth is not None and not isinstance(truth, Mapping):
        raise InputError(f"compare_data_sets: truth must be {{data set: truth}}, got {a_type(truth)}.")
    if truth is not None and truth.keys() != runs.keys():
        raise InputError(
            f"compare_data_sets: runs are of {listing(runs)}, but truth of {listing(truth)}. Give both the same data "
            "sets."
        )
    first, names = next((name, list(each)) for name, each in runs.items())
    for name, each in runs.items():
        if {*each} != {*names}:
            raise InputError(
                f"compare_data_sets: the runs of '{first}' are {listing(names)}; those of '{name}' are "
                f"{listing(each) or 'none'}. Give every data set the same runs."
            )
    comparisons: dict[str, Comparison] = {}
    for name, of_data_set in runs.items():
        own: dict[str, Any] = {
            key: value[name] if _per_data_set(value, runs) else value for key, value in given.items()
        }
        lists = {run: of_data_set[run] for run in names}
        try:
            comparisons[name] = compare(lists, None if truth is None else truth[name], metrics, **own)
        except AtkayError as error:
            raise error.replace(note=f"{error.note} The data set is '{name}'.".strip()) from error
    _check_alike(comparisons)
    return Leaderboard(comparisons)


def _per_data_set(value: Any, runs: Mapping[str, Any]) -> bool:
    return isinstance(value, Mapping) and value.keys() == runs.keys()


def _check_alike(comparisons: Mapping[str, Comparison]) -> None:
    """All data sets have the same metrics, under the same protocol."""
    (first, one), *others = comparisons.items()
    for name, other in others:
        if other.metrics != one.metrics:
            raise NumberError(
                f"compare_data_sets: '{first}' has {listing(one.metrics)}, '{name}' {listing(other.metrics)}. Name the "
                "metrics that all have with metrics=."
            )
        for field, words in one.protocol.items():
            if other.protocol.get(field) != words:
                raise ProtocolError(
                    f"compare_data_sets: '{first}' and '{name}' were evaluated under different protocols: {field} is "
                    f"'{words}' in '{first}' and '{other.protocol.get(field)}' in '{name}'. Evaluate both with the "
                    "same protocol."
                )
