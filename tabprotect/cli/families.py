"""The commands by family, with the sentence that ``--help`` says of each.

A family is a module of this package with a function ``add``. None is loaded before one of its
commands is asked for: the program answers ``--help`` without the engine.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from tabprotect.cli.verbs import Verbs

FAMILIES: Mapping[str, Mapping[str, str]] = {
    "tables": {
        "examples": "list the bundled examples",
        "describe": "list methods, their parameters and guarantees",
        "tabulate": "count the records of a microdata file",
        "record-keys": "give every record a random key, for good",
    },
    "convert": {
        "convert": "write a table in another format",
    },
    "export": {
        "export": "write the public tables of a release bundle in another format",
    },
    "check": {
        "check": "check a table for output: flags, reasons, decisions",
    },
    "cycles": {
        "cycles": "design and check cycle sets",
    },
    "protect": {
        "protect": "protect a table and write its release bundle",
        "run": "run a recipe",
    },
    "batch": {
        "batch": "run many recipes, with one summary",
    },
    "keys": {
        "keys": "keys to sign with, and the key of the house",
    },
    "infer": {
        "infer": "the posterior distribution of every true cell",
        "verify": "check a release bundle",
    },
    "analyse": {
        "analyse": "chi-square, Cramer's V or a log-linear model over possible originals",
        "draw": "draw whole originals that fit a release",
    },
    "report": {
        "report": "a report of a release, to read and print",
    },
    "compare": {
        "compare": "compare methods by risk and utility",
    },
    "count_tables": {
        "count-tables": "how many tables have these totals, or fit this release",
    },
    "bounds": {
        "bounds": "bounds of the cells, given released margins",
    },
    "query_space": {
        "widths": "critical width of every sub-table",
        "frontier": "whether margins may be released together, and what then may not",
        "optimal": "as many margins as may be released together",
    },
    "query_space_session": {
        "serve-session": "answer queries about one table, with a history",
    },
    "ptable": {
        "ptable": "make or convert a perturbation table",
    },
    "register": {
        "register": "the register of what left this house",
    },
    "difference": {
        "difference": "what two vintages of a table, and their releases, say of the change",
    },
    "restore": {
        "restore": "make published counts additive; expected inner cells",
    },
}


def add_all(verbs: Verbs, chosen: str | None) -> None:
    """Declare every command; in full those of the family that the chosen one belongs to."""
    for family, commands in FAMILIES.items():
        if chosen in commands:
            importlib.import_module(f"{__package__}.{family}").add(verbs)
            continue
        for name in commands:
            verbs.mention(name)
