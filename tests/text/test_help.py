"""What a person sees: signatures and help with every keyword and word, and dir() without internals."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
import pytest

import atkay
from atkay import tasks
from atkay.comparison import procedure
from atkay.comparison.corrections import CORRECTIONS, FAMILIES
from atkay.comparison.tests import TESTS
from atkay.reporting.charts import KINDS
from atkay.reporting.mlflow import WORDS
from atkay.tables import FILTERS, SIDE
from atkay.text import arguments
from atkay.words import words_of


def keywords(function: Callable[..., Any]) -> set[str]:
    return {name for name, each in inspect.signature(function).parameters.items() if each.kind is each.KEYWORD_ONLY}


FIELDS = [each for each in dataclasses.fields(atkay.Protocol) if each.name not in FILTERS]

# Words


@pytest.mark.parametrize("cls", [atkay.Protocol, atkay.Sampled, *atkay.list_metrics().values()])
def test_the_type_of_a_field_has_its_words(cls: type) -> None:
    for each in dataclasses.fields(cls):
        if words_of(each):
            written = str(each.type).removesuffix(" | Scale")
            assert (written != each.type) == bool(each.metadata.get("table")), each.name
            assert eval(written, {"Literal": Literal}) == Literal[tuple(words_of(each))], each.name


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (procedure.TestName, TESTS),
        (procedure.Correction, CORRECTIONS),
        (procedure.Family, FAMILIES),
        *(
            (inspect.signature(atkay.Result.to_dict).parameters[name].annotation, words)
            for name, words in WORDS.items()
        ),
        (inspect.signature(atkay.Result.plot).parameters["kind"].annotation, KINDS["result"]),
        (inspect.signature(atkay.Comparison.plot).parameters["kind"].annotation, KINDS["comparison"]),
    ],
)
def test_the_type_of_an_argument_has_its_words(kind: Any, words: Any) -> None:
    kind = eval(kind, {"Literal": Literal}) if isinstance(kind, str) else kind
    assert set(get_args(kind)) == set(words)


# Signatures and help


def test_the_signature_of_evaluate_has_every_keyword_with_its_words_and_default() -> None:
    parameters = inspect.signature(atkay.evaluate).parameters
    assert not [each for each in parameters.values() if each.kind is each.VAR_KEYWORD]
    for each in FIELDS:
        assert parameters[each.name].default == each.default
        if words_of(each):
            assert get_args(parameters[each.name].annotation) == tuple(words_of(each))
    assert "ties: Literal['given', 'item', " in str(inspect.signature(atkay.evaluate))


@pytest.mark.parametrize("documented", [atkay.evaluate, atkay.Protocol])
def test_the_help_has_every_field_and_every_word(documented: Callable[..., Any]) -> None:
    lines = (inspect.getdoc(documented) or "").splitlines()
    text = " ".join(line.strip() for line in lines)
    for each in FIELDS:
        assert each.name in lines
        assert each.metadata["help"] in text
        for word, meaning in words_of(each).items():
            default = " (default)" if word == each.default else ""
            assert f'- "{word}"{default}: {meaning}' in text


def test_the_help_of_evaluate_describes_every_parameter() -> None:
    lines = (inspect.getdoc(atkay.evaluate) or "").splitlines()
    described = {name.strip() for line in lines[: lines.index("Examples")] for name in line.split(",")}
    assert set(inspect.signature(atkay.evaluate).parameters) <= described


@pytest.mark.parametrize(
    ("function", "missing"),
    [
        (atkay.compare, set()),
        (atkay.variants, set()),
        (tasks.Task.evaluate, set()),
        (tasks.Task.compare, set()),
        (atkay.explain, {"slices", "weights", "cluster", "sampled", "memory", "spill"}),
        (atkay.report, {"users", "slices", "sampled", "memory", "spill", *SIDE} - {"features"}),
    ],
)
def test_who_passes_keywords_on_to_evaluate_shows_them(function: Callable[..., Any], missing: set[str]) -> None:
    assert keywords(atkay.evaluate) - set(inspect.signature(function).parameters) == missing


@pytest.mark.parametrize("function", [atkay.Stream, atkay.FullRanking, atkay.full_ranking, atkay.reconcile])
def test_who_takes_a_protocol_shows_its_fields(function: Callable[..., Any]) -> None:
    names = {each.name for each in FIELDS} - ({"average_over"} if function is atkay.Stream else set())
    assert names <= set(inspect.signature(function).parameters)


def test_what_is_spelled_out_is_taken() -> None:
    """Each keyword in a signature reaches the function, with its default."""
    recs, truth = {1: ["a", "b"]}, {1: ["b"]}
    result = atkay.evaluate(recs, truth, "mrr")
    parameters = inspect.signature(atkay.evaluate).parameters
    defaults: dict[str, Any] = {name: parameters[name].default for name in keywords(atkay.evaluate)}
    assert atkay.evaluate(recs, truth, "mrr", **defaults)["mrr"] == result["mrr"] == 1 / 2


def test_the_keywords_that_checkers_see_are_those_of_the_signature() -> None:
    kinds: dict[Any, Callable[..., Any]] = {
        arguments.EvaluateArguments: atkay.evaluate,
        arguments.CompareArguments: atkay.compare,
        arguments.FullRankingArguments: atkay.FullRanking,
        arguments.StreamArguments: atkay.Stream,
    }
    for kind, function in kinds.items():
        missing = {"average_over"} if function is atkay.Stream else set()
        assert kind.__optional_keys__ - missing == keywords(function), kind
        assert not kind.__required_keys__


# dir()

RECS = {1: ["a", "b"], 2: ["b", "a"], 3: ["a", "b"]}
TRUTH = {1: ["b"], 2: ["b"], 3: ["b"]}
LOG = pl.DataFrame({"user": [1, 1, 1], "item": list("abc"), "order": [1, 2, 3], "time": [1, 2, 3]})
RESULT = atkay.evaluate(RECS, TRUTH, "mrr")
COMPARISON = atkay.compare({"old": RECS, "new": RECS}, TRUTH, "mrr")
TASK = (
    "average check cluster compare evaluate history item key name no_truth notes queries relevance seen session time "
    "train truth user"
)


@pytest.mark.parametrize(
    ("seen", "names"),
    [
        (
            RESULT,
            "bounds chance columns definitions dialect engine fingerprint gaps get ir_metadata items keys load "
            "log_mlflow metrics names per_query plot population protocol readings sampled save slices sources "
            "summaries table to_dict to_html to_latex to_markdown to_pandas to_polars to_spark values version "
            "with_intervals",
        ),
        (
            RESULT.population,
            "beyond duplicated emptied evaluated excluded hits listed outside relevant sentences tie_decided tied "
            "unjudged unknown without_list without_truth",
        ),
        (
            RESULT.protocol,
            "aggregate average_over candidates depth duplicates exclude gains min_relevance negative no_recs no_truth "
            "nonpositive raters scores seed ties unjudged unlisted with_fields words",
        ),
        (
            COMPARISON,
            "baseline bounds cluster correction details differences family interval legend load mean_table means "
            "metrics min_effect movers notes permutations plot protocol rank_intervals rank_table results rng runs "
            "save segment_means segments slice_mean_table slices table tests tiers to_dict to_html to_json to_latex "
            "to_markdown to_pandas to_polars version",
        ),
        (
            COMPARISON.differences[0],
            "against aggregate base better contradicted corrected correction decided_by deviation difference effect "
            "finding high left_out losses low lowest metric opposite p relative relative_high relative_low run segment "
            "significant slice standing ties undefined users verdict wins",
        ),
        (
            atkay.overlap(RECS, RECS),
            "get items k keys only_a only_b p per_query summaries table tied to_dict to_markdown to_polars values",
        ),
        (atkay.power(COMPARISON), "level rows to_latex to_markdown to_polars wanted"),
        (atkay.Stream("mrr"), "compute from_bytes merge metrics n_items protocol reset to_bytes update"),
        (
            atkay.NDCG(k=10),
            "aliases better bounded cutoffs define discount gain ideal k name needs needs_truth split values",
        ),
        (atkay.Columns(), "header item order rank relevance score session subtopic time user"),
        (atkay.Sampled(10, 5), "catalog_size estimator expected negatives words"),
        (
            atkay.variants(RECS, TRUTH, "map@2"),
            "alike plot protocol rows to_dict to_latex to_markdown to_polars",
        ),
        (
            atkay.explain(RECS, TRUTH, "map@2", "ranx"),
            "moving our_name ours spec steps summary their_name theirs to_latex to_markdown to_polars",
        ),
        (
            atkay.reconcile(RECS, TRUTH, {"mrr": "0.6667"}),
            "chance closest explanations matches nearest ruled_out searched to_latex to_markdown to_polars tried "
            "verdict",
        ),
        (tasks.leave_last_out(LOG), TASK),
        (tasks.next_basket(LOG), f"{TASK} explore repeat repetition_ratio"),
        (tasks.leave_last_out(LOG).check(), "findings leaks skipped"),
    ],
)
def test_dir_shows_what_users_need(seen: object, names: str) -> None:
    assert dir(seen) == sorted(names.split())


def test_dir_of_a_full_ranking() -> None:
    pytest.importorskip("torch", reason="needs torch")
    assert dir(atkay.FullRanking((np.array([0, 1]), np.array([0])), "mrr")) == ["evaluate", "evaluate_scores"]
