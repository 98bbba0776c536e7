"""Card: what one difference means for whoever decides, in a word, a number and a few sentences."""

from __future__ import annotations

import math
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from atkay.comparison.decision import decide
from atkay.comparison.difference import Difference
from atkay.comparison.relative import percent
from atkay.comparison.verdict import amount
from atkay.errors import number_of
from atkay.reporting.charts import colour_of
from atkay.reporting.view import View, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

SEGMENTS_NAMED = 4
"""Segments named in a sentence."""

METRICS_NAMED = 6
"""Metrics named in a sentence."""

VERBS = {"better": "wins {}", "worse": "loses {}", "higher": "is {} higher", "lower": "is {} lower"}

TONES = {"not worse": "even", "equivalent": "even", "cannot tell": "open", "not tested": "open"}
"""The colours of words that are not the colour of a difference."""


class Mark(NamedTuple):
    """A difference in a table: its size, and the word under which it has its colour."""

    text: str
    tone: str


class Card(NamedTuple):
    """The verdict on one difference; each field is a text."""

    title: str
    word: str
    tone: str
    change: str
    why: str
    segments: str
    changed: tuple[str, ...]


def mark(difference: Difference) -> Mark:
    """The relative difference, or the absolute one where there is none, and its colour."""
    return Mark(_change(difference), tone(difference))


def tone(difference: Difference) -> str:
    """The colour of a difference: that of the word by which the two runs stand, and no other."""
    word = colour_of(difference)
    return word.replace(" ", "-")


def _change(difference: Difference) -> str:
    if math.isnan(difference.difference):
        return "–"
    if not difference.difference:
        return "equal"
    relative = difference.relative
    return amount(difference, difference.difference, 4) if math.isnan(relative) else percent(relative)


def card(view: View, difference: Difference) -> Card:
    """The verdict on a difference."""
    assert view.comparison is not None
    least = view.comparison.min_effect.get(difference.metric)
    numbers = sum(each.decided_by is not None for each in view.comparison.differences)
    word, reason = decide(difference, least, numbers if view.comparison.correction != "none" else 1)
    standing = {each.standing(each.run) for each in _in_segments(view, difference)}
    mixed = "worse" in standing and word in ("better", "not worse", "cannot tell")
    run, against = shown(difference.run), shown(difference.against)
    means = [view.means[each][difference.metric].mean for each in (difference.run, difference.against)]
    there = "" if any(map(math.isnan, means)) else f"{run} has {means[0]:.4f}, {against} has {means[1]:.4f}. "
    verdict = difference.verdict
    return Card(
        title=f"{run} compared with {against}, {difference.metric}",
        word=f"{word.capitalize()}{' overall, worse in part' if mixed else ''}",
        tone="mixed" if mixed else TONES.get(word, word),
        change=_change(difference),
        why=f"{there}{verdict[0].upper()}{verdict[1:]}.{_advice(word, reason, least)}",
        segments=by_segment(view, difference),
        changed=tuple(_changed(view, difference)),
    )


def _advice(word: str, reason: str, least: float | None) -> str:
    """What the word rests on, and what would tell more."""
    if reason:
        return f" {reason[0].upper()}{reason[1:]}."
    if least is None and word in ("not worse", "cannot tell"):
        return " With min_effect=, the smallest difference that matters, the page says whether a loss is excluded."
    return ""


def by_segment(view: View, difference: Difference) -> str:
    """The segments with a significant difference, a sentence for each slice; gains first."""
    chosen = [(word, each) for each in _in_segments(view, difference) if (word := each.standing(each.run))]
    chosen.sort(key=lambda of: -abs(of[1].difference))
    sentences = []
    for slicing in dict.fromkeys(each.slice for _, each in chosen):
        of_slice = [(word, each) for word, each in chosen if each.slice == slicing]
        named = sorted(of_slice[:SEGMENTS_NAMED], key=lambda of: of[0] in ("worse", "lower"))
        clauses = [_clause(word, [each for _, each in group]) for word, group in groupby(named, key=itemgetter(0))]
        between = ", and " if len(named) > len(clauses) else " and "
        more = f", and {rest:,} more significant below" if (rest := len(of_slice) - len(named)) else ""
        sentences.append(f"By {shown(slicing)}: {shown(difference.run)} {between.join(clauses)}{more}.")
    return " ".join(sentences)


def _clause(word: str, differences: Sequence[Difference]) -> str:
    """What a run does with some segments, the verb once."""
    first, *others = differences
    begin = f"{VERBS[word].format(_size(first))} with {segment_name(first.segment)}"
    return _several([begin, *(f"{_size(each)} with {segment_name(each.segment)}" for each in others)])


def _in_segments(view: View, difference: Difference) -> list[Difference]:
    return view.segments.get((difference.metric, difference.run, difference.against), [])


def _size(difference: Difference) -> str:
    return _change(difference).lstrip("+-")


def segment_name(segment: str | None) -> str:
    """The name of a segment; some users may have none."""
    return "(none)" if segment is None else shown(segment)


def _several(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _changed(view: View, difference: Difference) -> list[str]:
    """What else changed between the two runs: users, other metrics, users without lists."""
    lines = []
    if difference.wins is not None and difference.losses is not None:
        up, down = ("higher", "lower") if difference.better == "neither" else ("better", "worse")
        lines.append(
            f"{number_of(difference.users, 'user')}: {difference.wins:,} {up}, {difference.losses:,} {down}, "
            f"{difference.ties:,} equal in {difference.metric}."
        )
    if (difference.run, difference.against) in view.changes:
        lines.append(view.changes[difference.run, difference.against])
    lines += [*_other_metrics(view, difference), *_without_list(view, difference)]
    return lines or ["Nothing else was measured."]


def _other_metrics(view: View, difference: Difference) -> list[str]:
    """The other metrics at the same cutoff, by what was found."""
    by_name = {str(metric): metric for metric in view.metrics}
    cutoff = by_name[difference.metric].k
    groups: dict[str, list[str]] = {}
    for each in view.pairs[difference.run, difference.against]:
        metric = by_name[each.metric]
        if each.metric != difference.metric and (metric.k is None or metric.k == cutoff):
            groups.setdefault(_group(each), []).append(f"{each.metric} {_change(each)}")
    order = [name for name in GROUPS if name in groups]
    return [f"{name}: {_listed(groups[name])}." for name in order]


GROUPS = (
    "Significantly better",
    "Significantly worse",
    "Significantly higher",
    "Significantly lower",
    "No significant difference",
    "Contradictory",
    "Not tested",
)


def _group(difference: Difference) -> str:
    if not difference.decided_by or difference.contradicted:
        return "Contradictory" if difference.decided_by else "Not tested"
    word = difference.standing(difference.run)
    return f"Significantly {word}" if word else "No significant difference"


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - METRICS_NAMED
    return ", ".join(names[:METRICS_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


def _without_list(view: View, difference: Difference) -> list[str]:
    runs = [run for run in (difference.run, difference.against) if run in view.results]
    missing = {run: view.results[run].population.without_list for run in runs}
    if len(set(missing.values())) < 2:
        return []
    counts = (f"{count:,} for {shown(run)}" for run, count in missing.items())
    return [f"Users with truth but no list: {', '.join(counts)}."]
