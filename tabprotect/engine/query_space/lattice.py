"""The query space: every set of variables of one table, ordered by inclusion.

A query is a bit set: bit ``v`` is the table's variable number ``v``. The empty query is the
grand total, the full one the table itself.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from tabprotect.engine.budgets import LATTICE_VARIABLES as MAX_VARIABLES
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.margins import MarginSet

Query = int


def bits(query: Query) -> Iterator[int]:
    """The numbers of the variables in a query, ascending."""
    while query:
        low = query & -query
        yield low.bit_length() - 1
        query ^= low


def joined(names: Iterable[str], between: str = ",") -> str:
    """Names as :meth:`Lattice.parse` reads them: those with commas or quotes in double quotes."""
    return between.join(
        '"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name
        for name in names
    )


@dataclass(frozen=True)
class Lattice:
    """All ``2^K`` queries over named variables."""

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.names) > MAX_VARIABLES:
            raise InputError(
                f"a query space over {len(self.names)} variables",
                hint=f"take the margin over at most {MAX_VARIABLES} variables",
            )

    @property
    def variables(self) -> int:
        """K, the number of variables."""
        return len(self.names)

    @property
    def full(self) -> Query:
        """The table itself."""
        return (1 << len(self.names)) - 1

    @cached_property
    def _bit(self) -> dict[str, int]:
        return {name: 1 << v for v, name in enumerate(self.names)}

    def query(self, names: Iterable[str]) -> Query:
        """A query from variable names, in any order.

        Raises
        ------
        InputError
            For a variable that is repeated or that the table does not have.
        """
        out = 0
        for name in names:
            bit = self._bit.get(name)
            if bit is None:
                raise InputError(
                    f"the table has no variable {name!r}", hint=f"it has {joined(self.names, ', ')}"
                )
            if out & bit:
                raise InputError(
                    f"the variable {name!r} is named twice in one sub-table", hint="name it once"
                )
            out |= bit
        return out

    def parse(self, text: str) -> Query:
        """A query from ``"A,B"``; an empty text is the grand total.

        A name with a comma is put in double quotes, as in CSV, or stands alone. Blanks around
        names do not matter.

        Raises
        ------
        InputError
            As :meth:`query`; also for a name left empty between commas.
        """
        if not text.strip():
            return 0
        if text in self._bit or text.strip() in self._bit:
            return self._bit.get(text) or self._bit[text.strip()]
        parts = next(csv.reader([text], skipinitialspace=True))
        return self.query(map(self._known, parts))

    def _known(self, part: str) -> str:
        """The variable that is meant: by its name, or by its name less the blanks around it."""
        if part in self._bit:
            return part
        alike = [name for name in self.names if name.strip() == part.strip()]
        return alike[0] if len(alike) == 1 else part.strip()

    def names_of(self, query: Query) -> tuple[str, ...]:
        """The variables of a query in the table's order."""
        return tuple(self.names[v] for v in bits(query))

    def text(self, query: Query) -> str:
        """``"A,B"``, names with commas in double quotes; empty for the grand total."""
        return joined(self.names_of(query))

    def margins(self, queries: Iterable[Query]) -> MarginSet:
        """Queries as margins by name."""
        return tuple(self.names_of(query) for query in queries)

    def level(self, dimension: int) -> Iterator[Query]:
        """All queries over ``dimension`` variables, in the variables' order."""
        for chosen in combinations(range(self.variables), dimension):
            yield sum(1 << v for v in chosen)

    def below(self, query: Query) -> Iterator[Query]:
        """The queries with one variable less."""
        for v in bits(query):
            yield query & ~(1 << v)

    def above(self, query: Query) -> Iterator[Query]:
        """The queries with one variable more."""
        for v in bits(self.full & ~query):
            yield query | 1 << v


def in_order(queries: Iterable[Query]) -> Sequence[Query]:
    """Larger queries first, then by the variables' order: the order of every printed list."""
    given = np.fromiter(queries, dtype=np.int64)
    # Of two sets of one size the first has the variable in which they first differ: the larger
    # number when the bits are read from the other end.
    mirrored, rest = np.zeros_like(given), given.copy()
    for _ in range(int(given.max(initial=0)).bit_length()):
        mirrored = mirrored << 1 | rest & 1
        rest >>= 1
    order = np.lexsort((-mirrored, -np.bitwise_count(given).astype(np.int64)))
    found: list[Query] = given[order].tolist()
    return found
