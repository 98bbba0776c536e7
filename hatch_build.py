"""Builds the compiled kernels into the package. Without a C compiler it is built all the same, and is slower."""

from __future__ import annotations

import os
import platform
import subprocess
import sysconfig
import tempfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TARGET = "ATKAY_TARGET"
"""The environment variable that names the tag of another platform, to build a wheel for that."""


class KernelsHook(BuildHookInterface[Any]):
    """Compiles src/atkay/core/native, for wheels and for editable installations."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library and tag the wheel with its platform; without a library the wheel is pure Python."""
        native = _module(Path(self.root, "src/atkay/core/native/build.py"))
        tag = os.environ.get(TARGET)
        name = native.library_name(*(() if tag is None else (native.TARGETS[tag].system,)))
        self.folder = tempfile.TemporaryDirectory()
        library = native.LIBRARIES / name if version == "editable" else Path(self.folder.name, name)
        try:
            if tag is not None:
                native.build(library, native.ZIG, "-target", native.TARGETS[tag].triple)
            elif command := native.compiler():
                native.build(library, command)
            else:
                raise FileNotFoundError("no C compiler found")
        except (OSError, subprocess.CalledProcessError) as error:
            if tag is not None:
                raise
            library.unlink(missing_ok=True)  # one of older sources
            details = getattr(error, "stderr", None) or error
            self.app.display_warning(f"atkay is built without its compiled kernels, and slower: {details}")
            return
        if version == "editable":
            return
        build_data["force_include"][str(library)] = f"atkay/core/native/lib/{name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag or _platform()}"  # without Python's ABI: one wheel for every version

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the library, which the wheel now holds."""
        self.folder.cleanup()


def _platform() -> str:
    """The tag of this machine. On macOS Python may be built for two kinds of CPU; the library is built for one."""
    return sysconfig.get_platform().replace("universal2", platform.machine()).replace("-", "_").replace(".", "_")


def _module(path: Path) -> Any:
    spec = spec_from_file_location("atkay_build", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
