"""Every metric as a torchmetrics metric, for training loops, Lightning and distributed training."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self, TypedDict

from atkay.core.lock import Lock
from atkay.engines.stream import Stream
from atkay.errors import InputError, PopulationError, listing, need
from atkay.evaluation.request import USUAL
from atkay.inputs.batch import by_index
from atkay.results.packing import split

need("atkay.engines.torchmetrics", "torchmetrics", "torch", "torchmetrics")
# Imported after the line that says what to install where they are missing.
import torch  # noqa: E402
from torchmetrics import Metric  # noqa: E402
from torchmetrics.utilities.data import dim_zero_cat  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Unpack

    from torch import Tensor

    from atkay.metrics.metric import Metric as Spec
    from atkay.results.result import Result
    from atkay.text.arguments import StreamArguments


class TorchmetricsSettings(TypedDict, total=False):
    """Arguments of torchmetrics itself."""

    compute_on_cpu: bool
    compute_with_cache: bool
    dist_sync_fn: Callable[..., Any] | None
    dist_sync_on_step: bool
    distributed_available_fn: Callable[..., Any] | None
    process_group: Any
    sync_on_compute: bool


if TYPE_CHECKING:

    class StreamMetricArguments(TorchmetricsSettings, StreamArguments):
        """Arguments of Stream and of torchmetrics."""


class StreamMetric(Metric):
    """An :class:`atkay.Stream` as a torchmetrics metric: ``compute`` returns ``{name: value}``.

    Parameters
    ----------
    metrics, **given
        Arguments of :class:`atkay.Stream`, and of torchmetrics' metrics, such as ``process_group``.

    Sums are exact: several processes give the same numbers as one, to the last bit. A sampler that repeats users to
    even out batches (as Lightning's does) counts them twice.

    Examples
    --------
    >>> import torch
    >>> from atkay.engines.torchmetrics import StreamMetric
    >>> metric = StreamMetric(["mrr", "recall@1"])
    >>> metric.update(torch.tensor([[0.1, 0.9, 0.5], [0.3, 0.2, 0.1]]), torch.tensor([[2], [0]]))
    >>> metric.compute()["mrr"].item()
    0.75
    """

    is_differentiable = False
    higher_is_better = None
    full_state_update = False
    parts: list[Tensor] | Tensor

    def __init__(
        self, metrics: str | Spec | Iterable[str | Spec] = USUAL, **given: Unpack[StreamMetricArguments]
    ) -> None:
        rest: dict[str, Any] = {**given}
        super().__init__(**{name: rest.pop(name) for name in TorchmetricsSettings.__annotations__ if name in rest})
        self._stream = Stream(metrics, **rest)
        self._lock = Lock()
        # The bytes of streams: they stand one after the other wherever torchmetrics puts states together.
        self.add_state("parts", default=[], dist_reduce_fx="cat")

    def update(
        self,
        preds: Any,
        target: Any,
        indexes: Any = None,
        *,
        items: Any = None,
        users: Any = None,
        exclude: Any = None,
        candidates: Any = None,
    ) -> None:
        """Add a batch of users.

        Parameters
        ----------
        preds
            Floats: scores of all items, users x items, or with ``items`` those of the listed items. Integers: lists of
            item codes, users x k.
        target, items, users, exclude, candidates
            As for :meth:`atkay.Stream.update`.
        indexes
            As for torchmetrics' retrieval metrics: ``preds``, ``target`` (grades) and ``indexes`` are one-dimensional,
            with an entry per item and query. All items of a query must be in the same batch.
        """
        if indexes is not None:
            others = {"items": items, "users": users, "exclude": exclude, "candidates": candidates}
            if strange := [name for name, given in others.items() if given is not None]:
                raise InputError(
                    f"update: {listing(strange)} cannot be used with indexes, which say nothing about items: "
                    f"each query has its own. Leave it out; or pass a row of scores for each user, and no indexes."
                )
            if self._stream.n_items is not None:
                raise InputError("update: n_items cannot be used with indexes, which say nothing about items.")
        with self._lock:  # of all threads that share the metric: counting goes through one stream
            stream = self._merged()
            if indexes is not None:
                stream.count(by_index(preds, target, indexes, stream.protocol.scores))
            elif items is None and not _floating(preds):
                stream.update(preds, target, users=users, exclude=exclude, candidates=candidates)
            else:
                stream.update(items, target, scores=preds, users=users, exclude=exclude, candidates=candidates)
            self._keep(stream)

    def compute(self) -> dict[str, Tensor]:
        """The value of each metric; NaN without users."""
        exact = torch.float32 if self.device.type == "mps" else torch.float64
        try:
            numbers = dict(self.result())
        except PopulationError:
            numbers = {str(one): math.nan for metric in self._stream.metrics for one in metric.split()}
        return {name: torch.tensor(value, dtype=exact, device=self.device) for name, value in numbers.items()}

    def result(self) -> Result:
        """The result of this process so far, with intervals, counts and definitions."""
        with self._lock:
            return self._merged().compute()

    def forward(self, *args: Any, **given: Any) -> Any:
        """Add a batch, and return the metrics of this batch."""
        with self._lock:
            value = super().forward(*args, **given)
            self._keep(self._merged())  # else there would be a part for each step
            return value

    def sync(self, *args: Any, **given: Any) -> None:
        """Merge the states of all processes, empty ones included."""
        if isinstance(self.parts, list) and not self.parts:
            self._keep(self._merged())
        super().sync(*args, **given)

    def set_dtype(self, dst_type: str | torch.dtype) -> Self:
        """Do nothing: the state is bytes of exact sums."""
        return self

    def _merged(self) -> Stream:
        """The merged stream."""
        self._stream.reset()
        if len(self.parts):
            for part in split(dim_zero_cat(self.parts).cpu().numpy().tobytes()):
                self._stream.merge(part)
        return self._stream

    def _keep(self, stream: Stream) -> None:
        self.parts = [torch.frombuffer(bytearray(stream.to_bytes()), dtype=torch.uint8).to(self.device)]


def _floating(preds: Any) -> bool:
    dtype = getattr(preds, "dtype", None)
    return dtype.is_floating_point if isinstance(dtype, torch.dtype) else getattr(dtype, "kind", "i") == "f"
