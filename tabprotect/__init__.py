"""tabprotect: statistical disclosure control of contingency tables.

>>> import tabprotect as tp
>>> table = tp.read_table("example:duncan-roehrig-4x4")
>>> protection = tp.protect(table, "cyclic_perturbation", alpha=0.25, seed=7)
>>> belief = tp.infer(protection.release)
>>> belief.way
'exact'

What ``tabprotect.__all__`` names is stable (see the decision record on the library's face); modules
below ``tabprotect.engine`` may move between versions.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tabprotect.version import __version__

if TYPE_CHECKING:
    from tabprotect.engine.errors import (
        BundleError,
        InfeasibleError,
        InputError,
        Interrupted,
        ParameterError,
        RefusedError,
        TabprotectError,
    )
    from tabprotect.library.belief import Belief, SumBelief, infer
    from tabprotect.library.comparison import Comparison, compare
    from tabprotect.library.converting import convert, export
    from tabprotect.library.cycles import Cycles, design
    from tabprotect.library.protection import Protection, protect
    from tabprotect.library.query_space import QuerySpace
    from tabprotect.library.reference import describe, methods
    from tabprotect.library.release import open_release, verify
    from tabprotect.library.table import Table, examples, read_table, tabulate

_HOMES = {
    "engine.errors": (
        "BundleError",
        "InfeasibleError",
        "InputError",
        "Interrupted",
        "ParameterError",
        "RefusedError",
        "TabprotectError",
    ),
    "library.belief": ("Belief", "SumBelief", "infer"),
    "library.comparison": ("Comparison", "compare"),
    "library.cycles": ("Cycles", "design"),
    "library.converting": ("convert", "export"),
    "library.protection": ("Protection", "protect", "protect_set"),
    "library.query_space": ("QuerySpace",),
    "library.reference": ("describe", "methods"),
    "library.release": ("open_release", "verify"),
    "library.table": ("Table", "examples", "read_table", "tabulate"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022
    "__version__",
    # a confidential table
    "Table",
    "examples",
    "read_table",
    "tabulate",
    "convert",
    # a release of it
    "Protection",
    "methods",
    "describe",
    "design",
    "Cycles",
    "protect",
    "protect_set",
    "compare",
    "Comparison",
    "QuerySpace",
    # what a reader does
    "verify",
    "open_release",
    "export",
    "infer",
    "Belief",
    "SumBelief",
    # errors
    "TabprotectError",
    "InputError",
    "ParameterError",
    "InfeasibleError",
    "RefusedError",
    "BundleError",
    "Interrupted",
]


def __getattr__(name: str) -> object:
    # Names come when they are asked for: the command line's ``--version`` needs no numpy.
    if name not in _HOME:
        raise AttributeError(f"module 'tabprotect' has no attribute {name!r}")
    value = getattr(import_module(f"tabprotect.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
