"""Variables that nest (``nuts1``, ``nuts2``, ``nuts3``) as one variable with levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.structural import Parts, restated
from tabprotect.engine.tables.table import Table, better_sparse
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.languages.messages import message


def chains(table: Table) -> tuple[tuple[str, ...], ...]:
    """Variables of a table that nest in all that was counted, each chain from the coarsest on.

    A variable with one category nests in everything and says nothing; two that are one to one are
    two names of the same and make no level. A variable stands in one chain at most, the longest.
    """
    domain = table.domain
    codes = _codes(table)
    sizes = {name: len(np.unique(code)) for name, code in codes.items()}
    finer = {
        a: [b for b in domain.names if sizes[b] > sizes[a] > 1 and _determines(codes[b], codes[a])]
        for a in domain.names
    }
    left = set(domain.names)
    found: list[tuple[str, ...]] = []
    while True:
        best: tuple[str, ...] = ()
        for name in sorted(left, key=lambda n: sizes[n]):
            chain = [name]
            for other in sorted(finer[name], key=lambda n: sizes[n]):
                if other in left and other in finer[chain[-1]]:
                    chain.append(other)
            best = max(best, tuple(chain), key=len)
        if len(best) < 2:
            return tuple(found)
        found.append(best)
        left -= set(best)


def _codes(table: Table) -> dict[str, Ints]:
    keys, _ = table.cells
    out: dict[str, Ints] = {}
    for name, size in zip(reversed(table.domain.names), reversed(table.domain.shape), strict=True):
        keys, out[name] = np.divmod(keys, size)
    return out


def _determines(finer: Ints, coarser: Ints) -> bool:
    pairs = np.unique(finer * (int(coarser.max(initial=0)) + 1) + coarser)
    return len(pairs) == len(np.unique(finer))


@dataclass(frozen=True)
class Nesting:
    """The variables of a domain that become one, and their codes.

    Attributes
    ----------
    before, after
        The domains.
    finest
        By variable of the new domain, the one of the old that has its categories.
    """

    before: Domain
    after: Domain
    finest: Mapping[str, str]

    @classmethod
    def of(cls, table: Table, names: Mapping[str, Sequence[str]]) -> Nesting:
        """Make one from the columns, the coarsest first, that are the levels of each new variable.

        Raises
        ------
        InputError
            Where they do not nest in what was counted, naming the category.
        """
        domain, codes = table.domain, _codes(table)
        after: list[Variable] = []
        finest: dict[str, str] = {}
        parts: list[tuple[str, str, Parts]] = []
        for variable in domain.variables:
            new = next((n for n, columns in names.items() if variable.name in columns), None)
            if new is None:
                finest[variable.name] = variable.name
                after.append(variable)
                parts.append((variable.name, variable.name, _held(variable, variable.categories)))
            elif variable.name == names[new][-1]:
                finest[new] = variable.name
                groups = [_groups(domain, codes, variable, column) for column in names[new][:-1]]
                above = (*groups, *variable.coarser)
                after.append(replace(variable, name=new, coarser=above, finest=variable.name))
                parts.append((new, variable.name, _held(variable, variable.categories)))
                parts += [(new, level.name, _held(variable, level.groups)) for level in groups]
        zeros = restated(domain.structural, parts)
        return cls(domain, Domain(tuple(after), zeros), finest)

    def nested(self, table: Table) -> Table:
        """A table over the old variables, over the new ones."""
        keys, values = table.cells
        codes = _codes(table)
        out = np.zeros(len(keys), dtype=np.int64)
        for name, size in zip(self.after.names, self.after.shape, strict=True):
            out = out * size + codes[self.finest[name]]
        found = Table.sparse(self.after, out, values)
        return found if better_sparse(self.after, len(keys)) else Table.dense(self.after, found.counts)


def _held(variable: Variable, groups: Sequence[str]) -> Parts:
    pairs = zip(variable.categories, groups, strict=True)
    return [(category, frozenset({group})) for category, group in pairs]


def _groups(domain: Domain, codes: Mapping[str, Ints], fine: Variable, column: str) -> Level:
    coarse = domain[column]
    pairs = np.unique(codes[fine.name] * len(coarse.categories) + codes[column])
    first, group = np.divmod(pairs, len(coarse.categories))
    twice = np.flatnonzero(first[1:] == first[:-1])
    if len(twice):
        at = int(twice[0])
        one, two = (coarse.categories[int(g)] for g in group[at : at + 2])
        raise InputError(
            message(
                "{name} {categories} lies in both {one} and {two} of {column}: they do not nest",
                fine.name,
                repr(fine.categories[int(first[at])]),
                repr(one),
                repr(two),
                column,
            ),
            hint=message("mend the codes, or count by both as variables of their own"),
        )
    named = {int(c): coarse.categories[int(g)] for c, g in zip(first, group, strict=True)}
    missing = [c for n, c in enumerate(fine.categories) if n not in named]
    if missing:
        raise InputError(
            message(
                "nobody is counted in {name} {missing}: its {column} is not known",
                fine.name,
                repr(missing[0]),
                column,
            ),
            hint=message("leave the category out"),
        )
    return Level(column, tuple(named[n] for n in range(len(fine.categories))))
