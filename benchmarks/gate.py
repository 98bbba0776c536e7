"""How often the gate cries wolf, and how often it finds a loss; prints the tables of docs/ci-gate.md.

Changes are drawn from the users' differences of real pairs of recommenders on MovieLens-100k, which ``--record`` has
written to ``gate_differences.csv``: from 21 to 99 % of the users do not differ at all.

    python benchmarks/gate.py
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import polars as pl
from compare_null import p_values
from scipy import optimize, sparse, special

import atkay
from atkay.comparison.looks import p_of_t
from atkay.comparison.power import chance, detectable
from atkay.comparison.verdict import LEVEL
from atkay.core.types import Bools, Floats, Ints

DIFFERENCES = Path(__file__).parent / "gate_differences.csv"
USERS = (25, 50, 100, 200, 500)
CHANGES, PERMUTATIONS, CASES_AT_ONCE = 10_000, 999, 250
TOLERANCE = 0.02
POWERS, LOSSES, FEWEST_THAT_DIFFER = (0.5, 0.8, 0.9), 1_000, 10
LOOKS, SERIES, USERS_PER_LOOK = 365, 1_000, 25


def tilted(differences: Floats, tilt: float) -> Floats:
    """Weights under which smaller differences are more likely; no difference is changed, so as many stay 0."""
    exponent = -tilt * differences / np.abs(differences).max()
    weight = np.exp(exponent - exponent.max())
    return np.asarray(weight / weight.sum())


def moments(differences: Floats, weight: Floats) -> tuple[float, float]:
    """The mean and the SD under these weights."""
    mean = float(weight @ differences)
    return mean, math.sqrt(float(weight @ (differences - mean) ** 2))


def harmless(differences: Floats) -> Floats:
    """The weights under which the mean is 0."""
    tilt = optimize.brentq(lambda tilt: moments(differences, tilted(differences, tilt))[0], -200, 200)
    return tilted(differences, float(tilt))


def worse(changes: Floats, min_effect: float | None = None) -> Bools:
    """Which changes the gate calls worse; cases x users."""
    found: Bools = np.zeros(len(changes), bool)
    n = changes.shape[1]
    for begin in range(0, len(changes), CASES_AT_ONCE):
        cases = changes[begin : begin + CASES_AT_ONCE]
        mean, error = cases.mean(axis=1), cases.std(axis=1, ddof=1) / math.sqrt(n)
        p = np.fmax(p_values("t", cases), p_values("permutation", cases, PERMUTATIONS)) / 2
        inside = mean - special.stdtrit(n - 1, 1 - LEVEL / 2) * error > -(min_effect or math.inf)
        found[begin : begin + CASES_AT_ONCE] = (mean < 0) & (p < LEVEL) & (~inside if min_effect else True)
    return found


def swapped(rng: np.random.Generator, changes: Floats) -> Floats:
    """For each user it is drawn which of the two runs is the new one."""
    signs: Floats = rng.choice([-1.0, 1.0], changes.shape)
    return changes * signs


def alarms(pairs: dict[str, Floats]) -> None:
    """False alarms of harmless changes, by users; of skewed ones also those of the worst pair."""
    print(f"\n| users | gate | gate, skewed changes | worst pair | mean below -{TOLERANCE} | worst pair |")
    print(f"| ---: |{' ---: |' * 5}")
    cases = CHANGES // len(pairs) // 2 * 2
    total = []
    for n in USERS:
        rng, rows = np.random.default_rng(n), []
        for differences in pairs.values():
            fair = swapped(rng, rng.choice(differences, (cases, n)))
            half = rng.choice(differences, (2, cases // 2, n), p=harmless(differences))
            skewed = np.concatenate([half[0], -half[1]])  # from the first run to the second, and back
            rows.append((worse(fair).mean(), worse(skewed).mean(), (fair.mean(axis=1) < -TOLERANCE).mean()))
        total.append(np.mean(rows, axis=0))
        (gate, skewed_share, below), (_, worst, most) = total[-1], np.max(rows, axis=0)
        print(f"| {n} | {' | '.join(map(percent, (gate, skewed_share, worst, below, most)))} |", flush=True)
    shares = ", ".join(map(percent, np.mean(total, axis=0)))
    print(f"{cases * len(pairs):,} changes of each kind and number of users; gate, skewed, tolerance: {shares}")


def found_losses(pairs: dict[str, Floats]) -> None:
    """How often a loss of min_effect, beside harmless changes, is found: in points more than power() announces."""
    print(f"\n| users | {' | '.join(f'power {power}: mean, least, most, pairs' for power in POWERS)} |")
    print(f"| ---: |{' ---: |' * len(POWERS)}")
    for n in USERS:
        cells = []
        for power in POWERS:
            rng, points = np.random.default_rng(n), []
            for differences in pairs.values():
                if n * (differences != 0).mean() < FEWEST_THAT_DIFFER:
                    continue
                deviation = math.sqrt(float((differences**2).mean()))
                min_effect = detectable(n, power, 2 * LEVEL) * deviation
                announced = min(chance(min_effect / deviation, n, 2 * LEVEL), 1 - LEVEL / 2)
                changes = swapped(rng, rng.choice(differences, (LOSSES, n))) - min_effect
                points.append(100 * (worse(changes, min_effect).mean() - announced))
            cells.append(f"{np.mean(points):+.1f}, {min(points):+.1f}, {max(points):+.1f}, {len(points)}")
        print(f"| {n} | {' | '.join(cells)} |", flush=True)


def series(pairs: dict[str, Floats]) -> None:
    """How many series of daily looks ever alarm."""
    print("\n| looks | a t-test every day | worst pair | confidence sequence | worst pair |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    users = np.arange(1, LOOKS + 1) * USERS_PER_LOOK
    rows = []
    for differences in pairs.values():
        rng = np.random.default_rng(7)
        changes = swapped(rng, rng.choice(differences, (SERIES // 5, LOOKS * USERS_PER_LOOK)))
        by_look = changes.reshape(len(changes), LOOKS, -1)
        total, squares = by_look.sum(axis=2).cumsum(axis=1), (by_look**2).sum(axis=2).cumsum(axis=1)
        variance = np.maximum((squares - total**2 / users) / (users - 1), 1e-12)
        loss = -total / np.sqrt(users * variance)
        daily = special.stdtr(users - 1, -loss) < LEVEL
        rows.append((daily.any(axis=1).mean(), (p_of_t(loss, users) < LEVEL).any(axis=1).mean()))
    (daily_share, sequence), (most_daily, most) = np.mean(rows, axis=0), np.max(rows, axis=0)
    print(f"| {LOOKS} | {' | '.join(map(percent, (daily_share, most_daily, sequence, most)))} |")


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def record(wheel: Path) -> None:
    """Recommend films by popularity and by neighbours of three kinds, and write the users' differences."""
    import sys

    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    import movielens

    log = movielens.load(wheel)
    user, item = (log[name].rank("dense").cast(pl.Int64).to_numpy() - 1 for name in ("user_id", "item_id"))
    shape = user.max() + 1, item.max() + 1
    order = np.lexsort((item, log["timestamp"].to_numpy(), user))
    last = np.zeros(len(log), bool)
    last[order[np.append(np.flatnonzero(np.diff(user[order])), len(log) - 1)]] = True
    tenth = np.random.default_rng(7).random(len(log)) < 0.1
    columns = {}
    for task, held in {"next": last, "tenth": tenth}.items():
        seen = sparse.csr_array((np.ones((~held).sum()), (user[~held], item[~held])), shape=shape)
        runs = {"popular": np.ones(shape) * seen.sum(axis=0)}
        together, fans = (seen.T @ seen).toarray(), np.maximum(seen.sum(axis=0), 1)
        for name, power, shrink in (("cosine", 0.5, 0), ("shrunk", 0.5, 20), ("asymmetric", 0.6, 0)):
            similar = together / (fans[:, None] ** power * fans ** (1 - power) + shrink)
            np.fill_diagonal(similar, 0)
            runs[name] = seen @ similar
        truth = pl.DataFrame({"user": user[held], "item": item[held]})
        values = {name: _values(np.where(seen.toarray() > 0, -np.inf, score), truth) for name, score in runs.items()}
        for before, after in (("cosine", "shrunk"), ("cosine", "asymmetric"), ("popular", "cosine")):
            for metric in ("ndcg@10", "mrr@10", "recall@10"):
                columns[f"{task}: {before} to {after}, {metric}"] = values[after][metric] - values[before][metric]
    longest = max(map(len, columns.values()))
    frame = pl.DataFrame({name: each.extend_constant(None, longest - len(each)) for name, each in columns.items()})
    frame.with_columns(pl.all().round(4)).write_csv(DIFFERENCES)


def _values(scores: Floats, truth: pl.DataFrame) -> pl.DataFrame:
    top: Ints = np.argsort(-scores, axis=1, kind="stable")[:, :10]
    users = np.repeat(np.arange(len(top)), 10)
    recs = pl.DataFrame({"user": users, "item": top.ravel(), "rank": np.tile(np.arange(1, 11), len(top))})
    return atkay.evaluate(recs, truth, "ndcg@10,mrr@10,recall@10").per_query.sort("user")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", type=Path, metavar="WHEEL", help="write the differences; see examples/movielens.py")
    chosen = parser.parse_args()
    if chosen.record:
        record(chosen.record)
    table = pl.read_csv(DIFFERENCES)
    pairs = {name: table[name].drop_nulls().to_numpy() for name in table.columns}
    alarms(pairs)
    found_losses(pairs)
    series(pairs)


if __name__ == "__main__":
    main()
