"""What several commands take: tables, columns, protocol, side information, the form of the output."""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atkay.cli.output import FORMS
from atkay.errors import OutputError, SourceError
from atkay.inputs.columns import Columns
from atkay.inputs.paths import HIDDEN, find_files
from atkay.protocol import Protocol
from atkay.tables import LOGS, RUNS, SIDE, TABLES
from atkay.text.files import check_target
from atkay.text.phrases import STANDARD_INPUT, option
from atkay.words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Command = Any
Decorator = Callable[[Command], Command]

ROLES = [each.name for each in dataclasses.fields(Columns)]
COLUMN = f"Name a column: user=uid, truth.item=sku. Roles: {', '.join(ROLES)}."
NO_HEADER = "Text files begin with data: their columns are column_1, column_2, ... [default: the first lines tell]"
NO_TRUTH = "pass the relevant items with --truth FILE."
EITHER = "--baseline and --every-pair cannot be combined."
RUN = "The run to compare the others with: its name or file. [default: the first]"


class Repeatable(click.Command):
    """A command that can say how it was called."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context; it keeps the line."""
        words = [*(parent.command_path.split() if parent else ()), info_name or "", *args]
        context = super().make_context(info_name, args, parent, **extra)
        context.meta["atkay.line"] = shlex.join(words)
        return context


def line() -> str:
    """The line that called a repeatable command, as a shell takes it."""
    return str(click.get_current_context().meta["atkay.line"])


class InputFile(click.Path):
    """A file, or "-" for standard input, which is kept in a temporary file for as long as the command runs."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path of a file that can be read."""
        if ctx is None:
            return value
        if value != "-":
            _keep_apart(self, value, param, ctx, written=False)
            return value
        if ctx.meta.get("atkay.stdin"):
            self.fail("only one table can come from standard input.", param, ctx)
        ctx.meta["atkay.stdin"] = True
        folder: str = ctx.find_root().with_resource(tempfile.TemporaryDirectory(prefix="atkay-"))
        path = Path(folder, STANDARD_INPUT)
        with path.open("wb") as target:
            shutil.copyfileobj(sys.stdin.buffer, target)
        return str(path)


class Output(click.Path):
    """A file to be written: it can be, and its suffix is one that is known, before anything is computed."""

    def __init__(self, *suffixes: str) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)
        self._suffixes = suffixes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path of a file that can be written."""
        if value == "-":
            self.fail("standard output is used for the table; name a file, or /dev/stdout for both.", param, ctx)
        path = Path(str(super().convert(value, param, ctx)))
        try:
            check_target(path)
        except OutputError as error:
            self.fail(str(error), param, ctx)
        if self._suffixes and path.suffix.lower() not in self._suffixes:
            self.fail(f"cannot write '{path.name}'; the suffix must be one of {', '.join(self._suffixes)}.", param, ctx)
        if ctx is not None:
            _keep_apart(self, path, param, ctx, written=True)
        return path


def is_same(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths lead to one file, by way of links or not."""
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):  # one of them does not exist yet, or never will
        return os.path.realpath(one) == os.path.realpath(other)


def _keep_apart(kind: click.Path, path: Any, param: Any, ctx: click.Context, *, written: bool) -> None:
    """No file is written over one that is read, nor twice; pipes and devices may be the same."""
    try:
        files = [Path(path)] if written else find_files(path, "")
    except SourceError:  # whoever reads it says what is wrong
        return
    known: list[tuple[bool, Path]] = ctx.meta.setdefault("atkay.files", [])
    for file in files:
        for also_written, other in known:
            if (written or also_written) and (file.is_file() or not file.exists()) and is_same(file, other):
                why = "would be written twice" if written and also_written else "is one of the inputs"
                kind.fail(f"'{file}' {why}; name another file to write.", param, ctx)
    known += [(written, file) for file in files]


class Column(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
    """``[TABLE.]ROLE=NAME``."""

    name = "[table.]role=name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str, Any]:
        """Table ("" for all), role and name; a user may be several columns."""
        where, equals, name = str(value).partition("=")
        table, _, role = where.rpartition(".")
        if not (equals and name) or role not in ROLES or (table and table not in {*TABLES, *LOGS, *RUNS}):
            self.fail(
                f"'{value}' is not [TABLE.]ROLE=NAME, such as user=uid or truth.item=sku. Roles: {', '.join(ROLES)}.",
                param,
                ctx,
            )
        return table, role, tuple(name.split(",")) if role == "user" and "," in name else name


class Names(click.ParamType):  # type: ignore[type-arg]  # as above
    """Names with commas between them."""

    name = "name,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """The names."""
        return tuple(value.split(","))


def _together(*options: Decorator) -> Decorator:
    """Several options, listed in this order."""

    def add(command: Command) -> Command:
        for one in reversed(options):
            command = one(command)
        return command

    return add


KINDS: dict[str, Any] = {"number": float, "integer": int, "table": InputFile(), "names": Names(), "aggregate": str}
"""What the shell reads for what a field takes."""


def _field(each: dataclasses.Field[Any]) -> Decorator:
    words = words_of(each)
    kind = click.Choice(list(words)) if words else KINDS[each.metadata["takes"]]
    return click.option(option(each.name), type=kind, help=each.metadata["help"])


tables = _together(click.argument("recs", type=InputFile()), click.argument("truth", type=InputFile()))

protocol = _together(
    click.option(
        "--dialect", metavar="NAME", help="Follow another library's conventions, such as ranx; see `atkay dialects`."
    ),
    click.option("--column", "columns", type=Column(), multiple=True, help=COLUMN),
    click.option("--no-header", is_flag=True, default=None, help=NO_HEADER),
    *(_field(each) for each in dataclasses.fields(Protocol)),
    *(click.option(f"--{name}", type=InputFile(), help=TABLES[name].help) for name in SIDE),
)
"""Dialect, protocol, columns and side tables: the further arguments of evaluate."""

protocol_of_runs = _together(click.option("--baseline", metavar="RUN", help=RUN), protocol)
"""The same where several runs are compared, with one of them as the baseline."""

page = click.option(
    "-o",
    "--output",
    type=Output(),
    default=Path("report.html"),
    show_default=True,
    help="Where to write the report.",
)

metrics = click.option(
    "-m",
    "--metrics",
    metavar="SPECS",
    help="Metrics, such as ndcg@10,map(per=hits)@5,10. [default: ndcg, map, mrr, recall, precision, hit at 10]",
)

weights = click.option("--weights", type=InputFile(), help=TABLES["weights"].help)

cluster = click.option("--cluster", metavar="COLUMN|FILE", help=TABLES["cluster"].help)

larger = _together(
    click.option("--memory", metavar="SIZE", help="Memory to use, such as 2GB; larger files are read in parts."),
    click.option(
        "--spill", type=click.Path(), metavar="FOLDER", help="Folder for temporary files. [default: the system's]"
    ),
)
"""For files that are larger than memory."""

form = click.option("-f", "--format", "form", type=click.Choice(list(FORMS)), default="table", help="Output format.")
"""How the table is printed."""

TESTS = ("test", "correction", "family", "interval", "min_effect", "permutations", "rng")
"""What :data:`tests` asks for."""

tests_of_means = _together(
    click.option(
        "--test",
        type=Names(),
        help="Significance tests: t, permutation, bootstrap, tukey, randomised_tukey, wilcoxon, sign.",
    ),
    click.option(
        "--interval", metavar="NAME", help="Confidence interval: student (default), percentile, bca, studentised."
    ),
    click.option("--permutations", type=int, help="Number of permutations or bootstrap samples. [default: 10000]"),
    click.option("--rng", type=int, help="Seed of random tests. [default: 7]"),
)
"""How a gate tests its differences."""

tests = _together(
    tests_of_means,
    click.option(
        "--correction", metavar="NAME", help="Correction for multiple testing: holm (default), bonferroni, bh or none."
    ),
    click.option("--family", metavar="NAME", help="What to correct together: all (default), or each metric."),
    click.option(
        "--min-effect", metavar="NUMBER", help="The smallest difference that matters: a number, or METRIC=NUMBER,..."
    ),
)
"""How differences are tested."""


def given(chosen: dict[str, Any]) -> dict[str, Any]:
    """What was chosen, as arguments of evaluate."""
    arguments = {name: value for name, value in chosen.items() if value is not None}
    named, header = arguments.pop("columns", ()), {"header": "none"} if arguments.pop("no_header", None) else {}
    if named or header:
        arguments["columns"] = {
            table: Columns(**header | {role: name for where, role, name in named if where in ("", table)})
            for table in (*TABLES, *LOGS, *(where for where, _, _ in named if where in RUNS))
        }
    return arguments


def pairs(form: str) -> Callable[[Any, Any, Sequence[str]], dict[str, str]]:
    """A callback that turns NAME=VALUE, as often as given, into a dict; ``form`` says what is expected."""

    def of(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str]:
        values_of = {}
        for value in values:
            name, equals, number = value.rpartition("=")  # a spec may have one of its own: map(per=hits)@5=0.35
            if not (name and equals and number):
                raise click.BadParameter(f"'{value}' is not {form}.", ctx, param)
            values_of[name] = number
        return values_of

    return of


better = click.option(
    "--better",
    multiple=True,
    metavar="METRIC=WORD",
    callback=pairs("METRIC=higher or METRIC=lower, such as arp@10=lower"),
    help="Whether higher or lower is better, for metrics without a direction.",
)


def runs(least: int) -> Decorator:
    """Several runs and their truth."""
    return _together(
        click.argument("runs", nargs=-1, required=True, metavar="RUN...", callback=_named(least)),
        click.option(
            "--truth", type=InputFile(), help="The relevant items of each user; not needed for saved results."
        ),
    )


def _named(least: int) -> Callable[[Any, Any, Sequence[str]], dict[str, str]]:
    """A callback that gives each run a name: as given in NAME=FILE, else after the file."""

    def of(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str]:
        if len(values) < least:
            raise click.BadParameter("pass at least two runs.", ctx, param)
        named: dict[str, str] = {}
        for run in values:
            name, equals, path = run.partition("=")
            if not equals or "/" in name or Path(run).exists():
                name, path = name_of(run), run
            if name in named:
                raise click.BadParameter(f"two runs are named '{name}'; rename one: new={path}.", ctx, param)
            named[STANDARD_INPUT if name == "-" else name] = InputFile().convert(path, param, ctx)
        return named

    return of


def name_of(path: str | os.PathLike[str]) -> str:
    """The name of a run: its file's, without the suffix."""
    return Path(path).name.removesuffix(".gz").rpartition(".")[0] or Path(path).name


def is_saved(path: str) -> bool:
    """Whether a file is a saved result, and not JSON with lists."""
    from atkay.results import save

    return save.is_saved(path)


def lists_again(chosen: dict[str, Any], recs: Any) -> dict[str, Any]:
    """Lists and truth as a report takes them for the numbers of other libraries; nothing where they are not given."""
    if not recs or chosen["truth"] is None:
        return {}
    used = ("columns", "no_header", "dialect", *(each.name for each in dataclasses.fields(Protocol)))
    others = {name: value for name, value in chosen.items() if name in used}
    return {"recs": recs, "truth": chosen["truth"], **given(others)}


def evaluated(chosen: dict[str, Any]) -> Any:
    """The result of the only run, which may have been saved before."""
    import atkay

    [path] = chosen["runs"].values()
    _refuse(
        chosen,
        ("baseline", *TESTS),
        "needs at least two runs, got one. Add a run, or leave it out.",
        "need at least two runs, got one. Add a run, or leave them out.",
    )
    if is_saved(path):
        how = [name for name in chosen if name != "runs"]
        done = f"no effect: '{path}' is already evaluated. Leave"
        _refuse(chosen, how, f"has {done} it out, or pass lists.", f"have {done} them out, or pass lists.")
        return atkay.Result.load(path)
    if chosen["truth"] is None:
        raise click.UsageError(NO_TRUTH)
    others = {name: value for name, value in chosen.items() if name not in ("runs", "truth", "baseline", *TESTS)}
    return atkay.evaluate(path, chosen["truth"], **given(others))


def _refuse(chosen: dict[str, Any], names: Iterable[str], of_one: str, of_several: str) -> None:
    """Nothing is accepted and ignored."""
    if unused := [option("column" if name == "columns" else name) for name in names if chosen[name] not in (None, ())]:
        raise click.UsageError(f"{' and '.join(unused)} {of_one if len(unused) == 1 else of_several}")


def compared(chosen: dict[str, Any], *, every_pair: bool) -> Any:
    """The comparison of the runs."""
    import atkay

    if chosen["truth"] is None and not all(map(is_saved, chosen["runs"].values())):
        raise click.UsageError(NO_TRUTH)
    arguments = given({name: value for name, value in chosen.items() if name != "runs"})
    arguments["baseline"] = _baseline(chosen["runs"], chosen["baseline"], every_pair=every_pair)
    if "min_effect" in arguments:
        arguments["min_effect"] = _effects(arguments["min_effect"])
    return atkay.compare(chosen["runs"], **arguments)


def compared_on_data_sets(chosen: dict[str, Any], *, every_pair: bool) -> Any:
    """The leaderboard of folders, each of them a data set."""
    import atkay

    if every_pair and chosen["baseline"]:
        raise click.UsageError(EITHER)
    folders = {name: _in_folder(folder, chosen["truth"]) for name, folder in chosen["runs"].items()}
    runs = {name: runs for name, (runs, _) in folders.items()}
    truth = {name: truth for name, (_, truth) in folders.items()}
    arguments = given({name: value for name, value in chosen.items() if name not in ("runs", "truth")})
    if "min_effect" in arguments:
        arguments["min_effect"] = _effects(arguments["min_effect"])
    return atkay.compare_data_sets(runs, truth if any(truth.values()) else None, **arguments)


def _in_folder(folder: str, truth: str | None) -> tuple[dict[str, str], str | None]:
    """The runs of a data set by name, and its truth: the file of that name or, where none is given, called truth."""
    if not Path(folder).is_dir():
        raise click.UsageError(f"--data-sets: '{folder}' is not a folder. Pass a folder for each data set.")
    files = sorted(each for each in Path(folder).iterdir() if not each.name.startswith(HIDDEN))
    wanted = [each for each in files if (name_of(each) == "truth" if truth is None else each.name == truth)]
    runs = {name_of(each): str(each) for each in files if each not in wanted}
    if not wanted and not all(map(is_saved, runs.values())):
        known = ", ".join(each.name for each in files) or "nothing"
        raise click.UsageError(
            f"--data-sets: no truth in '{folder}', which has {known}. Name its file with --truth, or call it truth.csv."
        )
    return runs, str(wanted[0]) if wanted else None


def _baseline(runs: dict[str, str], named: str | None, *, every_pair: bool) -> str | None:
    """The run that the others are compared with, by its name or its file; None where every pair is compared."""
    if named is None:
        return None if every_pair else next(iter(runs))
    if every_pair:
        raise click.UsageError(EITHER)
    if named in runs:
        return named
    for name, path in runs.items():
        if named == f"{name}={path}" or is_same(named, path):
            return name
    raise click.UsageError(
        f"--baseline: unknown run '{named}'; runs are {', '.join(runs)}. The "
        "lists of a reference recommender, which some metrics need, are --reference FILE."
    )


def _effects(text: str) -> float | dict[str, float]:
    """The smallest differences that matter, as numbers."""
    effects = of_metrics(text)
    try:
        return float(effects) if isinstance(effects, str) else {name: float(each) for name, each in effects.items()}
    except ValueError as error:
        raise click.UsageError(f"--min-effect: '{text}' is neither a number nor METRIC=NUMBER,...") from error


def of_metrics(text: str) -> str | dict[str, str]:
    """One value for all metrics, or METRIC=VALUE with commas between them."""
    if "=" not in text:
        return text
    return {name: value for name, _, value in (part.rpartition("=") for part in text.split(","))}
