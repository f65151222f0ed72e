"""An environment like this one without the window: what ``tabprotect[test]`` asks for, no more.

``python tests/engine_environment.py FOLDER`` makes it. Every distribution that the extra needs,
itself or through others, is linked from the environment that runs this; Qt, which only ``gui``
brings, and the packagers are not there to be imported. Installing the same wheels a second time
takes a minute of processor time. What one of the two environments compiles is compiled for both.
"""

from __future__ import annotations

import sys
import venv
from importlib.metadata import Distribution, distribution
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


def main() -> None:
    """Make the environment named on the command line."""
    folder = Path(sys.argv[1])
    venv.create(folder, clear=True, symlinks=True)
    source = Path(distribution("pytest").locate_file("")).resolve()
    (target,) = folder.resolve().glob("lib/python3*/site-packages")
    found: dict[str, Distribution] = {}
    needed("tabprotect", frozenset({"test"}), found)
    tops = {entry.parts[0] for here in found.values() for entry in here.files or ()}
    # Programs outside of the packages name the other environment's Python.
    for top in tops - {".."}:
        if (source / top).exists():
            (target / top).symlink_to(source / top)
    print(f"{len(found)} distributions")


if __name__ == "__main__":
    main()
