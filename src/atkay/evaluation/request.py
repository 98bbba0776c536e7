"""Request: the arguments of a call, checked before anything is read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from atkay.aggregates import Aggregate
from atkay.core.types import WHOLE
from atkay.errors import ProtocolError, SideError, listing, shown
from atkay.metrics.metric import Metric, RunMetric
from atkay.metrics.registry import list_metrics
from atkay.metrics.spec import parse_all
from atkay.protocol import Protocol
from atkay.tables import TABLES
from atkay.text.phrases import argument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from atkay.inputs.columns import Columns
    from atkay.metrics.sampled import Sampled

DEFAULT = Protocol()

USUAL = ("ndcg@10", "map@10", "mrr@10", "recall@10", "precision@10", "hit@10")


@dataclass(frozen=True, eq=False)
class Request:
    """Metrics and protocol, the tables of the call and the names of their columns.

    Where a dialect is spoken, ``dialect`` is the library's title and ``names`` has its names for the metrics.
    """

    metrics: tuple[Metric, ...]
    protocol: Protocol
    apart: Mapping[Metric, Protocol] = field(default_factory=dict)
    """The numbers that are counted under another protocol."""
    tables: Mapping[str, Any] = field(default_factory=dict)
    columns: Columns | Mapping[str, Columns] | None = None
    users: Any = None
    """The ids of the rows of arrays."""
    sampled: Sampled | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    dialect: str | None = None
    by_score: bool = False
    """The dialect's library goes by scores where there are ranks, too."""
    cluster: str | None = None
    """The column whose values are the clusters, where no table says."""

    @classmethod
    def of(
        cls,
        metrics: str | Metric | Iterable[str | Metric],
        protocol: Protocol | None = None,
        fields: Mapping[str, Any] | None = None,
        *,
        dialect: str | None = None,
        tables: Mapping[str, Any] | None = None,
        columns: Columns | Mapping[str, Columns] | None = None,
        users: Any = None,
        sampled: Sampled | None = None,
    ) -> Request:
        """What the arguments of a call ask for; tables that are None were not given."""
        fields, read = fields or {}, tables is not None
        if protocol is not None and not isinstance(protocol, Protocol):
            raise ProtocolError(f"evaluate: protocol must be a Protocol(...), got {shown(protocol)}.")
        names: dict[str, str] = {}
        apart: dict[Metric, Protocol] = {}
        title, by_score = None, False
        if dialect is None:
            rules = (protocol or DEFAULT).with_fields(**fields)
        else:
            from atkay.dialects.dialect import find_dialect
            from atkay.evaluation.spoken import goes_by_score, main_protocol, protocols, speak, spoken, usual

            library = find_dialect(dialect)
            specs = spoken(library, usual(library, USUAL) if metrics is USUAL else metrics)
            metric_of = speak(library, specs)
            names, metrics = {name: str(metric) for name, metric in metric_of.items()}, list(metric_of.values())
            rules, of_metric = main_protocol(library, protocol, fields), protocols(library, protocol, fields, specs)
            if rules not in of_metric.values():
                rules = next(iter(of_metric.values()), rules)
            apart = {metric: settled for metric, settled in of_metric.items() if settled != rules}
            title, by_score = library.title, goes_by_score(library, protocol, fields)
        tables, cluster = _cluster_of(tables or {})
        request = cls(
            metrics=parse_all(metrics),
            protocol=rules,
            apart=apart,
            tables={
                name: table
                for name, table in tables.items()
                if table is not None or name in ("recs", "truth")  # which are refused when they are read
            },
            columns=columns,
            users=users,
            sampled=sampled,
            names=names,
            dialect=title,
            by_score=by_score,
            cluster=cluster,
        )
        request._check_sampled()
        request.check_weights()
        if read:
            rules.check_filters(request.tables)
        return request

    @property
    def protocols(self) -> tuple[Protocol, ...]:
        """The main protocol, and those of the numbers that are counted otherwise."""
        return self.protocol, *dict.fromkeys(self.apart.values())

    @property
    def depth(self) -> int | None:
        """The depth to which lists matter; None for whole lists."""
        deepest = max(metric.reach for metric in self.metrics)
        further = any(each.unjudged == "drop" or each.unlisted == "ignored" for each in self.protocols)
        return None if deepest == WHOLE or further else deepest

    @property
    def precision(self) -> str:
        """The coarsest precision in which scores are compared."""
        return "float32" if any(each.scores == "float32" for each in self.protocols) else "exact"

    @property
    def subtopics(self) -> bool:
        """Whether a metric needs subtopics that the truth alone can have."""
        return "features" not in self.tables and any(metric.by_subtopic for metric in self.metrics)

    def check(self, *implied: str) -> None:
        """Every metric has the tables that it needs, given or ``implied``, and what ties and duplicates ask of it."""
        for metric in self.metrics:
            of_truth = metric.by_subtopic and "truth" in self.tables  # which tells when it is read
            for table in () if of_truth else metric.needs:
                if table not in self.tables and table not in implied:
                    needed = f"{metric} needs {argument(table)}: {TABLES[table].meaning}."
                    of_lists = " Subtopics of the truth are for evaluate(recs, truth, ...) alone."
                    raise SideError(needed + of_lists * metric.by_subtopic)
        for each in self.by_protocol():
            check_averages(each.metrics, each.protocol)
            check_repeats(each.metrics, each.protocol)

    def by_protocol(self) -> list[Request]:
        """A request for each protocol and the metrics that are counted under it; the main one comes first."""
        if not self.apart:
            return [self]
        groups: dict[Protocol, list[Metric]] = {self.protocol: []}
        for metric in self.metrics:
            groups.setdefault(self.apart.get(metric.split()[0], self.protocol), []).append(metric)
        return [
            replace(self, protocol=protocol, metrics=tuple(metrics), apart={}) for protocol, metrics in groups.items()
        ]

    def check_weights(self) -> None:
        """Users have weights in means."""
        ordered = [each.aggregate for each in self.protocols if Aggregate.of(each.aggregate).ordered]
        given = [name for name in ("weights", "cluster") if name in self.tables or (name == "cluster" and self.cluster)]
        if ordered and given:
            raise ProtocolError(
                f"evaluate: {argument(given[0])} is for {argument('aggregate', 'mean')} or geometric, not for "
                f"{ordered[0]}. Leave out one of them."
            )
        rows = [str(metric) for metric in self.metrics if isinstance(metric, RunMetric) and metric.reads_scores]
        if rows and "weights" in self.tables:
            raise ProtocolError(
                f"evaluate: {argument('weights')} weighs the values of users, and {rows[0]} is one number of all rows. "
                "Leave it out, or take a metric with a value for each user, such as mse or user_rmse."
            )

    def _check_sampled(self) -> None:
        """An estimate is of one user's rank: other numbers have none."""
        from atkay.metrics.sampled import Sampled, check_of_rank

        if self.sampled is None:
            return
        if not isinstance(self.sampled, Sampled):
            raise ProtocolError(
                f"evaluate: sampled must be Sampled(catalog_size=..., negatives=...), got {shown(self.sampled)}."
            )
        for metric in self.metrics if self.sampled.estimator != "none" else ():
            check_of_rank(metric)


def _cluster_of(tables: Mapping[str, Any]) -> tuple[Mapping[str, Any], str | None]:
    """The tables, and the column that ``cluster`` names where it is no file."""
    given = tables.get("cluster")
    if not isinstance(given, str):
        return tables, None
    from atkay.inputs.files import means_file

    if means_file(given):
        return tables, None
    return {name: table for name, table in tables.items() if name != "cluster"}, given


def check_averages(metrics: Sequence[Metric], protocol: Protocol) -> None:
    """Check that every metric supports the chosen ties."""
    if protocol.trait("ties", "takes") and (without := [each for each in metrics if not each.averages]):
        averaging = [name for name, cls in sorted(list_metrics().items()) if cls.averages]
        raise ProtocolError(
            f"{without[0]} does not support {argument('ties', protocol.ties)}; {listing(averaging)} do. "
            f"Choose {argument('ties', 'random')}, or leave the metric out."
        )


def check_repeats(metrics: Sequence[Metric], protocol: Protocol) -> None:
    """Check that every metric can count an item twice, where the protocol counts it so."""
    if protocol.duplicates == "counted" and (without := [each for each in metrics if not each.repeats]):
        adding = [name for name, cls in sorted(list_metrics().items()) if cls.repeats]
        raise ProtocolError(
            f"{without[0]} does not support {argument('duplicates', 'counted')}, as it does more than add up hits; "
            f"{listing(adding)} do. Choose {argument('duplicates', 'first')}, or leave the metric out."
        )
