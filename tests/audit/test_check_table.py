"""Numbers that cannot be: each flag has a proof, and honest tables have none."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import atkay
from atkay.audit.attainable import laws, profiles
from atkay.audit.layout import column_of
from atkay.errors import InputError, SpecError

RECOMMENDERS = """
| Algo | MAP | nDCG@k | Precision@k | Recall@k | RMSE | MAE |
| --- | --- | --- | --- | --- | --- | --- |
| [ALS](x.ipynb) | 0.004732 | 0.044239 | 0.048462 | 0.017796 | 0.965038 | 0.753001 |
| [BiVAE](x.ipynb) | 0.146126 | 0.475077 | 0.411771 | 0.219145 | N/A | N/A |
| [BPR](x.ipynb) | 0.132478 | 0.441997 | 0.388229 | 0.212522 | N/A | N/A |
| [FastAI](x.ipynb) | 0.025503 | 0.147866 | 0.130329 | 0.053824 | 0.943084 | 0.744337 |
| [LightGCN](x.ipynb) | 0.088526 | 0.419846 | 0.379626 | 0.144336 | N/A | N/A |
| [NCF](x.ipynb) | 0.107720 | 0.396118 | 0.347296 | 0.180775 | N/A | N/A |
| [SAR](x.ipynb) | 0.110591 | 0.382461 | 0.330753 | 0.176385 | 1.253805 | 1.048484 |
| [SVD](x.ipynb) | 0.012873 | 0.095930 | 0.091198 | 0.032783 | 0.938681 | 0.742690 |
"""
"""The comparison of algorithms on MovieLens-100k in the README of recommenders: 943 users, k = 10."""


FEW: Any = "few"


def flagged(check: atkay.TableCheck) -> list[tuple[str, tuple[str, ...]]]:
    return [(flag.row, flag.columns) for flag in check.flags]


def test_the_readme_of_recommenders() -> None:
    # 943 users x 10 places: 0.379626 x 9430 = 3579.87 is no count of hits. All others are, such as SAR's:
    # 3119 / 9430 = 0.3307529.
    check = atkay.check(RECOMMENDERS, users=943, k=10, dialect="recommenders")
    assert flagged(check) == [("LightGCN", ("Precision@k",))]
    assert "a multiple of 1/9,430; the nearest are 0.37953 and 0.37964" in check.flags[0].proof
    assert check.checked == 8 * 4 + 8  # RMSE and MAE of four


def table(**row: object) -> str:
    return f"model,{','.join(row)}\nours,{','.join(map(str, row.values()))}\n".replace("_", "@")


@pytest.mark.parametrize(
    ("row", "given", "columns", "proof"),
    [
        # 1/3 and 2/3 of 3 users: 0.5 is between them.
        ({"hit_5": "0.50"}, {"users": 3}, ("hit@5",), "1/3; the nearest are 0.33333 and 0.66667"),
        ({"precision_2": "0.40"}, {"users": 2}, ("precision@2",), "1/4; the nearest are 0.25000 and 0.50000"),
        ({"mrr_2": "0.30"}, {"users": 2}, ("mrr@2",), "1/4; the nearest are 0.25000 and 0.50000"),
        # one hit at 4 of 5 places and one relevant item: 2 x 1/5 x 1 / (1/5 + 1) = 1/3.
        ({"f1_5": "0.25"}, {"users": 2, "relevant": "one"}, ("f1@5",), "1/6; the nearest are 0.16667 and 0.33333"),
        ({"coverage_5": "0.25"}, {"items": 10}, ("coverage@5",), "with 10 items"),
        ({"hit_5": "0.26"}, {"users": 2, "averaged": 2}, ("hit@5",), "2 users and 2 runs it is a multiple of 1/4"),
        ({"ndcg_5": "1.1", "hit_5": "1"}, {}, ("ndcg@5",), "ndcg@5 is at most 1"),
        ({"hit_5": "0.5", "ndcg_5": "0.51"}, {}, ("ndcg@5", "hit@5"), "0 for users without a hit"),
        ({"hit_5": "0.5", "mrr_5": "0.09"}, {}, ("hit@5", "mrr@5"), "first relevant item stands at 5 or above"),
        ({"hit_5": "0.5", "precision_5": "0.09"}, {}, ("hit@5", "precision@5"), "one of the places is relevant"),
        ({"recall_5": "0.5", "recall_10": "0.49"}, {}, ("recall@5", "recall@10"), "a longer list loses no hit"),
        # 5 x 0.5 = 2.5 hits among five, 10 x 0.24 = 2.4 among ten
        ({"precision_5": "0.5", "precision_10": "0.24"}, {}, ("precision@5", "precision@10"), "5 × precision@5"),
        # 10 x 0.9 = 9 hits among ten, of which at least 4 among the first five: 0.7 would be 3.5
        ({"precision_5": "0.7", "precision_10": "0.9"}, {}, ("precision@10", "precision@5"), "hold at most 5 hits"),
        ({"map(per=relevant)_5": "0.5", "recall_5": "0.49"}, {}, ("map(per=relevant)@5", "recall@5"), "most recall@5"),
        ({"f1_5": "0.5", "recall_5": "0.24", "hit_5": "0.9"}, {}, ("f1@5", "recall@5"), "harmonic mean"),
        ({"f1_5": ".5", "recall_5": ".3", "precision_5": ".6"}, {}, ("f1@5", "precision@5", "recall@5"), "arithmetic"),
        # one relevant item
        ({"recall_5": "0.5", "hit_5": "0.6"}, {"relevant": "one"}, ("hit@5", "recall@5"), "are the same"),
        ({"precision_5": "0.2", "hit_5": "0.5"}, {"relevant": "one"}, ("precision@5", "hit@5"), "divided by 5"),
        ({"map_5": "0.2", "mrr_5": "0.3"}, {"relevant": "one"}, ("mrr@5", "map@5"), "are the same"),
        ({"mrr_5": "0.52", "ndcg_5": "0.5"}, {"relevant": "one"}, ("mrr@5", "ndcg@5"), "1/r is at most 1/log2(r + 1)"),
        ({"hit_3": "0.9", "ndcg_3": "0.44"}, {"relevant": "one"}, ("hit@3", "ndcg@3"), "at least 1/log2(3 + 1)"),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be(
    row: dict[str, str], given: dict[str, Any], columns: tuple[str, ...], proof: str
) -> None:
    counted = {"users", "items"} & given.keys()
    check = atkay.check(
        table(**row) if counted else table(**{name: f"{float(text):.4f}" for name, text in row.items()}), **given
    )
    assert not check
    assert check.flags[0].columns == columns
    assert proof in check.flags[0].proof


def test_numbers_that_no_ranks_give() -> None:
    # Half of the users have a hit, nDCG is 0.25: all at rank 3 gives 1/log2(4) = 0.5 each, so MRR = 0.5/3 = 0.1667;
    # else some stand above and some below: rank 1 (1, 1) and rank 5 (0.2, 0.3869) mixed such that nDCG is 0.5 each give
    # 0.1845 + 0.8155 x 0.2 = 0.3476 each, MRR = 0.1738. So MRR is between 0.1667 and 0.1738.
    row = {"hit_5": "0.5000", "ndcg_5": "0.2500"}
    assert atkay.check(table(**row, mrr_5="0.1700"), relevant="one")
    for mrr in ("0.1655", "0.1750"):
        [flag] = atkay.check(table(**row, mrr_5=mrr), relevant="one").flags
        assert set(flag.columns) == {"hit@5", "ndcg@5", "mrr@5"}
        assert "whatever the ranks of the relevant items are" in flag.proof
    many = {"hit_1": "0.30", "mrr_5": "0.90", "hit_5": "0.95"}  # at most 0.3 + 0.65 / 2 = 0.625
    [flag] = atkay.check(table(**many)).flags
    assert set(flag.columns) == {"hit@1", "mrr@5"}


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_honest_tables_are_not_flagged(data: st.DataObject) -> None:
    """Whatever the lists, the conventions and the digits are."""
    relevant: Any = data.draw(st.sampled_from(["one", "many"]))
    n_users, digits = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 6))
    items = st.lists(st.sampled_from("abcdefghij"), unique=True, min_size=1, max_size=8)
    recs = {user: data.draw(items) for user in range(n_users)}
    truth = {user: data.draw(items)[: 1 if relevant == "one" else None] for user in range(n_users)}
    dialect = data.draw(
        st.sampled_from([None, "recommenders", "rectools", "replay", "recbole", "torchmetrics", "ranx"])
    )
    known = set(atkay.list_metrics()) if dialect is None else set(atkay.list_dialects()[dialect].words)
    names = known & {"hit", "precision", "recall", "f1", "map", "mrr", "ndcg"}
    specs = [
        f"{name}@{k}"
        for name in sorted(names)
        for k in data.draw(st.sets(st.sampled_from([1, 2, 3, 5, 8]), min_size=1, max_size=3))
    ]
    values = [atkay.evaluate(recs, truth, spec, dialect=dialect)[spec] for spec in specs]
    text = f"model,{','.join(specs)}\nours,{','.join(f'{value:.{digits}f}' for value in values)}\n"
    assert not atkay.check(text, users=n_users, relevant=relevant, dialect=dialect).flags, text


@pytest.mark.parametrize("relevant", ["one", "many"])
def test_every_law_holds_for_every_pattern(relevant: Any) -> None:
    """All patterns of hits in lists of four with zero to five relevant items below them."""
    specs = [f"{name}@{k}" for name in ("hit", "precision", "recall", "f1", "map", "mrr", "ndcg") for k in (1, 2, 4)]
    columns = tuple(
        column
        for spec in [*specs, "recall(per=capped)@4", "map(per=capped)@4", "map(per=k)@4", "precision(per=listed)@4"]
        if (column := column_of(spec, None, None))
    )
    recs, truth = {}, {}
    for pattern in range(16):
        for missed in range(6):
            hits = [f"h{at}" for at in range(4) if pattern >> at & 1]
            relevant_items = [*hits, *(f"m{at}" for at in range(missed))]
            if relevant_items and (relevant == "many" or len(relevant_items) == 1):
                recs[pattern, missed] = [f"h{at}" if pattern >> at & 1 else f"x{at}" for at in range(4)]
                truth[pattern, missed] = relevant_items
    users = {str(at): recs[key] for at, key in enumerate(recs)}
    relevant_of = {str(at): truth[key] for at, key in enumerate(recs)}
    metrics = [each.metric for each in columns]
    result = atkay.evaluate(users, relevant_of, metrics, no_recs="zero")
    values = np.stack([result.per_query[str(metric)].to_numpy() for metric in metrics], axis=1)
    every = laws(columns, relevant)
    assert len(every) > 50
    for law in every:
        total = sum(factor * values[:, at] for at, factor in law.terms)
        assert np.all(total <= law.most + 1e-9), law.reason


def test_a_law_that_a_convention_breaks_is_not_used() -> None:
    # per=k: one relevant item at the top of ten is a precision of 0.1 and an average precision of 1/1 / 10 = 0.1;
    # per=relevant: of 1. So map <= precision holds for the one and not for the other.
    def reasons(spec: str) -> list[str]:
        columns = tuple(column for name in (spec, "precision@10") if (column := column_of(name, None, None)))
        return [law.reason for law in laws(columns, "many") if "each user's map" in law.reason]

    assert reasons("map(per=k)@10") == ["each user's map(per=k)@10 is at most precision@10"]
    assert reasons("map@10") == []
    assert profiles((column_of("map@10", None, None),), "one").max() == 1  # type: ignore[arg-type]  # it is a column


def test_average_precision_whose_divisor_is_not_stated() -> None:
    # 20 relevant items, all of the first ten places hit: recall is 10/20, AP 10/20 or, divided by min(10, 20), 10/10.
    # With three of four hits at rank 1, AP@1 divided by min(1, 4) is 1, AP@4 is 3/4.
    assert atkay.check("model,MAP@10,Recall@10\nours,1.0000,0.5000\n")
    assert atkay.check("model,MAP@1,MAP@4\nours,1.0000,0.7500\n")
    assert not atkay.check("model,map(per=relevant)@1,map(per=relevant)@4\nours,1.0000,0.7500\n")
    assert not atkay.check("model,MAP@10,Recall@10\nours,1.0000,0.5000\n", dialect="recommenders")
    assert not atkay.check("model,MAP@10,HR@10\nours,0.6000,0.5000\n")
    assert not atkay.check("model,MAP@10,Recall@10\nours,1.0000,0.5000\n", relevant="one")


def test_a_digit_changed_is_noticed_as_often_as_arithmetic_says() -> None:
    # 97 users, 4 digits: of the 10,000 numbers below 1 that can be printed, 97 are attainable.
    attainable = {f"{hits / 97:.4f}" for hits in range(98)}
    noticed = [
        number
        for number in (f"{at / 10_000:.4f}" for at in range(0, 10_000, 37))
        if not atkay.check(table(hit_5=number), users=97)
    ]
    expected = [number for number in (f"{at / 10_000:.4f}" for at in range(0, 10_000, 37)) if number not in attainable]
    assert noticed == expected
    assert len(noticed) > 200


def test_data_sets_side_by_side(tmp_path: Path) -> None:
    text = r"""\begin{tabular}{lrrr}
    & \multicolumn{2}{c}{Small} & Large \\
    Model & HR@5 & nDCG@5 & HR@5 \\ \midrule
    ours & 50.0 & 60.0 & 50.0 \\
    theirs & 33.3 & 30.0 & 33.3 \\ \end{tabular}"""
    check = atkay.check(text, users={"Small": 2, "Large": 1_000})
    assert flagged(check) == [
        ("ours", ("Small nDCG@5", "Small HR@5")),
        ("theirs", ("Small HR@5",)),
    ]
    assert "read as percentages: Small HR@5, Small nDCG@5, Large HR@5" in check.notes
    with pytest.raises(InputError, match=r"users has no 'Large'\. Available: 'Small'"):
        atkay.check(text, users={"Small": 2})


def test_systems_may_be_columns() -> None:
    check = atkay.check("metric,ours,theirs\nHR@5,0.50,0.40\nMRR@5,0.60,0.30\n")
    assert flagged(check) == [("ours", ("MRR@5", "HR@5"))]


TWO_LABELS = r"""\begin{table*}\resizebox{\textwidth}{!}{\begin{tabular}{ll|cc|c} \toprule
Data & Metric & SASRec & BERT4Rec & Improv. \\ \midrule
\multirow{3}{*}{ML-1M} & HR@5 & \underline{0.5434} & \textbf{0.5876} & 8.13\% \\
& HR@10 & \underline{0.6629} & \textbf{\underline{0.6970}} & 5.14\% \\
& Time & 1.5 & 3.0 & 100\% \\ \midrule
\multirow{2}{*}{Beauty} & HR@5 & \underline{0.1934} & 0.2207 & 14.12\% \\
& HR@10 & 0.1834 & 0.3025 & 14.02\% \\ \bottomrule \end{tabular}}\end{table*}"""
"""Most numbers as in Table 2 of BERT4Rec; HR@10 of SASRec on Beauty is below HR@5."""


def test_data_sets_and_metrics_may_be_rows() -> None:
    # 6,040 users: 0.5434 x 6040 = 3282.1, 3282/6040 = 0.54338; 0.5876: 3549/6040 = 0.58758; 0.6629: 4004/6040 =
    # 0.66291; 0.6970: 4210/6040 = 0.69702. Nothing else than Beauty's fall from 5 to 10 cannot be.
    check = atkay.check(TWO_LABELS, users={"ML-1M": 6_040, "Beauty": 40_226}, relevant="one")
    assert flagged(check) == [("SASRec", ("Beauty HR@5", "Beauty HR@10"))]
    assert check.checked == 8
    assert "not checked, no values of metrics: Improv." in check.notes


def test_rows_of_several_data_sets_have_names_of_their_own() -> None:
    text = "data,model,HR@5,HR@5\nSmall,ours,0.50,\n,theirs,0.40,\nLarge,ours,0.40,0.9\nLarge,ours,0.4,0.9\n"
    check = atkay.check(text, users={"Small": 2, "Large": 10})
    assert [row[0] for row in check.rows] == ["Small, ours", "Small, theirs", "Large, ours", "Large, ours (2)"]
    assert flagged(check) == [("Small, theirs", ("HR@5",))]  # two columns of one metric are of two data sets
    assert check.header == ("data, model", "HR@5", "HR@5 (2)")
    with pytest.raises(InputError, match=r"users has no data set of row 'Large, ours'\. Available: 'Small'"):
        atkay.check(text, users={"Small": 2})


@pytest.mark.parametrize(
    "row", ["K,5,10", "Improv.,5.14%,10.3%", "Impr. (%),5.14,10.3", "p-value,1.5,2", "Δ,-0.03,+0.05", "loss,-5.1%,+0.2"]
)
def test_what_is_relative_to_other_rows_is_not_checked(row: str) -> None:
    check = atkay.check(f"model,HR@5,nDCG@5\nours,0.50,0.40\ntheirs,0.40,0.30\n{row}\n", users=10)
    assert check
    assert check.checked == 4
    assert f"not checked, no values of metrics: {row.partition(',')[0]}" in check.notes


def test_means_over_runs_are_not_counted_before_one_knows_how_many() -> None:
    # A third of the way from 1/3 to 2/3 is a mean over three runs of 3 users.
    text = "model,HR@5\nours,0.4444 ± 0.01\n"
    check = atkay.check(text, users=3)
    assert check
    assert check.notes[-1].startswith("numbers with ± may be means over several runs: pass averaged=")
    assert atkay.check(text, users=3, averaged=3)
    assert not atkay.check(text, users=3, averaged=2)


def test_percentages_beside_fractions() -> None:
    # HR is in percent, nDCG is not: 0.31 of 0.543, not 0.0031.
    check = atkay.check("model,HR@5,HR@10,nDCG@10\nours,48.10,54.30,0.3112\ntheirs,40.00,44.00,0.2999\n")
    assert check
    assert "read as percentages: HR@5, HR@10" in check.notes
    both = atkay.check("model,HR@5,HR@10,nDCG@1\nours,48.10,54.30,0.91\ntheirs,40.00,44.00,0.29\n")
    assert "read as percentages: HR@5, HR@10, nDCG@1" in both.notes


def test_a_data_set_before_each_metric() -> None:
    text = "| model | ML-1M HR@5 | ML-1M MRR@5 | Yelp HR@5 |\n|-|-|-|-|\n| ours | 0.50 | 0.60 | 0.50 |\n"
    check = atkay.check(text, users={"ML-1M": 2, "Yelp": 2})
    assert flagged(check) == [("ours", ("ML-1M MRR@5", "ML-1M HR@5"))]


def test_low_percentages() -> None:
    check = atkay.check("model,Recall@20,nDCG@20\nours,5.23,4.10\ntheirs,0.98,0.75\n")
    assert check
    assert "read as percentages: Recall@20, nDCG@20" in check.notes
    assert flagged(atkay.check("model,Recall@20\nours,5.230\ntheirs,0.498\n")) == [("ours", ("Recall@20",))]


def test_rows_without_numbers_and_without_names() -> None:
    check = atkay.check("model,HR@5\nslow,-\nours,-0.20\n")
    assert flagged(check) == [("ours", ("HR@5",))]
    check = atkay.check("HR@5,MRR@5\n0.50,0.60\n")
    assert flagged(check) == [("row 1", ("MRR@5", "HR@5"))]


def test_the_first_table_that_names_metrics() -> None:
    readme = "| data | users |\n|-|-|\n| ML | 943 |\n\n| model | HR@5 | MRR@5 |\n|-|-|-|\n| ours | 0.50 | 0.60 |\n"
    assert flagged(atkay.check(readme)) == [("ours", ("MRR@5", "HR@5"))]


def test_cutoffs_too_deep_to_try_bounds_on() -> None:
    check = atkay.check("model,recall@100000,mrr@1000000,hit@1000000\nours,0.5,0.4,1.4\n", users=10, relevant="one")
    assert flagged(check) == [("ours", ("hit@1000000",))]


@pytest.mark.parametrize(
    ("header", "k", "spec"),
    [
        ("nDCG@10", None, "ndcg@10"),
        ("NDCG @ 5", None, "ndcg@5"),
        ("Hit Rate@10 (%)", None, "hit@10"),
        ("HR", 10, "hit@10"),
        ("Recall@K ↑", 20, "recall@20"),
        ("P@1", None, "precision@1"),
        ("N@20", None, "ndcg@20"),
        ("N", None, None),
        ("P", 10, None),
        ("Recall@1,000", None, "recall@1000"),
        ("R@1k", None, "recall@1000"),
        ("Recall at 10", None, "recall@10"),
        ("nDCG@k=5", None, "ndcg@5"),
        ("H@10", None, "hit@10"),
        ("MRR", None, "mrr"),
        ("map(per=capped)@5", None, "map(per=capped)@5"),
        ("seconds", None, None),
        ("", 10, None),
    ],
)
def test_headers(header: str, k: int | None, spec: str | None) -> None:
    column = column_of(header, k, None)
    assert (column and str(column.metric)) == spec


def test_lists_say_which_conventions_give_each_number() -> None:
    recs = {"A": ["i1", "i9", "i2", "i8", "i3"], "B": ["i1", "i7"]}
    truth = {"A": [f"i{n}" for n in range(1, 7)], "B": ["i1", "i2"]}
    # AP@5 of A: (1 + 2/3 + 3/5) / min(5, 6) = 0.4533, of B: 1/2; the mean is 0.4767.
    check = atkay.check("model,MAP@5\nours,0.4767\n", users=2, recs={"ours": recs}, truth=truth)
    assert any("map(per=capped)@5" in each for each in check.conventions["ours", "MAP@5"])
    with pytest.raises(InputError, match=r"the table has no row 'hours'\. Did you mean 'ours'"):
        atkay.check("model,MAP@5\nours,0.4767\n", recs={"hours": recs}, truth=truth)


def test_outputs(tmp_path: Path) -> None:
    check = atkay.check(table(hit_5="0.50", mrr_5="0.60"), users=4)
    assert repr(check).splitlines()[2] == "ours   0.50 ✗1  0.60 ✗1"
    assert check.to_polars()["flagged"].to_list() == [True, True]
    assert json.loads(check.to_json())["flags"][0]["columns"] == ["mrr@5", "hit@5"]
    check.save(tmp_path / "page.html")
    assert '<td class="bad">0.50<sup>✗1</sup></td>' in (tmp_path / "page.html").read_text()
    check.save(tmp_path / "page.json")
    assert json.loads((tmp_path / "page.json").read_text())["checked"] == 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: atkay.check("m,a\nx,1\n"), InputError, "no column of the table names a metric .*; columns are 'a'"),
        (lambda: atkay.check(table(hit_5=1), users=0), SpecError, "users must be a positive integer, got 0"),
        (lambda: atkay.check(table(hit_5=1), users={"a": -1}), SpecError, "users must be a positive integer, got -1"),
        (lambda: atkay.check(table(hit_5=1), relevant=FEW), SpecError, "unknown value 'few' for relevant"),
        (lambda: atkay.check(table(hit_5=1), dialect="rank"), SpecError, "unknown dialect 'rank'"),
        (lambda: atkay.check(table(hit_5=1), truth={}), InputError, "pass recs and truth together"),
    ],
)  # fmt: skip
def test_bad_calls(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_no_rounding_up_to_a_flag() -> None:
    # 2/3 of 3 users, printed with each number of digits, cut off nowhere.
    for digits in range(1, 12):
        assert atkay.check(table(hit_5=f"{float(Fraction(2, 3)):.{digits}f}"), users=3)
    assert math.isclose(float(Fraction(2, 3)), 2 / 3)
