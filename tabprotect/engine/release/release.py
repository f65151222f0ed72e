"""A release: a protected table and its mechanism. Everything in it is public."""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.engine.errors import InputError
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.tables.table import Table


@dataclass(frozen=True)
class Release:
    """What leaves the house. It has no field that could hold an original.

    Attributes
    ----------
    table
        The protected counts.
    mechanism
        How they came about, as far as it is disclosed.
    title
        For the reader; taken from the user, never from a file name.
    """

    table: Table
    mechanism: Mechanism
    title: str = ""

    def __post_init__(self) -> None:
        if self.table.domain != self.mechanism.domain:
            raise InputError("the mechanism is for another table")
