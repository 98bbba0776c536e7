"""Ranking: the rows of lists in rank order, and what must hold for them. NumPy only."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from atkay.core.kernels import by_score, steps
from atkay.core.match import repeated
from atkay.core.order import by_rank
from atkay.errors import DuplicateError, OrderError
from atkay.text.phrases import columns_argument

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from atkay.core.lists import Lists
    from atkay.core.order import Scores
    from atkay.core.types import Array, Ints
    from atkay.inputs.coding.vocabulary import Vocabulary


class Origin(NamedTuple):
    """Where lists come from, for messages: the table, its columns by role, and the words for each query."""

    table: str
    columns: Mapping[str, str]
    whose: Callable[[int], str]
    first_rank: int | None = None
    """From where the ranks of all lists are numbered, where these are some of them."""


def rank_order(
    lists: Lists, rank: Ints | None, score: Scores | None, origin: Origin, tie: Callable[[], Array] | None = None
) -> tuple[Ints | None, int]:
    """The rows of each list by rank, else by falling score, else as given; and how many rows are tied.

    None where the rows stand in this order. ``tie`` has what equal scores are ordered by, the lowest first; without it
    they stay as they are. Ranks that are not 1, 2, 3, ... in each list, or that contradict the scores, are refused.
    """
    if rank is not None:
        order, wrong = by_rank(lists, rank, origin.first_rank)
        if wrong >= 0:
            raise _not_ranks(lists, rank, wrong, origin)
        if score is not None:
            _check_agreement(lists, rank, score.values, order, origin)
        return order, 0
    if score is None:
        return None, 0
    score_steps = score.steps(lists)
    falls = score_steps.rising < 0
    if falls and (tie is None or not len(score_steps.equal)):
        return None, score_steps.n_tied
    order = by_score(lists, score.values, None if tie is None else tie())
    return order, (score_steps if falls else steps(lists, score.values, order)).n_tied


def repeats(lists: Lists, items: Vocabulary, where: Callable[[int], str], table: str, advice: str) -> DuplicateError:
    """The error of lists with an item twice; ``where`` says in what of which query."""
    again = repeated(lists)
    item = items.ids(lists.item[again[:1]]).item()
    return DuplicateError(
        f"item {item!r} appears twice in {where(lists.query_of(again[0]))}; {len(again):,} of {len(lists):,} rows "
        "repeat an item",
        advice=advice,
        table=table,
    )


def _not_ranks(lists: Lists, rank: Ints, query: int, origin: Origin) -> OrderError:
    ranks = np.sort(rank[lists.start[query] : lists.start[query + 1]])
    first = ", ".join(map(str, ranks[:8])) + (", ..." if len(ranks) > 8 else "")
    base, size = origin.first_rank, len(ranks)
    base = int(rank.min() != 0) if base is None else base
    return OrderError(
        f"of {origin.whose(query)} is {first}; the ranks of a list of {size} must be {base} to {size - 1 + base}, each "
        "once",
        advice="Renumber each list, or drop the column and order by score.",
        table=origin.table,
        column=origin.columns["rank"],
    )


def _check_agreement(lists: Lists, rank: Ints, score: Array, order: Ints | None, origin: Origin) -> None:
    """A better rank has no lower score."""
    rising = steps(lists, score, order).rising
    if rising >= 0:
        rows = rising - 1, rising
        above, below = rows if order is None else order[list(rows)]
        rank_name, score_name = (origin.columns[role] for role in ("rank", "score"))
        whose, table = origin.whose(lists.query_of(above)), "" if origin.table == "recs" else origin.table
        raise OrderError(
            f"'{rank_name}' and '{score_name}' contradict each other: for {whose}, rank {rank[above]} has score "
            f"{score[above]:g} and rank {rank[below]} has score {score[below]:g}.",
            advice=f"Name the one to use: {columns_argument(table, rank=rank_name)} or "
            f"{columns_argument(table, score=score_name)}.",
            table=origin.table,
        )
