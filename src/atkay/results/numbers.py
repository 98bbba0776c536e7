"""Numbers: what is known of each metric, found by any of its names."""

from __future__ import annotations

from typing import TypeVar

from atkay.errors import NumberError, SpecError, listing
from atkay.metrics.metric import Metric
from atkay.metrics.spec import parse

T = TypeVar("T")


class Numbers(dict[str, T]):
    """A dict keyed by canonical spec; lookup accepts any name of a metric, or the metric."""

    holder = "result"
    """Whose numbers they are, for the error of one that is not there."""
    lack = "was not evaluated"
    """Why it is not."""

    def __missing__(self, name: str | Metric) -> T:
        try:
            canonical = str(parse(name))
        except SpecError as error:
            raise NumberError(str(error)) from error
        if not super().__contains__(canonical):
            raise NumberError(f"'{canonical}' {self.lack}; this {self.holder} has {listing(self) or 'none'}.")
        return self[canonical]

    def __contains__(self, name: object) -> bool:
        try:
            return super().__contains__(str(parse(name)))  # type: ignore[arg-type]  # anything else is no metric
        except SpecError:
            return False
