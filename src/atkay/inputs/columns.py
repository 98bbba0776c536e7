"""Which column is the user, the item, the score, the rank, the relevance; in logs the session, the order, the time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from atkay.errors import ColumnError, listing, offer, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

USER = """user user_id uid user_idx query query_id qid topic topic_id session session_id customer customer_id
visitor visitor_id member_id account_id household_id""".split()
ITEM = """item item_id iid item_idx doc doc_id docno document document_id product product_id movie movie_id article
article_id track track_id asin sku""".split()
SCORE = "score scores prediction pred predicted predicted_score similarity sim logit".split()
RANK = "rank position".split()
RELEVANCE = "relevance rel grade rating label gain judgment judgement".split()
SESSION = "session session_id sid visit visit_id".split()
ORDER = "order order_id basket basket_id transaction transaction_id invoice invoice_id cart cart_id".split()
TIME = """time timestamp ts datetime date event_time order_time order_date order_number transaction_timestamp
transaction_date created_at""".split()
HEADERS = {"slices": "user,segment", "features": "item,category"}
"""Header lines of tables with columns that have no role."""
NUMBER = re.compile(r"[-+]?[0-9]*[.,]?[0-9]+(?:e[-+]?[0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}.*", re.IGNORECASE)
"""What data looks like and names of columns do not: numbers and dates."""
_PERSON = [name for name in USER if name not in SESSION]

# Per table and role: names of which one is expected, and names that are taken where the first are missing.
ALIASES: dict[str, dict[str, tuple[list[str], ...]]] = {
    "recs": {"user": (USER,), "item": (ITEM,), "rank": (RANK,), "score": (SCORE, ["rating", "relevance"])},
    "truth": {"user": (USER,), "item": (ITEM,), "relevance": (RELEVANCE, ["score"])},
    "exclude": {"user": (USER,), "item": (ITEM,)},
    "candidates": {"user": (USER,), "item": (ITEM,)},
    "slices": {"user": (USER,)},
    "train": {"user": (USER,), "item": (ITEM,)},
    "catalog": {"item": (ITEM,)},
    "features": {"item": (ITEM,)},
    "reference": {"user": (USER,), "item": (ITEM,), "rank": (RANK,), "score": (SCORE, ["rating", "relevance"])},
}
ALIASES |= {
    "events": {"session": (SESSION,), "user": (_PERSON,), "item": (ITEM,), "time": (TIME,)},
    "orders": {"user": (_PERSON,), "order": (ORDER,), "item": (ITEM,), "time": (TIME,)},
    "log": {"user": (USER,), "item": (ITEM,), "time": (TIME,), "relevance": (RELEVANCE,)},
}
ALIASES |= {"run_a": ALIASES["recs"], "run_b": ALIASES["recs"]}


@dataclass(frozen=True)
class Columns:
    """The names of the columns, where they are not found by themselves.

    ``user`` may be several columns, such as ``("session_id", "step")``: together they name a query. Naming one of
    ``score`` and ``rank`` means that the other is not looked for. One ``Columns`` serves all tables; for tables
    whose names differ pass a dict, ``columns={"recs": Columns(user="uid"), "truth": Columns(user="customer")}``.
    ``session``, ``order`` and ``time`` are looked for in the logs that ``atkay.tasks`` reads.
    """

    user: str | tuple[str, ...] | None = None
    item: str | None = None
    score: str | None = None
    rank: str | None = None
    relevance: str | None = None
    session: str | None = None
    order: str | None = None
    time: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.user, list | tuple):
            object.__setattr__(self, "user", tuple(self.user))
        named = self.named
        if not all(isinstance(name, str) for name in named):
            raise ColumnError(f"columns: a column's name is text, given were {', '.join(map(shown, named))}.")
        if len(set(named)) < len(named):
            raise ColumnError(f"columns: a column has one role, given were {listing(named)}. Name different columns.")

    @property
    def named(self) -> tuple[str, ...]:
        """All columns that are named, whatever for."""
        others = (self.item, self.score, self.rank, self.relevance, self.session, self.order, self.time)
        return (*self.key, *(name for name in others if name is not None))

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that name a query; none where they are to be found."""
        if self.user is None:
            return ()
        return self.user if isinstance(self.user, tuple) else (self.user,)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


def named_like(names: Sequence[str], aliases: Sequence[str]) -> list[str]:
    """The names that are one of the aliases, however they are spelt."""
    plain = {_plain(alias) for alias in aliases}
    return [name for name in names if _plain(name) in plain]


def names_an_id_or_time(name: str) -> bool:
    """Whether a column of that name holds ids or times, and so neither scores nor grades."""
    return bool(named_like([name], (*USER, *ITEM, *SESSION, *ORDER, *TIME, "step")))


def names_a_column(name: str) -> bool:
    """Whether a column of that name would be found by itself as a user or an item."""
    return bool(named_like([name], (*USER, *ITEM)))


def find(
    table: str,
    role: str,
    given: str | None,
    names: Sequence[str],
    *,
    needed: bool,
    taken: Sequence[str] = (),
    text: bool = False,
) -> str | None:
    """The column that plays a role: the given one, or the only one whose name says so and that is not taken.

    ``text``: the names are the first line of a file, which may be data.
    """
    if given is not None:
        if given in names:
            return given
        raise ColumnError(f"{table}: no column '{given}'; {_columns(names)}. {offer(given, names)}")
    for tier in ALIASES[table][role]:
        found = [name for name in named_like(names, tier) if name not in taken]
        if len(found) > 1:
            raise ColumnError(
                f"{table}: {listing(found)} could each be the {role}. Pass columns=Columns({role}='{found[0]}')."
            )
        if found:
            return found[0]
    if not needed:
        return None
    free = [name for name in names if name not in taken]
    raise ColumnError(f"{table}: no column for the {role}; {_columns(names)}. {_advice(table, role, free, text)}")


def _columns(names: Sequence[str]) -> str:
    return f"columns are {listing(names)}" if names else "there are no columns"


def _advice(table: str, role: str, names: Sequence[str], text: bool) -> str:
    usable = [name for name in names if role[:2] in name.lower()]
    numbered = [str(at) for at in range(len(names))]  # how pandas writes columns that have no names
    data = any(NUMBER.fullmatch(name) for name in names) and [name for name in names if name] != numbered[: len(names)]
    if data and not text:
        return (
            "The first row of the data seems to have been read as names: read the file again with header=None (pandas) "
            "or has_header=False (Polars), and name the columns."
        )
    roles = [role for role in ALIASES[table] if role != "rank"] if len(names) > 1 else [role]
    header = f"put a header line above it, such as {HEADERS.get(table, ','.join(roles[: len(names)]))}"
    if data:
        return f"The first line of the file seems to be data: {header}."
    advice = f"Pass columns=Columns({role}='{(usable or [*names, role])[0]}')"
    known = {_plain(alias) for tiers in ALIASES[table].values() for tier in tiers for alias in tier}
    if text and not usable and not any(_plain(name) in known for name in names):
        return f"If the first line of the file is data, {header}; if it holds names, p{advice[1:]}."
    return f"{advice}."
