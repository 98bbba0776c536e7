"""SharedCount: the ids that lists and truth share with each other and with the other tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.core.fingerprint import id_numbers
from atkay.core.lists import mask
from atkay.core.reference import mix
from atkay.errors import IdError, InputError, OverlapWarning, SwappedWarning, warn
from atkay.inputs.coding.grades import Grades
from atkay.tables import TABLES
from atkay.text.phrases import columns_argument

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from atkay.core.types import Bools, Hashes, Ints
    from atkay.inputs.coding.align import Codes
    from atkay.inputs.coding.lookup import Keyed
    from atkay.inputs.coding.vocabulary import Vocabulary
    from atkay.inputs.table import Table
    from atkay.metrics.metric import Metric

DISJOINT_ERROR_IDS = 100
"""Two tables with at least this many ids each and none in common hold different ids: that is no coincidence."""
UNLISTED_WARNING_ITEMS = 10
"""Fewer items than this that are excluded, or in training, may well be in no list."""
OVERLAP_WARNING_SHARE = 0.05
"""Warn when less than this share of the ids of either side is known to the other."""
KEPT_HASHES = 1024
"""Up to this many ids are counted exactly, more are estimated, to about 3 %."""
FIXED_LENGTH, FIXED_LENGTH_USERS, FIXED_LENGTH_SHARE = 5, 20, 0.95
"""Truth looks like ranked lists if at least this many users have it, and at least this share of them the same number of
items, which is FIXED_LENGTH or more."""
COPIED_USERS = 10
"""Lists that equal the truth of at least this many users with several items are the truth: no model is that good."""
VARYING_LENGTH_SHARE = 0.75
"""Lists look like truth when less than this share has the same length, or when each has one item."""


@dataclass(frozen=True)
class SharedCount:
    """How many ids of lists and truth a table has, and how many ids of the table these have.

    ``ours`` and ``theirs`` are examples of ids that the other side does not have. Counts of different queries add up;
    those of a ``whole`` table, which is the same for all queries, stay as they are.
    """

    known: int
    of: int
    used: int
    named: int
    ours: str = ""
    theirs: str = ""
    whole: bool = True

    @classmethod
    def users(cls, keyed: Keyed, code: Ints, queries: pl.DataFrame) -> SharedCount:
        """The queries whose user a table names; ``code`` is the list of each query's user."""
        there = code < keyed.users.size
        used = mask(code[there], keyed.users.size)
        return cls(
            int(np.count_nonzero(there)),
            len(there),
            int(np.count_nonzero(used)),
            len(used),
            "" if there.all() else in_words(queries.row(int(np.argmin(there)))),
            "" if used.all() else in_words(keyed.users.ids(np.argmin(used, keepdims=True)).row(0)),
        )

    def share(self, *, covering: bool) -> float:
        """The larger of both shares, or that of lists and truth alone; 1 where a side has no ids."""
        if not (self.of and self.named):
            return 1.0
        return self.known / self.of if covering else max(self.known / self.of, self.used / self.named)

    def merge(self, other: SharedCount) -> SharedCount:
        """The counts of both parts' queries."""
        # What one part has no use for may be known to another, unless neither uses anything of the whole table.
        unused = not self.whole or not (self.used or other.used)
        return replace(
            self,
            known=self.known + other.known,
            of=self.of + other.of,
            used=self.used + other.used,
            named=self.named if self.whole else self.named + other.named,
            ours=self.ours or other.ours,
            theirs=(self.theirs or other.theirs) if unused else "",
        )


@dataclass(frozen=True, eq=False)
class NamedItems:
    """The items that a table names: which codes, and the ids that are no code, as hashes; ``strange`` is one of them.

    Of the hashes the lowest are kept, which tell how many there are, and are the same in whatever parts they come.
    """

    codes: Bools
    hashes: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))
    strange: str = ""

    @classmethod
    def of(cls, ids: pl.Series, code: Ints, items: Vocabulary, in_truth: Bools) -> NamedItems:
        """The items of a column; strange ones are left out where enough of the truth's are among them."""
        there = items.known(code)
        codes = mask(code[there], items.size)
        if there.all() or _enough(codes, in_truth):
            return cls(codes)
        strange = ids.gather(np.flatnonzero(~there)).unique(maintain_order=True)
        return cls(codes, np.sort(mix(id_numbers(strange)))[:KEPT_HASHES], repr(strange[0]))

    @property
    def n_strange(self) -> int:
        """How many ids are no code; an estimate where not all hashes are kept."""
        kept = len(self.hashes)
        return kept if kept < KEPT_HASHES else int((kept - 1) / (float(self.hashes[-1]) / 2**64))

    def merge(self, other: NamedItems) -> NamedItems:
        """The items of both parts."""
        hashes = np.unique(np.concatenate((self.hashes, other.hashes)))[:KEPT_HASHES]
        return NamedItems(self.codes | other.codes, hashes, self.strange or other.strange)

    def shared(self, codes: Codes) -> SharedCount | None:
        """What they share with lists and truth; None where that is enough. The truth is looked at first."""
        if _enough(self.codes, codes.in_truth) or _enough(self.codes, codes.in_lists):
            return None
        either = codes.in_truth | codes.in_lists
        both = int(np.count_nonzero(self.codes & either))
        ours, theirs = (np.flatnonzero(one & ~other)[:1] for one, other in ((either, self.codes), (self.codes, either)))
        return SharedCount(
            both,
            int(np.count_nonzero(either)),
            both,
            int(np.count_nonzero(self.codes)) + self.n_strange,
            _example(codes.items, ours),
            self.strange or _example(codes.items, theirs),
        )


def _enough(codes: Bools, others: Bools) -> bool:
    both = int(np.count_nonzero(codes & others))
    return both > 0 and both >= OVERLAP_WARNING_SHARE * int(np.count_nonzero(others))


def _example(items: Vocabulary, code: Ints) -> str:
    return in_words(items.ids(code).row(0)) if len(code) else ""


def in_words(ids: Sequence[Any]) -> str:
    """An id, or the several of a query."""
    return repr(ids[0] if len(ids) == 1 else tuple(ids))


@dataclass(frozen=True, eq=False)
class SharedIds:
    """What lists and truth of some queries share, and which ids the other tables share with them.

    ``lists`` counts the queries with a list, ``both`` those that have truth, too. ``users`` and ``items`` are by table.
    ``lengths`` counts lists and truths of each length, where the lists have neither ranks nor scores.
    """

    queries: int
    lists: int
    both: int
    without: Mapping[str, str] = field(default_factory=dict)
    """A query that has a list alone, and one that has truth alone."""
    users: Mapping[str, SharedCount] = field(default_factory=dict)
    items: Mapping[str, NamedItems] = field(default_factory=dict)
    lengths: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    grades: Grades | None = None
    rows: Mapping[str, int] = field(default_factory=dict)
    """The rows of lists and of truth."""
    copied: int | None = None
    """How many users with several items there are, where lists and truth hold the same rows; None where not."""

    def merge(self, other: SharedIds) -> SharedIds:
        """What both parts of the queries have."""
        return SharedIds(
            self.queries + other.queries,
            self.lists + other.lists,
            self.both + other.both,
            {**other.without, **self.without},
            {name: each.merge(other.users[name]) for name, each in self.users.items()},
            {name: each.merge(other.items[name]) for name, each in self.items.items()},
            {name: Counter(each) + Counter(other.lengths[name]) for name, each in self.lengths.items()},
            other.grades if self.grades is None else self.grades.merge(other.grades),
            {name: count + other.rows[name] for name, count in self.rows.items()},
            None if self.copied is None or other.copied is None else self.copied + other.copied,
        )

    def record(self) -> dict[str, Any]:
        """All of it but arrays, as JSON can hold it."""
        return {
            **vars(self),
            "users": {name: asdict(each) for name, each in self.users.items()},
            "items": {name: each.strange for name, each in self.items.items()},
            "lengths": {name: list(each.items()) for name, each in self.lengths.items()},
        }

    def arrays(self) -> dict[str, Any]:
        """What the record leaves out."""
        of_items = self.items.items()
        return {f"codes {n}": each.codes for n, each in of_items} | {f"hashes {n}": each.hashes for n, each in of_items}

    @classmethod
    def of_record(cls, record: Mapping[str, Any], arrays: Mapping[str, Any]) -> SharedIds:
        """The same, out of a record and the arrays beside it."""
        parts = {
            "users": {name: SharedCount(**each) for name, each in record["users"].items()},
            "items": {
                name: NamedItems(arrays[f"codes {name}"], arrays[f"hashes {name}"], strange)
                for name, strange in record["items"].items()
            },
            "lengths": {name: dict(each) for name, each in record["lengths"].items()},
            "grades": None if record["grades"] is None else Grades.of_record(record["grades"]),
        }
        return cls(**{**record, **parts})


def lengths_of(length: Ints) -> dict[int, int]:
    """A histogram of rows per query, without empty queries."""
    counts = np.bincount(length)
    return {int(size): int(counts[size]) for size in np.flatnonzero(counts) if size}


def check_shared(
    common: SharedIds, codes: Codes, recs: Table, truth: Table, items: int, metrics: Sequence[Metric]
) -> None:
    """Lists, truth and the tables given besides name the same users and items; ``items``: listed rows of the truth's.

    Refused is what can only be a mistake; of what may be meant a warning is given.
    """
    if not common.both:
        raise IdError(nothing_shared(recs, truth, "user"))
    n_truth = common.queries - common.lists + common.both
    with_lists = SharedCount(
        common.both, n_truth, common.both, common.lists, common.without.get("truth", ""), common.without.get("recs", "")
    )
    _judge("recs", with_lists, "user", "truth", "never")
    if not items:
        warn(f"{nothing_shared(recs, truth, 'item')} No list has a hit.", OverlapWarning)
    for name, shared in common.users.items():
        if name != "train" or any(metric.looks_back for metric in metrics):
            check_users(name, shared)
    for name, named in common.items.items():
        check_items(name, named, codes)
    if (common.copied or 0) >= COPIED_USERS and any(metric.needs_truth for metric in metrics):
        raise InputError(
            "recs and truth hold the same rows: is one of them passed twice, or are the two swapped?",
            advice=f"To evaluate perfect lists, add ranks to recs and name them with {columns_argument(rank=...)}.",
        )
    _check_lengths(common.lengths)


def check_items(name: str, named: NamedItems, codes: Codes) -> None:
    """A table names items of lists or truth."""
    shared = named.shared(codes)
    if shared is not None and not (TABLES[name].may_miss and shared.named < UNLISTED_WARNING_ITEMS):
        _judge(name, shared, "item", refuse=TABLES[name].refuse_apart.get("item", "many"))


def check_users(name: str, shared: SharedCount, *, refuse: str | None = None) -> None:
    """A table names users of lists or truth."""
    _judge(name, shared, "user", refuse=refuse or TABLES[name].refuse_apart.get("user", "many"))


def _judge(name: str, shared: SharedCount, what: str, others: str = "recs and truth", refuse: str = "many") -> None:
    """Refuse or warn of a table that shares no ids, and warn of one that shares next to none.

    ``refuse`` a table without a common id "always", "never", where lists and truth have many ids ("evaluated"), or
    where both sides have "many".
    """
    if shared.share(covering=what in TABLES[name].covers) >= OVERLAP_WARNING_SHARE:
        return
    examples = {name: shared.theirs, others.replace(" and ", " or "): shared.ours}
    example = ", ".join([*(f"{one} in {where}" for where, one in examples.items() if one), "for example"])
    advice = f"Are these the ids of the same {what}s?" + (" If so, leave it out." if name == "exclude" else "")
    if not shared.used:
        message = f"{name} has no {what} in common with {others}: {example}. {advice}"
        ids = {"evaluated": shared.of, "many": min(shared.of, shared.named)}.get(refuse, 0)
        if refuse == "always" or ids >= DISJOINT_ERROR_IDS:
            raise IdError(message)
        warn(message, OverlapWarning)
        return
    warn(
        f"{name} shares almost no {what}s with {others}: {shared.used:,} of its {shared.named:,} {what}s "
        f"({_percent(shared.used, shared.named)}), and {shared.known:,} of their {shared.of:,} "
        f"({_percent(shared.known, shared.of)}). Not in common: {example}. {advice}",
        OverlapWarning,
    )


def _percent(part: int, of: int) -> str:
    return f"{100 * part / of:.{3 if part == of else 2}g} %"


def nothing_shared(recs: Table, truth: Table, what: str) -> str:
    """An example of either side, where they have no user or no item in common."""
    part = slice(0, -1) if what == "user" else slice(-1, None)
    here, there = (in_words([column[0] for column in table.ids[part]]) for table in (recs, truth))
    return (
        f"{recs.name} and {truth.name} have no {what} in common: {recs.name} has {here}, {truth.name} has {there}, for "
        f"example. Are these the ids of the same {what}s?"
    )


def _check_lengths(lengths: Mapping[str, Mapping[int, int]]) -> None:
    """Warn where nothing but the lengths tells lists from truth, and these look swapped."""
    if not lengths:
        return
    (size, same), n_truth = Counter(lengths["truth"]).most_common(1)[0], sum(lengths["truth"].values())
    usual, n_lists = max(lengths["recs"].values()), sum(lengths["recs"].values())
    fixed = size >= FIXED_LENGTH and n_truth >= FIXED_LENGTH_USERS and same >= FIXED_LENGTH_SHARE * n_truth
    least, most = min(lengths["recs"]), max(lengths["recs"])
    items = f"{least:,} to {most:,} items" if most > 1 else "one item each"
    if fixed and (usual < VARYING_LENGTH_SHARE * n_lists or most == 1):
        warn(
            f"are recs and truth swapped? {same:,} of {n_truth:,} users have {size:,} relevant items, like "
            f"ranked lists, while the lists have {items} and neither ranks nor scores. If so, swap them; if "
            f"not, add ranks or scores to the lists.",
            SwappedWarning,
        )
