"""Sums: all that the mean of a number and its interval need, without a value per user. NumPy and nothing else.

The sums are exact: those of parts of the users add up to those of all of them, to the last bit the same in whatever
parts and order the users come. A sum is a whole number of units of 2^-2148: no product of two floats is finer.
"""

from __future__ import annotations

import itertools
import math
import re
import reprlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.core.kernels import exact_sums
from atkay.core.reference import EXACT_POWER
from atkay.core.schema import count, listed, mapped, record, text
from atkay.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from atkay.core.types import Bools, Floats

BITS_PER_DIGIT = 20
"""The base in which sums of groups are exact is 2 to this power."""

EXACT_FLOAT_POWERS = 1000
"""Powers of 2 up to this one are floats; beyond, a multiplication would round."""

ROUNDING_BITS = 40
"""What is smaller by this power of 2 comes from rounding."""

_SUM = re.compile(r"(-?[0-9a-f]+)/([0-9]{1,4})")


@dataclass(frozen=True)
class Moments:
    """What is summed of one number: the ``users`` who have a value and the ``undefined`` rest, and exact sums.

    ``sums`` has the sum of the values and ``products`` that of their squares. Where users are pooled there are two
    values, a numerator a and a denominator b: ``sums`` of a and b, ``products`` of a², ab and b².
    """

    users: int
    undefined: int
    sums: tuple[int, ...]
    products: tuple[int, ...]

    @property
    def pooled(self) -> bool:
        """Whether numerators and denominators are summed before dividing."""
        return len(self.sums) == 2

    def merge(self, other: Moments) -> Moments:
        """The same of both parts of the users."""
        return Moments(
            self.users + other.users,
            self.undefined + other.undefined,
            _added(self.sums, other.sums),
            _added(self.products, other.products),
        )

    @property
    def mean(self) -> float:
        """The mean, or the ratio of the sums; NaN where there is nothing to divide by. Correctly rounded."""
        return quotient(*self.sums) if self.pooled else quotient(self.sums[0], self.users << EXACT_POWER)

    @property
    def deviation(self) -> float:
        """The standard deviation; NaN where fewer than two users have a value, or there is no mean.

        Where users are pooled, that of the ratio's linear approximation (the delta method).
        """
        n = self.users
        if n < 2 or math.isnan(self.mean):
            return math.nan
        if not self.pooled:
            total, squares = *self.sums, *self.products
            return _root((squares * n << EXACT_POWER) - total**2, n * (n - 1) << 2 * EXACT_POWER)
        above, below = self.sums
        squares, both, below_squares = self.products
        spread = squares * below**2 - 2 * above * below * both + above**2 * below_squares
        return _root(spread * n**2 << EXACT_POWER, below**4 * (n - 1))

    @property
    def binary(self) -> bool:
        """Whether each value or, pooled, each ratio is 0 or 1, where none is below 0 or above 1.

        Of a numerator a and a denominator b, the sum of a (b - a) is then 0; of a value it is that of a (1 - a).
        """
        both = self.products[1] if self.pooled else self.sums[0]
        return abs(self.products[0] - both) << ROUNDING_BITS <= abs(both)

    @property
    def effective(self) -> float:
        """How many users of equal weight the users weigh as much as (Kish); all of them where none has a weight."""
        return quotient(self.sums[1] ** 2, self.products[2] << EXACT_POWER) if self.pooled else float(self.users)

    def record(self) -> list[Any]:
        """All of it, as JSON can hold it."""
        return [self.users, self.undefined, [*map(_written, self.sums)], [*map(_written, self.products)]]

    @classmethod
    def of_record(cls, record: Any) -> Moments:
        """Out of what :meth:`record` gave."""
        if type(record) is not list or len(record) != 4:
            raise ValueError(f"cannot read as sums: {reprlib.repr(record)}")
        users, undefined, (sums, products) = count(record[0]), count(record[1]), map(listed(_read), record[2:])
        moments = cls(users, undefined, sums, products)
        try:
            fits = (len(sums), len(products)) in ((1, 1), (2, 3)) and moments.deviation is not None
        except (ValueError, ArithmeticError):  # a negative square, or a mean that no float holds
            fits = False
        if not fits:
            raise ValueError(f"cannot read as sums: {reprlib.repr(record)}")
        return moments


@dataclass(frozen=True)
class Sums:
    """The moments of each number over some users, and how many queries these have together."""

    queries: int
    numbers: Mapping[str, Moments]

    def merge(self, other: Sums) -> Sums:
        """The same of both parts of the users, who have the same numbers."""
        numbers = {name: moments.merge(other.numbers[name]) for name, moments in self.numbers.items()}
        return Sums(self.queries + other.queries, numbers)

    def record(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return {"queries": self.queries, "numbers": {name: moments.record() for name, moments in self.numbers.items()}}

    @classmethod
    def of_record(cls, value: Any) -> Sums:
        """Out of what :meth:`record` gave."""
        return cls(**record({"queries": count, "numbers": mapped(Moments.of_record)})(value))

    def fits(self, names: Sequence[str], pooled: Collection[str]) -> bool:
        """Whether these are the sums of these metrics, some of them pooled, over that number of queries."""
        return list(self.numbers) == list(names) and all(
            moments.pooled == (name in pooled) and moments.users + moments.undefined <= self.queries
            for name, moments in self.numbers.items()
        )


def sum_up(names: Sequence[str], values: Floats, *denominators: Floats) -> dict[str, Moments]:
    """The moments of numbers, one in each column; pooled where there are ``denominators``.

    NaN is undefined; so is a pair that :func:`divides` does not count.
    """
    sides = [side.T for side in (values, *denominators)]  # mostly, a number's values lie together
    defined = ~np.isnan(sides[0])
    for side in sides[1:]:
        defined &= divides(side)
    if not defined.all():
        sides = [np.where(defined, side, 0.0) for side in sides]
    pairs = list(itertools.combinations_with_replacement(range(len(sides)), 2))
    sums = [_exact(side) for side in sides]
    products = [_exact(sides[one], sides[other]) for one, other in pairs]
    users = np.count_nonzero(defined, axis=1).tolist()
    return {
        name: Moments(here, values.shape[0] - here, tuple(of_sums), tuple(of_products))
        for name, here, of_sums, of_products in zip(
            names, users, zip(*sums, strict=True), zip(*products, strict=True), strict=True
        )
    }


def means(columns: Floats) -> list[float]:
    """The mean of each row's values, none of which is NaN, as :attr:`Moments.mean` has it; there is at least one."""
    return [quotient(total, columns.shape[1] << EXACT_POWER) for total in _exact(columns)]


def total(values: Floats) -> int:
    """The exact sum of the values, none of which is NaN."""
    return _exact(values[None])[0]


def quotient(numerator: int, denominator: int) -> float:
    """The ratio of two sums, correctly rounded; NaN where there is nothing to divide by."""
    return numerator / denominator if denominator else math.nan


def _exact(values: Floats, others: Floats | None = None) -> list[int]:
    try:
        return exact_sums(values, others)
    except OverflowError:
        raise InputError(
            "a value is infinite, so the mean is undefined. Are the grades too large for 2^grade?"
        ) from None


def divides(denominator: Floats) -> Bools:
    """Which users count in a pooled metric: those who add to the denominator. The others are undefined.

    A user with nothing to divide by (no pair in AUC) changes neither sum. If such users counted, they would add degrees
    of freedom to intervals and tests without adding any data.
    """
    return denominator > 0


def digits_of(values: Floats) -> Iterator[tuple[int, Floats]]:
    """The values to the base 2^20, the highest digit first: each power of 2, and the whole numbers that stand there."""
    rest = values.copy()
    if np.isinf(rest).any():
        raise InputError("a value is infinite, so the mean is undefined. Are the grades too large for 2^grade?")
    while (top := float(max(rest.max(initial=0.0), -rest.min(initial=0.0)))) > 0:
        power = (math.frexp(top)[1] - 1) // BITS_PER_DIGIT * BITS_PER_DIGIT
        digit = np.trunc(times_power(rest, -power))
        rest -= times_power(digit, power)  # exact: what is left are the lower bits
        yield power, digit


def times_power(values: Floats, power: int) -> Floats:
    """The values times a power of 2."""
    return values * 2.0**power if abs(power) < EXACT_FLOAT_POWERS else np.ldexp(values, power)


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(here + there for here, there in zip(one, other, strict=True))


def _root(numerator: int, denominator: int) -> float:
    """The square root of a ratio, also of one that is too large or too small for a float."""
    if numerator < 0:
        raise ValueError("a negative square")
    if not numerator:
        return 0.0
    half = (numerator.bit_length() - denominator.bit_length()) // 2
    above, below = (numerator, denominator << 2 * half) if half > 0 else (numerator << -2 * half, denominator)
    return math.ldexp(math.sqrt(above / below), half)


def _written(total: int) -> str:
    """An exact sum as text: an integer in hexadecimal digits, over a power of 2."""
    even = min((total & -total).bit_length() - 1, EXACT_POWER) if total else EXACT_POWER
    return f"{total >> even:x}/{EXACT_POWER - even}"


def _read(written: Any) -> int:
    parsed = _SUM.fullmatch(text(written))
    if not parsed or int(parsed[2]) > EXACT_POWER:
        raise ValueError(f"cannot read {reprlib.repr(written)} as a sum")
    return int(parsed[1], 16) << (EXACT_POWER - int(parsed[2]))
