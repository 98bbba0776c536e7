"""Every metric with every word against plain loops; test_fuzz_engines.py draws data and protocols for them."""

from __future__ import annotations

import math

import pytest
from oracle import LISTS, METRICS, RUN, WORDS, Data, Rules, judge, number

import atkay
from atkay.protocol import Protocol
from atkay.words import words_of
from scenarios import VARIANTS
from scenarios import words_of as words_of_metric
from variants import DEEP, recs_frame, side, truth_frame


def test_the_oracle_knows_metrics_that_exist_and_every_word() -> None:
    assert {*METRICS, *LISTS, *RUN} <= set(atkay.list_metrics())
    fields = Protocol.__dataclass_fields__.values()
    assert {each.name: tuple(words_of(each)) for each in fields if words_of(each)} == WORDS
    assert {name: words[0] for name, words in WORDS.items()} == {name: getattr(Rules(), name) for name in WORDS}


@pytest.mark.filterwarnings("ignore::atkay.errors.SkippedWarning")
def test_the_oracle_is_asked_about_every_variant() -> None:
    """The fuzz draws from all words; here each of them is checked on one data set."""
    recs = [(u, (3 * u + 5 * n) % 11, float(-(n // 2))) for u in range(6) for n in range(2 + u)]
    truth = [(u, (7 * u + 2 * n) % 11, float(n % 4)) for u in range(1, 8) for n in range(1 + u)]
    given = side()
    known = given["features"].rows_by_key("item", named=True, unique=True)
    data = Data(
        recs,
        truth,
        train=given["train"],
        catalog=frozenset(given["catalog"]),
        categories={item: row["genres"] for item, row in known.items()},
        vectors={item: (row["x"], row["y"]) for item, row in known.items()},
        propensity=given["propensity"],
        reference=given["reference"],
    )
    rules = Rules(ties="item")
    result = atkay.evaluate(recs_frame(recs), truth_frame(truth), VARIANTS, ties="item", **given)
    queries, defined = judge(data, rules).queries, 0
    assert len(result) == len(VARIANTS) > (1_000 if DEEP else 500)
    for metric in VARIANTS:
        assert not isinstance(metric.k, tuple)
        wanted = number(queries, metric.name, words_of_metric(metric), metric.k, data, rules).mean
        assert result[str(metric)] == pytest.approx(wanted, rel=1e-12, abs=1e-12, nan_ok=True), metric
        defined += not math.isnan(wanted)
    assert defined > 0.95 * len(VARIANTS)
