"""Splits: a log in training and test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from atkay.core.fingerprint import scrambled
from atkay.core.kernels import take
from atkay.core.lists import mask, ranges, rows_between
from atkay.core.order import together
from atkay.core.reference import mix
from atkay.errors import InputError, number_of
from atkay.inputs.coding.vocabulary import Vocabulary
from atkay.inputs.logs import read_log
from atkay.inputs.read import columns_of
from atkay.tasks.log import Sequences, count_of, moment, share_of, word_of
from atkay.tasks.task import Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atkay.core.types import Bools, Hashes, Ints
    from atkay.inputs.columns import Columns
    from atkay.tasks.task import Seen

    Named = Columns | Mapping[str, Columns] | None


def split_by_time(
    log: Any,
    at: Any = None,
    *,
    share: float | None = None,
    seen: Seen = "exclude",
    columns: Named = None,
) -> Task:
    """Train on events before a time, test on those from then on.

    The only split that never looks into the future. Pass ``at``, or ``share``, the fraction of events in the test: the
    split is then at the time of the first test event, and all events at that time are in the test.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame({"user": [1, 2, 1, 2], "item": list("abca"), "time": [1, 2, 3, 3]})
    >>> task = atkay.tasks.split_by_time(log, 3)
    >>> task.truth.rows()
    [(1, 'c', 3), (2, 'a', 3)]
    >>> bool(task.check())
    True
    """
    used, frame = _read(log, columns, "time")
    time = frame[used["time"]]
    if (at is None) == (share is None):
        raise InputError("split_by_time: pass either at=, the start of the test, or share=, its size.")
    if share is not None:
        later = round(share_of(share, "split_by_time") * len(time))
        at = time.top_k(max(later, 1)).min()
    else:
        at = moment(at, time, "at")
    held = (time >= at).to_numpy()
    note = f"test from {at}"
    pairs = Sequences.of(frame[used["user"]]).pairs(frame[used["item"]])
    return _task("split by time", used, frame, held, pairs, seen, note, start=at)


def leave_last_out(log: Any, *, seen: Seen = "exclude", columns: Named = None) -> Task:
    """Test on the last event of every user with at least two, train on the others.

    Simultaneous events keep the row order. The training data of one user may be later than the test of another:
    ``check`` counts such events.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame({"user": [1, 2, 1, 2, 3], "item": list("abcac"), "time": [1, 2, 3, 3, 4]})
    >>> atkay.tasks.leave_last_out(log).truth.rows()
    [(1, 'c', 3), (2, 'a', 3)]
    """
    return leave_last_k_out(log, 1, seen=seen, columns=columns)


def leave_last_k_out(log: Any, k: int, *, seen: Seen = "exclude", columns: Named = None) -> Task:
    """Test on the last k events of every user with more than k, train on the others.

    Simultaneous events keep the row order.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame({"user": [1, 1, 1, 2, 2], "item": list("abcab"), "time": [1, 2, 3, 1, 2]})
    >>> atkay.tasks.leave_last_k_out(log, 2).truth.rows()
    [(1, 'b', 2), (1, 'c', 3)]
    """
    k = count_of(k, "leave_last_k_out: k")
    used, frame = _read(log, columns, "time")
    order = Sequences.of(frame[used["user"]], frame[used["time"]])
    enough = order.length > k
    held = np.zeros(len(frame), bool)
    held[order.row[rows_between(order.start[1:][enough] - k, np.full(int(enough.sum()), k))]] = True
    short = number_of(int((~enough).sum()), "user")
    what = "the last event" if k == 1 else f"the last {k} events"
    note = f"{what} of each user; {short} with too few are only in training"
    return _task("leave last out", used, frame, held, order.pairs(frame[used["item"]]), seen, note)


def random_holdout(
    log: Any,
    share: float = 0.2,
    *,
    within: Literal["log", "user"] = "log",
    seed: int = 0,
    seen: Seen = "exclude",
    columns: Named = None,
) -> Task:
    """Test on a random share of the (user, item) pairs, train on the others.

    A hash of the ids and the seed decides, independent of row order and other users; all events of a pair stay
    together. ``within="log"`` gives each pair the same probability; ``within="user"`` takes the share of each user's
    pairs, rounded down.

    Examples
    --------
    >>> log = {user: list(range(10)) for user in range(100)}
    >>> task = atkay.tasks.random_holdout(log, 0.3, within="user")
    >>> len(task.truth), len(task.train)
    (300, 700)
    """
    share = share_of(share, "random_holdout")
    word_of(within, "within", ("log", "user"))
    used, frame = _read(log, columns)
    number = _numbers(frame, used, seed)
    held = number < np.uint64(int(share * 2**64)) if within == "log" else _lowest(frame[used["user"]], number, share)
    of = "all pairs" if within == "log" else "each user's pairs"
    pairs = Sequences.of(frame[used["user"]]).pairs(frame[used["item"]])
    note = f"{share:g} of {of}, chosen by hash, seed {seed}"
    return _task("random holdout", used, frame, held, pairs, seen, note, apart=True)


def k_folds(
    log: Any,
    k: int = 5,
    *,
    over: Literal["pairs", "users"] = "pairs",
    seed: int = 0,
    seen: Seen = "exclude",
    columns: Named = None,
) -> tuple[Task, ...]:
    """Test on each of k folds in turn, train on the others.

    ``over="pairs"`` splits (user, item) pairs, ``over="users"`` whole users, who are then unknown in training. Folds
    are assigned by a hash of the ids and the seed, independent of row order; their sizes differ by at most one.

    Examples
    --------
    >>> log = {user: list(range(10)) for user in range(100)}
    >>> folds = atkay.tasks.k_folds(log, 4)
    >>> sum(len(task.truth) for task in folds)
    1000
    """
    k = count_of(k, "k_folds: k", 2)
    word_of(over, "over", ("pairs", "users"))
    used, frame = _read(log, columns)
    number = _numbers(frame, used if over == "pairs" else {"user": used["user"]}, seed)
    fold = _dealt(number, k, over)
    pairs = Sequences.of(frame[used["user"]]).pairs(frame[used["item"]])
    return tuple(
        _task(
            "fold",
            used,
            frame,
            fold == part,
            pairs,
            seen,
            f"fold {part + 1} of {k} over {over}, seed {seed}",
            apart=True,
        )
        for part in range(k)
    )


def _read(log: Any, columns: Named, *needed: str) -> tuple[dict[str, str], pl.DataFrame]:
    """The columns that the log uses, and its rows."""
    wanted = tuple(role for role in ("time", "relevance") if role not in needed)
    return read_log(log, "log", columns_of(columns, "log"), ("user", "item", *needed), wanted)


def _numbers(frame: pl.DataFrame, used: Mapping[str, str], seed: int) -> Hashes:
    """A random number per row, the same for the same ids."""
    columns: list[tuple[Hashes, Ints]] = []
    for role in (role for role in ("user", "item") if role in used):
        ids, (code,) = Vocabulary.of([(frame[used[role]],)])
        # A whole number is its own number: mixed first, as a seed would only swap the draws of users such as 4 and 5.
        number = mix(ids.numbers(np.arange(ids.size)))
        columns.append((number if columns else scrambled(count_of(seed, "seed", 0), number), code))
    (number, code), *rest = columns
    of_row: Hashes = take(number, code)
    for number, code in rest:
        for first, last in ranges(len(of_row)):  # few enough rows to stay in the cache
            of_row[first:last] = mix(of_row[first:last] ^ number.take(code[first:last]))
    return of_row


def _dealt(number: Hashes, k: int, over: str) -> Ints:
    """The part of each row: those with the same number go to the same part."""
    row, _, same = together((number >> np.uint64(48)).astype(np.int32), 1 << 16, np.invert(number))
    new = np.ones(len(row), np.int64)
    new[same] = 0
    place = np.cumsum(new) - 1  # among the different numbers, by their size
    if place[-1] + 1 < k:
        raise InputError(f"k_folds: {k} folds need {k} {over}, but the log has {place[-1] + 1}. Choose a smaller k.")
    fold = np.empty_like(place)
    fold[row] = place % k
    return fold


def _lowest(user: pl.Series, number: Hashes, share: float) -> Bools:
    """The pairs of each user with the lowest numbers, as many as the share comes to; all events of a pair alike."""
    users, (code,) = Vocabulary.of([(user,)], dense=True)
    row, start, same = together(code, users.size, np.invert(number))
    new = np.ones(len(row), np.int64)
    new[same] = 0
    nth = np.cumsum(new)
    before = np.concatenate(([0], nth))[start[:-1]]
    pairs = np.concatenate(([0], nth))[start[1:]] - before
    length = np.diff(start)
    # A share of 0.3 is a little less as a float, and 0.3 of 10 pairs are 3.
    wanted = np.floor(np.round(share * pairs, 9)).astype(np.int64)
    held = np.zeros(len(row), bool)
    held[row] = nth - np.repeat(before, length) <= np.repeat(wanted, length)
    return held


def _task(
    name: str,
    used: Mapping[str, str],
    frame: pl.DataFrame,
    held: Bools,
    pairs: tuple[Ints, int],
    seen: Seen,
    note: str,
    *,
    apart: bool = False,
    start: Any = None,
) -> Task:
    """A task that trains on the kept rows and tests on the held-out ones.

    ``pairs`` are the numbers of user and item; ``apart`` says that all events of a pair go the same way.
    """
    user, item, time = used["user"], used["item"], used.get("time")
    train, truth = frame.filter(~held), frame.filter(held)
    for part, what in ((train, "training"), (truth, "the test")):
        if not len(part):
            raise InputError(f"{name}: no event left for {what}, of {number_of(len(frame), 'event')}; {note}.")
    pair, n_pairs = pairs
    wanted, known = pair[held], None if apart else mask(pair[~held], n_pairs)
    return Task(
        name=name,
        train=train,
        truth=_each_once(truth, wanted, n_pairs, time),
        key=(user,),
        item=item,
        owner=user,
        event=(user, item),
        time=time,
        user=user,
        relevance=used.get("relevance"),
        seen=seen,
        start=start,
        notes=(note,),
    ).settled(0 if known is None else int(np.count_nonzero(known & mask(wanted, n_pairs))))


def _each_once(truth: pl.DataFrame, pair: Ints, n_pairs: int, time: str | None) -> pl.DataFrame:
    """Of what is wanted several times in one query, the last event, with the time from which on it was wanted."""
    if np.count_nonzero(mask(pair, n_pairs)) == len(pair):
        return truth
    order = np.arange(len(pair))
    if time is not None:
        moments = pl.DataFrame({"time": truth[time], "row": order})
        order = moments.sort("time", maintain_order=True)["row"].to_numpy()
        pair = pair[order]
    place = np.arange(len(pair), dtype=pair.dtype)
    edge = np.empty(n_pairs, pair.dtype)
    edge[pair] = place  # what is assigned last stays
    kept = np.flatnonzero(edge[pair] == place)
    wanted = truth[order[kept]]
    if time is None:
        return wanted
    edge[pair[::-1]] = place[::-1]
    return wanted.with_columns(truth[time].gather(order[edge[pair[kept]]]))
