"""Every dialect against what the library itself said of the data sets in conformance/."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import warnings
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl
import pytest
from recorded import FOLDER, frames

import atkay
from atkay.dialects.dialect import Dialect, find_dialect
from atkay.errors import ProtocolError, SpecError
from atkay.evaluation.spoken import protocols, speak
from atkay.metrics.metric import Metric
from atkay.metrics.spec import parse

RECORDED = {"trec_eval": "pytrec_eval"}
"""Files whose name is not the dialect's."""
SINGLE = {"ignite", "keras_rs", "pyg", "tfranking", "torchmetrics"}
"""Libraries that count in float32: they agree to 1e-6, the others to 1e-9."""
PRINTED = {
    "beir": dict.fromkeys(("NDCG", "MAP", "Recall", "P", "MRR", "R_cap", "Accuracy"), 5),
    "ir_measures": {"ERR": 5, "dcg=exp-log2": 5},
    "mteb": dict.fromkeys(("ndcg_at", "map_at", "recall_at", "precision_at", "hit_rate_at"), 5),
    "torch_rechub": dict.fromkeys(("NDCG", "MRR", "Recall", "Hit", "Precision"), 4),
}
"""What comes with few decimals."""
RUN = [name for name, each in atkay.list_dialects().items() if each.checked == "run"]

REPEATED: dict[str, dict[str, tuple[str, ...]]] = {
    "duplicates": {
        "counted": (
            *("elliot", "haystack<3.1", "lenskit", "llama_index", "pyg", "recbole", "recommenders", "replay"),
            *("rs_metrics", "spark", "torch_rechub"),
        ),
    },
    "duplicate_truth": {
        "first": (
            *("beir", "cornac", "elliot", "evidently", "haystack", "ignite", "ir_measures", "keras_rs", "lightgbm"),
            *("mlflow", "mteb", "ragas", "ranx", "recpack", "sentence_transformers", "sklearn", "spark", "tfranking"),
            *("torchmetrics", "trec_eval", "trulens", "xgboost"),
        ),
    },
}
"""Data sets that repeat an item, which atkay refuses unless it is told how to count it: the word for duplicates under
which libraries are replayed. The others take the last of repeated rows, as the keys of a dict do, count the repeated
rows of the truth as further relevant items, or do either in some of their metrics."""
CUT = {"trec_eval": "_{}", "spark": "({})", "mlflow": "_{}", "mteb": "_{}"}
"""How a library's own names say the cutoff, where not as "@5"."""

COUNTS = {"num_ret": "listed", "num_rel": "relevant", "num_rel_ret": "hits", "num_nonrel_judged_ret": "nonrelevant"}
"""What trec_eval counts per query."""
LISTED = {"unlisted": "ignored", "no_recs": "skip", "no_truth": "zero"}
OPTIONS: dict[str, dict[str, str | dict[str, Any]]] = {
    "cornac": {"ranks=listed items": {}, "ranks=every item": {}},
    "elliot": {
        "threshold=1": {"min_relevance": 1},
        "threshold=2": {"min_relevance": 2},
        "metric_0=Precision | metric_1=Recall": {},
        "beta=2": "{metric}(beta=2){cut}",
    },
    "ir_measures": {
        "rel=1": "{metric}(rel=1){cut}",
        "rel=2": "{metric}(rel=2){cut}",
        "rel=1 | p=0.5": "{metric}(rel=1,p=0.5){cut}",
        "judged_only=True": "{metric}(judged_only=True){cut}",
        "dcg=exp-log2": "{metric}(dcg='exp-log2'){cut}",
        **{f"recall={recall}": f"{{metric}}@{recall}" for recall in (0.0, 0.3, 1.0)},
        "gains={'1': 1, '2': 3, '3': 7}": "{metric}(gains={{1: 1, 2: 3, 3: 7}}){cut}",
        "max_rel=1": "{metric}(max_rel=1){cut}",
        "max_rel=3": "{metric}(max_rel=3){cut}",
        "T=2.0 | max_rel=3": "{metric}(T=2.0, max_rel=3){cut}",
        "T=2.5 | max_rel=3": "{metric}(max_rel=3, T=2.5){cut}",
        "p=0.5 | max_rel=3": "{metric}(p=0.5,max_rel=3){cut}",
        "p=0.8 | normalize=False": "{metric}(p=0.8,normalize=False){cut}",
        "beta=2.0": "{metric}(beta=2.0){cut}",
        "rel=2 | beta=0.5": "{metric}(rel=2,beta=0.5){cut}",
        "relative=True": "{metric}(relative=True){cut}",
        "rel=2 | relative=True": "{metric}(relative=True,rel=2){cut}",
        "gains={'1': 3, '2': 2}": "{metric}(gains={{1: 3, 2: 2}}){cut}",
        "gains={'3': 1}": "{metric}(gains={{3: 1}}){cut}",
        "alpha=0.3": "{metric}(alpha=0.3){cut}",
        "alpha=0.9": "{metric}(alpha=0.9){cut}",
        "beta=0.8": "{metric}(beta=0.8){cut}",
        "alpha=0.3 | rel=2": "{metric}(alpha=0.3,rel=2){cut}",
        "alpha=0.3 | beta=0.8": "{metric}(alpha=0.3,beta=0.8){cut}",
        "alpha=0.3 | beta=0.8 | rel=2": "{metric}(rel=2,alpha=0.3,beta=0.8){cut}",
    },
    "evidently": {
        "no_feedback_users=True": {"no_truth": "zero"},
        "min_rel_score=2": {"min_relevance": 2},
        "NDCGKMetric | min_rel_score=2": {"min_relevance": 2, "gain": "binary"},
    },
    "haystack": {"score=relevance": {}, "score=none": {"gain": "binary"}},
    "ignite": {
        "ranks=every item": {},
        "ignore_zero_hits=False": {"no_truth": "zero"},
        "relevance_threshold=2": {"min_relevance": 2},
        "gain_function=linear_rank": {"gain": "linear"},
    },
    "keras_rs": {"gain_fn=linear": {"gain": "linear"}},
    "lenskit": {
        "gain=rating": {"gain": "linear"},
        "weight=LogRankWeight(offset=1)": {"discount": "log2"},
        "patience=0.5": {"p": 0.5},
    },
    "lightgbm": {"label_gain=0,1,2,3": {"gain": "linear"}},
    "llama_index": {
        "use_granular_hit_rate=True": "{metric}(use_granular_hit_rate=True){cut}",
        "mode=exponential": {},  # all gains are 1
    },
    "mteb": {"users=with truth": {}},
    "pyg": {"LinkPredNDCG | weighted=True": {"gain": "linear"}},
    "ranx": {
        "inputs=objects": {},
        "inputs=dicts": {"ties": "reversed"},
        "make_comparable=True": {},
        "rel_lvl=2": "{metric}{cut}-l2",
    },
    "recpack": {"fitted=y_true": {}},
    "recommenders": {
        "score_type=binary": {},
        "score_type=raw": {"gain": "linear"},
        "score_type=exp": {"gain": "exp2"},
        "discfun_type=loge": {},
        "discfun_type=log2": {"discount": "log2"},
    },
    "rectools": {
        "r_precision=True": {"per": "capped"},
        "divide_by_k=True": {"per": "k"},
        "divide_by_achievable=True": {"ideal": "relevant"},
        "beta=0.5": {"beta": 0.5},
        "insufficient_handling=ignore": {"short": "ignore"},
        "insufficient_handling=exclude": {"short": "skip"},
        "log_base=10": {},  # cancels
    },
    "sentence_transformers": {
        "evaluator=reranking | mrr": LISTED,
        "evaluator=reranking | ndcg": {**LISTED, "ties": "expected"},
        "evaluator=reranking | map": {**LISTED, "ties": "together", "per": "relevant"},
        "evaluator=embeddings | mrr": {**LISTED, "no_truth": "skip", "ties": "best"},
        "evaluator=embeddings | ndcg": {**LISTED, "no_truth": "skip", "ties": "expected"},
        "evaluator=embeddings | map": {**LISTED, "no_truth": "skip", "ties": "together", "per": "relevant"},
    },
    "sklearn": {
        "rows=one by one": {},
        "rows=matrix": {},
        "rows=all together": "row_auc",
        "ignore_ties=True": {"ties": "given"},
    },
    "spark": {
        "users=with a list and truth": {},
        "users=all": {"no_recs": "zero", "no_truth": "zero"},
        "relevances=given": {},  # it ignores them
    },
    "tfranking": {
        "gain_fn=identity": {"gain": "linear"},
        "alpha=0.3": "{metric}(alpha=0.3){cut}",
        "labels=relevance": {},
    },
    "torch_rechub": {
        "users=with a list and truth": {"no_truth": "skip"},
        "users=with a list": {},
    },
    "torchmetrics": {
        "empty_target_action=neg": {},
        "empty_target_action=pos": {"no_truth": "one"},
        "empty_target_action=skip": {"no_truth": "skip"},
        "adaptive_k=True": {"per": "listed"},
        "dtype=float64": {},  # it rounds them all the same
    },
    "trulens": {
        "expect_score=relevance": {},
        "expect_score=1": {},
        "ndcg_at_k | expect_score=1": {"gain": "binary"},
        "ndcg_at_k(k=None) | expect_score=1": {"gain": "binary"},
        "relevance_scores=given": {},
    },
    "trec_eval": {
        "relevance_level=2": {"min_relevance": 2},
        "judged_docs_only_flag=True": {"unjudged": "drop"},
        "mean=True": {},
        **{f"mean=True | {name}": f"count(of={of})" for name, of in COUNTS.items()},
    },
    "xgboost": {
        "minus=False": {},
        "minus=True": "{metric}{cut}-",
        "ndcg_exp_gain=False": {"gain": "linear"},
        "minus=True | ndcg_exp_gain=False": {"gain": "linear", "no_truth": "zero"},
    },
    "xgboost<2": {
        "minus=False": {},
        "minus=True": "{metric}{cut}-",
        "ndcg_exp_gain=False": {},  # it does not know it
    },
}
"""What a library's options are here: words of the metric, fields of the protocol, or a name that says them."""
TRUTH: dict[str, dict[str, Any]] = {"truth=relevance > 0": {}, "truth=every row": {}}

ONCE = "it takes the set of what is listed"
PAIRS = "pairs of items, whose places are not counted here"
NOT_SHARED: dict[str, dict[str, str]] = {
    "elliot": {
        "AUC": "it divides by one more than the irrelevant items",
        "GAUC": "it divides by one more than the irrelevant items",
        "metric_0=MAP | metric_1=MAR": "an F of other metrics than precision and recall",
    },
    "evidently": {"recommendations_type=score": "equal scores stand at the mean of their ranks, cut down"},
    "haystack": {
        "score=relevance | truth=every row": "an item of grade 0 is relevant and worth nothing",
    },
    "haystack<3.1": {
        "score=relevance | truth=every row": "an item of grade 0 is relevant and worth nothing",
        "DocumentRecallEvaluator(multi_hit) | data=duplicates": ONCE,
        "DocumentNDCGEvaluator | data=duplicate_truth": "the row that repeats an item is a further relevant item",
    },
    "ir_measures": {"dcg=exp-log2 | data=duplicate_truth": "gdeval.pl has the item twice in its ideal list"},
    "lenskit": {
        "normalize=True": "RBP over that of a list full of relevant items, which no word says",
        "gain=rating | truth=every row": "an item of grade 0 is relevant and worth nothing",
    },
    "llama_index": {
        "use_granular_mrr=True": "the mean of 1 / rank over the hits",
        "Precision | data=duplicates": ONCE,
        "Recall | data=duplicates": ONCE,
    },
    "pyg": {"LinkPredRecall | weighted=True": "hits and relevant items count as much as their grades"},
    "ranx": {
        "inputs=dicts | data=order": "users are paired by place",
    },
    "recommenders": {
        "auc | truth=relevance > 0": "all rows are relevant",
        "ndcg_at_k | data=duplicates": "each place of an item counts as often as there are such places",
        **{f"{name} | data=duplicates": "each place is a prediction" for name in ("rmse", "mae", "rsquared", "auc")},
        "auc | truth=every row": "its labels are the grades",
        "score_type=raw | truth=every row": "an item of grade 0 is relevant and worth nothing",
        "score_type=exp | truth=every row": "an item of grade 0 is relevant and worth nothing",
    },
    "recbole": {f"{name} | data=duplicates": PAIRS for name in ("AUC", "GAUC")},
    "replay": {
        "Precision | data=duplicates": ONCE,
        "Recall | data=duplicates": ONCE,
        "RocAuc | data=duplicates": PAIRS,
    },
    "rs_metrics": {"recall | data=duplicates": ONCE},
    "torch_rechub": {f"{name} | data=duplicates": PAIRS for name in ("auc", "gauc")},
    "recpack": {
        "y_true=relevance": "it multiplies hits by their grades, so that nDCG passes 1",
    },
    "sklearn": {"log_base=10": "no discount here has that base"},
    "tfranking": {"AlphaDCGMetric | labels=relevance": "a grade of 2 counts as two items of grade 1 do"},
    "xgboost<2": {"pre uncut": "hits are divided by 2^32"},
    "trulens": {"expect_score=relevance | truth=every row": "an item of grade 0 is relevant and worth nothing"},
}
"""What is recorded and not replayed, and why, beside the metrics that the dialects are ``without``."""

TORCH = [f"Retrieval{name}" for name in ("Precision", "Recall", "HitRate", "MAP", "MRR", "RPrecision")]
TENSORFLOW = [
    f"{name}Metric" for name in ("Precision", "Recall", "Hits", "MeanAveragePrecision", "MRR", "NDCG", "DCG", "ARP")
]
KERAS = ("PrecisionAtK", "RecallAtK", "MeanReciprocalRank", "MeanAveragePrecision", "NDCG", "DCG")
CORNAC = ("Precision", "Recall", "FMeasure", "HitRatio", "NDCG", "MRR")
TIED = ("ties", "ties_15", "long_ties")
UNSTABLE = {f"{metric} | data={data}": "equal scores in any order" for metric in TORCH for data in (*TIED, "near_ties")}
DIFFERENT: dict[str, dict[str, str]] = {
    "cornac": {
        f"{metric} | ranks=every item | data={data}": "equal scores in any order" for metric in CORNAC for data in TIED
    },
    "evidently": {"MAPKMetric | data=short": "a hit at the end of a list counts again at each place below"},
    "ignite": {f"HitRate | data={data}": "equal scores in any order" for data in TIED},
    "ir_measures": {
        f"{metric} | data=order": "cwl_eval starts anew where another user's row comes between"
        for metric in ("RBP", "INST", "INSQ", "SDCG@", "NERR8@", "NERR9@", "NERR10", "NERR11", "BPM@")
    }
    | {"Compat | data=negative": "in its ideal list what is not listed has a score of 0"}
    | {"Compat | data=ties_15": "in its ideal list equal scores stand as in the truth"}
    | {"BPM@ | T=2.0 | data=graded": "its thirds add up to less than 2 where they should come to it"},
    "keras_rs": {
        f"{metric} | data={data}": "equal scores in a random order" for metric in KERAS for data in (*TIED, "near_ties")
    },
    "ranx": {"data=long_ties": "equal scores in an order of its own, in lists of 16 items and more"},
    "recpack": {f"data={data}": "equal scores in any order" for data in TIED},
    "sentence_transformers": {
        **{f"evaluator=reranking | mrr | data={data}": "equal scores in any order" for data in TIED},
        "evaluator=embeddings | data=short": "a list without an irrelevant item is left out",
    },
    "sklearn": {f"ignore_ties=True | data={data}": "equal scores in any order" for data in TIED},
    "tfranking": {
        f"{metric} | data={data}": "equal scores in a random order"
        for metric in TENSORFLOW
        for data in (*TIED, "near_ties")
    },
    "torchmetrics": UNSTABLE
    | {f"RetrievalAUROC@ | data={data}": "equal scores in any order" for data in (*TIED, "near_ties")},
    "torchmetrics<1.1.2": UNSTABLE
    | {f"RetrievalNormalizedDCG | data={data}": "equal scores in any order" for data in (*TIED, "near_ties")},
    "trulens": {
        f"{metric}@ | relevance_scores=given | data={data}": "items that tie with the last one are taken, too"
        for metric in ("precision_at_k", "recall_at_k")
        for data in TIED
    },
}
"""What is replayed and differs, and why no convention can say it."""

NO_NUMBER = {
    *(("rs_metrics", "precision"), ("sklearn", "roc_auc_score"), ("trec_eval", "11pt_avg"), ("ir_measures", "nNRBP")),
    *(("trec_eval", f"iprec_at_recall_{recall}") for recall in ("0.00", "0.10", "0.35", "1.00")),
}
"""What is not a number in the library as soon as one user has none; the others' are compared."""

LOGARITHMS = {("trec_eval", "gm_map")}
"""What has the logarithms of its users' values, of which map has the values themselves."""

LEAST = {
    "beir": 3752, "cornac": 6725, "elliot": 8544, "evidently": 628, "haystack": 4565, "haystack<3.1": 4565,
    "ignite": 2152, "ir_measures": 21778, "keras_rs": 3160, "lenskit": 11705, "lightgbm": 1801, "llama_index": 6600,
    "mlflow": 2160, "mteb": 3432, "pyg": 5344, "ragas": 1725, "ranx": 21181, "ranx<0.3.15": 19386, "recbole": 4095,
    "recommenders": 620, "recpack": 4320, "rectools": 8160, "replay": 4080, "rs_metrics": 4060,
    "sentence_transformers": 6496, "sentence_transformers<6": 6496, "sklearn": 3033, "spark": 331, "tfranking": 4128,
    "torch_rechub": 6150, "torchmetrics": 8569, "torchmetrics<1.1.2": 972, "torchmetrics<1.7.4": 9413,
    "trec_eval": 22158, "trulens": 3885, "xgboost": 5215, "xgboost<2": 5066,
}  # fmt: skip
"""How many numbers of each library are compared, at least: means, and the users' own where they are recorded."""


def of_library(table: Mapping[str, Any], name: str) -> Any:
    """What a table says of a dialect: by its name, or that of the library where it is an edition."""
    return table.get(name, table.get(re.split("[<=>]", name)[0], {}))


def file_of(name: str) -> dict[str, Any]:
    """What was recorded of a dialect; an edition has a file of its own, named after library and version."""
    dialect = atkay.list_dialects()[name]
    library = name.removesuffix(dialect.versions)
    edition = f"-{dialect.version}" if dialect.versions else ""
    path = FOLDER / "recorded" / f"{RECORDED.get(library, library)}{edition}.json"
    return dict(json.loads(path.read_text()))


def not_shared(name: str) -> dict[str, str]:
    """What of a library is not replayed: metrics that are not here, in whatever form, and the rest."""
    without = {own + cut: why for own, why in atkay.list_dialects()[name].without.items() for cut in ("", "@")}
    return without | dict(of_library(NOT_SHARED, name))


class Recorded(NamedTuple):
    """A number that a library gave; ``labels`` are its metric (and with "@" or " uncut"), its options, the data set."""

    data: str
    entry: dict[str, Any]
    labels: frozenset[str]


def word_of(name: str, data: str) -> str | None:
    """The word for duplicates under which a dialect is replayed; None where no word fits."""
    library = re.split("[<=>]", name)[0]
    words = REPEATED.get(data, {"error": (name,)})
    return next((word for word, names in words.items() if {name, library} & {*names}), None)


def recorded(name: str) -> list[Recorded]:
    """All that a library said, but for errors, and for repeated items that no word counts as it does."""
    return [
        Recorded(data, entry, _labels(data, entry))
        for data, entries in file_of(name)["data"].items()
        for entry in entries
        if word_of(name, data) and not entry.get("error")
    ]


def _labels(data: str, entry: dict[str, Any]) -> frozenset[str]:
    cut = {f"{entry['metric']}{'@' if entry['k'] else ' uncut'}"}
    options = {f"{option}={value}" for option, value in entry["options"].items()}
    return frozenset({entry["metric"], f"data={data}"} | cut | options)


def matching(table: Mapping[str, Any], labels: frozenset[str]) -> list[str]:
    """The keys all of whose labels are there, those with more labels first."""
    found = [key for key in table if labels.issuperset(key.split(" | "))]
    return sorted(found, key=lambda key: -key.count(" | "))


class Replay(NamedTuple):
    """What to ask for, and the protocol that the options choose."""

    asked: str | Metric
    fields: dict[str, Any]


def replay(spoken: Dialect, one: Recorded) -> Replay | None:
    """How to get a recorded number; None where an option or the metric has no meaning here."""
    template, chosen = "{metric}{cut}", dict[str, Any]()
    left = {f"{option}={value}" for option, value in one.entry["options"].items()}
    options = of_library(OPTIONS, spoken.name) | TRUTH
    for key in matching(options, one.labels):
        if said := left.intersection(key.split(" | ")):
            left -= said
            meaning = options[key]
            template, chosen = (meaning, chosen) if isinstance(meaning, str) else (template, chosen | meaning)
    cut = (of_library(CUT, spoken.name) or "@{}").format(one.entry["k"]) if one.entry["k"] else ""
    name = template.format(metric=one.entry["metric"], cut=cut)
    try:
        metric = speak(spoken, name)[name]
    except SpecError:
        return None
    if (duplicates := word_of(spoken.name, one.data)) not in (None, "error"):
        chosen |= {"duplicates": duplicates}
    fields = {field.name for field in dataclasses.fields(atkay.Protocol)}
    words = {word: value for word, value in chosen.items() if word not in fields}
    asked = dataclasses.replace(metric, **words) if words else name
    return None if left else Replay(asked, {key: value for key, value in chosen.items() if key in fields})


class Answer(NamedTuple):
    """Our number, and those of the users."""

    value: float
    users: dict[str, float]


def answers(name: str, asked: list[tuple[Recorded, Replay]]) -> list[Answer]:
    """Our numbers, those of one data set and one protocol in one call."""
    calls = defaultdict[Any, list[int]](list)
    for place, (one, how) in enumerate(asked):
        given = tuple(one.entry["options"].get(option, "") for option in ("truth", "ranks"))
        [rules] = protocols(atkay.list_dialects()[name], None, how.fields, [how.asked]).values()
        calls[one.data, given, rules, tuple(how.fields.items())].append(place)
    found: dict[int, Answer] = {}
    for (data, given, _, fields), places in calls.items():
        specs = [asked[place][1].asked for place in places]
        recs, truth = frames(data, *given)
        train = truth.filter(pl.col("relevance") > 0)  # on which metrics are fitted that have to be
        result = atkay.evaluate(recs, truth, specs, dialect=name, train=train, **dict(fields))
        for place, spec in zip(places, specs, strict=True):
            name_here = result.names.get(str(spec), str(spec))
            column = (
                result.query_values[:, result.by_query.index(name_here)].tolist()
                if name_here in result.by_query
                else ()
            )
            users = dict(zip(result.ids["user"], column, strict=False))
            found[place] = Answer(result[spec], users)
    return [found[place] for place in range(len(asked))]


def tolerance(name: str, labels: frozenset[str]) -> float:
    if decimals := [of_library(PRINTED, name)[label] for label in labels & set(of_library(PRINTED, name))]:
        return float(10.0 ** -decimals[0] / 2 + 1e-9)
    return 1e-6 if re.split("[<=>]", name)[0] in SINGLE else 1e-9


@pytest.mark.parametrize("name", RUN)
def test_a_dialect_gives_the_numbers_of_the_library(name: str) -> None:
    shared = [one for one in recorded(name) if not matching(not_shared(name), one.labels)]
    found = [(one, replay(atkay.list_dialects()[name], one)) for one in shared]
    assert not [one.labels for one, how in found if how is None], "neither replayed nor listed in NOT_SHARED"
    asked = [(one, how) for one, how in found if how is not None]
    compared, differing = 0, set()
    for (one, how), ours in zip(asked, answers(name, asked), strict=True):
        theirs, exact = one.entry["value"], tolerance(name, one.labels)
        agree = math.isnan(ours.value) if theirs is None else abs(ours.value - theirs) <= exact
        agree |= theirs is None and (name, one.entry["metric"]) in NO_NUMBER
        # Some libraries have no value for a user that then counts as 0.
        of_users = {} if (name, one.entry["metric"]) in LOGARITHMS else one.entry.get("per_user", {})
        users = {user: value for user, value in of_users.items() if value is not None}
        apart = [user for user, value in users.items() if not abs(ours.users.get(user, math.nan) - value) <= exact]
        excused = matching(of_library(DIFFERENT, name), one.labels)
        assert excused or (agree and not apart), (one.data, one.entry["call"], how, ours.value, theirs, apart)
        differing |= set(excused) if apart or not agree else set()
        compared += 0 if excused else 1 + len(users)
    assert differing == set(of_library(DIFFERENT, name)), "an exception that is none any more"
    assert compared >= LEAST[name], compared


def test_what_is_alike_is_here_and_what_is_without_is_not() -> None:
    for each in atkay.list_dialects().values():
        assert {*each.alike.values()} <= {*atkay.list_metrics()}, each.name
        assert not {*each.alike.values()} & {*each.words}, each.name
        assert not {*each.without} & {*each.names, *each.alike}, each.name


@pytest.mark.parametrize("name", RUN)
def test_our_names_mean_what_was_compared(name: str) -> None:
    spoken = atkay.list_dialects()[name]
    replays = [replay(spoken, one) for one in recorded(name)]
    asked = [metric for how in replays if how for metric in speak(spoken, [how.asked]).values()]
    compared = {str(dataclasses.replace(metric, k=None)) for metric in asked}
    for metric, words in spoken.words.items():
        cut = atkay.list_metrics()[metric].cuts and metric not in spoken.uncut
        spec = f"{metric}@5" if cut else metric
        whole = dataclasses.replace(speak(spoken, spec)[spec], k=None)
        assert str(whole) in compared, (metric, words)


def test_nothing_is_excused_that_is_not_recorded() -> None:
    for table in (OPTIONS, NOT_SHARED, DIFFERENT):
        for name, keys in table.items():
            used = {key for one in recorded(name) for key in matching(keys, one.labels)}
            assert used == set(keys), name


@pytest.mark.parametrize("name", RUN)
def test_the_version_is_the_one_that_was_run(name: str) -> None:
    head = file_of(name)
    assert head["installed"]
    assert atkay.list_dialects()[name].version == head["version"]


def test_elliot_by_hand() -> None:
    # User A of the conventions data: hits at 1, 3 and 5. (1 + 1/2 + 2/3 + 2/4 + 3/5) / 5 = 0.6533; user B, hit at 1:
    # (1 + 1/2 + 1/3 + 1/4 + 1/5) / 5 = 0.4567.
    recs = {"A": ["i1", "i9", "i2", "i8", "i3"], "B": ["i1", "i7"], "D": ["i1", "i2", "i3"]}
    truth = {"A": [f"i{n}" for n in range(1, 7)], "B": ["i1", "i2"], "C": ["i1"]}
    result = atkay.evaluate(recs, truth, ["MAP@5", "precision@5", "recall@5"], dialect="elliot")
    assert result.per_query["map(per=places)@5"].to_list() == pytest.approx(
        [3.2666666666666666 / 5, 2.2833333333333333 / 5]
    )
    assert result["precision@5"] == pytest.approx(0.4)
    assert result["recall@5"] == pytest.approx(0.5)


def elliot_ndcg(listed: str, truth: dict[str, float], threshold: float, k: int) -> float:
    """Elliot's nDCG in loops: an item is relevant from the threshold on, and is worth 2^(grade - threshold + 1) - 1."""
    gain = {item: 2 ** (grade - threshold + 1) - 1 for item, grade in truth.items() if grade >= threshold}
    found = sum(gain.get(item, 0) / math.log2(rank + 1) for rank, item in enumerate(listed[:k], 1))
    best = sorted(gain.values(), reverse=True)[:k]
    return found / sum(one / math.log2(rank + 1) for rank, one in enumerate(best, 1))


@pytest.mark.parametrize("threshold", [None, 0, 1, 1.5, 2, 3])
def test_ndcg_of_elliot_counts_gains_from_its_threshold(threshold: float | None) -> None:
    users = {1: ("bxac", {"a": 3.0, "b": 1.0, "c": 2.0, "d": 3.0}), 2: ("dxb", {"a": 5.0, "b": 3.0, "d": 4.0})}
    recs = {user: list(listed) for user, (listed, _) in users.items()}
    truth = {user: wanted for user, (_, wanted) in users.items()}
    fields: dict[str, Any] = {} if threshold is None else {"min_relevance": threshold}
    result = atkay.evaluate(recs, truth, "nDCG@3", dialect="elliot", **fields)
    expected = [elliot_ndcg(listed, wanted, threshold or 0, 3) for listed, wanted in users.values()]
    assert result.query_values[:, 0].tolist() == pytest.approx(expected)


def test_ndcg_of_elliot_by_hand() -> None:
    # By default the threshold is 0: gains are 2^(1+1) - 1 = 3 and 2^(3+1) - 1 = 15.
    recs, truth = {1: ["b", "a"]}, {1: {"a": 3, "b": 1}}
    by_default = (3 + 15 / math.log2(3)) / (15 + 3 / math.log2(3))
    assert atkay.evaluate(recs, truth, "nDCG@2", dialect="elliot")["nDCG@2"] == pytest.approx(by_default)
    # From 2 on a alone is relevant, and its gain of 2^(3-2+1) - 1 = 3 cancels: at rank 2, 1 / log2(3).
    from_2 = atkay.evaluate(recs, truth, ["nDCG@2", "Recall@1"], dialect="elliot", min_relevance=2)
    assert from_2["nDCG@2"] == pytest.approx(1 / math.log2(3))
    assert from_2["Recall@1"] == 0
    why = atkay.explain(recs, truth, "ndcg@2", theirs="elliot")
    assert why.theirs == pytest.approx(by_default)
    example = why.steps[-1].example
    assert example is not None
    assert "(2^(3 - 0 + 1) - 1) / log2(3)" in example.after.arithmetic


def test_a_grade_of_0_is_relevant_to_elliot() -> None:
    # Both items are relevant; b is worth 2^(0+1) - 1 = 1 and a 2^(2+1) - 1 = 7.
    recs, truth = {1: ["b", "x"]}, {1: {"a": 2, "b": 0}}
    result = atkay.evaluate(recs, truth, ["Precision@2", "Recall@2", "nDCG@2"], dialect="elliot")
    expected = [1 / 2, 1 / 2, 1 / (7 + 1 / math.log2(3))]
    assert result.query_values[0].tolist() == pytest.approx(expected)
    assert result.population.hits == 1
    # A threshold of 0 is not none: without it b is judged and not relevant.
    assert atkay.evaluate(recs, truth, "recall@2", min_relevance=0)["recall@2"] == 0.5
    assert atkay.evaluate(recs, truth, "recall@2")["recall@2"] == 0


# Grades 1 and 3 at ranks 1 and 2, and 2 missed: linear gains, the ideal is 3, 2, 1.
LEVELS = ({1: ["b", "a", "x"], 2: ["b"]}, {1: {"a": 3, "b": 1, "c": 2}, 2: {"b": 1, "d": 1}})
NDCG_1 = (1 + 3 / math.log2(3)) / (3 + 2 / math.log2(3) + 1 / 2)
NDCG_2 = 1 / (1 + 1 / math.log2(3))


@pytest.mark.parametrize(
    ("dialect", "names"), [("trec_eval", ("ndcg_cut_3", "P_2")), ("ir_measures", ("nDCG@3", "P@2"))]
)
def test_ndcg_of_trec_eval_ignores_the_level(dialect: str, names: tuple[str, str]) -> None:
    # From grade 2 on user 1 has one hit in the top 2, and user 2 nothing that is relevant: it scores 0, being judged.
    result = atkay.evaluate(*LEVELS, names, dialect=dialect, min_relevance=2)
    assert result.query_values.T.tolist() == [pytest.approx([NDCG_1, NDCG_2]), [0.5, 0]]
    alone = atkay.evaluate(*LEVELS, names[0], dialect=dialect, min_relevance=2)
    assert alone[names[0]] == result[names[0]]
    # With our own words the level holds for everything: 3 at rank 2, ideal 3 and 2.
    ours = atkay.evaluate(*LEVELS, "ndcg(gain=linear)@3", min_relevance=2)
    assert ours.query_values[0, 0] == pytest.approx((3 / math.log2(3)) / (3 + 2 / math.log2(3)))


def test_err_ignores_the_level_with_ndcg() -> None:
    # gdeval takes every grade: 1/16 at rank 1, then 7/16 of the rest at rank 2.
    result = atkay.evaluate(*LEVELS, "ERR@3", dialect="ir_measures", min_relevance=2)
    assert result.query_values[:, 0].tolist() == pytest.approx([1 / 16 + 15 / 16 * 7 / 16 / 2, 1 / 16])


def test_a_level_of_tf_ranking_leaves_ndcg_alone() -> None:
    # A label below 1 is not relevant, and is a gain of 2^0.5 - 1 in nDCG.
    recs, truth = {1: ["a", "b"]}, {1: {"a": 0.5, "b": 1.0}}
    result = atkay.evaluate(recs, truth, ["ndcg@2", "mrr@2"], dialect="tfranking")
    half = 2**0.5 - 1
    assert result["ndcg@2"] == pytest.approx((half + 1 / math.log2(3)) / (1 + half / math.log2(3)))
    assert result["mrr@2"] == 0.5


def test_grades_below_the_level_in_explanations() -> None:
    recs, truth = LEVELS
    why = atkay.explain(recs, truth, "ndcg@3", theirs="trec_eval", min_relevance=2)
    assert why.theirs == pytest.approx((NDCG_1 + NDCG_2) / 2)
    assert [step.names for step in why.moving] == [
        "no_truth: skip → judged",
        "gains: relevant → positive",
        "gain: exp2 → linear",
    ]
    found = atkay.reconcile(recs, truth, {"ndcg@3": why.theirs, "precision@2": 0.25}, min_relevance=2)
    assert "trec_eval" in found.explanations[0].libraries


def test_equal_scores_in_lists_that_ranx_sorts_in_its_own_way() -> None:
    def tied(length: int) -> dict[int, dict[int, float]]:
        return {1: {item: float(item < length - 1) for item in range(length)}, 2: {0: 1.0}}

    def warned(recs: dict[int, dict[int, float]], dialect: str, spec: str = "mrr") -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            atkay.evaluate(recs, {1: [1], 2: [0]}, spec, dialect=dialect)
        return [str(each.message) for each in caught if "may differ from these" in str(each.message)]

    assert warned(tied(15), "ranx") == []
    [message] = warned(tied(16), "ranx")
    assert "decides 1 list with 16 items or more, and ranx sorts such lists with an unstable sort" in message
    assert warned({1: {item: float(item) for item in range(20)}, 2: {0: 1.0}}, "ranx") == []
    assert (
        len(warned(tied(3), "recpack")) == len(warned(tied(3), "cornac")) == len(warned(tied(3), "torchmetrics")) == 1
    )
    # These read equal scores as one, or average over their orders themselves.
    assert warned(tied(3), "cornac", "map") == warned(tied(3), "torchmetrics", "ndcg") == []
    assert warned(tied(30), "trec_eval") == warned(tied(30), "replay") == []


def test_names_and_words() -> None:
    recs, truth = {1: ["a", "x", "b"]}, {1: ["a", "b", "c", "d"]}
    result = atkay.evaluate(recs, truth, ["map_cut_3", "NDCG@3", "P_1"], dialect="trec_eval")
    # (1 + 2/3) / 4, and nDCG with the grade itself as gain
    assert result["map_cut_3"] == result["map@3"] == pytest.approx(5 / 12)
    assert list(result) == ["map@3", "ndcg(gain=linear)@3", "precision@1"]
    assert "map_cut_3" in result
    assert "map_cut_5" not in result
    assert "dialect: pytrec_eval-terrier 0.5.11" in repr(result)
    own = atkay.evaluate(recs, truth, "map(per=hits)@3", dialect="replay")  # what a spec says holds
    assert own["map(per=hits)@3"] == pytest.approx(5 / 6)
    assert atkay.evaluate(recs, truth, "map@3", dialect="replay")["map(per=capped)@3"] == pytest.approx(5 / 9)
    kept = atkay.evaluate(recs | {2: ["x"]}, truth | {2: ["a"], 3: ["b"]}, "hit@1", dialect="trec_eval", no_recs="zero")
    assert kept["hit@1"] == pytest.approx(1 / 3)


def test_what_a_library_does_not_have() -> None:
    with pytest.raises(SpecError, match=r"recpack has no map; this dialect has 'dcg', 'hit', 'ips_hit'"):
        atkay.evaluate({1: ["a"]}, {1: ["a"]}, "map@3", dialect="recpack")
    with pytest.raises(SpecError, match="no mrr with a cutoff"):
        atkay.evaluate({1: ["a"]}, {1: ["a"]}, "mrr@3", dialect="trec_eval")
    with pytest.raises(SpecError, match=r"unknown dialect 'rektools'\. Did you mean 'rectools'"):
        atkay.evaluate({1: ["a"]}, {1: ["a"]}, "mrr@3", dialect="rektools")
    with pytest.raises(ProtocolError, match=r"no argument 'dialekt'\. Did you mean 'dialect'"):
        atkay.evaluate({1: ["a"]}, {1: ["a"]}, "mrr@3", dialekt="ranx")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("dialect", "own", "spec"),
    [
        ("trec_eval", "map_cut_10", "map@10"),
        ("trec_eval", "NDCG_cut_10", "ndcg(gain=linear)@10"),
        ("trec_eval", "relative_P_5", "precision(per=capped)@5"),
        ("trec_eval", "set_f", "f1"),
        ("rectools", "NDCG@10", "ndcg(gain=binary,ideal=full)@10"),
        ("rectools", "F1Beta@5", "f1@5"),
        ("ranx", "ndcg_burges@10", "ndcg@10"),
        ("ranx", "hits", "hit(count=number)"),
        ("ranx", "rbp.95", "rbp(p=0.95,gain=grade)"),
        ("ranx", "precision@5,10", "precision@5,10"),
        ("torchmetrics", "RetrievalMAP", "map(per=hits)"),
        ("torchmetrics", "retrievalauroc", "auc(no_pair=zero)"),
        ("cornac", "FMeasure@5", "f1@5"),
        ("cornac", "HitRatio", "hit"),
        ("lenskit", "RBP@5", "rbp(p=0.85)@5"),
        ("lenskit", "rbp(p=0.5)", "rbp(p=0.5)"),
        ("recbole", "gauc", "group_auc(weight=relevant)"),
        ("recpack", "DCGK@5", "dcg(gain=binary)@5"),
        ("sklearn", "label_ranking_average_precision_score", "map"),
        ("spark", "ndcgAt(5)", "ndcg(gain=binary,discount=ln)@5"),
        ("tfranking", "MRRMetric@5", "mrr@5"),
        ("xgboost", "pre", "precision(per=listed)@32"),
        ("ir_measures", "RBP(rel=1,p=0.5)", "rbp(p=0.5)"),
        ("ir_measures", "SetP", "precision(per=listed)"),
    ],
)
def test_a_librarys_own_names(dialect: str, own: str, spec: str) -> None:
    assert str(speak(atkay.list_dialects()[dialect], own)[own]) == spec


@pytest.mark.parametrize("name", atkay.list_dialects())
def test_a_number_is_the_same_however_it_is_asked_for(name: str) -> None:
    """Alone, with another cutoff, by any of our names: those that the library has itself for another number aside."""
    spoken = atkay.list_dialects()[name]
    for metric in spoken.words:
        cls = atkay.list_metrics()[metric]
        if cls.cuts and metric not in spoken.uncut:
            [alone], [both] = speak(spoken, f"{metric}@3").values(), speak(spoken, f"{metric}@3,5").values()
            assert both.split()[0] == alone
            assert {speak(spoken, [f"{alias}@3"])[f"{alias}@3"] for alias in cls.aliases} <= {alone}
        [whole] = speak(spoken, metric).values()
        assert {speak(spoken, [alias])[alias] for alias in cls.aliases} <= {whole}


def test_recommenders_has_two_average_precisions() -> None:
    # A has hits at 1, 3 and 5 of six relevant items, B one at 1 of two: its map divides by 6, its map_at_k by 5.
    recs = {"A": ["i1", "i9", "i2", "i8", "i3"], "B": ["i1"]}
    truth = {"A": [f"i{n}" for n in range(1, 7)], "B": ["i1", "i2"]}
    result = atkay.evaluate(recs, truth, "map@5,10,ap@5,map_at_k@5", dialect="recommenders")
    total = 1 + 2 / 3 + 3 / 5
    assert result["map@5"] == result["ap@5"] == pytest.approx((total / 6 + 1 / 2) / 2)
    assert result["map_at_k@5"] == pytest.approx((total / 5 + 1 / 2) / 2)


def test_all_names_are_specs() -> None:
    for each in atkay.list_dialects().values():
        for name in each.names:
            tables = name.replace("{table}", "{1: 1}").replace("{gains}", "1=1,2=0.5").replace("{levels}", ".2,0.5")
            own = re.sub(r"\{(p|alpha|beta|recall)\}", "0.5", tables.replace("{zero}", "0"))
            own = re.sub(r"\{\w+\}", "5", own)
            assert speak(each, [own])[own].name in each.words, name
            protocols(each, None, {}, [own])


def test_names_that_say_something_of_the_protocol() -> None:
    recs, truth = {1: ["a", "b"], 2: ["b"]}, {1: {"a": 1, "b": 2}, 2: {"a": 3}}
    # From grade 2 on user 1 has the one hit b at rank 2, user 2 none.
    result = atkay.evaluate(recs, truth, ["mrr@5-l2", "hits-l2"], dialect="ranx")
    assert (result["mrr@5-l2"], result["hits-l2"]) == (0.25, 0.5)
    assert result.protocol.min_relevance == 2
    again = atkay.evaluate(recs, truth, "mrr@5-l2", dialect="ranx", min_relevance=2)
    assert again["mrr@5-l2"] == 0.25
    whole = atkay.evaluate(recs, truth, "mrr-l2", dialect="ranx", exclude={1: ["a"]})
    assert whole["mrr-l2"] == 0.5  # user 1 sees b first
    with pytest.raises(ProtocolError, match=r"mrr@5-l2 sets min_relevance=2, but the call sets min_relevance=3"):
        atkay.evaluate(recs, truth, "mrr@5-l2", dialect="ranx", min_relevance=3)
    with pytest.raises(
        ProtocolError, match=r"map is requested twice, with min_relevance=1\.0 and with min_relevance=2\.0"
    ):
        atkay.evaluate(recs, truth, ["map", "map-l2"], dialect="ranx")


def test_metrics_that_a_library_counts_in_different_ways() -> None:
    # User 2 has a list and no truth: 0 in precision, 1 elsewhere.
    recs, truth = {1: ["a", "x"], 2: ["x"]}, {1: ["a"]}
    assert atkay.evaluate(recs, truth, "pre@1", dialect="xgboost")["pre@1"] == 0.5
    assert atkay.evaluate(recs, truth, ["map@1", "ndcg@1"], dialect="xgboost").to_dict() == {
        "map(per=capped)@1": 1,
        "ndcg@1": 1,
    }
    both = atkay.evaluate(recs, truth, ["pre@1", "ndcg@1"], dialect="xgboost")
    assert (both["pre@1"], both["ndcg@1"]) == (0.5, 1)
    assert both.protocol.no_truth == "one"
    assert {name: rules.no_truth for name, rules in both.apart.items()} == {"precision(per=listed)@1": "zero"}
    mixed = atkay.evaluate(recs, truth, ["pre@1", "ndcg@1"], dialect="xgboost", no_truth="skip")
    assert (mixed["pre@1"], mixed["ndcg@1"]) == (1, 1)
    own = atkay.evaluate(recs, truth, ["pre@1", "ndcg@1"], dialect="xgboost", protocol=atkay.Protocol())
    assert own.population.evaluated == 1
    assert atkay.evaluate(recs, truth, atkay.Precision(k=1), dialect="xgboost")["precision@1"] == 0.5


def test_the_usual_metrics_as_far_as_a_library_has_them() -> None:
    recs, truth = {1: ["a", "x"], 2: ["x"]}, {1: ["a"], 2: ["b"]}
    names = {name: [parse(spec).name for spec in atkay.evaluate(recs, truth, dialect=name)] for name in RUN}
    assert names["ranx"] == ["ndcg", "map", "mrr", "recall", "precision", "hit"]
    assert names["recpack"] == ["ndcg", "mrr", "recall", "precision", "hit"]  # it has no map
    assert names["xgboost"] == ["ndcg", "map", "precision"]
    assert names["cornac"] == ["ndcg", "map", "mrr", "recall", "precision", "hit"]
    assert names["sklearn"] == ["ndcg", "map"]
    result = atkay.evaluate(recs, truth, dialect="trec_eval")
    assert list(result) == ["ndcg(gain=linear)@10", "map@10", "mrr", "recall@10", "precision@10", "hit@10"]


def test_a_cutoff_can_change_the_protocol() -> None:
    recs, truth = {1: {"a": 1.0, "b": 1.0}}, {1: ["a"]}
    assert atkay.evaluate(recs, truth, "RR", dialect="ir_measures")["RR"] == 0.5
    assert atkay.evaluate(recs, truth, "RR@10", dialect="ir_measures")["RR@10"] == 1
    assert "mrr@{k}: ties=text, scores=exact" in repr(atkay.list_dialects())


def test_a_threshold_of_1_needs_no_grades() -> None:
    assert atkay.evaluate({1: ["x", "a"]}, {1: ["a"]}, "mrr", dialect="ranx")["mrr"] == 0.5


def test_users_without_a_list_whose_truth_is_below_the_threshold() -> None:
    # ir-measures counts every user of the truth: user 2 has a grade of 1 alone and no list.
    recs, truth = {1: ["a"]}, {1: {"a": 2}, 2: {"a": 1}}
    assert atkay.evaluate(recs, truth, "P(rel=2)@1", dialect="ir_measures")["P(rel=2)@1"] == 0.5
    assert atkay.evaluate(recs, truth, "P_1", dialect="trec_eval", min_relevance=2)["P_1"] == 1


def test_all_dialects_are_listed() -> None:
    found = atkay.list_dialects()
    assert {name for name, each in found.items() if not each.versions} == {
        "trec_eval", "ir_measures", "ranx",
        "rectools", "replay", "recommenders", "torchmetrics", "recbole", "lenskit",
        "recpack", "rs_metrics", "cornac", "sklearn", "elliot", "tfranking", "lightgbm", "xgboost", "spark",
        "beir", "sentence_transformers", "keras_rs", "torch_rechub",
        "evidently", "haystack", "ignite", "llama_index", "mlflow", "mteb", "pyg", "ragas", "trulens",
        "elasticsearch", "session_rec", "warprec",
    }  # fmt: skip
    assert {name for name, each in found.items() if each.versions} == {
        "haystack<3.1", "ranx<0.3.15", "sentence_transformers<6", "torchmetrics<1.1.2", "torchmetrics<1.7.4",
        "trec_eval>=10", "xgboost<2",
    }  # fmt: skip
    assert [name for name, each in found.items() if each.checked != "run"] == [
        "elasticsearch",
        "session_rec",
        "trec_eval>=10",
        "warprec",
    ]
    assert "from source" in repr(found)
    assert "rectools 0.19.0" in found.to_markdown()


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("torchmetrics==1.0", "torchmetrics<1.1.2"),
        ("torchmetrics==1.5", "torchmetrics<1.7.4"),
        ("torchmetrics<1.7", "torchmetrics<1.7.4"),
        ("torchmetrics==1.8", "torchmetrics"),
        ("haystack==2.31", "haystack<3.1"),
        ("haystack<3.4", "haystack"),
        ("xgboost==1.7.6", "xgboost<2"),
        ("trec_eval==9.0.8", "trec_eval"),
        ("trec_eval==10.0", "trec_eval>=10"),
    ],
)
def test_of_which_version_a_dialect_is(asked: str, name: str) -> None:
    assert find_dialect(asked).name == name


def test_scores_in_single_precision() -> None:
    # 0.1 + 1.1e-9 and 0.1 + 1e-9 are the same metric in float32: then the item's name decides, the later one first.
    recs, truth = {1: {"a": 0.1 + 1.1e-9, "b": 0.1 + 1e-9}}, {1: ["a"]}
    assert atkay.evaluate(recs, truth, "mrr")["mrr"] == 1
    assert atkay.evaluate(recs, truth, "mrr", scores="float32", ties="text_desc")["mrr"] == 0.5
    assert atkay.evaluate(recs, truth, "mrr", scores="float32", ties="text")["mrr"] == 1


def test_ties_by_the_id_as_text() -> None:
    # As text "9" comes after "10"; as integers it comes before.
    recs, truth = {1: {9: 1.0, 10: 1.0}}, {1: [9]}
    values = {ties: atkay.evaluate(recs, truth, "mrr", ties=ties)["mrr"] for ties in ("item", "text", "text_desc")}
    assert values == {"item": 1, "text": 0.5, "text_desc": 1}


def test_items_that_do_not_exist_unless_listed() -> None:
    recs, truth = {1: ["a", "x"]}, {1: {"a": 1, "b": 3}}
    result = atkay.evaluate(recs, truth, ["recall", "ndcg", "map"], unlisted="ignored")
    assert result.to_dict() == {"recall": 1, "ndcg": 1, "map": 1}
    assert result.population.relevant == 1


def test_scores_of_zero_and_below() -> None:
    recs, truth = {1: {"a": -0.1, "x": -0.2}, 2: {"a": 1.0, "x": 0.0}}, {1: ["a"], 2: ["a"]}
    specs = ["precision@1", "recall@1", "map@1", "mrr@1", "hit@1", "ndcg@1"]
    result = atkay.evaluate(recs, truth, specs, nonpositive="missed")
    assert result.query_values.tolist() == [[0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1]]


def test_scores_of_zero_and_below_in_what_is_pooled_and_in_mnap() -> None:
    # User 1's only hit has a score below 0: one hit in two shown items.
    recs, truth = {1: {"a": -1.0, "x": -2.0}, 2: {"a": 1.0}}, {1: ["a"], 2: ["a"]}
    specs = ["precision(average=pooled)@1", "recall(average=pooled)@1", "mnap@1", "map(per=capped)@1"]
    assert atkay.evaluate(recs, truth, specs, nonpositive="missed").to_dict() == dict.fromkeys(specs, 0.5)


def test_users_without_a_list_count_in_ndcg_alone() -> None:
    specs = ["precision@1", "ndcg@1"]
    result = atkay.evaluate({1: ["a"]}, {1: ["a"], 2: ["a"]}, specs, dialect="recommenders")
    assert [result[spec] for spec in specs] == [1, 0.5]
    assert result.summaries["precision@1"].undefined == 1


def test_users_whose_truth_is_all_zero() -> None:
    recs = {1: ["a"], 2: ["a"], 3: ["a"]}
    result = atkay.evaluate(recs, {1: {"a": 1}, 2: {"a": 0}}, "hit@1", no_truth="judged")
    assert result["hit@1"] == 0.5
    assert result.population.evaluated == 2
