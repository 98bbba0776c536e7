"""Compare data sets: who is first on average?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from atkay.comparison.compare import compare
from atkay.comparison.data_sets import over_data_sets
from atkay.text.help import spell_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Unpack

    from atkay.comparison.leaderboard import Leaderboard
    from atkay.metrics.metric import Metric
    from atkay.text.arguments import CompareArguments


@spell_out(compare)  # type: ignore[has-type]  # mypy comes here first, by way of the public names
def compare_data_sets(
    runs: Mapping[str, Mapping[str, Any]],
    truth: Mapping[str, Any] | None = None,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    **given: Unpack[CompareArguments],
) -> Leaderboard:
    """Compare the same runs on several data sets: who is first on average, and which runs are level?

    ``compare`` does the same when it is given such runs.

    Parameters
    ----------
    runs
        ``{data set: {name: lists}}``, two data sets or more with the same names of runs; lists, results and paths as
        ``compare`` takes them.
    truth
        ``{data set: truth}``; not needed if all runs are results.
    metrics
        As for ``compare``.
    **given
        Further arguments of ``compare``. One that is a mapping with the names of the data sets has a value for each:
        ``train={"games": ..., "books": ...}``.

    Examples
    --------
    On both data sets the new run is better for every user: its rank is 1 twice.

    >>> truth = {user: ["tea"] for user in range(8)}
    >>> old, new = {user: ["rye", "tea"] for user in truth}, {user: ["tea", "rye"] for user in truth}
    >>> board = atkay.compare_data_sets(
    ...     {"shop": {"old": old, "new": new}, "cafe": {"old": old, "new": new}}, {"shop": truth, "cafe": truth}, "mrr"
    ... )
    >>> board.ranks["mrr"].ranks
    {'new': 1.0, 'old': 2.0}
    """
    return over_data_sets(compare, runs, truth, metrics, given)
