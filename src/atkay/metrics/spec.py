"""Specs: how a metric is written down, and read.

::

    spec     = name [ "(" field "=" word { "," field "=" word } ")" ] [ "@" cutoff { "," cutoff } ]
    ndcg@10    map(per=hits)@10    recall(per=capped)@5,10,20    f1(beta=2)    dcg(gain={1:1,2:3})

Without ``@`` nothing is cut. Names and words are case-insensitive.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

from atkay.errors import SpecError, nearest, offer, shown
from atkay.metrics.metric import PARSED, PARSED_TOGETHER, Metric, bad_cutoff, conventions
from atkay.metrics.registry import by_alias
from atkay.metrics.worked import printed
from atkay.text.phrases import between_commas, either
from atkay.words import words_of

MOST_DIGITS = 20
"""Digits of a cutoff that are read: Python refuses to read thousands of them."""

SPECS_KEPT = 1000
"""Specs kept in the cache: parsing one takes longer than evaluating a user."""

_SPEC = re.compile(r"\s*([^()@,=]+?)\s*(?:\(([^()]*)\))?\s*(?:@(.*))?", re.DOTALL)
_BETWEEN_SPECS = re.compile(r",(?!\s*[-.=\d]+\s*(?:,|$))(?![^()]*\))")
"""A comma before a number stands between cutoffs, or parameters of a name, as in trec_eval's ``ndcg.1=3,2=9``."""


def parse(spec: str | Metric) -> Metric:
    """The metric that a spec names.

    >>> atkay.parse("NDCG(gain=linear)@10")
    NDCG(k=10, gain='linear', discount='log2', ideal='relevant')
    >>> str(atkay.parse("p @ 5, 10"))
    'precision@5,10'
    """
    if isinstance(spec, Metric) and hasattr(spec, "name"):
        return spec
    if isinstance(spec, str) and spec in PARSED:
        return PARSED[spec]
    if isinstance(spec, type) and issubclass(spec, Metric):
        raise SpecError(f"{spec.__name__} is a class; write {spec.__name__}() or {spec.__name__}(k=10).")
    closed = isinstance(spec, str) and spec.count("(") == spec.count(")") and spec.count("{") == spec.count("}")
    match = _SPEC.fullmatch(spec) if isinstance(spec, str) and closed else None
    if match is None or not isinstance(spec, str):
        bracket = "a bracket is missing; " if isinstance(spec, str) and not closed else ""
        raise SpecError(
            f"cannot read {shown(spec)} as a metric; {bracket}write a spec such as 'ndcg@10' or 'map(per=hits)@5,10'."
        )
    name, chosen, cut = match.groups()
    cls = by_alias().get(re.sub(r"[\s-]+", "_", name.lower()))
    if cls is None:
        near = dict.fromkeys(by_alias()[alias].name for alias in nearest(name[:80], by_alias()))
        meant = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise SpecError(
            f"unknown metric {shown(name)}.{meant} {either('atkay.list_metrics()', '`atkay metrics`')} lists "
            f"all metrics."
        )
    metric = cls(**_parse_choices(cls, chosen), k=None if cut is None else _parse_cutoffs(cls.name, spec, cut))
    if len(PARSED) >= SPECS_KEPT:
        PARSED.clear()
    PARSED[spec] = metric
    return metric


def _parse_choices(cls: type[Metric], chosen: str | None) -> dict[str, Any]:
    known = [each.name for each in conventions(cls)]
    out: dict[str, str] = {}
    for choice in between_commas(chosen) if chosen and chosen.strip() else []:
        name, equals, value = (part.strip().lower() for part in choice.partition("="))
        if name in known and not value:
            raise SpecError(f"{cls.name}: '{name}' needs a value: {_possible(cls, name)}.")
        if not equals or name not in known:
            field_of = [each.name for each in conventions(cls) if name in words_of(each)]
            hint = offer(name, known) if known else f"{cls.name} has no conventions."
            hint = f"Write '{field_of[0]}={name}'." if field_of else hint
            raise SpecError(f"{cls.name}: unknown convention {shown(choice)}. {hint}")
        if name in out:
            raise SpecError(f"{cls.name}: '{name}' is given twice.")
        out[name] = value
    return out


def _possible(cls: type[Metric], name: str) -> str:
    """What to write for a convention."""
    [convention] = [each for each in conventions(cls) if each.name == name]
    words = [f"{name}={word}" for word in words_of(convention)] or [f"{name}={printed(convention.default)}"]
    rest = "" if words_of(convention) else f" ({convention.metadata['meaning']})"
    return "write " + ", ".join(words[:-1]) + (" or " if len(words) > 1 else "") + words[-1] + rest


def _parse_cutoffs(name: str, spec: str, cut: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\s*-?[0-9]+\s*(,\s*-?[0-9]+\s*)*", cut):
        raise SpecError(f"{shown(spec)}: write positive integers after '@', such as '@10' or '@5,10,20'.")
    for k in cut.split(","):
        if len(k.strip()) > MOST_DIGITS:
            raise bad_cutoff(name, f"a number of {len(k.strip()):,} digits")
    return tuple(int(k) for k in cut.split(","))


def stated(spec: str) -> set[str]:
    """The conventions that a spec itself chooses."""
    match = _SPEC.fullmatch(spec)
    chosen = match.group(2) if match else None
    return {choice.partition("=")[0].strip().lower() for choice in between_commas(chosen or "")} - {""}


def separate(specs: str | Metric | Iterable[str | Metric]) -> list[Any]:
    """One spec, several in one string ("ndcg@10,map@5,10"), or any collection of them, one by one."""
    parts: list[Any] = [specs]
    if isinstance(specs, Mapping):
        raise SpecError(
            f"metrics must be a list of specs, got {shown(specs)}. A cutoff belongs to the spec: write ['ndcg@5', "
            "'map@5,10'], for example."
        )
    if isinstance(specs, set | frozenset | bytes):
        raise SpecError(f"metrics must be a list of specs, such as ['ndcg@10', 'map@10'], got {shown(specs)}.")
    if isinstance(specs, str):
        parts = list(_BETWEEN_SPECS.split(specs))
    elif isinstance(specs, Iterable) and getattr(specs, "ndim", 1) > 0:
        try:
            parts = list(specs)
        except TypeError as error:
            raise SpecError(f"metrics must be a list of specs, got {shown(specs)}.") from error
    if not parts:
        raise SpecError("metrics is empty; leave it out for the six default metrics at 10.")
    return parts


def parse_all(specs: str | Metric | Iterable[str | Metric]) -> tuple[Metric, ...]:
    """The metrics of specs, each number once."""
    parts = separate(specs)
    if not all(isinstance(part, str) for part in parts):
        return _each_once(map(parse, parts))
    together = tuple(parts)
    if together not in PARSED_TOGETHER:
        metrics = _each_once(map(parse, parts))
        if len(PARSED_TOGETHER) >= SPECS_KEPT:
            PARSED_TOGETHER.clear()
        PARSED_TOGETHER[together] = metrics
    return PARSED_TOGETHER[together]


def _each_once(parsed: Iterable[Metric]) -> tuple[Metric, ...]:
    metrics: list[Metric] = []
    seen: set[Metric] = set()
    for metric in parsed:
        single = metric.split()
        fresh = tuple(k for k, one in zip(metric.cutoffs, single, strict=True) if one not in seen)
        seen.update(single)
        if fresh:
            metrics.append(metric if fresh == metric.cutoffs else dataclasses.replace(metric, k=fresh))
    return tuple(metrics)
