"""Protocol: which users count, and how lists are read."""

from __future__ import annotations

import dataclasses
import math
import numbers
import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeGuard

from atkay.aggregates import AGGREGATES, Aggregate
from atkay.errors import ProtocolError, listing, offer, shown
from atkay.tables import FILTERS, SIDE, TABLES
from atkay.text.help import Visible, describe
from atkay.text.phrases import argument
from atkay.words import Word, checked, takes, word, words_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from atkay.text.arguments import ProtocolArguments

ARGUMENTS = (
    "metrics",
    "columns",
    "users",
    "slices",
    "weights",
    "cluster",
    *SIDE,
    "sampled",
    "dialect",
    "memory",
    "spill",
    "protocol",
)
"""Arguments of evaluate besides recs, truth and the protocol's fields."""


@dataclass(frozen=True)
class Protocol(Visible):
    """Which users count, and how lists are read; part of every result.

    ``average_over`` names the columns of a coarser key. In the protocol of a result, ``exclude`` and ``candidates``
    describe the tables that filtered the lists.
    """

    _internal = "changes check_filters chosen differing groups trait"

    no_recs: Literal["zero", "skip", "error"] = word(
        "Users with truth but no list.",
        concerns="who",
        zero="a user with truth but no list scores as an empty list: 0 in most metrics",
        skip="a user with truth but no list is skipped",
        error="a user with truth but no list is an error",
    )
    no_truth: Literal["skip", "zero", "one", "error", "judged"] = word(
        "Users with a list but no relevant item.",
        concerns="who",
        skip="a user with a list but no relevant item is skipped",
        zero="a user with a list but no relevant item scores 0 in metrics that need truth, and has no value where "
        "lower is better",
        one="a user with a list but no relevant item scores 1 in metrics that need truth, and has no value where "
        "lower is better",
        error="a user with a list but no relevant item is an error",
        judged="a user with no relevant item scores 0 in metrics that need truth if the truth grades an item as not "
        "relevant, and has no value where lower is better; else does not count",
    )
    ties: Literal[
        "given", "item", "item_desc", "best", "worst", "random", "expected", "text", "text_desc", "reversed", "together"
    ] = word(
        "Order of equal scores.",
        concerns="lists",
        given=Word("equal scores keep the input order", stays=True, needs_row_order=True),
        item=Word("equal scores are sorted by item id, ascending", by="item"),
        item_desc=Word("equal scores are sorted by item id, descending", by="item", descending=True),
        best=Word("among equal scores the more relevant item comes first", by="grade", descending=True),
        worst=Word("among equal scores the less relevant item comes first", by="grade"),
        random=Word("equal scores are shuffled by a hash of user, item and seed", by="hash"),
        expected=Word(
            "values are averaged over all orders of equal scores", stays=True, takes="averaged over the order of ties"
        ),
        text=Word("equal scores are sorted by item id, ascending as text", by="text", over_rank=True),
        text_desc=Word(
            "equal scores are sorted by item id, descending as text", by="text", descending=True, over_rank=True
        ),
        reversed=Word("equal scores are in reverse input order", stays=True, turns=True, needs_row_order=True),
        together=Word(
            "equal scores share one rank, the last of theirs", stays=True, takes="with equal scores sharing a rank"
        ),
    )
    """How equal scores are taken. Traits: the rows stay in their order (``stays``), which has to be one
    (``needs_row_order``) and may be turned round (``turns``); or they are sorted ``by`` something, perhaps
    ``descending``; or all of them are taken in some way (``takes``), for which a metric needs a closed form. Those of
    trec_eval go by the score where there is a rank, too (``over_rank``), as it does.
    """
    scores: Literal["exact", "float32"] = word(
        "Precision in which scores are compared.",
        concerns="scores",
        exact="scores are compared as they are",
        float32="scores are rounded to float32 first",
    )
    nonpositive: Literal["listed", "missed"] = word(
        "Items with a score of 0 or below.",
        concerns="lists",
        listed="an item counts as listed whatever its score",
        missed="a relevant item with a score of 0 or below counts as missed in precision, recall, map, mnap and mrr",
    )
    gains: Literal["relevant", "positive"] = word(
        "Which grades count in metrics of grades, such as dcg, ndcg and err.",
        concerns="lists",
        relevant="metrics of grades count those of relevant items",
        positive="metrics of grades count every grade above 0, whatever min_relevance says",
    )
    duplicates: Literal["error", "first", "counted"] = word(
        "Items that appear twice in a list or in a user's truth.",
        concerns="task",
        error="an item twice in one list or in one user's truth is an error",
        first="an item twice in one list counts at its better rank; twice in one user's truth, by its first row",
        counted="an item twice in one list keeps both places, and is a hit at each if it is relevant; twice in one "
        "user's truth, it counts by its first row",
    )
    unjudged: Literal["irrelevant", "drop"] = word(
        "Listed items that the truth does not grade.",
        concerns="lists",
        irrelevant="an item that the truth does not grade is not relevant",
        drop="an item that the truth does not grade is removed from the list",
    )
    negative: Literal["irrelevant", "unjudged", "error"] = word(
        "Grades below 0.",
        concerns="lists",
        irrelevant="an item with a grade below 0 is judged and not relevant",
        unjudged="an item with a grade below 0 counts as not graded",
        error="a grade below 0 is an error",
    )
    raters: Literal["one", "mean", "median", "majority", "error"] = word(
        "Several grades of one user and item.",
        concerns="task",
        one="a user and an item have one grade; further ones are read as duplicates says",
        mean="several grades of a user and an item are averaged",
        median="of several grades of a user and an item the median counts",
        majority="of several grades of a user and an item the most frequent one counts, of equally frequent ones the "
        "lowest",
        error="several grades of a user and an item are an error",
    )
    depth: int | None = field(
        default=None, metadata=takes("integer", "Number of items to which each list is read.", "task")
    )
    unlisted: Literal["missed", "ignored"] = word(
        "Relevant items that are not listed.",
        concerns="lists",
        missed="a relevant item that is not listed counts as missed",
        ignored="a relevant item that is not listed is ignored",
    )
    min_relevance: float | None = field(
        default=None, metadata=takes("number", "Lowest grade that counts as relevant.", "task")
    )
    exclude: str | None = field(default=None, metadata=takes("table", TABLES["exclude"].help, "filters"))
    candidates: str | None = field(default=None, metadata=takes("table", TABLES["candidates"].help, "filters"))
    average_over: str | tuple[str, ...] | None = field(
        default=None, metadata=takes("names", "Columns of truth: average their queries first.", "task")
    )
    aggregate: str = field(
        default="mean",
        metadata=takes("aggregate", f"How the users' values become one number: {listing(AGGREGATES)}.", "task"),
    )
    seed: int = field(default=0, metadata=takes("integer", "Seed of random ties.", "task"))

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            if words_of(each):
                object.__setattr__(self, each.name, checked("protocol", each, getattr(self, each.name), ProtocolError))
        if self.min_relevance is not None:
            object.__setattr__(self, "min_relevance", _threshold(self.min_relevance))
        if not _is_integer(self.seed):
            raise ProtocolError(f"protocol: seed must be an integer, got {shown(self.seed)}.")
        object.__setattr__(self, "seed", operator.index(self.seed))
        if self.seed.bit_length() > 64:
            raise ProtocolError(f"protocol: seed must fit in 64 bits, got {shown(self.seed)}.")
        if self.depth is not None:
            object.__setattr__(self, "depth", _depth(self.depth, self.ties, bool(self.trait("ties", "takes"))))
        object.__setattr__(self, "aggregate", str(Aggregate.of(self.aggregate)))
        for name in FILTERS:
            if not isinstance(getattr(self, name), str | None):
                raise ProtocolError(f"protocol: {name} is a table. Pass evaluate(..., {name}=...).")
        if isinstance(self.average_over, list | tuple):
            object.__setattr__(self, "average_over", tuple(self.average_over))
        if not all(isinstance(name, str) for name in self.groups) or len(set(self.groups)) < len(self.groups):
            raise ProtocolError(
                f"protocol: average_over must be one or more column names, got {shown(self.average_over)}."
            )

    @property
    def groups(self) -> tuple[str, ...]:
        """The columns of the coarser key; empty if every query counts on its own."""
        if self.average_over is None:
            return ()
        return self.average_over if isinstance(self.average_over, tuple) else (self.average_over,)

    def with_fields(self, **fields: Unpack[ProtocolArguments]) -> Protocol:
        """The same protocol with some fields set; an unknown field is an error."""
        if not fields:
            return self
        known = [each.name for each in dataclasses.fields(self)]
        for name in fields:
            if name == "k":
                raise ProtocolError("evaluate: no argument 'k'; the cutoff is part of the metric: write 'ndcg@10'.")
            if name in ARGUMENTS:
                raise ProtocolError(f"{name}= is an argument of evaluate(...) and is not supported here.")
            if name not in known:
                raise ProtocolError(f"evaluate: no argument '{name}'. {offer(name, [*ARGUMENTS, *known])}")
        rest: dict[str, Any] = {**fields}
        return dataclasses.replace(self, **rest)

    def check_filters(self, tables: Mapping[str, Any]) -> None:
        """Check that filters described by a result's protocol are passed again."""
        for name in FILTERS:
            if (described := getattr(self, name)) is not None and tables.get(name) is None:
                raise ProtocolError(
                    f"a result's protocol does not hold {name} ({described}); pass {argument(name)} again."
                )

    def trait(self, field: str, name: str) -> Any:
        """A trait of the chosen value of a field; None if it has none."""
        chosen = words_of(self.__dataclass_fields__[field])[getattr(self, field)]
        return chosen.traits.get(name) if isinstance(chosen, Word) else None

    def words(self) -> dict[str, str]:
        """Every field in words."""
        sentences = {
            each.name: words_of(each)[getattr(self, each.name)] for each in dataclasses.fields(self) if words_of(each)
        }
        if self.min_relevance is None:
            sentences["min_relevance"] = "an item is relevant if its grade is above 0"
        else:
            sentences["min_relevance"] = f"an item is relevant if its grade is at least {self.min_relevance:g}"
        if self.depth is not None:
            sentences["depth"] = f"lists are read to a depth of {self.depth}"
        if self.exclude is not None:
            sentences["exclude"] = f"exclude: {self.exclude}"
        if self.candidates is not None:
            sentences["candidates"] = f"lists restricted to candidates: {self.candidates}"
        if self.groups:
            sentences["average_over"] = f"queries are averaged per {' and '.join(self.groups)} first"
        sentences["aggregate"] = f"a number is the {Aggregate.of(self.aggregate).words()}"
        if self.trait("ties", "by") == "hash":
            sentences["seed"] = f"seed of random ties: {self.seed}"
        return sentences

    def changes(self, other: Protocol) -> dict[str, Any]:
        """The fields that differ from another protocol."""
        return {name: value for name, value in vars(self).items() if value != getattr(other, name)}

    def chosen(self) -> list[str]:
        """The fields that differ from the default, in words."""
        return self.differing(Protocol())

    def differing(self, other: Protocol) -> list[str]:
        """The fields that differ from another protocol, in words."""
        return [
            words
            for name, words in self.words().items()
            if getattr(self, name) != getattr(other, name) and name != "seed"
        ]


describe(Protocol)(Protocol)

CONCERNS = ("who", "task", "filters", "scores", "lists")
"""What a field concerns: who counts; the task, which is the caller's and no library's; which items may be listed; how
scores are read; how lists and truth are read."""


def fields_about(*concerns: str) -> list[str]:
    """The fields that concern one of these, in this order."""
    every = dataclasses.fields(Protocol)
    return [each.name for concern in concerns for each in every if each.metadata["concerns"] == concern]


def _is_integer(given: object) -> TypeGuard[SupportsIndex]:
    """Whether it is an integer, NumPy's included, and no truth value."""
    return isinstance(given, numbers.Integral) and not isinstance(given, bool)


def _depth(given: object, ties: str, averages: bool) -> int:
    if not _is_integer(given) or not 0 < operator.index(given) < 1 << 63:
        raise ProtocolError(f"protocol: depth must be a positive integer, got {shown(given)}.")
    if averages:
        raise ProtocolError(
            f"protocol: depth cuts lists, perhaps between equal scores, and ties={ties!r} gives these no order. Choose "
            "another word for ties, or a cutoff of the metric in place of depth: 'ndcg@10'."
        )
    return operator.index(given)


def _threshold(given: object) -> float:
    try:
        value = math.nan if isinstance(given, bool) else float(given)  # type: ignore[arg-type]  # caught
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not 0 <= value < math.inf:
        raise ProtocolError(
            "protocol: min_relevance is the lowest grade that counts as relevant, a finite number of at least 0; "
            f"got {shown(given)}. Leave it out to count every grade above 0."
        )
    return value
