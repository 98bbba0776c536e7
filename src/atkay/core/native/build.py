"""Build: the C sources of this folder into one shared library, by any C compiler. The standard library alone.

The library has nothing of Python in it, so one serves every version. ``python -m atkay.core.native.build`` builds it
next to its sources; ``--sanitize`` with the checks of addresses and undefined behaviour, for tests.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent

LIBRARIES = FOLDER / "lib"
"""Where the library is put: not among the modules, of which it is none."""

FLAGS = ("-O3", "-std=gnu11", "-shared", "-fPIC", "-fvisibility=hidden", "-fno-math-errno", "-ffp-contract=off")
"""No multiplication is fused with an addition: the same bits on every machine."""


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

ZIG = [sys.executable, "-m", "ziglang", "cc"]

SANITIZE = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")


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


def build(library: Path, command: list[str], *flags: str) -> None:
    """Compile all sources; the library is there whole or not at all."""
    library.parent.mkdir(parents=True, exist_ok=True)
    sources = sorted(map(str, FOLDER.glob("*.c")))
    unfinished = library.with_name(f"{library.name}.{os.getpid()}")
    try:
        threads = () if "windows" in " ".join(flags) or sys.platform == "win32" else ("-pthread",)
        subprocess.run(
            [*command, *FLAGS, *flags, *threads, *sources, "-o", str(unfinished), "-lm"],
            check=True,
            capture_output=True,
            text=True,
        )
        unfinished.replace(library)
    finally:
        unfinished.unlink(missing_ok=True)


def main(arguments: list[str]) -> None:
    """Build the library for this machine."""
    command = compiler()
    if command is None:
        sys.exit("no C compiler: install one, or the package ziglang (pip install ziglang).")
    sanitize = "--sanitize" in arguments
    places = [argument for argument in arguments if not argument.startswith("--")]
    library = Path(places[0]) if places else LIBRARIES / library_name()
    build(library, command, *(SANITIZE if sanitize else ()))
    print(library)


if __name__ == "__main__":
    main(sys.argv[1:])
