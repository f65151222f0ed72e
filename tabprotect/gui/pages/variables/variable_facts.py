"""What the page of variables says: kinds, missing codes, and what a grouping would leave at risk."""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.engine.microdata.coding import MISSING
from tabprotect.engine.progress import Progress
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.bands import span_of, whole
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.gui.look.theme import count_text

MISSING_CODES = frozenset(
    {"", ".", "..", ":", "-", "na", "n/a", "nan", "missing", "unknown", MISSING}
)


def missing_codes(variable: Variable) -> tuple[str, ...]:
    """The categories that mean that nothing is known."""
    return tuple(c for c in variable.categories if c.strip().casefold() in MISSING_CODES)


def variable_kind(variable: Variable) -> str:
    """``numbers``, ``bands``, ``codes`` or ``names``."""
    missing = missing_codes(variable)
    known = [c for c in variable.categories if c not in missing]
    if known and all(whole(c) is not None for c in known):
        return "numbers"
    if known and all(span_of(c) is not None for c in known):
        return "bands"
    return "codes" if known and all(len(c) <= 6 for c in known) else "names"


def levels_text(variable: Variable) -> str:
    """``nuts1 > nuts2 > nuts3; coast``."""
    if not variable.coarser:
        return ""
    tree = " \u203a ".join(level.name for level in variable.levels)
    return "; ".join([tree, *(level.name for level in variable.across)])


def at_risk(table: Table, rule: SmallCount) -> int:
    """How many cells hold a count at risk."""
    if rule.low > 0:
        return int(rule.mask(table.cells[1]).sum())
    return int(rule.mask(table.counts).sum())


@dataclass(frozen=True)
class Foreseen:
    """What counting at a level would leave. Confidential.

    Attributes
    ----------
    level
    groups
        How many there would be.
    before, after
        Cells at risk.
    """

    level: Level
    groups: int
    before: int
    after: int

    @property
    def sentence(self) -> str:
        """At-risk cells, live."""
        return (
            f"{count_text(self.groups)} groups. At-risk cells {count_text(self.before)} \u2192 "
            f"{count_text(self.after)} "
            "where the table is counted at this level."
        )


def foresee_level(
    table: Table, rule: SmallCount, domain: Domain, variable: str, level: Level, progress: Progress
) -> Foreseen:
    """Count what is at risk at a level; ``domain`` has it."""
    progress.report("looking at the groups", 0.0)
    names = [f"{variable}@{level.name}" if n == variable else n for n in domain.names]
    coarse = table.on(domain).margin(names)
    progress.report("looking at the groups", 1.0)
    return Foreseen(level, len(set(level.groups)), at_risk(table, rule), at_risk(coarse, rule))
