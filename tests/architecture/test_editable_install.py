"""The README's start line installs the checkout itself, and a script's mistakes are seen from outside of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
import tabprotect as tp

table = tp.read_table("example:duncan-roehrig-4x4")
tp.protect(table, "cellkey")
tp.protect(table, "cell_key", E=5)
tp.protect_set(table, {"a": "v"}, "random_rounding", bse=3)
tp.protect_all({"a": table}, "random_rounding", bse=3)
tp.read_table("x", drp=["a"])
tp.protect(table, "cell_key", D=5).publish("r.zip", dosier="d.zip")
tp.protect(table, "cell_key", D=5).publish("r.zip", dossier="d.zip")
"""


def test_types_are_seen_where_the_checkout_is_installed_to_be_edited(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False)
    checkout = shutil.copytree(
        ROOT / "tabprotect",
        tmp_path / "checkout" / "tabprotect",
        ignore=shutil.ignore_patterns("__pycache__"),
    ).parent
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, checkout)
    # As pip does it.
    build = f"from setuptools.build_meta import build_editable; build_editable({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=checkout, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    (place,) = (tmp_path / "venv").glob("[Ll]ib/**/site-packages")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(place)
    (tmp_path / "script.py").write_text(SCRIPT)
    python = tmp_path / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    checked = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--python-executable",
            str(python),
            "--cache-dir",
            "cache",
            "script.py",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = {int(line) for line in re.findall(r"^script\.py:(\d+): error", checked.stdout, re.MULTILINE)}
    assert lines == {5, 6, 7, 8, 9, 10}, checked.stdout
