"""Diff tables: a run diff as tables, for a terminal, a notebook and Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atkay.comparison.query_diff import shown
from atkay.comparison.run_diff import DEPTHS
from atkay.errors import number_of
from atkay.metrics.worked import printed
from atkay.text.grid import Grid

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from atkay.comparison.query_diff import ItemChange, QueryDiff
    from atkay.comparison.run_diff import RunDiff

GAINS = ("lost", "gained", "equal", "undefined")
SHOWN = {"p10": "10 %", "p90": "90 %"}
NAMED = 3
"""How many items a cell names."""


def parts_of(diff: RunDiff) -> list[Grid | Sequence[str]]:
    """Tables, each under its heading."""
    parts: list[Grid | Sequence[str]] = [_heading(diff), _how_many(diff), _how_similar(diff)]
    for heading, grid in (
        (f"Users whose lists changed most: {diff.names[0]} → {diff.names[1]}", _most_changed(diff)),
        ("Items that entered or left most often", _items(diff)),
        *(_gains(diff) if diff.metric is not None else ()),
    ):
        if grid.rows:
            parts += [[heading], grid]
    return parts


def _heading(diff: RunDiff) -> list[str]:
    lists = "whole lists" if diff.k is None else f"the top {diff.k} of the lists"
    alone = [
        f"{number_of(len(ids), 'user')} only in {name}, such as {', '.join(map(str, ids.row(0)))} (left out)"
        for ids, name in zip((diff.only_a, diff.only_b), diff.names, strict=True)
        if len(ids)
    ]
    tied = sum(population.tied for population in diff.pairs.populations)
    ties = [f"{tied:,} listed items are tied ({diff.request.protocol.words()['ties']})"] if tied else []
    users = f"{number_of(len(diff), 'user')} in both runs"
    return [f"{diff.names[0]} → {diff.names[1]}: {lists} of {users}", *alone, *ties]


def _how_many(diff: RunDiff) -> Grid:
    summary, n = diff.summary, len(diff)
    counts = {"same list": summary["identical"], "same items, other order": summary["reordered"]}
    counts["other items"] = summary["other_items"]
    rows = [(name, f"{count:,}", share(count / n)) for name, count in counts.items()]
    for depth in DEPTHS:
        if (of_users := summary.get(f"changed_at_{depth}")) is not None:
            where = "at rank 1" if depth == 1 else f"in the top {depth}"
            rows.append((f"changed {where}", f"{round(of_users * n):,}", share(of_users)))
    return Grid(("lists", "users", "share"), rows, right=("users", "share"))


def _how_similar(diff: RunDiff) -> Grid:
    distribution = diff.summary["distribution"]
    names = {"rbo": f"rbo (p = {printed(diff.p)})", "share_kept": "share kept", "average_overlap": "average overlap"}
    names |= {"jaccard": "jaccard", "kendall_tau": "kendall tau"}
    header = tuple(SHOWN.get(name, name) for name in distribution["rbo"])
    rows = [(name, *map(shown, distribution[measure].values())) for measure, name in names.items()]
    return Grid(("similarity", *header), rows, right=header)


def _most_changed(diff: RunDiff) -> Grid:
    numbers = ("rbo", "kept")
    rows = [
        (
            *map(str, each.query.values()),
            shown(each.measures["rbo"]),
            share(each.measures["share_kept"]),
            _named(each, ("entered",), "rank_b"),
            _named(each, ("left",), "rank_a"),
            _named(each, ("up", "down")),
        )
        for each in diff.most_changed()
    ]
    return Grid((*diff.pairs.ids.columns, *numbers, "entered (at)", "left (was at)", "moved"), rows, right=numbers)


def _items(diff: RunDiff) -> Grid:
    numbers = ("entered", "left", "up", "down", f"in {diff.names[0]}", f"in {diff.names[1]}")
    frame = diff.items.head(diff.top)
    named = [name for name in ("item", "title") if name in frame.columns]
    frame = frame.select(*named, "entered", "left", "up", "down", "in_a", "in_b")
    rows = [
        (*("" if name is None else str(name) for name in row[: len(named)]), *(f"{n:,}" for n in row[len(named) :]))
        for row in frame.iter_rows()
        if row[len(named)] or row[len(named) + 1]
    ]
    return Grid((*named, *numbers), rows, right=numbers)


def _gains(diff: RunDiff) -> Iterable[tuple[str, Grid]]:
    """Who lost and who gained most, and the unjudged items that would decide."""
    summary = diff.summary
    counts = ", ".join(
        f"{summary[name]:,} {name}" for name in ("lost", "gained", "equal", "undefined") if summary[name]
    )
    mean = "" if summary["difference"] is None else f"; mean difference {summary['difference']:+.4f}"
    yield f"{diff.metric}: {counts}{mean}. Lost most", _by_metric(diff, diff.lost())
    yield f"{diff.metric}: gained most", _by_metric(diff, diff.gained())
    if diff.is_judged and diff.can_decide:
        yield f"{diff.metric}: unjudged items that would decide, if they were relevant", _deciding(diff)


def _by_metric(diff: RunDiff, users: Iterable[QueryDiff]) -> Grid:
    numbers = (*diff.names, "difference")
    rows = []
    for each in users:
        assert each.difference is not None
        changed = [row for row in each.rows if row.relevant and row.change != "same"]
        cause = _some([f"{row.name} {row.moved}" for row in changed])
        values = shown(each.a), shown(each.b), f"{each.difference:+.4f}"
        rows.append((*map(str, each.query.values()), *values, cause or "no relevant item moved"))
    return Grid((*diff.pairs.ids.columns, *numbers, "relevant items"), rows, right=numbers)


def _deciding(diff: RunDiff) -> Grid:
    frame = diff.unjudged.head(diff.top)
    keys = [name for name in frame.columns if name not in ("rank_a", "rank_b", "difference", "turn")]
    ranks = [f"rank in {name}" for name in diff.names]
    rows = [
        (
            *("" if row[key] is None else str(row[key]) for key in keys),
            *("–" if row[rank] is None else str(row[rank]) for rank in ("rank_a", "rank_b")),
            f"{row['difference']:+.4f}",
            f"{row['difference'] + row['turn']:+.4f}",
        )
        for row in frame.iter_rows(named=True)
        if row["turn"]
    ]
    numbers = (*ranks, "difference", "if relevant")
    return Grid((*keys, *numbers), rows, right=numbers)


def _named(each: QueryDiff, changes: Sequence[str], rank: str | None = None) -> str:
    """The items that changed in some way, those with the better ranks first."""

    def text(row: ItemChange) -> str:
        return f"{row.name} {row.moved}" if rank is None else f"{row.name} ({getattr(row, rank)})"

    rows = [row for row in each.rows if row.change in changes]
    return _some([text(row) for row in rows])


def _some(texts: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    more = len(texts) - NAMED
    return ", ".join(texts[:NAMED]) + (f" and {more} more" if more > 0 else "")


def share(value: float | None) -> str:
    """A share in percent."""
    return "–" if value is None else f"{100 * value:.1f} %"
