"""Trial: what is to be tested, and the random numbers for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atkay.comparison.bootstrap import Drawn
    from atkay.comparison.sheet import Pair, Paired
    from atkay.text.progress import Steps

Key = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Trial:
    """What is to be tested: the runs' values, the pairs, and what random tests need."""

    paired: Sequence[Paired]
    pairs: Sequence[Pair]
    permutations: int
    rng: int
    key: Key
    steps: Steps
    spread: bool = True
    """Whether bootstrap samples need t-values. These need the squares of all differences, and most of the time."""
    studentised: bool = False
    """Whether they need each t-value, and not only how many are large."""

    def random(self, *key: int) -> np.random.Generator:
        """Random numbers of their own for each piece of work."""
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.rng, spawn_key=(*self.key, *key))))

    def seed(self, *key: int) -> int:
        """A number of 63 bits, from which a kernel draws."""
        return int(np.random.SeedSequence(self.rng, spawn_key=(*self.key, *key)).generate_state(1, np.uint64)[0]) >> 1

    @cached_property
    def drawn(self) -> Drawn:
        """The bootstrap samples."""
        from atkay.comparison.bootstrap import draw, draw_ordered

        return (draw_ordered if self.paired[0].aggregate.ordered else draw)(self)
