"""Looks: a gate that is looked at again and again, such as every day, and errs no more often than one look does.

The interval is a confidence sequence: it covers the true difference at all looks together with 95 %.

Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Time-uniform central limit theory and asymptotic confidence
sequences, 2024.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from atkay.comparison.difference import Difference
from atkay.comparison.verdict import LEVEL
from atkay.core.schema import count, listed, mapped, maybe, number, record, text
from atkay.core.types import Floats, Ints
from atkay.errors import InputError, SpecError
from atkay.results.result import Result
from atkay.results.save import load_record, save_record

TUNED_USERS = 2_000
"""The number of users at which the sequence is narrowest; with any other one it is a little wider."""

RHO = (-2 * math.log(LEVEL) + math.log(-2 * math.log(LEVEL) + 1)) / TUNED_USERS
"""The square of ρ in the paper, equation (10)."""


def half_width(users: float, level: float = LEVEL) -> float:
    """Half the width of the confidence sequence, in standard deviations of the users' differences.

    At 2,000 users a t-interval has 0.044.

    >>> round(half_width(2_000), 3), round(half_width(100), 2)
    (0.068, 0.47)
    """
    grown = users * RHO + 1
    return math.sqrt(2 * grown / (users**2 * RHO) * math.log(math.sqrt(grown) / level))


def p_of_loss(difference: Difference) -> float:
    """The one-sided p-value of a loss, which may be looked at as often as one likes."""
    loss = difference.difference if difference.better == "lower" else -difference.difference
    if not difference.deviation > 0:
        return 1.0 if difference.deviation == 0 and loss <= 0 else math.nan
    return float(p_of_t(np.array(loss / difference.deviation * math.sqrt(difference.users)), difference.users))


def p_of_t(t: Floats, users: Floats | Ints | int) -> Floats:
    """The same for losses that are ``t`` standard errors large: the level at which the sequence of losses ends at 0."""
    grown = users * RHO + 1
    exponent = np.clip(t * np.abs(t) * (grown - 1) / (2 * grown), 1e-300, 700)
    p: Floats = np.minimum(np.sqrt(grown) / (2 * np.expm1(exponent)), 1.0)
    return p


def needed_users(effect: float, power: float, level: float) -> float:
    """How many users it takes until the sequence excludes 0, where the difference is ``effect`` deviations."""
    from scipy.optimize import brentq
    from scipy.special import ndtri

    def short(users: float) -> float:
        return half_width(users, level) + float(ndtri(power)) / math.sqrt(users) - effect

    high = 4.0
    while short(high) > 0:
        high *= 2
    return float(brentq(short, 2.0, high, xtol=1e-3)) if short(2.0) > 0 else 2.0


@dataclass(frozen=True)
class GateLook:
    """One look: its name, what it was of, and for each number the users, their mean difference and its SD."""

    name: str
    truth: str
    numbers: tuple[Mapping[str, Any], ...]


_FILE = record(
    {
        "protocol": mapped(text),
        "looks": listed(
            record(
                {
                    "name": text,
                    "truth": text,
                    "numbers": listed(
                        record(
                            {
                                "metric": text,
                                "slice": maybe(text),
                                "segment": maybe(text),
                                "users": count,
                                "mean": number,
                                "deviation": number,
                                "base": number,
                            }
                        )
                    ),
                }
            )
        ),
    }
)


@dataclass(frozen=True)
class Looks:
    """All looks so far, as they are kept in a file; each has users of its own."""

    protocol: Mapping[str, str]
    looks: tuple[GateLook, ...]

    @classmethod
    def load(cls, path: str | os.PathLike[str], run: Result) -> Looks:
        """The looks in a file, or none where it does not exist; they are of the same protocol as the run."""
        protocol = {**run.protocol.words(), **run.apart_words()}
        if not Path(path).exists():
            return cls(protocol, ())
        read = load_record(path, "looks", _FILE)
        if differ := sorted(
            name for name in {*protocol, *read["protocol"]} if protocol.get(name) != read["protocol"].get(name)
        ):
            raise InputError(
                f"gate: the looks in '{path}' are of another protocol: {', '.join(differ)}. Name a new file."
            )
        return cls(protocol, tuple(GateLook(**each) for each in read["looks"]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all looks; whole or not at all."""
        save_record(
            path, "looks", _FILE.write({"protocol": self.protocol, "looks": [vars(each) for each in self.looks]})
        )

    def with_look(self, name: str, run: Result, differences: Sequence[Difference]) -> Looks:
        """With another look, in place of the one of the same name."""
        truth, others = run.fingerprint["truth"], [each for each in self.looks if each.name != name]
        if same := [each.name for each in others if each.truth == truth]:
            raise InputError(
                f"gate: look '{name}' has the same truth as look '{same[0]}'; looks need users of their own. Without "
                "looks, a gate checks the same users as often as you like: each change by itself."
            )
        if strange := [
            each.aggregate
            for each in differences
            if each.aggregate not in ("mean",) and "geometric" not in each.aggregate
        ]:
            raise SpecError(f"gate: looks are compared by their means, not by aggregate '{strange[0]}'.")
        numbers = tuple(
            {
                "metric": each.metric,
                "slice": each.slice,
                "segment": each.segment,
                "users": each.users,
                "mean": each.difference,
                "deviation": each.deviation,
                "base": each.base,
            }
            for each in differences
        )
        return Looks(self.protocol, (*others, GateLook(name, truth, numbers)))

    def pooled(self, differences: Sequence[Difference]) -> Iterator[Difference]:
        """The differences over the users of all looks, with their confidence sequences."""
        for each in differences:
            key = each.metric, each.slice, each.segment
            yield _pooled(
                each,
                [
                    numbers
                    for look in self.looks
                    for numbers in look.numbers
                    if (numbers["metric"], numbers["slice"], numbers["segment"]) == key and numbers["users"]
                ],
            )


def _pooled(difference: Difference, looks: Sequence[Mapping[str, Any]]) -> Difference:
    users = sum(each["users"] for each in looks)
    if not users:
        return difference
    mean, base = (sum(each["users"] * each[name] for each in looks) / users for name in ("mean", "base"))
    within = sum((each["users"] - 1) * each["deviation"] ** 2 for each in looks if each["users"] > 1)
    between = sum(each["users"] * (each["mean"] - mean) ** 2 for each in looks)
    deviation = math.sqrt((within + between) / (users - 1)) if users > 1 else math.nan
    half = deviation * half_width(users) if deviation > 0 else math.nan
    return replace(
        difference,
        difference=mean,
        low=mean - half,
        high=mean + half,
        deviation=deviation,
        users=users,
        base=base,
        relative_low=math.nan,
        relative_high=math.nan,
    )
