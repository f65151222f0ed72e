"""One table with its totals and the groups of its levels as categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tabprotect.engine.arrays import Bools
from tabprotect.engine.tables.table import Table


@dataclass(frozen=True)
class Cube:
    """A published cube. A hidden cell holds 0.

    Attributes
    ----------
    table
        Its categories are those of each variable, the groups of its levels, and the total, last.
    hidden : bool, shape of the table, or None
        The cells without a published count; ``None`` if there is none.
    totals
        The code of the total of each variable.
    parents
        Of each variable: code -> the code of the group or total that it is part of.
    """

    table: Table
    hidden: Bools | None
    totals: Mapping[str, str]
    parents: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))

    def children(self, name: str) -> dict[str, list[str]]:
        """Group or total of a variable -> the codes that are part of it."""
        found: dict[str, list[str]] = {}
        for child, parent in self.parents.get(name, {}).items():
            found.setdefault(parent, []).append(child)
        return found
