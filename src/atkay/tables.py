"""Tables: what a call takes, declared once: roles and usual names of columns, a line of help, who needs it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Aliases = tuple[tuple[str, ...], ...]
"""Names of which one is expected, and names that are taken where the first are missing."""


def _names(*tiers: str) -> Aliases:
    return tuple(tuple(tier.split()) for tier in tiers)


USER = _names(
    "user user_id uid user_idx query query_id qid topic topic_id session session_id customer customer_id visitor "
    "visitor_id member_id account_id household_id",
    "query_text",
)
ITEM = _names(
    "item item_id iid item_idx doc doc_id docno document document_id product product_id movie movie_id article "
    "article_id track track_id asin sku corpus_id"
)
_LISTED = (
    "items item_ids item_list docs doc_ids documents products product_ids movies movie_ids articles article_ids tracks "
    "track_ids"
)
_SHOWN = (
    "recommendations recommended recommended_items recs predictions prediction predicted predicted_items ranking "
    "ranked_items top_items"
)
LISTED = _names(_LISTED, _SHOWN)
"""Names of a column that holds a list of items per user: those that say nothing else come first."""
_RELEVANT = "actual actuals ground_truth truth relevant relevant_items true_items"
SCORE = _names("score scores prediction pred predicted predicted_score est similarity sim logit", "rating relevance")
RANK = _names("rank position", "doc_position")
RELEVANCE = _names("relevance rel grade rating label gain judgment judgement", "score")
SUBTOPIC = _names("subtopic subtopic_id")
SESSION = _names("session session_id sid visit visit_id")
ORDER = _names("order order_id basket basket_id transaction transaction_id invoice invoice_id cart cart_id")
BESIDE = {"query": ("qid", "queryid"), "docid": ("docno",)}
"""Names that mean something else next to another one: the text of a query next to its id, PyTerrier's own numbers."""
TIME = _names(
    "time timestamp ts datetime date event_time order_time order_date order_number transaction_timestamp "
    "transaction_date created_at"
)
_PERSON = (tuple(name for name in USER[0] if name not in SESSION[0]),)


@dataclass(frozen=True)
class TableKind:
    """One of the tables of a call.

    ``roles`` has the usual names of each role's column. ``meaning`` completes "a metric needs train=: ...", ``help``
    is the line that the shell shows. Errors depend on how a table must overlap with lists and truth:
    ``refuse_apart`` says by role when a table that shares no id with them is refused ("always", "never", where they
    have many ids: "evaluated", where both sides have: "many"), ``covers`` names the roles of which the table has to
    know those of the lists.
    """

    roles: Mapping[str, Aliases]
    help: str
    meaning: str = ""
    listed: Aliases = LISTED
    """Usual names of a column that holds a list of items per user."""
    side: bool = False
    """A side table that metrics may need."""
    ranked: bool = False
    """Its lists must have an order."""
    value: str = ""
    """The role of the numbers in ``{user: {item: number}}`` and in a sparse matrix."""
    for_everybody: bool = False
    """It may be a collection of items for all users."""
    extra: str = ""
    """What every other column of it says; a table without any is refused."""
    header: str = ""
    """An example of a header line, where roles alone do not tell."""
    refuse_apart: Mapping[str, str] = field(default_factory=dict)
    covers: tuple[str, ...] = ()
    may_miss: bool = False
    """A few items of it may well be in no list."""


LISTS = {"user": USER, "item": ITEM, "rank": RANK, "score": SCORE}
PAIRS = {"user": USER, "item": ITEM}

TABLES: Mapping[str, TableKind] = {
    "recs": TableKind(LISTS, "The ranked lists.", listed=_names(f"{_LISTED} {_SHOWN}"), ranked=True, value="score"),
    "truth": TableKind(
        PAIRS | {"relevance": RELEVANCE, "subtopic": SUBTOPIC},
        "The relevant items of each user.",
        listed=_names(f"{_LISTED} {_RELEVANT}", _SHOWN),
        value="relevance",
    ),
    "exclude": TableKind(
        PAIRS,
        "Items to remove from each user's list, such as those seen before.",
        for_everybody=True,
        refuse_apart={"item": "never"},
        may_miss=True,
    ),
    "candidates": TableKind(
        PAIRS,
        "Items to keep in the lists; all others are removed.",
        for_everybody=True,
        refuse_apart={"user": "always", "item": "always"},
        covers=("user",),
    ),
    "slices": TableKind(
        {"user": USER}, "A segment for each user.", header="user,segment", refuse_apart={"user": "always"}
    ),
    "weights": TableKind(
        {"user": USER},
        "How much each user counts, in any unit.",
        header="user,weight",
        refuse_apart={"user": "always"},
        covers=("user",),
    ),
    "cluster": TableKind(
        {"user": USER},
        "Whose queries depend on each other: a cluster for each user.",
        header="user,cluster",
        refuse_apart={"user": "always"},
        covers=("user",),
    ),
    "train": TableKind(
        PAIRS,
        "The training interactions.",
        "the training interactions, a table of users and items",
        side=True,
        covers=("user",),
        may_miss=True,
    ),
    "catalog": TableKind(
        {"item": (*ITEM, ("id",))},
        "All items that could be recommended.",
        "all items that could be recommended",
        side=True,
        for_everybody=True,
        refuse_apart={"item": "evaluated"},
        covers=("item",),
    ),
    "features": TableKind(
        {"item": ITEM},
        "Categories or vectors of items.",
        "a table of items with their categories or vectors, or {item: ...}",
        side=True,
        extra="a category or a vector per item",
        header="item,category",
        refuse_apart={"item": "evaluated"},
        covers=("item",),
    ),
    "propensity": TableKind(
        {"item": ITEM},
        "The chance of each item to be observed.",
        "a table of items and the chance that a relevant one is observed, or {item: p}",
        side=True,
        extra="the propensity of each item",
        header="item,propensity",
        refuse_apart={"item": "evaluated"},
        covers=("item",),
    ),
    "reference": TableKind(
        LISTS,
        "The lists of a reference recommender.",
        "the lists of a reference recommender, or one list for all users, such as the most popular items",
        listed=_names(f"{_LISTED} {_SHOWN}"),
        side=True,
        value="score",
        for_everybody=True,
        refuse_apart={"user": "evaluated"},
        covers=("user",),
    ),
}
"""The tables of evaluate, compare and the shell."""

FILTERS = ("exclude", "candidates")
"""Tables that take items out of the lists."""

OF_USERS = {"slices": "segment", "weights": "weight", "cluster": "cluster"}
"""Tables that say something of users, and what each says."""

SIDE = tuple(name for name, kind in TABLES.items() if kind.side)

LOGS: Mapping[str, TableKind] = {
    "events": TableKind({"session": SESSION, "user": _PERSON, "item": ITEM, "time": TIME}, "Events in sessions."),
    "orders": TableKind({"user": _PERSON, "order": ORDER, "item": ITEM, "time": TIME}, "Orders and their items."),
    "log": TableKind(PAIRS | {"time": TIME, "relevance": RELEVANCE[:1]}, "Events: user, item and time."),
}
"""The tables of ``atkay.tasks``."""

RUNS = ("run_a", "run_b")
"""The two runs of ``overlap`` and ``diff``."""

KINDS: Mapping[str, TableKind] = {**TABLES, **LOGS, **dict.fromkeys(RUNS, TABLES["recs"])}
"""All of them."""
