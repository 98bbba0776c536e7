"""TF-Ranking: a ragged row for each user with a list, of the listed items in file order. Relevant items that are not
listed are unknown to it, a user without a list has no row, and one without truth has labels of zero. Equal scores are
shuffled; the seed is set before each data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf
import tensorflow_ranking as tfr
from entries import CUTOFFS, Data, Entry, grouped

INPUTS = {
    "labels": "ragged tensor: the relevance of each listed item, 0 if it has none",
    "scores": "ragged tensor: scores of recs.csv, in single precision",
    "judged, dense": "labels and scores as matrices, for bpref, which takes no ragged ones: the label is -1 where "
    "truth.csv has no row, as its text asks for, and in places that a short list lacks",
    "identity": "tfr.keras.utils.identity",
    "lists": "lambda metric: {user: value} as they are before the average; NaN for a list of no weight",
    "preferences": "the same for bpref, from tfr.metrics.metrics_impl",
    "topics": "ragged tensor: for each listed item a row of 1 where it is relevant to a subtopic and 0 elsewhere, of "
    "graded_topics the relevance itself; subtopics in the order of their text",
    "places": "ragged tensor: scores that fall from place to place, in place of scores that are shuffled where equal",
    "of_topics, of_graded_topics": "lambda metric: {user: value} for these labels",
}
CUT = ("MRRMetric", "HitsMetric", "PrecisionMetric", "RecallMetric", "MeanAveragePrecisionMetric")
GAINS = ("NDCGMetric", "DCGMetric")
WHOLE = ("ARPMetric", "OPAMetric")


def ask(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    tf.random.set_seed(0)
    rows = grouped(data.recs)
    own = [[(data.grades.get(user, {}).get(item), score) for item, score in row] for user, row in rows.items()]
    length = max(map(len, own))

    def padded(values: list[list[float]], blank: float) -> Any:
        return tf.constant([row + [blank] * (length - len(row)) for row in values], tf.float32)

    labels = tf.ragged.constant([[float(grade or 0) for grade, _ in row] for row in own])
    scores = tf.ragged.constant([[score for _, score in row] for row in own])
    judged = padded([[-1.0 if grade is None else float(grade) for grade, _ in row] for row in own], -1.0)
    dense = padded([[score for _, score in row] for row in own], 0.0)

    def named(values: Any, weights: Any) -> Mapping[str, float]:
        each = zip(values.numpy().ravel(), weights.numpy().ravel(), strict=True)
        return dict(zip(rows, (value if weight > 0 else float("nan") for value, weight in each), strict=True))

    def preferences(k: int | None) -> Mapping[str, float]:
        metric = tfr.metrics.metrics_impl.BPrefMetric("bpref", k)
        return named(*metric.compute(judged, dense))

    scope = {name: getattr(tfr.keras.metrics, name) for name in (*CUT, *GAINS, *WHOLE)}
    scope |= {"labels": labels, "scores": scores, "judged": judged, "dense": dense, "preferences": preferences}
    scope |= {"identity": tfr.keras.utils.identity, "compute_mean": tfr.metrics.compute_mean}
    scope["lists"] = lambda metric: named(*metric._metric.compute(labels, scores, None))
    return scope, entries(data)


def entries(data: Data) -> Iterator[Entry]:
    graded = any(grade > 1 for _, _, grade in data.truth)
    for name in (*CUT, *GAINS, *WHOLE):
        for k in (None,) if name in WHOLE else (None, *CUTOFFS):
            for gain in ("", "identity") if graded and name in GAINS else ("",):
                options = ({"topn": k} if k else {}) | ({"gain_fn": gain} if gain else {})
                given = "".join(f"{key}={value}, " for key, value in options.items())
                made = f"{name}({given}ragged=True)"
                chosen = {"gain_fn": gain} if gain else {}
                yield Entry(name, f"{made}(labels, scores)", k, chosen, f"lists({made})")
    for k in (None, *CUTOFFS):
        call = f"compute_mean('bpref', judged, dense, topn={k})"
        yield Entry("bpref", call, k, {}, f"preferences({k})")


def ask_of_subtopics(data: Data) -> tuple[dict[str, Any], Iterator[Entry]]:
    tf.random.set_seed(0)
    names = sorted(set(data.subtopics), key=int)
    grades = {(user, item, topic): grade for (user, item, grade), topic in zip(data.truth, data.subtopics, strict=True)}
    graded = tf.ragged.constant(
        [
            [[float(max(grades.get((user, item, topic), 0), 0)) for topic in names] for item in items]
            for user, items in data.lists.items()
        ],
        inner_shape=(len(names),),
    )
    topics = tf.ragged.map_flat_values(tf.minimum, graded, 1.0)
    places = tf.ragged.constant([[-float(place) for place in range(len(items))] for items in data.lists.values()])

    def each(metric: Any, labels: Any) -> Mapping[str, float]:
        values, _ = metric._metric.compute(labels, places, None)
        return dict(zip(data.lists, values.numpy().ravel(), strict=True))

    scope = {name: getattr(tfr.keras.metrics, name) for name in ("AlphaDCGMetric", "PrecisionIAMetric")}
    scope |= {"topics": topics, "graded_topics": graded, "places": places}
    scope |= {"of_topics": lambda metric: each(metric, topics), "of_graded_topics": lambda metric: each(metric, graded)}
    return scope, entries_of_subtopics()


def entries_of_subtopics() -> Iterator[Entry]:
    for name, options in (("AlphaDCGMetric", {}), ("AlphaDCGMetric", {"alpha": 0.3}), ("PrecisionIAMetric", {})):
        for k in (None, 1, 5, 10, 20):
            for labels in ("topics", "graded_topics"):
                given = "".join(f"{key}={value}, " for key, value in (options | ({"topn": k} if k else {})).items())
                made = f"{name}({given}ragged=True)"
                chosen = options | ({"labels": "relevance"} if labels == "graded_topics" else {})
                yield Entry(name, f"{made}({labels}, places)", k, chosen, f"of_{labels}({made})")
