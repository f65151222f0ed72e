"""Flagged sums: cells that few contributors, or the largest ones, make up. CONFIDENTIAL.

The rules are those of ACRO: ``nk-rule`` (the n largest hold more than a share k of the sum) and ``p-ratio``
(what the third largest and all smaller ones hold, as a share of the largest, is below p).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tabprotect.engine.output_checking.flags_and_decisions import Checked, Flag
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.engine.tables.variable import AT

if TYPE_CHECKING:
    from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable

EVERYWHERE = "Total"
"""In place of a category: over all of them."""


def with_sums(checked: Checked, table: MagnitudeTable, rules: Mapping[str, tuple[str, str]]) -> Checked:
    """The flags of the counts of contributors, and those of the sums, totals among them.

    Parameters
    ----------
    rules
        Rules of magnitudes as they are written (``p=10``) and in words, by what they are called here.
    """
    from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells

    found = {flag.cell: flag for flag in checked.flags}
    for name, (text, sentence) in rules.items():
        sensitivity = sensitive_cells(table, rules_of([text]))
        for number in sensitivity.unsafe.nonzero()[0].tolist():
            index = {key.partition(AT)[0]: value for key, value in table.index(number).items()}
            cell = tuple(index.get(variable, EVERYWHERE) for variable in checked.variables)
            flag = found.get(cell) or Flag(cell, int(table.cells.units[number]), {})
            found[cell] = replace(flag, reasons={**flag.reasons, name: sentence})
    return replace(checked, flags=tuple(found.values()))
