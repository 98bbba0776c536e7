"""Each number in words and as a formula: what is printed is what is computed."""

from __future__ import annotations

import pytest

import atkay

AP = "(1/l1 + 2/l2 + ... + h/lh)"


@pytest.mark.parametrize(
    ("spec", "formula", "words"),
    [
        ("precision@5", "h / 5", "relevant items in the top 5, divided by 5"),
        ("precision", "h / L", "relevant items in the whole list, divided by the length of the list"),
        ("precision(per=listed)@5", "h / L", "divided by the number of items listed there"),
        ("precision(per=capped)@5", "h / min(5, R)", "divided by the number of relevant items, at most 5"),
        ("precision(per=capped)", "h / R", "in the whole list, divided by the number of relevant items"),
        ("recall@5", "h / R", "relevant items in the top 5, divided by the number of relevant items"),
        ("recall(per=capped)@5", "h / min(5, R)", "divided by the number of relevant items, at most 5"),
        ("recall(per=capped)", "h / R", "in the whole list, divided by the number of relevant items"),
        ("hit@5", "[h > 0]", "1 where the top 5 holds a relevant item, else 0"),
        ("hit(count=share)@5", "h / L", "divided by the number of items listed there"),
        ("hit(count=number)@5", "h", "relevant items in the top 5"),
        ("f1@5", "2 h / (R + 5)", "harmonic mean of precision and recall in the top 5"),
        ("f1", "2 h / (R + L)", "in the whole list"),
        ("f1(beta=2)@5", "(1 + 2²) h / (2² R + 5)", "recall weighing 2² times as much"),
        ("map@5", f"{AP} / R", "sum of the precision at the rank of each relevant item in the top 5, divided by"),
        ("map(per=capped)@5", f"{AP} / min(5, R)", "divided by the number of relevant items, at most 5"),
        ("map(per=capped)", f"{AP} / R", "divided by the number of relevant items"),
        ("map(per=hits)@5", f"{AP} / h", "divided by the number of hits"),
        ("map(per=k)@5", f"{AP} / 5", "divided by 5"),
        ("map(per=k)", f"{AP} / L", "divided by the length of the list"),
        ("map(per=listed)@5", f"{AP} / min(R, L)", "at most the number of items listed"),
        ("mnap@5", f"{AP} / min(5, R)", "divided by the number of relevant items, at most 5"),
        ("mrr@5", "1 / rank", "1 / rank of the first relevant item in the top 5, 0 where there is none"),
        ("mrr(target=best)", "1 / rank", "1 / rank of the relevant item with the highest grade in the whole list"),
        ("r_precision", "h@R / R", "relevant items among the first R listed, divided by R"),
        ("dcg@5", "Σ (2^grade - 1) / log2(rank + 1)", "over the relevant items in the top 5"),
        ("dcg(gain=linear,discount=ln)@5", "Σ grade / ln(rank + 1)", "sum of grade / ln(rank + 1)"),
        ("dcg(gain=binary,discount=jk)@5", "Σ 1 / max(1, log2 rank)", "sum of 1 / max(1, log2 rank)"),
        ("ndcg@5", "DCG / IDCG, DCG = Σ (2^grade - 1) / log2(rank + 1)", "in the best order, cut at 5"),
        ("ndcg(ideal=full)@5", "DCG / IDCG, DCG = Σ (2^grade - 1) / log2(rank + 1)", "same sum for 5 items of grade 1"),
        ("ndcg(ideal=full)", "DCG / IDCG, DCG = Σ (2^grade - 1) / log2(rank + 1)", "as the list is long"),
        (
            "ndcg(ideal=listed)@5",
            "DCG / IDCG, DCG = Σ (2^grade - 1) / log2(rank + 1)",
            "the same list in its best order",
        ),
        ("ndcg(ideal=uncut)@5", "DCG / IDCG, DCG = Σ (2^grade - 1) / log2(rank + 1)", "in the best order, not cut"),
        ("ndcg(ideal=possible)@5", "DCG / IDCG, DCG = Σ (2^grade - 1) / log2(rank + 1)", "cut at 5 or at the length"),
        ("ndcg(ideal=possible)", "DCG / IDCG, DCG = Σ (2^grade - 1) / log2(rank + 1)", "cut at the length of the list"),
    ],
)
def test_definitions(spec: str, formula: str, words: str) -> None:
    found = atkay.parse(spec).define()
    assert found.formula == formula
    assert words in found.words


def test_tables_of_text() -> None:
    from atkay.text.grid import Grid

    grid = Grid(("name", "value"), [("a|b", "1"), ("50 %_x", "23")], right=("value",))
    assert grid.text().splitlines() == ["name    value", "─" * 13, "a|b         1", "50 %_x     23"]
    assert grid.markdown().splitlines() == [
        "| name   | value |",
        "| ------ | ----: |",
        "| a\\|b   |     1 |",
        "| 50 %_x |    23 |",
    ]
    assert r"50 \%\_x & 23 \\" in grid.latex()
    assert r"\begin{tabular}{lr}" in grid.latex()
    assert '<td style="text-align: right">23</td>' in grid.html()
