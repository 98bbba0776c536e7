"""Write the data sets: recs.csv (user, item, score) and truth.csv (user, item, relevance), one folder each under data/.
The truth of `subtopics` has a subtopic in each row as well.

    python conformance/make_data.py

Everything is drawn with a seed from the data set's own name, so a new data set leaves the others as they are. Unless a
data set is about it, rows stand in the order of the list, scores have two decimals and differ, and relevance is 1.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

DATA = Path(__file__).resolve().parent / "data"
ITEMS = [f"i{number:02}" for number in range(1, 41)]

Row = tuple[Any, ...]
Rows = list[Row]
Tables = tuple[Rows, Rows]


def people(count: int) -> list[str]:
    return [f"u{number:02}" for number in range(1, count + 1)]


def listed(rng: Random, user: str, length: int = 10, scores: list[float] | None = None) -> Rows:
    """A list of different items, by descending score."""
    drawn = scores or [number / 100 for number in rng.sample(range(1, 1000), length)]
    return list(zip([user] * length, rng.sample(ITEMS, length), sorted(drawn, reverse=True), strict=True))


def wanted(rng: Random, user: str, row: Rows, hits: int, others: int) -> Rows:
    """Relevant items, of which as many as `hits` are in the list."""
    there = sorted({item for _, item, _ in row})
    chosen = rng.sample(there, hits) + rng.sample([item for item in ITEMS if item not in there], others)
    return [(user, item, 1) for item in rng.sample(chosen, len(chosen))]


def both(rng: Random, count: int, draw: Callable[[str], Rows] | None = None, most: int = 5) -> Tables:
    """Lists and truth of the same users; every fourth has no hit, and one has more relevant items than the list."""
    recs: Rows = []
    truth: Rows = []
    for place, user in enumerate(people(count)):
        row = draw(user) if draw else listed(rng, user)
        hits = 0 if place % 4 == 3 else rng.randint(1, min(most, len({item for _, item, _ in row})))
        others = min(9, len(ITEMS) - len(row)) if place == 2 else rng.randint(0 if hits else 1, 4)
        recs += row
        truth += wanted(rng, user, row, hits, others)
    return recs, truth


def plain(rng: Random) -> Tables:
    """Fifteen users, lists of ten."""
    return both(rng, 15)


def order(rng: Random) -> Tables:
    """The rows of both files are shuffled, so users come in another order in the one than in the other."""
    recs, truth = both(rng, 12)
    return rng.sample(recs, len(recs)), rng.sample(truth, len(truth))


def missing(rng: Random) -> Tables:
    """Users 3, 6, 9 and 12 have no list; users 2, 7 and 13 have no truth."""
    recs, truth = both(rng, 13)
    unlisted, unwanted = {"u03", "u06", "u09", "u12"}, {"u02", "u07", "u13"}
    return [row for row in recs if row[0] not in unlisted], [row for row in truth if row[0] not in unwanted]


def short(rng: Random) -> Tables:
    """Lists of one to twelve items."""
    lengths = dict(zip(people(12), rng.sample(range(1, 13), 12), strict=True))
    return both(rng, 12, lambda user: listed(rng, user, lengths[user]))


def long(rng: Random) -> Tables:
    """Lists of 35 items, for those who cut where nobody asked them to."""
    return both(rng, 5, lambda user: listed(rng, user, 35), most=20)


def graded(rng: Random) -> Tables:
    """Grades 0 to 3, of listed and of other items; a 0 says that the item was judged and is not relevant."""
    recs, truth = both(rng, 12, most=8)
    pairs = {row[:2] for row in truth}
    judged = [(user, item, rng.choice((0, 1, 1, 2, 3, 3))) for user, item, _ in truth]
    judged += [(user, item, 0) for user, item, _ in recs if (user, item) not in pairs and rng.random() < 0.3]
    return recs, sorted(judged, key=lambda row: (row[0], rng.random()))


def negative(rng: Random) -> Tables:
    """Scores of both signs and 0; all those of users 1, 5 and 9 are below 0."""

    def draw(user: str) -> Rows:
        low, high = (-500, 0) if user in {"u01", "u05", "u09"} else (-400, 400)
        scores = [number / 100 for number in rng.sample([number for number in range(low, high) if number], 10)]
        if high:
            scores[0] = 0.0
        return listed(rng, user, scores=scores)

    return both(rng, 12, draw)


def ties(rng: Random) -> Tables:
    """Many equal scores; the order of the rows is not the order of the ids, nor its reverse."""

    def draw(user: str) -> Rows:
        return listed(rng, user, scores=[float(rng.randint(1, 4)) for _ in range(10)])

    recs, truth = both(rng, 12, draw)
    # Two users have one score for everything.
    return [(user, item, 1.0 if user in {"u01", "u04"} else score) for user, item, score in recs], truth


def ties_15(rng: Random) -> Tables:
    """Many equal scores in lists of 15 items: the longest lists that an insertion sort, which is stable, puts in order
    where a quicksort does the rest.
    """
    return both(rng, 10, lambda user: listed(rng, user, 15, [float(rng.randint(1, 4)) for _ in range(15)]))


def long_ties(rng: Random) -> Tables:
    """Many equal scores in lists of 20 to 35 items: sorts that are not stable take these apart."""

    def draw(user: str) -> Rows:
        length = rng.randint(20, 35)
        return listed(rng, user, length, [float(rng.randint(1, 4)) for _ in range(length)])

    return both(rng, 10, draw)


def near_ties(rng: Random) -> Tables:
    """Scores that differ in double precision and, in threes or so, are the same number in single precision. Rows are
    in no order, so that whoever takes them for ties is seen to do so.
    """

    def draw(user: str) -> Rows:
        base = [rng.randint(1, 4) / 4 for _ in range(10)]
        row = listed(rng, user, scores=[value + step * 1e-10 for step, value in enumerate(base, 1)])
        return rng.sample(row, len(row))

    return both(rng, 12, draw)


def duplicates(rng: Random) -> Tables:
    """In most lists one item stands twice, in some three times, with another score."""

    def draw(user: str) -> Rows:
        row = listed(rng, user)
        copies = int(user[1:]) % 3
        for place in rng.sample(range(1, 10), copies):
            row[place] = (user, row[0 if copies == 1 else 1][1], row[place][2])
        return row

    recs, truth = both(rng, 12, draw)
    # The item that stands more than once is relevant to every second user.
    for user in people(12)[1::2]:
        items = [item for name, item, _ in recs if name == user]
        twice = next((item for item in items if items.count(item) > 1), None)
        if twice and (user, twice, 1) not in truth:
            truth.append((user, twice, 1))
    return recs, sorted(truth, key=lambda row: row[0])


def duplicate_truth(rng: Random) -> Tables:
    """Some rows of the truth stand twice."""
    recs, truth = both(rng, 12)
    return recs, [row for row in truth for _ in range(2 if rng.random() < 0.3 else 1)]


def empty_truth(rng: Random) -> Tables:
    """Users 2 and 8 have only zeros in the truth, 5 and 11 have no rows there; user 6 has a zero among others."""
    recs, truth = both(rng, 12)
    zero, gone = {"u02", "u08"}, {"u05", "u11"}
    first = next(row for row in truth if row[0] == "u06")
    found = [row for row in truth if row[0] not in gone]
    return recs, [(user, item, 0 if user in zero or row == first else 1) for row in found for user, item, _ in [row]]


def subtopics(rng: Random) -> Tables:
    """Lists of 5 to 40 items, half of them with equal scores; items are graded 0 to 2 for each of 2 to 12 subtopics.

    User 3 has no list, 6 has only zeros, and 9 no rows in the truth.
    """
    recs: Rows = []
    truth: Rows = []
    for place, user in enumerate(people(14), start=1):
        length = rng.choice((5, 12, 25, 40))
        scores = [float(rng.randint(1, 6)) for _ in range(length)] if place % 2 else None
        if place != 3:
            recs += listed(rng, user, length, scores)
        for subtopic in range(1, rng.choice((2, 4, 12)) + 1) if place != 9 else ():
            for item in sorted(rng.sample(ITEMS, rng.randint(3, 10))):
                truth.append((user, item, 0 if place == 6 else rng.randint(0, 2), subtopic))
    return recs, truth


def conventions(rng: Random) -> Tables:
    """Few enough rows to work everything out by hand; C has no list and D has no truth."""
    lists = {"A": "i1 i9 i2 i8 i3", "B": "i1 i7", "D": "i1 i2 i3"}
    sought = {"A": "i1 i2 i3 i4 i5 i6", "B": "i1 i2", "C": "i1"}
    recs = [(user, item, float(5 - rank)) for user, row in lists.items() for rank, item in enumerate(row.split())]
    return recs, [(user, item, 1) for user, row in sought.items() for item in row.split()]


MADE = (
    *(plain, order, missing, short, long, graded, negative, ties, ties_15, long_ties, near_ties),
    *(duplicates, duplicate_truth, empty_truth, conventions, subtopics),
)


def main() -> None:
    for make in MADE:
        folder = DATA / make.__name__
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows, last in zip(
            ("recs", "truth"), make(Random(make.__name__)), ("score", "relevance"), strict=True
        ):
            with (folder / f"{name}.csv").open("w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(("user", "item", last, "subtopic")[: len(rows[0])])
                writer.writerows(rows)


if __name__ == "__main__":
    main()
