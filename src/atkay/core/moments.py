"""Sums: all that the mean of a number and its interval need, without a value per user. NumPy and nothing else.

The sums are exact: those of parts of the users add up to those of all of them, to the last bit the same in whatever
parts and order the users come. A value is written in digits to a large base, whose sums and products are whole numbers
that a float holds without rounding.
"""

from __future__ import annotations

import itertools
import math
import re
import reprlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from atkay.core.lists import ranges
from atkay.core.schema import count, listed, mapped, record, text
from atkay.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from atkay.core.types import Bools, Floats

BITS_PER_DIGIT = 20
"""The base in which sums are exact is 2 to this power."""

USERS_PER_BLOCK = 1 << 11
"""Users that are summed in one go. The products of 2^(53 - 2·20) pairs of digits add up to what a float holds; with
fewer, what lies in between stays in the cache."""

EXACT_POWERS = 1000
"""Powers of 2 up to this one are floats; beyond, a multiplication would round."""

FINEST_POWER = 2 * 1074
"""No square of a float is finer than this power of 1/2."""

_SUM = re.compile(r"(-?[0-9a-f]+)/([0-9]{1,4})")


@dataclass(frozen=True)
class Moments:
    """What is summed of one number: the ``users`` who have a value and the ``undefined`` rest, and exact sums.

    ``sums`` has the sum of the values and ``products`` that of their squares. Where users are pooled there are two
    values, a numerator a and a denominator b: ``sums`` of a and b, ``products`` of a², ab and b².
    """

    users: int
    undefined: int
    sums: tuple[Fraction, ...]
    products: tuple[Fraction, ...]

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
        numerator, denominator = self.quotient
        return float(numerator / denominator) if denominator else math.nan

    @property
    def quotient(self) -> tuple[Fraction, Fraction]:
        """What is divided by what."""
        return self.sums if len(self.sums) == 2 else (self.sums[0], Fraction(self.users))

    @property
    def variance(self) -> Fraction:
        """That of the values; where users are pooled, of the ratio's linear approximation (the delta method)."""
        (numerator, denominator), n = self.quotient, self.users
        if not self.pooled:
            return (self.products[0] - numerator**2 / n) / (n - 1)
        ratio = numerator / denominator
        squares, both, denominator_squares = self.products
        return (squares - 2 * ratio * both + ratio**2 * denominator_squares) * (n / denominator) ** 2 / (n - 1)

    @property
    def deviation(self) -> float:
        """The standard deviation; NaN where fewer than two users have a value, or there is no mean."""
        return math.nan if self.users < 2 or math.isnan(self.mean) else _root(self.variance)

    def record(self) -> list[Any]:
        """All of it, as JSON can hold it."""
        return [self.users, self.undefined, [*map(_written, self.sums)], [*map(_written, self.products)]]

    @classmethod
    def of_record(cls, record: Any) -> Moments:
        """Out of what :meth:`record` gave."""
        if type(record) is not list or len(record) != 4:
            raise ValueError(f"these are no sums: {reprlib.repr(record)}")
        users, undefined, (sums, products) = count(record[0]), count(record[1]), map(listed(_read), record[2:])
        moments = cls(users, undefined, sums, products)
        try:
            fits = (len(sums), len(products)) in ((1, 1), (2, 3)) and moments.deviation is not None
        except (ValueError, ArithmeticError):  # a negative square, or a mean that no float holds
            fits = False
        if not fits:
            raise ValueError(f"these are no sums: {reprlib.repr(record)}")
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
        """Whether these are the sums of these numbers, some of them pooled, over so many queries."""
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
    sums = [[Fraction()] * len(sides) for _ in names]
    products = [[Fraction()] * len(pairs) for _ in names]
    for first, last in ranges(values.shape[0], USERS_PER_BLOCK):
        written = [list(digits_of(side[:, first:last])) for side in sides]
        for at, digits in enumerate(written):
            _add(sums, at, [(power, digit.sum(axis=1)) for power, digit in digits])
        for at, (one, other) in enumerate(pairs):
            _add(products, at, _products(written[one], written[other], same=one == other))
    users = np.count_nonzero(defined, axis=1).tolist()
    return {
        name: Moments(here, values.shape[0] - here, tuple(first), tuple(second))
        for name, here, first, second in zip(names, users, sums, products, strict=True)
    }


def total(values: Floats) -> Fraction:
    """The exact sum of the values, none of which is NaN."""
    sums = [[Fraction()]]
    for first, last in ranges(len(values)):
        _add(sums, 0, [(power, digit.sum(axis=1)) for power, digit in digits_of(values[None, first:last])])
    return sums[0][0]


def divides(denominator: Floats) -> Bools:
    """Who counts in a pooled number: whoever adds to the denominator. The others are undefined.

    A user with nothing to divide by (no pair in AUC) changes neither sum. If such users counted, they would add degrees
    of freedom to intervals and tests without adding any data.
    """
    return denominator > 0


Digits = list[tuple[int, "Floats"]]
"""Powers of 2, and how many times each of them is taken."""


def digits_of(values: Floats) -> Iterator[tuple[int, Floats]]:
    """The values to the base 2^20, the highest digit first: each power of 2, and the whole numbers that stand there."""
    rest = values.copy()
    if np.isinf(rest).any():
        raise InputError("a value is infinite, so there is no mean. Are the grades too large for 2^grade?")
    while (top := float(max(rest.max(initial=0.0), -rest.min(initial=0.0)))) > 0:
        power = (math.frexp(top)[1] - 1) // BITS_PER_DIGIT * BITS_PER_DIGIT
        digit = np.trunc(times_power(rest, -power))
        rest -= times_power(digit, power)  # exact: what is left are the lower bits
        yield power, digit


def times_power(values: Floats, power: int) -> Floats:
    """The values times a power of 2."""
    return values * 2.0**power if abs(power) < EXACT_POWERS else np.ldexp(values, power)


def _products(one: Digits, other: Digits, *, same: bool) -> Digits:
    """The sums over users of the products of two numbers' digits; of a square the mixed ones stand twice in it."""
    sums = []
    for at, (power, digit) in enumerate(one):
        for other_at, (other_power, other_digit) in enumerate(other):
            if same and other_at < at:
                continue
            times = 2.0 if same and other_at > at else 1.0
            sums.append((power + other_power, times * np.einsum("ij,ij->i", digit, other_digit)))
    return sums


def _add(totals: list[list[Fraction]], at: int, digits: Digits) -> None:
    """Add digits to the totals of each number, in place."""
    if not digits:
        return
    least = min(power for power, _ in digits)
    whole = [0] * len(totals)
    for power, sums in digits:
        for number, digit in enumerate(sums.tolist()):
            whole[number] += int(digit) << (power - least)
    unit = Fraction(2) ** least
    for number, total in enumerate(whole):
        totals[number][at] += total * unit


def _added(one: tuple[Fraction, ...], other: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return tuple(here + there for here, there in zip(one, other, strict=True))


def _root(square: Fraction) -> float:
    """The square root, also of what is too large or too small for a float."""
    if not square:
        return 0.0
    half = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(square / Fraction(4) ** half), half)


def _written(sum: Fraction) -> str:
    """An exact sum as text: a whole number in hexadecimal digits, over a power of 2."""
    return f"{sum.numerator:x}/{sum.denominator.bit_length() - 1}"


def _read(written: Any) -> Fraction:
    parsed = _SUM.fullmatch(text(written))
    if not parsed or int(parsed[2]) > FINEST_POWER:
        raise ValueError(f"{reprlib.repr(written)} is no sum")
    return Fraction(int(parsed[1], 16), 1 << int(parsed[2]))
