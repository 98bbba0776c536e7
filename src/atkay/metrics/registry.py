"""Registry: every metric that exists. A metric is a file of this folder, named after it, and is found by itself."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path

from atkay.metrics.metric import BY_ALIAS, Metric, conventions
from atkay.metrics.worked import printed
from atkay.text.grid import Grid
from atkay.words import words_of

HELPERS = {
    *"categories distances gains item_groups metric pairs popularity predictions propensities".split(),
    *"proportions registry sampled shuffled spec subtopics user_models vectors worked".split(),
}
"""The files of the folder that define no metric; whoever needs them imports them."""


class Catalogue(dict[str, type[Metric]]):
    """The metrics that exist, by name; prints as a table of their conventions."""

    def __repr__(self) -> str:
        return self._grid().text()

    def _repr_html_(self) -> str:
        return self._grid().html()

    def _grid(self) -> Grid:
        rows = [(name, _words(each), ", ".join(each.aliases)) for name, each in self.items()]
        return Grid(("metric", "conventions (default first)", "also called"), rows)


def _words(cls: type[Metric]) -> str:
    return "; ".join(
        f"{each.name} = {' | '.join(words_of(each))}" if words_of(each) else f"{each.name} = {printed(each.default)}"
        for each in conventions(cls)
    )


def list_metrics() -> Catalogue:
    """Every metric that exists, with its aliases and conventions.

    >>> atkay.list_metrics()["ndcg"]
    <class 'atkay.metrics.ndcg.NDCG'>
    """
    return Catalogue({each.name: each for each in sorted(set(by_alias().values()), key=lambda each: each.name)})


def by_alias() -> Mapping[str, type[Metric]]:
    """Every metric under each of its names."""
    _load_folder()
    return BY_ALIAS


@functools.cache
def _load_folder() -> None:
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.name not in HELPERS:
            importlib.import_module(f"{__package__}.{module.name}")
