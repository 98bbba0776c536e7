"""Builds the compiled kernels into the package. Without a C compiler it is built all the same, and is slower."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TARGET = "ATKAY_TARGET"
"""The environment variable that names the tag of another platform, to build a wheel for that."""


class KernelsHook(BuildHookInterface[Any]):
    """Compiles src/atkay/core/native, for wheels and for installations that lead to the sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library, and name the wheel after the platform; after none where nothing could be built."""
        kernels = _module(Path(self.root, "src/atkay/core/native/build.py"))
        tag = os.environ.get(TARGET)
        if tag is None:
            library = kernels.LIBRARIES / kernels.library_name()
            command, flags = kernels.compiler(), []
            tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        else:
            target = kernels.TARGETS[tag]
            library = Path(self.directory, tag, kernels.library_name(target.system))
            command, flags = kernels.ZIG, ["-target", target.triple]
        try:
            if command is None:
                raise FileNotFoundError("no C compiler")
            kernels.build(library, command, *flags)
        except (OSError, subprocess.CalledProcessError) as error:
            if TARGET in os.environ:
                raise
            library.unlink(missing_ok=True)
            details = getattr(error, "stderr", "") or str(error)
            self.app.display_warning(f"atkay is built without its compiled kernels, and slower: {details}")
            return
        if version == "editable":
            return
        build_data["force_include"][str(library)] = f"atkay/core/native/lib/{library.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"  # nothing of Python is in the library: one wheel for every version


def _module(path: Path) -> Any:
    spec = spec_from_file_location("atkay_build", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
