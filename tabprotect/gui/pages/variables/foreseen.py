"""What counting at other levels would leave: small counts before and after. Confidential."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.progress import Progress
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level
from tabprotect.gui.look.theme import count_text
from tabprotect.languages.messages import joined, message


def small_counts(table: Table, rule: SmallCount, variable: str) -> dict[str, int]:
    """Return how many cells at risk each category has."""
    axis, categories = table.domain.axis(variable), table.domain[variable].categories
    if rule.low > 0:
        cells, counts = table.cells
        # Few of many cells are at risk: only they are taken apart.
        held = np.unravel_index(cells[rule.mask(counts)], table.domain.shape)[axis]
        found = np.bincount(held, minlength=len(categories))
    else:
        rest = tuple(k for k in range(table.domain.ndim) if k != axis)
        found = rule.mask(table.counts).sum(axis=rest)
    return dict(zip(categories, found.tolist(), strict=True))


def at_risk(table: Table, rule: SmallCount) -> int:
    """Return how many cells hold a count at risk."""
    if rule.low > 0:
        return int(rule.mask(table.cells[1]).sum())
    return int(rule.mask(table.counts).sum())


@dataclass(frozen=True)
class Foreseen:
    """The foreseen result of counting at a level. Confidential.

    Attributes
    ----------
    level
    groups
        How many there would be.
    before, after
        Cells at risk.
    magnitudes
        Whether they are unsafe sums.
    """

    level: Level
    groups: int
    before: int
    after: int
    magnitudes: bool = False

    @property
    def sentence(self) -> str:
        """At-risk cells, live."""
        if self.magnitudes:
            return message(
                "{groups} groups. Unsafe sums {before} \u2192 {after} where the table is counted at "
                "this level.",
                count_text(self.groups),
                count_text(self.before),
                count_text(self.after),
            )
        return message(
            "{groups} groups. Small counts {before} → {after} where the table is counted at this level.",
            count_text(self.groups),
            count_text(self.before),
            count_text(self.after),
        )


def foresee_levels(
    table: Table, rule: SmallCount, domain: Domain, variable: str, levels: Sequence[Level], progress: Progress
) -> tuple[Foreseen, ...]:
    """Count what is at risk at each level; ``domain`` has them."""
    before, found = at_risk(table, rule), []
    for number, level in enumerate(levels):
        progress.report(message("looking at the groups"), number / len(levels))
        names = [f"{variable}@{level.name}" if n == variable else n for n in domain.names]
        coarse = table.on(domain).margin(names)
        found.append(Foreseen(level, len(set(level.groups)), before, at_risk(coarse, rule)))
    return tuple(found)


def foreseen_words(found: Sequence[Foreseen]) -> str:
    """Say what several levels would leave; of one alone, its sentence."""
    if len(found) == 1:
        return found[0].sentence
    return joined(
        (
            message(
                "{level}: {groups} groups, small counts {before} \u2192 {after}.",
                one.level.name,
                count_text(one.groups),
                count_text(one.before),
                count_text(one.after),
            )
            for one in found
        ),
        "\n",
    )
