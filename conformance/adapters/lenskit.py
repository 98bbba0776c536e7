"""LensKit: collections of item lists. Every item of a test list is relevant; nDCG and DCG may read a gain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from entries import CUTOFFS, Data, Entry, grouped
from lenskit.data import ItemList, ItemListCollection
from lenskit.metrics import RunAnalysis, ranking

KINDS = ("Precision", "Recall", "Hit", "AveragePrecision", "RecipRank", "NDCG", "DCG", "RBP")
CALLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    *((name, "", {}) for name in KINDS),
    *((name, "weight=LogRankWeight(offset=1)", {"weight": "LogRankWeight(offset=1)"}) for name in ("NDCG", "DCG")),
    *((name, "gain='rating'", {"gain": "rating"}) for name in ("NDCG", "DCG")),
    *(
        (name, "gain='rating', weight=LogRankWeight(offset=1)", {"gain": "rating", "weight": "LogRankWeight(offset=1)"})
        for name in ("NDCG", "DCG")
    ),
    ("RBP", "patience=0.5", {"patience": 0.5}),
    ("RBP", "normalize=True", {"normalize": True}),
)
INPUTS = {
    "recs": "an ordered item list for each user: recs.csv by descending score, equal scores in file order",
    "test": "a list for each user with a field 'rating': the rows of truth.csv that the option 'truth' names",
}


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    names = (*KINDS, "LogRankWeight")
    lists = {user: ItemList(item_ids=items, ordered=True) for user, items in data.lists.items()}
    recs = ItemListCollection.from_dict(lists, "user_id")
    return {name: getattr(ranking, name) for name in names} | {"RunAnalysis": RunAnalysis, "recs": recs}, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    for rows, which in data.interactions():
        lists = {
            user: ItemList(item_ids=[item for item, _ in row], rating=[grade for _, grade in row])
            for user, row in grouped(rows).items()
        }
        scope = {"test": ItemListCollection.from_dict(lists, "user_id")}
        for name, given, options in CALLS:
            for k in (None, *CUTOFFS):
                metric = f"{name}({', '.join(part for part in (f'n={k}' if k else '', given) if part)})"
                measured = f"RunAnalysis({metric}).measure(recs, test)"
                each = f"{measured}.list_metrics(fill_missing=False).iloc[:, 0].to_dict()"
                # The one row of the summary; a user without a value counts as 0 there.
                yield Entry(name, f"{measured}.list_summary()['mean'].iloc[0]", k, options | which, each, scope)
