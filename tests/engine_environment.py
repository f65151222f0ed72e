"""An environment like this one without the window: what ``tabprotect[test]`` asks for, no more.

``python tests/engine_environment.py FOLDER`` makes it. Every distribution that the extra needs,
itself or through others, is linked file by file from the environment that runs this; Qt, which
only ``gui`` brings, and the packagers are not there to be imported. Installing the same wheels a
second time takes a minute of processor time.
"""

from __future__ import annotations

import os
import sys
import venv
from importlib.metadata import Distribution, distribution
from importlib.util import cache_from_source
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def needed(name: str, extras: frozenset[str], found: dict[str, Distribution]) -> None:
    """Add a distribution and all it asks for, with the given extras, to ``found``."""
    todo, seen = [(name, extras)], set()
    while todo:
        asked = todo.pop()
        if asked in seen:
            continue
        seen.add(asked)
        name, extras = asked
        here = found.setdefault(canonicalize_name(name), distribution(name))
        for text in here.requires or ():
            wanted = Requirement(text)
            marker = wanted.marker
            if marker is None or any(marker.evaluate({"extra": e}) for e in extras | {""}):
                todo.append((wanted.name, frozenset(wanted.extras)))


def link(here: Distribution, source: Path, target: Path) -> None:
    """The files of a distribution, and what was compiled of them."""
    for entry in here.files or ():
        # Programs outside of the packages name the other environment's Python.
        if entry.parts[0] == "..":
            continue
        for part in (source / entry, Path(cache_from_source(str(source / entry)))):
            place = target / part.relative_to(source)
            if part.exists() and not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                os.link(part, place)


def main() -> None:
    """Make the environment named on the command line."""
    folder = Path(sys.argv[1])
    venv.create(folder, clear=True, symlinks=True)
    source = Path(distribution("pytest").locate_file("")).resolve()
    (target,) = folder.resolve().glob("lib/python3*/site-packages")
    found: dict[str, Distribution] = {}
    needed("tabprotect", frozenset({"test"}), found)
    for here in found.values():
        link(here, source, target)
    print(f"{len(found)} distributions")


if __name__ == "__main__":
    main()
