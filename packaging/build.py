"""Build the one-folder program with PyInstaller, and prove that it starts.

``python packaging/build.py`` writes ``dist/tabprotect``; ``--smoke`` then starts the frozen
program without a display, lets it paint its window, and compares its ``describe --json`` with
the source's, which proves that plug-ins are found in the frozen form too.
"""

from __future__ import annotations

import argparse
import ast
import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

from tabprotect.licences import THIRD_PARTY, for_installer, normal

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "dist" / "tabprotect" / ("tabprotect.exe" if os.name == "nt" else "tabprotect")
QUICKLY = Path(__file__).with_name("pyinstaller_quickly.py")

HOME = Path(tempfile.mkdtemp(prefix="tabprotect-smoke-"))
atexit.register(shutil.rmtree, HOME, ignore_errors=True)
"""Settings, keys and registers of the smoke runs: not those of whoever builds."""

EXCLUDED = (
    # A cluster, data frames and engines behind a URL, whose answers are Arrow's: not reached from
    # a packaged program.
    *("dask", "distributed", "pandas", "polars", "pyarrow", "pyspark", "ibis", "sqlglot"),
    # What tests and builds are made with.
    *("pytest", "_pytest", "hypothesis", "sphinx", "setuptools", "IPython"),
    # From 3.12 on it is a name for a part of setuptools.
    *(("distutils",) if sys.version_info < (3, 12) else ()),
    # What libraries offer to others: colours on a terminal, other loops, servers, files, databases.
    *("tkinter", "matplotlib", "pygments", "rich", "markdown_it", "trio", "tornado", "gunicorn"),
    *("fsspec", "requests", "urllib3", "lxml", "bs4", "yaml", "toolz", "duckdb.experimental"),
    *(f"sqlalchemy.dialects.{name}" for name in ("mssql", "mysql", "oracle")),
)
"""What analysis finds and the program never imports: half of the time of a build, and 40 MB."""

ENTRY = """import sys
if sys.argv[1:2] == ["--read-foreign-files"]:
    from tabprotect.engine.foreign.worker import main as read
    read(*sys.argv[2:])
from tabprotect.cli.main import main
raise SystemExit(main())
"""
"""The frozen program is its own reader of foreign files (``engine/foreign/reader.py:SWITCH``)."""


def build() -> None:
    """Run PyInstaller on a two-line entry script and an installed copy, both outside the tree.

    The copy, because in the tree resources stand beside the package.
    """
    # What an earlier build copied there would come along, moved modules too.
    shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        entry = Path(folder) / "start.py"  # not tabprotect.py: it would hide the package
        entry.write_text(ENTRY)
        run(
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"),
            *("--no-build-isolation", "--no-compile", "--target", str(copy), str(ROOT)),
        )
        run(
            # Its own folder is no place to find modules in.
            *(sys.executable, "-P", str(QUICKLY), str(entry)),
            *("--name=tabprotect", "--onedir", "--noconfirm", "--log-level=ERROR"),
            f"--distpath={ROOT / 'dist'}",
            f"--workpath={folder}/build",
            f"--specpath={folder}",
            # Plug-ins and the lazily imported window are not seen by import analysis.
            "--collect-submodules=tabprotect",
            # Nor is what compiled modules import.
            "--collect-submodules=randomgen",
            "--collect-data=tabprotect.resources",
            *(f"--exclude-module={name}" for name in EXCLUDED),
            search=copy,
        )
        carried = frozen(Path(folder) / "build" / "tabprotect")
        text = for_installer(*carried)
        (PROGRAM.parent / THIRD_PARTY).write_text(text, encoding="utf-8")


def frozen(analysis: Path) -> tuple[set[str], list[tuple[str, str]]]:
    """The distributions of which the program holds something, and the system's libraries in it.

    Parameters
    ----------
    analysis
        PyInstaller's folder of work, with its lists of what it took and from where.
    """
    taken = [
        (str(entry[0]), str(entry[1]))
        for name in ("PYZ-00.toc", "COLLECT-00.toc")
        for entry in _entries(ast.literal_eval((analysis / name).read_text(encoding="utf-8")))
    ]
    return distributions_of(taken), libraries_of(taken)


def _entries(listed: object) -> Iterator[tuple[object, ...]]:
    if isinstance(listed, tuple) and len(listed) > 2 and isinstance(listed[0], str):
        yield listed
    elif isinstance(listed, (list, tuple)):
        for one in listed:
            yield from _entries(one)


def distributions_of(taken: Iterable[tuple[str, str]]) -> set[str]:
    """The distributions that brought these files, each a name and where it was taken from.

    Raises
    ------
    SystemExit
        For a file among the packages that no distribution brought: its licence is not known.
    """
    # By their places in the folder of packages, as its records list them.
    brought = {
        line.rsplit(",", 2)[0].strip('"'): name
        for one in metadata.distributions()
        for name in (normal(one.name),)
        for line in (one.read_text("RECORD") or "").splitlines()
    }
    # An environment may share the packages of another one.
    folders = {
        Path(one).resolve() for one in sys.path if Path(one).name in ("site-packages", "dist-packages")
    }
    found: set[str] = set()
    for name, place in taken:
        source = Path(place).resolve()
        within = next((folder for folder in folders if folder in source.parents), None)
        if within is None:
            continue
        listed = source.relative_to(within).as_posix()
        if listed not in brought:
            raise SystemExit(f"nobody knows under which licence {name} is: {source}")
        found.add(brought[listed])
    return found - {"tabprotect"}


def libraries_of(taken: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The system's shared libraries among these files, with what the system says of their licences."""
    ours = [Path(sys.prefix).resolve(), Path(sysconfig.get_path("stdlib")).resolve()]
    places: dict[str, Path] = {}
    for name, place in taken:
        source = Path(place)
        inside = any(folder in source.resolve().parents for folder in ours)
        # Of links within the program and of the copy of ours that was frozen there is nothing to say.
        if not source.is_absolute() or inside or "tabprotect" in source.parts:
            continue
        if re.search(r"\.(so|dylib|dll)(\.|$)", source.name, re.IGNORECASE):
            places[Path(name).name] = source
    alike: dict[str, list[str]] = {}
    for name, text in _copyrights(places).items():
        alike.setdefault(text, []).append(name)
    return sorted((", ".join(sorted(names)), text) for text, names in alike.items())


def _copyrights(places: Mapping[str, Path]) -> dict[str, str]:
    """What Debian's packages of libraries say of their licences; elsewhere what little is known."""
    said = {n: f"a library of the system that the program was built on: {n}" for n in places}
    if shutil.which("dpkg-query") is None or not places:
        return said
    # Packages list files below /lib or below /usr/lib, which are the same.
    asked = {
        str(one).replace("/usr/lib/", "/lib/", 1).replace("/lib/", prefix, 1): name
        for name, place in places.items()
        for one in (place, place.resolve())
        for prefix in ("/lib/", "/usr/lib/")
    }
    answer = subprocess.run(["dpkg-query", "--search", *asked], capture_output=True, text=True, check=False)
    for line in answer.stdout.splitlines():
        package, _, place = line.partition(": ")
        text = Path("/usr/share/doc") / package.partition(":")[0] / "copyright"
        if place in asked and text.is_file():
            said[asked[place]] = text.read_text(encoding="utf-8", errors="replace")
    return said


def run(*command: str, search: Path | None = None) -> str:
    """Standard output of a command; a failure ends the script with what it printed.

    ``search`` is a folder whose packages come before the installed ones.
    """
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "TABPROTECT_HOME": str(HOME)}
    if search is not None:
        environment["PYTHONPATH"] = str(search)
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=environment,
        cwd=search,  # the current folder comes first too
        timeout=1800,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} exited {done.returncode}:\n{done.stderr}")
    return done.stdout


def smoke() -> None:
    """Start the frozen program four ways."""
    frozen = json.loads(run(str(PROGRAM), "describe", "--json"))
    source = json.loads(run(sys.executable, "-m", "tabprotect", "describe", "--json"))
    if frozen != source:
        raise SystemExit("the frozen program describes other methods than the source")
    with tempfile.TemporaryDirectory() as folder:
        release = str(Path(folder) / "release.zip")
        example = "example:duncan-roehrig-4x4"
        run(str(PROGRAM), "protect", example, "--method", "cyclic_perturbation", "--out", release)
        run(str(PROGRAM), "verify", release)
        said = run(str(PROGRAM), "--licences")
        if "GNU LESSER GENERAL PUBLIC LICENSE" not in said or "PySide6" not in said:
            raise SystemExit("the frozen program lacks the licences of what it holds")
        # A foreign file goes through a process of its own.
        book = str(Path(folder) / "table.xlsx")
        run(str(PROGRAM), "convert", example, "--out", book)
        run(str(PROGRAM), "convert", book, "--out", str(Path(folder) / "table.csv"))
        picture = Path(folder) / "window.png"
        run(str(PROGRAM), "open", example, "--smoke", str(picture))
        if picture.read_bytes()[:4] != b"\x89PNG":
            raise SystemExit("the frozen window painted nothing")
    plugins = sum(len(frozen[kind]) for kind in ("methods", "criteria", "rules", "utilities"))
    print(f"frozen program: {plugins} plug-ins, bundle verified, window painted")


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="then prove that it starts")
    arguments = parser.parse_args()
    build()
    if arguments.smoke:
        smoke()


if __name__ == "__main__":
    main()
