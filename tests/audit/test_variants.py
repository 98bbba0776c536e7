"""All conventions of one metric, side by side."""

from __future__ import annotations

import pytest

import atkay
from atkay.errors import SpecError

RECS = {"A": ["i1", "i9", "i2", "i8", "i3"]}
TRUTH = {"A": [f"i{n}" for n in range(1, 7)]}


def test_variants_of_average_precision() -> None:
    # Hits at 1, 3 and 5 of 5; six relevant items. The sum is 1 + 2/3 + 3/5 = 2.2667: per R / 6, per min(k, R), k and
    # min(R, L) / 5, per hits / 3. At all places: (1 + 1/2 + 2/3 + 2/4 + 3/5) / 5.
    found = atkay.variants(RECS, TRUTH, "map@5")
    total = 1 + 2 / 3 + 3 / 5
    assert found.to_dict() == pytest.approx(
        {
            "map@5": total / 6,
            "map(per=capped)@5": total / 5,
            "map(per=hits)@5": total / 3,
            "map(per=places)@5": (1 + 1 / 2 + 2 / 3 + 2 / 4 + 3 / 5) / 5,
        }
    )
    assert found.alike["map(per=capped)@5"] == ("map(per=k)@5", "map(per=listed)@5")
    rows = {row.spec: row for row in found}
    assert list(rows) == ["map@5", "map(per=capped)@5", "map(per=places)@5", "map(per=hits)@5"]  # the nearest first
    assert rows["map(per=hits)@5"].distance == pytest.approx(total / 3 - total / 6)
    assert rows["map(per=hits)@5"].libraries == ("haystack<3.1", "torchmetrics")
    assert rows["map(per=places)@5"].libraries == ("elliot",)
    assert {"lenskit", "replay", "recbole"} <= set(rows["map(per=capped)@5"].libraries)
    assert {"ranx", "rectools", "trec_eval"} <= set(rows["map@5"].libraries)


def test_a_library_is_named_for_what_it_means_by_the_name() -> None:
    # Recommenders has a map and a map_at_k; the first divides by R. RePlay and RecBole have one, per min(k, R).
    libraries = {row.spec: row.libraries for row in atkay.variants(RECS, TRUTH, "map@5")}
    assert "recommenders" in libraries["map@5"]
    assert "recommenders" not in libraries["map(per=capped)@5"]
    # trec_eval has no mrr with a cutoff.
    cut, whole = (next(iter(atkay.variants(RECS, TRUTH, spec))).libraries for spec in ("mrr@5", "mrr"))
    assert "trec_eval" not in cut
    assert "trec_eval" in whole
    # XGBoost without a cutoff cuts at 32, which is no variant of the whole list's.
    assert "xgboost" not in next(iter(atkay.variants(RECS, TRUTH, "ndcg"))).libraries


def test_whose_words_are_alike_for_one_user_are_told_apart_by_another() -> None:
    recs, truth = RECS | {"B": ["i1", "i7"]}, TRUTH | {"B": ["i1", "i2"]}
    found = atkay.variants(recs, truth, "map@5")
    # B's only hit is at 1, of 2 relevant items and 2 places: per min(k, R) 1/2, per k 1/5, per min(R, L) 1/2.
    assert found.alike["map(per=capped)@5"] == ("map(per=listed)@5",)
    assert "map(per=k)@5" in found.to_dict()


def test_the_given_words_come_first() -> None:
    found = atkay.variants(RECS, TRUTH, "ndcg(gain=binary,ideal=full)@5")
    assert next(iter(found)).spec == "ndcg(gain=binary,ideal=full)@5"
    assert next(iter(found)).distance == 0
    assert "ndcg(ideal=full)@5" in found.alike["ndcg(gain=binary,ideal=full)@5"]  # without grades gains are the same


def test_pooled_and_protocol() -> None:
    recs, truth = {1: ["a"], 2: ["b", "x"]}, {1: ["a", "c", "d"], 2: ["b"], 3: ["a"]}
    found = atkay.variants(recs, truth, "recall@2", no_recs="skip").to_dict()
    # Users 1 and 2 have 1/3 and 1/1; together 2 of 4.
    assert found["recall@2"] == pytest.approx((1 / 3 + 1) / 2)
    assert found["recall(average=pooled)@2"] == pytest.approx(2 / 4)


def test_what_is_pooled_is_compared_by_its_value() -> None:
    # Two of three users have a hit, pooled or not.
    recs, truth = {1: ["a"], 2: ["b"], 3: ["x"]}, {1: ["a"], 2: ["b"], 3: ["a"]}
    found = atkay.variants(recs, truth, "hit@5")
    assert "hit(average=pooled)@5" in found.alike["hit@5"]
    other = atkay.variants(recs, truth, "hit(average=pooled)@5")
    assert "hit@5" in other.alike["hit(average=pooled)@5"]


def test_the_default_of_a_dialect_is_what_it_means() -> None:
    # LensKit leaves out C, who has no list, and divides by min(R, L): A has 2.2667 / 5, B 1 / 2.
    recs, truth = RECS | {"B": ["i1", "i7"]}, TRUTH | {"B": ["i1", "i2"], "C": ["i1"]}
    found = atkay.variants(recs, truth, "map@5", dialect="lenskit")
    first = next(iter(found))
    assert (first.spec, first.distance) == ("map(per=listed)@5", 0)
    assert first.value == pytest.approx((2.2666666667 / 5 + 1 / 2) / 2)
    assert found.protocol.no_recs == "skip"
    assert found.to_dict()["map@5"] == pytest.approx((2.2666666667 / 6 + 1 / 2) / 2)
    own = atkay.variants(recs, truth, "map_cut_5", dialect="trec_eval", no_recs="zero")
    assert next(iter(own)).spec == "map@5"
    assert next(iter(own)).value == pytest.approx((2.2666666667 / 6 + 1 / 2 + 0) / 3)
    level = atkay.variants({1: ["a", "b"]}, {1: {"a": 1, "b": 2}}, "mrr-l2", dialect="ranx")
    assert next(iter(level)).value == 0.5  # b is the one of grade 2


def test_what_is_printed() -> None:
    found = atkay.variants(RECS, TRUTH, "map@5")
    assert "map(per=hits)@5" in repr(found)
    assert "+0.3778" in found.to_markdown()
    assert found.to_polars().columns == ["spec", "value", "distance", "libraries"]
    assert len(found) == 4
    assert "<table" in found._repr_html_()


def test_one_number_at_a_time() -> None:
    with pytest.raises(SpecError, match=r"name one cutoff at a time, got 'map@5,10'\. Write 'map@5'"):
        atkay.variants(RECS, TRUTH, "map@5,10")
