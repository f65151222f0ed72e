"""The commands by family, with the sentence that ``--help`` says of each.

A family is a module below this package with a function ``add``. None is loaded before one of its
commands is asked for: the program answers ``--help`` without the engine.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from tabprotect.cli.verbs import Verbs

FAMILIES: Mapping[str, Mapping[str, str]] = {
    "data.describe": {
        "examples": "list the bundled examples",
        "describe": "list methods, their parameters and guarantees",
    },
    "data.tabulate": {
        "tabulate": "count the records of a microdata file",
        "record-keys": "give every record a random key, for good",
    },
    "data.convert": {
        "convert": "write a table in another format",
    },
    "releases.export": {
        "export": "write the public tables of a release bundle in another format",
    },
    "releases.check": {
        "check": "check a table for output: flags, reasons, decisions",
    },
    "protecting.cycles": {
        "cycles": "design and check cycle sets",
    },
    "protecting.protect": {
        "protect": "protect a table and write its release bundle",
        "run": "run a recipe",
    },
    "protecting.protect_set": {
        "protect-set": "protect several tables of the same records as one",
    },
    "protecting.batch": {
        "batch": "run many recipes, with one summary",
    },
    "releases.keys": {
        "keys": "keys to sign with, and the key of the house",
    },
    "reader.infer": {
        "infer": "the posterior distribution of every true cell",
        "verify": "check a release bundle",
    },
    "reader.analyse": {
        "analyse": "chi-square, Cramer's V or a log-linear model over possible originals",
        "draw": "draw whole originals that fit a release",
    },
    "releases.report": {
        "report": "a report of a release, to read and print",
    },
    "protecting.compare": {
        "compare": "compare methods by risk and utility",
    },
    "reader.count_tables": {
        "count-tables": "how many tables have these totals, or fit this release",
    },
    "reader.bounds": {
        "bounds": "bounds of the cells, given released margins",
    },
    "margins.released_margins": {
        "widths": "critical width of every sub-table",
        "frontier": "whether margins may be released together, and what then may not",
        "optimal": "as many margins as may be released together",
    },
    "margins.serve_session": {
        "serve-session": "answer queries about one table, with a history",
    },
    "margins.serving": {
        "serve": "serve a table to outside users: pages, an API, one history",
        "attack": "attack a table server as its users could, and count what is got",
        "accounts": "who may use a table server, and their keys",
    },
    "protecting.ptable": {
        "ptable": "make or convert a perturbation table",
    },
    "releases.register": {
        "register": "the register of what left this house",
    },
    "releases.difference": {
        "difference": "what two vintages of a table, and their releases, say of the change",
    },
    "reader.restore": {
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
