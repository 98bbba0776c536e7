"""What can go wrong, as a tree.

::

    AtkayError (a ValueError)
    ├── SpecError          a metric's name, a convention's word, a cutoff
    │   └── NumberError    a number that a result does not have (a KeyError, too)
    ├── ProtocolError      a protocol's field or word
    ├── RowsError          a value per user, of a result that has sums over users alone
    ├── PopulationError    users without a list or without truth, where the protocol says "error"
    ├── MissingPackageError a package of an extra, or Java, is not installed (an ImportError, too)
    ├── ForkError          a forked process, in which Polars' threads do not exist
    ├── SpillError         a folder for what is written on the way that is missing, full or not ours
    ├── OutputError        a file that cannot be written (an OSError, too)
    └── InputError         what recs, truth or another table holds
        ├── SourceError    nothing we can read: another kind of object, a missing, broken or foreign file
        ├── ColumnError    a column is missing, or several could be meant
        ├── IdError        ids that are null, of different types on the two sides, or that have nothing in common
        ├── DuplicateError an item twice in one list, or twice in one user's truth
        ├── SideError      a metric needs a side table (train, catalog, ...), and it is not given, or not enough
        ├── OrderError     scores or ranks that do not put a list in order, times that do not put a log in order
        └── RelevanceError grades that are missing, negative or not numbers

    AtkayWarning (a UserWarning)
    ├── CategoriesWarning  a column of categories in which every item has its own
    ├── NotMeanWarning     a test that does not test the mean
    ├── OverlapWarning     two tables have no ids in common, or next to none
    ├── PermutationsWarning too few permutations for the number of comparisons
    ├── RelevanceWarning   grades look like star ratings, of which the poor ones count as relevant
    ├── RepeatsWarning     seen items are excluded, but most relevant items were seen
    ├── SampledWarning     the numbers are of a sample of the catalogue
    ├── SkippedWarning     predictions of users without a relevant item do not count
    ├── SpeedWarning       the compiled kernels are missing, so everything takes longer
    ├── SwappedWarning     recs and truth look as if they were swapped
    ├── TiesWarning        the order of equal scores decides more than a few of the lists
    └── UnusedWarning      a column of numbers is not used, and may have been meant as scores or grades

Every message says what was wrong, where, what was given, and what to do. An error has the table, the column, the row,
the number of such rows and the advice as fields.
"""

from __future__ import annotations

import difflib
import importlib.util
import sys
import warnings
from typing import TYPE_CHECKING, Any, Self

from atkay.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class AtkayError(ValueError):
    """Anything that atkay refuses: what is wrong, where, and what to do about it.

    ``row`` is the first row that is wrong, counting from 0, and ``count`` how many there are. ``note`` is added at the
    end, ``run`` names the run of a comparison in front.
    """

    FIELDS = ("problem", "advice", "table", "column", "row", "count", "note", "run")

    def __init__(
        self,
        problem: str,
        *,
        advice: str = "",
        table: str | None = None,
        column: str | None = None,
        row: int | None = None,
        count: int | None = None,
        note: str = "",
        run: str | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem, self.advice, self.note = problem, advice, note
        self.table, self.column, self.run = table, column, run
        self.row, self.count = row, count

    def replace(self, **fields: Any) -> Self:
        """The same error with other fields.

        >>> str(InputError("is missing", table="recs", column="user", row=2).replace(row=7, note="Read were 9 rows."))
        "recs: 'user' is missing in row 7 (counting from 0). Read were 9 rows."
        """
        return type(self)(**{name: getattr(self, name) for name in self.FIELDS} | fields)

    def __str__(self) -> str:
        run = "" if self.run is None else f"run '{self.run}': "
        table = "" if self.table is None else f"{self.table}: "
        column = "" if self.column is None else f"'{self.column}' "
        place = "" if self.row is None else f" in row {self.row} (counting from 0)"
        if self.row is not None and self.count is not None and self.count > 1:
            place += f", one of {self.count:,} such rows"
        text = f"{run}{table}{column}{self.problem}{place}"
        if (place or self.advice) and not text.endswith((".", "?")):
            text += "."
        # Messages quote names and files, which may hold what steers a terminal.
        return printable(" ".join(part for part in (text, self.advice, self.note) if part), keep="\n")


class AtkayWarning(UserWarning):
    """Numbers that are right and may mislead."""


class CategoriesWarning(AtkayWarning):
    """A column of text is read as categories, and every item has a text of its own."""


class NotMeanWarning(AtkayWarning):
    """A chosen test does not test the mean."""


class OverlapWarning(AtkayWarning):
    """Two tables have no users or items in common, or next to none."""


class RelevanceWarning(AtkayWarning):
    """Grades look like star ratings, and every rated item counts as relevant."""


class RepeatsWarning(AtkayWarning):
    """Seen items are excluded, but most relevant items were seen before."""


class PermutationsWarning(AtkayWarning):
    """Too few permutations: even the smallest p-value that they can give does not pass the correction."""


class SampledWarning(AtkayWarning):
    """The lists rank a sample of the items."""


class SkippedWarning(AtkayWarning):
    """Metrics of predictions leave out users without a relevant item, whose scores may all be wrong."""


class SpeedWarning(AtkayWarning):
    """The compiled kernels are not there: the numbers are the same, and take longer."""


class SwappedWarning(AtkayWarning):
    """What was given as recs looks like truth, or what was given as truth looks like ranked lists."""


class TiesWarning(AtkayWarning):
    """The order of equal scores, which means nothing, decides many lists."""


class UnusedWarning(AtkayWarning):
    """No column was found for scores or grades, and one that holds numbers is left over."""


class SpecError(AtkayError):
    """A metric that does not exist, or a convention or cutoff that it does not have."""


class NumberError(SpecError, KeyError):
    """A metric that was not evaluated."""


class ProtocolError(AtkayError):
    """A protocol field or word that does not exist."""


class RowsError(AtkayError):
    """Per-user values are needed where none are kept."""


class PopulationError(AtkayError):
    """Users without a list, or without truth, where the protocol does not allow them."""


class MissingPackageError(AtkayError, ImportError):
    """A package that is needed and not installed, and the command that installs it."""


class ForkError(AtkayError):
    """A forked process that cannot use Polars, because its parent has."""


class SpillError(AtkayError):
    """A disk that does not take what has to be written on the way."""


class OutputError(AtkayError, OSError):
    """A file that cannot be written; what was there before is unchanged."""


class InputError(AtkayError):
    """Something in the given tables that would lead to a wrong number."""


class SourceError(InputError):
    """An object or a file that cannot be read as a table."""


class SideError(InputError):
    """A side table that a metric needs is missing."""


class ColumnError(InputError):
    """A column that is missing, or a choice between several that is not ours to make."""


class IdError(InputError):
    """User or item ids that cannot be matched."""


class DuplicateError(InputError):
    """The same item twice where it can stand once only."""


class OrderError(InputError):
    """Scores, ranks or times that do not define an order."""


class RelevanceError(InputError):
    """Grades that are not numbers of at least zero."""


def is_installed(*modules: str) -> bool:
    """Whether all of these modules are there; none is imported."""
    return all(map(importlib.util.find_spec, modules))


def need(what: str, extra: str, *modules: str) -> None:
    """Refuse ``what`` where a module of an extra is not installed; call it before any work is done."""
    if missing := [module for module in modules if not is_installed(module)]:
        verb = "is" if len(missing) == 1 else "are"
        raise MissingPackageError(
            f"{what} needs {' and '.join(missing)}, which {verb} not installed",
            advice=f"Run: pip install 'atkay[{extra}]'",
        )


def warn(message: str, category: type[AtkayWarning]) -> None:
    """Warn where atkay was called, through however many of its own functions that went."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "atkay":
        level, frame = level + 1, frame.f_back
    warnings.warn(printable(message, keep="\n"), category, stacklevel=level)


def listing(words: Iterable[object]) -> str:
    """The words in quotes, separated by commas."""
    return ", ".join(f"'{word}'" for word in words)


def shown(given: object, most: int = 80) -> str:
    """The repr of anything for a message, cut to ``most`` characters."""
    try:
        text = repr(given)
    except Exception:  # an integer of thousands of digits, a list within itself: any repr may fail
        return f"a very large {type(given).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def a_type(given: object) -> str:
    """The type of an object with its article: a list, an int."""
    name = type(given).__name__
    return "None" if given is None else f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def number_of(count: int, what: str) -> str:
    """A count with its noun: 1 user, 2 users, 2 queries."""
    several = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{count:,} {what if count == 1 else several}"


def who(ids: Mapping[str, Any], query: int) -> str:
    """A query in words: user 'ann', or session_id 7, step 2."""
    if len(ids) == 1:
        return f"user {next(iter(ids.values()))[int(query)]!r}"
    return ", ".join(f"{name} {column[int(query)]!r}" for name, column in ids.items())


def nearest(given: object, known: Iterable[str], cutoff: float = 0.6) -> list[str]:
    """The known words nearest to what was given: one, several that are equally near, or none.

    >>> nearest("recal", ["recall", "precision"]), nearest("ngcd", ["dcg", "ndcg"]), nearest("xyz", ["ndcg"])
    (['recall'], ['ndcg'], [])
    """
    text = (given if isinstance(given, str) else shown(given)).lower()
    scores = {word: _nearness(text, word.lower()) for word in known}
    best = max(scores.values(), default=0.0)
    return [word for word, score in scores.items() if score == best >= cutoff]


def _nearness(one: str, other: str) -> float:
    """From 0 to 1, which is the same word; the same letters in another order are next to it."""
    same_letters = len(one) > 2 and sorted(one) == sorted(other)
    return max(difflib.SequenceMatcher(None, one, other).ratio(), 0.95 if same_letters else 0.0)


def offer(given: object, known: Iterable[str], *, available: bool = True) -> str:
    """A sentence with the nearest known word or, where none is near, all of them if they are to be ``available``."""
    known = list(known)
    if near := nearest(given, known):
        return f"Did you mean {' or '.join(repr(word) for word in near)}?"
    return f"Available: {listing(known)}." if available else ""


def unknown_value(given: object, name: str, words: Iterable[str]) -> str:
    """The sentence about an argument that takes one of a few words.

    >>> unknown_value("lin", "gain", ["exp2", "linear", "binary"])
    "unknown value 'lin' for gain; choose exp2, linear or binary. Did you mean 'linear'?"
    """
    *others, last = words = list(words)
    near = nearest(given, words) if isinstance(given, str) else []
    choices = f"{', '.join(others)} or {last}" if others else last
    return f"unknown value {shown(given)} for {name}; choose {choices}." + (
        f" Did you mean {near[0]!r}?" if near else ""
    )


def an_integer(least: int) -> str:
    """An integer of at least ``least``, in words.

    >>> an_integer(1), an_integer(2)
    ('a positive integer', 'an integer of at least 2')
    """
    return {0: "a non-negative integer", 1: "a positive integer"}.get(least, f"an integer of at least {least}")
