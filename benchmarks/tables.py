"""How often `check` flags tables of metrics: honest ones, and the same with one digit changed.

    python benchmarks/tables.py                # 100,000 tables
    python benchmarks/tables.py --tables 2000

An honest table is the means of random users of one data set, computed by a dialect of every library, rounded as it is
printed. None of them may be flagged. Then a digit of a number is replaced by another one. For columns of multiples,
such as hit, arithmetic says how often that is noticed: the share of printable numbers near it that are not attainable.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

import atkay

CUTOFFS = (1, 2, 3, 5, 10, 20)
FAMILIES = ("hit", "precision", "recall", "f1", "map", "mrr", "ndcg")
POOL = 4_000


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
    return names, np.stack(columns, axis=1)


def printed(value: float, digits: int) -> str:
    return f"{value:.{digits}f}"


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=100_000)
    count = parser.parse_args().tables
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(11)
    dialects = [None, *atkay.list_dialects()]
    pools = {}
    for dialect in dialects:
        for relevant in ("one", "many"):
            try:
                pools[dialect, relevant] = pool(dialect, relevant, rng)
            except (ValueError, atkay.errors.AtkayError) as error:
                print(f"{dialect}, {relevant}: {error}", file=sys.stderr)
    keys = list(pools)
    false, numbers, worst = 0, 0, Counter[str]()
    expected, seen = [], []
    for table in range(count):
        dialect, relevant = keys[table % len(keys)]
        names, values = pools[dialect, relevant]
        users, digits = int(50 * 200 ** rng.random()), int(rng.integers(3, 7))
        few = sorted(rng.choice(len(names), min(len(names), 6), replace=False)) if table % 2 else range(len(names))
        likely = rng.beta(0.3 + 3 * rng.random(), 0.3 + 3 * rng.random(), POOL) if table % 3 else np.ones(POOL)
        drawn = rng.choice(POOL, users, p=likely / likely.sum())
        texts = [printed(values[drawn, at].mean(), digits) for at in few]
        header = ",".join(["model", *(names[at] for at in few)])
        given = {"users": users, "relevant": relevant, "dialect": dialect}
        check = atkay.check(f"{header}\nours,{','.join(texts)}\n", **given)
        numbers += check.checked
        false += bool(check.flags)
        for flag in check.flags:
            worst[f"{dialect}, {relevant}: {flag}"] += 1
        hits = [at for at, name in enumerate(names) if name.startswith("hit@")]
        plain = dialect in (None, "rectools", "recbole")
        if hits and plain:  # one column, of multiples of 1/users
            text = printed(values[drawn, hits[-1]].mean(), digits)
            expected.append(noticed(text, users))
            seen.append(not atkay.check(f"model,{names[hits[-1]]}\nours,{changed(text, rng)}\n", **given))
    print(f"{count:,} honest tables, {numbers:,} numbers, {len(keys)} kinds: {false} flagged")
    rates = f"{100 * np.mean(seen):.1f} % flagged, {100 * np.mean(expected):.1f} % by arithmetic"
    print(f"{len(seen):,} numbers with a digit changed: {rates}")
    for what, times in worst.most_common(15):
        print(times, what)


if __name__ == "__main__":
    main()
