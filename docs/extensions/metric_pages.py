"""A page for each metric and a table of all of them, written from the registry when the site is built."""

from __future__ import annotations

import dataclasses
import html
import inspect
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from formulas import FORMULAS
from matrix import matrix

import atkay
from atkay.errors import SpecError
from atkay.metrics.metric import Metric, RunMetric, conventions
from atkay.words import words_of

GROUPS = {
    "Accuracy": "How well the relevant items are ranked.",
    "Beyond accuracy": "Novelty, diversity, popularity and calibration of each list. Most read a side table.",
    "Ratings and clicks": "How near scores come to known ratings and clicks. They read the scores of the lists.",
    "Whole run": "One number for all lists together: coverage, concentration and fairness. No value per user.",
}
NO_VALUE = re.compile(r"no value|has none|undefined|^Users .* do not count")
DEPTH, K = 20, 10
SYMBOLS = {  # how each is found in a formula, and what it means
    r"\bk\b|_k\b": "*k* cutoff",
    r"\bi=1": "*i* rank in the list",
    r"rel}_i": r"rel\ :sub:`i` 1 if the item at rank *i* is relevant, else 0",
    r"\bg_i": r"*g*\ :sub:`i` grade of the item at rank *i*",
    r"\bR\b": "*R* relevant items of the user",
    r"\bL\b|\bL_u": "*L* listed items after the cut",
    r"\bn_i\b": r"*n*\ :sub:`i` training users of item *i*",
    r"\bU\b": "*U* users",
    r"\bT_i\b": r"*T*\ :sub:`i` subtopics of the item at rank *i*",
    r"\br_\{t,i\}": r"*r*\ :sub:`t,i` hits above rank *i* with subtopic *t*",
    r"\bS\b": "*S* subtopics of the user's relevant items",
}


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write)
    app.connect("autodoc-process-docstring", adapt, priority=400)
    app.connect(
        "autodoc-skip-member",
        lambda app, what, name, obj, skip, options: skip or (inspect.isfunction(obj) and what == "module"),
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write(app: Any) -> None:
    """All pages, those that have not changed left as they are: Sphinx then does not read them again."""
    folder = Path(app.srcdir) / "metrics"
    folder.mkdir(exist_ok=True)
    metrics = atkay.list_metrics()
    pages = {f"{name}.rst": page(cls) for name, cls in metrics.items()} | {
        "index.rst": index(metrics.values()),
        "matrix.rst": matrix(group_of, GROUPS),
    }
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for path in folder.glob("*.rst"):
        if path.name not in pages:
            path.unlink()


def adapt(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings as Sphinx reads them, before numpydoc does: |U| is a size and not a substitution, MRR@20 no address,
    and conventions are a list of terms. The page of a metric opens with the first paragraph; its definition follows.
    """
    parts = "\n".join(lines).split("\n\n")
    for n, part in enumerate(parts):
        if ">>> " not in part and not (n and parts[n - 1].endswith("::")):  # prose
            parts[n] = re.sub(r"(``.*?``)|([|@])", lambda mark: mark[1] or f"\\{mark[2]}", part, flags=re.DOTALL)
    text = "\n\n".join(parts).replace("Conventions\n-----------\n", ".. rubric:: Conventions\n\n")
    lines[:] = text.split("\n")
    if obj is atkay.Protocol:
        lines += ["", *protocol().splitlines(), ""]
    if inspect.isclass(obj) and issubclass(obj, Metric) and obj is not Metric:
        del lines[: lines.index("") + 1]


def group_of(cls: type[Metric]) -> str:
    if cls().reads_scores:
        return "Ratings and clicks"
    if issubclass(cls, RunMetric):
        return "Whole run"
    return "Accuracy" if cls().needs_truth and not cls().needs else "Beyond accuracy"


def summary(cls: type[Metric]) -> str:
    return " ".join(inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].split())


def index(metrics: Iterable[type[Metric]]) -> str:
    """All metrics by group, each with one sentence."""
    every = list(metrics)
    parts = [
        title("Metrics"),
        f"{len(every)} metrics. A metric is written as a spec, ``name(option=value)@k``; without ``@k`` the whole list "
        "counts. ``atkay metrics ndcg`` prints the same page in a terminal. :doc:`matrix` says which library has what.",
    ]
    for group, words in GROUPS.items():
        rows = [(f":doc:`{cls.name}`", summary(cls)) for cls in every if group_of(cls) == group]
        parts += [title(group, "-"), words, table((), rows, "22 78")]
    names = "\n".join(f"   {cls.name}" for cls in every)
    return "\n\n".join([*parts, f".. toctree::\n   :hidden:\n\n{names}\n   matrix\n"])


def page(cls: type[Metric]) -> str:
    """Formula, facts, plot, definition, options, and the names that other libraries have for it."""
    parts = [".. py:currentmodule:: atkay", title(cls.name), summary(cls)]
    formula = FORMULAS.get(cls.name)
    parts.append(f".. math:: {formula}" if formula else f"``{cut(cls()).define().formula}``")
    parts += [table((), facts(cls), "25 75"), plot(cls)]
    parts += [title("Definition", "-"), symbols(cls), f".. autoclass:: {cls.__name__}"]
    if rows := options(cls):
        parts += [
            title("Options", "-"),
            f"The first value of each option is the default. Formulas are those of ``{cut(cls())}``.",
            table(("option", "value", "meaning", "formula", "used by"), rows, "12 12 36 24 16"),
        ]
    if rows := names(cls):
        parts += [
            title("In other libraries", "-"),
            "What each library calls it, and how to write the same number here. With ``dialect=`` the library's own "
            "names work as they are, and the rest of its protocol comes along.",
            table(("dialect", "its name", "spec here"), rows, "20 40 40"),
        ]
    return "\n\n".join(part for part in parts if part) + "\n"


def symbols(cls: type[Metric]) -> str:
    """The symbols that stand in the formulas of the page."""
    formulas = " ".join([FORMULAS.get(cls.name, ""), *(row[3] for row in options(cls))])
    used = [meaning for pattern, meaning in SYMBOLS.items() if re.search(pattern, formulas)]
    return f"Symbols: {'; '.join(used)}." if used else ""


def facts(cls: type[Metric]) -> list[tuple[str, str]]:
    metric = cls()
    better = {"higher": "higher", "lower": "lower", "neither": "neither (no direction)"}
    rows = [
        ("Better", varying(metric, lambda each: better[each.better])),
        ("Range", varying(metric, span)),
        ("Value", "one for the whole run" if isinstance(metric, RunMetric) else "one per user, and their mean"),
        ("Cutoff", f"``{metric}@10``, or none for the whole list" if cls.cuts else "none: reads the whole list"),
        ("Reads", varying(metric, reads)),
        ("Undefined", undefined(metric)),
    ]
    if cls.aliases:
        rows.append(("Also called", ", ".join(f"``{alias}``" for alias in cls.aliases)))
    return rows


def reads(metric: Metric) -> str:
    tables = ", ".join(f"``{name}=``" for name in metric.needs)
    return f"subtopics of the truth, or {tables}" if metric.by_subtopic else tables or "lists and truth"


def varying(metric: Metric, fact: Any) -> str:
    """A fact of the metric by default, and the options that change it."""
    usual = fact(metric)
    others = [f"``{name}={word}``: {fact(each)}" for name, word, each in choices(metric) if fact(each) != usual]
    return "; ".join([usual, *others])


def choices(metric: Metric) -> Iterable[tuple[str, str, Metric]]:
    """The metric with one option changed, for every value of every option that takes words."""
    for field in conventions(type(metric)):
        for word in words_of(field):
            try:
                changes: dict[str, Any] = {field.name: word}
                yield field.name, word, dataclasses.replace(metric, **changes)
            except SpecError:  # makes sense only together with another option
                continue


def span(metric: Metric) -> str:
    return f"{metric.least:g} to 1" if metric.bounded else f"at least {metric.least:g}"


def undefined(metric: Metric) -> str:
    """What the protocol does, and the sentences of the docstring that say when there is no value."""
    body = re.split(r"\n(?:References|Examples)\n-+\n", inspect.cleandoc(type(metric).__doc__ or ""))[0]
    text = re.sub(r"\n\w[\w, ]*\n-+\n", "\n\n", body).replace("::", "")
    parts = [each.strip() for each in text.split("\n\n")[1:]]
    paragraphs = [" ".join(each.split()) for each in parts if not re.match(r"\w[\w, ]*\n    ", each)]
    sentences = [each for part in paragraphs for each in re.split(r"(?<=[.])\s+(?=[A-Z])", part)]
    said = [each.removeprefix(". ") for each in sentences if NO_VALUE.search(each)]
    if metric.partial and not said:
        said = ["Some users have no value; see the definition."]
    if metric.needs_truth and not isinstance(metric, RunMetric):
        said.insert(0, "For a user without relevant items, whom ``no_truth=skip`` leaves out by default.")
    return " ".join(said) or "never"


def options(cls: type[Metric]) -> list[tuple[str, ...]]:
    """Every option and its values: what each means, the formula it makes, and the libraries that use it."""
    rows = []
    made = {(name, word): each for name, word, each in choices(cut(cls()))}
    for field in conventions(cls):
        for word, meaning in words_of(field).items():
            metric = made.get((field.name, word))
            formula = f"``{metric.define().formula}``" if metric else ""
            rows.append((f"``{field.name}``", f"``{word}``", escaped(meaning), formula, users_of(cls, field, word)))
        if not words_of(field):
            rows.append(
                (f"``{field.name}``", "a number", f"{field.metadata['meaning']}; {field.default:g} by default", "", "")
            )
    return [("" if n and row[0] == rows[n - 1][0] else row[0], *row[1:]) for n, row in enumerate(rows)]


def users_of(cls: type[Metric], field: Any, word: str) -> str:
    chosen = [
        name
        for name, dialect in atkay.list_dialects().items()
        if cls.name in dialect.words and dialect.words[cls.name].get(field.name, field.default) == word
    ]
    return ", ".join(chosen)


def names(cls: type[Metric]) -> list[tuple[str, ...]]:
    """The libraries that have the metric, their own names for it, and our spec for each."""
    rows: list[tuple[str, ...]] = []
    for name, dialect in atkay.list_dialects().items():
        if cls.name not in dialect.words:
            continue
        own = {
            own: spec
            for own, spec in dialect.names.items()
            if re.split(r"[(@;{]", spec)[0] == cls.name and "{level}" not in own
        }
        words = ",".join(f"{key}={value}" for key, value in dialect.words[cls.name].items())
        ours = f"{cls.name}({words})" if words else cls.name
        for its_name, spec in (own or {cls.name: ours}).items():
            given = spec.partition(";")[0].strip().replace("{{{levels}}}", "{levels}")
            given = re.sub(r"\{(\w+):root\}", r"√{\1}", re.sub(r"\{(\w+):table\}", r"{\1,else:grade}", given))
            rows.append((f"``{name}``", f"``{its_name}``", f"``{ours if given == cls.name else given}``"))
    return rows


def cut(metric: Metric) -> Metric:
    return metric @ K if metric.cuts else metric


def plot(cls: type[Metric]) -> str:
    """The value of a list of 20 with a single hit, by the rank of the hit."""
    metric = cut(cls())
    if not metric.needs_truth:
        return ""
    values = by_rank(metric)
    if len({round(value, 12) for value in values}) < 2:
        return ""
    return ".. raw:: html\n\n" + "\n".join(f"   {line}" for line in drawing(str(metric), values).splitlines())


def by_rank(metric: Metric) -> list[float]:
    items = [f"i{n}" for n in range(DEPTH)]
    side: dict[str, Any] = {
        "train": {f"other {n}": [item] for n, item in enumerate(items)},
        "features": pl.DataFrame(
            [(item, f"topic {n // 2}", math.cos(n / DEPTH), math.sin(n / DEPTH)) for n, item in enumerate(items)],
            schema=["item", "topic", "x", "y"],
            orient="row",
        ),
        "propensity": dict.fromkeys(items, 0.5),
        "catalog": items,
        "reference": {"user": items[-1:]},
    }
    tables = {name: side[name] for name in metric.needs}
    recs = {"user": {item: 1 - n / DEPTH for n, item in enumerate(items)}}
    values = []
    for hit in items:
        truth = {"user": {item: int(item == hit) for item in items}}
        values.append(atkay.evaluate(recs, truth, [metric], **tables)[str(metric)])
    return values


def drawing(spec: str, values: Sequence[float]) -> str:
    """A bar for each rank. Colours are the page's own, so it follows light and dark."""
    wide, high, left, top = 420, 120, 44, 12
    most = max(value for value in values if value == value)
    step = wide / len(values)
    bars = []
    for n, value in enumerate(values):
        height = 0 if value != value else value / most * high
        bars.append(
            f'<rect x="{left + n * step + 3:.1f}" y="{top + high - height:.1f}" width="{step - 6:.1f}" '
            f'height="{height:.1f}"><title>rank {n + 1}: {value:.4g}</title></rect>'
        )
    ticks = [
        f'<text x="{left + (n + 0.5) * step:.1f}" y="{top + high + 16}" text-anchor="middle">{n + 1}</text>'
        for n in range(len(values))
        if n == 0 or n % 5 == 4
    ]
    return "\n".join(
        [
            '<figure class="reaction">',
            f'<svg viewBox="0 0 {left + wide + 6} {top + high + 38}" role="img" '
            f'aria-label="{html.escape(spec)} of a list of {DEPTH} with one relevant item, by its rank">',
            f'<line x1="{left}" x2="{left + wide}" y1="{top + high}" y2="{top + high}"/>',
            f'<g class="bars">{"".join(bars)}</g>',
            f'<text x="{left - 6}" y="{top + 5}" text-anchor="end">{most:.3g}</text>',
            f'<text x="{left - 6}" y="{top + high + 4}" text-anchor="end">0</text>',
            *ticks,
            f'<text x="{left + wide / 2}" y="{top + high + 34}" text-anchor="middle">rank of the hit</text>',
            "</svg>",
            f"<figcaption><code>{html.escape(spec)}</code> of one user with one relevant item, by its rank in a list "
            f"of {DEPTH}.</figcaption>",
            "</figure>",
        ]
    )


def protocol() -> str:
    """Every field of the protocol with its values."""
    rows = []
    for field in dataclasses.fields(atkay.Protocol):
        words = words_of(field) or {f"{field.default}": field.metadata["help"]}
        rows += [
            (f"``{field.name}``" if n == 0 else "", f"``{word}``", escaped(meaning))
            for n, (word, meaning) in enumerate(words.items())
        ]
    return table(("field", "value (default first)", "meaning"), rows, "18 18 64")


def title(text: str, mark: str = "=") -> str:
    return f"{text}\n{mark * len(text)}"


def escaped(text: str) -> str:
    return re.sub(r"([*|`])", r"\\\1", text)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], widths: str) -> str:
    """A table, without the columns in which nothing stands."""
    used = [n for n in range(len(rows[0])) if any(row[n] for row in rows)]
    widths = " ".join(widths.split()[n] for n in used)
    lines = [".. list-table::", f"   :widths: {widths}", f"   :header-rows: {1 if head else 0}"]
    lines += [] if head else ["   :stub-columns: 1", "   :class: facts"]
    lines.append("")
    for row in [head, *rows] if head else rows:
        lines += [f"   {' ' if n else '*'} - {row[n]}" for n in used]
    return "\n".join(lines)
