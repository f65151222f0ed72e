"""The query space: every sub-table of one table, ordered by inclusion.

A query is a bit set. A variable without levels has one bit; a variable with levels has one for
each, coarser ones before finer ones. A set that has a level also has the coarser levels it implies:
the sets closed in this way are the queries. The empty query is the grand total, the full one the
table itself. If all variables have one bit, all sets are queries; otherwise queries are a product
of the variables' patterns of levels.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.budgets import MAX_LISTED
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.bit_sets import bits, union
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.possible import joined_variables as joined_by
from tabprotect.engine.tables.variable import Level
from tabprotect.languages.messages import message

MAX_VARIABLES = 60
"""The size that the source aims at; a bit set stays a small integer."""


Query = int


def names_joined(names: Iterable[str], between: str = ",") -> str:
    """Names joined as :meth:`Lattice.parse` reads them: those with commas or quotes are quoted."""
    return between.join(
        '"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name for name in names
    )


@dataclass(frozen=True)
class Lattice:
    """All queries over named variables.

    Attributes
    ----------
    names
        Name of each bit: a variable, or a level of it.
    coarser
        For each bit the coarser levels that it implies; by default none.
    axes
        The bits of each variable, which are adjacent; by default one each.
    aliases
        Further names of some bits.
    tied
        Sets of bits whose variables structural zeros join.
    """

    names: tuple[str, ...]
    coarser: tuple[Query, ...] = ()
    axes: tuple[Query, ...] = ()
    aliases: tuple[tuple[str, int], ...] = ()
    tied: tuple[Query, ...] = ()

    @classmethod
    def of(cls, domain: Domain) -> Lattice:
        """The query space of a table's variables and their levels."""
        names: list[str] = []
        below: list[Query] = []
        axes: list[Query] = []
        aliases: list[tuple[str, int]] = []
        for variable in domain.variables:
            first = len(names)
            # Finer levels have more groups: they come later.
            coarser = sorted(variable.named.items(), key=lambda item: len(set(item[1].groups)))
            held: list[Level] = []
            for name, level in coarser:
                same = [k for k, g in enumerate(held) if g.refines(level) and level.refines(g)]
                if same:
                    aliases.append((name, first + same[0]))
                    continue
                below.append(sum(1 << first + k for k, g in enumerate(held) if level.refines(g)))
                held.append(level)
                names.append(name)
            last = len(names)
            names.append(variable.name)
            below.append((1 << last) - (1 << first))
            axes.append((2 << last) - (1 << first))
            if variable.finest_name not in (*names, *domain.names):
                aliases.append((variable.finest_name, last))
        tied = (sum(axes[domain.axis(name)] for name in group) for group in joined_by(domain))
        return cls(tuple(names), tuple(below), tuple(axes), tuple(aliases), tuple(tied))

    def __post_init__(self) -> None:
        if not self.coarser:
            object.__setattr__(self, "coarser", (0,) * len(self.names))
            object.__setattr__(self, "axes", tuple(1 << v for v in range(len(self.names))))
        if len(self.names) > MAX_VARIABLES:
            raise InputError(
                message("a query space over {names} variables", len(self.names)),
                hint=message("take the margin over at most {MAX_VARIABLES} variables", MAX_VARIABLES),
            )

    @property
    def variables(self) -> int:
        """K, the number of bits: variables and the levels above them."""
        return len(self.names)

    @property
    def plain(self) -> bool:
        """True if no variable has levels: every set of bits is a query."""
        return len(self.axes) == len(self.names)

    @cached_property
    def patterns(self) -> tuple[tuple[Query, ...], ...]:
        """Return for each variable its patterns of levels in a query: nothing first, everything last."""
        found = []
        for axis in self.axes:
            low = axis & -axis
            inside = range(0, axis + 1, low)
            found.append(tuple(q for q in inside if self.closed(q) == q))
        return tuple(found)

    @cached_property
    def size(self) -> int:
        """Number of queries."""
        return math.prod(map(len, self.patterns))

    @property
    def listed(self) -> bool:
        """True if all queries can be listed."""
        return self.size <= 1 << MAX_LISTED

    @cached_property
    def every(self) -> Ints:
        """All queries, ascending, int64 (size,).

        Raises
        ------
        InputError
            If there are more than ``2^MAX_LISTED``.
        """
        if not self.listed:
            raise InputError(
                message("{axes} variables have {size:,} tables: too many to list", len(self.axes), self.size),
                hint=message("take a margin over at most {MAX_LISTED} variables", MAX_LISTED),
            )
        out = np.zeros(1, dtype=np.int64)
        for patterns in self.patterns:
            out = np.add.outer(np.array(patterns, dtype=np.int64), out).reshape(-1)
        out.flags.writeable = False
        return out

    def at(self, queries: Ints | Sequence[Query]) -> Ints:
        """Positions of queries among all; a set that is not closed has that of its closure."""
        given = np.asarray(queries, dtype=np.int64)
        if self.plain:
            return given
        out, stride = np.zeros_like(given), 1
        for axis, (low, numbers) in zip(self.axes, self._numbers, strict=True):
            out += numbers[(given & axis) >> low] * stride
            stride *= int(numbers[-1]) + 1
        return out

    @cached_property
    def _numbers(self) -> list[tuple[int, Ints]]:
        """Return for each variable its lowest bit, and the number of the pattern that each set means."""
        out = []
        for axis, patterns in zip(self.axes, self.patterns, strict=True):
            low = (axis & -axis).bit_length() - 1
            sets = range(0, axis + 1, axis & -axis)
            numbers = [patterns.index(self.closed(q)) for q in sets]
            out.append((low, np.array(numbers, dtype=np.int64)))
        return out

    def closed(self, query: Query) -> Query:
        """A set of bits with every level that they imply."""
        for v in bits(query):
            query |= self.coarser[v]
        return query

    @cached_property
    def axis_of(self) -> tuple[int, ...]:
        """The variable number of each bit."""
        return tuple(
            next(a for a, axis in enumerate(self.axes) if axis >> v & 1) for v in range(self.variables)
        )

    def finest(self, query: Query) -> Query:
        """The bits of a query that no other one of its bits implies."""
        if self.plain:
            return query
        return query & ~union(self.coarser[v] for v in bits(query))

    def dimensions(self, queries: Ints) -> Ints:
        """Number of variables of each query (n,), at whatever level."""
        out = np.zeros(len(queries), dtype=np.int64)
        for axis in self.axes:
            out += (queries & axis) != 0
        return out

    @cached_property
    def crossing(self) -> tuple[Query, ...]:
        """Variables with groupings neither of which implies the other, and tied variables."""
        groupings = (
            axis
            for axis, patterns in zip(self.axes, self.patterns, strict=True)
            if len(patterns) > axis.bit_count() + 1
        )
        return (*groupings, *self.tied)

    def separable(self, released: Iterable[Query]) -> bool:
        """True if for each crossing set one released query holds all its released levels."""
        queries = tuple(released)
        for axis in self.crossing:
            used = union(queries) & axis
            if used and not any(query & used == used for query in queries):
                return False
        return True

    @property
    def full(self) -> Query:
        """The table itself."""
        return (1 << len(self.names)) - 1

    @cached_property
    def _bit(self) -> dict[str, int]:
        named = {name: self.closed(1 << v) for v, name in enumerate(self.names)}
        return {name: named[self.names[v]] for name, v in self.aliases} | named

    def query(self, names: Iterable[str]) -> Query:
        """A query from names of variables or of their levels, in any order.

        Raises
        ------
        InputError
            If a variable is repeated or the table does not have it.
        """
        out, seen = 0, set()
        for name in names:
            bit = self._bit.get(name)
            if bit is None:
                raise InputError(
                    message("the table has no variable {name}", repr(name)),
                    hint=message("it has {names}", names_joined(self.names, ", ")),
                )
            if name in seen:
                raise InputError(
                    message("the variable {name} is named twice in one table", repr(name)),
                    hint=message("name it once"),
                )
            out |= bit
            seen.add(name)
        return out

    def parse(self, text: str) -> Query:
        """Parse a query such as ``"A,B"``; an empty text is the grand total.

        A name with a comma is put in double quotes, as in CSV, or stands alone. Blanks around
        names are ignored.

        Raises
        ------
        InputError
            As :meth:`query`; also if a name is left empty between commas.
        """
        if not text.strip():
            return 0
        if text in self._bit or text.strip() in self._bit:
            return self._bit.get(text) or self._bit[text.strip()]
        try:
            parts = next(csv.reader([text], skipinitialspace=True))
        except csv.Error:
            raise InputError(message("the list of names cannot be read")) from None
        return self.query(map(self._known, parts))

    def _known(self, part: str) -> str:
        """The name meant by a part: an exact name, or one that matches without outer blanks."""
        if part in self._bit:
            return part
        alike = [name for name in self._bit if name.strip() == part.strip()]
        return alike[0] if len(alike) == 1 else part.strip()

    def names_of(self, query: Query) -> tuple[str, ...]:
        """The variables of a query in the table's order, each at its finest level."""
        return tuple(self.names[v] for v in bits(self.finest(query)))

    def text(self, query: Query) -> str:
        """``"A,B"``, names with commas in double quotes; empty for the grand total."""
        return names_joined(self.names_of(query))

    @property
    def texts(self) -> list[str]:
        """The text of every query, in the order of :attr:`every`."""
        if not self.plain:
            return list(map(self.text, self.every.tolist()))
        found = [""]
        for name in self.names:
            named = names_joined([name])
            found += [f"{text},{named}" if text else named for text in found]
        return found

    def margins(self, queries: Iterable[Query]) -> MarginSet:
        """Queries as margins by name."""
        return tuple(self.names_of(query) for query in queries)

    def level(self, rank: int) -> Iterator[Query]:
        """All queries with so many bits, in the variables' order."""
        for chosen in combinations(range(self.variables), rank):
            query = sum(1 << v for v in chosen)
            if self.closed(query) == query:
                yield query

    def below(self, query: Query) -> Iterator[Query]:
        """The queries directly below: with one variable less, or one variable a level coarser."""
        for v in bits(self.finest(query)):
            yield query & ~(1 << v)

    def above(self, query: Query) -> Iterator[Query]:
        """The queries directly above: with one variable more, or one variable a level finer."""
        for v in bits(self.full & ~query):
            if self.coarser[v] & ~query == 0:
                yield query | 1 << v


def in_order(queries: Iterable[Query]) -> Sequence[Query]:
    """Larger queries first, then by the variables' order: the order of every printed list."""
    given = np.fromiter(queries, dtype=np.int64)
    # Of two sets of one size the first has the lowest variable in which they differ: the larger
    # number when the bits are read from the other end.
    mirrored, rest = np.zeros_like(given), given.copy()
    for _ in range(int(given.max(initial=0)).bit_length()):
        mirrored = mirrored << 1 | rest & 1
        rest >>= 1
    order = np.lexsort((-mirrored, -np.bitwise_count(given).astype(np.int64)))
    found: list[Query] = given[order].tolist()
    return found
