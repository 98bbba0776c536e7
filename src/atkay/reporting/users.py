"""Users: which ones a page shows in full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.comparison.sheet import lay_out
from atkay.results.sample_users import USERS_KEPT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atkay.core.types import Floats, Ints
    from atkay.reporting.view import View
    from atkay.results.result import Result
    from atkay.results.sample_users import Examples

User = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Chosen:
    """The users of a page: for each run its example users and the place there, None where it does not have the user.

    ``extreme`` says how many of the users who lost and who gained most are among them at least, for each run.
    """

    users: Mapping[User, list[tuple[Examples, int] | None]]
    extreme: int


def chosen_users(view: View, most: int) -> Chosen | None:
    """Users who lost and gained most in the headline number, and others by a hash of their ids; at most ``most``.

    Of one run, those with the lowest and the highest values.
    """
    results = [view.results[run] for run in view.runs if run in view.results]
    samples = [result.example_users for result in results]
    if not samples or any(sample is None or not len(sample) for sample in samples):
        return None
    most = min(most, USERS_KEPT)
    extreme, rows = _extreme(view, most)
    examples = [_with(result, of_run) for result, of_run in zip(results, rows, strict=True)]
    places = [_places(result, each) for result, each in zip(results, examples, strict=True)]
    users = list(dict.fromkeys(user for of_run in places for user in of_run))[:most]
    return Chosen(
        {
            user: [(each, where[user]) if user in where else None for each, where in zip(examples, places, strict=True)]
            for user in users
        },
        extreme,
    )


def _with(result: Result, rows: Ints) -> Examples:
    """The users of some rows in full, before those that a hash of their ids picks."""
    sample = result.example_users
    assert sample is not None
    wanted = np.concatenate((rows, sample.rows))
    first = np.sort(np.unique(wanted, return_index=True)[1])
    examples = result.examples_of(wanted[first])
    assert examples is not None
    return examples


def _extreme(view: View, most: int) -> tuple[int, list[Ints]]:
    """The rows of each run of the users who lost and gained most, pair by pair, and how many they are of each kind."""
    nobody = [np.empty(0, np.int64) for _ in view.runs]
    name = str(view.headline)
    if not all(callable(result.examples) and name in result.by_query for result in view.results.values()):
        return 0, nobody
    if view.comparison is None:
        result = view.results[view.runs[0]]
        each = max(1, most // 4)
        return each, [_ends(result.query_values[:, result.by_query.index(name)], each, around=np.nan)]
    sheet = lay_out(view.results, [view.headline])
    values = np.full(sheet.there.shape, np.nan)
    for at, (result, of_run) in enumerate(zip(view.results.values(), sheet.rows, strict=True)):
        values[of_run, at] = result.query_values[:, result.by_query.index(name)]
    against = view.runs.index(view.baseline)
    others = [view.runs.index(run) for run in view.ordered if run != view.baseline]
    each = max(1, most // (4 * len(others)))
    wanted = [max(each, most // 8), *[each] * (len(others) - 1)]  # more of the run that the page opens with
    ends = (_ends(values[:, at] - values[:, against], n) for at, n in zip(others, wanted, strict=True))
    chosen = np.concatenate(list(ends))
    chosen = chosen[np.sort(np.unique(chosen, return_index=True)[1])]
    rows = []
    for of_run in sheet.rows:
        place = np.full(len(values), -1)
        place[of_run] = np.arange(len(of_run))
        rows.append(place[chosen][place[chosen] >= 0])
    return each, rows


def _ends(values: Floats, each: int, around: float = 0.0) -> Ints:
    """The rows with the lowest and the highest values; of differences those that are below and above 0."""
    known = np.flatnonzero(~np.isnan(values) & (values != around))
    order = known[np.argsort(values[known], kind="stable")]
    if np.isnan(around):
        return np.unique(np.concatenate((order[:each], order[::-1][:each])))
    low, high = order[:each], order[::-1][:each]
    return np.concatenate((low[values[low] < around], high[values[high] > around]))


def _places(result: Result, examples: Examples) -> dict[User, int]:
    """The users among the examples, by their ids."""
    rows = examples.rows.tolist()
    return {tuple(column[row] for column in result.ids.values()): nth for nth, row in enumerate(rows)}
