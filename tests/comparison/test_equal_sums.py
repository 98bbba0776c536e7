"""Equal sums, equal differences and equal means are found as exact arithmetic finds them, however floats round."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import atkay
from atkay.comparison.bootstrap import Squares
from atkay.comparison.sheet import Paired
from atkay.comparison.tests import TESTS
from atkay.comparison.trial import Trial
from atkay.errors import NotMeanWarning
from atkay.text.progress import Steps

Column = list[Fraction]
MRR = atkay.parse("mrr")
CASES = 150


def p_value(test: str, *columns: Sequence[float], below: Any = None, permutations: int = 10_000) -> float:
    """Of the first two of some runs, each of which has a value per user."""
    values = np.array(columns, dtype=float).T
    paired = [Paired(MRR, values, np.ones(values.shape, bool), None if below is None else np.array(below, float).T)]
    pairs, steps = [(0, 1)], Steps("comparing", 1)
    return float(TESTS[test].p_values(Trial(paired, pairs, permutations, 7, (0,), steps))[0, 0])


def all_patterns(differences: Sequence[Fraction], patterns: Sequence[Sequence[int]] | None = None) -> tuple[int, int]:
    """How many patterns of signs reach the sum, and how many there are; added up in exact arithmetic."""
    moving = [each for each in differences if each]
    signs = patterns or list(itertools.product((1, -1), repeat=len(moving)))
    sums = [Fraction(sum(sign * each for sign, each in zip(pattern, moving, strict=True))) for pattern in signs]
    return sum(abs(each) >= abs(Fraction(sum(moving))) for each in sums), len(sums)


def tenths(rng: np.random.Generator, users: int) -> Column:
    """P@10."""
    return [Fraction(int(k), 10) for k in rng.integers(0, 11, users)]


def thirds_and_sevenths(rng: np.random.Generator, users: int) -> Column:
    """Recall, of three relevant items for some users and of seven for others."""
    return [Fraction(int(rng.integers(0, n + 1)), n) for n in (3, 7) * users][:users]


def counts(rng: np.random.Generator, users: int) -> Column:
    """The mean popularity of ten items: large values, of which differences are small."""
    return [Fraction(int(k), 10) for k in rng.integers(1_000_000, 1_000_011, users)]


def tiny(rng: np.random.Generator, users: int) -> Column:
    """Shares of a large catalogue."""
    return [Fraction(int(k), 3_000_000) for k in rng.integers(0, 5, users)]


KINDS = [tenths, thirds_and_sevenths, counts, tiny]


def test_ten_users() -> None:
    """Of 2^9 patterns 40 reach 9 tenths: 20 by the sum 9 or more, and 20 by -9 or less."""
    differences = [Fraction(k, 10) for k in (2, 2, 1, -2, 1, 2, 1, 1, 1, 0)]
    assert all_patterns(differences) == (40, 512)
    before = [Fraction(k, 10) for k in (1, 2, 3, 4, 5, 1, 2, 3, 4, 5)]
    after = [float(a + b) for a, b in zip(before, differences, strict=True)]
    assert p_value("permutation", [float(each) for each in before], after) == 40 / 512 == 0.078125


@pytest.mark.parametrize("kind", KINDS)
def test_exact_permutations(kind: Callable[[np.random.Generator, int], Column]) -> None:
    rng = np.random.default_rng(1)
    for _ in range(CASES):
        users = int(rng.integers(1, 11))
        first, second = kind(rng, users), kind(rng, users)
        reached, patterns = all_patterns([b - a for a, b in zip(first, second, strict=True)])
        assert p_value("permutation", list(map(float, first)), list(map(float, second))) == reached / patterns


def test_exact_permutations_of_irrational_values() -> None:
    """nDCG of two relevant items: users who gain as much as others lose, by way of other values.

    A value is (x + y) / ideal, with x and y of 1, 1 / log2(3), 1/2 and 0. These are independent over the rational
    numbers, so sums are equal where the coefficients of 1 (and 1/2) and of 1 / log2(3) are.
    """
    rng, log = np.random.default_rng(2), 1 / math.log2(3)
    ideal = 1 + log
    discounts = [(Fraction(1), 0), (Fraction(0), 1), (Fraction(1, 2), 0), (Fraction(0), 0)]
    for _ in range(CASES):
        users = int(rng.integers(2, 10))
        drawn = rng.integers(0, 4, (2, users, 2))
        values = [
            [sum(float(discounts[at][0]) + discounts[at][1] * log for at in user) / ideal for user in run]
            for run in drawn
        ]
        exact = [
            [(sum(discounts[at][0] for at in user), sum(discounts[at][1] for at in user)) for user in run]
            for run in drawn
        ]
        moving = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(*exact, strict=True) if a != b]
        sums = [
            (
                sum(sign * each[0] for sign, each in zip(signs, moving, strict=True)),
                sum(sign * each[1] for sign, each in zip(signs, moving, strict=True)),
            )
            for signs in itertools.product((1, -1), repeat=len(moving))
        ]
        at_hand = sums[0]

        def reaches(found: Any, at_hand: Any = at_hand) -> bool:
            same = found in (at_hand, (-at_hand[0], -at_hand[1]))
            return same or abs(float(found[0]) + found[1] * log) > abs(float(at_hand[0]) + at_hand[1] * log)

        assert p_value("permutation", *values) == sum(map(reaches, sums)) / len(sums)


def test_exact_permutations_of_pooled_numbers() -> None:
    """The linear approximation r + (numerator - r · denominator) · n / sum of denominators, in exact arithmetic."""
    rng = np.random.default_rng(3)
    for _ in range(CASES):
        users = int(rng.integers(2, 9))
        below = rng.integers(1, 8, users)
        above = rng.integers(0, below + 1, (2, users))
        scores = []
        for run in above:
            ratio, unit = Fraction(int(run.sum()), int(below.sum())), Fraction(users, int(below.sum()))
            scores.append([ratio + (int(a) - ratio * int(b)) * unit for a, b in zip(run, below, strict=True)])
        reached, patterns = all_patterns([b - a for a, b in zip(*scores, strict=True)])
        assert p_value("permutation", *above.tolist(), below=[below, below]) == reached / patterns


class Counting:
    """Random bits that go through the numbers 0, 1, 2, ..., so that every pattern comes once."""

    def __init__(self) -> None:
        self.bit_generator = self
        self.next = 0

    def random_raw(self, size: int) -> np.ndarray[Any, Any]:
        self.next += size
        return np.arange(self.next - size, self.next, dtype=np.uint64)


@pytest.mark.parametrize("kind", KINDS)
def test_sampled_permutations(
    kind: Callable[[np.random.Generator, int], Column], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One pattern less than all: these are drawn, and b of B give (b + 1) / (B + 1)."""
    rng = np.random.default_rng(4)
    for _ in range(CASES):
        first, second = kind(rng, 8), kind(rng, 8)
        differences = [b - a for a, b in zip(first, second, strict=True)]
        if not all(differences):
            continue  # fewer users move, and all their patterns are gone through
        bits = Counting()
        monkeypatch.setattr(Trial, "random", lambda *_, bits=bits: bits)
        patterns = [[1 if (n >> (7 - at)) & 1 else -1 for at in range(8)] for n in range(255)]
        reached, _ = all_patterns(differences, patterns)
        found = p_value("permutation", list(map(float, first)), list(map(float, second)), permutations=255)
        assert found == (reached + 1) / 256


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("unit", [10, 3, 7])
def test_the_unit_of_the_values_changes_no_p_value(test: str, unit: int) -> None:
    """Whole numbers are added up and compared without rounding; tenths, thirds and sevenths are not."""
    rng = np.random.default_rng(5)
    for _ in range(3 if test in ("tukey", "wilcoxon") else 40):  # SciPy takes its time for these
        users = int(rng.integers(6, 20))
        whole = rng.integers(0, unit + 1, (3, users)).astype(float)
        exact, found = (p_value(test, *values, permutations=200) for values in (whole, whole / unit))
        assert found == pytest.approx(exact, rel=1e-9, nan_ok=True)


def test_equal_differences_share_their_rank() -> None:
    """Wilcoxon's ranks, of differences in whole tenths: 0.7 - 0.5 and 0.3 - 0.1 are equal."""
    rng = np.random.default_rng(6)
    for _ in range(CASES):
        whole = rng.integers(0, 11, (2, 20))
        moved = np.diff(whole, axis=0)[0]
        expected = stats.wilcoxon(moved[moved != 0]).pvalue
        assert p_value("wilcoxon", *(whole / 10).tolist()) == pytest.approx(expected, rel=1e-12)


def test_equal_differences_share_their_rank_wherever_they_lie() -> None:
    """Differences that are equal up to their last bits, of 100,000 sizes."""
    rng = np.random.default_rng(7)
    first, gain = rng.random(200_000), rng.random(100_000) * 0.1
    values = np.stack([first, first + np.concatenate([gain, -gain])])
    # Every size occurs twice, once for and once against: the rank sums are equal, and p is 1.
    assert p_value("wilcoxon", *values) == 1.0


def test_means_that_are_equal_have_no_difference() -> None:
    """0.6 to 0.7 and 0.4 to 0.3 are a tenth up and a tenth down; as floats, a little less and a little more."""
    truth = {user: list("abcdefghij") for user in "xy"}
    before, after = ({"x": x, "y": y} for x, y in ((6, 4), (7, 3)))
    runs = {
        name: {user: list("abcdefghij")[:hits] + list("0123456789")[hits:] for user, hits in of.items()}
        for name, of in (("before", before), ("after", after))
    }
    (found,) = atkay.compare(runs, truth, "precision@10")
    assert 0.7 - 0.6 + (0.3 - 0.4) != 0
    assert (found.difference, found.wins, found.ties, found.losses) == (0.0, 1, 0, 1)
    assert found.verdict.startswith("no difference")


def test_bca_counts_samples_with_the_mean_at_hand_half() -> None:
    """Whole numbers and tenths of them: the same interval, a tenth as wide."""
    rng = np.random.default_rng(8)
    for _ in range(40):
        values = rng.integers(0, 11, (2, 12)).astype(float)
        ends = [
            Trial([Paired(MRR, each, np.ones(each.shape, bool))], [(0, 1)], 200, 7, (0,), Steps("comparing", 1)).drawn
            for each in (values.T, values.T / 10)
        ]
        whole, tenth = (np.array(each.intervals("bca")) for each in ends)
        assert tenth * 10 == pytest.approx(whole, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("users", [1, 2, 12, 300])
def test_bounds_of_squares_change_no_p_value(users: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Squares are added up as small integers, and exactly where these leave a t-value open: here everywhere."""
    rng = np.random.default_rng(9)
    values = rng.integers(0, 11, (users, 3)) / 10
    values[: users // 2, 2] = np.nan
    paired = [
        Paired(MRR, each, ~np.isnan(each)) for each in (values, values[:, ::-1], values[:, :2].repeat(2, 1)[:, :3])
    ]

    def p_values() -> Any:
        pairs, steps = [(0, 1), (0, 2), (1, 2)], Steps("comparing", 1)
        return TESTS["bootstrap"].p_values(Trial(paired, pairs, 500, 7, (0,), steps)).tolist()

    by_bounds = p_values()
    monkeypatch.setattr(
        Squares,
        "bounds",
        lambda self, sums, n: (0 * sums[:, : len(self.unit)], 1e300 + 0.0 * sums[:, : len(self.unit)]),
    )
    assert repr(p_values()) == repr(by_bounds)


LARGE = 2.0**45 - 1
"""The gain of grade 45: 2^-40 of it is 32, more than anybody else's values."""


def test_one_large_value_hides_no_difference() -> None:
    """A user of grade 45 has the same list twice; nineteen users of grades 2 and 1 have theirs swapped.

    Gains are 3 and 1, so each of the nineteen goes from 3 + 1/log2(3) to 1 + 3/log2(3): 2/log2(3) - 2 = -0.738. Their
    mean with the user of grade 45 is 19/20 of it. All nineteen lose: the sign test and all sign patterns give
    p = 2 / 2^19; Wilcoxon's, with all ranks equal, z = (0 - 95) / sqrt(19 · 10² / 4) = -sqrt(19).
    """
    truth = {0: {"a": 45, "b": 1}} | {user: {"a": 2, "b": 1} for user in range(1, 20)}
    before = {user: ["a", "b"] for user in range(20)}
    after = {0: ["a", "b"]} | {user: ["b", "a"] for user in range(1, 20)}
    tests: Any = ["t", "permutation", "sign", "wilcoxon", "bootstrap", "tukey", "randomised_tukey"]
    runs = {"before": before, "after": after, "same": before}
    with pytest.warns(NotMeanWarning):
        lost, same = atkay.compare(runs, truth, "dcg@2", baseline="before", test=tests)
    exact, _ = atkay.compare(runs, truth, "dcg@2", baseline="before", test="permutation", permutations=1 << 19)
    step = 2 / math.log2(3) - 2
    assert lost.difference == pytest.approx(0.95 * step, rel=1e-12)
    assert (lost.wins, lost.ties, lost.losses) == (0, 1, 19)
    assert lost.p["sign"] == pytest.approx(2 / 2**19, rel=1e-12)
    assert exact.p["permutation"] == 2 / 2**19
    assert lost.p["wilcoxon"] == pytest.approx(2 * stats.norm.sf(math.sqrt(19)), rel=1e-12)
    # SD: of 19 at step and one at 0 it is |step| · sqrt(19/20 · 1/20 · 20/19) = |step| / sqrt(20); t = 0.95 · 20 = 19.
    assert lost.deviation == pytest.approx(abs(step) / math.sqrt(20), rel=1e-12)
    assert lost.p["t"] == pytest.approx(2 * stats.t.sf(19, 19), rel=1e-9)
    # A sample without the user of grade 45 has no spread, and counts against the difference.
    assert lost.p["bootstrap"] == pytest.approx(0.95**20, abs=0.02)
    assert max(lost.p["tukey"], lost.p["randomised_tukey"]) < 0.001
    assert (same.difference, same.ties, {*same.p.values()}) == (0.0, 20, {1.0})


def test_one_large_value_makes_no_means_equal() -> None:
    """The means are about 2^45 / 20 and differ by 0.7: less than 2^-40 of them, and for nineteen users of twenty."""
    truth = {0: {"a": 45, "b": 1}} | {user: {"a": 2, "b": 1} for user in range(1, 20)}
    before = {user: ["a", "b"] for user in range(20)}
    after = {0: ["a", "b"]} | {user: ["b", "a"] for user in range(1, 20)}
    found = atkay.compare({"before": before, "same": before, "after": after}, truth, "dcg@2")
    assert found.leaders("dcg@2") == ["before", "same"]


def test_one_large_value_hides_no_difference_of_pooled_numbers() -> None:
    """Twenty users with a denominator of 1, and one whose numerator and denominator are 2^41.

    With n = 21 and D = 2^41 + 20, the ratio goes from 1 to 1 - 20 / D, and (numerator - r · denominator) · n / D of
    each of the twenty from 0 to almost -21 / D: they lose 41 / D.
    """
    size = 2.0**41
    before, after = [size, *[1.0] * 20], [size, *[0.0] * 20]
    below = [size, *[1.0] * 20]
    paired = Paired(MRR, np.array([before, after]).T, np.ones((21, 2), bool), np.array([below, below]).T)
    found = paired.difference((0, 1)).values
    assert found[1:] == pytest.approx([-41 / (size + 20)] * 20, rel=1e-4)


@pytest.mark.parametrize("test", ["t", "permutation", "sign", "wilcoxon", "bootstrap", "tukey", "randomised_tukey"])
def test_a_user_without_a_difference_changes_no_tie(test: str) -> None:
    """Tenths as whole numbers and as floats, beside a user with the same large value in both runs."""
    rng = np.random.default_rng(9)
    for _ in range(3 if test in ("tukey", "wilcoxon") else 20):
        whole = rng.integers(0, 11, (3, 12)).astype(float)
        exact, found = (
            p_value(test, *np.column_stack([values, [large] * 3]), permutations=200)
            for values, large in ((whole, 1.0), (whole / 10, LARGE))
        )
        assert found == pytest.approx(exact, rel=1e-9, nan_ok=True)
