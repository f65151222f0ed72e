"""Sub-tables in letters, for drawings, and in full names, for sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.tables.bit_sets import bits
from tabprotect.engine.tables.variable import spoken
from tabprotect.gui.look.theme import count_text
from tabprotect.languages.messages import joined, message, plural
from tabprotect.languages.translation import translate

_SMALL = "₀₁₂₃₄₅₆₇₈₉" + "⁺" * 40

FITS = 12
"""Letters of a name that a node has room for."""

FEW, FITS_TOGETHER = 4, 26
"""Variables whose products may be named in full, and letters that the longest may have then."""

TOTAL = message("total")
"""What the sub-table of no variable is called in a drawing."""


@dataclass(frozen=True)
class VariableLetters:
    """One letter for each variable: its own name where all names are single letters."""

    lattice: Lattice
    letters: tuple[str, ...]

    @classmethod
    def of(cls, lattice: Lattice) -> VariableLetters:
        """A, B, ... in the table's order unless the names themselves will do.

        The levels above a variable have its letter and a number, 1 for that next above.
        """
        axes = lattice.axes
        own = [lattice.names[axis.bit_length() - 1] for axis in axes]
        single = all(len(name) == 1 for name in own)
        letters = []
        for a, axis in enumerate(axes):
            letter = own[a] if single else (chr(65 + a) if a < 26 else chr(97 + a - 26))
            letters += [letter + _SMALL[n] for n in range(axis.bit_count() - 1, 0, -1)] + [letter]
        return cls(lattice, tuple(letters))

    @property
    def own(self) -> bool:
        """Return True if the letters are the names."""
        return self.letters == self.lattice.names

    def text(self, query: Query) -> str:
        """``ABD``; the grand total in a word."""
        return joined(self.letters[v] for v in bits(self.lattice.finest(query))) or TOTAL

    def node(self, query: Query) -> str:
        """In a drawing: the names where all of a dimension have room, else as :meth:`text`."""
        if not query:
            return translate(TOTAL)
        return self.full(query) if len(self.lattice.names_of(query)) in self._named else self.text(query)

    @cached_property
    def _named(self) -> frozenset[int]:
        """Dimensions whose nodes have room for names: those of one variable, and short bands."""
        lattice, out = self.lattice, set()
        for dimension in range(1, lattice.variables + 1):
            if dimension > 1 and lattice.variables > FEW:
                break
            longest = max((len(self.full(q)) for q in lattice.level(dimension)), default=0)
            if longest <= (FITS if dimension == 1 else FITS_TOGETHER):
                out.add(dimension)
        return frozenset(out)

    def full(self, query: Query) -> str:
        """``region × age``; the grand total in words."""
        return spoken(self.lattice.names_of(query)) or message("the grand total")

    def named(self, query: Query) -> str:
        """``ABD (region × age × status)`` where the letters are not the names themselves."""
        if self.own or not query:
            return self.full(query) if query else message("the grand total")
        return message("{query} ({query2})", self.text(query), self.full(query))

    @property
    def key(self) -> str:
        """Say what the letters stand for; empty where they are the names."""
        if self.own:
            return ""
        pairs = zip(self.letters, self.lattice.names, strict=True)
        return joined((f"{letter}\u00a0{name}" for letter, name in pairs), "   ")


def counted(number: int, noun: str = "table") -> str:
    """``3 sub-tables``, ``1 sub-table``, ``no sub-table``."""
    if number == 0:
        return message("no {noun}", noun)
    return plural(number, "{number} {noun}", "{number} {noun}s", count_text(number), noun)


def first_names(parts: Sequence[str], limit: int = 4) -> str:
    """The first few of many names."""
    shown = joined(parts[:limit], ", ")
    more = len(parts) - limit
    return message("{shown} and {more} more", shown, count_text(more)) if more > 0 else shown
