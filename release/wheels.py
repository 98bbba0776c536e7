"""Wheels: build them, look into them, install them, and run what can run here.

``python release/wheels.py`` makes the sdist and the wheel for this machine; ``--all`` makes the wheels for every
platform, on an x86-64 with Linux, and tries that of this machine with every Python that is here.
"""

from __future__ import annotations

import csv
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from base64 import urlsafe_b64encode
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

from binaries import read_binary

from atkay import __version__
from atkay.core.native import build

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
SOURCES = ROOT / "src"
LIBRARIES = "atkay/core/native/lib/"

SYSTEM_LIBRARIES = {
    "linux": r"libc\.so(\.6)?|libm\.so\.6|libpthread\.so\.0|ld-linux-[\w-]+\.so\.\d",
    "darwin": r"/usr/lib/libSystem\.B\.dylib",
    "win32": r"KERNEL32\.dll|api-ms-win-crt-[\w-]+\.dll",
}
"""What a library may need, as a pattern."""

OLDEST = {"linux": (2, 17), "darwin": (11, 0), "win32": ()}
"""The oldest version of glibc, or of macOS, that a wheel promises to run on."""

MADE_BY_THE_LINKER = {"__dso_handle", "_mh_dylib_header"}

EMULATORS = {
    ("x86_64", "linux"): [],
    ("aarch64", "linux"): ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    ("x86_64", "win32"): ["wine"],
}
"""How programs for other machines and systems are run on this one, which is an x86-64 with Linux."""


def main(arguments: list[str]) -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    everywhere = "--all" in arguments
    sdist = hatchling("sdist")
    wheels = [hatchling("wheel", tag) for tag in (build.TARGETS if everywhere else [None])]
    check_sdist(sdist)
    exports = [check(wheel) for wheel in wheels]
    run(sys.executable, "-m", "twine", "check", "--strict", *DIST.iterdir())
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(), "CITATION.cff has another version"
    assert len(set(exports)) == 1, "all wheels have the same kernels"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:  # wine ends a little later
        folder = Path(name)
        if everywhere:
            replay(wheels, exports[0], folder)
            for each in pythons(wheels[0]):
                python = environment(folder, each)
                smoke(python, "compiled", wheels[0], "[report]")  # of all wheels the first is for an x86-64 with Linux
                demo(python, folder, "Everything on one page: ")
        else:
            python = environment(folder, sys.executable)
            compiled = smoke(python, "compiled", wheels[0])
            demo(python, folder, "No report.html: ")
            check_rebuilt(sdist, wheels[0], folder)
            check_without_compiler(python, sdist, compiled)
    print(*(f"{path.name}: {path.stat().st_size // 1024} kB" for path in sorted(DIST.iterdir())), sep="\n")


def run(*command: str | Path, **variables: str | Path) -> str:
    """The output of a command that succeeds."""
    changed = {**os.environ, **{name: str(text) for name, text in variables.items()}}
    environment = {name: text for name, text in changed.items() if name != "PYTHONPATH" or name in variables}
    done = subprocess.run(list(map(str, command)), env=environment, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def hatchling(kind: str, tag: str | None = None) -> Path:
    """Build an archive, and its path."""
    before = set(DIST.glob("*"))
    run(
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        kind,
        "-d",
        DIST,
        **({} if tag is None else {"ATKAY_TARGET": tag}),
    )
    (path,) = set(DIST.glob("*")) - before
    return path


def check_sdist(sdist: Path) -> None:
    """It has every file that a wheel is built from, and no library."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= {f"src/{name}" for name in package()} | {"hatch_build.py", "pyproject.toml", "README.md", "LICENSE"}
    assert not any(LIBRARIES in name for name in names)


def package() -> set[str]:
    """The files of the package, as a wheel names them."""
    files = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "src").split("\n")
    return {Path(file).relative_to("src").as_posix() for file in files if file and (ROOT / file).exists()}


def check(wheel: Path) -> frozenset[str]:
    """Look into a wheel: its files, its tags, its metadata and its library, whose kernels are returned."""
    _, version, python, abi, tag = wheel.stem.split("-")
    assert (version, python, abi) == (__version__, "py3", "none"), wheel
    info = f"atkay-{version}.dist-info/"
    with ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    for name, digest, size in csv.reader(files[f"{info}RECORD"].decode().splitlines()):
        hashed = urlsafe_b64encode(hashlib.sha256(files[name]).digest()).decode().rstrip("=")
        assert name == f"{info}RECORD" or (digest, int(size)) == (f"sha256={hashed}", len(files[name])), name
    facts = message_from_bytes(files[f"{info}WHEEL"])
    assert facts["Root-Is-Purelib"] == "false"
    assert set(facts.get_all("Tag", [])) == {f"py3-none-{each}" for each in tag.split(".")}, facts
    about = message_from_bytes(files[f"{info}METADATA"])
    assert (about["Name"], about["Version"], about["Requires-Python"]) == ("atkay", __version__, ">=3.11")
    assert about["Description-Content-Type"] == "text/markdown"
    assert "atkay/py.typed" in files
    (library,) = (name for name in files if name.startswith(LIBRARIES))
    assert {name for name in files if not name.startswith(info)} == package() | {library}
    return check_library(files[library], Path(library).name, tag)


def check_library(data: bytes, name: str, tag: str) -> frozenset[str]:
    """The library is of the wheel's platform, needs nothing but the system, and exports the kernels alone."""
    binary = read_binary(data)
    machine = re.search("x86_64|aarch64|amd64|arm64", tag)
    assert machine is not None, tag
    assert binary.machine == {"amd64": "x86_64", "arm64": "aarch64"}.get(machine[0], machine[0]), (tag, binary)
    assert name == build.library_name(binary.system), (tag, name)
    assert tag not in build.TARGETS or binary.system == build.TARGETS[tag].system, (tag, binary)
    assert all(re.fullmatch(SYSTEM_LIBRARIES[binary.system], each) for each in binary.needs), (tag, binary)
    assert tag not in build.TARGETS or binary.at_least <= OLDEST[binary.system], (tag, binary)
    assert binary.signed or (binary.system, binary.machine) != ("darwin", "aarch64"), "macOS loads no unsigned library"
    exports = binary.exports - MADE_BY_THE_LINKER
    text = "\n".join(path.read_text() for path in build.FOLDER.glob("*.[ch]"))
    declared = set(re.findall(r"^KERNEL int64_t (?:NAMED\()?(\w+)", text, re.MULTILINE))
    assert {re.sub(r"_[iuf]\d\d$", "", kernel) for kernel in exports} == declared, (tag, sorted(exports), declared)
    return frozenset(exports)


def pythons(wheel: Path) -> list[str]:
    """The Pythons of this machine that the wheel is for."""
    with ZipFile(wheel) as archive:
        about = archive.read(f"atkay-{__version__}.dist-info/METADATA").decode()
    found = []
    for minor in re.findall(r"^Classifier: Programming Language :: Python :: 3\.(\d+)$", about, re.MULTILINE):
        command = shutil.which(f"python3.{minor}")
        if command and not subprocess.run([command, "-c", ""], capture_output=True).returncode:  # pyenv's may be empty
            found.append(command)
        else:
            print(f"Python 3.{minor} is not here")
    return found


def environment(folder: Path, python: str) -> Path:
    """The Python of a new, empty virtual environment."""
    place = folder / "environment"
    run(python, "-m", "venv", "--clear", "--without-pip", place)
    return place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def pip(python: Path, *arguments: str | Path, **variables: str | Path) -> None:
    """Run our own pip for another Python."""
    options = "--quiet", "--disable-pip-version-check", "--python", python
    run(sys.executable, "-m", "pip", *options, *arguments, **variables)


def smoke(python: Path, kernels: str, archive: Path, extra: str = "", *options: str, **variables: str | Path) -> str:
    """Install an archive; the numbers of the smoke test there, with the kernels that it is to have."""
    pip(python, "install", "--no-compile", *options, f"{archive}{extra}", **variables)
    numbers = run(python, "-I", ROOT / "release/smoke.py", kernels)
    print(f"{archive.name}, {run(python, '-V').strip()}, {kernels} kernels: {numbers.strip()}")
    return numbers


def demo(python: Path, folder: Path, last: str) -> None:
    """The demo runs, and ends with such a line."""
    *_, line = run(python.with_name("atkay"), "demo", "-o", folder / "report.html").splitlines()
    assert line.startswith(last), line


def check_rebuilt(sdist: Path, wheel: Path, folder: Path) -> None:
    """A wheel that is built from the sdist is the same, byte by byte."""
    pip(Path(sys.executable), "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, sdist)
    assert (folder / wheel.name).read_bytes() == wheel.read_bytes(), "the sdist makes another wheel"


def check_without_compiler(python: Path, sdist: Path, compiled: str) -> None:
    """Without a compiler atkay is installed all the same, warns once, and gives the same numbers."""
    options = "--force-reinstall", "--no-deps", "--no-cache-dir"
    assert smoke(python, "reference", sdist, "", *options, CC="", PATH="") == compiled


def replay(wheels: list[Path], kernels: frozenset[str], folder: Path) -> None:
    """Make the calls of the kernels' tests again, with the library of every wheel that can run here."""
    calls = folder / "calls"
    tests = "-p", "record", "tests/core/test_kernels.py"
    output = run(sys.executable, "-m", "pytest", *tests, RECORD=calls, PYTHONPATH=f"{SOURCES}:{ROOT / 'release'}")
    (called,) = re.findall(r"^recorded: (.*)", output, re.MULTILINE)
    missing = kernels - {*called.split(), "kernels_version"}
    assert not missing, f"tests/core/test_kernels.py does not call {missing}"
    for wheel in wheels:
        tag = wheel.stem.split("-")[-1]
        target = build.TARGETS[tag]
        machine = target.triple.partition("-")[0]
        emulator = EMULATORS.get((machine, target.system))
        loader = Path(f"/lib/ld-musl-{machine}.so.1" if "musl" in tag else "/")
        if emulator is None or not all(map(shutil.which, emulator[:1])) or not loader.exists():
            print(f"{tag}: checked, and not run" + ("" if emulator is None else " (make emulators)"))
            continue
        with ZipFile(wheel) as archive:
            library = archive.extract(f"{LIBRARIES}{build.library_name(target.system)}", folder / tag)
        program = folder / f"replay-{tag}.exe"
        options = ["-dynamic", "-ldl"] if target.system == "linux" else []
        run(*build.ZIG, "-target", target.triple, "-O1", ROOT / "release/replay.c", *options, "-o", program)
        answer = run(*emulator, program, library, calls, WINEPREFIX=folder / "wine", WINEDEBUG="-all")
        print(f"{tag}: {answer.strip()}")


if __name__ == "__main__":
    main(sys.argv[1:])
