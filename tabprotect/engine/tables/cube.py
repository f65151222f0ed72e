"""One table with its totals and the groups of its levels as categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from tabprotect.engine.arrays import Bools
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

COUNTED = "n"
"""The figure that says how many records a magnitude is of."""


def in_units(number: int, decimals: int) -> str:
    """A whole number of units of 10^-decimals as a decimal number, exactly."""
    if not decimals:
        return str(number)
    whole, part = divmod(abs(number), 10**decimals)
    return f"{'-' if number < 0 else ''}{whole}.{part:0{decimals}d}"


@dataclass(frozen=True)
class About:
    """Texts beside the numbers of a file. All of them are public.

    Attributes
    ----------
    title
        For readers.
    changed
        Whether and by how much the numbers were changed, in a sentence; empty where every one is true.
    notes
        Further sentences below the table.
    facts
        A row of the notes each: what it is about, and the text.
    unit, source, date
        What is counted, whose figures they are, and of which day, as YYYY-MM-DD.
    metadata
        Texts by the names of :data:`METADATA`, those that were given alone.
    """

    title: str = ""
    changed: str = ""
    notes: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    unit: str = ""
    source: str = ""
    date: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def sentences(self) -> list[str]:
        """Sentences on the numbers: whether they were changed, and the notes."""
        return [text for text in (self.changed, *self.notes) if text]

    @property
    def says_anything(self) -> bool:
        """Return True if there is more to tell than a title."""
        return bool([*self.sentences, *self.origin, *self.metadata])

    @property
    def origin(self) -> list[str]:
        """Unit, source and date, as lines."""
        origins = {message("Unit"): self.unit, message("Source"): self.source, message("Date"): self.date}
        return [message("{name}: {why}", name, text) for name, text in origins.items() if text]


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
    own
        The own names of variables that have another one here: identifier -> name.
    name
        What it is called among several of a set.
    content
        What the numbers are; empty for counts.
    figures
        The variable whose categories are the figures of a cell, side by side; empty where each has one.
    decimals
        The table holds whole numbers of units of 10^-decimals; 0 for counts.
    whole
        The figures that are numbers of records, and have no decimals.
    about
        What is told beside the numbers.
    """

    table: Table
    hidden: Bools | None = None
    totals: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    parents: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    own: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    name: str = ""
    content: str = ""
    figures: str = ""
    decimals: int = 0
    whole: tuple[str, ...] = (COUNTED,)
    about: About = About()

    def has_levels(self, name: str) -> bool:
        """True if a variable has groups beside its total."""
        return not {*self.parents.get(name, {}).values()} <= {self.totals.get(name)}

    @property
    def decimals_across(self) -> tuple[int, ...]:
        """The decimals of each category of the last variable; numbers of records among the figures have none."""
        codes = self.table.domain.variables[-1].categories if self.table.domain.ndim else ("",)
        return tuple(0 if self.figures and code in self.whole else self.decimals for code in codes)

    def on(self, domain: Domain) -> Cube:
        """Give the variables other names and codes."""
        parents, totals, own = {}, {}, {}
        for old, new in zip(self.table.domain.variables, domain.variables, strict=True):
            code = dict(zip(old.categories, new.categories, strict=True))
            above = self.parents.get(old.name, {})
            parents[new.name] = {code[child]: code[parent] for child, parent in above.items()}
            if old.name in self.totals:
                totals[new.name] = code[self.totals[old.name]]
            own[new.name] = self.own.get(old.name, old.name)
        table = self.table.on(domain)
        figures = domain.names[-1] if self.figures else ""
        return replace(self, table=table, totals=totals, parents=parents, own=own, figures=figures)

    @property
    def across(self) -> tuple[Domain, tuple[str, ...]]:
        """The variables without that of the figures, and the names of the figures beside the first."""
        *front, last = self.table.domain.variables
        return Domain(tuple(front)), last.categories[1:]

    def children(self, name: str) -> dict[str, list[str]]:
        """Group or total of a variable -> the codes that are part of it."""
        found: dict[str, list[str]] = {}
        for child, parent in self.parents.get(name, {}).items():
            found.setdefault(parent, []).append(child)
        return found
