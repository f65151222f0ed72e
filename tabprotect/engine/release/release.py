"""A release: protected tables and their mechanism. Everything in it is public."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tabprotect.engine.errors import InputError
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.published import PublishedTable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


@dataclass(frozen=True)
class Release:
    """What leaves the house. It has no field that could hold an original.

    Attributes
    ----------
    tables
        The published tables. The first is the main one: over all variables of the original where
        the method publishes inner cells, else over fewer of them or over groups of categories.
    mechanism
        How they came about, as far as it is disclosed; its domain is the original's.
    title
        For the reader; taken from the user, never from a file name.
    """

    tables: tuple[PublishedTable, ...]
    mechanism: Mechanism
    title: str = ""

    def __post_init__(self) -> None:
        if not self.tables:
            raise InputError("a release has at least one table")
        names = [published.table.domain.names for published in self.tables]
        if len(set(names)) != len(names):
            raise InputError("a release has two tables over the same variables")

    @classmethod
    def of(cls, table: Table, mechanism: Mechanism, title: str = "") -> Release:
        """A release of one table without suppressed cells."""
        return cls((PublishedTable(table),), mechanism, title)

    @property
    def table(self) -> Table:
        """The counts of the main table."""
        return self.tables[0].table

    @property
    def domain(self) -> Domain:
        """The variables of the original."""
        return self.mechanism.domain

    @cached_property
    def inner(self) -> PublishedTable | None:
        """The published inner cells: the table over the original's very variables, if any."""
        return next((p for p in self.tables if p.table.domain == self.domain), None)
