"""Read: whatever was given as the tables of a call, with the roles of its columns."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import polars as pl

from atkay.errors import ColumnError, InputError, OrderError, RelevanceError, SourceError, listing, shown
from atkay.inputs.checks import (
    as_ids,
    check_grades,
    check_item_numbers,
    check_ranks,
    check_scores,
    check_shapes,
    check_swapped,
    check_weights,
    warn_unused,
)
from atkay.inputs.columns import Columns, check_headless, find, named_like, names_a_role
from atkay.inputs.kinds import open_source
from atkay.inputs.nested import flat
from atkay.inputs.numbered import with_ids, with_top
from atkay.inputs.pairs import check_pairs
from atkay.inputs.positions import by_position
from atkay.inputs.predictions import check_index, is_predictions, lists_of_predictions
from atkay.inputs.table import Source, Table
from atkay.tables import FILTERS, KINDS, LOGS, OF_USERS, SIDE, TABLES, USER
from atkay.text.phrases import argument, columns_argument, either

if TYPE_CHECKING:
    from atkay.protocol import Protocol


USUAL_COLUMNS = Columns()
ITERATION = "iteration"
"""The second field of qrels: nothing, a round of judging, or a subtopic."""
PIVOTED = 3
"""From this number of numeric columns without a role on, each column may be an item, and each row a user."""


def columns_of(columns: Columns | Mapping[str, Columns] | None, table: str) -> Columns:
    """The column names that hold for one table."""
    if columns is None:
        return USUAL_COLUMNS
    if isinstance(columns, Columns):
        return columns
    if not isinstance(columns, Mapping) or not set(columns) <= {*TABLES, *LOGS}:
        raise InputError(
            f"columns: pass Columns(...), or a dict of them for some of {listing(TABLES)}; got {shown(columns)}."
        )
    if not isinstance(columns.get(table, USUAL_COLUMNS), Columns):
        raise InputError(f"columns: pass Columns(...) for {table}, got {shown(columns[table])}.")
    return columns.get(table, USUAL_COLUMNS)


def opened(given: Any, table: str, columns: Columns) -> Source:
    """The columns of whatever was given; those of a file without a header have their roles by position.

    A row per user with a list of items is a row per item.
    """
    source = open_source(given, table, columns.header)
    if source.headless and source.columns is None:
        return by_position(source, table, columns)
    return flat(source, table, columns)


def read_tables(
    given: Mapping[str, Any],
    protocol: Protocol,
    columns: Columns | Mapping[str, Columns] | None = None,
    *,
    part: bool = False,
    users: Any = None,
    depth: int | None = None,
    precision: str = "exact",
    by_score: bool = False,
    subtopics: bool = False,
    cluster: str | None = None,
) -> dict[str, Table]:
    """All tables that were given, by name; what is None was not given.

    ``part``: these are some of the users, who may have no lists, or no truth. ``users``: the ids of the rows of arrays.
    ``depth``: how much of each list is needed, where there are scores of all items; None for whole lists.
    ``precision``: the coarsest in which these are compared. ``by_score``: ranks beside scores are left out.
    ``subtopics``: see :func:`read_truth`.
    """
    protocol.check_filters(given)
    check_index(given.get("recs"), given.get("truth"))
    names = [name for name in (*FILTERS, *SIDE, *OF_USERS) if given.get(name) is not None]
    every = {name: opened(given.get(name), name, columns_of(columns, name)) for name in ("recs", "truth", *names)}
    check_headless(every, columns)
    without = None if "candidates" in every else depth
    every["recs"] = with_top(
        every["recs"],
        every.get("exclude"),
        without,
        lambda source: read_items(source, "exclude", columns_of(columns, "exclude")),
        precision,
    )
    if users is not None:
        every = with_ids(every, users)
    sources = {name: every[name] for name in ("recs", "truth")}
    sources |= settled_predictions(sources["recs"], sources["truth"], columns)
    named = {name: source.names for name, source in sources.items() if source.columns is None}
    sources = {name: _with_others(source, named, name) for name, source in sources.items()}
    if not part:
        check_swapped(sources, {name: columns_of(columns, name) for name in sources})
    tables = {
        "recs": read_recs(sources["recs"], columns_of(columns, "recs"), empty=part, by_score=by_score),
        "truth": read_truth(
            sources["truth"],
            columns_of(columns, "truth"),
            protocol.groups,
            empty=part,
            subtopics=subtopics,
            cluster=cluster,
        ),
    }
    check_threshold(tables["truth"], protocol.min_relevance)
    for name in names:
        if name not in OF_USERS:
            source = _with_others(every[name], named, name)
            tables[name] = read_items(source, name, columns_of(columns, name))
    for name in OF_USERS:
        if name in every:
            source, keys = _with_others(every[name], named, name), (tables["truth"].key, protocol.groups)
            tables[name] = read_of_users(source, name, columns_of(columns, name), *keys)
    if not part:
        check_pairs(every | sources, tables)
    check_item_numbers(tables["recs"], tables["truth"])
    check_shapes(*(table for name, table in tables.items() if name != "truth"), tables["truth"])
    return tables


def settled_predictions(
    recs: Source, truth: Source, columns: Columns | Mapping[str, Columns] | None
) -> dict[str, Source]:
    """The lists, where what was given are scores of the rows of the truth; nothing otherwise."""
    if not is_predictions(recs):
        return {}
    roles = find_roles(truth, "truth", truth.columns or columns_of(columns, "truth"), optional=("relevance",))
    return {"recs": lists_of_predictions(recs, truth, roles)}


def _with_others(source: Source, named: Mapping[str, Sequence[str]], name: str) -> Source:
    """A source that knows the columns that all the other named tables have."""
    others = [set(names) for other, names in named.items() if other != name]
    return replace(source, other_columns=tuple(sorted(set.intersection(*others)))) if others else source


def read_recs(
    given: Any, columns: Columns, name: str = "recs", *, empty: bool = False, by_score: bool = False
) -> Table:
    """Lists: ordered by rank, by score, or as given. A reference may be one list for every user.

    ``by_score``: where there are both, the score is the one that counts.
    """
    source = opened(given, name, columns)
    named = source.columns or columns
    everybody = KINDS[name].for_everybody and not {*named.key, *USER[0]} & {*source.names}
    # Naming one of them means that the other is not looked for.
    ordering = [role for role in ("rank", "score") if getattr(named, role)] or ["rank", "score"]
    roles = find_roles(source, name, named, ("item",) if everybody else ("user", "item"), ordering)
    readings: tuple[str, ...] = ()
    if by_score and all(roles.get(role) for role in ("rank", "score")):
        readings = (f"{name} ordered by column '{roles['score']}', not by '{roles['rank']}'",)
        roles["rank"] = None
    if not any(roles[role] for role in ordering):
        _check_ordered(source, name)
        if KINDS[name].ranked:
            warn_unused(source, name, "score", [*roles.values()])
    table, frame = load(source, name, roles, empty=empty)
    used = table.used
    return replace(
        table,
        rank=check_ranks(frame[used["rank"]], name) if "rank" in used else None,
        score=check_scores(frame[used["score"]], name) if "score" in used else None,
        readings=(*table.readings, *readings),
    )


def _check_ordered(source: Source, name: str) -> None:
    """The rows of lists without ranks or scores have an order."""
    if not source.ordered:
        raise OrderError(
            f"the rows of {source.label} are unordered and have neither a rank nor a score; columns are "
            f"{listing(source.names)}",
            advice=f"Add one, or name it with {columns_argument(rank=...)} or {columns_argument(score=...)}.",
            table=name,
        )


def read_truth(
    given: Any,
    columns: Columns,
    extra: Sequence[str] = (),
    *,
    empty: bool = False,
    subtopics: bool = False,
    cluster: str | None = None,
) -> Table:
    """What is relevant to whom, with grades and subtopics where there are any.

    The columns of ``average_over`` (``extra``) and of ``cluster`` are taken along.

    ``subtopics``: they are needed, so that the second field of qrels, which may be anything, holds them; unless it is
    what it is where it says nothing.
    """
    source = opened(given, "truth", columns)
    named = source.columns or columns
    roles = find_roles(source, "truth", named, optional=("relevance", "subtopic"))
    if subtopics and roles["subtopic"] is None and ITERATION in source.names:
        says_nothing = source.select([ITERATION])[ITERATION].cast(pl.String).is_in(["0", "Q0"]).all()
        roles["subtopic"] = ITERATION if empty or not says_nothing else None
    extra = [*dict.fromkeys([*extra, *([] if cluster is None else [cluster])])]
    missing = [name for name in extra if name not in source.names]
    if missing:
        wanted_by = "cluster" if missing == [cluster] else "average_over"
        raise InputError(
            f"{wanted_by}: truth has no column {listing(missing)}; columns are {listing(source.names)}. "
            "Name a column of truth that is constant within a query."
        )
    if roles["relevance"] is None:
        warn_unused(source, "truth", "relevance", [*roles.values(), *extra])
    table, frame = load(source, "truth", roles, extra, empty=empty)
    relevance, subtopic = roles["relevance"], roles["subtopic"]
    return replace(
        table,
        grade=None if relevance is None else check_grades(frame[relevance]),
        subtopic=None if subtopic is None else as_ids(frame[subtopic], "truth"),
        extra=frame.select(extra) if extra else None,
    )


def read_items(given: Any, name: str, columns: Columns) -> Table:
    """Any other table of items, as declared in TABLES: per user or for all users."""
    kind = KINDS[name]
    if "rank" in kind.roles:
        return read_recs(given, columns, name)
    source = opened(given, name, columns)
    others = dict.fromkeys({"user", "score", "rank", "relevance", "subtopic"} - kind.roles.keys())
    named = replace(_as_far_as_there(source.columns or columns, source), **others)
    only = len(source.names) == 1
    # The header of a file may well be an item, where its name is none that we know.
    if only and [*kind.roles] == ["item"] and not kind.extra and not source.text:
        roles: dict[str, str | None] = {"item": source.names[0]}
    else:
        roles = find_roles(source, name, named, ("item",) if only and kind.for_everybody else tuple(kind.roles))
    extra = [column for column in source.names if kind.extra and column not in roles.values()]
    if kind.extra and not extra:
        raise InputError(
            f"no column besides the item; columns are {listing(source.names)}", advice=f"Add {kind.extra}.", table=name
        )
    table, frame = load(source, name, roles, extra, empty=name in FILTERS)
    return replace(table, extra=frame.select(extra)) if extra else table


def read_of_users(given: Any, table_name: str, columns: Columns, *keys: tuple[str, ...]) -> Table:
    """A user, named by any of the keys, and in every other column the segment it belongs to; or in one the weight."""
    source = opened(given, table_name, columns)
    named = _as_far_as_there(source.columns or columns, source)
    for key in keys:
        if named.user is None and key and set(key) <= set(source.names):
            named = Columns(user=key)
    roles = find_roles(source, table_name, named, ("user",))
    others, what = [name for name in source.names if name not in roles.values()], OF_USERS[table_name]
    segments = others if table_name == "slices" or len(others) == 1 else [name for name in others if name == what]
    if not segments:
        raise InputError(
            f"no {what} column; columns are {listing(source.names)}",
            advice=f"Add a column{'' if what == 'segment' else f' {what}'} with a {what} for each user.",
            table=table_name,
        )
    table, frame = load(source, table_name, roles, segments)
    if table_name == "weights":
        return replace(table, extra=check_weights(frame[segments[0]]).to_frame())
    for name in segments:
        if frame.schema[name].is_nested() or frame.schema[name] == pl.Object:
            raise InputError(
                f"is of type {frame.schema[name]}; {what}s must be text or numbers.", table=table_name, column=name
            )
    return replace(table, extra=frame.select(segments).fill_nan(None))  # NaN is how pandas writes a missing one


def _as_far_as_there(named: Columns, source: Source) -> Columns:
    """A table beside recs and truth may name its users by fewer columns: by the user, say, and not by the order."""
    there = tuple(name for name in named.key if name in source.names)
    return replace(named, user=there or None) if len(there) < len(named.key) and len(named.key) > 1 else named


def find_roles(
    source: Source, table: str, named: Columns, needed: Sequence[str] = ("user", "item"), optional: Sequence[str] = ()
) -> dict[str, str | None]:
    """The columns of some roles; several may name the user."""
    names = table, source.label, source.names, source.other_columns, source.text
    try:
        return {**_find_roles(*names, named, tuple(source.roles.items()), tuple(needed), tuple(optional))}
    except ColumnError as error:
        raise error.replace(note=_note(source, table, named)) from None


def _note(source: Source, table: str, named: Columns) -> str:
    """What a frame without a column of users, or of items, may be."""
    free = [name for name in source.names if not names_a_role(name)]
    kind = source.dtype if source.label in ("a pandas frame", "a Polars frame") else None
    if kind is not None and len(free) >= PIVOTED and not named.named:
        with contextlib.suppress(InputError):  # a column that cannot be read
            if all(kind(name).is_numeric() for name in free):
                return (
                    f"If each row is a user and each column an item, pass {table}.to_numpy(), and all tables with the "
                    "same rows and columns."
                )
    if source.labelled and not named.key and not named_like(source.names, USER[0]):
        return f"If the users are the index, pass {table}.reset_index(names='user')."
    return ""


@lru_cache(maxsize=256)
def _find_roles(
    table: str,
    label: str,
    names: tuple[str, ...],
    other_columns: tuple[str, ...] | None,
    text: bool,
    named: Columns,
    by_place: tuple[tuple[str, str], ...],
    needed: tuple[str, ...],
    optional: tuple[str, ...],
) -> Mapping[str, str | None]:
    roles: dict[str, str | None] = {}
    settled = dict(by_place)
    for role in (*needed, *optional):
        given = named.key if role == "user" else (settled.get(role, getattr(named, role)),)
        for nth, name in enumerate(given or (None,), start=1):
            roles[role if len(given) < 2 else f"{role} {nth}"] = find(
                table,
                role,
                name,
                names,
                needed=role in needed,
                taken=(*named.named, *settled.values()),
                text=text,
                other_columns=other_columns,
                label=label,
            )
    return roles


def load(
    source: Source, table: str, roles: Mapping[str, str | None], extra: Sequence[str] = (), *, empty: bool = False
) -> tuple[Table, pl.DataFrame]:
    """The columns of all roles at once: a lazy table may come in another order the next time."""
    used = {role: name for role, name in roles.items() if name is not None}
    if len(set(used.values())) < len(used):
        shared = next(name for name in used.values() if list(used.values()).count(name) > 1)
        both = " and the ".join(role for role, name in used.items() if name == shared)
        raise ColumnError(
            f"would be the {both}",
            advice=f"Name them with {either('Columns(...)', '--column')}.",
            table=table,
            column=shared,
        )
    frame = source.select(list(dict.fromkeys([*used.values(), *extra])))
    if len(frame) == 0 and not empty:
        advice = "There is nothing to evaluate" if table in ("recs", "truth") else f"Leave {table} out, or pass rows"
        raise SourceError(f"{source.label} has no rows", advice=f"{advice}.", table=table)
    key = tuple([name for role, name in used.items() if role.startswith("user")])
    named = [*key, used["item"]] if "item" in used else key
    ids = tuple([as_ids(frame[name], table) for name in named])
    return Table(
        table,
        source.label,
        key,
        ids,
        used,
        text=source.text,
        n_rows=source.n_rows,
        n_items=source.n_items,
        readings=tuple(source.readings),
    ), frame


def check_threshold(truth: Table, least: float | None) -> None:
    """A threshold of relevance above 1 has grades to look at."""
    if least is not None and least > 1 and truth.grade is None:
        raise RelevanceError(
            f"{argument('min_relevance', least)} needs grades, but there are none; the columns used are "
            f"{listing(truth.used.values())}",
            advice=f"Name the grades with {columns_argument(relevance=...)}.",
            table="truth",
        )
