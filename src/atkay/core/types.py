"""Names for the arrays that go from stage to stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atkay.errors import SourceError, number_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Array = NDArray[Any]
Hashes = NDArray[np.uint64]

WHOLE = int(np.iinfo(np.int64).max)
"""The cutoff that cuts nothing."""

QUICKSORT_LENGTH = 16
"""The length from which usual quicksorts, which do not keep the order of equal scores, stop using an insertion sort."""


def is_integer(given: object, least: int, most: int = WHOLE) -> bool:
    """Whether it is an integer in a range, ends included; a boolean is none."""
    return isinstance(given, int | np.integer) and not isinstance(given, bool) and bool(least <= given <= most)


def is_number(given: object, above: float, below: float) -> bool:
    """Whether it is a number between two others; a boolean is none."""
    kinds = int | float | np.integer | np.floating
    return isinstance(given, kinds) and not isinstance(given, bool) and bool(above < given < below)


def is_tensor(given: Any) -> bool:
    """Whether it is a torch tensor; torch need not be there."""
    return hasattr(given, "detach") and hasattr(given, "layout")


def check_tensor(tensor: Any, name: str) -> None:
    """Refuse tensors that do not hold a value for every place."""
    if tensor.is_meta:
        raise SourceError(f"{name}: a tensor on the meta device holds no values. Pass one on the CPU or a GPU.")
    if tensor.is_nested or str(tensor.layout) != "torch.strided":
        kind = "nested" if tensor.is_nested else str(tensor.layout).removeprefix("torch.")
        raise SourceError(
            f"{name}: cannot read a {kind} tensor. Pass a dense one (tensor.to_dense()), or a SciPy sparse matrix."
        )


def tensor_array(tensor: Any, name: str) -> Array:
    """A torch tensor as an array that shares its memory where it can."""
    check_tensor(tensor, name)
    tensor = tensor.detach().cpu().resolve_neg().resolve_conj()
    try:
        array: Array = (tensor.float() if "bfloat16" in str(tensor.dtype) else tensor).numpy()
    except (TypeError, RuntimeError):
        raise SourceError(
            f"{name}: NumPy has no type for a tensor of {tensor.dtype}. Pass tensor.float(), or another type."
        ) from None
    return array


@dataclass(frozen=True, eq=False)
class Slicing:
    """Users in segments: ``segment[code[q]]`` is the segment of query q."""

    name: str
    segments: Sequence[Any]
    code: Ints


@dataclass(frozen=True, eq=False)
class Clusters:
    """Whose queries depend on each other: query q belongs to cluster ``code[q]``; ``name`` says what a cluster is."""

    name: str
    code: Ints

    @property
    def words(self) -> str:
        """What they are there for, and how many there are."""
        return f"intervals and tests are {self.by} ({number_of(len(np.unique(self.code)), 'cluster')})"

    @property
    def by(self) -> str:
        """What they are of, where that has a name."""
        return "clustered" if self.name == "cluster" else f"clustered by {self.name}"
