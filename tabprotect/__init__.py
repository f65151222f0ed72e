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

from tabprotect.version import __version__, missing_kernels
from tabprotect.languages.messages import message

# The names of ``_HOMES`` for editors and type checkers; ``as`` says that they are exported.
if TYPE_CHECKING:
    from tabprotect.engine.errors import (
        BundleError as BundleError,
        InfeasibleError as InfeasibleError,
        InputError as InputError,
        Interrupted as Interrupted,
        ParameterError as ParameterError,
        RefusedError as RefusedError,
        TabprotectError as TabprotectError,
    )
    from tabprotect.library.attack import Attack as Attack, attack as attack
    from tabprotect.library.belief import Belief as Belief
    from tabprotect.library.inferring import SumBelief as SumBelief, infer as infer
    from tabprotect.library.comparison import Comparison as Comparison, compare as compare
    from tabprotect.library.cycles import Cycles as Cycles, design as design
    from tabprotect.library.converting import convert as convert, export as export
    from tabprotect.library.protection import (
        ProtectedTables as ProtectedTables,
        Protection as Protection,
        protect as protect,
        protect_all as protect_all,
        protect_set as protect_set,
    )
    from tabprotect.library.query_space import QuerySpace as QuerySpace
    from tabprotect.library.protection import describe as describe, methods as methods
    from tabprotect.library.register import new_register as new_register, rotate_key as rotate_key
    from tabprotect.library.release import open_release as open_release, page as page, verify as verify
    from tabprotect.library.table import (
        MagnitudeTable as MagnitudeTable,
        Table as Table,
        examples as examples,
        read_table as read_table,
        rules as rules,
        tabulate as tabulate,
    )

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
    "library.attack": ("Attack", "attack"),
    "library.belief": ("Belief",),
    "library.inferring": ("SumBelief", "infer"),
    "library.comparison": ("Comparison", "compare"),
    "library.cycles": ("Cycles", "design"),
    "library.converting": ("convert", "export"),
    "library.protection": (
        "ProtectedTables",
        "Protection",
        "describe",
        "methods",
        "protect",
        "protect_all",
        "protect_set",
    ),
    "library.query_space": ("QuerySpace",),
    "library.register": ("new_register", "rotate_key"),
    "library.release": ("open_release", "page", "verify"),
    "library.table": ("MagnitudeTable", "Table", "examples", "read_table", "rules", "tabulate"),
}
"""The names of the library, by the module that each comes from when it is asked for."""

_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> object:
    # Names come when they are asked for: the command line's ``--version`` needs no numpy.
    if name not in _HOME:
        raise AttributeError(message("module 'tabprotect' has no attribute {name}", repr(name)))
    # Nothing is half done: a part that is not here may be needed in the middle of a call.
    if _HOME[name] != "engine.errors" and (parts := missing_kernels()):
        from tabprotect.engine.errors import not_whole

        raise not_whole(parts)
    value = getattr(import_module(f"tabprotect.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
