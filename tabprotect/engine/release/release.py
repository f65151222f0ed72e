"""Published tables of any measure, and the release of them with their mechanism. All public."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.errors import InputError
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

EACH = message(
    "tabulate and publish each; that what both tell together is not worked out takes a reason when the second "
    "is published (--accept REASON), and the register keeps it"
)
"""What to do about a second magnitude of the same records."""


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """A table as a reader sees it.

    Attributes
    ----------
    table
        The published counts; a suppressed cell holds 0, so that nothing about it is here.
    suppressed : bool, shape of the table, or None
        Cells without a published count; ``None`` if there is none. The reason why a cell is
        suppressed (primary or secondary) is not public.
    """

    table: Table
    suppressed: Bools | None = None

    def __post_init__(self) -> None:
        if self.suppressed is None:
            return
        mask = np.array(self.suppressed, dtype=np.bool_)
        if mask.shape != self.table.domain.shape:
            raise InputError(message("the suppressed cells are those of another table"))
        if self.table.counts[mask].any():
            raise InputError(message("a suppressed cell carries a count"))
        mask.flags.writeable = False
        object.__setattr__(self, "suppressed", mask if mask.any() else None)

    @classmethod
    def hiding(cls, table: Table, suppressed: Bools) -> PublishedTable:
        """The table without the counts of some cells."""
        return cls(Table.dense(table.domain, np.where(suppressed, 0, table.counts)), suppressed)

    @cached_property
    def hidden(self) -> Bools:
        """The suppressed cells as an array of the table's shape, even if there are none."""
        if self.suppressed is None:
            return np.zeros(self.table.domain.shape, dtype=np.bool_)
        return self.suppressed

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PublishedTable):
            return NotImplemented
        return self.table == other.table and np.array_equal(self.hidden, other.hidden)

    def __hash__(self) -> int:
        return hash(self.table)


@dataclass(frozen=True)
class Release:
    """All that leaves the house. No field can hold an original.

    Attributes
    ----------
    tables
        The published tables of counts. The first is the main one: over all variables of the original
        if the method publishes inner cells, else over fewer of them or over groups of categories.
    mechanism
        The way they were produced, as far as it is disclosed; its domain is the original's.
    title
        Title for the reader; taken from the user, never from a file name.
    magnitudes
        The published table of a magnitude, totals and levels among its cells; empty for counts.
    metadata
        What its publisher says of it, by the names of ``TABLE_TEXTS``.
    """

    tables: tuple[PublishedTable, ...]
    mechanism: Mechanism
    title: str = ""
    magnitudes: tuple[PublishedMagnitudes, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not self.tables and not self.magnitudes:
            raise InputError(message("a release has at least one table"))
        names = [published.table.domain.names for published in self.tables]
        if len(set(names)) != len(names):
            raise InputError(message("a release has two tables over the same variables"))
        if len(self.magnitudes) > 1:
            # A verdict is a function of the release, and what one magnitude tells of another is none: whoever
            # knows what is paid a head reads hidden wages off the number of employees, and nobody else does.
            raise InputError(
                message("a release has one magnitude: what two tell together is not worked out"), hint=EACH
            )
        gate = self.mechanism.gate
        measures = (self.counted, bool(self.magnitudes))
        if gate is not None and (gate.counts, gate.within is not None) != measures:
            raise InputError(message("the gate is that of another measure"))

    @classmethod
    def of(cls, table: Table, mechanism: Mechanism, title: str = "") -> Release:
        """A release of one table without suppressed cells."""
        return cls((PublishedTable(table),), mechanism, title)

    @classmethod
    def of_magnitudes(
        cls,
        table: PublishedMagnitudes,
        method: str,
        parameters: Mapping[str, object] = MappingProxyType({}),
        title: str = "",
    ) -> Release:
        """A release of one table of magnitudes by a method with these public parameters."""
        return cls((), Mechanism(method, Domain(table.variables), dict(parameters)), title, (table,))

    @property
    def published(self) -> tuple[PublishedTable | PublishedMagnitudes, ...]:
        """The tables of every measure."""
        return (*self.tables, *self.magnitudes)

    @property
    def counted(self) -> bool:
        """Return True if counts are among its measures: tables of their own, or numbers beside magnitudes."""
        return bool(self.tables) or any(one.beside for one in self.magnitudes)

    @property
    def magnitude_table(self) -> PublishedMagnitudes:
        """The main table of magnitudes.

        Raises
        ------
        InputError
            If only counts are released.
        """
        if not self.magnitudes:
            raise InputError(message("the release has no table of magnitudes"))
        return self.magnitudes[0]

    @property
    def table(self) -> Table:
        """The counts of the main table.

        Raises
        ------
        InputError
            If only magnitudes are released.
        """
        if not self.tables:
            raise InputError(message("the release has no table of counts"))
        return self.tables[0].table

    @property
    def domain(self) -> Domain:
        """The variables of the original."""
        return self.mechanism.domain

    @cached_property
    def inner(self) -> PublishedTable | None:
        """The published inner cells: the table over exactly the original's variables, if any."""
        return next((p for p in self.tables if p.table.domain == self.domain), None)
