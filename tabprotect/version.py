"""The version and what is compiled of it, apart from the library's face so that the engine can name it."""

import importlib.machinery
import os
from functools import cache
from pathlib import Path

__version__ = "0.2.0"

_PACKAGE = Path(__file__).parent

RESOURCES = (_PACKAGE if os.path.isdir(_PACKAGE / "resources") else _PACKAGE.parent) / "resources"
"""Icons, texts, examples and documents: in an installed program within the package, in a checkout beside it."""

KERNELS = (
    "engine/attack/tempered_lattice",
    "engine/cycles/cycle_steps",
    "engine/microdata/coded_counts",
    "engine/posterior/cell_texts",
    "engine/posterior/factors/chain_steps",
    "engine/posterior/factors/loose_steps",
    "engine/posterior/moves/column_trains",
    "engine/posterior/moves/strip_sweeps",
    "engine/protection/resampling/record_moves",
    "engine/protection/rounding/cox_steps",
    "engine/protection/suppressing/hiding_sets/pivots",
    "engine/protection/suppressing/near_tables/two_way_routes",
    "engine/register/people/fitting/people_steps",
    "engine/swaps/exchanges",
    "engine/swaps/path_moves",
)
"""The compiled parts, by the files of their C within the package; ``setup.py`` builds these."""


def missing_kernels() -> list[str]:
    """Return the compiled parts that this installation lacks."""
    suffixes = importlib.machinery.EXTENSION_SUFFIXES
    return [
        one for one in KERNELS if not any(os.path.isfile(_PACKAGE / f"{one}{suffix}") for suffix in suffixes)
    ]


def compiled() -> dict[str, int]:
    """Return how many compiled parts are here, and how many there are."""
    return {"here": len(KERNELS) - len(missing_kernels()), "all": len(KERNELS)}


COMMIT = RESOURCES / "commit.txt"
"""The commit that an installed program was built of; a build writes it, and a checkout knows it itself."""


@cache
def commit() -> str:
    """Return the commit of the program, 40 figures; empty where it is not known. No program is run for it."""
    try:
        return COMMIT.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        pass
    place = RESOURCES.parent / ".git"
    try:
        if os.path.isfile(place):
            # A further work tree has its own head, and branches with the first.
            place = place.parent / place.read_text(encoding="utf-8").partition("gitdir:")[2].strip()
        head = (place / "HEAD").read_text(encoding="ascii").strip()
        if not head.startswith("ref: "):
            return head
        shared, name = place / "commondir", head.removeprefix("ref: ")
        common = place / shared.read_text(encoding="utf-8").strip() if os.path.isfile(shared) else place
        if os.path.isfile(common / name):
            return (common / name).read_text(encoding="ascii").strip()
        lines = (common / "packed-refs").read_text(encoding="utf-8").splitlines()
        return next((line.split()[0] for line in lines if line.endswith(f" {name}")), "")
    except (OSError, ValueError):
        return ""
