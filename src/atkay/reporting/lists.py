"""Lists: how much those of a run differ from those of the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from atkay.comparison.diff import diff
from atkay.errors import number_of
from atkay.reporting.view import USUAL_CUTOFF, View
from atkay.tables import RUNS

if TYPE_CHECKING:
    from atkay.text.progress import Steps


def changed_lists(
    view: View, lists: Mapping[str, Any], truth: Any, given: Mapping[str, Any], steps: Steps
) -> dict[tuple[str, str], str]:
    """A sentence on the top lists of each run compared with the baseline, where both are at hand."""
    protocol = next(result.protocol for result in view.results.values()) if view.results else None
    if protocol is None or protocol.groups or protocol.aggregate != "mean" or view.baseline not in lists:
        return {}
    k = USUAL_CUTOFF if view.headline.k is None else view.headline.cutoffs[0]
    given = {**given, "columns": _of_runs(given.get("columns"))}
    sentences = {}
    for run in lists:
        if run != view.baseline:
            changed = diff(lists[view.baseline], lists[run], truth, k=k, **given).summary
            sentences[run, view.baseline] = _sentence(changed, changed["entered"])
            sentences[view.baseline, run] = _sentence(changed, changed["left"])
            steps.next()
    return sentences


def _of_runs(columns: Any) -> Any:
    """The names of the columns of lists, for both runs."""
    if not isinstance(columns, Mapping) or "recs" not in columns:
        return columns
    return {**columns, **dict.fromkeys(RUNS, columns["recs"])}


def _sentence(changed: Mapping[str, Any], new: int) -> str:
    rbo = changed["distribution"]["rbo"]["mean"]
    return (
        f"Lists, top {changed['k']}: {changed['identical']:,} of {number_of(changed['users'], 'user')} have the same; "
        f"{new / changed['users']:.1f} items are new on average; the first one differs for "
        f"{100 * changed['changed_at_1']:.0f} %; rank-biased overlap {rbo:.2f}."
    )
