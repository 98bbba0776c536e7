"""Report: one self-contained HTML page."""

from __future__ import annotations

import functools
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from atkay.core.forks import check_threads
from atkay.errors import InputError, listing, need, number_of
from atkay.evaluation.evaluate import evaluate
from atkay.reporting.data import page_data
from atkay.reporting.elements import as_script, element, written
from atkay.reporting.sections import controls, sections
from atkay.reporting.view import View, shown
from atkay.tables import SIDE
from atkay.text.files import check_target, write_whole
from atkay.text.help import spell_out

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import Unpack

    from atkay.audit.conventions import Conventions
    from atkay.comparison.comparison import Comparison
    from atkay.results.result import Result
    from atkay.text.arguments import GeneralArguments

POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"
"""What a browser lets the page do: run what is in it, and ask for nothing. Vega compiles its expressions (eval)."""


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
    **given: Unpack[GeneralArguments],
) -> None:
    """Write a report as one self-contained HTML page, which works offline, on a phone and on paper.

    It has a summary, a leaderboard, curves by cutoff, per-user values, differences between runs, slices, popularity and
    coverage, the numbers of other libraries, an explorer of single users with the arithmetic of each value, counts of
    evaluated users, definitions, and the code to reproduce the numbers.

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
    elsewhere = _elsewhere(view, recs, truth, given)
    head = title or ("Evaluation" if view.comparison is None else f"Comparison of {number_of(len(view.runs), 'run')}")
    write_whole(path, _page(view, head, elsewhere).encode(errors="replace"))


def _elsewhere(view: View, recs: Any, truth: Any, given: Mapping[str, Any]) -> dict[str, Conventions]:
    """The numbers of other libraries, by run."""
    passed = [name for name, table in (("recs", recs), ("truth", truth)) if table is not None] + list(given)
    if passed and (recs is None or truth is None):
        raise InputError(
            f"report: the numbers of other libraries need both recs= and truth=, and the other arguments of "
            f"evaluate; got {listing(passed)}."
        )
    if recs is None:
        return {}
    from atkay.audit.conventions import conventions

    lists = {view.runs[0]: recs} if view.comparison is None else dict(recs)
    if unknown := [name for name in lists if name not in view.runs]:
        raise InputError(f"report: recs has unknown run {listing(unknown[:3])}; runs are {listing(view.runs)}.")
    return {run: conventions(of_run, truth, view.metrics, **given) for run, of_run in lists.items()}


@functools.cache
def _bundle(version: str) -> str:
    """Vega, Vega-Lite and Vega-Embed as one script."""
    import vl_convert

    script: str = vl_convert.javascript_bundle(vl_version=version)  # type: ignore[call-arg]  # its stub asks for more
    return script.replace("</script", "<\\/script")


def _text(name: str) -> str:
    return files("atkay.reporting").joinpath(name).read_text(encoding="utf-8")


def _page(view: View, title: str, elsewhere: Mapping[str, Conventions]) -> str:
    import altair as alt

    version = ".".join(alt.SCHEMA_VERSION.split(".")[:2])
    parts = sections(view, elsewhere)
    first, *others = (
        element("section", element("h2", name, id=f"{key}-name"), *content, id=key, aria_labelledby=f"{key}-name")
        for key, (name, content) in parts.items()
    )
    body = element(
        "body",
        element("a", "Skip to content", href="#main", class_="skip"),
        element(
            "header",
            element("h1", shown(title)),
            element("button", "Theme: system", id="theme", type="button"),
        ),
        element(
            "nav",
            *(element("a", name, href=f"#{key}") for key, (name, _) in parts.items()),
            aria_label="Sections",
        ),
        element("noscript", element("p", "Charts and the explorer need JavaScript; the tables do not.")),
        element("main", first, controls(), *others, id="main", tabindex="-1"),
        element("footer", element("p", f"Created with atkay {_version(view)}. This page loads and sends nothing.")),
        element("script", as_script(page_data(view)), id="data", type="application/json"),
        element("script", _bundle(version)),
        element("script", _text("page.js")),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", shown(title)),
        element("style", _text("page.css")),
    )
    return "<!doctype html>\n" + written(element("html", head, body, lang="en"))


def _version(view: View) -> str:
    return view.comparison.version if view.comparison else next(iter(view.results.values())).version
