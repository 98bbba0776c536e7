"""The keywords of public functions, for type checkers alone. Written by tests/house/public.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from atkay.comparison.procedure import Correction, Family, Interval, TestName
    from atkay.engines.full_ranking.full_ranking import Precision, Similarity
    from atkay.inputs.columns import Columns
    from atkay.metrics.sampled import Sampled
    from atkay.protocol import Protocol


Library = Literal[
    "beir",
    "cornac",
    "elasticsearch",
    "elliot",
    "evidently",
    "haystack",
    "haystack<3.1",
    "ignite",
    "ir_measures",
    "keras_rs",
    "lenskit",
    "lightgbm",
    "llama_index",
    "mlflow",
    "mteb",
    "pyg",
    "ragas",
    "ranx",
    "ranx<0.3.15",
    "recbole",
    "recommenders",
    "recpack",
    "rectools",
    "replay",
    "rs_metrics",
    "sentence_transformers",
    "sentence_transformers<6",
    "session_rec",
    "sklearn",
    "spark",
    "tfranking",
    "torch_rechub",
    "torchmetrics",
    "torchmetrics<1.1.2",
    "torchmetrics<1.7.4",
    "trec_eval",
    "trec_eval>=10",
    "trulens",
    "warprec",
    "xgboost",
    "xgboost<2",
]


class ProtocolFields(TypedDict, total=False):
    no_recs: Literal["zero", "skip", "error"]
    no_truth: Literal["skip", "zero", "one", "error", "judged"]
    ties: Literal[
        "given", "item", "item_desc", "best", "worst", "random", "expected", "text", "text_desc", "reversed", "together"
    ]
    scores: Literal["exact", "float32"]
    nonpositive: Literal["listed", "missed"]
    gains: Literal["relevant", "positive"]
    duplicates: Literal["error", "first", "counted"]
    unjudged: Literal["irrelevant", "drop"]
    negative: Literal["irrelevant", "unjudged", "error"]
    raters: Literal["one", "mean", "median", "majority", "error"]
    depth: int | None
    unlisted: Literal["missed", "ignored"]
    min_relevance: float | None
    average_over: str | Sequence[str] | None
    aggregate: str
    seed: int


class ProtocolArguments(ProtocolFields, total=False):
    exclude: str | None
    candidates: str | None


class SideArguments(TypedDict, total=False):
    train: Any
    catalog: Any
    features: Any
    propensity: Any
    reference: Any


class TablesAndFields(ProtocolFields, SideArguments):
    pass


class GeneralArguments(ProtocolFields, total=False):
    exclude: Any
    candidates: Any
    columns: Columns | Mapping[str, Columns] | None
    dialect: Library | str | None
    protocol: Protocol | None


class WholeListArguments(TablesAndFields, GeneralArguments):
    pass


class EvaluateArguments(WholeListArguments, total=False):
    users: Any
    slices: Any
    weights: Any
    cluster: Any
    sampled: Sampled | None
    memory: str | int | None
    spill: str | os.PathLike[str] | None


class CompareArguments(EvaluateArguments, total=False):
    baseline: str | None
    test: TestName | Sequence[TestName]
    correction: Correction
    family: Family
    interval: Interval
    min_effect: float | Mapping[str, float] | None
    permutations: int
    rng: int


class GateArguments(EvaluateArguments, total=False):
    test: TestName | Sequence[TestName]
    interval: Interval
    permutations: int
    rng: int


class FullRankingArguments(ProtocolFields, total=False):
    exclude: Any
    similarity: Similarity
    precision: Precision
    memory: int | str
    device: Any
    ids: Any
    weights: Any
    dialect: Library | str | None
    protocol: Protocol | None


class StreamArguments(TablesAndFields, total=False):
    n_items: int | None
    dialect: Library | str | None
    protocol: Protocol | None
