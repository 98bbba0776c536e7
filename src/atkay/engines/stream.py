"""Stream: evaluate users in batches, for training loops, servers and distributed jobs."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from atkay import __version__
from atkay.aggregates import Aggregate
from atkay.core.lock import Lock
from atkay.core.moments import Sums
from atkay.core.schema import Reader, count, listed, mapped, maybe, one_of, record, text
from atkay.errors import (
    InputError,
    PopulationError,
    ProtocolError,
    RelevanceError,
    SideError,
    SourceError,
    listing,
    shown,
)
from atkay.evaluation.finish import Setting, finish
from atkay.evaluation.judge import judge
from atkay.evaluation.measure import measure_all
from atkay.evaluation.part import Part
from atkay.evaluation.request import USUAL, Request
from atkay.inputs.batch import read_batch, read_row_weights, read_users
from atkay.inputs.coding.grades import Grades
from atkay.inputs.coding.stream_side import StreamSide
from atkay.judged.judged import Judged
from atkay.metrics.metric import RunMetric, is_pooled, runs_of
from atkay.metrics.spec import parse
from atkay.protocol import Protocol
from atkay.results.packing import pack, unpack
from atkay.results.result import Result
from atkay.results.save import FIELDS, metric_spec
from atkay.tables import FILTERS, SIDE
from atkay.text.help import Visible, name_side_tables, spell_out
from atkay.text.phrases import argument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Unpack

    import polars as pl

    from atkay.core.types import Floats, Ints
    from atkay.inputs.batch import Batch
    from atkay.inputs.coding.align import Aligned
    from atkay.inputs.coding.shared import SharedCount
    from atkay.metrics.metric import Metric
    from atkay.text.arguments import Library, SideArguments, TablesAndFields

WHY_N_ITEMS = "Pass Stream(..., n_items=...); item codes run from 0 to n_items - 1."


OF_EVALUATE = ("columns", "users", "slices", "weights", "cluster", "sampled", "memory", "spill")
"""Arguments of evaluate that a stream does not support."""

HEADER_FIELDS: dict[str, Reader] = {
    "atkay": text,
    "metrics": listed(metric_spec),
    "protocol": FIELDS["protocol"].read,
    "apart": FIELDS["apart"].read,
    "n_items": maybe(count),
    "names": mapped(metric_spec),
    "dialect": maybe(text),
    "side": mapped(text),
}
"""The header of a stream's bytes."""

PART_FIELDS: dict[str, Reader] = {
    "population": FIELDS["population"].read,
    "sums": Sums.of_record,
    "whole_users": mapped(count),
    "grades": maybe(Grades.of_record),
    "weights": one_of(("given", "none")),
}
"""Further fields of a stream that has users."""


@name_side_tables
class Stream(Visible):
    """Evaluate users in batches; streams merge exactly, in any order.

    A stream keeps sums over users and, for metrics of the whole run, counts per item; no per-user values. Sums are
    exact: the numbers are the same to the last bit for any order and partition of the users. Pass each user once;
    repeated users are not detected. Threads may share a stream.

    Parameters
    ----------
    metrics
        As for :func:`evaluate`.
    n_items
        The number of items; codes run from 0 to n_items - 1. Optional unless a metric of the whole run (such as
        coverage) or a table is given.
    **tables
        As for :func:`evaluate`, with item codes. The catalogue defaults to all n_items. With ``train``, or a
        ``reference`` per user, pass ``users`` to ``update``.
    dialect, protocol, **fields
        As for :func:`evaluate`. Pass ``exclude`` and ``candidates`` with each batch.

    Examples
    --------
    Two users, lists of two items; the second user has one relevant item, at rank 2.

    >>> stream = atkay.Stream(["mrr", "recall@1"])
    >>> stream.update(items=[[3, 1], [0, 2]], targets=[[3, 2], [2, -1]])
    >>> stream.compute()["mrr"]
    0.75

    Other users, elsewhere: the sums travel as bytes.

    >>> other = atkay.Stream(["mrr", "recall@1"])
    >>> other.update(items=[[5]], targets=[[4]])
    >>> stream.merge(other.to_bytes())
    >>> stream.compute()["mrr"]
    0.5
    """

    _internal = "count"

    @spell_out(SIDE, Protocol, but=(*FILTERS, "average_over"))
    def __init__(
        self,
        metrics: str | Metric | Iterable[str | Metric] = USUAL,
        *,
        n_items: int | None = None,
        dialect: Library | str | None = None,
        protocol: Protocol | None = None,
        **fields: Unpack[TablesAndFields],
    ) -> None:
        if strange := [name for name in OF_EVALUATE if name in fields]:
            raise ProtocolError(f"Stream: {listing(strange)} is not supported; use evaluate(recs, truth, ...).")
        for name in FILTERS:
            if fields.get(name) is not None:
                raise ProtocolError(f"Stream: {name} comes with each batch. Pass update(..., {name}=...).")
        rest: dict[str, Any] = {**fields}
        tables = {name: rest.pop(name) for name in SIDE if name in rest}
        request = Request.of(metrics, protocol, rest, dialect=dialect, tables=tables)
        if request.protocol.groups:
            raise ProtocolError(
                "Stream: average_over is not supported: it needs all queries of a user at once. Use "
                "evaluate(recs, truth, ...)."
            )
        if ordered := [each for each in request.protocols if Aggregate.of(each.aggregate).ordered]:
            raise ProtocolError(
                f"Stream: {argument('aggregate', ordered[0].aggregate)} needs each user's value, and a stream only "
                "keeps sums. Use evaluate(recs, truth, ...), or aggregate='mean' or 'geometric'."
            )
        request.check("catalog")  # without one, all n_items
        if len({each.protocol.scores for each in request.by_protocol()}) > 1:
            raise ProtocolError(
                f"Stream: {request.dialect} compares scores in two precisions; make one stream for each."
            )
        reasons = [f"{name}= is given" for name in request.tables]
        reasons += [
            f"{each} is computed from all lists together" for each in request.metrics if isinstance(each, RunMetric)
        ]
        if n_items is None and reasons:
            raise SideError(f"{reasons[0]}, so the number of items must be known. {WHY_N_ITEMS}")
        whole = isinstance(n_items, int | np.integer) and not isinstance(n_items, bool)
        if n_items is not None and not (whole and 1 <= n_items < 2**31):
            raise InputError(f"Stream: n_items must be a positive integer below 2^31, got {shown(n_items)}.")
        self._request = request
        self._n_items = None if n_items is None else int(n_items)
        self._side = (
            None
            if n_items is None
            else StreamSide.of(request.tables, int(n_items), pairs=any(each.needs_pairs for each in request.metrics))
        )
        self._part: Part | None = None  # is replaced, never changed: whoever reads it once has a consistent state
        self._shared: dict[str, SharedCount] = {}  # how many users the side tables name so far; replaced, too
        self._grades: Grades | None = None
        self._lock = Lock()

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics."""
        return self._request.metrics

    @property
    def protocol(self) -> Protocol:
        """The protocol."""
        return self._request.protocol

    @property
    def n_items(self) -> int | None:
        """The number of items, if given."""
        return self._n_items

    def update(
        self,
        items: Any = None,
        targets: Any = None,
        *,
        scores: Any = None,
        users: Any = None,
        exclude: Any = None,
        candidates: Any = None,
        weights: Any = None,
    ) -> None:
        """Add a batch of users: NumPy arrays or torch tensors, a row per user.

        Parameters
        ----------
        items
            The lists: users x k item codes, best first, padded with -1.
        targets
            The relevant items: users x r item codes (padded with -1), one code per user, a list of such rows, a users x
            items matrix (boolean, or grades as floats), or a SciPy sparse matrix of grades.
        scores
            With ``items``: their scores, by which they are ordered. Without: the scores of all items, users x items; if
            every metric has a cutoff, only the top items and ties with the last of them are used. Items with score -inf
            are not listed.
        users
            The users' ids; needed with ``train``, ``reference`` or ``ties="random"``.
        exclude, candidates
            Items to remove from a user's list, and the only items to keep, in the forms of ``targets``.
        weights
            How much each user counts, a number from 0 for each row: with every batch or with none.
        """
        self.count(
            read_batch(
                items,
                targets,
                scores,
                exclude=exclude,
                candidates=candidates,
                n_items=self._n_items,
                depth=self._request.depth,
                precision=self.protocol.scores,
            ),
            None if users is None else read_users(users),
            None if weights is None else read_row_weights(weights, "update"),
        )

    def count(self, batch: Batch, users: pl.Series | None = None, weights: Floats | None = None) -> None:
        """Add the users of a batch."""
        if weights is not None and len(weights) != batch.n_users:
            raise InputError(
                f"update: weights has {len(weights):,} numbers, but the batch has {batch.n_users:,} rows. Pass one per "
                "row."
            )
        least = max(each.min_relevance or 0.0 for each in self._request.protocols)
        if least > 1 and batch.truth.value is None:
            raise RelevanceError(
                f"update: min_relevance={least:g} needs grades, but targets has none. Pass them as a matrix of floats."
            )
        aligned = self._aligned(batch, users)
        part, _ = measure_all(self._request, lambda protocol: judge(aligned, protocol)[:2], ids=aligned.ids)
        if weights is not None:
            part = replace(part, weights=weights[part.rows])
        self._add(part.sum(), Grades.of(aligned.grade))

    def _add(self, part: Part, grades: Grades | None) -> None:
        with self._lock:
            if self._part is not None and self._part.weighted != part.weighted:
                raise InputError(
                    "Stream: some batches have weights and others have none. Pass weights= with each of them."
                )
            self._grades = grades if self._grades is None else self._grades.merge(grades)
            self._part = part if self._part is None else self._part.merge(part)

    def _aligned(self, batch: Batch, users: pl.Series | None) -> Aligned:
        if users is not None and len(users) != batch.n_users:
            raise InputError(
                f"update: users has {len(users):,} ids, but the batch has {batch.n_users:,} rows. Pass one id per row."
            )
        by_hash = [each.ties for each in self._request.protocols if each.trait("ties", "by") == "hash"]
        if users is None and by_hash:
            raise InputError(
                f"update: ties='{by_hash[0]}' depends on the users' ids. Pass users=, or choose another value."
            )
        aligned = batch.align(users)
        if self._side is not None:
            side, shared = self._side.of_batch(aligned.queries.get_column("user"), named=users is not None)
            aligned = replace(aligned, side=side)
            self._add_shared(shared)
        return aligned

    def _add_shared(self, shared: Mapping[str, SharedCount]) -> None:
        with self._lock:
            before = self._shared
            self._shared = {n: before[n].merge(each) if n in before else each for n, each in shared.items()} or before

    def merge(self, other: Stream | bytes) -> None:
        """Add the users of another stream, or of its bytes; it must have the same metrics and other users."""
        if isinstance(other, Stream):
            self._check_same(other._header())
            part, grades = other._part, other._grades
            self._add_shared(other._shared)
        else:
            read = _read(other)
            self._check_same(read.header)
            part, grades = self._restored(read), read.fields.get("grades")
        if part is not None:
            self._add(part, grades)

    def compute(self) -> Result:
        """The result so far, with intervals and counts.

        It has no per-user values, and ``population.unknown`` is 0.
        """
        part = self._part
        if part is None:
            raise PopulationError("compute: no data yet. Call update(...) first.")
        self._check_shared()
        taken_out = {"exclude": part.population.excluded, "candidates": part.population.outside}
        described: dict[str, Any] = {name: "items given with each batch" for name, count in taken_out.items() if count}
        setting = Setting(
            self.protocol.with_fields(**described),
            self._nobody,
            fingerprint={} if self._side is None else self._side.fingerprint,
            grades=self._grades,
        )
        return finish(self._request, setting, [part])

    def _check_shared(self) -> None:
        """Warn if train or reference share almost no users with the stream."""
        from atkay.inputs.coding.shared import DISJOINT_ERROR_IDS, check_users

        for name, shared in self._shared.items():
            if shared.of >= DISJOINT_ERROR_IDS and (
                name != "train" or any(metric.looks_back for metric in self.metrics)
            ):
                check_users(name, shared, refuse="never")

    def reset(self) -> None:
        """Remove all users."""
        with self._lock:
            self._part, self._shared, self._grades = None, {}, None

    def to_bytes(self) -> bytes:
        """The state in a few portable bytes, the same for any order of the users.

        Side tables are not included, only their fingerprints.
        """
        header, states, part = self._header(), [], self._part
        if part is not None:
            assert part.sums is not None
            header["population"] = dataclasses.asdict(part.population)
            header["sums"] = part.sums[None].record()
            header["weights"] = "given" if part.weighted else "none"
            header["whole_users"] = dict(part.state_users.get(None, {}))
            header["grades"] = self._grades
            states = [part.states[None][name] for name in self._shapes]
        return pack(header, states)

    @classmethod
    def from_bytes(cls, content: bytes, **tables: Unpack[SideArguments]) -> Self:
        """Restore a stream; pass its side tables (train, ...) again."""
        if strange := [name for name in tables if name not in SIDE]:
            raise ProtocolError(
                f"from_bytes: no argument {listing(strange)}: metrics and protocol come from the bytes; pass only the "
                f"tables again: {listing(SIDE)}."
            )
        read = _read(content)
        n_items, dialect, fingerprint = read.header["n_items"], read.header["dialect"], read.header["side"]
        missing = [name for name in fingerprint if name not in tables and name != "catalog"]
        if missing:
            raise SideError(
                f"from_bytes: the stream used {listing(missing)}, which is not stored in its bytes. Pass "
                f"from_bytes(..., {missing[0]}=...) again."
            )
        stream = cls(read.fields["metrics"], n_items=n_items, protocol=read.fields["protocol"], **tables)
        apart = {parse(number): rules for number, rules in read.fields["apart"].items()}
        stream._request = replace(stream._request, names=read.header["names"], dialect=dialect, apart=apart)
        stream.merge(content)
        return stream

    def _header(self) -> dict[str, Any]:
        """Metrics and protocol as a JSON-compatible dict."""
        return {
            "atkay": __version__,
            "metrics": [str(metric) for metric in self.metrics],
            "protocol": dataclasses.asdict(self.protocol),
            "apart": {str(number): dataclasses.asdict(rules) for number, rules in self._request.apart.items()},
            "n_items": self._n_items,
            "names": dict(self._request.names),
            "dialect": self._request.dialect,
            "side": {} if self._side is None else dict(self._side.fingerprint),
        }

    @cached_property
    def _shapes(self) -> dict[str, tuple[bool, tuple[int, ...]]]:
        """Of the state of each metric of the whole run: whether it grows, and the shape of it or of a row."""
        nobody = self._nobody
        of_run = runs_of(self.metrics)
        return {str(metric): (metric.grows, metric.state(nobody).shape[metric.grows :]) for metric in of_run}

    @property
    def _nobody(self) -> Judged:
        return Judged.of_nobody(self._n_items or 0, None if self._side is None else self._side.items)

    def _restored(self, read: _Read) -> Part | None:
        """The state from bytes; None if empty."""
        if "population" not in read.fields:
            return None
        population, sums, states = read.fields["population"], read.fields["sums"], read.states
        pooled = {
            str(one): is_pooled(metric)
            for metric in self.metrics
            if not isinstance(metric, RunMetric)
            for one in metric.split()
        }
        of_pooled = [name for name, is_ratio in pooled.items() if is_ratio]
        of_run = {str(one) for metric in self.metrics if isinstance(metric, RunMetric) for one in metric.split()}
        weighted = read.fields["weights"] == "given"
        fits = sums.fits(sorted(pooled), [*pooled] if weighted else of_pooled)  # a weighted mean is a ratio
        if not fits or sums.queries != population.evaluated:
            raise _foreign("the sums do not match the metrics", read.header)
        fit = [
            state.shape[grows:] == shape for (grows, shape), state in zip(self._shapes.values(), states, strict=True)
        ]
        if not all(fit) or any((each < 0).any() for each in states):
            raise _foreign("the counts per item do not match the metrics", read.header)
        if {*read.fields["whole_users"]} != of_run:
            raise _foreign("the counts of users do not match the metrics", read.header)
        return Part(
            rows=np.empty(0, np.int64),
            ids={"user": np.empty(0, np.int64)},
            names=tuple(pooled),
            values=np.empty((0, len(pooled))),
            ratios={},
            population=population,
            states={None: dict(zip(self._shapes, states, strict=True))} if states else {},
            state_users={None: read.fields["whole_users"]} if states else {},
            sums={None: replace(sums, numbers={name: sums.numbers[name] for name in pooled})},
            weighted=weighted,
        )

    def _check_same(self, header: Mapping[str, Any]) -> None:
        """Check that another stream has the same metrics and protocol."""
        own = self._header()
        for name in ("metrics", "protocol", "apart", "n_items", "side"):
            if own[name] != header.get(name):
                what = {"side": f"the side tables ({', '.join(SIDE)})"}.get(name, name)
                raise InputError(
                    f"merge: the streams differ in {what}: {_difference(own[name], header.get(name))}. Make both "
                    "with the same arguments."
                )


def _difference(one: Any, other: Any) -> str:
    """Two values, as far as they differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        name = next(name for name in [*one, *other] if one.get(name) != other.get(name))
        return f"{name} is {one.get(name)!r} here and {other.get(name)!r} there"
    return f"{one!r} here and {other!r} there"


class _Read(NamedTuple):
    """The bytes of a stream: the header as it is written, and its fields and states, checked."""

    header: dict[str, Any]
    fields: dict[str, Any]
    states: list[Ints]


def _read(content: bytes) -> _Read:
    header, states = unpack(content)
    counted = {*PART_FIELDS} & {*header}
    try:
        fields = record(HEADER_FIELDS | (PART_FIELDS if counted else {}))(header)
    except ValueError as error:
        raise _foreign(error, header) from error
    # Whoever counts per item has so many numbers for each cutoff: they are there before any memory is taken for them.
    of_run = runs_of(fields["metrics"])
    if counted and len(of_run) != len(states):
        raise _foreign("the counts per item do not match the metrics", header)
    for metric, state in zip(of_run, states, strict=False):
        if (
            metric.per_item
            and {*metric.needs} <= {"catalog"}
            and state.size < len(metric.cutoffs) * (fields["n_items"] or 0)
        ):
            raise _foreign(f"n_items is {fields['n_items']:,}, but {metric} was counted for fewer items", header)
    return _Read(header, fields, states)


def _foreign(why: object, header: Mapping[str, Any]) -> SourceError:
    return SourceError(
        f"cannot read these bytes as a stream: {str(why).rstrip('.')}. They were written by atkay "
        f"{header.get('atkay', '(unknown version)')}, this is atkay {__version__}: use the same version for both."
    )
