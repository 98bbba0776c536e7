"""Population: how many users and items were counted, and the sentences that say so."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from atkay.errors import number_of
from atkay.metrics.metric import Metric, RunMetric, is_pooled
from atkay.protocol import Protocol
from atkay.text.help import Visible

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Population(Visible):
    """Counts of users and items in an evaluation.

    Users: ``evaluated`` enter the means; ``without_list`` have truth but no list, ``without_truth`` a list but no
    relevant item (the protocol decides whether they count); ``emptied`` had a list that filters left empty.

    Rows: ``relevant`` items in the truth of all users, and ``hits`` among them; ``listed`` items as given. Of these,
    ``unknown`` are not in the truth of any user, ``tied`` share their score with another item of the list, and
    ``duplicated``, ``excluded``, ``outside`` (not a candidate), ``beyond`` (the depth) and ``unjudged`` were removed.

    ``tie_decided`` counts the lists whose values depend on the order of ties: a tie starts within the deepest cutoff
    and holds items of different relevance, or a cutoff of a metric of whole lists goes through it; for metrics that
    weigh items by more than relevance (alpha_ndcg, epc, exposure, ...), any tie that starts there.
    ``tie_decided_long`` counts those with at least QUICKSORT_LENGTH items.
    """

    _internal = "merge tie_decided_long"

    evaluated: int = 0
    without_list: int = 0
    without_truth: int = 0
    emptied: int = 0
    relevant: int = 0
    hits: int = 0
    listed: int = 0
    unknown: int = 0
    excluded: int = 0
    outside: int = 0
    beyond: int = 0
    unjudged: int = 0
    duplicated: int = 0
    tied: int = 0
    tie_decided: int = 0
    tie_decided_long: int = 0

    def merge(self, other: Population) -> Population:
        """The counts of both parts of the users."""
        return Population(**{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)})

    def sentences(
        self, protocol: Protocol, metrics: Sequence[Metric], unit: str = "user", *, apart: bool = False
    ) -> list[str]:
        """The counts in words; ``unit`` is "user" or "query".

        ``apart``: some metrics have another protocol, which may score such users differently.
        """
        skipped, missed = _without_list(protocol, metrics), _without_truth(protocol, metrics)
        if apart:
            skipped = missed = "counted by each metric's protocol"
        users = [f"{number_of(self.evaluated, unit)} evaluated"]
        if self.without_list:
            users.append(f"{self.without_list:,} without a list ({skipped})")
        if self.without_truth:
            users.append(f"{self.without_truth:,} without truth ({missed})")
        if self.emptied:
            users.append(f"{self.emptied:,} with an empty list after filtering")
        listed = number_of(self.listed, "listed item")
        rows = [f"{number_of(self.hits, 'hit')} in {listed}, {self.relevant:,} relevant"]
        rows += [
            f"{count:,} {what}"
            for count, what in (
                (self.excluded, "excluded"),
                (self.outside, "outside the candidates"),
                (self.beyond, "beyond the depth"),
                (self.unjudged, "unjudged items dropped"),
                (self.duplicated, "duplicates dropped"),
                (self.tied, f"tied (ties={protocol.ties})"),
            )
            if count
        ]
        if self.tie_decided:
            lists = number_of(self.tie_decided, "list")
            rows.append(f"{lists} {protocol.trait('ties', 'takes') or 'decided by the order of ties'}")
        return ["; ".join(users), "; ".join(rows)]


def _without_list(protocol: Protocol, metrics: Sequence[Metric]) -> str:
    """What users with truth but no list score: that of an empty list, 0 in most metrics."""
    if protocol.no_recs == "skip":
        return "skipped"
    of_users = [each for each in metrics if not isinstance(each, RunMetric)]
    all_zero = of_users and all(
        each.needs_truth and not (each.partial or is_pooled(each) or each.of_empty) for each in of_users
    )
    return "scored 0" if all_zero else "counted with an empty list"


def _without_truth(protocol: Protocol, metrics: Sequence[Metric]) -> str:
    """What users with a list but no relevant item score; some metrics treat them like any other user."""
    if protocol.no_truth == "skip" or all(isinstance(each, RunMetric) and each.needs_truth for each in metrics):
        return "skipped"
    best = protocol.no_truth == "one"
    gains = protocol.gains == "positive" and protocol.min_relevance is not None and not best
    about_truth = [
        each
        for each in metrics
        if each.needs_truth and not (isinstance(each, RunMetric) or is_pooled(each) or (gains and each.by_grade))
    ]
    scored = [str(each) for each in about_truth if each.better != "lower"]
    without = "without a value" if len(about_truth) == len(metrics) else "counted"
    score = f"scored {1 if best else 0}" if scored else without
    if 0 < len(scored) < len(metrics):
        score += f" by {', '.join(scored)}"
    return f"{score} if any item was judged" if protocol.no_truth == "judged" else score
