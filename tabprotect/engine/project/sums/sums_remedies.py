"""What may be done where sums may not leave: other settings that were tried and pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.sums.magnitudes_in_one_go import Asked, protected_sums
from tabprotect.languages.said import say

NOISES = ((".05", ".15"), (".1", ".25"), (".2", ".5"), (".3", ".7"))
"""Distances of factors from 1 that are tried, the least first."""

OFFERED = 2
"""How many remedies are named."""


def tried_remedies(
    table: MagnitudeTable, asked: Asked, policy: HousePolicy, progress: Progress = SILENT
) -> list[Asked]:
    """Other ways to protect a table whose verdict passes whole, the one that changes least first.

    Suppression is none of them: what the choice of its pattern tells is never judged.
    """
    found: list[Asked] = []
    if table.largest is not None:
        return found
    for number, (least, most) in enumerate(NOISES):
        progress.report(say("trying what may help"), number / len(NOISES))
        given: Mapping[str, str] = {"least": least, "most": most}
        one = replace(asked, method="multiplicative_noise", parameters=given, like=None)
        if protected_sums(table, one, policy).verdict.passed:
            found.append(one)
        if len(found) == OFFERED:
            break
    return found
