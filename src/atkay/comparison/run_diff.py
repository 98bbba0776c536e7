"""Run diff: what changed between the lists of two runs."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.comparison.changes import COUNTS
from atkay.comparison.deciding import either_top
from atkay.comparison.margins import ROUNDING
from atkay.comparison.overlap import MEASURES
from atkay.comparison.query_diff import ItemChange, QueryDiff
from atkay.core.match import place_in
from atkay.core.types import WHOLE, Floats, Ints
from atkay.errors import IdError, RowsError, listing, number_of, offer
from atkay.evaluation.raters import is_relevant
from atkay.text.grid import Grid, Tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from atkay.comparison.changes import Changes
    from atkay.comparison.paired_lists import PairedLists
    from atkay.core.lists import Lists
    from atkay.evaluation.request import Request
    from atkay.inputs.titles import Titles

DEPTHS = (1, 5, 10)
"""Down to these ranks it is counted whose lists changed."""
USERS_OFFERED = 10_000
"""Where an id is unknown, one of this number of users may be what was meant."""
QUANTILES = {"minimum": 0.0, "p10": 0.1, "median": 0.5, "p90": 0.9, "maximum": 1.0}
"""Where the values of users lie."""


@dataclass(frozen=True, eq=False, repr=False)
class RunDiff(Tables):
    """What changed between two runs: a summary, and frames of all users and items.

    ``queries`` has a row per user, those whose lists changed most first; ``items`` a row per item, those that entered
    or left most often first; ``changes`` a row per user and item; ``summary`` the counts and means over all users.
    ``query(id)`` is one user's :class:`QueryDiff`, and ``most_changed``, ``lost`` and ``gained`` are those of
    several users. With truth, ``unjudged`` has the items that could turn a difference. ``only_a`` and ``only_b`` are
    the users with a list in one run only, who are left out.
    """

    _internal = "can_decide changed is_judged order pairs request scores titles"

    pairs: PairedLists
    scores: Floats
    changed: Changes
    titles: Titles | None
    request: Request
    k: int | None
    p: float
    names: tuple[str, str]
    top: int

    @property
    def metric(self) -> str | None:
        """The metric that gains and losses are of; None without truth."""
        return None if self.pairs.values is None else str(self.request.metrics[0])

    @property
    def only_a(self) -> pl.DataFrame:
        """The users with a list in run a only."""
        return self.pairs.only_a

    @property
    def only_b(self) -> pl.DataFrame:
        """The users with a list in run b only."""
        return self.pairs.only_b

    def __len__(self) -> int:
        return len(self.scores)

    @cached_property
    def differences(self) -> Floats:
        """The metric's value in run b minus that in run a for each user, by id; NaN where it is undefined."""
        if self.pairs.values is None:
            raise RowsError("gains and losses need truth. Pass it to diff(run_a, run_b, truth).")
        a, b = self.pairs.values
        return np.where(np.abs(b - a) < ROUNDING, 0.0, b - a)

    @cached_property
    def kept(self) -> Floats:
        """The share of run a's top k that run b keeps, for each user by id."""
        share: Floats = self.changed.of_users[:, 0] / np.minimum(self.pairs.a.length, self._depth)
        return share

    @property
    def _depth(self) -> int:
        return WHOLE if self.k is None else self.k

    @cached_property
    def order(self) -> Ints:
        """The users by how much changed, most first; equal ones by id."""
        rbo, kept = self.scores[:, MEASURES.index("rbo")].round(12), self.kept
        return np.lexsort((np.where(self.changed.first > 0, self.changed.first, WHOLE), kept, rbo))

    @cached_property
    def summary(self) -> dict[str, Any]:
        """How many users have the same lists, at which ranks lists changed, and how similar they are."""
        first = self.changed.first
        same, depths = first == 0, [depth for depth in DEPTHS if depth <= self._depth]
        shares = {f"changed_at_{depth}": float(((first > 0) & (first <= depth)).mean()) for depth in depths}
        entered_or_left = self.changed.of_users[:, 1:3].any(axis=1)
        measures = {**dict(zip(MEASURES, self.scores.T, strict=True)), "share_kept": self.kept}
        counts = self.changed.of_users.sum(axis=0).tolist()
        of_truth: dict[str, Any] = {}
        if self.metric is not None:
            assert self.changed.of_relevant is not None
            defined = self.differences[~np.isnan(self.differences)]
            of_truth = {
                "metric": self.metric,
                "gained": int((defined > 0).sum()),
                "lost": int((defined < 0).sum()),
                "equal": int((defined == 0).sum()),
                "undefined": len(self) - len(defined),
                "difference": _number(defined.mean()) if len(defined) else None,
                **_relevant(self.changed.of_relevant.sum(axis=0)),
            }
        return {
            "users": len(self),
            "only_a": len(self.only_a),
            "only_b": len(self.only_b),
            "k": self.k,
            "p": self.p,
            "identical": int(same.sum()),
            "reordered": int((~same & ~entered_or_left).sum()),
            "other_items": int(entered_or_left.sum()),
            **shares,
            **dict(zip(COUNTS, counts, strict=True)),
            "distribution": {name: _distribution(values) for name, values in measures.items()},
            **of_truth,
        }

    @property
    def queries(self) -> pl.DataFrame:
        """A row per user, those whose lists changed most first.

        The measures of :func:`atkay.overlap` on the top k, ``kept`` (the share of run a's top k), how many items
        entered, left, moved up and down, and ``first_change``: the first rank at which the lists differ. With truth
        also the metric's values, their difference, and how many relevant items entered, left and moved.
        """
        import polars as pl

        columns: dict[str, Any] = {**dict(zip(MEASURES, self.scores.T, strict=True)), "share_kept": self.kept}
        columns |= dict(zip(COUNTS, self.changed.of_users.T, strict=True))
        columns["first_change"] = self.changed.first
        if self.pairs.values is not None:
            assert self.changed.of_relevant is not None
            columns |= {"a": self.pairs.values[0], "b": self.pairs.values[1], "difference": self.differences}
            columns |= _relevant(self.changed.of_relevant.T)
        frame = pl.DataFrame({name: np.ascontiguousarray(values) for name, values in columns.items()}).fill_nan(None)
        frame = frame.with_columns(pl.col("first_change").replace(0, None))
        return self.pairs.ids.hstack(frame)[self.order]

    @cached_property
    def items(self) -> pl.DataFrame:
        """A row per item of any top k: in how many lists of either run it is, how often it entered, left and moved."""
        import polars as pl

        counts = self.changed.of_items
        code = np.flatnonzero(counts[:, :3].any(axis=1))
        code = code[np.argsort(-counts[code, 1:3].sum(axis=1), kind="stable")]
        kept, entered, left, up, down = counts[code].T
        columns = {
            "in_a": kept + left,
            "in_b": kept + entered,
            "entered": entered,
            "left": left,
            "up": up,
            "down": down,
        }
        frame = pl.DataFrame({name: np.ascontiguousarray(values) for name, values in columns.items()})
        return self._named(code).hstack(frame)

    @property
    def changes(self) -> pl.DataFrame:
        """A row per user and item of either top k: its rank in each run (null: not listed), and what changed."""
        import polars as pl

        lists = either_top(self.pairs.a, self.pairs.b, self._depth)
        owner = lists.owner()
        ranks = [place_in(run, owner, lists.item) for run in (self.pairs.a, self.pairs.b)]
        a, b = (pl.col("rank_a"), pl.col("rank_b"))
        change = (
            pl.when(a.is_null() | (a > self._depth)).then(pl.lit("entered"))
            .when(b.is_null() | (b > self._depth)).then(pl.lit("left"))
            .when(b < a).then(pl.lit("up")).when(b > a).then(pl.lit("down")).otherwise(pl.lit("same"))
        )  # fmt: skip
        frame = pl.DataFrame(dict(zip(("rank_a", "rank_b"), ranks, strict=True))).with_columns(
            pl.all().replace(0, None)
        )
        owner = lists.owner()
        return self.pairs.ids[owner].hstack(self._named(lists.item)).hstack(frame.with_columns(change.alias("change")))

    @cached_property
    def unjudged(self) -> pl.DataFrame:
        """The items that would decide: a row per user and unjudged item in either top k, those that turn most first.

        ``turn`` is how much the user's difference would change if this item alone were relevant, with the highest
        grade of the truth; ``difference`` is what it is now. Found by measuring the lists again for each place.
        """
        from atkay.comparison.deciding import find_deciding

        if self.pairs.truth is None:
            raise RowsError("unjudged items need truth. Pass it to diff(run_a, run_b, truth).")
        deciding = find_deciding(self.pairs, self.request, self.differences, self._depth)
        return self.pairs.ids[deciding.query].hstack(self._named(deciding.item)).hstack(deciding.frame)

    def _named(self, code: Ints) -> pl.DataFrame:
        """The ids of items, and their titles where there are any."""
        ids = self.pairs.items.ids(code)
        ids = ids.rename({ids.columns[0]: "item"})
        return ids if self.titles is None else ids.with_columns(self.titles.of(code))

    def query(self, *key: Any) -> QueryDiff:
        """The lists of one user side by side; the key as it is in the lists, or as text."""
        import polars as pl

        ids = self.pairs.ids
        if len(key) != ids.width:
            raise IdError(f"diff: a user has {number_of(ids.width, 'key column')}: {listing(ids.columns)}.")
        same = [column.cast(pl.String) == str(value) for column, value in zip(ids.get_columns(), key, strict=True)]
        rows = np.flatnonzero(np.logical_and.reduce([each.to_numpy() for each in same]))
        if not len(rows):
            for name, alone in zip(self.names, (self.only_a, self.only_b), strict=True):
                if any(tuple(map(str, row)) == tuple(map(str, key)) for row in alone.iter_rows()):
                    raise IdError(f"diff: {listing(key)} has a list in '{name}' only, so there is nothing to compare.")
            known = [", ".join(map(str, user)) for user in ids.head(USERS_OFFERED).iter_rows()]
            raise IdError(f"diff: no user {listing(key)}. {offer(', '.join(map(str, key)), known, available=False)}")
        return self._query(int(rows[0]))

    def most_changed(self, n: int | None = None) -> list[QueryDiff]:
        """The users whose lists changed most, ``top`` of them unless given."""
        return [self._query(row) for row in self._first(self.order[self.changed.first[self.order] > 0], n)]

    def lost(self, n: int | None = None) -> list[QueryDiff]:
        """The users who lost most by the metric."""
        return [self._query(row) for row in self._first(self._by_difference(-1), n)]

    def gained(self, n: int | None = None) -> list[QueryDiff]:
        """The users who gained most by the metric."""
        return [self._query(row) for row in self._first(self._by_difference(1), n)]

    def _by_difference(self, sign: int) -> Ints:
        """The users whose difference has a sign, the greatest first."""
        signed = sign * self.differences
        rows = np.flatnonzero(signed > 0)
        return rows[np.argsort(-signed[rows].round(12), kind="stable")]

    def _first(self, rows: Ints, n: int | None) -> list[int]:
        first: list[int] = rows[: self.top if n is None else n].tolist()
        return first

    def _query(self, row: int) -> QueryDiff:
        a, b = (_ranks(lists, row) for lists in (self.pairs.a, self.pairs.b))
        depth, never = self._depth, WHOLE + 1
        codes = [code for code, rank in b.items() if rank <= depth]
        codes += [code for code, rank in a.items() if rank <= depth < b.get(code, never)]
        named, grades = self._named(np.array(codes, np.int64)), self._grades(row)
        titles = [None] * len(codes) if self.titles is None else named["title"].to_list()
        rows = []
        for code, item, title in zip(codes, named["item"].to_list(), titles, strict=True):
            grade, relevant = grades.get(code, (None, None if self.metric is None else False))
            ranks = a.get(code), b.get(code)
            rows.append(ItemChange(item, title, *ranks, _change(*ranks, depth), grade, relevant))
        measures = dict(zip(MEASURES, map(_number, self.scores[row]), strict=True))
        values = [None, None] if self.pairs.values is None else [_number(side[row]) for side in self.pairs.values]
        return QueryDiff(
            query=self.pairs.ids.row(row, named=True),
            names=self.names,
            k=self.k,
            measures=measures | {"share_kept": _number(self.kept[row])},
            a=values[0],
            b=values[1],
            rows=tuple(rows),
            metric=self.metric,
        )

    def _grades(self, row: int) -> dict[int, tuple[float, bool]]:
        """What the truth judges of one user: the grade, and whether it is that of a relevant item."""
        if self.pairs.truth is None:
            return {}
        items, grade = self.pairs.truth
        here = slice(*items.start[row : row + 2])
        relevant = is_relevant(grade[here], self.request.protocol.min_relevance)
        judged = zip(grade[here].tolist(), relevant.tolist(), strict=True)
        return dict(zip(items.item[here].tolist(), judged, strict=True))

    def to_polars(self) -> pl.DataFrame:
        """A row per user (``queries``)."""
        return self.queries

    def to_dict(self, n: int | None = None) -> dict[str, Any]:
        """The summary, the ``n`` users and items that changed most, and who lost and gained most, JSON-compatible."""
        first = self.top if n is None else n
        content = {
            "names": list(self.names),
            "summary": self.summary,
            "most_changed": [each.to_dict() for each in self.most_changed(n)],
            "items": self.items.head(first).to_dicts(),
            "only_a": self.only_a.head(first).to_dicts(),
            "only_b": self.only_b.head(first).to_dicts(),
        }
        if self.metric is not None:
            content |= {side: [each.to_dict() for each in getattr(self, side)(n)] for side in ("lost", "gained")}
            if self.is_judged and self.can_decide:
                content["unjudged"] = self.unjudged.head(first).to_dicts()
        return content

    def to_json(self, n: int | None = None) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(n), ensure_ascii=False, allow_nan=False, default=str)

    @property
    def can_decide(self) -> bool:
        """Whether the turns of unjudged items can be found for this metric and protocol."""
        from atkay.comparison.deciding import why_not

        return not why_not(self.request)

    def to_latex(self) -> str:
        """All tables in LaTeX, for the booktabs package."""
        return "\n\n".join(part.latex() for part in self._parts(bold=True) if isinstance(part, Grid))

    @cached_property
    def is_judged(self) -> bool:
        """Whether the truth also names items that are not relevant: what it does not name is then unjudged."""
        truth = self.pairs.truth
        return truth is not None and not is_relevant(truth.grade, self.request.protocol.min_relevance).all()

    def _parts(self, *, bold: bool = False) -> Sequence[Grid | Sequence[str]]:
        from atkay.comparison.diff_tables import parts_of

        return parts_of(self)


def _number(value: float) -> float | None:
    """A number, None for NaN."""
    return None if math.isnan(value) else float(value)


def _distribution(values: Floats) -> dict[str, float | None]:
    """The mean of the values that are not NaN, and where they lie."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return dict.fromkeys(("mean", *QUANTILES))
    places = np.quantile(defined, [*QUANTILES.values()]).tolist()
    return {"mean": float(defined.mean()), **dict(zip(QUANTILES, places, strict=True))}


def _relevant(counts: Ints) -> dict[str, Any]:
    """The counts of relevant items by name."""
    named = zip(COUNTS, counts, strict=True)
    return {f"relevant_{name}": np.ascontiguousarray(of) if of.ndim else int(of) for name, of in named}


def _ranks(lists: Lists, row: int) -> dict[int, int]:
    """The rank of each item in a list."""
    item = lists.item[slice(*lists.start[row : row + 2])].tolist()
    return {code: rank for rank, code in enumerate(item, start=1)}


def _change(a: int | None, b: int | None, k: int) -> str:
    """What became of an item of either top k."""
    if a is None or a > k:
        return "entered"
    if b is None or b > k:
        return "left"
    return "same" if a == b else "up" if b < a else "down"
