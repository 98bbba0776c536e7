"""Full ranking: rank every item for every user, on GPU or CPU, without making lists.

Accuracy metrics only need the ranks of the relevant items, and a rank is 1 + the number of items that score higher.
Items are counted block by block as their scores are computed, neither sorted nor kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor

from atkay.core.forks import check_torch
from atkay.core.types import check_tensor
from atkay.engines.full_ranking import count as counting
from atkay.engines.full_ranking.count import Excluded, Targets, Vectors
from atkay.engines.full_ranking.lists import BYTES, Products, TieOrder, Tops, top_of_scores
from atkay.engines.full_ranking.truth import Ranked, Truth, list_depth, tie_order
from atkay.errors import DuplicateError, InputError, ProtocolError, a_type, number_of, shown, unknown_value
from atkay.evaluation.finish import Setting, finish
from atkay.evaluation.hits import relevant_grades
from atkay.evaluation.measure import measure_all
from atkay.evaluation.request import USUAL, Request
from atkay.inputs.batch import read_row_weights
from atkay.protocol import Protocol
from atkay.text.help import Visible, spell_out
from atkay.text.sizes import bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Unpack

    from atkay.core.types import Array
    from atkay.engines.full_ranking.device import Kernel
    from atkay.judged.judged import Judged
    from atkay.metrics.metric import Metric
    from atkay.results.population import Population
    from atkay.results.result import Result
    from atkay.text.arguments import FullRankingArguments, Library, ProtocolFields

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
Precision = Literal["float32", "tf32", "bfloat16"]
Similarity = Literal["dot", "cosine"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

LEAST_MEMORY = 1_000_000
"""The lower bound of ``memory``, in bytes."""

FIRST_USERS = 16
"""Users that are scored first, to learn how many items there are."""

BYTES_COUNTED = 48
"""Bytes for each score of a batch of users where no lists are made."""

NOTHING_RANKED = Ranked(*(np.empty(0, kind) for kind in (int, int, int, bool)))

SAMPLE = 64
"""Targets that are ranked again in float32, to tell what a lower precision does."""


def full_ranking(
    user_vectors: Any = None,
    item_vectors: Any = None,
    truth: Any = None,
    metrics: str | Metric | Iterable[str | Metric] = USUAL,
    *,
    score: Callable[[Tensor], Any] | None = None,
    user_bias: Any = None,
    item_bias: Any = None,
    **options: Unpack[FullRankingArguments],
) -> Result:
    """Rank all items for every user, exactly, and evaluate the ranks.

    No lists are made: for each relevant item, the items with a higher and with an equal score are counted.

    Parameters
    ----------
    user_vectors, item_vectors
        A row per user and a row per item: tensors, on any device, or arrays. Users and items are row numbers.
    truth, metrics
        As in :class:`FullRanking`.
    score
        Instead of vectors, any model: a function that takes a tensor of user numbers and returns their scores for all
        items, a row per user, or yields them in blocks of consecutive items.
    user_bias, item_bias
        A number per user (does not change ranks) and per item, added to the scores.
    **options
        Further arguments of :class:`FullRanking`: exclude, similarity, precision, memory, device, ids, dialect,
        protocol and its fields.

    Examples
    --------
    One user, along the first axis; items score 3, 2, 1. The relevant item is second, and first once the best item is
    excluded.

    >>> user, items = np.array([[1.0, 0.0]]), np.array([[3.0, 5.0], [2.0, 0.0], [1.0, 9.0]])
    >>> truth = ([0, 1], [1])
    >>> atkay.full_ranking(user, items, truth, "mrr")["mrr"]
    0.5
    >>> atkay.full_ranking(user, items, truth, "mrr", exclude=([0, 1], [0]))["mrr"]
    1.0
    """
    if truth is None:
        raise InputError("full_ranking: truth is missing. Pass the relevant items of each user in CSR form.")
    ranking = FullRanking(truth, metrics, **options)
    if score is not None:
        if user_vectors is not None or item_vectors is not None:
            raise InputError("full_ranking: pass either vectors or score=, not both.")
        return ranking.evaluate_scores(score)
    if user_vectors is None or item_vectors is None:
        raise InputError("full_ranking: pass user_vectors and item_vectors, or score=, a function.")
    return ranking.evaluate(user_vectors, item_vectors, user_bias=user_bias, item_bias=item_bias)


class FullRanking(Visible):
    """A validation set that is read once and used for many evaluations.

    Truth and excluded items stay on the device; only the ranks of the relevant items leave it.

    Parameters
    ----------
    truth
        The relevant items of each user, a row per user: a SciPy sparse matrix or a torch sparse CSR tensor, whose
        values are grades, ``(indptr, indices)`` or ``(indptr, indices, grades)``, or an array: item codes padded with
        -1, booleans, or grades as floats.
    metrics, dialect, protocol, **fields
        As for :func:`evaluate`. Metrics of whole lists need a cutoff. The catalogue is all items; ``train``,
        ``features`` and ``reference`` are not supported.
    exclude
        Items not to rank for a user, such as those seen in training; in any form of ``truth``.
    similarity
        "dot" (dot product) or "cosine".
    precision
        "float32", or the faster "tf32" and "bfloat16", which round vectors to 11 or 8 bits. Ranks are exactly those of
        the rounded vectors; ``result.engine`` says how far ranks moved.
    memory
        Memory for scores and intermediate results, such as "500MB"; vectors and about 100 bytes per relevant item come
        on top.
    device
        The device; by default that of the item vectors, or for arrays a GPU if there is one.
    ids
        The users' ids; by default 0, 1, 2, ...
    weights
        How much each user counts: a number from 0 for each row of ``truth``.

    Examples
    --------
    >>> import torch
    >>> validation = atkay.FullRanking(([0, 1, 2], [1, 0]), "mrr")
    >>> items = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> validation.evaluate(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), items)["mrr"]
    0.75
    >>> validation.evaluate(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), items)["mrr"]
    1.0
    """

    @spell_out(Protocol, but=("candidates",))
    def __init__(
        self,
        truth: Any,
        metrics: str | Metric | Iterable[str | Metric] = USUAL,
        *,
        exclude: Any = None,
        similarity: Similarity = "dot",
        precision: Precision = "float32",
        memory: int | str = "1GB",
        device: Any = None,
        ids: Any = None,
        weights: Any = None,
        dialect: Library | str | None = None,
        protocol: Protocol | None = None,
        **fields: Unpack[ProtocolFields],
    ) -> None:
        rest: dict[str, Any] = {**fields}
        if rest.pop("candidates", None) is not None:
            raise ProtocolError(
                "full_ranking: candidates= is not supported. Pass the vectors of these items only, or exclude "
                "the others."
            )
        self._request = Request.of(metrics, protocol, rest, dialect=dialect)
        self._depth = list_depth(self._request)
        self._truth = Truth.read(truth, exclude, self._request.protocol)
        self._similarity = _one_of("similarity", similarity, get_args(Similarity))
        self._precision = _one_of("precision", precision, PRECISIONS)
        self._memory = bytes_of(memory, LEAST_MEMORY)
        self._device = None if device is None else _device(device, None)
        self._request.check("catalog")
        self._ids = np.arange(self._truth.n_users) if ids is None else _read_ids(ids, self._truth.n_users)
        self._weights = None if weights is None else read_row_weights(weights, "full_ranking")
        if self._weights is not None and len(self._weights) != self._truth.n_users:
            raise InputError(
                f"weights: got {number_of(len(self._weights), 'number')} for {number_of(self._truth.n_users, 'user')}."
            )
        if self._weights is not None:
            replace(self._request, tables={"weights": weights}).check_weights()
        self._placed: dict[torch.device, Placed] = {}

    def evaluate(self, user_vectors: Any, item_vectors: Any, *, user_bias: Any = None, item_bias: Any = None) -> Result:
        """Evaluate a model whose scores are products of vectors."""
        device = _device(self._device, item_vectors)
        users, items = (_vectors(each, what, device) for each, what in ((user_vectors, "user"), (item_vectors, "item")))
        self._check_sizes(users, items)
        bias = None
        if item_bias is not None:
            bias = _finite(_tensor(item_bias, "item_bias", device).reshape(-1).float(), "item_bias")
        if user_bias is not None:  # the same for all items of a user: no rank depends on it
            _finite(_tensor(user_bias, "user_bias", device).reshape(-1), "user_bias")
        if bias is not None and len(bias) != len(items):
            raise InputError(f"item_bias: got {len(bias):,} numbers for {number_of(len(items), 'item')}.")
        if self._similarity == "cosine":
            items = _unit(items)

        def rounded(precision: str) -> Vectors:
            vectors = Vectors(counting.rounded(users, precision), counting.rounded(items, precision))
            vectors = counting.with_bias(vectors, bias, precision)
            # The largest numbers of a wider type are infinite in a narrower one.
            return Vectors(_finite(vectors.users, "user_vectors"), _finite(vectors.items, "item_vectors"))

        place = self._place(device)
        vectors, kernel = rounded(self._precision), _kernel(self._precision, device)
        ranks, own = counting.rank(vectors, place.targets, place.excluded, self._memory, kernel)
        way = f"{'a fused kernel' if kernel else 'products in blocks'} on {_name(device)}, {self._precision}"
        if self._precision != "float32" and len(own):
            way += "; " + self._effect(rounded("float32"), place, ranks.above)
        tops = []
        if self._depth:
            products, orders = Products(vectors, self._memory), self._tie_orders(place, len(items))
            for first, last in counting.blocks(len(users), self._memory // (BYTES * len(items))):
                user = torch.arange(first, last, device=device)
                tops.append([products.top(user, place.seen(user), self._depth, order) for order in orders])
        return self._finish(Ranked(*map(_host, (*ranks, own > 0))), len(items), tops, f"counting: {way}")

    def evaluate_scores(self, score: Callable[[Tensor], Any]) -> Result:
        """Evaluate any model: ``score`` takes user numbers and returns their scores for all items."""
        device = _device(self._device, None)
        place = self._place(device)
        rows = np.arange(self._truth.n_users) if self._depth else np.unique(self._truth.targets[0])
        # Whoever is scored, it tells how many items there are: somebody has to be.
        users = torch.from_numpy(rows if len(rows) else np.arange(min(1, self._truth.n_users))).to(device)
        ranked, tops, n_items, first = [NOTHING_RANKED], [], 0, 0
        score_bytes = BYTES if self._depth else BYTES_COUNTED
        while first < len(users):
            # How many items there are is known once a few users have been scored.
            last = first + (max(1, self._memory // (score_bytes * n_items)) if n_items else FIRST_USERS)
            batch = users[first:last]
            scores = _scored(score, batch, n_items)
            n_items = scores.shape[1]
            self._check_items(n_items)
            ranked.append(self._count(scores, batch, place))
            if self._depth:
                orders, seen = self._tie_orders(place, n_items), place.seen(batch)
                tops.append([top_of_scores(scores, batch, seen, self._depth, order) for order in orders])
            first = last
        every = Ranked(*(np.concatenate(each) for each in zip(*ranked, strict=True)))
        return self._finish(every, n_items, tops, f"counting scores on {_name(device)}")

    def _count(self, scores: Tensor, users: Tensor, place: Placed) -> Ranked:
        """Count, for the targets of some users, the items with higher and equal scores."""
        first, last = torch.searchsorted(place.targets.user, users[[0, -1]] + torch.tensor([0, 1], device=users.device))
        targets = place.targets.only(slice(first, last))
        ranks, own = counting.count_scores(scores, torch.searchsorted(users, targets.user), targets, self._memory)
        if place.excluded is not None:

            def score(user: Tensor, item: Tensor) -> Tensor:
                return scores[torch.searchsorted(users, user), item]

            counting.take_out(ranks, targets, own, place.excluded, score, self._memory)
        return Ranked(*map(_host, (*ranks, own > 0)))

    def _place(self, device: torch.device) -> Placed:
        """Truth and excluded items, moved to the device once."""
        check_torch(torch.get_num_threads())
        if device not in self._placed:
            seen = self._truth.seen
            excluded = None if seen is None else Excluded(*(_moved(each, device) for each in (seen.start, seen.item)))
            self._placed[device] = Placed(Targets(*(_moved(each, device) for each in self._truth.targets)), excluded)
        return self._placed[device]

    def _tie_orders(self, place: Placed, n_items: int) -> list[TieOrder]:
        """How ties are ordered under each protocol of the request."""
        user, item = place.targets.user, place.targets.item
        orders = []
        for protocol in (each.protocol for each in self._request.by_protocol()):
            grade = relevant_grades(self._truth.grade, protocol.min_relevance)[self._truth.rows]
            orders.append(TieOrder(*tie_order(protocol), n_items, user, item, _moved(grade, user.device)))
        return orders

    def _effect(self, vectors: Vectors, place: Placed, above: Tensor) -> str:
        """The effect of the precision on the ranks, on a sample of the targets."""
        chosen = torch.linspace(0, len(above) - 1, min(SAMPLE, len(above)), device=above.device).long()
        sample = place.targets.only(chosen)
        kernel = _kernel("float32", above.device)
        ranks, _ = counting.rank(vectors, sample, place.excluded, self._memory, kernel)
        moved = (ranks.above - above[chosen]).abs()
        return (
            f"of {number_of(len(moved), 'rank')}, {int((moved > 0).sum()):,} differ from float32, by at most "
            f"{int(moved.max()):,} places, {float(moved.double().mean()):,.1f} on average"
        )

    def _check_sizes(self, users: Tensor, items: Tensor) -> None:
        if users.shape[1] != items.shape[1]:
            raise InputError(
                f"user_vectors have {number_of(users.shape[1], 'component')} and item_vectors {items.shape[1]:,}. "
                "Both need the same number."
            )
        if len(users) != self._truth.n_users:
            raise InputError(
                f"truth has {number_of(self._truth.n_users, 'row')} and user_vectors {len(users):,}: both need "
                f"a row per user. Pass the vectors of the users in truth, in the same order."
            )
        self._check_items(len(items))

    def _check_items(self, n_items: int) -> None:
        if n_items < self._truth.n_named:
            raise InputError(
                f"truth or exclude has item {self._truth.n_named - 1}, but there are {number_of(n_items, 'item')}, "
                "numbered from 0."
            )

    def _finish(self, ranked: Ranked, n_items: int, tops: list[list[Tops]], how: str) -> Result:
        """The result from all ranks; ``tops`` holds the top lists of each batch of users under each protocol."""
        truth, protocol = self._truth, self._request.protocol
        lists = [Tops.of(parts, n_items) for parts in zip(*tops, strict=True)]
        of_protocol = dict(zip((each.protocol for each in self._request.by_protocol()), lists, strict=False))

        def judge_as(protocol: Protocol) -> tuple[Judged, Population]:
            judged = truth.judged(protocol, ranked, n_items, *of_protocol.get(protocol, ()))
            return judged, truth.counts(ranked, n_items, protocol.depth)

        part, judged = measure_all(self._request, judge_as, ids={"user": self._ids})
        if self._weights is not None:
            part = replace(part, weights=self._weights[part.rows])
        if truth.seen is not None:
            protocol = protocol.with_fields(exclude=f"{number_of(len(truth.seen), 'row')} of seen items")
        setting = Setting(
            protocol,
            judged,
            fingerprint=truth.fingerprints(self._ids),
            readings=truth.readings(protocol),
            grades=truth.grades,
            engine=f"all {number_of(n_items, 'item')} ranked by {how}",
        )
        return finish(self._request, setting, [part])


spell_out(FullRanking)(full_ranking)


class Placed(NamedTuple):
    """Truth and excluded items on a device."""

    targets: Targets
    excluded: Excluded | None

    def seen(self, users: Tensor) -> tuple[Tensor, Tensor] | None:
        """The excluded items of some users, and the place of each one's user among these."""
        return None if self.excluded is None else self.excluded.of(users)


def _kernel(precision: str, device: torch.device) -> Kernel | None:
    """The fused kernel, where there is one: on CUDA, with Triton."""
    if device.type != "cuda":
        return None
    try:
        from atkay.engines.full_ranking.device import KERNELS
    except ImportError:
        return None
    return KERNELS[precision]


def _one_of(name: str, given: object, words: tuple[str, ...]) -> str:
    if not isinstance(given, str) or given not in words:
        raise ProtocolError(f"full_ranking: {unknown_value(given, name, words)}")
    return given


def _read_ids(given: Any, n_users: int) -> Any:
    """The users' ids, checked to be unique."""
    from atkay.inputs.batch import read_users

    ids = read_users(given, "full_ranking", "ids")
    if len(ids) != n_users:
        raise InputError(f"ids: got {number_of(len(ids), 'id')} for {number_of(n_users, 'user')}.")
    if (twice := ids.is_duplicated()).any():
        raise DuplicateError(
            f"full_ranking: id {ids.filter(twice)[0]!r} appears more than once; each row needs its own id."
        )
    return ids


def _device(given: Any, vectors: Any) -> torch.device:
    if given is not None:
        try:
            device = torch.device(given)
        except (RuntimeError, TypeError, ValueError) as error:
            raise InputError(f"full_ranking: unknown device {shown(given)}. Choose 'cpu' or 'cuda'.") from error
        if device.type not in ("cpu", "cuda"):
            raise InputError(f"full_ranking: device not supported: '{device}'. Choose 'cpu' or 'cuda'.")
        there = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if device.type == "cuda" and (device.index or 0) >= there:
            raise InputError(
                f"full_ranking: no device '{device}'; PyTorch sees {number_of(there, 'CUDA device')} here. Choose "
                f"{'cuda:0' if there else 'cpu'!r}, or leave device= out."
            )
    elif isinstance(vectors, Tensor):
        device = vectors.device
    else:
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    # Elsewhere there is no double precision to rely on.
    if device.type not in ("cuda", "cpu"):
        return torch.device("cpu")
    return torch.device("cuda", torch.cuda.current_device()) if str(device) == "cuda" else device


def _name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "the CPU"


def _tensor(given: Any, what: str, device: torch.device) -> Tensor:
    if isinstance(given, Tensor):
        check_tensor(given, what)
        return given.detach().to(device)
    try:
        return torch.from_numpy(np.array(given)).to(device)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"{what}: cannot read {a_type(given)} as numbers. Pass a tensor, or an array of floats."
        ) from error


def _vectors(given: Any, what: str, device: torch.device) -> Tensor:
    vectors = _tensor(given, f"{what}_vectors", device)
    if vectors.dim() != 2 or 0 in vectors.shape or vectors.dtype not in FLOATS:
        kind = str(vectors.dtype).removeprefix("torch.")
        raise InputError(
            f"{what}_vectors: must be a row of numbers per {what}, got {kind} of shape {tuple(vectors.shape)}."
        )
    return _finite(vectors, f"{what}_vectors")


def _finite(values: Tensor, what: str) -> Tensor:
    """The values, checked to be finite."""
    finite = torch.isfinite(values)
    if not bool(finite.all()):
        wrong = ~finite.view(len(values), -1).all(1)
        raise InputError(
            f"{what}: row {int(wrong.nonzero()[0])} has a value that is not finite, one of "
            f"{number_of(int(wrong.sum()), 'such row')}. Such scores have no order; fix the model."
        )
    return values


def _unit(vectors: Tensor) -> Tensor:
    """Vectors of length 1, in single precision; 0 stays 0."""
    double = vectors.double()
    largest = double.abs().amax(1, keepdim=True)
    double = double / torch.where(largest > 0, largest, 1.0)  # squares of tiny numbers would vanish
    length = torch.linalg.vector_norm(double, dim=1, keepdim=True)
    return (double / torch.where(length > 0, length, 1.0)).float()


def _scored(score: Callable[[Tensor], Any], users: Tensor, n_items: int) -> Tensor:
    """The scores of some users for all items."""
    given = score(users)
    parts = [_tensor(each, "score", users.device) for each in ([given] if hasattr(given, "shape") else given)]
    shapes = [tuple(each.shape) for each in parts]
    width = sum(shape[1] for shape in shapes if len(shape) == 2)
    if {(len(shape), *shape[:1]) for shape in shapes} != {(2, len(users))} or width == 0 or n_items not in (0, width):
        raise InputError(
            f"score: for {number_of(len(users), 'user')} the function returned shape "
            f"{', '.join(map(str, shapes[:3])) or '()'}."
            " Return a row per user and a column per item, or blocks of columns; the same items for all users."
        )
    scores = parts[0] if len(parts) == 1 else torch.cat(parts, 1)
    if not bool(torch.isfinite(scores).all()):
        raise InputError("score: a score is not finite and cannot be ranked; pass items to leave out as exclude=.")
    return scores


def _moved(array: Array, device: torch.device) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)


def _host(tensor: Tensor) -> Any:
    return tensor.cpu().numpy()
