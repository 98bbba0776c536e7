"""Report: one self-contained HTML page."""

from __future__ import annotations

import functools
import os
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from atkay.core.forks import check_threads
from atkay.errors import InputError, listing, need, number_of
from atkay.evaluation.evaluate import evaluate
from atkay.reporting.data import page_data
from atkay.reporting.elements import as_script, element, written
from atkay.reporting.reproduce import Provenance, code_of
from atkay.reporting.sections import controls, sections
from atkay.reporting.view import View, shown
from atkay.tables import SIDE
from atkay.text.files import check_target, write_whole
from atkay.text.help import spell_out
from atkay.text.progress import Steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from atkay.audit.conventions import Conventions
    from atkay.comparison.comparison import Comparison
    from atkay.reporting.items import Items
    from atkay.results.result import Result
    from atkay.text.arguments import GeneralArguments

POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"
"""What a browser lets the page do: run what is in it, and ask for nothing. Vega compiles its expressions (eval)."""


SCRIPTS = ("tables.js", "charts.js", "users.js", "page.js")
"""The scripts of the page, one after the other; each uses what those before it define."""

SECTIONS = 6
"""Steps of progress that are sections."""


def need_packages() -> None:
    """What draws the charts and brings the scripts is installed; asked before anything is evaluated for a report."""
    need("the report", "report", "altair", "vl_convert")


@spell_out(evaluate, but=(*SIDE, "users", "slices", "sampled", "memory", "spill"))
def report(
    evaluated: Result | Comparison,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    recs: Any = None,
    truth: Any = None,
    features: Any = None,
    code: str | None = None,
    **given: Unpack[GeneralArguments],
) -> None:
    """Write a report as one self-contained HTML page, which works offline, on a phone and on paper.

    On top is the verdict: of several runs whether the best of them is better, not worse or worse than the baseline, by
    ``min_effect`` where the comparison has one; who gains and who loses, by segment; and cautions. Then a leaderboard,
    charts, users who gained and lost most with their lists side by side and the arithmetic of each value, and, closed,
    definitions, evaluated users, bounds and the numbers of other libraries. Whoever reads it chooses the metric and
    the runs and, where every pair was compared, the baseline.

    Parameters
    ----------
    evaluated
        A :class:`Result` or a :class:`Comparison`. Loaded ones have no lists of single users, and a loaded comparison
        no per-user values; the sections say so.
    path
        The file; written atomically.
    title
        The title.
    recs, truth
        The lists (for a comparison ``{run: lists}``) and the truth, to compute the numbers of other libraries.
    features
        A table of items with their titles, pictures (files, or addresses that begin with ``data:``) and links, or
        ``{item: title}``, for the lists of users.
    code
        The command or the code that gives the same page again, which stands at its end; by default the calls of
        :func:`compare` or :func:`evaluate` and of ``report``.
    **given
        With ``recs`` and ``truth``: the other arguments of :func:`evaluate`, such as ``columns`` or ``exclude``.

    Examples
    --------
    >>> import tempfile
    >>> recs, truth = {"ann": ["tea", "rye"], "bob": ["jam", "tea"]}, {"ann": ["tea"], "bob": ["tea"]}
    >>> result = atkay.evaluate(recs, truth, "mrr@2")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     atkay.report(result, f"{folder}/report.html", recs=recs, truth=truth)
    """
    need_packages()
    check_threads()
    view = View.of(evaluated)
    check_target(path)
    items = None
    if features is not None:
        from atkay.reporting.items import Items

        items = Items.read(features, given.get("columns"))
    given_lists = _given_lists(view, recs, truth, [name for name in given if name != "columns" or features is None])
    with Steps("writing the page", 2 * len(given_lists) + SECTIONS + 1) as steps:
        elsewhere = _elsewhere(view, given_lists, truth, given, steps)
        if view.comparison is not None and given_lists:
            from atkay.reporting.lists import changed_lists

            view = replace(view, changes=changed_lists(view, given_lists, truth, given, steps))
        again = {"recs": recs, "truth": truth, "features": features, **given}
        provenance = Provenance.of(view, *((code, ()) if code else code_of(view, os.fsdecode(path), title, again)))
        count = number_of(len(view.runs), "run")
        head = title or ("Evaluation" if view.comparison is None else f"Comparison of {count}")
        write_whole(path, _page(view, head, elsewhere, provenance, items, steps).encode(errors="replace"))


def _given_lists(view: View, recs: Any, truth: Any, others: Sequence[str]) -> dict[str, Any]:
    """The lists that were passed, by run; truth goes with them."""
    passed = [name for name, table in (("recs", recs), ("truth", truth)) if table is not None] + list(others)
    if passed and (recs is None or truth is None):
        raise InputError(
            f"report: the numbers of other libraries need both recs= and truth=, and the other arguments of "
            f"evaluate; got {listing(passed)}."
        )
    lists = {} if recs is None else {view.runs[0]: recs} if view.comparison is None else dict(recs)
    if unknown := [name for name in lists if name not in view.runs]:
        raise InputError(f"report: recs has unknown run {listing(unknown[:3])}; runs are {listing(view.runs)}.")
    return lists


def _elsewhere(
    view: View, lists: Mapping[str, Any], truth: Any, given: Mapping[str, Any], steps: Steps
) -> dict[str, Conventions]:
    """The numbers of other libraries, by run."""
    from atkay.audit.conventions import conventions

    elsewhere = {}
    for run, of_run in lists.items():
        elsewhere[run] = conventions(of_run, truth, view.metrics, **given)
        steps.next()
    return elsewhere


@functools.cache
def _bundle(version: str) -> str:
    """Vega, Vega-Lite and Vega-Embed as one script."""
    import vl_convert

    script: str = vl_convert.javascript_bundle(vl_version=version)  # type: ignore[call-arg]  # its stub asks for more
    return script.replace("</script", "<\\/script")


def _text(name: str) -> str:
    return files("atkay.reporting").joinpath(name).read_text(encoding="utf-8")


def _page(
    view: View,
    title: str,
    elsewhere: Mapping[str, Conventions],
    provenance: Provenance,
    items: Items | None,
    steps: Steps,
) -> str:
    import altair as alt

    version = ".".join(alt.SCHEMA_VERSION.split(".")[:2])
    parts = sections(view, elsewhere, provenance, steps)
    content = [
        element("section", element("h2", name, id=f"{key}-name"), *parts_of, id=key, aria_labelledby=f"{key}-name")
        for key, (name, parts_of) in parts.items()
    ]
    data = as_script(page_data(view, items))
    steps.next()
    body = element(
        "body",
        element("a", "Skip to content", href="#main", class_="skip"),
        element(
            "header",
            element("h1", shown(title)),
            element("p", _about(view, provenance), class_="note"),
            element("button", "Theme: system", id="theme", type="button"),
        ),
        element(
            "nav",
            *(element("a", name, href=f"#{key}") for key, (name, _) in parts.items()),
            aria_label="Sections",
        ),
        element("noscript", element("p", "Charts and the explorer need JavaScript; the tables do not.")),
        element("main", controls(view), *content, id="main", tabindex="-1"),
        element("footer", element("p", f"{_about(view, provenance)} This page loads and sends nothing.")),
        element("script", data, id="data", type="application/json"),
        element("script", _bundle(version)),
        element("script", "\n".join(['"use strict";', "{", *map(_text, SCRIPTS), "}"])),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", shown(title)),
        element("style", _text("page.css"), id="look"),
    )
    return "<!doctype html>\n" + written(element("html", head, body, lang="en"))


def _about(view: View, provenance: Provenance) -> str:
    """What was evaluated, when and with what, in one line."""
    counts = sorted({each[str(view.headline)].users for each in view.means.values()})
    users = number_of(counts[0], "user") if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,} users"
    users += ", weighted" if any(result.weighted for result in view.results.values()) else ""
    runs = f"{number_of(len(view.runs), 'run')}, " if view.comparison else ""
    return f"{runs}{users}; created {provenance.created} with atkay {provenance.versions['atkay']}."
