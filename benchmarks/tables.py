"""How often `check` flags tables of metrics: honest ones, and the same with one digit changed.

    python benchmarks/tables.py                # 100,000 tables
    python benchmarks/tables.py --tables 2000 --jobs 2

An honest table is the means of random users of one data set, computed by a dialect of every library, rounded as it is
printed. None of them may be flagged. Then a digit of a number is replaced by another one. For columns of multiples,
such as hit, arithmetic says how often that is noticed: the share of printable numbers near it that are not attainable.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import reduce
from math import ceil, floor
from typing import Any

import numpy as np

import atkay
from atkay.core.threads import cores

CUTOFFS = (1, 2, 3, 5, 10, 20)
FAMILIES = ("hit", "precision", "recall", "f1", "map", "mrr", "ndcg")
POOL = 4_000
ANY_HIT = (None, "rectools", "recbole")
"""Dialects in which hit is 1 for users with a hit."""


def pool(dialect: str | None, relevant: str, rng: np.random.Generator) -> tuple[list[str], np.ndarray[Any, Any]]:
    """The values of users under a dialect: the columns' names, and a row for each user."""
    users = range(POOL)
    recs = {u: rng.permutation(60)[: 20 if u % 4 else int(rng.integers(1, 21))].tolist() for u in users}
    good = rng.random(POOL)
    truth = {}
    for u in users:
        count = 1 if relevant == "one" else int(rng.integers(1, 30))
        from_list = [item for item in recs[u] if rng.random() < good[u] ** 2]
        others = [item for item in range(60) if item not in recs[u]]
        truth[u] = list(dict.fromkeys([*from_list, *rng.permutation(others).tolist()]))[:count]
    known = atkay.list_dialects()[dialect] if dialect else None
    specs = []
    for name in FAMILIES if known is None else [each for each in FAMILIES if each in known.words]:
        cuts = known is None or name not in known.uncut
        specs += [f"{name}@{k}" for k in CUTOFFS] if cuts else [name]
    columns, names = [], []
    for spec in specs:
        try:
            result = atkay.evaluate(recs, truth, spec, dialect=dialect)
        except atkay.errors.AtkayError:
            continue
        values = result.per_query[next(iter(result))].to_numpy()
        if len(values) == POOL and not np.isnan(values).any():
            names.append(spec)
            columns.append(values)
    return names, np.stack(columns, axis=1) if columns else np.empty((POOL, 0))


def changed(text: str, rng: np.random.Generator) -> str:
    """The number with one digit behind the point replaced by another one."""
    at = int(rng.integers(text.index(".") + 1, len(text)))
    other = str((int(text[at]) + int(rng.integers(1, 10))) % 10)
    return text[:at] + other + text[at + 1 :]


def noticed(text: str, steps: int) -> float:
    """By arithmetic, how often a replaced digit makes a number that is no multiple of 1/steps, or is above 1."""
    point, seen = text.index("."), []
    for at in range(point + 1, len(text)):
        for digit in "0123456789":
            if digit != text[at]:
                value, half = (
                    Fraction(text[:at] + digit + text[at + 1 :]),
                    Fraction(1, 2 * 10 ** (len(text) - point - 1)),
                )
                slack = value * Fraction(1, 10**7)
                low, high = (value - half - slack) * steps, (value + half + slack) * steps
                seen.append(floor(high) < ceil(low) or value - half > 1)
    return float(np.mean(seen))


@dataclass
class Tally:
    """What came of some tables."""

    tables: int = 0
    numbers: int = 0
    flagged: int = 0
    proofs: Counter[str] = field(default_factory=Counter)
    expected: list[float] = field(default_factory=list)
    noticed: list[bool] = field(default_factory=list)

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


def tally(seed: int, tables: int) -> Tally:
    """Make and check honest tables, and change digits."""
    warnings.simplefilter("ignore")
    rng, result = np.random.default_rng(seed), Tally(tables)
    pools = {}
    for dialect in (None, *atkay.list_dialects()):
        for relevant in ("one", "many"):
            names, values = pool(dialect, relevant, rng)
            if names:
                pools[dialect, relevant] = names, values
    keys = list(pools)
    for table in range(tables):
        dialect, relevant = keys[table % len(keys)]
        names, values = pools[dialect, relevant]
        users, digits = int(50 * 200 ** rng.random()), int(rng.integers(3, 7))
        chosen = sorted(rng.choice(len(names), min(len(names), 6), replace=False)) if table % 2 else range(len(names))
        likely = rng.beta(0.3 + 3 * rng.random(), 0.3 + 3 * rng.random(), POOL) if table % 3 else np.ones(POOL)
        drawn = rng.choice(POOL, users, p=likely / likely.sum())
        texts = [f"{values[drawn, at].mean():.{digits}f}" for at in chosen]
        given = {"users": users, "relevant": relevant, "dialect": dialect}
        check = atkay.check(f"model,{','.join(names[at] for at in chosen)}\nours,{','.join(texts)}\n", **given)
        result.numbers += check.checked
        result.flagged += bool(check.flags)
        result.proofs.update(f"{dialect}, {relevant}: {flag}" for flag in check.flags)
        hits = [at for at, name in enumerate(names) if name.startswith("hit@")]
        if hits and dialect in ANY_HIT:  # one column, of multiples of 1/users
            text = f"{values[drawn, hits[-1]].mean():.{digits}f}"
            other = f"model,{names[hits[-1]]}\nours,{changed(text, rng)}\n"
            result.expected.append(noticed(text, users))
            result.noticed.append(not atkay.check(other, **given))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=cores())
    given = parser.parse_args()
    os.environ |= {"ATKAY_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    with ProcessPoolExecutor(given.jobs, multiprocessing.get_context("spawn")) as jobs:
        each = jobs.map(tally, range(given.jobs), [given.tables // given.jobs] * given.jobs)
        result = reduce(Tally.__add__, each)
    print(f"{result.tables:,} honest tables, {result.numbers:,} numbers: {result.flagged} flagged")
    rates = f"{100 * np.mean(result.noticed):.1f} % flagged, {100 * np.mean(result.expected):.1f} % by arithmetic"
    print(f"{len(result.noticed):,} numbers with a digit changed: {rates}")
    for proof, times in result.proofs.most_common(15):
        print(times, proof)


if __name__ == "__main__":
    main()
