"""Files that are written: links, pipes and devices stay what they are, and nothing is lost when a write fails."""

from __future__ import annotations

import errno
import functools
import importlib.util
import os
import re
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import atkay
from atkay.cli.app import app
from atkay.errors import AtkayError, OutputError, SourceError
from atkay.text.files import check_target, write_whole

NOBODY = 65_534
"""The user whom Unix calls nobody."""
RUNS = {"old": {"ann": [1, 2], "bob": [3, 4]}, "new": {"ann": [2, 1], "bob": [4, 3]}}
TRUTH = {"ann": [1], "bob": [4]}
RESULT = atkay.evaluate(RUNS["old"], TRUTH, "mrr")
COMPARISON = atkay.compare(RUNS, TRUTH, "mrr", permutations=100)


def tables(folder: Path) -> list[str]:
    """Lists and truth as files."""
    for name, table in {"old": RUNS["old"], "new": RUNS["new"], "truth": TRUTH}.items():
        rows = [(user, item) for user, items in table.items() for item in items]
        pl.DataFrame(rows, schema=["user", "item"], orient="row").write_csv(folder / f"{name}.csv")
    return [str(folder / f"{name}.csv") for name in ("old", "new", "truth")]


def shell(path: Path, command: str, *options: str) -> None:
    folder = path.parent / "tables"
    folder.mkdir(exist_ok=True)
    old, new, truth = tables(folder)
    lists = [old, truth] if command == "evaluate" else [old, new, "--truth", truth]
    run = CliRunner().invoke(app, [command, *lists, "-m", "mrr", *options, str(path)])
    if run.exit_code:
        raise OutputError(run.stderr)


def page(path: Path) -> None:
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    atkay.report(RESULT, path, code="the calls")  # which name the file


WRITERS: dict[str, Callable[[Path], None]] = {
    "save": lambda path: RESULT.save(path),
    "Comparison.save": lambda path: COMPARISON.save(path),
    "report": page,
    "evaluate --json": lambda path: shell(path, "evaluate", "--json"),
    "evaluate --per-query": lambda path: shell(path, "evaluate", "--per-query"),
    "compare --json": lambda path: shell(path, "compare", "--json"),
}


@pytest.fixture(params=WRITERS)
def write(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    return WRITERS[request.param]


def read_pipe(path: Path, write: Callable[[], None]) -> bytes:
    """What comes out of a pipe at the other end."""
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()), daemon=True)
    reader.start()
    write()
    reader.join(timeout=5)
    assert got, f"nothing was written into '{path}'"
    return got[0]


def test_pipes_are_written_into(write: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path / "file.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "link.csv").symlink_to("pipe.csv")
    for name in ("pipe.csv", "link.csv"):
        assert (
            read_pipe(tmp_path / "pipe.csv", functools.partial(write, tmp_path / name))
            == (tmp_path / "file.csv").read_bytes()
        )
        assert stat.S_ISFIFO((tmp_path / "pipe.csv").stat().st_mode)
        assert (tmp_path / "link.csv").is_symlink()


def test_devices_are_written_into(write: Callable[[Path], None], tmp_path: Path) -> None:
    device = tmp_path / "null.csv"
    try:
        os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(1, 3))  # a /dev/null of our own
        device.write_bytes(b"")
    except OSError:
        pytest.skip("devices cannot be made here")
    write(device)
    assert stat.S_ISCHR(device.stat().st_mode)


def test_links_are_followed(write: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file.csv").write_text("before")
    (tmp_path / "middle.csv").symlink_to("there/file.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "middle.csv")
    (tmp_path / "dangling.csv").symlink_to("there/new.csv")
    write(tmp_path / "link.csv")
    write(tmp_path / "dangling.csv")
    links = [tmp_path / name for name in ("link.csv", "middle.csv", "dangling.csv")]
    assert all(link.is_symlink() for link in links)
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["file.csv", "new.csv"]
    content = (tmp_path / "there" / "file.csv").read_bytes()
    assert content == (tmp_path / "there" / "new.csv").read_bytes() != b"before"


def test_permissions_stay(write: Callable[[Path], None], tmp_path: Path) -> None:
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("before")
    old.chmod(0o604)
    os.link(old, tmp_path / "other name.csv")
    before = os.umask(0o027)
    try:
        write(old)
        write(new)
    finally:
        os.umask(before)
    assert stat.S_IMODE(old.stat().st_mode) == 0o604
    assert stat.S_IMODE(new.stat().st_mode) == 0o666 & ~0o027
    assert (tmp_path / "other name.csv").read_text() == "before"  # as with every file that is replaced in one step


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="takes root to have files of others")
def test_owners_stay(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text("before")
    os.chown(path, 12345, 23456)
    RESULT.save(path)
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_nothing_is_lost_when_a_disk_is_full(
    write: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.csv"
    path.write_text("before")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    for target in (path, tmp_path / "new.csv"):
        with pytest.raises(OutputError, match="No space left on device"):
            write(target)
    assert path.read_text() == "before"
    assert {each.name for each in tmp_path.iterdir()} <= {"r.csv", "tables"}


def unwritable(folder: Path) -> Iterator[tuple[Path, str]]:
    """Paths that nothing can be written to, and what is said of them."""
    (folder / "folder.csv").mkdir()
    yield folder / "folder.csv", "is a (folder|directory)"
    yield folder / "nowhere" / "r.csv", "no folder '.*nowhere' to write 'r.csv' into"
    (folder / "link.csv").symlink_to("nowhere/r.csv")
    yield folder / "link.csv", "no folder '.*nowhere' to write 'r.csv' into"
    (folder / "round.csv").symlink_to("round.csv")
    yield folder / "round.csv", "[Tt]oo many levels of symbolic links"
    (folder / "file").write_text("before")
    yield folder / "file" / "r.csv", "Not a directory"
    yield folder / f"{'x' * 300}.csv", "File name too long"


def test_what_cannot_be_written(write: Callable[[Path], None], tmp_path: Path) -> None:
    for path, message in unwritable(tmp_path):
        with pytest.raises(OutputError, match=message):
            write(path) if path.parent.is_dir() else RESULT.save(path)
        with pytest.raises(OutputError, match=message):
            check_target(path)
    assert (tmp_path / "file").read_text() == "before"
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


def test_what_no_file_is_called() -> None:
    with pytest.raises(OutputError, match="cannot write"):
        write_whole("a\0b", b"")


@pytest.fixture
def anybody() -> Iterator[Path]:
    """A folder of somebody who is not root, as whom the test goes on: root may write everywhere."""
    with tempfile.TemporaryDirectory() as name:
        folder, root = Path(name), os.geteuid() == 0
        if root:
            os.chown(folder, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            folder.chmod(0o755)
            if root:
                os.seteuid(0)


def test_what_may_not_be_written(anybody: Path) -> None:
    file = anybody / "r.json"
    file.write_text("before")
    file.chmod(0o444)
    with pytest.raises(OutputError, match="Permission denied"):
        RESULT.save(file)
    anybody.chmod(0o555)
    with pytest.raises(OutputError, match=r"the folder .* is not writable"):
        RESULT.save(anybody / "new.json")
    anybody.chmod(0o755)
    assert file.read_text() == "before"


def test_an_error_of_both_kinds(tmp_path: Path) -> None:
    for kind in (OSError, ValueError, AtkayError):
        with pytest.raises(kind):
            RESULT.save(tmp_path / "nowhere" / "r.json")


def test_a_file_that_is_open(tmp_path: Path) -> None:
    if not Path("/dev/fd").exists():
        pytest.skip("open files have no names here")
    path = tmp_path / "out.txt"
    (tmp_path / "standard output").symlink_to("/dev/fd/1")  # what /dev/stdout is
    line = (
        "import atkay; print('first'); atkay.Stream; r = atkay.evaluate({1: [1]}, {1: [1]}, 'mrr'); r.save(%r); print()"
    )
    code = line % str(tmp_path / "standard output")
    with path.open("wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    first, saved = path.read_text().splitlines()
    assert first == "first"
    RESULT.save(path)
    assert saved[0] == path.read_text()[0] == "{"
    assert (tmp_path / "standard output").is_symlink()
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert piped.stdout.decode() == f"first\n{saved}\n"


def test_standard_output_has_the_table(tmp_path: Path) -> None:
    old, _, truth = tables(tmp_path)
    run = CliRunner().invoke(app, ["evaluate", old, truth, "--json", "-"])
    assert (run.exit_code, run.stdout) == (2, "")
    assert "standard output is used for the table; name a file" in run.stderr
    assert not Path("-").exists()


@pytest.mark.parametrize("path", [None, 1, b"x.json"])
def test_what_is_no_path(path: Any) -> None:
    takers: list[Callable[[Any], object]] = [RESULT.save, COMPARISON.save, atkay.Result.load, atkay.Comparison.load]
    for take in [*takers, check_target]:
        with pytest.raises((OutputError, SourceError), match=re.escape(f"path must be a str or a Path, got {path!r}.")):
            take(path)
        with pytest.raises((OutputError, SourceError), match=r"^path is empty; name a file.$"):
            take("")
    if importlib.util.find_spec("altair"):
        with pytest.raises(OutputError, match="path must be a str or a Path"):
            atkay.report(RESULT, path)


def test_a_folder_that_takes_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file itself may be written; what is written next to it may not."""
    path = tmp_path / "r.json"
    path.write_text("before")
    access = os.access
    monkeypatch.setattr(os, "access", lambda place, mode, **_: access(place, mode) and Path(place) != tmp_path)
    for refuse in (check_target, RESULT.save):
        with pytest.raises(OutputError, match=f"cannot write '{path}': the folder '{tmp_path}' is not writable"):
            refuse(path)
    assert path.read_text() == "before"


def test_a_file_that_cannot_be_replaced_is_written_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a file that is mounted by itself, in a container."""
    path = tmp_path / "r.json"
    path.write_text("before")

    def busy(*_: object) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(Path, "replace", busy)
    write_whole(path, b"after")
    assert path.read_bytes() == b"after"
    assert [each.name for each in tmp_path.iterdir()] == ["r.json"]


def test_nobody_is_shown_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard output and error are closed: files are written all the same."""
    old, new, truth = tables(tmp_path)
    atkay_ = f"{sys.executable} -c 'from atkay.cli.app import main; main()'"
    for line, name in {
        f"evaluate {old} {truth} -m mrr --json {tmp_path}/r.json >&-": "r.json",
        f"compare {old} {new} --truth {truth} -m mrr --json {tmp_path}/c.json >&- 2>&-": "c.json",
    }.items():
        run = subprocess.run(f"{atkay_} {line}", shell=True, capture_output=True, text=True)
        assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
        (tmp_path / name).unlink()
    shown = repr(RESULT)
    monkeypatch.setattr(sys, "stdout", None)
    assert repr(RESULT) == shown


def test_no_input_is_replaced(tmp_path: Path) -> None:
    old, new, truth = tables(tmp_path)
    (tmp_path / "link.csv").symlink_to(old)
    before = {path: Path(path).read_bytes() for path in (old, new, truth)}
    for line in (
        ["evaluate", old, truth, "--per-query", old],
        ["evaluate", "--per-query", truth, old, truth],
        ["evaluate", str(tmp_path / "ol*.csv"), truth, "--per-query", str(tmp_path / "link.csv")],
        ["evaluate", old, truth, "--slices", new, "--json", new],
        ["compare", old, f"b={new}", "--truth", truth, "--json", new],
        ["report", old, "--truth", truth, "-o", truth],
    ):
        run = CliRunner().invoke(app, [*line, "-m", "mrr"])
        assert run.exit_code == 2
        assert "is one of the inputs; name another file to write." in run.stderr
    both = str(tmp_path / "both.csv")
    twice = CliRunner().invoke(app, ["evaluate", old, truth, "--per-query", both, "--json", both, "-m", "mrr"])
    assert (twice.exit_code, "'both.csv' would be written twice" in twice.stderr.replace(str(tmp_path) + "/", "")) == (
        2,
        True,
    )
    assert before == {path: Path(path).read_bytes() for path in before}
