"""MLflow and other experiment trackers."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import posixpath
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atkay.errors import InputError, SpecError, is_installed, need, shown, unknown_value
from atkay.protocol import Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from atkay.results.result import Result

WORDS = {"names": ("spec", "plain"), "intervals": ("none", "ends"), "undefined": ("nan", "drop")}
"""What can be chosen of a flat record, the default first."""


def plain_name(name: str) -> str:
    """The name of a metric in letters, digits and underscores, which every tracker accepts.

    MLflow rejects ``@``, ``(`` and ``=``; W&B cannot sort or filter by such names.

    >>> from atkay.reporting.mlflow import plain_name
    >>> [plain_name(name) for name in ("ndcg@10", "map(per=hits)@10", "rbp(p=0.8)")]
    ['ndcg_at_10', 'map_per_hits_at_10', 'rbp_p_0_8']
    """
    # Without its plus, 1e+06 stays apart from 1e-06.
    return re.sub(r"\W", "_", re.sub(r"[)+]", "", name.replace("@", "_at_")))


def flat(
    result: Result, *, names: str = "spec", intervals: str = "none", undefined: str = "nan", prefix: str = ""
) -> dict[str, float]:
    """The metrics of a result as plain floats; see :meth:`Result.to_dict`."""
    for what, given in (("names", names), ("intervals", intervals), ("undefined", undefined)):
        if given not in WORDS[what]:
            raise SpecError(f"to_dict: {unknown_value(given, what, WORDS[what])}")
    out: dict[str, float] = {}
    for name, value in _numbers(result, names, intervals):
        if name in out:
            raise SpecError(f"to_dict: two metrics share the name '{name}'. Pass names='spec', or log them separately.")
        out[name] = float(value)
    return {prefix + name: value for name, value in out.items() if undefined == "nan" or not math.isnan(value)}


def _numbers(result: Result, names: str, intervals: str) -> Iterator[tuple[str, float]]:
    for spec, mean in (result if result.names else result.means).items():
        name = plain_name(spec) if names == "plain" else spec
        yield name, mean
        if intervals == "ends":
            # No slash: where a tracker keeps numbers in folders, a name is a number or a folder of them, not both.
            yield f"{name}_low", result.summaries[spec].low
            yield f"{name}_high", result.summaries[spec].high


def log_mlflow(
    result: Result,
    *,
    prefix: str = "",
    step: int | None = None,
    report: str | None = "report.html",
    saved: str | None = "result.json",
) -> str:
    """Log a result to MLflow's active run, or to a new one, which is then ended; returns the id of the run.

    Logged, each with ``prefix`` before its name:

    - metrics: every metric and the ends of its interval (``ndcg_at_10``, ``ndcg_at_10_low``, ``ndcg_at_10_high``);
      undefined values (NaN) are left out;
    - params: the protocol (``protocol.ties``), the dialect and how candidates were sampled. MLflow does not let a
      param change, so numbers of another protocol do not get into the same curve;
    - tags: the definition of every number, with its own name (``definition.ndcg_at_10``), the fingerprints of the
      data, and atkay's version;
    - artifacts: the report and the saved result, in which the numbers of slices are, too.

    Parameters
    ----------
    result
        The result to log.
    prefix
        Put in front of all names as it is: ``"val_"``, or ``"val/"`` for a folder.
    step
        The step or epoch of a training loop.
    report
        The artifact's name; ``None`` for no report. Needs Altair (``atkay[report]``).
    saved
        The artifact's name, compressed if it ends in ``.gz``; ``None`` for none. :meth:`Result.load` reads it.
    """
    need("log_mlflow", "mlflow", "mlflow")
    import mlflow

    metrics = flat(result, names="plain", intervals="ends", undefined="drop", prefix=prefix)
    with tempfile.TemporaryDirectory() as folder:
        # All that can fail here is done before a run is started.
        artifacts = _written(result, {"report": report, "saved": saved}, prefix, Path(folder))
        with contextlib.ExitStack() as stack:
            run = mlflow.active_run() or stack.enter_context(mlflow.start_run())
            mlflow.log_params({f"{prefix}{name}": value for name, value in _params(result).items()})
            mlflow.set_tags({f"{prefix}{name}": value for name, value in _tags(result).items()})
            mlflow.log_metrics(metrics, step=step)
            for path, place in artifacts.items():
                mlflow.log_artifact(str(path), place)
            return str(run.info.run_id)


def _params(result: Result) -> dict[str, Any]:
    """Protocol, dialect and sampling, as params.

    Defaults are logged as well: MLflow refuses to change a param, but not to add one.
    """
    fields = {f"protocol.{each.name}": getattr(result.protocol, each.name) for each in dataclasses.fields(Protocol)}
    sampled = None if result.sampled is None else result.sampled.words
    apart = "; ".join(f"{names}: {words}" for names, words in result.apart_words().items()) or None
    params = {**fields, "protocol.apart": apart, "dialect": result.dialect, "sampled": sampled}
    return {name: "none" if value is None else value for name, value in params.items()}


def _tags(result: Result) -> dict[str, str]:
    definitions = {
        f"definition.{plain_name(name)}": f"{name}: {words}. {formula}"
        for name, (words, formula) in result.definitions.items()
    }
    fingerprints = {f"fingerprint.{table}": value for table, value in result.fingerprint.items()}
    return {**definitions, **fingerprints, "atkay": result.version}


def _written(result: Result, names: Mapping[str, str | None], prefix: str, folder: Path) -> dict[Path, str | None]:
    """The files that are to be artifacts, and the folder in MLflow for each."""
    from atkay.reporting.report import report

    out: dict[Path, str | None] = {}
    for what, write in (("report", functools.partial(report, result)), ("saved", result.save)):
        if (name := names[what]) is None:
            continue
        place, file = posixpath.split(f"{prefix}{name}") if isinstance(name, str) and name else ("", "")
        if not file:
            raise InputError(f"log_mlflow: {what} must be the name of an artifact or None, got {shown(name)}.")
        if what == "report" and not is_installed("altair", "vl_convert"):
            continue
        path = folder / what / file
        path.parent.mkdir()
        write(path)
        out[path] = place or None
    return out
