"""Next item: sessions as queries, one per step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from atkay.errors import ColumnError, InputError, number_of
from atkay.inputs.logs import read_log
from atkay.inputs.read import columns_of
from atkay.tasks.log import Sequences, alike, count_of, moment, word_of
from atkay.tasks.task import SEEN, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atkay.inputs.columns import Columns
    from atkay.tasks.task import Average, Seen

STEP = "step"


def next_item(
    events: Any,
    *,
    train: Any = None,
    test_from: Any = None,
    steps: Literal["every", "last"] = "every",
    min_length: int = 2,
    unseen: Literal["keep", "drop"] = "keep",
    seen: Seen = "keep",
    average: Average = "query",
    columns: Columns | Mapping[str, Columns] | None = None,
) -> Task:
    """Next-item prediction in sessions: given the items so far, which one comes next?

    A query is a session and a ``step``, the number of items that a model may see; the truth is the one item that
    follows. ``mrr@20`` and ``hit@20`` are then the MRR@20 and HR@20 of session-based recommendation. Steps of one user,
    or of one session where the log has no users, depend on each other: intervals and tests count users
    (``cluster=None`` of ``evaluate`` counts steps).

    Parameters
    ----------
    events
        A row per event: session, item, time and optionally user. Simultaneous events of a session keep the row order.
    train
        The training events, if ``events`` has only those of the test.
    test_from
        The start of the test, if ``events`` has both: sessions that end before are for training, all others for the
        test. A test session may begin before the end of training; ``check`` counts such events.
    steps
        "every" step of a session is a query, or only the "last" one.
    min_length
        Sessions with fewer events are skipped; at least 2.
    unseen
        "drop" removes items unseen in training from test sessions, before ``min_length`` applies; "keep" keeps them.
    seen
        "keep" or "exclude" the items of the session so far.
    average
        "query": every step has the same weight. "session", "user": steps are averaged per session or user first. Or
        "pooled".
    columns
        The names of the columns, where they differ from the usual ones.

    References
    ----------
    Hidasi et al., Session-based recommendations with recurrent neural networks, 2016. Ludewig and Jannach,
    Evaluation of session-based recommendation algorithms, 2018.

    Examples
    --------
    Two sessions of three and two items: three steps.

    >>> import polars as pl
    >>> events = pl.DataFrame({"session": [1, 1, 1, 2, 2], "item": list("abcba"), "time": [1, 2, 3, 4, 5]})
    >>> task = atkay.tasks.next_item(events)
    >>> task.queries["items"].to_list()
    [['a'], ['a', 'b'], ['b']]
    >>> recs = {(1, 1): ["b", "a"], (1, 2): ["b", "c"], (2, 1): ["c", "b"]}

    Found at rank 1, at rank 2, and not: (1 + 1/2 + 0) / 3 over steps, (3/4 + 0) / 2 over sessions.

    >>> task.evaluate(recs, "mrr@2")["mrr@2"], task.evaluate(recs, "mrr@2", average="session")["mrr@2"]
    (0.5, 0.375)
    """
    word_of(steps, "steps", ("every", "last"))
    word_of(unseen, "unseen", ("keep", "drop"))
    min_length = count_of(min_length, "next_item: min_length", 2)
    needed, wanted = ("session", "item", "time"), ("user",)
    used, frame = read_log(events, "events", columns_of(columns, "events"), needed, wanted)
    session, item, time = (used[role] for role in needed)
    user = used.get("user")
    if STEP in frame.columns:
        raise ColumnError(f"events: the column name '{STEP}' is reserved for the step within a session. Rename yours.")
    if user is not None:
        _one_user_each(frame, session, user)
    if train is not None and test_from is not None:
        raise InputError("next_item: pass either train= or test_from=, not both.")
    learned = frame.clear()
    if train is not None:
        roles, learned = read_log(train, "events", columns_of(columns, "train"), needed, wanted)
        learned = learned.select(pl.col(roles[role]).alias(name) for role, name in used.items() if role in roles)
        learned, frame = alike(learned, frame, time, "train")
    elif test_from is not None:
        start = moment(test_from, frame[time], "test_from")
        before = pl.col(time).max().over(session) < start
        learned, frame = frame.filter(before), frame.filter(~before)
    notes = [
        f"{number_of(frame[session].n_unique(), 'session')} in the test; simultaneous events keep their input order"
    ]
    if unseen == "drop":
        if not len(learned):
            raise InputError("next_item: unseen='drop' needs training data; pass train= or test_from=.")
        kept = frame.join(learned.select(item), on=item, how="semi", maintain_order="left")
        notes.append(f"{number_of(len(frame) - len(kept), 'event')} of items unseen in training dropped")
        frame = kept
    order = Sequences.of(frame[session], frame[time]) if len(frame) else None
    if order is None or not (order.length >= min_length).any():
        raise InputError(
            f"next_item: no test session has {min_length} events, so there is nothing to predict. Is the "
            f"session column "
            f"'{session}', and does the test start early enough?"
        )
    past = frame[order.row].with_columns(pl.Series(STEP, order.place))
    long = pl.Series((order.place + order.left) >= min_length - 1)
    is_query = pl.Series(order.place > 0) & long
    truth = past.filter(is_query & pl.Series(order.left == 0) if steps == "last" else is_query)
    notes.append(f"{steps} step of sessions with at least {min_length} events")
    key = (session, STEP)
    return Task(
        name="next item",
        train=learned,
        truth=truth,
        key=key,
        item=item,
        owner=session,
        event=(session,),
        time=time,
        user=user,
        session=session,
        cluster=session if user is None else user,
        average=average,
        seen=seen,
        past=past.drop(STEP),
        reach=truth.select(*key, pl.col(STEP).alias(SEEN)),
        notes=tuple(notes),
    ).settled()


def _one_user_each(frame: pl.DataFrame, session: str, user: str) -> None:
    """Sessions that are numbered for each user anew would flow together."""
    several = frame.group_by(session).agg(pl.col(user).n_unique().alias("users beside " + session))
    several = several.filter(pl.col("users beside " + session) > 1)
    if len(several):
        raise InputError(
            f"events: {number_of(len(several), 'session')}, {several[session].sort()[0]!r} for example, belong to "
            f"several users. Make session ids unique, for example by combining user and session."
        )
