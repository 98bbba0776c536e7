"""Gate result: the outcome of a gate, as text, Markdown, JUnit XML and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from atkay.comparison.checked import Checked, Outcome
from atkay.errors import NumberError, offer
from atkay.metrics.metric import Metric
from atkay.results.summary import cells
from atkay.text.grid import Grid, Tables
from atkay.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from atkay.comparison.comparison import Comparison
    from atkay.results.summary import Summary

JUNIT = {"worse": "failure", "cannot tell": "skipped"}
"""The element of JUnit XML for an outcome; "not worse" has none."""


@dataclass(frozen=True, eq=False, repr=False)
class GateResult(Tables):
    """The outcome of a gate; prints as a table and exports to Markdown, JUnit XML, JSON and Polars.

    ``outcome`` is "worse" if any number is worse; "not worse" if the main metric is not, nor any guardrail that has a
    ``min_effect``; and else "cannot tell". Segments, and guardrails without ``min_effect``, can only be worse.
    ``checked`` holds each number (:class:`Checked`), ``gate["ndcg@10"]`` is one of them, and ``comparison`` is the
    :class:`Comparison` of "run" and "baseline".
    """

    checked: tuple[Checked, ...]
    comparison: Comparison

    def __getitem__(self, metric: str | Metric) -> Checked:
        name = self.comparison.names.get(str(metric), str(metric))
        for each in self.checked:
            if each.name == name:
                return each
        raise NumberError(f"'{metric}' was not checked. {offer(name, [each.name for each in self.checked])}")

    def __iter__(self) -> Iterator[Checked]:
        return iter(self.checked)

    def __len__(self) -> int:
        return len(self.checked)

    @cached_property
    def outcome(self) -> Outcome:
        """The outcome: "worse", "not worse" or "cannot tell"."""
        if self._of("worse"):
            return "worse"
        main, *others = self.checked
        deciding = [main, *(each for each in others if each.segment is None and not math.isnan(each.min_effect))]
        return "not worse" if all(each.outcome == "not worse" for each in deciding) else "cannot tell"

    def _of(self, outcome: Outcome) -> list[Checked]:
        return [each for each in self.checked if each.outcome == outcome]

    @property
    def headline(self) -> str:
        """The outcome, and the number that decides it: the largest loss, or the main metric."""
        main = self.checked[0]
        shown = min(self._of("worse") or [main], key=lambda each: (each is not main, each.p))
        return f"{self.outcome}: {shown.name} {shown.estimate}{shown.reason}"

    def _parts(self, *, bold: bool) -> list[Grid | Sequence[str]]:
        return [[f"gate: {self.headline}"], self._grid(), self.notes]

    def _grid(self) -> Grid:
        segments = any(each.segment for each in self.checked)
        header = ["metric", *(["segment"] if segments else []), "users", "baseline", "run", "outcome", "difference"]
        rows = [
            [
                each.metric,
                *([each.segment or ""] if segments else []),
                f"{each.difference.users:,}",
                *self._means(each),
                each.outcome,
                f"{each.estimate}{each.reason}",
            ]
            for each in self.checked
        ]
        return Grid(header, rows, right=("users", "baseline", "run"))

    def _summary(self, each: Checked, run: str) -> Summary | None:
        where, means = each.difference.slice, self.comparison.means
        if where is not None:
            means = self.comparison.segment_means.get((where, each.difference.segment), {})
        return means[run][each.metric] if run in means else None

    def _means(self, each: Checked) -> list[str]:
        summaries = (self._summary(each, run) for run in ("baseline", "run"))
        return ["–" if summary is None else cells(summary)[0] for summary in summaries]

    @property
    def notes(self) -> list[str]:
        """How the outcomes come about."""
        first, tested = self.checked[0], self.checked[0].numbers
        tests = "anytime-valid" if first.anytime else " and ".join(self.comparison.tests)
        corrected = f", corrected for {tested} numbers" if tested > 1 else ""
        worse = f"worse: a loss that is significant at 5 % (one-sided {tests} test{corrected})"
        if all(math.isnan(each.min_effect) for each in self.checked):
            notes = [worse, "not worse: significantly better; pass min_effect to accept all that excludes such a loss"]
        else:
            notes = [
                f"{worse}, unless the interval excludes a loss of min_effect",
                "not worse: the interval excludes a loss of min_effect",
            ]
        if first.anytime:
            notes.append(
                "differences are of all looks so far, with confidence sequences, which hold at all looks together; "
                "baseline and run are of this look"
            )
        known = [each for each in self.checked if each.segment is None and not math.isnan(each.power)]
        notes += [
            f"{each.metric}: these {each.difference.users:,} users show a true {each.loss.removeprefix('a ')} with "
            f"power {each.power:.2f}"
            for each in known
        ]
        return notes

    def to_polars(self) -> pl.DataFrame:
        """A row per number."""
        import polars as pl

        return pl.DataFrame(self.to_dict()["checked"], infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Everything as a JSON-compatible dict."""
        return {
            "outcome": self.outcome,
            "headline": self.headline,
            "checked": [
                {
                    "metric": each.metric,
                    "slice": each.difference.slice,
                    "segment": each.difference.segment,
                    "outcome": each.outcome,
                    "better": each.difference.better,
                    "difference": _or_null(each.difference.difference),
                    "low": _or_null(each.difference.low),
                    "high": _or_null(each.difference.high),
                    "p": _or_null(each.p),
                    "min_effect": _or_null(each.min_effect),
                    "power": _or_null(each.power),
                    "users": each.difference.users,
                    "more_users": _or_null(each.more_users) if each.outcome == "cannot tell" else None,
                    "verdict": each.verdict,
                }
                for each in self.checked
            ],
            "notes": [*self.notes, *self.comparison.notes],
            "atkay": self.comparison.version,
        }

    def to_json(self) -> str:
        """Everything as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=2)

    def to_latex(self) -> str:
        """The table in LaTeX, for the booktabs package."""
        return self._grid().latex()

    def to_junit(self) -> str:
        """JUnit XML: a test case per number, failed if worse and skipped if it cannot be told."""
        # mypy takes the keys, which are outcomes, for any text
        counts = {element: str(len(self._of(outcome))) for outcome, element in JUNIT.items()}  # type: ignore[arg-type]
        suite = ElementTree.Element(
            "testsuite",
            name="atkay gate",
            tests=str(len(self.checked)),
            failures=counts["failure"],
            errors="0",
            skipped=counts["skipped"],
        )
        for each in self.checked:
            case = ElementTree.SubElement(suite, "testcase", classname="atkay.gate", name=printable(each.name))
            if each.outcome in JUNIT:
                ElementTree.SubElement(case, JUNIT[each.outcome], message=printable(each.verdict))
            else:
                ElementTree.SubElement(case, "system-out").text = printable(each.verdict)
        ElementTree.indent(suite)
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _or_null(number: float) -> float | None:
    return number if math.isfinite(number) else None
