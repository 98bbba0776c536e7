"""Vectors of items: cosines, and features that have none."""

from __future__ import annotations

import numpy as np

from atkay.core.types import Floats
from atkay.errors import SideError
from atkay.judged.judged import Judged
from atkay.text.phrases import argument

LINE_CHECK_NUMBERS = 3
"""Vectors with more numbers than this do not all lie on one line by mistake."""


LINE_CHECK_ITEMS = 20
"""Fewer items than this may lie on one line by coincidence."""


COSINE_ROUNDING = 1e-12
"""Cosines that differ from 1 by less are 1."""


def vectors_of(judged: Judged, metric: object, instead: tuple[str, str], *, cosine: bool) -> Floats:
    """The vectors of items, of several numbers where their ``cosine`` is taken.

    ``instead``: what else to choose where there are no numbers, and where there is one.
    """
    vectors = judged.features.vectors
    if vectors is None:
        raise SideError(
            f"{metric} needs item vectors, but {argument('features')} has only categories. Pass numeric "
            f"columns, or a vector per item; or choose {instead[0]}."
        )
    if cosine and _on_one_line(vectors):
        raise SideError(
            f"{metric} uses the cosine of item vectors, which is 1 or -1 for all pairs here: "
            f"{argument('features')} has one number per item, or proportional ones. Pass more numbers, or "
            f"choose {instead[1]}."
        )
    return vectors


def _on_one_line(vectors: Floats) -> bool:
    """Whether all vectors point the same way or the opposite one; looked for where they have few numbers."""
    if vectors.shape[1] > LINE_CHECK_NUMBERS:
        return False
    known = unit_vectors(vectors)
    known = known[~np.isnan(known).any(axis=1)]
    return vectors.shape[1] == 1 or (
        len(known) >= LINE_CHECK_ITEMS and bool((np.abs(known @ known[0]) > 1 - COSINE_ROUNDING).all())
    )


def unit_vectors(vectors: Floats) -> Floats:
    """The vectors at length 1; each is scaled by its largest number first, whose square might be none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        units: Floats = vectors / np.abs(vectors).max(axis=1, keepdims=True)
        units /= np.sqrt(np.einsum("ij,ij->i", units, units))[:, None]
    return units
