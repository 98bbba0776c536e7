"""Directions: which values of a metric are better, where the metric itself leaves that open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from atkay.errors import NumberError, SpecError, offer, shown
from atkay.metrics.metric import Metric
from atkay.metrics.spec import parse

Direction = Literal["higher", "lower"]


def directions(
    metrics: Iterable[Metric], better: Mapping[str, str], names: Mapping[str, str], caller: str
) -> dict[str, str]:
    """Which values of each number are better; ``better`` says so for metrics without a direction.

    >>> directions([parse("arp@5,10")], {"arp@10": "lower"}, {}, "gate")
    {'arp@5': 'neither', 'arp@10': 'lower'}
    """
    known = {str(one): one.better for metric in metrics for one in metric.split()}
    chosen = dict(known)
    for name, word in better.items():
        if word not in ("higher", "lower"):
            raise SpecError(f"{caller}: '{name}' must be higher or lower, got {shown(word)}.")
        for one in map(str, parse(names.get(name, name)).split()):
            if one not in known:
                raise NumberError(f"{caller}: metric '{name}' is not evaluated. {offer(one, known)}")
            if known[one] not in ("neither", word):
                raise SpecError(f"{caller}: for {one}, {known[one]} is better; leave '{name}' out.")
            chosen[one] = word
    return chosen
