"""A compiled part of the engine, built anew with a definition of its own."""

from __future__ import annotations

import importlib.util
import subprocess
import sysconfig
from pathlib import Path
from types import ModuleType


def built(source: Path, definition: str, folder: Path) -> ModuleType:
    """The module of this C file, compiled with ``definition`` set; nothing is put in its place."""
    path = folder / f"{source.stem}{sysconfig.get_config_var('EXT_SUFFIX')}"
    headers = sysconfig.get_paths()["include"]
    options = ["-shared", "-fPIC", "-O1", f"-D{definition}=1", f"-I{headers}"]
    subprocess.run(["cc", *options, str(source), "-o", str(path)], check=True)
    spec = importlib.util.spec_from_file_location(source.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
