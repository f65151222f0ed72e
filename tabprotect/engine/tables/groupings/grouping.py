"""Groupings: coarser variables, each a function of one variable of a table; and sums over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class Grouping:
    """A variable that groups the categories of another.

    Two groupings of one variable need not nest: neither has to be a function of the other.

    Attributes
    ----------
    name, of
        The grouping's own name, and the variable it groups.
    groups
        The group of each category of the variable ``of``, in that variable's order.
    """

    name: str
    of: str
    groups: tuple[str, ...]

    @cached_property
    def variable(self) -> Variable:
        """The groups as a variable, in order of first appearance."""
        return Variable(self.name, tuple(dict.fromkeys(self.groups)))

    @cached_property
    def codes(self) -> Ints:
        """The group's number for each category, int64 (categories,)."""
        codes = np.array([self.variable.code(group) for group in self.groups], dtype=np.int64)
        codes.flags.writeable = False
        return codes

    def refines(self, other: Grouping) -> bool:
        """Return True if every group lies in one group of the other grouping of the same variable."""
        return len(set(zip(self.groups, other.groups, strict=True))) == len(set(self.groups))


@lru_cache(maxsize=64)
def declared(domain: Domain) -> tuple[Grouping, ...]:
    """The levels of a table's variables as groupings: ``region@nuts2``.

    In the order of the variables; those of the tree from the coarsest, then those across it.
    """
    return tuple(
        Grouping(name, variable.name, level.groups)
        for variable in domain.variables
        for name, level in variable.named.items()
    )


def check_groupings(domain: Domain, groupings: Sequence[Grouping]) -> None:
    """Refuse groupings that do not fit the table or each other.

    Raises
    ------
    InputError
        For a name that is taken, an unknown variable, or a wrong number of categories.
    """
    taken = set(domain.names)
    for grouping in groupings:
        if grouping.name in taken:
            raise InputError(
                message("the name {name} of a grouping is taken", repr(grouping.name)),
                hint=message("give every grouping a name of its own"),
            )
        taken.add(grouping.name)
        size = len(domain[grouping.of].categories)
        if len(grouping.groups) != size:
            raise InputError(
                message(
                    "the grouping {name} groups {groups} categories, the variable {of} has {size}",
                    repr(grouping.name),
                    len(grouping.groups),
                    repr(grouping.of),
                    size,
                ),
                hint=message("name the group of every category"),
            )


def true_table(table: Table, domain: Domain, groupings: Sequence[Grouping] = ()) -> Table:
    """The sums of a table over another domain, whose variables are its own or groupings of them.

    Raises
    ------
    InputError
        For a variable that is neither.
    """
    if domain == table.domain:
        return table
    by_name = {grouping.name: grouping for grouping in (*declared(table.domain), *groupings)}
    keys, values = table.cells
    out = np.zeros(len(keys), dtype=np.int64)
    for variable in domain.variables:
        # The table may itself be one over groups.
        own = variable.name in table.domain.names
        grouping = None if own else by_name.get(variable.name)
        source = variable.name if grouping is None else grouping.of
        axis = table.domain.axis(source)
        stride = math.prod(table.domain.shape[axis + 1 :])
        codes = (keys // stride) % table.domain.shape[axis]
        if grouping is not None:
            codes = grouping.codes[codes]
        elif len(variable.categories) != table.domain.shape[axis]:
            raise InputError(
                message("the categories of {name} are others in this table", repr(variable.name))
            )
        out = out * len(variable.categories) + codes
    sparse = Table.sparse(domain, out, values)
    return sparse if table.is_sparse else Table.dense(domain, sparse.counts)
