"""Try the program with the newest release of every library, as ``pip install tabprotect`` takes them.

Makes an environment in the given folder without the pins, says which releases differ from these, runs
twenty commands whose standard output has to be one JSON object, and the engine's quick tests::

    python packaging/newest.py FOLDER [--upgrade]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PINS = ROOT / "packaging" / "pins" / "all.txt"

COMMANDS = """
--version
examples
describe suppression
convert example:czech-autoworkers --out t.csv
convert example:czech-autoworkers --out t.parquet
convert example:czech-autoworkers --out t.xlsx
protect example:duncan-roehrig-4x4 --method cyclic_perturbation --out r.zip --dossier CONFIDENTIAL-d.zip
protect example:duncan-roehrig-4x4 --method controlled_rounding --accept tried --out c.zip
protect example:langsrud-lupp --method suppression --set choice=blocks --accept tried --out s.zip
verify r.zip
infer r.zip --prior positive
infer r.zip --format parquet --out beliefs.parquet
export s.zip --out s.px
export s.zip --out s.xlsx
report r.zip --edition public --out r.html
bounds example:czech-autoworkers --release A,B --release C,D
frontier example:czech-autoworkers --release A,B,C --beta 5
cycles design --shape 4,4 --kind strips --out cycles.json
restore t.csv
register list
"""

QUICK = ("tests/engine/tables", "tests/engine/bounds", "tests/engine/bundle", "tests/engine/protection")
"""Tests of what rests on the solver, on arrays and on files, in a few minutes."""


def installed(folder: Path, *, upgrade: bool) -> Path:
    """The interpreter of an environment with the newest libraries."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", *(["--upgrade"] if upgrade else [])]
    subprocess.run([*pip, f"{ROOT}[test]"], check=True)
    return python


def newer(folder: Path) -> list[str]:
    """Libraries whose release is not the pinned one."""
    pins = dict(re.findall(r"^([\w.-]+)==([^ ;\\]+)", PINS.read_text(), flags=re.MULTILINE))
    here = [str(one) for one in folder.rglob("site-packages")]
    found = {one.metadata["Name"].lower().replace("_", "-"): one.version for one in distributions(path=here)}
    return [f"{name} {pins[name]} -> {at}" for name, at in sorted(found.items()) if pins.get(name, at) != at]


def tried(python: Path, line: str, place: Path) -> str:
    """What is wrong with a command; empty for nothing."""
    command = [str(python), "-P", "-m", "tabprotect.cli.main", *shlex.split(line), "--json"]
    house = {"TABPROTECT_HOME": str(place / "house")}
    done = subprocess.run(
        command, cwd=place, env=os.environ | house, capture_output=True, text=True, check=False
    )
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr.strip()[-300:]}"
    try:
        return "" if isinstance(json.loads(done.stdout), dict) else "no JSON object"
    except ValueError:
        return f"not JSON alone: {done.stdout[:200]!r}"


def main() -> int:
    """Install, run, and say what failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--upgrade", action="store_true")
    args = parser.parse_args()
    python = installed(args.folder.absolute(), upgrade=args.upgrade)
    for line in newer(args.folder):
        print(line)
    lines, failed = COMMANDS.strip().splitlines(), 0
    with tempfile.TemporaryDirectory() as place:
        for line in lines:
            if wrong := tried(python, line, Path(place)):
                failed += 1
                print(f"tabprotect {line}: {wrong}")
    print(f"{len(lines) - failed} of {len(lines)} commands")
    # Beside the tests stands the checkout, whose kernels are not built: the installed program is tried.
    with tempfile.TemporaryDirectory() as place:
        for name in ("tests", "packaging", "resources", "pyproject.toml", "README.md"):
            (Path(place) / name).symlink_to(ROOT / name)
        tests = [str(python), "-P", "-m", "pytest", "-q", "-n", "2", "-p", "no:pytest-qt", *QUICK]
        failed += bool(subprocess.run(tests, cwd=place, check=False).returncode)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
