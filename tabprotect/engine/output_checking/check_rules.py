"""The rules of output checking for counts: small counts, empty cells, groups in one category.

The thresholds are those that research data centres publish (Eurostat's guidelines for output
checking, DwB 2015: ten records a cell; no group of which everybody has one property).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.output_checking.flags_and_decisions import Checked, Flag
from tabprotect.engine.tables.table import Table
from tabprotect.languages.said import say

THRESHOLD = "threshold"
ZERO = "zero"
CLASS = "class"


@dataclass(frozen=True)
class CheckRules:
    """What is flagged.

    Attributes
    ----------
    threshold
        Counts from 1 up to below it; 0 and 1 flag none.
    zeros
        Empty cells: it is told that nobody is there.
    classes
        Cells that hold everybody of a line (of all who agree in the other variables).
    """

    threshold: int = 10
    zeros: bool = False
    classes: bool = True

    def __post_init__(self) -> None:
        if self.threshold < 0:
            raise ParameterError(
                {"threshold": say("must be 0 or more, is {threshold}", self.threshold)}
            )


def flag_cells(table: Table, rules: CheckRules | None = None) -> Checked:
    """Flag the cells of a table, each with every rule that it breaks."""
    rules = rules or CheckRules()
    counts, domain = table.counts, table.domain
    reasons: dict[tuple[int, ...], dict[str, str]] = {}

    def flag(cell: tuple[int, ...], rule: str, sentence: str) -> None:
        found = reasons.setdefault(cell, {})
        found[rule] = (
            say("{found}; {sentence}", found[rule], sentence) if rule in found else sentence
        )

    small = (counts > 0) & (counts < rules.threshold)
    for cell in map(tuple, np.argwhere(small).tolist()):
        flag(
            cell,
            THRESHOLD,
            say("{counts} is below the threshold of {threshold}", counts[cell], rules.threshold),
        )
    if rules.zeros:
        for cell in map(tuple, np.argwhere(counts == 0).tolist()):
            flag(cell, ZERO, say("nobody is there"))
    for axis, variable in enumerate(domain.variables if rules.classes else ()):
        if len(variable.categories) < 2:
            continue
        alone = (counts > 0) & ((counts > 0).sum(axis=axis, keepdims=True) == 1)
        for cell in map(tuple, np.argwhere(alone).tolist()):
            labels = domain.labels(cell)
            others = ", ".join(label for a, label in enumerate(labels) if a != axis)
            of = say(" of ({others})", others) if others else ""
            flag(
                cell,
                CLASS,
                say("everybody{of} is in {name} = {labels}", of, variable.name, labels[axis]),
            )
    return Checked(
        domain.names,
        tuple(Flag(domain.labels(c), int(counts[c]), reasons[c]) for c in sorted(reasons)),
    )
