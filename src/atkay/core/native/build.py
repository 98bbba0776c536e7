"""Build: the C sources of this folder into one shared library, by any C compiler. The standard library alone.

The library does not use Python's ABI, so one build serves every version. ``python -m atkay.core.native.build`` builds
it next to its sources; ``--sanitize=address PATH`` and ``--sanitize=thread PATH`` with sanitizers, for tests.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent

LIBRARIES = FOLDER / "lib"
"""The folder of the library."""

FLAGS = ("-O3", "-std=gnu11", "-shared", "-fvisibility=hidden", "-fno-math-errno", "-ffp-contract=off")
"""No multiplication is fused with an addition: the same bits on every machine."""

POSIX_FLAGS = ("-fPIC", "-pthread", "-lm")
"""What Windows has no need of; clang refuses it there."""


class Target(NamedTuple):
    """A platform: how ziglang calls it, and its system as :data:`sys.platform` calls it."""

    triple: str
    system: str


TARGETS = {
    "manylinux_2_17_x86_64.manylinux2014_x86_64": Target("x86_64-linux-gnu.2.17", "linux"),
    "manylinux_2_17_aarch64.manylinux2014_aarch64": Target("aarch64-linux-gnu.2.17", "linux"),
    "musllinux_1_2_x86_64": Target("x86_64-linux-musl", "linux"),
    "musllinux_1_2_aarch64": Target("aarch64-linux-musl", "linux"),
    "macosx_11_0_x86_64": Target("x86_64-macos.11.0", "darwin"),
    "macosx_11_0_arm64": Target("aarch64-macos.11.0", "darwin"),
    "win_amd64": Target("x86_64-windows-gnu", "win32"),
    "win_arm64": Target("aarch64-windows-gnu", "win32"),
}
"""The platforms that wheels are built for, by their tags; ziglang builds all of them on any machine."""

ZIG = [sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline", "-s"]
"""By itself it would build for the CPU of this machine, and with symbols for a debugger."""

SANITIZE = ("-g", "-O1", "-fno-omit-frame-pointer", "-fno-sanitize-recover=undefined")
SANITIZERS = {
    "--sanitize=address": (*SANITIZE, "-fsanitize=address,undefined"),
    "--sanitize=thread": (*SANITIZE, "-fsanitize=thread,undefined"),
}


def library_name(platform: str = sys.platform) -> str:
    """The name of the library on an operating system, as :data:`sys.platform` calls it."""
    return {"win32": "kernels.dll", "darwin": "libkernels.dylib"}.get(platform, "libkernels.so")


def compiler() -> list[str] | None:
    """The command of a C compiler: the one that CC names, the system's, or that of the package ziglang."""
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    return ZIG if find_spec("ziglang") else None


def version() -> int:
    """A checksum of the sources, which the library carries: one that was built from others is not used."""
    checksum = 0
    for source in sorted(FOLDER.glob("*.[ch]")):
        checksum = zlib.crc32(source.read_bytes(), checksum)
    return checksum


def build(library: Path, command: list[str], *flags: str) -> None:
    """Compile all sources; the library is there whole or not at all."""
    library.parent.mkdir(parents=True, exist_ok=True)
    sources = sorted(map(str, FOLDER.glob("*.c")))
    posix_flags = () if library.suffix == ".dll" else POSIX_FLAGS
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:  # some linkers write more files next to the library
        unfinished = Path(folder, library.name)
        subprocess.run(
            [
                *command,
                *FLAGS,
                f"-DSOURCES_CHECKSUM={version()}",
                *flags,
                *sources,
                "-o",
                str(unfinished),
                *posix_flags,
            ],
            check=True,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
        )
        unfinished.replace(library)


def main(arguments: list[str]) -> None:
    """Build the library for this machine."""
    command = compiler()
    if command is None:
        sys.exit("No C compiler found: install one, for instance with pip install ziglang.")
    flags = SANITIZERS[arguments.pop(0)] if arguments and arguments[0] in SANITIZERS else ()
    library = Path(arguments[0]) if arguments else LIBRARIES / library_name()
    try:
        build(library, command, *flags)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"The kernels were not built: {getattr(error, 'stderr', None) or error}")
    print(library)


if __name__ == "__main__":
    main(sys.argv[1:])
